//! Frames of kernels and routines: each part of a kernel iterates over all runs of vectors, a
//! routine is a slow path.

use super::{AllocatedGraph, Emitter, MAX_FRAME_BYTES};
use crate::graph::{Graph, NodeId};
use crate::graph_builder::{Computation, GraphStore, NodePositions, StoreTarget};
use crate::machine_code::{KernelExtent, KernelPart};
use crate::macro_assembler::{AsmOperand, MacroAssembler};
use crate::optimisation::Optimisation;
use crate::register_allocation::{Allocation, LinearScan};
use crate::template::OpTemplates;
use adumbra_vm::native::{KERNEL_WIDTH, WordLocation};
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The stack frame of a kernel, as bytes from the stack pointer. The arguments of routines come
/// first.
pub(super) struct KernelFrame {
    pub(super) bytes: i32,
    /// The vectors that it computes at once.
    pub(super) vectors: usize,
    /// The offset of each uniform word's copy.
    uniform_offsets: FxHashMap<u32, i32>,
}

impl KernelFrame {
    /// The frame of a kernel for these graphs, which computes some vectors at once. `None` if the
    /// templates are full.
    pub(super) fn for_graphs<'g, M: MacroAssembler>(
        computations: impl Iterator<Item = &'g Computation> + Clone,
        templates: &OpTemplates,
        vectors: usize,
    ) -> Option<KernelFrame> {
        if templates.is_full() {
            return None;
        }
        let slow_path_calls = (computations.clone()).flat_map(|own| &own.graph.slow_paths);
        let given =
            slow_path_calls.map(|slow_path| templates.routine(slow_path.routine).0.param_count());
        let mut size = given.max().unwrap_or(0) as i32 * M::VECTOR_BYTES;
        let mut uniform_offsets = FxHashMap::default();
        for &word in computations.flat_map(|own| &own.graph.uniforms) {
            uniform_offsets.entry(word).or_insert_with(|| {
                size = size.saturating_add(M::UNIFORM_BYTES);
                size - M::UNIFORM_BYTES
            });
        }
        // Vectors come after them.
        let size = (size as u32).next_multiple_of(M::VECTOR_BYTES as u32);
        Some(KernelFrame {
            bytes: i32::try_from(size).unwrap_or(i32::MAX),
            vectors,
            uniform_offsets,
        })
    }

    /// Whether the frame is within `MAX_FRAME_BYTES`.
    pub(super) fn fits(&self) -> bool {
        self.bytes <= MAX_FRAME_BYTES
    }

    /// The offsets of the copies of uniform values.
    pub(super) fn take_uniform_offsets(&mut self) -> FxHashMap<u32, i32> {
        std::mem::take(&mut self.uniform_offsets)
    }
}

impl<M: MacroAssembler> Emitter<M> {
    /// Writes the kernel of a segment and returns its extent, or `None` if its frame would be too
    /// large.
    pub(super) fn segment(
        &mut self,
        locations: &[WordLocation],
        segments: &[Computation],
        templates: &OpTemplates,
    ) -> Option<KernelExtent> {
        const {
            assert!(
                M::SEGMENT_VECTORS * M::VECTOR_BYTES as usize <= KERNEL_WIDTH * size_of::<u32>()
            )
        };
        let vectors = match self.optimisations.has(Optimisation::Interleaving) {
            true => M::SEGMENT_VECTORS,
            false => 1,
        };
        let mut frame = KernelFrame::for_graphs::<M>(segments.iter(), templates, vectors)?;
        let uniform_offsets = frame.take_uniform_offsets();
        let find = match self.optimisations.has(Optimisation::ConstantRegisters) {
            true => LinearScan::allocate_loop,
            false => LinearScan::allocate,
        };
        let bodies = self.allocate_graphs(segments.iter(), &mut frame, &uniform_offsets, find);
        let start = self.begin_kernel(&frame, locations, &uniform_offsets)?;
        for (body, segment) in bodies.iter().zip(segments) {
            let [run, vectors_of_run, done] = [(); 3].map(|()| self.machine.new_label());
            self.part(KernelPart::Runs);
            // Before all runs: diverged groups have many short ones.
            for &(bits, register) in &body.allocation.constant_registers {
                let constant = self.machine.constant(bits);
                self.machine.load(register, AsmOperand::Constant(constant));
            }
            self.machine.begin_runs(run, done);
            self.part(KernelPart::Vectors);
            self.machine.begin_loop(vectors_of_run);
            self.nodes(body, &segment.stores);
            self.part(KernelPart::NextVectors);
            self.machine
                .end_loop(vectors_of_run, vectors as i32 * M::VECTOR_BYTES);
            self.part(KernelPart::NextRun);
            self.machine.end_runs(run, done);
            self.slow_paths_with_jump(body);
        }
        self.part(KernelPart::Exit);
        self.machine.leave_kernel();
        Some(KernelExtent {
            start,
            end: self.machine.position(),
            frame_bytes: frame.bytes as usize,
        })
    }

