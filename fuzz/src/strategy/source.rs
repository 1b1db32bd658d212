//! Shorter text: lines and blocks are deleted, then expressions replaced by their parts. Generated
//! programs have one statement a line and parentheses around every operation. What comes of it need
//! not be a program.

/// Where in a text to go on.
#[derive(Clone, Debug)]
pub(super) struct SourceShrinker {
    pass: Pass,
    /// Where to go on if what was proposed is the text from now on.
    accepted: Pass,
    /// Bytes of the text when the first pass began.
    before: usize,
}

/// A pass that makes a source shorter, from the front to the end.
#[derive(Clone, Copy, Debug)]
enum Pass {
    /// `size` lines from that one on go.
    Lines { size: usize, at: usize },
    /// The block that this line begins is taken from around its statements.
    Blocks { at: usize },
    /// The candidate of that number replaces the first parentheses from that byte on.
    Expressions { at: usize, candidate: usize },
}

impl SourceShrinker {
    pub(super) fn new(text: &str) -> SourceShrinker {
        let pass = SourceShrinker::first(text);
        SourceShrinker {
            pass,
            accepted: pass,
            before: text.len(),
        }
    }

    /// The first pass begins.
    fn first(text: &str) -> Pass {
        Pass::Lines {
            size: text.lines().count(),
            at: 0,
        }
    }

    /// A text shorter than this one, the shortest so far; nothing if there are no more.
    pub(super) fn propose(&mut self, best: &str) -> Option<String> {
        loop {
            let shorter = match self.pass {
                Pass::Lines { size: 0, .. } => {
                    self.pass = Pass::Blocks { at: 0 };
                    continue;
                }
                Pass::Lines { size, at } => self.without_lines(best, size, at),
                Pass::Blocks { at } => self.without_block(best, at),
                Pass::Expressions { at, candidate } => {
                    let Some(shorter) = self.with_part(best, at, candidate) else {
                        if best.len() == self.before {
                            return None;
                        }
                        *self = SourceShrinker::new(best);
                        continue;
                    };
                    shorter
                }
            };
            if let Some(shorter) = shorter.filter(|shorter| shorter.len() < best.len()) {
                return Some(shorter);
            }
        }
    }

    /// The proposal is the source from now on.
    pub(super) fn accept(&mut self) {
        self.pass = self.accepted;
    }

    fn without_lines(&mut self, best: &str, size: usize, at: usize) -> Option<String> {
        let lines: Vec<&str> = best.lines().collect();
        if at + size > lines.len() {
            // Statements are short, functions long: all the sizes in between matter less.
            let size = if size > 12 { size / 2 } else { size - 1 };
            self.pass = Pass::Lines { size, at: 0 };
            return None;
        }
        self.accepted = self.pass;
        self.pass = Pass::Lines { size, at: at + 1 };
        let (before, rest) = lines.split_at(at);
        let (gone, after) = rest.split_at(size);
        is_balanced(gone).then(|| join(&[before, after]))
    }

    /// Takes `if (…) {`, `} else {` and `}` from around statements.
    fn without_block(&mut self, best: &str, at: usize) -> Option<String> {
        let lines: Vec<&str> = best.lines().collect();
        if at >= lines.len() {
            self.pass = Pass::Expressions {
                at: 0,
                candidate: 0,
            };
            return None;
        }
        self.accepted = self.pass;
        self.pass = Pass::Blocks { at: at + 1 };
        let close = (at + 1..lines.len()).find(|&end| is_balanced(&lines[at..=end]))?;
        if !lines[at].trim_end().ends_with('{') {
            return None;
        }
        let body = lines[at + 1..close].iter();
        let body: Vec<&str> = body
            .filter(|line| line.trim() != "} else {")
            .copied()
            .collect();
        Some(join(&[&lines[..at], &body, &lines[close + 1..]]))
    }

    /// Replaces what is in parentheses, with the name called if there is one, by one of its parts
    /// or a constant. The outer nothing says that there are no more parentheses.
    fn with_part(&mut self, best: &str, at: usize, candidate: usize) -> Option<Option<String>> {
        let open = at + best[at..].find('(')?;
        let close = matching(best, open)?;
        let name = best[..open]
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '<' || c == '>'))
            .map_or(0, |i| i + 1);
        let mut candidates = vec!["1.0", "1", "true"];
        candidates.extend(parts(&best[open + 1..close]));
        let Some(part) = candidates.get(candidate) else {
            self.pass = Pass::Expressions {
                at: open + 1,
                candidate: 0,
            };
            return Some(None);
        };
        self.accepted = Pass::Expressions {
            at: name,
            candidate: 0,
        };
        self.pass = Pass::Expressions {
            at,
            candidate: candidate + 1,
        };
        let shorter = format!("{}{part}{}", &best[..name], &best[close + 1..]);
        Some(Some(shorter))
    }
}

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

/// The parts between spaces and commas, outside of inner parentheses.
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

    /// The shortest text found that fails.
    fn shortest(source: &str, mut fails: impl FnMut(&str) -> bool) -> String {
        let mut best = source.to_owned();
        let mut text = SourceShrinker::new(&best);
        while let Some(shorter) = text.propose(&best) {
            assert!(shorter.len() < best.len());
            if fails(&shorter) {
                best = shorter;
                text.accept();
            }
        }
        best
    }

    #[test]
    fn failing_part_stays_and_the_rest_goes() {
        let source = "float f(float a) {\n    if (a > 0.0) {\n        a = sin((a * 2.0) + tan(a));\n    } else {\n        \
                      a = 1.0;\n    }\n    return a;\n}\nshader main() {\n    float v = f(1.0);\n}\n";
        let small = shortest(source, |text| text.contains("tan"));
        assert!(small.trim().len() <= "a = tan;".len() + 4, "{small}");
    }

    #[test]
    fn braces_stay_balanced() {
        let source = "a {\n b {\n c\n }\n}\nd\n";
        let small = shortest(source, |text| {
            assert!(is_balanced(&text.lines().collect::<Vec<_>>()));
            text.contains('c')
        });
        assert_eq!(small.trim(), "c");
    }
}
