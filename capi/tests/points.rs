//! Single points through C: what the facade gives, to the bit; programs, parameters, closures, faults, textures, quads.

#![allow(unsafe_code)]

mod common;

use adumbra::{
    Compiler, Derivatives, Evaluator, Globals, GlobalsLayout, Host, Instance, NoTextures, Options,
    Quad, SampleRequest, Sampled, Sources, Type,
};
use adumbra_capi::*;
use common::{
    compile, hit, hit_compiler, instance, report, rust_compiler, rust_hit, sized, text, written,
};
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

/// Derivatives through noise, branches and a loop.
const NOISY: &str = "shader s(float gain = 2.0, int turns = 3, out color c, out int n) {
    float3 p = global_value<position> * gain;
    float sum = 0;
    for (int i = 0; i < turns; i++) sum += noise(p * (i + 1.0)) / (i + 1.0);
    c = p.x > 0 ? color(sum, sin(sum), ddx(sum)) : global_value<uvw> * sum;
    n = (int)(10 * sum);
}";

/// The words of all outputs of an evaluator, as the facade orders them.
fn words(evaluator: *const AdumbraEvaluator, scalars: usize) -> Vec<u32> {
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

fn evaluate(
    evaluator: *const AdumbraEvaluator,
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

#[test]
fn points_are_those_of_the_facade_by_every_engine() {
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
    for engine in 0..3 {
        let options = AdumbraEvaluatorOptions { engine, ..sized() };
        let evaluator = made!(adumbra_evaluator_new(instance, &raw const options));
        for point in 0..100 {
            let outcome = evaluate(evaluator, &hit(point), null());
            assert_eq!(outcome, AdumbraOutcome::Finished);
            expected.evaluate(&rust_hit(&program, point), &mut NoTextures);
            assert_eq!(words(evaluator, 4), expected.words(), "point {point}");
        }
        let mut bytes = 0;
        ok!(adumbra_evaluator_memory(evaluator, &raw mut bytes));
        assert!(bytes > 100);
        call!(adumbra_evaluator_free(evaluator));
    }
    call!(adumbra_instance_free(instance));
}

#[test]
fn a_program_says_what_it_takes_and_gives() {
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

    let json = written(|to, room, needed| call!(adumbra_program_json(program, to, room, needed)));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["inputs"][1]["type"], "float[3]");
    assert_eq!(json["textures"][0], "wood");

    let mut stats: AdumbraStats = sized();
    ok!(adumbra_program_stats(program, &raw mut stats));
    assert!(stats.bytecode_ops > 5 && stats.registers > 0 && stats.compile_microseconds > 0.0);
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn parameters_are_set_by_path_and_scalar_type() {
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
        AdumbraStatus::InvalidValue
    );

    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    // What is set later is for later evaluators.
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
fn findings_are_data_and_reports() {
    let compiler = hit_compiler();
    let shader = "shader s(out float o) {\n  o = hlaf(1.0);\n  o = nothing;\n}";
    let (mut program, mut findings) = (null_mut(), null_mut());
    let status = call!(adumbra_compile_text(
        compiler,
        c"wrong.adu".as_ptr(),
        shader.as_ptr().cast(),
        shader.len(),
        &raw mut program,
        &raw mut findings
    ));
    assert_eq!((status, program.is_null()), (AdumbraStatus::Refused, true));
    let sources = Sources::new("wrong.adu", shader);
    let expected = rust_compiler().compile(&sources).unwrap_err();
    let mut count = 0;
    ok!(adumbra_findings_count(findings, &raw mut count));
    assert_eq!(count, expected.diagnostics.len());
    assert!(count >= 2);
    for (index, diagnostic) in expected.diagnostics.iter().enumerate() {
        let mut finding: AdumbraFinding = sized();
        ok!(adumbra_findings_get(findings, index, &raw mut finding));
        assert_eq!(text(finding.code), diagnostic.code.to_string());
        assert_eq!(text(finding.message), diagnostic.message);
        assert_eq!(text(finding.file), "wrong.adu");
        assert_eq!(
            (finding.start, finding.end),
            (diagnostic.span.start, diagnostic.span.end)
        );
        assert_eq!(
            (finding.severity, finding.line),
            (AdumbraSeverity::Error as u32, 2 + index as u32)
        );
    }
    let mut finding: AdumbraFinding = sized();
    let beyond = call!(adumbra_findings_get(findings, count, &raw mut finding));
    assert_eq!(beyond, AdumbraStatus::Index);
    let say = |format: AdumbraFormat| {
        written(|to, room, needed| {
            call!(adumbra_findings_text(
                findings,
                format as u32,
                to,
                room,
                needed
            ))
        })
    };
    assert_eq!(say(AdumbraFormat::Text), expected.to_string());
    let json: serde_json::Value = serde_json::from_str(&say(AdumbraFormat::Json)).unwrap();
    assert_eq!(json[0]["span"]["column"], 7);
    call!(adumbra_findings_free(findings));

    // A warning stands beside a program; nothing to say is no findings.
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
        let program = made!(adumbra_compile_text(timed, name, shader.as_ptr().cast(), length; &raw mut findings));
        assert_eq!(findings.is_null(), warnings == 0);
        call!(adumbra_findings_free(findings));
        call!(adumbra_program_free(program));
    }
    call!(adumbra_compiler_free(timed));
    call!(adumbra_layout_free(layout));
    call!(adumbra_compiler_free(compiler));
}

/// A library of two texts, of which one is not there.
unsafe extern "C" fn load(
    user: *mut c_void,
    name: *const c_char,
    from: *const c_char,
    reply: *const AdumbraReply,
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
    reply: *const AdumbraReply,
) -> u32 {
    assert_eq!(text(from), "main.adu");
    let full = std::ffi::CString::new(format!("lib/{}", text(name))).unwrap();
    ok!(adumbra_reply(reply, full.as_ptr(), ADUMBRA_TO_NUL));
    0
}

#[test]
fn texts_include_what_the_host_loads() {
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
        let mut findings = null_mut();
        let status = call!(adumbra_sources_include(
            bad,
            &raw const missing,
            &raw mut findings
        ));
        assert_eq!(status, AdumbraStatus::Refused);
        let why = report(findings);
        let reason = if missing.load.is_some() {
            "the library is closed"
        } else {
            "the host loads no texts"
        };
        assert!(why.contains(reason), "{why}");
        call!(adumbra_findings_free(findings));
    }
    call!(adumbra_sources_free(bad));
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn programs_go_through_files() {
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
        [AdumbraStatus::Ok, AdumbraStatus::Unavailable]
    );

    for at in 0..bytes.len() {
        bytes[at] ^= 0x55;
        let (mut refused, mut findings) = (null_mut(), null_mut());
        let status = call!(adumbra_program_load(
            bytes.as_ptr(),
            bytes.len(),
            &raw mut refused,
            &raw mut findings
        ));
        assert_eq!((status, refused.is_null()), (AdumbraStatus::Refused, true));
        let why = report(findings);
        assert!(why.starts_with("[E07"), "{why}");
        call!(adumbra_findings_free(findings));
        bytes[at] ^= 0x55;
    }
    for handle in [program, loaded] {
        call!(adumbra_program_free(handle));
    }
    call!(adumbra_compiler_free(compiler));
}

