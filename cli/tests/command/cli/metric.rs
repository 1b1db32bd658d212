//! `metric`: how wrong gradients through edges are, whatever the threads, and what is refused.

use super::json_of;
use crate::command::{CommandOutput, adumbra_with_input};
use serde_json::{Value, json};

const DISC: &str = "
    shader disc(float radius = 5.3 <<< range = 4 >>>, float2 centre = float2(8.2, 7.9) <<< range = 4 >>>,
                out float o)
    {
        float2 p = global_value<pixel> - centre;
        o = length(p) < radius ? 1.0 : 0.0;
    }";

fn metric(source: &str, args: &[&str]) -> CommandOutput {
    let common = ["metric", "-", "--size", "16x16", "--random-seed", "1"];
    adumbra_with_input([&common, args].concat(), source)
}

fn few(source: &str, args: &[&str]) -> CommandOutput {
    let few = [
        "--pixels",
        "40",
        "--samples",
        "20000",
        "--places",
        "300",
        "--json",
    ];
    metric(source, &[&few, args].concat())
}

fn mean(found: &Value, rules: &str) -> f64 {
    found["rules"][rules]["mean"].as_f64().unwrap()
}

#[test]
fn edges_of_a_disc_are_less_wrong_by_their_rules() {
    let ran = few(DISC, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = json_of(&ran);
    assert_eq!(found["pixels"], json!(40));
    let rules: Vec<&String> = found["rules"].as_object().unwrap().keys().collect();
    assert_eq!(rules.len(), 4, "{found}");
    let smooth = mean(&found, "smooth");
    assert!(smooth > 0.0, "{found}");
    assert!(mean(&found, "edge") < 0.2 * smooth, "{found}");
    assert!(mean(&found, "pair") < 0.4 * smooth, "{found}");
    assert!(found["rules"]["fd"]["step"].as_f64().unwrap() <= 0.1);
    // Near the edge it is not 0, and so the mean's error is not.
    assert!(found["rules"]["smooth"]["error"].as_f64().unwrap() > 0.0);
}

#[test]
fn seed_decides_all_that_is_random() {
    let of = |args: &[&str]| few(DISC, args).stdout;
    let one = of(&["--threads", "1"]);
    assert!(one.contains("\"edge\""), "{one}");
    assert_eq!(of(&["--threads", "3"]), one);
    let common = [
        "metric",
        "-",
        "--size",
        "16x16",
        "--random-seed",
        "2",
        "--json",
    ];
    let few = ["--pixels", "40", "--samples", "2000", "--places", "30"];
    let other = adumbra_with_input([&common[..], &few].concat(), DISC).stdout;
    assert_ne!(other, one);
}

#[test]
fn shader_without_edges_has_no_error() {
    let source = "shader s(float a = 2.0, out float o) { o = a * global_value<pixel>.x; }";
    let found = json_of(&few(source, &[]));
    assert_eq!(found["pixels"], json!(0));
    assert_eq!(found["rules"]["edge"], json!({ "mean": 0.0, "error": 0.0 }));
}

#[test]
fn refusal_by_pairs_leaves_them_out() {
    let source = "shader s(float t = 3.3 <<< range = 1 >>>, out float o)
        { float x = global_value<pixel>.x; while (x < 6) { x += t; o += 1; } }";
    let ran = few(source, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("`pair` refuses the shader") && ran.stderr.contains("E0571"));
    let found = json_of(&ran);
    assert!(found["rules"].get("pair").is_none(), "{found}");
    assert!(
        mean(&found, "edge") < 0.3 * mean(&found, "smooth"),
        "{found}"
    );
}

#[test]
fn values_move_the_middle_of_the_path() {
    let at = few(DISC, &["--at-value", "radius=100"]);
    assert_eq!(json_of(&at)["pixels"], json!(0), "{at:?}");
}

#[test]
fn misused_metrics_are_refused() {
    let refused = |source: &str, args: &[&str]| {
        let ran = metric(source, args);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    let unknown = refused(DISC, &["--pixels", "9", "--at-value", "radios=2"]);
    assert!(unknown.contains("there is no input `radios`"), "{unknown}");
    let shape = refused(DISC, &["--pixels", "9", "--at-value", "centre=2"]);
    assert!(shape.contains("the input `centre`"), "{shape}");
    for options in [
        &["--pixels", "0"][..],
        &["--pixels", "9", "--places", "0"],
        &[],
    ] {
        refused(DISC, options);
    }
    let none = refused(
        "shader s(int n, out float o) { o = n; }",
        &["--pixels", "9"],
    );
    assert!(none.contains("no parameters"), "{none}");
    let range = DISC.replace("range = 4", "range = 0");
    let range = refused(&range, &["--pixels", "9"]);
    assert!(range.contains("the range of `radius` is 0"), "{range}");
    let engine = refused(DISC, &["--pixels", "9", "--engine", "point"]);
    assert!(engine.contains("many at once"), "{engine}");
    let quads = refused(DISC, &["--pixels", "9", "--derivatives", "quad-fine"]);
    assert!(quads.contains("--derivatives dual"), "{quads}");
}
