//! Makes a failing program small enough to read.
//!
//! Works on text, so that it serves whatever failed: lines and blocks are deleted, then expressions replaced by their parts, as long as
//! the failure stays. Generated programs have one statement a line and parentheses around every operation.

/// The smallest text found for which `fails` still holds, after at most `tries` calls of it.
///
/// `fails` must say no for text that the checker refuses, or the result is not a program.
pub fn shrink(source: &str, tries: usize, mut fails: impl FnMut(&str) -> bool) -> String {
    let mut best = source.to_owned();
    let mut left = tries;
    let mut attempt = |text: String, best: &mut String| {
        if left == 0 || text.len() >= best.len() {
            return false;
        }
        left -= 1;
        let failed = fails(&text);
        if failed {
            *best = text;
        }
        failed
    };
    loop {
        let before = best.len();
        delete_lines(&mut best, &mut attempt);
        unwrap_blocks(&mut best, &mut attempt);
        replace_expressions(&mut best, &mut attempt);
        if best.len() == before {
            return best;
        }
    }
}

type Attempt<'a> = dyn FnMut(String, &mut String) -> bool + 'a;

/// How much deeper in braces the line ends than it begins, and how far it reaches out on the way.
fn braces(line: &str) -> (i32, i32) {
    let (mut depth, mut least) = (0, 0);
    for c in line.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        least = least.min(depth);
    }
    (depth, least)
}

fn is_balanced(lines: &[&str]) -> bool {
    let mut depth = 0;
    lines.iter().all(|line| {
        let (change, least) = braces(line);
        let inside = depth + least >= 0;
        depth += change;
        inside
    }) && depth == 0
}

fn join(parts: &[&[&str]]) -> String {
    let lines: Vec<&str> = parts.concat();
    lines.join("\n")
}

fn delete_lines(best: &mut String, attempt: &mut Attempt) {
    let mut size = best.lines().count();
    while size > 0 {
        let mut at = 0;
        loop {
            let text = best.clone();
            let lines: Vec<&str> = text.lines().collect();
            if at + size > lines.len() {
                break;
            }
            let (before, rest) = lines.split_at(at);
            let (gone, after) = rest.split_at(size);
            if !(is_balanced(gone) && attempt(join(&[before, after]), best)) {
                at += 1;
            }
        }
        // Statements are short, functions long: all the sizes in between matter less.
        size = if size > 12 { size / 2 } else { size - 1 };
    }
}

/// Takes `if (…) {`, `} else {` and `}` from around statements.
fn unwrap_blocks(best: &mut String, attempt: &mut Attempt) {
    let mut at = 0;
    loop {
        let text = best.clone();
        let lines: Vec<&str> = text.lines().collect();
        if at >= lines.len() {
            return;
        }
        let close = (at + 1..lines.len()).find(|&end| is_balanced(&lines[at..=end]));
        let unwrapped = match close {
            Some(end) if lines[at].trim_end().ends_with('{') => {
                let body: Vec<&str> = lines[at + 1..end]
                    .iter()
                    .filter(|line| line.trim() != "} else {")
                    .copied()
                    .collect();
                attempt(join(&[&lines[..at], &body, &lines[end + 1..]]), best)
            }
            _ => false,
        };
        if !unwrapped {
            at += 1;
        }
    }
}

/// Replaces what stands in parentheses, with the name called if there is one, by one of its parts or a constant.
fn replace_expressions(best: &mut String, attempt: &mut Attempt) {
    let mut at = 0;
    loop {
        let text = best.clone();
        let Some(open) = text[at..].find('(').map(|i| at + i) else {
            return;
        };
        at = open + 1;
        let Some(close) = matching(&text, open) else {
            return;
        };
        let name = text[..open]
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '<' || c == '>'))
            .map_or(0, |i| i + 1);
        let mut candidates = vec!["1.0", "1", "true"];
        let inside = &text[open + 1..close];
        candidates.extend(parts(inside));
        for candidate in candidates {
            let shorter = format!("{}{candidate}{}", &text[..name], &text[close + 1..]);
            if attempt(shorter, best) {
                at = name;
                break;
            }
        }
    }
}

/// Where the parenthesis at `open` is closed.
fn matching(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text[open..].char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return Some(open + i);
        }
    }
    None
}

/// What stands between spaces and commas, outside of inner parentheses.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        if depth == 0 && matches!(c, ' ' | ',') {
            parts.push(&text[start..i]);
            start = i + 1;
        }
    }
    parts.push(&text[start..]);
    parts.retain(|p| p.contains(|c: char| c.is_alphanumeric()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_stays_and_the_rest_goes() {
        let source = "float f(float a) {\n    if (a > 0.0) {\n        a = sin((a * 2.0) + tan(a));\n    } else {\n        \
                      a = 1.0;\n    }\n    return a;\n}\nshader main() {\n    float v = f(1.0);\n}\n";
        let small = shrink(source, 10_000, |text| text.contains("tan"));
        assert!(small.trim().len() <= "a = tan;".len() + 4, "{small}");
    }

    #[test]
    fn braces_stay_balanced() {
        let source = "a {\n b {\n c\n }\n}\nd\n";
        let small = shrink(source, 1000, |text| {
            assert!(is_balanced(&text.lines().collect::<Vec<_>>()));
            text.contains('c')
        });
        assert_eq!(small.trim(), "c");
    }

    #[test]
    fn tries_are_counted() {
        let mut count = 0;
        shrink(&"x;\n".repeat(50), 7, |_| {
            count += 1;
            false
        });
        assert_eq!(count, 7);
    }
}
