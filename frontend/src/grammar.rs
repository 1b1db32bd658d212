//! The grammar, as chumsky parsers over token kinds.
//!
//! Building it costs about 2 µs, so each parse builds its own. Every rule is boxed, which keeps
//! compile time and stack frames small. The error type is a position and a set of kinds in one
//! machine word each: cheap enough to be always on, so no second, slower pass explains failures.
//!
//! It is linear because `brackets` has balanced the brackets and bounded the nesting beforehand,
//! and everything between a pair recovers at its closer. So a failure never leaves its bracket, and
//! no alternative is tried twice over more than a few tokens. Statements and items recover at their
//! end, blocks at their brace.

mod attribute;
mod declared_names;
mod expression;
mod item;
mod parse_error;
mod statement;
mod types;
mod without_meaning;

pub(crate) use expression::{ASSIGNMENT_OPERATORS, LITERALS, PRECEDENCE_LEVELS, UNARY_OPERATORS};
pub(crate) use item::{repl_entries, single_expression, source_file};
pub(crate) use parse_error::ParseError;
pub(crate) use statement::STATEMENT_KEYWORDS;

use crate::ast::{DERIVATIVE_MODES, Expr, ExprKind, Ident};
use crate::ast_validation::{AstDiagnostics, AstValidator};
use crate::interner::Symbol;
use crate::token::TokenStream;
use crate::token_kind::TypeKeyword;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::Span;
use bumpalo::Bump;
use chumsky::extra::{Full, SimpleState};
use chumsky::input::{InputRef, MapExtra};
use chumsky::prelude::*;
use std::cell::RefCell;

/// The state of every rule: the error type and the [`NodeBuilder`].
pub(crate) type GrammarExtra<'t, 'a> = Full<ParseError, SimpleState<NodeBuilder<'t, 'a>>, ()>;

/// A rule of the grammar that yields an `O`.
pub(crate) type GrammarRule<'t, 'a, O> = Boxed<'t, 't, &'t [TokenKind], O, GrammarExtra<'t, 'a>>;

/// The parse as a rule sees it when it makes a node.
type Seen<'t, 'p, 'a> = MapExtra<'t, 'p, &'t [TokenKind], GrammarExtra<'t, 'a>>;

/// The input, for rules that read it by hand.
type Reader<'t, 'p, 'a> = InputRef<'t, 'p, &'t [TokenKind], GrammarExtra<'t, 'a>>;

/// Makes nodes: knows the tokens of the kinds, and the arena.
#[derive(Clone, Copy)]
pub(crate) struct NodeBuilder<'t, 'a> {
    pub(crate) arena: &'a Bump,
    pub(crate) tokens: &'t TokenStream,
    /// The source of the tokens.
    pub(crate) source: &'t str,
    /// The errors in the shape of whole trees.
    pub(crate) ast_diagnostics: &'t RefCell<AstDiagnostics>,
    /// Whether the end of the input ends a statement as `;` does.
    pub(crate) end_is_semicolon: bool,
}

impl<'a> NodeBuilder<'_, 'a> {
    /// The bytes from token `start` up to before token `end`.
    fn span(self, start: usize, end: usize) -> Span {
        let first = self.tokens.span(start);
        match end {
            end if end > start => Span {
                end: self.tokens.tokens[end - 1].end,
                ..first
            },
            _ => Span {
                end: first.start,
                ..first
            },
        }
    }

    /// The name that token `index` is.
    fn name(self, index: usize) -> Ident {
        Ident {
            symbol: Symbol(self.tokens.tokens[index].value),
            span: self.tokens.span(index),
        }
    }

    /// The spelling of token `index`; empty past the last one.
    fn word(&self, index: usize) -> &str {
        let token = self.tokens.tokens.get(index);
        token.map_or("", |token| {
            &self.source[token.start as usize..token.end as usize]
        })
    }

    /// Whether token `index` is the name `text`.
    fn is_word(&self, index: usize, text: &str) -> bool {
        let is_name = self.tokens.kind(index) == Some(TokenKind::Name);
        let has_length = || {
            let token = &self.tokens.tokens[index];
            (token.end - token.start) as usize == text.len()
        };
        is_name && has_length() && self.word(index) == text
    }

    /// The name of what could not be parsed.
    fn nameless(self, span: Span) -> Ident {
        Ident {
            symbol: Symbol(0),
            span,
        }
    }

    /// Whether what ends before token `index` is a member or a derivative, so that `(` calls it.
    fn ends_callable(&self, index: usize) -> bool {
        let kind = |at: usize| self.tokens.kind(at);
        if kind(index) != Some(TokenKind::LParen) || index < 2 {
            return false;
        }
        match self.tokens.kinds[index - 1] {
            TokenKind::Name => kind(index - 2) == Some(TokenKind::Dot),
            TokenKind::RParen => {
                let mut depth = 0;
                let opener = (0..index).rev().find(|&at| {
                    depth -= self.tokens.kinds[at].bracket_depth_change();
                    depth == 0
                });
                let name = opener.and_then(|opener| opener.checked_sub(1));
                name.is_some_and(|name| DERIVATIVE_MODES.contains(&self.word(name)))
            }
            _ => false,
        }
    }

    /// Validates a complete tree.
    fn validate(self, visit: impl FnOnce(&mut AstValidator)) {
        visit(&mut AstValidator::new(
            self.source,
            &mut self.ast_diagnostics.borrow_mut(),
        ));
    }

    fn expr(self, kind: ExprKind<'a>, span: Span) -> &'a Expr<'a> {
        self.arena.alloc(Expr { kind, span })
    }
}

/// The builder, and the bytes that the rule covers.
fn seen<'t, 'a>(seen: &mut Seen<'t, '_, 'a>) -> (NodeBuilder<'t, 'a>, Span) {
    let range = seen.span();
    let builder = seen.state().0;
    (builder, builder.span(range.start, range.end))
}

