//! Selection by comparison: minimum, maximum, clamp, select, step, magnitude and sign.
//!
//! Value and shadow are selected together: the other operand contributes nothing, not even a NaN.

use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between, sign};
use crate::field::{Field, FloatField, WordField, call};
use Partial::{Of, Where, Zero};

/// The lesser of two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Min;

impl OpDef<2> for Min {
    const INFO: OpInfo = OpInfo {
        name: "min",
        usage: "min(a, b)",
        doc: "The lesser: b < a ? b : a. Ties and a NaN in b give a.",
        derivative: "that of the operand taken",
        class: OpClass::Kink,
        kink: "at a = b the derivative is that of a",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        if b < a { b } else { a }
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        L::select(b.lt(a), b, a)
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], _: F) -> [Partial<F>; 2] {
        let second = b.lt(a);
        [Where(!second), Where(second)]
    }

    fn smooth_segment([a, b]: [f64; 2]) -> i64 {
        sign(b - a)
    }
}

/// The greater of two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Max;

impl OpDef<2> for Max {
    const INFO: OpInfo = OpInfo {
        name: "max",
        usage: "max(a, b)",
        doc: "The greater: a < b ? b : a. Ties and a NaN in b give a.",
        derivative: "that of the operand taken",
        class: OpClass::Kink,
        kink: "at a = b the derivative is that of a",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        if a < b { b } else { a }
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        L::select(a.lt(b), b, a)
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], _: F) -> [Partial<F>; 2] {
        let second = a.lt(b);
        [Where(!second), Where(second)]
    }

    fn smooth_segment([a, b]: [f64; 2]) -> i64 {
        sign(b - a)
    }
}

/// Kept between two bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clamp;

impl OpDef<3> for Clamp {
    const INFO: OpInfo = OpInfo {
        name: "clamp",
        usage: "clamp(x, lo, hi)",
        doc: "min(max(x, lo), hi): x kept between two bounds. Where lo > hi it gives hi.",
        derivative: "that of the operand taken",
        class: OpClass::Kink,
        kink: "at x = lo and x = hi the derivative is that of x",
        operands: &[OperandKind::Float; 3],
        test_intervals: &[
            between(-100.0, 100.0),
            between(-60.0, 10.0),
            between(-10.0, 60.0),
        ],
        ..OpInfo::SMOOTH
    };

    fn spec([x, lo, hi]: [f64; 3]) -> f64 {
        Min::spec([Max::spec([x, lo]), hi])
    }

    #[inline(always)]
    fn value<L: FloatField>([x, lo, hi]: [L; 3]) -> L {
        Min::value([Max::value([x, lo]), hi])
    }

    #[inline(always)]
    fn partials<F: Field>([x, lo, hi]: [F; 3], _: F) -> [Partial<F>; 3] {
        let below = x.lt(lo);
        let above = hi.lt(F::select(below, lo, x));
        [Where(!(below | above)), Where(below & !above), Where(above)]
    }

    fn smooth_segment([x, lo, hi]: [f64; 3]) -> i64 {
        sign(lo - x) * 3 + sign(hi - Max::spec([x, lo]))
    }
}

/// Kept between 0 and 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saturate;

