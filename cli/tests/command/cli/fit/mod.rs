//! `fit`: a disc is found, whatever the threads and interruptions; what is written and refused.

mod boxes;
mod kills;
mod noise;
mod outputs;
mod parameters;
mod refusals;
mod rules;
mod state;
mod targets;

use super::json_of;
use crate::command::{CommandOutput, adumbra, project};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// With soft edges, by another formula.
const TARGET: &str = "shader t(out color c)
{
    float2 p = global_value<pixel> - float2(26.3, 22.4);
    c = smoothstep(0.6, -0.6, (dot(p, p) - 121.0) / 22.0) * color(1, 0.5, 0.2);
}";

const DISC: &str = "// A disc.
shader disc(float radius = 7 /* a guess */ <<< min = 1, max = 20 >>>,
            float2 centre <<< range = 20 >>>, // unknown
            color ink = color(1, 0.5, 0.2) <<< keep >>>,
            out color c)
{
    float2 p = global_value<pixel> - centre;
    c = length(p) < radius ? ink : color(0, 0, 0);
}";

/// A folder with the disc and its target.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    for (name, source) in [("t.adu", TARGET), ("disc.adu", DISC)] {
        fs::write(folder.path().join(name), source).unwrap();
    }
    let (source, image) = (path(&folder, "t.adu"), path(&folder, "t.png"));
    let drawn = adumbra(["image", &source, "-o", &image, "--size", "48x48"]);
    assert_eq!(drawn.code, 0, "{drawn:?}");
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Fits the disc from a bad start, and writes `NAME.adu`.
fn fit(folder: &TempDir, name: &str, args: &[&str]) -> CommandOutput {
    let [source, target, out] = ["disc.adu", "t.png", name].map(|name| path(folder, name));
    let common = ["fit", &source, "--target", &target, "-o", &out];
    let few = ["--arg", "centre=19,28", "--iterations", "20"];
    adumbra([&common[..], &few, args].concat())
}

fn found(folder: &TempDir, name: &str, args: &[&str]) -> Value {
    let ran = fit(folder, name, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    json_of(&ran)
}

fn refused(folder: &TempDir, name: &str, args: &[&str]) -> String {
    let ran = fit(folder, name, args);
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.stderr
}

/// What does not depend on clocks.
fn timeless(report: &Value) -> Value {
    let mut report = report.clone();
    for name in ["median_s", "expected_s"] {
        report.as_object_mut().unwrap().remove(name);
    }
    for restart in report["restarts"].as_array_mut().unwrap() {
        restart.as_object_mut().unwrap().remove("cpu_s");
        for point in restart["trace"].as_array_mut().unwrap() {
            point.as_object_mut().unwrap().remove("cpu_s");
        }
    }
    report
}

/// Checks that objects have the properties of a schema, and no others.
fn check_names(value: &Value, schema: &Value) {
    if let (Some(values), Some(items)) = (value.as_array(), schema.get("items")) {
        values.iter().for_each(|value| check_names(value, items));
    }
    let (Some(values), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return;
    };
    let names: Vec<&String> = values.keys().collect();
    assert_eq!(names, known.keys().collect::<Vec<_>>());
    let mut required: Vec<&str> = schema["required"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    required.sort_unstable();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, required);
    for (name, value) in values {
        check_names(value, &known[name]);
    }
}

fn first_loss(report: &Value) -> f64 {
    report["restarts"][0]["trace"][0]["loss"].as_f64().unwrap()
}
