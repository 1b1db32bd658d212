//! Statistics of restarts: how many succeed, and how long success takes.
//!
//! A restart succeeds if its loss without noise is below twice the least that is known for the
//! program, by whatever method.

use crate::random::CounterStream;
use crate::restart::RestartRecord;

/// A success is below this multiple of the least loss.
const SUCCESS_FACTOR: f64 = 2.0;
/// The 97.5 % quantile of the normal distribution: an interval of 95 %.
const Z_95: f64 = 1.959_963_984_540_054;
/// Runs that are drawn for the expected time.
const RESAMPLES: usize = 10_000;

/// Whether a loss is a success. The least loss itself is one, 0 included.
pub fn is_success(loss: f64, least: f64) -> bool {
    loss < SUCCESS_FACTOR * least || loss <= least
}

/// Success of the restarts of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct SuccessStatistics {
    /// The number of restarts.
    pub restarts: usize,
    /// Those that succeeded.
    pub successes: usize,
    /// Their share; 0 of none.
    pub rate: f64,
    /// The interval of 95 % of the rate.
    pub interval: [f64; 2],
    /// The median of the seconds until success, of those that succeeded.
    pub median_s: Option<f64>,
    /// The mean of the seconds until success, if restarts are drawn with replacement until one
    /// succeeds.
    pub expected_s: Option<f64>,
}

impl SuccessStatistics {
    /// Statistics of restarts, against the least loss of any method. Draws come from the seed.
    pub fn new<'a>(
        records: impl IntoIterator<Item = &'a RestartRecord>,
        least: f64,
        random_seed: u64,
    ) -> SuccessStatistics {
        let times = |record: &RestartRecord| RestartTimes {
            success_s: success_seconds(record, least),
            total_s: record.cpu_s,
        };
        let times: Vec<RestartTimes> = records.into_iter().map(times).collect();
        let seconds = times.iter().filter_map(|times| times.success_s);
        let mut seconds: Vec<f64> = seconds.collect();
        seconds.sort_by(f64::total_cmp);
        let rate = seconds.len() as f64 / times.len().max(1) as f64;
        SuccessStatistics {
            restarts: times.len(),
            successes: seconds.len(),
            rate,
            interval: wilson_interval(seconds.len(), times.len()),
            median_s: median(&seconds),
            expected_s: expected_seconds(&times, random_seed),
        }
    }
}

/// Seconds until the first point of the trace that is a success.
fn success_seconds(record: &RestartRecord, least: f64) -> Option<f64> {
    let mut points = record.trace.iter();
    let point = points.find(|point| is_success(point.loss, least))?;
    Some(point.cpu_s)
}

/// The median of sorted numbers.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(0.5 * (lower + upper))
}

/// The interval of 95 % of a rate (Wilson 1927); [0, 1] of nothing.
///
/// ```
/// let [low, high] = adumbra_fit::wilson_interval(37, 100);
/// assert!((low - 0.2818).abs() < 1e-4 && (high - 0.4678).abs() < 1e-4);
/// ```
pub fn wilson_interval(successes: usize, count: usize) -> [f64; 2] {
    if count == 0 {
        return [0.0, 1.0];
    }
    let (n, rate) = (count as f64, successes as f64 / count as f64);
    let square = Z_95 * Z_95;
    let centre = rate + square / (2.0 * n);
    let half = Z_95 * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt();
    let ends = [centre - half, centre + half];
    ends.map(|end| (end / (1.0 + square / n)).clamp(0.0, 1.0))
}

/// How long a restart took.
struct RestartTimes {
    /// Until success; none if it failed.
    success_s: Option<f64>,
    /// Until its end.
    total_s: f64,
}

/// The mean time of runs that draw restarts with replacement until one succeeds: those that fail
/// count whole, the last until its success. None if none succeeds.
fn expected_seconds(times: &[RestartTimes], random_seed: u64) -> Option<f64> {
    times.iter().find(|times| times.success_s.is_some())?;
    let stream = CounterStream::new(random_seed, &[]);
    let mut number = 0;
    let mut sum = 0.0;
    for _ in 0..RESAMPLES {
        loop {
            let at = (stream.unit(number) * times.len() as f64) as usize;
            number += 1;
            let drawn = &times[at.min(times.len() - 1)];
            sum += drawn.success_s.unwrap_or(drawn.total_s);
            if drawn.success_s.is_some() {
                break;
            }
        }
    }
    Some(sum / RESAMPLES as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::TracePoint;

    fn record(restart: usize, losses: &[f64]) -> RestartRecord {
        let points = losses.iter().enumerate().map(|(at, &loss)| TracePoint {
            iteration: at * 44,
            loss,
            cpu_s: at as f64,
            values: Vec::new(),
        });
        RestartRecord {
            restart,
            loss: losses.iter().copied().fold(f64::INFINITY, f64::min),
            values: Vec::new(),
            iterations: (losses.len() - 1) * 44,
            cpu_s: losses.len() as f64 - 1.0,
            non_finite: 0,
            still: 0,
            trace: points.collect(),
        }
    }

    #[test]
    fn success_is_below_twice_the_least() {
        assert!(is_success(1.99, 1.0) && !is_success(2.0, 1.0));
        assert!(is_success(0.0, 0.0) && !is_success(1e-30, 0.0));
        assert!(!is_success(f64::NAN, 1.0));
    }

    /// One of four succeeds, after 2 s of 3; the others take 3 s: on average three of them precede.
    #[test]
    fn times_until_success_are_estimated() {
        let fails = [9.0, 8.0, 7.0, 6.0];
        let records = [
            record(0, &fails),
            record(1, &[9.0, 5.0, 1.0, 1.5]),
            record(2, &fails),
            record(3, &fails),
        ];
        let statistics = SuccessStatistics::new(&records, 1.0, 5);
        assert_eq!((statistics.restarts, statistics.successes), (4, 1));
        assert_eq!((statistics.rate, statistics.median_s), (0.25, Some(2.0)));
        let expected = statistics.expected_s.unwrap();
        // The standard error is 3·√12/100.
        assert!((expected - 11.0).abs() < 4.0 * 0.104, "{expected}");
        assert_eq!(SuccessStatistics::new(&records, 1.0, 5), statistics);
    }

    #[test]
    fn failed_restarts_have_no_times() {
        let statistics = SuccessStatistics::new(&[record(0, &[9.0, 3.0])], 1.0, 0);
        assert_eq!((statistics.median_s, statistics.expected_s), (None, None));
        let none = SuccessStatistics::new(&[], 1.0, 0);
        assert_eq!((none.rate, none.interval), (0.0, [0.0, 1.0]));
    }

    #[test]
    fn intervals_stay_within_bounds() {
        let [low, high] = wilson_interval(0, 10);
        assert!(low.abs() < 1e-12 && (high - 0.2775).abs() < 1e-4);
        let [low, high] = wilson_interval(10, 10);
        assert!((low - 0.7225).abs() < 1e-4 && (high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn median_of_even_counts_is_between() {
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median(&[1.0, 2.0, 4.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}
