//! Sine, cosine, tangent.
//!
//! |t| is reduced by the nearest multiple of π/2 to r + tail with |r| ≤ π/4 and a little. Below
//! [`CODY_WAITE`] this subtracts π/2 in three parts (Cody and Waite, 1980): the first fused
//! difference is exact, and the errors of the second product and difference go to the tail. Beyond,
//! it multiplies by the needed 96 bits of 2/π (Payne and Hanek, "Radian reduction for trigonometric
//! functions", 1983). Sine and cosine evaluate both polynomials and select by quadrant, so that a
//! sine and its partial share everything but the selection.

use super::{SIGN_BIT, constants, flip_sign, is_finite, nearest, polynomial, power_of_two};
use crate::field::{FloatField, SlowFn, WordField};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};
use std::marker::PhantomData;

/// π/2 as a sum of three floats; the first is what it rounds to.
const HALF_PI: [f64; 3] = [FRAC_PI_2, -4.371139e-8, -1.7151245e-15];

/// Where reduction by three parts of π/2 ends.
const CODY_WAITE: f64 = 131_072.0;

/// (sin r − r)/r³ in r², |r| ≤ 0.8; 2^-27.7.
const SIN: [f64; 3] = [-0.16666654, 0.008332095, -0.0001950554];
/// (cos r − 1 + r²/2)/r⁴ in r², |r| ≤ 0.8; 2^-32.6.
const COS: [f64; 3] = [0.04166664, -0.001388713, 2.4412091e-5];
/// (tan r − r)/r³ in r², |r| ≤ 0.8; 2^-29.
const TAN: [f64; 7] = [
    0.33333355,
    0.13332468,
    0.054082684,
    0.021161932,
    0.011153184,
    -0.00031871346,
    0.004580085,
];

/// The bits of 2/π after 32 zeros.
const TWO_OVER_PI: &[u32; 8] = &[
    0,
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
];

/// An angle less `quadrant`·π/2.
struct Reduced<L: FloatField> {
    r: L,
    tail: L,
    /// Counted modulo 4; higher bits mean nothing.
    quadrant: L::Word,
}

/// For 0 ≤ t < [`CODY_WAITE`].
#[inline(always)]
fn reduce<L: FloatField>(t: L) -> Reduced<L> {
    let [p0, p1, p2] = constants(t, HALF_PI);
    let (k, quadrant) = nearest(t, FRAC_2_PI);
    let first = (-k).mul_add(p0, t);
    let second = k * p1;
    let r = first - second;
    let lost = ((first - r) - second) - k.mul_add(p1, -second);
    let tail = (-k).mul_add(p2, lost);
    Reduced { r, tail, quadrant }
}

/// A word of the bits of 2/π.
#[inline(always)]
fn two_over_pi<W: WordField>(index: W) -> W {
    (index & index.lit(7)).lookup(TWO_OVER_PI)
}

/// The 32 bits of 2/π that begin `offset` bits after the beginning of a word.
#[inline(always)]
fn two_over_pi_from<W: WordField>(index: W, offset: W) -> W {
    let next = two_over_pi(index.plus(index.lit(1)));
    let spill = next.shr(index.lit(1)).shr(index.lit(31).minus(offset));
    two_over_pi(index).shl(offset) | spill
}

/// For finite t ≥ [`CODY_WAITE`]; anything else gives garbage.
#[inline(always)]
fn reduce_large<L: FloatField>(t: L) -> Reduced<L> {
    let bits = t.bits();
    let word = |c: u32| bits.lit(c);
    // t = mantissa·2^s. The bits of 2/π that count are those from 2^(1 - s) down: higher ones give
    // multiples of 4 quarter turns.
    let mantissa = (bits & word(0x007f_ffff)) | word(0x0080_0000);
    let position = bits.shr(word(23)).minus(word(150 - 30));
    let (index, offset) = (position.shr(word(5)), position & word(31));
    let high = two_over_pi_from(index, offset);
    let middle = two_over_pi_from(index.plus(word(1)), offset);
    let low = two_over_pi_from(index.plus(word(2)), offset);
    // mantissa·2/π modulo 4, in units of 2^-30 and, below, of 2^-62.
    let fraction = mantissa.times(middle).plus(mantissa.times_high(low));
    let carry = word(0).boolean(fraction.lt_unsigned(mantissa.times_high(low)));
    let whole = mantissa
        .times(high)
        .plus(mantissa.times_high(middle))
        .plus(carry);
    // The distance to the nearest quarter turn, 64 bits after the point, signed.
    let upper = whole.shl(word(2)) | fraction.shr(word(30));
    let lower = fraction.shl(word(2));
    let quadrant = whole.shr(word(30)).plus(upper.shr(word(31)));
    let sign = upper.sar(word(31));
    let (upper, lower) = (upper ^ sign, lower ^ sign);
    let zeros = upper.leading_zeros();
    let top = upper.shl(zeros) | lower.shr(word(1)).shr(word(31).minus(zeros));
    let head = (top & word(0xffff_ff00)).u32_to_float();
    let rest = (top & word(0xff)).u32_to_float();
    // Times π/2.
    let [p0, p1, _] = constants(t, HALF_PI);
    let product = head * p0;
    let lost = rest.mul_add(p0, head.mul_add(p1, head.mul_add(p0, -product)));
    let r = product + lost;
    let tail = lost - (r - product);
    let unit = flip_sign(power_of_two(word(0).minus(word(32)).minus(zeros)), sign);
    Reduced {
        r: r * unit,
        tail: tail * unit,
        quadrant,
    }
}

