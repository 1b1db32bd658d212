//! Single points by every engine against the facade, to the bit; parameters, faults, limits.

use crate::common::{
    compile, evaluate, hit, instance, native_is_there, rust_compiler, rust_hit, rust_words, sized,
    text, words,
};
use adumbra::{Evaluator, Instance, NoTextures, Sources};
use adumbra_capi::*;
use std::ffi::c_void;
use std::ptr::null;

/// Derivatives through noise, branches and a loop.
pub(crate) const NOISY: &str =
    "shader s(float gain = 2.0, int octaves = 3, out color c, out int n) {
    float3 p = global_value<position> * gain;
    float sum = 0;
    for (int i = 0; i < octaves; i++) sum += noise(p * (i + 1.0)) / (i + 1.0);
    c = p.x > 0 ? color(sum, sin(sum), ddx(sum)) : global_value<uvw> * sum;
    n = (int)(10 * sum);
}";

#[test]
fn engines_give_bits_of_facade() {
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", NOISY))
        .unwrap();
    let mut rust = Instance::new(&program);
    rust.set("gain", 1.25_f32).unwrap();
    let mut expected = Evaluator::new(&rust);

    let instance = instance(NOISY);
    let gain = [1.25_f32];
    let (float, gain) = (AdumbraType::Float as u32, gain.as_ptr().cast());
    ok!(adumbra_instance_set(
        instance,
        c"gain".as_ptr(),
        float,
        gain,
        1
    ));
    let native = native_is_there().then_some(AdumbraEngine::Native);
    let engines = [
        AdumbraEngine::Point,
        AdumbraEngine::Reference,
        AdumbraEngine::Batch,
        AdumbraEngine::Auto,
    ];
    for engine in engines.into_iter().chain(native) {
        let engine = engine as u32;
        let options = AdumbraEvaluatorOptions { engine, ..sized() };
        let evaluator = made!(adumbra_evaluator_new(instance, &raw const options));
        for point in 0..100 {
            let outcome = evaluate(evaluator, &hit(point), null());
            assert_eq!(outcome, AdumbraOutcome::Finished);
            expected.evaluate(&rust_hit(&program, point), &mut NoTextures);
            assert_eq!(words(evaluator, 4), rust_words(&expected), "point {point}");
        }
        let mut bytes = 0;
        ok!(adumbra_evaluator_memory(evaluator, &raw mut bytes));
        assert!(bytes > 100);
        call!(adumbra_evaluator_free(evaluator));
    }
    call!(adumbra_instance_free(instance));
}

#[test]
fn parameters_are_set_by_path_and_type() {
    let shader = "struct lamp { float3 at; bool on; };
        shader s(lamp l, int n, uint u, float w[2], out float4 o) {
            o = float4(l.on ? l.at.y : -1, n, u, w[1]);
        }";
    let instance = instance(shader);
    let set = |path: &std::ffi::CStr, ty: AdumbraType, words: &[u32]| {
        let (path, values) = (path.as_ptr(), words.as_ptr().cast());
        call!(adumbra_instance_set(
            instance,
            path,
            ty as u32,
            values,
            words.len()
        ))
    };
    let floats = [1.0_f32, 2.5, 3.0].map(f32::to_bits);
    assert_eq!(set(c"l.at", AdumbraType::Float, &floats), AdumbraStatus::Ok);
    assert_eq!(set(c"l.on", AdumbraType::Bool, &[7]), AdumbraStatus::Ok);
    assert_eq!(
        set(c"n", AdumbraType::Int, &[-3_i32 as u32]),
        AdumbraStatus::Ok
    );
    assert_eq!(set(c"u", AdumbraType::Uint, &[9]), AdumbraStatus::Ok);
    assert_eq!(
        set(c"w", AdumbraType::Float, &floats[..2]),
        AdumbraStatus::Ok
    );

    assert_eq!(
        set(c"l.at", AdumbraType::Int, &floats),
        AdumbraStatus::WrongType
    );
    assert_eq!(
        set(c"l.at", AdumbraType::Float3, &floats),
        AdumbraStatus::WrongType
    );
    assert_eq!(
        set(c"l", AdumbraType::Float, &[0; 4]),
        AdumbraStatus::WrongType
    );
    assert_eq!(
        set(c"l.at", AdumbraType::Float, &floats[..2]),
        AdumbraStatus::Size
    );
    assert_eq!(
        set(c"l.at.x", AdumbraType::Float, &[0]),
        AdumbraStatus::UnknownName
    );
    assert_eq!(
        set(c"gone", AdumbraType::Float, &[0]),
        AdumbraStatus::UnknownName
    );
    assert_eq!(
        set(c"n", AdumbraType::Closure, &[0]),
        AdumbraStatus::WrongType
    );

    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    // Parameters that are set later hold for later evaluators.
    assert_eq!(set(c"n", AdumbraType::Int, &[5]), AdumbraStatus::Ok);
    evaluate(evaluator, &hit(0), null());
    let o: Vec<f32> = words(evaluator, 4)
        .chunks(3)
        .map(|w| f32::from_bits(w[0]))
        .collect();
    assert_eq!(o, [2.5, -3.0, 9.0, 2.5]);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}

