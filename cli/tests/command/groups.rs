//! The command on the group in `examples/group`, and on wrong groups.

use crate::command::{adumbra, adumbra_with_input, scratch};
use serde_json::Value;

const MATERIAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/group/material.json"
);

const POINT: [&str; 6] = [
    "--globals",
    "hit",
    "-g",
    "uvw=0.3,0.6,0:0.01,0,0:0,0.01,0",
    "-g",
    "normal=0,3,4:0.1,0,0",
];

#[track_caller]
fn run(args: &[&str]) -> Value {
    let ran = adumbra(args.iter().chain(&POINT).copied());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

#[test]
fn group_material_runs() {
    let json = run(&[
        "run", "--group", MATERIAL, "--arg", "tiles=2", "--json", "--derivs",
    ]);
    let samples = json["samples"].as_array().unwrap();
    // The coat is not exposed, so its texture is not asked for.
    let textures: Vec<_> = samples
        .iter()
        .map(|s| s["texture"].as_str().unwrap())
        .collect();
    assert_eq!(textures, ["wood_albedo"]);
    assert!(
        ["dudx", "dudy", "dvdx", "dvdy"]
            .iter()
            .all(|d| samples[0][d].as_f64() != Some(0.0))
    );
    let surface = &json["outputs"]["surface"]["value"];
    assert_eq!(surface["mul"][1]["closure"], "Lambert");
    let reference = run(&[
        "run",
        "--group",
        MATERIAL,
        "--arg",
        "tiles=2",
        "--json",
        "--derivs",
        "--engine",
        "reference",
    ]);
    assert_eq!(json, reference);
}

#[test]
fn only_the_sampler_path_has_lanes() {
    let demand = run(&["emit", "--group", MATERIAL, "--stage", "demand", "--json"]);
    let group = &demand[0];
    assert_eq!(group["function"], "group");
    let lanes = |name: &str| -> Vec<&str> {
        let values = group["values"].as_array().unwrap().iter();
        let values = values.filter(|value| value["name"] == name);
        values
            .map(|value| value["lanes"].as_str().unwrap())
            .collect()
    };
    for on_path in [
        "uv.p.x",
        "uv.st.x",
        "uv.st.y",
        "noise.u",
        "noise.value",
        "noise.moved.x",
    ] {
        assert!(
            lanes(on_path).contains(&"xy"),
            "{on_path}: {:?}",
            lanes(on_path)
        );
    }
    for off_path in [
        "uv.scale",
        "albedo.tint.x",
        "albedo.c.x",
        "lambert.weight",
        "lambert.n.x",
    ] {
        assert!(
            lanes(off_path).iter().all(|lanes| lanes.is_empty()),
            "{off_path}"
        );
    }
    let names = group["values"].as_array().unwrap().iter();
    assert!(
        !names
            .map(|v| v["name"].as_str().unwrap())
            .any(|name| name.starts_with("coat."))
    );
}

#[test]
fn group_argument_is_folded_in() {
    let ops = |args: &[&str]| {
        let json = run(&[&["run", "--group", MATERIAL, "--json", "--stats"], args].concat());
        json["stats"]["bytecode_ops"].as_u64().unwrap()
    };
    assert!(ops(&["--arg", "weight=1"]) < ops(&[]));

    // A factor of 0 makes the coordinates constant: no value has lanes.
    let demand = run(&[
        "emit", "--group", MATERIAL, "--stage", "demand", "--json", "--arg", "tiles=0",
    ]);
    let functions = demand.as_array().unwrap().iter();
    let mut values = functions.flat_map(|function| function["values"].as_array().unwrap());
    assert!(values.all(|value| value["lanes"] == ""));
    let json = run(&["run", "--group", MATERIAL, "--json", "--arg", "tiles=0"]);
    assert_eq!(json["samples"][0]["dudx"], 0.0);
}

#[test]
fn group_stages_and_bytecode_are_emitted() {
    for stage in ["derivative", "ir", "lineage", "bytecode"] {
        let ran = adumbra(
            ["emit", "--group", MATERIAL, "--stage", stage]
                .into_iter()
                .chain(POINT),
        );
        assert!(ran.code == 0 && !ran.stdout.is_empty(), "{ran:?}");
    }
    let ran = adumbra(["emit", "--group", MATERIAL, "--stage", "ast"]);
    assert_eq!(ran.code, 2);
    let out = scratch("material.adb", "");
    let ran = adumbra(
        [
            "emit", "--group", MATERIAL, "--stage", "bytecode", "-o", &out,
        ]
        .into_iter()
        .chain(POINT),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let direct = run(&["run", "--group", MATERIAL, "--json", "--arg", "tiles=3"]);
    assert_eq!(run(&["run", &out, "--json", "--arg", "tiles=3"]), direct);
}

#[test]
fn wrong_groups_are_reported_at_locations() {
    let ran = adumbra(["check", "--group", MATERIAL].into_iter().chain(POINT));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));

    let unit = scratch(
        "group_unit.adu",
        "shader s(float x, out float y) { y = x / 0; }\n",
    );
    let group = |to: &str| {
        format!(
            "{{\n  \"units\": {{ \"a\": {{ \"source\": {unit:?} }}, \"b\": {{ \"source\": {unit:?} }} }},\n  \
             \"connections\": [{{ \"from\": \"a.y\", \"to\": \"{to}\" }}],\n  \"outputs\": {{ \"y\": \"b.y\" }}\n}}\n"
        )
    };
    let good = scratch("good_group.json", group("b.x"));
    let bad = scratch("bad_group.json", group("b.z"));
    let ran = adumbra(["check", "--json", "--group", &good, &bad]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let found: Vec<Value> = (ran.stdout.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found = found.iter().filter(|found| found["severity"] == "error");
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["code"], &found[0]["span"]["line"]),
        (&"E0534".into(), &3.into())
    );
    assert_eq!(found[0]["file"].as_str(), Some(bad.as_str()));

    let ran = adumbra(["run", "--group", &bad]);
    assert!(
        ran.code == 1
            && ran.stderr.contains("did you mean") | ran.stderr.contains("its inputs are `x`"),
        "{ran:?}"
    );
    let ran = adumbra(["run", "--group", "/nowhere/group.json"]);
    assert_eq!(ran.code, 2);
    let ran = adumbra(["run", "--group", MATERIAL, "--shader", "s"]);
    assert_eq!(ran.code, 2);
    let ran = adumbra_with_input(["run", "--group", "-"], "{\"units\": ");
    assert!(ran.code == 1 && ran.stderr.contains("E0539"), "{ran:?}");
    let missing = r#"{"units": {"a": {"source": "nowhere.adu"}}, "outputs": {}}"#;
    let ran = adumbra_with_input(["run", "--group", "-"], missing);
    assert!(ran.code == 1 && ran.stderr.contains("E0540"), "{ran:?}");
}

