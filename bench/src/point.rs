//! One point at a time: the point engine beside the C limit.

use crate::case::{Case, Likeness};
use crate::limit::{Dual, Point, points as builds};
use adumbra::bench::{Contender, Points, ROUNDS, Report, grid, program, race, w4};
use std::hint::black_box;

/// Checks and times W1 to W4.
pub fn run(report: &mut Report) {
    let limits = builds();
    if limits.is_empty() {
        report.notice("no C compiler was found, or this is a debug build: the C limit is skipped");
        return;
    }
    check_first50(&limits);
    for case in Case::all() {
        check(&case, &limits);
        time(&case, &limits, report);
    }
}

fn check(case: &Case, limits: &[Point]) {
    let mut ours = Points::new(&program(&case.workload.shader, true));
    let points = || case.workload.points.iter().step_by(97);
    let expected: Vec<Dual> = points().map(|point| ours.run(point)).collect();
    for limit in limits {
        let c = &limit.table.programs[case.index];
        let dual = |point| {
            let mut dual = Dual::default();
            (c.dual)(point, &mut dual);
            dual
        };
        let pairs = points().map(dual).zip(expected.iter().copied());
        let what = format!("{}, {} {}", case.workload.name, limit.compiler, limit.maths);
        case.likeness.hold(&what, pairs);
        if limit.maths == "equal" && case.likeness.bits {
            for (point, expected) in points().zip(&expected) {
                let value = (c.value)(point);
                let same = value.to_bits() == expected.value.to_bits();
                assert!(same, "{what}: {value} at {point:?}, not {expected:?}");
            }
        }
    }
}

/// Of W4 only the first 50 statements can be checked by tolerance.
fn check_first50(limits: &[Point]) {
    let mut ours = Points::new(&program(&w4(50), true));
    let first50 = Likeness {
        tolerance: 2e-3,
        points: 1.0,
        bits: false,
    };
    for limit in limits {
        let pairs = grid(97).into_iter().map(|point| {
            let mut c = Dual::default();
            (limit.table.first50)(&point, &mut c);
            (c, ours.run(&point))
        });
        first50.hold(limit.compiler, pairs);
    }
}

fn time(case: &Case, limits: &[Point], report: &mut Report) {
    let (name, points) = (case.workload.name, &case.workload.points);
    let mut ours = Points::new(&program(&case.workload.shader, true));
    let mut contenders = vec![Contender::new("point", || {
        points.iter().for_each(|p| {
            black_box(ours.run(p));
        });
    })];
    for limit in limits {
        let f = limit.table.programs[case.index].dual;
        let title = format!("c_{}_{}", limit.maths, limit.compiler);
        contenders.push(Contender::new(title, move || {
            let mut out = Dual::default();
            for point in points {
                f(point, &mut out);
                black_box(&out);
            }
        }));
    }
    let samples = race(&mut contenders, ROUNDS, points.len());
    report.title(format!(
        "{name}: one point at a time with derivatives, nanoseconds a point"
    ));
    for (contender, sample) in &samples {
        report.figure(format!("{name}_point_dual_{contender}"), "ns", *sample);
    }
    let ours = samples[0].1.min;
    for (prefix, key, goal) in [
        ("c_equal_", "c_dual", case.point),
        ("c_cheap_", "c_cheap_dual", None),
    ] {
        let builds = samples.iter().filter(|(n, _)| n.starts_with(prefix));
        if let Some(best) = builds.map(|(_, s)| s.min).min_by(f64::total_cmp) {
            report.ratio(format!("{name}_point_dual_over_{key}"), ours / best, goal);
        }
    }
}
