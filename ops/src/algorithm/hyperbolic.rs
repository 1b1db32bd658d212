//! Hyperbolic functions.
//!
//! Polynomials where |t| < 1, else by E = e^|t|/2 with the second float of E kept: E ± 1/(4E).

use super::exp::{half_exp, near_exp};
use super::{at_most, flip_sign, polynomial};
use crate::field::FloatField;

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
