//! Measures our engines on the benchmark programs: one point at a time, and in batches at each SIMD
//! level.

use super::programs::{self, PixelGlobals, Workload, program, workloads};
use super::report::BenchReport;
use super::timing::{BenchCandidate, least, time_round_robin};
use adumbra::{
    Dual, Evaluator, Instance, Limits, NoTextures, Program,
    access::OutputSlot,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, SimdLevel, Tier},
    evaluator::Engine,
};
use std::cell::RefCell;
use std::fmt;
use std::hint::black_box;
use std::mem::take;
use std::sync::Arc;

/// An engine of single points on a benchmark program.
#[derive(Debug)]
pub struct PointRunner {
    evaluator: Evaluator,
    output: FloatOutput,
}

/// The one output of a benchmark program, `f`, with the derivatives that it has.
#[derive(Clone, Copy, Debug)]
enum FloatOutput {
    Value(OutputSlot<f32>),
    Dual(OutputSlot<Dual<f32>>),
}

impl FloatOutput {
    /// # Panics
    /// If the program has another output.
    fn of(program: &Program) -> FloatOutput {
        let slot = match program.output_derivatives() {
            true => program.output_slot("f").map(FloatOutput::Dual),
            false => program.output_slot("f").map(FloatOutput::Value),
        };
        slot.expect("a benchmark program has one float output, f")
    }
}

impl PointRunner {
    /// An evaluator for the program.
    ///
    /// # Panics
    /// If the processor lacks the engine.
    pub fn new(program: &Arc<Program>, engine: Engine) -> PointRunner {
        let evaluator = Evaluator::with(&Instance::new(program), engine, Limits::default());
        PointRunner {
            evaluator: evaluator.expect("the processor has the engine"),
            output: FloatOutput::of(program),
        }
    }

    /// Evaluates one point, as a host does: the engine reads its globals in their memory.
    /// [`result`](PointRunner::result) reads the output.
    pub fn run(&mut self, point: &PixelGlobals) {
        self.evaluator.evaluate(point, &mut NoTextures);
    }

    /// The result of the last point.
    pub fn result(&self) -> Dual<f32> {
        match self.output {
            FloatOutput::Value(slot) => self.evaluator.read(slot).into(),
            FloatOutput::Dual(slot) => self.evaluator.read(slot),
        }
    }

    /// The result of one point.
    pub fn at(&mut self, point: &PixelGlobals) -> Dual<f32> {
        self.run(point);
        self.result()
    }
}

/// The batch engine on a benchmark program, from planes to planes.
pub struct BatchRunner {
    planes: [Vec<f32>; 2],
    evaluator: BatchEvaluator,
    output: FloatOutput,
    out: [Vec<f32>; 3],
}

impl fmt::Debug for BatchRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batches").field(&self.evaluator).finish()
    }
}

impl BatchRunner {
    /// An evaluator for the program, and planes for these points.
    ///
    /// # Panics
    /// If the processor lacks the level or the tier.
    pub fn new(
        program: &Arc<Program>,
        level: SimdLevel,
        tier: Tier,
        points: &[PixelGlobals],
    ) -> BatchRunner {
        let setup = BatchSetup {
            simd: Some(level),
            tier,
            ..BatchSetup::default()
        };
        let evaluator = BatchEvaluator::with(&Instance::new(program), &setup);
        BatchRunner {
            planes: programs::input_planes(points),
            evaluator: evaluator.expect("the processor has the level"),
            output: FloatOutput::of(program),
            out: programs::output_planes(points.len()),
        }
    }

    /// Evaluates all points, seeded along x and y, chunk by chunk. Derivatives come out where the
    /// program has any.
    pub fn run(&mut self) {
        let (planes, mut out) = (take(&mut self.planes), take(&mut self.out));
        self.run_on(&planes, &mut out);
        (self.planes, self.out) = (planes, out);
    }

    /// Evaluates all points on planes that other candidates use as well, so that none waits for
    /// memory of its own.
    pub fn run_on(&mut self, planes: &[Vec<f32>; 2], out: &mut [Vec<f32>; 3]) {
        let mut globals = BatchGlobals::new(self.evaluator.instance().program().globals());
        let seeds = [("x", Part::Ddx), ("y", Part::Ddy)];
        for ((name, seed), plane) in seeds.into_iter().zip(planes) {
            let given = globals.plane(name, Part::Value, 0, plane, 1);
            let given = given.and_then(|()| globals.uniform_part(name, seed, 1.0_f32));
            given.expect("benchmark programs have x and y");
        }
        let (width, points) = (self.evaluator.width(), planes[0].len());
        for first in (0..points).step_by(width) {
            let count = width.min(points - first);
            self.evaluator
                .evaluate(&globals, first, count, &mut NoTextures);
            match self.output {
                FloatOutput::Value(slot) => {
                    (self.evaluator).copy_slot(slot, Part::Value, 0, &mut out[0][first..], 1);
                }
                FloatOutput::Dual(slot) => {
                    for (out, part) in out.iter_mut().zip(Part::ALL) {
                        (self.evaluator).copy_slot(slot, part, 0, &mut out[first..], 1);
                    }
                }
            }
        }
        black_box(out);
    }

    /// The result at a point.
    pub fn at(&self, point: usize) -> Dual<f32> {
        let [value, ddx, ddy] = [0, 1, 2].map(|part| self.out[part][point]);
        Dual { value, ddx, ddy }
    }

    /// Values, ddx and ddy of all points.
    pub fn planes(&self) -> &[Vec<f32>; 3] {
        &self.out
    }
}

