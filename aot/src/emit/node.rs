//! Emits one node for one vector.

use super::{AllocatedGraph, Emitter, SlowPath};
use crate::graph::{Node, NodeId, NodeOp};
use crate::machine_code::KernelPart;
use crate::macro_assembler::{AsmOperand, MacroAssembler};
use crate::register_allocation::NodeLocation;
use adumbra_ops::Libcall;

impl<M: MacroAssembler> Emitter<M> {
    /// The operand that has a node's value.
    pub(super) fn operand(
        &mut self,
        body: &AllocatedGraph<'_>,
        id: NodeId,
        vector: usize,
    ) -> AsmOperand<M::Constant> {
        match body.allocation.location(id, vector) {
            NodeLocation::Register(register) | NodeLocation::ConstantRegister(register) => {
                return AsmOperand::Register(register);
            }
            NodeLocation::SpillSlot(slot) => {
                return AsmOperand::Frame(body.spill_base + slot as i32 * M::VECTOR_BYTES);
            }
            NodeLocation::MaskRegister(register) => return AsmOperand::Mask(register),
            NodeLocation::Unallocated | NodeLocation::Plane => {}
        }
        let node = body.graph.node(id);
        match node.op {
            NodeOp::Plane => AsmOperand::Plane(node.a, vector as u8),
            NodeOp::Const => AsmOperand::Constant(self.machine.constant(node.a)),
            NodeOp::Uniform => AsmOperand::Uniform(body.uniform_offsets[&node.a]),
            NodeOp::Param => AsmOperand::Frame(body.param_base + node.a as i32 * M::VECTOR_BYTES),
            _ => unreachable!("an operand has a location"),
        }
    }

    /// Computes a node and stores the result at its location, if it is in memory.
    pub(super) fn node(&mut self, body: &AllocatedGraph<'_>, id: NodeId, vector: usize) {
        let node = body.graph.node(id);
        let [first, _] = M::SCRATCH;
        let location = body.allocation.location(id, vector);
        if location == NodeLocation::Plane {
            return;
        }
        if let NodeLocation::MaskRegister(register) = location {
            let [a, b] = [node.a, node.b].map(|id| self.operand(body, id, vector));
            return self.machine.emit_mask(node.op, register, a, b);
        }
        let to = match location {
            NodeLocation::Register(register) => register,
            _ => first,
        };
        match node.op {
            NodeOp::Plane => {
                if vector == 0 || body.allocation.location(id, vector - 1) == NodeLocation::Plane {
                    self.machine.address_plane(node.a);
                }
                self.machine.load_plane(to, vector as i32 * M::VECTOR_BYTES);
            }
            NodeOp::VmRegister => self.machine.load_vm_register(to, node.a),
            NodeOp::Global => self.machine.load_global(to, node.a),
            NodeOp::SlowPath => self.slow_path(body, id, to, vector),
            NodeOp::BranchMin | NodeOp::BranchMax => self.branch_min_max(body, node, to),
            NodeOp::Libcall => self.libcall(body, node, to, vector),
            NodeOp::Lookup => {
                let index = self.operand(body, node.a, vector);
                let table = body.graph.tables[node.b as usize];
                self.machine.lookup(table, to, index);
            }
            op => match op.operand_count() {
                1 => {
                    let a = self.operand(body, node.a, vector);
                    self.machine.emit_unary(op, node.b, to, a);
                }
                2 => {
                    let mut a = self.operand(body, node.a, vector);
                    let mut b = self.operand(body, node.b, vector);
                    let is_swapped = matches!(b, AsmOperand::Register(_)) && op.is_commutative();
                    if !matches!(a, AsmOperand::Register(_)) && is_swapped {
                        (a, b) = (b, a);
                    }
                    self.machine.emit_binary(op, to, a, b);
                }
                _ => {
                    let a = self.operand(body, node.a, vector);
                    let b = self.operand(body, node.b, vector);
                    let c = self.operand(body, node.c, vector);
                    self.machine.emit_ternary(op, to, a, b, c);
                }
            },
        }
        if let NodeLocation::SpillSlot(slot) = location {
            self.machine
                .store(body.spill_base + slot as i32 * M::VECTOR_BYTES, to);
        }
    }

