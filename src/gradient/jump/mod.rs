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
//! `points` evaluates programs at samples, which `axes` moves. `decisions` lists what becomes of
//! the decisions beside one point. `antialias` draws the image whose derivative `edge` is.

mod antialias;
mod axes;
mod batch;
mod blocks;
mod decisions;
mod edge;
mod image_points;
mod kernels;
mod noise;
mod pair;
mod places;
mod points;

pub use axes::{Axis, MAX_AXES};
pub use batch::{JumpBatch, JumpPoint, JumpReport, QuietRules};
pub use decisions::{JumpDecision, JumpDecisions, MAX_LISTED_DECISIONS};
pub use edge::{MAX_DECISIONS, MAX_ROOTS};
pub use noise::{NoisyProgram, RandomInput};

use super::parts::{Mode, Parameter};
use super::request::GradientRequest;
use super::shader::{read_globals, refused};
use super::{Gradient, Transformation, Transformed};
use crate::compiler::Origin;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::program::Program;
use crate::sources::Sources;
use crate::value::Part;
use adumbra_ir::passes::{DecisionKind, DecisionSite, Tracing, decision_names};
use adumbra_ir::{Code, Span, Type};
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
    ends: Vec<Diagnostic>,
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
    ) -> Result<(Arc<Program>, Transformed), Diagnostics> {
        self.origin.transformed(self.program.sources(), steps)
    }

    /// The names of the globals with floats that the program reads.
    fn read_globals(&self) -> Vec<String> {
        let read = read_globals(self.program.module());
        let members = self.program.globals().members().iter().zip(read);
        let has_floats = |ty: &Type| !ty.float_scalars().is_empty();
        members
            .filter(|(member, is_read)| *is_read && has_floats(member.ty()))
            .map(|(member, _)| member.name().to_owned())
            .collect()
    }

    /// The axes along which nothing moves that the program reads.
    fn unmoved(&self, axes: &[Axis], moves: &[AxisMoves]) -> Vec<Diagnostic> {
        let read = self.read_globals();
        let layout = self.program.globals();
        let read = read.iter().filter_map(|name| layout.member(name));
        let words: Vec<_> = read
            .map(|member| member.part(Part::Value as usize))
            .collect();
        let is_read = |word: usize| words.iter().any(|words| words.contains(&word));
        let shader = self.program.entry_span();
        let along = axes.iter().zip(moves);
        let unmoved = along.filter(|(_, axis)| !axis.moves.iter().any(|(word, _)| is_read(*word)));
        let warnings = unmoved.map(|(axis, _)| {
            let name = axis.name_in(layout);
            let message = format!("along the axis `{name}` nothing moves that the shader reads");
            Diagnostic::new(Code::UnmovedAxis, shader, message)
                .here("has no edges between its neighbours along that axis")
                .help("an axis is a float of a global that the shader reads")
        });
        warnings.collect()
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

    /// A program that compares points by their decisions, after a step, and what tracing them
    /// reported.
    fn compared(
        &self,
        first: Option<Transformation>,
    ) -> Result<(Arc<Program>, Transformed), Diagnostics> {
        let trace = Transformation::Trace(Tracing::Compared);
        let drops = self.drops(|_| false, &[decision_names::COUNT]);
        let steps: Vec<Transformation> = first.into_iter().chain([trace, drops]).collect();
        self.transformed(&steps)
    }
}

/// Where gradients end, in order of places.
fn ends(smooth: &Gradient, programs: &RulePrograms, sites: &[DecisionSite]) -> Vec<Diagnostic> {
    let of_margins = match programs {
        RulePrograms::Edge(programs) => programs.margins.ends(),
        RulePrograms::Smooth | RulePrograms::Pair(_) => &[],
    };
    let decides = |span: Span| {
        let is_cast = |site: &&DecisionSite| site.kind == DecisionKind::Trunc;
        sites.iter().filter(is_cast).any(|site| site.span == span)
    };
    let ends = smooth.ends().iter().chain(of_margins);
    let mut ends: Vec<Diagnostic> = ends.filter(|end| !decides(end.span)).cloned().collect();
    ends.sort_by_key(|end| end.span);
    ends.dedup_by_key(|end| end.span);
    ends
}

impl JumpGradient {
    /// The gradient of the smooth parts. Its program's outputs have the names of the gradients;
    /// what jumps add is added to these.
    pub fn smooth(&self) -> &Gradient {
        &self.smooth
    }

