//! Integer parts, fractions and remainders.

use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between};
use crate::field::{Field, FloatField, SlowFn, WordField, call};
use crate::libcall::Libcall;
use Partial::{Flat, One, Singular, Zero};

/// The greatest integer not above.
#[derive(Clone, Copy, Debug, Default)]
pub struct Floor;

impl OpDef<1> for Floor {
    const INFO: OpInfo = OpInfo {
        name: "floor",
        usage: "floor(t)",
        doc: "The greatest integer that is not above t.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "at integers the value jumps; the derivative is 0",
        test_intervals: &[between(-20.0, 20.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.floor()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.round_down()
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        t.floor() as i64
    }
}

/// The least integer not below.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ceil;

impl OpDef<1> for Ceil {
    const INFO: OpInfo = OpInfo {
        name: "ceil",
        usage: "ceil(t)",
        doc: "The least integer that is not below t.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "at integers the value jumps; the derivative is 0",
        test_intervals: &[between(-20.0, 20.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.ceil()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.round_up()
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        t.ceil() as i64
    }
}

/// The nearest integer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round;

impl OpDef<1> for Round {
    const INFO: OpInfo = OpInfo {
        name: "round",
        usage: "round(t)",
        doc: "The integer nearest to t; halfway cases go to the even one.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "halfway between integers the value jumps; the derivative is 0",
        test_intervals: &[between(-20.0, 20.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.round_ties_even()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.round_even()
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        t.round_ties_even() as i64
    }
}

/// The integer part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trunc;

impl OpDef<1> for Trunc {
    const INFO: OpInfo = OpInfo {
        name: "trunc",
        usage: "trunc(t)",
        doc: "t without its fraction: rounded towards zero.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "at integers the value jumps; the derivative is 0",
        test_intervals: &[between(-20.0, 20.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.trunc()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.round_to_zero()
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        t.trunc() as i64
    }
}

/// The part after the point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fract;

impl OpDef<1> for Fract {
    const INFO: OpInfo = OpInfo {
        name: "fract",
        usage: "fract(t)",
        doc: "t - floor(t): the part after the point, never negative; 1 by rounding just below an integer.",
        derivative: "t′",
        class: OpClass::Jump,
        kink: "at integers the value jumps to 0; the derivative is t′",
        test_intervals: &[between(-20.0, 20.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t - t.floor()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t - t.round_down()
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [One]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        t.floor() as i64
    }
}

/// The floored remainder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mod;

/// The floored remainder of any quotient.
struct ExactMod<L>(L, L);

impl<L: FloatField> SlowFn<L> for ExactMod<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let ExactMod(a, b) = self;
        with_sign_of(Fmod::value([a, b]), b)
    }
}

impl OpDef<2> for Mod {
    const INFO: OpInfo = OpInfo {
        name: "mod",
        usage: "mod(a, b)",
        doc: "a - b·floor(a/b), rounded once: the remainder with the sign of b; b by rounding just below a multiple of it. NaN where b is 0 or infinite.",
        derivative: "a′ - floor(a/b)·b′",
        class: OpClass::Jump,
        kink: "where a/b is an integer the value jumps to 0; the derivative is that of the segment the value is on",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-20.0, 20.0), between(0.5, 5.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        if b.is_infinite() {
            return f64::NAN;
        }
        let r = a % b;
        if (r < 0.0 && b > 0.0) || (r > 0.0 && b < 0.0) {
            r + b
        } else {
            r + 0.0
        }
    }

    /// While the quotient is below 2^22 its floor is right or one too great (where it rounded up to
    /// an integer). The fused difference is exact, so its sign decides; beyond, the exact remainder
    /// does.
    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        let quotient = a / b;
        let fast = with_sign_of((-quotient.round_down()).mul_add(b, a), b);
        let small = quotient.magnitude().lt(a.lit(4_194_304.0));
        L::with_slow_path(!small, ExactMod(a, b), fast)
    }

    #[inline(always)]
    fn partials<F: Field>(args: [F; 2], v: F) -> [Partial<F>; 2] {
        [One, Singular(remainder_by_divisor(args, v))]
    }

    fn smooth_segment([a, b]: [f64; 2]) -> i64 {
        (a / b).floor() as i64
    }
}

/// A remainder of a division by b, moved by b if its sign is the other one.
#[inline(always)]
fn with_sign_of<L: FloatField>(r: L, b: L) -> L {
    let zero = r.lit(0.0);
    let opposite = (r.lt(zero) & zero.lt(b)) | (zero.lt(r) & b.lt(zero));
    L::select(opposite, r + b, r + zero)
}

/// C's remainder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fmod;

impl OpDef<2> for Fmod {
    const INFO: OpInfo = OpInfo {
        name: "fmod",
        usage: "fmod(a, b)",
        doc: "a - b·trunc(a/b), exactly, as in C: the remainder with the sign of a. NaN where b is 0 or a is infinite.",
        derivative: "a′ - trunc(a/b)·b′",
        class: OpClass::Jump,
        kink: "where a/b is an integer the value jumps to 0; the derivative is that of the segment the value is on",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-20.0, 20.0), between(0.5, 5.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a % b
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        a.bits().libcall(Libcall::FloatRemainder, b.bits()).float()
    }

    #[inline(always)]
    fn partials<F: Field>(args: [F; 2], v: F) -> [Partial<F>; 2] {
        [One, Flat(remainder_by_divisor(args, v))]
    }

    fn smooth_segment([a, b]: [f64; 2]) -> i64 {
        (a / b).trunc() as i64
    }
}

/// The partial of a remainder v = a − k·b by b, −k, whichever whole k the quotient was rounded to.
#[inline(always)]
fn remainder_by_divisor<F: Field>([a, b]: [F; 2], v: F) -> F {
    call(Round, [(v - a) / b])
}
