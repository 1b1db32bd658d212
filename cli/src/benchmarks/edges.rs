//! Gradients through edges over the image that they are of: by both sets of rules, by all
//! parameters, and by those that only move edges. Beside them central differences, which render the
//! image twice for each float of a parameter.
//!
//! A gradient is what a host fits parameters by: sums over all pixels, of planes that are made band
//! by band. Gradients by all engines are checked to have the same bits, and are compared with
//! central differences of the image's sum.

use super::engines::{tier_suffix, tiers};
use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, least, time_round_robin};
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, SimdLevel, Tier, WholeBatch};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
use adumbra::value::ValueView;
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use std::hint::black_box;
use std::sync::Arc;

/// Words of planes that are in memory at a time.
const BAND_WORDS: usize = 1 << 22;

/// The times of a render that a gradient by all parameters takes at most.
const MOST: f64 = 4.0;
/// The same for parameters that only move edges.
const MOST_OF_DIRAC: f64 = 2.0;
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
    /// The parameters that reach no output but by decisions.
    dirac: &'static [&'static str],
    /// One of them, and the number of its first float among those of all parameters.
    moved: (&'static str, usize),
}

/// The disc and the rings of `examples/edges`.
pub fn edge_workloads() -> [EdgeWorkload; 2] {
    [
        EdgeWorkload {
            name: "disc",
            source: include_str!("../../../examples/edges/disc.adu"),
            size: [256, 256],
            dirac: &["r", "cx", "cy"],
            moved: ("r", 0),
        },
        EdgeWorkload {
            name: "rings",
            source: include_str!("../../../examples/edges/rings.adu"),
            size: [960, 480],
            dirac: &["x", "y", "r", "rho", "tilt"],
            moved: ("r", 20),
        },
    ]
}

