//! Fewer and smaller choices. The generator makes 0 of what has run out, and 0 is the simplest
//! alternative everywhere, so the end is cut off, parts become zeros, and parts go.

/// The choices of the simplest program that failed, and where among them to go on.
#[derive(Clone, Debug)]
pub(super) struct ChoiceShrinker {
    best: Vec<u8>,
    /// The choices that were proposed.
    candidate: Vec<u8>,
    pass: Pass,
    /// Whether the passes had a success since the first of them began.
    has_changed: bool,
}

/// A pass that makes choices simpler, from large parts to small ones, from the end to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// `size` bytes are left off at the end.
    Cut { size: usize },
    /// `size` bytes before `end` become zeros.
    Zero { size: usize, end: usize },
    /// `size` bytes before `end` go.
    Delete { size: usize, end: usize },
    /// The one before that place becomes smaller: half of it, or 1 less.
    Lower { end: usize, half: bool },
}

impl ChoiceShrinker {
    pub(super) fn new(bytes: &[u8]) -> ChoiceShrinker {
        ChoiceShrinker {
            best: bytes.to_vec(),
            candidate: Vec::new(),
            pass: Pass::Cut { size: bytes.len() },
            has_changed: false,
        }
    }

    /// Other choices, which are simpler; nothing if there are none.
    pub(super) fn propose(&mut self) -> Option<Vec<u8>> {
        loop {
            let pass = self.pass;
            if self.is_over(pass) {
                self.pass = self.after(pass)?;
                continue;
            }
            let candidate = self.made(pass);
            self.pass = self.next(pass);
            if candidate != self.best {
                self.candidate.clone_from(&candidate);
                return Some(candidate);
            }
        }
    }

    /// The last proposal is the simplest from now on.
    pub(super) fn accept(&mut self) {
        std::mem::swap(&mut self.best, &mut self.candidate);
        self.has_changed = true;
    }

    /// Whether a pass has nothing more to do.
    fn is_over(&self, pass: Pass) -> bool {
        match pass {
            Pass::Cut { size } | Pass::Zero { size, .. } | Pass::Delete { size, .. } => size == 0,
            Pass::Lower { end, .. } => end == 0,
        }
    }

    /// The pass after one; after the last the first again, if anything has changed.
    fn after(&mut self, pass: Pass) -> Option<Pass> {
        let len = self.best.len();
        let size = len.next_power_of_two() / 2;
        match pass {
            Pass::Cut { .. } => Some(Pass::Zero { size, end: len }),
            Pass::Zero { .. } => Some(Pass::Delete { size, end: len }),
            Pass::Delete { .. } => Some(Pass::Lower {
                end: len,
                half: true,
            }),
            Pass::Lower { .. } => {
                std::mem::take(&mut self.has_changed).then_some(Pass::Cut { size: len })
            }
        }
    }

    /// The best ones, changed at the place of a pass.
    fn made(&self, pass: Pass) -> Vec<u8> {
        let mut made = self.best.clone();
        let part = |size: usize, end: usize| {
            let end = end.min(self.best.len());
            end.saturating_sub(size)..end
        };
        match pass {
            Pass::Cut { size } => made.truncate(self.best.len().saturating_sub(size)),
            Pass::Zero { size, end } => made[part(size, end)].fill(0),
            Pass::Delete { size, end } => drop(made.drain(part(size, end))),
            Pass::Lower { end, half } => {
                for byte in &mut made[part(1, end)] {
                    *byte = if half {
                        *byte / 2
                    } else {
                        byte.saturating_sub(1)
                    };
                }
            }
        }
        made
    }

    /// Where a pass goes on.
    fn next(&self, pass: Pass) -> Pass {
        let len = self.best.len();
        let step = |size: usize, end: usize| match end.min(len).saturating_sub(size) {
            0 => (size / 2, len),
            end => (size, end),
        };
        match pass {
            Pass::Cut { size } => Pass::Cut { size: size / 2 },
            Pass::Zero { size, end } => {
                let (size, end) = step(size, end);
                Pass::Zero { size, end }
            }
            Pass::Delete { size, end } => {
                let (size, end) = step(size, end);
                Pass::Delete { size, end }
            }
            Pass::Lower { end, half: true } => Pass::Lower { end, half: false },
            Pass::Lower { end, half: false } => Pass::Lower {
                end: end.min(len) - 1,
                half: true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simplest choices found that fail.
    fn simplest(bytes: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut choices = ChoiceShrinker::new(bytes);
        while let Some(candidate) = choices.propose() {
            if fails(&candidate) {
                choices.accept();
            }
        }
        choices.best
    }

    #[test]
    fn choices_that_matter_stay_and_shrink() {
        let bytes: Vec<u8> = (0..200).map(|i| (i * 37 % 251) as u8).collect();
        // A byte of at least 100, after a byte of at least 10.
        let found = simplest(&bytes, |bytes| {
            let first = bytes.iter().position(|&byte| byte >= 10);
            first.is_some_and(|at| bytes[at + 1..].iter().any(|&byte| byte >= 100))
        });
        assert_eq!(found, [10, 100]);
    }

    #[test]
    fn choices_that_mean_nothing_go() {
        assert!(simplest(&[7; 100], |_| true).is_empty());
        assert_eq!(simplest(&[7; 100], |_| false), [7; 100]);
        assert_eq!(simplest(&[7; 9], |bytes| bytes.len() >= 4), [0; 4]);
        assert!(simplest(&[], |_| true).is_empty());
    }
}
