//! What both sets of rules of discontinuities are tested by: facts on all engines.

use adumbra::batch::{BatchGlobals, BatchSetup, SimdLevel};
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, Gradient};
use adumbra::{Compiler, GlobalsLayout, Program, Sources, Type};
use std::sync::Arc;

pub(crate) use crate::discontinuity_facts::{AXES, Fact, facts};

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
        for (output, weight) in self.outputs.iter().zip(&self.weights) {
            let seed = format!("d({output})");
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
            if !fact.has(&found) {
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

/// A shader of `x` and a parameter `t`, with its gradient by `t` at 0, for neighbours at -1 and 1.
pub(crate) fn worked_out((body, t, gradient): (&str, f64, f64)) -> Fact {
    Fact {
        id: body.to_owned(),
        shader: format!(
            "shader s(float t = {t:?}, out float c) {{ float x = global_value<x>; {body} }}"
        ),
        parameters: vec!["t".to_owned()],
        outputs: vec!["c".to_owned()],
        place: vec![0.0],
        spacings: vec![1.0],
        weights: vec![1.0],
        gradient: vec![gradient],
        axis: None,
        is_nullified: false,
    }
}

/// A shader of two axes, with the one that supplies its gradient by `t` at 0.
pub(crate) fn of_two_axes((body, t, gradient, axis): (&str, f64, f64, Option<usize>)) -> Fact {
    Fact {
        place: vec![0.0; 2],
        spacings: vec![1.0; 2],
        axis,
        ..worked_out((&format!("float y = global_value<y>; {body}"), t, gradient))
    }
}