#[test]
fn closures_are_read_node_by_node() {
    let shader = "shader s(out closure c, out closure none) {
        closure half = 0.5 * make_closure<glossy>(global_value<normal>, 3);
        c = half + color(0.1, 0.2, 0.3) * (half + make_closure<coat>(half));
    }";
    let closures = made!(adumbra_closures_new());
    let add = |name: &std::ffi::CStr, names: &[&std::ffi::CStr], types: &[u32]| {
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        call!(adumbra_closures_add(
            closures,
            name.as_ptr(),
            names.as_ptr(),
            types.as_ptr(),
            types.len()
        ))
    };
    let (float3, int) = (AdumbraType::Float3 as u32, AdumbraType::Int as u32);
    assert_eq!(
        add(c"glossy", &[c"normal", c"n"], &[float3, int]),
        AdumbraStatus::Ok
    );
    assert_eq!(
        add(c"coat", &[c"below"], &[AdumbraType::Closure as u32]),
        AdumbraStatus::Ok
    );
    assert_eq!(add(c"coat", &[], &[]), AdumbraStatus::Twice);
    assert_eq!(add(c"x", &[c"a", c"a"], &[int, int]), AdumbraStatus::Twice);
    assert_eq!(
        add(c"y", &[c"a"], &[AdumbraType::Array as u32]),
        AdumbraStatus::WrongType
    );

    let layout = made!(adumbra_layout_new_hit());
    let options = AdumbraCompilerOptions {
        closures,
        ..sized()
    };
    let compiler = made!(adumbra_compiler_new(layout, &raw const options));
    let unknown = c"shader s(out closure c) { c = make_closure<glosy>(); }";
    let mut refused = null_mut();
    let status = call!(adumbra_compile_text(
        compiler,
        c"s".as_ptr(),
        unknown.as_ptr(),
        ADUMBRA_TO_NUL,
        &raw mut refused,
        null_mut()
    ));
    assert_eq!(status, AdumbraStatus::Refused);

    let program = compile(compiler, shader);
    let instance = made!(adumbra_instance_new(program));
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    evaluate(evaluator, &hit(3), null());
    let node = |number: u32| {
        let mut closure: AdumbraClosure = sized();
        ok!(adumbra_evaluator_closure(
            evaluator,
            number,
            &raw mut closure
        ));
        closure
    };
    let roots = words(evaluator, 2);
    assert_eq!(
        (roots[3], node(roots[3]).kind),
        (0, AdumbraClosureKind::Empty as u32)
    );
    let root = node(roots[0]);
    assert_eq!(root.kind, AdumbraClosureKind::Add as u32);
    let (half, tint) = (node(root.left), node(root.right));
    assert_eq!(
        (half.kind, half.weight),
        (AdumbraClosureKind::Scale as u32, [0.5; 3])
    );
    assert_eq!(
        (tint.kind, tint.weight),
        (AdumbraClosureKind::Tint as u32, [0.1, 0.2, 0.3])
    );
    let sum = node(tint.left);
    assert_eq!(sum.left, root.left);
    let (glossy, coat) = (node(half.left), node(sum.right));
    assert_eq!(
        [glossy.kind, coat.kind],
        [AdumbraClosureKind::Leaf as u32; 2]
    );
    assert_eq!([glossy.arguments, coat.arguments], [4, 1]);

    let mut named: AdumbraVariable = sized();
    let list = AdumbraList::Closures as u32;
    ok!(adumbra_program_variable(
        program,
        list,
        glossy.shape as usize,
        &raw mut named
    ));
    assert_eq!(text(named.name), "glossy");
    let mut arguments = [0_u32; 4];
    let mut needed = 0;
    let to = arguments.as_mut_ptr().cast();
    let small = call!(adumbra_evaluator_closure_arguments(
        evaluator,
        half.left,
        to,
        3,
        &raw mut needed
    ));
    assert_eq!((small, needed), (AdumbraStatus::BufferTooSmall, 4));
    ok!(adumbra_evaluator_closure_arguments(
        evaluator,
        half.left,
        to,
        4,
        &raw mut needed
    ));
    let normal = [18, 19, 20].map(|word| hit(3)[word].to_bits());
    assert_eq!((&arguments[..3], arguments[3]), (&normal[..], 3));
    ok!(adumbra_evaluator_closure_arguments(
        evaluator,
        sum.right,
        to,
        4,
        &raw mut needed
    ));
    assert_eq!((arguments[0], needed), (root.left, 1));
    let no_leaf = call!(adumbra_evaluator_closure_arguments(
        evaluator,
        roots[0],
        to,
        4,
        null_mut()
    ));
    assert_eq!(no_leaf, AdumbraStatus::WrongType);
    assert_eq!(
        [roots[0] + 1, u32::MAX].map(|number| node(number).kind),
        [0, 0]
    );

    let rust = Compiler::new(GlobalsLayout::hit())
        .compile(&Sources::new("s.adu", shader))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&rust));
    expected.evaluate(&rust_hit(&rust, 3), &mut NoTextures);
    let tree = expected.closure(rust.closure_slot("c").unwrap());
    for (format, says) in [(0, tree.text().unwrap()), (1, tree.json().unwrap())] {
        let said = written(|to, room, needed| {
            call!(adumbra_evaluator_closure_text(
                evaluator, roots[0], format, to, room, needed
            ))
        });
        assert_eq!(said, says);
    }
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
    call!(adumbra_program_free(program));
    call!(adumbra_compiler_free(compiler));
    call!(adumbra_layout_free(layout));
    call!(adumbra_closures_free(closures));
}

