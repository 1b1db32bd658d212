//! A call of every function that gives a status, with arguments that are invalid or valid.

use crate::common::{compile, evaluate, hit, hit_compiler, instance, sized, text};
use adumbra_capi::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};

/// The address of pointers that are invalid.
#[derive(Clone, Copy)]
pub(crate) enum Bad {
    /// All handles, results and strings have it.
    Required(usize),
    /// All handles and results have it.
    Handles(usize),
    /// The argument of this position is NULL, and all others are valid.
    NullAt(usize),
}

/// The arguments of a call, one after the other.
struct Arguments {
    bad: Bad,
    next: usize,
}

impl Arguments {
    fn pointer<T: Valid>(&mut self, kind: &str) -> *mut T {
        let position = self.next;
        self.next += 1;
        match (self.bad, kind) {
            (Bad::NullAt(null), _) if null != position => T::valid(),
            (Bad::Required(bad), "h" | "t") | (Bad::Handles(bad), "h") => {
                without_provenance_mut(bad)
            }
            (Bad::Handles(_), "t") => T::valid(),
            _ => null_mut(),
        }
    }

    fn number<T: TryFrom<usize, Error: std::fmt::Debug>>(&mut self, kind: &str) -> T {
        self.next += 1;
        let number = match (self.bad, kind) {
            (Bad::NullAt(_), "c") => 1,
            (Bad::NullAt(_), "b") => 216,
            _ => 0,
        };
        number.try_into().expect("a small number")
    }
}

/// A call of [`every`].
pub(crate) struct Called {
    pub(crate) function: &'static str,
    pub(crate) kinds: &'static [&'static str],
    pub(crate) bad: Bad,
    pub(crate) status: AdumbraStatus,
    pub(crate) message: String,
}

/// What a pointer of an argument may point at. It lives for ever.
pub(crate) trait Valid: Sized {
    fn valid() -> *mut Self;
}

/// Handles that are made, each by the function that makes it.
macro_rules! handles {
    ($($handle:ty: $made:expr;)*) => {
        $(impl Valid for $handle {
            fn valid() -> *mut Self {
                $made
            }
        })*
    };
}

pub(crate) const SHADER: &str = "shader s(float x = 1.0, out float o) { o = x; }";

handles! {
    AdumbraLayout: made!(adumbra_layout_new_hit());
    AdumbraClosures: made!(adumbra_closures_new());
    AdumbraSources: made!(adumbra_sources_new(c"s".as_ptr(), c"".as_ptr(), 0));
    AdumbraReply: Box::leak(Box::default());
    AdumbraCompiler: hit_compiler();
    AdumbraProgram: compile(hit_compiler(), SHADER);
    AdumbraInstance: instance(SHADER);
    AdumbraEvaluator: made!(adumbra_evaluator_new(instance(SHADER), null()));
    AdumbraBatchGlobals: made!(adumbra_batch_globals_new(compile(hit_compiler(), SHADER)));
    AdumbraBatchEvaluator: made!(adumbra_batch_evaluator_new(instance(SHADER), null()));
    AdumbraSums: made!(adumbra_sums_new(
        instance(SHADER), null(), AdumbraBatchGlobals::valid(), 0, 1, null(), 0, null()
    ));
    AdumbraJumpGradient: made!(adumbra_program_jump_gradient(
        AdumbraProgram::valid(), null(), AdumbraAxis::valid(), 1, 1 ; null_mut()
    ));
    AdumbraDiagnostics: {
        let mut found = null_mut();
        let evaluator = AdumbraEvaluator::valid();
        ok!(adumbra_evaluator_faults(evaluator, &raw mut found));
        found
    };
    AdumbraParkedPoint: {
        unsafe extern "C" fn pending(
            _: *mut c_void,
            _: *const AdumbraSampleRequest,
            _: *mut f32,
        ) -> u32 {
            AdumbraAnswer::Pending as u32
        }
        let shader = "texture2d t; shader s(out color c) { c = texture2d_sample<t>(0.5, 0.5); }";
        let evaluator = made!(adumbra_evaluator_new(instance(shader), null()));
        let host = AdumbraHost {
            sample: Some(pending),
            ..sized()
        };
        evaluate(evaluator, &hit(0), &raw const host);
        made!(adumbra_evaluator_park(evaluator))
    };
    // Bytecode of no bytes, which is refused.
    AdumbraObjectShader: Box::leak(Box::new([0_u64; 8])).as_mut_ptr().cast();
    *const c_char: Box::leak(Box::new([c"x".as_ptr(); 4])).as_mut_ptr();
    *const c_void: Box::leak(Box::new([f32::valid().cast_const().cast(); 4])).as_mut_ptr();
    // A string, and memory for one.
    c_char: Box::leak(Box::new(*b"x\0\0\0")).as_mut_ptr().cast();
    AdumbraMember: Box::leak(Box::new(AdumbraMember {
        name: c"x".as_ptr(),
        r#type: 3,
        offset: 0,
    }));
    AdumbraAxis: Box::leak(Box::new(AdumbraAxis {
        global: c"position".as_ptr(),
        scalar: 0,
        spacing: 1.0,
    }));
    AdumbraOutputPlane: Box::leak(Box::new(AdumbraOutputPlane {
        part: 0,
        scalar: 0,
        plane: c_void::valid(),
        capacity: 1,
        stride: 1,
    }));
}

