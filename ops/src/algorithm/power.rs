//! Roots and powers.

use super::{
    MIN_NORMAL, clamp, constants, flip_sign, is_finite, is_normal_positive, nearest, polynomial,
    scale,
};
use crate::field::{FloatField, SlowFn, WordField};
use std::f64::consts::LN_2;

/// 1/√t for t neither great nor small: the rounded quotient of the rounded root, corrected by both
/// remainders.
#[inline(always)]
fn reciprocal_root<L: FloatField>(t: L) -> L {
    let (one, half) = (t.lit(1.0), t.lit(0.5));
    let root = t.square_root();
    let short = (-root).mul_add(root, t);
    let v = one / root;
    let error = (-v).mul_add(root, one) - half * v * v * short;
    error.mul_add(v, v)
}

#[inline(always)]
pub(crate) fn rsqrt<L: FloatField>(t: L) -> L {
    let usual = t.lit(2f64.powi(-100)).lt(t) & is_finite(t);
    L::with_slow_path(!usual, UnusualRsqrt(t), reciprocal_root(t))
}

struct UnusualRsqrt<L>(L);

impl<L: FloatField> SlowFn<L> for UnusualRsqrt<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let t = self.0;
        let small = reciprocal_root(t * t.lit(2f64.powi(80))) * t.lit(2f64.powi(40));
        let inside = t.lit(0.0).lt(t) & is_finite(t);
        L::select(inside, small, t.lit(1.0) / t.square_root())
    }
}

/// The bits of 1/∛t are about this number less 1/3 of t's bits, so that |1 − t·r³| ≤ 0.1021, the
/// least possible (found by search).
const INVERSE_CBRT_BITS: u32 = 0x54a1_f5c0;

/// 1 − t·r³.
#[inline(always)]
fn cube_error<L: FloatField>(t: L, r: L) -> L {
    (-(t * r)).mul_add(r * r, t.lit(1.0))
}

/// ∛t for a positive t that is not small. Two iterations towards r = 1/∛t, which need no quotient;
/// the root computed from it is corrected by its remainder.
#[inline(always)]
fn positive_cbrt<L: FloatField>(t: L) -> L {
    let bits = t.bits();
    let third = bits.times_high(bits.lit(0xaaaa_aaab)).shr(bits.lit(1));
    let r = bits.lit(INVERSE_CBRT_BITS).minus(third).float();
    // With e = 1 − t·r³ the inverse root is r·(1 − e)^(-1/3) = r·(1 + e/3 + 2e²/9 + 14e³/81 + …).
    let e = cube_error(t, r);
    let r = (r * e).mul_add(polynomial(e, [1.0 / 3.0, 2.0 / 9.0, 14.0 / 81.0]), r);
    let r = (r * cube_error(t, r)).mul_add(t.lit(1.0 / 3.0), r);
    let square = r * r;
    let root = t * square;
    let area = root * root;
    let lost = root.mul_add(root, -area);
    let short = (-lost).mul_add(root, (-area).mul_add(root, t));
    (short * t.lit(1.0 / 3.0)).mul_add(square, root)
}

#[inline(always)]
pub(crate) fn cbrt<L: FloatField>(t: L) -> L {
    let magnitude = t.magnitude();
    let usual = t.lit(2f64.powi(-100)).lt(magnitude) & is_finite(magnitude);
    let root = L::with_slow_path(!usual, UnusualCbrt(magnitude), positive_cbrt(magnitude));
    flip_sign(root, t.bits())
}

struct UnusualCbrt<L>(L);

impl<L: FloatField> SlowFn<L> for UnusualCbrt<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let t = self.0;
        let small = positive_cbrt(t * t.lit(2f64.powi(60))) * t.lit(2f64.powi(-20));
        let inside = t.lit(0.0).lt(t) & is_finite(t);
        L::select(inside, small, t)
    }
}

/// √(a² + b²) where neither square overflows, and the greater is not small. Squares and sum keep
/// what rounding lost.
#[inline(always)]
fn length<L: FloatField>(greater: L, less: L) -> L {
    let half = greater.lit(0.5);
    let (p, q) = (greater * greater, less * less);
    let (p_lost, q_lost) = (greater.mul_add(greater, -p), less.mul_add(less, -q));
    let sum = p + q;
    let lost = (q - (sum - p)) + (p_lost + q_lost);
    let root = sum.square_root();
    let short = (-root).mul_add(root, sum) + lost;
    root + half * short / root
}

