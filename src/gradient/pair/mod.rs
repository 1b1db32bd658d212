//! Gradients through discontinuities by pairs of samples.
//!
//! A point and its neighbour along an axis are a *kernel*. Where a decision flips between the two,
//! a program that reads both gives the derivative of the jump by the margin (Yang, Barnes, Adams,
//! Finkelstein 2022, *Aδ: autodiff for discontinuous programs*). The gradient along an axis is the
//! mean of its two kernels. A kernel in which no root is visible has the smooth gradient at the
//! point; one in which several are has none.

mod batch;

pub use batch::{PairBatch, PairPoint, PairReport};

use super::edge::axes::{AxisMoves, moves};
use super::request::GradientRequest;
use super::{Axis, Gradient, Transformation};
use crate::diagnostics::Diagnostics;
use crate::program::Program;
use adumbra_ir::passes::Tracing;
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

/// The programs by which a shader is differentiated by pairs of samples.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::batch::{BatchGlobals, OutputPlane, Part};
/// use adumbra::gradient::{Axis, GradientRequest, PairBatch};
/// // White left of `edge`, which lies between the points 0 and 1.
/// let source = "shader s(float edge = 0.4, out float c) { c = step(global_value<x>, edge); }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let pairs = program.pair_gradient(&GradientRequest::new(), &[Axis::new("x", 0, 1.0)])?;
///
/// let x = [-1.0_f32, 0.0, 1.0, 2.0];
/// let gradient = pairs.smooth().program();
/// let mut globals = BatchGlobals::new(gradient.globals());
/// globals.plane("x", Part::Value, 0, &x, 1)?;
/// globals.uniform("d(c)", 1.0_f32, 0.0, 0.0)?;
/// let mut by_edge = [0.0_f32; 4];
/// let planes = &mut [OutputPlane::new("d(edge)", Part::Value, 0, &mut by_edge, 1)];
/// let batch = PairBatch::new(&pairs, &Instance::new(gradient));
/// batch.planes(&globals, 0..4, planes, || NoTextures)?;
/// assert_eq!(by_edge, [0.0, 0.5, 0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PairGradient {
    smooth: Gradient,
    axes: Vec<Axis>,
    moves: Vec<AxisMoves>,
    /// Finds points whose decisions differ, and the gradient of a kernel; `None` if nothing
    /// decides.
    programs: Option<PairPrograms>,
}

#[derive(Clone, Debug)]
struct PairPrograms {
    compared: Arc<Program>,
    pair: Arc<Program>,
}

impl PairGradient {
    /// The gradient of the smooth parts. Its program's outputs have the names of the gradients.
    pub fn smooth(&self) -> &Gradient {
        &self.smooth
    }

    /// The sampling axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }
}

impl Program {
    /// The gradient of [`gradient`](Program::gradient) through discontinuities, by pairs of samples
    /// along these axes: floats of globals, with the distances of neighbouring points.
    ///
    /// # Errors
    /// As those of [`edge_gradient`](Program::edge_gradient); if it is by buffers or textures; if
    /// the shader has loops that neighbours may leave at different iterations, recursion, effects
    /// in branches, or arrays that are indexed by what varies ([E0571](crate::diagnostics::page)).
    pub fn pair_gradient(
        &self,
        request: &GradientRequest,
        axes: &[Axis],
    ) -> Result<PairGradient, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let smooth = self.gradient(request)?;
        let moves = moves(axes, self.globals()).map_err(|error| self.refused(&error, axes))?;
        let origin = self.origin().expect("it has a gradient");
        let transformed = |steps: &[Transformation]| origin.transformed(self.sources(), steps);
        let steps = [
            Transformation::Straighten,
            Transformation::Trace(Tracing::Compared),
        ];
        // Refused first, with the reason.
        let (pair, _) = transformed(&[Transformation::Pair(request.clone())])?;
        let (compared, compared_parts) = transformed(&steps)?;
        let has_pairs = !compared_parts.sites.is_empty();
        Ok(PairGradient {
            smooth,
            axes: axes.to_vec(),
            moves,
            programs: has_pairs.then_some(PairPrograms { compared, pair }),
        })
    }
}
