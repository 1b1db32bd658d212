//! Generated shaders wired to one another, which must do what they do one by one.
//! `fuzz/src/targets.rs` defines the checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("group", bytes));
