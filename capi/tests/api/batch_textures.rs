//! Texture requests of whole batches, and answers that come late.

use crate::batches::{POINTS, SHADER, of_the_chunk, of_the_facade};
use crate::common::{compile, hit, hit_compiler, rust_compiler, sized};
use adumbra::Sources;
use adumbra_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

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

/// The number of calls to a host, and the points that it suspends: every `late`th one, none if 0.
#[derive(Default)]
struct Asked {
    batches: usize,
    points: Vec<usize>,
    late: usize,
}

/// # Safety
/// The user's pointer is that of an `Asked`.
unsafe fn asked<'a>(user: *mut c_void) -> &'a mut Asked {
    // SAFETY: `user` points at this host, and no other reference to it is used while a call runs.
    unsafe { &mut *user.cast::<Asked>() }
}

unsafe extern "C" fn sample_many(
    user: *mut c_void,
    batch: *const AdumbraSampleBatch,
    texels: *mut f32,
    answers: *mut u8,
) {
    // SAFETY: the library passes a batch whose columns have `count` elements, and memory for as
    // many texels and answers.
    unsafe {
        let (asked, batch) = (asked(user), &*batch);
        asked.batches += 1;
        assert_eq!(batch.size as usize, size_of::<AdumbraSampleBatch>());
        assert!(batch.level.is_null());
        let column = |start: *const f32| std::slice::from_raw_parts(start, batch.count);
        let [u, v, dudx, dvdy] = [batch.u, batch.v, batch.dudx, batch.dvdy].map(column);
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
    // SAFETY: the library passes a request, and memory for four numbers.
    unsafe {
        let r = &*request;
        asked(user).points.push(r.point);
        to.copy_from(texel(r.u, r.v, r.dudx, r.dvdy).as_ptr(), 4);
    }
    0
}

#[test]
fn batch_texture_requests_resume_late() {
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
            ok!(adumbra_batch_evaluator_suspended(
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
            assert_eq!(gone, AdumbraStatus::NotSuspended);
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
