//! Hostile bytecode files and changed files of programs, from validation to run.
//! `fuzz/src/targets.rs` defines the checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("bytecode", bytes));
