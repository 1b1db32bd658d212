//! Types: keywords and names, their arguments, `.Differential`, dimensions.

use super::without_meaning::{PRECISIONS, skip_words};
use super::{
    GrammarExtra, GrammarRule, NodeBuilder, ParseError, Reader, Seen, enclosed, mark, name, seen,
    type_keyword, word,
};
use crate::ast::{
    BUFFER, DIFFERENTIAL, Dimension, Expr, ExprKind, Ident, PAIR, TypeExpr, TypeName,
};
use crate::token_kind::{TokenKind, TokenSet};
use chumsky::prelude::*;
use smallvec::SmallVec;

/// `[8][n]`
pub(super) fn dimensions<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a [Dimension<'a>]> {
    enclosed(
        TokenKind::LBracket,
        expression.or_not(),
        TokenKind::RBracket,
        |builder: NodeBuilder<'t, 'a>, span| Some(builder.expr(ExprKind::Broken, span)),
    )
    .map_with(|size, e| Dimension {
        size,
        span: seen(e).1,
    })
    .repeated()
    .collect::<SmallVec<[_; 2]>>()
    .map_with(|list, e| match list.is_empty() {
        true => &[][..],
        false => &*e.state().arena.alloc_slice_copy(&list),
    })
    .boxed()
}

/// `float`, `pair`, `struct pair`, `float[8]`, `DifferentialPair<float>`
pub(super) fn ty<'t, 'a: 't>(
    dimensions: GrammarRule<'t, 'a, &'a [Dimension<'a>]>,
) -> GrammarRule<'t, 'a, TypeExpr<'a>> {
    let keyword = type_keyword().map(TypeName::Keyword);
    let named = name().map(|name| TypeName::Named(name.symbol));
    let structure = mark(TokenKind::Struct)
        .ignore_then(name())
        .map(|name| TypeName::Struct(name.symbol));
    let plain = choice((keyword, named, structure)).map(|name| (name, &[][..]));
    recursive(|ty| {
        let written = parametrised(word(PAIR).or(word(BUFFER)), ty)
            .or(plain)
            .then(path())
            .then(dimensions)
            .map_with(made_type);
        skip_words(PRECISIONS).ignore_then(written)
    })
    .boxed()
}

/// A type with arguments in angle brackets.
pub(super) fn parametrised_type<'t, 'a: 't>(
    dimensions: GrammarRule<'t, 'a, &'a [Dimension<'a>]>,
) -> GrammarRule<'t, 'a, TypeExpr<'a>> {
    parametrised(word(PAIR), ty(dimensions))
        .then(path())
        .map(|parts| (parts, &[][..]))
        .map_with(made_type)
        .boxed()
}

type TypeParts<'a> = (
    ((TypeName, &'a [TypeExpr<'a>]), &'a [Ident]),
    &'a [Dimension<'a>],
);

fn made_type<'t, 'a>(
    (((name, arguments), path), dimensions): TypeParts<'a>,
    e: &mut Seen<'t, '_, 'a>,
) -> TypeExpr<'a> {
    TypeExpr {
        name,
        arguments,
        path,
        dimensions,
        span: seen(e).1,
    }
}

/// `DifferentialPair<float>`, by the names that have arguments. No other has, so that `a < b` stays
/// a comparison.
fn parametrised<'t, 'a: 't>(
    names: impl Parser<'t, &'t [TokenKind], Ident, GrammarExtra<'t, 'a>> + Clone + 't,
    ty: impl Parser<'t, &'t [TokenKind], TypeExpr<'a>, GrammarExtra<'t, 'a>> + Clone + 't,
) -> impl Parser<'t, &'t [TokenKind], (TypeName, &'a [TypeExpr<'a>]), GrammarExtra<'t, 'a>> + Clone
{
    let arguments = ty
        .separated_by(mark(TokenKind::Comma))
        .at_least(1)
        .collect::<SmallVec<[_; 2]>>();
    names
        .then_ignore(mark(TokenKind::Less))
        .then(arguments)
        .then_ignore(mark(TokenKind::Greater))
        .map_with(|(name, arguments), e| {
            let arguments = &*e.state().arena.alloc_slice_copy(&arguments);
            (TypeName::Named(name.symbol), arguments)
        })
        .boxed()
}

/// `.Differential` after a type, any number of times.
fn path<'t, 'a: 't>() -> impl Parser<'t, &'t [TokenKind], &'a [Ident], GrammarExtra<'t, 'a>> + Clone
{
    custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let builder = input.state().0;
        let is_dot = builder.tokens.kind(at) == Some(TokenKind::Dot);
        if !is_dot || !builder.is_word(at + 1, DIFFERENTIAL) {
            return Err(ParseError::expected(at, TokenSet::EMPTY));
        }
        input.skip();
        input.skip();
        Ok(builder.name(at + 1))
    })
    .repeated()
    .collect::<SmallVec<[Ident; 2]>>()
    .map_with(|list, e| match list.is_empty() {
        true => &[][..],
        false => &*e.state().arena.alloc_slice_copy(&list),
    })
}
