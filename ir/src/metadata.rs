//! Metadata of inputs, outputs and textures: `<<< label = "Gain", min = 0, hidden >>>`, for people
//! and tools.
//!
//! Nothing is computed from it. It is carried from the source to the host, in the order written,
//! through every form of a program.

use crate::types::Scalar;
use std::fmt;

mod declared;

/// One entry: a name and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Its name; no two entries of one list have the same.
    pub name: String,
    /// Its value.
    pub value: MetadataValue,
}

/// The value of an entry, of the type of its literal. `T` is a string: in the typed tree it is
/// interned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetadataValue<T = String> {
    /// `true` or `false`. A name alone is true.
    Bool(bool),
    /// `-3`
    Int(i32),
    /// `3u`
    Uint(u32),
    /// `0.5`; never NaN.
    Float(f32),
    /// `"a string"`
    String(T),
}

impl<T> MetadataValue<T> {
    /// The value of a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            MetadataValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A number of any type as f64, for bounds like `min = 0`.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            MetadataValue::Int(value) => Some(f64::from(*value)),
            MetadataValue::Uint(value) => Some(f64::from(*value)),
            MetadataValue::Float(value) => Some(f64::from(*value)),
            MetadataValue::Bool(_) | MetadataValue::String(_) => None,
        }
    }

    /// The type and bits of a number or bool; a string is returned as it is.
    pub fn scalar(&self) -> Result<(Scalar, u32), &T> {
        match self {
            MetadataValue::Bool(value) => Ok((Scalar::Bool, u32::from(*value))),
            MetadataValue::Int(value) => Ok((Scalar::I32, value.cast_unsigned())),
            MetadataValue::Uint(value) => Ok((Scalar::U32, *value)),
            MetadataValue::Float(value) => Ok((Scalar::F32, value.to_bits())),
            MetadataValue::String(text) => Err(text),
        }
    }

    /// A number or bool from its type and bits. `None` for invalid ones: a NaN, a bool that is
    /// neither, closures and resources.
    pub fn from_scalar(ty: Scalar, bits: u32) -> Option<MetadataValue<T>> {
        Some(match ty {
            Scalar::Bool if bits < 2 => MetadataValue::Bool(bits == 1),
            Scalar::I32 => MetadataValue::Int(bits.cast_signed()),
            Scalar::U32 => MetadataValue::Uint(bits),
            Scalar::F32 if !f32::from_bits(bits).is_nan() => {
                MetadataValue::Float(f32::from_bits(bits))
            }
            _ => return None,
        })
    }

    /// The same value, with its string converted.
    pub fn map_string<U>(self, text: impl FnOnce(T) -> U) -> MetadataValue<U> {
        match self {
            MetadataValue::Bool(value) => MetadataValue::Bool(value),
            MetadataValue::Int(value) => MetadataValue::Int(value),
            MetadataValue::Uint(value) => MetadataValue::Uint(value),
            MetadataValue::Float(value) => MetadataValue::Float(value),
            MetadataValue::String(value) => MetadataValue::String(text(value)),
        }
    }
}

impl MetadataValue {
    /// The value of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            MetadataValue::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Prints the value as in a shader.
impl fmt::Display for MetadataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetadataValue::Bool(value) => write!(f, "{value}"),
            MetadataValue::Int(value) => write!(f, "{value}"),
            MetadataValue::Uint(value) => write!(f, "{value}u"),
            MetadataValue::Float(value) => write!(f, "{value:?}"),
            MetadataValue::String(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_their_bits() {
        type Value = MetadataValue<&'static str>;
        for value in [
            Value::Bool(true),
            Value::Int(-3),
            Value::Uint(u32::MAX),
            Value::Float(-0.0),
        ] {
            let (ty, bits) = value.scalar().unwrap();
            let back = Value::from_scalar(ty, bits).unwrap();
            assert_eq!((back, back.scalar()), (value, value.scalar()));
        }
        assert_eq!(Value::String("a").scalar(), Err(&"a"));
        assert_eq!(Value::from_scalar(Scalar::Bool, 2), None);
        assert_eq!(Value::from_scalar(Scalar::F32, f32::NAN.to_bits()), None);
        assert_eq!(Value::from_scalar(Scalar::Closure, 0), None);
    }

    #[test]
    fn values_print_as_they_could_be_written() {
        let shown = [
            (MetadataValue::Bool(true), "true"),
            (MetadataValue::Int(-3), "-3"),
            (MetadataValue::Uint(3), "3u"),
            (MetadataValue::Float(3.0), "3.0"),
            (MetadataValue::String("a \"b\"".to_owned()), r#""a \"b\"""#),
        ];
        for (value, text) in shown {
            assert_eq!(value.to_string(), text);
        }
    }
}
