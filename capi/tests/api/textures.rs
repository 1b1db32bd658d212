//! Host callbacks of single points: textures, also late ones, messages, cancellation.

use crate::common::{
    evaluate, hit, instance, native_is_there, rust_compiler, rust_hit, rust_words, sized, text,
    words,
};
use adumbra::{Evaluator, Host, Instance, NoTextures, SampleRequest, Sampled, Sources};
use adumbra_capi::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

/// The record of a host of this suite, and its answers.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: Vec<AdumbraSampleRequest>,
    messages: Vec<(usize, String)>,
    late: bool,
    polls_left: u32,
}

impl Seen {
    pub(crate) fn host(&mut self) -> AdumbraHost {
        AdumbraHost {
            user: std::ptr::from_mut(self).cast(),
            sample: Some(sample),
            message: Some(message),
            is_cancelled: Some(is_cancelled),
            ..sized()
        }
    }
}

/// # Safety
/// The user's pointer is that of `Seen::host`.
unsafe fn seen<'a>(user: *mut c_void) -> &'a mut Seen {
    // SAFETY: `user` points at this record, and no other reference to it is used while a call runs.
    unsafe { &mut *user.cast::<Seen>() }
}

fn texel(u: f32, v: f32, slopes: [f32; 4]) -> [f32; 4] {
    [u * v, slopes[0] - slopes[3], slopes[1] * slopes[2], u - v]
}

unsafe extern "C" fn sample(
    user: *mut c_void,
    request: *const AdumbraSampleRequest,
    to: *mut f32,
) -> u32 {
    // SAFETY: the library passes a request, and memory for four numbers.
    let (seen, request, to) = unsafe { (seen(user), *request, &mut *to.cast::<[f32; 4]>()) };
    seen.requests.push(request);
    assert_eq!(*to, [1.0; 4]);
    let slopes = [request.dudx, request.dudy, request.dvdx, request.dvdy];
    *to = texel(request.u, request.v, slopes);
    u32::from(seen.late)
}

unsafe extern "C" fn message(user: *mut c_void, point: usize, says: *const c_char, length: usize) {
    let says = text(says);
    assert_eq!(says.len(), length);
    // SAFETY: it is the user's.
    unsafe { seen(user) }
        .messages
        .push((point, says.to_owned()));
}

unsafe extern "C" fn is_cancelled(user: *mut c_void) -> u32 {
    // SAFETY: it is the user's.
    let seen = unsafe { seen(user) };
    seen.polls_left = seen.polls_left.wrapping_sub(1);
    u32::from(seen.polls_left == 0)
}

pub(crate) struct Slopes;

impl Host for Slopes {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        Sampled::Ready(texel(r.u, r.v, [r.dudx, r.dudy, r.dvdx, r.dvdy]))
    }
}

const TEXTURED: &str = "texture2d a; texture2d b;
    shader s(out color c, out float alpha) {
        float3 p = global_value<position>;
        c = texture2d_sample<a>(p.x * p.y, sin(p.z)) + texture2d_sample_level<b>(p.x, p.y, 2.5);
        printf(\"c is %g\\n\", c.x);
        alpha = texture2d_sample_alpha<a>(c.x, c.y);
    }";

#[test]
fn callbacks_get_textures_messages_and_cancellation() {
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", TEXTURED))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&program));
    expected.evaluate(&rust_hit(&program, 1), &mut Slopes);

    let instance = instance(TEXTURED);
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let mut seen = Seen::default();
    let host = seen.host();
    assert_eq!(
        evaluate(evaluator, &hit(1), &raw const host),
        AdumbraOutcome::Finished
    );
    assert_eq!(words(evaluator, 4), rust_words(&expected));
    let asked: Vec<(u32, u32, f32)> = seen
        .requests
        .iter()
        .map(|r| (r.texture, r.has_level, r.level))
        .collect();
    assert_eq!(asked, [(0, 0, 0.0), (1, 1, 2.5), (0, 0, 0.0)]);
    assert!(seen.requests[0].dudx != 0.0 && seen.requests[0].dvdy != 0.0);
    let c = expected.get::<[f32; 3]>("c").unwrap()[0];
    assert_eq!(seen.messages.len(), 1);
    assert!(
        seen.messages[0].1.starts_with("c is "),
        "{:?} for {c}",
        seen.messages
    );

    // Without a host textures are white.
    evaluate(evaluator, &hit(1), null());
    expected.evaluate(&rust_hit(&program, 1), &mut NoTextures);
    assert_eq!(words(evaluator, 4), rust_words(&expected));
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));

    let endless = crate::common::instance("shader s(out int n) { while (true) n++; }");
    let evaluator = made!(adumbra_evaluator_new(endless, null()));
    seen.polls_left = 3;
    let host = seen.host();
    assert_eq!(
        evaluate(evaluator, &hit(0), &raw const host),
        AdumbraOutcome::Stopped
    );
    assert_eq!(seen.polls_left, 0);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(endless));
}

