//! Errors name the argument that is wrong, as the header names it.

use crate::common::{compile, header, hit, hit_compiler, sized, text};
use crate::every::{Bad, SHADER, every};
use adumbra_capi::*;
use std::ffi::c_char;
use std::ptr::{null, null_mut};

/// The parameters of a function, as the header declares it: names, and whether they are pointers.
fn parameters<'h>(header: &'h str, function: &str) -> Vec<(&'h str, bool)> {
    let start = header.find(&format!(" {function}(")).expect(function);
    let list = header[start..].split(['(', ')']).nth(1).unwrap();
    let parameters = list.split(',').map(|parameter| {
        let name = parameter.trim().rsplit([' ', '*']).next().unwrap();
        (name, parameter.contains('*'))
    });
    parameters.collect()
}

#[test]
fn each_null_pointer_is_named() {
    let header = header();
    let calls = every(|kinds| {
        let is_pointer = |at: &usize| !["n", "c", "b"].contains(&kinds[*at]);
        (0..kinds.len())
            .filter(is_pointer)
            .map(Bad::NullAt)
            .collect()
    });
    for called in &calls {
        let Bad::NullAt(at) = called.bad else {
            unreachable!("all of them are");
        };
        let parameters = parameters(&header, called.function);
        let are_pointers = parameters.iter().map(|&(_, is_pointer)| is_pointer);
        let kinds = called
            .kinds
            .iter()
            .map(|kind| !["n", "c", "b"].contains(kind));
        assert!(are_pointers.eq(kinds), "{}", called.function);
        let (name, _) = parameters[at];
        if called.kinds[at] == "o" {
            assert_ne!(
                called.status,
                AdumbraStatus::Null,
                "{} {name}",
                called.function
            );
        } else {
            assert_eq!(
                called.status,
                AdumbraStatus::Null,
                "{} {name}",
                called.function
            );
            assert_eq!(
                called.message,
                format!("`{name}` is NULL"),
                "{}",
                called.function
            );
        }
    }
    assert!(calls.len() > 150, "{}", calls.len());
}

#[test]
fn wrong_element_field_and_plane_are_named() {
    fn last() -> &'static str {
        text(adumbra_last_error())
    }
    let layout = made!(adumbra_layout_new_hit());
    let member = |name: *const c_char| AdumbraMember {
        name,
        r#type: AdumbraType::Float3 as u32,
        offset: 0,
    };
    let members = [member(c"uvw".as_ptr()), member(null())];
    call!(adumbra_layout_check(
        layout,
        members.as_ptr(),
        2,
        216,
        null_mut()
    ));
    assert_eq!(last(), "`members[1].name` is NULL");
    let members = [AdumbraMember {
        r#type: 99,
        ..member(c"uvw".as_ptr())
    }];
    call!(adumbra_layout_check(
        layout,
        members.as_ptr(),
        1,
        216,
        null_mut()
    ));
    assert_eq!(last(), "`members[0].type` is 99, which is no type");
    call!(adumbra_layout_add(layout, c"uvw".as_ptr(), 3));
    assert!(last().starts_with("`name` does not fit: "), "{}", last());

    let program = compile(hit_compiler(), SHADER);
    let instance = made!(adumbra_instance_new(program));
    let (limits, mut evaluator) = (AdumbraLimits { size: 8, ..sized() }, null_mut());
    let options = AdumbraEvaluatorOptions {
        limits: &raw const limits,
        ..sized()
    };
    call!(adumbra_evaluator_new(
        instance,
        &raw const options,
        &raw mut evaluator
    ));
    let needed = size_of::<AdumbraLimits>();
    let said = format!("`options->limits` has a size of 8, which is not from {needed} to 4096");
    assert_eq!(last(), said);
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let point = hit(0);
    let start = point.as_ptr().cast();
    call!(adumbra_evaluator_evaluate(
        evaluator,
        start,
        12,
        null(),
        null_mut()
    ));
    assert_eq!(last(), "`bytes` is 12, and the program's globals have 216");
    call!(adumbra_instance_set(instance, c"y".as_ptr(), 3, start, 1));
    assert_eq!(
        last(),
        "`path` is `y`, and there is no parameter of that name"
    );

    let names = [c"uvw".as_ptr(), c"vvw".as_ptr()];
    let options = AdumbraBatchOptions {
        uniform: names.as_ptr(),
        uniform_count: 2,
        ..sized()
    };
    let mut none = null_mut();
    call!(adumbra_batch_evaluator_new(
        instance,
        &raw const options,
        &raw mut none
    ));
    let said = "`options->uniform[1]` is `vvw`, and there is no global of that name";
    assert_eq!(last(), said);
    let batch = made!(adumbra_batch_evaluator_new(instance, null()));
    let globals = made!(adumbra_batch_globals_new(program));
    let plane = [0.5_f32; 9];
    let (name, ddx) = (c"normal".as_ptr(), AdumbraPart::Ddx as u32);
    ok!(adumbra_batch_globals_plane(
        globals,
        name,
        ddx,
        2,
        plane.as_ptr().cast(),
        9,
        1
    ));
    ok!(adumbra_batch_evaluator_evaluate(
        batch,
        globals,
        0,
        9,
        null(),
        null()
    ));
    let long = call!(adumbra_batch_evaluator_evaluate(
        batch,
        globals,
        0,
        10,
        null(),
        null()
    ));
    assert_eq!(long, AdumbraStatus::Size);
    let said =
        "`globals` has a plane that is too short for 10 points: scalar 2 of the ddx of `normal`";
    assert_eq!(last(), said);
    call!(adumbra_batch_evaluator_answer(
        batch,
        9,
        [0.0; 4].as_ptr(),
        null(),
        null(),
        null_mut()
    ));
    let said = "`point` is 9, and the number of points of the last evaluation is 9";
    assert_eq!(last(), said);
    call!(adumbra_batch_evaluator_free(batch));
    call!(adumbra_batch_globals_free(globals));
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_layout_free(layout));
}
