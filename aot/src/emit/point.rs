//! Emits point kernels: the code of one point, which works on its register file.
//!
//! One vector is current. The first element of each of its halves holds the point's word, or one of
//! its shadows ([`crate::shadow_pairs`]). The other elements are undefined on x86-64, and equal to
//! the first on aarch64, where masks are tested as a whole. Only superwords have four defined
//! elements ([`crate::superword`]); they are read by nodes that pack and extract elements alone.

use super::kernel::KernelFrame;
use super::{AllocatedGraph, Emitter};
use crate::extended_blocks::{
    BlockExit, ControlAction, ControlEvent, ExitTarget, ExtendedBlock, RegisterStore,
};
use crate::graph::{NodeId, NodeOp};
use crate::machine_code::{KernelExtent, KernelPart};
use crate::macro_assembler::{AsmOperand, MacroAssembler};
use crate::register_allocation::{Interleave, LinearScan};
use crate::template::OpTemplates;
use adumbra_vm::native::PointCfg;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// The labels of a point CFG's exit targets.
struct Goals<'f> {
    places: &'f [DynamicLabel],
    /// The label of the current block's next iteration.
    again: DynamicLabel,
    /// Bytes of the frame.
    size: i32,
}

/// An exit that is written after the block.
struct WayOut<'t> {
    begin: DynamicLabel,
    /// Steps that were taken before too few were left.
    steps: u32,
    leave: &'t BlockExit,
    /// The position of the bytecode instruction that it is for.
    position: u32,
}

impl<M: MacroAssembler> Emitter<M> {
    /// Writes a point CFG and returns the extent of each entry, or `None` if its frame would be too
    /// large.
    pub(super) fn point_cfg(
        &mut self,
        flow: &PointCfg,
        (trees, places): &(Vec<ExtendedBlock>, u32),
        templates: &OpTemplates,
    ) -> Option<Vec<KernelExtent>> {
        let computations = || trees.iter().map(|tree| &tree.computation);
        let mut frame =
            KernelFrame::for_graphs::<M>(computations(), templates, Interleave::single_group(1))?;
        let cells = frame.take_uniform_offsets();
        let bodies = self.allocate_graphs(computations(), &mut frame, &cells, LinearScan::allocate);
        if !frame.fits() {
            return None;
        }
        let places: Vec<_> = (0..*places).map(|_| self.machine.new_label()).collect();
        let mut extents: Vec<KernelExtent> = Vec::with_capacity(flow.entries.len());
        for (tree, body) in trees.iter().zip(&bodies) {
            let next = flow.entries.get(extents.len());
            if next.is_some_and(|entry| entry.block == tree.label) {
                self.end_entry(&mut extents);
                self.part(KernelPart::Pool);
                let start = self.machine.enter_point_kernel(frame.bytes);
                self.part_from(start, KernelPart::Entry);
                extents.push(KernelExtent {
                    start,
                    end: start,
                    frame_bytes: frame.bytes as usize,
                });
            }
            self.machine.bind(places[tree.label as usize]);
            let goals = Goals {
                places: &places,
                again: self.machine.new_label(),
                size: frame.bytes,
            };
            self.tree(tree, body, &goals);
        }
        self.end_entry(&mut extents);
        // Kernels have no identity but their offset.
        assert_eq!(
            extents.len(),
            flow.entries.len(),
            "each has a tree, in order"
        );
        Some(extents)
    }

    /// The code of an entry ends at the start of the next one, although control goes on from one to
    /// the other.
    fn end_entry(&self, extents: &mut [KernelExtent]) {
        if let Some(last) = extents.last_mut() {
            last.end = self.machine.position();
        }
    }

    fn tree(&mut self, tree: &ExtendedBlock, body: &AllocatedGraph<'_>, goals: &Goals<'_>) {
        let mut events = tree.events.iter().peekable();
        let mut aside = Vec::new();
        for id in 0..body.graph.nodes.len() as NodeId {
            if id == tree.carried_nodes {
                self.machine.bind(goals.again);
            }
            if body.allocation.is_computed(id) {
                if self.parts.is_some() {
                    self.part(KernelPart::Instruction(body.positions.position_of(id)));
                }
                self.node(body, id, 0);
            }
            while let Some(event) = events.next_if(|event| event.after == id) {
                self.event(event, body, goals, &mut aside);
            }
        }
        for way in aside {
            self.part(KernelPart::WriteBack(way.position));
            self.machine.bind(way.begin);
            if way.steps > 0 {
                self.machine.return_steps(way.steps);
            }
            self.leave(way.leave, body, goals);
        }
        self.slow_paths(body);
    }

