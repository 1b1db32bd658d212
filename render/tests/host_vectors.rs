//! The derivatives of hits against vectors that were computed independently with 70 digits, in f64
//! and in f32: cameras, instances, missing attributes, bounces, and degenerate kinds.
//!
//! `data/host_vectors.json` is the first set (14 cases, three rays each),
//! `data/host_vectors_2*.json` the second (52 cases from the camera on, tolerances in each).
//! `ADUMBRA_HOST_VECTORS` lists files that are used in their place.

#[path = "host_vectors/case.rs"]
mod case;
#[path = "host_vectors/double.rs"]
mod double;
#[path = "host_vectors/single.rs"]
mod single;

use case::{Evaluation, Precision, Quantities, distance, norm, numbers, spread};
use serde_json::Value;
use std::collections::BTreeMap;

const DOUBLE: Precision = Precision {
    name: "f64",
    rounding: 1.0 / (1u64 << 53) as f64,
    relative: 1e-13,
    evaluate: double::evaluate,
};
const SINGLE: Precision = Precision {
    name: "f32",
    rounding: 1.0 / (1u64 << 24) as f64,
    relative: 2e-6,
    evaluate: single::evaluate,
};

/// The first set was computed in f64; relative to the quantity.
const FIRST_SET: f64 = 1e-9;
/// Its true derivatives are differences in f64: relative to the derivative, and to the value.
const FIRST_SET_TRUTH: f64 = 1e-7;
const FIRST_SET_NOISE: f64 = 2e-13;

/// Vectors whose sign is the host's choice.
const SIGN_IS_OPEN: [&str; 4] = ["N", "T", "B", "gnormal"];

/// What a host does not have: vectors before they are made unit vectors.
fn is_intermediate(name: &str) -> bool {
    ["N_raw", "T_raw", "Nraw", "Traw"]
        .iter()
        .any(|raw| name.starts_with(raw))
}

/// A quantity's name without its axis.
fn base(name: &str) -> &str {
    name.strip_suffix("_dx")
        .or(name.strip_suffix("_dy"))
        .unwrap_or(name)
}

/// Compares one case in one precision.
struct Check<'a> {
    case: &'a Value,
    precision: Precision,
    evaluation: Evaluation,
    spread: Quantities,
    compared: usize,
    wrong: Vec<String>,
}

