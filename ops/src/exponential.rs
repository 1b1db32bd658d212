//! Exponentials and logarithms.

use crate::algorithm::{exp, log};
use crate::definition::{OpDef, OpInfo, Partial, between, sign};
use crate::field::{Field, FloatField};
use Partial::{Flat, Singular};
use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

/// e to a power.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exp;

impl OpDef<1> for Exp {
    const INFO: OpInfo = OpInfo {
        name: "exp",
        usage: "exp(t)",
        doc: "e to the power of t.",
        derivative: "v·t′",
        test_intervals: &[between(-20.0, 20.0)],
        ulp: 0.897,
        worst_operands: &[26.722153],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.exp()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        exp::exp(t)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Flat(v)]
    }
}

/// 2 to a power.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exp2;

impl OpDef<1> for Exp2 {
    const INFO: OpInfo = OpInfo {
        name: "exp2",
        usage: "exp2(t)",
        doc: "2 to the power of t.",
        derivative: "ln(2)·v·t′",
        test_intervals: &[between(-20.0, 20.0)],
        ulp: 0.875,
        worst_operands: &[-126.42215],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.exp2()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        exp::exp2(t)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Flat(v.lit(LN_2) * v)]
    }
}

/// `scale`/t inside the domain of a logarithm, 0 outside and at its pole.
#[inline(always)]
fn reciprocal<F: Field>(scale: f64, t: F) -> Partial<F> {
    let zero = t.lit(0.0);
    Singular(F::select(zero.lt(t), t.lit(scale) / t, zero))
}

/// Natural logarithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

impl OpDef<1> for Log {
    const INFO: OpInfo = OpInfo {
        name: "log",
        usage: "log(t)",
        doc: "The natural logarithm; -infinity at 0, NaN below.",
        derivative: "t′/t",
        kink: "at the pole 0, and below, the derivative is 0",
        test_intervals: &[between(0.01, 100.0)],
        ulp: 0.848,
        worst_operands: &[0.69919354],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.ln()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        log::ln(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [reciprocal(1.0, t)]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// Logarithm to base 2.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log2;

impl OpDef<1> for Log2 {
    const INFO: OpInfo = OpInfo {
        name: "log2",
        usage: "log2(t)",
        doc: "The logarithm to base 2; -infinity at 0, NaN below.",
        derivative: "t′/(ln(2)·t)",
        kink: "at the pole 0, and below, the derivative is 0",
        test_intervals: &[between(0.01, 100.0)],
        ulp: 0.922,
        worst_operands: &[1.4000219],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.log2()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        log::log2(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [reciprocal(LOG2_E, t)]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// Logarithm to base 10.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log10;

impl OpDef<1> for Log10 {
    const INFO: OpInfo = OpInfo {
        name: "log10",
        usage: "log10(t)",
        doc: "The logarithm to base 10; -infinity at 0, NaN below.",
        derivative: "t′/(ln(10)·t)",
        kink: "at the pole 0, and below, the derivative is 0",
        test_intervals: &[between(0.01, 100.0)],
        ulp: 0.831,
        worst_operands: &[1.3222603],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.log10()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        log::log10(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [reciprocal(LOG10_E, t)]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}
