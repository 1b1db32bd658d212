//! Ops that interpolate between two values, and the one whose value was interpolated elsewhere.

use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between};
use crate::field::{Field, FloatField, call};
use crate::selection::Saturate;
use Partial::{Flat, Of, One, Singular, Zero};

/// Linear interpolation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix;

impl OpDef<3> for Mix {
    const INFO: OpInfo = OpInfo {
        name: "mix",
        usage: "mix(a, b, t)",
        doc: "a·(1 - t) + b·t, fused: a at t = 0 and b at t = 1, exactly. Beyond, it extrapolates.",
        derivative: "(1 - t)·a′ + t·b′ + (b - a)·t′",
        operands: &[OperandKind::Float; 3],
        test_intervals: &[between(0.5, 100.0), between(0.5, 100.0), between(0.0, 1.0)],
        ulp: 1.0,
        ..OpInfo::SMOOTH
    };

    fn spec([a, b, t]: [f64; 3]) -> f64 {
        a * (1.0 - t) + b * t
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b, t]: [L; 3]) -> L {
        b.mul_add(t, (-a).mul_add(t, a))
    }

    #[inline(always)]
    fn partials<F: Field>([a, b, t]: [F; 3], _: F) -> [Partial<F>; 3] {
        [Of(t.lit(1.0) - t), Of(t), Singular(b - a)]
    }
}

/// The smooth step.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoothStep;

impl OpDef<3> for SmoothStep {
    const INFO: OpInfo = OpInfo {
        name: "smoothstep",
        usage: "smoothstep(from, to, x)",
        doc: "s²(3 - 2s) with s = saturate((x - from)/(to - from)): 0 before, 1 after, a smooth ramp between. Where from = to it is step(from, x).",
        derivative: "g·(x′ - (1 - s)·from′ - s·to′) with g = 6s(1 - s)/(to - from)",
        class: OpClass::Kink,
        kink: "at both ends the derivative is 0, as it is outside",
        operands: &[OperandKind::Float; 3],
        test_intervals: &[between(-2.0, -1.0), between(1.0, 2.0), between(-3.0, 3.0)],
        ulp: 6.0,
        ..OpInfo::SMOOTH
    };

    fn spec([from, to, x]: [f64; 3]) -> f64 {
        if from == to && x == from {
            return 1.0;
        }
        let s = Saturate::spec([(x - from) / (to - from)]);
        s * s * (3.0 - 2.0 * s)
    }

    #[inline(always)]
    fn value<L: FloatField>([from, to, x]: [L; 3]) -> L {
        let ramp = call(Saturate, [(x - from) / (to - from)]);
        // 0/0, where both ends and x are one.
        let at_step = from.same(to) & x.same(from);
        let s = L::select(at_step, x.lit(1.0), ramp);
        s * s * (s.lit(3.0) - s.lit(2.0) * s)
    }

    #[inline(always)]
    fn partials<F: Field>([from, to, x]: [F; 3], _: F) -> [Partial<F>; 3] {
        let (zero, one) = (x.lit(0.0), x.lit(1.0));
        let s = (x - from) / (to - from);
        let inside = zero.lt(s) & s.lt(one);
        let slope = x.lit(6.0) * s * (one - s) / (to - from);
        let within = |p: F| Flat(F::select(inside, p, zero));
        [
            within(-(slope * (one - s))),
            within(-(slope * s)),
            within(slope),
        ]
    }

    fn smooth_segment([from, to, x]: [f64; 3]) -> i64 {
        Saturate::smooth_segment([(x - from) / (to - from)])
    }
}

/// x as a constant: what was found by a search, whose steps say nothing of how the result changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held;

impl OpDef<1> for Held {
    const INFO: OpInfo = OpInfo {
        name: "held",
        usage: "held",
        doc: "x as a constant. What a ray march finds is one; sources cannot write it.",
        derivative: "0",
        class: OpClass::Given,
        operands: &[OperandKind::Float],
        test_intervals: &[between(-100.0, 100.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([x]: [f64; 1]) -> f64 {
        x
    }

    #[inline(always)]
    fn value<L: FloatField>([x]: [L; 1]) -> L {
        x
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }
}

/// t, which has slope s along x: a number that was computed elsewhere, as that of a texture, with
/// the derivative that came with it.
///
/// As an op it has the rules of any other for shadows, tangents and cotangents. So lineage, demand
/// and both modes pass through textures without knowing of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sloped;

impl OpDef<3> for Sloped {
    const INFO: OpInfo = OpInfo {
        name: "sloped",
        usage: "sloped",
        doc: "t, a number from elsewhere, which has slope s along x. Textures with slopes have it; sources cannot write it.",
        derivative: "t′ + s·x′",
        class: OpClass::Given,
        operands: &[OperandKind::Float; 3],
        test_intervals: &[between(-100.0, 100.0); 3],
        ..OpInfo::SMOOTH
    };

    fn spec([t, _, _]: [f64; 3]) -> f64 {
        t
    }

    #[inline(always)]
    fn value<L: FloatField>([t, _, _]: [L; 3]) -> L {
        t
    }

    #[inline(always)]
    fn partials<F: Field>([_, s, _]: [F; 3], _: F) -> [Partial<F>; 3] {
        [One, Zero, Of(s)]
    }
}
