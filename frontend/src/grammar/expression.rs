//! Expressions: a Pratt parser for unary and binary operators; around it `?:` and assignment, which
//! group to the right. The technique is from Pratt (1973), *Top down operator precedence*.

use super::types::{dimensions, parametrised_type};
use super::{
    GrammarExtra, GrammarRule, NodeBuilder, ParseError, Reader, ahead, enclosed, mark, name, one,
    seen, type_keyword, word,
};
use crate::ast::{
    BinaryOp, Expr, ExprKind, Ident, IncDecOp, Initializer, InitializerKind, RAYMARCH,
    TextureSample, UnaryOp,
};
use crate::interner::Symbol;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::Span;
use adumbra_ir::module::MipSelection;
use chumsky::pratt::{infix, left, postfix, prefix};
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The binary operators by how tightly they bind, loosest first; each level groups to the left. As
/// in C.
pub(crate) const PRECEDENCE_LEVELS: [&[TokenKind]; 10] = [
    &[TokenKind::PipePipe],
    &[TokenKind::AmpAmp],
    &[TokenKind::Pipe],
    &[TokenKind::Caret],
    &[TokenKind::Amp],
    &[TokenKind::EqualEqual, TokenKind::NotEqual],
    &[
        TokenKind::Less,
        TokenKind::LessEqual,
        TokenKind::Greater,
        TokenKind::GreaterEqual,
    ],
    &[TokenKind::ShiftLeft, TokenKind::ShiftRight],
    &[TokenKind::Plus, TokenKind::Minus],
    &[TokenKind::Star, TokenKind::Slash, TokenKind::Percent],
];

/// How tightly operators before an operand bind: tighter than every level.
const PREFIX: u16 = PRECEDENCE_LEVELS.len() as u16 + 1;
/// How tightly `[…]`, `.x`, `++` and `--` after an operand bind: tighter still.
const POSTFIX: u16 = PREFIX + 1;

/// Operators before an operand.
pub(crate) const UNARY_OPERATORS: TokenSet = TokenSet::of(&[
    TokenKind::Plus,
    TokenKind::Minus,
    TokenKind::Not,
    TokenKind::Tilde,
    TokenKind::PlusPlus,
    TokenKind::MinusMinus,
    TokenKind::NoDiff,
]);

/// What postfix operators begin with.
const SUFFIXES: TokenSet = STEPS.union(TokenSet::of(&[
    TokenKind::LBracket,
    TokenKind::Dot,
    TokenKind::LParen,
]));

const STEPS: TokenSet = TokenSet::of(&[TokenKind::PlusPlus, TokenKind::MinusMinus]);

/// `=` and the compound assignments.
pub(crate) const ASSIGNMENT_OPERATORS: TokenSet = TokenSet::of(&[
    TokenKind::Assign,
    TokenKind::PlusAssign,
    TokenKind::MinusAssign,
    TokenKind::StarAssign,
    TokenKind::SlashAssign,
    TokenKind::PercentAssign,
    TokenKind::AmpAssign,
    TokenKind::PipeAssign,
    TokenKind::CaretAssign,
    TokenKind::ShiftLeftAssign,
    TokenKind::ShiftRightAssign,
]);

/// Numbers, strings, `true` and `false`.
pub(crate) const LITERALS: TokenSet = TokenSet::of(&[
    TokenKind::FloatLiteral,
    TokenKind::IntLiteral,
    TokenKind::UintLiteral,
    TokenKind::StringLiteral,
    TokenKind::True,
    TokenKind::False,
]);

const SAMPLES: TokenSet = TokenSet::of(&[
    TokenKind::Sample,
    TokenKind::SampleGrad,
    TokenKind::SampleLevel,
    TokenKind::SampleAlpha,
    TokenKind::SampleAlphaGrad,
    TokenKind::SampleAlphaLevel,
]);

/// Arguments while they are counted; few calls have more.
type Arguments<'a> = SmallVec<[&'a Expr<'a>; 4]>;

/// The rest of a `?:` or of an assignment, after the first operand.
#[derive(Clone, Copy)]
enum Tail<'a> {
    Ternary(&'a Expr<'a>, &'a Expr<'a>),
    Assign(TokenKind, &'a Expr<'a>),
}