impl EdgeWorkload {
    /// The number of pixels.
    pub fn points(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// What the gradient is by: its name in reports, its parameters, and its goal.
    fn requests(&self) -> [(&'static str, &'static [&'static str], f64); 2] {
        [("all", &[], MOST), ("dirac", self.dirac, MOST_OF_DIRAC)]
    }

    fn program(&self) -> Arc<Program> {
        let layout = GlobalsLayout::new().with("pixel", Type::Vector(2));
        let compiler = Compiler::new(layout.expect("it is one global"));
        let program = compiler.compile(&Sources::new(self.name, self.source));
        program.unwrap_or_else(|found| panic!("{} is wrong:\n{found}", self.name))
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

/// The globals of pixels, and the weight 1 of each output.
fn globals<'p>(layout: &GlobalsLayout, pixels: &'p [Vec<f32>; 2]) -> BatchGlobals<'p> {
    let mut globals = BatchGlobals::new(layout);
    let slopes = [(Part::Ddx, [1.0_f32, 0.0]), (Part::Ddy, [0.0, 1.0])];
    for (scalar, (plane, (part, slope))) in pixels.iter().zip(slopes).enumerate() {
        let given = globals.plane("pixel", Part::Value, scalar, plane, 1);
        let given = given.and_then(|()| globals.uniform_part("pixel", part, slope));
        given.expect("the program has pixels");
    }
    if let Some(weight) = layout.member("d(c)") {
        let first = weight.value_offset() / 4;
        for scalar in 0..weight.ty().scalar_count() {
            globals.uniform_word(first + scalar, 1.0_f32.to_bits());
        }
    }
    globals
}

fn setup(level: SimdLevel, tier: Tier) -> BatchSetup {
    BatchSetup {
        simd: Some(level),
        tier,
        ..BatchSetup::default()
    }
}

/// Draws an image, into planes.
struct ImageRenderer<'p> {
    batch: WholeBatch,
    globals: BatchGlobals<'p>,
    planes: [Vec<f32>; 3],
}

impl<'p> ImageRenderer<'p> {
    fn new(instance: &Instance, setup: BatchSetup, pixels: &'p [Vec<f32>; 2]) -> ImageRenderer<'p> {
        ImageRenderer {
            batch: WholeBatch::new(instance).setup(setup),
            globals: globals(instance.program().globals(), pixels),
            planes: [(); 3].map(|()| vec![0.0; pixels[0].len()]),
        }
    }

    fn run(&mut self) {
        let points = 0..self.planes[0].len();
        let planes = self.planes.iter_mut().enumerate();
        let mut planes: Vec<OutputPlane<'_>> = planes
            .map(|(scalar, plane)| OutputPlane::new("c", Part::Value, scalar, plane, 1))
            .collect();
        let done = self
            .batch
            .planes(&self.globals, points, &mut planes, || NoTextures);
        done.expect("the image is drawn");
    }

    /// The sum of all numbers of the image.
    fn sum(&self) -> f64 {
        self.planes.iter().flatten().copied().map(f64::from).sum()
    }
}

/// The gradient of an image's sum, band by band.
#[derive(Debug)]
pub struct EdgeRunner<'p> {
    batch: JumpBatch,
    globals: BatchGlobals<'p>,
    points: usize,
    /// Pixels of a band: whole lines.
    band: usize,
    /// The output and the scalar of each plane.
    places: Vec<(String, usize)>,
    planes: Vec<Vec<f32>>,
}

impl<'p> EdgeRunner<'p> {
    /// By these rules, and by these parameters; by all inputs if there are none.
    ///
    /// # Panics
    /// If the processor lacks the level or the tier.
    pub fn new(
        workload: &EdgeWorkload,
        rules: JumpRules,
        by: &[&str],
        (level, tier): (SimdLevel, Tier),
        pixels: &'p [Vec<f32>; 2],
    ) -> EdgeRunner<'p> {
        let request = GradientRequest::new();
        let request = by.iter().copied().fold(request, GradientRequest::by_input);
        let axes = [0, 1].map(|scalar| Axis::new("pixel", scalar, 1.0));
        let jumps = workload.program().jump_gradient(&request, &axes, rules);
        let jumps = jumps.unwrap_or_else(|found| panic!("{} is wrong:\n{found}", workload.name));
        let program = jumps.smooth().program();
        let outputs = program.outputs().iter().skip(1);
        let places = outputs.flat_map(|output| {
            (0..output.ty.scalar_count()).map(|scalar| (output.name.clone(), scalar))
        });
        let places: Vec<(String, usize)> = places.collect();
        let ([line, _], points) = (workload.size, workload.points());
        let band = points.min(BAND_WORDS / places.len() / line * line);
        EdgeRunner {
            batch: JumpBatch::new(&jumps, &Instance::new(program))
                .setup(setup(level, tier))
                .image(line, 0..points),
            globals: globals(program.globals(), pixels),
            points,
            band,
            planes: vec![vec![0.0; band]; places.len()],
            places,
        }
    }

    /// Evaluates all pixels; `each` gets the planes of a band, with the number of its first pixel.
    ///
    /// # Panics
    /// If a point is stopped.
    pub fn run_with(&mut self, mut each: impl FnMut(usize, &[&[f32]])) {
        for first in (0..self.points).step_by(self.band) {
            let band = first..self.points.min(first + self.band);
            let count = band.len();
            let planes = self.places.iter().zip(&mut self.planes);
            let mut planes: Vec<OutputPlane<'_>> = planes
                .map(|((output, scalar), plane)| {
                    OutputPlane::new(output, Part::Value, *scalar, plane, 1)
                })
                .collect();
            let done = self
                .batch
                .planes(&self.globals, band, &mut planes, || NoTextures);
            let (_, report, _) = done.expect("the planes are long enough");
            assert_eq!(report.stopped, 0, "all points end");
            let slices: Vec<&[f32]> = self.planes.iter().map(|plane| &plane[..count]).collect();
            each(first, &slices);
        }
    }

    /// The gradient at each pixel, in planes of a band.
    pub fn run(&mut self) {
        self.run_with(|_, planes| {
            black_box(planes);
        });
    }

    /// The sums over all pixels, by the floats of the parameters.
    pub fn sums(&mut self) -> Vec<f64> {
        let mut outputs: Vec<&str> = self.places.iter().map(|(output, _)| &output[..]).collect();
        outputs.dedup();
        let sums = self
            .batch
            .sums(&self.globals, 0..self.points, &outputs, || NoTextures);
        let (sums, report, _) = sums.expect("they are outputs");
        assert_eq!(report.stopped, 0, "all points end");
        sums.planes().totals()
    }

    /// The bits of all planes, band by band.
    fn bits(&mut self) -> Vec<u32> {
        let mut bits = Vec::new();
        self.run_with(|_, planes| {
            bits.extend(
                planes
                    .iter()
                    .copied()
                    .flatten()
                    .map(|float| float.to_bits()),
            );
        });
        bits
    }
}

/// Central differences of the image's sum by the first float of a parameter.
struct Differences<'p> {
    sides: [ImageRenderer<'p>; 2],
}

/// How far a float is moved to either side.
const STEP: f32 = 1.0;

impl<'p> Differences<'p> {
    fn new(
        workload: &EdgeWorkload,
        setup: &BatchSetup,
        pixels: &'p [Vec<f32>; 2],
    ) -> Differences<'p> {
        let (program, (moved, _)) = (workload.program(), workload.moved);
        let mut inputs = program.inputs().iter();
        let input = inputs.find(|input| input.name == moved);
        let input = input.expect("it is an input");
        let sides = [-STEP, STEP].map(|step| {
            let mut words = input.default.clone();
            words[0] = (f32::from_bits(words[0]) + step).to_bits();
            let mut instance = Instance::new(&program);
            let set = instance.set_view(moved, ValueView::new(&input.ty, &words));
            set.expect("it has the type");
            ImageRenderer::new(&instance, setup.clone(), pixels)
        });
        Differences { sides }
    }