    /// The sampling axes: those with neighbours, then random variables.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether a parameter moves edges: whether the margin of a decision has a derivative by it.
    /// Always by the rules [`Pair`](JumpRules::Pair), which know no margins.
    pub fn moves_edges(&self, parameter: &Parameter) -> bool {
        match &self.programs {
            RulePrograms::Smooth => false,
            RulePrograms::Pair(_) => true,
            RulePrograms::Edge(programs) => !programs.is_zero(parameter),
        }
    }

    /// Whether the gradient by a parameter is 0 at every point: neither an output nor the margin of
    /// a decision has a derivative by it.
    pub fn is_zero(&self, parameter: &Parameter) -> bool {
        parameter.is_zero && !self.moves_edges(parameter)
    }

    /// Where gradients end that would matter, in outputs or in margins of decisions: as
    /// [`Gradient::ends`] has them, without the conversions to integers that are decisions, and
    /// what edges do not count: equalities of floats that vary (W0519), and axes along which
    /// nothing moves (W0520). They are in order of places.
    pub fn ends(&self) -> &[Diagnostic] {
        &self.ends
    }

    /// How many axes have neighbours.
    fn neighbour_axes(&self) -> usize {
        self.axes.iter().filter(|axis| !axis.is_random()).count()
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
    /// As those of [`gradient`](Program::gradient); if its mode is forward; if there is no axis,
    /// one is no float of a global, or there are more than [`MAX_AXES`]. By the rules
    /// [`Pair`](JumpRules::Pair) if it is by buffers or textures, or if the shader has loops that
    /// neighbours may leave at different iterations, recursion, effects in branches, or arrays that
    /// are indexed by what varies ([E0571](crate::diagnostics::page)).
    pub fn jump_gradient(
        &self,
        request: &GradientRequest,
        axes: &[Axis],
        rules: JumpRules,
    ) -> Result<JumpGradient, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let smooth = self.gradient(request)?;
        if request.mode() == Mode::Forward {
            let what = "a gradient through discontinuities is backward, and this one is forward";
            return Err(self.refused(refused(self.entry_span(), what)));
        }
        let mut axes = axes.to_vec();
        axes.sort_by_key(Axis::is_random);
        let moves = moves(&axes, self.globals())
            .map_err(|error| self.refused(self.axis_diagnostic(&error, &axes)))?;
        let maker = ProgramMaker {
            origin: self.origin(),
            program: self,
            smooth: &smooth,
        };
        let (programs, reported) = match rules {
            JumpRules::Pair => maker.pair(request)?,
            JumpRules::Edge => maker.edge()?,
        };
        let Transformed {
            sites, equalities, ..
        } = reported;
        let mut ends = ends(&smooth, &programs, &sites);
        let uncounted = equalities.into_iter().map(|place| {
            let message = "this equality is no decision: a jump where it turns does not count";
            Diagnostic::new(Code::VaryingEquality, place, message)
                .here("of floats that vary")
                .help("compare with a width: `abs(a - b) < w`")
        });
        ends.extend(uncounted);
        ends.extend(maker.unmoved(&axes, &moves));
        ends.sort_by_key(|end| end.span);
        Ok(JumpGradient {
            ends,
            smooth,
            axes,
            moves,
            programs,
            sites,
        })
    }

    fn entry_span(&self) -> Span {
        self.module().entry().span
    }

    fn refused(&self, diagnostic: Diagnostic) -> Diagnostics {
        let none = Sources::new("<program>", "");
        Diagnostics::new(vec![diagnostic], self.sources().unwrap_or(&none))
    }

    fn axis_diagnostic(&self, error: &AxisError, axes: &[Axis]) -> Diagnostic {
        let shader = self.entry_span();
        match error {
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
            AxisError::Several(name) => refused(
                shader,
                format!("`{name}` has several floats, and an axis is one"),
            )
            .help(format!("say which: `{name}.x` or `{name}.y`, or give both")),
            AxisError::Spacing(axis) => refused(
                shader,
                format!("neighbours along `{axis}` have no distance: it is above 0 and finite"),
            ),
            AxisError::Twice(axis) => refused(
                shader,
                format!("`{axis}` is given twice among {} axes", axes.len()),
            ),
        }
    }
}
