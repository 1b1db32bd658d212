//! Programs give, to the bit, the results of the commit that `tests/data/bits.txt` names.
//!
//! `cargo run --release -p adumbra-fuzz -- bits` compares all of its random programs with it.

use crate::counts::RECORDED_BLOCKS;
use adumbra_fuzz::bits::kept;
use adumbra_fuzz::bits::record::HashRecord;
use adumbra_fuzz::bits::run::{BLOCK, RecordItem, compare, compute, missing};

/// Random programs that are recorded.
const RECORDED: u64 = 100_000;

fn record() -> HashRecord {
    let text = std::fs::read_to_string(kept()).expect("the record can be read");
    HashRecord::read(&text).expect("each line is one")
}

#[test]
fn written_programs_give_recorded_bits() {
    let record = record();
    let items = RecordItem::written().expect("the folders can be read");
    let found = compute(&items, &record);
    assert_eq!(missing(&found, &record), [""; 0]);
    let report = compare(found, &record);
    assert!(report.wrong.is_empty(), "{report}");
    assert!(report.same >= 300, "{report}");
}

#[test]
fn random_programs_give_recorded_bits() {
    let items: Vec<RecordItem> = RecordItem::blocks(RECORDED_BLOCKS * BLOCK).collect();
    let record = record();
    let report = compare(compute(&items, &record), &record);
    assert!(report.wrong.is_empty(), "{report}");
    assert_eq!(report.same, items.len(), "{report}");
}

#[test]
fn record_holds_all_random_programs() {
    let record = record();
    let all = RecordItem::blocks(RECORDED).map(|item| item.to_string());
    let lacking: Vec<String> = all
        .filter(|name| !record.entries.contains_key(name))
        .collect();
    assert_eq!(lacking, [""; 0]);
}
