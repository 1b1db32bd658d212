//! Floats in JSON that read back to the same bits: the shortest decimal, as a string.
//!
//! `serde_json` writes non-finite numbers as `null`, and reads numbers with an error of one unit in
//! the last place. Signs of zero and infinities are kept; any NaN is the one NaN.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// The decimal of a float.
fn decimal(value: f64) -> String {
    format!("{value:?}")
}

/// The float of a decimal.
fn read<E: Error>(decimal: &str) -> Result<f64, E> {
    let value = decimal.parse();
    value.map_err(|_| E::custom(format!("`{decimal}` is no number")))
}

/// Writes a number.
pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&decimal(*value))
}

/// Reads a number.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    read(&String::deserialize(from)?)
}

/// A list of numbers: one string with blanks between them.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Serializer, decimal, read};

    /// Writes the numbers.
    pub(crate) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let decimals: Vec<String> = values.iter().copied().map(decimal).collect();
        to.serialize_str(&decimals.join(" "))
    }

    /// Reads the numbers.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let decimals = String::deserialize(from)?;
        decimals.split_ascii_whitespace().map(read).collect()
    }
}

/// Two numbers.
pub(crate) mod pair {
    use super::{Deserializer, Error, Serializer, list};

    /// Writes the numbers.
    pub(crate) fn serialize<S: Serializer>(values: &[f64; 2], to: S) -> Result<S::Ok, S::Error> {
        list::serialize(values, to)
    }

    /// Reads the numbers.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
        let numbers = list::deserialize(from)?;
        let numbers = numbers.try_into();
        numbers.map_err(|_| D::Error::custom("there are not two numbers"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back_to_their_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let read: f64 = super::read::<serde_json::Error>(&super::decimal(value)).unwrap();
            prop_assert!(read.to_bits() == bits || (read.is_nan() && value.is_nan()));
        }
    }

    #[test]
    fn special_numbers_read_back() {
        for value in [
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
        ] {
            let read: f64 = super::read::<serde_json::Error>(&super::decimal(value)).unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
        }
    }
}
