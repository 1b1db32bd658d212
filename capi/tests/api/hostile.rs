//! Invalid arguments of hosts: null and misaligned pointers, wild sizes, strings that are not
//! UTF-8.

use crate::common::{header, hit, hit_compiler, instance, sized, text};
use crate::every::{Bad, every};
use adumbra_capi::*;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};

/// An address at which only bytes are aligned.
const ODD: usize = 0x1001;

#[test]
fn null_and_misaligned_pointers_are_refused() {
    for (bad, status) in [(0, AdumbraStatus::Null), (ODD, AdumbraStatus::Misaligned)] {
        for called in every(|_| vec![Bad::Handles(bad)]) {
            assert_eq!(called.status, status, "{}", called.function);
        }
    }
    for called in every(|_| vec![Bad::Required(0)]) {
        assert_eq!(called.status, AdumbraStatus::Null, "{}", called.function);
    }
}

#[test]
fn free_ignores_invalid_pointers_and_all_functions_are_called() {
    for bad in [0, ODD] {
        call!(adumbra_layout_free(without_provenance_mut(bad)));
        call!(adumbra_closures_free(without_provenance_mut(bad)));
        call!(adumbra_sources_free(without_provenance_mut(bad)));
        call!(adumbra_compiler_free(without_provenance_mut(bad)));
        call!(adumbra_diagnostics_free(without_provenance_mut(bad)));
        call!(adumbra_program_free(without_provenance_mut(bad)));
        call!(adumbra_instance_free(without_provenance_mut(bad)));
        call!(adumbra_evaluator_free(without_provenance_mut(bad)));
        call!(adumbra_parked_point_free(without_provenance_mut(bad)));
        call!(adumbra_batch_globals_free(without_provenance_mut(bad)));
        call!(adumbra_batch_evaluator_free(without_provenance_mut(bad)));
        call!(adumbra_sums_free(without_provenance_mut(bad)));
        call!(adumbra_jump_gradient_free(without_provenance_mut(bad)));
    }
    let constants = [
        "adumbra_version",
        "adumbra_api",
        "adumbra_status_message",
        "adumbra_last_error",
    ];
    let calls = every(|_| vec![Bad::Required(0)]).into_iter();
    let called: Vec<&str> = calls.map(|called| called.function).collect();
    let mut freed = 0;
    let header = header();
    let words = header.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut functions: Vec<&str> = words.filter(|word| word.starts_with("adumbra_")).collect();
    functions.sort_unstable();
    functions.dedup();
    for function in functions {
        // Names in comments that end a family are none.
        if !header.contains(&format!("{function}(")) {
            continue;
        }
        freed += usize::from(function.ends_with("_free"));
        let is_known = called.contains(&function)
            || constants.contains(&function)
            || function.ends_with("_free");
        assert!(is_known, "{function}");
    }
    assert_eq!(freed, 13);
    assert_eq!(text(adumbra_version()), env!("CARGO_PKG_VERSION"));
    assert_eq!(adumbra_api(), ADUMBRA_API);
}

