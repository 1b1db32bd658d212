//! `emit` and `--stats` list the results of the compiler's stages.

use super::*;

#[test]
fn every_stage_can_be_shown() {
    let file = example("eval_practical.adu");
    for stage in [
        "ast",
        "derivative",
        "decisions",
        "ir",
        "lineage",
        "demand",
        "bytecode",
    ] {
        let ran = adumbra(["emit", &file, "--stage", stage].into_iter().chain(SEEDS));
        assert_eq!(ran.code, 0, "{stage}: {ran:?}");
        assert!(
            ran.stdout.contains("eval_practical") || stage != "ast",
            "{stage}: {ran:?}"
        );
        assert!(!ran.stdout.is_empty());
    }
}

/// A loop whose iterations keep one value.
const GROW: &str = "[Differentiable] float grow(float x, int n) {
    float r = x;
    for (int i = 0; i < n; i++) {
        if (r > 100.0) break;
        r = r * x + sin(r);
    }
    return r;
}
shader s(float x, int n, out float o) {
    var dx = diffPair(x);
    bwd_diff(grow)(dx, n, 1.0);
    o = dx.d;
}
";

#[test]
fn derivative_stage_has_bodies_of_derivatives() {
    let file = scratch("derivative_stage.adu", GROW);
    let ran = adumbra(["emit", &file, "--stage", "derivative"]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    for line in ["fn \"bwd_diff(grow)\"", "keep 0 #0", "take 0 #0"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let json = adumbra(["emit", &file, "--stage", "derivative", "--json"]);
    let json = json_of(&json);
    assert_eq!(
        (&json["stage"], &json["text"]),
        (&"derivative".into(), &(&*ran.stdout).into())
    );
    let folded = adumbra(["emit", &file, "--stage", "derivative", "--arg", "x=1"]);
    assert_eq!(folded.code, 2, "{folded:?}");
}

#[test]
fn decisions_stage_lists_where_values_jump() {
    let text = "shader s(float x, out float o) {
        o = floor(x * 3.0) + (x <
            0.5 ? 1.0 : 0.0);
    }";
    let file = scratch("decisions_stage.adu", text);
    let ran = adumbra(["emit", &file, "--stage", "decisions"]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{ran:?}");
    assert!(lines[1].contains("floor(x * 3.0)"), "{ran:?}");
    assert!(
        lines[2].contains("x < 0.5") && lines[2].ends_with("sign"),
        "{ran:?}"
    );
    let json = json_of(&adumbra(["emit", &file, "--stage", "decisions", "--json"]));
    assert_eq!(json[0]["kind"], "floor");
    assert_eq!(
        (&json[1]["line"], &json[1]["text"]),
        (&2.into(), &"x < 0.5".into())
    );
}

#[test]
fn decisions_are_in_order_of_places() {
    let text = "float late(float x) { return x < 0.25 ? 1.0 : 0.0; }
        shader s(float x, out float o) { o = cellnoise(x) + late(x) + floor(x); }";
    let file = scratch("decisions_order.adu", text);
    let ran = adumbra(["emit", &file, "--stage", "decisions"]);
    let lines: Vec<&str> = ran.stdout.lines().skip(1).collect();
    assert!(lines.len() >= 3 && lines[0].starts_with("1  "), "{ran:?}");
    assert!(
        lines[1].starts_with("2  ") && lines[1].contains("floor(x)"),
        "{ran:?}"
    );
    let of_library = |line: &&str| line.starts_with("library  cellnoise");
    assert!(lines[2..].iter().all(of_library), "{ran:?}");
    let smooth = scratch(
        "no_decisions.adu",
        "shader s(float x, out float o) { o = x; }",
    );
    let none = adumbra(["emit", &smooth, "--stage", "decisions"]);
    assert_eq!(none.stdout, "nothing jumps: there are no decisions\n");
}

#[test]
fn derivative_stage_without_derivatives_is_as_lowered() {
    let text = "float square(float x) { return x * x; }
                shader s(float x, out float o) { o = square(x) + 1.0 * 2.0; }";
    let file = scratch("no_derivative.adu", text);
    let ran = adumbra(["emit", &file, "--stage", "derivative"]);
    // Nothing is inlined or folded yet.
    for line in ["fn square", "call square", "mul", "const 2.0"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let optimised = adumbra(["emit", &file, "--stage", "ir"]);
    assert!(!optimised.stdout.contains("fn square"), "{optimised:?}");
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
    // It is compiled anew where other options are asked for.
    let options: [&[&str]; 5] = [
        &["--derivs"],
        &["--derivs", "--derivatives", "off"],
        &["--derivs", "--derivatives", "quad-fine"],
        &["--derivs", "--merge-demand"],
        &["--engine", "reference"],
    ];
    for options in options {
        let [again, source] = [&out, &file].map(|file| {
            let command = ["run", file].into_iter().chain(options.iter().copied());
            adumbra(command.chain(SEEDS))
        });
        assert_eq!(again.stdout, source.stdout, "{options:?} {again:?}");
        assert_eq!((again.code, &*again.stderr), (0, ""), "{options:?}");
    }
    let refused = adumbra(["run", &out, "--shader", "s"].into_iter().chain(SEEDS));
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn stages_of_bytecode_files_are_those_of_source() {
    let source = "shader s(float k = 3, float a = 2, out float o) { o = a * k * global_value<x>; }";
    let (file, out) = (scratch("staged.adu", source), scratch("staged.adb", ""));
    let emit = |file: &str, stage: &str, more: &[&str]| {
        let args = ["emit", file, "--stage", stage, "-g", "x=1:1:0"];
        adumbra(args.into_iter().chain(more.iter().copied()))
    };
    assert_eq!(emit(&file, "bytecode", &["-o", &out]).code, 0);
    let stages: [(&str, &[&str]); 5] = [
        ("ir", &["--arg", "k=5"]),
        ("demand", &["--derivs"]),
        ("bytecode", &["--derivs"]),
        ("bytecode", &["--arg", "k=5"]),
        ("asm", &["--target", "x86_64"]),
    ];
    for (stage, more) in stages {
        let [of_file, of_source] = [&out, &file].map(|file| emit(file, stage, more));
        assert_eq!(of_file.code, 0, "{of_file:?}");
        let is_listing = stage == "asm";
        assert!(
            is_listing || of_file.stdout == of_source.stdout,
            "{of_file:?}"
        );
    }
    for stage in ["ast", "derivative", "decisions", "lineage"] {
        let refused = emit(&out, stage, &[]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains("is for source text"), "{refused:?}");
    }
    let grad = |file: &str| adumbra(["grad", file, "-g", "x=1.5", "--wrt", "a", "--check"]);
    let [of_file, of_source] = [&out, &file].map(|file| grad(file));
    assert_eq!(of_file.code, 0, "{of_file:?}");
    assert_eq!(of_file.stdout, of_source.stdout);
}

#[test]
fn listings_are_no_sources() {
    let file = scratch("listed.adu", "shader s(out float o) { o = 1.0; }");
    for (stage, wanted) in [("bytecode", "-o OUT.adub"), ("ir", "the shader's source")] {
        let listing = adumbra(["emit", &file, "--stage", stage]).stdout;
        let saved = scratch("listing.adub", listing);
        let ran = adumbra(["run", &saved]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("this is a listing of"), "{ran:?}");
        assert!(ran.stderr.contains(wanted), "{ran:?}");
    }
}

#[test]
fn stats_report_times_and_sizes() {
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
    assert!(stats["tier"].is_null() && stats["native"].is_null());
    if adumbra::batch::Tier::Native.is_available() {
        let args = ["run", &file, "--json", "--stats", "--engine", "native"];
        let ran = adumbra(args.into_iter().chain(SEEDS));
        let stats = &json_of(&ran)["stats"];
        assert_eq!(stats["tier"], "native");
        assert!(stats["native"]["compile_us"].as_f64().unwrap() > 0.0);
        assert!(stats["native"]["code_bytes"].as_u64().unwrap() > 0);
        assert_eq!(stats["native"]["panicked"], 0);
    }
    let args = ["check", &file, "--json", "--stats", "--globals", "hit"];
    let ran = adumbra(args.into_iter().chain(SEEDS));
    let line: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(line["stats"]["phases_us"]["parse"].as_f64().unwrap() > 0.0);
}

#[test]
fn stats_report_what_reverse_mode_keeps() {
    let file = scratch("kept.adu", GROW);
    let emit = ["emit", &file, "--stage", "derivative", "--stats", "--json"];
    let of_emit: Value = serde_json::from_str(&adumbra(emit).stderr).unwrap();
    let of_run = json_of(&adumbra([
        "run", &file, "--arg", "n=2", "--stats", "--json",
    ]));
    for stats in [&of_emit["stats"], &of_run["stats"]] {
        let [record] = &stats["tape"].as_array().unwrap()[..] else {
            panic!("{stats}")
        };
        assert_eq!(
            (&record["function"], &record["per"]),
            (&"bwd_diff(grow)".into(), &"iteration".into())
        );
        assert_eq!(
            (&record["file"], &record["line"]),
            (&(&*file).into(), &3.into())
        );
        assert_eq!(
            (&record["bytes"], &record["copies"]),
            (&4.into(), &1.into())
        );
        let value = &record["values"][0];
        assert_eq!(
            (&value["value"], &value["type"]),
            (&"r".into(), &"float".into())
        );
        assert_eq!(value["needed_at"]["line"], 5);
        assert_eq!(value["reason"], "earlier iterations computed it");
    }
    let text = adumbra(["run", &file, "--arg", "n=2", "--stats"]).stderr;
    let line =
        format!("bwd_diff(grow): 4 bytes an iteration of the loop at {file}:3\n  r  float  ");
    assert!(text.contains(&line), "{text}");
    let without = scratch("kept_none.adu", "shader s(float x, out float o) { o = x; }");
    let json = json_of(&adumbra(["run", &without, "--stats", "--json"]));
    assert!(json["stats"]["tape"].is_null(), "{json}");
}

/// An arithmetic instruction with a slow path for the operands of few points, and a loop.
const ROOTS: &str = "shader s(out float o) {
    float x = global_value<x>;
    float y = sin(x) * x;
    for (int i = 0; i < 9; ++i) {
        if (y > 3.0) break;
        y = sqrt(y + float(i));
    }
    o = y;
}
";

const TARGETS: [(&str, &str); 2] = [("x86_64", "vsqrtps ymm"), ("aarch64", "fsqrt v")];

#[test]
fn assembly_is_listed_beside_bytecode_and_source() {
    let file = scratch("roots.adu", ROOTS);
    for (target, root) in TARGETS {
        let emit = [
            "emit", &file, "--stage", "asm", "--target", target, "-g", "x=1",
        ];
        let ran = adumbra(emit);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        let text = &ran.stdout;
        assert!(text.starts_with(&format!("; {target}: 2 kernels, ")));
        assert!(text.contains("\n; kernel 0: 2 instructions"));
        // The root is listed below its instruction and its line, and above the next of these.
        let line = format!("; {file}:6: y = sqrt(y + float(i));\n");
        let after = text.split(&line).nth(1).expect("the line is there");
        let op = after
            .split(";   compute ")
            .find(|op| op.contains(": sqrt  "));
        assert!(
            op.expect("the instruction is there").contains(root),
            "{text}"
        );
        assert!(text.contains(";   slow path ") && text.contains(";   routine "));
        // The listing has code for batches, and code for single points.
        let (many, one) = text
            .split_once("\n; single points: ")
            .expect("they have code");
        assert!(one.contains("\n; entry 0: bytecode ") && !many.contains("; entry 0"));
        assert!(
            one.contains(&line) && one.contains(";   step ") && one.contains(";   write back ")
        );
        let out = scratch("roots.s", "");
        let written = adumbra(emit.into_iter().chain(["-o", &out]));
        assert_eq!((written.code, written.stdout.as_str()), (0, ""));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), *text);
    }
}

#[test]
fn assembly_json_covers_all_code() {
    let file = scratch("data.adu", ROOTS);
    for (target, root) in TARGETS {
        let ran = adumbra([
            "emit", &file, "--stage", "asm", "--target", target, "--json", "-g", "x=1",
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let assembly = json_of(&ran);
        assert_eq!(assembly["stage"], "asm");
        assert_eq!(assembly["target"], target);
        let list = |value: &Value, name: &str| value[name].as_array().unwrap().clone();
        let kernels = list(&assembly, "kernels");
        assert_eq!(kernels.len(), 2);
        let entries = list(&assembly["points"], "kernels");
        assert!(entries.iter().all(|entry| entry["position"].is_u64()));
        let parts = |code: &Value| {
            let kernels = list(code, "kernels");
            let parts = kernels.iter().flat_map(|kernel| list(kernel, "parts"));
            parts.chain(list(code, "shared")).collect::<Vec<Value>>()
        };
        for code in [&assembly, &assembly["points"]] {
            // Addresses are contiguous.
            let mut at = 0;
            for part in parts(code) {
                for instruction in list(&part, "instructions") {
                    assert_eq!(instruction["address"].as_u64(), Some(at), "{part}");
                    at += instruction["bytes"].as_str().unwrap().len() as u64 / 2;
                }
            }
            for data in list(code, "data") {
                let address = data["address"].as_u64().unwrap();
                assert!(
                    address == at || address < at + 32 && address % 16 == 0,
                    "{data}"
                );
                at = address + 4 * data["count"].as_u64().unwrap();
            }
            assert_eq!(code["bytes"].as_u64(), Some(at));
        }
        let is_root = |part: &&Value| {
            let instructions = list(part, "instructions");
            let mut strings = instructions.iter().map(|i| i["text"].as_str().unwrap());
            strings.any(|text| text.starts_with(root))
        };
        let parts = parts(&assembly);
        let op = &parts.iter().find(is_root).unwrap()["op"];
        assert!(op["position"].is_u64() && op["text"].as_str().unwrap().starts_with("sqrt"));
        assert_eq!(op["line"]["line"], 6);
        assert_eq!(op["line"]["text"], "y = sqrt(y + float(i));");
    }
}

#[test]
fn assembly_of_trivial_shaders_is_listed() {
    for (text, points) in [
        // The output is computed by code.
        ("shader s(out int o) { o = 1; }", "1 entry, "),
        (
            "shader s() {}",
            "0 entries, 0 bytes of code and constants\n",
        ),
    ] {
        let file = scratch("next_to_nothing.adu", text);
        let ran = adumbra(["emit", &file, "--stage", "asm", "--target", "aarch64"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let kernels = "; aarch64: 0 kernels, 0 bytes of code and constants\n";
        let begin = format!("{kernels}\n; single points: {points}");
        assert!(ran.stdout.starts_with(&begin), "{ran:?}");
    }
}

#[test]
fn processors_without_machine_code_are_refused_by_name() {
    let file = scratch("refused.adu", ROOTS);
    let ran = adumbra(["emit", &file, "--stage", "asm", "--target", "riscv64"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("riscv64"), "{ran:?}");
    let ran = adumbra(["emit", &file, "--stage", "ir", "--target", "aarch64"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
}
