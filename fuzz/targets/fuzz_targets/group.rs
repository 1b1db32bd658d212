#![no_main]

use adumbra_fuzz::targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run(targets::group, bytes));
