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
pub(super) use worker::{Samplers, Worker};

use super::{ProgramMaker, RulePrograms};
use crate::diagnostics::Diagnostics;
use crate::gradient::request::GradientRequest;
use crate::gradient::{Transformation, Transformed};
use crate::program::Program;
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
        let steps = [
            Transformation::Pair(request.clone()),
            self.drops(|_| false, &[]),
        ];
        let (pair, _) = self.transformed(&steps)?;
        let (compared, reported) = self.compared(Some(Transformation::Straighten))?;
        let programs = match reported.sites.is_empty() {
            true => RulePrograms::Smooth,
            false => RulePrograms::Pair(PairPrograms { compared, pair }),
        };
        Ok((programs, reported))
    }
}
