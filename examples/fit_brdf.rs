//! Finds roughness and color of a surface from 256 samples of its reflection: the gradient of a
//! shader, a sum over points, and Adam (Kingma and Ba 2015).
//!
//! `cargo run --release --example fit_brdf`

use adumbra::batch::{BatchGlobals, Part, WholeBatch};
use adumbra::gradient::{Gradient, GradientRequest};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use std::error::Error;
use std::sync::Arc;

/// Reflection by Schlick's Fresnel term and a GGX lobe, over a diffuse base; and how far it is from
/// what was measured.
const SHADER: &str = "
    shader surface(float roughness = 0.5, color base = color(0.5), out color reflected, out float error)
    {
        float3 to_light = normalize(global_value<to_light>), to_eye = normalize(global_value<to_eye>);
        float3 half_way = normalize(to_light + to_eye);
        float alpha = ggx_alpha(roughness);
        float gloss = ggx_d(half_way.z, alpha) * ggx_g2(to_light.z, to_eye.z, alpha)
            / (4.0 * to_light.z * to_eye.z);
        float fresnel = 0.04 + 0.96 * pow(1.0 - dot(half_way, to_eye), 5.0);
        reflected = to_light.z * (base / 3.14159265 + fresnel * gloss);
        // Logarithms weigh dark samples as bright ones.
        float3 away = log(0.01 + reflected) - log(0.01 + global_value<measured>);
        error = dot(away, away);
    }";

/// Samples of the reflection.
const SAMPLES: usize = 256;

/// Steps of the fit.
pub(crate) const STEPS: u32 = 300;

/// What was measured at each sample: directions to light and eye, and the reflected color.
#[derive(Clone)]
pub(crate) struct Measured {
    planes: [Vec<f32>; 9],
}

/// Numbers between 0 and 1 that fill an interval evenly (Roberts 2018, the additive recurrence of
/// the plastic number).
fn evenly(sample: usize, along: i32) -> f32 {
    let step = 1.0 / 1.220_744_1_f64.powi(along + 1);
    ((sample as f64 + 0.5) * step).fract() as f32
}

impl Measured {
    /// Samples of a surface with this roughness and base color.
    pub(crate) fn of(
        program: &Arc<Program>,
        roughness: f32,
        base: [f32; 3],
    ) -> Result<Measured, Box<dyn Error>> {
        let direction = |sample: usize, first: i32| {
            let (z, around) = (0.2 + 0.8 * evenly(sample, first), evenly(sample, first + 1));
            let (sine, angle) = ((1.0 - z * z).sqrt(), std::f32::consts::TAU * around);
            [sine * angle.cos(), sine * angle.sin(), z]
        };
        let mut measured = Measured {
            planes: std::array::from_fn(|_| vec![0.0; SAMPLES]),
        };
        for sample in 0..SAMPLES {
            let (light, eye) = (direction(sample, 0), direction(sample, 2));
            // Half of the samples are near the mirrored direction, where gloss is.
            let eye = match sample % 2 {
                0 => [-light[0] + 0.2 * eye[0], -light[1] + 0.2 * eye[1], light[2]],
                _ => eye,
            };
            for (plane, number) in measured.planes.iter_mut().zip([light, eye].concat()) {
                plane[sample] = number;
            }
        }
        let mut instance = Instance::new(program);
        instance.set("roughness", roughness)?;
        instance.set("base", base)?;
        let globals = measured.globals(program)?;
        let mut reflected: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.0; SAMPLES]);
        let mut planes: Vec<_> = (reflected.iter_mut().enumerate())
            .map(|(at, plane)| {
                adumbra::batch::OutputPlane::new("reflected", Part::Value, at, plane, 1)
            })
            .collect();
        WholeBatch::new(&instance).planes(&globals, 0..SAMPLES, &mut planes, || NoTextures)?;
        drop(planes);
        drop(globals);
        for (plane, reflected) in measured.planes[6..].iter_mut().zip(reflected) {
            *plane = reflected;
        }
        Ok(measured)
    }

    /// The samples as globals of a program.
    fn globals(&self, program: &Program) -> Result<BatchGlobals<'_>, Box<dyn Error>> {
        let mut globals = BatchGlobals::new(program.globals());
        for (at, plane) in self.planes.iter().enumerate() {
            let name = ["to_light", "to_eye", "measured"][at / 3];
            globals.plane(name, Part::Value, at % 3, plane, 1)?;
        }
        Ok(globals)
    }
}

