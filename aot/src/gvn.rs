//! Global value numbering (GVN) by hashing: finds the node of a graph that equals a new one (Cocke
//! and Schwartz 1970; Briggs, Cooper and Simpson 1997, "Value numbering").
//!
//! The table has open addressing with linear probing and is at most half full. It is cleared by a
//! new generation number: the table of a long segment is zeroed once, and not for each part.

use crate::graph::{Node, NodeId};

/// Entries of the smallest table: enough for a part of a segment. A power of two, as all sizes are.
const LEAST: usize = 1 << 10;

/// The entry of a removed node.
const GONE: NodeId = NodeId::MAX;

/// An entry of the table: free unless it is of the current generation.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    count: u32,
    id: NodeId,
}

/// The value numbers of a graph's nodes.
#[derive(Debug, Default)]
pub(crate) struct ValueNumbers {
    spots: Vec<Spot>,
    /// The number of entries in use.
    taken: usize,
    count: u32,
}

impl ValueNumbers {
    /// Removes all nodes.
    pub(crate) fn clear(&mut self) {
        self.taken = 0;
        self.count = match self.count.checked_add(1) {
            Some(count) => count,
            None => {
                self.spots.fill(Spot::default());
                1
            }
        };
    }

    /// The number of a node, or else the entry to [`insert`](ValueNumbers::insert) it at.
    #[inline]
    pub(crate) fn find(&mut self, node: &Node, nodes: &[Node]) -> Result<NodeId, usize> {
        if 2 * self.taken >= self.spots.len() {
            self.grow(nodes);
        }
        self.place(node, nodes).map(|at| self.spots[at].id)
    }

    /// The entry that has a node, or else its entry on insertion. There is a free one.
    #[inline]
    fn place(&self, node: &Node, nodes: &[Node]) -> Result<usize, usize> {
        let mask = self.spots.len() - 1;
        let mut at = hash(node) & mask;
        loop {
            let Spot { count, id } = self.spots[at];
            if count != self.count {
                return Err(at);
            }
            if id != GONE && nodes[id as usize] == *node {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a node's number at the entry that `find` returned.
    pub(crate) fn insert(&mut self, at: usize, id: NodeId) {
        self.taken += 1;
        self.spots[at] = Spot {
            count: self.count,
            id,
        };
    }

    /// Removes a node, so that it is not found again.
    pub(crate) fn remove(&mut self, node: &Node, nodes: &[Node]) {
        if let Ok(at) = self.place(node, nodes) {
            self.spots[at].id = GONE;
        }
    }

    /// Doubles the table for the nodes in it.
    fn grow(&mut self, nodes: &[Node]) {
        let size = LEAST.max(2 * self.spots.len());
        let old = std::mem::replace(&mut self.spots, vec![Spot::default(); size]);
        let count = std::mem::replace(&mut self.count, 1);
        self.taken = 0;
        let is_there = |entry: &&Spot| entry.count == count && entry.id != GONE;
        for &Spot { id, .. } in old.iter().filter(is_there) {
            if let Err(at) = self.place(&nodes[id as usize], nodes) {
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
    fn intern(seen: &mut ValueNumbers, nodes: &mut Vec<Node>, number: u32) -> (NodeId, bool) {
        match seen.find(&node(number), nodes) {
            Ok(id) => (id, false),
            Err(at) => {
                seen.insert(at, nodes.len() as NodeId);
                nodes.push(node(number));
                (nodes.len() as NodeId - 1, true)
            }
        }
    }

    #[test]
    fn nodes_are_found_until_they_are_forgotten() {
        let mut seen = ValueNumbers::default();
        for count in [10_000, 3, 1_000] {
            seen.clear();
            let mut nodes = Vec::new();
            for number in 0..count {
                assert_eq!(intern(&mut seen, &mut nodes, number), (number, true));
            }
            for number in 0..count {
                assert_eq!(intern(&mut seen, &mut nodes, number), (number, false));
            }
            for number in (0..count).step_by(3) {
                seen.remove(&node(number), &nodes);
                seen.remove(&node(number), &nodes);
            }
            for number in 0..count {
                assert_eq!(seen.find(&node(number), &nodes).is_ok(), number % 3 > 0);
            }
            for number in (0..count).step_by(3) {
                let next = nodes.len() as NodeId;
                assert_eq!(intern(&mut seen, &mut nodes, number), (next, true));
            }
        }
    }

    #[test]
    fn counts_may_come_to_their_end() {
        let mut seen = ValueNumbers::default();
        let mut nodes = Vec::new();
        intern(&mut seen, &mut nodes, 5);
        seen.count = u32::MAX;
        intern(&mut seen, &mut nodes, 6);
        seen.clear();
        assert!(seen.find(&node(5), &nodes).is_err() && seen.find(&node(6), &nodes).is_err());
    }
}
