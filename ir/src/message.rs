//! Messages of `printf`: their formats, and rendering.
//!
//! Formats are C's for numbers: `%d %i %u %x %f %e %g` with the flags `-`, `+`, space and `0`, a
//! width and a precision; `%%` is a percent sign. A vector is printed as its components in
//! parentheses, each by the format, a matrix as its rows. Messages see values, never shadows.

use crate::types::{Scalar, Type};
use std::fmt::Write;

/// The greatest width and the greatest precision of a format.
pub const MAX_FIELD: usize = 99;

/// A message that a program may give: one for each `printf` of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message {
    /// The format, with a conversion for each parameter.
    pub format: String,
    /// The types of the arguments: numbers, bools, vectors, matrices.
    pub params: Vec<Type>,
}

impl Message {
    /// Whether the format is well-formed and its conversions match the types, one for one. The
    /// rendering of any other message is only approximate.
    pub fn is_valid(&self) -> bool {
        let mut params = self.params.iter();
        format_parts(&self.format).all(|part| match part {
            Ok(FormatPart::Literal(_)) => true,
            Ok(FormatPart::Conversion(conversion)) => {
                params.next().is_some_and(|ty| conversion.accepts(ty))
            }
            Err(_) => false,
        }) && params.next().is_none()
    }

    /// The number of words of its arguments: one for each scalar.
    pub fn word_count(&self) -> usize {
        self.params.iter().map(Type::scalar_count).sum()
    }

    /// The message for these words of the arguments; missing ones are 0.
    pub fn render(&self, args: &[u32]) -> String {
        let mut out = String::new();
        let mut words = args.iter().copied();
        let mut params = self.params.iter();
        for part in format_parts(&self.format) {
            match (part, params.as_slice()) {
                (Ok(FormatPart::Literal(text)), _) => out.push_str(text),
                (Ok(FormatPart::Conversion(conversion)), [ty, ..]) => {
                    params.next();
                    let mut word = || words.next().unwrap_or(0);
                    match *ty {
                        Type::Matrix(n) => list(&mut out, n, |out| {
                            list(out, n, |out| conversion.write(Scalar::F32, word(), out));
                        }),
                        Type::Vector(n) => list(&mut out, n, |out| {
                            conversion.write(Scalar::F32, word(), out);
                        }),
                        Type::Scalar(ty) => conversion.write(ty, word(), &mut out),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        out
    }
}

/// `(a, b, c)`
fn list(out: &mut String, count: u8, mut item: impl FnMut(&mut String)) {
    for i in 0..count {
        out.push_str(if i > 0 { ", " } else { "(" });
        item(out);
    }
    out.push(')');
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatPart<'f> {
    /// A literal part.
    Literal(&'f str),
    /// The next argument.
    Conversion(Conversion),
}

/// A conversion of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    style: Style,
    /// `-`: at the left of its field.
    left: bool,
    /// `0`: the field is filled with zeros.
    zeros: bool,
    /// The sign of a number that is not negative.
    plus: &'static str,
    width: usize,
    precision: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `%d`, `%i`
    Signed,
    /// `%u`
    Unsigned,
    /// `%x`
    Hex,
    /// `%f`
    Fixed,
    /// `%e`
    Scientific,
    /// `%g`
    General,
}

/// An invalid conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversionError<'f> {
    /// From its `%` to the character that spoils it.
    pub text: &'f str,
    /// The problem.
    pub problem: &'static str,
    /// The fix.
    pub help: &'static str,
}

/// The parts of a format in order.
pub fn format_parts(
    format: &str,
) -> impl Iterator<Item = Result<FormatPart<'_>, ConversionError<'_>>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (part, len) = match rest.find('%') {
            None if rest.is_empty() => return None,
            None => (Ok(FormatPart::Literal(rest)), rest.len()),
            Some(0) if rest.starts_with("%%") => (Ok(FormatPart::Literal("%")), 2),
            Some(0) => conversion(rest),
            Some(len) => (Ok(FormatPart::Literal(&rest[..len])), len),
        };
        rest = &rest[len..];
        Some(part)
    })
}

