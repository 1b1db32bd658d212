//! Register allocation by linear scan (Poletto and Sarkar 1999, "Linear Scan Register Allocation"):
//! each value has one location, a register or a spill slot.
//!
//! A value has one location for its whole live range, so that skipped code and slow paths find
//! everything where it was. Without free registers, the value with the furthest last use is spilled
//! to the frame, or stays in the plane that it came from. Where a kernel interleaves vectors, each
//! node has a value for each of them.
//!
//! A mask that is read as such alone takes a mask register, where the target has one that is free.

mod mask_uses;
#[cfg(test)]
mod tests;

use crate::graph::{Graph, NodeId, NodeOp};
use crate::graph_builder::{GraphStore, StoreTarget};
use crate::macro_assembler::MaskRegister;
use mask_uses::MaskUses;
use std::cmp::Reverse;
use std::ops::Range;

/// The location of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeLocation {
    /// It is unused, or a constant in memory.
    Unallocated,
    Register(u8),
    /// A slot of the frame. A frame with more slots than fit here is refused.
    SpillSlot(u16),
    /// The plane that it would be loaded from, which is not written before its last use.
    Plane,
    /// It is a constant in a register that holds nothing else.
    ConstantRegister(u8),
    MaskRegister(MaskRegister),
}

/// The locations of all values.
#[derive(Debug, Default)]
pub(crate) struct Allocation {
    of: Vec<NodeLocation>,
    /// The interleaved vectors: a node is computed for all of them before the next one.
    pub(crate) vectors: usize,
    pub(crate) spill_slots: u32,
    /// The registers in use, a bit each.
    pub(crate) used_registers: u32,
    /// Constants in registers, to be loaded first: the bits, and the register.
    pub(crate) constant_registers: Vec<(u32, u8)>,
}

impl Allocation {
    /// The location of a node's value in one of the interleaved vectors.
    pub(crate) fn location(&self, id: NodeId, vector: usize) -> NodeLocation {
        self.of[id as usize * self.vectors + vector]
    }

    /// Whether a node is computed: it is used, and no constant.
    pub(crate) fn is_computed(&self, id: NodeId) -> bool {
        !matches!(
            self.location(id, 0),
            NodeLocation::Unallocated | NodeLocation::ConstantRegister(_)
        )
    }
}

/// The last use of an unused or dead node.
const NEVER: NodeId = NodeId::MAX;

/// The live ranges of nodes. Only uses by live nodes count.
#[derive(Debug, Default)]
struct Uses {
    /// For each node the last one that uses it, or after which it is stored.
    last: Vec<NodeId>,
    /// The number of uses of each node.
    counts: Vec<u32>,
    /// Nodes whose live range ends at a node that reads them, without a store there: those that the
    /// last node reads come first.
    read: Vec<NodeId>,
    /// The start of those that each node reads; they end at the start of those of the live node
    /// before it.
    starts: Vec<usize>,
}

impl Uses {
    /// Finds the live ranges of a graph's nodes.
    fn find(&mut self, graph: &Graph, mut stores: &[GraphStore]) {
        let Uses {
            last,
            counts,
            read,
            starts,
        } = self;
        last.clear();
        last.resize(graph.nodes.len(), NEVER);
        counts.clear();
        counts.resize(graph.nodes.len(), 0);
        // Branch-free, as it is unpredictable which use is the last one: an operand is always
        // written, and stays if this is its last use.
        read.resize(graph.nodes.len() + 1, NEVER);
        starts.resize(graph.nodes.len(), 0);
        let mut count = 0;
        // Backwards, so that the first use found is the last one.
        for (id, &node) in (0..last.len() as NodeId).zip(&graph.nodes).rev() {
            while let [before @ .., store] = stores
                && store.after == id
            {
                meet(last, store.value, id);
                stores = before;
            }
            if last[id as usize] != NEVER {
                starts[id as usize] = count;
                graph.for_each_operand(node, |operand| {
                    read[count] = operand;
                    let is_last = meet(last, operand, id);
                    counts[operand as usize] += 1;
                    count += usize::from(is_last);
                });
            }
        }
        read.truncate(count);
    }

