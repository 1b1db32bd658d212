//! Op definitions: the traits and data of an op, and the tangent formula.
//!
//! An op definition is a type without values that implements [`OpDef`] (floats in, a float out,
//! differentiable) or [`BitOpDef`] (everything else). Interpreters, folding, documentation and
//! tests derive from it, so each fact is written once.

use crate::arithmetic::StrongMul;
use crate::field::{Field, FloatField, WordField, call};
use crate::types::Scalar;

/// The type of an operand or result of an op. Every `Int` and every `WordField` of one op is the
/// same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// f32.
    Float,
    /// i32.
    I32,
    /// u32.
    U32,
    /// bool.
    Bool,
    /// i32 or u32: the bits are treated alike.
    Int,
    /// i32, u32 or bool: the bits are treated alike.
    Word,
}

impl OperandKind {
    /// Whether a value of that type is allowed here.
    pub const fn accepts(self, ty: Scalar) -> bool {
        match self {
            OperandKind::Float => matches!(ty, Scalar::F32),
            OperandKind::I32 => matches!(ty, Scalar::I32),
            OperandKind::U32 => matches!(ty, Scalar::U32),
            OperandKind::Bool => matches!(ty, Scalar::Bool),
            OperandKind::Int => matches!(ty, Scalar::I32 | Scalar::U32),
            OperandKind::Word => matches!(ty, Scalar::I32 | Scalar::U32 | Scalar::Bool),
        }
    }

    /// The result's type, where `last` is the type of the op's last operand (which is `Int` or
    /// `WordField` whenever the result is).
    pub const fn resolve(self, last: Scalar) -> Scalar {
        match self {
            OperandKind::Float => Scalar::F32,
            OperandKind::I32 => Scalar::I32,
            OperandKind::U32 => Scalar::U32,
            OperandKind::Bool => Scalar::Bool,
            OperandKind::Int | OperandKind::Word => last,
        }
    }
}

/// A fault that a bit op can report about its operands; its value is defined all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpFault {
    /// An array index was out of range, and clamped.
    IndexOutOfRange,
    /// An integer was divided by zero, which gave 0.
    DivisionByZero,
    /// A loop had more iterations than its hint says.
    TooManyIterations,
}

/// The behaviour of an op as a function of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// The partials are constants or operands: negation, sums, products.
    Linear,
    /// Differentiable inside its domain.
    Smooth,
    /// Continuous; the derivative jumps where [`OpInfo::kink`] says.
    Kink,
    /// The value jumps; the derivative is that of the smooth segments.
    Jump,
    /// The derivative is what operands say, not that of the value.
    Given,
    /// Has no derivative: its result is not a float, or floats are not its operands.
    Discrete,
}

/// A closed interval of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperandInterval {
    /// Least operand.
    pub low: f64,
    /// Greatest operand.
    pub high: f64,
}

/// `low..=high`.
pub const fn between(low: f64, high: f64) -> OperandInterval {
    OperandInterval { low, high }
}

/// -1, 0 or 1: the side of zero that a number lies on, for [`OpDef::smooth_segment`].
pub fn sign(x: f64) -> i64 {
    i64::from(x > 0.0) - i64::from(x < 0.0)
}

/// The data of an op.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in IR text, bytecode listings and `:help`; for intrinsics also the name in the
    /// language.
    pub name: &'static str,
    /// The usage, with the names of its operands: `sin(t)`, `a + b`.
    pub usage: &'static str,
    /// The documentation, one or two sentences; the page of the op.
    pub doc: &'static str,
    /// The derivative in mathematical notation: `cos(t)·t′`; empty for discrete ops.
    pub derivative: &'static str,
    /// Behaviour.
    pub class: OpClass,
    /// The behaviour at kinks, jumps and singular points, in words; empty where there are none.
    pub kink: &'static str,
    /// The fault that it can report, if any.
    pub fault: Option<OpFault>,
    /// Types of the operands. A float op may have `Bool` operands: they reach it as 0 or 1.
    pub operands: &'static [OperandKind],
    /// Type of the result.
    pub result: OperandKind,
    /// Per operand, where to test value and partials.
    pub test_intervals: &'static [OperandInterval],
    /// Greatest error of the value in units in the last place, rounded up in its third digit. It is
    /// over all floats (one operand), or over 10^9 pairs and all pairs of special ones (two). 0
    /// means rounded once, that is at most 1/2.
    pub ulp: f64,
    /// Operands at which the error is [`OpInfo::ulp`]; none for ops that round once, and for those
    /// that sweeps omit.
    pub worst_operands: &'static [f32],
    /// For values that are sums whose terms cancel, how large the terms are: units in the last
    /// place are then at least those of that number. Else 0.
    pub cancelling_terms: f64,
    /// Whether its algorithm is so long that engines have one routine for its shadows, whichever
    /// operands have any, instead of one for each pattern. Every op of more than three operands is.
    pub shares_shadow_routine: bool,
    /// Whether its result is its one operand's bits under another type, so that engines need
    /// compute nothing.
    pub is_bit_cast: bool,
}

impl OpInfo {
    /// A smooth op of one float, correctly rounded: the base of the ops' data.
    pub const SMOOTH: OpInfo = OpInfo {
        name: "",
        usage: "",
        doc: "",
        derivative: "",
        class: OpClass::Smooth,
        kink: "",
        fault: None,
        operands: &[OperandKind::Float],
        result: OperandKind::Float,
        test_intervals: &[],
        ulp: 0.0,
        worst_operands: &[],
        cancelling_terms: 0.0,
        shares_shadow_routine: false,
        is_bit_cast: false,
    };

