//! Turns the grammar's failures into diagnostics.
//!
//! A failure is a token and the kinds that were expected there. Its explanation follows from the
//! tokens around it: first derivatives and syntax of other languages are recognised, then a missing
//! `;`, then the general form "expected …, found …".

mod derivative_syntax;
mod foreign_form;
pub(crate) mod foreign_keyword;
mod foreign_syntax;
pub(crate) mod misspelt_keyword;
mod surroundings;

pub(crate) use foreign_syntax::generics_diagnostic;

use crate::grammar::{
    ASSIGNMENT_OPERATORS, LITERALS, PRECEDENCE_LEVELS, ParseError, STATEMENT_KEYWORDS,
    UNARY_OPERATORS,
};
use crate::lexer::shortened;
use crate::token::TokenStream;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic, Span};

/// Operators, as far as they follow an operand.
const OPERATORS: TokenSet = {
    let mut set = ASSIGNMENT_OPERATORS.union(TokenSet::of(&[
        TokenKind::Dot,
        TokenKind::LBracket,
        TokenKind::PlusPlus,
        TokenKind::MinusMinus,
        TokenKind::Question,
    ]));
    let mut level = 0;
    while level < PRECEDENCE_LEVELS.len() {
        set = set.union(TokenSet::of(PRECEDENCE_LEVELS[level]));
        level += 1;
    }
    set
};

/// The tokens that begin an operand.
const OPERANDS: TokenSet = TokenSet::TYPES
    .union(LITERALS)
    .union(UNARY_OPERATORS)
    .union(TokenSet::of(&[
        TokenKind::Name,
        TokenKind::LParen,
        TokenKind::GlobalValue,
        TokenKind::MakeClosure,
        TokenKind::Sample,
        TokenKind::SampleGrad,
        TokenKind::SampleLevel,
        TokenKind::SampleAlpha,
        TokenKind::SampleAlphaGrad,
        TokenKind::SampleAlphaLevel,
    ]));

/// The tokens that begin only a statement.
const STATEMENTS: TokenSet =
    STATEMENT_KEYWORDS.union(TokenSet::of(&[TokenKind::Semicolon, TokenKind::LBrace]));

const TYPES: TokenSet = TokenSet::TYPES.union(TokenSet::of(&[TokenKind::Name, TokenKind::Struct]));

const QUALIFIERS: TokenSet = TokenSet::of(&[
    TokenKind::In,
    TokenKind::Out,
    TokenKind::InOut,
    TokenKind::Const,
]);

/// A failure with its context.
struct Case<'s> {
    at: usize,
    expected: TokenSet,
    tokens: &'s TokenStream,
    text: &'s str,
    /// Whether it was typed into a session, and is no file.
    is_typed: bool,
}

/// The diagnostic for `failure`.
pub(crate) fn syntax_diagnostic(
    failure: &ParseError,
    tokens: &TokenStream,
    text: &str,
    is_typed: bool,
) -> Diagnostic {
    let case = Case {
        at: failure.at as usize,
        expected: failure.expected,
        tokens,
        text,
        is_typed,
    };
    derivative_syntax::recognise_derivative_syntax(&case)
        .or_else(|| foreign_syntax::recognise_foreign_syntax(&case))
        .or_else(|| case.missing_semicolon())
        .unwrap_or_else(|| case.general())
}

impl<'s> Case<'s> {
    /// The kind of the token `distance` away; `None` outside the source.
    fn kind(&self, distance: isize) -> Option<TokenKind> {
        self.tokens.kind(self.at.checked_add_signed(distance)?)
    }

