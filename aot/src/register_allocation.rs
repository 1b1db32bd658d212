//! Register allocation by linear scan (Poletto and Sarkar 1999, "Linear Scan Register Allocation"):
//! each value has one location, a register or a spill slot.
//!
//! The scan goes backwards, as LuaJIT's does: a value is allocated at its last use, the first one
//! that is met, and its location is free again before its definition. So liveness needs no pass of
//! its own, and what is never met is dead. How masks are read must be known before.
//!
//! A value has one location for its whole live range, so that skipped code and slow paths find
//! everything where it was. Without free registers, the value with the earliest definition is
//! spilled to the frame, or stays in the plane that it came from. Where a kernel interleaves
//! vectors, each node has a value for each of them.
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

/// The linear-scan allocator, which handles one graph after the other in the same memory.
#[derive(Debug, Default)]
pub(crate) struct LinearScan {
    reads_planes: bool,
    /// The interleaved vectors.
    vectors: usize,
    registers: u8,
    /// The mask registers.
    masks: Range<u8>,
    mask_uses: MaskUses,
    /// How often each node is read, in all vectors: by live nodes and stores.
    uses: Vec<u32>,
    free: Vec<u8>,
    free_masks: Vec<u8>,
    /// Free spill slots, each with the node before which it is free.
    free_slots: Vec<(u16, NodeId)>,
    /// The value that each register holds, or held last, as an index of locations.
    held: Vec<usize>,
    /// The last use of that.
    until: Vec<NodeId>,
    /// Constants that are read more than once, each with how often.
    constants: Vec<(Reverse<u32>, NodeId)>,
    allocation: Allocation,
}

