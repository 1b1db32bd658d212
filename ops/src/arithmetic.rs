//! The four operations and negation.

use crate::field::{Field, Lane};
use crate::row::{Class, Info, Kind, Partial, Row, between, sign};
use Partial::{MinusOne, Of, One, Singular};

/// −a.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neg;

impl Row<1> for Neg {
    const INFO: Info = Info {
        name: "neg",
        usage: "-a",
        doc: "Changes the sign.",
        derivative: "-a′",
        class: Class::Linear,
        test: &[between(-100.0, 100.0)],
        ..Info::SMOOTH
    };

    fn spec([a]: [f64; 1]) -> f64 {
        -a
    }

    #[inline(always)]
    fn value<L: Lane>([a]: [L; 1]) -> L {
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

impl Row<2> for Add {
    const INFO: Info = Info {
        name: "add",
        usage: "a + b",
        doc: "The sum, rounded to nearest even.",
        derivative: "a′ + b′",
        class: Class::Linear,
        operands: &[Kind::Float; 2],
        test: &[between(-100.0, 100.0); 2],
        ..Info::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a + b
    }

    #[inline(always)]
    fn value<L: Lane>([a, b]: [L; 2]) -> L {
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

impl Row<2> for Sub {
    const INFO: Info = Info {
        name: "sub",
        usage: "a - b",
        doc: "The difference, rounded to nearest even.",
        derivative: "a′ - b′",
        class: Class::Linear,
        operands: &[Kind::Float; 2],
        test: &[between(-100.0, 100.0); 2],
        ..Info::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a - b
    }

    #[inline(always)]
    fn value<L: Lane>([a, b]: [L; 2]) -> L {
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

impl Row<2> for Mul {
    const INFO: Info = Info {
        name: "mul",
        usage: "a * b",
        doc: "The product, rounded to nearest even.",
        derivative: "b·a′ + a·b′",
        class: Class::Linear,
        operands: &[Kind::Float; 2],
        test: &[between(-100.0, 100.0); 2],
        ..Info::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a * b
    }

    #[inline(always)]
    fn value<L: Lane>([a, b]: [L; 2]) -> L {
        a * b
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], _: F) -> [Partial<F>; 2] {
        [Of(b), Of(a)]
    }
}

/// a/b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Div;

impl Row<2> for Div {
    const INFO: Info = Info {
        name: "div",
        usage: "a / b",
        doc: "The quotient, rounded to nearest even; infinite or NaN where b is 0.",
        derivative: "r·a′ - (v·r)·b′ with r = 1/b",
        kink: "where 1/b overflows (b is 0 or a least denormal) the partials are infinite or NaN",
        operands: &[Kind::Float; 2],
        test: &[between(-100.0, 100.0), between(0.1, 10.0)],
        ..Info::SMOOTH
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        a / b
    }

    #[inline(always)]
    fn value<L: Lane>([a, b]: [L; 2]) -> L {
        a / b
    }

    #[inline(always)]
    fn partials<F: Field>([_, b]: [F; 2], v: F) -> [Partial<F>; 2] {
        let r = b.lit(1.0) / b;
        [Singular(r), Singular(-(v * r))]
    }

    fn piece([_, b]: [f64; 2]) -> i64 {
        sign(b)
    }
}