/// One token of the set.
fn one<'t, 'a>(
    set: TokenSet,
) -> impl Parser<'t, &'t [TokenKind], TokenKind, GrammarExtra<'t, 'a>> + Copy {
    custom(move |input: &mut Reader<'t, '_, 'a>| match input.peek() {
        Some(kind) if set.contains(kind) => {
            input.skip();
            Ok(kind)
        }
        _ => Err(ParseError::expected(*input.cursor().inner(), set)),
    })
}

/// Nothing, before a token of the set. Before rules that begin with those tokens, it saves trying
/// each of them in vain.
fn ahead<'t, 'a>(
    set: TokenSet,
) -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(move |input: &mut Reader<'t, '_, 'a>| match input.peek() {
        Some(kind) if set.contains(kind) => Ok(()),
        _ => Err(ParseError::expected(*input.cursor().inner(), set)),
    })
}

/// This token.
fn mark<'t, 'a>(
    kind: TokenKind,
) -> impl Parser<'t, &'t [TokenKind], TokenKind, GrammarExtra<'t, 'a>> + Copy {
    one(TokenSet::of(&[kind]))
}

/// A name.
fn name<'t, 'a>() -> impl Parser<'t, &'t [TokenKind], Ident, GrammarExtra<'t, 'a>> + Copy {
    mark(TokenKind::Name).map_with(|_, e| {
        let index = e.span().start;
        e.state().name(index)
    })
}

/// A name of this spelling.
fn word<'t, 'a>(
    text: &'static str,
) -> impl Parser<'t, &'t [TokenKind], Ident, GrammarExtra<'t, 'a>> + Copy {
    custom(move |input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let builder = input.state().0;
        match builder.is_word(at, text) {
            true => {
                input.skip();
                Ok(builder.name(at))
            }
            false => Err(ParseError::expected(at, TokenSet::EMPTY)),
        }
    })
}

/// A type that is a keyword.
fn type_keyword<'t, 'a>()
-> impl Parser<'t, &'t [TokenKind], TypeKeyword, GrammarExtra<'t, 'a>> + Copy {
    one(TokenSet::TYPES).filter_map(TokenKind::type_keyword)
}

/// `inner` between brackets. If it cannot be parsed, everything up to the closer is skipped and
/// `broken` replaces it.
fn enclosed<'t, 'a: 't, O: 't>(
    open: TokenKind,
    inner: impl Parser<'t, &'t [TokenKind], O, GrammarExtra<'t, 'a>> + Clone + 't,
    close: TokenKind,
    broken: impl Fn(NodeBuilder<'t, 'a>, Span) -> O + Clone + 't,
) -> impl Parser<'t, &'t [TokenKind], O, GrammarExtra<'t, 'a>> + Clone {
    let skip = skip_to_closer().map_with(move |_, e| {
        let (builder, span) = seen(e);
        broken(builder, span)
    });
    mark(open).ignore_then(
        inner
            .then_ignore(mark(close))
            .recover_with(via_parser(skip)),
    )
}

/// Skips everything up to and with the closer of the current bracket.
fn skip_to_closer<'t, 'a>() -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(|input: &mut Reader<'t, '_, 'a>| {
        let start = *input.cursor().inner();
        let mut depth = 1;
        while let Some(kind) = input.next() {
            depth += kind.bracket_depth_change();
            if depth == 0 {
                return Ok(());
            }
        }
        Err(ParseError::expected(start, TokenSet::CLOSERS))
    })
}

/// Skips a statement or an item that could not be parsed: at least one token, then up to and with
/// the `;` or the `}` that ends it. It stops before the closer of the current bracket, a label, and
/// a line that starts with one of `starts`.
fn skip_to_end<'t, 'a>(
    starts: TokenSet,
) -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(move |input: &mut Reader<'t, '_, 'a>| {
        let start = *input.cursor().inner();
        let mut depth = 0;
        while let Some(kind) = input.peek() {
            let at = *input.cursor().inner();
            let is_label = depth == 0 && matches!(kind, TokenKind::Case | TokenKind::Default);
            let closes = is_label || depth + kind.bracket_depth_change() < 0;
            let begins_anew = at > start
                && depth == 0
                && starts.contains(kind)
                && input.state().tokens.tokens[at].starts_line;
            if closes || begins_anew {
                break;
            }
            input.skip();
            depth += kind.bracket_depth_change();
            if depth == 0 && matches!(kind, TokenKind::Semicolon | TokenKind::RBrace) {
                return Ok(());
            }
        }
        match *input.cursor().inner() {
            end if end > start => Ok(()),
            _ => Err(ParseError::expected(start, starts)),
        }
    })
}

/// The `;` of a declaration or an expression. If it is missing at the end of a line, that is
/// reported and parsing continues as if it were there.
fn semicolon<'t, 'a: 't>() -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Clone {
    let written = custom(|input: &mut Reader<'t, '_, 'a>| match input.peek() {
        Some(TokenKind::Semicolon) => {
            input.skip();
            Ok(())
        }
        None if input.state().end_is_semicolon => Ok(()),
        _ => Err(ParseError::expected(
            *input.cursor().inner(),
            TokenSet::of(&[TokenKind::Semicolon]),
        )),
    });
    let missing = custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let builder = input.state().0;
        match builder.tokens.tokens.get(at) {
            Some(token) if !token.starts_line && builder.tokens.kinds[at] != TokenKind::RBrace => {
                Err(ParseError::expected(
                    at,
                    TokenSet::of(&[TokenKind::Semicolon]),
                ))
            }
            _ => Ok(()),
        }
    });
    written.recover_with(via_parser(missing))
}
