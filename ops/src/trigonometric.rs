//! Circular functions and their inverses. Angles are in radians.

use crate::algorithm::{arc, trig};
use crate::choice::{Abs, Max};
use crate::field::{Field, Lane, call};
use crate::power::Sqrt;
use crate::row::{Class, Info, Kind, Partial, Row, between, sign};
use Partial::{Of, Singular};
use std::f64::consts::PI;

/// Sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sin;

impl Row<1> for Sin {
    const INFO: Info = Info {
        name: "sin",
        usage: "sin(t)",
        doc: "The sine of t radians.",
        derivative: "cos(t)·t′",
        test: &[between(-10.0, 10.0)],
        ulp: 0.878,
        worst: &[2.127851e8],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.sin()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
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

impl Row<1> for Cos {
    const INFO: Info = Info {
        name: "cos",
        usage: "cos(t)",
        doc: "The cosine of t radians.",
        derivative: "-sin(t)·t′",
        test: &[between(-10.0, 10.0)],
        ulp: 0.877,
        worst: &[19.670809],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.cos()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
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

impl Row<1> for Tan {
    const INFO: Info = Info {
        name: "tan",
        usage: "tan(t)",
        doc: "The tangent of t radians. No float lies on a pole.",
        derivative: "(1 + v²)·t′",
        test: &[between(-10.0, 10.0)],
        ulp: 0.953,
        worst: &[2.3640695],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.tan()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
        trig::tan(t)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Of(v.lit(1.0) + v * v)]
    }

    fn piece([t]: [f64; 1]) -> i64 {
        (t / PI + 0.5).floor() as i64
    }
}

/// 1/√(1 − t²) inside (−1, 1), 0 at the ends and outside. The product of two exact factors keeps it accurate near the ends.
#[inline(always)]
fn arc_slope<F: Field>(t: F) -> F {
    let (zero, one) = (t.lit(0.0), t.lit(1.0));
    let square = (one - t) * (one + t);
    F::select(zero.lt(square), one / call(Sqrt, [square]), zero)
}

/// Inverse sine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asin;

impl Row<1> for Asin {
    const INFO: Info = Info {
        name: "asin",
        usage: "asin(t)",
        doc: "The angle from -π/2 to π/2 whose sine is t; NaN beyond ±1.",
        derivative: "t′/√(1 - t²)",
        kink: "at ±1, where the slope is infinite, and beyond, the derivative is 0",
        test: &[between(-0.95, 0.95)],
        ulp: 0.693,
        worst: &[0.5308584],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.asin()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
        arc::asin(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(arc_slope(t))]
    }

    fn piece([t]: [f64; 1]) -> i64 {
        sign(1.0 - t.abs())
    }
}

/// Inverse cosine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acos;

impl Row<1> for Acos {
    const INFO: Info = Info {
        name: "acos",
        usage: "acos(t)",
        doc: "The angle from 0 to π whose cosine is t; NaN beyond ±1.",
        derivative: "-t′/√(1 - t²)",
        kink: "at ±1, where the slope is infinite, and beyond, the derivative is 0",
        test: &[between(-0.95, 0.95)],
        ulp: 0.666,
        worst: &[0.54477376],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.acos()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
        arc::acos(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(-arc_slope(t))]
    }

    fn piece([t]: [f64; 1]) -> i64 {
        sign(1.0 - t.abs())
    }
}

/// Inverse tangent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atan;

impl Row<1> for Atan {
    const INFO: Info = Info {
        name: "atan",
        usage: "atan(t)",
        doc: "The angle from -π/2 to π/2 whose tangent is t.",
        derivative: "t′/(1 + t²)",
        test: &[between(-10.0, 10.0)],
        ulp: 0.968,
        worst: &[0.9328247],
        ..Info::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.atan()
    }

    #[inline(always)]
    fn value<L: Lane>([t]: [L; 1]) -> L {
        arc::atan(t)
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        let one = t.lit(1.0);
        [Of(one / (one + t * t))]
    }
}

/// Direction of a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atan2;

impl Row<2> for Atan2 {
    const INFO: Info = Info {
        name: "atan2",
        usage: "atan2(y, x)",
        doc: "The angle from -π to π of the point (x, y), as C's atan2 with its signed zeros.",
        derivative: "(x·y′ - y·x′)/(x² + y²)",
        class: Class::Jump,
        kink: "at the origin the derivative is 0; across the negative x axis the value jumps by 2π, the derivative does not",
        operands: &[Kind::Float; 2],
        test: &[between(-10.0, 10.0), between(-10.0, 10.0)],
        ulp: 0.995,
        worst: &[9.47872, 9.746672],
        ..Info::SMOOTH
    };

    fn spec([y, x]: [f64; 2]) -> f64 {
        y.atan2(x)
    }

    #[inline(always)]
    fn value<L: Lane>([y, x]: [L; 2]) -> L {
        arc::atan2(y, x)
    }

    /// The point is scaled to about 1 first, so that x² + y² neither overflows nor vanishes; the least scale is that of the least normal
    /// float, whose reciprocal is finite.
    #[inline(always)]
    fn partials<F: Field>([y, x]: [F; 2], _: F) -> [Partial<F>; 2] {
        let (zero, one) = (x.lit(0.0), x.lit(1.0));
        let greater = call(Max, [call(Abs, [x]), call(Abs, [y])]);
        let scale = one / call(Max, [greater, x.lit(f64::from(f32::MIN_POSITIVE))]);
        let (x, y) = (x * scale, y * scale);
        let square = x * x + y * y;
        let inverse = F::select(square.same(zero), zero, one / square);
        [
            Singular(x * inverse * scale),
            Singular(-(y * inverse * scale)),
        ]
    }

    fn piece([y, x]: [f64; 2]) -> i64 {
        if x > 0.0 { 0 } else { sign(y) * 2 + 1 }
    }
}