impl Check<'_> {
    fn name(&self) -> String {
        format!(
            "{} in {}",
            self.case["name"].as_str().unwrap_or("?"),
            self.precision.name
        )
    }

    /// The case's own tolerance of a kind, or what rounded inputs change.
    fn tolerance(&self, kind: &str, name: &str, section: &str, size: f64) -> f64 {
        let listed = |kind: &str| self.case["tolerance"][self.precision.name][kind][name].as_f64();
        if let (Some(own), "own") = (listed(kind), section) {
            return own;
        }
        let spread_in = match (section, kind) {
            ("own", "one_pixel") => "one_pixel",
            ("own", _) => "exact",
            (section, _) => section,
        };
        let spread = self.spread[&format!("{spread_in}.{name}")][0];
        match (self.case.get("camera"), kind) {
            // Differences of side rays, as in the one-pixel rule.
            (Some(_), "finite") => spread.max(listed("one_pixel").unwrap_or(0.0)),
            (Some(_), _) => spread,
            (None, "derivative") => {
                let value = norm(&self.evaluation.exact[base(name)]);
                spread + FIRST_SET_TRUTH * size + FIRST_SET_NOISE * value
            }
            (None, _) => spread + FIRST_SET * size,
        }
    }

    /// Compares a vector with one of the expected ones; each with its tolerance.
    fn compare(&mut self, what: &str, found: &[f64], expected: &[(Vec<f64>, f64)], sign: f64) {
        self.compared += 1;
        let found: Vec<f64> = found.iter().map(|x| x * sign).collect();
        let fits =
            |(expected, tolerance): &(Vec<f64>, f64)| distance(&found, expected) <= *tolerance;
        if !(found.iter().all(|x| x.is_finite()) && expected.iter().any(fits)) {
            let name = self.name();
            self.wrong
                .push(format!("{name}: {what} is {found:?}, not {expected:?}"));
        }
    }

    /// +1 or −1 for a vector whose sign is open: that of its value.
    fn sign(name: &str, found: &Quantities, values: &Value) -> f64 {
        let name = base(name);
        match values.get(name) {
            Some(expected) if SIGN_IS_OPEN.contains(&name) => {
                let expected = numbers(expected);
                let dot: f64 = found[name].iter().zip(&expected).map(|(a, b)| a * b).sum();
                if dot < 0.0 { -1.0 } else { 1.0 }
            }
            _ => 1.0,
        }
    }

    /// Compares a map of quantities: `kind` and `section` say where tolerances are.
    fn compare_all(
        &mut self,
        of: &Value,
        values: &Value,
        found: &Quantities,
        kind: &str,
        section: &str,
    ) {
        for (name, expected) in of.as_object().into_iter().flatten() {
            if name == "degenerate" || is_intermediate(name) {
                continue;
            }
            let expected = numbers(expected);
            let tolerance = self.tolerance(kind, name, section, norm(&expected));
            let sign = Self::sign(name, found, values);
            let what = format!("{name} ({kind}, {section})");
            self.compare(&what, &found[name], &[(expected, tolerance)], sign);
        }
    }

    /// Whether the one-pixel rule may give something else along an axis, and in which section it
    /// is.
    fn alternative(&self, axis: &str) -> Option<&'static str> {
        let accept = self.case["accept"].as_str().unwrap_or("");
        let is_lost = axis == "y" && self.case["t_side_y"].as_f64().is_some_and(|t| t < 0.0);
        if is_lost {
            Some("finite")
        } else {
            accept
                .contains(&format!("one-pixel rule along {axis}"))
                .then_some("exact")
        }
    }

    /// The values and the one-pixel rule at the last hit.
    fn compare_expected(&mut self) {
        let (case, evaluation) = (self.case, self.evaluation.clone());
        let expect = &case["expect"];
        let is_degenerate = expect["degenerate"] == true;
        for (name, expected) in expect.as_object().expect("a map") {
            if name == "degenerate" || is_intermediate(name) {
                continue;
            }
            let expected = numbers(expected);
            let found = &evaluation.one_pixel[name];
            let axis = name
                .strip_prefix(base(name))
                .expect("a prefix")
                .strip_prefix("_d");
            let kind = if axis.is_some() { "one_pixel" } else { "value" };
            let mut allowed = vec![];
            if is_degenerate && base(name) != "I" {
                // A host with a test free of scale may take the second kind as a triangle.
                let corner = norm(&numbers(&case["triangle"]["v"][1]));
                let tolerance = if corner < 1e-20 { f64::MAX } else { 0.0 };
                allowed.push((expected.clone(), tolerance));
            } else {
                let tolerance = self.tolerance(kind, name, "own", norm(&expected));
                allowed.push((expected.clone(), tolerance));
            }
            let alternative = axis.and_then(|axis| self.alternative(axis));
            let other = alternative.and_then(|section| match section {
                "finite" => Some((section, evaluation.finite[name].clone())),
                _ => Some((section, numbers(case["true_screen_derivative"].get(name)?))),
            });
            if let Some((section, other)) = other {
                let tolerance = self.tolerance("derivative", name, section, norm(&other));
                allowed.push((other, tolerance));
            }
            if name == "N"
                && case["accept"]
                    .as_str()
                    .is_some_and(|a| a.starts_with("N: zero"))
            {
                let gnormal = numbers(&expect["gnormal"]);
                let tolerance = self.tolerance("value", "gnormal", "exact", 1.0);
                allowed.push((gnormal.iter().map(|x| -x).collect(), tolerance));
                allowed.push((gnormal, tolerance));
            }
            let sign = Self::sign(name, &evaluation.one_pixel, expect);
            self.compare(&format!("{name} ({kind})"), found, &allowed, sign);
            if axis.is_none() {
                let exact = &evaluation.exact[name];
                let sign = Self::sign(name, &evaluation.exact, expect);
                self.compare(&format!("{name} (exact)"), exact, &allowed, sign);
            }
        }
    }

    /// The tangent that is any across the normal, where the case says so.
    fn compare_free_tangent(&mut self) {
        let accept = self.case["accept"].as_str().unwrap_or("");
        if !accept.starts_with("T: any unit vector perpendicular") {
            return;
        }
        let at = self.evaluation.exact.clone();
        let dot = |a: &str, b: &str| -> f64 { at[a].iter().zip(&at[b]).map(|(a, b)| a * b).sum() };
        let slack = 64.0 * self.precision.rounding;
        self.compare(
            "T·gnormal",
            &[dot("T", "gnormal")],
            &[(vec![0.0], slack)],
            1.0,
        );
        self.compare("T·T", &[dot("T", "T")], &[(vec![1.0], slack)], 1.0);
        for name in ["T_dx", "T_dy"] {
            self.compare(name, &at[name], &[(vec![0.0; 3], 0.0)], 1.0);
        }
    }

    fn run(&mut self) {
        let (case, evaluation) = (self.case, self.evaluation.clone());
        let expect = &case["expect"];
        self.compare_expected();
        self.compare_free_tangent();
        let truth = &case["true_screen_derivative"];
        self.compare_all(truth, expect, &evaluation.exact, "derivative", "own");
        for axis in ["dx", "dy"] {
            let named = |of: &Value| -> Value {
                let of = of.as_object().into_iter().flatten();
                of.map(|(name, v)| (format!("{name}_{axis}"), v.clone()))
                    .collect()
            };
            let exact = named(&case["igehy_transfer_exact_seeds"][axis]);
            self.compare_all(&exact, expect, &evaluation.exact, "derivative", "own");
            let finite = named(&case["igehy_transfer"][axis]);
            self.compare_all(&finite, expect, &evaluation.finite, "finite", "finite");
        }
        // The first set has these alone, of two cases.
        for (key, relative) in [("igehy_P_dy", FIRST_SET), ("true_P_dy", 1e-3)] {
            if let Some(expected) = case.get(key).map(numbers) {
                let tolerance = self.spread["finite.P_dy"][0] + relative * norm(&expected);
                let found = &evaluation.finite["P_dy"];
                self.compare(key, found, &[(expected, tolerance)], 1.0);
            }
        }
        let none = Value::Null;
        let ray = &case["ray_differential"];
        self.compare_all(ray, &none, &evaluation.exact_ray, "ray", "exact_ray");
        for (name, at) in [("O", 0), ("D", 1)] {
            let expected = numbers(&case["ray"][at]);
            let tolerance = self.tolerance("ray", name, "exact_ray", norm(&expected));
            self.compare(
                name,
                &evaluation.exact_ray[name],
                &[(expected, tolerance)],
                1.0,
            );
        }
        for (at, event) in case["path"].as_array().into_iter().flatten().enumerate() {
            let (hit, ray) = &evaluation.events[at];
            let section = format!("event {at}");
            let values = &event["value"];
            self.compare_all(values, values, hit, "value of event", &section);
            self.compare_all(
                &event["derivative"],
                values,
                hit,
                "derivative of event",
                &section,
            );
            let section = format!("event {at} ray");
            self.compare_all(
                &event["ray_differential"],
                &none,
                ray,
                "ray of event",
                &section,
            );
        }
        if let Some(alternative) = &evaluation.alternative {
            let mut expected = case["alternative_mikktspace"].clone();
            expected.as_object_mut().expect("a map").remove("t");
            let section = "alternative";
            self.compare_all(&expected, &expected, alternative, section, section);
        }
        assert_eq!(
            evaluation.reflected.is_some(),
            case.get("reflected").is_some()
        );
        if let Some(reflected) = &evaluation.reflected {
            let expected = &case["reflected"];
            self.compare_all(expected, &none, reflected, "reflected", "reflected");
        }
    }
}

