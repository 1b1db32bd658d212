//! Number literals: `.5`, `2.`, `4.e1`, `1.f`, `0x1f`, `3u`.

use super::word_len;
use crate::token_kind::TokenKind;
use std::borrow::Cow;

/// The error in a literal.
pub(super) struct NumberError {
    pub(super) label: &'static str,
    pub(super) help: Cow<'static, str>,
}

fn problem(label: &'static str, help: impl Into<Cow<'static, str>>) -> Option<NumberError> {
    let help = help.into();
    Some(NumberError { label, help })
}

/// Reads the literal at the start of `bytes`: its kind, length, bits and error. A wrong literal is
/// still a token, as long as the word it runs into. Where another language has that form, it has
/// the type and value from there, so that nothing else is wrong with it. `after_minus` admits
/// 2147483648, which is −`i32::MIN`.
pub(super) fn read_number(bytes: &[u8], after_minus: bool) -> Literal {
    match bytes {
        [b'0', b'x' | b'X', ..] => match hexadecimal_float(bytes) {
            Some(float) => return float,
            None => return hexadecimal(bytes),
        },
        [b'0', b'b' | b'B', b'0' | b'1', ..] => return foreign_digits(bytes, 2),
        [b'0', b'o' | b'O', b'0'..=b'7', ..] => return foreign_digits(bytes, 8),
        _ => {}
    }
    let mut len = digits(bytes);
    let mut is_float = false;
    if bytes.get(len) == Some(&b'.') {
        is_float = true;
        len += 1 + digits(&bytes[len + 1..]);
    }
    if let Some(b'e' | b'E') = bytes.get(len) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(&bytes[len + 1 + sign..]);
        if exponent == 0 {
            len += 1 + sign + word_len(&bytes[len + 1 + sign..]);
            let problem = problem("the exponent has no digits", "write it as in `1e-3`");
            return (TokenKind::FloatLiteral, len, 0, problem);
        }
        is_float = true;
        len += 1 + sign + exponent;
    }
    let suffix = &bytes[len..][..word_len(&bytes[len..])];
    let whole = len + suffix.len();
    match suffix {
        b"f" | b"F" => float(&bytes[..len], whole),
        b"" if is_float => float(&bytes[..len], whole),
        b"" => decimal(&bytes[..len], TokenKind::IntLiteral, whole, after_minus),
        b"u" | b"U" if !is_float => decimal(&bytes[..len], TokenKind::UintLiteral, whole, false),
        b"h" | b"H" | b"l" | b"L" | b"lf" | b"LF" => {
            let problem = problem(
                "there is no such suffix",
                match is_float {
                    true => "floats have 32 bits: remove the suffix, or write `f`",
                    false => "integers have 32 bits: remove the suffix",
                },
            );
            with_problem(written(&bytes[..len], is_float, whole), problem)
        }
        _ => {
            let problem = problem(
                "a number runs into a word",
                "put an operator or a space between them; a name cannot start with a digit",
            );
            with_problem(written(&bytes[..len], is_float, whole), problem)
        }
    }
}

/// What a literal is: its kind, length, bits and error.
type Literal = (TokenKind, usize, u32, Option<NumberError>);

/// The number that a literal has without its suffix.
fn written(literal: &[u8], is_float: bool, whole: usize) -> Literal {
    match is_float {
        true => float(literal, whole),
        false => decimal(literal, TokenKind::IntLiteral, whole, false),
    }
}

fn with_problem((kind, len, bits, _): Literal, problem: Option<NumberError>) -> Literal {
    (kind, len, bits, problem)
}

/// How many decimal digits `bytes` start with.
fn digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(bytes.len())
}

/// The value nearest to the literal, ties to even.
fn float(literal: &[u8], len: usize) -> Literal {
    let value = std::str::from_utf8(literal)
        .ok()
        .and_then(|text| text.parse::<f32>().ok())
        .unwrap_or(f32::INFINITY);
    let problem = if value.is_finite() {
        None
    } else {
        problem("too large for a float", "the largest float is 3.4028235e38")
    };
    (TokenKind::FloatLiteral, len, value.to_bits(), problem)
}

