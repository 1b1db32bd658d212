//! Gradients of whole shaders: what they are of and by, what they respect, what they lack, and that
//! their programs are programs as any.

mod losses;
mod parameters;
mod programs;
mod rules;
mod samples;
mod screen;

use adumbra::gradient::{Gradient, GradientRequest};
use adumbra::{
    Compiler, Diagnostics, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Program,
    Sources, Type,
};
use std::sync::Arc;

fn compiler() -> Compiler {
    let layout = GlobalsLayout::hit().with("x", Type::FLOAT);
    Compiler::new(layout.expect("a new name"))
}

fn program(source: &str) -> Arc<Program> {
    let sources = Sources::new("s.adu", source);
    compiler()
        .compile(&sources)
        .unwrap_or_else(|no| panic!("{no}"))
}

pub(crate) fn gradient(source: &str, request: GradientRequest) -> Gradient {
    let found = program(source).gradient(&request);
    found.unwrap_or_else(|no| panic!("{no}"))
}

/// The globals of a gradient's program, with floats set.
pub(crate) fn globals(program: &Program, values: &[(&str, f32)]) -> Globals {
    let mut globals = Globals::new(program.globals());
    for &(name, value) in values {
        globals.set(name, value, 0.0, 0.0).unwrap();
    }
    globals
}

/// Outputs of a program at one point, each a float.
fn outputs<const N: usize>(
    program: &Arc<Program>,
    globals: &Globals,
    names: [&str; N],
) -> [f32; N] {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    evaluator.evaluate(globals, &mut NoTextures);
    names.map(|name| evaluator.get(name).unwrap_or_else(|no| panic!("{no}")))
}

/// The gradient of `o` by floats, with the seed 1.
fn by<const N: usize>(
    source: &str,
    request: GradientRequest,
    values: &[(&str, f32)],
    names: [&str; N],
) -> [f32; N] {
    let gradient = gradient(source, request);
    let mut globals = globals(gradient.program(), values);
    globals.set("d(o)", 1.0, 0.0, 0.0).unwrap();
    outputs(gradient.program(), &globals, names)
}

fn refusal(source: &str, request: &GradientRequest) -> (String, String) {
    let no: Diagnostics = program(source).gradient(request).unwrap_err();
    let last = no.diagnostics.last().expect("there is a reason");
    (last.message.clone(), last.help.clone().unwrap_or_default())
}
