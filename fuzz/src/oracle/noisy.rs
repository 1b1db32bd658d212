//! Floats with errors on purpose: what rounding can do to a program.
//!
//! Every sum, product, quotient and every op that is not exact is moved by one or two units in the
//! last place, this way or that as its bits and `SALT` have it; salts 0 and 1, 2 and 3 err in
//! opposite directions. How far results of different salts lie apart says how much of a result is
//! rounding.

use adumbra_ir::Op;
use adumbra_ir::eval::{EvalValue, Number};
use adumbra_ops::definition::{OpClass, OpDef};
use adumbra_ops::field::Field;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A float whose operations round.
pub trait Rounds: Number {
    /// Binary digits of its significand.
    const DIGITS: u32;
    /// The low half of its bits, or all of them.
    fn low_bits(self) -> u32;
    /// The float that many units in the last place further from zero.
    fn beyond(self, units: i32) -> Self;
}

impl Rounds for f32 {
    const DIGITS: u32 = f32::MANTISSA_DIGITS;
    fn low_bits(self) -> u32 {
        self.to_bits()
    }
    fn beyond(self, units: i32) -> f32 {
        f32::from_bits(self.to_bits().wrapping_add_signed(units))
    }
}

impl Rounds for f64 {
    const DIGITS: u32 = f64::MANTISSA_DIGITS;
    fn low_bits(self) -> u32 {
        self.to_bits() as u32
    }
    fn beyond(self, units: i32) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add_signed(units.into()))
    }
}

/// A number whose operations err in a way of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noisy<F, const SALT: u32>(F);

/// The number moved by one or two units in the last place.
fn moved<F: Rounds, const SALT: u32>(x: F) -> Noisy<F, SALT> {
    let mixed = (x.low_bits() ^ (SALT / 2).wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
    let by = [-2, -1, 1, 2][(mixed >> 16) as usize % 4] * (1 - 2 * (SALT % 2) as i32);
    let near = x.beyond(by);
    let [value, moved] = [x, near].map(Number::to_f64);
    // Zeros, infinities and what would become one stay.
    let is_moved =
        value != 0.0 && value.is_finite() && moved.is_finite() && moved.signum() == value.signum();
    Noisy(if is_moved { near } else { x })
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident;)*) => { $(
        impl<F: Rounds, const SALT: u32> $operator for Noisy<F, SALT> {
            type Output = Noisy<F, SALT>;
            fn $method(self, other: Noisy<F, SALT>) -> Noisy<F, SALT> {
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

impl<F: Rounds, const SALT: u32> Neg for Noisy<F, SALT> {
    type Output = Noisy<F, SALT>;
    fn neg(self) -> Noisy<F, SALT> {
        Noisy(-self.0)
    }
}

impl<F: Rounds, const SALT: u32> Field for Noisy<F, SALT> {
    type Mask = bool;

    fn lit(self, c: f64) -> Noisy<F, SALT> {
        Noisy(self.0.lit(c))
    }
    fn lt(self, other: Noisy<F, SALT>) -> bool {
        self.0.to_f64() < other.0.to_f64()
    }
    fn le(self, other: Noisy<F, SALT>) -> bool {
        self.0.to_f64() <= other.0.to_f64()
    }
    fn same(self, other: Noisy<F, SALT>) -> bool {
        self.0.to_f64() == other.0.to_f64()
    }
    fn select(mask: bool, yes: Noisy<F, SALT>, no: Noisy<F, SALT>) -> Noisy<F, SALT> {
        if mask { yes } else { no }
    }
    fn call<R: OpDef<N>, const N: usize>(args: [Noisy<F, SALT>; N]) -> Noisy<F, SALT> {
        moved(F::call::<R, N>(args.map(|x| x.0)))
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Noisy<F, SALT>,
        cell: [Noisy<F, SALT>; N],
        step: [Noisy<F, SALT>; N],
    ) -> [Noisy<F, SALT>; M] {
        F::lattice(salt, seed.0, cell.map(|x| x.0), step.map(|x| x.0)).map(Noisy)
    }
}

impl<F: Rounds, const SALT: u32> Number for Noisy<F, SALT> {
    fn from_f32(x: f32) -> Noisy<F, SALT> {
        Noisy(F::from_f32(x))
    }
    fn to_f32(self) -> f32 {
        self.0.to_f32()
    }
    fn to_f64(self) -> f64 {
        self.0.to_f64()
    }
    fn nan(payload: u32) -> Noisy<F, SALT> {
        Noisy(F::nan(payload))
    }
    fn payload(self) -> u32 {
        self.0.payload()
    }
    fn apply(op: Op, operands: &[EvalValue<Noisy<F, SALT>>]) -> EvalValue<Noisy<F, SALT>> {
        let exact: Vec<EvalValue<F>> = operands
            .iter()
            .map(|slot| EvalValue {
                word: slot.word,
                float: slot.float.0,
                shadows: [F::default(); 2],
            })
            .collect();
        let found = F::apply(op, &exact);
        // Choices and roundings to integers are exact, and so are integers as floats while they are
        // small.
        let info = op.info();
        let terms = F::from_f32(info.cancelling_terms as f32);
        let rounds = match op {
            Op::Neg => false,
            Op::IToF | Op::UToF => found.float.to_f64().abs() >= (1_u64 << F::DIGITS) as f64,
            _ => info.ulp > 0.0 || matches!(info.class, OpClass::Linear | OpClass::Smooth),
        };
        EvalValue {
            word: found.word,
            float: match rounds {
                // Where terms cancel, the error is one of the terms.
                true => Noisy(moved::<F, SALT>(found.float + terms).0 - terms),
                false => Noisy(found.float),
            },
            shadows: [Noisy(F::default()); 2],
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
            let one = (Noisy::<f32, 0>(x) * Noisy(y)).0;
            let other = (Noisy::<f32, 1>(x) * Noisy(y)).0;
            assert!((one - exact).abs() <= exact * 3e-7);
            assert!((one < exact) == (other > exact) && one != exact);
            differ += usize::from(one != (Noisy::<f32, 2>(x) * Noisy(y)).0);
        }
        assert!(differ > 100);
        assert_eq!(moved::<f32, 1>(0.0).0.to_bits(), 0);
        assert_eq!(moved::<f32, 1>(f32::INFINITY).0, f32::INFINITY);
        assert_eq!((-Noisy::<f32, 1>(0.1)).0, -0.1);
    }
}
