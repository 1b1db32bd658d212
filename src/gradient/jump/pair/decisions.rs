//! What becomes of each decision beside one point, by the rules `pair`.

use super::worker::Worker;
use crate::diagnostics::Diagnostics;
use crate::evaluator::EngineError;
use crate::gradient::Transformation;
use crate::gradient::jump::ProgramMaker;
use crate::gradient::jump::blocks::BlockWorker;
use crate::gradient::jump::decisions::{JumpDecision, KernelDecisions, occurrences, trace_all};
use crate::gradient::jump::edge::BlockSampler;
use crate::gradient::jump::points::{Here, Sample};
use crate::gradient::request::GradientRequest;
use crate::program::Program;
use adumbra_ir::host::Host;
use adumbra_ir::passes::{Tracing, decision_names, pair_names};
use std::sync::Arc;

/// The programs by which decisions of pairs are looked at.
#[derive(Clone, Debug)]
pub(in crate::gradient::jump) struct PairDecisions {
    /// Watches a decision of the straight-line code.
    watched: Arc<Program>,
    /// Says what becomes of one between two samples.
    looked_at: Arc<Program>,
}

impl ProgramMaker<'_> {
    /// The programs that decisions of pairs are looked at by.
    pub(in crate::gradient::jump) fn pair_decisions(
        &self,
        request: &GradientRequest,
    ) -> Result<PairDecisions, Diagnostics> {
        let steps = [
            Transformation::Straighten,
            Transformation::Trace(Tracing::Watched),
        ];
        let (watched, _) = self.transformed(&steps)?;
        let looking = Transformation::PairDecisions(request.clone());
        let (looked_at, _) = self.transformed(&[looking])?;
        Ok(PairDecisions { watched, looked_at })
    }
}

impl Worker<'_> {
    /// The decisions between a point and each of its neighbours. All samples come to all decisions,
    /// in one order.
    pub(in crate::gradient::jump) fn decisions<H: Host>(
        mut self,
        programs: &PairDecisions,
        point: usize,
        host: &mut H,
    ) -> Result<Vec<JumpDecision>, EngineError> {
        self.block(point..point + 1, point, host);
        let batch = self.batch;
        let (axes, sites) = (&batch.jumps.moves, &batch.jumps.sites[..]);
        let mut supplies = vec![true; axes.len()];
        if let Some(change) = self.found.changes.first() {
            let chosen = change.point.axis;
            supplies = (0..axes.len()).map(|axis| chosen == Some(axis)).collect();
        }
        let names = [decision_names::COMPARED, decision_names::SEEN].concat();
        let mut watched = batch.sample_program(&programs.watched, &names, &[])?;
        let names = [
            pair_names::FLIPS,
            pair_names::IS_ROOT,
            pair_names::IS_VISIBLE,
            pair_names::ROOTS,
        ];
        let mut looked_at = batch.sample_program(&programs.looked_at, &names, &[])?;
        let first = batch.smooth.first as usize;
        let here = Here::new(self.globals, self.stride, point..point + 1, first);
        let mut sampler = BlockSampler {
            here: &here,
            axes,
            program: &mut watched,
            host,
        };
        let own = trace_all(&mut sampler, &Sample::beside(0, 0, 0.0));
        let mut listed = Vec::new();
        for kernel in batch.all_kernels(0) {
            let beside = Sample::beside(0, kernel.axis, kernel.to);
            let mut sampler = BlockSampler {
                here: &here,
                axes,
                program: &mut watched,
                host,
            };
            let there = trace_all(&mut sampler, &beside);
            let mut decisions = KernelDecisions::new(kernel, sites, [&own, &there]);
            looked_at.clear();
            for watched in 0..own.len() as i32 {
                looked_at.add(&here, axes, &Sample { watched, ..beside }, 0.0);
            }
            looked_at.run(host);
            for (number, occurrence) in occurrences(&own).into_iter().enumerate() {
                if !looked_at.has_ended(number) {
                    continue;
                }
                let [flips, is_root, is_visible] =
                    [0, 1, 2].map(|scalar| looked_at.word(number, scalar) != 0);
                let roots = looked_at.word(number, 3);
                let decision = decisions.of(occurrence);
                (decision.flips, decision.roots) = (flips, usize::from(is_root));
                (decision.is_visible, decision.is_nullified) =
                    (is_visible, is_visible && roots > 1);
                if let [Some(own), Some(other)] = decision.margins
                    && is_visible
                    && roots == 1
                    && supplies[kernel.axis]
                {
                    decision.weight = 0.5 / (f64::from(own) - f64::from(other)).abs();
                }
            }
            listed.extend(decisions.listed());
        }
        Ok(listed)
    }
}
