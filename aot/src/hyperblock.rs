//! Hyperblocks of a compiled loop: consecutive blocks if-converted into one graph, whose
//! instructions run for all current points.
//!
//! After Mahlke et al. 1992, "Effective Compiler Support for Predicated Execution Using the
//! Hyperblock". A hyperblock begins with the mask of its active points. Masks split where control
//! diverges; a block's instructions are computed for all points, and words that other points need
//! unchanged are selected by its mask. So short arms cost less than jumps, and values stay in
//! registers from block to block.
//!
//! A block joins the hyperblock before it if it is short, or if each point in the loop passes it
//! anyway. A block that most points would skip begins a hyperblock of its own, which is skipped
//! without active points.

use crate::graph::{NodeId, NodeOp};
use crate::graph_builder::{Computation, GraphBuilder, GraphStore, StoreTarget, dual_words};
use crate::liveness::{LoopLiveness, WordSet};
use crate::optimisation::{Optimisation, Optimisations};
use crate::template::OpTemplates;
use adumbra_vm::native::{CompiledLoop, CondBranch, Edge, LoopBlock, LoopTerminator};
use std::ops::Range;

/// Instructions of a block that is if-converted rather than jumped over.
const SHORT: usize = 4;

/// A hyperblock: blocks that run as one graph.
#[derive(Debug)]
pub(crate) struct Hyperblock {
    pub(crate) blocks: Range<u32>,
    pub(crate) computation: Computation,
}

/// The hyperblocks of a compiled loop, in order.
pub(crate) fn hyperblocks(
    optimisations: Optimisations,
    compiled_loop: &CompiledLoop,
    templates: &mut OpTemplates,
) -> Vec<Hyperblock> {
    let jumps = Jumps::of(compiled_loop);
    let converts = optimisations.has(Optimisation::IfConversion);
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for block in 0..compiled_loop.blocks.len() {
        match ranges.last_mut() {
            Some(last) if converts && joins(compiled_loop, &jumps, last.start as usize, block) => {
                last.end += 1;
            }
            _ => ranges.push(block as u32..block as u32 + 1),
        }
    }
    let live = LoopLiveness::analyse(compiled_loop);
    let mut builder = HyperblockBuilder {
        compiled_loop,
        writer: GraphBuilder::new(optimisations, &compiled_loop.locations),
        live_later: live.live_on(Edge::Exit(0)).clone(),
        live: &live,
    };
    // From the last one on, so that the live words of points that are before a later one are known.
    let mut hyperblocks = Vec::with_capacity(ranges.len());
    for blocks in ranges.into_iter().rev() {
        let start = Edge::Block(blocks.start);
        hyperblocks.push(Hyperblock {
            computation: builder.hyperblock(blocks.clone(), templates),
            blocks,
        });
        builder.live_later.union(live.live_on(start));
    }
    hyperblocks.reverse();
    hyperblocks
}

/// The edges between the blocks of a compiled loop.
struct Jumps {
    /// For each block its first and last predecessor, if there are any.
    sources: Vec<Option<(usize, usize)>>,
    /// For each block the last successor of the blocks before it.
    reach: Vec<usize>,
}

impl Jumps {
    fn of(compiled_loop: &CompiledLoop) -> Jumps {
        let count = compiled_loop.blocks.len();
        let mut jumps = Jumps {
            sources: vec![None; count],
            reach: Vec::with_capacity(count),
        };
        let mut reach = 0;
        for (from, block) in compiled_loop.blocks.iter().enumerate() {
            jumps.reach.push(reach);
            for edge in block.terminator.edges() {
                let Edge::Block(to) = edge else { continue };
                let (first, _) = jumps.sources[to as usize].unwrap_or((from, from));
                jumps.sources[to as usize] = Some((first, from));
                reach = reach.max(to as usize);
            }
        }
        jumps
    }
}

/// Whether a block belongs to the hyperblock that ends before it.
fn joins(compiled_loop: &CompiledLoop, jumps: &Jumps, start: usize, at: usize) -> bool {
    // The block after a back edge is for points that leave that loop: they are inactive until it
    // ends.
    if matches!(
        compiled_loop.blocks[at - 1].terminator,
        LoopTerminator::Loop(_)
    ) {
        return false;
    }
    let comes_from_elsewhere =
        jumps.sources[at].is_some_and(|(first, last)| first < start || last >= at);
    let is_passed = jumps.reach[at] <= at;
    !comes_from_elsewhere && (is_passed || compiled_loop.blocks[at].instructions.len() <= SHORT)
}

/// The points before a block: none yet, or those in a mask.
type PendingMask = Option<NodeId>;

/// The builder of hyperblocks.
struct HyperblockBuilder<'r> {
    compiled_loop: &'r CompiledLoop,
    writer: GraphBuilder<'r>,
    live: &'r LoopLiveness,
    /// The words that are live for points before a later hyperblock.
    live_later: WordSet,
}

/// The change of a word by a block.
struct Change {
    word: u32,
    /// Its value before the block, if needed.
    before: Option<NodeId>,
    /// Whether the active points of the block read it after it.
    is_read: bool,
}

