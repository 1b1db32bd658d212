//! Engines that a build lacks: asking for one names the feature that brings it.

use adumbra::evaluator::{Engine, EngineError};
use adumbra::{Compiler, Evaluator, GlobalsLayout, Instance, Limits, NoTextures, Sources};

fn instance() -> Instance {
    let sources = Sources::new("two.adu", "shader two(out float o) { o = 2.0; }");
    let program = Compiler::new(GlobalsLayout::new()).compile(&sources);
    Instance::new(&program.expect("it compiles"))
}

/// Why an engine cannot be had, in a build without this feature.
fn not_built(engine: Engine, what: &'static str, feature: &'static str) {
    let error = Evaluator::with(&instance(), engine, Limits::default());
    let error = error.map(drop).expect_err("the feature is off");
    assert_eq!(error, EngineError::NotBuilt { what, feature });
    assert_eq!(
        error.to_string(),
        format!("this build has no {what}: the feature `{feature}` of the crate `adumbra` is off")
    );
    assert!(Engine::available().all(|available| available != engine));
}

#[test]
fn native_engine_names_its_absent_feature() {
    not_built(Engine::Native, "machine code", "native");
}

#[cfg(not(feature = "batch"))]
#[test]
fn batch_engine_names_its_absent_feature() {
    not_built(Engine::Batch, "batches", "batch");
}

#[cfg(feature = "batch")]
#[test]
fn native_tier_names_its_absent_feature() {
    use adumbra::batch::{BatchEvaluator, BatchSetup, Tier};
    let setup = BatchSetup {
        tier: Tier::Native,
        ..BatchSetup::default()
    };
    let error = BatchEvaluator::with(&instance(), &setup).map(drop);
    let (what, feature) = ("machine code", "native");
    assert_eq!(error, Err(EngineError::NotBuilt { what, feature }));
}

#[test]
fn available_engines_evaluate() {
    let engines: Vec<Engine> = Engine::available().chain([Engine::Auto]).collect();
    for engine in engines {
        let evaluator = Evaluator::with(&instance(), engine, Limits::default());
        let mut evaluator = evaluator.expect("it is available");
        evaluator.evaluate(
            &adumbra::Globals::new(&GlobalsLayout::new()),
            &mut NoTextures,
        );
        let value = evaluator.get::<f32>("o").expect("an output");
        assert_eq!(value, 2.0, "{engine:?}");
    }
}
