//! Generated programs, whose derivatives must be the slopes of their values. `fuzz/src/targets.rs`
//! defines the checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("gradients", bytes));
