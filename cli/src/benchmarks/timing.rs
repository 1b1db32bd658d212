//! Times candidates side by side: round-robin, thread CPU time, minimum and median.

use cpu_time::ThreadTime;
use std::fmt;
use std::time::Duration;

/// Rounds of each candidate unless others are asked for.
pub const ROUNDS: usize = 15;

/// The time that a candidate works before it is timed. Processors give wide vectors their full
/// speed only after a while: after some ten milliseconds of scalar code, a Zen 5 takes up to half
/// as long again for vectors, for one to three milliseconds.
const WARM_UP: Duration = Duration::from_millis(3);

/// The times of one candidate, in nanoseconds per unit of work.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The fastest round.
    pub min: f64,
    /// The middle round.
    pub median: f64,
}

impl Timing {
    /// The times in another unit, of this number of nanoseconds.
    pub fn in_units_of(self, nanoseconds: f64) -> Timing {
        Timing {
            min: self.min / nanoseconds,
            median: self.median / nanoseconds,
        }
    }
}

/// One of several ways to do the same work.
pub struct BenchCandidate<'a> {
    /// Its name in the report.
    pub name: String,
    /// Does all of the work once.
    pub run: Box<dyn FnMut() + 'a>,
}

impl<'a> BenchCandidate<'a> {
    /// A candidate.
    pub fn new(name: impl Into<String>, run: impl FnMut() + 'a) -> BenchCandidate<'a> {
        BenchCandidate {
            name: name.into(),
            run: Box::new(run),
        }
    }
}

impl fmt::Debug for BenchCandidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BenchCandidate").field(&self.name).finish()
    }
}

/// Runs every candidate in every round, so that a change of the machine's speed meets all of them.
/// Each is warm when it is timed, whichever ran before it. `units` is how many units of work
/// (points, compilations) one run does.
///
/// ```
/// use adumbra_cli::benchmarks::{BenchCandidate, time_round_robin};
/// let mut candidates = [
///     BenchCandidate::new("sum", || {
///         std::hint::black_box((0..1000_u64).map(std::hint::black_box).sum::<u64>());
///     }),
///     BenchCandidate::new("nothing", || {}),
/// ];
/// let samples = time_round_robin(&mut candidates, 5, 1000);
/// assert_eq!(samples[0].0, "sum");
/// assert!(samples[0].1.min <= samples[0].1.median);
/// ```
///
/// # Panics
/// If there are no rounds.
pub fn time_round_robin(
    contenders: &mut [BenchCandidate<'_>],
    rounds: usize,
    units: usize,
) -> Vec<(String, Timing)> {
    assert!(rounds > 0, "something is measured");
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = ThreadTime::now();
            while start.elapsed() < WARM_UP {
                (contender.run)();
            }
            let start = ThreadTime::now();
            (contender.run)();
            times.push(start.elapsed());
        }
    }
    contenders
        .iter()
        .zip(times)
        .map(|(contender, mut times)| {
            times.sort();
            let unit = |t: Duration| t.as_secs_f64() * 1e9 / units as f64;
            let sample = Timing {
                min: unit(times[0]),
                median: unit(times[times.len() / 2]),
            };
            (contender.name.clone(), sample)
        })
        .collect()
}

/// The least time of a contender.
///
/// # Panics
/// If it was not timed.
pub(super) fn least(samples: &[(String, Timing)], contender: &str) -> f64 {
    let found = samples.iter().find(|(name, _)| name == contender);
    found.expect("it was timed").1.min
}
