//! Mutation tests of the properties.
//!
//! A mutant replaces a function by a copy with one sign, comparison or number changed. Properties
//! must notice it.

use super::check::check;
use super::suite::Function;

/// At how many points a mutant is tried.
const POINTS: usize = 24;

/// Of a function's mutants this part must be noticed, in per cent. Some are no different: `max(x,
/// 0)` moved where x never is 0.
pub(crate) const NOTICED: usize = 75;

/// The replacement of an operator.
const OPERATORS: [(&str, &str); 10] = [
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" / ", " * "),
    (" < ", " > "),
    (" > ", " < "),
    (" <= ", " >= "),
    (" >= ", " <= "),
    (" ^ ", " & "),
    (" << ", " >> "),
];

/// Sources with one change each, inside bodies.
fn mutants(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        depth += i32::from(c == '{') - i32::from(c == '}');
        let mut replace = |from: &str, to: &str| {
            found.push(format!("{}{to}{}", &text[..at], &rest[from.len()..]));
        };
        if depth > 0 {
            let operator = OPERATORS.iter().find(|(from, _)| rest.starts_with(from));
            if let Some((from, to)) = operator {
                replace(from, to);
            } else if c.is_ascii_digit()
                && !before.is_ascii_alphanumeric()
                && !"._".contains(before)
            {
                let number = number(rest);
                replace(number, &changed(number));
            }
        }
        before = c;
    }
    found
}

/// The number that a text begins with.
fn number(text: &str) -> &str {
    let mut before = ' ';
    let end = text.find(|c: char| {
        let is_sign = "+-".contains(c) && before == 'e';
        before = c;
        !(c.is_ascii_alphanumeric() || c == '.' || is_sign)
    });
    &text[..end.unwrap_or(text.len())]
}

fn changed(number: &str) -> String {
    let bits = number.trim_end_matches('u');
    if let Some(hex) = bits.strip_prefix("0x") {
        let word = u32::from_str_radix(hex, 16).expect("a hexadecimal number");
        return format!("0x{:x}u", word ^ 0x0010_0100);
    }
    match (number.parse::<u32>(), number.parse::<f32>()) {
        (Ok(whole), _) => (whole + 1).to_string(),
        (_, Ok(0.0)) => "0.25".to_owned(),
        (_, Ok(float)) => format!("{:?}", float * 1.5),
        _ => format!("{}u", bits.parse::<u32>().expect("a number") + 1),
    }
}

/// The number of a function's mutants, and those that no property noticed.
pub(crate) fn survivors(function: &Function) -> (usize, Vec<String>) {
    let text = adumbra_stdlib::function_source(function.name).expect("an entry of that name");
    let mutants = mutants(text);
    let count = mutants.len();
    let is_noticed = |mutant: &String| {
        let mut properties = function.properties.iter();
        properties.any(|property| check(function, property, POINTS, mutant).is_err())
    };
    let survivors = mutants.into_iter().filter(|m| !is_noticed(m));
    (
        count,
        survivors.map(|mutant| difference(text, &mutant)).collect(),
    )
}

/// The line that was changed.
fn difference(text: &str, mutant: &str) -> String {
    let pairs = text.lines().zip(mutant.lines());
    let changed = pairs.into_iter().find(|(before, after)| before != after);
    changed.map_or(String::new(), |(_, after)| after.trim().to_owned())
}

#[test]
fn mutants_differ_in_one_place() {
    let found = mutants("float f(float x = 2.0) { return x + 1.0 < 2u; }");
    let bodies: Vec<&str> = found.iter().map(|m| &m[m.find('{').unwrap()..]).collect();
    assert_eq!(
        bodies,
        [
            "{ return x - 1.0 < 2u; }",
            "{ return x + 1.5 < 2u; }",
            "{ return x + 1.0 > 2u; }",
            "{ return x + 1.0 < 3u; }",
        ]
    );
}
