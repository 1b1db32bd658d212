//! Syntax of other languages, recognised where the grammar fails: marks, words, and
//! [forms](super::foreign_form).

use super::foreign_form;
use super::foreign_keyword::{foreign_opener_fix, foreign_operator_fix};
use super::{Case, misspelt_keyword};
use crate::lexer::shortened;
use crate::token_kind::TokenKind;
use adumbra_ir::{Code, Diagnostic, Span};

/// The diagnostic for foreign syntax, if the failure is one.
pub(super) fn recognise_foreign_syntax(case: &Case) -> Option<Diagnostic> {
    double_brackets(case)
        .or_else(|| generics(case))
        .or_else(|| marks(case))
        .or_else(|| words(case))
        .or_else(|| misspelt(case))
        .or_else(|| foreign_form::recognise(case))
        .or_else(|| seeds(case))
}

pub(super) fn report(
    span: Span,
    message: impl Into<String>,
    label: &str,
    help: impl Into<String>,
) -> Option<Diagnostic> {
    let diagnostic = Diagnostic::new(Code::SyntaxError, span, message);
    Some(diagnostic.here(label).help(help))
}

/// Pairs of adjacent marks that are one operator in another language.
fn marks(case: &Case) -> Option<Diagnostic> {
    let pairs = [
        (-1, case.previous_span(), case.span()),
        (0, case.span(), case.tokens.span(case.at + 1)),
    ];
    for (first, left, right) in pairs {
        let (Some(a), Some(b)) = (case.kind(first), case.kind(first + 1)) else {
            continue;
        };
        // A parsed mark is an operator only if its right operand was expected.
        let is_operator = first == 0 || case.expects(&[TokenKind::FloatLiteral]);
        let help = match (a, b) {
            _ if left.end != right.start || !is_operator => continue,
            (TokenKind::Minus, TokenKind::Greater) => {
                "a member is read with `.`; the type that a function returns goes before its name"
            }
            (TokenKind::Colon, TokenKind::Colon) => "write the name alone: there are no namespaces",
            (TokenKind::Star, TokenKind::Star) => "write `pow(a, b)`",
            (TokenKind::EqualEqual | TokenKind::NotEqual, TokenKind::Assign) => {
                "write `==` or `!=`"
            }
            (TokenKind::Assign, TokenKind::Greater) => "write `>=`",
            (TokenKind::Assign, TokenKind::Less) => "write `<=`",
            (TokenKind::Less, TokenKind::Greater) => "write `!=`",
            _ => continue,
        };
        let operator = format!("{}{}", a.text(), b.text());
        return report(
            left.to(right),
            format!("there is no operator `{operator}`"),
            "not an operator",
            help,
        );
    }
    match case.kind(0)? {
        TokenKind::MetaClose if case.expects(&[TokenKind::Star]) => report(
            case.span(),
            "`>>>` closes metadata and nothing else",
            "not an operator",
            "write `>>`: on a uint it shifts in zeros",
        ),
        _ => None,
    }
}

/// OSL's metadata, `[[ … ]]`, in the statement or parameter before the failure.
fn double_brackets(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let at = (start..=case.at).find(|&at| {
        let pair = [case.tokens.kind(at), case.tokens.kind(at + 1)];
        pair == [Some(TokenKind::LBracket); 2]
            && case.tokens.span(at).end == case.tokens.span(at + 1).start
    })?;
    report(
        case.tokens.span(at).to(case.tokens.span(at + 1)),
        "metadata is not written in brackets",
        "not metadata here",
        "write `<<< label = \"Width\", min = 0.0 >>>` after the parameter",
    )
}