    /// Whether its result can have shadows.
    pub const fn is_differentiable(&self) -> bool {
        !matches!(self.class, OpClass::Discrete)
    }
}

/// ∂v/∂operand, as a coefficient that [`tangent`] multiplies an operand's shadow with.
#[derive(Clone, Copy, Debug)]
pub enum Partial<F: Field> {
    /// 0: no term.
    Zero,
    /// 1: the shadow itself.
    One,
    /// −1: the shadow subtracted.
    MinusOne,
    /// 1 where set, else 0, without multiplying: the operand that was taken.
    Where(F::Mask),
    /// Any number, finite where the operands are.
    Of(F),
    /// Any number, which can be infinite or NaN at finite operands: there is no term where it or
    /// the shadow is 0, whatever the other is.
    Singular(F),
    /// A singular number by an operand that need not be finite where the value is: there the
    /// function is flat, and the number 0.
    Flat(F),
}

/// A differentiable op: floats in, a float out.
pub trait OpDef<const N: usize>: Copy + Default + 'static {
    /// Its data.
    const INFO: OpInfo;

    /// The function over the reals, independently in f64. It is the oracle, never the
    /// implementation.
    fn spec(args: [f64; N]) -> f64;

    /// The algorithm of every engine, to the bit.
    fn value<L: FloatField>(args: [L; N]) -> L;

    /// ∂v/∂operand for each operand, from the operands and the value.
    fn partials<F: Field>(args: [F; N], value: F) -> [Partial<F>; N];

    /// Value and partials at once, the same to the bit; for ops that share work between both.
    #[inline(always)]
    fn value_and_partials<L: FloatField>(args: [L; N]) -> (L, [Partial<L>; N]) {
        let value = Self::value(args);
        (value, Self::partials(args, value))
    }

    /// The smooth segment of the function that the operands are on: the side of a kink, the cell of
    /// a floor, the sheet beside a pole. A finite difference is valid only if all its points are on
    /// one segment.
    fn smooth_segment(_args: [f64; N]) -> i64 {
        0
    }
}

/// An op without derivative. Operands and result are words of the kinds in [`OpInfo`]: floats as
/// bit patterns, bools as 0 or 1.
pub trait BitOpDef<const N: usize>: Copy + Default + 'static {
    /// Its data.
    const INFO: OpInfo;

    /// The function at one point, written independently of `value`.
    fn spec(args: [u32; N]) -> u32;

    /// The algorithm of every engine.
    fn value<W: WordField>(args: [W; N]) -> W;

    /// Where it reports its [`OpInfo::fault`], for ops that have one. The value is defined there
    /// all the same.
    fn faults<W: WordField>(args: [W; N]) -> W::Mask {
        let never = args[0].lit(0);
        never.same(never.lit(1))
    }
}

/// A sum with the term partial·d, rounded and never fused: the formula of tangents and cotangents,
/// the only one. `None` is a sum without terms.
///
/// A partial of 0 adds no term; ±1 and `Where` do not multiply. Where `d` or a singular or flat
/// partial is 0 their term is 0, whatever the other is ([`StrongMul`]).
#[inline(always)]
fn plus_term<F: Field>(sum: Option<F>, partial: Partial<F>, d: F) -> Option<F> {
    let term = match partial {
        Partial::Zero => return sum,
        Partial::One => d,
        Partial::MinusOne => match sum {
            Some(sum) => return Some(sum - d),
            None => -d,
        },
        Partial::Where(mask) => F::select(mask, d, d.lit(0.0)),
        Partial::Of(p) => p * d,
        Partial::Singular(p) | Partial::Flat(p) => call(StrongMul, [p, d]),
    };
    Some(match sum {
        Some(sum) => sum + term,
        None => term,
    })
}

/// The operands of an op from a list that has as many or more, each as its kind is read.
///
/// A closure within the code of an op has a type of its own for each op, so an array made by one is
/// compiled once for each. This and [`operands_of`] are compiled once for each number of operands.
pub fn read_operands<T: Copy, U, const N: usize>(
    kinds: &[OperandKind],
    list: &[T],
    read: &dyn Fn(OperandKind, T) -> U,
) -> [U; N] {
    std::array::from_fn(|i| read(kinds[i], list[i]))
}

/// The operands of an op from a list that has as many or more.
pub fn operands_of<T: Copy, const N: usize>(list: &[T]) -> [T; N] {
    *list.first_chunk().expect("an op has all of its operands")
}

/// The tangent: Σ over operands, in order, of partial·shadow.
///
/// An operand without a shadow (`None`) contributes no term. With no term at all the tangent is 0.
#[inline(always)]
pub fn tangent<F: Field, const N: usize>(
    partials: &[Partial<F>; N],
    shadows: [Option<F>; N],
    context: F,
) -> F {
    let mut sum: Option<F> = None;
    for i in 0..N {
        if let Some(d) = shadows[i] {
            sum = plus_term(sum, partials[i], d);
        }
    }
    match sum {
        Some(sum) => sum,
        None => context.lit(0.0),
    }
}

/// The cotangent: adds partial·d to the sum of each operand that is wanted. It is the transpose of
/// [`tangent`].
///
/// `d` is the cotangent of the op's value, and `sums` are those that operands have from later uses,
/// `None` where there was none.
#[inline(always)]
pub fn cotangent<F: Field, const N: usize>(
    partials: &[Partial<F>; N],
    d: F,
    wanted: [bool; N],
    sums: &mut [Option<F>; N],
) {
    for i in 0..N {
        if wanted[i] {
            sums[i] = plus_term(sums[i], partials[i], d);
        }
    }
}