fn decimal(literal: &[u8], kind: TokenKind, len: usize, after_minus: bool) -> Literal {
    let value = literal.iter().try_fold(0u32, |value, digit| {
        value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
    });
    let largest = match kind {
        TokenKind::UintLiteral => u32::MAX,
        _ => i32::MAX as u32 + u32::from(after_minus),
    };
    let problem = match value {
        Some(value) if value > 7 && literal[0] == b'0' => {
            problem("a leading zero", octal_help(literal))
        }
        Some(value) if value <= largest => None,
        Some(_) if kind == TokenKind::IntLiteral => problem(
            "too large for an int",
            "the largest int is 2147483647; write `u` after it for a uint, or `.0` for a float",
        ),
        _ => problem(
            "too large for 32 bits",
            "the largest int is 2147483647, the largest uint 4294967295u; write `.0` after it for a float",
        ),
    };
    (kind, len, value.unwrap_or(0), problem)
}

/// The help for a number with a leading zero.
fn octal_help(literal: &[u8]) -> Cow<'static, str> {
    let digits = literal.strip_suffix(b"u").unwrap_or(literal);
    let digits = std::str::from_utf8(digits).unwrap_or_default();
    match u32::from_str_radix(digits, 8) {
        Ok(value) => format!(
            "in C this would be an octal number: remove the zero, or write that number, `{value:#x}`"
        )
        .into(),
        Err(_) => Cow::Borrowed("remove the zero"),
    }
}

/// `0b101` and `0o17`, which are no literals here.
fn foreign_digits(bytes: &[u8], radix: u32) -> Literal {
    let len = 2 + word_len(&bytes[2..]);
    let (kind, suffix, digits) = match &bytes[2..len] {
        [digits @ .., b'u' | b'U'] => (TokenKind::UintLiteral, "u", digits),
        digits => (TokenKind::IntLiteral, "", digits),
    };
    let value = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, radix).ok());
    let label = match radix {
        2 => "a binary number",
        _ => "an octal number",
    };
    let help = match value {
        Some(value) => format!("write it in hexadecimal: `{value:#x}{suffix}`").into(),
        None => Cow::Borrowed("write it in decimal or hexadecimal, such as `0x1f`"),
    };
    (kind, len, value.unwrap_or(0), problem(label, help))
}

/// `0x1.8p3`, which is no literal here: it has a point or an exponent, `p`.
fn hexadecimal_float(bytes: &[u8]) -> Option<Literal> {
    let is_digit = |b: &u8| b.is_ascii_hexdigit();
    let run = |from: usize| bytes[from..].iter().take_while(|b| is_digit(b)).count();
    let whole = run(2);
    let mut end = 2 + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = run(end + 1);
        end += 1 + fraction;
    }
    let mut exponent = 0;
    match bytes.get(end) {
        Some(b'p' | b'P') => {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let count = digits(&bytes[end + 1 + sign..]);
            let written = std::str::from_utf8(&bytes[end + 1..end + 1 + sign + count]);
            exponent = written.ok().and_then(|text| text.parse::<i32>().ok())?;
            end += 1 + sign + count;
        }
        // `0x1.xy` is a hexadecimal number and a swizzle of it.
        _ if fraction == 0 => return None,
        _ => {}
    }
    if whole + fraction == 0 {
        return None;
    }
    let value = bytes[2..]
        .iter()
        .take(whole + usize::from(fraction > 0) + fraction)
        .filter_map(|&digit| char::from(digit).to_digit(16))
        .fold(0.0, |value, digit| value * 16.0 + f64::from(digit));
    // Up to 13 digits are exact. More may round twice: the literal is refused, and the number is
    // for the help alone.
    let exponent = exponent.saturating_sub(4 * fraction as i32);
    let value = (value * 2f64.powi(exponent)) as f32;
    let len = end + word_len(&bytes[end..]);
    let help = match value.is_finite() {
        true => format!("write it in decimal: `{value:?}`").into(),
        false => Cow::Borrowed("write it in decimal"),
    };
    let problem = problem("a hexadecimal number with a point or an exponent", help);
    Some((TokenKind::FloatLiteral, len, value.to_bits(), problem))
}

/// `0x1f`, `0X1Fu`: a 32-bit pattern.
fn hexadecimal(bytes: &[u8]) -> Literal {
    let len = 2 + word_len(&bytes[2..]);
    let (kind, digits) = match &bytes[2..len] {
        [digits @ .., b'u' | b'U'] => (TokenKind::UintLiteral, digits),
        digits => (TokenKind::IntLiteral, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        let problem = problem(
            "not a hexadecimal number",
            "the digits after `0x` are 0 to 9 and a to f",
        );
        return (kind, len, 0, problem);
    }
    let value = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let problem = match value {
        Some(_) => None,
        None => problem("more than 32 bits", "the largest pattern is 0xffffffff"),
    };
    (kind, len, value.unwrap_or(0), problem)
}