/// The graph whose nodes get locations, and its stores in execution order.
#[derive(Clone, Copy)]
struct ScannedGraph<'g> {
    graph: &'g Graph,
    stores: &'g [GraphStore],
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
    pub(crate) fn allocate(&mut self, graph: &Graph, stores: &[GraphStore]) -> Allocation {
        let scanned = ScannedGraph { graph, stores };
        if !self.masks.is_empty() {
            self.mask_uses.find(graph, stores);
        }
        self.free.clear();
        self.free.extend((0..self.registers).rev());
        self.free_masks.clear();
        self.free_masks.extend(self.masks.clone().rev());
        self.free_slots.clear();
        self.constants.clear();
        self.uses.clear();
        self.uses.resize(graph.nodes.len(), 0);
        self.allocation.of = vec![NodeLocation::Unallocated; graph.nodes.len() * self.vectors];
        self.allocation.vectors = self.vectors;
        let mut before = stores;
        for (id, &node) in (0..graph.nodes.len() as NodeId).zip(&graph.nodes).rev() {
            while let [rest @ .., store] = before
                && store.after == id
            {
                (0..self.vectors).for_each(|vector| self.read(store.value, vector, id, scanned));
                before = rest;
            }
            let uses = self.uses[id as usize];
            if node.op == NodeOp::Const && uses > 1 {
                self.constants.push((Reverse(uses), id));
            }
            if !self.allocation.is_computed(id) {
                continue;
            }
            // Late operands are read after the result was written: all of a slow path but the
            // default result, which is written there, unless that is another operand, too.
            let is_slow_path = node.op == NodeOp::SlowPath;
            let given = || graph.inputs(&graph.slow_paths[node.c as usize]);
            let default_is_early = is_slow_path && node.b != node.a && !given().contains(&node.b);
            let is_late = |operand| is_slow_path && !(default_is_early && operand == node.b);
            for vector in (0..self.vectors).rev() {
                if is_slow_path {
                    graph.for_each_operand(node, |operand| {
                        if is_late(operand) {
                            self.read(operand, vector, id, scanned);
                        }
                    });
                }
                self.define(id, vector, scanned);
                graph.for_each_operand(node, |operand| {
                    if !is_late(operand) {
                        self.read(operand, vector, id, scanned);
                    }
                });
            }
        }
        std::mem::take(&mut self.allocation)
    }

    /// Allocates locations, and free registers for the constants with the most uses: for code that
    /// runs many times after the loads. A processor of today computes four vectors a cycle from
    /// registers, and two if it has to load an operand of each.
    pub(crate) fn allocate_loop(&mut self, graph: &Graph, stores: &[GraphStore]) -> Allocation {
        let mut allocation = self.allocate(graph, stores);
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

    /// Records a read of a value by a node, or by a store after it. The first one that is found is
    /// the last use: the live range is from the definition to there.
    fn read(&mut self, id: NodeId, vector: usize, at: NodeId, scanned: ScannedGraph<'_>) {
        self.uses[id as usize] += 1;
        let value = id as usize * self.vectors + vector;
        let is_found = self.allocation.of[value] != NodeLocation::Unallocated;
        if !is_found && !scanned.graph.node(id).op.needs_no_location() {
            self.allocation.of[value] = self.free_location(id, value, at, scanned);
        }
    }

    /// A location that is free from the definition of a value to its last use.
    fn free_location(
        &mut self,
        id: NodeId,
        value: usize,
        last: NodeId,
        scanned: ScannedGraph<'_>,
    ) -> NodeLocation {
        if let Some(&number) = self.free_masks.last()
            && let Some(is_inverted) = self.mask_uses.as_mask(id, scanned.graph)
        {
            self.free_masks.pop();
            return NodeLocation::MaskRegister(MaskRegister {
                number,
                is_inverted,
            });
        }
        let register = match self.free.pop() {
            Some(register) => register as usize,
            None => {
                let earliest = (0..self.held.len()).min_by_key(|&r| self.held[r]);
                let register = earliest.expect("there are registers");
                let evicted = self.held[register];
                if evicted >= value {
                    return self.spill(id, last, scanned);
                }
                let id = (evicted / self.vectors) as NodeId;
                self.allocation.of[evicted] = self.spill(id, self.until[register], scanned);
                register
            }
        };
        self.held[register] = value;
        self.until[register] = last;
        NodeLocation::Register(register as u8)
    }

    /// Frees the location of a value before its definition.
    fn define(&mut self, id: NodeId, vector: usize, scanned: ScannedGraph<'_>) {
        let value = id as usize * self.vectors + vector;
        // Nearly all are registers, which a branch of its own predicts.
        if let NodeLocation::Register(register) = self.allocation.of[value] {
            self.free.push(register);
            // An instruction with one operand in a plane costs no more than with two in registers.
            let is_read_once = self.uses[id as usize] as usize == self.vectors;
            if is_read_once && self.stays(id, self.until[register as usize], scanned) {
                self.allocation.of[value] = NodeLocation::Plane;
            } else {
                self.allocation.used_registers |= 1 << register;
            }
        } else if let NodeLocation::MaskRegister(register) = self.allocation.of[value] {
            self.free_masks.push(register.number);
        } else if let NodeLocation::SpillSlot(slot) = self.allocation.of[value] {
            self.free_slots.push((slot, id));
        }
    }

    /// A location for a value that is in no register.
    fn spill(&mut self, id: NodeId, last: NodeId, scanned: ScannedGraph<'_>) -> NodeLocation {
        match self.stays(id, last, scanned) {
            true => NodeLocation::Plane,
            false => self.slot(last),
        }
    }

    /// Whether a node that is live until `last` can be read in its plane.
    fn stays(&self, id: NodeId, last: NodeId, scanned: ScannedGraph<'_>) -> bool {
        let node = scanned.graph.node(id);
        let is_left = || {
            let write =
                (scanned.stores.iter()).find(|store| store.target == StoreTarget::Word(node.a));
            // A store after a node may be written before it.
            let is_stored = scanned.stores.iter().any(|store| store.value == id);
            !is_stored && write.is_none_or(|write| last <= write.after)
        };
        self.reads_planes && node.op == NodeOp::Plane && is_left()
    }

    /// A spill slot that is free up to a node.
    fn slot(&mut self, last: NodeId) -> NodeLocation {
        let free = self
            .free_slots
            .iter()
            .position(|&(_, before)| last < before);
        NodeLocation::SpillSlot(match free {
            Some(index) => self.free_slots.swap_remove(index).0,
            None => {
                self.allocation.spill_slots += 1;
                (self.allocation.spill_slots - 1) as u16
            }
        })
    }
}