    /// Allocates one graph after the other, in a frame that grows with them.
    pub(super) fn allocate_graphs<'g>(
        &self,
        computations: impl Iterator<Item = &'g Computation>,
        frame: &mut KernelFrame,
        uniform_offsets: &'g FxHashMap<u32, i32>,
        find: fn(&mut LinearScan, &Graph, &[GraphStore]) -> Allocation,
    ) -> Vec<AllocatedGraph<'g>> {
        let slots = frame.bytes;
        // Fewer registers, for tests, are fewer of each kind.
        let Range { start, end } = M::MASK_REGISTERS;
        let masks = start..end.min(start + self.registers);
        let mut allocator =
            LinearScan::new(frame.vectors, self.registers, M::HAS_PLANE_OPERANDS).with_masks(masks);
        let mut most = 0;
        let bodies = computations.map(|computation| {
            let Computation {
                graph,
                stores,
                positions,
            } = computation;
            let allocation = find(&mut allocator, graph, stores);
            most = most.max(allocation.spill_slots);
            AllocatedGraph {
                graph,
                positions,
                allocation,
                spill_base: slots,
                param_base: 0,
                uniform_offsets,
            }
        });
        let bodies = bodies.collect();
        let bytes = i64::from(most) * i64::from(M::VECTOR_BYTES);
        frame.bytes = (frame.bytes).saturating_add(i32::try_from(bytes).unwrap_or(i32::MAX));
        bodies
    }

    /// Writes the prologue of a kernel. Returns its offset, or `None` if its frame is too large.
    fn begin_kernel(
        &mut self,
        frame: &KernelFrame,
        locations: &[WordLocation],
        uniform_offsets: &FxHashMap<u32, i32>,
    ) -> Option<usize> {
        if !frame.fits() {
            return None;
        }
        self.part(KernelPart::Pool);
        let start = self.machine.enter_kernel(frame.bytes, locations);
        self.part_from(start, KernelPart::Entry);
        self.part(KernelPart::Uniforms);
        let mut sorted: Vec<(u32, i32)> = uniform_offsets
            .iter()
            .map(|(&word, &at)| (word, at))
            .collect();
        sorted.sort_unstable();
        for (word, at) in sorted {
            self.machine.copy_uniform(word, at);
        }
        Some(start)
    }

    /// Writes slow paths close by, for jumps of short reach, and a jump over them.
    pub(super) fn slow_paths_with_jump(&mut self, body: &AllocatedGraph<'_>) {
        if !self.slow_paths.is_empty() {
            let after = self.machine.new_label();
            self.machine.jump(after);
            self.slow_paths(body);
            self.machine.bind(after);
        }
    }

    /// Writes nodes and the stores after them, for the current vectors.
    fn nodes(&mut self, body: &AllocatedGraph<'_>, mut stores: &[GraphStore]) {
        let vectors = body.allocation.vectors;
        for id in 0..body.graph.nodes.len() as NodeId {
            if body.allocation.is_computed(id) {
                if self.parts.is_some() {
                    self.part(KernelPart::Instruction(body.positions.position_of(id)));
                }
                for vector in 0..vectors {
                    self.node(body, id, vector);
                }
            }
            while let [store, later @ ..] = stores
                && store.after == id
            {
                if self.parts.is_some() {
                    self.part(KernelPart::Store(body.positions.position_of(store.value)));
                }
                self.store_node(body, store);
                stores = later;
            }
        }
    }

    fn store_node(&mut self, body: &AllocatedGraph<'_>, store: &GraphStore) {
        if let StoreTarget::Word(word) = store.target {
            self.machine.address_plane(word);
        }
        for vector in 0..body.allocation.vectors {
            let value = self.operand(body, store.value, vector);
            match store.target {
                StoreTarget::Word(_) => {
                    let register = self.machine.in_register(value, M::SCRATCH[0]);
                    self.machine
                        .store_plane(vector as i32 * M::VECTOR_BYTES, register);
                }
                StoreTarget::Condition => unreachable!("batch kernels have no branch conditions"),
                StoreTarget::Result => {
                    let register = self.machine.in_register(value, M::SCRATCH[0]);
                    self.machine.store(body.param_base, register);
                }
            }
        }
    }

    /// Writes a routine. It takes its arguments from the caller's frame, leaves its result there,
    /// and preserves all registers but the scratch registers.
    pub(super) fn slow_routine(&mut self, label: DynamicLabel, graph: &Graph, result: NodeId) {
        let end = GraphStore {
            after: graph.nodes.len() as NodeId - 1,
            target: StoreTarget::Result,
            value: result,
        };
        // It would have to save mask registers too.
        let allocation =
            LinearScan::new(1, self.registers, M::HAS_PLANE_OPERANDS).allocate(graph, &[end]);
        let saved: Vec<u8> = (0..self.registers)
            .filter(|register| allocation.used_registers >> register & 1 == 1)
            .collect();
        let slots = saved.len() as i32 * M::VECTOR_BYTES;
        let size = slots + allocation.spill_slots as i32 * M::VECTOR_BYTES;
        let body = AllocatedGraph {
            graph,
            positions: &NodePositions::default(),
            allocation,
            spill_base: slots,
            param_base: size + M::RETURN_ADDRESS_BYTES,
            uniform_offsets: &FxHashMap::default(),
        };
        self.machine.bind(label);
        self.machine.enter_routine(size);
        for (&register, index) in saved.iter().zip(0..) {
            self.machine.store(index * M::VECTOR_BYTES, register);
        }
        for id in 0..graph.nodes.len() as NodeId {
            if body.allocation.is_computed(id) {
                self.node(&body, id, 0);
            }
        }
        let value = self.operand(&body, result, 0);
        let value = self.machine.in_register(value, M::SCRATCH[0]);
        self.machine.store(body.param_base, value);
        for (&register, index) in saved.iter().zip(0..) {
            self.machine
                .load(register, AsmOperand::Frame(index * M::VECTOR_BYTES));
        }
        self.machine.leave_routine(size);
    }
}
