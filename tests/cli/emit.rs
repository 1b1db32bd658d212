//! `emit` and `--stats`: what the stages of the compiler make.

use super::*;

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
