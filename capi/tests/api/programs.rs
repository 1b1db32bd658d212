//! Programs: their interface, diagnostics of sources, includes, files.

use crate::common::{
    compile, evaluate, hit, hit_compiler, report, rust_compiler, sized, text, words, written,
};
use crate::points::NOISY;
use adumbra::Sources;
use adumbra_capi::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

#[test]
fn program_lists_its_interface() {
    let shader = "texture2d wood; shader_resource table;
        struct lamp { float3 at; bool on; };
        shader s(lamp l, float w[3], out closure surface, out lamp next) {
            next.at = l.at + texture2d_sample<wood>(w[0], global_value<uvw>.x);
            surface = make_closure<glow>(w[1], table, make_closure<diffuse>());
        }";
    let compiler = hit_compiler();
    let program = compile(compiler, shader);
    let count = |list: AdumbraList| {
        let mut count = 99;
        ok!(adumbra_program_count(program, list as u32, &raw mut count));
        count
    };
    use AdumbraList::{Closures, Globals, Outputs, Parameters, Resources, Textures};
    let counts = [Outputs, Parameters, Globals, Textures, Closures, Resources].map(count);
    assert_eq!(counts, [2, 2, 6, 1, 2, 1]);

    let at = |list: AdumbraList, index| {
        let mut variable: AdumbraVariable = sized();
        ok!(adumbra_program_variable(
            program,
            list as u32,
            index,
            &raw mut variable
        ));
        variable
    };
    let shown = |v: AdumbraVariable| (text(v.name), text(v.type_name), v.first, v.scalars);
    assert_eq!(shown(at(Outputs, 0)), ("surface", "closure", 0, 1));
    assert_eq!(shown(at(Outputs, 1)), ("next", "lamp", 1, 4));
    assert_eq!(shown(at(Parameters, 1)), ("w", "float[3]", 4, 3));
    assert_eq!(shown(at(Globals, 1)), ("position", "float3", 3, 3));
    assert_eq!([0, 1].map(|i| at(Globals, i).is_read), [1, 0]);
    assert_eq!(text(at(Textures, 0).name), "wood");
    assert_eq!(text(at(Resources, 0).name), "table");
    let glow = (0..2)
        .find(|&i| text(at(Closures, i).name) == "glow")
        .unwrap();
    assert_eq!(at(Closures, glow).scalars, 3);
    let mut argument: AdumbraVariable = sized();
    ok!(adumbra_program_closure_parameter(
        program,
        glow,
        1,
        &raw mut argument
    ));
    assert_eq!(shown(argument), ("", "shader_resource", 1, 1));
    let beyond = call!(adumbra_program_closure_parameter(
        program,
        glow,
        3,
        &raw mut argument
    ));
    assert_eq!(beyond, AdumbraStatus::Index);

    let mut found: AdumbraVariable = sized();
    let mut find = |list: AdumbraList, path: &std::ffi::CStr| {
        let status = call!(adumbra_program_find(
            program,
            list as u32,
            path.as_ptr(),
            &raw mut found
        ));
        (status == AdumbraStatus::Ok)
            .then(|| shown(found))
            .ok_or(status)
    };
    assert_eq!(find(Outputs, c"next.on"), Ok(("next", "bool", 4, 1)));
    assert_eq!(find(Parameters, c"l.at"), Ok(("l", "float3", 0, 3)));
    assert_eq!(find(Globals, c"normal"), Ok(("normal", "float3", 6, 3)));
    assert_eq!(find(Textures, c"wood"), Ok(("wood", "texture2d", 0, 0)));
    for (list, path) in [
        (Outputs, c"next.off"),
        (Globals, c"uvw.x"),
        (Parameters, c""),
        (Textures, c"wood.x"),
    ] {
        assert_eq!(find(list, path), Err(AdumbraStatus::UnknownName));
    }

    let json =
        written(|to, capacity, needed| call!(adumbra_program_json(program, to, capacity, needed)));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["inputs"][1]["type"], "float[3]");
    assert_eq!(json["textures"][0]["name"], "wood");

    let mut stats: AdumbraStats = sized();
    ok!(adumbra_program_stats(program, &raw mut stats));
    assert!(stats.bytecode_ops > 5 && stats.registers > 0 && stats.compile_microseconds > 0.0);
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn diagnostics_are_data_and_reports() {
    let compiler = hit_compiler();
    let shader = "shader s(out float o) {\n  o = hlaf(1.0);\n  o = nothing;\n}";
    let (mut program, mut diagnostics) = (null_mut(), null_mut());
    let status = call!(adumbra_compile_source(
        compiler,
        c"wrong.adu".as_ptr(),
        shader.as_ptr().cast(),
        shader.len(),
        &raw mut program,
        &raw mut diagnostics
    ));
    assert_eq!((status, program.is_null()), (AdumbraStatus::Refused, true));
    let sources = Sources::new("wrong.adu", shader);
    let expected = rust_compiler().compile(&sources).unwrap_err();
    let mut count = 0;
    ok!(adumbra_diagnostics_count(diagnostics, &raw mut count));
    assert_eq!(count, expected.diagnostics.len());
    assert!(count >= 2);
    for (index, expected) in expected.diagnostics.iter().enumerate() {
        let mut diagnostic: AdumbraDiagnostic = sized();
        ok!(adumbra_diagnostics_get(
            diagnostics,
            index,
            &raw mut diagnostic
        ));
        assert_eq!(text(diagnostic.code), expected.code.to_string());
        assert_eq!(text(diagnostic.message), expected.message);
        assert_eq!(text(diagnostic.file), "wrong.adu");
        assert_eq!(
            (diagnostic.start, diagnostic.end),
            (expected.span.start, expected.span.end)
        );
        assert_eq!(
            (diagnostic.severity, diagnostic.line),
            (AdumbraSeverity::Error as u32, 2 + index as u32)
        );
    }
    let mut diagnostic: AdumbraDiagnostic = sized();
    let beyond = call!(adumbra_diagnostics_get(
        diagnostics,
        count,
        &raw mut diagnostic
    ));
    assert_eq!(beyond, AdumbraStatus::Index);
    let say = |format: AdumbraFormat| {
        written(|to, capacity, needed| {
            call!(adumbra_diagnostics_render(
                diagnostics,
                format as u32,
                to,
                capacity,
                needed
            ))
        })
    };
    assert_eq!(say(AdumbraFormat::Text), expected.to_string());
    let json: serde_json::Value = serde_json::from_str(&say(AdumbraFormat::Json)).unwrap();
    assert_eq!(json[0]["span"]["column"], 7);
    call!(adumbra_diagnostics_free(diagnostics));

    // A warning comes beside a program; no diagnostics is NULL.
    let layout = made!(adumbra_layout_new_hit());
    ok!(adumbra_layout_add(
        layout,
        c"time".as_ptr(),
        AdumbraType::Float as u32
    ));
    ok!(adumbra_layout_shadowless(layout, c"time".as_ptr()));
    let timed = made!(adumbra_compiler_new(layout, null()));
    for (shader, warnings) in [("ddx(global_value<time>)", 1), ("global_value<time>", 0)] {
        let shader = format!("shader s(out float o) {{ o = {shader}; }}");
        let (name, length) = (c"time.adu".as_ptr(), shader.len());
        let program = made!(adumbra_compile_source(timed, name, shader.as_ptr().cast(), length; &raw mut diagnostics));
        assert_eq!(diagnostics.is_null(), warnings == 0);
        call!(adumbra_diagnostics_free(diagnostics));
        call!(adumbra_program_free(program));
    }
    call!(adumbra_compiler_free(timed));
    call!(adumbra_layout_free(layout));
    call!(adumbra_compiler_free(compiler));
}

