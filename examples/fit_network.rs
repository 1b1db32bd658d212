//! Learns an image by a network of three layers, 64 wide, whose weights are a buffer: the gradient
//! of a shader by 4,547 numbers, an exact sum over points, and Adam (Kingma and Ba 2015).
//!
//! `cargo run --release --example fit_network`

use adumbra::batch::{BatchGlobals, BatchSetup, Part, WholeBatch};
use adumbra::gradient::{Gradient, GradientRequest};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// A network with sines between its layers (Sitzmann et al. 2020, *Implicit neural representations
/// with periodic activation functions*), from a place to a color; and how far that is from the
/// color of an image.
const SHADER: &str = "
    buffer<float> w;

    shader network(out color c, out float error)
    {
        float2 p = global_value<uv>;
        float first[64];
        float second[64];
        for (int i = 0; i < 64; i++)
            first[i] = sin(w[3 * i] * p.x + w[3 * i + 1] * p.y + w[3 * i + 2]);
        for (int i = 0; i < 64; i++)
        {
            float sum = w[192 + 65 * i + 64];
            for (int j = 0; j < 64; j++)
                sum += w[192 + 65 * i + j] * first[j];
            second[i] = sin(sum);
        }
        float rgb[3];
        for (int i = 0; i < 3; i++)
        {
            rgb[i] = w[4352 + 65 * i + 64];
            for (int j = 0; j < 64; j++)
                rgb[i] += w[4352 + 65 * i + j] * second[j];
        }
        c = color(rgb[0], rgb[1], rgb[2]);
        float3 away = c - global_value<target>;
        error = dot(away, away);
    }";

/// Pixels along a side of the image.
pub(crate) const SIDE: usize = 64;

/// Weights of the network.
pub(crate) const WEIGHTS: usize = 3 * 64 + 65 * 64 + 65 * 3;

/// Steps of the fit.
pub(crate) const STEPS: u32 = 200;

/// The image: rings around two centres, over a slope.
pub(crate) fn image() -> Vec<[f32; 3]> {
    let at = |pixel: usize| (pixel as f32 + 0.5) / SIDE as f32;
    let pixels = (0..SIDE * SIDE).map(|pixel| {
        let (x, y) = (at(pixel % SIDE), at(pixel / SIDE));
        let near = (9.0 * (x - 0.3).hypot(y - 0.4)).cos();
        let far = (14.0 * (x - 0.8).hypot(y - 0.9)).cos();
        [
            0.5 + 0.4 * near,
            0.2 + 0.5 * y + 0.2 * far,
            0.5 + 0.25 * near * far,
        ]
    });
    pixels.collect()
}

/// The state of a fit: all that a later run goes on from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// The weights.
    pub(crate) weights: Vec<f32>,
    /// The mean error before the last step.
    pub(crate) error: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
    step: u32,
}

impl Fit {
    /// A fit that starts at weights of a fixed sequence, as large as those of the paper.
    pub(crate) fn new() -> Fit {
        let mut state = 1_u32;
        let mut between = |most: f32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            most * (2.0 * (state >> 8) as f32 / (1 << 24) as f32 - 1.0)
        };
        let weights = (0..WEIGHTS).map(|at| match at {
            0..192 => between(12.0),
            _ => between((6.0_f32 / 64.0).sqrt()),
        });
        Fit {
            weights: weights.collect(),
            error: f64::NAN,
            means: vec![0.0; WEIGHTS],
            squares: vec![0.0; WEIGHTS],
            step: 0,
        }
    }

    /// One step of Adam.
    pub(crate) fn step(
        &mut self,
        gradient: &Gradient,
        globals: &BatchGlobals<'_>,
        setup: &BatchSetup,
        threads: usize,
    ) -> Result<(), Box<dyn Error>> {
        const POINTS: usize = SIDE * SIDE;
        let mut instance = Instance::new(gradient.program());
        instance.set_buffer("w", &self.weights[..])?;
        let batch = WholeBatch::new(&instance)
            .setup(setup.clone())
            .threads(threads);
        let (sums, _) = batch.sums(globals, 0..POINTS, &["error"], || NoTextures)?;
        self.error = sums.total("error")?[0] / (3 * POINTS) as f64;
        self.step += 1;
        for (at, slope) in sums.buffer("w")?.into_iter().enumerate() {
            self.means[at] += 0.1 * (slope - self.means[at]);
            self.squares[at] += 0.001 * (slope * slope - self.squares[at]);
            let mean = self.means[at] / (1.0 - 0.9_f64.powi(self.step as i32));
            let square = self.squares[at] / (1.0 - 0.999_f64.powi(self.step as i32));
            let rate = if at < 192 { 0.05 } else { 0.005 };
            self.weights[at] -= (rate * mean / (square.sqrt() + 1e-8)) as f32;
        }
        Ok(())
    }

    /// The ratio of peak and noise in decibels, by the mean error.
    pub(crate) fn psnr(&self) -> f64 {
        -10.0 * self.error.log10()
    }
}

