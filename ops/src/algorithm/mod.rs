//! Algorithms of the transcendental ops: fixed sequences of correctly rounded operations, the same
//! bits everywhere.
//!
//! All follow one plan. They reduce the argument to a short interval, with the rounding error in a
//! second float where it matters. They evaluate a minimax polynomial there. They reconstruct the
//! result so that only the last operation rounds visibly. Operands outside of this range (huge
//! angles, denormals, infinities) take [`FloatField::with_slow_path`]. Only slow paths are calls:
//! on SIMD vectors all else has to be inlined, and closures are not always.
//!
//! Polynomials are relative minimax fits (Remez exchange or Lawson iteration). Their coefficients
//! are rounded to f32 one after the other, and the rest is fitted again. The stated errors are
//! relative to the function.

pub(crate) mod arc;
pub(crate) mod exp;
pub(crate) mod hyperbolic;
pub(crate) mod log;
pub(crate) mod power;
pub(crate) mod trig;

use super::field::{FloatField, WordField};

/// 1.5·2^23: adding it leaves the nearest integer in the low bits of the sum.
const MAGIC: f64 = 12_582_912.0;
const MAGIC_BITS: u32 = 0x4b40_0000;

/// The least normal float.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

const SIGN_BIT: u32 = 0x8000_0000;

/// Constants in the context of `x`.
#[inline(always)]
fn constants<L: FloatField, const N: usize>(x: L, c: [f64; N]) -> [L; N] {
    let mut all = [x; N];
    for i in 0..N {
        all[i] = x.lit(c[i]);
    }
    all
}

/// c₀ + c₁x + c₂x² + …, by Horner's rule.
#[inline(always)]
fn polynomial<L: FloatField, const N: usize>(x: L, c: [f64; N]) -> L {
    let mut sum = x.lit(c[N - 1]);
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, x.lit(c[i]));
    }
    sum
}

/// The integer nearest to t·c, as a float and as a word; |t·c| is below 2^22.
#[inline(always)]
fn nearest<L: FloatField>(t: L, c: f64) -> (L, L::Word) {
    let magic = t.lit(MAGIC);
    let sum = t.mul_add(t.lit(c), magic);
    let bits = sum.bits();
    (sum - magic, bits.minus(bits.lit(MAGIC_BITS)))
}

/// 2^k for k from -126 to 127.
#[inline(always)]
fn power_of_two<W: WordField>(k: W) -> W::Float {
    k.plus(k.lit(127)).shl(k.lit(23)).float()
}

/// x·2^k for |k| up to 252, rounded once.
#[inline(always)]
fn scale<L: FloatField>(x: L, k: L::Word) -> L {
    let half = k.sar(k.lit(1));
    x * power_of_two(half) * power_of_two(k.minus(half))
}

/// x clamped between two bounds; NaN stays.
#[inline(always)]
fn clamp<L: FloatField>(x: L, low: f64, high: f64) -> L {
    let low = x.lit(low);
    at_most(L::select(x.lt(low), low, x), high)
}

/// x limited by an upper bound; NaN stays.
#[inline(always)]
fn at_most<L: FloatField>(x: L, high: f64) -> L {
    let high = x.lit(high);
    L::select(high.lt(x), high, x)
}

/// `x` with its sign bit changed where `sign` has it set.
#[inline(always)]
fn flip_sign<L: FloatField>(x: L, sign: L::Word) -> L {
    let bits = x.bits();
    (bits ^ (sign & bits.lit(SIGN_BIT))).float()
}

/// Whether x is normal and positive (and so neither 0 nor infinite nor NaN).
#[inline(always)]
fn is_normal_positive<L: FloatField>(x: L) -> L::Mask {
    x.lit(MIN_NORMAL).le(x) & is_finite(x)
}

/// Whether x, or −x, is below infinity; for magnitudes and positive numbers.
#[inline(always)]
fn is_finite<L: FloatField>(x: L) -> L::Mask {
    x.lt(x.lit(f64::INFINITY))
}
