//! Names, types and offsets of a host's struct against the globals, and suggestions for unknown
//! names.

use crate::common::{compile, hit_compiler, report, text, written};
use adumbra_capi::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

/// A layout of a float2 and a float.
fn layout() -> *mut AdumbraLayout {
    let layout = made!(adumbra_layout_new());
    let (float2, float) = (AdumbraType::Float2 as u32, AdumbraType::Float as u32);
    ok!(adumbra_layout_add(layout, c"uv".as_ptr(), float2));
    ok!(adumbra_layout_add(layout, c"time".as_ptr(), float));
    layout
}

fn member(name: &'static CStr, ty: AdumbraType, offset: usize) -> AdumbraMember {
    AdumbraMember {
        name: name.as_ptr(),
        r#type: ty as u32,
        offset,
    }
}

/// The status of a comparison, and its report.
fn checked(
    layout: *const AdumbraLayout,
    members: &[AdumbraMember],
    bytes: usize,
) -> (AdumbraStatus, String) {
    let mut diagnostics = null_mut();
    let (start, count) = (members.as_ptr(), members.len());
    let status = call!(adumbra_layout_check(
        layout,
        start,
        count,
        bytes,
        &raw mut diagnostics
    ));
    // A host that does not want to know gets the same status.
    let unasked = call!(adumbra_layout_check(
        layout,
        start,
        count,
        bytes,
        null_mut()
    ));
    assert_eq!(unasked, status);
    if diagnostics.is_null() {
        return (status, String::new());
    }
    let said = report(diagnostics);
    call!(adumbra_diagnostics_free(diagnostics));
    (status, said)
}

#[test]
fn struct_mismatch_is_refused_with_reasons() {
    let layout = layout();
    let uv = member(c"uv", AdumbraType::Float2, 0);
    let time = member(c"time", AdumbraType::Float, 24);
    let fits = checked(layout, &[uv, time], 36);
    assert_eq!(fits, (AdumbraStatus::Ok, String::new()));

    let wrong: [(&[AdumbraMember], usize, &[&str]); 6] = [
        (
            &[uv, member(c"tiem", AdumbraType::Float, 24)],
            36,
            &["there is no global `tiem`", "did you mean `time`?"],
        ),
        (&[uv, time, uv], 36, &["`uv` is there twice"]),
        (
            &[uv, member(c"time", AdumbraType::Int, 24)],
            36,
            &["`time` is of type `float`, not `int`"],
        ),
        (
            &[uv, member(c"time", AdumbraType::Float, 32)],
            44,
            &["`time` is at byte 24, not 32", "44 bytes"],
        ),
        (
            &[uv],
            24,
            &["the struct lacks `time`", "`float time` at byte 24"],
        ),
        (&[], 0, &["the struct lacks `uv`, `time`"]),
    ];
    for (members, bytes, expected) in wrong {
        let (status, said) = checked(layout, members, bytes);
        assert_eq!(status, AdumbraStatus::WrongGlobals);
        for expected in expected {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }

    let null_name = AdumbraMember { name: null(), ..uv };
    let no_type = AdumbraMember { r#type: 15, ..uv };
    let no_global = member(c"uv", AdumbraType::Struct, 0);
    for (member, expected) in [
        (null_name, AdumbraStatus::Null),
        (no_type, AdumbraStatus::InvalidValue),
        (no_global, AdumbraStatus::WrongType),
    ] {
        assert_eq!(
            checked(layout, &[member], 24),
            (expected, String::new()),
            "{expected:?}"
        );
    }
    call!(adumbra_layout_free(layout));
}

#[test]
fn program_layout_equals_compiler_layout() {
    let compiler = hit_compiler();
    let program = compile(compiler, "shader s(out float o) { o = 1.0; }");
    let layout = made!(adumbra_program_layout(program));
    let mut bytes = 0;
    ok!(adumbra_layout_bytes(layout, &raw mut bytes));
    assert_eq!(bytes, 216);
    let again = made!(adumbra_compiler_new(layout, null()));
    let other = compile(
        again,
        "shader s(out float3 o) { o = global_value<tangent>; }",
    );
    call!(adumbra_program_free(other));
    call!(adumbra_compiler_free(again));
    call!(adumbra_layout_free(layout));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn unknown_names_have_suggestions() {
    let compiler = hit_compiler();
    let shader = "struct ray { float3 origin; };
        texture2d wood;
        shader s(float scale, ray from, out ray to, out closure surface) {
            to.origin = scale * from.origin + texture2d_sample<wood>(scale, 0.5);
            surface = make_closure<glossy>(global_value<normal>);
        }";
    let program = compile(compiler, shader);
    let closest = |list: AdumbraList, path: &CStr| {
        let mut needed = 0;
        let (list, path) = (list as u32, path.as_ptr());
        let status = call!(adumbra_program_closest(
            program,
            list,
            path,
            null_mut(),
            0,
            &raw mut needed
        ));
        match status {
            AdumbraStatus::UnknownName => None,
            _ => Some(written(|to, capacity, needed| {
                call!(adumbra_program_closest(
                    program, list, path, to, capacity, needed
                ))
            })),
        }
    };
    for (list, path, expected) in [
        (AdumbraList::Parameters, c"sclae", Some("scale")),
        (AdumbraList::Parameters, c"scale", Some("scale")),
        (AdumbraList::Parameters, c"from.orgin", Some("from.origin")),
        (AdumbraList::Outputs, c"to.orgin", Some("to.origin")),
        (AdumbraList::Outputs, c"surfce", Some("surface")),
        (AdumbraList::Globals, c"nomral", Some("normal")),
        (AdumbraList::Textures, c"wod", Some("wood")),
        (AdumbraList::Closures, c"glosy", Some("glossy")),
        (AdumbraList::Closures, c"wood", None),
        (AdumbraList::Resources, c"wood", None),
        (AdumbraList::Parameters, c"", None),
    ] {
        let found = closest(list, path);
        assert_eq!(found.as_deref(), expected, "{list:?} {path:?}");
    }
    let no_list = call!(adumbra_program_closest(
        program,
        7,
        c"x".as_ptr(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(no_list, AdumbraStatus::InvalidValue);
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));

    let layout = layout();
    let near = written(|to, capacity, needed| {
        let name = c"tme".as_ptr();
        call!(adumbra_layout_closest(layout, name, to, capacity, needed))
    });
    assert_eq!(near, "time");
    let none = call!(adumbra_layout_closest(
        layout,
        c"colour".as_ptr(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(none, AdumbraStatus::UnknownName);
    call!(adumbra_layout_free(layout));
    assert_eq!(
        text(adumbra_status_message(6)),
        "there is nothing of that name"
    );
}
