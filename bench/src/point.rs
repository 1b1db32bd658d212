//! Point benchmark: the point engine and machine code beside the C reference, one point at a time.

use crate::c_reference::{CDual, CPoint, points as builds};
use crate::case::{BenchCase, FIRST50};
use adumbra::evaluator::Engine;
use adumbra_cli::benchmarks::{
    BenchCandidate, BenchReport, PointRunner, ROUNDS, grid, point_engines, program, tier_suffix,
    time_round_robin, w4,
};
use std::hint::black_box;

/// Checks and times W1 to W4.
pub fn run(report: &mut BenchReport) {
    let references = builds();
    if references.is_empty() {
        report
            .note("no C compiler was found, or this is a debug build: the C reference is skipped");
        return;
    }
    check_first50(&references);
    for case in BenchCase::all() {
        check(&case, &references);
        for shadows in [false, true] {
            time(&case, &references, shadows, report);
        }
    }
}

fn check(case: &BenchCase, references: &[CPoint]) {
    let mut ours = PointRunner::new(&program(&case.workload.source, true), Engine::Point);
    let points = || case.workload.points.iter().step_by(97);
    let expected: Vec<CDual> = points().map(|point| ours.at(point)).collect();
    for reference in references {
        let c = &reference.table.programs[case.index];
        let dual = |point| {
            let mut dual = CDual::default();
            (c.dual)(point, &mut dual);
            dual
        };
        let pairs = points().map(dual).zip(expected.iter().copied());
        let what = format!(
            "{}, {} {}",
            case.workload.name, reference.compiler, reference.maths
        );
        case.likeness.hold(&what, pairs);
        if reference.maths == "equal" && case.likeness.bits {
            for (point, expected) in points().zip(&expected) {
                let value = (c.value)(point);
                let same = value.to_bits() == expected.value.to_bits();
                assert!(same, "{what}: {value} at {point:?}, not {expected:?}");
            }
        }
    }
}

/// Of W4 only the first 50 statements can be checked by tolerance.
fn check_first50(references: &[CPoint]) {
    let mut ours = PointRunner::new(&program(&w4(50), true), Engine::Point);
    for reference in references {
        let pairs = grid(97).into_iter().map(|point| {
            let mut c = CDual::default();
            (reference.table.first50)(&point, &mut c);
            (c, ours.at(&point))
        });
        FIRST50.hold(reference.compiler, pairs);
    }
}

fn time(case: &BenchCase, references: &[CPoint], shadows: bool, report: &mut BenchReport) {
    let (name, points) = (case.workload.name, &case.workload.points);
    let program = program(&case.workload.source, shadows);
    let mut candidates = Vec::new();
    for engine in point_engines() {
        let mut ours = PointRunner::new(&program, engine);
        let title = format!("point{}", tier_suffix(engine.tier()));
        candidates.push(BenchCandidate::new(title, move || {
            points.iter().for_each(|p| ours.run(p));
        }));
    }
    for reference in references {
        let c = &reference.table.programs[case.index];
        let title = format!("c_{}_{}", reference.maths, reference.compiler);
        candidates.push(BenchCandidate::new(title, move || match shadows {
            true => {
                let mut out = CDual::default();
                for point in points {
                    (c.dual)(point, &mut out);
                    black_box(&out);
                }
            }
            false => points.iter().for_each(|point| {
                black_box((c.value)(point));
            }),
        }));
    }
    let samples = time_round_robin(&mut candidates, ROUNDS, points.len());
    let what = if shadows { "dual" } else { "value" };
    report.title(format!(
        "{name}: {what} of one point at a time, nanoseconds a point"
    ));
    for (candidate, sample) in &samples {
        report.timing(format!("{name}_point_{what}_{candidate}"), "ns", *sample);
    }
    for ((candidate, ours), engine) in samples.iter().zip(point_engines()) {
        let goal = match engine {
            Engine::Native => case.native_point,
            _ if shadows => case.point,
            _ => None,
        };
        for (prefix, key, goal) in [("c_equal_", "c", goal), ("c_cheap_", "c_cheap", None)] {
            let builds = samples.iter().filter(|(n, _)| n.starts_with(prefix));
            if let Some(best) = builds.map(|(_, s)| s.min).min_by(f64::total_cmp) {
                let ratio = format!("{name}_{candidate}_{what}_over_{key}_{what}");
                report.ratio(ratio, ours.min / best, goal);
            }
        }
    }
}
