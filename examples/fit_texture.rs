//! Learns a texture of 256 × 256 texels from a view that shows it bent, lit and at its own mip
//! levels: the adjoints of samples come to the host, which weighs texels by them; then Adam (Kingma
//! and Ba 2015). Sums are exact, so that no number of threads makes a difference.
//!
//! `cargo run --release --example fit_texture`

use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, WholeBatch};
use adumbra::gradient::{ExactSum, Gradient, GradientRequest};
use adumbra::{
    Compiler, GlobalsLayout, Host, Instance, Program, SampleRequest, Sampled, Sources, Texel, Type,
};
use adumbra_image::{Image, ImageSize, MipPyramid, mip_level};
use std::error::Error;
use std::sync::{Arc, Mutex};

/// The view, and how far it is from the one that was taken.
const SHADER: &str = "
    texture2d albedo;

    shader view(out color c, out float error)
    {
        float2 p = global_value<uv>;
        float2 at = p + 0.03 * float2(sin(9 * p.y), cos(7 * p.x));
        float light = 0.7 + 0.3 * sin(5 * p.x + 3 * p.y);
        c = light * texture2d_sample<albedo>(at);
        float3 away = c - global_value<taken>;
        error = dot(away, away);
    }";

/// Steps of the fit.
pub(crate) const STEPS: u32 = 600;

/// A texture of that many texels along a side: rings, stripes, and grain.
pub(crate) fn texture(side: u32) -> MipPyramid {
    let size = ImageSize::new(side.into(), side.into()).expect("a small size");
    let texels = (0..side * side).map(|texel| {
        let [x, y] = [texel % side, texel / side].map(|i| (i as f32 + 0.5) / side as f32);
        let grain = (texel.wrapping_mul(747_796_405) >> 24) as f32 / 255.0;
        let ring = (40.0 * (x - 0.5).hypot(y - 0.4)).cos();
        let stripe = (30.0 * (x + 2.0 * y)).sin();
        [
            0.5 + 0.3 * ring + 0.1 * grain,
            0.4 + 0.3 * stripe * ring,
            0.3 + 0.4 * grain,
            1.0,
        ]
    });
    MipPyramid::new(Image::from_pixels(size, 3, texels.collect()))
}

/// The gradient by the texels of all levels.
type TexelSums = Vec<Vec<[ExactSum; 3]>>;

fn no_sums(of: &MipPyramid) -> TexelSums {
    let levels = of.levels().iter();
    let zeros = |level: &Image| vec![Default::default(); level.pixels().len()];
    levels.map(zeros).collect()
}

/// The host of one thread. What it has added up it adds to the whole in the end.
struct Texels<'a> {
    texture: &'a MipPyramid,
    sums: TexelSums,
    whole: &'a Mutex<TexelSums>,
}

impl<'a> Texels<'a> {
    fn new(texture: &'a MipPyramid, whole: &'a Mutex<TexelSums>) -> Texels<'a> {
        let sums = no_sums(texture);
        Texels {
            texture,
            sums,
            whole,
        }
    }

    /// The level of a request.
    fn level(&self, request: &SampleRequest) -> f32 {
        let dx = [request.dudx, request.dvdx];
        let dy = [request.dudy, request.dvdy];
        mip_level(self.texture.size(), dx, dy)
    }
}

impl Host for Texels<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let at = [request.u, request.v];
        let numbers = self.texture.sample_level(at, self.level(request));
        Sampled::Ready(numbers)
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        let (at, level) = ([request.u, request.v], self.level(request));
        self.texture.for_each_weight(at, level, |read| {
            let sums = &mut self.sums[read.level][read.texel];
            for (sum, adjoint) in sums.iter_mut().zip(adjoint.numbers) {
                sum.add(read.weight as f32 * adjoint);
            }
        });
    }
}

impl Drop for Texels<'_> {
    fn drop(&mut self) {
        let mut whole = self.whole.lock().expect("no host panics");
        let own = self.sums.iter().flatten().flatten();
        let all = whole.iter_mut().flatten().flatten();
        all.zip(own).for_each(|(sum, own)| sum.join(own));
    }
}

/// The view that was taken: places of its pixels, and what is seen there.
#[derive(Debug)]
pub(crate) struct View {
    uv: [Vec<f32>; 2],
    taken: [Vec<f32>; 3],
}

impl View {
    /// The view of a texture, with that many pixels along a side.
    pub(crate) fn take(
        program: &Arc<Program>,
        texture: &MipPyramid,
        side: usize,
    ) -> Result<View, Box<dyn Error>> {
        let pixels = 0..side * side;
        let plane = |of: &dyn Fn(usize) -> usize| {
            let at = pixels.clone().map(|pixel| of(pixel) as f32 + 0.5);
            at.map(|at| at / side as f32).collect::<Vec<f32>>()
        };
        let uv = [plane(&|pixel| pixel % side), plane(&|pixel| pixel / side)];
        let mut view = View {
            taken: std::array::from_fn(|_| vec![0.0; side * side]),
            uv,
        };
        let mut seen = view.taken.clone();
        let mut planes: Vec<OutputPlane<'_>> = (seen.iter_mut().enumerate())
            .map(|(i, plane)| OutputPlane::new("c", Part::Value, i, plane, 1))
            .collect();
        let sums = Mutex::new(no_sums(texture));
        let batch = WholeBatch::new(&Instance::new(program));
        let globals = view.globals(program)?;
        batch.planes(&globals, pixels, &mut planes, || {
            Texels::new(texture, &sums)
        })?;
        drop(globals);
        view.taken = seen;
        Ok(view)
    }

