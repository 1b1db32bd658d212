//! Buffers through the C interface: their lists, their numbers, and gradients by them.

use crate::common::{compile, evaluate, hit, hit_compiler, report, sized, text};
use crate::gradient::{described, gradient, names, rust_described, rust_program};
use adumbra::gradient::GradientRequest;
use adumbra::program::{MAX_BUFFER_NUMBERS, MAX_SUM_NUMBERS};
use adumbra_capi::*;
use std::ffi::{CStr, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut};

/// Buffers of each kind of numbers, one of which has no floats and one of which no gradient.
pub(crate) const SHADER: &str = "buffer<float> w;
    buffer<float2> table;
    buffer<int> order;
    buffer<float> steps;
    shader s(float gain = 1.0, out float o) {
        float x = global_value<position>.x;
        o = gain * w[order[0]] * x + w[1] * exp(w[2] * x) + table[1].y * x * 1e-6 + (int)steps[0];
        for (int i = 0; i < table.length(); i++) { o += table[i].x; }
    }";

pub(crate) const WEIGHTS: [f32; 3] = [0.5, -0.25, 2.0];
pub(crate) const TABLE: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

pub(crate) fn set(
    instance: *mut AdumbraInstance,
    name: &CStr,
    scalar: AdumbraType,
    numbers: &[f32],
) -> AdumbraStatus {
    let values = numbers.as_ptr().cast();
    call!(adumbra_instance_set_buffer(
        instance,
        name.as_ptr(),
        scalar as u32,
        values,
        numbers.len()
    ))
}

/// An instance whose buffers have numbers.
pub(crate) fn filled(program: *const AdumbraProgram) -> *mut AdumbraInstance {
    let instance = made!(adumbra_instance_new(program));
    for (name, numbers) in [(c"w", &WEIGHTS[..]), (c"table", &TABLE)] {
        let status = set(instance, name, AdumbraType::Float, numbers);
        assert_eq!(status, AdumbraStatus::Ok);
    }
    let order = [2_i32, 0];
    ok!(adumbra_instance_set_buffer(
        instance,
        c"order".as_ptr(),
        AdumbraType::Int as u32,
        order.as_ptr().cast(),
        2
    ));
    instance
}

/// The output of an instance at the first point of the tests.
fn output(instance: *const AdumbraInstance) -> f32 {
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let value = output_of(evaluator, &hit(0));
    call!(adumbra_evaluator_free(evaluator));
    value
}

pub(crate) fn output_of(evaluator: *mut AdumbraEvaluator, globals: &[f32]) -> f32 {
    evaluate(evaluator, globals, null());
    let mut o = f32::NAN;
    ok!(adumbra_evaluator_read(
        evaluator,
        0,
        0,
        1,
        (&raw mut o).cast()
    ));
    o
}

#[test]
fn buffers_are_a_list() {
    let program = compile(hit_compiler(), SHADER);
    let list = AdumbraList::Buffers as u32;
    let mut count = 0;
    ok!(adumbra_program_count(program, list, &raw mut count));
    let shown = |v: &AdumbraVariable| {
        let named = (text(v.name), text(v.type_name));
        (named, v.r#type, v.first, v.scalars)
    };
    let all: Vec<_> = (0..count)
        .map(|index| {
            let mut variable: AdumbraVariable = sized();
            let to = &raw mut variable;
            ok!(adumbra_program_variable(program, list, index, to));
            let mut found: AdumbraVariable = sized();
            let to = &raw mut found;
            ok!(adumbra_program_find(program, list, variable.name, to));
            assert_eq!(shown(&found), shown(&variable));
            shown(&variable)
        })
        .collect();
    let rust = rust_program(SHADER);
    assert!(
        rust.buffers()
            .map(|b| &*b.name)
            .eq(all.iter().map(|b| b.0.0))
    );
    for expected in [
        (("w", "float"), 3, 0, 1),
        (("table", "float2"), 4, 0, 2),
        (("order", "int"), 1, 0, 1),
    ] {
        assert!(all.contains(&expected), "{all:?}");
    }
    let mut none: AdumbraVariable = sized();
    let to = &raw mut none;
    let beyond = call!(adumbra_program_variable(program, list, count, to));
    assert_eq!(beyond, AdumbraStatus::Index);
    let unknown = call!(adumbra_program_find(program, list, c"tabel".as_ptr(), to));
    assert_eq!(unknown, AdumbraStatus::UnknownName);
    let said = "`path` is `tabel`, and there is no buffer of that name";
    assert_eq!(text(adumbra_last_error()), said);
    let mut near = [0_u8; 6];
    ok!(adumbra_program_closest(
        program,
        list,
        c"tabel".as_ptr(),
        near.as_mut_ptr().cast(),
        6,
        null_mut()
    ));
    assert_eq!(&near, b"table\0");
    call!(adumbra_program_free(program));
}

#[test]
fn numbers_are_copied_and_evaluators_keep_theirs() {
    let shader = "buffer<float> w; shader s(out float o) {
        o = 0; for (int i = 0; i < w.length(); i++) { o += w[i]; } }";
    let program = compile(hit_compiler(), shader);
    let instance = made!(adumbra_instance_new(program));
    assert_eq!(output(instance), 0.0);
    let mut host = [1.0_f32, 2.0, 4.0];
    let (float, ok) = (AdumbraType::Float, AdumbraStatus::Ok);
    assert_eq!(set(instance, c"w", float, &host), ok);
    host.fill(f32::NAN);
    assert_eq!(output(instance), 7.0);
    let before = made!(adumbra_evaluator_new(instance, null()));
    assert_eq!(set(instance, c"w", float, &[0.5, 0.25]), ok);
    assert_eq!((output_of(before, &hit(0)), output(instance)), (7.0, 0.75));
    call!(adumbra_evaluator_free(before));
    ok!(adumbra_instance_set_buffer(
        instance,
        c"w".as_ptr(),
        float as u32,
        null(),
        0
    ));
    assert_eq!(output(instance), 0.0);
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
}