/// The number of vectors that a case lists, counted without looking at what they are.
fn listed(case: &Value) -> usize {
    let count = |of: &Value| {
        let vectors = of.as_object().into_iter().flatten();
        vectors
            .filter(|(name, v)| v.is_array() && !is_intermediate(name))
            .count()
    };
    let values = case["expect"].as_object().expect("a map").keys();
    let values = values.filter(|name| base(name) == *name && *name != "degenerate");
    // Values are compared for both rules.
    let mut sum = count(&case["expect"]) + values.filter(|name| !is_intermediate(name)).count();
    sum += count(&case["true_screen_derivative"]) + count(&case["ray_differential"]);
    sum += count(&case["reflected"]) + 2; // O and D of the ray
    for rule in ["igehy_transfer", "igehy_transfer_exact_seeds"] {
        sum += count(&case[rule]["dx"]) + count(&case[rule]["dy"]);
    }
    for event in case["path"].as_array().into_iter().flatten() {
        let parts = ["value", "derivative", "ray_differential"];
        sum += parts.iter().map(|part| count(&event[part])).sum::<usize>();
    }
    sum += ["igehy_P_dy", "true_P_dy"]
        .iter()
        .filter(|key| case.get(key).is_some())
        .count();
    // Without the tangents of the corners, which are inputs.
    sum += count(&case["alternative_mikktspace"]).saturating_sub(1);
    let accept = case["accept"].as_str().unwrap_or("");
    sum + if accept.starts_with("T: any unit vector") {
        4
    } else {
        0
    }
}

