//! Points in quads, alone and in batches.

use crate::common::{compile, hit, instance, rust_words, sized, words};
use crate::points::NOISY;
use crate::textures::{Seen, Slopes};
use adumbra::{
    Compiler, Derivatives, Evaluator, Globals, GlobalsLayout, Instance, Options, Sources, Type,
    derivatives::Quad,
};
use adumbra_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn quads_give_bits_of_facade() {
    let layout = made!(adumbra_layout_new());
    ok!(adumbra_layout_add(
        layout,
        c"x".as_ptr(),
        AdumbraType::Float as u32
    ));
    let mut bytes = 0;
    ok!(adumbra_layout_bytes(layout, &raw mut bytes));
    assert_eq!(bytes, 12);
    let shader = "texture2d t; shader s(out float o) { float x = global_value<x>; o = x * x + texture2d_sample_alpha<t>(x, x); }";
    for derivatives in 2..7 {
        let options = AdumbraCompilerOptions {
            derivatives,
            output_derivatives: 1,
            ..sized()
        };
        let compiler = made!(adumbra_compiler_new(layout, &raw const options));
        let program = compile(compiler, shader);
        let instance = made!(adumbra_instance_new(program));
        let evaluator = made!(adumbra_evaluator_new(instance, null()));
        let quad = Quad::ALL[derivatives as usize - 2];
        let rust = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT).unwrap())
            .with_options(Options {
                derivatives: Derivatives::Quad(quad),
                output_derivatives: true,
                ..Options::default()
            });
        let rust = rust.compile(&Sources::new("s.adu", shader)).unwrap();
        let mut expected = Evaluator::new(&Instance::new(&rust));

        let points = [
            [8.5_f32, 0.0, 0.0],
            [9.5, 0.0, 0.0],
            [8.25, 0.0, 0.0],
            [9.0, 0.0, 0.0],
        ];
        let places = points
            .each_ref()
            .map(|point| point.as_ptr().cast::<c_void>());
        let globals = points.map(|[x, ..]| {
            let mut globals = Globals::new(rust.globals());
            globals.set("x", x, 0.0, 0.0).unwrap();
            globals
        });
        let mut seen = Seen::default();
        let host = seen.host();
        let helpers = [0_u8, 0, 1, 1];
        ok!(adumbra_evaluator_evaluate_quad(
            evaluator,
            places.as_ptr(),
            12,
            helpers.as_ptr(),
            &raw const host,
            null_mut()
        ));
        expected.evaluate_quad(globals.each_ref(), helpers.map(|h| h != 0), &mut Slopes);
        for (at, corner) in adumbra::derivatives::Corner::ALL.into_iter().enumerate() {
            let mut outcome = AdumbraOutcome::Pending;
            ok!(adumbra_evaluator_select(
                evaluator,
                at as u32,
                &raw mut outcome
            ));
            assert_eq!(AdumbraOutcome::from(expected.show(corner)), outcome);
            assert_eq!(words(evaluator, 1), rust_words(&expected));
        }
        let asked: Vec<(usize, u32)> = seen
            .requests
            .iter()
            .map(|r| (r.point, r.is_helper))
            .collect();
        assert_eq!(asked, [(0, 0), (1, 0), (2, 1), (3, 1)]);
        call!(adumbra_evaluator_free(evaluator));
        call!(adumbra_instance_free(instance));
        call!(adumbra_program_free(program));
        call!(adumbra_compiler_free(compiler));
    }
    call!(adumbra_layout_free(layout));

    // Others have none.
    let instance = instance(NOISY);
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let point = hit(0);
    let places = [point.as_ptr().cast::<c_void>(); 4];
    let bytes = size_of_val(&point);
    let no = call!(adumbra_evaluator_evaluate_quad(
        evaluator,
        places.as_ptr(),
        bytes,
        null(),
        null(),
        null_mut()
    ));
    let show = call!(adumbra_evaluator_select(evaluator, 0, null_mut()));
    assert_eq!([no, show], [AdumbraStatus::Quads; 2]);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}

#[test]
fn incomplete_quads_are_refused() {
    let layout = made!(adumbra_layout_new());
    ok!(adumbra_layout_add(
        layout,
        c"x".as_ptr(),
        AdumbraType::Float as u32
    ));
    let options = AdumbraCompilerOptions {
        derivatives: AdumbraDerivatives::QuadFine as u32,
        output_derivatives: 1,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const options));
    let program = compile(
        compiler,
        "texture2d t; shader s(out float o) { float x = global_value<x>; o = x * x * texture2d_sample_alpha<t>(x, x); }",
    );
    let mut stats: AdumbraStats = sized();
    ok!(adumbra_program_stats(program, &raw mut stats));
    assert_eq!(stats.in_quads, 1);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_batch_evaluator_new(instance, null()));
    let globals = made!(adumbra_batch_globals_new(program));
    let x: [f32; 8] = [8.5, 9.5, 8.5, 9.5, 10.5, 11.5, 10.5, 11.5];
    ok!(adumbra_batch_globals_plane(
        globals,
        c"x".as_ptr(),
        0,
        0,
        x.as_ptr().cast(),
        8,
        1
    ));
    let helpers = [0_u8, 0, 1, 1, 0, 9, 1, 1];
    ok!(adumbra_batch_evaluator_evaluate(
        evaluator,
        globals,
        0,
        8,
        helpers.as_ptr(),
        null()
    ));
    let mut slopes = [0.0_f32; 8];
    ok!(adumbra_batch_evaluator_copy(
        evaluator,
        1,
        0,
        slopes.as_mut_ptr().cast(),
        8,
        1
    ));
    assert_eq!([slopes[0], slopes[1], slopes[4]], [18.0, 18.0, 22.0]);
    let torn = call!(adumbra_batch_evaluator_evaluate(
        evaluator,
        globals,
        0,
        6,
        null(),
        null()
    ));
    assert_eq!(torn, AdumbraStatus::Quads);

    // A helper that waits says so.
    unsafe extern "C" fn late(_: *mut c_void, _: *const AdumbraSampleRequest, _: *mut f32) -> u32 {
        7
    }
    let host = AdumbraHost {
        sample: Some(late),
        ..sized()
    };
    ok!(adumbra_batch_evaluator_evaluate(
        evaluator,
        globals,
        4,
        4,
        helpers[4..].as_ptr(),
        &raw const host
    ));
    let mut request: AdumbraSampleRequest = sized();
    for point in 0..4 {
        ok!(adumbra_batch_evaluator_request(
            evaluator,
            point,
            &raw mut request
        ));
        assert_eq!(
            (request.point, request.is_helper),
            (4 + point, u32::from(point > 0))
        );
    }
    let mut outcome = AdumbraOutcome::Finished;
    for point in 0..4 {
        ok!(adumbra_batch_evaluator_answer(
            evaluator,
            point,
            [1.0; 4].as_ptr(),
            null(),
            null(),
            &raw mut outcome
        ));
    }
    assert_eq!(outcome, AdumbraOutcome::Finished);
    ok!(adumbra_batch_evaluator_copy(
        evaluator,
        1,
        0,
        slopes.as_mut_ptr().cast(),
        4,
        1
    ));
    assert_eq!(slopes[0], 22.0);
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_batch_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
    call!(adumbra_layout_free(layout));
}
