//! Batch benchmark: the batch engine and the C reference over many points, at each SIMD level.

use crate::c_reference::{CBatch, CDual, batches};
use crate::case::{BenchCase, FIRST50};
use adumbra::{
    batch::{SimdLevel, Tier},
    evaluator::Engine,
};
use adumbra_cli::benchmarks::{
    BatchRunner, BenchCandidate, BenchReport, PointRunner, ROUNDS, grid, input_planes,
    output_planes, program, tiers, time_round_robin, w4,
};
use std::cell::RefCell;
use std::hint::black_box;

/// Checks and times W1 to W4.
pub fn run(report: &mut BenchReport) {
    let references = batches();
    check_first50(&references);
    for case in BenchCase::all() {
        for level in SimdLevel::available() {
            let references: Vec<&CBatch> = references
                .iter()
                .filter(|c| c.level == level.name())
                .collect();
            if references.is_empty() {
                continue;
            }
            for shadows in [false, true] {
                check(&case, &references, level, shadows);
                time(&case, &references, level, shadows, report);
            }
        }
    }
}

/// The results of the C reference at a point.
fn at([values, ddx, ddy]: &[Vec<f32>; 3], point: usize) -> CDual {
    CDual {
        value: values[point],
        ddx: ddx[point],
        ddy: ddy[point],
    }
}

/// Checks that all points are within tolerance of ours. Ours were compared with the point engine
/// before.
fn check(case: &BenchCase, references: &[&CBatch], level: SimdLevel, shadows: bool) {
    let points = &case.workload.points;
    let planes = input_planes(points);
    let interpreter = Tier::Interpreter;
    let program = program(&case.workload.source, shadows);
    let mut ours = BatchRunner::new(&program, level, interpreter, points);
    ours.run();
    for reference in references {
        let mut out = output_planes(points.len());
        reference.run(case.index, shadows, &planes, &mut out);
        let name = case.workload.name;
        let what = format!("{name}, {} {} {level}", reference.compiler, reference.maths);
        let pairs = (0..points.len()).map(|i| (at(&out, i), ours.at(i)));
        case.likeness.hold(&what, pairs);
        if shadows && reference.has_forward(case.index) {
            let mut out = output_planes(points.len());
            reference.run_forward(case.index, &planes, &mut out);
            let pairs = (0..points.len()).map(|i| (at(&out, i), ours.at(i)));
            case.likeness.hold(&format!("{what} forward"), pairs);
        }
        if reference.maths == "equal" && case.likeness.bits && !shadows {
            for (i, value) in out[0].iter().enumerate() {
                let same = value.to_bits() == ours.at(i).value.to_bits();
                assert!(same, "{what}: {value} at point {i}, not {:?}", ours.at(i));
            }
        }
    }
}

/// Of W4's shadows only those of the first 50 statements can be checked, by tolerance.
fn check_first50(references: &[CBatch]) {
    let points = grid(16);
    let planes = input_planes(&points);
    let mut ours = PointRunner::new(&program(&w4(50), true), Engine::Point);
    let expected: Vec<CDual> = points.iter().map(|point| ours.at(point)).collect();
    for reference in references {
        let mut out = output_planes(points.len());
        reference.run_first50(&planes, &mut out);
        let pairs = (expected.iter().enumerate()).map(|(i, &expected)| (at(&out, i), expected));
        FIRST50.hold(reference.compiler, pairs);
    }
}

fn time(
    case: &BenchCase,
    references: &[&CBatch],
    level: SimdLevel,
    shadows: bool,
    report: &mut BenchReport,
) {
    let points = &case.workload.points;
    // The same for all: a candidate that allocated its own memory would wait for it.
    let (planes, out) = (
        &input_planes(points),
        &RefCell::new(output_planes(points.len())),
    );
    let program = program(&case.workload.source, shadows);
    let mut candidates = Vec::new();
    for tier in tiers(level) {
        let mut ours = BatchRunner::new(&program, level, tier, points);
        let title = tier_name(tier);
        candidates.push(BenchCandidate::new(title, move || {
            ours.run_on(planes, &mut out.borrow_mut());
        }));
    }
    for reference in references {
        let title = format!(
            "c_{}_{}_{}",
            reference.maths, reference.compiler, reference.interleave
        );
        candidates.push(BenchCandidate::new(title, move || {
            reference.run(case.index, shadows, planes, &mut out.borrow_mut());
            black_box(out);
        }));
        if shadows && reference.maths == "equal" && reference.has_forward(case.index) {
            let title = format!("c_forward_{}_{}", reference.compiler, reference.interleave);
            candidates.push(BenchCandidate::new(title, move || {
                reference.run_forward(case.index, planes, &mut out.borrow_mut());
                black_box(out);
            }));
        }
    }
    let samples = time_round_robin(&mut candidates, ROUNDS, points.len());
    let what = if shadows { "dual" } else { "value" };
    let name = case.workload.name;
    report.title(format!(
        "{name}: {what} of many points at {level}, nanoseconds a point (C: algorithms, compiler, vectors interleaved)"
    ));
    for (candidate, sample) in &samples {
        report.timing(format!("{name}_{level}_{what}_{candidate}"), "ns", *sample);
    }
    let best = |prefix: &str| {
        let builds = samples.iter().filter(|(n, _)| n.starts_with(prefix));
        builds.map(|(_, s)| s.min).min_by(f64::total_cmp)
    };
    for (ours, tier) in samples.iter().zip(tiers(level)) {
        let goal = match tier {
            Tier::Interpreter => case.batch[usize::from(shadows)],
            Tier::Native => Some(case.native[usize::from(shadows)]),
            Tier::Auto => None,
        };
        let keys = [
            ("c_equal_", "c", goal),
            ("c_cheap_", "c_cheap", None),
            ("c_forward_", "c_forward", None),
        ];
        for (prefix, key, goal) in keys {
            if let Some(best) = best(prefix) {
                report.ratio(
                    format!("{name}_{level}_{what}_{}_over_{key}", tier_name(tier)),
                    ours.1.min / best,
                    goal,
                );
            }
        }
    }
}

/// The name in candidates and ratios.
fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Interpreter => "batch",
        Tier::Native => "native",
        Tier::Auto => "auto",
    }
}