    /// Whether the live range of a value ends at this node, after which it is stored. True once.
    fn ends(&mut self, value: NodeId, at: NodeId) -> bool {
        let last = &mut self.last[value as usize];
        let ends = *last == at;
        if ends {
            *last = NEVER;
        }
        ends
    }
}

/// Records a use of a node; returns whether it is the last one.
fn meet(last: &mut [NodeId], node: NodeId, at: NodeId) -> bool {
    let last = &mut last[node as usize];
    let is_last = *last == NEVER;
    *last = if is_last { at } else { *last };
    is_last
}

/// The linear-scan allocator, which handles one graph after the other in the same memory.
#[derive(Debug, Default)]
pub(crate) struct LinearScan {
    reads_planes: bool,
    /// The interleaved vectors.
    vectors: usize,
    registers: u8,
    /// The mask registers.
    masks: Range<u8>,
    uses: Uses,
    mask_uses: MaskUses,
    free: Vec<u8>,
    free_masks: Vec<u8>,
    /// Free spill slots, each with the node after which it is free.
    free_slots: Vec<(u16, NodeId)>,
    /// The value that each register holds, or held last, as an index of locations.
    held: Vec<usize>,
    /// The last use of that.
    until: Vec<NodeId>,
    /// Constants with several uses, each with its uses for one vector.
    constants: Vec<(Reverse<u32>, NodeId)>,
    allocation: Allocation,
}

impl LinearScan {
    /// An allocator for interleaved vectors and a number of registers; `reads_planes` says whether
    /// values may stay in planes.
    pub(crate) fn new(vectors: usize, registers: u8, reads_planes: bool) -> LinearScan {
        LinearScan {
            reads_planes,
            vectors,
            registers,
            held: vec![0; registers as usize],
            until: vec![0; registers as usize],
            ..LinearScan::default()
        }
    }

    /// The same with mask registers.
    pub(crate) fn with_masks(self, masks: Range<u8>) -> LinearScan {
        LinearScan { masks, ..self }
    }

    /// Allocates locations for the live nodes. Stores are in execution order.
    pub(crate) fn allocate(&mut self, graph: &Graph, all: &[GraphStore]) -> Allocation {
        let mut stores = all;
        self.uses.find(graph, stores);
        if !self.masks.is_empty() {
            let last = &self.uses.last;
            self.mask_uses
                .find(graph, stores, |id| last[id as usize] != NEVER);
        }
        self.free.clear();
        self.free.extend((0..self.registers).rev());
        self.free_masks.clear();
        self.free_masks.extend(self.masks.clone().rev());
        self.free_slots.clear();
        self.constants.clear();
        self.allocation.of = vec![NodeLocation::Unallocated; graph.nodes.len() * self.vectors];
        self.allocation.vectors = self.vectors;
        let mut end = self.uses.read.len();
        for (id, &node) in (0..).zip(&graph.nodes) {
            let is_used = self.uses.last[id as usize] != NEVER;
            if is_used && !node.op.needs_no_location() {
                let start = self.uses.starts[id as usize];
                // A result that is written before all operands were read needs another register
                // than these, but for the default result, which it is already.
                let is_apart = node.op == NodeOp::SlowPath;
                let is_early = |operand: NodeId| {
                    let given = || graph.inputs(&graph.slow_paths[node.c as usize]);
                    is_apart && operand == node.b && node.b != node.a && !given().contains(&operand)
                };
                for vector in 0..self.vectors {
                    for at in start..end {
                        let operand = self.uses.read[at];
                        if !is_apart || is_early(operand) {
                            self.free(operand, vector, id);
                        }
                    }
                    self.allocate_node(id, vector, graph, all);
                    for at in start..end {
                        let operand = self.uses.read[at];
                        if is_apart && !is_early(operand) {
                            self.free(operand, vector, id);
                        }
                    }
                }
                end = start;
            } else if node.op == NodeOp::Const {
                let count = self.uses.counts[id as usize];
                if count as usize * self.vectors > 1 {
                    self.constants.push((Reverse(count), id));
                }
            }
            while let [store, later @ ..] = stores
                && store.after == id
            {
                if self.uses.ends(store.value, id) {
                    (0..self.vectors).for_each(|vector| self.free(store.value, vector, id));
                }
                stores = later;
            }
        }
        std::mem::take(&mut self.allocation)
    }

