//! Facts of gradients through discontinuities: shaders at points, with gradients that were worked
//! out elsewhere. The tests of the command read them, too.

use serde_json::Value;

/// More facts of the same form are in the file that this variable names.
const MORE_FACTS: &str = "ADUMBRA_ADELTA_FACTS";

/// The globals that are axes.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// A shader at a point, with its gradient by its parameters.
pub(crate) struct Fact {
    pub(crate) id: String,
    pub(crate) shader: String,
    pub(crate) parameters: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) place: Vec<f32>,
    pub(crate) spacings: Vec<f64>,
    /// By output.
    pub(crate) weights: Vec<f32>,
    pub(crate) gradient: Vec<f64>,
    /// The axis that supplies it, if the fact says so.
    #[allow(dead_code, reason = "the command does not say it")]
    pub(crate) axis: Option<usize>,
    /// Whether a kernel is nullified.
    #[allow(dead_code, reason = "the command says how many of an image are")]
    pub(crate) is_nullified: bool,
}

impl Fact {
    /// Whether a gradient is the known one, to 1e-5.
    pub(crate) fn has(&self, gradient: &[f64]) -> bool {
        let is_near =
            |(found, known): (&f64, &f64)| (found - known).abs() <= 1e-5 * known.abs().max(1.0);
        gradient.len() == self.gradient.len() && gradient.iter().zip(&self.gradient).all(is_near)
    }
}

/// The numbers of a value, however deep.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

/// The facts that have a gradient by that rule.
pub(crate) fn facts(rule: &str) -> Vec<Fact> {
    let own = include_str!("../data/discontinuity_facts.json").to_owned();
    let more = std::env::var_os(MORE_FACTS);
    let more = more.map(|file| std::fs::read_to_string(file).expect("the file of facts"));
    let mut facts = Vec::new();
    for text in [Some(own), more].into_iter().flatten() {
        let all: Vec<Value> = serde_json::from_str(&text).expect("a list of facts");
        facts.extend(all.iter().filter_map(|fact| parse(fact, rule)));
    }
    facts
}

fn parse(fact: &Value, rule: &str) -> Option<Fact> {
    let (gradient, shader) = (fact.get(rule)?, fact["shader"].as_str()?);
    let floats = |value: &Value| numbers(value).into_iter().map(|n| n as f32).collect();
    let outputs = shader.split("out float ").skip(1);
    let outputs = outputs.filter_map(|rest| rest.split([',', ')']).next());
    let outputs: Vec<String> = outputs.map(str::to_owned).collect();
    let declared = shader.split("float ").skip(1);
    let parameters = declared.filter(|rest| rest.contains("<<< fit >>>"));
    let names = fact["parameters"].as_object().expect("parameters");
    let parameters = parameters
        .filter_map(|rest| rest.split_once(' '))
        .map(|(name, _)| name.to_owned())
        .filter(|name| names.contains_key(name));
    Some(Fact {
        id: fact["id"].to_string(),
        shader: shader.to_owned(),
        parameters: parameters.collect(),
        place: floats(&fact["x"]),
        spacings: numbers(&fact["dx"]),
        weights: match fact.get("dL") {
            None => vec![1.0; outputs.len()],
            Some(weights) => floats(weights),
        },
        outputs,
        gradient: numbers(gradient),
        axis: fact["pair_axis"].as_u64().map(|axis| axis as usize),
        is_nullified: fact.get("[0,0]").is_some(),
    })
}
