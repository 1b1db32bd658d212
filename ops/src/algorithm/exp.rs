//! Exponentials.
//!
//! e^t = 2^k·e^r with k the integer nearest to t/ln 2, so that |r| ≤ ln(2)/2; ln 2 is subtracted in
//! two parts (Cody and Waite, *Software Manual for the Elementary Functions*, 1980). Where 2^k
//! might be no normal number, the scaling happens in two steps, so that it overflows and underflows
//! where the result does.

use super::{clamp, constants, nearest, polynomial, power_of_two, scale};
use crate::field::{FloatField, SlowFn, WordField};
use std::f64::consts::{LN_2, LOG2_E};
use std::marker::PhantomData;

/// ln 2 as a sum of two floats; the first is what it rounds to.
const LN_2_PARTS: [f64; 2] = [LN_2, -1.9046542e-9];

/// (e^r − 1 − r)/r², |r| ≤ 0.35; 2^-28.
const EXP: [f64; 5] = [
    0.49999994,
    0.16666517,
    0.04166828,
    0.008369248,
    0.0013820775,
];

/// (2^r − 1)/r, |r| ≤ 0.505; 2^-28.
const EXP2: [f64; 6] = [
    LN_2,
    0.24022648,
    0.05550358,
    0.009618503,
    0.001339189,
    0.00015329235,
];

/// A base of powers.
trait Base {
    /// Powers below which, whatever their sign, a single factor scales.
    const NEAR: f64;
    /// Powers beyond which nothing changes any more.
    const WITHIN: [f64; 2];

    /// The base to the power of t, as a number near 1 and the power of 2 that it is to be
    /// multiplied by.
    fn unscaled<L: FloatField>(t: L) -> (L, L::Word);
}

struct E;

impl Base for E {
    const NEAR: f64 = 87.0;
    const WITHIN: [f64; 2] = [-105.0, 90.0];

    #[inline(always)]
    fn unscaled<L: FloatField>(t: L) -> (L, L::Word) {
        let one = t.lit(1.0);
        let [l0, l1] = constants(t, LN_2_PARTS);
        let (k, power) = nearest(t, LOG2_E);
        let r = (-k).mul_add(l1, (-k).mul_add(l0, t));
        (polynomial(r, EXP).mul_add(r, one).mul_add(r, one), power)
    }
}

struct Two;

impl Base for Two {
    const NEAR: f64 = 126.0;
    const WITHIN: [f64; 2] = [-152.0, 130.0];

    #[inline(always)]
    fn unscaled<L: FloatField>(t: L) -> (L, L::Word) {
        let (k, power) = nearest(t, 1.0);
        let r = t - k;
        (polynomial(r, EXP2).mul_add(r, t.lit(1.0)), power)
    }
}

/// Where t is [near](Base::NEAR).
#[inline(always)]
fn near<B: Base, L: FloatField>(t: L) -> L {
    let (number, power) = B::unscaled(t);
    number * power_of_two(power)
}

struct Far<B, L>(L, PhantomData<B>);

impl<B: Base, L: FloatField> SlowFn<L> for Far<B, L> {
    #[inline(always)]
    fn compute(self) -> L {
        let [low, high] = B::WITHIN;
        let (number, power) = B::unscaled(clamp(self.0, low, high));
        scale(number, power)
    }
}

#[inline(always)]
fn raised<B: Base, L: FloatField>(t: L) -> L {
    let is_near = t.magnitude().lt(t.lit(B::NEAR));
    L::with_slow_path(!is_near, Far::<B, L>(t, PhantomData), near::<B, L>(t))
}

/// e^t for |t| < 87.
#[inline(always)]
pub(crate) fn near_exp<L: FloatField>(t: L) -> L {
    near::<E, L>(t)
}

#[inline(always)]
pub(crate) fn exp<L: FloatField>(t: L) -> L {
    raised::<E, L>(t)
}

#[inline(always)]
pub(crate) fn exp2<L: FloatField>(t: L) -> L {
    raised::<Two, L>(t)
}

/// e^t/2 as a sum of two floats, for t from 0 to 90.
#[inline(always)]
pub(crate) fn half_exp<L: FloatField>(t: L) -> (L, L) {
    let one = t.lit(1.0);
    let [l0, l1] = constants(t, LN_2_PARTS);
    let (k, power) = nearest(t, LOG2_E);
    let first = (-k).mul_add(l0, t);
    let r = (-k).mul_add(l1, first);
    let tail = (-k).mul_add(l1, first - r);
    let sum = one + r;
    let lost = r - (sum - one);
    let rest = polynomial(r, EXP).mul_add(r * r, tail) + lost;
    let head = sum + rest;
    let power = power.minus(power.lit(1));
    (scale(head, power), scale(rest - (head - sum), power))
}
