//! Operands of a sweep: every pattern of one operand, or pairs, drawn in several ways.
//!
//! Each operand follows from its index alone, so that blocks of them can be made in any order and
//! by any thread.

use crate::choices::mixed;
use adumbra_ir::Op;
use adumbra_ops::definition::{OperandInterval, OperandKind};
use std::f32::consts::{FRAC_PI_2, LN_2, PI};
use std::ops::Range;

/// The operands of a sweep.
#[derive(Clone, Debug)]
pub enum SweepOperands {
    /// Of one operand, each pattern that is a multiple of the stride.
    Patterns {
        /// 1 for all patterns.
        stride: u32,
    },
    /// Of two operands, all pairs of special floats and then as many drawn ones as said.
    Pairs {
        /// The special floats.
        special: Vec<u32>,
        /// The number of pairs that are drawn.
        drawn: u64,
    },
}

impl SweepOperands {
    /// The operands that fit an op.
    pub fn of(op: Op, stride: u32, drawn: u64) -> SweepOperands {
        match op.arity() {
            1 => SweepOperands::Patterns { stride },
            _ => SweepOperands::Pairs {
                special: special(),
                drawn,
            },
        }
    }

    /// The number of operands, or pairs.
    pub fn count(&self) -> u64 {
        match self {
            SweepOperands::Patterns { stride } => (1_u64 << 32).div_ceil(u64::from(*stride)),
            SweepOperands::Pairs { special, drawn } => {
                (special.len() * special.len()) as u64 + drawn
            }
        }
    }

    /// Writes those of these indices, as bits, to one list for each operand; where there is one,
    /// the second list is of zeros.
    pub fn fill(&self, op: Op, indices: Range<u64>, [first, second]: &mut [Vec<u32>; 2]) {
        first.clear();
        second.clear();
        match self {
            SweepOperands::Patterns { stride } => {
                let truth = op.info().operands[0] == OperandKind::Bool;
                let mask = if truth { 1 } else { u32::MAX };
                let stride = u64::from(*stride);
                first.extend(indices.map(|index| (index * stride) as u32 & mask));
                second.resize(first.len(), 0);
            }
            SweepOperands::Pairs { special, .. } => {
                let n = special.len() as u64;
                for index in indices {
                    let [a, b] = match index.checked_sub(n * n) {
                        None => [index / n, index % n].map(|at| special[at as usize]),
                        Some(drawn) => draw(op.info().test_intervals, drawn),
                    };
                    first.push(a);
                    second.push(b);
                }
            }
        }
    }
}

