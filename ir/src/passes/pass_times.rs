//! The time of the passes, by phase.

use std::time::{Duration, Instant};

/// The phases that `--stats` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassPhase {
    /// Inline, fold, GVN, DCE, unroll.
    Optimise,
    /// Lineage analysis.
    Lineage,
    /// Demand analysis and lane assignment.
    Demand,
}

/// Time spent in the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// Inline, fold, GVN, DCE, unroll.
    pub optimise: Duration,
    /// Lineage analysis.
    pub lineage: Duration,
    /// Demand analysis and lane assignment.
    pub demand: Duration,
}

impl std::ops::Add for PassTimes {
    type Output = PassTimes;

    fn add(self, other: PassTimes) -> PassTimes {
        PassTimes {
            optimise: self.optimise + other.optimise,
            lineage: self.lineage + other.lineage,
            demand: self.demand + other.demand,
        }
    }
}

/// A stopwatch that adds up phases.
#[derive(Debug)]
pub(super) struct PassClock {
    last: Instant,
    /// So far.
    pub(super) times: PassTimes,
}

impl PassClock {
    /// Starts now.
    pub(super) fn start() -> PassClock {
        PassClock {
            last: Instant::now(),
            times: PassTimes::default(),
        }
    }

    /// Counts what passed since the last call as this phase.
    pub(super) fn lap(&mut self, phase: PassPhase) {
        let now = Instant::now();
        let time = match phase {
            PassPhase::Optimise => &mut self.times.optimise,
            PassPhase::Lineage => &mut self.times.lineage,
            PassPhase::Demand => &mut self.times.demand,
        };
        *time += now - self.last;
        self.last = now;
    }
}
