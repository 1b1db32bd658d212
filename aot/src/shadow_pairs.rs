//! Shadow pairs: both shadows of a value in one vector, for a single point.
//!
//! The shadow along x is in the first half, the one along y in the second. Tangents are computed
//! once for both, by the op's own rule for one shadow. All other values of a point CFG are equal in
//! both halves, so that they combine with either shadow. Superwords ([`crate::superword`]), whose
//! elements differ too, count as pairs. Masks of pairs select by half, and are no branch
//! conditions.

use crate::graph::{Graph, NodeId, NodeOp};
use adumbra_vm::native::{ArithmeticInst, DualOperand};

/// A half of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorHalf {
    First,
    Second,
}

/// The words of both shadows.
pub(crate) fn paired_words(value: &DualOperand) -> Option<[u32; 2]> {
    match value.shadows {
        [Some(x), Some(y)] => Some([x, y]),
        _ => None,
    }
}

/// Whether all values of an instruction that have shadows have both.
pub(crate) fn can_pair_shadows(inst: &ArithmeticInst) -> bool {
    let has_none = |value: &DualOperand| value.shadows == [None; 2];
    let mut operands = inst.operands[..inst.kind.arity()].iter();
    paired_words(&inst.result).is_some()
        && operands.all(|value| paired_words(value).is_some() || has_none(value))
}

impl Graph {
    /// The first half of one node, and that of another one after it.
    pub(crate) fn join(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let x = self.first_half(x);
        let upper = self.node(y);
        if upper.op == NodeOp::UpperHalf && self.first_half(upper.a) == x {
            return upper.a;
        }
        let y = self.first_half(y);
        match self.node(y).op {
            NodeOp::Const if x == y => x,
            _ => self.push(NodeOp::Join, x, y, 0),
        }
    }

    /// The second half of a node, twice.
    pub(crate) fn upper(&mut self, pair: NodeId) -> NodeId {
        let node = self.node(pair);
        match node.op {
            NodeOp::Const => pair,
            NodeOp::Join => self.join(node.b, node.b),
            _ => self.push(NodeOp::UpperHalf, pair, 0, 0),
        }
    }

    /// A node that has the same first half, and may exist already.
    fn first_half(&self, id: NodeId) -> NodeId {
        let node = self.node(id);
        match node.op {
            NodeOp::Join => node.a,
            _ => id,
        }
    }

    /// The node whose first half, or second one, a node's first half is.
    pub(crate) fn half_of(&self, id: NodeId) -> (NodeId, VectorHalf) {
        let node = self.node(id);
        match node.op {
            NodeOp::UpperHalf => (node.a, VectorHalf::Second),
            _ => (self.first_half(id), VectorHalf::First),
        }
    }

    /// Which nodes may have halves that differ. Undefined for unused nodes, which may come before
    /// their operands.
    pub(crate) fn are_pairs(&self) -> Vec<bool> {
        let mut pairs = vec![false; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            let mut is_pair = matches!(
                node.op,
                NodeOp::Join | NodeOp::Duplicate | NodeOp::Interleave
            );
            node.for_each_operand(|operand| is_pair |= pairs[operand as usize]);
            pairs[id] = is_pair && !matches!(node.op, NodeOp::UpperHalf | NodeOp::Broadcast);
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_builder::GraphBuilder;
    use crate::optimisation::Optimisations;
    use crate::template::OpTemplates;
    use adumbra_ops::Op;
    use adumbra_vm::native::{ArithmeticKind, WordLocation};

    /// A builder on `count` VM registers.
    fn on_registers<T>(count: u32, write: impl FnOnce(&mut GraphBuilder<'_>) -> T) -> T {
        let locations: Vec<WordLocation> = (0..count).map(WordLocation::Register).collect();
        write(&mut GraphBuilder::with_shadow_pairs(
            Optimisations::ALL,
            &locations,
        ))
    }

    #[test]
    fn written_pairs_are_read_back() {
        on_registers(6, |writer| {
            let [a, b] = [[0, 1], [2, 3]].map(|words| writer.read_pair(words));
            let sum = writer.graph.push(NodeOp::Add, a, b, 0);
            let zero = writer.graph.constant(0);
            for pair in [a, b, sum, zero] {
                writer.write_pair([4, 5], pair);
                assert_eq!(writer.read_pair([4, 5]), pair);
                let halves = [4, 5].map(|word| {
                    let node = writer.read(word);
                    writer.graph.half_of(node)
                });
                let [(first, _), (second, half)] = halves;
                assert_eq!(first, writer.graph.first_half(pair));
                match writer.graph.node(pair) {
                    own if own.op == NodeOp::Join => {
                        assert_eq!((second, half), (own.b, VectorHalf::First))
                    }
                    own if own.op == NodeOp::Const => {
                        assert_eq!((second, half), (pair, VectorHalf::First))
                    }
                    _ => assert_eq!((second, half), (pair, VectorHalf::Second)),
                }
            }
            // The halves of two, swapped.
            writer.write_pair([4, 5], sum);
            let swapped = writer.read_pair([5, 4]);
            assert_ne!(swapped, sum);
            writer.write_pair([0, 1], swapped);
            let again = writer.read_pair([1, 0]);
            let own = writer.graph.node(again);
            let halves = [own.a, own.b].map(|half| writer.graph.half_of(half));
            assert_eq!(
                halves,
                [(sum, VectorHalf::First), (sum, VectorHalf::Second)]
            );
        });
    }

    #[test]
    fn halves_are_computed_alike() {
        let mut pairs = 0;
        for &op in Op::ALL.iter().filter(|op| op.info().is_differentiable()) {
            let value = |number: u32| DualOperand {
                value: 3 * number,
                shadows: [1, 2].map(|offset| Some(3 * number + offset)),
            };
            let arity = op.arity() as u32;
            let mut inst = ArithmeticInst {
                kind: ArithmeticKind::Op(op),
                result: value(arity),
                operands: Default::default(),
                position: 0,
            };
            for (operand, number) in inst.operands.iter_mut().zip(0..arity) {
                *operand = value(number);
            }
            let mut templates = OpTemplates::new(false);
            on_registers(3 * arity + 3, |writer| {
                writer.arithmetic(&inst, &mut templates);
                let graph = &writer.graph;
                let is_pair = graph.are_pairs();
                for (node, _) in graph.nodes.iter().zip(&is_pair).filter(|(_, is)| **is) {
                    pairs += 1;
                    // Of words that are alone in their elements.
                    let is_each = matches!(
                        node.op,
                        NodeOp::Join
                            | NodeOp::Add
                            | NodeOp::Sub
                            | NodeOp::Mul
                            | NodeOp::Div
                            | NodeOp::MulAdd
                            | NodeOp::NegMulAdd
                            | NodeOp::MulSub
                            | NodeOp::NegMulSub
                            | NodeOp::Eq
                            | NodeOp::And
                            | NodeOp::AndNot
                            | NodeOp::Xor
                            | NodeOp::Select
                    );
                    assert!(is_each, "{op:?}: {node:?}");
                }
                for node in graph
                    .nodes
                    .iter()
                    .filter(|node| node.op == NodeOp::SlowPath)
                {
                    let mut operands = Vec::new();
                    graph.for_each_operand(*node, |id| operands.push(id));
                    let of_pairs = operands.iter().any(|&id| is_pair[id as usize]);
                    assert!(!of_pairs, "{op:?} takes a slow path by its shadows");
                }
            });
        }
        assert!(pairs > 300, "{pairs}");
    }
}