    fn run(&mut self) -> f64 {
        self.sides.iter_mut().for_each(ImageRenderer::run);
        let [low, high] = &self.sides;
        (high.sum() - low.sum()) / f64::from(2.0 * STEP)
    }
}

impl EdgeWorkload {
    /// Checks that all engines have the same bits, and that the sum is near its central difference:
    /// pixels count whole there, so it is a few per cent away.
    ///
    /// # Panics
    /// If they have not.
    fn check(&self, level: SimdLevel, pixels: &[Vec<f32>; 2]) {
        let setup = setup(level, Tier::Interpreter);
        let difference = Differences::new(self, &setup, pixels).run();
        for (rule, rules) in RULES {
            for (by, parameters, _) in self.requests() {
                let what = format!("{}, {rule}, {by}", self.name);
                let of = |tier| EdgeRunner::new(self, rules, parameters, (level, tier), pixels);
                let expected = of(Tier::Interpreter).bits();
                for tier in tiers(level).skip(1) {
                    let found = of(tier).bits();
                    assert!(found == expected, "{what}: {tier:?} has other bits");
                }
                let found = of(Tier::Interpreter).sums()[self.moved.1];
                assert!(
                    (found - difference).abs() <= 0.05 * difference.abs(),
                    "{what}: {found} is not near {difference}"
                );
            }
        }
    }

    fn time(&self, level: SimdLevel, rounds: usize, report: &mut BenchReport) {
        let (name, pixels) = (self.name, &self.pixels());
        self.check(level, pixels);
        let program = self.program();
        let title = |what: &str, suffix: &str| format!("edges_{name}_{level}_{what}{suffix}");
        let mut candidates = Vec::new();
        let mut floats = 0;
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
            for (rule, rules) in RULES {
                for (by, parameters, _) in self.requests() {
                    let mut runner =
                        EdgeRunner::new(self, rules, parameters, (level, tier), pixels);
                    floats = floats.max(runner.planes.len());
                    let title = title(&format!("{rule}_{by}"), suffix);
                    candidates.push(BenchCandidate::new(title, move || runner.run()));
                }
                let mut runner = EdgeRunner::new(self, rules, &[], (level, tier), pixels);
                let title = title(&format!("{rule}_sums"), suffix);
                candidates.push(BenchCandidate::new(title, move || {
                    black_box(runner.sums());
                }));
            }
        }
        let samples = time_round_robin(&mut candidates, rounds, self.points());
        report.title(format!(
            "{name}: its image, and gradients through its edges, nanoseconds a pixel"
        ));
        for (candidate, sample) in &samples {
            report.timing(candidate, "ns", *sample);
        }
        for tier in tiers(level) {
            let suffix = tier_suffix(Some(tier));
            let of = |what: &str| least(&samples, &title(what, suffix));
            for (rule, _) in RULES {
                for (by, _, most) in self.requests() {
                    let ratio = title(&format!("{rule}_{by}_over_render"), suffix);
                    let over = of(&format!("{rule}_{by}")) / of("render");
                    report.ratio(ratio, over, Some(RatioGoal::AtMost(most)));
                }
                let over = floats as f64 * of("difference") / of(&format!("{rule}_sums"));
                let goal = (name == "rings").then_some(RatioGoal::AtLeast(LEAST_OF_DIFFERENCES));
                let ratio = title(&format!("differences_over_{rule}"), suffix);
                report.ratio(ratio, over, goal);
            }
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
