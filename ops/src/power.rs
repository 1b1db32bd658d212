//! Roots and powers.

use crate::algorithm::power;
use crate::arithmetic::StrongMul;
use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between, sign};
use crate::exponential::Log;
use crate::field::{Field, FloatField, call};
use crate::selection::Abs;
use Partial::{Flat, Of};

/// Square root.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sqrt;

impl OpDef<1> for Sqrt {
    const INFO: OpInfo = OpInfo {
        name: "sqrt",
        usage: "sqrt(t)",
        doc: "The square root; NaN below 0.",
        derivative: "t′/(2v)",
        kink: "at 0, where the slope is infinite, and below, the derivative is 0",
        test_intervals: &[between(0.01, 100.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.sqrt()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.square_root()
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], v: F) -> [Partial<F>; 1] {
        let zero = t.lit(0.0);
        [Of(F::select(zero.lt(v), t.lit(0.5) / v, zero))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// Reciprocal square root.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rsqrt;

impl OpDef<1> for Rsqrt {
    const INFO: OpInfo = OpInfo {
        name: "rsqrt",
        usage: "rsqrt(t)",
        doc: "1/sqrt(t); infinite at 0, NaN below.",
        derivative: "-v·t′/(2t)",
        kink: "at the pole 0, and below, the derivative is 0",
        test_intervals: &[between(0.01, 100.0)],
        ulp: 0.501,
        worst_operands: &[1.4811018e11],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        1.0 / t.sqrt()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        power::rsqrt(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], v: F) -> [Partial<F>; 1] {
        let zero = t.lit(0.0);
        let p = t.lit(-0.5) * (v / t);
        [Flat(F::select(zero.lt(t), p, zero))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// Cube root.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cbrt;

impl OpDef<1> for Cbrt {
    const INFO: OpInfo = OpInfo {
        name: "cbrt",
        usage: "cbrt(t)",
        doc: "The cube root, with the sign of t.",
        derivative: "v·t′/(3t)",
        kink: "at 0, where the slope is infinite, the derivative is 0",
        test_intervals: &[between(-100.0, 100.0)],
        ulp: 0.501,
        worst_operands: &[-2.280941e-17],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.cbrt()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        power::cbrt(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], v: F) -> [Partial<F>; 1] {
        let zero = t.lit(0.0);
        let p = t.lit(1.0 / 3.0) * (v / t);
        [Of(F::select(t.same(zero), zero, p))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// Power.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pow;

impl OpDef<2> for Pow {
    const INFO: OpInfo = OpInfo {
        name: "pow",
        usage: "pow(t, e)",
        doc: "t to the power of e, as C's pow: 1 where e is 0 or t is 1; a negative t needs a whole e, else NaN.",
        derivative: "(e·v/t)·t′ + v·ln(t)·e′",
        kink: "at t = 0 the t′ term is t′ for e = 1, else 0; at t ≤ 0 the e′ term is 0; where the value is NaN, or t is, or e is not finite, the t′ term is 0",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(0.01, 10.0), between(-4.0, 4.0)],
        ulp: 0.904,
        worst_operands: &[1.9799997e-27, 1.425847],
        ..OpInfo::SMOOTH
    };

    fn spec([t, e]: [f64; 2]) -> f64 {
        t.powf(e)
    }

    #[inline(always)]
    fn value<L: FloatField>([t, e]: [L; 2]) -> L {
        power::pow(t, e)
    }

    #[inline(always)]
    fn partials<F: Field>([t, e]: [F; 2], v: F) -> [Partial<F>; 2] {
        let (zero, one) = (t.lit(0.0), t.lit(1.0));
        let is_finite = call(Abs, [e]).lt(e.lit(f64::INFINITY));
        let has_slope = v.same(v) & t.same(t) & is_finite;
        let regular = F::select(has_slope, e * v / t, zero);
        let at_origin = F::select(e.same(one), one, zero);
        let power = || call(StrongMul, [e, call(Pow, [t, e - one])]) + zero;
        let slope_at_origin = || F::select(one.le(e), power(), zero);
        let slope = F::select_end(t.same(zero), at_origin, slope_at_origin, regular);
        [
            Flat(slope),
            Flat(F::select(
                zero.lt(t),
                call(StrongMul, [call(Log, [t]), v]),
                zero,
            )),
        ]
    }

    fn smooth_segment([t, _]: [f64; 2]) -> i64 {
        sign(t)
    }
}

/// Length of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hypot;

impl OpDef<2> for Hypot {
    const INFO: OpInfo = OpInfo {
        name: "hypot",
        usage: "hypot(a, b)",
        doc: "sqrt(a² + b²) without overflow on the way; infinite if either is, even beside a NaN.",
        derivative: "(a/v)·a′ + (b/v)·b′",
        class: OpClass::Kink,
        kink: "at the origin the derivative is 0",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-10.0, 10.0), between(0.5, 10.0)],
        ulp: 0.75,
        worst_operands: &[2.578648e-39, 6.720033e-39],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a.hypot(b)
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        power::hypot(a, b)
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], v: F) -> [Partial<F>; 2] {
        let zero = v.lit(0.0);
        let origin = v.same(zero);
        let share = |x: F| Of(F::select(origin, zero, x / v));
        [share(a), share(b)]
    }

    fn smooth_segment([a, b]: [f64; 2]) -> i64 {
        i64::from(a == 0.0 && b == 0.0)
    }
}

/// Length of a triple.
#[derive(Clone, Copy, Debug, Default)]
pub struct Norm3;

impl OpDef<3> for Norm3 {
    const INFO: OpInfo = OpInfo {
        name: "norm3",
        usage: "norm3(a, b, c)",
        doc: "sqrt(a² + b² + c²) without overflow on the way; infinite if any is, even beside a NaN.",
        derivative: "(a/v)·a′ + (b/v)·b′ + (c/v)·c′",
        class: OpClass::Kink,
        kink: "at the origin the derivative is 0",
        operands: &[OperandKind::Float; 3],
        test_intervals: &[
            between(-10.0, 10.0),
            between(0.5, 10.0),
            between(-10.0, 10.0),
        ],
        ulp: 1.25,
        ..OpInfo::SMOOTH
    };

    fn spec([a, b, c]: [f64; 3]) -> f64 {
        a.hypot(b).hypot(c)
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b, c]: [L; 3]) -> L {
        power::norm3(a, b, c)
    }

    #[inline(always)]
    fn partials<F: Field>([a, b, c]: [F; 3], v: F) -> [Partial<F>; 3] {
        // One division for all three; its scale keeps the reciprocal of a very small or great
        // length from losing digits.
        let (zero, one) = (v.lit(0.0), v.lit(1.0));
        let small = v.lt(v.lit(2f64.powi(-60)));
        let great = v.lit(2f64.powi(60)).lt(v);
        let down = F::select(great, v.lit(2f64.powi(-90)), one);
        let scale = F::select(small, v.lit(2f64.powi(90)), down);
        let reciprocal = F::select(v.same(zero), zero, one / (v * scale));
        [
            Of(a * scale * reciprocal),
            Of(b * scale * reciprocal),
            Of(c * scale * reciprocal),
        ]
    }

    fn smooth_segment(x: [f64; 3]) -> i64 {
        i64::from(x == [0.0; 3])
    }
}
