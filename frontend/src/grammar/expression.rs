//! Expressions: a Pratt parser for unary and binary operators; around it `?:` and assignment, which
//! group to the right. The technique is from Pratt (1973), *Top down operator precedence*.

use super::{
    GrammarExtra, GrammarRule, NodeBuilder, enclosed, mark, name, one, seen, type_keyword,
};
use crate::ast::{
    BinaryOp, Expr, ExprKind, Ident, IncDecOp, LevelOfDetail, TextureSample, UnaryOp,
};
use crate::interner::Symbol;
use crate::token_kind::{Kind, TokenSet};
use adumbra_ir::Span;
use chumsky::pratt::{infix, left, postfix, prefix};
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The binary operators by how tightly they bind, loosest first; each level groups to the left. As
/// in C.
pub(crate) const PRECEDENCE_LEVELS: [&[Kind]; 10] = [
    &[Kind::PipePipe],
    &[Kind::AmpAmp],
    &[Kind::Pipe],
    &[Kind::Caret],
    &[Kind::Amp],
    &[Kind::EqualEqual, Kind::NotEqual],
    &[
        Kind::Less,
        Kind::LessEqual,
        Kind::Greater,
        Kind::GreaterEqual,
    ],
    &[Kind::ShiftLeft, Kind::ShiftRight],
    &[Kind::Plus, Kind::Minus],
    &[Kind::Star, Kind::Slash, Kind::Percent],
];

/// How tightly operators before an operand bind: tighter than every level.
const PREFIX: u16 = PRECEDENCE_LEVELS.len() as u16 + 1;
/// How tightly `[…]`, `.x`, `++` and `--` after an operand bind: tighter still.
const POSTFIX: u16 = PREFIX + 1;

/// Operators before an operand.
pub(crate) const UNARY_OPERATORS: TokenSet = TokenSet::of(&[
    Kind::Plus,
    Kind::Minus,
    Kind::Not,
    Kind::Tilde,
    Kind::PlusPlus,
    Kind::MinusMinus,
]);

const STEPS: TokenSet = TokenSet::of(&[Kind::PlusPlus, Kind::MinusMinus]);

/// `=` and the compound assignments.
pub(crate) const ASSIGNMENT_OPERATORS: TokenSet = TokenSet::of(&[
    Kind::Assign,
    Kind::PlusAssign,
    Kind::MinusAssign,
    Kind::StarAssign,
    Kind::SlashAssign,
    Kind::PercentAssign,
    Kind::AmpAssign,
    Kind::PipeAssign,
    Kind::CaretAssign,
    Kind::ShiftLeftAssign,
    Kind::ShiftRightAssign,
]);

/// Numbers, strings, `true` and `false`.
pub(crate) const LITERALS: TokenSet = TokenSet::of(&[
    Kind::FloatLiteral,
    Kind::IntLiteral,
    Kind::UintLiteral,
    Kind::StringLiteral,
    Kind::True,
    Kind::False,
]);

const SAMPLES: TokenSet = TokenSet::of(&[
    Kind::Sample,
    Kind::SampleGrad,
    Kind::SampleLevel,
    Kind::SampleAlpha,
    Kind::SampleAlphaGrad,
    Kind::SampleAlphaLevel,
]);

/// Arguments while they are counted; few calls have more.
type Arguments<'a> = SmallVec<[&'a Expr<'a>; 4]>;

/// The rest of a `?:` or of an assignment, after the first operand.
#[derive(Clone, Copy)]
enum Tail<'a> {
    Ternary(&'a Expr<'a>, &'a Expr<'a>),
    Assign(Kind, &'a Expr<'a>),
}

/// A postfix operator.
#[derive(Clone, Copy)]
enum Suffix<'a> {
    Index(&'a Expr<'a>),
    Member(Ident),
    Step(Kind),
}

