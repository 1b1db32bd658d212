//! What becomes of each decision beside one point, by the rules `edge`.

use super::sampler::BlockSampler;
use super::search::{SearchedKernel, search};
use super::worker::Worker;
use crate::evaluator::EngineError;
use crate::gradient::jump::decisions::{JumpDecision, KernelDecisions, occurrences, trace_all};
use crate::gradient::jump::points::{Here, Sample};
use adumbra_ir::host::Host;

impl Worker<'_> {
    /// The decisions between a point and each of its neighbours.
    pub(in crate::gradient::jump) fn decisions<H: Host>(
        mut self,
        point: usize,
        host: &mut H,
    ) -> Result<Vec<JumpDecision>, EngineError> {
        let batch = self.batch;
        let first = batch.smooth.first as usize;
        let here = Here::new(self.globals, self.stride, point..point + 1, first);
        let (axes, sites) = (&batch.jumps.moves, &batch.jumps.sites[..]);
        let kernels = batch.all_kernels(0);
        let mut searched: Vec<SearchedKernel> =
            kernels.iter().copied().map(SearchedKernel::new).collect();
        let mut sampler = BlockSampler {
            here: &here,
            axes,
            program: &mut self.samplers.watched,
            host,
        };
        let own = trace_all(&mut sampler, &Sample::beside(0, 0, 0.0));
        let mut all: Vec<KernelDecisions<'_>> = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            let beside = Sample::beside(0, kernel.axis, kernel.to);
            let there = trace_all(&mut sampler, &beside);
            all.push(KernelDecisions::new(kernel, sites, [&own, &there]));
        }
        let roots = search(&mut searched, sites, &mut sampler);
        // Decisions have numbers in the run that found the root, in which others are forced.
        let found: Vec<_> = (roots.iter())
            .map(|root| {
                let before = trace_all(&mut sampler, &root.sample);
                let number = root.sample.watched as usize;
                occurrences(&before).get(number).copied()
            })
            .collect();
        self.samplers.margins.clear();
        for root in &roots {
            self.samplers.margins.add(&here, axes, &root.sample, 1.0);
        }
        self.samplers.margins.run(host);
        for (number, (root, occurrence)) in roots.iter().zip(found).enumerate() {
            let Some(occurrence) = occurrence else {
                continue;
            };
            let weight = match searched[root.kernel].is_unresolved {
                true => 0.0,
                false => self.weight(&here, number, root),
            };
            let decision = all[root.kernel].of(occurrence);
            if decision.roots == 0 {
                decision.weight = weight;
            }
            decision.roots += 1;
            decision.is_visible |= root.jump.iter().any(|jump| *jump != 0.0);
        }
        for (kernel, decisions) in searched.iter().zip(&mut all) {
            if kernel.is_unresolved {
                decisions.nullify();
            }
        }
        Ok(all.into_iter().flat_map(KernelDecisions::listed).collect())
    }
}
