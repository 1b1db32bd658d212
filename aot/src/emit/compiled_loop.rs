//! Emits the kernel of a compiled loop, which runs the current vectors until the last point has
//! exited.
//!
//! The frame has a mask of points for each edge. A hyperblock runs for the points whose edge leads
//! to its first block; it begins by taking these points. Hyperblocks are in order and only a loop's
//! back edges jump backward, so the first hyperblock with active points runs: min-PC scheduling.

use super::kernel::KernelFrame;
use super::{Emitter, LoopMasks};
use crate::graph::NodeOp;
use crate::graph_builder::Computation;
use crate::hyperblock::Hyperblock;
use crate::machine_code::{KernelExtent, KernelPart};
use crate::macro_assembler::{AsmOperand, MacroAssembler};
use crate::optimisation::Optimisation;
use crate::register_allocation::{Interleave, LinearScan};
use crate::template::OpTemplates;
use adumbra_vm::native::{CompiledLoop, Edge, KERNEL_PADDING, KERNEL_WIDTH, LoopTerminator};

/// Nodes of an iteration from which on one group of vectors keeps the processor busy: longer
/// iterations need the registers for themselves.
const LONG_ITERATION: usize = 192;

impl<M: MacroAssembler> Emitter<M> {
    /// Writes the kernel of a compiled loop and returns its extent, or `None` if its frame would be
    /// too large.
    pub(super) fn compiled_loop(
        &mut self,
        compiled_loop: &CompiledLoop,
        hyperblocks: &[Hyperblock],
        templates: &OpTemplates,
    ) -> Option<KernelExtent> {
        const { assert!(KERNEL_PADDING.is_multiple_of(M::MAX_LOOP_GROUPS * KERNEL_WIDTH)) }
        let lengths = hyperblocks
            .iter()
            .map(|hyperblock| hyperblock.computation.graph.len());
        let is_interleaved = self.optimisations.has(Optimisation::LoopInterleaving);
        let most = match lengths.max().unwrap_or(0) {
            0..=LONG_ITERATION if is_interleaved => M::MAX_LOOP_GROUPS,
            _ => 1,
        };
        // If the frame is too large, fewer points may fit.
        let mut groups = [most, 1].into_iter().take(most.min(2));
        groups.find_map(|groups| {
            let interleave = Interleave {
                vectors_per_group: M::LOOP_GROUP_VECTORS,
                groups,
            };
            self.interleaved_loop(compiled_loop, hyperblocks, templates, interleave)
        })
    }

    /// Writes the kernel for one interleave factor.
    fn interleaved_loop(
        &mut self,
        compiled_loop: &CompiledLoop,
        hyperblocks: &[Hyperblock],
        templates: &OpTemplates,
        interleave: Interleave,
    ) -> Option<KernelExtent> {
        let computations = || hyperblocks.iter().map(|hyperblock| &hyperblock.computation);
        let mut frame = KernelFrame::for_graphs::<M>(computations(), templates, interleave)?;
        let count = compiled_loop.exits as usize + compiled_loop.blocks.len();
        let masks = LoopMasks {
            active: frame.reserve_masks::<M>(1),
            edges: frame.reserve_masks::<M>(count),
            exits: compiled_loop.exits,
            vectors: interleave.vector_count(),
            stride: interleave.vector_count() as i32 * M::VECTOR_BYTES,
            steps: frame.reserve_masks::<M>(1),
        };
        let iterations = frame.reserve_masks::<M>(1);
        frame.masks = masks;
        let uniform_offsets = frame.take_uniform_offsets();
        let bodies = self.allocate_graphs(
            computations(),
            &mut frame,
            &uniform_offsets,
            LinearScan::allocate,
        );
        let (start, runs) = self.begin_kernel(&frame, &uniform_offsets)?;
        let next = self.machine.new_label();
        self.part(KernelPart::Vectors);
        self.machine.begin_loop(next);
        self.part(KernelPart::GatherMasks);
        self.gather_masks(&masks, count);
        self.machine.begin_iterations(iterations);
        let mut labels: Vec<_> = hyperblocks
            .iter()
            .map(|_| self.machine.new_label())
            .collect();
        let out = self.machine.new_label();
        labels.push(out);
        let target_of = |block: u32| {
            let found = hyperblocks
                .iter()
                .position(|hyperblock| hyperblock.blocks.start == block);
            found.expect("back edges go to the start of a hyperblock")
        };
        let mut slow_paths_of = Vec::with_capacity(bodies.len());
        for (number, (hyperblock, body)) in hyperblocks.iter().zip(&bodies).enumerate() {
            let Computation { stores, .. } = &hyperblock.computation;
            self.part(KernelPart::EnterBlock);
            self.machine.bind(labels[number]);
            self.enter_block(&masks, hyperblock.blocks.start, labels[number + 1]);
            self.nodes(body, interleave.groups, stores);
            slow_paths_of.push(std::mem::take(&mut self.slow_paths));
            let last = &compiled_loop.blocks[hyperblock.blocks.end as usize - 1];
            if let LoopTerminator::Loop(target) = last.terminator {
                self.part(KernelPart::Instruction(last.position));
                self.machine
                    .next_iteration(iterations, labels[target_of(target)]);
                self.machine.jump(out);
            }
        }
        self.part(KernelPart::StoreMasks);
        self.machine.bind(out);
        self.store_masks(&masks, count);
        self.part(KernelPart::NextVectors);
        self.machine.end_loop(next, masks.stride);
        for (body, own) in bodies.iter().zip(slow_paths_of) {
            self.slow_paths = own;
            self.slow_paths_with_jump(body);
        }
        Some(self.end_kernel(start, &frame, runs))
    }

