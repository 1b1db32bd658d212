//! Seeds on all processors.
//!
//! The number of threads changes neither the counts nor the failure that is found. Counts are
//! joined. The failure with the least seed is given, since no thread leaves out a seed below one.

use std::ops::{AddAssign, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

/// Checks seeds in order, with a thread for each processor, up to the first failure.
///
/// Gives the counts, added to `nothing` and without that seed, and the failure.
pub fn check_seeds<T: Clone + AddAssign + Send + Sync>(
    seeds: Range<u64>,
    nothing: &T,
    check: impl Fn(u64, &mut T) -> Result<(), String> + Sync,
) -> (T, Option<String>) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    check_with(threads, seeds, nothing, check)
}

fn check_with<T: Clone + AddAssign + Send + Sync>(
    threads: usize,
    seeds: Range<u64>,
    nothing: &T,
    check: impl Fn(u64, &mut T) -> Result<(), String> + Sync,
) -> (T, Option<String>) {
    let next = AtomicU64::new(seeds.start);
    // The least seed that something was found at.
    let end = AtomicU64::new(seeds.end);
    let work = || {
        let mut count = nothing.clone();
        let mut failure = None;
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= end.load(Relaxed) {
                return (count, failure);
            }
            // What is run to shrink a failure does not count.
            let before = count.clone();
            if let Err(what) = check(seed, &mut count) {
                count = before;
                end.fetch_min(seed, Relaxed);
                failure = Some((seed, what));
            }
        }
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut count = nothing.clone();
        let mut failure: Option<(u64, String)> = None;
        for one in all {
            let (counted, found) = one.join().expect("checks do not panic");
            count += counted;
            failure = match (failure, found) {
                (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        (
            count,
            failure.map(|(seed, what)| format!("seed {seed}: {what}")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Seen(Vec<u64>);

    impl AddAssign for Seen {
        fn add_assign(&mut self, other: Seen) {
            self.0.extend(other.0);
        }
    }

    fn sorted(mut seen: Seen) -> Vec<u64> {
        seen.0.sort_unstable();
        seen.0
    }

    #[test]
    fn thread_count_changes_no_result() {
        for threads in [1, 2, 7] {
            let nothing = Seen::default();
            let (seen, failure) = check_with(threads, 5..300, &nothing, |seed, seen| {
                seen.0.push(seed);
                Ok(())
            });
            assert_eq!(sorted(seen), (5..300).collect::<Vec<u64>>());
            assert_eq!(failure, None);

            let (seen, failure) = check_with(threads, 0..1_000, &nothing, |seed, seen| {
                seen.0.push(seed);
                match seed {
                    90.. if seed % 3 == 0 => Err(String::from("a multiple of 3")),
                    _ => Ok(()),
                }
            });
            let seen = sorted(seen);
            assert_eq!(seen[..90], (0..90).collect::<Vec<u64>>());
            assert!(!seen.contains(&90));
            assert_eq!(failure, Some(String::from("seed 90: a multiple of 3")));
        }
    }

    #[test]
    fn empty_seed_range_runs_no_check() {
        let (seen, failure) = check_seeds(3..3, &Seen(vec![9]), |_, _| Err(String::from("run")));
        assert!(seen.0.iter().all(|&seed| seed == 9) && failure.is_none());
    }
}
