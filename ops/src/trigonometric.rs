//! Circular functions and their inverses. Angles are in radians.

use crate::algorithm::{arc, trig};
use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between, sign};
use crate::field::{Field, FloatField, call};
use crate::power::Sqrt;
use crate::selection::{Abs, Max};
use Partial::{Flat, Of};
use std::f64::consts::PI;

/// Sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sin;

impl OpDef<1> for Sin {
    const INFO: OpInfo = OpInfo {
        name: "sin",
        usage: "sin(t)",
        doc: "The sine of t radians.",
        derivative: "cos(t)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.878,
        worst_operands: &[2.127851e8],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.sin()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        trig::sin(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(call(Cos, [t]))]
    }
}

/// Cosine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cos;

impl OpDef<1> for Cos {
    const INFO: OpInfo = OpInfo {
        name: "cos",
        usage: "cos(t)",
        doc: "The cosine of t radians.",
        derivative: "-sin(t)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.877,
        worst_operands: &[19.670809],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.cos()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        trig::cos(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(-call(Sin, [t]))]
    }
}

/// Tangent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tan;

impl OpDef<1> for Tan {
    const INFO: OpInfo = OpInfo {
        name: "tan",
        usage: "tan(t)",
        doc: "The tangent of t radians. No float lies on a pole.",
        derivative: "(1 + v²)·t′",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.953,
        worst_operands: &[2.3640695],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.tan()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        trig::tan(t)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Of(v.lit(1.0) + v * v)]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        (t / PI + 0.5).floor() as i64
    }
}

/// 1/√(1 − t²) inside (−1, 1), 0 at the ends and outside. The product of two exact factors keeps it
/// accurate near the ends.
#[inline(always)]
fn arc_slope<F: Field>(t: F) -> F {
    let (zero, one) = (t.lit(0.0), t.lit(1.0));
    let square = (one - t) * (one + t);
    F::select(zero.lt(square), one / call(Sqrt, [square]), zero)
}

/// Inverse sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asin;

impl OpDef<1> for Asin {
    const INFO: OpInfo = OpInfo {
        name: "asin",
        usage: "asin(t)",
        doc: "The angle from -π/2 to π/2 whose sine is t; NaN beyond ±1.",
        derivative: "t′/√(1 - t²)",
        kink: "at ±1, where the slope is infinite, and beyond, the derivative is 0",
        test_intervals: &[between(-0.95, 0.95)],
        ulp: 0.693,
        worst_operands: &[0.5308584],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.asin()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        arc::asin(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(arc_slope(t))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(1.0 - t.abs())
    }
}

/// Inverse cosine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acos;

impl OpDef<1> for Acos {
    const INFO: OpInfo = OpInfo {
        name: "acos",
        usage: "acos(t)",
        doc: "The angle from 0 to π whose cosine is t; NaN beyond ±1.",
        derivative: "-t′/√(1 - t²)",
        kink: "at ±1, where the slope is infinite, and beyond, the derivative is 0",
        test_intervals: &[between(-0.95, 0.95)],
        ulp: 0.666,
        worst_operands: &[0.54477376],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.acos()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        arc::acos(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(-arc_slope(t))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(1.0 - t.abs())
    }
}

/// Inverse tangent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atan;

impl OpDef<1> for Atan {
    const INFO: OpInfo = OpInfo {
        name: "atan",
        usage: "atan(t)",
        doc: "The angle from -π/2 to π/2 whose tangent is t.",
        derivative: "t′/(1 + t²)",
        test_intervals: &[between(-10.0, 10.0)],
        ulp: 0.968,
        worst_operands: &[0.9328247],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.atan()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        arc::atan(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        let one = t.lit(1.0);
        [Flat(one / (one + t * t))]
    }
}

/// Direction of a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atan2;

impl OpDef<2> for Atan2 {
    const INFO: OpInfo = OpInfo {
        name: "atan2",
        usage: "atan2(y, x)",
        doc: "The angle from -π to π of the point (x, y), as C's atan2 with its signed zeros.",
        derivative: "(x·y′ - y·x′)/(x² + y²)",
        class: OpClass::Jump,
        kink: "at the origin the derivative is 0; across the negative x axis the value jumps by 2π, the derivative does not",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-10.0, 10.0), between(-10.0, 10.0)],
        ulp: 0.995,
        worst_operands: &[9.47872, 9.746672],
        ..OpInfo::SMOOTH
    };

    fn spec([y, x]: [f64; 2]) -> f64 {
        y.atan2(x)
    }

    #[inline(always)]
    fn value<L: FloatField>([y, x]: [L; 2]) -> L {
        arc::atan2(y, x)
    }

    /// The point is scaled to about 1 first, so that x² + y² neither overflows nor vanishes; the
    /// least scale is that of the least normal float, whose reciprocal is finite.
    #[inline(always)]
    fn partials<F: Field>([y, x]: [F; 2], _: F) -> [Partial<F>; 2] {
        let (zero, one) = (x.lit(0.0), x.lit(1.0));
        let greater = call(Max, [call(Abs, [x]), call(Abs, [y])]);
        let scale = one / call(Max, [greater, x.lit(f64::from(f32::MIN_POSITIVE))]);
        let (x, y) = (x * scale, y * scale);
        let square = x * x + y * y;
        // Not at the origin, nor where an operand is infinite.
        let has_slope = zero.lt(square);
        let slope = |along: F| F::select(has_slope, along * (one / square) * scale, zero);
        [Flat(slope(x)), Flat(-slope(y))]
    }

    fn smooth_segment([y, x]: [f64; 2]) -> i64 {
        if x > 0.0 { 0 } else { sign(y) * 2 + 1 }
    }
}
