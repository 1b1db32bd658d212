//! Derivatives and attributes, recognised where the grammar fails.

use super::Case;
use super::foreign_syntax::report;
use crate::ast::DERIVATIVE_MODES;
use crate::check::is_attribute;
use crate::edit_distance::closest_name;
use crate::lexer::shortened;
use crate::token_kind::TokenKind;
use adumbra_ir::Diagnostic;

/// The diagnostic for a derivative or an attribute, if the failure is in one.
pub(super) fn recognise_derivative_syntax(case: &Case) -> Option<Diagnostic> {
    misspelt_mode(case)
        .or_else(|| without_parentheses(case))
        .or_else(|| derivative_of_keyword(case))
        .or_else(|| attributes_in_one_list(case))
        .or_else(|| constant_variable(case))
}

impl Case<'_> {
    /// The token before the brackets that a token closes.
    pub(super) fn before_brackets(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        let open = (0..=close).rev().find(|&at| {
            depth += self.tokens.kinds[at].bracket_depth_change();
            depth == 0
        })?;
        open.checked_sub(1)
    }
}

fn is_mode(word: &str) -> bool {
    DERIVATIVE_MODES.contains(&word)
}

/// `fwd_dif(f)(x)`
fn misspelt_mode(case: &Case) -> Option<Diagnostic> {
    if [case.kind(-1)?, case.kind(0)?] != [TokenKind::RParen, TokenKind::LParen] {
        return None;
    }
    let name = case.before_brackets(case.at - 1)?;
    let word = case.text_of(name);
    // Older Slang has them with underscores.
    let plain = word.trim_start_matches('_');
    let mode = match is_mode(plain) {
        true => plain,
        false => closest_name(plain, DERIVATIVE_MODES.into_iter())?,
    };
    report(
        case.tokens.span(name),
        format!("no derivative is called `{}`", shortened(word)),
        "not declared",
        format!("did you mean `{mode}`?"),
    )
}

/// `fwd_diff f(x)`, which looks like a declaration.
fn without_parentheses(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let mode = case.text_of(start);
    if !is_mode(mode) || case.tokens.kind(start + 1) != Some(TokenKind::Name) {
        return None;
    }
    let function = shortened(case.text_of(start + 1));
    report(
        case.tokens.span(start).to(case.tokens.span(start + 1)),
        format!("`{mode}` takes the name of a function in parentheses"),
        "without parentheses",
        format!("write `{mode}({function})(…)`"),
    )
}

/// `fwd_diff(float)(x)`, `fwd_diff(make_closure)(x)`
fn derivative_of_keyword(case: &Case) -> Option<Diagnostic> {
    let keyword = case.kind(-1)?;
    let is = match keyword.type_keyword() {
        Some(_) => "is a type, which has no derivative",
        None if keyword.takes_name() => "has no derivative",
        None => return None,
    };
    let is_alone = case.kind(-2)? == TokenKind::LParen && case.kind(0)? == TokenKind::RParen;
    let mode = case.word(-3);
    if !(is_alone && is_mode(mode)) {
        return None;
    }
    report(
        case.previous_span(),
        format!("`{}` {is}", case.word(-1)),
        "not a function",
        format!("name a function: `{mode}(f)(x)`"),
    )
}

/// `no_diff float y = x;` as a statement
fn constant_variable(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let ty = case.tokens.kind(start + 1)?.type_keyword().is_some();
    let is_name = case.tokens.kind(start + 2) == Some(TokenKind::Name);
    if case.tokens.kind(start) != Some(TokenKind::NoDiff) || !(ty && is_name) {
        return None;
    }
    let (ty, name) = (case.text_of(start + 1), shortened(case.text_of(start + 2)));
    report(
        case.tokens.span(start),
        "`no_diff` goes before a value, not before a variable of a body",
        "before a variable",
        format!("write `{ty} {name} = no_diff …;`"),
    )
}

/// `[Differentiable, MaxIters(8)]`
fn attributes_in_one_list(case: &Case) -> Option<Diagnostic> {
    let name = match case.kind(-1)? {
        TokenKind::RParen => case.before_brackets(case.at - 1)?,
        _ => case.at.checked_sub(1)?,
    };
    let is_first = case.tokens.kind(name.checked_sub(1)?) == Some(TokenKind::LBracket);
    let first = case.text_of(name);
    if case.kind(0)? != TokenKind::Comma || !is_first || !is_attribute(first) {
        return None;
    }
    let second = match case.word(1) {
        word if is_attribute(word) => word,
        _ => "…",
    };
    report(
        case.span(),
        "each attribute has brackets of its own",
        "a list",
        format!("write `[{first}] [{second}]`"),
    )
}