    fn pixels(&self) -> usize {
        self.uv[0].len()
    }

    /// The pixels as globals of a program, which are a pixel apart.
    fn globals(&self, program: &Program) -> Result<BatchGlobals<'_>, Box<dyn Error>> {
        let mut globals = BatchGlobals::new(program.globals());
        let step = 1.0 / (self.pixels() as f32).sqrt();
        globals.uniform("uv", [0.0; 2], [step, 0.0], [0.0, step])?;
        for (i, plane) in self.uv.iter().enumerate() {
            globals.plane("uv", Part::Value, i, plane, 1)?;
        }
        for (i, plane) in self.taken.iter().enumerate() {
            globals.plane("taken", Part::Value, i, plane, 1)?;
        }
        Ok(globals)
    }
}

/// The state of a fit: all that a later run goes on from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// Texels of the finest level.
    pub(crate) texels: Vec<[f32; 4]>,
    /// The mean error of the view before the last step.
    pub(crate) error: f64,
    side: u32,
    means: Vec<[f64; 3]>,
    squares: Vec<[f64; 3]>,
    step: u32,
}

impl Fit {
    /// A fit that starts at grey.
    pub(crate) fn new(side: u32) -> Fit {
        let count = (side * side) as usize;
        Fit {
            texels: vec![[0.5, 0.5, 0.5, 1.0]; count],
            error: f64::NAN,
            side,
            means: vec![[0.0; 3]; count],
            squares: vec![[0.0; 3]; count],
            step: 0,
        }
    }

    /// One step of Adam.
    pub(crate) fn step(
        &mut self,
        gradient: &Gradient,
        view: &View,
        setup: &BatchSetup,
        threads: usize,
    ) -> Result<(), Box<dyn Error>> {
        let size = ImageSize::new(self.side.into(), self.side.into())?;
        let texture = MipPyramid::new(Image::from_pixels(size, 3, self.texels.clone()));
        let sums = Mutex::new(no_sums(&texture));
        let mut globals = view.globals(gradient.program())?;
        globals.uniform_part("d(error)", Part::Value, 1.0_f32)?;
        let batch = WholeBatch::new(&Instance::new(gradient.program()));
        let batch = batch.setup(setup.clone()).threads(threads);
        let (outputs, _) = batch.sums(&globals, 0..view.pixels(), &["error"], || {
            Texels::new(&texture, &sums)
        })?;
        self.error = outputs.total("error")?[0] / (3 * view.pixels()) as f64;
        let sums = sums.into_inner()?;
        let of =
            |sums: [ExactSum; 3]| [0, 1, 2, 3].map(|i| sums.get(i).map_or(0.0, ExactSum::to_f64));
        let levels = sums
            .into_iter()
            .map(|level| level.into_iter().map(of).collect());
        let slopes = texture.finest_gradient(levels.collect());
        self.step += 1;
        let done = |decay: f64| 1.0 - decay.powi(self.step as i32);
        let (of_means, of_squares) = (done(0.9), done(0.99));
        // A rate that ends small.
        let rate = 0.03 * 0.99_f64.powi(self.step as i32).max(0.02);
        for (at, slopes) in slopes.into_iter().enumerate() {
            for (i, &slope) in slopes[..3].iter().enumerate() {
                let (mean, square) = (&mut self.means[at][i], &mut self.squares[at][i]);
                *mean += 0.1 * (slope - *mean);
                *square += 0.01 * (slope * slope - *square);
                let root = (*square / of_squares).sqrt() + 1e-8;
                self.texels[at][i] -= (rate * (*mean / of_means) / root) as f32;
            }
        }
        Ok(())
    }

    /// How far texels are from those of a texture: the root of the mean square, and the most.
    pub(crate) fn distance(&self, texture: &MipPyramid) -> [f64; 2] {
        let texels = self.texels.iter().zip(texture.levels()[0].pixels());
        let numbers = texels.flat_map(|(found, is)| found[..3].iter().zip(is));
        let mut count = 0.0;
        let [squares, most] = numbers.fold([0.0_f64; 2], |[squares, most], (found, is)| {
            let away = f64::from(found - is);
            count += 1.0;
            [squares + away * away, most.max(away.abs())]
        });
        [(squares / count).sqrt(), most]
    }
}

/// The program of the view.
pub(crate) fn program() -> Result<Arc<Program>, Box<dyn Error>> {
    let mut layout = GlobalsLayout::new();
    layout.add("uv", Type::Vector(2))?;
    layout.add("taken", Type::Vector(3))?;
    Ok(Compiler::new(layout).compile(&Sources::new("view.adu", SHADER))?)
}

/// What the fit follows: the gradient of the error by the texture.
pub(crate) fn request() -> GradientRequest {
    GradientRequest::new().of("error").by_texture("albedo")
}

fn main() -> Result<(), Box<dyn Error>> {
    let (program, truth) = (program()?, texture(256));
    let gradient = program.gradient(&request())?;
    let view = View::take(&program, &truth, 384)?;
    let mut fit = Fit::new(256);
    let begin = std::time::Instant::now();
    for step in 1..=STEPS {
        fit.step(&gradient, &view, &BatchSetup::default(), 0)?;
        if step % 50 == 0 {
            let [root, most] = fit.distance(&truth).map(|away| 255.0 * away);
            println!("step {step}: {root:.3}/255 from the texture, at most {most:.2}/255");
        }
    }
    let points = view.pixels() as f64 * f64::from(STEPS);
    let time = begin.elapsed().as_nanos() as f64 / points;
    println!("{time:.0} ns a pixel and step");
    Ok(())
}
