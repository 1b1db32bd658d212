//! The parameters of a fit: floats of a shader's inputs, by their metadata and by options.
//!
//! Inputs with the metadata `fit` are fitted, or all that have floats if none has it; those with
//! `keep` never are. Likewise those with `noise` are random variables if there are some, or all
//! that move edges.

use super::metadata::{FitMetadata, note_misspelt};
use crate::args::fit::FitArgs;
use crate::error::{CliError, CliResult};
use crate::moved::{input_float, set_input_floats};
use crate::report::{self, OutputFormat};
use crate::show::has_floats;
use adumbra::gradient::RandomInput;
use adumbra::program::Input;
use adumbra::{Instance, Type};
use adumbra_fit::{FitParameter, LEARNING_RATE};
use adumbra_frontend::closest_name;

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
    /// What its metadata says of noise, if it does.
    noise: Option<bool>,
    /// The random variable that it is, if it is one.
    pub variable: Option<RandomInput>,
}

impl FittedInputs {
    /// The inputs of a shader that are fitted, from the values of an instance. What its metadata
    /// may have meant otherwise is noted.
    ///
    /// # Errors
    /// If there is none, the metadata of one makes no sense, or the arguments name none.
    pub fn new(start: &Instance, args: &FitArgs, format: OutputFormat) -> CliResult<FittedInputs> {
        let all = start.program().inputs();
        let rates = args.learning_rates.iter();
        for name in rates.filter_map(|of| of.input.as_ref()).chain(&args.fixed) {
            check_is_input(all, name)?;
        }
        all.iter().for_each(|input| note_misspelt(input, format));
        let metadata = all.iter().map(FitMetadata::new);
        let metadata: Vec<FitMetadata> = metadata.collect::<CliResult<_>>()?;
        let is_any_named = metadata.iter().any(|of| of.fit);
        let mut fitted = FittedInputs {
            inputs: Vec::new(),
            floats: Vec::new(),
        };
        for (input, of) in all.iter().zip(&metadata) {
            let can_be_fitted = has_floats(&input.ty) && can_be_written(&input.ty);
            let is_chosen = match is_any_named {
                true => of.fit,
                false => can_be_fitted,
            };
            if !is_chosen || of.keep || args.fixed.contains(&input.name) {
                continue;
            }
            if !can_be_fitted {
                return Err(CliError::usage(format!(
                    "the input `{}` of type `{}` cannot be fitted: floats, vectors, matrices and arrays of these can",
                    input.name, input.ty
                )));
            }
            fitted.add(start, input, of, args)?;
        }
        if fitted.inputs.is_empty() {
            return Err(CliError::usage(
                "there is nothing to fit: no input has floats that may change",
            ));
        }
        fitted.note_starts(format);
        Ok(fitted)
    }

    fn add(
        &mut self,
        start: &Instance,
        input: &Input,
        of: &FitMetadata,
        args: &FitArgs,
    ) -> CliResult {
        let rates = args.learning_rates.iter().rev();
        let own = rates
            .clone()
            .find(|rate| rate.input.as_ref() == Some(&input.name));
        let of_all = rates.clone().find(|rate| rate.input.is_none());
        // The option of one input is before its metadata, and that before the option of all.
        let learning_rate = own.map(|own| own.rate).or(of.bounds.learning_rate);
        let learning_rate = learning_rate.or(of_all.map(|of_all| of_all.rate));
        let (first, scalars) = (self.floats.len(), input.ty.float_scalars());
        for &scalar in &scalars {
            let value = f64::from(input_float(start, &input.name, scalar));
            if !value.is_finite() {
                let name = &input.name;
                return Err(CliError::usage(format!("a float of `{name}` is {value}")));
            }
            let parameter = of.bounds.parameter(&input.name, value);
            self.floats.push(FitParameter {
                learning_rate: learning_rate.unwrap_or(LEARNING_RATE),
                ..parameter
            });
        }
        self.inputs.push(FittedInput {
            name: input.name.clone(),
            first,
            scalars,
            noise: of.noise,
            variable: None,
        });
        Ok(())
    }

