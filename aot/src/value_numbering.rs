//! Value numbering by hashing: finds the node of a graph that equals a new one.
//!
//! The technique is from Cocke and Schwartz 1970, "Programming Languages and Their Compilers". It
//! is local to a graph: a part of a segment or an extended basic block. GVN across
//! blocks is a pass of the IR. The table has open addressing with linear probing and is at most
//! half full. It is cleared by a new generation number: the table of a long segment is zeroed once,
//! and not for each part.

use crate::graph::{Node, NodeId};

/// Entries of the smallest table: enough for a part of a segment. A power of two, as all sizes are.
const MIN_ENTRIES: usize = 1 << 10;

/// The entry of a removed node.
const REMOVED: NodeId = NodeId::MAX;

/// An entry of the table: free unless it is of the current generation.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    generation: u32,
    id: NodeId,
}

/// The value numbers of a graph's nodes.
#[derive(Debug, Default)]
pub(crate) struct ValueNumbers {
    entries: Vec<Entry>,
    /// The number of entries in use.
    used: usize,
    generation: u32,
}

impl ValueNumbers {
    /// Removes all nodes.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.generation = match self.generation.checked_add(1) {
            Some(generation) => generation,
            None => {
                self.entries.fill(Entry::default());
                1
            }
        };
    }

    /// The number of a node, or else the entry to [`insert`](ValueNumbers::insert) it at.
    #[inline]
    pub(crate) fn find(&mut self, node: &Node, nodes: &[Node]) -> Result<NodeId, usize> {
        if 2 * self.used >= self.entries.len() {
            self.grow(nodes);
        }
        self.probe(node, nodes).map(|at| self.entries[at].id)
    }

    /// The entry that has a node, or else its entry on insertion. There is a free one.
    #[inline]
    fn probe(&self, node: &Node, nodes: &[Node]) -> Result<usize, usize> {
        let mask = self.entries.len() - 1;
        let mut at = hash(node) & mask;
        loop {
            let Entry { generation, id } = self.entries[at];
            if generation != self.generation {
                return Err(at);
            }
            if id != REMOVED && nodes[id as usize] == *node {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a node's number at the entry that `find` returned.
    pub(crate) fn insert(&mut self, at: usize, id: NodeId) {
        self.used += 1;
        self.entries[at] = Entry {
            generation: self.generation,
            id,
        };
    }

    /// Removes a node, so that it is not found again.
    pub(crate) fn remove(&mut self, node: &Node, nodes: &[Node]) {
        if let Ok(at) = self.probe(node, nodes) {
            self.entries[at].id = REMOVED;
        }
    }

    /// Doubles the table for the nodes in it.
    fn grow(&mut self, nodes: &[Node]) {
        let size = MIN_ENTRIES.max(2 * self.entries.len());
        let old = std::mem::replace(&mut self.entries, vec![Entry::default(); size]);
        let generation = std::mem::replace(&mut self.generation, 1);
        self.used = 0;
        let is_there = |entry: &&Entry| entry.generation == generation && entry.id != REMOVED;
        for &Entry { id, .. } in old.iter().filter(is_there) {
            if let Err(at) = self.probe(&nodes[id as usize], nodes) {
                self.insert(at, id);
            }
        }
    }
}

/// The hash of a node. The upper half of a product depends on all bits of each word.
fn hash(node: &Node) -> usize {
    let [first, second] = [0x9e37_79b9_7f4a_7c15_u64, 0xc2b2_ae3d_27d4_eb4f];
    let low = u64::from(node.a) << 8 ^ node.op as u64 ^ u64::from(node.c) << 40;
    let hash = (low.wrapping_mul(first) ^ u64::from(node.b)).wrapping_mul(second);
    (hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NodeOp;

    /// A node that differs from others with another number.
    fn node(number: u32) -> Node {
        Node::new(NodeOp::Add, number % 7, number / 7, 0)
    }

    /// Finds a node, and inserts it if it is not found: its number, and whether it is new.
    fn intern(numbers: &mut ValueNumbers, nodes: &mut Vec<Node>, number: u32) -> (NodeId, bool) {
        match numbers.find(&node(number), nodes) {
            Ok(id) => (id, false),
            Err(at) => {
                numbers.insert(at, nodes.len() as NodeId);
                nodes.push(node(number));
                (nodes.len() as NodeId - 1, true)
            }
        }
    }

    #[test]
    fn nodes_are_found_until_removal() {
        let mut numbers = ValueNumbers::default();
        for count in [10_000, 3, 1_000] {
            numbers.clear();
            let mut nodes = Vec::new();
            for number in 0..count {
                assert_eq!(intern(&mut numbers, &mut nodes, number), (number, true));
            }
            for number in 0..count {
                assert_eq!(intern(&mut numbers, &mut nodes, number), (number, false));
            }
            for number in (0..count).step_by(3) {
                numbers.remove(&node(number), &nodes);
                numbers.remove(&node(number), &nodes);
            }
            for number in 0..count {
                assert_eq!(numbers.find(&node(number), &nodes).is_ok(), number % 3 > 0);
            }
            for number in (0..count).step_by(3) {
                let next = nodes.len() as NodeId;
                assert_eq!(intern(&mut numbers, &mut nodes, number), (next, true));
            }
        }
    }

    #[test]
    fn generation_overflow_clears_table() {
        let mut numbers = ValueNumbers::default();
        let mut nodes = Vec::new();
        intern(&mut numbers, &mut nodes, 5);
        numbers.generation = u32::MAX;
        intern(&mut numbers, &mut nodes, 6);
        numbers.clear();
        assert!(numbers.find(&node(5), &nodes).is_err() && numbers.find(&node(6), &nodes).is_err());
    }
}