impl OpDef<1> for Saturate {
    const INFO: OpInfo = OpInfo {
        name: "saturate",
        usage: "saturate(x)",
        doc: "clamp(x, 0, 1): x kept between 0 and 1.",
        derivative: "x′ where 0 ≤ x ≤ 1, else 0",
        class: OpClass::Kink,
        kink: "at 0 and 1 the derivative is x′",
        test_intervals: &[between(-1.0, 2.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([x]: [f64; 1]) -> f64 {
        Clamp::spec([x, 0.0, 1.0])
    }

    #[inline(always)]
    fn value<L: FloatField>([x]: [L; 1]) -> L {
        Clamp::value([x, x.lit(0.0), x.lit(1.0)])
    }

    #[inline(always)]
    fn partials<F: Field>([x]: [F; 1], v: F) -> [Partial<F>; 1] {
        let [taken, ..] = Clamp::partials([x, x.lit(0.0), x.lit(1.0)], v);
        [taken]
    }

    fn smooth_segment([x]: [f64; 1]) -> i64 {
        Clamp::smooth_segment([x, 0.0, 1.0])
    }
}

/// One of two values, by a condition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Select;

impl OpDef<3> for Select {
    const INFO: OpInfo = OpInfo {
        name: "select",
        usage: "select(c, yes, no)",
        doc: "yes where c holds, else no. Both are evaluated.",
        derivative: "that of the operand taken",
        class: OpClass::Jump,
        kink: "where c changes, the value may jump; the derivative is that of the side taken",
        operands: &[OperandKind::Bool, OperandKind::Float, OperandKind::Float],
        test_intervals: &[
            between(0.0, 1.0),
            between(-100.0, 100.0),
            between(-100.0, 100.0),
        ],
        ..OpInfo::SMOOTH
    };

    fn spec([c, yes, no]: [f64; 3]) -> f64 {
        if c != 0.0 { yes } else { no }
    }

    #[inline(always)]
    fn value<L: FloatField>([c, yes, no]: [L; 3]) -> L {
        L::select(c.same(c.lit(0.0)), no, yes)
    }

    #[inline(always)]
    fn partials<F: Field>([c, _, _]: [F; 3], _: F) -> [Partial<F>; 3] {
        let second = c.same(c.lit(0.0));
        [Zero, Where(!second), Where(second)]
    }

    fn smooth_segment([c, _, _]: [f64; 3]) -> i64 {
        i64::from(c != 0.0)
    }
}

/// 0 below an edge, 1 from it on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step;

impl OpDef<2> for Step {
    const INFO: OpInfo = OpInfo {
        name: "step",
        usage: "step(edge, x)",
        doc: "1 where x >= edge, else 0; a NaN gives 0.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "at the edge the value is 1 and the derivative 0",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([edge, x]: [f64; 2]) -> f64 {
        f64::from(u8::from(x >= edge))
    }

    #[inline(always)]
    fn value<L: FloatField>([edge, x]: [L; 2]) -> L {
        L::select(edge.le(x), x.lit(1.0), x.lit(0.0))
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 2], _: F) -> [Partial<F>; 2] {
        [Zero, Zero]
    }

    fn smooth_segment([edge, x]: [f64; 2]) -> i64 {
        i64::from(x >= edge)
    }
}

/// Magnitude.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abs;

impl OpDef<1> for Abs {
    const INFO: OpInfo = OpInfo {
        name: "abs",
        usage: "abs(t)",
        doc: "The magnitude of t.",
        derivative: "sign(t)·t′",
        class: OpClass::Kink,
        kink: "at 0 the derivative is 0",
        test_intervals: &[between(-100.0, 100.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        t.abs()
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.magnitude()
    }

    #[inline(always)]
    fn partials<F: Field>([t]: [F; 1], _: F) -> [Partial<F>; 1] {
        [Of(call(Sign, [t]))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// -1, 0 or 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sign;

impl OpDef<1> for Sign {
    const INFO: OpInfo = OpInfo {
        name: "sign",
        usage: "sign(t)",
        doc: "-1, 0 or 1: the side of zero that t lies on; 0 for either zero and for NaN.",
        derivative: "0",
        class: OpClass::Jump,
        kink: "at 0 the value jumps; the derivative is 0",
        test_intervals: &[between(-100.0, 100.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        sign(t) as f64
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        let zero = t.lit(0.0);
        let above = L::select(zero.lt(t), t.lit(1.0), zero);
        L::select(t.lt(zero), t.lit(-1.0), above)
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [Zero]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}

/// The size of one number with the sign of another.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopySign;

impl OpDef<2> for CopySign {
    const INFO: OpInfo = OpInfo {
        name: "copysign",
        usage: "copysign(t, s)",
        doc: "|t| with the sign of s: negative where s is negative or -0. NaN counts as positive.",
        derivative: "sign(t)·sign(v)·t′",
        class: OpClass::Jump,
        kink: "where t is 0 the derivative is 0; where s changes its sign the value jumps, and the derivative by s is 0",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([t, s]: [f64; 2]) -> f64 {
        if s.is_nan() { t.abs() } else { t.copysign(s) }
    }

    /// The sign of a NaN differs between processors, so it is not looked at.
    #[inline(always)]
    fn value<L: FloatField>([t, s]: [L; 2]) -> L {
        let s = L::select(s.same(s), s, s.lit(0.0)).bits();
        (t.magnitude().bits() | (s & s.lit(1 << 31))).float()
    }

    #[inline(always)]
    fn partials<F: Field>([t, _]: [F; 2], v: F) -> [Partial<F>; 2] {
        [Of(call(Sign, [t]) * call(Sign, [v])), Zero]
    }

    fn smooth_segment([t, s]: [f64; 2]) -> i64 {
        sign(t) * 2 + i64::from(s.is_sign_negative())
    }
}
