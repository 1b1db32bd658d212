//! Finds the nodes to combine into superwords.

use super::{SUPERWORD_WIDTH, is_elementwise, operands};
use crate::graph::{Graph, Node, NodeId, NodeOp};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cmp::Reverse;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Instructions that the superwords made from four nodes have to save: fewer do not outweigh the
/// latency of shuffles.
const MIN_GAIN: i32 = 8;

/// The most levels of operands that superwords are made through.
const MAX_DEPTH: usize = 256;

/// The depth of operands at which nodes are compared for likeness.
const LOOK: usize = 2;

/// The immediate of a node, beside its operands.
fn number(node: Node) -> u32 {
    match node.op.operand_count() {
        1 => node.b,
        _ => 0,
    }
}

/// The source of an operand's elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperandSource {
    /// All from one node.
    Splat(NodeId),
    /// From a superword.
    Superword(usize),
    /// Each from its own node.
    Gather([NodeId; SUPERWORD_WIDTH]),
}

/// Four nodes of one operation.
#[derive(Debug)]
pub(super) struct Superword {
    pub(super) members: [NodeId; SUPERWORD_WIDTH],
    pub(super) operands: Vec<OperandSource>,
}

/// The superwords of some nodes.
pub(super) struct Superwords<'g> {
    graph: &'g Graph,
    pub(super) nodes: Range<NodeId>,
    pub(super) uses: &'g [u32],
    pairs: &'g [bool],
    /// The nodes that each of these nodes depends on: bits, `words` words for each.
    needs: Vec<u64>,
    words: usize,
    pub(super) all: Vec<Superword>,
    /// The superword and element of each of these nodes, if it is in one.
    positions: Vec<Option<(usize, u32)>>,
    /// How often each of these nodes is used as an element; all 0 outside of a count.
    as_elements: Vec<u32>,
}

