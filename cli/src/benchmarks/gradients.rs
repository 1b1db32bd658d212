//! Measures reverse mode: the gradient of a function over its value alone; and shadows in closed
//! form, of noise and by rules, over the value.
//!
//! Each program has a function `of` of x and y; one shader has its value, one the sum of its
//! gradient's components, by `bwd_diff`. The gradient is checked against the sum of both shadows of
//! the value.

use super::engines::{BatchRunner, PointRunner, add_batches, tier_suffix, tiers, vector_levels};
use super::programs::{
    self, PixelGlobals, W2_RULED, compiler, differentiable_w4, grid, output_planes, program,
    shader_of,
};
use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, least, time_round_robin};
use adumbra::{
    Compiler, Program, Sources,
    batch::{SimdLevel, Tier},
    evaluator::Engine,
};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;

/// A function whose gradient is measured.
struct GradientWorkload {
    name: &'static str,
    /// The function `of`, and what it calls.
    source: String,
    points: Vec<PixelGlobals>,
    /// The goals of the gradient's time over that of the value at AVX2: in the interpreter, and by
    /// machine code.
    goals: [f64; 2],
    /// The same for both shadows, where they are in closed form.
    shadow_goals: Option<[f64; 2]>,
    /// The fraction of points at which the gradient must be near the shadows: where a march ends
    /// with another step, or sums cancel, it is elsewhere.
    near: f64,
}

fn workloads() -> [GradientWorkload; 9] {
    let of = |name, source: &str, step, goals, near| GradientWorkload {
        name,
        source: source.to_string(),
        points: grid(step),
        goals,
        shadow_goals: None,
        near,
    };
    let closed = |workload, goals| GradientWorkload {
        shadow_goals: Some(goals),
        ..workload
    };
    [
        of(
            "w1",
            include_str!("programs/gradients/w1.adu"),
            1,
            [2.0, 1.7],
            1.0,
        ),
        of(
            "w2",
            include_str!("programs/gradients/w2.adu"),
            4,
            [3.0; 2],
            0.99,
        ),
        of(
            "sine",
            include_str!("programs/gradients/sine.adu"),
            8,
            [3.0; 2],
            0.99,
        ),
        of(
            "w3",
            include_str!("programs/gradients/w3.adu"),
            16,
            [5.0; 2],
            0.9,
        ),
        closed(
            of(
                "perlin3",
                include_str!("programs/gradients/perlin3.adu"),
                8,
                [3.0, 1.8],
                0.99,
            ),
            [1.7; 2],
        ),
        closed(of("w2_ruled", W2_RULED, 4, [1.8; 2], 0.99), [1.7; 2]),
        closed(
            of(
                "w3_ruled",
                include_str!("programs/gradients/w3_ruled.adu"),
                16,
                [2.0; 2],
                0.99,
            ),
            [1.25; 2],
        ),
        of("w4_200", &differentiable_w4(200), 16, [2.8; 2], 0.5),
        of("w4_2000", &differentiable_w4(2000), 64, [5.0; 2], 0.0),
    ]
}

