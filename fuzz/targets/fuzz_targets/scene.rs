//! Hostile scene files, which are loaded or refused within bounds. `fuzz/src/loaders.rs` defines
//! them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adumbra_fuzz_targets::load("scene", bytes));
