//! Changes of program files: of the tokens and lines of their modules, and of their bytes.

use crate::choices::Choices;
use crate::fnv::FnvHasher;
use adumbra_ops::Op;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// Bytes of a file before its payload: magic, version, checksum.
pub const HEADER: usize = 16;

/// Most changes of a module.
const CHANGES: usize = 4;

/// Most lines that a change may add.
const MAX_ADDED: usize = 1 << 15;

/// Most lines that are repeated together.
const BLOCK: usize = 16;

/// How far from a token another one is looked for to take its place, in tokens.
const NEAR: i64 = 60;

/// Numbers at which limits, indices and widths of numbers begin or end, or one from it.
const SPECIAL: [i64; 15] = [
    0,
    1,
    2,
    4,
    1 << 7,
    1 << 10,
    1 << 12,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 18,
    1 << 20,
    1 << 24,
    1 << 31,
    1 << 32,
];

/// Constants that are the end of something.
const CONSTANTS: [&str; 10] = [
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1e-45",
    "3.4e38",
    "true",
    "false",
    "empty",
    "0x7fc00001",
];

/// Types of values, and their lanes.
const TYPES: [&str; 9] = [
    "f32", "i32", "u32", "bool", "closure", "resource", "x", "y", "xy",
];

/// Lines of options.
const OPTIONS: [(&str, &str); 8] = [
    ("\"dual\"", "\"off\""),
    ("\"dual\"", "{\"quad\":0}"),
    ("\"dual\"", "{\"quad\":3}"),
    ("{\"quad\":", "{\"quad\":1"),
    ("false", "true"),
    ("true", "false"),
    ("\"dropped\":[]", "\"dropped\":[\"mul\",\"sin\"]"),
    (
        "\"output_derivatives\":false",
        "\"output_derivatives\":true",
    ),
];

/// A file of magic and version, the payload's checksum, and the payload.
pub fn seal(start: &[u8], payload: &[u8]) -> Vec<u8> {
    let checksum = FnvHasher::of(payload);
    [start, &checksum.to_le_bytes(), payload].concat()
}

/// A file that one of some valid files was changed to. All have the right checksum.
pub fn mutant(files: &[Vec<u8>], choices: &mut Choices<'_>) -> Vec<u8> {
    let file = &files[choices.word() as usize % files.len()];
    match choices.percent(85) {
        true => mutate_module(file, choices),
        false => mutate(file, choices),
    }
}

/// A file with a few tokens or lines of its module changed.
pub fn mutate_module(file: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let payload = String::from_utf8_lossy(&file[HEADER..]);
    let (options, module) = payload.split_once('\n').unwrap_or_default();
    let (mut options, mut module) = (options.to_owned(), module.to_owned());
    for _ in 0..choices.between(1, CHANGES as i64) {
        match choices.weighted(&[12, 60, 20]) {
            0 => {
                let (from, to) = choices.pick(&OPTIONS);
                options = options.replacen(from, to, 1);
            }
            1 => module = change_token(&module, choices),
            _ => module = repeat_lines(&module, choices),
        }
    }
    seal(&file[..8], format!("{options}\n{module}").as_bytes())
}

/// A file with a few bytes changed, removed, doubled or exchanged, and the checksum made right
/// again: what reading alone must catch.
pub fn mutate(file: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut payload = file.get(HEADER..).unwrap_or_default().to_vec();
    for _ in 0..choices.between(1, 3) {
        if payload.is_empty() {
            break;
        }
        let at = choices.word() as usize % payload.len();
        match choices.below(6) {
            0 => payload[at] = choices.byte(),
            1 => payload[at] ^= 1 << choices.below(8),
            2 => payload[at] = payload[at].wrapping_add(1),
            3 => drop(payload.remove(at)),
            4 => payload.truncate(at),
            _ => {
                let other = choices.word() as usize % payload.len();
                payload.swap(at, other);
            }
        }
    }
    seal(file.get(..8).unwrap_or_default(), &payload)
}

/// The tokens of a module as bytes: ids, spans, words, numbers, quoted names and signs.
fn tokens(module: &str) -> Vec<Range<usize>> {
    let bytes = module.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &bytes[at + 1..];
        let len = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'"' => rest.iter().take_while(|&&byte| byte != b'"').count() + 1,
            b'@' => rest
                .iter()
                .take_while(|byte| is_word(byte) || **byte == b':')
                .count(),
            b'%' | b'^' | b'&' | b'#' | b'-' => {
                rest.iter().take_while(|byte| is_word(byte)).count()
            }
            byte if is_word(&byte) => {
                let is_part = |byte: &&u8| is_word(byte) || b"+-".contains(byte);
                match byte.is_ascii_digit() {
                    true => rest.iter().take_while(is_part).count(),
                    false => rest.iter().take_while(|byte| is_word(byte)).count(),
                }
            }
            _ => 0,
        };
        let end = (at + 1 + len).min(bytes.len());
        tokens.push(at..end);
        at = end;
    }
    tokens
}