#[test]
fn invalid_sources_are_refused() {
    let compiler = hit_compiler();
    let compiled = |name: *const c_char, text: *const c_char, length| {
        let (mut program, mut diagnostics) = (null_mut(), null_mut());
        let status = call!(adumbra_compile_source(
            compiler,
            name,
            text,
            length,
            &raw mut program,
            &raw mut diagnostics
        ));
        assert_eq!(program.is_null(), status != AdumbraStatus::Ok);
        assert_eq!(diagnostics.is_null(), status != AdumbraStatus::Refused);
        call!(adumbra_program_free(program));
        call!(adumbra_diagnostics_free(diagnostics));
        status
    };
    let name = c"s".as_ptr();
    let nuls = [0_u8; 3];
    let wrong = c"shader s(out float o) { o = \"\xff\xfe\"; }";
    assert_eq!(compiled(name, c"".as_ptr(), 0), AdumbraStatus::Refused);
    assert_eq!(compiled(name, null(), 0), AdumbraStatus::Refused);
    assert_eq!(
        compiled(name, c"".as_ptr(), ADUMBRA_TO_NUL),
        AdumbraStatus::Refused
    );
    assert_eq!(
        compiled(name, nuls.as_ptr().cast(), 3),
        AdumbraStatus::Refused
    );
    assert_eq!(
        compiled(name, wrong.as_ptr(), ADUMBRA_TO_NUL),
        AdumbraStatus::NotUtf8
    );
    assert_eq!(
        compiled(wrong.as_ptr(), c"".as_ptr(), 0),
        AdumbraStatus::NotUtf8
    );
    assert_eq!(compiled(name, null(), 1), AdumbraStatus::Null);
    for length in [usize::MAX - 1, isize::MAX as usize + 1] {
        assert_eq!(compiled(name, c"x".as_ptr(), length), AdumbraStatus::Size);
    }
    let long = " ".repeat(adumbra::sources::MAX_SOURCE_BYTES + 1);
    assert_eq!(
        compiled(name, long.as_ptr().cast(), long.len()),
        AdumbraStatus::Refused
    );
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn invalid_sizes_and_numbers_are_refused() {
    let layout = made!(adumbra_layout_new_hit());
    let mut compiler = null_mut();
    for size in [
        0,
        4,
        size_of::<AdumbraCompilerOptions>() as u32 - 1,
        u32::MAX,
    ] {
        let options = AdumbraCompilerOptions { size, ..sized() };
        let status = call!(adumbra_compiler_new(
            layout,
            &raw const options,
            &raw mut compiler
        ));
        assert_eq!((status, compiler.is_null()), (AdumbraStatus::Size, true));
    }
    for options in [
        AdumbraCompilerOptions {
            derivatives: 7,
            ..sized()
        },
        AdumbraCompilerOptions {
            at_divergence: 2,
            ..sized()
        },
        AdumbraCompilerOptions {
            output_derivatives: 2,
            ..sized()
        },
        AdumbraCompilerOptions {
            merge_demand: u32::MAX,
            ..sized()
        },
    ] {
        let status = call!(adumbra_compiler_new(
            layout,
            &raw const options,
            &raw mut compiler
        ));
        assert_eq!(status, AdumbraStatus::InvalidValue);
    }
    let add = |name: &CStr, ty| call!(adumbra_layout_add(layout, name.as_ptr(), ty));
    assert_eq!(add(c"uvw", 3), AdumbraStatus::Duplicate);
    assert_eq!(
        add(c"k", AdumbraType::Closure as u32),
        AdumbraStatus::WrongType
    );
    assert_eq!(add(c"k", 15), AdumbraStatus::InvalidValue);
    let shadowless = call!(adumbra_layout_shadowless(layout, c"gone".as_ptr()));
    assert_eq!(shadowless, AdumbraStatus::UnknownName);
    call!(adumbra_layout_free(layout));

    let instance = instance("shader s(float x, out float o) { o = x; }");
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let globals = hit(0);
    let evaluate = |start: *const c_void, bytes| {
        call!(adumbra_evaluator_evaluate(
            evaluator,
            start,
            bytes,
            null(),
            null_mut()
        ))
    };
    let start = globals.as_ptr().cast::<c_void>();
    assert_eq!(evaluate(start, 216), AdumbraStatus::Ok);
    assert_eq!(
        [0, 212, 215, 217, 220].map(|bytes| evaluate(start, bytes)),
        [AdumbraStatus::WrongGlobals; 5]
    );
    assert_eq!(evaluate(start, usize::MAX - 3), AdumbraStatus::Size);
    assert_eq!(
        evaluate(start.wrapping_byte_add(1), 216),
        AdumbraStatus::Misaligned
    );
    assert_eq!(evaluate(null(), 216), AdumbraStatus::Null);
    let mut words = [0_u32; 4];
    let mut read = |part, first, count| {
        call!(adumbra_evaluator_read(
            evaluator,
            part,
            first,
            count,
            words.as_mut_ptr().cast()
        ))
    };
    assert_eq!(read(0, 0, 1), AdumbraStatus::Ok);
    assert_eq!(read(0, 1, 0), AdumbraStatus::Ok);
    assert_eq!(
        [read(0, 0, 2), read(0, 1, 1), read(2, usize::MAX, 4)],
        [AdumbraStatus::Index; 3]
    );
    assert_eq!(read(3, 0, 1), AdumbraStatus::InvalidValue);
    assert_eq!(read(0, 0, usize::MAX), AdumbraStatus::Size);
    let many = call!(adumbra_instance_set(
        instance,
        c"x".as_ptr(),
        3,
        start,
        usize::MAX / 4
    ));
    assert_eq!(many, AdumbraStatus::Size);

    let limits = AdumbraLimits { size: 8, ..sized() };
    for options in [
        AdumbraEvaluatorOptions {
            engine: 5,
            ..sized()
        },
        AdumbraEvaluatorOptions {
            limits: &raw const limits,
            ..sized()
        },
        AdumbraEvaluatorOptions {
            limits: without_provenance_mut(ODD),
            ..sized()
        },
    ] {
        let mut other = null_mut();
        let status = call!(adumbra_evaluator_new(
            instance,
            &raw const options,
            &raw mut other
        ));
        let expected = [
            AdumbraStatus::InvalidValue,
            AdumbraStatus::Size,
            AdumbraStatus::Misaligned,
        ];
        assert!(expected.contains(&status) && other.is_null());
    }
    let mut available = 7;
    let unknown = call!(adumbra_tier_is_available(3, &raw mut available));
    assert_eq!((unknown, available), (AdumbraStatus::InvalidValue, 7));
    ok!(adumbra_tier_is_available(0, &raw mut available));
    assert_eq!(available, 1);
    let host = AdumbraHost {
        size: 16,
        ..sized()
    };
    let status = call!(adumbra_evaluator_evaluate(
        evaluator,
        start,
        216,
        &raw const host,
        null_mut()
    ));
    assert_eq!(status, AdumbraStatus::Size);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}