/// The tiers that compute arithmetic instructions in a way of their own at a SIMD level: the
/// interpreter runs the routines of AVX2 at AVX-512 too.
pub fn tiers(level: SimdLevel) -> impl Iterator<Item = Tier> {
    let interpreter = (level < SimdLevel::Avx512).then_some(Tier::Interpreter);
    let is_native = level > SimdLevel::Baseline && Tier::Native.is_available();
    let native = is_native.then_some(Tier::Native);
    interpreter.into_iter().chain(native)
}

/// The engines that run single points one by one: the interpreter, and machine code where it
/// exists.
pub fn point_engines() -> impl Iterator<Item = Engine> {
    let native = Tier::Native.is_available().then_some(Engine::Native);
    std::iter::once(Engine::Point).chain(native)
}

/// The suffix of an engine's titles, by its tier.
pub fn tier_suffix(tier: Option<Tier>) -> &'static str {
    match tier {
        None | Some(Tier::Interpreter) => "",
        Some(Tier::Native) => "_native",
        Some(Tier::Auto) => "_auto",
    }
}

/// The levels above the baseline.
pub(super) fn vector_levels() -> impl Iterator<Item = SimdLevel> {
    SimdLevel::available().filter(|&level| level > SimdLevel::Baseline)
}

/// Adds a program in batches as a candidate for each of these levels and each tier; `title` names
/// it by level and the suffix of the tier. All candidates share planes: one with memory of its own
/// would wait for it.
pub(super) fn add_batches<'a>(
    candidates: &mut Vec<BenchCandidate<'a>>,
    program: &Arc<Program>,
    points: &[PixelGlobals],
    (planes, out): (&'a [Vec<f32>; 2], &'a RefCell<[Vec<f32>; 3]>),
    levels: impl Iterator<Item = SimdLevel>,
    title: impl Fn(SimdLevel, &str) -> String,
) {
    for level in levels {
        for tier in tiers(level) {
            let mut batches = BatchRunner::new(program, level, tier, points);
            let title = title(level, tier_suffix(Some(tier)));
            candidates.push(BenchCandidate::new(title, move || {
                batches.run_on(planes, &mut out.borrow_mut());
            }));
        }
    }
}

/// Checks that each point of a batch has, to the bit, its value from the point engine, at every
/// SIMD level and tier.
///
/// # Panics
/// If one has not.
pub fn check_engines_agree(workload: &Workload) {
    let program = program(&workload.source, true);
    let bits = |dual: Dual<f32>| dual.map(f32::to_bits);
    let [expected, found @ ..] = &point_engines()
        .map(|engine| {
            let mut alone = PointRunner::new(&program, engine);
            workload.points.iter().map(|p| alone.at(p)).collect()
        })
        .collect::<Vec<Vec<_>>>()[..]
    else {
        unreachable!("points can be interpreted");
    };
    for found in found {
        for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
            let name = workload.name;
            assert!(
                bits(found) == bits(expected),
                "{name}, machine code alone, point {i}: {found:?} instead of {expected:?}"
            );
        }
    }
    for level in SimdLevel::available() {
        for tier in tiers(level) {
            let mut batches = BatchRunner::new(&program, level, tier, &workload.points);
            batches.run();
            for (i, &expected) in expected.iter().enumerate() {
                let (found, name) = (batches.at(i), workload.name);
                assert!(
                    bits(found) == bits(expected),
                    "{name}, {level}, {tier:?}, point {i}: {found:?} instead of {expected:?}"
                );
            }
        }
    }
}

/// Checks and times W1 to W4.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    for workload in workloads() {
        check_engines_agree(&workload);
        time(&workload, rounds, report);
    }
    for level in SimdLevel::missing() {
        report.note(format!("this processor lacks the SIMD level {level}"));
    }
}

const WHAT: [&str; 2] = ["value", "dual"];

fn time(workload: &Workload, rounds: usize, report: &mut BenchReport) {
    let (name, points) = (workload.name, &workload.points);
    let planes = &programs::input_planes(points);
    let out = &RefCell::new(programs::output_planes(points.len()));
    let mut contenders = Vec::new();
    for what in WHAT {
        let program = program(&workload.source, what == "dual");
        for engine in point_engines() {
            let mut alone = PointRunner::new(&program, engine);
            let title = format!("{name}_point_{what}{}", tier_suffix(engine.tier()));
            contenders.push(BenchCandidate::new(title, move || {
                points.iter().for_each(|point| alone.run(point));
            }));
        }
        let title = |level, suffix: &str| format!("{name}_{level}_{what}{suffix}");
        let levels = SimdLevel::available();
        add_batches(
            &mut contenders,
            &program,
            points,
            (planes, out),
            levels,
            title,
        );
    }
    let samples = time_round_robin(&mut contenders, rounds, points.len());
    report.title(format!("{name}: our engines, nanoseconds a point"));
    for (contender, sample) in &samples {
        report.timing(contender, "ns", *sample);
    }
    let of = |contender: &str| least(&samples, contender);
    let is_interpreted = |&level: &SimdLevel| tiers(level).any(|tier| tier == Tier::Interpreter);
    for level in SimdLevel::available().filter(is_interpreted) {
        for what in WHAT {
            let (point, batch) = (
                format!("{name}_point_{what}"),
                format!("{name}_{level}_{what}"),
            );
            report.ratio(
                format!("{point}_over_{level}"),
                of(&point) / of(&batch),
                None,
            );
        }
        let [value, dual] = WHAT.map(|what| of(&format!("{name}_{level}_{what}")));
        let ratio = format!("{name}_{level}_dual_over_value");
        report.ratio(ratio, dual / value, workload.dual_over_value);
    }
}