/// The conversion that a format begins with, and its length.
fn conversion(text: &str) -> (Result<FormatPart<'_>, ConversionError<'_>>, usize) {
    let mut found = Conversion {
        style: Style::Fixed,
        left: false,
        zeros: false,
        plus: "",
        width: 0,
        precision: None,
    };
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&flag) = bytes.get(at) {
        match flag {
            b'-' => found.left = true,
            b'0' => found.zeros = true,
            b'+' => found.plus = "+",
            b' ' if found.plus.is_empty() => found.plus = " ",
            b' ' => {}
            _ => break,
        }
        at += 1;
    }
    let number = |at: &mut usize| {
        let mut number = 0_usize;
        while let Some(digit) = bytes.get(*at).filter(|digit| digit.is_ascii_digit()) {
            number = (10 * number + usize::from(digit - b'0')).min(MAX_FIELD + 1);
            *at += 1;
        }
        number
    };
    found.width = number(&mut at);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        found.precision = Some(number(&mut at));
    }
    let too_large = found.width.max(found.precision.unwrap_or(0)) > MAX_FIELD;
    let letter = text[at..].chars().next();
    let end = at + letter.map_or(0, char::len_utf8);
    let bad = |problem, help| {
        let text = &text[..end];
        let bad = ConversionError {
            text,
            problem,
            help,
        };
        (Err(bad), end)
    };
    found.style = match letter {
        _ if too_large => return bad("its width or precision is too large", "99 is the limit"),
        Some('d' | 'i') => Style::Signed,
        Some('u') => Style::Unsigned,
        Some('x') => Style::Hex,
        Some('f') => Style::Fixed,
        Some('e') => Style::Scientific,
        Some('g') => Style::General,
        Some('s') => {
            return bad(
                "there are no string variables",
                "write the string itself into the format",
            );
        }
        Some('*') => {
            return bad(
                "a width or precision is written as a number",
                "write it out: `%8.3f`",
            );
        }
        Some('l' | 'h' | 'L' | 'z' | 'j' | 't' | 'q') => {
            return bad(
                "numbers have one size each",
                "leave the letter out: `%d`, `%u`, `%x`, `%f`",
            );
        }
        Some('v') => {
            return bad(
                "vectors need no conversion of their own",
                "write `%f`: it writes all components",
            );
        }
        None => {
            return bad(
                "the format ends in the midst of it",
                "write `%%` for a percent sign",
            );
        }
        Some(_) => {
            return bad(
                "there is no such conversion",
                "use `%d`, `%u` or `%x` for integers and bools, `%f`, `%e` or `%g` for floats, `%%` for a percent sign",
            );
        }
    };
    (Ok(FormatPart::Conversion(found)), end)
}

impl Conversion {
    /// Whether it writes floats; else it writes integers and bools.
    pub fn is_float(&self) -> bool {
        matches!(
            self.style,
            Style::Fixed | Style::Scientific | Style::General
        )
    }

    /// The letter at its end.
    pub fn letter(&self) -> char {
        match self.style {
            Style::Signed => 'd',
            Style::Unsigned => 'u',
            Style::Hex => 'x',
            Style::Fixed => 'f',
            Style::Scientific => 'e',
            Style::General => 'g',
        }
    }