/// A postfix operator.
#[derive(Clone, Copy)]
enum Suffix<'a> {
    Index(&'a Expr<'a>),
    Member(Ident),
    Step(TokenKind),
    Call(&'a [&'a Expr<'a>]),
}

/// Any expression but a comma list.
pub(super) fn expression<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    recursive(|expression| {
        let value = value(expression.clone().boxed());
        let binary = binary(expression.clone().boxed(), value.clone());
        let ternary = mark(TokenKind::Question)
            .ignore_then(expression.clone())
            .then_ignore(mark(TokenKind::Colon))
            .then(expression.clone())
            .map(|(yes, no)| Tail::Ternary(yes, no));
        let assign = one(ASSIGNMENT_OPERATORS)
            .then(value)
            .map(|(op, value)| Tail::Assign(op, value));
        binary
            .then(ternary.or(assign).or_not())
            .map_with(|(first, tail), e| {
                let kind = match tail {
                    None => return first,
                    Some(Tail::Ternary(yes, no)) => ExprKind::Ternary {
                        condition: first,
                        yes,
                        no,
                    },
                    Some(Tail::Assign(op, value)) => ExprKind::Assign {
                        op: compound(op),
                        place: first,
                        value,
                    },
                };
                let (builder, span) = seen(e);
                builder.expr(kind, span)
            })
    })
    .boxed()
}

/// Operands and the operators that bind tighter than `?:`.
fn binary<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    value: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    let cast = mark(TokenKind::LParen)
        .ignore_then(type_keyword())
        .then_ignore(mark(TokenKind::RParen));
    let index = enclosed(
        TokenKind::LBracket,
        expression.clone(),
        TokenKind::RBracket,
        |builder, span| builder.expr(ExprKind::Broken, span),
    )
    .map(Suffix::Index);
    let member = mark(TokenKind::Dot).ignore_then(name()).map(Suffix::Member);
    let step = one(STEPS).map(Suffix::Step);
    let arguments = arguments(value);
    let call = callable().ignore_then(arguments.clone()).map(Suffix::Call);
    let suffix = ahead(SUFFIXES).ignore_then(choice((index, member, step, call)));
    // The commonest operators bind tightest, so those are tried first.
    let levels: Vec<_> = PRECEDENCE_LEVELS
        .into_iter()
        .zip(1..=PRECEDENCE_LEVELS.len() as u16)
        .rev()
        .map(|(kinds, power)| {
            let operator = one(TokenSet::of(kinds));
            infix(left(power), operator, |lhs, op, rhs, e| {
                let (builder, span) = seen(e);
                builder.expr(ExprKind::Binary(binary_op(op), lhs, rhs), span)
            })
        })
        .collect();
    operand(expression, arguments)
        .pratt((
            postfix(POSTFIX, suffix, |operand, suffix, e| {
                let (builder, span) = seen(e);
                let kind = match suffix {
                    Suffix::Index(index) => ExprKind::Index(operand, index),
                    Suffix::Member(name) => ExprKind::Member(operand, name),
                    Suffix::Step(kind) => stepped(kind, true, operand),
                    Suffix::Call(arguments) => ExprKind::Apply(operand, arguments),
                };
                builder.expr(kind, span)
            }),
            prefix(PREFIX, one(UNARY_OPERATORS), |kind, operand, e| {
                let (builder, span) = seen(e);
                let kind = match (kind, unary_op(kind)) {
                    (TokenKind::NoDiff, _) => ExprKind::NoDiff(operand),
                    (_, Some(op)) => ExprKind::Unary(op, operand),
                    _ => stepped(kind, false, operand),
                };
                builder.expr(kind, span)
            }),
            prefix(PREFIX, cast, |ty, operand, e| {
                let (builder, span) = seen(e);
                builder.expr(ExprKind::Cast(ty, operand), span)
            }),
            levels,
        ))
        .boxed()
}

/// Nothing, after what can be called though it is no name alone: a member, and a derivative.
fn callable<'t, 'a: 't>() -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        match input.state().0.ends_callable(at) {
            true => Ok(()),
            false => Err(ParseError::expected(at, TokenSet::EMPTY)),
        }
    })
}

