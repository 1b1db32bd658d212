//! Emits point kernels: the code of one point, which works on its register file.
//!
//! One vector is current. The first element of each of its halves holds the point's word, or one of
//! its shadows ([`crate::shadow_pairs`]). The other elements are undefined on x86-64, and equal to
//! the first on aarch64, where masks are tested as a whole. Only superwords have four defined
//! elements ([`crate::superword`]); they are read by nodes that gather and extract elements alone.

use super::kernel::KernelFrame;
use super::{AllocatedGraph, Emitter};
use crate::control::{BlockExit, ControlAction, ControlEvent, ExitTarget, RegisterStore};
use crate::extended_blocks::ExtendedBlock;
use crate::graph::{NodeId, NodeOp};
use crate::machine_code::{KernelExtent, KernelPart};
use crate::macro_assembler::{AsmOperand, MacroAssembler};
use crate::register_allocation::LinearScan;
use crate::template::OpTemplates;
use adumbra_vm::native::PointCfg;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// The labels of a point CFG's exit targets.
struct ExitLabels<'f> {
    labels: &'f [DynamicLabel],
    /// The label of the current block's next iteration.
    again: DynamicLabel,
    /// Bytes of the frame.
    size: i32,
}

/// An exit that is written after the block.
struct OutlinedExit<'t> {
    begin: DynamicLabel,
    /// Steps that were taken before too few were left.
    steps: u32,
    exit: &'t BlockExit,
    /// The position of the bytecode instruction that it is for.
    position: u32,
}

impl<M: MacroAssembler> Emitter<M> {
    /// Writes a point CFG and returns the extent of each entry, or `None` if its frame would be too
    /// large.
    pub(super) fn point_cfg(
        &mut self,
        cfg: &PointCfg,
        (ebbs, label_count): &(Vec<ExtendedBlock>, u32),
        templates: &OpTemplates,
    ) -> Option<Vec<KernelExtent>> {
        let computations = || ebbs.iter().map(|ebb| &ebb.computation);
        let mut frame = KernelFrame::for_graphs::<M>(computations(), templates, 1)?;
        let uniform_offsets = frame.take_uniform_offsets();
        let bodies = self.allocate_graphs(
            computations(),
            &mut frame,
            &uniform_offsets,
            LinearScan::allocate,
        );
        if !frame.fits() {
            return None;
        }
        let labels: Vec<_> = (0..*label_count)
            .map(|_| self.machine.new_label())
            .collect();
        let mut extents: Vec<KernelExtent> = Vec::with_capacity(cfg.entries.len());
        for (ebb, body) in ebbs.iter().zip(&bodies) {
            let next = cfg.entries.get(extents.len());
            if next.is_some_and(|entry| entry.block == ebb.label) {
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
            self.machine.bind(labels[ebb.label as usize]);
            let targets = ExitLabels {
                labels: &labels,
                again: self.machine.new_label(),
                size: frame.bytes,
            };
            self.ebb(ebb, body, &targets);
        }
        self.end_entry(&mut extents);
        // Kernels have no identity but their offset.
        assert_eq!(
            extents.len(),
            cfg.entries.len(),
            "each has an extended block, in order"
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

    fn ebb(&mut self, ebb: &ExtendedBlock, body: &AllocatedGraph<'_>, targets: &ExitLabels<'_>) {
        let mut events = ebb.events.iter().peekable();
        let mut outlined = Vec::new();
        for id in 0..body.graph.nodes.len() as NodeId {
            if id == ebb.carried_nodes {
                self.machine.bind(targets.again);
            }
            if body.allocation.is_computed(id) {
                if self.parts.is_some() {
                    self.part(KernelPart::Instruction(body.positions.position_of(id)));
                }
                self.node(body, id, 0);
            }
            while let Some(event) = events.next_if(|event| event.after == id) {
                self.event(event, body, targets, &mut outlined);
            }
        }
        for exit_at in outlined {
            self.part(KernelPart::WriteBack(exit_at.position));
            self.machine.bind(exit_at.begin);
            if exit_at.steps > 0 {
                self.machine.return_steps(exit_at.steps);
            }
            self.exit(exit_at.exit, body, targets);
        }
        self.slow_paths(body);
    }

    fn event<'t>(
        &mut self,
        event: &'t ControlEvent,
        body: &AllocatedGraph<'_>,
        targets: &ExitLabels<'_>,
        outlined: &mut Vec<OutlinedExit<'t>>,
    ) {
        let position = event.position;
        match &event.action {
            ControlAction::Label(label) => self.machine.bind(targets.labels[*label as usize]),
            ControlAction::Branch { mask, is_set, exit } => {
                self.part(KernelPart::Branch(position));
                let to = self.exit_label(exit, targets, position, outlined);
                let mask = self.operand(body, *mask, 0);
                match is_set {
                    true => self.machine.jump_if_any(mask, to),
                    false => self.machine.jump_if_none(mask, to),
                }
            }
            ControlAction::TakeSteps { steps, exit } => {
                self.part(KernelPart::Step(position));
                let begin = self.machine.new_label();
                self.machine.take_steps(*steps, begin);
                outlined.push(OutlinedExit {
                    begin,
                    steps: *steps,
                    exit,
                    position,
                });
            }
            ControlAction::Exit(exit) => {
                self.part(KernelPart::WriteBack(position));
                self.exit(exit, body, targets);
            }
        }
    }

    /// The label for a jump that exits: the target itself if nothing has to be done before.
    fn exit_label<'t>(
        &mut self,
        exit: &'t BlockExit,
        targets: &ExitLabels<'_>,
        position: u32,
        outlined: &mut Vec<OutlinedExit<'t>>,
    ) -> DynamicLabel {
        match exit.target {
            ExitTarget::Label(label) if exit.stores.is_empty() => targets.labels[label as usize],
            ExitTarget::Label(_) | ExitTarget::NextIteration | ExitTarget::Exit(_) => {
                let begin = self.machine.new_label();
                outlined.push(OutlinedExit {
                    begin,
                    steps: 0,
                    exit,
                    position,
                });
                begin
            }
        }
    }

    fn exit(&mut self, exit: &BlockExit, body: &AllocatedGraph<'_>, targets: &ExitLabels<'_>) {
        for &RegisterStore {
            vm_register,
            value,
            half,
        } in &exit.stores
        {
            let node = body.graph.node(value);
            if node.op == NodeOp::Const {
                self.machine.fill_vm_register(vm_register, node.a);
                continue;
            }
            let value = self.operand(body, value, 0);
            let register = self.machine.in_register(value, M::SCRATCH[0]);
            self.machine.store_vm_register(vm_register, register, half);
        }
        self.carry(&exit.loop_carried, body);
        match exit.target {
            ExitTarget::Label(label) => self.machine.jump(targets.labels[label as usize]),
            ExitTarget::NextIteration => self.machine.jump(targets.again),
            ExitTarget::Exit(exit) => self.machine.leave_point_kernel(targets.size, exit),
        }
    }

    /// Moves values to the locations of nodes, all at once: a parallel move (Rideau, Serpette and
    /// Leroy 2008, "Tilting at windmills with Coq"). Unused nodes have no location.
    fn carry(&mut self, carried: &[(NodeId, NodeId)], body: &AllocatedGraph<'_>) {
        let [first, second] = M::SCRATCH;
        let used = carried
            .iter()
            .filter(|(node, _)| body.allocation.is_computed(*node));
        let mut moves: Vec<_> = used
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
            let saved = std::mem::replace(&mut moves[number].1, AsmOperand::Register(second));
            self.machine.load(second, saved);
            ready.extend(read(saved));
        }
    }
}