#[inline(always)]
pub(crate) fn hypot<L: FloatField>(a: L, b: L) -> L {
    let (a, b) = (a.magnitude(), b.magnitude());
    let swap = a.lt(b);
    let (greater, less) = (L::select(swap, b, a), L::select(swap, a, b));
    let usual = greater.lit(2f64.powi(-50)).lt(greater) & greater.lt(greater.lit(2f64.powi(60)));
    L::with_slow_path(
        !(usual & b.same(b)),
        UnusualHypot { greater, less },
        length(greater, less),
    )
}

struct UnusualHypot<L> {
    greater: L,
    less: L,
}

impl<L: FloatField> SlowFn<L> for UnusualHypot<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let UnusualHypot { greater, less } = self;
        let (zero, infinity) = (less.lit(0.0), less.lit(f64::INFINITY));
        let small = greater.lt(less.lit(1.0));
        let up = L::select(small, less.lit(2f64.powi(100)), less.lit(2f64.powi(-70)));
        let down = L::select(small, less.lit(2f64.powi(-100)), less.lit(2f64.powi(70)));
        let scaled = length(greater * up, less * up) * down;
        let finite = L::select(greater.same(zero), zero, scaled);
        // Infinite or NaN where an operand is; else the scaled length.
        let sum = greater + less;
        let length = L::select(sum.same(sum), finite, sum);
        let either = greater.same(infinity) | less.same(infinity);
        L::select(either, infinity, length)
    }
}

/// √(a² + b² + c²). Where the sum is neither small nor near overflow, no square was either, unless
/// it did not count.
#[inline(always)]
pub(crate) fn norm3<L: FloatField>(a: L, b: L, c: L) -> L {
    let sum = a.mul_add(a, b.mul_add(b, c * c));
    let usual = sum.lit(2f64.powi(-90)).lt(sum) & sum.lt(sum.lit(2f64.powi(120)));
    L::with_slow_path(
        !usual,
        UnusualNorm3 { sum, of: [a, b, c] },
        sum.square_root(),
    )
}

struct UnusualNorm3<L> {
    sum: L,
    of: [L; 3],
}

impl<L: FloatField> SlowFn<L> for UnusualNorm3<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let UnusualNorm3 { sum, of: [a, b, c] } = self;
        let (a, b, c) = (a.magnitude(), b.magnitude(), c.magnitude());
        let infinity = a.lit(f64::INFINITY);
        let either = a.same(infinity) | b.same(infinity) | c.same(infinity);
        let small = sum.lt(sum.lit(1.0));
        let up = L::select(small, a.lit(2f64.powi(100)), a.lit(2f64.powi(-70)));
        let down = L::select(small, a.lit(2f64.powi(-100)), a.lit(2f64.powi(70)));
        let (a, b, c) = (a * up, b * up, c * up);
        let length = a.mul_add(a, b.mul_add(b, c * c)).square_root() * down;
        L::select(either, infinity, length)
    }
}

/// 2/ln 2 and 1/3 of it, each as a sum of two floats: the first coefficients of log₂((1 + s)/(1 −
/// s)) = s·(c₀ + c₁s² + …).
const LOG2_HEAD: [[f64; 2]; 2] = [[2.88539, 3.851926e-8], [0.9617967, -7.028462e-9]];
/// The coefficients after these, s² ≤ 0.0296; 2^-36.7 of the whole.
const LOG2_TAIL: [f64; 3] = [0.57708025, 0.41184404, 0.3379587];

/// (2^r − 1)/r, |r| ≤ 0.505; 2^-32.5.
const EXP2: [f64; 7] = [
    LN_2,
    0.2402265,
    0.055504054,
    0.009618085,
    0.0013337507,
    0.00015453281,
    1.4451361e-5,
];