#[test]
fn faults_are_findings_and_limits_stop() {
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
    let findings = made!(adumbra_evaluator_faults(evaluator));
    let codes: Vec<&str> = (0..3)
        .map(|index| {
            let mut finding: AdumbraFinding = sized();
            ok!(adumbra_findings_get(findings, index, &raw mut finding));
            assert_eq!((finding.line, text(finding.file)), (1, "s.adu"));
            text(finding.code)
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
    call!(adumbra_findings_free(findings));
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}

/// What a host of this suite sees and says.
#[derive(Default)]
struct Seen {
    requests: Vec<AdumbraSampleRequest>,
    messages: Vec<(usize, String)>,
    late: bool,
    patience: u32,
}

impl Seen {
    fn host(&mut self) -> AdumbraHost {
        AdumbraHost {
            user: std::ptr::from_mut(self).cast(),
            sample: Some(sample),
            message: Some(message),
            is_cancelled: Some(is_cancelled),
            ..sized()
        }
    }
}

/// # Safety
/// The user's pointer is that of `Seen::host`.
unsafe fn seen<'a>(user: *mut c_void) -> &'a mut Seen {
    // SAFETY: as promised; nobody else looks at it while a call runs.
    unsafe { &mut *user.cast::<Seen>() }
}

fn texel(u: f32, v: f32, slopes: [f32; 4]) -> [f32; 4] {
    [u * v, slopes[0] - slopes[3], slopes[1] * slopes[2], u - v]
}

unsafe extern "C" fn sample(
    user: *mut c_void,
    request: *const AdumbraSampleRequest,
    to: *mut f32,
) -> u32 {
    // SAFETY: the library gives a request, and room for four numbers.
    let (seen, request, to) = unsafe { (seen(user), *request, &mut *to.cast::<[f32; 4]>()) };
    seen.requests.push(request);
    assert_eq!(*to, [1.0; 4]);
    let slopes = [request.dudx, request.dudy, request.dvdx, request.dvdy];
    *to = texel(request.u, request.v, slopes);
    u32::from(seen.late)
}

unsafe extern "C" fn message(user: *mut c_void, point: usize, says: *const c_char, length: usize) {
    let says = text(says);
    assert_eq!(says.len(), length);
    // SAFETY: it is the user's.
    unsafe { seen(user) }
        .messages
        .push((point, says.to_owned()));
}

unsafe extern "C" fn is_cancelled(user: *mut c_void) -> u32 {
    // SAFETY: it is the user's.
    let seen = unsafe { seen(user) };
    seen.patience = seen.patience.wrapping_sub(1);
    u32::from(seen.patience == 0)
}

struct Slopes;

impl Host for Slopes {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        Sampled::Ready(texel(r.u, r.v, [r.dudx, r.dudy, r.dvdx, r.dvdy]))
    }
}

const TEXTURED: &str = "texture2d a; texture2d b;
    shader s(out color c, out float alpha) {
        float3 p = global_value<position>;
        c = texture2d_sample<a>(p.x * p.y, sin(p.z)) + texture2d_sample_level<b>(p.x, p.y, 2.5);
        printf(\"c is %g\\n\", c.x);
        alpha = texture2d_sample_alpha<a>(c.x, c.y);
    }";

#[test]
fn textures_messages_and_patience_are_the_hosts() {
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", TEXTURED))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&program));
    expected.evaluate(&rust_hit(&program, 1), &mut Slopes);

    let instance = instance(TEXTURED);
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let mut seen = Seen::default();
    let host = seen.host();
    assert_eq!(
        evaluate(evaluator, &hit(1), &raw const host),
        AdumbraOutcome::Finished
    );
    assert_eq!(words(evaluator, 4), expected.words());
    let asked: Vec<(u32, u32, f32)> = seen
        .requests
        .iter()
        .map(|r| (r.texture, r.has_level, r.level))
        .collect();
    assert_eq!(asked, [(0, 0, 0.0), (1, 1, 2.5), (0, 0, 0.0)]);
    assert!(seen.requests[0].dudx != 0.0 && seen.requests[0].dvdy != 0.0);
    let c = expected.get::<[f32; 3]>("c").unwrap().value[0];
    assert_eq!(seen.messages.len(), 1);
    assert!(
        seen.messages[0].1.starts_with("c is "),
        "{:?} for {c}",
        seen.messages
    );

    // Without a host textures are white.
    evaluate(evaluator, &hit(1), null());
    expected.evaluate(&rust_hit(&program, 1), &mut NoTextures);
    assert_eq!(words(evaluator, 4), expected.words());
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));

    let endless = common::instance("shader s(out int n) { while (true) n++; }");
    let evaluator = made!(adumbra_evaluator_new(endless, null()));
    seen.patience = 3;
    let host = seen.host();
    assert_eq!(
        evaluate(evaluator, &hit(0), &raw const host),
        AdumbraOutcome::Stopped
    );
    assert_eq!(seen.patience, 0);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(endless));
}

