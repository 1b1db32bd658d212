//! How long the passes took.

use std::time::{Duration, Instant};

/// What `--stats` tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassPhase {
    /// Inline, fold, dedupe, prune.
    Optimise,
    /// Finding what can carry shadows.
    Lineage,
    /// Finding whose shadows are read, and laying out lanes.
    Demand,
}

/// Time spent in the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// Inline, fold, dedupe, prune.
    pub optimise: Duration,
    /// Finding what can carry shadows.
    pub lineage: Duration,
    /// Finding whose shadows are read, and laying out lanes.
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
