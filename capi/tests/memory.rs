//! Handles are freed in any order without leaks, and evaluation through C allocates nothing:
//! counted by the allocator.

#![allow(unsafe_code)]

#[path = "api/common.rs"]
#[macro_use]
#[allow(dead_code, reason = "this suite does not use all of it")]
mod common;

#[path = "../../fuzz/src/bounds.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "this suite does not use all of it, which is another crate's"
)]
mod bounds;

use adumbra_capi::{
    AdumbraAxis, AdumbraCompiler, AdumbraGradientRequest, AdumbraHost, AdumbraLeaf,
    AdumbraOutputPlane, AdumbraProgram, AdumbraSampleBatch, AdumbraSampleRequest,
};
use bounds::{CountingAllocator, allocations, live_bytes};
use common::{compile, evaluate, hit, hit_compiler, sized};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Makes a gradient and sums of it, and frees them in either order.
fn use_gradient(program: *const AdumbraProgram, is_early: bool) {
    let request = AdumbraGradientRequest {
        all_inputs: 1,
        all_buffers: 1,
        ..sized()
    };
    let gradient = made!(adumbra_program_gradient(program, &raw const request ; null_mut()));
    let instance = made!(adumbra_instance_new(gradient));
    for weights in [&[1.0_f32; 100][..], &[0.0; 3]] {
        ok!(adumbra_instance_set_buffer(
            instance,
            c"w".as_ptr(),
            3,
            weights.as_ptr().cast(),
            weights.len()
        ));
    }
    let globals = made!(adumbra_batch_globals_new(gradient));
    let outputs = [c"o".as_ptr(), c"d(x)".as_ptr()];
    let sums = |first| {
        made!(adumbra_sums_new(
            instance,
            null(),
            globals,
            first,
            100,
            outputs.as_ptr(),
            2,
            null()
        ))
    };
    let (whole, part) = (sums(0), sums(100));
    let free_origins = || {
        call!(adumbra_batch_globals_free(globals));
        call!(adumbra_instance_free(instance));
        call!(adumbra_program_free(gradient));
    };
    if is_early {
        free_origins();
    }
    ok!(adumbra_sums_join(whole, part));
    call!(adumbra_sums_free(part));
    let mut total = 1.0;
    ok!(adumbra_sums_total(
        whole,
        outputs[1],
        &raw mut total,
        1,
        null_mut()
    ));
    assert_eq!(total, 0.0);
    let mut totals = [1.0; 3];
    ok!(adumbra_sums_buffer(
        whole,
        c"w".as_ptr(),
        totals.as_mut_ptr(),
        3,
        null_mut()
    ));
    assert_eq!(totals, [0.0; 3]);
    call!(adumbra_sums_free(whole));
    if !is_early {
        free_origins();
    }
}

/// The same for a gradient through edges.
fn use_jumps(compiler: *const AdumbraCompiler, is_early: bool) {
    let shader = "shader s(float e = 0.4, out float o) { o = step(global_value<position>.x, e); }";
    let program = compile(compiler, shader);
    let axis = AdumbraAxis {
        global: c"position".as_ptr(),
        scalar: 0,
        spacing: 1.0,
    };
    let jumps =
        made!(adumbra_program_jump_gradient(program, null(), &raw const axis, 1, 1 ; null_mut()));
    let smooth = made!(adumbra_jump_gradient_smooth(jumps));
    let instance = made!(adumbra_instance_new(smooth));
    let globals = made!(adumbra_batch_globals_new(smooth));
    call!(adumbra_program_free(program));
    call!(adumbra_program_free(smooth));
    let (seed, mut by_edge) = (1.0_f32, [0.0_f32; 3]);
    let (name, values) = (c"d(o)".as_ptr(), (&raw const seed).cast());
    ok!(adumbra_batch_globals_uniform(globals, name, 0, values, 1));
    let plane = AdumbraOutputPlane {
        part: 0,
        scalar: 1,
        plane: by_edge.as_mut_ptr().cast(),
        capacity: 3,
        stride: 1,
    };
    let (options, none) = (null(), null());
    ok!(adumbra_jump_gradient_planes(
        jumps,
        instance,
        options,
        globals,
        0,
        3,
        &raw const plane,
        1,
        none,
        null_mut()
    ));
    assert_eq!(by_edge, [0.5; 3]);
    let outputs = [c"d(e)".as_ptr()];
    let outputs = outputs.as_ptr();
    let sums = made!(adumbra_jump_gradient_sums(
        jumps, instance, options, globals, 0, 3, outputs, 1, none ; null_mut()
    ));
    if is_early {
        call!(adumbra_jump_gradient_free(jumps));
        call!(adumbra_sums_free(sums));
    } else {
        call!(adumbra_sums_free(sums));
        call!(adumbra_jump_gradient_free(jumps));
    }
    call!(adumbra_instance_free(instance));
    call!(adumbra_batch_globals_free(globals));
}

