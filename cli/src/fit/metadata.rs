//! The metadata of inputs that a fit reads.

use crate::error::{CliError, CliResult};
use crate::report::{self, OutputFormat};
use adumbra::program::Input;
use adumbra_fit::ParameterBounds;
use adumbra_frontend::closest_name;

/// The names of what is said beside bounds.
const FLAGS: [&str; 3] = ["fit", "keep", "noise"];

/// What the metadata of an input says of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitMetadata {
    /// Fit it, and of the others only those that have this, too.
    pub fit: bool,
    /// Leave it as it is.
    pub keep: bool,
    /// The least and the greatest value, the range and the learning rate.
    pub bounds: ParameterBounds,
    /// Whether it is a random variable, if that is said.
    pub noise: Option<bool>,
}

impl FitMetadata {
    /// Reads that of an input.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn new(input: &Input) -> CliResult<FitMetadata> {
        let flag = |name: &str| {
            let value = input.metadata_value(name)?;
            Some(value.as_bool() != Some(false))
        };
        // What is no number is NaN here.
        let number = |name: &str| {
            let value = input.metadata_value(name)?;
            Some(value.as_number().unwrap_or(f64::NAN))
        };
        let bounds = ParameterBounds::read(&input.name, number);
        Ok(FitMetadata {
            fit: flag("fit") == Some(true),
            keep: flag("keep") == Some(true),
            bounds: bounds.map_err(|refused| CliError::usage(refused.to_string()))?,
            noise: flag("noise"),
        })
    }
}

/// Notes metadata whose name is nearly one that fits read.
pub fn note_misspelt(input: &Input, format: OutputFormat) {
    let names = input.metadata.iter().map(|entry| entry.name.as_str());
    let known = || FLAGS.into_iter().chain(ParameterBounds::NAMES);
    for name in names.filter(|name| known().all(|known| known != *name)) {
        if let Some(meant) = closest_name(name, known()) {
            let text = format!(
                "a fit reads no metadata `{name}`, as the input `{}` has; did you mean `{meant}`?",
                input.name
            );
            report::note(&text, format);
        }
    }
}
