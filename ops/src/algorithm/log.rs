//! Logarithms.
//!
//! t = 2^k·(1 + f) with 1 + f from √½ to √2, so that f is exact. ln(1 + f) = f − f²/2 + f³·P(f),
//! where only f is large. The sum is multiplied by the base's factor in two floats. k times the
//! logarithm of 2 is added last; its first part is short, so that the product is exact.

use super::{constants, is_finite, is_normal_positive, polynomial};
use crate::field::{FloatField, SlowFn, WordField};
use std::f64::consts::{LOG2_E, LOG10_E};

/// (ln(1 + f) − f + f²/2)/f³, √½ ≤ 1 + f ≤ √2; 2^-30.
const LOG: [f64; 9] = [
    0.33333313,
    -0.2500001,
    0.20002072,
    -0.16667989,
    0.14220358,
    -0.124062344,
    0.1188355,
    -0.116700895,
    0.0674925,
];

/// The bits of √½.
const SQRT_HALF_BITS: u32 = 0x3f35_04f3;

/// A base: 1/ln(base) and log(2) in that base, each as a sum of two floats.
struct Base {
    factor: [f64; 2],
    log_2: [f64; 2],
}

/// The logarithm of t·2^`exponent` for a normal positive t.
#[inline(always)]
fn normal<L: FloatField>(t: L, exponent: i32, base: &Base) -> L {
    let bits = t.bits();
    let power = bits.minus(bits.lit(SQRT_HALF_BITS)).sar(bits.lit(23));
    let f = bits.minus(power.shl(bits.lit(23))).float() - t.lit(1.0);
    let k = power.plus(bits.lit(exponent as u32)).i32_to_float();
    let square = f * f;
    let rest = polynomial(f, LOG).mul_add(square * f, t.lit(-0.5) * square);
    let [c0, c1] = constants(t, base.factor);
    let (head, tail) = if base.factor == [1.0, 0.0] {
        (f, rest)
    } else {
        let head = f * c0;
        let square_lost = f.mul_add(f, -square);
        let tail = f.mul_add(c1, f.mul_add(c0, -head));
        let tail = square_lost.mul_add(t.lit(-0.5) * c0, tail);
        (head, rest.mul_add(c0, tail))
    };
    let [l0, l1] = constants(t, base.log_2);
    let whole = k * l0;
    let sum = whole + head;
    let lost = head - (sum - whole);
    sum + (lost + k.mul_add(l1, tail))
}

#[inline(always)]
fn log<L: FloatField>(t: L, base: &Base) -> L {
    let usual = normal(t, 0, base);
    L::with_slow_path(!is_normal_positive(t), UnusualLog { t, base }, usual)
}

struct UnusualLog<'b, L> {
    t: L,
    base: &'b Base,
}

impl<L: FloatField> SlowFn<L> for UnusualLog<'_, L> {
    #[inline(always)]
    fn compute(self) -> L {
        let UnusualLog { t, base } = self;
        let zero = t.lit(0.0);
        let denormal = normal(t * t.lit(8_388_608.0), -23, base);
        let positive = L::select(is_finite(t), denormal, t);
        let at_zero = L::select(t.same(zero), t.lit(f64::NEG_INFINITY), t.lit(f64::NAN));
        L::select(zero.lt(t), positive, at_zero)
    }
}

/// The natural logarithm's base.
const E: Base = Base {
    factor: [1.0, 0.0],
    log_2: [0.69314575, 1.4286068e-6],
};

#[inline(always)]
pub(crate) fn ln<L: FloatField>(t: L) -> L {
    log(t, &E)
}

/// ln(t + tail) for a normal positive t and a tail of at most some units in its last place:
/// ln t + tail/t, where the quotient is added to what is small.
#[inline(always)]
pub(super) fn ln_of_sum<L: FloatField>(t: L, tail: L) -> L {
    let bits = t.bits();
    let power = bits.minus(bits.lit(SQRT_HALF_BITS)).sar(bits.lit(23));
    let f = bits.minus(power.shl(bits.lit(23))).float() - t.lit(1.0);
    let k = power.i32_to_float();
    let square = f * f;
    let rest = polynomial(f, LOG).mul_add(square * f, t.lit(-0.5) * square);
    let [l0, l1] = constants(t, E.log_2);
    let whole = k * l0;
    let sum = whole + f;
    let lost = f - (sum - whole);
    sum + (lost + k.mul_add(l1, rest + tail / t))
}

/// ln(2t) for a normal positive t, which may be so great that 2t is not a float.
#[inline(always)]
pub(super) fn ln_of_double<L: FloatField>(t: L) -> L {
    normal(t, 1, &E)
}

#[inline(always)]
pub(crate) fn log2<L: FloatField>(t: L) -> L {
    log(
        t,
        &Base {
            factor: [LOG2_E, 1.925963e-8],
            log_2: [1.0, 0.0],
        },
    )
}

#[inline(always)]
pub(crate) fn log10<L: FloatField>(t: L) -> L {
    log(
        t,
        &Base {
            factor: [LOG10_E, -1.010305e-8],
            log_2: [0.30103302, -3.0243555e-6],
        },
    )
}
