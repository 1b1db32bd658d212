//! `run` prints outputs, requests, faults and messages.

use super::*;
use adumbra_ir::host::MAX_FAULTS;

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
fn arguments_are_read_by_declared_type() {
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
fn only_stopped_points_fail_on_faults() {
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
    assert_eq!(json["faults"][0]["file"], file);

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
fn omitted_faults_are_counted_outside_of_help() {
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
fn standard_input_is_read_as_file() {
    let ran = adumbra_with_input(["run", "-", "--json"], "shader s(out int o) { o = 42; }");
    assert_eq!(json_of(&ran)["outputs"]["o"]["value"], 42, "{ran:?}");
    let ran = adumbra_with_input(["check", "-"], "shader s(out int o) { o = ; }");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("<stdin>:1:"), "{ran:?}");
    let ran = adumbra_with_input(["run", "-"], "\u{feff}shader s(out int o) { o = 42; }\r\n");
    assert_eq!(ran.stdout, "o  42\n", "{ran:?}");
}

#[test]
fn second_derivative_of_output_is_refused() {
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
fn messages_of_a_point_are_bounded() {
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
fn only_explicit_levels_are_listed() {
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
fn misspelt_global_is_noted() {
    let text = "shader s(out float o) { o = global_value<position>.x; }";
    let run =
        |global: &str| adumbra_with_input(["run", "-", "--globals", "hit", "-g", global], text);
    let ran = run("postion=1,2,3");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "o  0.0\n"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("nothing reads the global `postion`; did you mean `position`?"),
        "{ran:?}"
    );
    for global in ["position=1,2,3", "zoom=2", "uvw=1,2,3"] {
        assert_eq!(run(global).stderr, "", "{global}");
    }
}

#[test]
fn bench_json_is_one_flat_object() {
    let ran = adumbra(["bench", "--rounds", "1", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let Value::Object(measurements) = json_of(&ran) else {
        panic!("not an object: {ran:?}");
    };
    for (name, measurement) in &measurements {
        // Some are differences of times, which may be less than 0.
        let is_flat = measurement.is_boolean() || measurement.as_f64().is_some_and(f64::is_finite);
        assert!(is_flat, "{name}: {measurement}");
    }
    for name in [
        "w1_point_dual_min_ns",
        "w4_baseline_dual_over_value",
        "compile_w1_min_us",
        "table_d_batch_run_over_off",
    ] {
        assert!(measurements.contains_key(name), "{name} is missing");
    }
    let is_native = adumbra::batch::Tier::Native.is_available();
    assert_eq!(
        measurements.contains_key("native_compile_w1_value_min_us"),
        is_native
    );
    // The factors that the post reports of its shaders.
    for (letter, same) in [
        ('a', true),
        ('b', false),
        ('c', true),
        ('d', false),
        ('e', true),
    ] {
        let name = format!("table_{letter}_bytecode_is_that_of_off");
        assert_eq!(measurements[&name], json!(same), "{name}");
    }
    assert_eq!(adumbra(["bench", "--rounds", "0"]).code, 2);
}

/// The file that `perf report` looks for.
#[cfg(target_os = "linux")]
#[test]
fn perf_map_names_executed_code() {
    use std::process::{Command, Stdio};
    if !adumbra::batch::Tier::Native.is_available() {
        println!("skipped: there is no machine code for this processor");
        return;
    }
    let file = example("eval_practical.adu");
    let engine = ["--engine", "native"];
    for named in [true, false] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
        command.args(["run", &file]).args(SEEDS).args(engine);
        command.args(named.then_some("--perf-map"));
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let path = format!("/tmp/perf-{}.map", child.id());
        assert!(child.wait().unwrap().success());
        let map = std::fs::read_to_string(&path).ok();
        assert_eq!(map.is_some(), named, "{path}");
        if let Some(map) = map {
            std::fs::remove_file(&path).unwrap();
            assert!(map.lines().next().unwrap().ends_with("::entry0"), "{map}");
        }
    }
}

/// A debugger stops where single points enter the code, and knows its name.
#[cfg(target_os = "linux")]
#[test]
fn debugger_knows_machine_code_by_name() {
    use std::process::Command;
    let debugger = Command::new("gdb").arg("--version").output();
    if debugger.is_err() || !adumbra::batch::Tier::Native.is_available() {
        println!("skipped: there is no gdb, or no machine code for this processor");
        return;
    }
    let debugged = |options: &[&str]| {
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx", "-ex", "set breakpoint pending on"]);
        gdb.args(["-ex", "break main::entry0", "-ex", "run"]);
        gdb.args(["-ex", "info symbol $pc", "-ex", "continue"]);
        gdb.args(["--args", env!("CARGO_BIN_EXE_adumbra"), "run"]);
        gdb.arg(example("eval_practical.adu")).args(SEEDS);
        gdb.args(["--engine", "native"]).args(options);
        let output = gdb.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).into_owned()
    };
    let [registered, unregistered] = [&["--gdb"][..], &[]].map(debugged);
    if !unregistered.contains("0.17684335") {
        println!("skipped: gdb may not run programs here\n{unregistered}");
        return;
    }
    assert!(
        registered.contains("main::entry0 in section .text"),
        "{registered}"
    );
    assert!(registered.contains("0.17684335"), "{registered}");
    assert!(!unregistered.contains("in section .text"), "{unregistered}");
}
