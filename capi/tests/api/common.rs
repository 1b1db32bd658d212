//! Helpers of the API tests: calls as C makes them, and points.

use adumbra::{Compiler, Globals, GlobalsLayout, Options, Program, value::Part};
use adumbra_capi::{
    AdumbraCompiler, AdumbraCompilerOptions, AdumbraDiagnostics, AdumbraEvaluator, AdumbraHost,
    AdumbraInstance, AdumbraOutcome, AdumbraProgram, AdumbraStatus, AdumbraTier,
};
use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

/// Calls a function of the crate as C would.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: what tests point at lives while they call and is as long as they say, or is wrong
        // in a way that the function sees.
        #[allow(unused_unsafe, clippy::allow_attributes, reason = "some functions take no pointer")]
        unsafe { adumbra_capi::$function($($argument),*) }
    }};
}

/// Calls a function that must do what it is asked for.
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($function($($argument),*)), adumbra_capi::AdumbraStatus::Ok)
    };
}

/// Calls a function that makes a handle: the arguments before the handle's pointer and, after a
/// semicolon, those after it.
macro_rules! made {
    ($function:ident($($argument:expr),* ; $($after:expr),*)) => {{
        let mut handle = std::ptr::null_mut();
        ok!($function($($argument,)* &raw mut handle $(, $after)*));
        assert!(!handle.is_null());
        handle
    }};
    ($function:ident($($argument:expr),*)) => { made!($function($($argument),* ;)) };
}

/// The header.
pub(crate) fn header() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/include/adumbra.h");
    std::fs::read_to_string(path).unwrap()
}

/// The content of a C string.
pub(crate) fn text<'a>(pointer: *const c_char) -> &'a str {
    assert!(!pointer.is_null());
    // SAFETY: the library's strings end with NUL, and tests read them while their handle lives.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().expect("UTF-8")
}

/// Whether there is machine code for this processor; says so if not.
pub(crate) fn native_is_there() -> bool {
    let mut available = 7;
    ok!(adumbra_tier_is_available(
        AdumbraTier::Native as u32,
        &raw mut available
    ));
    assert_eq!(available == 1, adumbra::batch::Tier::Native.is_available());
    if available == 0 {
        println!("skipped: there is no machine code for this processor");
    }
    available == 1
}

/// A struct that begins with its size, zero besides.
pub(crate) fn sized<T>() -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let size = u32::try_from(size_of::<T>()).expect("a small struct");
    // SAFETY: the structs of the interface begin with their size, and may be zero besides.
    unsafe {
        value.as_mut_ptr().cast::<u32>().write(size);
        value.assume_init()
    }
}

/// A string that is requested twice: first its length, then its bytes.
pub(crate) fn written(write: impl Fn(*mut c_char, usize, *mut usize) -> AdumbraStatus) -> String {
    let mut needed = 0;
    let short = write(std::ptr::null_mut(), 0, &raw mut needed);
    assert_eq!(short, AdumbraStatus::BufferTooSmall);
    let mut buffer = vec![0x7f_u8; needed + 1];
    let small = write(buffer.as_mut_ptr().cast(), needed - 1, std::ptr::null_mut());
    assert_eq!(small, AdumbraStatus::BufferTooSmall);
    assert!(buffer.iter().all(|&byte| byte == 0x7f));
    let wrote = write(buffer.as_mut_ptr().cast(), needed, &raw mut needed);
    assert_eq!(wrote, AdumbraStatus::Ok);
    assert_eq!(buffer[needed - 1..], [0, 0x7f]);
    buffer.truncate(needed - 1);
    String::from_utf8(buffer).expect("UTF-8")
}

/// A compiler for a hit point, whose outputs have derivatives.
pub(crate) fn hit_compiler() -> *mut AdumbraCompiler {
    let layout = made!(adumbra_layout_new_hit());
    let options = AdumbraCompilerOptions {
        output_derivatives: 1,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const options));
    call!(adumbra_layout_free(layout));
    compiler
}

/// The same by the facade.
pub(crate) fn rust_compiler() -> Compiler {
    Compiler::new(GlobalsLayout::hit()).with_options(Options {
        output_derivatives: true,
        ..Options::default()
    })
}

/// A program of a source, which has to compile.
pub(crate) fn compile(compiler: *const AdumbraCompiler, shader: &str) -> *mut AdumbraProgram {
    let (mut program, mut diagnostics) = (null_mut(), null_mut());
    let status = call!(adumbra_compile_source(
        compiler,
        c"s.adu".as_ptr(),
        shader.as_ptr().cast(),
        shader.len(),
        &raw mut program,
        &raw mut diagnostics
    ));
    if status != AdumbraStatus::Ok {
        panic!("{}", report(diagnostics));
    }
    call!(adumbra_diagnostics_free(diagnostics));
    program
}

/// The report of diagnostics for people.
pub(crate) fn report(diagnostics: *const AdumbraDiagnostics) -> String {
    written(|to, capacity, needed| {
        call!(adumbra_diagnostics_render(
            diagnostics,
            0,
            to,
            capacity,
            needed
        ))
    })
}

/// An instance of a source with default values, for hit points.
pub(crate) fn instance(shader: &str) -> *mut AdumbraInstance {
    let compiler = hit_compiler();
    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
    instance
}

/// Globals of a hit point that differ from point to point, as the host's memory holds them.
pub(crate) fn hit(point: usize) -> [f32; 54] {
    std::array::from_fn(|word| {
        let wave = (point * 54 + word) as f32 * 0.37;
        wave.sin() * if word % 9 < 3 { 2.0 } else { 0.125 }
    })
}

/// The same for the facade.
pub(crate) fn rust_hit(program: &Program, point: usize) -> Globals {
    let mut globals = Globals::new(program.globals());
    let words = hit(point).map(f32::to_bits);
    globals.words_mut().copy_from_slice(&words);
    globals
}

/// The words of all outputs of an evaluator, as the facade orders them.
pub(crate) fn words(evaluator: *const AdumbraEvaluator, scalars: usize) -> Vec<u32> {
    let mut parts = [vec![0; scalars], vec![0; scalars], vec![0; scalars]];
    for (part, words) in parts.iter_mut().enumerate() {
        ok!(adumbra_evaluator_read(
            evaluator,
            part as u32,
            0,
            scalars,
            words.as_mut_ptr().cast()
        ));
    }
    let of = |scalar: usize| parts.each_ref().map(|words| words[scalar]);
    (0..scalars).flat_map(of).collect()
}

/// The same of the facade.
pub(crate) fn rust_words(evaluator: &adumbra::Evaluator) -> Vec<u32> {
    let parts = Part::ALL.map(|part| -> Vec<u32> {
        let words = evaluator.words(part).expect("it has derivatives");
        words.collect()
    });
    let of = |scalar: usize| parts.each_ref().map(|words| words[scalar]);
    (0..parts[0].len()).flat_map(of).collect()
}

/// Evaluates a point; gives how far it came.
pub(crate) fn evaluate(
    evaluator: *mut AdumbraEvaluator,
    globals: &[f32],
    host: *const AdumbraHost,
) -> AdumbraOutcome {
    let mut outcome = AdumbraOutcome::Pending;
    let (start, bytes) = (globals.as_ptr().cast(), size_of_val(globals));
    ok!(adumbra_evaluator_evaluate(
        evaluator,
        start,
        bytes,
        host,
        &raw mut outcome
    ));
    outcome
}