/// A library of two sources, one of which is missing.
unsafe extern "C" fn load(
    user: *mut c_void,
    name: *const c_char,
    from: *const c_char,
    reply: *mut AdumbraReply,
) -> u32 {
    assert!(from.is_null());
    // SAFETY: the test counts with it.
    unsafe { *user.cast::<u32>() += 1 };
    let known = text(name) == "lib/half.adu";
    let says = match known {
        true => "float half(float x) { return 0.5 * x; }",
        false => "the library is closed",
    };
    ok!(adumbra_reply(reply, says.as_ptr().cast(), says.len()));
    u32::from(!known)
}

unsafe extern "C" fn resolve(
    _: *mut c_void,
    name: *const c_char,
    from: *const c_char,
    reply: *mut AdumbraReply,
) -> u32 {
    assert_eq!(text(from), "main.adu");
    let full = std::ffi::CString::new(format!("lib/{}", text(name))).unwrap();
    ok!(adumbra_reply(reply, full.as_ptr(), ADUMBRA_TO_NUL));
    0
}

#[test]
fn source_count_is_bounded() {
    let empty = c"".as_ptr();
    let sources = made!(adumbra_sources_new(empty, empty, 0));
    for _ in 1..adumbra::sources::MAX_SOURCE_COUNT {
        ok!(adumbra_sources_add(sources, empty, empty, 0));
    }
    // SAFETY: the handle and the strings live.
    let more = unsafe { adumbra_sources_add(sources, empty, empty, 0) };
    assert_eq!(more, AdumbraStatus::Size);
    call!(adumbra_sources_free(sources));
}