/// Makes one of everything, uses it, and frees what was made from before what it was made of, or
/// the other way round.
fn use_all(round: usize) {
    let compiler = hit_compiler();
    let shader = format!(
        "buffer<float> w; shader s(float x = {round}.0, out float o) {{ o = x + 1 / (int)x * 0 + w[0]; }}"
    );
    let program = compile(compiler, &shader);
    let instance = made!(adumbra_instance_new(program));
    let globals = made!(adumbra_batch_globals_new(program));
    let one = made!(adumbra_evaluator_new(instance, null()));
    let many = made!(adumbra_batch_evaluator_new(instance, null()));
    let is_early = round.is_multiple_of(2);
    use_gradient(program, is_early);
    // These take longer than all others together.
    if round.is_multiple_of(64) || round == 1 {
        use_jumps(compiler, is_early);
    }
    let free_origins = || {
        call!(adumbra_compiler_free(compiler));
        call!(adumbra_program_free(program));
        call!(adumbra_instance_free(instance));
    };
    if is_early {
        free_origins();
    }
    evaluate(one, &hit(0), null());
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
    let faults = made!(adumbra_evaluator_faults(one));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_batch_evaluator_free(many));
    call!(adumbra_evaluator_free(one));
    call!(adumbra_diagnostics_free(faults));
    if !is_early {
        free_origins();
    }
}

#[test]
fn freed_handles_leave_no_memory() {
    // The first one may leave what the standard library keeps for the thread.
    use_all(1);
    let before = live_bytes();
    for round in 2..2000 {
        use_all(round);
    }
    assert_eq!(live_bytes(), before);
}

unsafe extern "C" fn sample(_: *mut c_void, _: *const AdumbraSampleRequest, _: *mut f32) -> u32 {
    0
}

unsafe extern "C" fn sample_many(
    _: *mut c_void,
    _: *const AdumbraSampleBatch,
    _: *mut f32,
    _: *mut u8,
) {
}

#[test]
fn evaluating_allocates_nothing() {
    let compiler = hit_compiler();
    let shader = "texture2d t; shader s(out color c, out closure k) {
        float3 p = global_value<position>; c = texture2d_sample<t>(p.x, sin(p.y)); k = c * make_closure<glow>(p) + make_closure<dark>();
    }";
    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let globals = made!(adumbra_batch_globals_new(program));
    let one = made!(adumbra_evaluator_new(instance, null()));
    let many = made!(adumbra_batch_evaluator_new(instance, null()));
    let host = AdumbraHost {
        sample: Some(sample),
        sample_many: Some(sample_many),
        ..sized()
    };
    let x = [0.5_f32; 64];
    let mut out = [0.0_f32; 64];
    let mut before = 0;
    let mut leaves = [const { MaybeUninit::<AdumbraLeaf>::uninit() }; 2];
    let leaves = leaves.as_mut_ptr().cast();
    for round in 0..10 {
        evaluate(one, &hit(round), &raw const host);
        ok!(adumbra_evaluator_read(
            one,
            1,
            0,
            3,
            out.as_mut_ptr().cast()
        ));
        let (mut root, mut count) = (0_u32, 0);
        let to = &raw mut root;
        ok!(adumbra_evaluator_read(one, 0, 3, 1, to.cast()));
        ok!(adumbra_evaluator_leaves(
            one,
            root,
            leaves,
            2,
            &raw mut count
        ));
        assert_eq!(count, 2);
        let name = c"position".as_ptr();
        ok!(adumbra_batch_globals_plane(
            globals,
            name,
            0,
            1,
            x.as_ptr().cast(),
            64,
            1
        ));
        ok!(adumbra_batch_evaluator_evaluate(
            many,
            globals,
            0,
            64,
            null(),
            &raw const host
        ));
        ok!(adumbra_batch_evaluator_copy(
            many,
            0,
            2,
            out.as_mut_ptr().cast(),
            64,
            1
        ));
        let mut roots = [0_u32; 64];
        ok!(adumbra_batch_evaluator_copy(
            many,
            0,
            3,
            roots.as_mut_ptr().cast(),
            64,
            1
        ));
        for (point, &root) in roots.iter().enumerate() {
            ok!(adumbra_batch_evaluator_leaves(
                many,
                point,
                root,
                leaves,
                2,
                &raw mut count
            ));
            assert_eq!(count, 2);
        }
        if round == 0 {
            before = allocations();
        }
    }
    assert_eq!(allocations(), before);
    assert_eq!(out, [1.0; 64]);
    call!(adumbra_batch_evaluator_free(many));
    call!(adumbra_evaluator_free(one));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}
