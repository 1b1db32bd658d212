//! Lineage: the values that can have a nonzero shadow, because they depend on a global. In the AD
//! literature such values are *varied*.
//!
//! Assumes the function's [`ShadowFlow`]. Guarantees the least solution: a node has a direction
//! exactly if an edge path leads to it from a source, or from a parameter with that direction. It
//! is per value, so it is flow-sensitive; an array has one set for all its elements at all times.
//! Each node changes at most twice.

use super::dataflow::FlowNode;
use super::flow_signature::FlowSignature;
use super::shadow_flow::{ShadowFlow, inner_in};
use crate::types::Lanes;

/// The lineage of each node, where `ins` is that of the function's ins. `state` and `work` are
/// overwritten.
pub(super) fn lineage(
    flow: &ShadowFlow<'_>,
    signature: &FlowSignature,
    ins: &[Lanes],
    state: &mut Vec<Lanes>,
    work: &mut Vec<FlowNode>,
) {
    state.clear();
    state.resize(flow.nodes(), Lanes::NONE);
    work.clear();
    for (&slot, &lanes) in signature.ins.iter().zip(ins) {
        let node = inner_in(flow.function, slot);
        state[node as usize] |= lanes;
        work.push(node);
    }
    for &node in &flow.sources {
        state[node as usize] = Lanes::XY;
        work.push(node);
    }
    flow.forward.propagate(state, work);
}
