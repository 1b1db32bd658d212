//! The schedule of a restart: stages, and when they end.
//!
//! An alternation goes through the stages of the loss, from the coarsest level alone to the sum of
//! all; five of them are 45 stages for nine levels. A stage ends after 44 iterations, or after 11
//! in succession without a loss below the least of this stage. A restart ends with its last stage,
//! or after nine stages in succession that ended early.
//!
//! Noise falls: the scales of an alternation are at most 1, ¾, ½, ¼ and 0. Losses with noise say
//! little of whether a fit goes on, so a restart ends early in its last alternation alone.
//!
//! The moments of Adam are kept from stage to stage.

use crate::exact;
use serde::{Deserialize, Serialize};

/// How long a restart may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// How often the stages of the loss are gone through.
    pub alternations: usize,
    /// The most iterations of a stage, > 0.
    pub iterations: usize,
    /// Iterations in succession without improvement after which a stage ends, > 0.
    pub idle_iterations: usize,
    /// Stages in succession that ended early after which the restart ends, > 0.
    pub idle_stages: usize,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            alternations: 5,
            iterations: 44,
            idle_iterations: 11,
            idle_stages: 9,
        }
    }
}

impl Schedule {
    /// The greatest scale of noise in a stage: it falls by alternations, from 1 at first to 0
    /// in the last one. A single alternation has noise throughout.
    pub fn greatest_scale(&self, stage: usize, loss_stages: usize) -> f64 {
        let last = self.alternations.saturating_sub(1);
        let alternation = (stage / loss_stages).min(last);
        1.0 - alternation as f64 / last.max(1) as f64
    }
}

/// Where a restart is in its schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageState {
    /// The number of the stage, over all alternations.
    pub(crate) stage: usize,
    /// Iterations of this stage so far.
    pub(crate) iteration: usize,
    /// Iterations since the least loss of this stage.
    idle: usize,
    /// Stages in succession before this one that ended early.
    idle_stages: usize,
    /// The least loss of this stage; ∞ before the first.
    #[serde(with = "exact")]
    least: f64,
}

/// What an iteration's loss means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IterationVerdict {
    /// It is the least of its stage.
    pub(crate) improved: bool,
    /// The stage ends with it.
    pub(crate) ends_stage: bool,
}

impl StageState {
    pub(crate) fn new() -> StageState {
        StageState {
            stage: 0,
            iteration: 0,
            idle: 0,
            idle_stages: 0,
            least: f64::INFINITY,
        }
    }

    /// Begins the count of stages that ended early again.
    pub(crate) fn forget_idle_stages(&mut self) {
        self.idle_stages = 0;
    }

    /// Whether there is an iteration to come.
    pub(crate) fn is_over(&self, schedule: &Schedule, loss_stages: usize) -> bool {
        self.stage >= schedule.alternations * loss_stages
            || self.idle_stages >= schedule.idle_stages
    }

    /// Whether its counts are those of a restart after as many iterations, for a state that was
    /// read from a file.
    pub(crate) fn is_sound(&self, schedule: &Schedule, iterations: usize) -> bool {
        let most = schedule.iterations.saturating_mul(self.stage);
        self.iteration < schedule.iterations
            && self.idle < schedule.idle_iterations
            && self.idle <= self.iteration
            && self.idle_stages <= self.stage
            && (self.iteration..=most.saturating_add(self.iteration)).contains(&iterations)
    }

    /// Takes the loss of an iteration, NaN included, which is no improvement.
    pub(crate) fn take(&mut self, schedule: &Schedule, loss: f64) -> IterationVerdict {
        let improved = loss < self.least;
        if improved {
            self.least = loss;
            self.idle = 0;
        } else {
            self.idle += 1;
        }
        self.iteration += 1;
        let is_early = self.idle >= schedule.idle_iterations;
        let ends_stage = is_early || self.iteration >= schedule.iterations;
        if ends_stage {
            let idle_stages = if is_early { self.idle_stages + 1 } else { 0 };
            *self = StageState {
                stage: self.stage + 1,
                idle_stages,
                ..StageState::new()
            };
        }
        IterationVerdict {
            improved,
            ends_stage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations and stages of a restart with these losses, by the iteration's number.
    fn run(levels: usize, loss: impl Fn(usize) -> f64) -> (usize, usize) {
        let (schedule, mut state) = (Schedule::default(), StageState::new());
        let mut iterations = 0;
        while !state.is_over(&schedule, levels) {
            state.take(&schedule, loss(iterations));
            iterations += 1;
        }
        (iterations, state.stage)
    }

    #[test]
    fn improving_restart_takes_all_stages() {
        assert_eq!(run(9, |at| -(at as f64)), (45 * 44, 45));
        assert_eq!(run(4, |at| -(at as f64)), (20 * 44, 20));
    }

    #[test]
    fn noise_falls_to_nothing() {
        let schedule = Schedule::default();
        let firsts = [0, 3, 6, 9, 12];
        let scales = firsts.map(|first| schedule.greatest_scale(first, 3));
        assert_eq!(scales, [1.0, 0.75, 0.5, 0.25, 0.0]);
        assert_eq!(schedule.greatest_scale(2, 3), 1.0);
        assert_eq!(schedule.greatest_scale(14, 3), 0.0);
        let single = Schedule {
            alternations: 1,
            ..schedule
        };
        assert_eq!(single.greatest_scale(2, 3), 1.0);
    }

    /// The first loss of a stage is an improvement, then eleven are none.
    #[test]
    fn constant_loss_ends_after_nine_stages() {
        assert_eq!(run(9, |_| 1.0), (9 * 12, 9));
        assert_eq!(run(9, |_| f64::NAN), (9 * 11, 9));
    }

    /// Eight stages end early, the next takes all its iterations, then nine end early.
    #[test]
    fn full_stage_starts_the_count_again() {
        let full = 8 * 12..8 * 12 + 44;
        let loss = |at| {
            if full.contains(&at) {
                -(at as f64)
            } else {
                1.0
            }
        };
        assert_eq!(run(9, loss), (8 * 12 + 44 + 9 * 12, 18));
    }
}
