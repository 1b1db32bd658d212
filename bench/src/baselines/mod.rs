//! Baselines: other crates with automatic differentiation, as a Rust project might use them.

mod fidget;
mod num_dual;

use crate::c_reference::CDual;
use crate::case::Tolerance;
use adumbra::{
    batch::{SimdLevel, Tier},
    evaluator::Engine,
};
use adumbra_cli::benchmarks::{
    BatchRunner, BenchCandidate, BenchReport, PixelGlobals, PointRunner, ROUNDS, RatioGoal,
    Workload, input_planes, output_planes, program, tiers, time_round_robin, w4 as shader,
    workloads,
};
use fidget::Gradients;
use fidget_core::vm::VmFunction;
use fidget_jit::JitFunction;
use std::cell::RefCell;
use std::hint::black_box;

/// The distance between two points that are compared.
const STEP: usize = 97;

/// Our engines: the interpreter and machine code at AVX2, as fidget's JIT runs, and machine code at
/// AVX-512.
const OURS: [(&str, SimdLevel, Tier); 3] = [
    ("batch", SimdLevel::Avx2, Tier::Interpreter),
    ("native", SimdLevel::Avx2, Tier::Native),
    ("native_avx512", SimdLevel::Avx512, Tier::Native),
];

/// A baseline, and the least that its time over ours may be: at AVX2, and at AVX-512.
type Baseline<'a> = (BenchCandidate<'a>, Option<[f64; 2]>);

/// Compares W1 with num-dual, W4 with num-dual and fidget, all of them with both derivatives.
pub fn run(report: &mut BenchReport) {
    if !SimdLevel::Avx2.is_available() {
        report.note("baselines are compared from AVX2 on, which this processor lacks");
        return;
    }
    check();
    let [w1, _, _, w4] = workloads();
    // The same memory for all: a candidate that allocated its own would wait for it.
    let planes_in = &input_planes(&w1.points);
    let by_num_dual = BenchCandidate::new("num_dual", || {
        each_pixel(planes_in, |pixel| {
            black_box(num_dual::w1(pixel));
        });
    });
    let baselines = vec![(by_num_dual, Some([15.0; 2]))];
    compare(&w1, planes_in, baselines, report);

    let statements = w4_statements().len();
    let num_dual = num_dual::W4::new(statements);
    let planes_in = &input_planes(&w4.points);
    let by_num_dual = BenchCandidate::new("num_dual", || {
        each_pixel(planes_in, |pixel| {
            black_box(num_dual.run(pixel));
        });
    });
    let mut vm = Gradients::<VmFunction>::w4(statements, planes_in);
    let mut jit = Gradients::<JitFunction>::w4(statements, planes_in);
    let baselines = vec![
        (by_num_dual, None),
        (
            BenchCandidate::new("fidget_vm", || vm.run()),
            Some([7.0; 2]),
        ),
        (
            BenchCandidate::new("fidget_jit", || jit.run()),
            Some([13.0, 18.0]),
        ),
    ];
    compare(&w4, planes_in, baselines, report);
}

/// The pixels of the grid with these values.
fn each_pixel([x, y]: &[Vec<f32>; 2], mut each: impl FnMut(&PixelGlobals)) {
    for (&x, &y) in x.iter().zip(y) {
        each(&PixelGlobals::seeded(x, y));
    }
}

/// Times baselines and our engines round-robin.
fn compare(
    workload: &Workload,
    planes_in: &[Vec<f32>; 2],
    baselines: Vec<Baseline<'_>>,
    report: &mut BenchReport,
) {
    let Workload { name, points, .. } = workload;
    let program = program(&workload.source, true);
    let out = &RefCell::new(output_planes(points.len()));
    let mut candidates = Vec::new();
    let mut ours = Vec::new();
    for (name, level, tier) in OURS {
        if level.is_available() && tiers(level).any(|own| own == tier) {
            let mut batches = BatchRunner::new(&program, level, tier, points);
            let run = move || batches.run_on(planes_in, &mut out.borrow_mut());
            candidates.push(BenchCandidate::new(name, run));
            ours.push((name, usize::from(level > SimdLevel::Avx2)));
        }
    }
    let goals: Vec<_> = baselines.iter().map(|&(_, goal)| goal).collect();
    candidates.extend(baselines.into_iter().map(|(baseline, _)| baseline));
    let samples = time_round_robin(&mut candidates, ROUNDS, points.len());
    report.title(format!(
        "{name}: baselines beside ours, with both derivatives, nanoseconds a point"
    ));
    for (candidate, sample) in &samples {
        report.timing(format!("{name}_peers_{candidate}"), "ns", *sample);
    }
    let (own, baselines) = samples.split_at(ours.len());
    for ((baseline, theirs), goals) in baselines.iter().zip(goals) {
        for ((own, level), (_, sample)) in ours.iter().zip(own) {
            let ratio = format!("{name}_{baseline}_over_{own}");
            let goal = goals.map(|goals| RatioGoal::AtLeast(goals[*level]));
            report.ratio(ratio, theirs.min / sample.min, goal);
        }
    }
}

/// Checks that baselines agree with ours on W1 and on the first 50 statements of W4, as all of them
/// are ill-conditioned on purpose.
fn check() {
    let [w1, _, _, w4] = workloads();
    let near = |tolerance| Tolerance {
        tolerance,
        points: 1.0,
        bits: false,
    };
    let some = |points: &[PixelGlobals]| points.iter().copied().step_by(STEP).collect::<Vec<_>>();
    let points = some(&w1.points);
    let mut ours = PointRunner::new(&program(&w1.source, true), Engine::Point);
    let pairs = points.iter().map(|p| (num_dual::w1(p), ours.at(p)));
    near(1e-5).hold("num-dual on w1", pairs);

    let points = some(&w4.points);
    let mut ours = PointRunner::new(&program(&shader(50), true), Engine::Point);
    let expected: Vec<CDual> = points.iter().map(|p| ours.at(p)).collect();
    let baseline = num_dual::W4::new(50);
    let pairs = points
        .iter()
        .map(|p| baseline.run(p))
        .zip(expected.iter().copied());
    near(2e-3).hold("num-dual on w4", pairs);
    let planes = input_planes(&points);
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
    include_str!("../../../cli/src/benchmarks/programs/w4.txt")
        .lines()
        .map(statement)
        .collect()
}
