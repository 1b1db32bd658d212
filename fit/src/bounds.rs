//! Bounds, ranges and learning rates of parameters, as an input's metadata says them.

use crate::objective::{FitParameter, LEARNING_RATE};
use std::cmp::Ordering;
use std::fmt;

/// Bounds, range and learning rate of the numbers of an input, as far as they are said.
///
/// ```
/// use adumbra_fit::ParameterBounds;
/// let bounds = ParameterBounds::read("gain", |name| (name == "max").then_some(4.0))?;
/// let gain = bounds.parameter("gain", 3.0);
/// assert_eq!((gain.max, gain.range), (4.0, [1.5, 4.5]));
/// # Ok::<(), adumbra_fit::BoundsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParameterBounds {
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value, above the least.
    pub max: Option<f64>,
    /// The width that starts are drawn from, above 0.
    pub range: Option<f64>,
    /// How far an iteration goes at most, about, over the range: above 0, and at most 1.
    pub learning_rate: Option<f64>,
}

/// Bounds that make no sense: what of which input, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundsError {
    what: &'static str,
    input: String,
    needed: &'static str,
}

impl fmt::Display for BoundsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoundsError {
            what,
            input,
            needed,
        } = self;
        write!(f, "{what} of the input `{input}` must be {needed}")
    }
}

impl std::error::Error for BoundsError {}

impl ParameterBounds {
    /// The names of what is read.
    pub const NAMES: [&str; 4] = ["min", "max", "range", "learning_rate"];

    /// Reads those of an input: `number` gives what is said by a name, NaN for what is no number.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn read(
        input: &str,
        number: impl Fn(&str) -> Option<f64>,
    ) -> Result<ParameterBounds, BoundsError> {
        let [min, max, range, learning_rate] = ParameterBounds::NAMES.map(number);
        let refused = |what, needed| {
            Err(BoundsError {
                what,
                input: input.to_owned(),
                needed,
            })
        };
        let ends = [
            min.unwrap_or(f64::NEG_INFINITY),
            max.unwrap_or(f64::INFINITY),
        ];
        if ends[0].partial_cmp(&ends[1]) != Some(Ordering::Less) {
            return refused("`min` and `max`", "numbers, the first below the second");
        }
        if range.is_some_and(|range| !(range > 0.0 && range.is_finite())) {
            return refused("`range`", "a number above 0");
        }
        if learning_rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1.0)) {
            return refused("`learning_rate`", "a number above 0 and at most 1");
        }
        Ok(ParameterBounds {
            min,
            max,
            range,
            learning_rate,
        })
    }

    /// The parameter of a number that has that value before the fit. Its range is around the value
    /// if one is said, else from the least to the greatest value; without these it is as wide as
    /// the value is large, 1 at least.
    ///
    /// # Panics
    /// If the value is not finite.
    pub fn parameter(&self, name: &str, value: f64) -> FitParameter {
        let around = |width: f64| [value - width / 2.0, value + width / 2.0];
        let range = match (self.range, self.min, self.max) {
            (Some(range), ..) => around(range),
            (None, Some(min), Some(max)) => [min, max],
            (None, ..) => around(value.abs().max(1.0)),
        };
        FitParameter {
            min: self.min.unwrap_or(f64::NEG_INFINITY),
            max: self.max.unwrap_or(f64::INFINITY),
            learning_rate: self.learning_rate.unwrap_or(LEARNING_RATE),
            ..FitParameter::new(name, value, range)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(said: &[(&str, f64)]) -> Result<ParameterBounds, String> {
        let number = |name: &str| {
            said.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, n)| *n)
        };
        ParameterBounds::read("k", number).map_err(|refused| refused.to_string())
    }

    #[test]
    fn ranges_follow_from_what_is_said() {
        let range = |said: &[(&str, f64)]| read(said).unwrap().parameter("k", 2.0).range;
        assert_eq!(
            range(&[("range", 0.5), ("min", 0.0), ("max", 9.0)]),
            [1.75, 2.25]
        );
        assert_eq!(range(&[("min", 0.0), ("max", 9.0)]), [0.0, 9.0]);
        assert_eq!(range(&[("min", 0.0)]), [1.0, 3.0]);
        assert_eq!(read(&[]).unwrap().parameter("k", 0.25).range, [-0.25, 0.75]);
    }

    #[test]
    fn bounds_without_sense_are_refused() {
        for (said, what) in [
            (
                [("min", 1.0), ("max", 1.0)],
                "`min` and `max` of the input `k`",
            ),
            ([("min", f64::NAN), ("max", 1.0)], "`min` and `max`"),
            ([("range", 0.0), ("max", 1.0)], "`range`"),
            ([("learning_rate", 1.5), ("max", 1.0)], "`learning_rate`"),
        ] {
            let refused = read(&said).unwrap_err();
            assert!(refused.starts_with(what), "{refused}");
        }
    }
}
