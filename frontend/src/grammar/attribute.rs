//! Attributes: `[Differentiable]`, `[MaxIters(8)]`, before declarations and statements.

use super::{
    GrammarExtra, GrammarRule, NodeBuilder, ParseError, Reader, enclosed, mark, name, seen,
};
use crate::ast::{Attribute, Expr, Ident};
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::Span;
use chumsky::prelude::*;
use smallvec::SmallVec;

/// `[name]`, `[name(argument, …)]`
pub(super) fn attribute<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, Attribute<'a>> {
    let arguments = expression
        .separated_by(mark(TokenKind::Comma))
        .collect::<SmallVec<[_; 2]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list));
    let arguments = enclosed(TokenKind::LParen, arguments, TokenKind::RParen, |_, _| {
        &[][..]
    });
    let content = name().then(arguments.or_not()).map(Some);
    let broken = |_: NodeBuilder<'t, 'a>, _: Span| None;
    enclosed(TokenKind::LBracket, content, TokenKind::RBracket, broken)
        .map_with(|content: Option<(Ident, Option<_>)>, e| {
            let (builder, span) = seen(e);
            let (name, arguments) = content.unwrap_or((builder.nameless(span), None));
            Attribute {
                name,
                arguments: arguments.unwrap_or_default(),
                span,
            }
        })
        .boxed()
}

/// Attributes, or none.
pub(super) fn attribute_list<'t, 'a: 't>(
    attribute: GrammarRule<'t, 'a, Attribute<'a>>,
) -> impl Parser<'t, &'t [TokenKind], &'a [Attribute<'a>], GrammarExtra<'t, 'a>> + Clone {
    // A bracket at the beginning of a statement is nothing else, so it is not expected in reports.
    let opener = custom(|input: &mut Reader<'t, '_, 'a>| match input.peek() {
        Some(TokenKind::LBracket) => Ok(()),
        _ => Err(ParseError::expected(
            *input.cursor().inner(),
            TokenSet::EMPTY,
        )),
    });
    let list = attribute
        .repeated()
        .at_least(1)
        .collect::<SmallVec<[_; 4]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list))
        .boxed();
    opener
        .ignore_then(list)
        .or_not()
        .map(Option::unwrap_or_default)
}
