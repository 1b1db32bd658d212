//! Suggestions by edit distance: the known name closest to an unknown one.
//!
//! The distance is that of Damerau (1964), *A technique for computer detection and correction of
//! spelling errors*: change, insertion, deletion, and exchange of neighbours. The checker, groups
//! and the command share it. The work is bounded: a name is compared with at most
//! [`MAX_COMPARED_NAMES`] others of about its length, and not at all if it is longer than
//! [`MAX_COMPARED_NAME_BYTES`].

use crate::limits::{MAX_COMPARED_NAME_BYTES, MAX_COMPARED_NAMES};
use std::cmp::Reverse;

/// The known name that is closest to `name`, if any is close: one letter of three may differ, two
/// of six, three of more; another case counts half. Ties go to the longer common prefix, then to
/// the shorter name.
pub fn closest_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > MAX_COMPARED_NAME_BYTES {
        return None;
    }
    let letters = match name.len() {
        0..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let near = known.filter(|other| other.len().abs_diff(name.len()) <= letters);
    let ranked = near.take(MAX_COMPARED_NAMES).filter_map(|other| {
        let distance = distance(name, other);
        let shares_nothing = distance >= 2 * other.len().max(name.len());
        let is_close = (1..=2 * letters).contains(&distance) && !shares_nothing;
        let pairs = name.bytes().zip(other.bytes());
        let shared = pairs.take_while(|(a, b)| a == b).count();
        is_close.then_some((distance, Reverse(shared), other.len(), other))
    });
    ranked.min().map(|(.., other)| other)
}

/// Twice the edit distance: letters changed, added, left out or swapped with their neighbour;
/// another case counts half.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).map(|j| 2 * j).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(2 * i);
        for j in 1..=b.len() {
            let (x, y) = (a[i - 1], b[j - 1]);
            let change = match () {
                () if x == y => 0,
                () if x.eq_ignore_ascii_case(&y) => 1,
                () => 2,
            };
            let mut least = (last[j - 1] + change).min(last[j] + 2).min(row[j - 1] + 2);
            if i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y {
                least = least.min(before[j - 2] + 2);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("sin", "sin"), 0);
        assert_eq!(distance("sni", "sin"), 2);
        assert_eq!(distance("sinn", "sin"), 2);
        assert_eq!(distance("Sin", "sin"), 1);
        assert_eq!(distance("colour", "color"), 2);
        assert_eq!(distance("abc", "xyz"), 6);
    }

    #[test]
    fn ties_prefer_common_prefix_then_shorter() {
        let of = |name, known: &[&'static str]| closest_name(name, known.iter().copied());
        assert_eq!(of("sinn", &["sign", "sinh", "sin"]), Some("sin"));
        assert_eq!(of("ab", &["cb", "ac"]), Some("ac"));
        assert_eq!(of("sin", &["sin"]), None);
        assert_eq!(of("ab", &["cd"]), None);
        assert_eq!(of("Sin", &["sit", "sin"]), Some("sin"));
        assert_eq!(of("", &["a"]), None);
    }

    #[test]
    fn name_comparisons_are_bounded() {
        let after = |others: usize| {
            let others = std::iter::repeat_n("zzzzzz", others);
            closest_name("normel", others.chain(["normal"]))
        };
        assert_eq!(after(MAX_COMPARED_NAMES - 1), Some("normal"));
        assert_eq!(after(MAX_COMPARED_NAMES), None);
        let long = "a".repeat(MAX_COMPARED_NAME_BYTES);
        assert!(closest_name(&long, [&long[1..]].into_iter()).is_some());
        let longer = "a".repeat(MAX_COMPARED_NAME_BYTES + 1);
        assert_eq!(closest_name(&longer, [&longer[1..]].into_iter()), None);
    }
}
