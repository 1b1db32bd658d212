//! Dual numbers: with both shadows, by the partials of the ops that they are computed with. So
//! partials over dual numbers have the shadows of slopes.

use super::Number;
use adumbra_ops::arithmetic;
use adumbra_ops::definition::{OpDef, tangent};
use adumbra_ops::field::Field;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number and its shadows along x and y.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualNumber<F> {
    pub(super) value: F,
    pub(super) shadows: [F; 2],
}

impl<F: Number> DualNumber<F> {
    /// A number without shadows.
    pub(super) fn constant(value: F) -> DualNumber<F> {
        let shadows = [F::default(); 2];
        DualNumber { value, shadows }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident($($other:ident)?);)*) => { $(
        impl<F: Number> $trait for DualNumber<F> {
            type Output = DualNumber<F>;
            fn $method(self $(, $other: DualNumber<F>)?) -> DualNumber<F> {
                Self::call::<arithmetic::$trait, _>([self $(, $other)?])
            }
        }
    )* };
}

operators! {
    Add add(other);
    Sub sub(other);
    Mul mul(other);
    Div div(other);
    Neg neg();
}

impl<F: Number> Field for DualNumber<F> {
    type Mask = bool;

    /// Rounded to f32, as the constants are where partials are instructions.
    fn lit(self, c: f64) -> DualNumber<F> {
        DualNumber::constant(F::from_f32(c as f32))
    }
    fn lt(self, other: DualNumber<F>) -> bool {
        self.value.lt(other.value)
    }
    fn le(self, other: DualNumber<F>) -> bool {
        self.value.le(other.value)
    }
    fn same(self, other: DualNumber<F>) -> bool {
        self.value.same(other.value)
    }
    fn select(mask: bool, yes: DualNumber<F>, no: DualNumber<F>) -> DualNumber<F> {
        if mask { yes } else { no }
    }
    fn call<R: OpDef<N>, const N: usize>(args: [DualNumber<F>; N]) -> DualNumber<F> {
        let values = args.map(|arg| arg.value);
        let value = F::call::<R, N>(values);
        let partials = R::partials(values, value);
        let shadows = [0, 1].map(|direction| {
            let shadows = args.map(|arg| Some(arg.shadows[direction]));
            tangent(&partials, shadows, value)
        });
        DualNumber { value, shadows }
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: DualNumber<F>,
        corner: [DualNumber<F>; N],
        step: [DualNumber<F>; N],
    ) -> [DualNumber<F>; M] {
        let value = |number: DualNumber<F>| number.value;
        let numbers: [F; M] = F::lattice(salt, seed.value, corner.map(value), step.map(value));
        numbers.map(DualNumber::constant)
    }
}