/// The network's program.
pub(crate) fn program() -> Result<Arc<Program>, Box<dyn Error>> {
    let mut layout = GlobalsLayout::new();
    layout.add("uv", Type::Vector(2))?;
    layout.add("target", Type::Vector(3))?;
    Ok(Compiler::new(layout).compile(&Sources::new("network.adu", SHADER))?)
}

/// The planes of the pixels: place and color.
pub(crate) fn planes() -> [Vec<f32>; 5] {
    let at = |pixel: usize| 2.0 * (pixel as f32 + 0.5) / SIDE as f32 - 1.0;
    let image = image();
    std::array::from_fn(|plane| {
        let pixels = (0..SIDE * SIDE).map(|pixel| match plane {
            0 => at(pixel % SIDE),
            1 => at(pixel / SIDE),
            color => image[pixel][color - 2],
        });
        pixels.collect()
    })
}

/// The planes as globals of a program.
fn globals<'p>(
    program: &Program,
    planes: &'p [Vec<f32>; 5],
) -> Result<BatchGlobals<'p>, Box<dyn Error>> {
    let mut globals = BatchGlobals::new(program.globals());
    for (at, plane) in planes.iter().enumerate() {
        let (name, scalar) = if at < 2 {
            ("uv", at)
        } else {
            ("target", at - 2)
        };
        globals.plane(name, Part::Value, scalar, plane, 1)?;
    }
    Ok(globals)
}

/// The planes as globals of a gradient's program, with the seed of the mean error.
pub(crate) fn seeded_globals<'p>(
    gradient: &Gradient,
    planes: &'p [Vec<f32>; 5],
) -> Result<BatchGlobals<'p>, Box<dyn Error>> {
    let mut globals = globals(gradient.program(), planes)?;
    let seed = 1.0 / (3 * SIDE * SIDE) as f32;
    globals.uniform_part("d(error)", Part::Value, seed)?;
    Ok(globals)
}

/// The nanoseconds that the value takes for a product and its addition, in the batch interpreter on
/// one thread: the least of several runs.
fn value_time(
    program: &Arc<Program>,
    planes: &[Vec<f32>; 5],
    weights: &[f32],
) -> Result<f64, Box<dyn Error>> {
    const PRODUCTS: usize = 2 * 64 + 64 * 64 + 3 * 64;
    let mut instance = Instance::new(program);
    instance.set_buffer("w", weights)?;
    let batch = WholeBatch::new(&instance);
    let globals = globals(program, planes)?;
    let mut least = f64::INFINITY;
    for _ in 0..10 {
        let begin = Instant::now();
        batch.sums(&globals, 0..SIDE * SIDE, &["error"], || NoTextures)?;
        least = least.min(begin.elapsed().as_nanos() as f64);
    }
    Ok(least / (SIDE * SIDE * PRODUCTS) as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = program()?;
    let gradient = program.gradient(&GradientRequest::new().of("error").by_buffer("w"))?;
    let planes = planes();
    let globals = seeded_globals(&gradient, &planes)?;
    let mut fit = Fit::new();
    let begin = Instant::now();
    for step in 1..=STEPS {
        fit.step(&gradient, &globals, &BatchSetup::default(), 0)?;
        if step % 20 == 0 {
            println!("step {step}: {:.2} dB", fit.psnr());
        }
    }
    let points = (SIDE * SIDE) as f64 * f64::from(STEPS);
    println!(
        "{:.0} ns a point",
        begin.elapsed().as_nanos() as f64 / points
    );
    println!(
        "value: {:.2} ns a multiply-add and point",
        value_time(&program, &planes, &fit.weights)?
    );
    Ok(())
}
