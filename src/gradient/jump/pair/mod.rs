//! The rules `pair`: a program that reads a point and its neighbour gives the derivative of the
//! jump by the margin (Yang, Barnes, Adams, Finkelstein 2022, *Aδ: autodiff for discontinuous
//! programs*).
//!
//! The gradient along an axis is the mean of its two kernels. A kernel in which no root is visible
//! has the smooth gradient at the point; one in which several are has none: it is *nullified*. Of
//! the axes the one counts whose root has margins that are farthest apart.

mod decisions;
mod worker;

pub(super) use decisions::PairDecisions;
pub(super) use worker::Worker;

use super::{ProgramMaker, RulePrograms};
use crate::diagnostics::Diagnostics;
use crate::gradient::request::GradientRequest;
use crate::gradient::{Transformation, Transformed};
use crate::program::Program;
use adumbra_ir::passes::Tracing;
use std::sync::Arc;

/// The programs of pairs.
#[derive(Clone, Debug)]
pub(super) struct PairPrograms {
    /// Compares points by their decisions.
    compared: Arc<Program>,
    /// The gradient of a kernel.
    pair: Arc<Program>,
}

impl ProgramMaker<'_> {
    /// The programs of pairs, and what tracing the shader reported.
    pub(super) fn pair(
        &self,
        request: &GradientRequest,
    ) -> Result<(RulePrograms, Transformed), Diagnostics> {
        // Refused first, with the reason.
        let (pair, _) = self.transformed(&[Transformation::Pair(request.clone())])?;
        let steps = [
            Transformation::Straighten,
            Transformation::Trace(Tracing::Compared),
        ];
        let (compared, reported) = self.transformed(&steps)?;
        let programs = match reported.sites.is_empty() {
            true => RulePrograms::Smooth,
            false => RulePrograms::Pair(PairPrograms { compared, pair }),
        };
        Ok((programs, reported))
    }
}
