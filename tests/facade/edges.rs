//! Gradients by edges: facts, and what edges must not change.

use crate::discontinuities::{Fact, facts, hold_on_every_engine};
use adumbra::batch::{BatchSetup, OutputPlane, Part};
use adumbra::gradient::{EdgeBatch, GradientRequest};
use adumbra::{Instance, NoTextures};

/// The gradient of a fact by edges.
fn by_edges(fact: &Fact, setup: &BatchSetup) -> Vec<f64> {
    let (program, axes) = fact.program();
    let edges = program.edge_gradient(&GradientRequest::new(), &axes);
    let edges = edges.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let gradient = edges.smooth().program();
    let globals = fact.globals(edges.smooth());
    let mut found = vec![[0.0_f32]; fact.parameters.len()];
    let names = fact.names();
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
        .collect();
    let batch = EdgeBatch::new(&edges, &Instance::new(gradient)).setup(setup.clone());
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
    hold_on_every_engine(&facts, by_edges);
}