#[test]
fn faults_are_diagnostics_and_limits_stop() {
    let instance = instance(
        "shader s(int n = 5, out float o) { float w[3]; o = w[n] + 1 / (n - 5); while (true) o += 1; }",
    );
    let limits = AdumbraLimits {
        steps: 500,
        ..sized()
    };
    let options = AdumbraEvaluatorOptions {
        limits: &raw const limits,
        ..sized()
    };
    let evaluator = made!(adumbra_evaluator_new(instance, &raw const options));
    assert_eq!(
        evaluate(evaluator, &hit(0), null()),
        AdumbraOutcome::Stopped
    );
    assert_eq!(words(evaluator, 1), [0; 3]);
    let mut count = 0;
    ok!(adumbra_evaluator_fault_count(evaluator, &raw mut count));
    assert_eq!(count, 3);
    let diagnostics = made!(adumbra_evaluator_faults(evaluator));
    let codes: Vec<&str> = (0..3)
        .map(|index| {
            let mut diagnostic: AdumbraDiagnostic = sized();
            ok!(adumbra_diagnostics_get(
                diagnostics,
                index,
                &raw mut diagnostic
            ));
            assert_eq!((diagnostic.line, text(diagnostic.file)), (1, "s.adu"));
            text(diagnostic.code)
        })
        .collect();
    let mut other: Vec<String> = Vec::new();
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", "shader s(int n = 5, out float o) { float w[3]; o = w[n] + 1 / (n - 5); while (true) o += 1; }"))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&program));
    expected.evaluate(&rust_hit(&program, 0), &mut NoTextures);
    other.extend(
        expected
            .faults()
            .iter()
            .map(|fault| fault.kind.code().to_string()),
    );
    assert_eq!(codes, other);
    call!(adumbra_diagnostics_free(diagnostics));
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}

#[test]
fn unasked_derivatives_are_refused() {
    let shader = "shader s(out int n, out float3 c) { n = 7; c = global_value<uvw>; }";
    let layout = made!(adumbra_layout_new_hit());
    for output_derivatives in [0, 1] {
        let options = AdumbraCompilerOptions {
            output_derivatives,
            ..sized()
        };
        let compiler = made!(adumbra_compiler_new(layout, &raw const options));
        let program = compile(compiler, shader);
        let instance = made!(adumbra_instance_new(program));
        let point = made!(adumbra_evaluator_new(instance, null()));
        evaluate(point, &hit(3), null());
        let batch = made!(adumbra_batch_evaluator_new(instance, null()));
        let globals = made!(adumbra_batch_globals_new(program));
        ok!(adumbra_batch_evaluator_evaluate(
            batch,
            globals,
            0,
            1,
            null(),
            null()
        ));
        let mut word = 0_u32;
        for part in 0..3 {
            let to: *mut c_void = (&raw mut word).cast();
            let read = call!(adumbra_evaluator_read(point, part, 2, 1, to));
            let said = text(adumbra_last_error()).to_owned();
            let copied = call!(adumbra_batch_evaluator_copy(batch, part, 2, to, 1, 1));
            if part == 0 || output_derivatives == 1 {
                assert_eq!((read, copied), (AdumbraStatus::Ok, AdumbraStatus::Ok));
                continue;
            }
            let refused = AdumbraStatus::NoDerivatives;
            assert_eq!((read, copied), (refused, refused));
            let expected = "`part` asks for the derivatives of `c`, and the program was compiled without `output_derivatives`";
            assert_eq!((&*said, text(adumbra_last_error())), (expected, expected));
            let nothing = call!(adumbra_evaluator_read(point, part, 4, 0, to));
            assert_eq!(nothing, AdumbraStatus::Ok, "no scalar");
        }
        call!(adumbra_batch_globals_free(globals));
        call!(adumbra_batch_evaluator_free(batch));
        call!(adumbra_evaluator_free(point));
        call!(adumbra_instance_free(instance));
        call!(adumbra_program_free(program));
        call!(adumbra_compiler_free(compiler));
    }
    call!(adumbra_layout_free(layout));
}