/// Changes one token; a use of a value rather than its definition.
fn change_token(module: &str, choices: &mut Choices<'_>) -> String {
    let tokens = tokens(module);
    let text = |at: usize| tokens.get(at).and_then(|range| module.get(range.clone()));
    let Some(mut at) = (choices.word() as usize).checked_rem(tokens.len()) else {
        return module.to_owned();
    };
    // Spans are many, and mean little.
    let is_dull =
        |at: usize| text(at).is_some_and(|it| it.starts_with('@')) || text(at + 1) == Some(":");
    while at + 1 < tokens.len() && is_dull(at) && !choices.one_in(64) {
        at += 1;
    }
    let old = text(at).unwrap_or_default();
    let first = old.as_bytes().first().copied().unwrap_or_default();
    let near = at as i64 + choices.between(-NEAR, NEAR);
    let near = usize::try_from(near)
        .ok()
        .and_then(text)
        .unwrap_or_default();
    let is_like = near.as_bytes().first().is_some_and(|near| {
        *near == first || near.is_ascii_alphabetic() && first.is_ascii_alphabetic()
    });
    let new = match first {
        _ if choices.one_in(40) => String::new(),
        _ if is_like && choices.percent(70) => near.to_owned(),
        b'%' | b'^' | b'&' | b'#' => format!("{}{}", &old[..1], number(&old[1..], choices)),
        _ if TYPES.contains(&old) => (*choices.pick(&TYPES)).to_owned(),
        _ if Op::from_name(old).is_some() => choices.pick(Op::ALL).info().name.to_owned(),
        b'0'..=b'9' | b'-' => match choices.percent(30) {
            true => (*choices.pick(&CONSTANTS)).to_owned(),
            false => number(old, choices),
        },
        _ => near.to_owned(),
    };
    let range = tokens[at].clone();
    [&module[..range.start], &new, &module[range.end..]].concat()
}

/// A number near another one, or a special one.
fn number(old: &str, choices: &mut Choices<'_>) -> String {
    let special = SPECIAL[choices.below(SPECIAL.len())];
    let number = match old.parse::<i64>() {
        Ok(number) if choices.percent(60) => number,
        _ => special,
    };
    (number + choices.between(-2, 2)).to_string()
}

/// How often something is repeated: mostly a few times, sometimes as often as it must be to take
/// long.
fn times(choices: &mut Choices<'_>) -> usize {
    let bits = match choices.weighted(&[200, 50, 6]) {
        0 => choices.below(4),
        1 => choices.below(10),
        _ => choices.below(16),
    };
    1 << bits
}

/// Repeats consecutive lines of a function, or of the tables. What they define has fresh numbers in
/// each copy.
fn repeat_lines(module: &str, choices: &mut Choices<'_>) -> String {
    let lines: Vec<&str> = module.lines().collect();
    let Some(start) = (choices.word() as usize).checked_rem(lines.len()) else {
        return module.to_owned();
    };
    let end = block_end(&lines, start, choices);
    let count = times(choices).min(MAX_ADDED / (end - start).max(1));
    let block = lines[start..end].join("\n");
    let is_end = |line: &&str| line.starts_with('}');
    let function = start - (lines[..start].iter().rev().take_while(|line| !is_end(line))).count();
    let function_end = end + lines[end..].iter().take_while(|line| !is_end(line)).count();
    let function = lines[function..function_end].join("\n");
    // The first free number of each kind.
    let mut free: HashMap<u8, u32> = HashMap::new();
    for token in tokens(&function) {
        let token = &function[token];
        if let Ok(number) = token[1..].parse::<u32>() {
            let next = free.entry(token.as_bytes()[0]).or_default();
            *next = (*next).max(number.saturating_add(1));
        }
    }
    let mut out = lines[..end].join("\n");
    let parts = tokens(&block);
    for _ in 0..count {
        out.push('\n');
        let mut renamed: HashMap<&str, String> = HashMap::new();
        let mut at = 0;
        for (index, range) in parts.iter().enumerate() {
            let token = &block[range.clone()];
            let next = parts.get(index + 1).map(|range| &block[range.clone()]);
            let sigil = token.as_bytes()[0];
            let is_definition = match sigil {
                b'%' | b'&' => next == Some(":"),
                b'^' => matches!(next, Some("{" | "(")),
                _ => false,
            };
            if is_definition && token[1..].parse::<u32>().is_ok() {
                let number = free.entry(sigil).or_default();
                renamed.insert(token, format!("{}{number}", &token[..1]));
                *number += 1;
            }
            out.push_str(&block[at..range.start]);
            out.push_str(renamed.get(token).map_or(token, |new| new));
            at = range.end;
        }
        out.push_str(&block[at..]);
    }
    let _ = write!(out, "\n{}", lines[end..].join("\n"));
    out
}

/// Where the lines from one on that may be repeated end: one or some, with all of an instruction's
/// regions, and without what ends a region.
fn block_end(lines: &[&str], start: usize, choices: &mut Choices<'_>) -> usize {
    let wanted = match choices.percent(40) {
        true => 1,
        false => 1 + choices.below(BLOCK),
    };
    let (mut depth, mut end) = (0_i64, start);
    for (at, line) in lines.iter().enumerate().skip(start) {
        let signs = |sign: char| line.matches(sign).count() as i64;
        let word = line.trim_start();
        let ends = ["return", "yield", "break", "continue", "unreachable"];
        if depth == 0 && (word.starts_with('}') || ends.iter().any(|end| word.starts_with(end))) {
            break;
        }
        depth += signs('{') - signs('}');
        if depth == 0 {
            end = at + 1;
        }
        if depth == 0 && end - start >= wanted {
            break;
        }
    }
    end
}