#[test]
fn points_wait_in_place_and_parked() {
    let instance = instance(TEXTURED);
    let program = rust_compiler()
        .compile(&Sources::new("s.adu", TEXTURED))
        .unwrap();
    let mut expected = Evaluator::new(&Instance::new(&program));
    let evaluators = [(); 2].map(|()| made!(adumbra_evaluator_new(instance, null())));
    let mut seen = Seen {
        late: true,
        ..Seen::default()
    };
    let host = &raw const *Box::leak(Box::new(seen.host()));
    let answer = |request: &AdumbraSampleRequest| {
        let slopes = [request.dudx, request.dudy, request.dvdx, request.dvdy];
        texel(request.u, request.v, slopes)
    };

    let mut request: AdumbraSampleRequest = sized();
    let mut outcome = AdumbraOutcome::Finished;
    let nobody = call!(adumbra_evaluator_request(evaluators[0], &raw mut request));
    let none = call!(adumbra_evaluator_answer(
        evaluators[0],
        [0.0; 4].as_ptr(),
        host,
        null_mut()
    ));
    assert_eq!([nobody, none], [AdumbraStatus::NotWaiting; 2]);

    // In place.
    assert_eq!(
        evaluate(evaluators[0], &hit(2), host),
        AdumbraOutcome::Pending
    );
    let mut waits = 0;
    while call!(adumbra_evaluator_request(evaluators[0], &raw mut request)) == AdumbraStatus::Ok {
        waits += 1;
        let texel = answer(&request);
        ok!(adumbra_evaluator_answer(
            evaluators[0],
            texel.as_ptr(),
            host,
            &raw mut outcome
        ));
    }
    assert_eq!((waits, outcome), (3, AdumbraOutcome::Finished));
    expected.evaluate(&rust_hit(&program, 2), &mut Slopes);
    assert_eq!(words(evaluators[0], 4), expected.words());

    // Parked by one, resumed by the other, in turns.
    let mut parked: Vec<_> = (0..10)
        .map(|point| {
            assert_eq!(
                evaluate(evaluators[0], &hit(point), host),
                AdumbraOutcome::Pending
            );
            (point, made!(adumbra_evaluator_park(evaluators[0])))
        })
        .collect();
    while let Some((point, waiting)) = parked.pop() {
        ok!(adumbra_parked_point_request(waiting, &raw mut request));
        let texel = answer(&request);
        ok!(adumbra_evaluator_resume(
            evaluators[1],
            waiting,
            texel.as_ptr(),
            host,
            &raw mut outcome
        ));
        if outcome == AdumbraOutcome::Pending {
            parked.insert(0, (point, made!(adumbra_evaluator_park(evaluators[1]))));
            continue;
        }
        expected.evaluate(&rust_hit(&program, point), &mut Slopes);
        assert_eq!(words(evaluators[1], 4), expected.words());
    }

    // Only where it belongs, and within limits.
    let limits = AdumbraLimits {
        parked: 1,
        ..sized()
    };
    let options = AdumbraEvaluatorOptions {
        limits: &raw const limits,
        ..sized()
    };
    let narrow = made!(adumbra_evaluator_new(instance, &raw const options));
    evaluate(narrow, &hit(0), host);
    let waiting = made!(adumbra_evaluator_park(narrow));
    evaluate(narrow, &hit(1), host);
    let mut other = null_mut();
    let full = call!(adumbra_evaluator_park(narrow, &raw mut other));
    let wrong = call!(adumbra_evaluator_resume(
        evaluators[0],
        waiting,
        [0.0; 4].as_ptr(),
        host,
        null_mut()
    ));
    assert_eq!(
        [full, wrong],
        [AdumbraStatus::TooManyParked, AdumbraStatus::WrongEvaluator]
    );
    assert!(other.is_null());
    ok!(adumbra_parked_point_request(waiting, &raw mut request));
    ok!(adumbra_evaluator_resume(
        narrow,
        waiting,
        [0.0; 4].as_ptr(),
        host,
        null_mut()
    ));
    ok!(adumbra_evaluator_request(narrow, &raw mut request));
    let given_up = made!(adumbra_evaluator_park(narrow));
    call!(adumbra_parked_point_free(given_up));
    for evaluator in evaluators.into_iter().chain([narrow]) {
        call!(adumbra_evaluator_free(evaluator));
    }
    call!(adumbra_instance_free(instance));
}

