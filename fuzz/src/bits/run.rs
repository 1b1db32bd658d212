//! Computes entries on all processors, and holds them against a record.

use super::record::HashRecord;
use super::{Hashes, language, materials, random};
use crate::fnv::FnvHasher;
use crate::parallel::check_seeds;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::AddAssign;
use std::path::Path;

/// Random programs of one entry.
pub const BLOCK: u64 = 1_000;

/// What an entry is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordItem {
    /// A program of `tests/lang`, by path.
    Language(String),
    /// A material, by path.
    Material(String),
    /// [`BLOCK`] random programs, from this seed on.
    Block(u64),
    /// The random program of a seed.
    Seed(u64),
}

impl RecordItem {
    /// All programs that are written down.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn written() -> Result<Vec<RecordItem>, String> {
        let language = language::programs()?.into_iter().map(RecordItem::Language);
        let materials = materials::programs()?.into_iter().map(RecordItem::Material);
        Ok(language.chain(materials).collect())
    }

    /// The whole blocks among the first `programs` random programs.
    pub fn blocks(programs: u64) -> impl Iterator<Item = RecordItem> {
        (0..programs / BLOCK).map(|block| RecordItem::Block(block * BLOCK))
    }

    fn hashes(&self, record: &HashRecord) -> Result<Hashes, String> {
        let (name, found) = match self {
            RecordItem::Language(path) => (self.to_string(), language::hashes(path)?),
            RecordItem::Material(path) => (self.to_string(), materials::hashes(path)?),
            RecordItem::Seed(seed) => (self.to_string(), random::hashes(*seed)?),
            RecordItem::Block(first) => return block(*first, record),
        };
        let shown = record.before(&name, found.shown)?;
        Ok(Hashes { shown, ..found })
    }
}

/// The hashes of a block: those of its programs, hashed in order.
fn block(first: u64, record: &HashRecord) -> Result<Hashes, String> {
    let (mut source, mut shown) = (FnvHasher::default(), FnvHasher::default());
    for seed in first..first + BLOCK {
        let found = RecordItem::Seed(seed).hashes(record)?;
        source.long(found.source);
        shown.long(found.shown);
    }
    Ok(Hashes {
        source: source.get(),
        shown: shown.get(),
    })
}

impl fmt::Display for RecordItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordItem::Language(path) | RecordItem::Material(path) => f.write_str(path),
            RecordItem::Block(first) => write!(f, "seeds/{first:05}"),
            RecordItem::Seed(seed) => write!(f, "seed/{seed:05}"),
        }
    }
}

/// The entries that were computed.
#[derive(Clone, Debug, Default)]
pub struct ComputedHashes {
    /// By name, the hashes of each entry, in which programs that changed count as they were.
    pub entries: BTreeMap<String, Hashes>,
    /// Entries that could not be computed, or changed otherwise than the record says.
    pub wrong: Vec<String>,
}

impl AddAssign for ComputedHashes {
    fn add_assign(&mut self, other: ComputedHashes) {
        self.entries.extend(other.entries);
        self.wrong.extend(other.wrong);
    }
}

/// Computes entries.
pub fn compute(items: &[RecordItem], record: &HashRecord) -> ComputedHashes {
    let one = |index: u64, found: &mut ComputedHashes| {
        let item = &items[index as usize];
        match item.hashes(record) {
            Ok(hashes) => drop(found.entries.insert(item.to_string(), hashes)),
            Err(what) => found.wrong.push(what),
        }
        Ok(())
    };
    let (mut found, _) = check_seeds(0..items.len() as u64, &ComputedHashes::default(), one);
    found.wrong.sort();
    found
}

/// The comparison of computed entries with a record.
#[derive(Clone, Debug, Default)]
pub struct RecordReport {
    /// Entries that are as recorded.
    pub same: usize,
    /// Those that the record lacks.
    pub unrecorded: Vec<String>,
    /// Entries that differ from the record.
    pub wrong: Vec<String>,
}

/// Holds what was computed of all programs that are written down, and of some blocks, against a
/// record.
pub fn compare(found: ComputedHashes, record: &HashRecord) -> RecordReport {
    let mut report = RecordReport {
        wrong: found.wrong,
        ..RecordReport::default()
    };
    for (name, found) in &found.entries {
        match record.entries.get(name) {
            None => report.unrecorded.push(name.clone()),
            Some(recorded) if recorded == found => report.same += 1,
            Some(recorded) => report.wrong.push(match recorded.source == found.source {
                true => format!("{name}: the same text gives something else"),
                false => format!("{name}: another text than the recorded one"),
            }),
        }
    }
    report
}