/// log₂(t·2^`exponent`) as a sum of two floats, to about 2^-34 of itself, for a normal positive t.
#[inline(always)]
fn log2_pair<L: FloatField>(t: L, exponent: L::Word) -> (L, L) {
    let one = t.lit(1.0);
    let bits = t.bits();
    let power = bits.minus(bits.lit(0x3f35_04f3)).sar(bits.lit(23));
    let m = bits.minus(power.shl(bits.lit(23))).float();
    let k = power.plus(exponent).i32_to_float();
    // s = (m − 1)/(m + 1)
    let (n, d) = (m - one, m + one);
    let d_lost = m - (d - one);
    let inverse = one / d;
    let s = n * inverse;
    let s_lost = inverse * (-s).mul_add(d_lost, (-s).mul_add(d, n));
    let u = s * s;
    let u_lost = s.mul_add(s, -u) + (s + s) * s_lost;
    let [c0, c0_lost] = constants(t, LOG2_HEAD[0]);
    let [c1, c1_lost] = constants(t, LOG2_HEAD[1]);
    let tail = u * polynomial(u, LOG2_TAIL);
    let a = c1 + tail;
    let a_lost = (tail - (a - c1)) + c1_lost;
    let b = u * a;
    let b_lost = u.mul_add(a, -b) + u.mul_add(a_lost, u_lost * a);
    let c = c0 + b;
    let c_lost = (b - (c - c0)) + (b_lost + c0_lost);
    let p = s * c;
    let p_lost = s.mul_add(c, -p) + s.mul_add(c_lost, s_lost * c);
    let sum = k + p;
    (sum, (p - (sum - k)) + p_lost)
}

/// t^e for a normal positive t, times what 2^`exponent` gives, and any finite e.
#[inline(always)]
fn positive_pow<L: FloatField>(t: L, exponent: L::Word, e: L) -> L {
    let (log, log_lost) = log2_pair(t, exponent);
    let product = e * log;
    let product_lost = e.mul_add(log, -product) + e * log_lost;
    // Beyond ±200 the result is infinite or 0, and what was lost means nothing.
    let y = clamp(product, -200.0, 200.0);
    let (k, power) = nearest(y, 1.0);
    let head = y - k;
    let r = head + L::select(y.same(product), product_lost, t.lit(0.0));
    scale(polynomial(r, EXP2).mul_add(r, t.lit(1.0)), power)
}

/// C's pow. The slow path decides by the sign of t and whether e is whole and odd, and replaces
/// infinite exponents by great ones.
#[inline(always)]
pub(crate) fn pow<L: FloatField>(t: L, e: L) -> L {
    let none = t.bits().lit(0);
    let usual = is_normal_positive(t) & is_finite(e.magnitude());
    L::with_slow_path(!usual, UnusualPow { t, e }, positive_pow(t, none, e))
}

struct UnusualPow<L> {
    t: L,
    e: L,
}

impl<L: FloatField> SlowFn<L> for UnusualPow<L> {
    #[inline(always)]
    fn compute(self) -> L {
        let UnusualPow { t, e } = self;
        let none = t.bits().lit(0);
        let (zero, one, infinity) = (t.lit(0.0), t.lit(1.0), t.lit(f64::INFINITY));
        let (size, reach) = (t.magnitude(), e.magnitude());
        let denormal = size.lt(t.lit(MIN_NORMAL));
        let base = L::select(denormal, size * t.lit(16_777_216.0), size);
        let shift = L::Word::select(denormal, none.lit(24u32.wrapping_neg()), none);
        let great = flip_sign(t.lit(2f64.powi(100)), e.bits());
        let power = positive_pow(base, shift, L::select(reach.same(infinity), great, e));
        let vanishes = size.same(zero) ^ e.lt(zero);
        let at_end = L::select(vanishes, zero, infinity);
        let power = L::select(size.same(zero) | size.same(infinity), at_end, power);
        let whole = e.same(e.round_to_zero());
        let half = e * t.lit(0.5);
        let odd = whole & !half.same(half.round_to_zero());
        let signed = L::select(odd, flip_sign(power, t.bits()), power);
        let imaginary = t.lt(zero) & is_finite(size) & !whole;
        let signed = L::select(imaginary, t.lit(f64::NAN), signed);
        let signed = L::select(t.same(t) & e.same(e), signed, t + e);
        L::select(e.same(zero) | t.same(one), one, signed)
    }
}
