//! `#define` is refused: the help is the declaration that the macro most likely means.

use super::{shortened, word_len};
use crate::check::predeclared_type_names;
use crate::token_kind::TokenKind;

/// The replacement of `#define` followed by `after`.
pub(super) fn define_fix(after: &str) -> String {
    let name = &after[..word_len(after.as_bytes())];
    let rest = &after[name.len()..];
    let (parameters, value) = match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
        Some((parameters, value)) => (Some(parameters), value),
        None => (None, rest),
    };
    let value = shortened(without_comment(value).trim_end_matches(['\\', ';', ' ', '\t']));
    match (name, parameters) {
        ("", _) => "write a constant, `const float name = 1.0;`, or a function".to_owned(),
        (_, None) if value.is_empty() => {
            "remove the line: there is nothing that asks whether a name is defined".to_owned()
        }
        (_, None) => format!("write `const {} {name} = {value};`", type_of(value)),
        (_, Some(parameters)) => {
            let parameters = parameters.split(',').map(str::trim);
            let parameters: Vec<String> = parameters
                .filter(|parameter| !parameter.is_empty())
                .map(|parameter| format!("float {parameter}"))
                .collect();
            let parameters = parameters.join(", ");
            format!("write a function: `float {name}({parameters}) {{ return {value}; }}`")
        }
    }
}

/// The text before a comment.
pub(super) fn without_comment(text: &str) -> &str {
    let end = text.find("//").into_iter().chain(text.find("/*")).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// The type of a value, as far as its form shows.
fn type_of(value: &str) -> &str {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_whole = |digits: &str| {
        let hex = digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"));
        match hex {
            Some(hex) => u32::from_str_radix(hex, 16).is_ok(),
            None => digits.parse::<u32>().is_ok(),
        }
    };
    if is_whole(digits) {
        return "int";
    }
    if digits.strip_suffix(['u', 'U']).is_some_and(is_whole) {
        return "uint";
    }
    let word = &value[..word_len(value.as_bytes())];
    match word {
        "true" | "false" if word == value => "bool",
        _ if value[word.len()..].starts_with('(') && is_type(word) => word,
        _ => "float",
    }
}

fn is_type(word: &str) -> bool {
    let mut keywords = TokenKind::KEYWORDS.iter();
    keywords.any(|kind| kind.type_keyword().is_some() && kind.text() == word)
        || predeclared_type_names().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn define_help_is_a_declaration_of_the_values_type() {
        for (after, fix) in [
            ("N 96", "write `const int N = 96;`"),
            ("N -3 // three", "write `const int N = -3;`"),
            ("MASK 0xffu", "write `const uint MASK = 0xffu;`"),
            ("PI 3.14;", "write `const float PI = 3.14;`"),
            ("THIRD (1.0/3.0)", "write `const float THIRD = (1.0/3.0);`"),
            ("ON true", "write `const bool ON = true;`"),
            (
                "RED float3(1, 0, 0)",
                "write `const float3 RED = float3(1, 0, 0);`",
            ),
            ("C color(1)", "write `const color C = color(1);`"),
            (
                "MAD(a, b) ((a)*(b)) /* x */",
                "write a function: `float MAD(float a, float b) { return ((a)*(b)); }`",
            ),
        ] {
            assert_eq!(define_fix(after), fix, "{after}");
        }
        assert!(define_fix("DEBUG").starts_with("remove the line"));
        assert!(define_fix("").starts_with("write a constant"));
    }
}