    /// The types that it prints, in words.
    pub fn accepted_types(&self) -> &'static str {
        match self.is_float() {
            true => "floats and vectors of them",
            false => "integers and bools",
        }
    }

    /// Whether it prints values of that type.
    pub fn accepts(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(Scalar::F32) => self.is_float(),
            Type::Vector(2..=4) | Type::Matrix(2..=4) => self.is_float(),
            Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::Bool) => !self.is_float(),
            _ => false,
        }
    }

    fn write(&self, ty: Scalar, word: u32, out: &mut String) {
        let float = f64::from(f32::from_bits(word));
        let is_finite = ty != Scalar::F32 || float.is_finite();
        let (negative, digits) = match self.style {
            Style::Signed if ty != Scalar::U32 => {
                let number = word as i32;
                (number < 0, self.integer(number.unsigned_abs(), false))
            }
            Style::Signed | Style::Unsigned => (false, self.integer(word, false)),
            Style::Hex => (false, self.integer(word, true)),
            _ if float.is_nan() => (false, "nan".to_owned()),
            _ if float.is_infinite() => (float < 0.0, "inf".to_owned()),
            _ => (float.is_sign_negative(), self.digits(float.abs())),
        };
        let signed = self.is_float() || self.style == Style::Signed;
        let sign = match negative {
            true => "-",
            false if signed => self.plus,
            false => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let fixed = !self.is_float() && self.precision.is_some();
        let zeros = self.zeros && !self.left && is_finite && !fixed;
        let (before, between, after) = match (self.left, zeros) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        let fill = |out: &mut String, with, count| out.extend(std::iter::repeat_n(with, count));
        fill(out, ' ', before);
        out.push_str(sign);
        fill(out, '0', between);
        out.push_str(&digits);
        fill(out, ' ', after);
    }

    fn integer(&self, number: u32, hex: bool) -> String {
        let digits = self.precision.unwrap_or(1);
        match (number, hex) {
            (0, _) if digits == 0 => String::new(),
            (_, true) => format!("{number:0digits$x}"),
            (_, false) => format!("{number:0digits$}"),
        }
    }

    /// The digits of a number that is neither negative nor infinite.
    fn digits(&self, number: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        match self.style {
            Style::Scientific => scientific(number, precision).0,
            Style::General => {
                let significant = precision.max(1);
                let (text, exponent) = scientific(number, significant - 1);
                let is_plain = (-4..significant as i32).contains(&exponent);
                if is_plain {
                    let after = (significant as i32 - 1 - exponent) as usize;
                    return stripped(&format!("{number:.after$}")).to_owned();
                }
                let (mantissa, power) = text.split_once('e').expect("it has an exponent");
                format!("{}e{power}", stripped(mantissa))
            }
            _ => format!("{number:.precision$}"),
        }
    }
}

/// `1.500000e-07`, and the exponent.
fn scientific(number: f64, precision: usize) -> (String, i32) {
    let mut text = format!("{number:.precision$e}");
    let at = text.find('e').expect("it has an exponent");
    let exponent: i32 = text[at + 1..].parse().expect("the exponent is a number");
    text.truncate(at + 1);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(text, "{sign}{:02}", exponent.unsigned_abs());
    (text, exponent)
}

