//! Parses `-g NAME=VALUE[:DDX[:DDY]]` and `--arg NAME=VALUE`: literals, without an expression
//! language; and files that are given by names.

use adumbra::{Scalar, Type};
use std::path::PathBuf;
use std::str::FromStr;

/// A global with its value and derivatives, as words.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalSetting {
    pub name: String,
    pub ty: Type,
    pub value: Vec<u32>,
    pub ddx: Vec<u32>,
    pub ddy: Vec<u32>,
    /// Whether derivatives were left out that it could have.
    pub is_shadowless: bool,
}

/// An input of the shader; its literal is read when the type is known.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSetting {
    pub name: String,
    pub literal: String,
}

/// A file for a texture or a buffer of the shader.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFile {
    pub name: String,
    pub file: PathBuf,
}

impl FromStr for GlobalSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<GlobalSetting, String> {
        let (name, parts) = split_name(text)?;
        let mut parts = parts.split(':');
        let (ty, value) = value_by_shape(parts.next().unwrap_or_default())?;
        let has_floats = !matches!(ty, Type::Scalar(Scalar::I32 | Scalar::Bool));
        let is_shadowless = has_floats && text.matches(':').count() == 0;
        let mut shadow = |which: &str| match parts.next() {
            None => Ok(vec![0; value.len()]),
            Some(_) if !has_floats => Err(format!("a global of type `{ty}` has no {which}")),
            Some(text) => floats(text).and_then(|words| match words.len() == value.len() {
                true => Ok(words),
                false => Err(format!(
                    "{which} has {} where the value has {}",
                    numbers(words.len()),
                    numbers(value.len())
                )),
            }),
        };
        let (ddx, ddy) = (shadow("ddx")?, shadow("ddy")?);
        if parts.next().is_some() {
            return Err("there is more than VALUE:DDX:DDY".to_owned());
        }
        Ok(GlobalSetting {
            name,
            ty,
            value,
            ddx,
            ddy,
            is_shadowless,
        })
    }
}

impl FromStr for InputSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<InputSetting, String> {
        let (name, text) = split_name(text)?;
        Ok(InputSetting {
            name,
            literal: text.to_owned(),
        })
    }
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedFile, String> {
        let (name, file) = text.split_once('=').ok_or("there is no `=`")?;
        let name = name.trim();
        match name.is_empty() || file.is_empty() {
            true => Err("a file is given as NAME=FILE".to_owned()),
            false => Ok(NamedFile {
                name: name.to_owned(),
                file: file.into(),
            }),
        }
    }
}

impl InputSetting {
    /// The words of the value, read by the input's declared type.
    pub fn words(&self, ty: &Type) -> Result<Vec<u32>, String> {
        let mut scalars = Vec::new();
        ty.for_each_scalar(&mut |scalar| scalars.push(scalar));
        let parts: Vec<&str> = self.literal.split(',').map(str::trim).collect();
        if parts.len() != scalars.len() {
            return Err(format!(
                "`{ty}` wants {}, here {}",
                numbers(scalars.len()),
                match parts.len() {
                    1 => "is 1".to_owned(),
                    n => format!("are {n}"),
                }
            ));
        }
        let words = parts
            .iter()
            .zip(scalars)
            .map(|(part, scalar)| match scalar {
                Scalar::F32 => float(part).map(f32::to_bits),
                Scalar::I32 => integer::<i32>(part, "i").map(|value| value as u32),
                Scalar::U32 => integer::<u32>(part, "u"),
                Scalar::Bool => boolean(part)
                    .map(u32::from)
                    .ok_or_else(|| format!("`{part}` is neither `true` nor `false`")),
                Scalar::Closure | Scalar::Resource => {
                    Err(format!("a `{ty}` cannot be given on the command line"))
                }
            });
        words.collect()
    }
}

fn numbers(count: usize) -> String {
    match count {
        1 => "1 number".to_owned(),
        n => format!("{n} numbers"),
    }
}

fn split_name(text: &str) -> Result<(String, &str), String> {
    let (name, rest) = text.split_once('=').ok_or("there is no `=`")?;
    let name = name.trim();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_word {
        true => Ok((name.to_owned(), rest)),
        false => Err(format!("`{name}` is not a name")),
    }
}

