//! Gradients through discontinuities, by edges: where a decision turns between a point and a
//! neighbour, the jump of the outputs counts by how fast parameters move the place where it turns.
//!
//! An ordinary gradient is that of the smooth parts: a parameter that only moves an edge has none.
//! What a pixel shows is an average over its surroundings, and that has one: over `[-Δ, Δ]` along an
//! axis *x*, each edge within adds *½ (f₁ - f₀) · m_θ / (|m_x| Δ)*, where *m* is the margin of the
//! decision that turns there, and *f₁* the output on the side where it is greater. That is the
//! transport theorem (Reynolds 1903) for one coordinate, as differentiable renderers have it (Li,
//! Aittala, Durand, Lehtinen 2018, *Differentiable Monte Carlo ray tracing through edge sampling*);
//! neighbours as samples, and margins from the program itself, are those of Yang, Barnes, Adams,
//! Finkelstein 2022, *Aδ: autodiff for discontinuous programs*. Here edges are located, and both
//! sides are run there, so slopes are exact.

pub(super) mod axes;
pub(super) mod batch;
pub(super) mod points;
mod sample_host;
pub(super) mod search;

pub use axes::{Axis, MAX_AXES};
pub use batch::{EdgeBatch, EdgeReport};
pub use search::{MAX_DECISIONS, MAX_ROOTS};

use super::parts::{Parameter, ParameterKind};
use super::request::GradientRequest;
use super::shader::refused;
use super::{Gradient, Transformation};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::program::Program;
use crate::sources::Sources;
use adumbra_ir::passes::{DecisionSite, Tracing, decision_names};
use adumbra_ir::{Span, Type};
use adumbra_vm::FloatEnvironment;
use axes::{AxisError, AxisMoves, moves};
use std::sync::Arc;

/// The programs by which a shader is differentiated through its discontinuities.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::batch::{BatchGlobals, OutputPlane, Part};
/// use adumbra::gradient::{Axis, EdgeBatch, GradientRequest};
/// // White left of `edge`, which lies between the points 0 and 1.
/// let source = "shader s(float edge = 0.4, out float c) { c = step(global_value<x>, edge); }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let edges = program.edge_gradient(&GradientRequest::new(), &[Axis::new("x", 0, 1.0)])?;
///
/// let x = [-1.0_f32, 0.0, 1.0, 2.0];
/// let gradient = edges.smooth().program();
/// let mut globals = BatchGlobals::new(gradient.globals());
/// globals.plane("x", Part::Value, 0, &x, 1)?;
/// globals.uniform("d(c)", 1.0_f32, 0.0, 0.0)?;
/// let mut by_edge = [0.0_f32; 4];
/// let planes = &mut [OutputPlane::new("d(edge)", Part::Value, 0, &mut by_edge, 1)];
/// let batch = EdgeBatch::new(&edges, &Instance::new(gradient));
/// batch.planes(&globals, 0..4, planes, || NoTextures)?;
/// // Both points beside the edge see it, each in half of its surroundings.
/// assert_eq!(by_edge, [0.0, 0.5, 0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EdgeGradient {
    smooth: Gradient,
    axes: Vec<Axis>,
    moves: Vec<AxisMoves>,
    /// Tells points apart by their decisions.
    compared: Arc<Program>,
    /// Watches and forces decisions.
    watched: Arc<Program>,
    /// The gradient of the watched margin, by parameters and by the globals that are read; `None`
    /// if no global is, or nothing decides: then there are no edges.
    margins: Option<Gradient>,
    /// The gradient of the watched margin by buffers and textures, if these are parameters.
    by_memory: Option<Gradient>,
    sites: Vec<DecisionSite>,
}

impl EdgeGradient {
    /// The gradient of the smooth parts. Its program's outputs have the names of the gradients;
    /// what edges add is added to these.
    pub fn smooth(&self) -> &Gradient {
        &self.smooth
    }

    /// The sampling axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The places in the source that decide.
    pub fn sites(&self) -> &[DecisionSite] {
        &self.sites
    }
}

