//! How the masks of a graph are read: those that are read as masks alone need no vector.

use crate::graph::{Graph, Node, NodeId, NodeOp};
use crate::graph_builder::GraphStore;

/// How each mask of a graph is read by live nodes.
#[derive(Debug, Default)]
pub(super) struct MaskUses {
    of: Vec<NodeMaskUses>,
}

/// How a node is read.
#[derive(Clone, Copy, Debug, Default)]
struct NodeMaskUses {
    /// At all.
    is_read: bool,
    /// As a vector of words.
    as_vector: bool,
    /// As a mask that must not be inverted.
    upright: bool,
    /// As a mask that saves an instruction if it is inverted.
    inverted: bool,
}

impl MaskUses {
    /// Finds how the nodes of a graph are read.
    pub(super) fn find(&mut self, graph: &Graph, stores: &[GraphStore]) {
        self.of.clear();
        self.of.resize(graph.nodes.len(), NodeMaskUses::default());
        for store in stores {
            let uses = &mut self.of[store.value as usize];
            (uses.is_read, uses.as_vector) = (true, true);
        }
        for (id, &node) in (0..self.of.len() as NodeId).zip(&graph.nodes).rev() {
            if self.of[id as usize].is_read {
                self.read(id, node, graph);
            }
        }
    }

    /// Records the operands of a node, all of whose own uses are recorded.
    fn read(&mut self, id: NodeId, node: Node, graph: &Graph) {
        let is_combination = node.op.is_bitwise() && self.as_mask(id, graph).is_some();
        let Node { op, a, b, .. } = node;
        // The operand that the node reads as a mask. Others may be the same node.
        let mut mask = match op {
            _ if is_combination => None,
            NodeOp::Select | NodeOp::SlowPath | NodeOp::AndNot => Some(a),
            NodeOp::And if graph.is_mask(a) != graph.is_mask(b) => {
                Some(if graph.is_mask(a) { a } else { b })
            }
            _ => None,
        };
        graph.for_each_operand(node, |operand| {
            let uses = &mut self.of[operand as usize];
            uses.is_read = true;
            if mask == Some(operand) {
                mask = None;
                uses.upright |= op == NodeOp::And;
                uses.inverted |= op == NodeOp::AndNot;
            } else if is_combination {
                uses.upright = true;
            } else {
                uses.as_vector = true;
            }
        });
    }

    /// Whether a node is a mask that can be in a mask register, and whether it is inverted there.
    pub(super) fn as_mask(&self, id: NodeId, graph: &Graph) -> Option<bool> {
        let uses = self.of[id as usize];
        let op = graph.node(id).op;
        let can_be = op.is_comparison() || op.is_bitwise();
        (can_be && graph.is_mask(id) && !uses.as_vector)
            .then(|| op.is_comparison() && uses.inverted && !uses.upright)
    }
}
