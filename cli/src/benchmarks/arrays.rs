//! Measures what an iteration reads in batches: an element of a local array, by one index for all
//! points and by an index of each point's own, or a number that follows from the counter.
//!
//! A shader that reads an element in each iteration is timed beside one that reads a variable. The
//! difference, by the number of iterations, is an access, its index included.

use super::engines::{add_batches, check_engines_agree, tier_suffix, tiers, vector_levels};
use super::programs::{Workload, grid, input_planes, output_planes, program};
use super::report::{BenchReport, RatioGoal};
use super::timing::{least, time_round_robin};
use adumbra::batch::SimdLevel;
use std::cell::RefCell;

/// Iterations of a point, too many to be unrolled.
const ITERATIONS: usize = 4096;

/// What the shaders read in an iteration: the name in reports, the expression, and the most
/// nanoseconds that an access is to take.
const READS: [(&str, &str, Option<f64>); 4] = [
    ("variable", "x", None),
    (COUNTER, "float(i * i + 3 * i)", None),
    ("uniform", "w[i & 31]", Some(0.5)),
    ("varying", "w[(i + k) & 31]", Some(2.0)),
];

/// What follows from the counter, which is the same for all points: it is computed once for all.
const COUNTER: &str = "counter";

/// A shader that reads this in each iteration.
fn workload(name: &'static str, read: &str) -> Workload {
    let source = format!(
        "shader reads(out float f)
{{
    float x = global_value<x>, w[32];
    int k = (int)(global_value<y> * 32.0);
    for (int j = 0; j < 32; ++j) w[j] = x * j;
    float sum = 0.0;
    for (int i = 0; i < {ITERATIONS}; ++i) sum = sum * 0.5 + {read};
    f = sum + w[k & 31];
}}
"
    );
    Workload {
        name,
        source,
        points: grid(256),
        dual_over_value: None,
    }
}

/// Checks and times the accesses.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    let workloads = READS.map(|(name, read, _)| workload(name, read));
    let points = &workloads[0].points;
    let planes = &input_planes(points);
    let out = &RefCell::new(output_planes(points.len()));
    let title =
        |name: &str, level: SimdLevel, suffix: &str| format!("array_{name}_{level}{suffix}");
    let mut candidates = Vec::new();
    for workload in &workloads {
        check_engines_agree(workload);
        let title = |level, suffix: &str| title(workload.name, level, suffix);
        let program = program(&workload.source, false);
        let levels = vector_levels();
        add_batches(
            &mut candidates,
            &program,
            points,
            (planes, out),
            levels,
            title,
        );
    }
    let samples = time_round_robin(&mut candidates, rounds, points.len() * ITERATIONS);
    report.title("iterations that read a variable or an element, nanoseconds");
    for (name, sample) in &samples {
        report.timing(name, "ns", *sample);
    }
    let of = |name, level, suffix| least(&samples, &title(name, level, suffix));
    for level in vector_levels() {
        for tier in tiers(level) {
            let suffix = tier_suffix(Some(tier));
            let without = of(READS[0].0, level, suffix);
            report.ratio(
                format!("counter_{level}_over_variable{suffix}"),
                of(COUNTER, level, suffix) / without,
                Some(RatioGoal::AtMost(1.1)),
            );
            for (name, _, most) in READS {
                let Some(most) = most else { continue };
                let access = of(name, level, suffix) - without;
                report.ratio(
                    format!("array_{name}_{level}_access_over_{most}_ns{suffix}"),
                    access / most,
                    Some(RatioGoal::AtMost(1.0)),
                );
            }
        }
    }
}