impl Program {
    /// The gradient of [`gradient`](Program::gradient), with what edges add to it, sampled along
    /// these axes: floats of globals, with the distances of neighbouring points.
    ///
    /// # Errors
    /// As those of [`gradient`](Program::gradient); if there is no axis, one is no float of a
    /// global, or there are more than [`MAX_AXES`].
    pub fn edge_gradient(
        &self,
        request: &GradientRequest,
        axes: &[Axis],
    ) -> Result<EdgeGradient, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let smooth = self.gradient(request)?;
        let moves = moves(axes, self.globals()).map_err(|error| self.refused(&error, axes))?;
        let origin = self.origin().expect("it has a gradient");
        let transformed = |steps: &[Transformation]| origin.transformed(self.sources(), steps);
        let (compared, _) = transformed(&[Transformation::Trace(Tracing::Compared)])?;
        let watching = Transformation::Trace(Tracing::Watched);
        let (watched, told) = transformed(std::slice::from_ref(&watching))?;
        let margins = |by: &dyn Fn(GradientRequest, &Parameter) -> GradientRequest,
                       others: &[String]| {
            let mut request = GradientRequest::new().of(decision_names::MARGIN);
            let mut is_any = !others.is_empty();
            for parameter in smooth.parameters() {
                let more = by(request.clone(), parameter);
                is_any |= more != request;
                request = more;
            }
            request = others.iter().fold(request, GradientRequest::by_global);
            if !is_any {
                return Ok(None);
            }
            let steps = [watching.clone(), Transformation::Gradient(request)];
            let (program, told) = transformed(&steps)?;
            let derivative = told.derivative.expect("one is asked for");
            Ok::<_, Diagnostics>(Some(Gradient::of(program, derivative)))
        };
        let read = self.read_globals();
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
        let has_edges = !told.sites.is_empty() && !read.is_empty();
        let (margins, by_memory) = match has_edges {
            false => (None, None),
            true => (margins(&by_numbers, &read)?, margins(&by_memory, &[])?),
        };
        Ok(EdgeGradient {
            smooth,
            axes: axes.to_vec(),
            moves,
            compared,
            watched,
            margins,
            by_memory,
            sites: told.sites,
        })
    }

    /// The names of the globals with floats that the program reads.
    fn read_globals(&self) -> Vec<String> {
        let read = self.module().map(super::shader::read_globals);
        let read = read.unwrap_or_default().into_iter();
        let members = self.globals().members().iter().zip(read);
        let has_floats = |ty: &Type| !ty.float_scalars().is_empty();
        members
            .filter(|(member, is_read)| *is_read && has_floats(member.ty()))
            .map(|(member, _)| member.name().to_owned())
            .collect()
    }

    pub(super) fn refused(&self, error: &AxisError, axes: &[Axis]) -> Diagnostics {
        let shader = self
            .module()
            .map_or(Span::default(), |module| module.entry().span);
        let refused: Diagnostic = match error {
            AxisError::Count(0) => refused(
                shader,
                "there is no axis along which points have neighbours",
            )
            .help("give one: a float of a global, with the distance of neighbouring points"),
            AxisError::Count(count) => refused(
                shader,
                format!("there are {count} axes, and at most {MAX_AXES} can be"),
            ),
            AxisError::Unknown(name) => {
                let known = self.globals().members().iter().map(|member| member.name());
                let refused = refused(shader, format!("there is no global `{name}` to be an axis"));
                match crate::access::closest_name(name, known) {
                    Some(meant) => refused.help(format!("did you mean `{meant}`?")),
                    None => refused.help("an axis is a float of a global, as `x` or `uv.y`"),
                }
            }
            AxisError::NoFloat(axis) => refused(
                shader,
                format!("`{axis}` is no float of a global, so it is no axis"),
            )
            .help("an axis is a float of a global, as `x` or `uv.y`"),
            AxisError::Spacing(axis) => refused(
                shader,
                format!("neighbours along `{axis}` have no distance: it is above 0 and finite"),
            ),
            AxisError::Twice(axis) => refused(
                shader,
                format!("`{axis}` is given twice among {} axes", axes.len()),
            ),
        };
        let none = Sources::new("<program>", "");
        Diagnostics::new(vec![refused], self.sources().unwrap_or(&none))
    }
}
