//! Demand: which values' shadows are read in the end, by a sample, a `ddx`, a `ddy` or the host.
//!
//! Assumes the function's [`Flow`]. Guarantees the least solution: a node has a direction exactly if an edge path leads from it to a seed that asks for it, or to
//! a result that is asked for it. Each node changes at most twice.

use super::flow::{Flow, Node, Signature, inner_out};
use crate::types::Lanes;

/// The demand on each node, where `outs` is that on what the function gives. `state` and `work` are overwritten.
pub(super) fn demand(
    flow: &Flow<'_>,
    signature: &Signature,
    outs: &[Lanes],
    state: &mut Vec<Lanes>,
    work: &mut Vec<Node>,
) {
    state.clear();
    state.resize(flow.nodes(), Lanes::NONE);
    work.clear();
    for (&slot, &lanes) in signature.outs.iter().zip(outs) {
        let node = inner_out(flow.function, slot);
        state[node as usize] |= lanes;
        work.push(node);
    }
    for seed in &flow.seeds {
        state[seed.node as usize] |= seed.lanes;
        work.push(seed.node);
    }
    flow.backward.spread(state, work);
}
