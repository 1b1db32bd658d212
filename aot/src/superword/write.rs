//! Writes nodes and superwords in an order in which operands come first.

use super::find::{OperandSource, Superword, Superwords};
use super::{ISSUE_WIDTH, SUPERWORD_WIDTH, is_elementwise, live_nodes, operands, schedule};
use crate::graph::{Graph, Node, NodeId, NodeOp};
use crate::renumber::UNUSED;
use rustc_hash::FxHashMap;

/// The most nodes and superwords that wait for one another at once.
pub(super) const MAX_PENDING: usize = 512;

/// The new nodes, with superwords.
pub(super) struct SuperwordWriter<'g> {
    graph: &'g Graph,
    pub(super) nodes: Vec<Node>,
    /// The new number of each node.
    pub(super) renumbered: Vec<NodeId>,
    /// The origin of each new node.
    pub(super) origins: Vec<NodeId>,
    /// Whether all elements of each node are equal on every target.
    is_full: Vec<bool>,
}

/// A cycle among superwords, or a dependence chain longer than `MAX_PENDING`.
struct Tangled;

/// The progress of writing superwords.
struct Progress<'g> {
    superwords: &'g Superwords<'g>,
    /// The node of each superword that is written.
    written: Vec<Option<NodeId>>,
    is_begun: Vec<bool>,
    /// Gathered elements.
    gathered: FxHashMap<[NodeId; SUPERWORD_WIDTH], NodeId>,
    depth: usize,
}

impl<'g> SuperwordWriter<'g> {
    pub(super) fn new(graph: &'g Graph) -> SuperwordWriter<'g> {
        SuperwordWriter {
            graph,
            nodes: Vec::with_capacity(graph.nodes.len()),
            renumbered: vec![UNUSED; graph.nodes.len()],
            origins: Vec::new(),
            is_full: Vec::new(),
        }
    }

    fn push(&mut self, node: Node, origin: NodeId) -> NodeId {
        use NodeOp::*;
        let is_full = match node.op {
            Const | Global | Broadcast => true,
            IMul => false,
            op => {
                is_elementwise(op) && operands(node).all(|operand| self.is_full[operand as usize])
            }
        };
        self.nodes.push(node);
        self.origins.push(origin);
        self.is_full.push(is_full);
        self.nodes.len() as NodeId - 1
    }

    /// Writes nodes, as superwords where they are in any, unless that takes no fewer cycles than
    /// `cycles`.
    pub(super) fn write(&mut self, superwords: &mut Superwords<'_>, cycles: u32) {
        let start = self.nodes.len() as NodeId;
        let taken_out = superwords.extracted(0);
        let superwords = &*superwords;
        let mut progress = Progress {
            superwords,
            written: vec![None; superwords.all.len()],
            is_begun: vec![false; superwords.all.len()],
            gathered: FxHashMap::default(),
            depth: 0,
        };
        let wanted = live_nodes(self.graph, superwords.uses, superwords.nodes.clone());
        // Members of a superword are written on first use; uses outside of superwords come after
        // these.
        let own = wanted
            .clone()
            .filter(|&id| superwords.position_of(id).is_none());
        let written =
            (own.chain(taken_out)).try_for_each(|id| self.node(id, &mut progress).map(|_| ()));
        let is_faster = || {
            let now = start..self.nodes.len() as NodeId;
            let new = self.nodes[start as usize..].iter().copied();
            let (chain, count) = schedule(now.clone().zip(new), now);
            chain.max(count / ISSUE_WIDTH) < cycles
        };
        if superwords.all.is_empty() || written.is_ok() && is_faster() {
            return;
        }
        self.nodes.truncate(start as usize);
        self.origins.truncate(start as usize);
        self.is_full.truncate(start as usize);
        for id in wanted {
            let node = self
                .graph
                .node(id)
                .map_operands(|id| self.renumbered[id as usize]);
            self.renumbered[id as usize] = self.push(node, id);
        }
    }

    /// Writes a node, and its operands.
    fn node(&mut self, id: NodeId, progress: &mut Progress<'_>) -> Result<NodeId, Tangled> {
        let name = self.renumbered[id as usize];
        if name != UNUSED {
            return Ok(name);
        }
        progress.deeper()?;
        let node = match progress.superwords.position_of(id) {
            Some((superword, element)) => {
                let superword = self.superword(superword, progress)?;
                Node::new(NodeOp::Broadcast, superword, element, 0)
            }
            None => {
                let node = self.graph.node(id);
                let mut needed = Vec::new();
                self.graph
                    .for_each_operand(node, |operand| needed.push(operand));
                for operand in needed {
                    self.node(operand, progress)?;
                }
                node.map_operands(|id| self.renumbered[id as usize])
            }
        };
        progress.depth -= 1;
        let name = self.push(node, id);
        self.renumbered[id as usize] = name;
        Ok(name)
    }

    /// Writes a superword, and its operands.
    fn superword(&mut self, number: usize, progress: &mut Progress<'_>) -> Result<NodeId, Tangled> {
        if let Some(written) = progress.written[number] {
            return Ok(written);
        }
        if std::mem::replace(&mut progress.is_begun[number], true) {
            return Err(Tangled);
        }
        progress.deeper()?;
        let superwords = progress.superwords;
        let Superword { members, operands } = &superwords.all[number];
        let mut vectors = [0; 3];
        for (vector, source) in vectors.iter_mut().zip(operands) {
            *vector = match *source {
                OperandSource::Splat(id) => {
                    self.gathered([id; SUPERWORD_WIDTH], members[0], progress)?
                }
                OperandSource::Superword(other) => self.superword(other, progress)?,
                OperandSource::Gather(ids) => self.gathered(ids, members[0], progress)?,
            };
        }
        progress.depth -= 1;
        let [a, b, c] = vectors;
        let node = self.graph.node(members[0]);
        let node = match node.op {
            NodeOp::IMul => Node::new(NodeOp::IMulEach, a, b, 0),
            op if op.operand_count() == 1 => Node::new(op, a, node.b, 0),
            op => Node::new(op, a, b, c),
        };
        let written = self.push(node, members[0]);
        progress.written[number] = Some(written);
        Ok(written)
    }

    /// Gathers elements into one vector.
    fn gathered(
        &mut self,
        ids: [NodeId; SUPERWORD_WIDTH],
        origin: NodeId,
        progress: &mut Progress<'_>,
    ) -> Result<NodeId, Tangled> {
        if let Some(&found) = progress.gathered.get(&ids) {
            return Ok(found);
        }
        let mut names = ids;
        for name in &mut names {
            *name = self.node(*name, progress)?;
        }
        let [a, b, c, d] = names;
        if names == [a; SUPERWORD_WIDTH] && self.is_full[a as usize] {
            return Ok(a);
        }
        let mut two = |op, a, b| self.push(Node::new(op, a, b, 0), origin);
        let vector = if a == b && c == d {
            two(NodeOp::Duplicate, a, c)
        } else {
            let first = two(NodeOp::Interleave, a, b);
            let last = match (a, b) == (c, d) {
                true => first,
                false => two(NodeOp::Interleave, c, d),
            };
            two(NodeOp::Join, first, last)
        };
        progress.gathered.insert(ids, vector);
        Ok(vector)
    }
}

impl Progress<'_> {
    /// Enters one more level of dependences; an error beyond `MAX_PENDING`.
    fn deeper(&mut self) -> Result<(), Tangled> {
        self.depth += 1;
        match self.depth > MAX_PENDING {
            true => Err(Tangled),
            false => Ok(()),
        }
    }
}
