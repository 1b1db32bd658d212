//! Gradients by edges: facts, and what edges must not change.

use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, SimdLevel};
use adumbra::gradient::{Axis, EdgeBatch, GradientRequest};
use adumbra::{Compiler, Engine, GlobalsLayout, Instance, NoTextures, Sources, Type};
use serde_json::Value;

/// Facts of `shared/data/adelta_facts.json`; more of the same form are in the file that this
/// variable names.
const MORE_FACTS: &str = "ADUMBRA_ADELTA_FACTS";
const AXES: [&str; 3] = ["x", "y", "z"];

/// A shader at a point, with its gradient by its parameters.
struct Fact {
    id: String,
    shader: String,
    parameters: Vec<String>,
    place: Vec<f32>,
    spacings: Vec<f64>,
    weights: Vec<f32>,
    gradient: Vec<f64>,
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

/// The facts that have a gradient by that rule.
fn facts(rule: &str) -> Vec<Fact> {
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
            });
        }
    }
    facts
}

/// The gradient of a fact by edges.
fn by_edges(fact: &Fact, engine: Engine, setup: &BatchSetup) -> Vec<f64> {
    let mut layout = GlobalsLayout::new();
    for axis in AXES {
        layout = layout.with(axis, Type::FLOAT).unwrap();
    }
    let compiler = Compiler::new(layout);
    let program = compiler.compile(&Sources::new("fact.adu", fact.shader.as_str()));
    let program = program.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let axes = AXES.iter().zip(&fact.spacings);
    let axes: Vec<Axis> = axes
        .map(|(axis, spacing)| Axis::new(*axis, 0, *spacing))
        .collect();
    let edges = program.edge_gradient(&GradientRequest::new(), &axes);
    let edges = edges.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let gradient = edges.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    for (axis, place) in AXES.iter().zip(&fact.place) {
        globals.uniform(axis, *place, 0.0, 0.0).unwrap();
    }
    for (output, weight) in edges.smooth().outputs().iter().zip(&fact.weights) {
        let seed = format!("d({})", output.name);
        globals.uniform(&seed, *weight, 0.0, 0.0).unwrap();
    }
    let mut found = vec![[0.0_f32]; fact.parameters.len()];
    let names: Vec<String> = fact
        .parameters
        .iter()
        .map(|name| format!("d({name})"))
        .collect();
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
        .collect();
    let batch = EdgeBatch::new(&edges, &Instance::new(gradient));
    let batch = batch.setup(setup.clone()).engine(engine);
    let (_, report, edges) = batch
        .planes(&globals, 0..1, &mut planes, || NoTextures)
        .unwrap();
    assert_eq!((report.stopped, edges.unresolved), (0, 0), "{}", fact.id);
    found.into_iter().map(|[float]| float.into()).collect()
}

#[test]
fn facts_of_edges_hold_on_every_engine() {
    let facts = facts("edge");
    assert!(facts.len() >= 53, "{} facts", facts.len());
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
        for fact in &facts {
            let found = by_edges(fact, engine, &setup);
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
