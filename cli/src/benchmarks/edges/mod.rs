//! Gradients through edges over the image that they are of: by both sets of rules, by all
//! parameters, and by those that only move edges. Beside them central differences, which render the
//! image twice for each float of a parameter. With noise, parameters that only move edges are
//! random variables, as at the start of a fit.
//!
//! A gradient is what a host fits parameters by: sums over all pixels, of planes that are made band
//! by band. Gradients by all engines are checked to have the same bits, and are compared with
//! central differences of the image's sum.

mod runner;

use super::engines::{tier_suffix, tiers};
use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, least, time_round_robin};
use adumbra::batch::{SimdLevel, Tier};
use adumbra::gradient::{JumpRules, NoisyProgram};
use adumbra::{Compiler, GlobalsLayout, Instance, Program, Sources, Type};
use fastrand::Rng;
pub use runner::EdgeRunner;
use runner::{Differences, ImageRenderer, setup};
use std::hint::black_box;
use std::sync::Arc;

/// The times of a render that a gradient by all parameters takes at most.
const MOST: f64 = 4.0;
/// The same where rays march.
const MOST_OF_MARCH: f64 = 3.0;
/// The same for parameters that only move edges.
const MOST_OF_DIRAC: f64 = 2.0;
/// The same for all parameters, some of them random variables, and the scales of these.
const MOST_WITH_NOISE: f64 = 12.0;
/// The times of the gradient that central differences of the rings take at least.
const LEAST_OF_DIFFERENCES: f64 = 30.0;

/// Both sets of rules, as ratios name them.
const RULES: [(&str, JumpRules); 2] = [("edge", JumpRules::Edge), ("pair", JumpRules::Pair)];

/// A shader whose image has edges.
#[derive(Debug)]
pub struct EdgeWorkload {
    /// Its name in reports.
    pub name: &'static str,
    source: &'static str,
    /// Pixels of a line, and lines.
    pub size: [usize; 2],
    /// The rules that it has gradients by.
    rules: &'static [(&'static str, JumpRules)],
    /// The times of a render that its gradient takes at most.
    most: f64,
    /// The parameters that reach no output but by decisions.
    dirac: &'static [&'static str],
    /// Those of them that are random variables with noise, and their scales: ranges of a fit.
    noise: &'static [(&'static str, f32)],
    /// A parameter, the number of its first float among those of all, and how far differences move
    /// it to either side.
    moved: (&'static str, usize, f32),
}

/// The disc and the rings of `examples/edges`, and the ball of `examples/march`.
pub fn edge_workloads() -> [EdgeWorkload; 3] {
    [
        EdgeWorkload {
            name: "disc",
            source: include_str!("../../../../examples/edges/disc.adu"),
            size: [256, 256],
            rules: &RULES,
            most: MOST,
            dirac: &["r", "cx", "cy"],
            noise: &[("r", 50.0), ("cx", 50.0), ("cy", 50.0)],
            moved: ("r", 0, 1.0),
        },
        EdgeWorkload {
            name: "rings",
            source: include_str!("../../../../examples/edges/rings.adu"),
            size: [960, 480],
            rules: &RULES,
            most: MOST,
            dirac: &["x", "y", "r", "rho", "tilt"],
            noise: &[],
            moved: ("r", 20, 1.0),
        },
        EdgeWorkload {
            name: "ball",
            source: include_str!("../../../../examples/march/ball.adu"),
            size: [256, 256],
            // Pairs of samples cannot be compared through a march.
            rules: &RULES[..1],
            most: MOST_OF_MARCH,
            dirac: &[],
            noise: &[],
            moved: ("radius", 0, 0.01),
        },
    ]
}

impl EdgeWorkload {
    /// The number of pixels.
    pub fn points(&self) -> usize {
        self.size[0] * self.size[1]
    }

    fn program(&self) -> Arc<Program> {
        let layout = GlobalsLayout::new().with("pixel", Type::Vector(2));
        let compiler = Compiler::new(layout.expect("it is one global"));
        let program = compiler.compile(&Sources::new(self.name, self.source));
        program.unwrap_or_else(|found| panic!("{} is wrong:\n{found}", self.name))
    }

    /// The same with random variables.
    fn noisy(&self) -> NoisyProgram {
        let names: Vec<&str> = self.noise.iter().map(|(name, _)| *name).collect();
        let noisy = self.program().with_noise(&names);
        noisy.expect("they are inputs of floats")
    }

    /// The offsets of all random variables at all pixels: uniform on [-½, ½).
    fn offsets(&self) -> Vec<Vec<f32>> {
        let mut lot = Rng::with_seed(1);
        let noisy = self.noisy();
        let floats = noisy.variables().iter().flat_map(|of| &of.axes);
        let plane = floats.map(|_| (0..self.points()).map(|_| lot.f32() - 0.5).collect());
        plane.collect()
    }

    /// The centres of all pixels.
    pub fn pixels(&self) -> [Vec<f32>; 2] {
        let [width, _] = self.size;
        let points = 0..self.points();
        [
            points.clone().map(|at| (at % width) as f32 + 0.5).collect(),
            points.map(|at| (at / width) as f32 + 0.5).collect(),
        ]
    }
}

