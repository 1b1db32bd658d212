//! Numbers that belong to the points of the integer lattice, from which every noise is computed.
//!
//! The hash is written once, over [`WordField`]; every field has its [`Field::lattice`] from it, so
//! that f32 and f64 see the same lattice, exactly. A round is a product and a shifted exclusive or,
//! as in the finaliser of MurmurHash3 (Appleby); multipliers and shifts are those of lowbias32
//! (Wellons, "Prospecting for hash functions", 2018), which was searched for little bias.

use crate::field::{Field, WordField};
use std::ops::{BitAnd, BitXor};

/// 32-bit words that the numbers of a lattice point are computed in: every [`WordField`], and words
/// that only write these operations down.
pub trait LatticeWord: Copy + BitAnd<Output = Self> + BitXor<Output = Self> {
    /// The float of the same shape.
    type Number: Field;

    /// The constant `c` in the context of `self`.
    fn lit(self, c: u32) -> Self;
    /// Wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Low half of the product.
    fn times(self, other: Self) -> Self;
    /// Logical shift right by the low five bits of `by`.
    fn shr(self, by: Self) -> Self;
    /// The float nearest to the signed integer.
    fn number(self) -> Self::Number;
}

impl<W: WordField> LatticeWord for W {
    type Number = W::Float;

    #[inline(always)]
    fn lit(self, c: u32) -> W {
        WordField::lit(self, c)
    }
    #[inline(always)]
    fn plus(self, other: W) -> W {
        WordField::plus(self, other)
    }
    #[inline(always)]
    fn times(self, other: W) -> W {
        WordField::times(self, other)
    }
    #[inline(always)]
    fn shr(self, by: W) -> W {
        WordField::shr(self, by)
    }
    #[inline(always)]
    fn number(self) -> W::Float {
        self.i32_to_float()
    }
}

/// The word of a lattice point: each coordinate goes through a round of its own, then all through a
/// last one.
#[inline(always)]
fn hash<W: LatticeWord, const N: usize>(salt: u32, seed: W, point: [W; N]) -> W {
    let mut h = round(seed.lit(salt), seed);
    for coordinate in point {
        h = round(h, coordinate);
    }
    let h = h.times(h.lit(0x846c_a68b));
    h ^ h.shr(h.lit(16))
}

#[inline(always)]
fn round<W: LatticeWord>(h: W, word: W) -> W {
    let h = (h ^ word).times(h.lit(0x7feb_352d));
    h ^ h.shr(h.lit(15))
}

/// The length in bits of each of `count` numbers from one hash: 24, or its share of 32.
pub(super) const fn bits(count: usize) -> u32 {
    if count == 1 { 24 } else { 32 / count as u32 }
}

/// `M` numbers for the lattice point `cell + step`, whose coordinates are i32 that wrap. The bits
/// of one hash are shared among them: each number is a multiple of 2⁻²⁴ for one number, of 2⁻¹⁶,
/// 2⁻¹⁰, 2⁻⁸ for two, three, four, from 0 up to but not including 1.
#[inline(always)]
pub fn lattice_numbers<W: LatticeWord, const N: usize, const M: usize>(
    salt: u32,
    seed: W,
    cell: [W; N],
    step: [W; N],
) -> [W::Number; M] {
    let bits = const { bits(M) };
    let mut point = cell;
    for i in 0..N {
        point[i] = cell[i].plus(step[i]);
    }
    let h = hash(salt, seed, point);
    // A loop, for vectors stay in registers: LLVM does not inline the closure of an array's `map`
    // into routines with features.
    let mut numbers = [number(h, 0, bits); M];
    #[expect(clippy::needless_range_loop, reason = "adaptors have closures too")]
    for i in 1..M {
        numbers[i] = number(h, i as u32, bits);
    }
    numbers
}

/// The number from the share of `bits` bits of the hash that has this index, from the top.
#[inline(always)]
fn number<W: LatticeWord>(h: W, index: u32, bits: u32) -> W::Number {
    let share = h.shr(h.lit(32 - (index + 1) * bits)) & h.lit((1 << bits) - 1);
    let whole = share.number();
    whole * whole.lit(0.5_f64.powi(bits as i32))
}

/// A number of [`Field::lattice`] that is `bits` long, moved from 0..1 to the middle of its step in
/// −1..1: never 0, and as often negative.
#[inline(always)]
pub(super) fn centred<F: Field>(number: F, bits: u32) -> F {
    number.lit(2.0) * number - number.lit(1.0 - 0.5_f64.powi(bits as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: u32 = 0x1234_5678;

    /// Expected values are computed with Python's integers from the description above.
    #[test]
    fn the_hash_does_not_change() {
        assert_eq!(hash(0, 0_u32, [0, 0]), 0);
        assert_eq!(hash(1, 2_u32, [3]), GOLDEN[0]);
        assert_eq!(hash(SALT, 0_u32, [u32::MAX, 7, 1 << 31]), GOLDEN[1]);
        let [a, b]: [f32; 2] = lattice_numbers(1, 2_u32, [4], [u32::MAX]);
        assert_eq!(a, (GOLDEN[0] >> 16) as f32 / 65536.0);
        assert_eq!(b, (GOLDEN[0] & 0xffff) as f32 / 65536.0);
    }

    const GOLDEN: [u32; 2] = [0x3101_f580, 0x9d91_911e];

    /// A move of some steps along an axis changes each bit of the hash in about half of the cases.
    #[test]
    fn neighbouring_hashes_are_independent() {
        const POINTS: u32 = 4096;
        for axis in 0..5 {
            for step in [1, 2, 3, 16, 256, 1 << 20] {
                let mut changed = [0_u32; 32];
                for i in 0..POINTS {
                    let at =
                        [i % 8, i / 8 % 8, i / 64 % 8, i / 512, 0].map(|x: u32| x.wrapping_sub(4));
                    let mut moved = at;
                    moved[axis] = at[axis].wrapping_add(step);
                    let difference = hash(SALT, at[4], [at[0], at[1], at[2], at[3]])
                        ^ hash(SALT, moved[4], [moved[0], moved[1], moved[2], moved[3]]);
                    for (bit, count) in changed.iter_mut().enumerate() {
                        *count += difference >> bit & 1;
                    }
                }
                for (bit, count) in changed.into_iter().enumerate() {
                    let share = f64::from(count) / f64::from(POINTS);
                    assert!(
                        (0.4..0.6).contains(&share),
                        "axis {axis}, step {step}, bit {bit}: {share}"
                    );
                }
            }
        }
    }

    #[test]
    fn f32_and_f64_have_one_lattice() {
        for x in [
            0.0,
            -1.0,
            5.0,
            1e9,
            -1e20,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ] {
            let narrow: [f32; 3] = f32::lattice(SALT, 3.0, [x, 2.0], [1.0, -1.0]);
            let wide: [f64; 3] = f64::lattice(SALT, 3.0, [x.into(), 2.0], [1.0, -1.0]);
            assert_eq!(narrow.map(f64::from), wide, "{x}");
        }
    }

    #[test]
    fn numbers_fill_the_unit_interval() {
        let mut buckets = [[0; 16]; 4];
        for i in 0..16_384_u32 {
            let all: [f32; 4] = lattice_numbers(SALT, 0, [i % 128, i / 128], [0, 0]);
            for (bucket, number) in buckets.iter_mut().zip(all) {
                assert!((0.0..1.0).contains(&number));
                bucket[(number * 16.0) as usize] += 1;
            }
        }
        for count in buckets.as_flattened() {
            assert!((850..1200).contains(count), "{buckets:?}");
        }
    }
}