/// Any expression but a comma list.
pub(super) fn expression<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    recursive(|expression| {
        let binary = binary(expression.clone().boxed());
        let ternary = mark(Kind::Question)
            .ignore_then(expression.clone())
            .then_ignore(mark(Kind::Colon))
            .then(expression.clone())
            .map(|(yes, no)| Tail::Ternary(yes, no));
        let assign = one(ASSIGNMENT_OPERATORS)
            .then(expression)
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
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    let cast = mark(Kind::LParen)
        .ignore_then(type_keyword())
        .then_ignore(mark(Kind::RParen));
    let index = enclosed(
        Kind::LBracket,
        expression.clone(),
        Kind::RBracket,
        |builder, span| builder.expr(ExprKind::Broken, span),
    )
    .map(Suffix::Index);
    let member = mark(Kind::Dot).ignore_then(name()).map(Suffix::Member);
    let step = one(STEPS).map(Suffix::Step);
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
    operand(expression)
        .pratt((
            postfix(POSTFIX, index.or(member).or(step), |operand, suffix, e| {
                let (builder, span) = seen(e);
                let kind = match suffix {
                    Suffix::Index(index) => ExprKind::Index(operand, index),
                    Suffix::Member(name) => ExprKind::Member(operand, name),
                    Suffix::Step(kind) => stepped(kind, true, operand),
                };
                builder.expr(kind, span)
            }),
            prefix(PREFIX, one(UNARY_OPERATORS), |kind, operand, e| {
                let (builder, span) = seen(e);
                let kind = match unary_op(kind) {
                    Some(op) => ExprKind::Unary(op, operand),
                    None => stepped(kind, false, operand),
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

/// An expression without operators: a literal, a name, a call, parentheses.
fn operand<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    let arguments = arguments(expression.clone());
    let angled = mark(Kind::Less)
        .ignore_then(name())
        .then_ignore(mark(Kind::Greater))
        .boxed();
    let named = name()
        .then(arguments.clone().or_not())
        .map(|(name, arguments)| match arguments {
            None => ExprKind::Name(name.symbol),
            Some(arguments) => ExprKind::Call(name, arguments),
        });
    let construct = type_keyword()
        .then(arguments.clone())
        .map(|(ty, arguments)| ExprKind::Construct(ty, arguments));
    let global = mark(Kind::GlobalValue)
        .ignore_then(angled.clone())
        .map(ExprKind::GlobalValue);
    let closure = mark(Kind::MakeClosure)
        .ignore_then(angled.clone())
        .then(arguments.clone())
        .map(|(name, arguments)| ExprKind::MakeClosure(name, arguments));
    let texture = one(SAMPLES)
        .then(angled)
        .then(arguments)
        .map(|((kind, name), arguments)| ExprKind::TextureSample(sample(kind), name, arguments));
    // Parentheses leave no node: the expression inside takes over their span.
    let parentheses = enclosed(
        Kind::LParen,
        expression.map(|inner| inner.kind),
        Kind::RParen,
        |_, _| ExprKind::Broken,
    );
    choice((
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
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a [&'a Expr<'a>]> {
    let list = expression
        .separated_by(mark(Kind::Comma))
        .collect::<Arguments>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list));
    enclosed(
        Kind::LParen,
        list,
        Kind::RParen,
        |builder: NodeBuilder<'t, 'a>, span: Span| {
            let broken = builder.expr(ExprKind::Broken, span);
            &*builder.arena.alloc_slice_copy(&[broken])
        },
    )
    .boxed()
}

fn stepped<'a>(kind: Kind, postfix: bool, place: &'a Expr<'a>) -> ExprKind<'a> {
    let step = match kind {
        Kind::PlusPlus => IncDecOp::Increment,
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
-> impl Parser<'t, &'t [Kind], ExprKind<'a>, GrammarExtra<'t, 'a>> + Copy {
    one(LITERALS).map_with(|kind, e| {
        let index = e.span().start;
        let value = e.state().tokens.tokens[index].value;
        match kind {
            Kind::FloatLiteral => ExprKind::Float(f32::from_bits(value)),
            Kind::IntLiteral => ExprKind::Int(value as i32),
            Kind::UintLiteral => ExprKind::Uint(value),
            Kind::StringLiteral => ExprKind::String(Symbol(value)),
            _ => ExprKind::Bool(kind == Kind::True),
        }
    })
}

fn sample(kind: Kind) -> TextureSample {
    let alpha = matches!(
        kind,
        Kind::SampleAlpha | Kind::SampleAlphaGrad | Kind::SampleAlphaLevel
    );
    let detail = match kind {
        Kind::SampleGrad | Kind::SampleAlphaGrad => LevelOfDetail::Gradients,
        Kind::SampleLevel | Kind::SampleAlphaLevel => LevelOfDetail::Level,
        _ => LevelOfDetail::Shadows,
    };
    TextureSample { alpha, detail }
}

fn unary_op(kind: Kind) -> Option<UnaryOp> {
    Some(match kind {
        Kind::Plus => UnaryOp::Plus,
        Kind::Minus => UnaryOp::Minus,
        Kind::Not => UnaryOp::Not,
        Kind::Tilde => UnaryOp::BitNot,
        _ => return None,
    })
}

fn binary_op(kind: Kind) -> BinaryOp {
    match kind {
        Kind::Star => BinaryOp::Mul,
        Kind::Slash => BinaryOp::Div,
        Kind::Percent => BinaryOp::Rem,
        Kind::Plus => BinaryOp::Add,
        Kind::Minus => BinaryOp::Sub,
        Kind::ShiftLeft => BinaryOp::Shl,
        Kind::ShiftRight => BinaryOp::Shr,
        Kind::Less => BinaryOp::Less,
        Kind::LessEqual => BinaryOp::LessEqual,
        Kind::Greater => BinaryOp::Greater,
        Kind::GreaterEqual => BinaryOp::GreaterEqual,
        Kind::EqualEqual => BinaryOp::Equal,
        Kind::NotEqual => BinaryOp::NotEqual,
        Kind::Amp => BinaryOp::BitAnd,
        Kind::Caret => BinaryOp::BitXor,
        Kind::Pipe => BinaryOp::BitOr,
        Kind::AmpAmp => BinaryOp::And,
        _ => BinaryOp::Or,
    }
}

/// The operator inside a compound assignment; `None` for `=`.
fn compound(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::PlusAssign => BinaryOp::Add,
        Kind::MinusAssign => BinaryOp::Sub,
        Kind::StarAssign => BinaryOp::Mul,
        Kind::SlashAssign => BinaryOp::Div,
        Kind::PercentAssign => BinaryOp::Rem,
        Kind::AmpAssign => BinaryOp::BitAnd,
        Kind::PipeAssign => BinaryOp::BitOr,
        Kind::CaretAssign => BinaryOp::BitXor,
        Kind::ShiftLeftAssign => BinaryOp::Shl,
        Kind::ShiftRightAssign => BinaryOp::Shr,
        _ => return None,
    })
}