/// Removes the zeros at the end of a fraction.
fn stripped(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(format: &str, value: f32) -> String {
        let message = Message {
            format: format.to_owned(),
            params: vec![Type::FLOAT],
        };
        assert!(message.is_valid(), "{format}");
        message.render(&[value.to_bits()])
    }

    fn word(format: &str, ty: Scalar, word: u32) -> String {
        let message = Message {
            format: format.to_owned(),
            params: vec![Type::Scalar(ty)],
        };
        assert!(message.is_valid(), "{format}");
        message.render(&[word])
    }

    /// The output of a C library's `printf` for the same format and number.
    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (format, value, text) in [
            ("%f", 1.5, "1.500000"),
            ("%f", -0.0, "-0.000000"),
            ("%.0f", 2.5, "2"),
            ("%8.3f|", 0.1, "   0.100|"),
            ("%-8.3f|", 0.1, "0.100   |"),
            ("%08.3f", -0.1, "-000.100"),
            ("%+f", 1.0, "+1.000000"),
            ("% .1f", 1.0, " 1.0"),
            ("%+ .1f", 1.0, "+1.0"),
            ("%f", 1e10, "10000000000.000000"),
            ("%.10f", 0.1, "0.1000000015"),
            ("%e", 1.5e-7, "1.500000e-07"),
            ("%.2e", 0.0, "0.00e+00"),
            ("%.0e", 15.0, "2e+01"),
            ("%12.2e|", 1e30, "    1.00e+30|"),
            ("%g", 0.0, "0"),
            ("%g", 100.0, "100"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 0.1, "0.1"),
            ("%.3g", 1234.0, "1.23e+03"),
            ("%.0g", 12.0, "1e+01"),
            ("%.9g", 0.1, "0.100000001"),
            ("%5g|", -2.5, " -2.5|"),
            ("%05g", f32::INFINITY, "  inf"),
            ("%f", f32::NEG_INFINITY, "-inf"),
            ("%f", f32::NAN, "nan"),
        ] {
            assert_eq!(float(format, value), text, "{format} of {value}");
        }
        for (format, ty, bits, text) in [
            ("%d", Scalar::I32, -7_i32 as u32, "-7"),
            ("%i", Scalar::I32, i32::MIN as u32, "-2147483648"),
            ("%d", Scalar::U32, u32::MAX, "4294967295"),
            ("%u", Scalar::I32, -1_i32 as u32, "4294967295"),
            ("%x", Scalar::I32, -1_i32 as u32, "ffffffff"),
            ("%04x", Scalar::U32, 0xab, "00ab"),
            ("%5d|%%", Scalar::I32, 42, "   42|%"),
            ("%-5d|", Scalar::I32, 42, "42   |"),
            ("%+d", Scalar::I32, 42, "+42"),
            ("%+u", Scalar::U32, 42, "42"),
            ("%06.3d", Scalar::I32, -42_i32 as u32, "  -042"),
            ("%.0d|", Scalar::I32, 0, "|"),
            ("%d", Scalar::Bool, 1, "1"),
        ] {
            assert_eq!(word(format, ty, bits), text, "{format} of {bits:#x}");
        }
    }

    #[test]
    fn vectors_and_matrices_are_lists() {
        let message = Message {
            format: "p %.1f m %g n %d\n".to_owned(),
            params: vec![Type::Vector(3), Type::Matrix(2), Type::Scalar(Scalar::I32)],
        };
        assert!(message.is_valid());
        assert_eq!(message.word_count(), 8);
        let mut words: Vec<u32> = (1..8_u8).map(|x| f32::from(x).to_bits()).collect();
        words.push(9);
        let text = message.render(&words);
        assert_eq!(text, "p (1.0, 2.0, 3.0) m ((4, 5), (6, 7)) n 9\n");
    }

    #[test]
    fn mismatched_message_is_invalid_but_renders() {
        let message = |format: &str, params: &[Type]| Message {
            format: format.to_owned(),
            params: params.to_vec(),
        };
        let int = Type::Scalar(Scalar::I32);
        let closure = Type::Scalar(Scalar::Closure);
        for (format, params) in [
            ("%f", vec![]),
            ("", vec![Type::FLOAT]),
            ("%f", vec![int.clone()]),
            ("%d", vec![Type::FLOAT]),
            ("%d", vec![Type::Vector(2)]),
            ("%f", vec![Type::Vector(9)]),
            ("%f", vec![closure]),
            ("%f %d", vec![Type::FLOAT]),
            ("%", vec![int.clone()]),
            ("%s", vec![int.clone()]),
            ("%ld", vec![int.clone()]),
            ("%v3f", vec![Type::Vector(3)]),
            ("%*d", vec![int.clone()]),
            ("%é", vec![int.clone()]),
            ("%100d", vec![int.clone()]),
            ("%.100f", vec![Type::FLOAT]),
            ("%99999999999999999999999d", vec![int]),
        ] {
            let message = message(format, &params);
            assert!(!message.is_valid(), "{format} {params:?}");
            let _ = message.render(&[]);
            let _ = message.render(&[1, 2, 3]);
        }
        assert!(message("%99.99f %%", &[Type::FLOAT]).is_valid());
        assert!(message("", &[]).is_valid());
    }
}