/// The gradients: the name of each, a program of the sum of its components, and the points.
pub fn gradient_programs() -> impl Iterator<Item = (&'static str, Arc<Program>, Vec<PixelGlobals>)>
{
    let gradients = workloads().into_iter();
    gradients.map(|workload| {
        let program = program(&workload.gradient(), false);
        (workload.name, program, workload.points)
    })
}

impl GradientWorkload {
    /// A shader with the value of the function.
    fn value(&self) -> String {
        shader_of(&self.source)
    }

    /// A shader with the sum of its gradient's components.
    fn gradient(&self) -> String {
        let function = &self.source;
        format!(
            "{function}shader gradient(out float f)\n{{\n    \
             DifferentialPair<float> x = diffPair(global_value<x>), y = diffPair(global_value<y>);\n    \
             bwd_diff(of)(x, y, 1.0);\n    f = x.d + y.d;\n}}\n"
        )
    }

    /// Checks that all engines have the same bits, which are near the shadows of the value.
    ///
    /// # Panics
    /// If they have not.
    fn check(&self) {
        let name = self.name;
        let gradient = program(&self.gradient(), false);
        let mut alone = PointRunner::new(&gradient, Engine::Point);
        let expected: Vec<f32> = self.points.iter().map(|p| alone.at(p).value).collect();
        for level in SimdLevel::available() {
            for tier in tiers(level) {
                let mut batches = BatchRunner::new(&gradient, level, tier, &self.points);
                batches.run();
                for (i, expected) in expected.iter().enumerate() {
                    let found = batches.at(i).value;
                    assert!(
                        found.to_bits() == expected.to_bits(),
                        "gradient of {name}, {level}, {tier:?}, point {i}: {found} instead of {expected}"
                    );
                }
            }
        }
        let mut dual = PointRunner::new(&program(&self.value(), true), Engine::Point);
        let near = self.points.iter().zip(&expected).filter(|(point, found)| {
            let shadows = dual.at(point);
            let sum = shadows.ddx + shadows.ddy;
            (*found - sum).abs() <= 1e-3 * (shadows.ddx.abs() + shadows.ddy.abs()).max(1.0)
        });
        let near = near.count() as f64 / self.points.len() as f64;
        assert!(
            near >= self.near,
            "gradient of {name}: {near} of the points are near its shadows"
        );
    }

    fn time(&self, rounds: usize, report: &mut BenchReport) {
        let (name, points) = (self.name, &self.points);
        let planes = &programs::input_planes(points);
        let out = &RefCell::new(output_planes(points.len()));
        let mut candidates = Vec::new();
        let mut programs = vec![
            ("value", self.value(), false),
            ("reverse", self.gradient(), false),
        ];
        if self.shadow_goals.is_some() {
            programs.push(("dual", self.value(), true));
        }
        for (what, source, derivatives) in programs {
            let program = program(&source, derivatives);
            let title = |level, suffix: &str| format!("gradient_{name}_{level}_{what}{suffix}");
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
        let samples = time_round_robin(&mut candidates, rounds, points.len());
        report.title(format!(
            "{name}: its value and its gradient, nanoseconds a point"
        ));
        for (candidate, sample) in &samples {
            report.timing(candidate, "ns", *sample);
        }
        for level in vector_levels() {
            for tier in tiers(level) {
                let suffix = tier_suffix(Some(tier));
                let of = |what| least(&samples, &format!("gradient_{name}_{level}_{what}{suffix}"));
                let goals = [("reverse", Some(self.goals)), ("dual", self.shadow_goals)];
                for (what, goals) in goals {
                    let Some(goals) = goals else { continue };
                    report.ratio(
                        format!("gradient_{name}_{level}_{what}_over_value{suffix}"),
                        of(what) / of("value"),
                        Some(RatioGoal::AtMost(goals[usize::from(tier == Tier::Native)])),
                    );
                }
            }
        }
    }
}

/// Times the compilation of two gradients, from source to bytecode.
fn compile(rounds: usize, report: &mut BenchReport) {
    let [w1, .., w4] = workloads();
    let compiler = compiler(false);
    report.title("compilation of gradients, microseconds");
    for (name, workload, times, most) in [("w1", w1, 20, 60.0), ("w4_2000_lines", w4, 1, 8_000.0)] {
        let sources = Sources::new("bench.adu", workload.gradient());
        let title = format!("gradient_compile_{name}");
        let mut candidates = [BenchCandidate::new(&title, || {
            for _ in 0..times {
                black_box(compiled(&compiler, &sources));
            }
        })];
        let (_, timing) = time_round_robin(&mut candidates, rounds, times).remove(0);
        let timing = timing.in_units_of(1e3);
        report.timing(&title, "us", timing);
        let goal = Some(RatioGoal::AtMost(1.0));
        report.ratio(format!("{title}_over_{most}_us"), timing.min / most, goal);
    }
}

fn compiled(compiler: &Compiler, sources: &Sources) -> impl Sized {
    compiler.compile(sources).expect("it compiles")
}

/// Checks and times the gradients.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    for workload in workloads() {
        workload.check();
        workload.time(rounds, report);
    }
    compile(rounds, report);
}
