//! Batches through C: what single points show, to the bit, from planes of any stride to planes of any stride; textures that answer together or late, quads.

#![allow(unsafe_code)]

mod common;

use adumbra::{Evaluator, Instance, NoTextures, Program, Sources};
use adumbra_capi::*;
use common::{compile, hit, hit_compiler, instance, report, rust_compiler, rust_hit, sized, text};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

const SHADER: &str = "texture2d t;
    shader s(out color c, out int n, out closure k) {
        float3 p = global_value<position>;
        float wave = sin(p.x * p.y) + global_value<uvw>.x;
        if (p.z > 0) wave *= global_value<normal>.z;
        c = color(wave, ddx(wave), ddy(wave)) + texture2d_sample<t>(p.x, p.y);
        n = (int)(100 * wave);
        k = wave * make_closure<glow>(p);
    }";

const POINTS: usize = 1000;

/// Everything that points show: of each scalar value, ddx and ddy, closures apart.
fn of_the_facade(program: &Arc<Program>, host: &mut dyn adumbra::Host) -> Vec<Vec<u32>> {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    let points = 0..POINTS;
    points
        .map(|point| {
            evaluator.evaluate(&rust_hit(program, point), host);
            evaluator.words()[..12].to_vec()
        })
        .collect()
}

/// The same of the chunk that was evaluated last, by way of planes with gaps.
fn of_the_chunk(evaluator: *const AdumbraBatchEvaluator, points: usize) -> Vec<Vec<u32>> {
    let mut planes = vec![vec![0x5555_5555_u32; points * 3]; 12];
    for (at, plane) in planes.iter_mut().enumerate() {
        let (part, scalar) = ((at % 3) as u32, at / 3);
        let room = 3 * (points - 1) + 1;
        ok!(adumbra_batch_evaluator_copy(
            evaluator,
            part,
            scalar,
            plane.as_mut_ptr().cast(),
            room,
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
fn batches_show_what_points_show() {
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
    for (width_wanted, simd) in [(0, null()), (64, c"baseline".as_ptr()), (7, null())] {
        let options = AdumbraBatchOptions {
            width: width_wanted,
            simd,
            ..sized()
        };
        let evaluator = made!(adumbra_batch_evaluator_new(instance, &raw const options));
        let width = width(evaluator);
        assert!(width_wanted == 0 || width == width_wanted as usize);
        let mut name = null();
        ok!(adumbra_batch_evaluator_simd(evaluator, &raw mut name));
        assert!(simd.is_null() || text(name) == "baseline");
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
fn planes_come_and_go_between_calls() {
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
    ok!(adumbra_batch_globals_same(
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
    assert_eq!(evaluate(usize::MAX, 0), AdumbraStatus::Size);
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
    let two = call!(adumbra_batch_globals_same(
        globals,
        c"position".as_ptr(),
        0,
        start,
        2
    ));
    let four = call!(adumbra_batch_globals_same(
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

/// A texel that says where it is, and how it moves.
fn texel(u: f32, v: f32, dudx: f32, dvdy: f32) -> [f32; 4] {
    [u + v, dudx, dvdy, u - v]
}

struct Places;

impl adumbra::Host for Places {
    fn sample(&mut self, r: &adumbra::SampleRequest) -> adumbra::Sampled {
        adumbra::Sampled::Ready(texel(r.u, r.v, r.dudx, r.dvdy))
    }
}

/// How often a host was asked, and which points it keeps waiting: every so many, none if 0.
#[derive(Default)]
struct Asked {
    batches: usize,
    points: Vec<usize>,
    late: usize,
}

/// # Safety
/// The user's pointer is that of an `Asked`.
unsafe fn asked<'a>(user: *mut c_void) -> &'a mut Asked {
    // SAFETY: as promised; nobody else looks at it while a call runs.
    unsafe { &mut *user.cast::<Asked>() }
}

unsafe extern "C" fn sample_many(
    user: *mut c_void,
    batch: *const AdumbraSampleBatch,
    texels: *mut f32,
    answers: *mut u8,
) {
    // SAFETY: the library gives a batch, whose rows are as long as it says, and room for as many texels and answers.
    unsafe {
        let (asked, batch) = (asked(user), &*batch);
        asked.batches += 1;
        assert_eq!(batch.size as usize, size_of::<AdumbraSampleBatch>());
        assert!(batch.level.is_null());
        let row = |start: *const f32| std::slice::from_raw_parts(start, batch.count);
        let [u, v, dudx, dvdy] = [batch.u, batch.v, batch.dudx, batch.dvdy].map(row);
        for at in 0..batch.count {
            let point = *batch.points.add(at);
            asked.points.push(point);
            let is_late = asked.late > 0 && point.is_multiple_of(asked.late);
            *answers.add(at) = u8::from(is_late);
            if !is_late {
                let texel = texel(u[at], v[at], dudx[at], dvdy[at]);
                texels.add(4 * at).copy_from(texel.as_ptr(), 4);
            }
        }
    }
}

unsafe extern "C" fn sample(
    user: *mut c_void,
    request: *const AdumbraSampleRequest,
    to: *mut f32,
) -> u32 {
    // SAFETY: the library gives a request, and room for four numbers.
    unsafe {
        let r = &*request;
        asked(user).points.push(r.point);
        to.copy_from(texel(r.u, r.v, r.dudx, r.dvdy).as_ptr(), 4);
    }
    0
}

#[test]
fn textures_are_asked_for_many_points_and_answer_late() {
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", SHADER))
        .unwrap();
    let expected = of_the_facade(&program, &mut Places);
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
    let options = AdumbraBatchOptions {
        width: 100,
        ..sized()
    };
    let batch = made!(adumbra_batch_evaluator_new(instance, &raw const options));
    let single = made!(adumbra_evaluator_new(instance, null()));
    let mut request: AdumbraSampleRequest = sized();

    for late in [0, 3] {
        let mut user = Asked {
            late,
            ..Asked::default()
        };
        let host = AdumbraHost {
            user: (&raw mut user).cast(),
            sample_many: Some(sample_many),
            ..sized()
        };
        for first in (0..POINTS).step_by(100) {
            ok!(adumbra_batch_evaluator_evaluate(
                batch,
                globals,
                first,
                100,
                null(),
                &raw const host
            ));
            let mut waiting = [0_usize; 100];
            let mut count = 0;
            ok!(adumbra_batch_evaluator_waiting(
                batch,
                waiting.as_mut_ptr(),
                100,
                &raw mut count
            ));
            let late_ones =
                (first..first + 100).filter(|point| late > 0 && point.is_multiple_of(late));
            assert_eq!(count, late_ones.count());
            for &point in &waiting[..count] {
                ok!(adumbra_batch_evaluator_request(
                    batch,
                    point,
                    &raw mut request
                ));
                assert_eq!(request.point, first + point);
                let answer = texel(request.u, request.v, request.dudx, request.dvdy);
                if point % 2 == 0 {
                    let mut outcome = AdumbraOutcome::Pending;
                    ok!(adumbra_batch_evaluator_answer(
                        batch,
                        point,
                        answer.as_ptr(),
                        null(),
                        &raw mut outcome
                    ));
                    assert_eq!(outcome, AdumbraOutcome::Finished);
                    continue;
                }
                let parked = made!(adumbra_batch_evaluator_park(batch, point));
                ok!(adumbra_evaluator_resume(
                    single,
                    parked,
                    answer.as_ptr(),
                    null(),
                    null_mut()
                ));
                let mut words = [0_u32; 4];
                ok!(adumbra_evaluator_read(
                    single,
                    0,
                    0,
                    4,
                    words.as_mut_ptr().cast()
                ));
                let values: Vec<u32> = expected[first + point].iter().copied().step_by(3).collect();
                assert_eq!(words[..], values);
            }
            for (point, words) in of_the_chunk(batch, 100).into_iter().enumerate() {
                let is_parked = waiting[..count].contains(&point) && point % 2 == 1;
                assert!(is_parked || words == expected[first + point], "{point}");
            }
            let gone = call!(adumbra_batch_evaluator_request(batch, 0, &raw mut request));
            assert_eq!(gone, AdumbraStatus::NotWaiting);
        }
        assert_eq!(user.batches, 10);
        assert_eq!(user.points.len(), POINTS);
    }

    // One by one, if there is nothing better.
    let mut user = Asked::default();
    let host = AdumbraHost {
        user: (&raw mut user).cast(),
        sample: Some(sample),
        ..sized()
    };
    ok!(adumbra_batch_evaluator_evaluate(
        batch,
        globals,
        100,
        100,
        null(),
        &raw const host
    ));
    assert_eq!(of_the_chunk(batch, 100), expected[100..200]);
    assert_eq!(user.points, (100..200).collect::<Vec<_>>());
    call!(adumbra_evaluator_free(single));
    call!(adumbra_batch_evaluator_free(batch));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(handle));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn closures_and_faults_are_each_points_own() {
    let compiler = hit_compiler();
    let shader = "shader s(out closure k) {
        float3 p = global_value<position>;
        float w[2];
        if (p.x > 0) p.y += w[(int)(100 * p.x) + 2];
        k = p.x > 0 ? p.x * make_closure<glow>(p) : make_closure<dark>();
    }";
    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_batch_evaluator_new(instance, null()));
    let globals = made!(adumbra_batch_globals_new(program));
    let array: Vec<f32> = (0..50).flat_map(hit).collect();
    ok!(adumbra_batch_globals_points(
        globals,
        array.as_ptr().cast(),
        50
    ));
    ok!(adumbra_batch_evaluator_evaluate(
        evaluator,
        globals,
        0,
        50,
        null(),
        null()
    ));
    let is_lit: Vec<bool> = (0..50).map(|point| hit(point)[9] > 0.0).collect();

    let mut roots = [0_u32; 50];
    ok!(adumbra_batch_evaluator_copy(
        evaluator,
        0,
        0,
        roots.as_mut_ptr().cast(),
        50,
        1
    ));
    let mut faulty = [0_usize; 50];
    let mut count = 0;
    ok!(adumbra_batch_evaluator_faulty(
        evaluator,
        faulty.as_mut_ptr(),
        50,
        &raw mut count
    ));
    let lit: Vec<usize> = (0..50).filter(|&point| is_lit[point]).collect();
    assert!(lit.len() > 10 && lit.len() < 40);
    assert_eq!(faulty[..count], lit);
    for point in 0..50 {
        let findings = made!(adumbra_batch_evaluator_faults(evaluator, point));
        let mut faults = 0;
        ok!(adumbra_findings_count(findings, &raw mut faults));
        assert_eq!(faults > 0, is_lit[point]);
        if is_lit[point] {
            assert!(report(findings).starts_with("[W0801] Warning"));
        }
        call!(adumbra_findings_free(findings));

        let mut node: AdumbraClosure = sized();
        ok!(adumbra_batch_evaluator_closure(
            evaluator,
            point,
            roots[point],
            &raw mut node
        ));
        let kind = if is_lit[point] {
            AdumbraClosureKind::Scale
        } else {
            AdumbraClosureKind::Leaf
        };
        assert_eq!(node.kind, kind as u32);
        let leaf = if is_lit[point] {
            node.left
        } else {
            roots[point]
        };
        let mut arguments = [0.0_f32; 3];
        let mut needed = 0;
        let to = arguments.as_mut_ptr().cast();
        ok!(adumbra_batch_evaluator_closure_arguments(
            evaluator,
            point,
            leaf,
            to,
            3,
            &raw mut needed
        ));
        assert_eq!(needed, if is_lit[point] { 3 } else { 0 });
        assert!(!is_lit[point] || arguments[0] == hit(point)[9]);
        let says = common::written(|to, room, needed| {
            call!(adumbra_batch_evaluator_closure_text(
                evaluator,
                point,
                roots[point],
                1,
                to,
                room,
                needed
            ))
        });
        assert!(
            says.contains(if is_lit[point] { "glow" } else { "dark" }),
            "{says}"
        );
    }
    let mut findings = null_mut();
    let beyond = call!(adumbra_batch_evaluator_faults(
        evaluator,
        50,
        &raw mut findings
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_batch_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn quads_have_helpers_and_are_whole() {
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

#[test]
fn setups_are_looked_at() {
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
    call!(adumbra_instance_free(instance));
}
