//! Superwords: where one point computes the same of four operands each, as noise does at its corners and in its octaves, one vector does.
//!
//! Four nodes of one code are a *superword*, whose lanes are theirs. Their operands are superwords in turn as far as they are alike; where they are not, lanes are put together by shuffles, and
//! what others want of a superword they take out of its lane. After Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000, who
//! begin with neighbours in memory; a point has none, so here nodes that look alike are tried, and those that save most are made.

mod find;
#[cfg(test)]
mod tests;
mod write;

use crate::critical_path::latency;
use crate::extended_blocks::ControlEvent;
use crate::graph::{Graph, Node, NodeId, NodeOp};
use crate::graph_builder::Computation;
use crate::renumber::replace_nodes;
use find::Superwords;
use std::ops::Range;
use write::SuperwordWriter;

/// Lanes of a superword.
const SUPERWORD_WIDTH: usize = 4;

/// Nodes between two events in which superwords are looked for, at most.
const MAX_NODES: usize = 4096;

/// Instructions that processors compute in a cycle, about.
const ISSUE_WIDTH: u32 = 3;

/// Puts nodes of a tree into superwords. They are looked for where there are more instructions than the longest chain leaves time for: elsewhere nobody would be served.
pub(crate) fn pack_superwords(tree: &mut Computation, events: &mut [ControlEvent]) {
    let uses = tree.use_counts();
    let graph = &tree.graph;
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
    // Each with the cycles that it takes as it is, where superwords are looked for.
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
    let stores = tree.stores.iter_mut().map(|store| &mut store.after);
    for behind in stores.chain(events.iter_mut().map(|event| &mut event.after)) {
        *behind = new_ends[ends.partition_point(|&end| end <= *behind)] - 1;
    }
    let SuperwordWriter {
        nodes,
        renumbered: names,
        origins,
        ..
    } = out;
    replace_nodes(tree, events, nodes, &names, &origins);
}

/// Those of some nodes that somebody wants. What is fixed costs nothing, and stays for those who are behind it.
fn live_nodes(
    graph: &Graph,
    uses: &[u32],
    nodes: Range<NodeId>,
) -> impl Iterator<Item = NodeId> + Clone {
    nodes.filter(|&id| uses[id as usize] > 0 || graph.node(id).op.needs_no_location())
}

/// Whether superwords can be made of nodes of a code: each lane stands by itself.
fn is_elementwise(code: NodeOp) -> bool {
    use NodeOp::*;
    matches!(
        code,
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

/// The cycles of the longest chain among nodes of a range, and how many instructions they are.
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
