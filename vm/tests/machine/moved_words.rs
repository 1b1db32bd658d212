//! Instructions that move many words take steps for them, the same in every engine.

use crate::step_programs::moving_programs;
use crate::support::*;
use adumbra_ir::eval::{EvalOptions, EvalPoint, evaluate};
use adumbra_ir::host::{ConstantTexture, FaultKind, Limits, WORDS_PER_STEP};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_vm::{BatchMachine, BatchOptions, GlobalSource, Outcome, PointMachine, lower};
use std::sync::Arc;

/// The fault that stops each engine, and its place.
fn stops(text: &str, steps: u64) -> Vec<Option<(FaultKind, u32)>> {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let lowered = module(text);
    let (optimised, _) = passes::run(lowered.clone(), &PassOptions::default());
    let fault = |faults: &adumbra_ir::host::Faults| {
        faults.stopped().map(|fault| (fault.kind, fault.span.start))
    };
    let mut texture = ConstantTexture([0.0; 4]);
    let mut all = Vec::new();
    for module in [&lowered, &optimised] {
        let options = EvalOptions {
            limits,
            ..EvalOptions::default()
        };
        let evaluated = evaluate(
            module,
            &EvalPoint::<f32>::new(module),
            &options,
            &mut texture,
        );
        all.push(fault(&evaluated.faults));
        let program = Arc::new(lower(module).expect("it fits"));
        let mut machine = PointMachine::new(program.clone(), limits);
        let outcome = machine.run(&[0; 3], &[], &mut texture);
        assert_eq!(
            outcome == Outcome::Stopped,
            machine.faults().stopped().is_some()
        );
        all.push(fault(machine.faults()));
        for width in [1, 5] {
            let options = BatchOptions {
                width: Some(width),
                ..BatchOptions::default()
            };
            let mut machine = BatchMachine::new(program.clone(), limits, &options);
            let sources = [GlobalSource::Uniform(0); 3];
            machine.run(&sources, &[], 0, width, &mut texture);
            all.extend((0..width).map(|point| fault(machine.faults(point))));
        }
    }
    all
}

#[test]
fn moved_words_take_steps_in_every_engine() {
    for (name, text, steps) in moving_programs() {
        for budget in 0..=steps {
            for stop in stops(&text, budget) {
                match budget == steps {
                    true => assert_eq!(stop, None, "{name}"),
                    false => {
                        let kind = stop.map(|(kind, _)| kind);
                        assert_eq!(kind, Some(FaultKind::StepBudget), "{name} {budget}");
                    }
                }
            }
            let stops = stops(&text, budget);
            assert!(
                stops.iter().all(|stop| *stop == stops[0]),
                "{name} {stops:?}"
            );
        }
    }
}

/// Few words cost nothing.
#[test]
fn small_records_take_no_steps() {
    let fields = vec!["f32"; WORDS_PER_STEP as usize - 1].join(", ");
    let values = vec!["%0"; WORDS_PER_STEP as usize - 1].join(", ");
    let text = format!(
        "global x: float
        output o: float
        record ({fields})
        entry main
        fn main() -> (f32) ^0 {{
            %0: f32 = global x[0]
            keep 0 #0({values})
            keep 0 #0({values})
            return %0
        }}"
    );
    assert!(stops(&text, 1).iter().all(Option::is_none));
}