    /// Selects one of two operands by a branch.
    fn branch_min_max(&mut self, body: &AllocatedGraph<'_>, node: Node, to: u8) {
        let [_, second] = M::SCRATCH;
        let [a, b] = [node.a, node.b].map(|id| self.operand(body, id, 0));
        // The result's register first takes the other one.
        let (held, other, takes_a) = match a {
            AsmOperand::Register(a) if a == to => (b, a, false),
            _ => (a, to, true),
        };
        if takes_a {
            self.machine.load(to, b);
        }
        let held = self.machine.in_register(held, second);
        let (a, b) = if takes_a {
            (held, other)
        } else {
            (other, held)
        };
        let (less, than) = match node.op {
            NodeOp::BranchMin => (a, b),
            _ => (b, a),
        };
        let stay = self.machine.new_label();
        self.machine.jump_if_less(less, than, !takes_a, stay);
        self.machine.load(to, AsmOperand::Register(held));
        self.machine.bind(stay);
    }

    /// The default result, and a jump to a slow path if any element needs another one.
    fn slow_path(&mut self, body: &AllocatedGraph<'_>, id: NodeId, to: u8, vector: usize) {
        let node = body.graph.node(id);
        let fast = self.operand(body, node.b, vector);
        self.machine.load(to, fast);
        let mask = self.operand(body, node.a, vector);
        let (begin, back) = (self.machine.new_label(), self.machine.new_label());
        match body.graph.slow_paths[node.c as usize].taken_if_set {
            true => self.machine.jump_if_any(mask, begin),
            false => self.machine.jump_unless_all(mask, begin),
        }
        self.machine.bind(back);
        self.slow_paths.push(SlowPath {
            node: id,
            vector,
            begin,
            resume: back,
        });
    }

    /// Writes the slow paths.
    pub(super) fn slow_paths(&mut self, body: &AllocatedGraph<'_>) {
        let [first, _] = M::SCRATCH;
        let mut pending = std::mem::take(&mut self.slow_paths);
        for path in pending.drain(..) {
            let SlowPath {
                node,
                vector,
                begin,
                resume: back,
            } = path;
            let position = body.positions.position_of(node);
            self.part(KernelPart::SlowPath(position));
            self.machine.bind(begin);
            let location = body.allocation.location(node, vector);
            let node = body.graph.node(node);
            // A store to the frame clobbers the register that the result may be in.
            if let NodeLocation::SpillSlot(slot) = location {
                self.machine
                    .store(body.spill_base + slot as i32 * M::VECTOR_BYTES, first);
            }
            let call = &body.graph.slow_paths[node.c as usize];
            for (index, &input) in (0..).zip(body.graph.inputs(call)) {
                let input = self.operand(body, input, vector);
                let input = self.machine.in_register(input, first);
                self.machine
                    .store(body.param_base + index * M::VECTOR_BYTES, input);
            }
            let routine = self.routine_label(call.routine, position);
            self.machine.call(routine);
            let (to, fast) = match location {
                NodeLocation::Register(register) => (register, AsmOperand::Register(register)),
                NodeLocation::SpillSlot(slot) => (
                    first,
                    AsmOperand::Frame(body.spill_base + slot as i32 * M::VECTOR_BYTES),
                ),
                NodeLocation::Unallocated
                | NodeLocation::Plane
                | NodeLocation::ConstantRegister(_)
                | NodeLocation::MaskRegister(_) => {
                    unreachable!("a result has a location")
                }
            };
            let mask = self.operand(body, node.a, vector);
            let slow_path = AsmOperand::Frame(body.param_base);
            let (set, unset) = match call.taken_if_set {
                true => (slow_path, fast),
                false => (fast, slow_path),
            };
            self.machine
                .emit_ternary(NodeOp::Select, to, mask, set, unset);
            self.machine.jump(back);
        }
        self.slow_paths = pending;
    }

    fn libcall(&mut self, body: &AllocatedGraph<'_>, node: Node, to: u8, vector: usize) {
        let [first, second] = M::SCRATCH;
        let [a, b] = [node.a, node.b].map(|id| self.operand(body, id, vector));
        self.machine.load(first, a);
        self.machine.load(second, b);
        let function = Libcall::ALL[node.c as usize];
        self.machine.call_libcall(function, self.simd_elements);
        self.machine.load(to, AsmOperand::Register(first));
    }
}
