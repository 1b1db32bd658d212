//! Hyperbolic functions and their inverses.

use crate::algorithm::hyperbolic;
use crate::definition::{OpDef, OpInfo, Partial, between, sign};
use crate::field::{Field, FloatField, call};
use crate::power::{Hypot, Sqrt};
use Partial::{Flat, Of, Singular};

/// Hyperbolic sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sinh;

impl OpDef<1> for Sinh {
    const INFO: OpInfo = OpInfo {
        name: "sinh",
        usage: "sinh(t)",
        doc: "The hyperbolic sine, (e^t - e^-t)/2.",
        derivative: "cosh(t)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.776,
        worst_operands: &[1.0783614],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.sinh()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::sinh(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Singular(call(Cosh, [t]))]
    }
}

/// Hyperbolic cosine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cosh;

impl OpDef<1> for Cosh {
    const INFO: OpInfo = OpInfo {
        name: "cosh",
        usage: "cosh(t)",
        doc: "The hyperbolic cosine, (e^t + e^-t)/2.",
        derivative: "sinh(t)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.887,
        worst_operands: &[0.9693912],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.cosh()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::cosh(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Singular(call(Sinh, [t]))]
    }
}

/// Hyperbolic tangent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tanh;

impl OpDef<1> for Tanh {
    const INFO: OpInfo = OpInfo {
        name: "tanh",
        usage: "tanh(t)",
        doc: "The hyperbolic tangent, sinh(t)/cosh(t).",
        derivative: "(1 - v²)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.96,
        worst_operands: &[1.0085424],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.tanh()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::tanh(t)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Flat(v.lit(1.0) - v * v)]
    }
}

/// Inverse hyperbolic sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asinh;

impl OpDef<1> for Asinh {
    const INFO: OpInfo = OpInfo {
        name: "asinh",
        usage: "asinh(t)",
        doc: "The inverse of sinh, ln(t + √(t² + 1)).",
        derivative: "t′/√(t² + 1)",
        test_intervals: &[between(-100.0, 100.0)],
        ulp: 0.636,
        worst_operands: &[1.1735615],
        ..OpInfo::SMOOTH
    };

    /// √(t² + 1) − 1 is t²/(1 + √(t² + 1)), so that nothing cancels near 0.
    fn spec([t]: [f64; 1]) -> f64 {
        let size = t.abs();
        let value = if size > 1e8 {
            size.ln() + std::f64::consts::LN_2
        } else {
            let square = size * size;
            (size + square / (1.0 + (square + 1.0).sqrt())).ln_1p()
        };
        value.copysign(t)
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::asinh(t)
    }

    /// By the length of (t, 1), which does not overflow.
    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        let one = t.lit(1.0);
        [Of(one / call(Hypot, [t, one]))]
    }
}

/// Inverse hyperbolic cosine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acosh;

impl OpDef<1> for Acosh {
    const INFO: OpInfo = OpInfo {
        name: "acosh",
        usage: "acosh(t)",
        doc: "The inverse of cosh from 1 on, ln(t + √(t² - 1)); NaN below.",
        derivative: "t′/√(t² - 1)",
        kink: "at 1, where the slope is infinite, and below, the derivative is 0",
        test_intervals: &[between(1.05, 100.0)],
        ulp: 0.859,
        worst_operands: &[1.0578557],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        if t > 1e8 {
            return t.ln() + std::f64::consts::LN_2;
        }
        if t < 1.0 {
            return f64::NAN;
        }
        let beyond = t - 1.0;
        (beyond + (beyond * (t + 1.0)).sqrt()).ln_1p()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::acosh(t)
    }

    /// By two roots, whose product does not overflow.
    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        let (zero, one) = (t.lit(0.0), t.lit(1.0));
        let root = call(Sqrt, [t - one]) * call(Sqrt, [t + one]);
        [Of(F::select(one.lt(t), one / root, zero))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t - 1.0)
    }
}

/// Inverse hyperbolic tangent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atanh;

impl OpDef<1> for Atanh {
    const INFO: OpInfo = OpInfo {
        name: "atanh",
        usage: "atanh(t)",
        doc: "The inverse of tanh, ln((1 + t)/(1 - t))/2; infinite at ±1, NaN beyond.",
        derivative: "t′/(1 - t²)",
        kink: "at the poles ±1, and beyond, the derivative is 0",
        test_intervals: &[between(-0.95, 0.95)],
        ulp: 0.636,
        worst_operands: &[0.45985696],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        let size = t.abs();
        (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(t)
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        hyperbolic::atanh(t)
    }

    /// The product of two exact factors keeps it accurate near the ends.
    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        let (zero, one) = (t.lit(0.0), t.lit(1.0));
        let square = (one - t) * (one + t);
        [Of(F::select(zero.lt(square), one / square, zero))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(1.0 - t.abs())
    }
}
