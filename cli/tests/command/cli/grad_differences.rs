//! `grad --rules fd`: central differences of the shader itself, and what is refused.

use super::grad::grad;
use super::json_of;
use crate::command::adumbra;
use serde_json::{Value, json};
use tempfile::tempdir;

const SHADER: &str = "
    shader s(float a = 3.0, float2 b = float2(0.5, 2.0), int n = 2, out float o, out float2 p)
    {
        float x = global_value<pixel>.x;
        o = a * a * x + (x < 8 ? b.x * b.y : a) + n;
        p = float2(a * x, b.y);
    }";

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

#[test]
fn differences_of_smooth_parts_are_their_gradients() {
    let args = [
        "--of",
        "o,p",
        "--wrt",
        "all,globals",
        "--seed",
        "o=1",
        "--seed",
        "p=-1,2",
        "--json",
    ];
    for place in [&["-g", "pixel=3,4"][..], &["--size", "6x3"]] {
        let of = |rules: &[&str]| json_of(&grad(SHADER, &[&args[..], place, rules].concat()));
        let (smooth, fd) = (of(&[]), of(&["--rules", "fd", "--step", "0.015625"]));
        assert_eq!(smooth["outputs"], fd["outputs"]);
        for name in ["a", "b", "pixel"] {
            let known = numbers(&smooth["gradient"][name]);
            let found = numbers(&fd["gradient"][name]);
            assert_eq!(known.len(), found.len(), "{fd}");
            for (known, found) in known.iter().zip(&found) {
                assert!(
                    (known - found).abs() < 1e-3 * known.abs().max(1.0),
                    "{smooth} {fd}"
                );
            }
        }
    }
}

#[test]
fn differences_see_edges_that_a_step_crosses() {
    let source = "shader s(float t = 0.3, out float o) { o = step(t, global_value<x>); }";
    let by = |x: &str, step: &str| {
        let args = ["-g", x, "--rules", "fd", "--step", step, "--json"];
        json_of(&grad(source, &args))["gradient"]["t"].clone()
    };
    assert_eq!(by("x=0.5", "0.25"), json!(-2.0));
    assert_eq!(by("x=0.5", "0.125"), json!(0.0));
    // By 0.001 if nothing is said.
    let args = ["-g", "x=0.3005", "--rules", "fd", "--json"];
    let slope = json_of(&grad(source, &args))["gradient"]["t"].as_f64();
    assert!((slope.unwrap() + 500.0).abs() < 0.1, "{slope:?}");
}

#[test]
fn engines_have_the_same_differences() {
    let of = |engine: &str| {
        let args = [
            "--of",
            "o",
            "--wrt",
            "all,globals",
            "--size",
            "16x4",
            "--rules",
            "fd",
            "--json",
            "--engine",
            engine,
        ];
        grad(SHADER, &args).stdout
    };
    let batch = of("batch");
    assert!(batch.contains("\"points\":64"), "{batch}");
    assert_eq!(of("point"), batch);
    assert_eq!(of("reference"), batch);
}

#[test]
fn images_of_differences_are_written() {
    let folder = tempdir().unwrap();
    let [source, out] = ["s.adu", "o.png"].map(|name| folder.path().join(name));
    std::fs::write(&source, SHADER).unwrap();
    let [source, out] = [&source, &out].map(|path| path.to_str().unwrap());
    let args = [
        "grad", source, "--of", "o", "--wrt", "b", "--size", "16x4", "--rules", "fd", "-o", out,
    ];
    let ran = adumbra(args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("by b: black"), "{ran:?}");
}

#[test]
fn misused_steps_are_refused() {
    let point = ["-g", "pixel=3,4", "--of", "o"];
    let refused = |args: &[&str]| {
        let ran = grad(SHADER, &[&point, args].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    assert!(refused(&["--step", "0.1"]).contains("give `--rules fd`"));
    let axes = refused(&["--rules", "fd", "--axes", "pixel.x"]);
    assert!(axes.contains("give `--rules edge` or"), "{axes}");
    for step in ["0", "-1", "inf", "nan", "x"] {
        let no = refused(&["--rules", "fd", "--step", step]);
        assert!(no.contains("a step is a number greater than 0"), "{no}");
    }
    let short = refused(&["--rules", "fd", "--step", "1e-12"]);
    assert!(short.contains("does not move `a`"), "{short}");
    let short = refused(&["--rules", "fd", "--step", "1e-12", "--wrt", "pixel"]);
    assert!(short.contains("does not move `pixel`"), "{short}");
    let buffer = "buffer<float> w; shader s(out float o) { o = w[0]; }";
    let ran = grad(buffer, &["--wrt", "w", "--rules", "fd"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("`w` is a buffer"), "{ran:?}");
}
