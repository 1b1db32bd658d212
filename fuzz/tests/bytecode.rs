//! A small campaign of changed program files, and long files, with bounds of memory.

#[path = "../../tests/facade/counts.rs"]
#[allow(dead_code, reason = "most counts are of other suites")]
mod counts;

use adumbra::{Program, program::MAX_FILE_BYTES};
use adumbra_fuzz::bounds::{CountingAllocator, thread_peak_bytes};
use adumbra_fuzz::bytecode::limit_files::LIMIT_FILES;
use adumbra_fuzz::bytecode::{check_long, run};
use adumbra_ir::Code;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn mutants_are_refused_or_run() {
    let finds = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (counts, failure) = run(0..counts::MUTANTS, false, finds).expect("the project can be read");
    assert_eq!(failure, None);
    let is_mixed = counts.accepted > 100 && counts.compared > 10 && counts.refused > 100;
    assert!(is_mixed, "{counts}");
    assert!(counts.peak.0 > 1_000, "memory is counted: {counts}");
}

#[test]
fn long_files_are_loaded_within_bounds() {
    // The longest take release builds a second; campaigns load them.
    const LEN: usize = MAX_FILE_BYTES / 64;
    for kind in &LIMIT_FILES {
        let file = kind.of_len(LEN);
        assert!(file.len() > LEN - 500, "{}", kind.name);
        check_long(kind, &file, false).unwrap_or_else(|what| panic!("{what}"));
    }
}

#[test]
fn file_of_too_many_globals_is_refused() {
    let load = |len| Program::from_bytecode(&LIMIT_FILES[0].of_len(len));
    let accepted = load(300_000).expect("few enough");
    assert!(accepted.globals().members().len() > 15_000);
    let refused = load(340_000).expect_err("too many").message;
    assert!(refused.contains("globals, more than 16384"), "{refused}");
}

#[test]
fn longer_file_is_refused_at_once() {
    let mut file = LIMIT_FILES[0].of_len(1_000);
    file.resize(MAX_FILE_BYTES + 1, 0);
    let (refused, peak) = thread_peak_bytes(|| Program::from_bytecode(&file));
    let refused = refused.expect_err("it is too long");
    assert_eq!(refused.code, Code::BytecodeInvalid);
    assert!(
        refused.message.contains("more than 16777216 bytes"),
        "{}",
        refused.message
    );
    assert!(peak < 10_000, "{peak}");
}
