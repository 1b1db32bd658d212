//! A/B timing: which of two machines is faster, from batches that they computed alternately.
//!
//! Batches are not alike: some points leave a shader early, some wait for the host. So in each
//! round the interpreter has the first and the last batch and code has the two between. This makes
//! up for work that grows or falls steadily, and for batches of two lengths. The result is the
//! median of the rounds' ratios, so up to half of them may have been disturbed. The least time of
//! each machine would depend on which of them had the emptiest batch.

use crate::engine::Tier;
use std::time::Duration;

/// The rounds that count. An odd number has one in the middle.
const ROUNDS: usize = 5;

/// The tiers of the batches of a round.
const ORDER: [Tier; 4] = [
    Tier::Interpreter,
    Tier::Native,
    Tier::Native,
    Tier::Interpreter,
];

/// An A/B timing in progress.
#[derive(Debug, Default)]
pub(super) struct AbTiming {
    /// The speedup of code in each finished round but the first, in which memory is touched for the
    /// first time.
    ratios: [f64; ROUNDS],
    rounds: usize,
    /// Finished batches of the round.
    batches: usize,
    /// Seconds and points of the round, of the interpreter and of code.
    spent: [(f64, f64); 2],
}

impl AbTiming {
    /// The tier of the next batch.
    pub(super) fn next(&self) -> Tier {
        ORDER[self.batches]
    }

    /// Records that the next batch had `points` points and took `took`. At the end it gives the
    /// speedup of code over the interpreter.
    pub(super) fn record(&mut self, points: usize, took: Duration) -> Option<f64> {
        let spent = &mut self.spent[usize::from(self.next() == Tier::Native)];
        spent.0 += took.as_secs_f64();
        spent.1 += points as f64;
        self.batches += 1;
        if self.batches < ORDER.len() {
            return None;
        }
        self.batches = 0;
        let [interpreter, code] =
            std::mem::take(&mut self.spent).map(|(time, points)| time / points);
        if self.rounds > 0 {
            self.ratios[self.rounds - 1] = interpreter / code;
        }
        self.rounds += 1;
        (self.rounds > ROUNDS).then(|| {
            self.ratios.sort_unstable_by(f64::total_cmp);
            self.ratios[ROUNDS / 2]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a timing, and its number of batches. The closure gets each batch's number, and
    /// whether code computes it; it gives points and nanoseconds.
    fn tried(mut batch: impl FnMut(usize, bool) -> (usize, u64)) -> (f64, usize) {
        let mut timing = AbTiming::default();
        for number in 0.. {
            let (points, nanos) = batch(number, timing.next() == Tier::Native);
            if let Some(ratio) = timing.record(points, Duration::from_nanos(nanos)) {
                return (ratio, number + 1);
            }
        }
        unreachable!("a timing ends")
    }

    fn about(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 0.01 * expected
    }

    #[test]
    fn ab_timing_finds_faster_machine() {
        let mut by_code = 0;
        let (ratio, batches) = tried(|_, is_code| {
            by_code += usize::from(is_code);
            (512, if is_code { 10_000 } else { 25_000 })
        });
        assert!(about(ratio, 2.5), "{ratio}");
        assert_eq!((batches, by_code), (24, 12));
        let (ratio, _) = tried(|_, is_code| (512, if is_code { 26_000 } else { 25_000 }));
        assert!(about(ratio, 25.0 / 26.0), "{ratio}");
    }

    #[test]
    fn first_round_is_ignored() {
        // With it, most of the rounds would be disturbed.
        let cold = |number, is_code| match (number, is_code) {
            (0..12, true) => 1_000_000,
            (_, true) => 1_000,
            _ => 2_000,
        };
        let (ratio, _) = tried(|number, is_code| (512, cold(number, is_code)));
        assert!(about(ratio, 2.0), "{ratio}");
    }

    #[test]
    fn median_survives_two_disturbed_rounds() {
        for disturbed in [[4, 8], [5, 9], [10, 13], [16, 22], [21, 22]] {
            let (ratio, _) = tried(|number, is_code| {
                let more = if disturbed.contains(&number) {
                    10_000_000
                } else {
                    0
                };
                (512, more + if is_code { 10_000 } else { 15_000 })
            });
            assert!(about(ratio, 1.5), "{ratio}, {disturbed:?}");
        }
    }

    #[test]
    fn growing_work_and_uneven_batches_do_not_mislead() {
        let (ratio, _) = tried(|number, is_code| {
            let work = 1_000 + 100 * number as u64;
            (512, work * if is_code { 10 } else { 12 })
        });
        assert!(about(ratio, 1.2), "{ratio}");
        // A short batch has a cost that does not depend on its points.
        let (ratio, _) = tried(|number, is_code| {
            let points = if number % 2 == 0 { 512 } else { 64 };
            let each = if is_code { 10 } else { 11 };
            (points, 2_000 + points as u64 * each)
        });
        assert!(ratio > 1.0 && ratio < 1.1, "{ratio}");
    }

    #[test]
    fn single_empty_batch_does_not_decide() {
        let (ratio, _) = tried(|number, is_code| {
            let work = if number == 9 { 10 } else { 10_000 };
            (512, work * if is_code { 3 } else { 2 })
        });
        assert!(about(ratio, 2.0 / 3.0), "{ratio}");
    }

    #[test]
    fn stopped_clock_does_not_prefer_code() {
        let (ratio, _) = tried(|_, _| (512, 0));
        assert!(ratio <= 1.0 || ratio.is_nan(), "{ratio}");
    }
}
