//! Which of two machines is faster, from batches that they computed in turn.
//!
//! Batches are not alike: some points leave a shader early, some wait for the host. So in each turn the interpreter has the first and the last batch and
//! code has the two between, which makes up for work that grows or falls steadily and for batches of two lengths, and what is looked at is the median of the
//! turns' ratios: up to half of them may have been disturbed. The least time of each machine would come from whoever met the emptiest batch.

use crate::engine::Tier;
use std::time::Duration;

/// Turns that count. An odd number has one in the middle.
const TURNS: usize = 5;

/// Who computes the batches of a turn.
const ORDER: [Tier; 4] = [
    Tier::Interpreter,
    Tier::Native,
    Tier::Native,
    Tier::Interpreter,
];

/// A trial on its way.
#[derive(Debug, Default)]
pub(super) struct AbTiming {
    /// How many times as fast code was, in each turn that is over but the first, in which memory is touched for the first time.
    ratios: [f64; TURNS],
    turns: usize,
    /// Batches of the turn that are over.
    batches: usize,
    /// Seconds and points of the turn, of the interpreter and of code.
    spent: [(f64, f64); 2],
}

impl AbTiming {
    /// Who computes the next batch.
    pub(super) fn next(&self) -> Tier {
        ORDER[self.batches]
    }

    /// The next batch had so many points, and took so long. In the end: how many times as fast as the interpreter code is.
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
        if self.turns > 0 {
            self.ratios[self.turns - 1] = interpreter / code;
        }
        self.turns += 1;
        (self.turns > TURNS).then(|| {
            self.ratios.sort_unstable_by(f64::total_cmp);
            self.ratios[TURNS / 2]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a trial, and after how many batches. Told of each batch: its number, and whether it is code's turn; it says points and nanoseconds.
    fn tried(mut batch: impl FnMut(usize, bool) -> (usize, u64)) -> (f64, usize) {
        let mut trial = AbTiming::default();
        for number in 0.. {
            let (points, nanos) = batch(number, trial.next() == Tier::Native);
            if let Some(ratio) = trial.record(points, Duration::from_nanos(nanos)) {
                return (ratio, number + 1);
            }
        }
        unreachable!("a trial ends")
    }

    fn about(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 0.01 * expected
    }

    #[test]
    fn each_has_half_of_the_batches_and_the_faster_is_found() {
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
    fn the_first_turn_does_not_count() {
        // With it, most of the turns would be disturbed.
        let cold = |number, is_code| match (number, is_code) {
            (0..12, true) => 1_000_000,
            (_, true) => 1_000,
            _ => 2_000,
        };
        let (ratio, _) = tried(|number, is_code| (512, cold(number, is_code)));
        assert!(about(ratio, 2.0), "{ratio}");
    }

    #[test]
    fn half_of_the_turns_may_be_disturbed() {
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
    fn work_that_grows_and_batches_of_two_lengths_mislead_nobody() {
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
    fn one_empty_batch_does_not_decide() {
        let (ratio, _) = tried(|number, is_code| {
            let work = if number == 9 { 10 } else { 10_000 };
            (512, work * if is_code { 3 } else { 2 })
        });
        assert!(about(ratio, 2.0 / 3.0), "{ratio}");
    }

    #[test]
    fn a_clock_that_stands_still_does_not_speak_for_code() {
        let (ratio, _) = tried(|_, _| (512, 0));
        assert!(ratio <= 1.0 || ratio.is_nan(), "{ratio}");
    }
}
