//! Gradients by pairs of samples: facts, and what pairs must not change.

use crate::discontinuities::{Fact, facts, hold_on_every_engine};
use adumbra::batch::{BatchSetup, OutputPlane, Part};
use adumbra::gradient::{GradientRequest, PairBatch, PairPoint};
use adumbra::{Instance, NoTextures};

/// The gradient of a fact by pairs, and the point, if it sees a root.
fn by_pairs(fact: &Fact, setup: &BatchSetup) -> (Vec<f64>, Option<PairPoint>) {
    let (program, axes) = fact.program();
    let pairs = program.pair_gradient(&GradientRequest::new(), &axes);
    let pairs = pairs.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let globals = fact.globals(pairs.smooth());
    let mut found = vec![[0.0_f32]; fact.parameters.len()];
    let names = fact.names();
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
        .collect();
    let instance = Instance::new(pairs.smooth().program());
    let batch = PairBatch::new(&pairs, &instance).setup(setup.clone());
    let (_, report, of_pairs) = batch
        .planes(&globals, 0..1, &mut planes, || NoTextures)
        .unwrap();
    let points = batch.rooted_points(&globals, 0..1, || NoTextures).unwrap();
    assert_eq!(report.stopped, 0, "{}", fact.id);
    assert_eq!(points.len(), of_pairs.points, "{}", fact.id);
    let gradient = found.into_iter().map(|[float]| float.into()).collect();
    (gradient, points.first().copied())
}

#[test]
fn facts_of_pairs_hold_on_every_engine() {
    let facts = facts("pair");
    assert!(facts.len() >= 54, "{} facts", facts.len());
    hold_on_every_engine(&facts, |fact, setup| by_pairs(fact, setup).0);
}

#[test]
fn facts_name_axes_and_nullified_kernels() {
    let mut axes = 0;
    let mut nullified = 0;
    for fact in facts("pair") {
        let (_, point) = by_pairs(&fact, &BatchSetup::default());
        if let Some(axis) = fact.axis {
            axes += 1;
            assert_eq!(point.map_or(0, |point| point.axis), axis, "{}", fact.id);
        }
        nullified += usize::from(fact.is_nullified);
        let found = point.is_some_and(|point| point.nullified > 0);
        assert_eq!(found, fact.is_nullified, "{}", fact.id);
    }
    assert!(axes >= 10 && nullified >= 2, "{axes} {nullified}");
}
