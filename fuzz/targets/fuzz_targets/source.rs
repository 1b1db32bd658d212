//! Hostile sources, bundles of them and changed programs, from lexer to run. `fuzz/src/targets.rs`
//! defines the checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("source", bytes));