/// An expression without operators: a literal, a name, a call, parentheses.
fn operand<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    arguments: GrammarRule<'t, 'a, &'a [&'a Expr<'a>]>,
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    let parametrised = parametrised_type(dimensions(expression.clone()))
        .then(arguments.clone())
        .map_with(|(ty, arguments), e| {
            ExprKind::ConstructType(e.state().arena.alloc(ty), arguments)
        })
        .boxed();
    let angled = mark(TokenKind::Less)
        .ignore_then(name())
        .then_ignore(mark(TokenKind::Greater))
        .boxed();
    let named = name()
        .then(arguments.clone().or_not())
        .map(|(name, arguments)| match arguments {
            None => ExprKind::Name(name.symbol),
            Some(arguments) => ExprKind::Call(name, arguments),
        });
    // `float3.dzero()`: the type is written as a constructor without arguments.
    let of_type = mark(TokenKind::Dot).ignore_then(name()).or_not();
    let construct = type_keyword()
        .map_with(|ty, e| (ty, seen(e).1))
        .then(of_type)
        .then(arguments.clone())
        .map_with(|(((ty, span), member), arguments), e| {
            let Some(member) = member else {
                return ExprKind::Construct(ty, arguments);
            };
            let (builder, _) = seen(e);
            let object = builder.expr(ExprKind::Construct(ty, &[]), span);
            let callee = builder.expr(ExprKind::Member(object, member), span.to(member.span));
            ExprKind::Apply(callee, arguments)
        });
    let global = mark(TokenKind::GlobalValue)
        .ignore_then(angled.clone())
        .map(ExprKind::GlobalValue);
    // No other name has angle brackets in an expression, so that `a < b` stays a comparison.
    let march = word(RAYMARCH)
        .ignore_then(angled.clone())
        .then(arguments.clone())
        .map(|(field, arguments)| ExprKind::Raymarch(field, arguments));
    let closure = mark(TokenKind::MakeClosure)
        .ignore_then(angled.clone())
        .then(arguments.clone())
        .map(|(name, arguments)| ExprKind::MakeClosure(name, arguments));
    let texture = one(SAMPLES)
        .then(angled)
        .then(arguments)
        .map(|((kind, name), arguments)| ExprKind::TextureSample(sample(kind), name, arguments));
    // Parentheses leave no node: the expression inside takes over their span.
    let parentheses = enclosed(
        TokenKind::LParen,
        expression.map(|inner| inner.kind),
        TokenKind::RParen,
        |_, _| ExprKind::Broken,
    );
    choice((
        parametrised,
        march,
        named,
        literal(),
        parentheses,
        construct,
        global,
        texture,
        closure,
    ))
    .map_with(|kind, e| {
        let (builder, span) = seen(e);
        builder.expr(kind, span)
    })
    .boxed()
}

/// `(a, b)`
fn arguments<'t, 'a: 't>(
    value: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a [&'a Expr<'a>]> {
    let list = value
        .separated_by(mark(TokenKind::Comma))
        .collect::<Arguments>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list));
    enclosed(
        TokenKind::LParen,
        list,
        TokenKind::RParen,
        |builder: NodeBuilder<'t, 'a>, span: Span| {
            let broken = builder.expr(ExprKind::Broken, span);
            &*builder.arena.alloc_slice_copy(&[broken])
        },
    )
    .boxed()
}

/// `e`, or `{ a, { b } }` with expressions in it.
pub(super) fn initializer<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, Initializer<'a>> {
    recursive(|initializer| {
        let list = initializer
            .separated_by(mark(TokenKind::Comma))
            .allow_trailing()
            .collect::<SmallVec<[_; 4]>>()
            .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list));
        let list = enclosed(
            TokenKind::LBrace,
            list.map(InitializerKind::List),
            TokenKind::RBrace,
            |builder: NodeBuilder<'t, 'a>, span| {
                InitializerKind::Expr(builder.expr(ExprKind::Broken, span))
            },
        );
        expression
            .map(InitializerKind::Expr)
            .or(list)
            .map_with(|kind, e| Initializer {
                kind,
                span: seen(e).1,
            })
    })
    .boxed()
}

