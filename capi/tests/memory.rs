//! Handles outlive what they were made from, and memory comes back when the last of them is freed. The only test of its process, so that it can look at
//! what the process takes.

#![allow(unsafe_code)]

#[path = "api/common.rs"]
#[macro_use]
#[allow(dead_code, reason = "one test does not use all of it")]
mod common;

use common::{compile, hit_compiler};
use std::ptr::{null, null_mut};

#[test]
fn handles_outlive_what_they_were_made_from_and_memory_comes_back() {
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        statm.split(' ').nth(1)?.parse::<usize>().ok()
    };
    let mut before = None;
    for round in 0..3000 {
        if round == 500 {
            before = resident();
        }
        let compiler = hit_compiler();
        let shader = format!(
            "shader s(float x = {round}.0, out float o) {{ o = x + sin(global_value<uvw>.x); }}"
        );
        let program = compile(compiler, &shader);
        call!(adumbra_compiler_free(compiler));
        let instance = made!(adumbra_instance_new(program));
        let globals = made!(adumbra_batch_globals_new(program));
        call!(adumbra_program_free(program));
        let one = made!(adumbra_evaluator_new(instance, null()));
        let many = made!(adumbra_batch_evaluator_new(instance, null()));
        call!(adumbra_instance_free(instance));
        ok!(adumbra_evaluator_evaluate(
            one,
            [0_u32; 54].as_ptr().cast(),
            216,
            null(),
            null_mut()
        ));
        ok!(adumbra_batch_evaluator_evaluate(
            many,
            globals,
            0,
            3,
            null(),
            null()
        ));
        let (mut alone, mut together) = (0.0_f32, [0.0_f32; 3]);
        ok!(adumbra_evaluator_read(
            one,
            0,
            0,
            1,
            (&raw mut alone).cast()
        ));
        ok!(adumbra_batch_evaluator_copy(
            many,
            0,
            0,
            together.as_mut_ptr().cast(),
            3,
            1
        ));
        assert_eq!((alone, together), (round as f32, [round as f32; 3]));
        call!(adumbra_batch_globals_free(globals));
        call!(adumbra_batch_evaluator_free(many));
        call!(adumbra_evaluator_free(one));
    }
    if let (Some(before), Some(after)) = (before, resident()) {
        // Pages: programs of 2,500 rounds would be thousands.
        assert!(after < before + 2000, "{before} pages, then {after}");
    }
}
