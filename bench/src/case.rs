//! Benchmark cases: the programs W1 to W4, with their tolerances and their goals against the C
//! reference.

use crate::c_reference::CDual;
use adumbra_cli::benchmarks::{RatioGoal, Workload, workloads};

/// A benchmark case.
pub struct BenchCase {
    /// The program, and its points.
    pub workload: Workload,
    /// Its index in the tables of the C reference.
    pub index: usize,
    /// The tolerance of its results.
    pub likeness: Tolerance,
    /// The goal for ours over C at one point, derivatives included.
    pub point: Option<RatioGoal>,
    /// The goals for ours over C in batches at the same SIMD level: value alone, and with
    /// derivatives.
    pub batch: [Option<RatioGoal>; 2],
    /// The goals for machine code over C in batches at the same SIMD level: value alone, and with
    /// derivatives.
    pub native: [RatioGoal; 2],
    /// The goal for machine code over C at one point.
    pub native_point: Option<RatioGoal>,
}

/// The required agreement of two ways to run a program.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// The largest distance of a result, relative to the expected one or to 1.
    pub tolerance: f32,
    /// The fraction of the points that must be within it.
    pub points: f64,
    /// Whether C with our algorithms has the bits of our values.
    pub bits: bool,
}

/// The tolerance of the first 50 statements of W4: all 2,000 compare by bits only.
pub const FIRST50: Tolerance = Tolerance {
    tolerance: 2e-3,
    points: 1.0,
    bits: false,
};

impl BenchCase {
    /// W1 to W4.
    pub fn all() -> [BenchCase; 4] {
        let near = |tolerance| Tolerance {
            tolerance,
            points: 1.0,
            bits: false,
        };
        let how = [
            (
                Tolerance {
                    bits: true,
                    ..near(1e-5)
                },
                Some(3.3),
                [1.5, 1.8],
            ),
            (near(1e-4), None, [1.5, 1.8]),
            // Where a march ends a step earlier, or passes an edge, the result is elsewhere.
            (
                Tolerance {
                    points: 0.97,
                    ..near(2e-3)
                },
                None,
                [2.0, 2.0],
            ),
            // The 2,000 statements are ill-conditioned on purpose: their bits are compared, and the
            // first 50 of them.
            (
                Tolerance {
                    bits: true,
                    points: 0.0,
                    ..near(0.0)
                },
                Some(3.0),
                [1.25, 1.25],
            ),
        ];
        let mut index = 0..;
        let cases = workloads().map(|workload| (workload, index.next().expect("there are more")));
        cases.map(|(workload, index)| {
            let (likeness, point, batch) = how[index];
            let native = [[1.2, 1.4], [1.2, 1.8], [1.5, 2.0], [1.0, 1.1]][index];
            BenchCase {
                workload,
                index,
                likeness,
                point: point.map(RatioGoal::AtMost),
                batch: batch.map(|goal| Some(RatioGoal::AtMost(goal))),
                native: native.map(RatioGoal::AtMost),
                native_point: Some(RatioGoal::AtMost(1.3)),
            }
        })
    }
}

impl Tolerance {
    /// Whether two results are within tolerance.
    pub fn near(self, found: CDual, expected: CDual) -> bool {
        let pairs = [
            (found.value, expected.value),
            (found.ddx, expected.ddx),
            (found.ddy, expected.ddy),
        ];
        pairs.iter().all(|(found, expected)| {
            (found - expected).abs() <= self.tolerance * expected.abs().max(1.0)
        })
    }

    /// Panics unless enough of these results are within tolerance.
    pub fn hold(self, what: &str, results: impl Iterator<Item = (CDual, CDual)>) {
        let (mut all, mut far, mut example) = (0, 0, None);
        for (found, expected) in results {
            all += 1;
            if !self.near(found, expected) {
                far += 1;
                example = Some((found, expected));
            }
        }
        assert!(
            f64::from(all - far) >= self.points * f64::from(all),
            "{what}: {far} of {all} points are far from ours, such as {example:?}"
        );
    }
}
