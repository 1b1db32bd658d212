//! Batches give the bits of single points, from planes of any stride to planes of any stride.

use crate::common::{
    compile, hit, hit_compiler, instance, native_is_there, rust_compiler, rust_hit, rust_words,
    sized, text,
};
use adumbra::{Evaluator, Instance, NoTextures, Program, Sources};
use adumbra_capi::*;
use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::Arc;

pub(crate) const SHADER: &str = "texture2d t;
    shader s(out color c, out int n, out closure k) {
        float3 p = global_value<position>;
        float wave = sin(p.x * p.y) + global_value<uvw>.x;
        if (p.z > 0) wave *= global_value<normal>.z;
        c = color(wave, ddx(wave), ddy(wave)) + texture2d_sample<t>(p.x, p.y);
        n = (int)(100 * wave);
        k = wave * make_closure<glow>(p);
    }";

pub(crate) const POINTS: usize = 1000;

/// Everything that points show: of each scalar value, ddx and ddy, closures apart.
pub(crate) fn of_the_facade(program: &Arc<Program>, host: &mut dyn adumbra::Host) -> Vec<Vec<u32>> {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    let points = 0..POINTS;
    points
        .map(|point| {
            evaluator.evaluate(&rust_hit(program, point), host);
            rust_words(&evaluator)[..12].to_vec()
        })
        .collect()
}

/// The same of the chunk that was evaluated last, by way of planes with gaps.
pub(crate) fn of_the_chunk(
    evaluator: *const AdumbraBatchEvaluator,
    points: usize,
) -> Vec<Vec<u32>> {
    let mut planes = vec![vec![0x5555_5555_u32; points * 3]; 12];
    for (at, plane) in planes.iter_mut().enumerate() {
        let (part, scalar) = ((at % 3) as u32, at / 3);
        let capacity = 3 * (points - 1) + 1;
        ok!(adumbra_batch_evaluator_copy(
            evaluator,
            part,
            scalar,
            plane.as_mut_ptr().cast(),
            capacity,
            3
        ));
        assert!(plane.chunks(3).all(|words| words[1..] == [0x5555_5555; 2]));
    }
    let of = |point: usize| planes.iter().map(|plane| plane[3 * point]).collect();
    (0..points).map(of).collect()
}

fn width(evaluator: *const AdumbraBatchEvaluator) -> usize {
    let mut width = 0;
    ok!(adumbra_batch_evaluator_width(evaluator, &raw mut width));
    width
}

