//! Flows: the code of one point, which works on its register file. One vector is at hand. The first lane of each of its halves holds the point's word, or one of its
//! shadows ([`crate::pair`]); what the others hold is nobody's on x86-64, and the same on aarch64, where masks are looked
//! at as a whole. Superwords alone have four lanes that count ([`crate::superword`]); nothing but what lanes are put together for and taken out by reads them.

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

/// Where goals of a flow are.
struct Goals<'f> {
    places: &'f [DynamicLabel],
    /// Where the tree at hand begins another turn.
    again: DynamicLabel,
    /// Bytes of the frame.
    size: i32,
}

/// A way out that is written behind the tree.
struct WayOut<'t> {
    begin: DynamicLabel,
    /// Steps that were taken before it was found that there are not so many.
    steps: u32,
    leave: &'t BlockExit,
    /// The instruction of the bytecode that it is for.
    position: u32,
}

impl<M: MacroAssembler> Emitter<M> {
    /// Writes a flow; says where each of its entries is. Nothing if its frame would be too large.
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
        // Kernels are told apart by their places alone.
        assert_eq!(
            extents.len(),
            flow.entries.len(),
            "each has a tree, in order"
        );
        Some(extents)
    }

    /// The code of an entry ends where the next one's begins, although control goes on from one to the other.
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

    /// Where a jump leads that leaves: there itself, if nothing has to be done before.
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

    /// Puts values in the places of nodes, all at once. Nodes that nobody wants have none.
    fn carry(&mut self, carried: &[(NodeId, NodeId)], body: &AllocatedGraph<'_>) {
        let [first, second] = M::SCRATCH;
        let wanted = carried
            .iter()
            .filter(|(node, _)| body.allocation.is_computed(*node));
        let mut moves: Vec<_> = wanted
            .map(|&(node, value)| (self.operand(body, node, 0), self.operand(body, value, 0)))
            .filter(|(to, from)| to != from)
            .collect();
        // How often each place is still read, and the move that goes there. There may be thousands.
        let mut reads: FxHashMap<AsmOperand<M::Constant>, u32> = FxHashMap::default();
        let mut into = FxHashMap::default();
        for (number, &(to, from)) in moves.iter().enumerate() {
            *reads.entry(from).or_default() += 1;
            into.insert(to, number);
        }
        let is_ready = |number: &usize| !reads.contains_key(&moves[*number].0);
        let mut ready: Vec<usize> = (0..moves.len()).filter(is_ready).collect();
        let mut is_done = vec![false; moves.len()];
        // Nobody reads a place once more: what goes there may.
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
            // What is left goes round: one is kept aside.
            let kept = std::mem::replace(&mut moves[number].1, AsmOperand::Register(second));
            self.machine.load(second, kept);
            ready.extend(read(kept));
        }
    }
}