/// The drawn pair of that index: any bits, the intervals where the op is tested, like magnitudes, a
/// second operand of everyday size, or a first one close to 1 with a second that makes powers of it
/// neither vanish nor overflow; in turn.
fn draw(test: &[OperandInterval], index: u64) -> [u32; 2] {
    let word = mixed(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let [first, second] = [word as u32, (word >> 32) as u32];
    let more = mixed(word) as u32;
    // The word with its exponent replaced.
    let scaled = |bits: u32, exponent: u32| (bits & 0x807f_ffff) | (exponent.min(254) << 23);
    match index % 5 {
        0 => [first, second],
        1 => {
            let within = |bits: u32, interval: OperandInterval| {
                let part = f64::from(bits) / f64::from(u32::MAX);
                ((interval.low + (interval.high - interval.low) * part) as f32).to_bits()
            };
            [within(first, test[0]), within(second, test[1])]
        }
        2 => {
            let exponent = (first >> 23 & 0xff) + more % 27;
            [first, scaled(second, exponent.saturating_sub(13))]
        }
        3 => [first, scaled(second, 127 - 10 + more % 20)],
        _ => {
            let close = more % 23;
            let away = (first & 0x007f_ffff) >> close;
            let one = if first >> 31 == 0 {
                1_f32.to_bits() + away
            } else {
                1_f32.to_bits() - away
            };
            [one, scaled(second, 127 - 10 + close + (more >> 8) % 18)]
        }
    }
}

/// Floats at which functions are exceptional, or overflow, or underflow, or where their parts meet:
/// powers of two and their neighbours, small whole and half numbers, some constants; of both signs;
/// infinities and NaN.
fn special() -> Vec<u32> {
    let powers = (-149..=127)
        .step_by(12)
        .map(|power| 2f64.powi(power) as f32);
    let neighbours = powers.flat_map(|x| [x.next_down(), x, x.next_up()]);
    let whole = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 7.0, 8_388_609.0, 16_777_215.0];
    let halves = [0.5_f32, 1.5, 2.5, 8_388_607.5];
    let constants = [LN_2, FRAC_PI_2, PI, 10.0, 0.1, 88.5, 104.0];
    let ends = [
        0.0,
        1_f32.next_down(),
        1_f32.next_up(),
        f32::MIN_POSITIVE.next_down(),
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
    ];
    let all = (neighbours.chain(whole).chain(halves)).chain(constants.into_iter().chain(ends));
    let mut bits: Vec<u32> = all.flat_map(|x| [x, -x]).map(f32::to_bits).collect();
    bits.push(f32::NAN.to_bits());
    bits.sort_unstable();
    bits.dedup();
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The operands of these indices.
    fn pairs(operands: &SweepOperands, op: Op, indices: Range<u64>) -> Vec<[u32; 2]> {
        let mut lists = Default::default();
        operands.fill(op, indices, &mut lists);
        let [first, second] = lists;
        assert_eq!(first.len(), second.len());
        first.into_iter().zip(second).map(|(a, b)| [a, b]).collect()
    }

    #[test]
    fn patterns_are_complete() {
        let all = SweepOperands::Patterns { stride: 1 };
        assert_eq!(all.count(), 1 << 32);
        let last = pairs(&all, Op::Sin, all.count() - 2..all.count());
        assert_eq!(last, [[u32::MAX - 1, 0], [u32::MAX, 0]]);
        let thin = SweepOperands::Patterns { stride: 1000 };
        let last = thin.count() - 1;
        assert!(last * 1000 < 1 << 32 && (last + 1) * 1000 >= 1 << 32);
        let found = pairs(&thin, Op::Sin, last..last + 1);
        assert_eq!(found, [[(last * 1000) as u32, 0]]);
        assert_eq!(pairs(&all, Op::LNot, 6..8), [[0, 0], [1, 0]]);
    }

    #[test]
    fn pairs_are_all_pairs_of_special_floats_and_then_drawn_ones() {
        let operands = SweepOperands::of(Op::Pow, 1, 1_000);
        let SweepOperands::Pairs { special, .. } = &operands else {
            panic!("a power has two operands")
        };
        for x in [0.0, -0.0, 1.0, -1.0, f32::MAX, f32::INFINITY, f32::NAN] {
            assert!(special.contains(&x.to_bits()), "{x}");
        }
        let n = special.len() as u64;
        assert_eq!(operands.count(), n * n + 1_000);
        let found = pairs(&operands, Op::Pow, 0..operands.count());
        let all: HashSet<[u32; 2]> = found[..special.len().pow(2)].iter().copied().collect();
        assert_eq!(all.len() as u64, n * n);
        // A block that begins among the special ones goes on among the drawn.
        let middle = (n * n - 3) as usize;
        assert_eq!(
            pairs(&operands, Op::Pow, n * n - 3..n * n + 3),
            found[middle..middle + 6]
        );
    }

    /// Of the pairs drawn for a power, most must have one that is neither 0 nor infinite nor NaN.
    #[test]
    fn draws_are_not_hollow() {
        let drawn = SweepOperands::Pairs {
            special: vec![],
            drawn: 10_000,
        };
        let all = pairs(&drawn, Op::Pow, 0..drawn.count());
        let powers = all.iter().map(|pair| f32::from_bits(Op::Pow.value(pair)));
        assert!(powers.filter(|v| v.is_normal() && *v != 1.0).count() > 4_000);
    }
}