    /// Notes floats that begin at a bound, since they are beyond it.
    fn note_starts(&self, format: OutputFormat) {
        for float in &self.floats {
            let begins = float.clamp(float.value);
            if begins != float.value {
                let bound = if begins == float.min { "min" } else { "max" };
                let text = format!(
                    "`{}` is {}, beyond its `{bound}`: the first start has {begins}",
                    float.name, float.value
                );
                report::note(&text, format);
            }
        }
    }

    /// The inputs that are to be random variables: those that the metadata names, or all that move
    /// edges but for those that it denies.
    ///
    /// # Errors
    /// If one that is named moves no edge.
    pub fn random_names(&self, moves_edges: impl Fn(&str) -> bool) -> CliResult<Vec<String>> {
        let is_any_named = self.inputs.iter().any(|input| input.noise == Some(true));
        let mut names = Vec::new();
        for input in &self.inputs {
            let is_chosen = match is_any_named {
                true => input.noise == Some(true),
                false => input.noise.is_none() && moves_edges(&input.name),
            };
            if is_chosen && !moves_edges(&input.name) {
                return Err(CliError::usage(format!(
                    "`noise` of the input `{}`: only inputs that move edges are random variables, and it moves none",
                    input.name
                )));
            }
            names.extend(is_chosen.then(|| input.name.clone()));
        }
        Ok(names)
    }

    /// Makes inputs random variables.
    pub fn make_random(&mut self, variables: &[RandomInput]) {
        for input in &mut self.inputs {
            let mut variables = variables.iter();
            input.variable = variables.find(|of| of.input == input.name).cloned();
            let is_random = input.variable.is_some();
            let floats = input.of_mut(&mut self.floats);
            floats.iter_mut().for_each(|float| float.noise = is_random);
        }
    }

    /// The numbers of the floats that are random variables, in order.
    pub fn random_floats(&self) -> impl Iterator<Item = usize> {
        let floats = self.floats.iter().enumerate();
        floats
            .filter(|(_, float)| float.is_random())
            .map(|(at, _)| at)
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

    /// Sets the scales of random variables of an instance of the program that has them; those of a
    /// fit are over the ranges of the inputs.
    pub fn set_scales(&self, instance: &mut Instance, scales: &[f64]) {
        for input in &self.inputs {
            let Some(variable) = &input.variable else {
                continue;
            };
            let floats = input.of(scales).iter().zip(input.of(&self.floats));
            let floats = floats.map(|(scale, float)| (scale * float.width()) as f32);
            let floats: Vec<(usize, f32)> = floats.enumerate().collect();
            set_input_floats(instance, &variable.scale, &floats);
        }
    }
}

impl FittedInput {
    /// Its own among those of all floats.
    pub fn of<'v, T>(&self, values: &'v [T]) -> &'v [T] {
        &values[self.first..][..self.scalars.len()]
    }

    /// Its own among those of all floats.
    pub fn of_mut<'v, T>(&self, values: &'v mut [T]) -> &'v mut [T] {
        &mut values[self.first..][..self.scalars.len()]
    }
}

/// Checks that there is an input of a name that an option gives.
fn check_is_input(inputs: &[Input], name: &str) -> CliResult {
    if inputs.iter().any(|input| input.name == name) {
        return Ok(());
    }
    let known = inputs.iter().map(|input| input.name.as_str());
    Err(CliError::usage(match closest_name(name, known) {
        Some(meant) => format!("there is no input `{name}`; did you mean `{meant}`?"),
        None => format!("there is no input `{name}`"),
    }))
}

/// Whether a value of the type can be written as a default.
pub fn can_be_written(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Vector(_) | Type::Matrix(_) => true,
        Type::Array(element, _) => can_be_written(element),
        Type::Struct(_) => false,
    }
}
