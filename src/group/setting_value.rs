//! Values that inputs are set to, as words of the input's type.

use super::SettingValue;
use super::port::{Wire, conversion_help, wires};
use super::spanned_json::{JsonObject, elements};
use adumbra_ir::{Scalar, Span, Type};

/// An error of a value: location, message, and fix.
pub(super) struct ValueError {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: String,
}

/// The words of a value for an input of that type. `place` is where it is set, `port` its name.
pub(super) fn value_words(
    value: &SettingValue,
    to: &Type,
    place: Span,
    port: &str,
) -> Result<Vec<u32>, ValueError> {
    match value {
        SettingValue::Json(text, span) => {
            let mut words = Vec::with_capacity(to.scalar_count());
            read(text, *span, to, port, &mut words)?;
            Ok(words)
        }
        SettingValue::Typed(from, words) => {
            convert_value(from, words, to).ok_or_else(|| ValueError {
                span: place,
                message: format!("`{port}` is `{to}` and cannot be set to `{from}`"),
                help: conversion_help(from, to, "it"),
            })
        }
    }
}

/// The words of a value as one of another type: what the language converts implicitly, a number as
/// a vector of it, a float with a whole value as an integer. `None` if it is no such value.
pub(crate) fn convert_value(from: &Type, words: &[u32], to: &Type) -> Option<Vec<u32>> {
    if let Some(wires) = wires(from, to) {
        let word = |wire: &Wire| {
            let steps = wire.steps.iter();
            steps.fold(words[wire.from as usize], |bits, op| op.value(&[bits]))
        };
        return Some(wires.iter().map(word).collect());
    }
    match (from, to) {
        (Type::Scalar(Scalar::F32), Type::Scalar(to)) => Some(vec![whole(words[0], *to)?]),
        _ => None,
    }
}

/// A float with an exact integer value as an int or uint, as the language takes one for a constant.
fn whole(bits: u32, to: Scalar) -> Option<u32> {
    let number = f64::from(f32::from_bits(bits));
    let (word, back) = match to {
        Scalar::I32 => (number as i32 as u32, f64::from(number as i32)),
        Scalar::U32 => (number as u32, f64::from(number as u32)),
        _ => return None,
    };
    (back == number).then_some(word)
}

/// Reads JSON by type: numbers, `true` and `false`, arrays for vectors, matrices (rows) and arrays,
/// objects for structs. A number alone fills a vector; `"nan"`, `"inf"` and `"-inf"` are read as in
/// results.
fn read(
    text: &str,
    span: Span,
    ty: &Type,
    port: &str,
    out: &mut Vec<u32>,
) -> Result<(), ValueError> {
    let wrong = |help: String| ValueError {
        span,
        message: format!("`{port}` cannot be set to this: `{ty}` is wanted"),
        help,
    };
    let vector;
    let (element, count) = match ty {
        Type::Scalar(scalar) => {
            out.push(scalar_word(text, *scalar).map_err(wrong)?);
            return Ok(());
        }
        Type::Struct(s) => {
            let object = JsonObject::read(text, span)
                .map_err(|_| wrong("write an object with its members".to_owned()))?;
            let mut entries = object.entries.iter();
            if let Some(entry) = entries.find(|e| !s.members.iter().any(|(name, _)| *name == e.key))
            {
                return Err(ValueError {
                    span: entry.key_span,
                    message: format!("`{ty}` has no member `{}`", entry.key),
                    help: members(s),
                });
            }
            for (name, ty) in &s.members {
                let mut entries = object.entries.iter();
                let entry = entries.find(|entry| entry.key == *name);
                let entry = entry.ok_or_else(|| wrong(members(s)))?;
                read(entry.value, entry.span, ty, port, out)?;
            }
            return Ok(());
        }
        Type::Vector(n) => {
            if let Ok(word) = scalar_word(text, Scalar::F32) {
                out.extend(std::iter::repeat_n(word, *n as usize));
                return Ok(());
            }
            (&Type::FLOAT, usize::from(*n))
        }
        Type::Matrix(n) => {
            vector = Type::Vector(*n);
            (&vector, usize::from(*n))
        }
        Type::Array(element, n) => (&**element, *n as usize),
    };
    let found = elements(text, span);
    let fits = |found: &Vec<_>| found.len() == count;
    let Some(found) = found.ok().filter(fits) else {
        return Err(wrong(format!("write an array with {count} of `{element}`")));
    };
    for (value, span) in found {
        read(value, span, element, port, out)?;
    }
    Ok(())
}

fn members(s: &adumbra_ir::types::StructType) -> String {
    let members = s.members.iter().map(|(name, ty)| format!("`{name}`: {ty}"));
    let members: Vec<String> = members.collect();
    format!("its members are {}", members.join(", "))
}

fn scalar_word(text: &str, scalar: Scalar) -> Result<u32, String> {
    let number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let float = text.parse::<f32>().ok().filter(|_| number);
    let word = match scalar {
        Scalar::F32 => match text {
            "\"nan\"" => Some(f32::NAN.to_bits()),
            "\"inf\"" => Some(f32::INFINITY.to_bits()),
            "\"-inf\"" => Some(f32::NEG_INFINITY.to_bits()),
            _ => float.map(f32::to_bits),
        },
        Scalar::I32 => (text.parse::<i32>().ok().map(|n| n as u32))
            .or_else(|| whole(float?.to_bits(), Scalar::I32)),
        Scalar::U32 => (text.parse().ok()).or_else(|| whole(float?.to_bits(), Scalar::U32)),
        Scalar::Bool => text.parse::<bool>().ok().map(u32::from),
        Scalar::Closure => return Err("closures come from other units: connect one".to_owned()),
        Scalar::Resource => {
            return Err("a resource is declared in the shader's source".to_owned());
        }
    };
    word.ok_or_else(|| {
        match scalar {
            Scalar::F32 => "write a number, or \"nan\", \"inf\" or \"-inf\"",
            Scalar::Bool => "write `true` or `false`",
            Scalar::U32 => "write a whole number from 0 to 4294967295",
            _ => "write a whole number of 32 bits",
        }
        .to_owned()
    })
}
