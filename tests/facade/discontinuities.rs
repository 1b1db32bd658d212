//! Facts of gradients through discontinuities, which both sets of rules are tested by.

use adumbra::batch::{BatchGlobals, BatchSetup, SimdLevel};
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, Gradient};
use adumbra::{Compiler, GlobalsLayout, Program, Sources, Type};
use serde_json::Value;
use std::sync::Arc;

/// Facts of `shared/data/adelta_facts.json`; more of the same form are in the file that this
/// variable names.
const MORE_FACTS: &str = "ADUMBRA_ADELTA_FACTS";
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// A shader at a point, with its gradient by its parameters.
pub(crate) struct Fact {
    pub(crate) id: String,
    pub(crate) shader: String,
    pub(crate) parameters: Vec<String>,
    pub(crate) place: Vec<f32>,
    pub(crate) spacings: Vec<f64>,
    pub(crate) weights: Vec<f32>,
    pub(crate) gradient: Vec<f64>,
    /// The axis that supplies it, if the fact says so.
    pub(crate) axis: Option<usize>,
    /// Whether a kernel is nullified.
    pub(crate) is_nullified: bool,
}

impl Fact {
    pub(crate) fn program(&self) -> (Arc<Program>, Vec<Axis>) {
        let mut layout = GlobalsLayout::new();
        for axis in AXES {
            layout = layout.with(axis, Type::FLOAT).unwrap();
        }
        let compiler = Compiler::new(layout);
        let program = compiler.compile(&Sources::new("fact.adu", self.shader.as_str()));
        let program = program.unwrap_or_else(|found| panic!("{}: {found}", self.id));
        let axes = AXES.iter().zip(&self.spacings);
        let axes = axes.map(|(axis, spacing)| Axis::new(*axis, 0, *spacing));
        (program, axes.collect())
    }

    /// The globals of a gradient's program, with the weights.
    pub(crate) fn globals(&self, gradient: &Gradient) -> BatchGlobals<'static> {
        let mut globals = BatchGlobals::new(gradient.program().globals());
        for (axis, place) in AXES.iter().zip(&self.place) {
            globals.uniform(axis, *place, 0.0, 0.0).unwrap();
        }
        for (output, weight) in gradient.outputs().iter().zip(&self.weights) {
            let seed = format!("d({})", output.name);
            globals.uniform(&seed, *weight, 0.0, 0.0).unwrap();
        }
        globals
    }

    /// The outputs with the gradient.
    pub(crate) fn names(&self) -> Vec<String> {
        let parameters = self.parameters.iter();
        parameters.map(|name| format!("d({name})")).collect()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
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
        for fact in &all {
            let (Some(gradient), Some(shader)) = (fact.get(rule), fact["shader"].as_str()) else {
                continue;
            };
            let outputs = shader.matches("out float").count();
            let floats = |value: &Value| numbers(value).into_iter().map(|n| n as f32).collect();
            let declared = shader.split("float ").skip(1);
            let parameters = declared.filter(|rest| rest.contains("<<< fit >>>"));
            let names = fact["parameters"].as_object().expect("parameters");
            let parameters = parameters
                .filter_map(|rest| rest.split_once(' '))
                .map(|(name, _)| name.to_owned())
                .filter(|name| names.contains_key(name));
            facts.push(Fact {
                id: fact["id"].to_string(),
                shader: shader.to_owned(),
                parameters: parameters.collect(),
                place: floats(&fact["x"]),
                spacings: numbers(&fact["dx"]),
                weights: match fact.get("dL") {
                    None => vec![1.0; outputs],
                    Some(weights) => floats(weights),
                },
                gradient: numbers(gradient),
                axis: fact["pair_axis"].as_u64().map(|axis| axis as usize),
                is_nullified: fact.get("[0,0]").is_some(),
            });
        }
    }
    facts
}

/// Checks gradients of facts on all engines.
pub(crate) fn hold_on_every_engine(
    facts: &[Fact],
    gradient: impl Fn(&Fact, Engine, &BatchSetup) -> Vec<f64>,
) {
    let mut wrong = Vec::new();
    let levels = [None, Some(SimdLevel::Baseline)];
    for (engine, simd) in Engine::available().flat_map(|engine| levels.map(|simd| (engine, simd))) {
        if engine != Engine::Batch && simd.is_some() {
            continue;
        }
        let setup = BatchSetup {
            simd,
            ..BatchSetup::default()
        };
        for fact in facts {
            let found = gradient(fact, engine, &setup);
            assert_eq!(found.len(), fact.gradient.len(), "{}", fact.id);
            let is_near =
                |(found, known): (&f64, &f64)| (found - known).abs() <= 1e-5 * known.abs().max(1.0);
            if !found.iter().zip(&fact.gradient).all(is_near) {
                wrong.push(format!(
                    "{} {engine:?}: {found:?}, not {:?}",
                    fact.id, fact.gradient
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
