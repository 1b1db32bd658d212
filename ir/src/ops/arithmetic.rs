//! The four operations, negation, and choosing between two values.

use super::field::{Field, Lane};
use super::row::{Class, Info, Kind, Partial, Row, between};
use Partial::{MinusOne, Of, One, Where, Zero};

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
        kink: "",
        singular: false,
        faulting: false,
        operands: &[Kind::Float],
        result: Kind::Float,
        test: &[between(-100.0, 100.0)],
        ulp: 0.0,
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
        kink: "",
        singular: false,
        faulting: false,
        operands: &[Kind::Float; 2],
        result: Kind::Float,
        test: &[between(-100.0, 100.0); 2],
        ulp: 0.0,
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
        kink: "",
        singular: false,
        faulting: false,
        operands: &[Kind::Float; 2],
        result: Kind::Float,
        test: &[between(-100.0, 100.0); 2],
        ulp: 0.0,
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
        kink: "",
        singular: false,
        faulting: false,
        operands: &[Kind::Float; 2],
        result: Kind::Float,
        test: &[between(-100.0, 100.0); 2],
        ulp: 0.0,
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
        class: Class::Smooth,
        kink: "at b = 0 the partials are infinite or NaN",
        singular: true,
        faulting: false,
        operands: &[Kind::Float; 2],
        result: Kind::Float,
        test: &[between(-100.0, 100.0), between(0.1, 10.0)],
        ulp: 0.0,
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
        [Of(r), Of(-(v * r))]
    }
}

/// The lesser of two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Min;

impl Row<2> for Min {
    const INFO: Info = Info {
        name: "min",
        usage: "min(a, b)",
        doc: "b < a ? b : a: the lesser; ties and a NaN in b give a.",
        derivative: "that of the operand taken",
        class: Class::Kink,
        kink: "at a = b the derivative is that of a",
        singular: false,
        faulting: false,
        operands: &[Kind::Float; 2],
        result: Kind::Float,
        test: &[between(-100.0, 100.0); 2],
        ulp: 0.0,
    };

    fn spec([a, b]: [f64; 2]) -> f64 {
        if b < a { b } else { a }
    }

    #[inline(always)]
    fn value<L: Lane>([a, b]: [L; 2]) -> L {
        L::select(b.lt(a), b, a)
    }

    #[inline(always)]
    fn partials<F: Field>([a, b]: [F; 2], _: F) -> [Partial<F>; 2] {
        let second = b.lt(a);
        [Where(!second), Where(second)]
    }
}

/// One of two values, by a condition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Select;

impl Row<3> for Select {
    const INFO: Info = Info {
        name: "select",
        usage: "select(c, yes, no)",
        doc: "yes where c holds, else no. Both are evaluated.",
        derivative: "that of the operand taken",
        class: Class::Jump,
        kink: "where c changes, the value may jump; the derivative is that of the side taken",
        singular: false,
        faulting: false,
        operands: &[Kind::Bool, Kind::Float, Kind::Float],
        result: Kind::Float,
        test: &[
            between(0.0, 1.0),
            between(-100.0, 100.0),
            between(-100.0, 100.0),
        ],
        ulp: 0.0,
    };

    fn spec([c, yes, no]: [f64; 3]) -> f64 {
        if c != 0.0 { yes } else { no }
    }

    #[inline(always)]
    fn value<L: Lane>([c, yes, no]: [L; 3]) -> L {
        L::select(c.same(c.lit(0.0)), no, yes)
    }

    #[inline(always)]
    fn partials<F: Field>([c, _, _]: [F; 3], _: F) -> [Partial<F>; 3] {
        let second = c.same(c.lit(0.0));
        [Zero, Where(!second), Where(second)]
    }
}