impl<'g> Superwords<'g> {
    /// No superwords.
    pub(super) fn new(
        graph: &'g Graph,
        nodes: Range<NodeId>,
        uses: &'g [u32],
        pairs: &'g [bool],
    ) -> Superwords<'g> {
        Superwords {
            graph,
            uses,
            pairs,
            needs: Vec::new(),
            words: nodes.len().div_ceil(64),
            all: Vec::new(),
            positions: vec![None; nodes.len()],
            as_elements: vec![0; nodes.len()],
            nodes,
        }
    }

    /// Makes the superwords that are worth it.
    pub(super) fn search(&mut self) {
        let mut alike: FxHashMap<u64, Vec<NodeId>> = FxHashMap::default();
        for id in self.nodes.clone().filter(|&id| self.may_join(id)) {
            let look = self.look(id, LOOK);
            alike.entry(look).or_default().push(id);
        }
        let fours = |nodes: &Vec<NodeId>| nodes.as_chunks::<SUPERWORD_WIDTH>().0.to_vec();
        let mut fours: Vec<[NodeId; SUPERWORD_WIDTH]> = alike.values().flat_map(fours).collect();
        if fours.is_empty() {
            return;
        }
        self.find_needs();
        // A part of something larger is not tried by itself.
        let mut parts = FxHashSet::default();
        let mut tries = Vec::new();
        fours.sort_unstable_by(|a, b| b.cmp(a));
        for four in fours {
            if !parts.contains(&four) {
                tries.push((self.try_superword(four), four));
                parts.extend(self.all.iter().map(|superword| superword.members));
                self.undo(0);
            }
        }
        // Those that save most come first, and of them the first ones.
        tries.sort_unstable_by_key(|&(gain, four)| (Reverse(gain), four));
        for (_, four) in tries {
            let first = self.all.len();
            if self.try_superword(four) < MIN_GAIN {
                self.undo(first);
            }
        }
        // Frees memory: many of these wait to be written.
        self.needs = Vec::new();
    }

    /// The superword and element of a node, if it is in one.
    pub(super) fn position_of(&self, id: NodeId) -> Option<(usize, u32)> {
        let index = id.checked_sub(self.nodes.start)?;
        *self.positions.get(index as usize)?
    }

    /// The index of a node among these nodes.
    fn index(&self, id: NodeId) -> usize {
        (id - self.nodes.start) as usize
    }

    /// Whether a node may be in a superword.
    fn may_join(&self, id: NodeId) -> bool {
        let is_used = self.uses[id as usize] > 0;
        is_used && is_elementwise(self.graph.node(id).op) && !self.pairs[id as usize]
    }

    /// A hash of a node and its operands, to a depth.
    fn look(&self, id: NodeId, depth: usize) -> u64 {
        let node = self.graph.node(id);
        let mut hasher = FxHasher::default();
        (node.op as u8, number(node)).hash(&mut hasher);
        if node.op == NodeOp::Const {
            node.a.hash(&mut hasher);
        } else if depth > 0 && is_elementwise(node.op) {
            operands(node).for_each(|operand| self.look(operand, depth - 1).hash(&mut hasher));
        }
        hasher.finish()
    }

    /// Computes the nodes that each one depends on.
    fn find_needs(&mut self) {
        let words = self.words;
        self.needs = vec![0; words * self.nodes.len()];
        for (index, id) in self.nodes.clone().enumerate() {
            let (before, own) = self.needs.split_at_mut(index * words);
            self.graph.for_each_operand(self.graph.node(id), |operand| {
                let Some(operand) = operand.checked_sub(self.nodes.start) else {
                    return;
                };
                let operand = operand as usize;
                own[operand / 64] |= 1 << (operand % 64);
                let needed = &before[operand * words..][..words];
                own.iter_mut()
                    .zip(needed)
                    .for_each(|(own, needed)| *own |= needed);
            });
        }
    }

    /// Whether one of these nodes depends on another one.
    fn needs(&self, id: NodeId, other: NodeId) -> bool {
        let [id, other] = [id, other].map(|id| self.index(id));
        self.needs[id * self.words + other / 64] >> (other % 64) & 1 == 1
    }

    /// Makes a superword of four nodes, and of their operands; returns the instructions that it
    /// saves.
    fn try_superword(&mut self, members: [NodeId; SUPERWORD_WIDTH]) -> i32 {
        let first = self.all.len();
        self.source(members, 0);
        self.gain(first)
    }

    /// Removes superwords, from `first` on.
    fn undo(&mut self, first: usize) {
        for superword in self.all.drain(first..) {
            for member in superword.members {
                self.positions[(member - self.nodes.start) as usize] = None;
            }
        }
    }

    /// The source of four elements: a superword, if they can be one.
    fn source(&mut self, ids: [NodeId; SUPERWORD_WIDTH], depth: usize) -> OperandSource {
        if ids.iter().all(|&id| id == ids[0]) {
            return OperandSource::Splat(ids[0]);
        }
        if let Some((superword, _)) = self.position_of(ids[0])
            && self.all[superword].members == ids
        {
            return OperandSource::Superword(superword);
        }
        if depth == MAX_DEPTH || !self.can_be_superword(ids) {
            return OperandSource::Gather(ids);
        }
        let superword = self.all.len();
        self.all.push(Superword {
            members: ids,
            operands: Vec::new(),
        });
        for (id, element) in ids.into_iter().zip(0..) {
            let index = self.index(id);
            self.positions[index] = Some((superword, element));
        }
        let operands = self.columns(ids).map(|ids| self.source(ids, depth + 1));
        self.all[superword].operands = operands.collect();
        OperandSource::Superword(superword)
    }

    /// Whether nodes have one operation, are in no superword, and do not depend on one another.
    fn can_be_superword(&self, ids: [NodeId; SUPERWORD_WIDTH]) -> bool {
        let kind = |id: NodeId| {
            let node = self.graph.node(id);
            (node.op, number(node))
        };
        let may_join = |&id: &NodeId| {
            self.nodes.contains(&id)
                && kind(id) == kind(ids[0])
                && self.may_join(id)
                && self.position_of(id).is_none()
        };
        let mut others = ids.iter().enumerate();
        ids.iter().all(may_join)
            && others.all(|(i, &id)| {
                let others = ids[..i].iter().chain(&ids[i + 1..]);
                others
                    .copied()
                    .all(|other| id != other && !self.needs(id, other))
            })
    }

    /// The operands of nodes: first, second, third. Operands of commutative operations are swapped
    /// to be like those of the first node.
    fn columns(
        &self,
        ids: [NodeId; SUPERWORD_WIDTH],
    ) -> impl Iterator<Item = [NodeId; SUPERWORD_WIDTH]> + use<> {
        let mut nodes = ids.map(|id| self.graph.node(id));
        let [first, others @ ..] = &mut nodes;
        if first.op.is_commutative() {
            let op = |id: NodeId| self.graph.node(id).op;
            for node in others {
                if op(node.a) != op(first.a) && op(node.b) == op(first.a) {
                    (node.a, node.b) = (node.b, node.a);
                }
            }
        }
        let count = nodes[0].op.operand_count();
        let columns = [nodes.map(|n| n.a), nodes.map(|n| n.b), nodes.map(|n| n.c)];
        columns.into_iter().take(count)
    }

    /// The instructions that superwords from `first` on save.
    fn gain(&mut self, first: usize) -> i32 {
        let mut gain = 0;
        for superword in &self.all[first..] {
            gain += SUPERWORD_WIDTH as i32 - 1;
            for source in &superword.operands {
                gain -= match *source {
                    OperandSource::Superword(_) => 0,
                    OperandSource::Splat(id) if self.graph.node(id).op == NodeOp::Const => 0,
                    OperandSource::Splat(_) => 1,
                    OperandSource::Gather([a, b, c, d]) if a == b && c == d => 1,
                    OperandSource::Gather([a, b, c, d]) if a == c && b == d => 2,
                    OperandSource::Gather(_) => 3,
                }
            }
        }
        gain - self.extracted(first).len() as i32
    }

    /// The members of superwords from `first` on that are used outside of them.
    pub(super) fn extracted(&mut self, first: usize) -> Vec<NodeId> {
        let superwords = &self.all[first..];
        let sources = superwords.iter().flat_map(|superword| &superword.operands);
        let as_elements = sources.filter_map(|source| match *source {
            OperandSource::Superword(other) => Some(self.all[other].members),
            OperandSource::Splat(_) | OperandSource::Gather(_) => None,
        });
        for id in as_elements.flatten() {
            self.as_elements[(id - self.nodes.start) as usize] += 1;
        }
        let members = superwords.iter().flat_map(|superword| superword.members);
        let is_used = |&id: &NodeId| self.uses[id as usize] > self.as_elements[self.index(id)];
        let taken_out = members.filter(is_used).collect();
        self.as_elements.fill(0);
        taken_out
    }
}