/// sin(r + tail) and cos(r + tail).
#[inline(always)]
fn sin_cos<L: FloatField>(a: &Reduced<L>) -> (L, L) {
    let square = a.r * a.r;
    let sin = a.r + polynomial(square, SIN).mul_add(square * a.r, a.tail);
    let one = a.r.lit(1.0);
    let minus_half = a.r.lit(-0.5);
    let head = minus_half.mul_add(square, one);
    let lost = minus_half.mul_add(square, one - head);
    let rest = polynomial(square, COS).mul_add(square * square, lost);
    let cos = head + (-a.r).mul_add(a.tail, rest);
    (sin, cos)
}

/// The sine (`turn` 0) or cosine (`turn` 1) of a reduced magnitude, where `sign` is the sign of the
/// result in the first quadrant.
#[inline(always)]
fn wave<L: FloatField>(a: Reduced<L>, turn: u32, sign: L::Word) -> L {
    let (sin, cos) = sin_cos(&a);
    let quadrant = a.quadrant.plus(a.quadrant.lit(turn));
    let zero = quadrant.lit(0);
    let odd = !WordField::same(quadrant & quadrant.lit(1), zero);
    flip_sign(
        L::select(odd, cos, sin),
        quadrant.shl(quadrant.lit(30)) ^ sign,
    )
}

/// A function of a reduced angle. Types, not closures: closures are not inlined where a caller has
/// CPU features that they lack.
trait Of {
    /// From t and the reduced |t|.
    fn of<L: FloatField>(t: L, a: Reduced<L>) -> L;
}

struct Sine;
struct Cosine;
struct Tangent;

/// The function of |t|, by the reduction that it needs; NaN for infinite t.
#[inline(always)]
fn reduced<L: FloatField, W: Of>(t: L) -> L {
    let magnitude = t.magnitude();
    let fast = W::of(t, reduce(magnitude));
    let slow = Far::<L, W>(t, PhantomData);
    L::with_slow_path(!magnitude.lt(t.lit(CODY_WAITE)), slow, fast)
}

/// The slow path, for a great or infinite t.
struct Far<L, W>(L, PhantomData<W>);

impl<L: FloatField, W: Of> SlowFn<L> for Far<L, W> {
    #[inline(always)]
    fn compute(self) -> L {
        let t = self.0;
        let magnitude = t.magnitude();
        let far = W::of(t, reduce_large(magnitude));
        L::select(is_finite(magnitude), far, t.lit(f64::NAN))
    }
}

impl Of for Sine {
    #[inline(always)]
    fn of<L: FloatField>(t: L, a: Reduced<L>) -> L {
        wave(a, 0, t.bits())
    }
}

impl Of for Cosine {
    #[inline(always)]
    fn of<L: FloatField>(t: L, a: Reduced<L>) -> L {
        wave(a, 1, t.bits().lit(0))
    }
}

#[inline(always)]
pub(crate) fn sin<L: FloatField>(t: L) -> L {
    reduced::<L, Sine>(t)
}

#[inline(always)]
pub(crate) fn cos<L: FloatField>(t: L) -> L {
    reduced::<L, Cosine>(t)
}

#[inline(always)]
pub(crate) fn tan<L: FloatField>(t: L) -> L {
    reduced::<L, Tangent>(t)
}

/// In odd quadrants −1/tan, with the quotient corrected by its remainder.
impl Of for Tangent {
    #[inline(always)]
    fn of<L: FloatField>(t: L, a: Reduced<L>) -> L {
        let one = t.lit(1.0);
        let square = a.r * a.r;
        // The correction by the tail and by the rounding of the square: tail·tan′(r), and the
        // latter about 0.3·r·tan′(r).
        let slope = polynomial(square, [1.0, 1.0, 2.0 / 3.0]);
        let square_lost = a.r.mul_add(a.r, -square);
        let missing = (a.r * t.lit(0.3)).mul_add(square_lost, a.tail);
        let rest = polynomial(square, TAN).mul_add(square * a.r, slope * missing);
        let tan = a.r + rest;
        let lost = (a.r - tan) + rest;
        let inverse = -one / tan;
        let error = inverse.mul_add(lost, inverse.mul_add(tan, one));
        let inverse = inverse.mul_add(error, inverse);
        let zero = a.quadrant.lit(0);
        let odd = !WordField::same(a.quadrant & a.quadrant.lit(1), zero);
        flip_sign(
            L::select(odd, inverse, tan),
            t.bits() & t.bits().lit(SIGN_BIT),
        )
    }
}
