//! The benchmark programs as they stand against the C limit.

use crate::c_reference::CDual;
use adumbra_cli::benchmarks::{RatioGoal, Workload, workloads};

/// One of them.
pub struct BenchCase {
    /// The program, and where it runs.
    pub workload: Workload,
    /// Its place in the tables of the C limit.
    pub index: usize,
    /// How results compare.
    pub likeness: Tolerance,
    /// Ours over C at one point, derivatives included.
    pub point: Option<RatioGoal>,
    /// Ours over C in batches at the same SIMD level: value alone, and with derivatives.
    pub batch: [Option<RatioGoal>; 2],
    /// Machine code over C at AVX2, both alike.
    pub native: Option<RatioGoal>,
    /// The same at one point.
    pub native_point: Option<RatioGoal>,
}

/// How near two ways to run a program are.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// How far a result may be away, relative to what is expected or to 1.
    pub tolerance: f32,
    /// The part of the points that must be as near as that.
    pub points: f64,
    /// Whether C with our algorithms has the bits of our values.
    pub bits: bool,
}

/// How the first 50 statements of W4 compare: of all 2,000 nothing but bits does.
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
            // Where a march ends a step earlier, or passes an edge, it is elsewhere.
            (
                Tolerance {
                    points: 0.97,
                    ..near(2e-3)
                },
                None,
                [2.0, 2.0],
            ),
            // The 2,000 statements are ill-conditioned on purpose: the bits must do, and the first 50 of them.
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
            let native = if workload.name == "w3" { 1.5 } else { 1.25 };
            BenchCase {
                workload,
                index,
                likeness,
                point: point.map(RatioGoal::AtMost),
                batch: batch.map(|goal| Some(RatioGoal::AtMost(goal))),
                native: Some(RatioGoal::AtMost(native)),
                native_point: Some(RatioGoal::AtMost(1.3)),
            }
        })
    }
}

impl Tolerance {
    /// Whether two results are as near.
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

    /// Panics unless enough of these results are as near to what is expected.
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
