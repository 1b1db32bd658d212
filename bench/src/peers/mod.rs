//! What people would reach for instead: crates with automatic differentiation of their own.

mod fidget;
mod num_dual;

use crate::case::Likeness;
use crate::limit::Dual;
use adumbra::bench::{
    Batches, Contender, Goal, Pixel, Points, ROUNDS, Report, Sample, planes, program, race,
    w4 as shader, workloads,
};
use adumbra::{Engine, SimdLevel, Tier};
use fidget::Gradients;
use fidget_core::vm::VmFunction;
use fidget_jit::JitFunction;
use std::hint::black_box;

/// Points between two that are compared.
const STEP: usize = 97;

/// W1 beside num-dual, W4 beside num-dual and fidget, all of them with both derivatives. Ours runs at AVX2, as fidget's JIT does.
pub fn run(report: &mut Report) {
    let level = SimdLevel::Avx2;
    if !level.is_available() {
        report.notice("peers are compared at AVX2 alone, which this processor lacks");
        return;
    }
    check();
    let [w1, _, _, w4] = workloads();

    let mut ours = Batches::new(
        &program(&w1.shader, true),
        level,
        Tier::Interpreter,
        &w1.points,
    );
    let mut contenders = [
        Contender::new("batch", || ours.run()),
        Contender::new("num_dual", || {
            for point in &w1.points {
                black_box(num_dual::w1(point));
            }
        }),
    ];
    let goals = [("num_dual", Some(Goal::AtLeast(15.0)))];
    compare("w1", &mut contenders, w1.points.len(), &goals, report);

    let mut ours = Batches::new(
        &program(&w4.shader, true),
        level,
        Tier::Interpreter,
        &w4.points,
    );
    let by_num_dual = num_dual::W4::new(w4_statements().len());
    let planes = planes(&w4.points);
    let mut vm = Gradients::<VmFunction>::w4(w4_statements().len(), &planes);
    let mut jit = Gradients::<JitFunction>::w4(w4_statements().len(), &planes);
    let mut coded = Batches::new(&program(&w4.shader, true), level, Tier::Native, &w4.points);
    let mut contenders = [
        Contender::new("batch", || ours.run()),
        Contender::new("num_dual", || {
            for point in &w4.points {
                black_box(by_num_dual.run(point));
            }
        }),
        Contender::new("fidget_vm", || vm.run()),
        Contender::new("fidget_jit", || jit.run()),
        Contender::new("native", || coded.run()),
    ];
    let goals = [
        ("num_dual", None),
        ("fidget_vm", Some(Goal::AtLeast(7.0))),
        ("fidget_jit", Some(Goal::AtLeast(18.0))),
    ];
    let samples = compare("w4", &mut contenders, w4.points.len(), &goals, report);
    let ratio = least(&samples, "fidget_jit") / least(&samples, "native");
    report.ratio(
        "w4_fidget_jit_over_native",
        ratio,
        Some(Goal::AtLeast(18.0)),
    );
}

/// Races peers against ours, the first contender.
fn compare(
    name: &str,
    contenders: &mut [Contender<'_>],
    points: usize,
    goals: &[(&str, Option<Goal>)],
    report: &mut Report,
) -> Vec<(String, Sample)> {
    let samples = race(contenders, ROUNDS, points);
    report.title(format!(
        "{name}: peers beside ours at AVX2, with both derivatives, nanoseconds a point"
    ));
    for (contender, sample) in &samples {
        report.figure(format!("{name}_peers_{contender}"), "ns", *sample);
    }
    for &(peer, goal) in goals {
        let ratio = least(&samples, peer) / samples[0].1.min;
        report.ratio(format!("{name}_{peer}_over_batch"), ratio, goal);
    }
    samples
}

/// The least time of a contender.
fn least(samples: &[(String, Sample)], name: &str) -> f64 {
    let own = samples.iter().find(|(other, _)| other == name);
    own.expect("it ran").1.min
}

/// Peers agree with ours on W1 and on the first 50 statements of W4: all of them are ill-conditioned on purpose.
fn check() {
    let [w1, _, _, w4] = workloads();
    let near = |tolerance| Likeness {
        tolerance,
        points: 1.0,
        bits: false,
    };
    let some = |points: &[Pixel]| points.iter().copied().step_by(STEP).collect::<Vec<_>>();
    let points = some(&w1.points);
    let mut ours = Points::new(&program(&w1.shader, true), Engine::Point);
    let pairs = points.iter().map(|p| (num_dual::w1(p), ours.at(p)));
    near(1e-5).hold("num-dual on w1", pairs);

    let points = some(&w4.points);
    let mut ours = Points::new(&program(&shader(50), true), Engine::Point);
    let expected: Vec<Dual> = points.iter().map(|p| ours.at(p)).collect();
    let peer = num_dual::W4::new(50);
    let pairs = points
        .iter()
        .map(|p| peer.run(p))
        .zip(expected.iter().copied());
    near(2e-3).hold("num-dual on w4", pairs);
    let planes = planes(&points);
    let mut vm = Gradients::<VmFunction>::w4(50, &planes);
    near(2e-3).hold(
        "fidget's VM on w4",
        vm.results().into_iter().zip(expected.iter().copied()),
    );
    let mut jit = Gradients::<JitFunction>::w4(50, &planes);
    near(2e-3).hold(
        "fidget's JIT on w4",
        jit.results().into_iter().zip(expected.iter().copied()),
    );
}

/// One operation of W4.
#[derive(Clone, Copy)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Abs,
    Sqrt,
    Sin,
    Cos,
}

/// One statement of W4.
#[derive(Clone, Copy)]
struct Statement {
    op: Op,
    to: usize,
    operands: [usize; 2],
}

/// The statements of W4.
fn w4_statements() -> Vec<Statement> {
    let statement = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let op = match words[0] {
            "add" => Op::Add,
            "sub" => Op::Sub,
            "mul" => Op::Mul,
            "div" => Op::Div,
            "min" => Op::Min,
            "max" => Op::Max,
            "abs" => Op::Abs,
            "sqrt" => Op::Sqrt,
            "sin" => Op::Sin,
            "cos" => Op::Cos,
            other => panic!("W4 has an unknown op {other}"),
        };
        let register = |i: usize| words[i].parse().expect("a register");
        Statement {
            op,
            to: register(1),
            operands: [register(2), register(3)],
        }
    };
    include_str!("../../../src/bench/programs/w4.txt")
        .lines()
        .map(statement)
        .collect()
}
