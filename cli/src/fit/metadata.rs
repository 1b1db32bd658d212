//! The metadata of inputs that a fit reads.

use crate::error::{CliError, CliResult};
use crate::report::{self, OutputFormat};
use adumbra::program::Input;
use adumbra_frontend::closest_name;
use std::cmp::Ordering;

/// The names of all of it.
const NAMES: [&str; 7] = [
    "fit",
    "keep",
    "min",
    "max",
    "range",
    "learning_rate",
    "noise",
];

/// What the metadata of an input says of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitMetadata {
    /// Fit it, and of the others only those that have this, too.
    pub fit: bool,
    /// Leave it as it is.
    pub keep: bool,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value, above the least.
    pub max: Option<f64>,
    /// The width that starts are drawn from, above 0.
    pub range: Option<f64>,
    /// How far an iteration goes at most, about, over the range: above 0, and at most 1.
    pub learning_rate: Option<f64>,
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
        let refused = |what: &str, needed: &str| {
            let name = &input.name;
            Err(CliError::usage(format!(
                "{what} of the input `{name}` must be {needed}"
            )))
        };
        let found = FitMetadata {
            fit: flag("fit") == Some(true),
            keep: flag("keep") == Some(true),
            min: number("min"),
            max: number("max"),
            range: number("range"),
            learning_rate: number("learning_rate"),
            noise: flag("noise"),
        };
        let ends = (
            found.min.unwrap_or(f64::NEG_INFINITY),
            found.max.unwrap_or(f64::INFINITY),
        );
        if ends.0.partial_cmp(&ends.1) != Some(Ordering::Less) {
            return refused("`min` and `max`", "numbers, the first below the second");
        }
        if found
            .range
            .is_some_and(|range| !(range > 0.0 && range.is_finite()))
        {
            return refused("`range`", "a number above 0");
        }
        if found
            .learning_rate
            .is_some_and(|rate| !(rate > 0.0 && rate <= 1.0))
        {
            return refused("`learning_rate`", "a number above 0 and at most 1");
        }
        Ok(found)
    }
}

/// Notes metadata whose name is nearly one that fits read.
pub fn note_misspelt(input: &Input, format: OutputFormat) {
    let names = input.metadata.iter().map(|entry| entry.name.as_str());
    for name in names.filter(|name| !NAMES.contains(name)) {
        if let Some(meant) = closest_name(name, NAMES.into_iter()) {
            let text = format!(
                "a fit reads no metadata `{name}`, as the input `{}` has; did you mean `{meant}`?",
                input.name
            );
            report::note(&text, format);
        }
    }
}
