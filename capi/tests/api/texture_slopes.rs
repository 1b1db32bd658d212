//! Slopes of textures through the C interface: of single points, of batches, and late ones.

use crate::common::{compile, evaluate, hit, sized};
use adumbra_capi::*;
use std::ffi::c_void;
use std::ptr::null;

/// A texture whose red is u·v and whose green is u² goes into the coordinates of the next.
const DEPENDENT: &str = "texture2d a; texture2d b;
    shader s(out float o) {
        float3 p = global_value<position>;
        float2 moved = texture2d_sample<a>(p.x, p.y).xy;
        o = texture2d_sample<b>(moved).x;
    }";

fn texel(u: f32, v: f32) -> [f32; 4] {
    [u * v, u * u, 0.5, 1.0]
}

fn slopes(u: f32, v: f32) -> [f32; 8] {
    [v, 2.0 * u, 0.0, 0.0, u, 0.0, 0.0, 0.0]
}

unsafe extern "C" fn sample(
    _: *mut c_void,
    request: *const AdumbraSampleRequest,
    to: *mut f32,
) -> u32 {
    // SAFETY: the library passes a request, memory for four numbers, and for eight slopes where it
    // needs them.
    unsafe {
        let request = &*request;
        assert_eq!(request.wants_slopes == 1, !request.slopes.is_null());
        to.copy_from(texel(request.u, request.v).as_ptr(), 4);
        if request.slopes.is_null() {
            return AdumbraAnswer::Ready as u32;
        }
        (request.slopes).copy_from(slopes(request.u, request.v).as_ptr(), 8);
    }
    AdumbraAnswer::Sloped as u32
}

unsafe extern "C" fn sample_many(
    _: *mut c_void,
    batch: *const AdumbraSampleBatch,
    texels: *mut f32,
    answers: *mut u8,
) {
    // SAFETY: the library passes a batch whose columns have `count` elements, and memory for as
    // many texels, slopes and answers.
    unsafe {
        let batch = &*batch;
        assert!(!batch.slopes.is_null());
        for at in 0..batch.count {
            let (u, v) = (*batch.u.add(at), *batch.v.add(at));
            texels.add(4 * at).copy_from(texel(u, v).as_ptr(), 4);
            let to = batch.slopes.add(8 * at);
            to.copy_from(slopes(u, v).as_ptr(), 8);
            *answers.add(at) = AdumbraAnswer::Sloped as u8;
        }
    }
}

unsafe extern "C" fn late(_: *mut c_void, _: *const AdumbraSampleRequest, _: *mut f32) -> u32 {
    AdumbraAnswer::Pending as u32
}

fn slopes_program() -> *mut AdumbraProgram {
    let layout = made!(adumbra_layout_new_hit());
    let options = AdumbraCompilerOptions {
        output_derivatives: 1,
        texture_slopes: 1,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const options));
    let program = compile(compiler, DEPENDENT);
    call!(adumbra_compiler_free(compiler));
    call!(adumbra_layout_free(layout));
    program
}

/// Value, ddx and ddy of the output.
fn output(evaluator: *const AdumbraEvaluator) -> [f32; 3] {
    [AdumbraPart::Value, AdumbraPart::Ddx, AdumbraPart::Ddy].map(|part| {
        let mut number = 0.0_f32;
        ok!(adumbra_evaluator_read(
            evaluator,
            part as u32,
            0,
            1,
            (&raw mut number).cast()
        ));
        number
    })
}

#[test]
fn slopes_reach_the_program_at_once_late_and_in_batches() {
    let program = slopes_program();
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let host = AdumbraHost {
        sample: Some(sample),
        ..sized()
    };
    let point = hit(1);
    evaluate(evaluator, &point, &raw const host);
    let at_once = output(evaluator);
    assert!(at_once[1] != 0.0 && at_once[2] != 0.0, "{at_once:?}");

    // The same by answers that come later.
    let waiting = AdumbraHost {
        sample: Some(late),
        ..sized()
    };
    let mut outcome = evaluate(evaluator, &point, &raw const waiting);
    let mut asked: AdumbraSampleRequest = sized();
    while outcome == AdumbraOutcome::Pending {
        ok!(adumbra_evaluator_request(evaluator, &raw mut asked));
        assert_eq!((asked.wants_slopes, asked.slopes.is_null()), (1, true));
        let (texel, slopes) = (texel(asked.u, asked.v), slopes(asked.u, asked.v));
        ok!(adumbra_evaluator_answer(
            evaluator,
            texel.as_ptr(),
            slopes.as_ptr(),
            &raw const waiting,
            &raw mut outcome
        ));
    }
    assert_eq!(output(evaluator), at_once);

    // Without slopes they count as 0, with a fault.
    let mut outcome = evaluate(evaluator, &point, &raw const waiting);
    while outcome == AdumbraOutcome::Pending {
        ok!(adumbra_evaluator_request(evaluator, &raw mut asked));
        ok!(adumbra_evaluator_answer(
            evaluator,
            texel(asked.u, asked.v).as_ptr(),
            null(),
            &raw const waiting,
            &raw mut outcome
        ));
    }
    assert_eq!(output(evaluator), [at_once[0], 0.0, 0.0]);

    let globals = made!(adumbra_batch_globals_new(program));
    ok!(adumbra_batch_globals_points(
        globals,
        point.as_ptr().cast(),
        1
    ));
    let batch = made!(adumbra_batch_evaluator_new(instance, null()));
    let host = AdumbraHost {
        sample_many: Some(sample_many),
        ..sized()
    };
    ok!(adumbra_batch_evaluator_evaluate(
        batch,
        globals,
        0,
        1,
        null(),
        &raw const host
    ));
    for (part, expected) in (0..3).zip(at_once) {
        let mut number = 0.0_f32;
        ok!(adumbra_batch_evaluator_copy(
            batch,
            part,
            0,
            (&raw mut number).cast(),
            1,
            1
        ));
        assert_eq!(number, expected);
    }
    call!(adumbra_batch_evaluator_free(batch));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
}