#[test]
fn invalid_numbers_of_buffers_are_refused() {
    let program = compile(hit_compiler(), SHADER);
    let (status, summed, _) = gradient(
        program,
        &AdumbraGradientRequest {
            all_buffers: 1,
            ..sized()
        },
    );
    assert_eq!(status, AdumbraStatus::Ok);
    let instance = filled(program);
    let of_gradient = filled(summed);
    let (bool, int, uint, float) = (0, 1, 2, 3);
    // Memory that is not touched.
    let many = vec![0_u32; MAX_BUFFER_NUMBERS + 1];
    let expected = output(instance);
    let refused = |instance, name: &CStr, scalar, count, status, said: &str| {
        let values = many.as_ptr().cast::<c_void>();
        let found = call!(adumbra_instance_set_buffer(
            instance,
            name.as_ptr(),
            scalar,
            values,
            count
        ));
        assert_eq!((found, text(adumbra_last_error())), (status, said));
    };
    use AdumbraStatus::{InvalidValue, NotUtf8, Size, UnknownName, WrongType};
    let unknown = "`name` is `wood`, and there is no buffer of that name";
    refused(instance, c"wood", float, 1, UnknownName, unknown);
    // Neither parameters nor sums are buffers of the host.
    let unknown = "`name` is `gain`, and there is no buffer of that name";
    refused(instance, c"gain", float, 1, UnknownName, unknown);
    let unknown = "`name` is `d(w)`, and there is no buffer of that name";
    refused(of_gradient, c"d(w)", float, 3, UnknownName, unknown);
    let said = "`name` is not UTF-8 at byte 1";
    refused(instance, c"w\xff", float, 1, NotUtf8, said);
    let said = "`scalar` is 1, and a `buffer<float2>` has none of that type";
    refused(instance, c"table", int, 2, WrongType, said);
    let said = "`scalar` is 3, and a `buffer<int>` has none of that type";
    refused(instance, c"order", float, 2, WrongType, said);
    for scalar in [bool, uint] {
        let said = format!("`scalar` is {scalar}, and a `buffer<float>` has none of that type");
        refused(instance, c"w", scalar, 1, WrongType, &said);
    }
    let said = "`scalar` is 4, which is no type of scalars";
    refused(instance, c"table", 4, 2, WrongType, said);
    let said = "`scalar` is 15, which is not from 0 to 3";
    refused(instance, c"w", 15, 1, InvalidValue, said);
    let said = "`count` is 3, and an element of `float2` has 2 scalars";
    refused(instance, c"table", float, 3, Size, said);
    let most = MAX_BUFFER_NUMBERS;
    let said = format!(
        "`count` is {}, and the buffer can have {most} scalars",
        most + 1
    );
    refused(instance, c"w", float, most + 1, Size, &said);
    let most = MAX_SUM_NUMBERS;
    let said = format!(
        "`count` is {}, and the buffer can have {most} scalars",
        most + 1
    );
    refused(of_gradient, c"w", float, most + 1, Size, &said);
    assert_eq!(output(instance), expected, "nothing was done");
    call!(adumbra_instance_free(instance));
    call!(adumbra_instance_free(of_gradient));
    call!(adumbra_program_free(summed));
    call!(adumbra_program_free(program));
}