impl HyperblockBuilder<'_> {
    fn hyperblock(&mut self, blocks: Range<u32>, templates: &mut OpTemplates) -> Computation {
        let first = &self.compiled_loop.blocks[blocks.start as usize];
        self.writer.set_position(first.position);
        let active = self.writer.graph.push(NodeOp::Active, 0, 0, 0);
        let mut before: Vec<PendingMask> = vec![None; blocks.len()];
        before[0] = Some(active);
        let mut out: Vec<(Edge, NodeId)> = Vec::new();
        let mut taken: Option<NodeId> = None;
        for (index, number) in blocks.clone().enumerate() {
            let block = &self.compiled_loop.blocks[number as usize];
            // A block without incoming edges is not reached.
            let Some(mask) = before[index] else { continue };
            // The nodes around its instructions are for the instruction that it ends with.
            self.writer.set_position(block.position);
            let pending = blocks.clone().zip(&before).skip(index + 1);
            let pending = pending.filter_map(|(block, pending_mask)| pending_mask.and(Some(block)));
            let changes = self.changes(block, pending);
            let writer = &mut self.writer;
            for inst in &block.instructions {
                writer.arithmetic(inst, templates);
            }
            writer.set_position(block.position);
            let edges = edge_masks(writer, block, mask, templates);
            for Change {
                word,
                before,
                is_read,
            } in changes
            {
                if !is_read {
                    writer.current[word as usize] = before;
                } else if let Some(old) = before {
                    let new = writer.read(word);
                    let selected = writer.graph.push(NodeOp::Select, mask, new, old);
                    writer.write(word, Some(selected));
                }
            }
            let steps =
                block.steps + u32::from(matches!(block.terminator, LoopTerminator::Loop(_)));
            if steps > 0 {
                let steps = writer.graph.constant(steps);
                let own = writer.graph.push(NodeOp::And, mask, steps, 0);
                taken = Some(match taken {
                    Some(taken) => writer.graph.push(NodeOp::IAdd, taken, own, 0),
                    None => own,
                });
            }
            for (edge, mask) in edges {
                let target_mask = match edge {
                    Edge::Block(to) if to > number && to < blocks.end => {
                        &mut before[(to - blocks.start) as usize]
                    }
                    _ => {
                        match out.iter_mut().find(|(known, _)| *known == edge) {
                            Some((_, all)) => *all = writer.graph.push(NodeOp::Or, *all, mask, 0),
                            None => out.push((edge, mask)),
                        }
                        continue;
                    }
                };
                *target_mask = Some(match *target_mask {
                    Some(others) => writer.graph.push(NodeOp::Or, others, mask, 0),
                    None => mask,
                });
            }
        }
        let is_read = |word: u32| {
            out.iter()
                .any(|(edge, _)| self.live.live_on(*edge).contains(word))
        };
        let mut computation = self.writer.finish(is_read);
        let edges = out
            .into_iter()
            .map(|(edge, mask)| (StoreTarget::Edge(edge), mask));
        for (to, value) in edges.chain(taken.map(|taken| (StoreTarget::Steps, taken))) {
            computation.stores.push(GraphStore {
                after: value,
                target: to,
                value,
            });
        }
        computation.stores.sort_by_key(|store| store.after);
        computation
    }

    /// The words that a block writes, while other points of the hyperblock are before these blocks.
    fn changes(
        &mut self,
        block: &LoopBlock,
        pending: impl Iterator<Item = u32> + Clone,
    ) -> Vec<Change> {
        let results = block
            .instructions
            .iter()
            .flat_map(|inst| dual_words(&inst.result));
        let mut written: Vec<u32> = results.collect();
        written.sort_unstable();
        written.dedup();
        let (live, live_later) = (self.live, &self.live_later);
        let writer = &mut self.writer;
        let of = |word: u32| {
            let is_read = live.is_live_out(block, word);
            let mut later = pending.clone();
            let is_live = live_later.contains(word)
                || later.any(|block| live.live_on(Edge::Block(block)).contains(word));
            let before = match (is_read, is_live) {
                (true, true) => Some(writer.read(word)),
                (true, false) => None,
                (false, _) => writer.current[word as usize],
            };
            Change {
                word,
                before,
                is_read,
            }
        };
        written.into_iter().map(of).collect()
    }
}

/// The masks of a block's outgoing edges.
fn edge_masks(
    writer: &mut GraphBuilder<'_>,
    block: &LoopBlock,
    mask: NodeId,
    templates: &mut OpTemplates,
) -> Vec<(Edge, NodeId)> {
    let (condition, when, target, next) = match &block.terminator {
        LoopTerminator::Jump(edge) => return vec![(*edge, mask)],
        LoopTerminator::Loop(to) => return vec![(Edge::Block(*to), mask)],
        LoopTerminator::Branch(CondBranch {
            condition,
            when,
            target,
            next,
        }) => (condition, when, target, next),
    };
    let is_false = writer.condition_is_false(condition, templates);
    let graph = &mut writer.graph;
    let on_false = graph.push(NodeOp::And, mask, is_false, 0);
    let on_true = graph.push(NodeOp::AndNot, is_false, mask, 0);
    let (to_next, to_target) = match when {
        true => (on_true, on_false),
        false => (on_false, on_true),
    };
    vec![(*target, to_target), (*next, to_next)]
}
