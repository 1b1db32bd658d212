//! The caller's floating-point environment is restored, and changes no bit of a result.

use crate::common::{compile, hit_compiler, native_is_there, sized};
use adumbra_capi::*;
use std::arch::asm;
use std::ffi::c_void;
use std::ptr::null;

/// Constants that are folded, values and derivatives that round, denormals that come in and go out.
const SHADER: &str = "texture2d t;
    shader s(float tiny = 1e-40, out float folded, out float rounded, out float small, out float texel) {
        float3 p = global_value<position>;
        folded = 0.1 * 0.7 / 3.1 + sin(0.3);
        rounded = p.x / 3 + sqrt(p.y * p.y + 0.1) * tiny * 1e38;
        small = 0.25 * global_value<uvw>.x + tiny;
        texel = texture2d_sample_alpha<t>(p.x, p.y);
    }";

/// All exceptions masked, and nothing else.
const STANDARD: u32 = 0x1f80;

/// Denormal operands are zero; denormal results are zero; rounding downwards, upwards, towards
/// zero; all that can be together; no exception masked, alone and with all the rest.
const MODES: [u32; 10] = [
    STANDARD,
    STANDARD | 0x0040,
    STANDARD | 0x8000,
    STANDARD | 0x2000,
    STANDARD | 0x4000,
    STANDARD | 0x6000,
    STANDARD | 0x8040,
    STANDARD | 0xe040,
    0x0000,
    0xe040,
];

/// Control bits, as opposed to the flags that arithmetic sets.
const CONTROL: u32 = !0x3f;

fn mode() -> u32 {
    let mut word = 0_u32;
    // SAFETY: stores the control register in a local.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
    word
}

fn set_mode(word: u32) {
    // SAFETY: the modes of this suite set no reserved bit.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags));
    }
}

/// Runs a call in a mode and looks whether the mode is the same afterwards.
fn in_mode<T>(word: u32, call: impl FnOnce() -> T) -> T {
    set_mode(word);
    let result = call();
    let after = mode();
    set_mode(STANDARD);
    assert_eq!(after & CONTROL, word & CONTROL, "of {word:#x}");
    result
}

/// A texture that knows in which mode it is asked.
unsafe extern "C" fn sample(
    _: *mut c_void,
    request: *const AdumbraSampleRequest,
    texel: *mut f32,
) -> u32 {
    // SAFETY: the library passes a request, and memory for four numbers.
    unsafe { *texel.add(3) = (*request).u / 3.0 };
    assert_eq!(mode() & CONTROL, STANDARD & CONTROL);
    0
}

/// All bits that compilation and evaluation give in a mode, each call of which is made in it.
fn bits(word: u32) -> Vec<u32> {
    let compiler = in_mode(word, hit_compiler);
    let program = in_mode(word, || compile(compiler, SHADER));
    let instance = in_mode(word, || made!(adumbra_instance_new(program)));
    let point = in_mode(word, || made!(adumbra_evaluator_new(instance, null())));
    let mut tiers = vec![AdumbraTier::Interpreter, AdumbraTier::Auto];
    tiers.extend(native_is_there().then_some(AdumbraTier::Native));
    let batches = tiers.into_iter().map(|tier| {
        let options = AdumbraBatchOptions {
            tier: tier as u32,
            compile_when: AdumbraCompileWhen::Immediately as u32,
            compile_after: 1,
            ..sized()
        };
        in_mode(word, || {
            made!(adumbra_batch_evaluator_new(instance, &raw const options))
        })
    });
    let batches: Vec<_> = batches.collect();
    let globals = in_mode(word, || made!(adumbra_batch_globals_new(program)));
    let host = AdumbraHost {
        sample: Some(sample),
        ..sized()
    };
    // Denormal coordinates and changes, among others.
    let words: Vec<u32> = (0..54_u32)
        .map(|at| {
            if at < 9 {
                0x0000_1001 * (at + 1)
            } else {
                0x3f8c_cccd + at
            }
        })
        .collect();
    let array: Vec<u32> = (0..100).flat_map(|_| words.clone()).collect();
    let mut all = Vec::new();
    in_mode(word, || {
        ok!(adumbra_evaluator_evaluate(
            point,
            words.as_ptr().cast(),
            216,
            &raw const host,
            std::ptr::null_mut()
        ));
    });
    for part in 0..3 {
        let mut read = [0_u32; 4];
        in_mode(word, || {
            ok!(adumbra_evaluator_read(
                point,
                part,
                0,
                4,
                read.as_mut_ptr().cast()
            ))
        });
        all.extend(read);
    }
    ok!(adumbra_batch_globals_points(
        globals,
        array.as_ptr().cast(),
        100
    ));
    for &batch in &batches {
        in_mode(word, || {
            ok!(adumbra_batch_evaluator_evaluate(
                batch,
                globals,
                0,
                100,
                null(),
                &raw const host
            ));
        });
        for (part, scalar) in (0..3).flat_map(|part| (0..4).map(move |scalar| (part, scalar))) {
            let mut plane = [0_u32; 100];
            in_mode(word, || {
                ok!(adumbra_batch_evaluator_copy(
                    batch,
                    part,
                    scalar,
                    plane.as_mut_ptr().cast(),
                    100,
                    1
                ));
            });
            assert!(plane.iter().all(|&word| word == plane[0]));
            assert_eq!(
                plane[0],
                all[4 * part as usize + scalar],
                "in a batch as alone"
            );
            all.push(plane[0]);
        }
    }
    let listing = crate::common::written(|to, capacity, needed| {
        in_mode(word, || {
            call!(adumbra_program_json(program, to, capacity, needed))
        })
    });
    all.extend(listing.bytes().map(u32::from));
    in_mode(word, || {
        call!(adumbra_batch_globals_free(globals));
        for batch in batches {
            call!(adumbra_batch_evaluator_free(batch));
        }
        call!(adumbra_evaluator_free(point));
        call!(adumbra_instance_free(instance));
        call!(adumbra_program_free(program));
        call!(adumbra_compiler_free(compiler));
    });
    all
}

#[test]
fn floating_point_modes_are_restored_and_change_no_bit() {
    let expected = bits(STANDARD);
    // Denormals there are, and they came through.
    assert!(
        expected[2] != 0 && expected[2] < 0x0080_0000,
        "{:#x}",
        expected[2]
    );
    assert!(
        expected[6] != 0 && expected[6] < 0x0080_0000,
        "{:#x}",
        expected[6]
    );
    for word in MODES {
        assert_eq!(bits(word), expected, "in {word:#x}");
    }
}
