//! Instructions that move many words take steps for them, the same in every engine.

use crate::support::*;
use adumbra_ir::eval::{EvalOptions, EvalPoint, evaluate};
use adumbra_ir::host::{ConstantTexture, FaultKind, Limits, WORDS_PER_STEP, move_steps};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_vm::{BatchMachine, BatchOptions, GlobalSource, Outcome, PointMachine, lower};
use std::fmt::Write;
use std::sync::Arc;

/// Words that each instruction moves: some steps, and a rest that counts nothing.
const WORDS: u32 = 2 * WORDS_PER_STEP + 48;

/// Each way to move words, with the steps of the shader's own entry and of the move.
fn programs() -> Vec<(&'static str, String, u64)> {
    let list = |value: &str, count: u32| vec![value; count as usize].join(", ");
    let program = |head: String, body: String| {
        format!(
            "global x: float
            output o: float
            {head}
            entry main
            fn main() -> (f32) ^0 {{
                array &0: f32[{WORDS}]
                array &1: f32[{WORDS}]
                %0: f32:xy = global x[0]
                %1: i32 = const 1
                {body}
                return %0
            }}"
        )
    };
    let record = format!("record ({})", list("f32:xy", WORDS));
    let keep = format!("keep 0 #0({}) @7..8\n", list("%0", WORDS));
    let mut take = keep.clone();
    for i in 2..2 + WORDS {
        let separator = if i == 2 { "" } else { ", " };
        write!(take, "{separator}%{i}: f32:xy").expect("a string");
    }
    take += " = take 0 #0 @7..8";
    let closure = format!("closure wide(float[{WORDS}])");
    let make = format!(
        "%2: closure = make_closure wide({}) @7..8",
        list("%0", WORDS)
    );
    let matrices = WORDS / 16;
    let (format, types) = (list("%g", matrices), list("float4x4", matrices));
    let message = format!("message \"{format}\"({types})");
    let print = format!("message \"{format}\"({}) @7..8", list("%0", 16 * matrices));
    let (zero, copy) = ("array_zero &0 @7..8\n", "array_copy &1, &0 @7..8\n");
    // Arrays that are used before they are overwritten are cleared on entry.
    let steps = move_steps(WORDS);
    vec![
        ("keep", program(record.clone(), keep), 1 + steps),
        ("take", program(record, take), 1 + 2 * steps),
        ("closure", program(closure, make), 1 + steps),
        ("message", program(message, print), 1 + steps),
        ("zero", program(String::new(), zero.to_owned()), 1 + steps),
        (
            "copy",
            program(String::new(), [zero, copy].concat()),
            1 + 2 * steps,
        ),
        (
            "part",
            program(
                String::new(),
                [zero, "array_copy &1, &0, %1 @7..8"].concat(),
            ),
            1 + 3 * steps,
        ),
        (
            "resize",
            program(
                String::new(),
                format!("{zero}%2: i32 = array_resize &0[%1], {WORDS} @7..8"),
            ),
            1 + 2 * steps,
        ),
    ]
}

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
    for (name, text, steps) in programs() {
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
