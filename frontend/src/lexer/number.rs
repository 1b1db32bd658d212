//! Number literals: `.5`, `2.`, `4.e1`, `1.f`, `0x1f`, `3u`.

use super::word_len;
use crate::token_kind::TokenKind;

/// The error in a literal.
pub(super) struct NumberError {
    pub(super) label: &'static str,
    pub(super) help: &'static str,
}

const fn problem(label: &'static str, help: &'static str) -> Option<NumberError> {
    Some(NumberError { label, help })
}

/// Reads the literal at the start of `bytes`: its kind, length, bits and error. A wrong literal is
/// still a token, as long as the word it runs into. `after_minus` admits 2147483648, which is
/// −`i32::MIN`.
pub(super) fn read_number(
    bytes: &[u8],
    after_minus: bool,
) -> (TokenKind, usize, u32, Option<NumberError>) {
    if let [b'0', b'x' | b'X', ..] = bytes {
        return hexadecimal(bytes);
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
                "there is one size of float, 32 bits: remove the suffix, or write `f`",
            );
            (TokenKind::FloatLiteral, whole, 0, problem)
        }
        _ => {
            let problem = problem(
                "a number runs into a word",
                "put an operator or a space between them; a name cannot start with a digit",
            );
            (TokenKind::FloatLiteral, whole, 0, problem)
        }
    }
}

/// How many decimal digits `bytes` start with.
fn digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(bytes.len())
}

/// The value nearest to the literal, ties to even.
fn float(literal: &[u8], len: usize) -> (TokenKind, usize, u32, Option<NumberError>) {
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

fn decimal(
    literal: &[u8],
    kind: TokenKind,
    len: usize,
    after_minus: bool,
) -> (TokenKind, usize, u32, Option<NumberError>) {
    let value = literal.iter().try_fold(0u32, |value, digit| {
        value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
    });
    let largest = match kind {
        TokenKind::UintLiteral => u32::MAX,
        _ => i32::MAX as u32 + u32::from(after_minus),
    };
    let problem = match value {
        Some(value) if value > 7 && literal[0] == b'0' => problem(
            "a leading zero",
            "in C this would be an octal number: remove the zero, or write it in hexadecimal, `0x1f`",
        ),
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

/// `0x1f`, `0X1Fu`: a 32-bit pattern.
fn hexadecimal(bytes: &[u8]) -> (TokenKind, usize, u32, Option<NumberError>) {
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
