//! What evaluates an image, its gradient through edges, and central differences of its sum.

use super::EdgeWorkload;
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, SimdLevel, Tier, WholeBatch};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
use adumbra::value::ValueView;
use adumbra::{GlobalsLayout, Instance, NoTextures, Program};
use std::hint::black_box;

/// Words of planes that are in memory at a time.
const BAND_WORDS: usize = 1 << 22;

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

pub(super) fn setup(level: SimdLevel, tier: Tier) -> BatchSetup {
    BatchSetup {
        simd: Some(level),
        tier,
        ..BatchSetup::default()
    }
}

/// Draws an image, into planes.
pub(super) struct ImageRenderer<'p> {
    batch: WholeBatch,
    globals: BatchGlobals<'p>,
    planes: [Vec<f32>; 3],
}

impl<'p> ImageRenderer<'p> {
    pub(super) fn new(
        instance: &Instance,
        setup: BatchSetup,
        pixels: &'p [Vec<f32>; 2],
    ) -> ImageRenderer<'p> {
        ImageRenderer {
            batch: WholeBatch::new(instance).setup(setup),
            globals: globals(instance.program().globals(), pixels),
            planes: [(); 3].map(|()| vec![0.0; pixels[0].len()]),
        }
    }

    pub(super) fn run(&mut self) {
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
        let program = workload.program();
        let program = (&*program, &[][..], &[][..]);
        EdgeRunner::of(program, (&request, rules), (level, tier), workload, pixels)
    }

    /// By these rules and by all inputs, of which some are random variables, and by the scales of
    /// these; with their offsets at all pixels.
    ///
    /// # Panics
    /// If the processor lacks the level or the tier.
    pub(super) fn with_noise(
        workload: &EdgeWorkload,
        rules: JumpRules,
        (level, tier): (SimdLevel, Tier),
        pixels: &'p [Vec<f32>; 2],
        offsets: &'p [Vec<f32>],
    ) -> EdgeRunner<'p> {
        let noisy = workload.noisy();
        let random = noisy.variables().iter().flat_map(|of| of.axes.clone());
        let random: Vec<Axis> = random.collect();
        let request = GradientRequest::new();
        let scales = noisy.variables().iter().zip(workload.noise);
        let scales: Vec<(&str, f32)> = scales
            .map(|(variable, (_, range))| (&variable.scale[..], *range))
            .collect();
        let program = (&**noisy.program(), &random[..], &scales[..]);
        let mut runner =
            EdgeRunner::of(program, (&request, rules), (level, tier), workload, pixels);
        for (axis, offsets) in random.iter().zip(offsets) {
            let (name, scalar) = (axis.global(), axis.scalar());
            let given = (runner.globals).plane(name, Part::Value, scalar, offsets, 1);
            given.expect("the program has the noise");
        }
        runner
    }

    /// Of a program with these random variables, and with scales of inputs that are some.
    fn of(
        (program, random, scales): (&Program, &[Axis], &[(&str, f32)]),
        (request, rules): (&GradientRequest, JumpRules),
        (level, tier): (SimdLevel, Tier),
        workload: &EdgeWorkload,
        pixels: &'p [Vec<f32>; 2],
    ) -> EdgeRunner<'p> {
        let axes = [0, 1].map(|scalar| Axis::new("pixel", scalar, 1.0));
        let axes = [&axes[..], random].concat();
        let jumps = program.jump_gradient(request, &axes, rules);
        let jumps = jumps.unwrap_or_else(|found| panic!("{} is wrong:\n{found}", workload.name));
        let program = jumps.smooth().program();
        let outputs = program.outputs().iter().skip(1);
        let places = outputs.flat_map(|output| {
            (0..output.ty.scalar_count()).map(|scalar| (output.name.clone(), scalar))
        });
        let places: Vec<(String, usize)> = places.collect();
        let ([line, _], points) = (workload.size, workload.points());
        let band = points.min(BAND_WORDS / places.len() / line * line);
        let mut instance = Instance::new(program);
        for (name, scale) in scales {
            let mut inputs = program.inputs().iter();
            let input = inputs.find(|input| input.name == *name);
            let input = input.expect("it has the scale of each random variable");
            let words = vec![scale.to_bits(); input.default.len()];
            let set = instance.set_view(name, ValueView::new(&input.ty, &words));
            set.expect("it has the type");
        }
        EdgeRunner {
            batch: JumpBatch::new(&jumps, &instance)
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

    /// The floats that the gradient has a plane of.
    pub(super) fn floats(&self) -> usize {
        self.planes.len()
    }

    /// The bits of all planes, band by band.
    pub(super) fn bits(&mut self) -> Vec<u32> {
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
pub(super) struct Differences<'p> {
    step: f32,
    sides: [ImageRenderer<'p>; 2],
}

impl<'p> Differences<'p> {
    pub(super) fn new(
        workload: &EdgeWorkload,
        setup: &BatchSetup,
        pixels: &'p [Vec<f32>; 2],
    ) -> Differences<'p> {
        let (program, (moved, _, step)) = (workload.program(), workload.moved);
        let mut inputs = program.inputs().iter();
        let input = inputs.find(|input| input.name == moved);
        let input = input.expect("it is an input");
        let sides = [-step, step].map(|step| {
            let mut words = input.default.clone();
            words[0] = (f32::from_bits(words[0]) + step).to_bits();
            let mut instance = Instance::new(&program);
            let set = instance.set_view(moved, ValueView::new(&input.ty, &words));
            set.expect("it has the type");
            ImageRenderer::new(&instance, setup.clone(), pixels)
        });
        Differences { step, sides }
    }

    pub(super) fn run(&mut self) -> f64 {
        self.sides.iter_mut().for_each(ImageRenderer::run);
        let [low, high] = &self.sides;
        (high.sum() - low.sum()) / f64::from(2.0 * self.step)
    }
}
