//! Handles in use by callbacks of their own evaluation, and by other threads.

use crate::common::{compile, hit, hit_compiler, sized};
use adumbra_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::thread;

/// The statuses that a callback gets which uses, and frees, its own evaluator.
struct Meddler {
    evaluator: *mut AdumbraEvaluator,
    batch: *mut AdumbraBatchEvaluator,
    globals: *mut AdumbraBatchGlobals,
    found: Vec<AdumbraStatus>,
}

unsafe extern "C" fn meddle(user: *mut c_void, _: *const AdumbraSampleRequest, _: *mut f32) -> u32 {
    // SAFETY: the user is the test's meddler, to which no other reference is used meanwhile.
    let meddler = unsafe { &mut *user.cast::<Meddler>() };
    let point = hit(0);
    let mut word = 0_u32;
    let start = point.as_ptr().cast();
    let (one, many, globals) = (meddler.evaluator, meddler.batch, meddler.globals);
    meddler.found.extend([
        call!(adumbra_evaluator_evaluate(
            one,
            start,
            216,
            null(),
            null_mut()
        )),
        call!(adumbra_evaluator_read(one, 0, 0, 1, (&raw mut word).cast())),
        call!(adumbra_batch_evaluator_evaluate(
            many,
            globals,
            0,
            1,
            null(),
            null()
        )),
        call!(adumbra_batch_globals_points(globals, start, 1)),
    ]);
    call!(adumbra_evaluator_free(one));
    call!(adumbra_batch_evaluator_free(many));
    call!(adumbra_batch_globals_free(globals));
    0
}

#[test]
fn callback_on_own_evaluator_gets_busy() {
    let compiler = hit_compiler();
    let program = compile(
        compiler,
        "texture2d t; shader s(out float o) { o = texture2d_sample_alpha<t>(0.5, 0.5); }",
    );
    let instance = made!(adumbra_instance_new(program));
    let mut meddler = Meddler {
        evaluator: made!(adumbra_evaluator_new(instance, null())),
        batch: made!(adumbra_batch_evaluator_new(instance, null())),
        globals: made!(adumbra_batch_globals_new(program)),
        found: Vec::new(),
    };
    let (many, globals) = (meddler.batch, meddler.globals);
    let host = AdumbraHost {
        user: (&raw mut meddler).cast(),
        sample: Some(meddle),
        ..sized()
    };
    let point = hit(0);
    // The one that does not run is free to be used, and to be freed.
    ok!(adumbra_batch_evaluator_evaluate(
        many,
        globals,
        0,
        1,
        null(),
        &raw const host
    ));
    let (ok, busy) = (AdumbraStatus::Ok, AdumbraStatus::Busy);
    assert_eq!(meddler.found, [ok, ok, busy, busy]);

    let one = made!(adumbra_evaluator_new(instance, null()));
    (meddler.evaluator, meddler.batch, meddler.globals) = (one, null_mut(), null_mut());
    meddler.found.clear();
    ok!(adumbra_evaluator_evaluate(
        one,
        point.as_ptr().cast(),
        216,
        &raw const host,
        null_mut()
    ));
    assert_eq!(
        meddler.found,
        [busy, busy, AdumbraStatus::Null, AdumbraStatus::Null]
    );
    let mut alpha = 0.0_f32;
    ok!(adumbra_evaluator_read(
        one,
        0,
        0,
        1,
        (&raw mut alpha).cast()
    ));
    assert_eq!(alpha, 1.0);
    call!(adumbra_evaluator_free(one));
    call!(adumbra_batch_evaluator_free(many));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

/// A handle that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: handles may be used by any thread; that is what is tested.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the handles live until the threads were joined, and each call is one that threads may
// share.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

#[test]
fn shared_handles_serialise_or_report_busy() {
    let compiler = Shared(hit_compiler());
    let shader = "shader s(float x = 1, out float o) { float sum = 0; for (int i = 0; i < 200; i++) sum += sin(x * i + global_value<uvw>.x); o = sum; }";
    let program = Shared(compile(compiler.get(), shader));
    let instance = Shared(made!(adumbra_instance_new(program.get())));
    let fought_over = Shared(made!(adumbra_evaluator_new(instance.get(), null())));
    let globals = hit(5);
    let value = |evaluator: *mut AdumbraEvaluator| {
        let mut o = 0_u32;
        let start = globals.as_ptr().cast();
        match call!(adumbra_evaluator_evaluate(
            evaluator,
            start,
            216,
            null(),
            null_mut()
        )) {
            AdumbraStatus::Ok => {}
            status => return Err(status),
        }
        match call!(adumbra_evaluator_read(
            evaluator,
            0,
            0,
            1,
            (&raw mut o).cast()
        )) {
            AdumbraStatus::Ok => Ok(o),
            status => Err(status),
        }
    };
    let expected = value(fought_over.get());
    assert!(expected.is_ok());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let own_program = compile(compiler.get(), shader);
                for _ in 0..200 {
                    let mut named: AdumbraVariable = sized();
                    let list = AdumbraList::Outputs as u32;
                    ok!(adumbra_program_find(
                        program.get(),
                        list,
                        c"o".as_ptr(),
                        &raw mut named
                    ));
                    let own = made!(adumbra_evaluator_new(instance.get(), null()));
                    assert_eq!(value(own), expected);
                    call!(adumbra_evaluator_free(own));
                    let found = value(fought_over.get());
                    assert!(
                        found == expected || found == Err(AdumbraStatus::Busy),
                        "{found:?}"
                    );
                }
                call!(adumbra_program_free(own_program));
            });
        }
    });
    assert_eq!(value(fought_over.get()), expected);
    call!(adumbra_evaluator_free(fought_over.get()));
    call!(adumbra_instance_free(instance.get()));
    call!(adumbra_program_free(program.get()));
    call!(adumbra_compiler_free(compiler.get()));
}