    fn event<'t>(
        &mut self,
        event: &'t ControlEvent,
        body: &AllocatedGraph<'_>,
        goals: &Goals<'_>,
        aside: &mut Vec<WayOut<'t>>,
    ) {
        let position = event.position;
        match &event.action {
            ControlAction::Label(place) => self.machine.bind(goals.places[*place as usize]),
            ControlAction::Branch {
                mask,
                is_set,
                exit: leave,
            } => {
                self.part(KernelPart::Branch(position));
                let to = self.way_out(leave, goals, position, aside);
                let mask = self.operand(body, *mask, 0);
                match is_set {
                    true => self.machine.jump_if_any(mask, to),
                    false => self.machine.jump_if_none(mask, to),
                }
            }
            ControlAction::TakeSteps { steps, exit: leave } => {
                self.part(KernelPart::Step(position));
                let begin = self.machine.new_label();
                self.machine.take_steps(*steps, begin);
                aside.push(WayOut {
                    begin,
                    steps: *steps,
                    leave,
                    position,
                });
            }
            ControlAction::Exit(leave) => {
                self.part(KernelPart::WriteBack(position));
                self.leave(leave, body, goals);
            }
        }
    }

    /// The label for a jump that exits: the target itself if nothing has to be done before.
    fn way_out<'t>(
        &mut self,
        leave: &'t BlockExit,
        goals: &Goals<'_>,
        position: u32,
        aside: &mut Vec<WayOut<'t>>,
    ) -> DynamicLabel {
        match leave.target {
            ExitTarget::Label(place) if leave.stores.is_empty() => goals.places[place as usize],
            ExitTarget::Label(_) | ExitTarget::NextIteration | ExitTarget::Exit(_) => {
                let begin = self.machine.new_label();
                aside.push(WayOut {
                    begin,
                    steps: 0,
                    leave,
                    position,
                });
                begin
            }
        }
    }

    fn leave(&mut self, leave: &BlockExit, body: &AllocatedGraph<'_>, goals: &Goals<'_>) {
        for &RegisterStore {
            vm_register: slot,
            value,
            half,
        } in &leave.stores
        {
            let node = body.graph.node(value);
            if node.op == NodeOp::Const {
                self.machine.fill_vm_register(slot, node.a);
                continue;
            }
            let value = self.operand(body, value, 0);
            let register = self.machine.in_register(value, M::SCRATCH[0]);
            self.machine.store_vm_register(slot, register, half);
        }
        self.carry(&leave.loop_carried, body);
        match leave.target {
            ExitTarget::Label(place) => self.machine.jump(goals.places[place as usize]),
            ExitTarget::NextIteration => self.machine.jump(goals.again),
            ExitTarget::Exit(exit) => self.machine.leave_point_kernel(goals.size, exit),
        }
    }

    /// Moves values to the locations of nodes, all at once: a parallel move (Rideau, Serpette and
    /// Leroy 2008, "Tilting at windmills with Coq"). Unused nodes have no location.
    fn carry(&mut self, carried: &[(NodeId, NodeId)], body: &AllocatedGraph<'_>) {
        let [first, second] = M::SCRATCH;
        let wanted = carried
            .iter()
            .filter(|(node, _)| body.allocation.is_computed(*node));
        let mut moves: Vec<_> = wanted
            .map(|&(node, value)| (self.operand(body, node, 0), self.operand(body, value, 0)))
            .filter(|(to, from)| to != from)
            .collect();
        // The remaining reads of each location, and the move that goes there. There may be
        // thousands.
        let mut reads: FxHashMap<AsmOperand<M::Constant>, u32> = FxHashMap::default();
        let mut into = FxHashMap::default();
        for (number, &(to, from)) in moves.iter().enumerate() {
            *reads.entry(from).or_default() += 1;
            into.insert(to, number);
        }
        let is_ready = |number: &usize| !reads.contains_key(&moves[*number].0);
        let mut ready: Vec<usize> = (0..moves.len()).filter(is_ready).collect();
        let mut is_done = vec![false; moves.len()];
        // A location without remaining reads may be overwritten.
        let mut read = |from: AsmOperand<M::Constant>| {
            let left = reads.get_mut(&from)?;
            *left -= 1;
            (*left == 0).then(|| into.get(&from).copied())?
        };
        let mut numbers = 0..moves.len();
        loop {
            while let Some(number) = ready.pop() {
                let (to, from) = moves[number];
                match to {
                    AsmOperand::Register(to) => self.machine.load(to, from),
                    AsmOperand::Frame(at) => {
                        let from = self.machine.in_register(from, first);
                        self.machine.store(at, from);
                    }
                    _ => unreachable!("what was computed is in a register or in the frame"),
                }
                is_done[number] = true;
                ready.extend(read(from));
            }
            let Some(number) = numbers.find(|&number| !is_done[number]) else {
                break;
            };
            // The remaining moves are cycles: one value of each is saved.
            let kept = std::mem::replace(&mut moves[number].1, AsmOperand::Register(second));
            self.machine.load(second, kept);
            ready.extend(read(kept));
        }
    }
}
