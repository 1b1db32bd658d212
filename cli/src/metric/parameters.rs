//! The parameters of a shader: the floats of its inputs, over their ranges, and the path on which
//! they move.

use crate::error::{CliError, CliResult};
use crate::moved::{MovedFloat, input_float, set_input_floats};
use adumbra::Instance;
use adumbra::gradient::Gradient;
use fastrand::Rng;

/// Half the length of the path.
const REACH: f64 = 1e-3;

/// Half the width of the box of a parameter, over half the length of the path and by √n.
const BLUR: f64 = 0.1;

/// Metadata of an input: the range of its floats.
const RANGE: &str = "range";

/// A float of an input.
struct ParameterFloat {
    /// The input among those of the gradient.
    input: usize,
    /// Its number among the scalars of the input.
    scalar: usize,
    centre: f32,
    range: f64,
    /// How far it moves, over its range, as the parameters move by 1.
    direction: f64,
}

/// The parameters, and the straight path θ₀ to θ₁ on which they move.
pub struct Parameters {
    inputs: Vec<String>,
    floats: Vec<ParameterFloat>,
    /// The shader at the middle of the path.
    centre: Instance,
}

impl Parameters {
    /// The floats of the inputs that a gradient is by, with the path in a random direction through
    /// their values.
    ///
    /// # Errors
    /// If there is none, or one is not finite.
    pub fn new(centre: &Instance, gradient: &Gradient, random: &mut Rng) -> CliResult<Parameters> {
        let inputs: Vec<String> = (gradient.parameters().iter())
            .map(|parameter| parameter.value.name.clone())
            .collect();
        let mut floats = Vec::new();
        for (number, name) in inputs.iter().enumerate() {
            let mut known = centre.program().inputs().iter();
            let input = known.find(|input| input.name == *name);
            let input = input.expect("the gradient is by it");
            let range = input
                .metadata_value(RANGE)
                .and_then(|range| range.as_number());
            if let Some(range) = range.filter(|range| !(*range > 0.0 && range.is_finite())) {
                return Err(CliError::usage(format!(
                    "the range of `{name}` is {range}, and must be above 0 and finite"
                )));
            }
            for scalar in input.ty.float_scalars() {
                let value = input_float(centre, name, scalar);
                if !value.is_finite() {
                    return Err(CliError::usage(format!("a float of `{name}` is {value}")));
                }
                floats.push(ParameterFloat {
                    input: number,
                    scalar,
                    centre: value,
                    range: range.unwrap_or(f64::from(value.abs()).max(1.0)),
                    direction: normal(random),
                });
            }
        }
        let norm = floats.iter().map(|float| float.direction * float.direction);
        let norm = norm.sum::<f64>().sqrt();
        for float in &mut floats {
            float.direction /= norm;
        }
        Ok(Parameters {
            inputs,
            floats,
            centre: centre.clone(),
        })
    }

    /// How many floats there are.
    pub fn count(&self) -> usize {
        self.floats.len()
    }

    /// The values on the path: at -1 they are θ₀, and θ₁ at 1; each float is moved by its offset
    /// over its range.
    pub fn values(&self, along: f64, offsets: &[f64]) -> Vec<f32> {
        let floats = self.floats.iter().zip(offsets);
        let moved = floats.map(|(float, offset)| {
            let by = along * REACH * float.direction + offset;
            (f64::from(float.centre) + by * float.range) as f32
        });
        moved.collect()
    }

    /// Random offsets of all floats, in the box that values are averaged over.
    pub fn offsets(&self, random: &mut Rng) -> Vec<f64> {
        let half = BLUR * REACH / (self.count() as f64).sqrt();
        let offset = |_| half * (2.0 * random.f64() - 1.0);
        (0..self.count()).map(offset).collect()
    }

    /// An instance of a program of the shader, with these values.
    pub fn instance(&self, program: &Instance, values: &[f32]) -> Instance {
        let mut instance = program.clone();
        for (number, name) in self.inputs.iter().enumerate() {
            let own = self.floats.iter().zip(values);
            let own = own.filter(|(float, _)| float.input == number);
            let own: Vec<(usize, f32)> = own.map(|(float, value)| (float.scalar, *value)).collect();
            set_input_floats(&mut instance, name, &own);
        }
        instance
    }

    /// The shader with these values, and one of them a step to either side.
    pub fn moved(&self, values: &[f32], float: usize, step: f64) -> ([Instance; 2], f64) {
        let moved = MovedFloat::new(values[float], step);
        let side = |value: f32| {
            let mut values = values.to_vec();
            values[float] = value;
            self.instance(&self.centre, &values)
        };
        (moved.sides.map(side), moved.apart)
    }

    /// The shader at the middle of the path.
    pub fn centre(&self) -> &Instance {
        &self.centre
    }

    /// How far a float moves on the whole path: what its slope counts.
    pub fn way(&self, float: usize) -> f64 {
        let float = &self.floats[float];
        2.0 * REACH * float.direction * float.range
    }
}

/// A number that is close to one of the normal distribution: a sum of uniform ones, which is the
/// same on every platform.
fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.f64() - 0.5).sum()
}