#[test]
fn parked_point_resumes_by_own_engine() {
    if !native_is_there() {
        return;
    }
    let instance =
        instance("texture2d t; shader s(out color c) { c = texture2d_sample<t>(0.5, 0.5); }");
    let evaluators = [AdumbraEngine::Native, AdumbraEngine::Batch].map(|engine| {
        let options = AdumbraEvaluatorOptions {
            engine: engine as u32,
            ..sized()
        };
        made!(adumbra_evaluator_new(instance, &raw const options))
    });
    unsafe extern "C" fn later(_: *mut c_void, _: *const AdumbraSampleRequest, _: *mut f32) -> u32 {
        AdumbraAnswer::Pending as u32
    }
    let host = AdumbraHost {
        sample: Some(later),
        ..sized()
    };
    let outcome = evaluate(evaluators[0], &hit(0), &raw const host);
    assert_eq!(outcome, AdumbraOutcome::Pending);
    let waiting = made!(adumbra_evaluator_park(evaluators[0]));
    let texel = [0.25_f32, 0.5, 0.75, 1.0];
    let resume = |evaluator| {
        call!(adumbra_evaluator_resume(
            evaluator,
            waiting,
            texel.as_ptr(),
            null(),
            &raw const host,
            null_mut()
        ))
    };
    let [native, batch] = evaluators;
    assert_eq!(resume(batch), AdumbraStatus::WrongEvaluator);
    assert_eq!(resume(native), AdumbraStatus::Ok);
    assert_eq!(words(native, 3)[3], 0.5_f32.to_bits());
    for evaluator in evaluators {
        call!(adumbra_evaluator_free(evaluator));
    }
    call!(adumbra_instance_free(instance));
}

#[test]
fn points_suspend_in_evaluator_and_parked() {
    let instance = instance(TEXTURED);
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", TEXTURED))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&program));
    let evaluators = [(); 2].map(|()| made!(adumbra_evaluator_new(instance, null())));
    let mut seen = Seen {
        late: true,
        ..Seen::default()
    };
    let host = &raw const *Box::leak(Box::new(seen.host()));
    let answer = |request: &AdumbraSampleRequest| {
        let slopes = [request.dudx, request.dudy, request.dvdx, request.dvdy];
        texel(request.u, request.v, slopes)
    };

    let mut request: AdumbraSampleRequest = sized();
    let mut outcome = AdumbraOutcome::Finished;
    let unsuspended = call!(adumbra_evaluator_request(evaluators[0], &raw mut request));
    let none = call!(adumbra_evaluator_answer(
        evaluators[0],
        [0.0; 4].as_ptr(),
        null(),
        host,
        null_mut()
    ));
    assert_eq!([unsuspended, none], [AdumbraStatus::NotSuspended; 2]);

    // In the evaluator.
    assert_eq!(
        evaluate(evaluators[0], &hit(2), host),
        AdumbraOutcome::Pending
    );
    let mut waits = 0;
    while call!(adumbra_evaluator_request(evaluators[0], &raw mut request)) == AdumbraStatus::Ok {
        waits += 1;
        let texel = answer(&request);
        ok!(adumbra_evaluator_answer(
            evaluators[0],
            texel.as_ptr(),
            null(),
            host,
            &raw mut outcome
        ));
    }
    assert_eq!((waits, outcome), (3, AdumbraOutcome::Finished));
    expected.evaluate(&rust_hit(&program, 2), &mut Slopes);
    assert_eq!(words(evaluators[0], 4), rust_words(&expected));

    // Parked by one evaluator, resumed by the other, alternately.
    let mut parked: Vec<_> = (0..10)
        .map(|point| {
            assert_eq!(
                evaluate(evaluators[0], &hit(point), host),
                AdumbraOutcome::Pending
            );
            (point, made!(adumbra_evaluator_park(evaluators[0])))
        })
        .collect();
    while let Some((point, waiting)) = parked.pop() {
        ok!(adumbra_parked_point_request(waiting, &raw mut request));
        let texel = answer(&request);
        ok!(adumbra_evaluator_resume(
            evaluators[1],
            waiting,
            texel.as_ptr(),
            null(),
            host,
            &raw mut outcome
        ));
        if outcome == AdumbraOutcome::Pending {
            parked.insert(0, (point, made!(adumbra_evaluator_park(evaluators[1]))));
            continue;
        }
        expected.evaluate(&rust_hit(&program, point), &mut Slopes);
        assert_eq!(words(evaluators[1], 4), rust_words(&expected));
    }

    // Only where it belongs, and within limits.
    let limits = AdumbraLimits {
        parked: 1,
        ..sized()
    };
    let options = AdumbraEvaluatorOptions {
        limits: &raw const limits,
        ..sized()
    };
    let narrow = made!(adumbra_evaluator_new(instance, &raw const options));
    evaluate(narrow, &hit(0), host);
    let waiting = made!(adumbra_evaluator_park(narrow));
    evaluate(narrow, &hit(1), host);
    let mut other = null_mut();
    let full = call!(adumbra_evaluator_park(narrow, &raw mut other));
    let wrong = call!(adumbra_evaluator_resume(
        evaluators[0],
        waiting,
        [0.0; 4].as_ptr(),
        null(),
        host,
        null_mut()
    ));
    assert_eq!(
        [full, wrong],
        [AdumbraStatus::TooManyParked, AdumbraStatus::WrongEvaluator]
    );
    assert!(other.is_null());
    ok!(adumbra_parked_point_request(waiting, &raw mut request));
    ok!(adumbra_evaluator_resume(
        narrow,
        waiting,
        [0.0; 4].as_ptr(),
        null(),
        host,
        null_mut()
    ));
    ok!(adumbra_evaluator_request(narrow, &raw mut request));
    let given_up = made!(adumbra_evaluator_park(narrow));
    call!(adumbra_parked_point_free(given_up));
    for evaluator in evaluators.into_iter().chain([narrow]) {
        call!(adumbra_evaluator_free(evaluator));
    }
    call!(adumbra_instance_free(instance));
}