/// A value whose type follows its shape: a number is a float, `3i` an int, `true` a bool, 2 to 4
/// numbers a vector.
fn value_by_shape(text: &str) -> Result<(Type, Vec<u32>), String> {
    let text = text.trim();
    if let Some(value) = boolean(text) {
        return Ok((Type::Scalar(Scalar::Bool), vec![u32::from(value)]));
    }
    if text.ends_with('i') && text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) {
        let value = integer::<i32>(text, "i")?;
        return Ok((Type::Scalar(Scalar::I32), vec![value as u32]));
    }
    let words = floats(text)?;
    match words.len() {
        1 => Ok((Type::FLOAT, words)),
        n @ 2..=4 => Ok((Type::Vector(n as u8), words)),
        n => Err(format!("a vector has 2, 3 or 4 numbers, not {n}")),
    }
}

fn floats(text: &str) -> Result<Vec<u32>, String> {
    let numbers = text.split(',').map(|part| float(part.trim()));
    numbers.map(|x| x.map(f32::to_bits)).collect()
}

fn float(text: &str) -> Result<f32, String> {
    let number: f32 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number; a float is written 0.5, a vector 1,2,3"))?;
    match number.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) {
        true => Err(format!(
            "`{text}` is too large for a float; infinity is written `inf`"
        )),
        false => Ok(number),
    }
}

fn integer<T: FromStr>(text: &str, suffix: &str) -> Result<T, String> {
    text.strip_suffix(suffix)
        .unwrap_or(text)
        .parse()
        .map_err(|_| format!("`{text}` is not a 32-bit whole number"))
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits<const N: usize>(values: [f32; N]) -> Vec<u32> {
        values.map(f32::to_bits).to_vec()
    }

    #[test]
    fn literal_shape_selects_the_type() {
        let read = |text: &str| text.parse::<GlobalSetting>().unwrap();
        let x1 = read("x1=1.5:1");
        assert_eq!((x1.name.as_str(), &x1.ty), ("x1", &Type::FLOAT));
        assert_eq!(
            (x1.value, x1.ddx, x1.ddy),
            (bits([1.5]), bits([1.0]), bits([0.0]))
        );

        let position = read("position = 1, 2,3 : 0.1,0,0 : 0,.1,-0");
        assert_eq!(position.ty, Type::Vector(3));
        assert_eq!(position.ddx, bits([0.1, 0.0, 0.0]));
        assert_eq!(position.ddy, bits([0.0, 0.1, -0.0]));

        assert_eq!(read("n=-3i").value, [-3_i32 as u32]);
        assert_eq!(read("n=-3i").ty, Type::Scalar(Scalar::I32));
        assert_eq!(read("flag=true").ty, Type::Scalar(Scalar::Bool));
        assert_eq!(read("x=-inf").value, bits([f32::NEG_INFINITY]));
        assert!(f32::from_bits(read("x=nan").value[0]).is_nan());
        assert_eq!(read("x=1e-45").value, [1]);
        assert_eq!(read("x=3.4028235e38").value, bits([f32::MAX]));
        assert_eq!(read("x=inf").value, bits([f32::INFINITY]));
        let shadowless = ["x=1", "x=1:0", "v=1,2", "n=3i", "b=true"].map(|t| read(t).is_shadowless);
        assert_eq!(shadowless, [true, false, true, false, false]);
    }

    #[test]
    fn malformed_literals_are_refused() {
        for text in [
            "x",
            "=1",
            "2x=1",
            "x y=1",
            "x=",
            "x=1+1",
            "x=1:2:3:4",
            "x=1,2:1",
            "x=1,2,3,4,5",
            "n=3i:1",
            "n=99999999999i",
            "flag=true:0",
            "x=0x10",
            "x=1::2",
            "x=1e40",
            "x=1:-4e38",
        ] {
            assert!(text.parse::<GlobalSetting>().is_err(), "{text}");
        }
    }

    #[test]
    fn arguments_are_read_by_declared_type() {
        let words = |text: &str, ty: Type| text.parse::<InputSetting>().unwrap().words(&ty);
        assert_eq!(
            words("m=1,2,3,4", Type::Matrix(2)),
            Ok(bits([1.0, 2.0, 3.0, 4.0]))
        );
        assert_eq!(words("n=3", Type::Scalar(Scalar::I32)), Ok(vec![3]));
        assert_eq!(
            words("n=-3i", Type::Scalar(Scalar::I32)),
            Ok(vec![-3_i32 as u32])
        );
        assert_eq!(
            words("n=4000000000", Type::Scalar(Scalar::U32)),
            Ok(vec![4_000_000_000])
        );
        assert!(words("n=1.5", Type::Scalar(Scalar::I32)).is_err());
        assert!(words("n=-1", Type::Scalar(Scalar::U32)).is_err());
        assert!(
            words("v=1,2", Type::Vector(3))
                .unwrap_err()
                .contains("3 numbers")
        );
        assert!(words("c=1", Type::Scalar(Scalar::Closure)).is_err());
    }
}
