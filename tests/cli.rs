//! The command line's contract: names, JSON shapes, exit statuses, refusals.

mod command;

use adumbra_ir::host::MAX_FAULTS;
use command::{Ran, adumbra, adumbra_with_input, scratch};
use serde_json::{Value, json};

const EQUATION: &str =
    "(sin(x1*x2/(x1+1)) + log(1 + x1*x2/(x1+1)) - exp(x2)) * (x1*x2/(x1+1) - tanh(x2))";
const SEEDS: [&str; 4] = ["-g", "x1=1.5:1:0", "-g", "x2=0.5:0:1"];

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error} in {ran:?}"))
}

fn close(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 3e-7
}

fn example(name: &str) -> String {
    format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn eval_gives_equation_3_with_both_derivatives() {
    let ran = adumbra(["eval", EQUATION, "--json"].into_iter().chain(SEEDS));
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = json_of(&ran);
    assert_eq!(json["type"], "float");
    assert!(close(&json["value"], 0.17684336098110578), "{json}");
    assert!(close(&json["ddx"], -0.10963349927997776), "{json}");
    assert!(close(&json["ddy"], 0.3029208889788374), "{json}");
    assert_eq!(json.as_object().unwrap().len(), 4);
}

#[test]
fn eval_prints_aligned_lines_for_people() {
    let ran = adumbra(["eval", "-x * 2", "-g", "x=0.5:1:-1"]);
    assert_eq!(ran.stdout, "value -1.0\nddx   -2.0\nddy    2.0\n");
    let ran = adumbra(["eval", "float3(x, 1, 2)", "-g", "x=0.5:1"]);
    assert_eq!(
        ran.stdout,
        "value  (0.5, 1.0, 2.0)\nddx    (1.0, 0.0, 0.0)\nddy    (0.0, 0.0, 0.0)\n"
    );
}

#[test]
fn both_engines_give_the_same_text() {
    for engine in ["reference", "point", "auto"] {
        let ran = adumbra(
            ["eval", EQUATION, "--json", "--engine", engine]
                .into_iter()
                .chain(SEEDS),
        );
        let point = adumbra(["eval", EQUATION, "--json"].into_iter().chain(SEEDS));
        assert_eq!(ran.stdout, point.stdout, "{engine}");
    }
}

#[test]
fn a_value_without_derivatives_shows_none() {
    let eval = |expr| {
        json_of(&adumbra([
            "eval",
            expr,
            "--json",
            "-g",
            "x=0.5:1:0",
            "-g",
            "n=3i",
        ]))
    };
    assert_eq!(eval("n + 1"), json!({"type": "int", "value": 4}));
    assert_eq!(eval("x < 1.0"), json!({"type": "bool", "value": true}));
    // Second order: not zero, but unknown.
    assert_eq!(eval("ddx(x * x)"), json!({"type": "float", "value": 1.0}));
    assert_eq!(eval("2 * ddx(x)"), json!({"type": "float", "value": 2.0}));
    // A constant does have derivatives.
    assert_eq!(
        eval("0.25"),
        json!({"type": "float", "value": 0.25, "ddx": 0.0, "ddy": 0.0})
    );
}

#[test]
fn floats_read_back_to_the_same_bits() {
    let value = |x: &str| {
        let ran = adumbra(["eval", "x", "--json", "-g", &format!("x={x}")]);
        json_of(&ran)["value"].clone()
    };
    assert_eq!(value("nan"), "nan");
    assert_eq!(value("inf"), "inf");
    assert_eq!(value("-inf"), "-inf");
    assert_eq!(
        value("1e-45").as_f64().map(|x| x as f32),
        Some(f32::from_bits(1))
    );
    let ran = adumbra(["eval", "x", "--json", "-g", "x=-0"]);
    assert!(ran.stdout.contains("\"value\":-0.0"), "{ran:?}");
    let ran = adumbra(["eval", "x", "--json", "-g", "x=0.1:nan:-inf"]);
    assert!(
        ran.stdout
            .contains("\"value\":0.1,\"ddx\":\"nan\",\"ddy\":\"-inf\""),
        "{ran:?}"
    );
}

#[test]
fn eval_takes_the_functions_of_a_file() {
    let file = scratch("with.adu", "float twice(float x) { return 2 * x; }");
    let ran = adumbra([
        "eval", "twice(x)", "--with", &file, "-g", "x=2:1:0", "--json",
    ]);
    assert_eq!(
        json_of(&ran),
        json!({"type": "float", "value": 4.0, "ddx": 2.0, "ddy": 0.0})
    );
}

#[test]
fn run_gives_the_outputs_by_name() {
    let file = example("eval_practical.adu");
    let ran = adumbra(
        ["run", &file, "--derivs", "--json"]
            .into_iter()
            .chain(SEEDS),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = json_of(&ran);
    let f = &json["outputs"]["f"];
    assert_eq!(f["type"], "float");
    assert!(close(&f["value"], 0.17684336098110578), "{json}");
    assert!(close(&f["ddx"], -0.10963349927997776), "{json}");
    assert!(close(&f["ddy"], 0.3029208889788374), "{json}");

    let plain = adumbra(["run", &file, "--json"].into_iter().chain(SEEDS));
    let keys: Vec<String> = json_of(&plain)["outputs"]["f"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["type", "value"]);
}

#[test]
fn run_lists_texture_requests_and_closures() {
    let file = example("procedural_uv.adu");
    let position = "position=0.5,1.5,0.5:0.01,0,0:0,0.01,0.02";
    let ran = adumbra(["run", &file, "--globals", "hit", "-g", position, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = json_of(&ran);
    let samples = json["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0]["texture"], "g_albedo");
    assert!(close(&samples[0]["u"], 0.5) && close(&samples[0]["v"], 0.17684336098110578));
    assert!(close(&samples[0]["dudx"], 0.01) && close(&samples[0]["dudy"], 0.0));
    assert!(close(&samples[0]["dvdx"], 0.0));
    assert!(close(
        &samples[0]["dvdy"],
        0.01 * -0.10963349927997776 + 0.02 * 0.3029208889788374
    ));
    // floor(8 · 0.5) + floor(8 · 0.17…) = 5 is odd: black.
    assert_eq!(
        json["outputs"]["output"],
        json!({"type": "closure", "value": {"closure": "Lambert", "args": [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}})
    );
}

#[test]
fn arguments_are_read_by_the_declared_type() {
    let file = scratch(
        "inputs.adu",
        "shader s(float gain = 2.0, float3 axis, int n, bool flag, out float o, out int m) \
         { o = gain * axis.y; m = flag ? n : 0; }",
    );
    let run = |args: &[&str]| {
        adumbra(
            ["run", &file, "--json"]
                .into_iter()
                .chain(args.iter().copied()),
        )
    };
    let ran = run(&["--arg", "axis=1,2,3", "--arg", "n=-7", "--arg", "flag=true"]);
    let outputs = json!({"o": {"type": "float", "value": 4.0}, "m": {"type": "int", "value": -7}});
    assert_eq!(json_of(&ran)["outputs"], outputs, "{ran:?}");
    for (args, part) in [
        (["--arg", "axis=1,2"], "3 numbers"),
        (["--arg", "n=1.5"], "whole number"),
        (["--arg", "nope=1"], "no input `nope`, only `gain`"),
        (["--arg", "gain"], "no `=`"),
    ] {
        let ran = run(&args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(part), "{ran:?}");
    }
}

#[test]
fn faults_are_listed_and_only_a_stopped_point_fails() {
    let file = scratch(
        "fault.adu",
        "shader s(int n, out int o) { int w[2]; o = w[n + 5] + 7 / n; }",
    );
    let ran = adumbra(["run", &file, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = json_of(&ran);
    let codes: Vec<&Value> = json["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["code"])
        .collect();
    assert_eq!(codes, ["W0801", "W0802"]);
    assert_eq!(json["faults"][0]["span"]["line"], 1);

    let file = scratch(
        "endless.adu",
        "shader s(out float o) { o = 1; while (true) { o += 1; } }",
    );
    for steps in [&[][..], &["--steps", "1000"]] {
        let ran = adumbra(
            ["run", &file, "--json"]
                .into_iter()
                .chain(steps.iter().copied()),
        );
        assert_eq!(ran.code, 1, "{ran:?}");
        let json = json_of(&ran);
        assert_eq!(json["faults"][0]["code"], "E0811");
        assert_eq!(json["outputs"]["o"]["value"], 0.0);
    }
}

#[test]
fn faults_beyond_those_kept_are_counted_apart_from_any_mend() {
    let beyond = 4;
    let read = "o += w[n + 2];";
    let text = format!(
        "shader s(int n, out int o) {{ int w[2]; {} for (;;) o++; }}",
        read.repeat(MAX_FAULTS + beyond)
    );
    let file = scratch("many_faults.adu", &text);
    let json = json_of(&adumbra(["run", &file, "--json", "--steps", "100"]));
    assert_eq!(json["faults"].as_array().unwrap().len(), MAX_FAULTS + 1);
    assert_eq!(json["more_faults"], beyond);
    let ran = adumbra(["run", &file, "--steps", "100"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let stop = ran.stderr.split("[E0811]").nth(1).expect("it was stopped");
    assert!(stop.contains("let the loop or recursion end"), "{stop}");
    assert!(stop.ends_with("adumbra: … and 4 more faults\n"), "{stop}");
}

#[test]
fn check_prints_findings_for_people_and_programs() {
    let good = scratch("good.adu", "float twice(float x) { return 2 * x; }");
    assert_eq!(adumbra(["check", &good]).code, 0);

    let bad = scratch("bad.adu", "float twice(float x)\n{\n    return 2 * y;\n}\n");
    let ran = adumbra(["check", &good, &bad]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("bad.adu:3:16"), "{ran:?}");
    assert!(!ran.stderr.contains('\x1b'), "{ran:?}");

    let ran = adumbra(["check", "--json", &good, &bad]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    let finding = json_of(&ran);
    assert_eq!(finding["file"], bad);
    assert_eq!(finding["severity"], "error");
    assert!(finding["code"].as_str().unwrap().starts_with("E02"));
    assert_eq!(
        finding["span"],
        json!({"start": 38, "end": 39, "line": 3, "column": 16})
    );
    assert!(finding["message"].as_str().unwrap().contains("`y`"));
    assert!(finding["labels"].is_array());
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let bad = scratch(
        "errors.adu",
        "float f() { return a; }\nfloat g( { }\nfloat h() { return b; }\n",
    );
    let ran = adumbra(["check", "--json", &bad]);
    let lines: Vec<u64> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["span"]["line"]
                .as_u64()
                .unwrap()
        })
        .collect();
    for line in 1..=3 {
        assert!(lines.contains(&line), "{ran:?}");
    }
}

#[test]
fn standard_input_is_a_file() {
    let ran = adumbra_with_input(["run", "-", "--json"], "shader s(out int o) { o = 42; }");
    assert_eq!(json_of(&ran)["outputs"]["o"]["value"], 42, "{ran:?}");
    let ran = adumbra_with_input(["check", "-"], "shader s(out int o) { o = ; }");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("<stdin>:1:"), "{ran:?}");
    let ran = adumbra_with_input(["run", "-"], "\u{feff}shader s(out int o) { o = 42; }\r\n");
    assert_eq!(ran.stdout, "o  42\n", "{ran:?}");
}

#[test]
fn every_stage_can_be_shown() {
    let file = example("eval_practical.adu");
    for stage in ["ast", "ir", "lineage", "demand", "bytecode"] {
        let ran = adumbra(["emit", &file, "--stage", stage].into_iter().chain(SEEDS));
        assert_eq!(ran.code, 0, "{stage}: {ran:?}");
        assert!(
            ran.stdout.contains("eval_practical") || stage != "ast",
            "{stage}: {ran:?}"
        );
        assert!(!ran.stdout.is_empty());
    }
}

#[test]
fn demand_is_listed_by_function_and_variant() {
    let file = scratch(
        "demand.adu",
        "void func(float x, float y, out float ox, out float oy) { ox = x; oy = y; }\n\
         shader s(out float g0, out float g1) {\n\
             float x0 = global_value<a>; float y0 = 1.f; float x1 = 1.f; float y1 = global_value<b>;\n\
             float ox, oy;\n\
             func(x0, y0, ox, oy); g0 = ddx(ox);\n\
             func(x1, y1, ox, oy); g1 = ddx(oy);\n\
         }",
    );
    let ran = adumbra([
        "emit", &file, "--stage", "demand", "--json", "-g", "a=1:1", "-g", "b=1:1",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for function in json_of(&ran).as_array().unwrap() {
        assert!(function["function"].is_string() && function["variant"].is_u64());
        for value in function["values"].as_array().unwrap() {
            assert!(value["name"].is_string());
            assert!(["x", "y", "xy", ""].contains(&value["lanes"].as_str().unwrap()));
        }
    }
}

#[test]
fn bytecode_is_written_and_run_again() {
    let file = example("eval_practical.adu");
    let out = scratch("eval_practical.adb", "");
    let emit = ["emit", &file, "--stage", "bytecode", "-o", &out];
    let ran = adumbra(emit.into_iter().chain(SEEDS));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    let again = adumbra(["run", &out, "--json"].into_iter().chain(SEEDS));
    let source = adumbra(["run", &file, "--json"].into_iter().chain(SEEDS));
    assert_eq!(again.stdout, source.stdout, "{again:?}");
    let undeclared = adumbra(["run", &out, "-g", "x1=1"]);
    assert_eq!(undeclared.code, 2, "{undeclared:?}");
    assert!(undeclared.stderr.contains("`x2`"), "{undeclared:?}");
    let bare = adumbra(["run", &out, "--derivs"].into_iter().chain(SEEDS));
    assert!(bare.stderr.contains("emit --derivs"), "{bare:?}");
    let emitted = adumbra(emit.into_iter().chain(["--derivs"]).chain(SEEDS));
    assert_eq!(emitted.code, 0, "{emitted:?}");
    let again = adumbra(["run", &out, "--derivs"].into_iter().chain(SEEDS));
    let source = adumbra(["run", &file, "--derivs"].into_iter().chain(SEEDS));
    assert_eq!(again.stdout, source.stdout, "{again:?}");
    assert_eq!(again.stderr, "");
    let ran = adumbra(
        ["run", &out, "--engine", "reference"]
            .into_iter()
            .chain(SEEDS),
    );
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn stats_say_how_long_and_how_large() {
    let file = example("eval_practical.adu");
    let ran = adumbra(["run", &file, "--json", "--stats"].into_iter().chain(SEEDS));
    let stats = &json_of(&ran)["stats"];
    let phases = stats["phases_us"].as_object().unwrap();
    for phase in [
        "parse", "check", "lower", "lineage", "demand", "optimise", "bytecode", "total",
    ] {
        assert!(phases[phase].as_f64().unwrap() >= 0.0, "{phase}");
    }
    for size in [
        "ir_ops",
        "bytecode_ops",
        "bytecode_bytes",
        "lanes",
        "registers",
    ] {
        assert!(stats[size].is_u64(), "{size}");
    }
    for whose in ["program", "instance", "evaluator"] {
        let bytes = stats["memory_bytes"][whose].as_u64();
        assert!(bytes.is_some_and(|bytes| bytes > 0), "{whose}");
    }
    assert!(stats["bytecode_ops"].as_u64().unwrap() > 0);
    let args = ["check", &file, "--json", "--stats", "--globals", "hit"];
    let ran = adumbra(args.into_iter().chain(SEEDS));
    let line: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(line["stats"]["phases_us"]["parse"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_is_not_built_yet_is_refused_by_name() {
    let file = example("eval_practical.adu");
    for (args, name) in [
        (&["eval", "1", "--engine", "batch"][..], "batch"),
        (&["eval", "1", "--engine", "native"], "native"),
        (
            &["eval", "1", "--derivatives", "quad-coarse"],
            "quad-coarse",
        ),
        (&["eval", "1", "--derivatives", "quad-fine"], "quad-fine"),
        (&["emit", &file, "--stage", "asm"], "asm"),
        (&["image", &file, "-o", "out.png", "--size", "4x4"], "image"),
        (&["bench", "--json"], "bench"),
    ] {
        let ran = adumbra(args.iter().copied());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.stderr.contains(name) && ran.stderr.contains("not built yet"),
            "{ran:?}"
        );
    }
}

#[test]
fn bad_usage_is_2_and_bad_input_1() {
    let two = scratch(
        "two.adu",
        "shader a(out int o) { o = 1; } shader b(out int o) { o = 2; }",
    );
    for args in [
        &["eval"][..],
        &["eval", "1", "--no-such-option"],
        &["eval", "1", "--engine", "gpu"],
        &["eval", "1", "-g", "x"],
        &["eval", "1", "-g", "x=1", "-g", "x=2"],
        &["eval", "1", "--globals", "hit", "-g", "position=1,2"],
        &["run", "no/such/file.adu"],
        &["nonsense"],
    ] {
        let ran = adumbra(args.iter().copied());
        assert_eq!(ran.code, 2, "{args:?} {ran:?}");
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty());
    }
    for args in [
        &["eval", "1 +"][..],
        &["eval", "nowhere"],
        &["eval", "1; 2"],
        &["run", &two],
        &["run", &two, "--shader", "c"],
        &["run", &example("eval_practical.adu")],
    ] {
        let ran = adumbra(args.iter().copied());
        assert_eq!(ran.code, 1, "{args:?} {ran:?}");
        assert!(ran.stderr.contains("Error"), "{ran:?}");
    }
    let ran = adumbra(["run", &two, "--shader", "b", "--json"]);
    assert_eq!(json_of(&ran)["outputs"]["o"]["value"], 2);
    for args in [["--help"], ["--version"]] {
        let ran = adumbra(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
}

#[test]
fn derivatives_can_be_left_out_or_merged() {
    let value = |extra: &[&'static str]| {
        let args = ["eval", EQUATION, "--json"].into_iter().chain(SEEDS);
        json_of(&adumbra(args.chain(extra.iter().copied())))
    };
    let plain = value(&[]);
    assert_eq!(value(&["--merge-demand"]), plain);
    let off = value(&["--derivatives", "off"]);
    assert_eq!(off["value"], plain["value"]);
    assert_eq!((&off["ddx"], &off["ddy"]), (&json!(0.0), &json!(0.0)));
}

#[test]
fn a_warning_about_a_shared_function_comes_once() {
    let file = scratch(
        "shared.adu",
        "float f(float x) { return ddx(ddx(x)); }\n\
         shader a(out float o) { o = f(global_value<x>); }\n\
         shader b(out float o) { o = f(global_value<x>); }\n",
    );
    let ran = adumbra(["check", &file, "--json", "-g", "x=1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(json_of(&ran)["code"], "W0512");
}

#[test]
fn a_second_derivative_of_an_output_is_no_silent_zero() {
    let file = scratch(
        "second.adu",
        "shader s(out float o) { float x = global_value<x>; o = ddx(x * x); }",
    );
    let run = |extra: &[&'static str]| {
        let args = ["run", &file, "--json", "-g", "x=3:1"].into_iter();
        adumbra(args.chain(extra.iter().copied()))
    };
    assert_eq!(run(&[]).stderr, "");
    let warned: Value = serde_json::from_str(&run(&["--derivs"]).stderr).unwrap();
    assert_eq!(warned["code"], "W0512");
    assert_eq!(
        json_of(&run(&["--derivs"]))["outputs"]["o"],
        json!({"type": "float", "value": 6.0, "ddx": 0.0, "ddy": 0.0})
    );
}

#[test]
fn messages_are_printed_and_listed() {
    let file = scratch(
        "messages.adu",
        "shader s(int n = 2, out int o) { printf(\"n is %d\\n\", n); o = n; printf(\"done\"); }",
    );
    let ran = adumbra(["run", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "n is 2\ndone\no  2\n"));
    let json = json_of(&adumbra(["run", &file, "--json"]));
    assert_eq!(json["messages"], json!(["n is 2\n", "done"]));
    assert_eq!(json.get("more_messages"), None);
    let said = adumbra(["eval", "printf(\"%.2f\", 0.5)"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, "0.50\n"));
    let said = json_of(&adumbra(["eval", "printf(\"%.2f\", 0.5)", "--json"]));
    assert_eq!(said, json!({"messages": ["0.50"]}));
}

/// Messages of one point are kept up to a limit, and counted beyond.
#[test]
fn messages_are_bounded() {
    let file = scratch(
        "many_messages.adu",
        "shader s(out int o) { for (; o < 1005; ++o) printf(\"%d\", o); }",
    );
    let json = json_of(&adumbra(["run", &file, "--json"]));
    assert_eq!(json["messages"].as_array().map(Vec::len), Some(1000));
    assert_eq!(json["more_messages"], 5);
    let ran = adumbra(["run", &file]);
    assert!(
        ran.stdout.contains("… and 5 more messages\n"),
        "{}",
        ran.stdout
    );
    let long = format!(
        "shader s(out int o) {{ for (; o < 8; ++o) printf(\"{}\"); }}",
        "x".repeat(300_000)
    );
    let json = json_of(&adumbra([
        "run",
        &scratch("long_messages.adu", &long),
        "--json",
    ]));
    assert_eq!(json["messages"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["more_messages"], 5);
}

#[test]
fn a_level_is_listed_only_where_the_shader_chose_it() {
    let file = scratch(
        "level.adu",
        "texture2d t; shader s(out float o) { o = texture2d_sample_alpha<t>(0, 1) + texture2d_sample_alpha_level<t>(0, 1, 2.5); }",
    );
    let json = json_of(&adumbra(["run", &file, "--json"]));
    assert_eq!(json["samples"][0].get("level"), None);
    assert_eq!(json["samples"][1]["level"], 2.5);
    let ran = adumbra(["run", &file]);
    assert!(ran.stdout.contains("level\n"), "{}", ran.stdout);
}

#[test]
fn files_include_files_beside_them() {
    let half = scratch(
        "include_half.adu",
        "#include \"include_two.adu\"\nfloat half(float x) { return x / TWO; }",
    );
    scratch("include_two.adu", "const float TWO = 2.0;");
    let main = scratch(
        "include_main.adu",
        "#include \"include_half.adu\"\n#include \"include_two.adu\"\nshader s(out float o) { o = half(3.0) * TWO; }",
    );
    let json = json_of(&adumbra(["run", &main, "--json"]));
    assert_eq!(json["outputs"]["o"]["value"], 3.0);
    let json = json_of(&adumbra(["eval", "half(1.0)", "--with", &half, "--json"]));
    assert_eq!(json["value"], 0.5);
    scratch("include_wrong.adu", "float wrong() { return nothing; }");
    let wrong = scratch(
        "include_of_wrong.adu",
        "#include \"include_wrong.adu\"\nshader s() {}",
    );
    let finding = json_of(&adumbra(["check", &wrong, "--json"]));
    assert!(
        finding["file"]
            .as_str()
            .unwrap()
            .ends_with("include_wrong.adu"),
        "{finding}"
    );
    let missing = scratch(
        "include_missing.adu",
        "\n#include \"no_such_file.adu\"\nshader s() {}",
    );
    let finding = json_of(&adumbra(["check", &missing, "--json"]));
    assert_eq!(
        (&finding["code"], &finding["span"]["line"]),
        (&json!("E0112"), &json!(2))
    );
    let absolute = scratch(
        "include_absolute.adu",
        "#include \"/etc/passwd\"\nshader s() {}",
    );
    assert_eq!(
        json_of(&adumbra(["check", &absolute, "--json"]))["code"],
        "E0112"
    );
}
