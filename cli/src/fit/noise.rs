//! Random variables of a fit: the inputs that are some, and their offsets at pixels.
//!
//! An offset depends on the seed of an iteration, the number of the parameter and that of the pixel
//! alone, so threads change none.

use super::gradient::edge_gradient;
use super::parameters::FittedInputs;
use crate::error::CliResult;
use crate::image::ShownOutput;
use crate::load::report_compile_error;
use crate::report::{self, OutputFormat};
use adumbra::Program;
use adumbra::batch::{BatchGlobals, Part};
use adumbra::gradient::{JumpGradient, NoisyProgram};
use adumbra_fit::{ParameterPoint, RasterShape};

/// The shader with the inputs that are random variables, which are then known to be; none if there
/// is no such input.
///
/// # Errors
/// If metadata names one that moves no edge.
pub fn noisy_program(
    program: &Program,
    inputs: &mut FittedInputs,
    output: &ShownOutput,
    format: OutputFormat,
) -> CliResult<Option<NoisyProgram>> {
    let refused = |why| report_compile_error(why, None, format);
    let jumps = edge_gradient(program, inputs, output).map_err(refused)?;
    let names = inputs.random_names(|name| moves_edges(&jumps, name))?;
    if names.is_empty() {
        report::note(
            "no input that is fitted moves an edge, so none is a random variable",
            format,
        );
        return Ok(None);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let noisy = program.with_noise(&names).map_err(refused)?;
    inputs.make_random(noisy.variables());
    Ok(Some(noisy))
}

fn moves_edges(jumps: &JumpGradient, input: &str) -> bool {
    let mut parameters = jumps.smooth().parameters().iter();
    parameters.any(|by| by.value.name == input && jumps.moves_edges(by))
}

/// The offsets of random variables at the pixels of all targets, in one iteration.
#[derive(Default)]
pub struct NoisePlanes {
    /// The iteration's seed, once there is one.
    seed: Option<u64>,
    /// By target and random float, in order, the offset at each pixel.
    offsets: Vec<Vec<Vec<f32>>>,
}

impl NoisePlanes {
    /// Draws the offsets of an iteration, unless they are there.
    pub fn draw(
        &mut self,
        point: &ParameterPoint<'_>,
        inputs: &FittedInputs,
        shapes: &[RasterShape],
    ) {
        if self.seed == Some(point.noise_seed) {
            return;
        }
        self.seed = Some(point.noise_seed);
        self.offsets.clear();
        let mut first = 0;
        for shape in shapes {
            let pixels = first..first + shape.pixels() as u64;
            first = pixels.end;
            let random = inputs.random_floats().map(|parameter| {
                let offsets = point.offsets(parameter);
                pixels.clone().map(|pixel| offsets.centred(pixel)).collect()
            });
            self.offsets.push(random.collect());
        }
    }

    /// Sets the globals of the noise at the pixels of a target.
    pub fn set<'p>(&'p self, target: usize, inputs: &FittedInputs, globals: &mut BatchGlobals<'p>) {
        let variables = inputs.inputs().iter().filter_map(|of| of.variable.as_ref());
        let axes = variables.flat_map(|variable| &variable.axes);
        for (axis, offsets) in axes.zip(&self.offsets[target]) {
            globals
                .plane(axis.global(), Part::Value, axis.scalar(), offsets, 1)
                .expect("the program has the noise");
        }
    }
}