    /// Initialises the masks: active points are before the first block, none at other edges, and no
    /// steps are taken.
    fn gather_masks(&mut self, masks: &LoopMasks, count: usize) {
        let [scratch, _] = M::SCRATCH;
        let zero = AsmOperand::Constant(self.machine.constant(0));
        self.machine.load(scratch, zero);
        for vector in 0..masks.vectors as i32 {
            for edge in 0..count as i32 {
                let at = masks.edges + edge * masks.stride + vector * M::VECTOR_BYTES;
                self.machine.store(at, scratch);
            }
            self.machine
                .store(masks.steps + vector * M::VECTOR_BYTES, scratch);
        }
        for vector in 0..masks.vectors {
            self.machine.load_active(scratch, vector);
            let at = masks.edge_offset(Edge::Block(0)) + vector as i32 * M::VECTOR_BYTES;
            self.machine.store(at, scratch);
        }
    }

    /// Activates the points before a block and jumps to `none` if there are none.
    fn enter_block(&mut self, masks: &LoopMasks, block: u32, none: dynasmrt::DynamicLabel) {
        let [first, second] = M::SCRATCH;
        let edge = masks.edge_offset(Edge::Block(block));
        let at = |vector: usize| AsmOperand::Frame(edge + vector as i32 * M::VECTOR_BYTES);
        self.machine.load(first, at(0));
        for vector in 1..masks.vectors {
            let so_far = AsmOperand::Register(first);
            self.machine
                .emit_binary(NodeOp::Or, first, so_far, at(vector));
        }
        let some = self.machine.new_label();
        self.machine.jump_if_any(AsmOperand::Register(first), some);
        self.machine.jump(none);
        self.machine.bind(some);
        let zero = AsmOperand::Constant(self.machine.constant(0));
        self.machine.load(second, zero);
        for vector in 0..masks.vectors {
            self.machine.load(first, at(vector));
            self.machine
                .store(masks.active + vector as i32 * M::VECTOR_BYTES, first);
            self.machine
                .store(edge + vector as i32 * M::VECTOR_BYTES, second);
        }
    }

    /// Stores the masks of the exits and blocks, and the steps that each point took.
    fn store_masks(&mut self, masks: &LoopMasks, count: usize) {
        let [scratch, _] = M::SCRATCH;
        for vector in 0..masks.vectors {
            let at = masks.steps + vector as i32 * M::VECTOR_BYTES;
            self.machine.load(scratch, AsmOperand::Frame(at));
            self.machine.store_steps(scratch, vector);
        }
        let groups = masks.vectors / M::LOOP_GROUP_VECTORS;
        self.machine.store_edge_masks(masks.edges, count, groups);
    }
}
