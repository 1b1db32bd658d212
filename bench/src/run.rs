//! Run time: the point engine beside the C limit and num-dual.

use crate::clock::{Contender, ROUNDS, Sample, race};
use crate::limit::{Dual, DualFn, Limit, builds};
use crate::peers;
use crate::report::Report;
use crate::workload::{self, Engine, W1};
use std::hint::black_box;

/// W4 has 2,000 statements; a sixteenth of the grid tells as much as all of it.
const W4_STEP: usize = 16;

/// A peer's way to run a program at one point.
type Peer<'a> = dyn Fn(&[Dual; 2]) -> Dual + 'a;

/// One benchmark program, with everybody's way to run it.
struct Program<'a> {
    name: &'static str,
    shader: String,
    points: Vec<[Dual; 2]>,
    peer: Box<Peer<'a>>,
    c: fn(&Limit) -> DualFn,
    /// The greatest ratio of ours to C with the same algorithms.
    goal: f64,
}

/// Checks and times W1 and W4.
pub fn run(report: &mut Report) {
    let limits = builds();
    if limits.is_empty() {
        report.notice("no C compiler was found: the C limit is skipped");
    }
    let w4 = peers::W4::new(include_str!("../data/w4.txt"));
    check_first50(&limits);
    let programs = [
        Program {
            name: "w1",
            shader: W1.to_string(),
            points: workload::points(1),
            peer: Box::new(peers::w1),
            c: |limit| limit.w1_dual,
            goal: 3.3,
        },
        Program {
            name: "w4",
            shader: workload::w4(2000),
            points: workload::points(W4_STEP),
            peer: Box::new(|point| w4.run(point)),
            c: |limit| limit.w4_dual,
            goal: 3.0,
        },
    ];
    for program in &programs {
        check(program, &limits);
        time(program, &limits, report);
    }
}

/// Panics unless two results agree within a relative or absolute tolerance.
fn assert_close(what: &str, point: &[Dual; 2], found: Dual, expected: Dual, tolerance: f32) {
    for (found, expected) in [
        (found.v, expected.v),
        (found.x, expected.x),
        (found.y, expected.y),
    ] {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{what} gives {found} where {expected} is expected, at {point:?}"
        );
    }
}

/// W1 by everybody at every point; W4 by nobody but C of the same algorithms, whose value has our bits.
fn check(program: &Program<'_>, limits: &[Limit]) {
    let mut engine = Engine::new(&workload::program(&program.shader, true));
    for point in program.points.iter().step_by(97) {
        let ours = engine.run(point);
        if program.name == "w1" {
            assert_close("num-dual", point, (program.peer)(point), ours, 1e-5);
        }
        for limit in limits {
            let mut c = Dual::default();
            (program.c)(limit)(point, &mut c);
            if program.name == "w1" {
                assert_close(limit.compiler, point, c, ours, 1e-5);
            }
            if limit.maths == "equal" {
                let value = match program.name {
                    "w1" => (limit.w1_value)(point),
                    _ => (limit.w4_value)(point),
                };
                assert!(
                    value.to_bits() == ours.v.to_bits(),
                    "{}: {} has {value}, ours is {}",
                    program.name,
                    limit.compiler,
                    ours.v
                );
            }
        }
    }
}

/// The 2,000 statements are ill-conditioned on purpose; by tolerance only the first 50 can be checked.
fn check_first50(limits: &[Limit]) {
    let mut engine = Engine::new(&workload::program(&workload::w4(50), true));
    for point in workload::points(97) {
        let ours = engine.run(&point);
        for limit in limits {
            let mut c = Dual::default();
            (limit.w4_first50)(&point, &mut c);
            assert_close(limit.compiler, &point, c, ours, 2e-3);
        }
    }
}

fn time(program: &Program<'_>, limits: &[Limit], report: &mut Report) {
    let name = program.name;
    let points = &program.points;
    let mut dual = Engine::new(&workload::program(&program.shader, true));
    let mut value = Engine::new(&workload::program(&program.shader, false));
    let peer = &program.peer;
    let mut contenders = vec![
        Contender::new("point_value", || {
            points.iter().for_each(|p| {
                black_box(value.run(p));
            });
        }),
        Contender::new("point_dual", || {
            points.iter().for_each(|p| {
                black_box(dual.run(p));
            });
        }),
        Contender::new("num_dual", || {
            points.iter().for_each(|p| {
                black_box(peer(p));
            });
        }),
    ];
    for limit in limits {
        let f = (program.c)(limit);
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
    report.title(format!("{name}: one point at a time, nanoseconds a point"));
    for (contender, sample) in &samples {
        report.figure(format!("{name}_{contender}"), "ns", *sample);
    }
    let of = |name: &str| samples.iter().find(|(n, _)| n == name).map(|(_, s)| *s);
    let ours = of("point_dual").expect("it was timed");
    let best = |maths: &str| {
        let prefix = format!("c_{maths}_");
        let builds = samples.iter().filter(|(n, _)| n.starts_with(&prefix));
        builds
            .map(|(_, s)| *s)
            .min_by(|a, b| a.min.total_cmp(&b.min))
    };
    let mut ratio = |other: &str, sample: Option<Sample>, goal| {
        if let Some(sample) = sample {
            let key = format!("{name}_point_dual_over_{other}");
            report.ratio(key, ours.min / sample.min, goal);
        }
    };
    ratio("c_dual", best("equal"), Some(program.goal));
    ratio("c_dual_cheap", best("cheap"), None);
    ratio("point_value", of("point_value"), None);
    ratio("num_dual", of("num_dual"), None);
}
