//! The parameters of a fit: floats of a shader's inputs, by their metadata.
//!
//! Inputs with the metadata `fit` are fitted, or all that have floats if none has it. `min` and
//! `max` are bounds, `range` is the width that starts are drawn from, and `keep` is for inputs that
//! stay as they are.

use crate::error::{CliError, CliResult};
use crate::moved::{input_float, set_input_floats};
use crate::show::has_floats;
use adumbra::program::Input;
use adumbra::{Instance, Type};
use adumbra_fit::FitParameter;
use std::cmp::Ordering;

/// The inputs that are fitted.
#[derive(Clone, Debug)]
pub struct FittedInputs {
    inputs: Vec<FittedInput>,
    floats: Vec<FitParameter>,
}

/// An input, whose floats follow one another among all.
#[derive(Clone, Debug)]
pub struct FittedInput {
    pub name: String,
    /// The number of its first float among all.
    first: usize,
    /// The floats' numbers among the scalars of the input.
    scalars: Vec<usize>,
}

impl FittedInputs {
    /// The inputs of a shader that are fitted, from the values of an instance.
    ///
    /// # Errors
    /// If there is none, or the metadata of one makes no sense.
    pub fn new(start: &Instance) -> CliResult<FittedInputs> {
        let all = start.program().inputs();
        let is_named = |input: &&Input| has_flag(input, "fit");
        let is_any_named = all.iter().any(|input| is_named(&input));
        let is_fitted = |input: &&Input| match is_any_named {
            true => is_named(input),
            false => has_floats(&input.ty) && can_be_written(&input.ty),
        };
        let mut fitted = FittedInputs {
            inputs: Vec::new(),
            floats: Vec::new(),
        };
        for input in all.iter().filter(is_fitted) {
            if has_flag(input, "keep") {
                continue;
            }
            if !has_floats(&input.ty) || !can_be_written(&input.ty) {
                return Err(CliError::usage(format!(
                    "the input `{}` of type `{}` cannot be fitted: floats, vectors, matrices and arrays of these can",
                    input.name, input.ty
                )));
            }
            fitted.add(start, input)?;
        }
        if fitted.inputs.is_empty() {
            return Err(CliError::usage(
                "there is nothing to fit: no input has floats that may change",
            ));
        }
        Ok(fitted)
    }

    fn add(&mut self, start: &Instance, input: &Input) -> CliResult {
        let number = |name: &str| {
            let value = input.metadata_value(name)?;
            Some(value.as_number().unwrap_or(f64::NAN))
        };
        let (least, most) = (number("min"), number("max"));
        let (min, max) = (
            least.unwrap_or(f64::NEG_INFINITY),
            most.unwrap_or(f64::INFINITY),
        );
        // What is no number is NaN here.
        if min.partial_cmp(&max) != Some(Ordering::Less) {
            return Err(CliError::usage(format!(
                "`min` and `max` of the input `{}` must be numbers, the first below the second",
                input.name
            )));
        }
        let range = number("range");
        if range.is_some_and(|range| !(range > 0.0 && range.is_finite())) {
            return Err(CliError::usage(format!(
                "`range` of the input `{}` must be a number above 0",
                input.name
            )));
        }
        let (first, scalars) = (self.floats.len(), input.ty.float_scalars());
        for &scalar in &scalars {
            let value = f64::from(input_float(start, &input.name, scalar));
            if !value.is_finite() {
                let name = &input.name;
                return Err(CliError::usage(format!("a float of `{name}` is {value}")));
            }
            let around = |width: f64| [value - width / 2.0, value + width / 2.0];
            let range = match (range, least, most) {
                (Some(range), ..) => around(range),
                (None, Some(min), Some(max)) => [min, max],
                (None, ..) => around(value.abs().max(1.0)),
            };
            self.floats.push(FitParameter {
                min,
                max,
                ..FitParameter::new(&input.name, value, range)
            });
        }
        self.inputs.push(FittedInput {
            name: input.name.clone(),
            first,
            scalars,
        });
        Ok(())
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[FittedInput] {
        &self.inputs
    }

    /// All floats, in order.
    pub fn floats(&self) -> &[FitParameter] {
        &self.floats
    }

    /// Sets the inputs of an instance of any program of the shader.
    pub fn set(&self, instance: &mut Instance, values: &[f64]) {
        for input in &self.inputs {
            let scalars = input.scalars.iter().zip(input.of(values));
            let floats: Vec<(usize, f32)> = scalars
                .map(|(scalar, value)| (*scalar, *value as f32))
                .collect();
            set_input_floats(instance, &input.name, &floats);
        }
    }
}

impl FittedInput {
    /// Its own among the numbers of all floats.
    pub fn of<'v>(&self, values: &'v [f64]) -> &'v [f64] {
        &values[self.first..][..self.scalars.len()]
    }

    /// Its own among the numbers of all floats.
    pub fn of_mut<'v>(&self, values: &'v mut [f64]) -> &'v mut [f64] {
        &mut values[self.first..][..self.scalars.len()]
    }
}

/// Whether metadata names a flag, and does not deny it.
fn has_flag(input: &Input, name: &str) -> bool {
    let value = input.metadata_value(name);
    value.is_some_and(|value| value.as_bool() != Some(false))
}

/// Whether a value of the type can be written as a default.
pub fn can_be_written(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Vector(_) | Type::Matrix(_) => true,
        Type::Array(element, _) => can_be_written(element),
        Type::Struct(_) => false,
    }
}
