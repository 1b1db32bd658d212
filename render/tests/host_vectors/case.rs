//! Cases, what is computed for them, and by how much it may differ.

use serde_json::Value;
use std::collections::BTreeMap;

/// Vectors by name: `P`, `P_dx`, …
pub(crate) type Quantities = BTreeMap<String, Vec<f64>>;

/// What one precision makes of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    /// At the last hit: by transfer with exact derivatives.
    pub(crate) exact: Quantities,
    /// The ray to the last hit: O, D, dO_dx, ….
    pub(crate) exact_ray: Quantities,
    /// At the last hit: by the one-pixel rule.
    pub(crate) one_pixel: Quantities,
    /// At the last hit: by transfer with differences of side rays as derivatives.
    pub(crate) finite: Quantities,
    /// At each event of a path: the hit, and the ray to it.
    pub(crate) events: Vec<(Quantities, Quantities)>,
    /// At the last hit with the tangents that MikkTSpace makes, where the case has them.
    pub(crate) alternative: Option<Quantities>,
    /// The mirrored ray, where none is transmitted.
    pub(crate) reflected: Option<Quantities>,
}

impl Evaluation {
    /// All of it by one name each.
    fn flat(&self) -> Quantities {
        let mut all = Quantities::new();
        let mut add = |prefix: String, of: &Quantities| {
            all.extend(
                of.iter()
                    .map(|(name, v)| (format!("{prefix}.{name}"), v.clone())),
            );
        };
        add("exact".into(), &self.exact);
        add("exact_ray".into(), &self.exact_ray);
        add("one_pixel".into(), &self.one_pixel);
        add("finite".into(), &self.finite);
        for (at, (hit, ray)) in self.events.iter().enumerate() {
            add(format!("event {at}"), hit);
            add(format!("event {at} ray"), ray);
        }
        if let Some(alternative) = &self.alternative {
            add("alternative".into(), alternative);
        }
        if let Some(reflected) = &self.reflected {
            add("reflected".into(), reflected);
        }
        all
    }
}

/// The numbers of a JSON array.
pub(crate) fn numbers(of: &Value) -> Vec<f64> {
    let list = of.as_array().expect("a list of numbers");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&difference)
}

/// A precision: its name in tolerances, half its epsilon, and how it evaluates.
#[derive(Clone, Copy)]
pub(crate) struct Precision {
    pub(crate) name: &'static str,
    pub(crate) rounding: f64,
    /// What the data adds to each tolerance, relative to the quantity.
    pub(crate) relative: f64,
    pub(crate) evaluate: fn(&Value) -> Evaluation,
}

/// Runs with rounded inputs from which a tolerance is taken, and the factor on what they differ:
/// both as in the data's own tolerances.
const RUNS: usize = 16;

/// How much each quantity changes if the inputs of a case are rounded at random: the tolerance of
/// quantities for which the data has none.
pub(crate) fn spread(case: &Value, precision: Precision) -> Quantities {
    let evaluated = (precision.evaluate)(case).flat();
    let mut random = fastrand::Rng::with_seed(24);
    let mut spread: Quantities = evaluated
        .keys()
        .map(|name| (name.clone(), vec![0.0]))
        .collect();
    for _ in 0..RUNS {
        let mut rounded = case.clone();
        for key in [
            "camera", "pixel", "ray", "ray_x", "ray_y", "triangle", "path",
        ] {
            if let Some(of) = rounded.get_mut(key) {
                round(of, precision.rounding, &mut random);
            }
        }
        for (name, v) in (precision.evaluate)(&rounded).flat() {
            let greatest = &mut spread.get_mut(&name).expect("the same quantities")[0];
            *greatest = greatest.max(distance(&v, &evaluated[&name]));
        }
    }
    let bound = |(name, v): (String, Vec<f64>)| {
        let size = norm(&evaluated[&name]);
        (name, vec![RUNS as f64 * v[0] + precision.relative * size])
    };
    spread.into_iter().map(bound).collect()
}

/// Rounds all numbers that are not integers.
fn round(of: &mut Value, rounding: f64, random: &mut fastrand::Rng) {
    match of {
        Value::Array(list) => list.iter_mut().for_each(|of| round(of, rounding, random)),
        Value::Object(map) => map.values_mut().for_each(|of| round(of, rounding, random)),
        Value::Number(number) if number.is_f64() => {
            let value = number.as_f64().expect("a number");
            *of = (value * (1.0 + rounding * (2.0 * random.f64() - 1.0))).into();
        }
        _ => {}
    }
}
