//! Superword-level parallelism (SLP): four like operations of one point, as in the corners and
//! octaves of noise, become one vector operation.
//!
//! Four nodes of one operation are a *superword*, with a node in each element. Their operands are
//! superwords in turn as far as they are alike; elsewhere shuffles gather the elements, and other
//! users extract a node from its element. After Larsen and Amarasinghe, "Exploiting superword level
//! parallelism with multimedia instruction sets", PLDI 2000. Their seeds are neighbours in memory;
//! a point has none, so here like nodes are tried, and those that save most are packed.

mod find;
#[cfg(test)]
mod tests;
mod write;

use crate::control::ControlEvent;
use crate::critical_path::latency;
use crate::graph::{Graph, Node, NodeId, NodeOp};
use crate::graph_builder::Computation;
use crate::renumber::replace_nodes;
use find::Superwords;
use std::ops::Range;
use write::SuperwordWriter;

/// The elements of a superword.
const SUPERWORD_WIDTH: usize = 4;

/// The most nodes between two events that superwords are searched in.
const MAX_NODES: usize = 4096;

/// The approximate number of instructions that processors issue in a cycle.
const ISSUE_WIDTH: u32 = 3;

/// Combines nodes of an extended block into superwords, where the code is bound by throughput:
/// elsewhere the critical path bounds it, and superwords gain nothing.
pub(crate) fn form_superwords(ebb: &mut Computation, events: &mut [ControlEvent]) {
    let uses = ebb.use_counts();
    let graph = &ebb.graph;
    let mut ends: Vec<NodeId> = events.iter().map(|event| event.after + 1).collect();
    ends.push(graph.nodes.len() as NodeId);
    ends.dedup();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let parts = starts.zip(&ends).map(|(start, &end)| {
        let part = start..end;
        let wanted = live_nodes(graph, &uses, part.clone());
        let (chain, count) = schedule(wanted.map(|id| (id, graph.node(id))), part.clone());
        let is_free = chain < count / ISSUE_WIDTH && part.len() <= MAX_NODES;
        (part, is_free.then_some(count / ISSUE_WIDTH))
    });
    // Each with its cycles without superwords, where superwords are searched.
    let parts: Vec<(Range<NodeId>, Option<u32>)> = parts.collect();
    if parts.iter().all(|(_, cycles)| cycles.is_none()) {
        return;
    }
    let pairs = graph.are_pairs();
    let search = |(part, cycles): (Range<NodeId>, Option<u32>)| {
        let mut superwords = Superwords::new(graph, part, &uses, &pairs);
        if cycles.is_some() {
            superwords.search();
        }
        (superwords, cycles.unwrap_or_default())
    };
    let found: Vec<(Superwords<'_>, u32)> = parts.into_iter().map(search).collect();
    if found
        .iter()
        .all(|(superwords, _)| superwords.all.is_empty())
    {
        return;
    }
    let mut out = SuperwordWriter::new(graph);
    let write = |(mut superwords, cycles): (Superwords<'_>, u32)| {
        out.write(&mut superwords, cycles);
        out.nodes.len() as NodeId
    };
    let new_ends: Vec<NodeId> = found.into_iter().map(write).collect();
    let stores = ebb.stores.iter_mut().map(|store| &mut store.after);
    for after in stores.chain(events.iter_mut().map(|event| &mut event.after)) {
        *after = new_ends[ends.partition_point(|&end| end <= *after)] - 1;
    }
    let SuperwordWriter {
        nodes,
        renumbered: names,
        origins,
        ..
    } = out;
    replace_nodes(ebb, events, nodes, &names, &origins);
}

/// The live ones of some nodes. Constants cost nothing, and stay for later nodes.
fn live_nodes(
    graph: &Graph,
    uses: &[u32],
    nodes: Range<NodeId>,
) -> impl Iterator<Item = NodeId> + Clone {
    nodes.filter(|&id| uses[id as usize] > 0 || graph.node(id).op.needs_no_location())
}

/// Whether superwords can be made of nodes of an operation: each element is computed by itself.
fn is_elementwise(op: NodeOp) -> bool {
    use NodeOp::*;
    matches!(
        op,
        Sqrt | RoundEven
            | RoundDown
            | RoundUp
            | RoundToZero
            | Truncate
            | ToI32
            | ToU32
            | FromI32
            | ShlBy
            | ShrBy
            | SarBy
            | Add
            | Sub
            | Mul
            | Div
            | Lt
            | Le
            | Eq
            | Min
            | Max
            | And
            | Or
            | Xor
            | AndNot
            | IAdd
            | ISub
            | IMul
            | Shl
            | Shr
            | Sar
            | ILt
            | IEq
            | IMin
            | IMax
            | MulAdd
            | NegMulAdd
            | MulSub
            | NegMulSub
            | Select
    )
}

/// The operands of a node.
fn operands(node: Node) -> impl Iterator<Item = NodeId> {
    let count = node.op.operand_count();
    [node.a, node.b, node.c].into_iter().take(count)
}

/// The critical path in cycles of nodes of a range, and their number of instructions.
fn schedule(nodes: impl Iterator<Item = (NodeId, Node)>, range: Range<NodeId>) -> (u32, u32) {
    let mut done = vec![0; range.len()];
    let (mut longest, mut instructions) = (0, 0);
    for (id, node) in nodes {
        let mut start = 0;
        node.for_each_operand(|operand| {
            let operand = operand.checked_sub(range.start);
            start = start.max(operand.map_or(0, |operand| done[operand as usize]));
        });
        let end = start + latency(node.op);
        done[(id - range.start) as usize] = end;
        longest = longest.max(end);
        instructions += u32::from(!node.op.needs_no_location());
    }
    (longest, instructions)
}
