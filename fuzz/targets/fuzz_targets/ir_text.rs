//! Hostile IR text and changed IR of programs, from the parser to all passes. What is checked stands in `fuzz/src/targets.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("ir_text", bytes));