/// The cases, and whether they are the built-in ones.
fn cases() -> (Vec<Value>, bool) {
    let parse = |text: &str| -> Vec<Value> {
        let file: Value = serde_json::from_str(text).expect("a JSON file");
        file["vectors"].as_array().expect("a list of cases").clone()
    };
    match std::env::var_os("ADUMBRA_HOST_VECTORS") {
        Some(files) => {
            let read =
                |file| std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file:?}: {e}"));
            let files = std::env::split_paths(&files);
            (files.flat_map(|file| parse(&read(file))).collect(), false)
        }
        None => {
            let files = [
                include_str!("data/host_vectors.json"),
                include_str!("data/host_vectors_2a.json"),
                include_str!("data/host_vectors_2b.json"),
            ];
            (files.iter().flat_map(|text| parse(text)).collect(), true)
        }
    }
}

fn compare_all_cases(precision: Precision) {
    let (cases, are_built_in) = cases();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    let mut categories = BTreeMap::<String, usize>::new();
    for case in &cases {
        let mut check = Check {
            case,
            precision,
            evaluation: (precision.evaluate)(case),
            spread: spread(case, precision),
            compared: 0,
            wrong: Vec::new(),
        };
        check.run();
        assert_eq!(
            check.compared,
            listed(case),
            "all of {} is compared",
            check.name()
        );
        compared += check.compared;
        wrong.append(&mut check.wrong);
        let category = case["category"].as_str().unwrap_or("first set");
        *categories.entry(category.into()).or_default() += 1;
    }
    println!(
        "{compared} vectors of {} cases: {categories:?}",
        cases.len()
    );
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    if are_built_in {
        assert_eq!(
            (cases.len(), categories.len(), compared),
            (66, 28, COMPARED)
        );
    }
}

/// The vectors that the built-in files list.
const COMPARED: usize = 4360;

#[test]
fn host_vectors_hold_in_f64() {
    compare_all_cases(DOUBLE);
}

#[test]
fn host_vectors_hold_in_f32() {
    compare_all_cases(SINGLE);
}