/// The shader's program.
pub(crate) fn program() -> Result<Arc<Program>, Box<dyn Error>> {
    let mut layout = GlobalsLayout::new();
    for name in ["to_light", "to_eye", "measured"] {
        layout.add(name, Type::Vector(3))?;
    }
    Ok(Compiler::new(layout).compile(&Sources::new("surface.adu", SHADER))?)
}

/// The state of a fit: all that a later run goes on from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// Roughness, and the base color.
    pub(crate) parameters: [f32; 4],
    /// The mean error before the last step.
    pub(crate) error: f64,
    means: [f64; 4],
    squares: [f64; 4],
    step: u32,
}

impl Fit {
    /// The start.
    pub(crate) fn new() -> Fit {
        Fit {
            parameters: [0.5; 4],
            error: f64::INFINITY,
            means: [0.0; 4],
            squares: [0.0; 4],
            step: 0,
        }
    }

    /// Goes on for that many steps of Adam, on that many threads.
    pub(crate) fn run(
        &mut self,
        gradient: &Gradient,
        measured: &Measured,
        steps: u32,
        threads: usize,
    ) -> Result<(), Box<dyn Error>> {
        let program = gradient.program();
        let mut globals = measured.globals(program)?;
        globals.uniform_part("d(error)", Part::Value, 1.0 / SAMPLES as f32)?;
        for _ in 0..steps {
            let [roughness, red, green, blue] = self.parameters;
            let mut surface = Instance::new(program);
            surface.set("roughness", roughness)?;
            surface.set("base", [red, green, blue])?;
            let batch = WholeBatch::new(&surface).threads(threads);
            let summed = ["error", "d(roughness)", "d(base)"];
            let (sums, _) = batch.sums(&globals, 0..SAMPLES, &summed, || NoTextures)?;
            self.error = sums.total("error")?[0] / SAMPLES as f64;
            let slopes = [sums.total("d(roughness)")?, sums.total("d(base)")?].concat();
            self.step += 1;
            let rate = 0.03 * 0.5_f64.powf(f64::from(self.step) / 60.0);
            for (at, slope) in slopes.into_iter().enumerate() {
                self.means[at] += 0.1 * (slope - self.means[at]);
                self.squares[at] += 0.01 * (slope * slope - self.squares[at]);
                let mean = self.means[at] / (1.0 - 0.9_f64.powi(self.step as i32));
                let square = self.squares[at] / (1.0 - 0.99_f64.powi(self.step as i32));
                let moved = f64::from(self.parameters[at]) - rate * mean / (square.sqrt() + 1e-8);
                self.parameters[at] = moved.clamp(0.01, 1.0) as f32;
            }
        }
        Ok(())
    }
}

impl Default for Fit {
    fn default() -> Fit {
        Fit::new()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = program()?;
    let gradient = program.gradient(&GradientRequest::new().of("error"))?;
    let measured = Measured::of(&program, 0.27, [0.8, 0.45, 0.1])?;
    let mut fit = Fit::new();
    for _ in 0..10 {
        fit.run(&gradient, &measured, STEPS / 10, 2)?;
        let [roughness, red, green, blue] = fit.parameters;
        println!(
            "error {:.6}  roughness {roughness:.4}  base {red:.4}, {green:.4}, {blue:.4}",
            fit.error
        );
    }
    Ok(())
}