/// Values and memory for results: 1,024 bytes, of which the first four are the size of a struct
/// that begins with its size.
macro_rules! plain {
    ($($plain:ty),*) => {
        $(impl Valid for $plain {
            fn valid() -> *mut Self {
                let memory = Box::leak(Box::new([0_u64; 128])).as_mut_ptr();
                let size = size_of::<$plain>() as u32;
                // SAFETY: the memory is as long, and aligned.
                unsafe { memory.cast::<u32>().write(size) };
                memory.cast()
            }
        })*
    };
}

plain!(
    u8,
    u32,
    usize,
    f32,
    f64,
    c_void,
    AdumbraOutcome,
    AdumbraLeaf,
    AdumbraStats,
    AdumbraVariable,
    AdumbraDiagnostic,
    AdumbraClosure,
    AdumbraSampleRequest,
    AdumbraHost,
    AdumbraLoader,
    AdumbraCompilerOptions,
    AdumbraEvaluatorOptions,
    AdumbraBatchOptions,
    AdumbraGradientRequest,
    AdumbraDifferentiated,
    AdumbraSumsOptions,
    AdumbraSumsReport,
    AdumbraJumpOptions,
    AdumbraJumpReport,
    AdumbraJumpPoint
);

impl<T> Valid for *mut T {
    fn valid() -> *mut Self {
        Box::leak(Box::new(null_mut()))
    }
}

/// Calls every function as often as `bad` says for the kinds of its arguments.
macro_rules! every {
    ($bad:expr; $($function:ident($($kind:tt),*);)*) => {{
        let mut calls = Vec::new();
        $(
            let kinds: &'static [&'static str] = &[$(stringify!($kind)),*];
            for bad in $bad(kinds) {
                let mut arguments = Arguments { bad, next: 0 };
                let status = call!($function($(every!(@ $kind arguments)),*));
                let function = stringify!($function);
                let message = text(adumbra_last_error()).to_owned();
                calls.push(Called { function, kinds, bad, status, message });
            }
        )*
        calls
    }};
    (@ n $arguments:ident) => { $arguments.number("n") };
    (@ c $arguments:ident) => { $arguments.number("c") };
    (@ b $arguments:ident) => { $arguments.number("b") };
    (@ $kind:tt $arguments:ident) => { $arguments.pointer(stringify!($kind)) };
}

