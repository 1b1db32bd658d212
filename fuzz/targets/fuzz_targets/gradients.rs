//! Generated programs, whose derivatives must be the slopes of their values. What is checked stands in `fuzz/src/targets.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::run("gradients", bytes));
