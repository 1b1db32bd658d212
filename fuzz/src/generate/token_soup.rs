//! Sources that are hardly ever programs, which the frontend must refuse with diagnostics.

use crate::choices::Choices;
use crate::generate::{GeneratedProgram, MAX_BYTES, Profile};

/// Words and signs of the language, and some that look like it.
const TOKENS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "<<<",
    ">>>",
    ">>",
    "<<",
    ";",
    ",",
    ".",
    "?",
    ":",
    "=",
    "==",
    "!=",
    "<=",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "++",
    "--",
    "+=",
    "-=",
    "*=",
    "/=",
    "&&",
    "||",
    "!",
    "~",
    "&",
    "|",
    "^",
    "#",
    "@",
    "\"",
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "0",
    "1",
    "1.0",
    ".5",
    "2.",
    "1e9",
    "1e",
    "0x",
    "0x1f",
    "99999999999",
    "0.5f",
    "void",
    "bool",
    "int",
    "uint",
    "float",
    "float2",
    "float3",
    "float4",
    "float2x2",
    "vec3",
    "color",
    "closure",
    "texture2d",
    "shader_resource",
    "struct",
    "shader",
    "const",
    "in",
    "out",
    "inout",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "true",
    "false",
    "global_value",
    "make_closure",
    "texture2d_sample",
    "texture2d_sample_alpha",
    "double",
    "int2",
    "main",
    "x",
    "y",
    "xyz",
    "a",
    "b",
    "f",
    "S",
    "w",
    "sin",
    "ddx",
    "dot",
    "mix",
    "select",
    "1u",
    "u",
    "printf",
    "\"%f %d\\n\"",
    "\"%*s %99.99f %q",
    "#include \"part0.adu\"\n",
    "#include",
    "\"part0.adu\"",
    "\"fuzz.adu\"",
    "\n//// part0.adu\n",
    "<<< label = \"a\", min = -1, hidden >>>",
    "<<< label = >>>",
    "hidden",
    "texture2d_sample_grad",
    "texture2d_sample_alpha_level",
    "<a>",
    "float3x3",
    "mul",
    "inverse",
    "transpose",
    "[n]",
    "[2][3]",
    "{ { 1 }, {} }",
    "case 1:",
    "default:",
    "perlin4",
    "fbm",
    "é",
    "\u{0}",
];

/// Tokens in any order.
pub fn tokens(bytes: &[u8]) -> String {
    let mut choices = Choices::new(&bytes[..bytes.len().min(MAX_BYTES)]);
    let mut text = String::new();
    while !choices.exhausted() {
        let token = *choices.pick(TOKENS);
        text.push_str(token);
        if !choices.one_in(8) {
            text.push(' ');
        }
    }
    text
}

/// A generated program with a few tokens removed, doubled, exchanged or replaced.
pub fn mutated(bytes: &[u8]) -> String {
    let (head, rest) = bytes.split_at(bytes.len().min(32));
    let program = GeneratedProgram::generate(rest, Profile::ANY);
    mutate(&program.source, TOKENS, &mut Choices::new(head))
}

/// Some text with a few tokens removed, doubled, exchanged, or replaced by one of `tokens` or by
/// another of its own.
pub fn mutate(text: &str, tokens: &[&str], choices: &mut Choices) -> String {
    let mut parts = split(text);
    for _ in 0..choices.between(1, 3) {
        let mut place = || choices.word() as usize % parts.len().max(1);
        let (at, other) = (place(), place());
        match choices.below(6) {
            _ if parts.is_empty() || tokens.is_empty() => {}
            0 => {
                parts.remove(at);
            }
            1 => parts.insert(at, *choices.pick(tokens)),
            2 => parts[at] = *choices.pick(tokens),
            3 => parts.swap(at, other),
            4 => parts[at] = parts[other],
            _ => {
                let end = parts.len().min(at + choices.below(24));
                let copy = parts[at..end].to_vec();
                parts.splice(at..at, copy);
            }
        }
    }
    parts.concat()
}

/// The text cut before and after every word and every sign.
fn split(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::bytes_of_seed;

    #[test]
    fn tokens_join_to_the_source() {
        let text = "float v1=-0.5+é;\n";
        assert_eq!(split(text).concat(), text);
        assert_eq!(split(text)[..4], ["float", " ", "v1", "="]);
    }

    #[test]
    fn soup_is_determined_by_bytes() {
        for seed in 0..50 {
            let bytes = bytes_of_seed(seed, 300);
            assert_eq!(mutated(&bytes), mutated(&bytes));
            assert!(!tokens(&bytes).is_empty());
        }
        assert_eq!(tokens(&[]), "");
        assert!(!mutated(&[]).is_empty());
    }
}
