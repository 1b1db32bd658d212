//! Superwords: where one point computes the same of four operands each, as noise does at its corners and in its octaves, one vector does.
//!
//! Four nodes of one code are a *superword*, whose lanes are theirs. Their operands are superwords in turn as far as they are alike; where they are not, lanes are put together by shuffles, and
//! what others want of a superword they take out of its lane. After Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000, who
//! begin with neighbours in memory; a point has none, so here nodes that look alike are tried, and those that save most are made.

mod find;
#[cfg(test)]
mod tests;
mod write;

use crate::chain::cycles;
use crate::compute::Computation;
use crate::flow::Event;
use crate::graph::{Code, Graph, Id, Node};
use crate::order::rename;
use find::Superwords;
use std::ops::Range;
use write::Out;

/// Lanes of a superword.
const LANES: usize = 4;

/// Nodes between two events in which superwords are looked for, at most.
const MAX_NODES: usize = 4096;

/// Instructions that processors compute in a cycle, about.
const WIDTH: u32 = 3;

/// Puts nodes of a tree into superwords. They are looked for where there are more instructions than the longest chain leaves time for: elsewhere nobody would be served.
pub(crate) fn pack(tree: &mut Computation, events: &mut [Event]) {
    let uses = tree.uses();
    let graph = &tree.graph;
    let mut ends: Vec<Id> = events.iter().map(|event| event.behind + 1).collect();
    ends.push(graph.nodes.len() as Id);
    ends.dedup();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let parts = starts.zip(&ends).map(|(start, &end)| {
        let part = start..end;
        let wanted = wanted(graph, &uses, part.clone());
        let (chain, count) = time(wanted.map(|id| (id, graph.node(id))), part.clone());
        let is_free = chain < count / WIDTH && part.len() <= MAX_NODES;
        (part, is_free.then_some(count / WIDTH))
    });
    // Each with the cycles that it takes as it is, where superwords are looked for.
    let parts: Vec<(Range<Id>, Option<u32>)> = parts.collect();
    if parts.iter().all(|(_, cycles)| cycles.is_none()) {
        return;
    }
    let pairs = graph.pairs();
    let search = |(part, cycles): (Range<Id>, Option<u32>)| {
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
    let mut out = Out::new(graph);
    let write = |(mut superwords, cycles): (Superwords<'_>, u32)| {
        out.write(&mut superwords, cycles);
        out.nodes.len() as Id
    };
    let new_ends: Vec<Id> = found.into_iter().map(write).collect();
    let stores = tree.stores.iter_mut().map(|store| &mut store.behind);
    for behind in stores.chain(events.iter_mut().map(|event| &mut event.behind)) {
        *behind = new_ends[ends.partition_point(|&end| end <= *behind)] - 1;
    }
    let Out {
        nodes,
        names,
        origins,
        ..
    } = out;
    rename(tree, events, nodes, &names, &origins);
}

/// Those of some nodes that somebody wants. What is fixed costs nothing, and stays for those who are behind it.
fn wanted(graph: &Graph, uses: &[u32], nodes: Range<Id>) -> impl Iterator<Item = Id> + Clone {
    nodes.filter(|&id| uses[id as usize] > 0 || graph.node(id).code.is_fixed())
}

/// Whether superwords can be made of nodes of a code: each lane stands by itself.
fn is_each(code: Code) -> bool {
    use Code::*;
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
fn operands(node: Node) -> impl Iterator<Item = Id> {
    let count = node.code.operands();
    [node.a, node.b, node.c].into_iter().take(count)
}

/// The cycles of the longest chain among nodes of a range, and how many instructions they are.
fn time(nodes: impl Iterator<Item = (Id, Node)>, range: Range<Id>) -> (u32, u32) {
    let mut done = vec![0; range.len()];
    let (mut longest, mut instructions) = (0, 0);
    for (id, node) in nodes {
        let mut start = 0;
        node.each_operand(|operand| {
            let operand = operand.checked_sub(range.start);
            start = start.max(operand.map_or(0, |operand| done[operand as usize]));
        });
        let end = start + cycles(node.code);
        done[(id - range.start) as usize] = end;
        longest = longest.max(end);
        instructions += u32::from(!node.code.is_fixed());
    }
    (longest, instructions)
}
