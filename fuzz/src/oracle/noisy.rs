//! `f32` with errors on purpose: what rounding can do to a program.
//!
//! Every sum, product, quotient and every op that is not exact is moved by one or two units in the last place, this way or that as its
//! bits and `SALT` have it; salts 0 and 1, 2 and 3 err in opposite directions. How far results of different salts lie apart says how much
//! of a result is rounding.

use adumbra_ir::Op;
use adumbra_ir::eval::{EvalValue, Number};
use adumbra_ops::definition::{OpClass, OpDef};
use adumbra_ops::field::Field;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number whose operations err in a way of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noisy<const SALT: u32>(f32);

/// The number moved by one or two units in the last place.
fn moved<const SALT: u32>(x: f32) -> Noisy<SALT> {
    let mixed = (x.to_bits() ^ (SALT / 2).wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
    let by = [-2, -1, 1, 2][(mixed >> 16) as usize % 4] * (1 - 2 * (SALT % 2) as i32);
    let near = f32::from_bits(x.to_bits().wrapping_add_signed(by));
    // Zeros, infinities and what would become one stay.
    let is_moved = x != 0.0 && x.is_finite() && near.is_finite() && near.signum() == x.signum();
    Noisy(if is_moved { near } else { x })
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident;)*) => { $(
        impl<const SALT: u32> $operator for Noisy<SALT> {
            type Output = Noisy<SALT>;
            fn $method(self, other: Noisy<SALT>) -> Noisy<SALT> {
                moved(self.0.$method(other.0))
            }
        }
    )* };
}

arithmetic! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl<const SALT: u32> Neg for Noisy<SALT> {
    type Output = Noisy<SALT>;
    fn neg(self) -> Noisy<SALT> {
        Noisy(-self.0)
    }
}

impl<const SALT: u32> Field for Noisy<SALT> {
    type Mask = bool;

    fn lit(self, c: f64) -> Noisy<SALT> {
        Noisy(c as f32)
    }
    fn lt(self, other: Noisy<SALT>) -> bool {
        self.0 < other.0
    }
    fn le(self, other: Noisy<SALT>) -> bool {
        self.0 <= other.0
    }
    fn same(self, other: Noisy<SALT>) -> bool {
        self.0 == other.0
    }
    fn select(mask: bool, yes: Noisy<SALT>, no: Noisy<SALT>) -> Noisy<SALT> {
        if mask { yes } else { no }
    }
    fn call<R: OpDef<N>, const N: usize>(args: [Noisy<SALT>; N]) -> Noisy<SALT> {
        moved(R::value::<f32>(args.map(|x| x.0)))
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Noisy<SALT>,
        cell: [Noisy<SALT>; N],
        step: [Noisy<SALT>; N],
    ) -> [Noisy<SALT>; M] {
        f32::lattice(salt, seed.0, cell.map(|x| x.0), step.map(|x| x.0)).map(Noisy)
    }
}

impl<const SALT: u32> Number for Noisy<SALT> {
    fn from_f32(x: f32) -> Noisy<SALT> {
        Noisy(x)
    }
    fn to_f32(self) -> f32 {
        self.0
    }
    fn to_f64(self) -> f64 {
        f64::from(self.0)
    }
    fn nan(payload: u32) -> Noisy<SALT> {
        Noisy(f32::nan(payload))
    }
    fn payload(self) -> u32 {
        self.0.payload()
    }
    fn apply(op: Op, operands: &[EvalValue<Noisy<SALT>>]) -> EvalValue<Noisy<SALT>> {
        let exact: Vec<EvalValue> = operands
            .iter()
            .map(|slot| EvalValue {
                word: slot.word,
                float: slot.float.0,
                shadows: [0.0; 2],
            })
            .collect();
        let found = f32::apply(op, &exact);
        // Choices and roundings to integers are exact, and so are integers as floats while they are small.
        let info = op.info();
        let terms = info.cancelling_terms as f32;
        let rounds = match op {
            Op::Neg => false,
            Op::IToF | Op::UToF => found.float.abs() >= (1 << f32::MANTISSA_DIGITS) as f32,
            _ => info.ulp > 0.0 || matches!(info.class, OpClass::Linear | OpClass::Smooth),
        };
        EvalValue {
            word: found.word,
            float: match rounds {
                // Where terms cancel, the error is one of the terms.
                true => Noisy(moved::<SALT>(found.float + terms).0 - terms),
                false => Noisy(found.float),
            },
            shadows: [Noisy(0.0); 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_small_and_differ_by_salt() {
        let mut differ = 0;
        for i in 1..200 {
            let (x, y) = (i as f32 * 0.37, 1.0 / i as f32);
            let exact = x * y;
            let one = (Noisy::<0>(x) * Noisy(y)).0;
            let other = (Noisy::<1>(x) * Noisy(y)).0;
            assert!((one - exact).abs() <= exact * 3e-7);
            assert!((one < exact) == (other > exact) && one != exact);
            differ += usize::from(one != (Noisy::<2>(x) * Noisy(y)).0);
        }
        assert!(differ > 100);
        assert_eq!(moved::<1>(0.0).0.to_bits(), 0);
        assert_eq!(moved::<1>(f32::INFINITY).0, f32::INFINITY);
        assert_eq!((-Noisy::<1>(0.1)).0, -0.1);
    }
}
