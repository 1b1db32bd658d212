//! Tests of the reference evaluator: every kind of instruction, shadows, faults and limits.

mod arrays;
mod control;
mod host;
mod origins;
mod tapes;
mod values;
mod wide;

use super::*;
use crate::host::{
    CANONICAL_NAN, ClosureNode, ClosureRef, ConstantTexture, FaultKind, MAX_CALL_DEPTH,
    SampleRequest, Sampled,
};
use crate::module::ClosureId;
use crate::span::FileId;
use crate::text::parse;
use crate::types::Direction;
use crate::verify;

/// A module of globals a, b: float and n: int, and functions; the first one is the shader.
fn module(functions: &str, declarations: &str) -> Module {
    let text = format!(
        "adumbra ir 1 global a: float global b: float global n: int texture wood
         closure glow(float, int) {declarations} entry main {functions}"
    );
    let module = match parse(&text, FileId::MAIN) {
        Ok(module) => module,
        Err(d) => panic!("{} at `{}`", d.message, &text[d.span.start as usize..]),
    };
    if let Err(violations) = verify(&module) {
        panic!("{}", violations[0]);
    }
    module
}

/// A shader with one float output.
fn float_shader(body: &str) -> Module {
    module(
        &format!("fn main() -> (f32:xy) ^0 {{ {body} }}"),
        "output o: float",
    )
}

/// A shader with one int output; `others` are functions after it.
fn int_shader(body: &str, others: &str) -> Module {
    module(
        &format!("fn main() -> (i32) ^0 {{ {body} }} {others}"),
        "output o: int",
    )
}

fn point<F: Number>(a: [F; 3], b: [F; 3], n: i32) -> EvalPoint<F> {
    EvalPoint {
        globals: vec![
            EvalValue::float(a[0], [a[1], a[2]]),
            EvalValue::float(b[0], [b[1], b[2]]),
            EvalValue::word(n as u32),
        ],
        inputs: Vec::new(),
        buffers: Default::default(),
        replaced: None,
    }
}

fn run<F: Number>(module: &Module, point: &EvalPoint<F>, options: EvalOptions) -> EvalOutcome<F> {
    evaluate(
        module,
        point,
        &options,
        &mut ConstantTexture([0.25, 0.5, 0.75, 1.0]),
    )
}

/// The only output at a = 2 (+0.5 x −0.25 y), b = 3 (+1 x), n = 5.
fn output(module: &Module, shadows: ShadowMode) -> EvalValue {
    let point = point([2.0, 0.5, -0.25], [3.0, 1.0, 0.0], 5);
    let outcome = run(
        module,
        &point,
        EvalOptions {
            shadows,
            ..EvalOptions::default()
        },
    );
    assert!(outcome.faults.is_empty());
    outcome.outputs[0]
}

/// The int output and the kinds of faults, at that n.
fn int_output(module: &Module, n: i32, limits: Limits) -> (i32, Vec<FaultKind>) {
    let point = point([0.0; 3], [0.0; 3], n);
    let outcome = run(
        module,
        &point,
        EvalOptions {
            limits,
            ..EvalOptions::default()
        },
    );
    let faults = outcome.faults.iter().map(|f| f.kind).collect();
    (outcome.outputs[0].word as i32, faults)
}
