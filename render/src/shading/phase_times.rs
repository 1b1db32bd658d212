//! Where the time of drawing goes. Nothing else of the library reads a clock, and no result depends
//! on one.

use std::iter::Sum;
use std::time::{Duration, Instant};

/// The time of each part of drawing, of all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// Hits of rays and of shadow rays.
    pub intersection: Duration,
    /// Materials, but for their textures: evaluation, and closures into lobes.
    pub shading: Duration,
    /// Lookups of textures, and waiting for their tiles.
    pub textures: Duration,
    /// The rest: seeds and differentials of hits, lobes, sums.
    pub other: Duration,
}

impl PhaseTimes {
    /// All parts together.
    pub fn total(&self) -> Duration {
        self.intersection + self.shading + self.textures + self.other
    }
}

impl Sum for PhaseTimes {
    fn sum<I: Iterator<Item = PhaseTimes>>(all: I) -> PhaseTimes {
        all.fold(PhaseTimes::default(), |sum, one| PhaseTimes {
            intersection: sum.intersection + one.intersection,
            shading: sum.shading + one.shading,
            textures: sum.textures + one.textures,
            other: sum.other + one.other,
        })
    }
}

/// A clock that is read a few times a wave, and says how long each part took.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseClock {
    last: Instant,
    pub(super) times: PhaseTimes,
}

impl Default for PhaseClock {
    fn default() -> PhaseClock {
        PhaseClock {
            last: Instant::now(),
            times: PhaseTimes::default(),
        }
    }
}

impl PhaseClock {
    /// The time since the last call.
    pub(super) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let lap = now - self.last;
        self.last = now;
        lap
    }

    /// The time since the last call was spent on intersection.
    pub(super) fn intersected(&mut self) {
        let lap = self.lap();
        self.times.intersection += lap;
    }

    /// It was spent on materials, a part of it on textures.
    pub(super) fn shaded(&mut self, textures: Duration) {
        let lap = self.lap();
        let textures = textures.min(lap);
        self.times.textures += textures;
        self.times.shading += lap - textures;
    }

    /// It was spent on something else.
    pub(super) fn passed(&mut self) {
        let lap = self.lap();
        self.times.other += lap;
    }
}

/// Lookups of which one is timed. Odd, so that textures which a shader reads in turn are all timed.
const TIMED_LOOKUPS: u32 = 17;

/// An estimate of the time of lookups: every 17th is timed, so that the clock takes hardly any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupClock {
    count: u32,
    time: Duration,
    /// The time that two readings of the clock take.
    own: Duration,
}

impl Default for LookupClock {
    fn default() -> LookupClock {
        let readings = (0..16).map(|_| Instant::now().elapsed());
        LookupClock {
            count: 0,
            time: Duration::ZERO,
            own: readings.min().unwrap_or(Duration::ZERO),
        }
    }
}

impl LookupClock {
    /// Looks something up, and perhaps times it.
    pub(crate) fn lookup<T>(&mut self, look_up: impl FnOnce() -> T) -> T {
        self.count += 1;
        if self.count < TIMED_LOOKUPS {
            return look_up();
        }
        self.count = 0;
        let start = Instant::now();
        let found = look_up();
        self.time += start.elapsed().saturating_sub(self.own) * TIMED_LOOKUPS;
        found
    }

    /// Waits, and times it.
    pub(crate) fn wait(&mut self, wait: impl FnOnce()) {
        let start = Instant::now();
        wait();
        self.time += start.elapsed();
    }

    /// The time since the last call.
    pub(crate) fn take(&mut self) -> Duration {
        std::mem::take(&mut self.time)
    }
}
