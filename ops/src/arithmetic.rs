//! The four operations, negation and the reciprocal.

use crate::definition::{OpClass, OpDef, OpInfo, OperandKind, Partial, between, sign};
use crate::field::{Field, FloatField, call};
use Partial::{Flat, MinusOne, Of, One, Singular};

/// −a.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neg;

impl OpDef<1> for Neg {
    const INFO: OpInfo = OpInfo {
        name: "neg",
        usage: "-a",
        doc: "Changes the sign.",
        derivative: "-a′",
        class: OpClass::Linear,
        test_intervals: &[between(-100.0, 100.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([a]: [f64; 1]) -> f64 {
        -a
    }

    #[inline(always)]
    fn value<L: FloatField>([a]: [L; 1]) -> L {
        -a
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], _: F) -> [Partial<F>; 1] {
        [MinusOne]
    }
}

/// a + b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Add;

impl OpDef<2> for Add {
    const INFO: OpInfo = OpInfo {
        name: "add",
        usage: "a + b",
        doc: "The sum, rounded to nearest even.",
        derivative: "a′ + b′",
        class: OpClass::Linear,
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a + b
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        a + b
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 2], _: F) -> [Partial<F>; 2] {
        [One, One]
    }
}

/// a − b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sub;

impl OpDef<2> for Sub {
    const INFO: OpInfo = OpInfo {
        name: "sub",
        usage: "a - b",
        doc: "The difference, rounded to nearest even.",
        derivative: "a′ - b′",
        class: OpClass::Linear,
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a - b
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        a - b
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 2], _: F) -> [Partial<F>; 2] {
        [One, MinusOne]
    }
}

/// a·b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mul;

impl OpDef<2> for Mul {
    const INFO: OpInfo = OpInfo {
        name: "mul",
        usage: "a * b",
        doc: "The product, rounded to nearest even.",
        derivative: "b·a′ + a·b′",
        class: OpClass::Linear,
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a * b
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        a * b
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], _: F) -> [Partial<F>; 2] {
        [Of(b), Of(a)]
    }
}

/// c·t, or 0 where either is 0: a product with strong zeros.
///
/// It is the term of a partial c that can be infinite, or that is 0 where the tangent t can be. As
/// an op of its own the term has the right derivative where a factor is 0, which a selection of 0
/// would not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrongMul;

impl OpDef<2> for StrongMul {
    const INFO: OpInfo = OpInfo {
        name: "strongmul",
        usage: "strongmul",
        doc: "The product c·t, but 0 where one of them is 0, even if the other is infinite or NaN: the term of a singular partial c. Derivatives of functions have it; sources cannot write it.",
        derivative: "t·c′ + c·t′",
        kink: "a term is 0 where one of its factors is 0",
        class: OpClass::Linear,
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0); 2],
        ..OpInfo::SMOOTH
    };

    fn spec([c, t]: [f64; 2]) -> f64 {
        match (c == 0.0, t == 0.0) {
            (_, true) => 0.0,
            (true, false) => c,
            (false, false) => c * t,
        }
    }

    #[inline(always)]
    fn value<L: FloatField>([c, t]: [L; 2]) -> L {
        let zero = c.lit(0.0);
        // A zero of c keeps its sign, so that 1 for t changes no bit.
        let product = L::select(c.same(zero), c, c * t);
        L::select(t.same(zero), zero, product)
    }

    #[inline(always)]
    fn partials<F: Field>([c, t]: [F; 2], _: F) -> [Partial<F>; 2] {
        [Flat(t), Flat(c)]
    }
}

/// a/b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Div;

impl OpDef<2> for Div {
    const INFO: OpInfo = OpInfo {
        name: "div",
        usage: "a / b",
        doc: "The quotient, rounded to nearest even; infinite or NaN where b is 0.",
        derivative: "r·a′ - (v·r)·b′ with r = 1/b",
        kink: "where 1/b overflows (b is 0 or a least denormal) the partials are infinite, and NaN where the value is",
        operands: &[OperandKind::Float; 2],
        test_intervals: &[between(-100.0, 100.0), between(0.1, 10.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a / b
    }

    #[inline(always)]
    fn value<L: FloatField>([a, b]: [L; 2]) -> L {
        a / b
    }

    #[inline(always)]
    fn partials<F: Field>([_, b]: [F; 2], v: F) -> [Partial<F>; 2] {
        let r = b.lit(1.0) / b;
        [Singular(r), Flat(-call(StrongMul, [r, v]))]
    }

    fn smooth_segment([_, b]: [f64; 2]) -> i64 {
        sign(b)
    }
}

/// 1/t.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rcp;

impl OpDef<1> for Rcp {
    const INFO: OpInfo = OpInfo {
        name: "rcp",
        usage: "rcp(t)",
        doc: "The reciprocal 1/t; infinite at 0.",
        derivative: "-v²·t′",
        kink: "where v² overflows the partial is infinite",
        test_intervals: &[between(0.1, 10.0)],
        ..OpInfo::SMOOTH
    };

    fn spec([t]: [f64; 1]) -> f64 {
        1.0 / t
    }

    #[inline(always)]
    fn value<L: FloatField>([t]: [L; 1]) -> L {
        t.lit(1.0) / t
    }

    #[inline(always)]
    fn partials<F: Field>(_: [F; 1], v: F) -> [Partial<F>; 1] {
        [Flat(-(v * v))]
    }

    fn smooth_segment([t]: [f64; 1]) -> i64 {
        sign(t)
    }
}