#[test]
fn quads_are_those_of_the_facade() {
    let layout = made!(adumbra_layout_new());
    ok!(adumbra_layout_add(
        layout,
        c"x".as_ptr(),
        AdumbraType::Float as u32
    ));
    let mut bytes = 0;
    ok!(adumbra_layout_bytes(layout, &raw mut bytes));
    assert_eq!(bytes, 12);
    let shader = "texture2d t; shader s(out float o) { float x = global_value<x>; o = x * x + texture2d_sample_alpha<t>(x, x); }";
    for derivatives in 2..7 {
        let options = AdumbraCompilerOptions {
            derivatives,
            output_derivatives: 1,
            ..sized()
        };
        let compiler = made!(adumbra_compiler_new(layout, &raw const options));
        let program = compile(compiler, shader);
        let instance = made!(adumbra_instance_new(program));
        let evaluator = made!(adumbra_evaluator_new(instance, null()));
        let quad = Quad::ALL[derivatives as usize - 2];
        let rust = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT).unwrap())
            .with_options(Options {
                derivatives: Derivatives::Quad(quad),
                output_derivatives: true,
                ..Options::default()
            });
        let rust = rust.compile(&Sources::new("s.adu", shader)).unwrap();
        let mut expected = Evaluator::new(&Instance::new(&rust));

        let points = [
            [8.5_f32, 0.0, 0.0],
            [9.5, 0.0, 0.0],
            [8.25, 0.0, 0.0],
            [9.0, 0.0, 0.0],
        ];
        let places = points
            .each_ref()
            .map(|point| point.as_ptr().cast::<c_void>());
        let globals = points.map(|[x, ..]| {
            let mut globals = Globals::new(rust.globals());
            globals.set("x", x, 0.0, 0.0).unwrap();
            globals
        });
        let mut seen = Seen::default();
        let host = seen.host();
        let helpers = [0_u8, 0, 1, 1];
        ok!(adumbra_evaluator_evaluate_quad(
            evaluator,
            places.as_ptr(),
            12,
            helpers.as_ptr(),
            &raw const host,
            null_mut()
        ));
        expected.evaluate_quad(globals.each_ref(), helpers.map(|h| h != 0), &mut Slopes);
        for (at, corner) in adumbra::Corner::ALL.into_iter().enumerate() {
            let mut outcome = AdumbraOutcome::Pending;
            ok!(adumbra_evaluator_show(
                evaluator,
                at as u32,
                &raw mut outcome
            ));
            assert_eq!(AdumbraOutcome::from(expected.show(corner)), outcome);
            assert_eq!(words(evaluator, 1), expected.words());
        }
        let asked: Vec<(usize, u32)> = seen
            .requests
            .iter()
            .map(|r| (r.point, r.is_helper))
            .collect();
        assert_eq!(asked, [(0, 0), (1, 0), (2, 1), (3, 1)]);
        call!(adumbra_evaluator_free(evaluator));
        call!(adumbra_instance_free(instance));
        call!(adumbra_program_free(program));
        call!(adumbra_compiler_free(compiler));
    }
    call!(adumbra_layout_free(layout));

    // Others have none.
    let instance = instance(NOISY);
    let evaluator = made!(adumbra_evaluator_new(instance, null()));
    let point = hit(0);
    let places = [point.as_ptr().cast::<c_void>(); 4];
    let bytes = size_of_val(&point);
    let no = call!(adumbra_evaluator_evaluate_quad(
        evaluator,
        places.as_ptr(),
        bytes,
        null(),
        null(),
        null_mut()
    ));
    let show = call!(adumbra_evaluator_show(evaluator, 0, null_mut()));
    assert_eq!([no, show], [AdumbraStatus::Quads; 2]);
    call!(adumbra_evaluator_free(evaluator));
    call!(adumbra_instance_free(instance));
}
