//! Hostile source texts, bundles of them and changed programs, from lexer to run. What is checked stands in `fuzz/src/targets.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("source", bytes));