    /// The spelling of the token `distance` away; empty outside the source.
    fn word(&self, distance: isize) -> &'s str {
        self.at
            .checked_add_signed(distance)
            .map_or("", |at| self.text_of(at))
    }

    /// The spelling of a token; empty outside the source.
    fn text_of(&self, at: usize) -> &'s str {
        match self.tokens.tokens.get(at) {
            Some(token) => &self.text[token.start as usize..token.end as usize],
            None => "",
        }
    }

    /// The span of the token at which the grammar failed.
    fn span(&self) -> Span {
        self.tokens.span(self.at)
    }

    /// The span of the token before it.
    fn previous_span(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(at) => self.tokens.span(at),
            None => self.span(),
        }
    }

    /// Whether all of `kinds` were expected.
    fn expects(&self, kinds: &[TokenKind]) -> bool {
        self.expected.contains_all(TokenSet::of(kinds))
    }

    /// Whether the token is the first on its line, or the end of the source.
    fn is_at_line_start(&self) -> bool {
        let token = self.tokens.tokens.get(self.at);
        token.is_none_or(|token| token.starts_line)
    }

    /// How the token appears in a message.
    fn found(&self) -> String {
        match self.kind(0) {
            None => "the end of the source".to_owned(),
            Some(TokenKind::StringLiteral) => "a string".to_owned(),
            Some(_) => format!("`{}`", shortened(self.word(0))),
        }
    }

    /// A missing `;`: one was expected and the statement stops. Nothing else was expected, or it is
    /// the end of its line, of its block or of the source, or before a statement.
    fn missing_semicolon(&self) -> Option<Diagnostic> {
        let is_all = self
            .expected
            .without(TokenSet::of(&[TokenKind::Semicolon]))
            .is_empty();
        let stops = is_all
            || self.is_at_line_start()
            || self
                .kind(0)
                .is_some_and(|kind| kind == TokenKind::RBrace || STATEMENTS.contains(kind));
        // Where a statement or declaration can begin, nothing is unfinished.
        let is_sure = ![TokenKind::If, TokenKind::LBrace, TokenKind::Shader]
            .iter()
            .any(|&kind| self.expects(&[kind]));
        if !self.expects(&[TokenKind::Semicolon]) || !is_sure || !stops {
            return None;
        }
        let last = shortened(self.word(-1));
        Some(
            Diagnostic::new(
                Code::MissingSemicolon,
                self.previous_span().after(),
                format!("a `;` is missing after `{last}`"),
            )
            .here("`;` belongs here")
            .help(format!("write `;` after it: `{last};`")),
        )
    }

    fn general(&self) -> Diagnostic {
        let welcome = self.welcome();
        let found = self.found();
        let is_reserved =
            self.expects(&[TokenKind::Name]) && self.kind(0).is_some_and(TokenKind::is_keyword);
        let message = match &welcome[..] {
            _ if is_reserved && welcome == ["a name"] => {
                format!("{found} is a keyword and cannot be a name")
            }
            [] => format!("{found} was not expected here"),
            welcome => format!("expected {}, found {found}", listed(welcome)),
        };
        let label = match &welcome[..] {
            [] => "not expected".to_owned(),
            welcome => format!("expected {}", listed(welcome)),
        };
        Diagnostic::new(Code::SyntaxError, self.span(), message)
            .here(label)
            .help(self.help())
    }

    /// The kinds that were expected, grouped by what they begin, the most significant first.
    fn welcome(&self) -> Vec<String> {
        let mut rest = self.expected;
        let mut welcome = Vec::new();
        let mut gather = |rest: &mut TokenSet, signs: &[TokenKind], kinds, what: &str| {
            if rest.contains_all(TokenSet::of(signs)) {
                *rest = rest.without(kinds);
                welcome.push(what.to_owned());
            }
        };
        let statement = STATEMENTS.union(OPERANDS);
        gather(&mut rest, &[TokenKind::If], statement, "a statement");
        let item = TYPES
            .union(STATEMENTS)
            .union(TokenSet::of(&[TokenKind::Shader]));
        gather(
            &mut rest,
            &[TokenKind::Shader],
            item,
            "a function, a shader or another declaration",
        );
        gather(
            &mut rest,
            &[TokenKind::FloatLiteral, TokenKind::Minus, TokenKind::LParen],
            OPERANDS,
            "an expression",
        );
        gather(&mut rest, &[TokenKind::FloatLiteral], OPERANDS, "a literal");
        gather(&mut rest, &[TokenKind::Out], QUALIFIERS, "a qualifier");
        gather(&mut rest, &[TokenKind::Float], TYPES, "a type");
        // Where an operator or a name is allowed, a call or an index is too: listing them does not
        // help.
        let has_operators = rest.contains(TokenKind::Star);
        if has_operators {
            rest = rest.without(OPERATORS.union(TokenSet::of(&[TokenKind::LParen])));
        }
        if rest.contains(TokenKind::Name) {
            rest = rest.without(TokenSet::of(&[TokenKind::LParen, TokenKind::LBracket]));
        }
        welcome.extend(rest.iter().map(|kind| kind.to_string()));
        if welcome.is_empty() && has_operators {
            welcome.push("an operator".to_owned());
        }
        welcome.truncate(4);
        welcome
    }

    /// The fix, by the expected kinds.
    fn help(&self) -> &'static str {
        let previous = self.kind(-1);
        if previous.is_none() && self.kind(0) == Some(TokenKind::LBrace) {
            return "no shader begins with `{`; a group's file is given with `--group`, or as its bytecode, which `emit` writes";
        }
        if let Some(TokenKind::If | TokenKind::While | TokenKind::Switch) = previous {
            return "put the condition into parentheses: `if (a > b) …`";
        }
        if previous == Some(TokenKind::For) {
            return "a loop is written `for (int i = 0; i < n; ++i) …`";
        }
        if previous == Some(TokenKind::Comma)
            && self.kind(0).is_some_and(|k| k.bracket_depth_change() < 0)
        {
            return "remove the `,`, or write what follows it";
        }
        let expects = |kind| self.expected.contains(kind);
        if expects(TokenKind::If) {
            "write a statement here, or `}` to end the block"
        } else if expects(TokenKind::Shader) {
            "a file consists of functions, shaders, structs, constants and textures; statements belong inside a function"
        } else if expects(TokenKind::FloatLiteral) {
            "write a value here, such as a number or an expression in parentheses"
        } else if expects(TokenKind::Out) || expects(TokenKind::Float) {
            "write a type, such as `float` or `color`, and then a name"
        } else if expects(TokenKind::MetaClose) {
            "metadata is written `<<< name = literal, flag >>>`"
        } else if expects(TokenKind::Comma) && expects(TokenKind::RParen) {
            "separate arguments with `,`, or write an operator between them"
        } else if expects(TokenKind::Comma) && expects(TokenKind::RBrace) {
            "separate the values with `,`"
        } else if expects(TokenKind::Semicolon) && expects(TokenKind::LBrace) {
            "a function's body is in braces, `{ … }`; a prototype ends with `;`"
        } else if expects(TokenKind::Semicolon) {
            "end the statement with `;`, or write an operator to go on with it"
        } else if expects(TokenKind::LBrace) {
            "write the body in braces, `{ … }`"
        } else if expects(TokenKind::Colon) {
            "a `?` has its `:`, as in `a > b ? a : b`; a label ends with `:`"
        } else if expects(TokenKind::Name) {
            "write a name here: letters, digits and `_`, and not a keyword"
        } else if expects(TokenKind::While) {
            "`do { … }` ends with `while (condition);`"
        } else if expects(TokenKind::LParen) {
            "a name that is declared or called with values has them in parentheses, `(…)`"
        } else {
            "remove it, or write what is missing before it"
        }
    }
}

/// `a, b or c`
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