#[test]
fn files_of_units_include_others() {
    scratch("group_half.adu", "float half(float x) { return 0.5 * x; }");
    let unit = scratch(
        "group_including.adu",
        "#include \"group_half.adu\"\nshader u(float x = 8, out float y) { y = half(x); }",
    );
    let text = r#"{ "units": { "a": { "source": "group_including.adu" }, "b": { "source": "group_including.adu" } },
        "connections": [{ "from": "a.y", "to": "b.x" }], "outputs": { "y": "b.y" } }"#;
    let group = scratch("group_of_including.json", text);
    let ran = adumbra(["run", "--group", &group]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("y  2.0\n", ""));

    std::fs::write(
        &unit,
        "#include \"group_nowhere.adu\"\nshader u(float x, out float y) { y = x; }",
    )
    .unwrap();
    let ran = adumbra(["check", "--group", &group]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("E0112") && ran.stderr.contains("group_including.adu:1:"),
        "{}",
        ran.stderr
    );
}

/// A FIFO would be waited for until something writes to it.
#[cfg(unix)]
#[test]
fn fifo_as_source_is_refused() {
    let group = scratch(
        "fifo.json",
        br#"{"units":{"p":{"source":"fifo"}},"outputs":{"r":"p.o"}}"#,
    );
    let fifo = std::path::Path::new(&group).with_file_name("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()) || fifo.exists());
    let ran = adumbra(["check", "--group", &group]);
    assert!(ran.stderr.contains("it is not a file"), "{ran:?}");
    let ran = adumbra(["check", fifo.to_str().expect("it is UTF-8")]);
    assert!(ran.stderr.contains("it is not a file"), "{ran:?}");
}
