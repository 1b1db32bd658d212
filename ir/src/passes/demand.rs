//! Demand: the values whose shadows are read in the end, by a sample, a `ddx`, a `ddy` or the host.
//! In the AD literature such values are *useful*.
//!
//! Assumes the function's [`ShadowFlow`]. Guarantees the least solution: a node has a direction
//! exactly if an edge path leads from it to a seed or a result that demands the direction. Each
//! node changes at most twice.

use super::dataflow::FlowNode;
use super::flow_signature::FlowSignature;
use super::shadow_flow::{ShadowFlow, inner_out};
use crate::types::Lanes;

/// The demand on each node, where `outs` is that on the function's outs. `state` and `work` are
/// overwritten.
pub(super) fn demand(
    flow: &ShadowFlow<'_>,
    signature: &FlowSignature,
    outs: &[Lanes],
    state: &mut Vec<Lanes>,
    work: &mut Vec<FlowNode>,
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
    flow.backward.propagate(state, work);
}
