//! Equation 3 of the post at every point of the reference data, by both engines.
//!
//! The points are `tests/data/eq3_points.json`, computed independently in f64; ADUMBRA_EQ3_POINTS
//! names another file of the same form.

use super::support::{close, json, number, path};
use serde_json::Value;

const SHADER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/eval_practical.adu"
);

fn points() -> Vec<Value> {
    let file = std::env::var_os("ADUMBRA_EQ3_POINTS")
        .map_or_else(|| path("data/eq3_points.json"), Into::into);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).expect("a JSON list of points")
}

/// The arguments that set x1 and x2 with the unit seeds of the two partials.
fn seeds(point: &Value) -> [String; 4] {
    let set = |name: &str, seed: &str| format!("{name}={}:{seed}", number(&point[name]));
    ["-g".into(), set("x1", "1:0"), "-g".into(), set("x2", "0:1")]
}

fn check(found: &Value, point: &Value, tolerance: f64) {
    for (key, expected) in [("value", "f"), ("ddx", "df_dx1"), ("ddy", "df_dx2")] {
        let (found, expected) = (number(&found[key]), number(&point[expected]));
        assert!(
            close(found, expected, tolerance),
            "{key} of {point} is {found}"
        );
    }
}

#[test]
fn run_matches_equation_3_at_every_point() {
    let points = points();
    assert!(!points.is_empty());
    for point in &points {
        for engine in ["reference", "point"] {
            let [a, b, c, d] = seeds(point);
            let args = [
                "run", SHADER, "--derivs", "--json", "--engine", engine, &a, &b, &c, &d,
            ];
            check(&json(&args)["outputs"]["f"], point, 2e-6);
        }
    }
}

#[test]
fn eval_matches_equation_3_at_every_point() {
    for point in &points() {
        let [a, b, c, d] = seeds(point);
        let args = [
            "eval",
            "eval_practical(x1, x2)",
            "--with",
            SHADER,
            "--json",
            &a,
            &b,
            &c,
            &d,
        ];
        check(&json(&args), point, 2e-6);
    }
}

#[test]
fn posts_point_is_within_tolerance() {
    let point = serde_json::json!({
        "x1": 1.5, "x2": 0.5, "f": 0.17684336, "df_dx1": -0.10963350, "df_dx2": 0.30292089
    });
    let [a, b, c, d] = seeds(&point);
    let u = "x1 * x2 / (x1 + 1)";
    let by_hand = format!("(sin({u}) + log(1 + {u}) - exp(x2)) * ({u} - tanh(x2))");
    for found in [
        json(&["eval", &by_hand, "--json", &a, &b, &c, &d]),
        json(&["run", SHADER, "--derivs", "--json", &a, &b, &c, &d])["outputs"]["f"].clone(),
    ] {
        for (key, expected) in [("value", "f"), ("ddx", "df_dx1"), ("ddy", "df_dx2")] {
            let error = (number(&found[key]) - number(&point[expected])).abs();
            assert!(error <= 3e-7, "{key} is off by {error}: {found}");
        }
    }
}
