//! Options of a fit, and why a fit cannot begin.

use crate::objective::{FitParameter, RasterShape};
use crate::schedule::Schedule;
use std::fmt;

/// How parameters are fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// The number of restarts, > 0.
    pub restarts: usize,
    /// The number of the first restart: a fit may be divided among machines.
    pub first_restart: usize,
    /// What all random numbers come from.
    pub random_seed: u64,
    /// Whether parameters that ask for it are random variables.
    pub noise: bool,
    /// Whether restart 0 begins with the given values, instead of drawn ones.
    pub first_given: bool,
    /// The loss without noise at which a restart is accepted: it ends, and so does the fit. Without
    /// one none is.
    pub accept: Option<f64>,
    /// How long a restart may take.
    pub schedule: Schedule,
}

impl Default for FitOptions {
    /// One restart, from drawn values, with noise.
    fn default() -> FitOptions {
        FitOptions {
            restarts: 1,
            first_restart: 0,
            random_seed: 0,
            noise: true,
            first_given: false,
            accept: None,
            schedule: Schedule::default(),
        }
    }
}

/// Why a fit cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitSetupError {
    /// No parameter is there to be fitted.
    NoParameter,
    /// The named parameter has a value, a range, bounds or a learning rate that make no sense.
    Parameter(String),
    /// The objective has no image.
    NoImage,
    /// An image has a side of 0.
    Shape(RasterShape),
    /// A number of the options that must be positive is 0: its name.
    Zero(&'static str),
    /// The loss that is accepted is NaN or negative.
    Accept,
}

impl fmt::Display for FitSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitSetupError::NoParameter => f.write_str("there is no parameter to fit"),
            FitSetupError::Parameter(name) => write!(
                f,
                "parameter {name} needs a finite value, a range of positive width, \
                 a least value below the greatest, and a learning rate ≥ 0"
            ),
            FitSetupError::NoImage => f.write_str("there is no image to fit"),
            FitSetupError::Shape(shape) => write!(f, "an image of {shape} is empty"),
            FitSetupError::Accept => f.write_str("a loss that is accepted is a number ≥ 0"),
            FitSetupError::Zero(name) => write!(f, "{name} must be positive"),
        }
    }
}

impl std::error::Error for FitSetupError {}

/// Checks what [`FitOptions`], [`FitParameter`] and [`RasterShape`] promise.
pub(crate) fn validate(
    options: &FitOptions,
    parameters: &[FitParameter],
    shapes: &[RasterShape],
) -> Result<(), FitSetupError> {
    let schedule = &options.schedule;
    let positive = [
        ("restarts", options.restarts),
        ("alternations", schedule.alternations),
        ("iterations", schedule.iterations),
        ("idle iterations", schedule.idle_iterations),
        ("idle stages", schedule.idle_stages),
    ];
    if let Some((name, _)) = positive.iter().find(|(_, number)| *number == 0) {
        return Err(FitSetupError::Zero(name));
    }
    if options
        .accept
        .is_some_and(|accept| accept.is_nan() || accept < 0.0)
    {
        return Err(FitSetupError::Accept);
    }
    if parameters.iter().all(|parameter| parameter.fixed) {
        return Err(FitSetupError::NoParameter);
    }
    let is_sound = |parameter: &&FitParameter| {
        let width = parameter.width();
        let rate = parameter.learning_rate;
        parameter.value.is_finite()
            && parameter.range[0].is_finite()
            && width.is_finite()
            && width > 0.0
            && parameter.min <= parameter.max
            && rate.is_finite()
            && rate >= 0.0
    };
    if let Some(parameter) = parameters.iter().find(|parameter| !is_sound(parameter)) {
        return Err(FitSetupError::Parameter(parameter.name.clone()));
    }
    if shapes.is_empty() {
        return Err(FitSetupError::NoImage);
    }
    let empty = shapes.iter().find(|shape| shape.floats() == 0);
    empty.map_or(Ok(()), |shape| Err(FitSetupError::Shape(*shape)))
}
