//! Hyperbolic functions.

use crate::algorithm::hyperbolic;
use crate::definition::{OpDef, OpInfo, Partial, between};
use crate::field::{Field, FloatField, call};
use Partial::{Of, Singular};

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
        [Of(v.lit(1.0) - v * v)]
    }
}