/// In a session, a variable with its shadows that is not written as `name = VALUE : DDX : DDY`.
fn seeds(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let kind = |at: usize| case.tokens.kind(start + at);
    let name = |at: usize| shortened(case.text_of(start + at));
    if !case.is_typed || case.at <= start {
        return None;
    }
    let help = match (case.kind(0)?, [kind(0), kind(1), kind(2)]) {
        (TokenKind::Comma, [Some(TokenKind::Name), Some(TokenKind::Assign), _]) => {
            let name = name(0);
            format!("a vector is made by its type: `{name} = float3(1, 2, 3) : float3(1, 0, 0)`")
        }
        (TokenKind::Colon, [Some(TokenKind::Name), Some(TokenKind::Colon), _]) => {
            format!("write `{} = VALUE : DDX : DDY`", name(0))
        }
        (TokenKind::Colon, [Some(ty), Some(TokenKind::Name), Some(TokenKind::Assign)])
            if ty == TokenKind::Name || ty.type_keyword().is_some() =>
        {
            let name = name(1);
            format!("derivatives go with a name alone: `{name} = VALUE : DDX : DDY`")
        }
        _ => return None,
    };
    let found = case.found();
    report(
        case.span(),
        format!("{found} was not expected here"),
        "not expected",
        help,
    )
}

/// Foreign words at the failure, before it, or at the start of its statement.
fn words(case: &Case) -> Option<Diagnostic> {
    for distance in [0, -1] {
        if case.kind(distance) != Some(TokenKind::Name) {
            continue;
        }
        let word = case.word(distance);
        if let Some(help) = foreign_operator_fix(word) {
            let span = match distance {
                0 => case.span(),
                _ => case.previous_span(),
            };
            return report(
                span,
                format!("`{word}` is not an operator here"),
                "an ordinary name",
                help,
            );
        }
    }
    let start = case.statement_start();
    let distance = start as isize - case.at as isize;
    if case.kind(distance) != Some(TokenKind::Name) {
        return None;
    }
    let word = case.word(distance);
    if word == "static" && (case.struct_around().is_some() || !case.is_at_file_level()) {
        return static_declaration(case, start);
    }
    let help = match case.text_of(start + 1) {
        "sampler2D" | "texture2D" | "Texture2D" if word == "uniform" => format!(
            "a texture is declared by `texture2d {};`",
            shortened(case.text_of(start + 2))
        ),
        _ => foreign_opener_fix(word)?.to_owned(),
    };
    report(
        case.tokens.span(start),
        format!("`{word}` is not a keyword here"),
        "an ordinary name",
        help,
    )
}

/// `static` inside a struct or a function, at token `start`.
fn static_declaration(case: &Case, start: usize) -> Option<Diagnostic> {
    let (message, help) = match case.struct_around() {
        Some(_) => (
            "static members do not exist yet",
            "write a function or a constant at file level",
        ),
        None => (
            "`static` variables do not exist: each point is shaded on its own, and keeps nothing",
            "remove `static`; a value that changes from image to image is an input of the shader, or a global",
        ),
    };
    report(case.tokens.span(start), message, "not possible here", help)
}

/// `T sq<T>(T x)`, `struct pair<T> { … }`, `sq<float>(x)`
fn generics(case: &Case) -> Option<Diagnostic> {
    let opens = case.kind(0)? == TokenKind::Less
        && case.kind(-1)? == TokenKind::Name
        && case.is_at_file_level()
        && (case.expects(&[TokenKind::LParen]) || case.expects(&[TokenKind::LBrace]));
    let is_called = case.kind(0)? == TokenKind::Greater
        && case.kind(-1)?.type_keyword().is_some()
        && [case.kind(-3)?, case.kind(-2)?] == [TokenKind::Name, TokenKind::Less];
    if !(opens || is_called) {
        return None;
    }
    let span = match opens {
        true => case.span(),
        false => case.tokens.span(case.at - 2).to(case.span()),
    };
    Some(generics_diagnostic(span))
}

/// Types as arguments, in `sq<float>`.
pub(crate) fn generics_diagnostic(span: Span) -> Diagnostic {
    let message = "generics do not exist yet";
    Diagnostic::new(Code::SyntaxError, span, message)
        .here("types are no arguments")
        .help("write one overload or struct for each type, and call it without `<…>`")
}

/// A misspelt keyword at the start of the statement.
fn misspelt(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let meant = case.misspelt_keyword(start)?;
    Some(misspelt_keyword::misspelt_keyword_diagnostic(
        case.tokens.span(start),
        case.text_of(start),
        meant,
    ))
}
