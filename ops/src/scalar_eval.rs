//! Evaluation of ops on one point, for the reference evaluator, folding and tests.

use crate::definition::{
    BitOpDef, OpDef, OperandKind, Partial, operands_of, read_operands, tangent,
};
use crate::field::Field;
use crate::list::{Op, OpVisitor};

/// The most operands that an op has.
pub const MAX_OPERANDS: usize = 5;

/// The float that a float op sees for an operand's bits.
#[inline(always)]
pub fn operand_float(kind: OperandKind, bits: u32) -> f32 {
    match kind {
        OperandKind::Float => f32::from_bits(bits),
        _ => bits as f32,
    }
}

struct Value<'a>(&'a [u32]);

impl OpVisitor for Value<'_> {
    type Out = u32;
    fn float<R: OpDef<N>, const N: usize>(self) -> u32 {
        R::value::<f32>(read_operands(R::INFO.operands, self.0, &operand_float)).to_bits()
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> u32 {
        R::value::<u32>(operands_of(self.0))
    }
}

struct Spec<'a>(&'a [f64]);

impl OpVisitor for Spec<'_> {
    type Out = f64;
    fn float<R: OpDef<N>, const N: usize>(self) -> f64 {
        R::spec(operands_of(self.0))
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> f64 {
        panic!("{} is not a float op", R::INFO.name)
    }
}

struct SmoothSegment<'a>(&'a [f64]);

impl OpVisitor for SmoothSegment<'_> {
    type Out = i64;
    fn float<R: OpDef<N>, const N: usize>(self) -> i64 {
        R::smooth_segment(operands_of(self.0))
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> i64 {
        0
    }
}

struct WordSpec<'a>(&'a [u32]);

impl OpVisitor for WordSpec<'_> {
    type Out = u32;
    fn float<R: OpDef<N>, const N: usize>(self) -> u32 {
        panic!("{} is a float op", R::INFO.name)
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> u32 {
        R::spec(operands_of(self.0))
    }
}

struct Faults<'a>(&'a [u32]);

impl OpVisitor for Faults<'_> {
    type Out = bool;
    fn float<R: OpDef<N>, const N: usize>(self) -> bool {
        false
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> bool {
        R::INFO.fault.is_some() && R::faults::<u32>(operands_of(self.0))
    }
}

struct Tangent<'a, F> {
    operands: &'a [F],
    value: F,
    shadows: &'a [Option<F>],
}

impl<F: Field> OpVisitor for Tangent<'_, F> {
    type Out = F;
    fn float<R: OpDef<N>, const N: usize>(self) -> F {
        let partials = R::partials(operands_of(self.operands), self.value);
        tangent_of(&partials, operands_of(self.shadows), self.value)
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> F {
        self.value.lit(0.0)
    }
}

struct Partials<'a, F> {
    operands: &'a [F],
    value: F,
}

impl<F: Field<Mask = bool>> OpVisitor for Partials<'_, F> {
    type Out = [F; MAX_OPERANDS];
    fn float<R: OpDef<N>, const N: usize>(self) -> [F; MAX_OPERANDS] {
        numbers(
            &R::partials(operands_of(self.operands), self.value),
            self.value,
        )
    }
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> [F; MAX_OPERANDS] {
        [self.value.lit(0.0); MAX_OPERANDS]
    }
}

/// [`tangent`], once for all ops with as many operands.
fn tangent_of<F: Field, const N: usize>(
    partials: &[Partial<F>; N],
    shadows: [Option<F>; N],
    value: F,
) -> F {
    tangent(partials, shadows, value)
}

/// Partials as numbers, 0 beyond them.
fn numbers<F: Field<Mask = bool>>(partials: &[Partial<F>], value: F) -> [F; MAX_OPERANDS] {
    std::array::from_fn(|i| match partials.get(i) {
        None | Some(Partial::Zero | Partial::Where(false)) => value.lit(0.0),
        Some(Partial::One | Partial::Where(true)) => value.lit(1.0),
        Some(Partial::MinusOne) => value.lit(-1.0),
        Some(Partial::Of(p) | Partial::Singular(p) | Partial::Flat(p)) => *p,
    })
}

impl Op {
    /// The bits of the value that every engine computes from these bits; one word per operand.
    pub fn value(self, operands: &[u32]) -> u32 {
        self.visit(Value(operands))
    }

    /// The spec of a float op, over the reals.
    ///
    /// # Panics
    /// For bit ops, whose spec is a function of words.
    pub fn spec(self, operands: &[f64]) -> f64 {
        self.visit(Spec(operands))
    }

    /// The spec of a bit op, as a function of words.
    ///
    /// # Panics
    /// For float ops, whose spec is over the reals.
    pub fn bit_spec(self, operands: &[u32]) -> u32 {
        self.visit(WordSpec(operands))
    }

    /// The smooth segment of a float op that the operands are on ([`OpDef::smooth_segment`]); 0 for
    /// bit ops.
    pub fn smooth_segment(self, operands: &[f64]) -> i64 {
        self.visit(SmoothSegment(operands))
    }

    /// Whether the op faults on these operands; its value is defined all the same.
    pub fn faults(self, operands: &[u32]) -> bool {
        self.visit(Faults(operands))
    }

    /// The shadow of the value from the operands' shadows, by the op's partials and the tangent
    /// formula.
    pub fn tangent<F: Field>(self, operands: &[F], value: F, shadows: &[Option<F>]) -> F {
        self.visit(Tangent {
            operands,
            value,
            shadows,
        })
    }

    /// The op's partials as numbers, 0 beyond its operands and for bit ops.
    pub fn partials<F: Field<Mask = bool>>(self, operands: &[F], value: F) -> [F; MAX_OPERANDS] {
        self.visit(Partials { operands, value })
    }
}
