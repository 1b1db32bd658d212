//! Shadow summaries: the effect of a call on shadows, without the callee's body.
//!
//! Lineage and demand are reachability along the same edges (Reps, Horwitz and Sagiv 1995, *Precise
//! interprocedural dataflow analysis via graph reachability*). So one relation serves both: the
//! outs that each of a function's ins flows into. With it go the outs that globals flow into, and
//! the ins whose shadows are demanded inside. None of this depends on the caller; summaries are
//! made callees first, before any variant exists. Assuming everything, beyond
//! [`MAX_FIXPOINT_ROUNDS`](super::dataflow::MAX_FIXPOINT_ROUNDS), costs lanes but no correctness.

use super::dataflow::{SummaryAnalysis, summarise};
use super::demand::demand;
use super::flow_signature::{FlowSignature, FlowSlot, INS, SOURCE, ShadowSummary};
use super::shadow_flow::{FlowOptions, ShadowFlow, Wiring, inner_in, inner_out};
use crate::calls::CallGraph;
use crate::module::{Activity, FuncId, Module};
use crate::types::Lanes;

impl ShadowSummary {
    fn nothing(signature: &FlowSignature) -> ShadowSummary {
        ShadowSummary {
            flow: vec![0; signature.outs.len()],
            demanded: vec![Lanes::NONE; signature.ins.len()],
            ruled: Vec::new(),
        }
    }

    fn everything(signature: &FlowSignature) -> ShadowSummary {
        ShadowSummary {
            flow: vec![u64::MAX; signature.outs.len()],
            demanded: vec![Lanes::XY; signature.ins.len()],
            ruled: Vec::new(),
        }
    }

    fn of(flow: &ShadowFlow<'_>, signature: &FlowSignature) -> ShadowSummary {
        let mut lanes = Vec::new();
        let mut work = Vec::new();
        demand(flow, signature, &[], &mut lanes, &mut work);
        let wants = signature.ins.iter();
        let wants = wants.map(|&slot| lanes[inner_in(flow.function, slot) as usize]);

        let mut bits = vec![0; flow.nodes()];
        for (i, &slot) in signature.ins.iter().enumerate() {
            bits[inner_in(flow.function, slot) as usize] |= INS.of(i);
        }
        for &source in &flow.sources {
            bits[source as usize] |= SOURCE;
        }
        flow.forward.flood(&mut bits, &mut work);
        let outs = signature.outs.iter();
        ShadowSummary {
            flow: outs
                .map(|&slot| bits[inner_out(flow.function, slot) as usize])
                .collect(),
            demanded: wants.collect(),
            ruled: Vec::new(),
        }
    }

    /// The same, where a rule leads from these ins to these outs.
    fn with_rule(mut self, signature: &FlowSignature, activity: &Activity) -> ShadowSummary {
        let is_active = |slot: &FlowSlot, active: &[bool]| match *slot {
            FlowSlot::Scalar(at) => active[at as usize],
            FlowSlot::Array(_) => false,
        };
        let ins = signature.ins.iter().enumerate();
        let ins = ins.filter(|(_, slot)| is_active(slot, &activity.params));
        let ins = ins.fold(0, |all, (i, _)| all | INS.of(i));
        let outs = signature.outs.iter();
        self.ruled = outs
            .map(|slot| is_active(slot, &activity.results))
            .collect();
        for (flow, _) in self.flow.iter_mut().zip(&self.ruled).filter(|out| *out.1) {
            *flow = ins;
        }
        self
    }
}

/// The signatures, summaries and graphs of a whole module.
#[derive(Debug)]
pub(super) struct ShadowSummaries<'m> {
    /// By function.
    pub(super) signatures: Vec<FlowSignature>,
    /// By function; empty for the entry, which is not called, unless it is in a cycle.
    pub(super) summaries: Vec<ShadowSummary>,
    /// By function; none for unreached ones.
    flows: Vec<Option<ShadowFlow<'m>>>,
}

impl<'m> ShadowSummaries<'m> {
    /// The graph of a function that the entry reaches.
    pub(super) fn flow(&self, id: FuncId) -> &ShadowFlow<'m> {
        self.flows[id.index()].as_ref().expect("reached")
    }

    /// Summarises all functions that the entry reaches.
    pub(super) fn new(
        module: &'m Module,
        calls: &CallGraph,
        options: FlowOptions,
    ) -> ShadowSummaries<'m> {
        let mut analysis = ShadowAnalysis {
            module,
            recursive: &calls.recursive,
            options,
            signatures: module.functions.iter().map(FlowSignature::new).collect(),
            flows: module.functions.iter().map(|_| None).collect(),
        };
        let summaries = summarise(module, calls, &mut analysis);
        ShadowSummaries {
            signatures: analysis.signatures,
            summaries,
            flows: analysis.flows,
        }
    }
}

struct ShadowAnalysis<'a, 'm> {
    module: &'m Module,
    recursive: &'a [bool],
    options: FlowOptions,
    signatures: Vec<FlowSignature>,
    flows: Vec<Option<ShadowFlow<'m>>>,
}

impl SummaryAnalysis for ShadowAnalysis<'_, '_> {
    type Summary = ShadowSummary;

    fn least(&self, id: FuncId) -> ShadowSummary {
        ShadowSummary::nothing(&self.signatures[id.index()])
    }

    fn greatest(&self, id: FuncId) -> ShadowSummary {
        ShadowSummary::everything(&self.signatures[id.index()])
    }

    fn summarise(&mut self, id: FuncId, summaries: &[ShadowSummary]) -> ShadowSummary {
        let wiring = Wiring {
            options: self.options,
            callees: Some((&self.signatures, summaries)),
            derivative: None,
        };
        let flow = ShadowFlow::new(self.module.function(id), &wiring);
        let signature = &self.signatures[id.index()];
        let summary = match id != self.module.entry || self.recursive[id.index()] {
            true => ShadowSummary::of(&flow, signature),
            false => self.least(id),
        };
        let summary = match self.module.function(id).shadow_rule() {
            Some((_, activity)) => summary.with_rule(signature, activity),
            None => summary,
        };
        self.flows[id.index()] = Some(flow);
        summary
    }
}
