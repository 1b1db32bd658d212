//! Hostile IR text and changed IR of programs, from the parser to all passes. `fuzz/src/targets.rs`
//! defines the checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("ir_text", bytes));
