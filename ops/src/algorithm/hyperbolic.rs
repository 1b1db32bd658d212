//! Hyperbolic functions and their inverses.
//!
//! The functions are polynomials where |t| < 1, else made of E = e^|t|/2 with the second float of E
//! kept: E ± 1/(4E).
//!
//! The inverses are polynomials where |t| < 1/2, so that nothing cancels there. Elsewhere they are
//! logarithms (Abramowitz and Stegun, 4.6.20 to 4.6.22), whose operand is a sum of two floats.

use super::exp::{half_exp, near_exp};
use super::log::{ln_of_double, ln_of_sum};
use super::{at_most, flip_sign, is_finite, polynomial};
use crate::field::{FloatField, SlowFn};

/// (sinh t − t)/t³ in t², |t| ≤ 1; 2^-31.
const SINH: [f64; 4] = [0.16666667, 0.008333311, 0.00019842597, 2.7844226e-6];
/// (cosh t − 1 − t²/2)/t⁴ in t², |t| ≤ 1; 2^-30.
const COSH: [f64; 3] = [0.04166675, 0.0013884873, 2.5396836e-5];
/// (tanh t − t)/t³ in t², |t| ≤ 1; 2^-30.
const TANH: [f64; 8] = [
    -0.33333328,
    0.13333175,
    -0.053950723,
    0.021774445,
    -0.008571487,
    0.003049001,
    -0.00082206377,
    0.00011652193,
];

/// (asinh t − t)/t³ in t², |t| ≤ 1/2; 2^-33.
const ASINH: [f64; 6] = [
    -0.16666666,
    0.07499907,
    -0.044616096,
    0.03003357,
    -0.020049585,
    0.00925663,
];
/// (atanh t − t)/t³ in t², |t| ≤ 1/2; 2^-32.
const ATANH: [f64; 7] = [
    0.33333337,
    0.19999622,
    0.14297815,
    0.109294,
    0.10524492,
    0.016958747,
    0.18514137,
];

/// From here on 2t is as good as t + √(t² ± 1), and below it t² does not overflow.
const GREAT: f64 = (1u64 << 60) as f64;

#[inline(always)]
pub(crate) fn sinh<L: FloatField>(t: L) -> L {
    let magnitude = t.magnitude();
    let square = t * t;
    let near = polynomial(square, SINH).mul_add(square * t, t);
    let (e, tail) = half_exp(at_most(magnitude, 90.0));
    let far = flip_sign(e + (tail - t.lit(0.25) / e), t.bits());
    L::select(magnitude.lt(t.lit(1.0)), near, far)
}

#[inline(always)]
pub(crate) fn cosh<L: FloatField>(t: L) -> L {
    let magnitude = t.magnitude();
    let square = t * t;
    let near = polynomial(square, COSH)
        .mul_add(square, t.lit(0.5))
        .mul_add(square, t.lit(1.0));
    let (e, tail) = half_exp(at_most(magnitude, 90.0));
    let far = e + (tail + t.lit(0.25) / e);
    L::select(magnitude.lt(t.lit(1.0)), near, far)
}

/// 1 − 2/(e^2|t| + 1) from |t| = 1 on; from 10 on that is 1.
#[inline(always)]
pub(crate) fn tanh<L: FloatField>(t: L) -> L {
    let (one, two) = (t.lit(1.0), t.lit(2.0));
    let magnitude = t.magnitude();
    let square = t * t;
    let near = polynomial(square, TANH).mul_add(square * magnitude, magnitude);
    let e = near_exp(two * at_most(magnitude, 10.0));
    let far = one - two / (e + one);
    flip_sign(L::select(magnitude.lt(one), near, far), t.bits())
}

/// √(square + small + lost) as a sum of two floats, where `lost` is what the square's rounding lost
/// and the sum is positive.
#[inline(always)]
fn root_of_sum<L: FloatField>(square: L, small: L, lost: L) -> [L; 2] {
    let sum = square + small;
    // Knuth's sum: either term may be the greater.
    let of_small = sum - square;
    let lost = lost + ((square - (sum - of_small)) + (small - of_small));
    let root = sum.square_root();
    let short = (-root).mul_add(root, sum) + lost;
    [root, root.lit(0.5) * short / root]
}

/// ln(greater + less) for a sum of two floats and a third.
#[inline(always)]
fn ln_of_three<L: FloatField>(greater: L, less: L, tail: L) -> L {
    let sum = greater + less;
    ln_of_sum(sum, (less - (sum - greater)) + tail)
}

/// ln(|t| + √(t² + 1)).
#[inline(always)]
pub(crate) fn asinh<L: FloatField>(t: L) -> L {
    let magnitude = t.magnitude();
    let square = t * t;
    let near = polynomial(square, ASINH).mul_add(square * magnitude, magnitude);
    let lost = t.mul_add(t, -square);
    let [root, tail] = root_of_sum(square, t.lit(1.0), lost);
    let far = ln_of_three(root, magnitude, tail);
    let usual = L::select(magnitude.lt(t.lit(0.5)), near, far);
    let great = !magnitude.lt(t.lit(GREAT));
    let size = L::with_slow_path(great, GreatInverse(magnitude), usual);
    flip_sign(size, t.bits())
}

/// ln(t + √(t² − 1)), where the root is that of d² + 2d with the exact d = t − 1.
#[inline(always)]
pub(crate) fn acosh<L: FloatField>(t: L) -> L {
    let (zero, one) = (t.lit(0.0), t.lit(1.0));
    let d = t - one;
    let square = d * d;
    let [root, tail] = root_of_sum(square, d + d, d.mul_add(d, -square));
    let tail = L::select(d.same(zero), zero, tail);
    let usual = one.le(t) & t.lt(t.lit(GREAT));
    L::with_slow_path(!usual, GreatInverse(t), ln_of_three(t, root, tail))
}

/// Either inverse of a great operand; NaN of those below 1.
struct GreatInverse<L>(L);

impl<L: FloatField> SlowFn<L> for GreatInverse<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let t = self.0;
        let great = L::select(is_finite(t), ln_of_double(t), t);
        L::select(t.lit(1.0).le(t), great, t.lit(f64::NAN))
    }
}

/// ln((1 + |t|)/(1 − |t|))/2, where the divisor is exact.
#[inline(always)]
pub(crate) fn atanh<L: FloatField>(t: L) -> L {
    let (one, half) = (t.lit(1.0), t.lit(0.5));
    let magnitude = t.magnitude();
    let square = t * t;
    let near = polynomial(square, ATANH).mul_add(square * magnitude, magnitude);
    let (sum, difference) = (one + magnitude, one - magnitude);
    let lost = magnitude - (sum - one);
    let quotient = sum / difference;
    let tail = ((-quotient).mul_add(difference, sum) + lost) / difference;
    let far = half * ln_of_sum(quotient, tail);
    let usual = L::select(magnitude.lt(half), near, far);
    let outside = !magnitude.lt(one);
    let size = L::with_slow_path(outside, OutsideAtanh(magnitude), usual);
    flip_sign(size, t.bits())
}

/// The inverse tangent of a magnitude that is not below 1.
struct OutsideAtanh<L>(L);

impl<L: FloatField> SlowFn<L> for OutsideAtanh<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let t = self.0;
        let at_end = t.same(t.lit(1.0));
        L::select(at_end, t.lit(f64::INFINITY), t.lit(f64::NAN))
    }
}
