//! Shadow summaries: the effect of a call on shadows, without the callee's body.
//!
//! Lineage and demand are reachability along the same edges (Reps, Horwitz and Sagiv 1995, *Precise
//! interprocedural dataflow analysis via graph reachability*). So one relation serves both: the
//! outs that each of a function's ins flows into. With it go the outs that globals flow into, and
//! the ins whose shadows are demanded inside. None of this depends on the caller; summaries are
//! made callees first, before any variant exists. Functions that call each other in a cycle iterate
//! to the least fixpoint, at most [`MAX_SUMMARY_ROUNDS`] times. Beyond that everything is assumed
//! to flow everywhere, which costs lanes but no correctness.

use super::demand::demand;
use super::shadow_flow::{FlowOptions, FlowSignature, ShadowFlow, Wiring, inner_in, inner_out};
use crate::calls::CallGraph;
use crate::module::{FuncId, Module};
use crate::types::Lanes;

/// How often functions in a cycle are summarised before everything is assumed to flow everywhere.
pub(super) const MAX_SUMMARY_ROUNDS: usize = 128;

/// Sets of ins, and globals, as bits.
pub(super) mod bit {
    /// Globals.
    pub(crate) const SOURCE: u64 = 1 << 63;
    /// The first in that shares its bit with all later ones.
    pub(crate) const SHARED: u32 = 62;

    /// The bit of an in.
    pub(crate) fn of(i: usize) -> u64 {
        1 << i.min(SHARED as usize)
    }
}

/// The effect of a call on shadows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadowSummary {
    /// By out: the ins, and perhaps globals, that flow into it.
    pub(super) flow: Vec<u64>,
    /// By in: the shadows demanded inside.
    pub(super) demanded: Vec<Lanes>,
}

impl ShadowSummary {
    fn nothing(signature: &FlowSignature) -> ShadowSummary {
        ShadowSummary {
            flow: vec![0; signature.outs.len()],
            demanded: vec![Lanes::NONE; signature.ins.len()],
        }
    }

    fn everything(signature: &FlowSignature) -> ShadowSummary {
        ShadowSummary {
            flow: vec![u64::MAX; signature.outs.len()],
            demanded: vec![Lanes::XY; signature.ins.len()],
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
            bits[inner_in(flow.function, slot) as usize] |= bit::of(i);
        }
        for &source in &flow.sources {
            bits[source as usize] |= bit::SOURCE;
        }
        flow.forward.flood(&mut bits, &mut work);
        let outs = signature.outs.iter();
        ShadowSummary {
            flow: outs
                .map(|&slot| bits[inner_out(flow.function, slot) as usize])
                .collect(),
            demanded: wants.collect(),
        }
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
        let signatures: Vec<_> = module.functions.iter().map(FlowSignature::new).collect();
        let mut summaries: Vec<_> = signatures.iter().map(ShadowSummary::nothing).collect();
        let mut flows: Vec<_> = module.functions.iter().map(|_| None).collect();
        for component in &calls.components {
            let members = &calls.order[component.clone()];
            let cyclic = calls.recursive[members[0].index()];
            for round in 0.. {
                let mut changed = false;
                for &id in members {
                    let flow = ShadowFlow::new(
                        module.function(id),
                        &Wiring {
                            options,
                            callees: Some((&signatures, &summaries)),
                            derivative: None,
                        },
                    );
                    if id != module.entry || cyclic {
                        let signature = &signatures[id.index()];
                        let new = match round {
                            0..MAX_SUMMARY_ROUNDS => ShadowSummary::of(&flow, signature),
                            _ => ShadowSummary::everything(signature),
                        };
                        changed |= new != summaries[id.index()];
                        summaries[id.index()] = new;
                    }
                    flows[id.index()] = Some(flow);
                }
                if !changed || !cyclic {
                    break;
                }
            }
        }
        ShadowSummaries {
            signatures,
            summaries,
            flows,
        }
    }
}
