//! The record as a file: comments, a line for each entry, and a line for each program that gives
//! something else now, with the cause.
//!
//! ```text
//! # a comment
//! tests/lang/arrays/mesh.adu 0f1e2d3c4b5a6978 8796a5b4c3d2e1f0     the hashes of the source and of what it showed
//! seeds/3000 0f1e2d3c4b5a6978 8796a5b4c3d2e1f0                     the same of a block of random programs, all together
//! changed seed/3141 8796a5b4c3d2e1f0 0123456789abcdef: why         what it showed when the record was taken, and now
//! ```
//!
//! Entries keep what was shown when the record was taken. A program that changed since counts as it
//! was then, so a block still checks all its others.

use super::Hashes;
use std::collections::BTreeMap;
use std::fmt;

/// The start of the line of a program that gives something else now.
const CHANGED: &str = "changed ";

/// A program that gives something else than when the record was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// The hash of what it showed then.
    pub before: u64,
    /// The hash of what it shows now.
    pub now: u64,
    /// Why.
    pub cause: String,
}

/// The observations of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashRecord {
    /// The comments, without what marks them.
    pub comments: Vec<String>,
    /// By name, the hashes of each entry.
    pub entries: BTreeMap<String, Hashes>,
    /// By name, the programs that changed since.
    pub changes: BTreeMap<String, RecordChange>,
}

impl HashRecord {
    /// Reads a record.
    ///
    /// # Errors
    /// The first line that is none.
    pub fn read(text: &str) -> Result<HashRecord, String> {
        let mut record = HashRecord::default();
        for (number, line) in text.lines().enumerate() {
            if let Some(comment) = line.strip_prefix('#') {
                record.comments.push(comment.trim().to_owned());
                continue;
            }
            let added = match line.strip_prefix(CHANGED) {
                Some(line) => record.read_change(line),
                None => record.read_entry(line),
            };
            added.ok_or_else(|| format!("line {}: `{line}`", number + 1))?;
        }
        Ok(record)
    }

    fn read_entry(&mut self, line: &str) -> Option<()> {
        let (name, [source, shown]) = hashes(line)?;
        let new = self.entries.insert(name, Hashes { source, shown });
        new.is_none().then_some(())
    }

    fn read_change(&mut self, line: &str) -> Option<()> {
        let (line, cause) = line.split_once(": ")?;
        let (name, [before, now]) = hashes(line)?;
        let cause = cause.to_owned();
        let new = self
            .changes
            .insert(name, RecordChange { before, now, cause });
        new.is_none().then_some(())
    }

    /// What a program would have shown when the record was taken, if it changed just as the record
    /// says.
    ///
    /// # Errors
    /// If it is recorded as changed, and shows something else than that.
    pub fn before(&self, name: &str, shown: u64) -> Result<u64, String> {
        match self.changes.get(name) {
            None => Ok(shown),
            Some(change) if change.now == shown => Ok(change.before),
            Some(change) => {
                let again = match change.before == shown {
                    true => "as before the change",
                    false => "something third",
                };
                Err(format!(
                    "{name}: recorded as changed ({}), it shows {shown:016x}, {again}",
                    change.cause
                ))
            }
        }
    }
}

/// A name and two hashes.
fn hashes(line: &str) -> Option<(String, [u64; 2])> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    let mut hash = || match words.next()? {
        word if word.len() == 16 => u64::from_str_radix(word, 16).ok(),
        _ => None,
    };
    let both = [hash()?, hash()?];
    words.next().is_none().then_some((name, both))
}

impl fmt::Display for HashRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comment in &self.comments {
            writeln!(f, "{}", format!("# {comment}").trim_end())?;
        }
        for (name, RecordChange { before, now, cause }) in &self.changes {
            writeln!(f, "{CHANGED}{name} {before:016x} {now:016x}: {cause}")?;
        }
        for (name, Hashes { source, shown }) in &self.entries {
            writeln!(f, "{name} {source:016x} {shown:016x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Why this is kept.\n\
        #\n\
        changed seed/7 00000000000000aa 00000000000000bb: a reason: this one\n\
        a.adu 0123456789abcdef fedcba9876543210\n\
        seeds/0 0000000000000001 0000000000000002\n";

    #[test]
    fn record_read_and_written_is_the_same() {
        let record = HashRecord::read(TEXT).expect("each line is one");
        assert_eq!(record.to_string(), TEXT);
        assert_eq!(record.entries["seeds/0"].shown, 2);
        assert_eq!(record.changes["seed/7"].cause, "a reason: this one");
    }

    #[test]
    fn malformed_lines_are_refused() {
        let lines = [
            "",
            "a",
            "a 0",
            "a 0123456789abcdef 012345678",
            "a 0123456789abcdef 0123456789abcdeg",
            "a 0123456789abcdef 0123456789abcdef 0123456789abcdef",
            "changed a 0123456789abcdef 0123456789abcdef",
            "seeds/0 0000000000000001 0000000000000002",
        ];
        for line in lines {
            assert!(
                HashRecord::read(&format!("{TEXT}{line}\n")).is_err(),
                "{line}"
            );
        }
    }

    #[test]
    fn changed_program_counts_as_recorded() {
        let record = HashRecord::read(TEXT).expect("each line is one");
        assert_eq!(record.before("seed/6", 0xbb), Ok(0xbb));
        assert_eq!(record.before("seed/7", 0xbb), Ok(0xaa));
        for other in [0xaa, 0xcc] {
            assert!(record.before("seed/7", other).is_err());
        }
    }
}