/// Every function that gives a status: `h` a handle or a result, `t` a string, `a` an array or a
/// buffer, `c` its length, `b` the bytes of globals, `n` another number, `o` an optional pointer.
pub(crate) fn every(bad: impl Fn(&[&str]) -> Vec<Bad>) -> Vec<Called> {
    every! { bad;
        adumbra_layout_new(h);
        adumbra_layout_new_hit(h);
        adumbra_layout_add(h, t, n);
        adumbra_layout_shadowless(h, t);
        adumbra_layout_bytes(h, h);
        adumbra_layout_check(h, a, c, n, o);
        adumbra_layout_closest(h, t, a, c, o);
        adumbra_program_layout(h, h);
        adumbra_closures_new(h);
        adumbra_closures_add(h, t, a, a, c);
        adumbra_reply(h, t, c);
        adumbra_sources_new(t, t, c, h);
        adumbra_sources_add(h, t, t, c);
        adumbra_sources_include(h, h, o);
        adumbra_compiler_new(o, o, h);
        adumbra_compile(h, h, h, o);
        adumbra_compile_source(h, t, t, c, h, o);
        adumbra_diagnostics_count(h, h);
        adumbra_diagnostics_get(h, n, h);
        adumbra_diagnostics_render(h, n, a, c, o);
        adumbra_program_count(h, n, h);
        adumbra_program_variable(h, n, n, h);
        adumbra_program_find(h, n, t, h);
        adumbra_program_closest(h, n, t, a, c, o);
        adumbra_program_closure_parameter(h, n, n, h);
        adumbra_program_json(h, a, c, o);
        adumbra_program_stats(h, h);
        adumbra_program_save(h, a, c, o);
        adumbra_program_load(a, c, h, o);
        adumbra_program_from_object(h, h, o);
        adumbra_program_gradient(h, o, h, o);
        adumbra_program_differentiated_count(h, h);
        adumbra_program_differentiated(h, n, h);
        adumbra_instance_new(h, h);
        adumbra_instance_set(h, t, n, a, c);
        adumbra_instance_set_buffer(h, t, n, a, c);
        adumbra_evaluator_new(h, o, h);
        adumbra_evaluator_evaluate(h, a, b, o, o);
        adumbra_evaluator_evaluate_quad(h, h, b, o, o, o);
        adumbra_evaluator_select(h, n, o);
        adumbra_evaluator_read(h, n, n, c, a);
        adumbra_evaluator_fault_count(h, h);
        adumbra_evaluator_faults(h, h);
        adumbra_evaluator_closure(h, n, h);
        adumbra_evaluator_closure_arguments(h, n, a, c, o);
        adumbra_evaluator_leaves(h, n, a, c, o);
        adumbra_evaluator_closure_render(h, n, n, a, c, o);
        adumbra_evaluator_request(h, h);
        adumbra_evaluator_answer(h, h, o, o, o);
        adumbra_evaluator_park(h, h);
        adumbra_evaluator_resume(h, h, h, o, o, o);
        adumbra_evaluator_memory(h, h);
        adumbra_parked_point_request(h, h);
        adumbra_batch_globals_new(h, h);
        adumbra_batch_globals_plane(h, t, n, n, a, c, n);
        adumbra_batch_globals_uniform(h, t, n, a, c);
        adumbra_batch_globals_points(h, a, c);
        adumbra_tier_is_available(n, h);
        adumbra_batch_evaluator_new(h, o, h);
        adumbra_batch_evaluator_width(h, h);
        adumbra_batch_evaluator_tier(h, h);
        adumbra_batch_evaluator_simd(h, h);
        adumbra_batch_evaluator_evaluate(h, h, n, n, o, o);
        adumbra_batch_evaluator_outcomes(h, a, c, o);
        adumbra_batch_evaluator_copy(h, n, n, a, c, n);
        adumbra_batch_evaluator_faulty(h, a, c, o);
        adumbra_batch_evaluator_faults(h, n, h);
        adumbra_batch_evaluator_closure(h, n, n, h);
        adumbra_batch_evaluator_closure_arguments(h, n, n, a, c, o);
        adumbra_batch_evaluator_leaves(h, n, n, a, c, o);
        adumbra_batch_evaluator_closure_render(h, n, n, n, a, c, o);
        adumbra_batch_evaluator_suspended(h, a, c, o);
        adumbra_batch_evaluator_request(h, n, h);
        adumbra_batch_evaluator_answer(h, n, h, o, o, o);
        adumbra_batch_evaluator_park(h, n, h);
        adumbra_batch_evaluator_memory(h, h);
        adumbra_sums_new(h, o, h, n, n, a, c, o, h);
        adumbra_sums_join(h, h);
        adumbra_sums_total(h, t, a, c, o);
        adumbra_sums_buffer(h, t, a, c, o);
        adumbra_sums_report(h, h);
        adumbra_program_jump_gradient(h, o, a, c, n, h, o);
        adumbra_jump_gradient_smooth(h, h);
        adumbra_jump_gradient_is_zero(h, n, h);
        adumbra_jump_gradient_planes(h, h, o, h, n, n, a, c, o, o);
        adumbra_jump_gradient_sums(h, h, o, h, n, n, a, c, o, h, o);
        adumbra_jump_gradient_points(h, h, o, h, n, n, o, a, c, o);
    }
}