/// Programs that are recorded and were not found among those that are written down.
pub fn missing(found: &ComputedHashes, record: &HashRecord) -> Vec<String> {
    let written = record.entries.keys().filter(|name| name.ends_with(".adu"));
    let gone = written.filter(|name| !found.entries.contains_key(*name));
    gone.map(|name| format!("{name}: recorded, and not computed"))
        .collect()
}

impl fmt::Display for RecordReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (same, unrecorded, wrong) = (self.same, self.unrecorded.len(), self.wrong.len());
        write!(
            f,
            "{same} entries as recorded, {unrecorded} not recorded, {wrong} otherwise"
        )?;
        for name in &self.unrecorded {
            write!(f, "\nnot recorded: {name}")?;
        }
        for what in &self.wrong {
            write!(f, "\n{what}")?;
        }
        Ok(())
    }
}

/// The command: compares all written and `programs` random programs with the record in a file.
///
/// Gives whether all is as recorded.
///
/// # Errors
/// If the record cannot be read, or the programs cannot be listed.
pub fn check(programs: u64, file: &Path) -> Result<bool, String> {
    let text = fs::read_to_string(file).map_err(|no| format!("{}: {no}", file.display()))?;
    let record = HashRecord::read(&text).map_err(|no| format!("{}: {no}", file.display()))?;
    let items: Vec<RecordItem> = (RecordItem::written()?.into_iter())
        .chain(RecordItem::blocks(programs))
        .collect();
    let found = compute(&items, &record);
    let missing = missing(&found, &record);
    let mut report = compare(found, &record);
    report.wrong.extend(missing);
    println!("{report}");
    Ok(report.wrong.is_empty())
}

/// The command: writes a record of the same. The comments and changes of one that is there are
/// kept. Gives whether all could be computed.
///
/// # Errors
/// If a record that is there cannot be read, the programs cannot be listed, or the file cannot be
/// written.
pub fn write(programs: u64, file: &Path) -> Result<bool, String> {
    let mut record = match fs::read_to_string(file) {
        Ok(text) => HashRecord::read(&text).map_err(|no| format!("{}: {no}", file.display()))?,
        Err(_) => HashRecord::default(),
    };
    let items: Vec<RecordItem> = (RecordItem::written()?.into_iter())
        .chain(RecordItem::blocks(programs))
        .collect();
    let found = compute(&items, &record);
    found.wrong.iter().for_each(|what| println!("{what}"));
    record.entries = found.entries;
    let written = fs::write(file, record.to_string());
    written.map_err(|no| format!("{}: {no}", file.display()))?;
    println!("{} entries", record.entries.len());
    Ok(found.wrong.is_empty())
}

/// The command: prints the hashes of every single program, so that those of two commits can be set
/// side by side. Gives whether all could be computed.
///
/// # Errors
/// If the programs cannot be listed.
pub fn list(programs: u64) -> Result<bool, String> {
    let items: Vec<RecordItem> = (RecordItem::written()?.into_iter())
        .chain((0..programs).map(RecordItem::Seed))
        .collect();
    let found = compute(&items, &HashRecord::default());
    found.wrong.iter().for_each(|what| println!("{what}"));
    let entries = found.entries;
    print!(
        "{}",
        HashRecord {
            entries,
            ..HashRecord::default()
        }
    );
    Ok(found.wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_counts_changed_program_as_recorded() {
        let mut record = HashRecord::default();
        let plain = block(0, &record).expect("all programs run");
        let seed = random::hashes(3).expect("it runs");
        let before = super::super::record::RecordChange {
            before: seed.shown ^ 1,
            now: seed.shown,
            cause: String::new(),
        };
        record
            .changes
            .insert("seed/00003".to_owned(), before.clone());
        let changed = block(0, &record).expect("all programs run");
        assert_eq!(changed.source, plain.source);
        assert_ne!(changed.shown, plain.shown);
        let other = super::super::record::RecordChange { now: 0, ..before };
        record.changes.insert("seed/00003".to_owned(), other);
        assert!(block(0, &record).is_err());
    }

    #[test]
    fn differences_are_classified() {
        let record = "same 0000000000000001 0000000000000001\n\
            text 0000000000000001 0000000000000001\n\
            shown 0000000000000001 0000000000000001\n";
        let record = HashRecord::read(record).expect("each line is one");
        let entry = |name: &str, source, shown| (name.to_owned(), Hashes { source, shown });
        let entries = [
            entry("same", 1, 1),
            entry("text", 2, 2),
            entry("shown", 1, 2),
            entry("new", 1, 1),
        ];
        let found = ComputedHashes {
            entries: entries.into(),
            wrong: vec!["not run".to_owned()],
        };
        let report = compare(found, &record);
        assert_eq!(
            (report.same, &report.unrecorded[..]),
            (1, &["new".to_owned()][..])
        );
        assert_eq!(
            report.wrong,
            [
                "not run",
                "shown: the same text gives something else",
                "text: another text than the recorded one",
            ]
        );
    }
}