/// `e`, or `{ a, b }` as one expression.
pub(super) fn value<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    let opener = custom(|input: &mut Reader<'t, '_, 'a>| match input.peek() {
        Some(TokenKind::LBrace) => Ok(()),
        _ => Err(ParseError::expected(
            *input.cursor().inner(),
            TokenSet::EMPTY,
        )),
    });
    let list = opener
        .ignore_then(initializer(expression.clone()))
        .map_with(|list, e| {
            let (builder, span) = seen(e);
            builder.expr(ExprKind::List(builder.arena.alloc(list)), span)
        });
    expression.or(list).boxed()
}

fn stepped<'a>(kind: TokenKind, postfix: bool, place: &'a Expr<'a>) -> ExprKind<'a> {
    let step = match kind {
        TokenKind::PlusPlus => IncDecOp::Increment,
        _ => IncDecOp::Decrement,
    };
    ExprKind::IncDec {
        step,
        postfix,
        place,
    }
}

/// A number, a string, `true` or `false`.
pub(super) fn literal<'t, 'a: 't>()
-> impl Parser<'t, &'t [TokenKind], ExprKind<'a>, GrammarExtra<'t, 'a>> + Copy {
    one(LITERALS).map_with(|kind, e| {
        let index = e.span().start;
        let value = e.state().tokens.tokens[index].value;
        match kind {
            TokenKind::FloatLiteral => ExprKind::Float(f32::from_bits(value)),
            TokenKind::IntLiteral => ExprKind::Int(value as i32),
            TokenKind::UintLiteral => ExprKind::Uint(value),
            TokenKind::StringLiteral => ExprKind::String(Symbol(value)),
            _ => ExprKind::Bool(kind == TokenKind::True),
        }
    })
}

fn sample(kind: TokenKind) -> TextureSample {
    let alpha = matches!(
        kind,
        TokenKind::SampleAlpha | TokenKind::SampleAlphaGrad | TokenKind::SampleAlphaLevel
    );
    let mip = match kind {
        TokenKind::SampleGrad | TokenKind::SampleAlphaGrad => MipSelection::GRADIENTS,
        TokenKind::SampleLevel | TokenKind::SampleAlphaLevel => MipSelection::LEVEL,
        _ => MipSelection::Shadows,
    };
    TextureSample { alpha, mip }
}

fn unary_op(kind: TokenKind) -> Option<UnaryOp> {
    Some(match kind {
        TokenKind::Plus => UnaryOp::Plus,
        TokenKind::Minus => UnaryOp::Minus,
        TokenKind::Not => UnaryOp::Not,
        TokenKind::Tilde => UnaryOp::BitNot,
        _ => return None,
    })
}

fn binary_op(kind: TokenKind) -> BinaryOp {
    match kind {
        TokenKind::Star => BinaryOp::Mul,
        TokenKind::Slash => BinaryOp::Div,
        TokenKind::Percent => BinaryOp::Rem,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Sub,
        TokenKind::ShiftLeft => BinaryOp::Shl,
        TokenKind::ShiftRight => BinaryOp::Shr,
        TokenKind::Less => BinaryOp::Less,
        TokenKind::LessEqual => BinaryOp::LessEqual,
        TokenKind::Greater => BinaryOp::Greater,
        TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
        TokenKind::EqualEqual => BinaryOp::Equal,
        TokenKind::NotEqual => BinaryOp::NotEqual,
        TokenKind::Amp => BinaryOp::BitAnd,
        TokenKind::Caret => BinaryOp::BitXor,
        TokenKind::Pipe => BinaryOp::BitOr,
        TokenKind::AmpAmp => BinaryOp::And,
        _ => BinaryOp::Or,
    }
}

/// The operator inside a compound assignment; `None` for `=`.
fn compound(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::PlusAssign => BinaryOp::Add,
        TokenKind::MinusAssign => BinaryOp::Sub,
        TokenKind::StarAssign => BinaryOp::Mul,
        TokenKind::SlashAssign => BinaryOp::Div,
        TokenKind::PercentAssign => BinaryOp::Rem,
        TokenKind::AmpAssign => BinaryOp::BitAnd,
        TokenKind::PipeAssign => BinaryOp::BitOr,
        TokenKind::CaretAssign => BinaryOp::BitXor,
        TokenKind::ShiftLeftAssign => BinaryOp::Shl,
        TokenKind::ShiftRightAssign => BinaryOp::Shr,
        _ => return None,
    })
}
