//! Sums of planes over points, as of the gradients of a batch: gigabytes of planes that are read in
//! a second, where the planes of a chunk have just been made. Beside it a loop that adds the
//! numbers of each plane in double precision, in an order that vectors like.

use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, time_round_robin};
use adumbra::batch::PlaneSums;
use std::hint::black_box;

/// Points of a chunk.
const CHUNK: usize = 512;
/// Chunks of a run.
const CHUNKS: usize = 256;
/// Planes that are summed.
const PLANES: [usize; 2] = [8, 64];
/// The least gigabytes that are read in a second.
const GIGABYTES: f64 = 8.0;

/// Measures the sums of few and of many planes.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    report.title("sums of planes, gigabytes a second");
    for count in PLANES {
        let planes: Vec<Vec<f32>> = (0..count)
            .map(|plane| {
                (0..CHUNK)
                    .map(|at| (at * count + plane) as f32 * 0.01)
                    .collect()
            })
            .collect();
        let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
        check(&slices);
        let mut candidates = [
            BenchCandidate::new("tree", || {
                black_box(tree(black_box(&slices)));
            }),
            BenchCandidate::new("loop", || {
                black_box(plain(black_box(&slices)));
            }),
        ];
        let samples = time_round_robin(&mut candidates, rounds, count * CHUNK * CHUNKS);
        // Four bytes a number; bytes a nanosecond are gigabytes a second.
        let [tree, plain] = [0, 1].map(|i| 4.0 / samples[i].1.min);
        let goal = Some(RatioGoal::AtLeast(GIGABYTES));
        report.ratio(format!("sums_of_{count}_gigabytes"), tree, goal);
        report.ratio(format!("sums_of_{count}_over_loop"), tree / plain, None);
    }
}

/// The sums of the planes in the order that all hosts have.
fn tree(planes: &[&[f32]]) -> Vec<f64> {
    let mut sums = PlaneSums::new(planes.len());
    for chunk in 0..CHUNKS {
        sums.add((chunk * CHUNK) as u64, planes);
    }
    sums.totals()
}

/// The same by a loop.
fn plain(planes: &[&[f32]]) -> Vec<f64> {
    let mut totals = vec![0.0; planes.len()];
    for _ in 0..CHUNKS {
        for (total, plane) in totals.iter_mut().zip(planes) {
            let mut sums = [0.0_f64; 16];
            for values in plane.as_chunks::<16>().0 {
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum += f64::from(value);
                }
            }
            *total += sums.iter().sum::<f64>();
        }
    }
    totals
}

/// Checks that both add up the same numbers.
///
/// # Panics
/// If they do not.
fn check(planes: &[&[f32]]) {
    for (tree, plain) in tree(planes).into_iter().zip(plain(planes)) {
        assert!((tree - plain).abs() <= 1e-9 * plain, "{tree} {plain}");
    }
}
