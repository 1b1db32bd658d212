//! Shader groups and instances over the public API: what is wired does what it would do by hand, in
//! one program.

mod closures;
mod errors;
mod file;
mod fold;
mod wiring;

use adumbra::{
    Compiler, Diagnostic, Diagnostics, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance,
    Limits, Options, Program, SampleRequest, Sampled, Sources, evaluator::Engine, group::Group,
};
use std::sync::Arc;

/// Texels that depend on the coordinates, and a record of the requests.
#[derive(Default)]
pub(crate) struct Recorder(Vec<SampleRequest>);

impl Host for Recorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.push(*request);
        let texel = [request.u.fract(), request.v.fract(), 0.5, 1.0];
        Sampled::Ready(texel)
    }
}

pub(crate) fn sources(text: &str) -> Sources {
    Sources::new("unit.adu", text)
}

pub(crate) fn compiler() -> Compiler {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    Compiler::new(GlobalsLayout::hit()).with_options(options)
}

pub(crate) fn compiled(group: &Group) -> Arc<Program> {
    compiler()
        .compile_group(group)
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

pub(crate) fn refused(group: &Group) -> Diagnostics {
    compiler()
        .compile_group(group)
        .expect_err("the group is wrong")
}

/// The codes of diagnostics.
pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|d| d.code.to_string()).collect()
}

/// A point whose globals all have values and shadows.
pub(crate) fn globals(layout: &GlobalsLayout) -> Globals {
    let mut globals = Globals::new(layout);
    for (k, member) in layout.members().iter().enumerate() {
        let x = 0.3 + k as f32;
        globals
            .set(
                member.name(),
                [x, x * 0.7, 1.5 - x],
                [0.01, 0.02, -0.01],
                [0.005, -0.01, 0.02],
            )
            .expect("the members of a hit are float3");
    }
    globals
}

/// Evaluates one point with both engines, which agree; gives the point engine's evaluator and what
/// was sampled.
pub(crate) fn evaluated(instance: &Instance) -> (Evaluator, Vec<SampleRequest>) {
    let run = |engine| {
        let mut evaluator = Evaluator::with(instance, engine, Limits::default()).unwrap();
        let mut host = Recorder::default();
        evaluator.evaluate(&globals(instance.program().globals()), &mut host);
        (evaluator, host.0)
    };
    let (reference, point) = (run(Engine::Reference), run(Engine::Point));
    assert_eq!(seen(&reference), seen(&point), "the engines agree");
    point
}

/// Everything that can be seen of a point, as text.
pub(crate) fn seen((evaluator, requests): &(Evaluator, Vec<SampleRequest>)) -> String {
    let mut seen = String::new();
    for output in evaluator.outputs() {
        seen += &match output.closure() {
            Some(closure) => format!("{}: {}\n", output.name(), closure.text().unwrap()),
            None => {
                let derivatives = output.dual().map(|Dual { ddx, ddy, .. }| [ddx, ddy]);
                let derivatives = derivatives.map(|both| both.map(|part| part.to_string()));
                format!("{}: {} {derivatives:?}\n", output.name(), output.value())
            }
        };
    }
    let textures = evaluator.instance().program().textures();
    for request in requests {
        seen += &format!("{} {request:?}\n", textures[request.texture.index()].name);
    }
    seen + &format!("{:?}", evaluator.faults())
}
