//! Gradients through discontinuities, where values jump: by two sets of rules.
//!
//! An ordinary gradient is that of the smooth parts: a parameter that only moves an edge has none.
//! What a pixel shows is an average over its surroundings, and that has one. So a point is compared
//! with its neighbours along some *axes*: a point and a neighbour are a *kernel*. Where a decision
//! turns within a kernel, the outputs jump there, and the jump counts by how fast parameters move
//! the place (`edge` and `pair` say how).
//!
//! `batch` evaluates the smooth gradient, and then has blocks of points searched, on threads, by a
//! worker of the rules (`blocks`). `kernels` finds the neighbours that decide otherwise,
//! `points` evaluates programs at samples, which `axes` moves.

mod axes;
mod batch;
mod blocks;
mod edge;
mod kernels;
mod pair;
mod places;
mod points;

pub use axes::{Axis, MAX_AXES};
pub use batch::{JumpBatch, JumpPoint, JumpReport};
pub use edge::{MAX_DECISIONS, MAX_ROOTS};

use super::parts::Parameter;
use super::request::GradientRequest;
use super::shader::refused;
use super::{Gradient, Transformation};
use crate::compiler::Origin;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::program::Program;
use crate::sources::Sources;
use adumbra_ir::Span;
use adumbra_ir::passes::{DecisionSite, Tracing, decision_names};
use adumbra_vm::FloatEnvironment;
use axes::{AxisError, AxisMoves, moves};
use edge::EdgePrograms;
use pair::PairPrograms;
use std::sync::Arc;

/// The rules by which what jumps has a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpRules {
    /// Those of Aδ (Yang, Barnes, Adams, Finkelstein 2022): secants between a point and its
    /// neighbour in the place of partials. One edge counts between the two; the error is of first
    /// order in their distance. The shader's branches are flattened and its loops unrolled, so
    /// [E0571](crate::diagnostics::page) refuses those that cannot be.
    Pair,
    /// Edges are located, the shader runs on both sides of each, and slopes are exact. Any control
    /// flow is allowed.
    Edge,
}

/// The programs by which a shader is differentiated through its discontinuities.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::batch::{BatchGlobals, OutputPlane, Part};
/// use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
/// // White left of `edge`, which lies between the points 0 and 1.
/// let source = "shader s(float edge = 0.4, out float c) { c = step(global_value<x>, edge); }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let axes = [Axis::new("x", 0, 1.0)];
/// let jumps = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Edge)?;
///
/// let x = [-1.0_f32, 0.0, 1.0, 2.0];
/// let gradient = jumps.smooth().program();
/// let mut globals = BatchGlobals::new(gradient.globals());
/// globals.plane("x", Part::Value, 0, &x, 1)?;
/// globals.uniform("d(c)", 1.0_f32, 0.0, 0.0)?;
/// let mut by_edge = [0.0_f32; 4];
/// let planes = &mut [OutputPlane::new("d(edge)", Part::Value, 0, &mut by_edge, 1)];
/// let batch = JumpBatch::new(&jumps, &Instance::new(gradient));
/// batch.planes(&globals, 0..4, planes, || NoTextures)?;
/// // Both points beside the edge see it, each in half of its surroundings.
/// assert_eq!(by_edge, [0.0, 0.5, 0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JumpGradient {
    smooth: Gradient,
    axes: Vec<Axis>,
    moves: Vec<AxisMoves>,
    programs: RulePrograms,
    sites: Vec<DecisionSite>,
}

/// The programs of the rules.
#[derive(Clone, Debug)]
enum RulePrograms {
    /// Nothing decides, or nothing moves along the axes: the gradient is the smooth one.
    Smooth,
    Pair(PairPrograms),
    Edge(Box<EdgePrograms>),
}

/// Makes programs of a shader for rules.
struct ProgramMaker<'p> {
    origin: &'p Origin,
    program: &'p Program,
    smooth: &'p Gradient,
}

impl ProgramMaker<'_> {
    /// The program transformed by these steps, and what they report.
    fn transformed(
        &self,
        steps: &[Transformation],
    ) -> Result<(Arc<Program>, super::Transformed), Diagnostics> {
        self.origin.transformed(self.program.sources(), steps)
    }

    /// A step that drops the shader's own outputs, but for those that are kept, and some of a
    /// trace.
    fn drops(&self, keeps: impl Fn(&str) -> bool, of_trace: &[&str]) -> Transformation {
        let own = self.program.outputs().iter();
        let own = own.map(|output| output.name.as_str());
        let dropped = own
            .filter(|name| !keeps(name))
            .chain(of_trace.iter().copied());
        Transformation::Drop(dropped.map(str::to_owned).collect())
    }

    /// A program that compares points by their decisions, after a step, and the sites of these.
    fn compared(
        &self,
        first: Option<Transformation>,
    ) -> Result<(Arc<Program>, Vec<DecisionSite>), Diagnostics> {
        let trace = Transformation::Trace(Tracing::Compared);
        let drops = self.drops(|_| false, &[decision_names::COUNT]);
        let steps: Vec<Transformation> = first.into_iter().chain([trace, drops]).collect();
        let (program, reported) = self.transformed(&steps)?;
        Ok((program, reported.sites))
    }
}

impl JumpGradient {
    /// The gradient of the smooth parts. Its program's outputs have the names of the gradients;
    /// what jumps add is added to these.
    pub fn smooth(&self) -> &Gradient {
        &self.smooth
    }

    /// The sampling axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether the gradient by a parameter is 0 at every point: neither an output nor the margin of
    /// a decision has a derivative by it.
    pub fn is_zero(&self, parameter: &Parameter) -> bool {
        parameter.is_zero
            && match &self.programs {
                RulePrograms::Smooth => true,
                RulePrograms::Pair(_) => false,
                RulePrograms::Edge(programs) => programs.is_zero(parameter),
            }
    }

    /// The places in the source that decide.
    pub fn sites(&self) -> &[DecisionSite] {
        &self.sites
    }
}

impl Program {
    /// The gradient of [`gradient`](Program::gradient) through discontinuities, by these rules,
    /// sampled along these axes: floats of globals, with the distances of neighbouring points.
    ///
    /// # Errors
    /// As those of [`gradient`](Program::gradient); if there is no axis, one is no float of a
    /// global, or there are more than [`MAX_AXES`]. By the rules [`Pair`](JumpRules::Pair) if it is
    /// by buffers or textures, or if the shader has loops that neighbours may leave at different
    /// iterations, recursion, effects in branches, or arrays that are indexed by what varies
    /// ([E0571](crate::diagnostics::page)).
    pub fn jump_gradient(
        &self,
        request: &GradientRequest,
        axes: &[Axis],
        rules: JumpRules,
    ) -> Result<JumpGradient, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let smooth = self.gradient(request)?;
        let moves = moves(axes, self.globals()).map_err(|error| self.refused(&error, axes))?;
        let maker = ProgramMaker {
            origin: self.origin().expect("it has a gradient"),
            program: self,
            smooth: &smooth,
        };
        let (programs, sites) = match rules {
            JumpRules::Pair => maker.pair(request)?,
            JumpRules::Edge => maker.edge()?,
        };
        Ok(JumpGradient {
            smooth,
            axes: axes.to_vec(),
            moves,
            programs,
            sites,
        })
    }

    fn refused(&self, error: &AxisError, axes: &[Axis]) -> Diagnostics {
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