#[test]
fn includes_are_loaded_by_host() {
    let compiler = hit_compiler();
    let mut loads = 0_u32;
    let loader = AdumbraLoader {
        user: (&raw mut loads).cast(),
        resolve: Some(resolve),
        load: Some(load),
        ..sized()
    };
    let sources = |text: &str| {
        made!(adumbra_sources_new(
            c"main.adu".as_ptr(),
            text.as_ptr().cast(),
            text.len()
        ))
    };
    let good = sources("#include \"half.adu\"\nshader s(out float o) { o = half(third()); }");
    let third = c"float third() { return 3.0; }";
    ok!(adumbra_sources_add(
        good,
        c"third.adu".as_ptr(),
        third.as_ptr(),
        ADUMBRA_TO_NUL
    ));
    ok!(adumbra_sources_include(good, &raw const loader, null_mut()));
    let program = made!(adumbra_compile(compiler, good; null_mut()));
    call!(adumbra_program_free(program));
    call!(adumbra_sources_free(good));
    assert_eq!(loads, 1);

    let bad = sources("#include \"gone.adu\"\nshader s() {}");
    for missing in [
        loader,
        AdumbraLoader {
            load: None,
            ..loader
        },
    ] {
        let mut diagnostics = null_mut();
        let status = call!(adumbra_sources_include(
            bad,
            &raw const missing,
            &raw mut diagnostics
        ));
        assert_eq!(status, AdumbraStatus::Refused);
        let why = report(diagnostics);
        let reason = if missing.load.is_some() {
            "the library is closed"
        } else {
            "the host loads no sources"
        };
        assert!(why.contains(reason), "{why}");
        call!(adumbra_diagnostics_free(diagnostics));
    }
    call!(adumbra_sources_free(bad));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn programs_round_trip_through_files() {
    let compiler = hit_compiler();
    let program = compile(compiler, NOISY);
    let mut needed = 0;
    let none = call!(adumbra_program_save(
        program,
        null_mut(),
        0,
        &raw mut needed
    ));
    assert_eq!(none, AdumbraStatus::BufferTooSmall);
    let mut bytes = vec![0_u8; needed];
    ok!(adumbra_program_save(
        program,
        bytes.as_mut_ptr(),
        needed,
        null_mut()
    ));
    let loaded = made!(adumbra_program_load(bytes.as_ptr(), bytes.len(); null_mut()));

    let results = [program, loaded].map(|program| {
        let instance = made!(adumbra_instance_new(program));
        let evaluator = made!(adumbra_evaluator_new(instance, null()));
        evaluate(evaluator, &hit(7), null());
        let words = words(evaluator, 4);
        let reference = AdumbraEvaluatorOptions {
            engine: 1,
            ..sized()
        };
        let mut other = null_mut();
        let status = call!(adumbra_evaluator_new(
            instance,
            &raw const reference,
            &raw mut other
        ));
        call!(adumbra_evaluator_free(other));
        call!(adumbra_evaluator_free(evaluator));
        call!(adumbra_instance_free(instance));
        (words, status)
    });
    assert_eq!(results[0].0, results[1].0);
    assert_eq!(
        [results[0].1, results[1].1],
        [AdumbraStatus::Ok, AdumbraStatus::Ok]
    );

    for at in 0..bytes.len() {
        bytes[at] ^= 0x55;
        let (mut refused, mut diagnostics) = (null_mut(), null_mut());
        let status = call!(adumbra_program_load(
            bytes.as_ptr(),
            bytes.len(),
            &raw mut refused,
            &raw mut diagnostics
        ));
        assert_eq!((status, refused.is_null()), (AdumbraStatus::Refused, true));
        let why = report(diagnostics);
        assert!(why.starts_with("[E07"), "{why}");
        call!(adumbra_diagnostics_free(diagnostics));
        bytes[at] ^= 0x55;
    }
    for handle in [program, loaded] {
        call!(adumbra_program_free(handle));
    }
    call!(adumbra_compiler_free(compiler));
}