#[test]
fn gradients_by_buffers_are_what_facade_says() {
    let program = compile(hit_compiler(), SHADER);
    let rust = rust_program(SHADER);
    let (inputs, buffers) = (names(&[c"gain"]), names(&[c"w", c"steps"]));
    let zero: AdumbraGradientRequest = sized();
    let named = AdumbraGradientRequest {
        inputs: inputs.as_ptr(),
        input_count: 1,
        buffers: buffers.as_ptr(),
        buffer_count: 2,
        ..zero
    };
    let all = AdumbraGradientRequest {
        all_buffers: 1,
        ..zero
    };
    let forward = AdumbraGradientRequest {
        mode: AdumbraGradientMode::Forward as u32,
        ..all
    };
    // An older host has a struct without buffers, and other memory after it.
    let older = AdumbraGradientRequest {
        size: offset_of!(AdumbraGradientRequest, buffers) as u32,
        all_globals: 1,
        buffer_count: 9,
        all_buffers: 7,
        ..zero
    };
    let new = GradientRequest::new;
    for (asked, asked_in_rust) in [
        (
            named,
            new().by_input("gain").by_buffer("w").by_buffer("steps"),
        ),
        (all, new().by_buffers()),
        (forward, new().forward().by_buffers()),
        (older, new().by_globals()),
    ] {
        let (status, made, _) = gradient(program, &asked);
        assert_eq!(status, AdumbraStatus::Ok);
        let facade = rust.gradient(&asked_in_rust).expect("it is one");
        assert_eq!(described(made), rust_described(&facade));
        call!(adumbra_program_free(made));
    }

    // Where the derivatives are: backward at the buffer itself, forward in a buffer of the host.
    let by = |request: &AdumbraGradientRequest, name: &str| {
        let (_, made, _) = gradient(program, request);
        let mut value: AdumbraDifferentiated = sized();
        let mut index = 0;
        while value.name.is_null() || text(value.name) != name {
            ok!(adumbra_program_differentiated(made, index, &raw mut value));
            index += 1;
        }
        let mut derivative: AdumbraVariable = sized();
        let (list, index) = (value.derivative_list, value.derivative_index);
        assert_eq!((value.list, list), (6, 6));
        let to = &raw mut derivative;
        ok!(adumbra_program_variable(made, list, index, to));
        let name = text(derivative.name).to_owned();
        let found = (name, value.derivative_count, value.is_zero);
        call!(adumbra_program_free(made));
        found
    };
    assert_eq!(by(&named, "w"), ("w".to_owned(), 0, 0));
    assert_eq!(by(&all, "table"), ("table".to_owned(), 0, 0));
    assert_eq!(by(&named, "steps"), ("steps".to_owned(), 0, 1));
    assert_eq!(by(&forward, "table"), ("d(table)".to_owned(), 1, 0));
    call!(adumbra_program_free(program));
}

#[test]
fn refused_requests_by_buffers_are_reported_by_name() {
    let program = compile(hit_compiler(), SHADER);
    for (name, said) in [
        (c"tabel", "there is no buffer `tabel`"),
        (c"order", "the buffer `order` is of type `int`"),
    ] {
        let buffers = names(&[name]);
        let request = AdumbraGradientRequest {
            buffers: buffers.as_ptr(),
            buffer_count: 1,
            ..sized()
        };
        let (status, _, found) = gradient(program, &request);
        assert_eq!(status, AdumbraStatus::Refused);
        let reported = report(found);
        assert!(reported.contains(said), "{reported}");
        call!(adumbra_diagnostics_free(found));
    }
    let with_null = [c"w".as_ptr(), null()];
    let zero: AdumbraGradientRequest = sized();
    for (request, status, said) in [
        (
            AdumbraGradientRequest {
                buffer_count: 1,
                ..zero
            },
            AdumbraStatus::Null,
            "`request->buffers` is NULL",
        ),
        (
            AdumbraGradientRequest {
                buffers: with_null.as_ptr(),
                buffer_count: 2,
                ..zero
            },
            AdumbraStatus::Null,
            "`request->buffers[1]` is NULL",
        ),
        (
            AdumbraGradientRequest {
                all_buffers: 2,
                ..zero
            },
            AdumbraStatus::InvalidValue,
            "`request->all_buffers` is 2, which is not from 0 to 1",
        ),
    ] {
        let (found, ..) = gradient(program, &request);
        assert_eq!((found, text(adumbra_last_error())), (status, said));
    }
    call!(adumbra_program_free(program));
}
