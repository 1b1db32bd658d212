//! The rules `edge`: each edge between a point and a neighbour is located, and both its sides run.
//!
//! Over `[-Δ, Δ]` along an axis *x*, an edge adds *½ (f₁ - f₀) · m_θ / (|m_x| Δ)* to the gradient
//! by θ, where *m* is the margin of the decision that turns there, and *f₁* the output on the side
//! where it is greater. That is the transport theorem (Reynolds 1903) for one coordinate, as
//! differentiable renderers have it (Li, Aittala, Durand, Lehtinen 2018, *Differentiable Monte
//! Carlo ray tracing through edge sampling*). Neighbours as samples, and margins from the program
//! itself, are those of Aδ; here they only say between which samples an edge is, so slopes are
//! exact.

mod bracket;
mod coverage;
mod decisions;
mod sampler;
mod search;
mod shared;
mod worker;

pub(in crate::gradient::jump) use sampler::BlockSampler;
pub use search::{MAX_DECISIONS, MAX_ROOTS};
pub(in crate::gradient::jump) use search::{Sampler, Traced};
pub(super) use worker::{Adds, Samplers, Worker};

use super::{ProgramMaker, RulePrograms};
use crate::diagnostics::Diagnostics;
use crate::gradient::parts::{Parameter, ParameterKind};
use crate::gradient::request::GradientRequest;
use crate::gradient::{Gradient, Transformation, Transformed};
use crate::program::Program;
use adumbra_ir::passes::{Tracing, decision_names};
use std::sync::Arc;

/// The programs of edges.
#[derive(Clone, Debug)]
pub(super) struct EdgePrograms {
    /// Compares points by their decisions.
    pub(super) compared: Arc<Program>,
    /// Watches and forces decisions.
    watched: Arc<Program>,
    /// The gradient of the watched margin, by parameters and by the globals that are read.
    pub(super) margins: Gradient,
    /// The gradient of the watched margin by buffers and textures, if these are parameters.
    by_memory: Option<Gradient>,
}

impl EdgePrograms {
    /// Whether no margin has a derivative by a parameter.
    pub(super) fn is_zero(&self, parameter: &Parameter) -> bool {
        let mut of_margins = std::iter::once(&self.margins).chain(&self.by_memory);
        of_margins.all(|margins| {
            let mut same = margins.parameters().iter();
            let same = same.find(|other| {
                other.kind == parameter.kind && other.value.name == parameter.value.name
            });
            same.is_none_or(|same| same.is_zero)
        })
    }
}

impl ProgramMaker<'_> {
    /// The programs of edges, and what tracing the shader reported.
    pub(super) fn edge(&self) -> Result<(RulePrograms, Transformed), Diagnostics> {
        let watching = Transformation::Trace(Tracing::Watched);
        let differentiated = self.smooth.outputs();
        let is_differentiated =
            |name: &str| differentiated.iter().any(|output| output.name == name);
        let steps = [watching.clone(), self.drops(is_differentiated, &[])];
        let (watched, reported) = self.transformed(&steps)?;
        let read = self.read_globals();
        if reported.sites.is_empty() || read.is_empty() {
            return Ok((RulePrograms::Smooth, reported));
        }
        let by_numbers = |request: GradientRequest, parameter: &Parameter| match parameter.kind {
            ParameterKind::Input => request.by_input(parameter.value.name.clone()),
            ParameterKind::Global => request.by_global(parameter.value.name.clone()),
            ParameterKind::Buffer | ParameterKind::Texture => request,
        };
        let by_memory = |request: GradientRequest, parameter: &Parameter| match parameter.kind {
            ParameterKind::Buffer => request.by_buffer(parameter.value.name.clone()),
            ParameterKind::Texture => request.by_texture(parameter.value.name.clone()),
            ParameterKind::Input | ParameterKind::Global => request,
        };
        let of_margin = || GradientRequest::new().of(decision_names::MARGIN);
        let parameters = self.smooth.parameters();
        let numbers = parameters.iter().fold(of_margin(), by_numbers);
        let numbers = read.iter().fold(numbers, GradientRequest::by_global);
        let memory = parameters.iter().fold(of_margin(), by_memory);
        let of_trace = [&decision_names::COMPARED[..], &decision_names::SEEN].concat();
        let margins = |request: GradientRequest| {
            let steps = [
                watching.clone(),
                Transformation::Gradient(request),
                self.drops(|_| false, &of_trace),
            ];
            let (program, reported) = self.transformed(&steps)?;
            let derivative = reported.derivative.expect("one is asked for");
            Ok::<_, Diagnostics>(Gradient::of(program, derivative))
        };
        let programs = EdgePrograms {
            compared: self.compared(None)?.0,
            watched,
            margins: margins(numbers)?,
            by_memory: (memory != of_margin())
                .then(|| margins(memory))
                .transpose()?,
        };
        Ok((RulePrograms::Edge(Box::new(programs)), reported))
    }
}