    /// Allocates locations, and free registers for the constants with the most uses: for code that
    /// runs many times after the loads. A processor of today computes four vectors a cycle from
    /// registers, and two if it has to load an operand of each.
    pub(crate) fn allocate_loop(&mut self, graph: &Graph, all: &[GraphStore]) -> Allocation {
        let mut allocation = self.allocate(graph, all);
        let free =
            (0..self.registers).filter(|register| allocation.used_registers >> register & 1 == 0);
        let count = free.clone().count();
        if self.constants.len() > count {
            self.constants.select_nth_unstable(count);
        }
        for (&(_, id), register) in self.constants.iter().zip(free) {
            allocation
                .constant_registers
                .push((graph.node(id).a, register));
            let of = id as usize * self.vectors;
            allocation.of[of..of + self.vectors].fill(NodeLocation::ConstantRegister(register));
        }
        allocation
    }

    fn allocate_node(&mut self, id: NodeId, vector: usize, graph: &Graph, stores: &[GraphStore]) {
        let (value, last) = (
            id as usize * self.vectors + vector,
            self.uses.last[id as usize],
        );
        if let Some(&number) = self.free_masks.last()
            && let Some(is_inverted) = self.mask_uses.as_mask(id, graph)
        {
            self.free_masks.pop();
            let register = MaskRegister {
                number,
                is_inverted,
            };
            self.allocation.of[value] = NodeLocation::MaskRegister(register);
            return;
        }
        // An instruction with one operand in a plane costs no more than with two in registers.
        if self.uses.counts[id as usize] < 2 && self.stays(id, last, graph, stores) {
            self.allocation.of[value] = NodeLocation::Plane;
            return;
        }
        let register = match self.free.pop() {
            Some(register) => register as usize,
            None => {
                let furthest = (0..self.until.len()).max_by_key(|&r| self.until[r]);
                let register = furthest.expect("there are registers");
                if self.until[register] <= last {
                    self.allocation.of[value] = self.spill(id, last, graph, stores);
                    return;
                }
                // It is spilled from its definition on.
                let evicted = self.held[register];
                let id = (evicted / self.vectors) as NodeId;
                self.allocation.of[evicted] = self.spill(id, self.until[register], graph, stores);
                register
            }
        };
        self.held[register] = value;
        self.until[register] = last;
        self.allocation.used_registers |= 1 << register;
        self.allocation.of[value] = NodeLocation::Register(register as u8);
    }

    /// A location for a node that is in no register, live until `last`.
    fn spill(
        &mut self,
        id: NodeId,
        last: NodeId,
        graph: &Graph,
        stores: &[GraphStore],
    ) -> NodeLocation {
        match self.stays(id, last, graph, stores) {
            true => NodeLocation::Plane,
            false => self.slot(id),
        }
    }

    /// Whether a node that is live until `last` can be read in its plane.
    fn stays(&self, id: NodeId, last: NodeId, graph: &Graph, stores: &[GraphStore]) -> bool {
        let node = graph.node(id);
        let is_left = || {
            let write = stores
                .iter()
                .find(|store| store.target == StoreTarget::Word(node.a));
            // A store after a node may be written before it.
            let is_stored = stores.iter().any(|store| store.value == id);
            !is_stored && write.is_none_or(|write| last <= write.after)
        };
        self.reads_planes && node.op == NodeOp::Plane && is_left()
    }

    /// A spill slot that was free at a node, and has been since.
    fn slot(&mut self, at: NodeId) -> NodeLocation {
        let free = self.free_slots.iter().position(|&(_, after)| after < at);
        NodeLocation::SpillSlot(match free {
            Some(index) => self.free_slots.swap_remove(index).0,
            None => {
                self.allocation.spill_slots += 1;
                (self.allocation.spill_slots - 1) as u16
            }
        })
    }

    fn free(&mut self, id: NodeId, vector: usize, after: NodeId) {
        let location = self.allocation.of[id as usize * self.vectors + vector];
        // Nearly all are registers, which a branch of its own predicts.
        if let NodeLocation::Register(register) = location {
            self.free.push(register);
        } else if let NodeLocation::MaskRegister(register) = location {
            self.free_masks.push(register.number);
        } else if let NodeLocation::SpillSlot(slot) = location {
            self.free_slots.push((slot, after));
        }
    }
}