#[test]
fn batches_give_bits_of_points() {
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", SHADER))
        .unwrap();
    let expected = of_the_facade(&program, &mut NoTextures);

    let compiler = hit_compiler();
    let handle = compile(compiler, SHADER);
    let instance = made!(adumbra_instance_new(handle));
    let array: Vec<f32> = (0..POINTS).flat_map(hit).collect();
    let globals = made!(adumbra_batch_globals_new(handle));
    ok!(adumbra_batch_globals_points(
        globals,
        array.as_ptr().cast(),
        POINTS
    ));
    let interpreter = AdumbraTier::Interpreter as u32;
    let mut setups = vec![
        (0, null(), interpreter),
        (64, c"baseline".as_ptr(), interpreter),
        (7, null(), interpreter),
        (1, null(), AdumbraTier::Auto as u32),
    ];
    if native_is_there() {
        let native = AdumbraTier::Native as u32;
        setups.extend([(0, null(), native), (7, c"avx2".as_ptr(), native)]);
    }
    for (width_wanted, simd, tier) in setups {
        let options = AdumbraBatchOptions {
            width: width_wanted,
            simd,
            tier,
            compile_when: AdumbraCompileWhen::Immediately as u32,
            compile_after: 1,
            ..sized()
        };
        let evaluator = made!(adumbra_batch_evaluator_new(instance, &raw const options));
        let mut used = Vec::new();
        let width = width(evaluator);
        assert!(width_wanted == 0 || width == width_wanted as usize);
        let mut name = null();
        ok!(adumbra_batch_evaluator_simd(evaluator, &raw mut name));
        assert!(simd.is_null() || text(name) == text(simd));
        for first in (0..POINTS).step_by(width) {
            let points = width.min(POINTS - first);
            ok!(adumbra_batch_evaluator_evaluate(
                evaluator,
                globals,
                first,
                points,
                null(),
                null()
            ));
            assert_eq!(of_the_chunk(evaluator, points), expected[first..][..points]);
            let mut now = u32::MAX;
            ok!(adumbra_batch_evaluator_tier(evaluator, &raw mut now));
            used.push(now);
            let mut outcomes = vec![AdumbraOutcome::Pending; points];
            let mut needed = 0;
            ok!(adumbra_batch_evaluator_outcomes(
                evaluator,
                outcomes.as_mut_ptr(),
                points,
                &raw mut needed
            ));
            assert_eq!(outcomes, vec![AdumbraOutcome::Finished; needed]);
            assert_eq!(needed, points);
        }
        let expected = match tier == AdumbraTier::Auto as u32 {
            // It begins at one point, and tries both from the next one on.
            true if native_is_there() => vec![0, 0, 1, 1, 0],
            true => vec![0; 5],
            false => vec![tier; used.len().min(5)],
        };
        assert_eq!(used[..expected.len()], expected);
        let mut bytes = 0;
        ok!(adumbra_batch_evaluator_memory(evaluator, &raw mut bytes));
        assert!(bytes > 1000);
        call!(adumbra_batch_evaluator_free(evaluator));
    }
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(handle));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn planes_are_replaced_between_calls() {
    let compiler = hit_compiler();
    let shader =
        "shader s(out float o) { o = global_value<uvw>.y + 10 * global_value<position>.x; }";
    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_batch_evaluator_new(instance, null()));
    let globals = made!(adumbra_batch_globals_new(program));
    let set = |name: &CStr, part: AdumbraPart, scalar, plane: &[f32], stride| {
        let (name, start) = (name.as_ptr(), plane.as_ptr().cast());
        call!(adumbra_batch_globals_plane(
            globals,
            name,
            part as u32,
            scalar,
            start,
            plane.len(),
            stride
        ))
    };
    let mut y = [0.0_f32; 8];
    assert_eq!(set(c"uvw", AdumbraPart::Value, 1, &y, 2), AdumbraStatus::Ok);
    assert_eq!(
        set(c"uvw", AdumbraPart::Ddx, 1, &[0.5], 0),
        AdumbraStatus::Ok
    );
    let place = [1.0_f32, 7.0, 8.0];
    let start = place.as_ptr().cast();
    ok!(adumbra_batch_globals_uniform(
        globals,
        c"position".as_ptr(),
        0,
        start,
        3
    ));
    for tile in 0..5 {
        // The same memory, other values.
        for (at, y) in y.iter_mut().enumerate() {
            *y = (tile * 8 + at) as f32;
        }
        std::hint::black_box(&mut y);
        ok!(adumbra_batch_evaluator_evaluate(
            evaluator,
            globals,
            0,
            4,
            null(),
            null()
        ));
        let (mut o, mut slopes) = ([0.0_f32; 4], [0.0_f32; 4]);
        ok!(adumbra_batch_evaluator_copy(
            evaluator,
            0,
            0,
            o.as_mut_ptr().cast(),
            4,
            1
        ));
        ok!(adumbra_batch_evaluator_copy(
            evaluator,
            1,
            0,
            slopes.as_mut_ptr().cast(),
            4,
            1
        ));
        assert_eq!(o, [0, 2, 4, 6].map(|at| (tile * 8 + at) as f32 + 10.0));
        assert_eq!(slopes, [0.5; 4]);
    }
    // Beyond their ends.
    let evaluate = |first, points| {
        call!(adumbra_batch_evaluator_evaluate(
            evaluator,
            globals,
            first,
            points,
            null(),
            null()
        ))
    };
    assert_eq!(
        [
            evaluate(1, 4),
            evaluate(usize::MAX, 2),
            evaluate(usize::MAX / 2, 1)
        ],
        [AdumbraStatus::Size; 3]
    );
    assert_eq!(evaluate(3, 1), AdumbraStatus::Ok);
    assert_eq!(evaluate(0, 0), AdumbraStatus::Ok);
    // Nowhere, there is nothing to do.
    assert_eq!(evaluate(usize::MAX, 0), AdumbraStatus::Ok);
    let mut outcomes = usize::MAX;
    ok!(adumbra_batch_evaluator_outcomes(
        evaluator,
        null_mut(),
        0,
        &raw mut outcomes
    ));
    assert_eq!(outcomes, 0);
    // A plane that is too short for a strided view, wrong names and numbers.
    assert_eq!(
        set(c"uvw", AdumbraPart::Value, 1, &y[..7], 2),
        AdumbraStatus::Ok
    );
    assert_eq!(evaluate(0, 4), AdumbraStatus::Ok);
    assert_eq!(
        set(c"uvw", AdumbraPart::Value, 1, &y[..6], 2),
        AdumbraStatus::Ok
    );
    assert_eq!(evaluate(0, 4), AdumbraStatus::Size);
    assert_eq!(
        set(c"uvw", AdumbraPart::Value, 3, &y, 1),
        AdumbraStatus::Index
    );
    assert_eq!(
        set(c"uvw", AdumbraPart::Value, usize::MAX, &y, 1),
        AdumbraStatus::Index
    );
    assert_eq!(
        set(c"xyz", AdumbraPart::Value, 0, &y, 1),
        AdumbraStatus::UnknownName
    );
    let two = call!(adumbra_batch_globals_uniform(
        globals,
        c"position".as_ptr(),
        0,
        start,
        2
    ));
    let four = call!(adumbra_batch_globals_uniform(
        globals,
        c"position".as_ptr(),
        3,
        start,
        3
    ));
    assert_eq!(
        [two, four],
        [AdumbraStatus::Size, AdumbraStatus::InvalidValue]
    );

    // Those of another program.
    let layout = made!(adumbra_layout_new());
    let other = made!(adumbra_compiler_new(layout, null()));
    let foreign = compile(other, "shader s(out float o) { o = 1; }");
    let foreign_globals = made!(adumbra_batch_globals_new(foreign));
    let wrong = call!(adumbra_batch_evaluator_evaluate(
        evaluator,
        foreign_globals,
        0,
        1,
        null(),
        null()
    ));
    assert_eq!(wrong, AdumbraStatus::WrongGlobals);
    call!(adumbra_batch_globals_free(foreign_globals));
    call!(adumbra_program_free(foreign));
    call!(adumbra_compiler_free(other));
    call!(adumbra_layout_free(layout));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_batch_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn invalid_batch_options_are_refused() {
    let instance = instance("shader s(out float o) { o = global_value<uvw>.x; }");
    let with = |options: AdumbraBatchOptions| {
        let mut evaluator = null_mut();
        let status = call!(adumbra_batch_evaluator_new(
            instance,
            &raw const options,
            &raw mut evaluator
        ));
        assert_eq!(evaluator.is_null(), status != AdumbraStatus::Ok);
        call!(adumbra_batch_evaluator_free(evaluator));
        status
    };
    let names = |names: &'static [*const c_char]| AdumbraBatchOptions {
        uniform: names.as_ptr(),
        uniform_count: names.len(),
        ..sized()
    };
    let known = Box::leak(Box::new([c"uvw".as_ptr(), c"normal".as_ptr()]));
    let unknown = Box::leak(Box::new([c"uvw".as_ptr(), c"time".as_ptr()]));
    let missing = Box::leak(Box::new([c"uvw".as_ptr(), null()]));
    assert_eq!(with(names(known)), AdumbraStatus::Ok);
    assert_eq!(with(names(unknown)), AdumbraStatus::UnknownName);
    assert_eq!(with(names(missing)), AdumbraStatus::Null);
    assert_eq!(
        with(AdumbraBatchOptions {
            width: 1024,
            ..sized()
        }),
        AdumbraStatus::Ok
    );
    assert_eq!(
        with(AdumbraBatchOptions {
            width: 1025,
            ..sized()
        }),
        AdumbraStatus::Size
    );
    let simd = c"sse9".as_ptr();
    assert_eq!(
        with(AdumbraBatchOptions { simd, ..sized() }),
        AdumbraStatus::Unavailable
    );
    let tier = |tier: u32, simd: *const c_char| {
        with(AdumbraBatchOptions {
            tier,
            simd,
            ..sized()
        })
    };
    let native = AdumbraTier::Native as u32;
    let expected = match native_is_there() {
        true => AdumbraStatus::Ok,
        false => AdumbraStatus::Unavailable,
    };
    assert_eq!(tier(native, null()), expected);
    assert_eq!(
        tier(native, c"baseline".as_ptr()),
        AdumbraStatus::Unavailable
    );
    assert_eq!(tier(AdumbraTier::Auto as u32, null()), AdumbraStatus::Ok);
    assert_eq!(
        tier(AdumbraTier::Auto as u32, c"baseline".as_ptr()),
        AdumbraStatus::Ok
    );
    assert_eq!(tier(3, null()), AdumbraStatus::InvalidValue);
    let when = |compile_when: u32| {
        with(AdumbraBatchOptions {
            compile_when,
            ..sized()
        })
    };
    assert_eq!(when(AdumbraCompileWhen::Never as u32), AdumbraStatus::Ok);
    assert_eq!(when(3), AdumbraStatus::InvalidValue);
    // The first version had no tier, so the bytes after its end are not the library's.
    let first = AdumbraBatchOptions {
        size: offset_of!(AdumbraBatchOptions, tier) as u32,
        tier: 3,
        ..sized()
    };
    assert_eq!(with(first), AdumbraStatus::Ok);
    let shorter = AdumbraBatchOptions {
        size: first.size - 1,
        ..sized()
    };
    assert_eq!(with(shorter), AdumbraStatus::Size);
    call!(adumbra_instance_free(instance));
}