impl EdgeWorkload {
    /// The gradients that are measured by rules: their names in reports, their goals, and runners.
    fn gradients<'p>(
        &self,
        rules: JumpRules,
        at: (SimdLevel, Tier),
        pixels: &'p [Vec<f32>; 2],
        offsets: &'p [Vec<f32>],
    ) -> Vec<(&'static str, f64, EdgeRunner<'p>)> {
        let by = |parameters: &[&str]| EdgeRunner::new(self, rules, parameters, at, pixels);
        let mut gradients = vec![("all", self.most, by(&[]))];
        if !self.dirac.is_empty() {
            gradients.push(("dirac", MOST_OF_DIRAC, by(self.dirac)));
        }
        if !self.noise.is_empty() {
            let noisy = EdgeRunner::with_noise(self, rules, at, pixels, offsets);
            gradients.push(("noise", MOST_WITH_NOISE, noisy));
        }
        gradients
    }

    /// Checks that all engines have the same bits, and that the sum is near its central difference:
    /// pixels count whole there, so it is a few per cent away.
    ///
    /// # Panics
    /// If they have not.
    fn check(&self, level: SimdLevel, pixels: &[Vec<f32>; 2], offsets: &[Vec<f32>]) {
        let setup = setup(level, Tier::Interpreter);
        let difference = Differences::new(self, &setup, pixels).run();
        for &(rule, rules) in self.rules {
            let of = |tier| self.gradients(rules, (level, tier), pixels, offsets);
            let mut first = of(Tier::Interpreter);
            for tier in tiers(level).skip(1) {
                for ((by, _, one), (_, _, other)) in first.iter_mut().zip(&mut of(tier)) {
                    let what = format!("{}, {rule}, {by}", self.name);
                    assert!(
                        one.bits() == other.bits(),
                        "{what}: {tier:?} has other bits"
                    );
                }
            }
            for (by, _, runner) in first.iter_mut().filter(|(by, ..)| *by != "noise") {
                let found = runner.sums()[self.moved.1];
                assert!(
                    (found - difference).abs() <= 0.05 * difference.abs(),
                    "{}, {rule}, {by}: {found} is not near {difference}",
                    self.name
                );
            }
        }
    }

    fn time(&self, level: SimdLevel, rounds: usize, report: &mut BenchReport) {
        let (name, pixels, offsets) = (self.name, &self.pixels(), &self.offsets());
        self.check(level, pixels, offsets);
        let program = self.program();
        let title = |what: &str, suffix: &str| format!("edges_{name}_{level}_{what}{suffix}");
        let mut candidates = Vec::new();
        let mut ratios = Vec::new();
        for tier in tiers(level) {
            let suffix = tier_suffix(Some(tier));
            let instance = Instance::new(&program);
            let mut render = ImageRenderer::new(&instance, setup(level, tier), pixels);
            let render = BenchCandidate::new(title("render", suffix), move || render.run());
            let mut differences = Differences::new(self, &setup(level, tier), pixels);
            let differences = BenchCandidate::new(title("difference", suffix), move || {
                black_box(differences.run());
            });
            candidates.extend([render, differences]);
            for &(rule, rules) in self.rules {
                let gradients = self.gradients(rules, (level, tier), pixels, offsets);
                let floats = gradients[0].2.floats();
                for (by, most, mut runner) in gradients {
                    let gradient = title(&format!("{rule}_{by}"), suffix);
                    candidates.push(BenchCandidate::new(gradient.clone(), move || runner.run()));
                    let ratio = title(&format!("{rule}_{by}_over_render"), suffix);
                    let goal = Some(RatioGoal::AtMost(most));
                    ratios.push((ratio, 1.0, [gradient, title("render", suffix)], goal));
                }
                let mut runner = EdgeRunner::new(self, rules, &[], (level, tier), pixels);
                let sums = title(&format!("{rule}_sums"), suffix);
                candidates.push(BenchCandidate::new(sums.clone(), move || {
                    black_box(runner.sums());
                }));
                let ratio = title(&format!("differences_over_{rule}"), suffix);
                let goal = (name == "rings").then_some(RatioGoal::AtLeast(LEAST_OF_DIFFERENCES));
                let times = [title("difference", suffix), sums];
                ratios.push((ratio, floats as f64, times, goal));
            }
        }
        let samples = time_round_robin(&mut candidates, rounds, self.points());
        report.title(format!(
            "{name}: its image, and gradients through its edges, nanoseconds a pixel"
        ));
        for (candidate, sample) in &samples {
            report.timing(candidate, "ns", *sample);
        }
        for (ratio, factor, [of, over], goal) in ratios {
            let found = factor * least(&samples, &of) / least(&samples, &over);
            report.ratio(ratio, found, goal);
        }
    }
}

/// Checks and times the gradients at AVX2, where machine code is.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    let level = SimdLevel::Avx2;
    match level.is_available() {
        true => edge_workloads()
            .iter()
            .for_each(|workload| workload.time(level, rounds, report)),
        false => report.note("gradients through edges are measured at AVX2, which is not there"),
    }
}
