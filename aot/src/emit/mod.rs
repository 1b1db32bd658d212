//! Emits machine code from graphs, for any [`MacroAssembler`]: frames, loops, slow paths out of
//! line, and operands at their locations.
//!
//! On request it reports the purpose of each part of the code.

mod kernel;
mod node;
mod point;

use crate::extended_blocks::extended_blocks;
use crate::graph::{Graph, NodeId};
use crate::graph_builder::NodePositions;
use crate::loop_fission::split_segment;
use crate::machine_code::{KernelExtent, KernelPart, MachineCode};
use crate::macro_assembler::{AssembledCode, MacroAssembler};
use crate::optimisation::Optimisations;
use crate::register_allocation::Allocation;
use crate::template::OpTemplates;
use adumbra_vm::native::{PointCfg, Segment};
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// Bytes of the caller's stack that a kernel may take. Code that needs more runs in the
/// interpreter: threads may have little stack, and a program may have any number of uniform values.
pub(crate) const MAX_FRAME_BYTES: i32 = 64 << 10;
const _: () = assert!(
    MAX_FRAME_BYTES <= u16::MAX as i32 + 1,
    "slots of a frame have numbers"
);

/// The most instructions that code has capacity for from the beginning; the code of more is moved
/// as it grows.
const MAX_RESERVED: usize = 1 << 14;

/// The writer of a code buffer.
struct Emitter<M> {
    machine: M,
    optimisations: Optimisations,
    /// The routines in use.
    routines: Vec<Routine>,
    /// How many vector registers may hold values.
    registers: u8,
    /// The number of elements of a vector that differ from one another.
    simd_elements: usize,
    /// Slow paths that are still to be emitted, out of line.
    slow_paths: Vec<SlowPath>,
    /// The purpose of each part, with its start, on request.
    parts: Option<Vec<(usize, KernelPart)>>,
}

/// Compiles all segments with a number of vector registers for values. Returns `None` if the code
/// is too long. Reports its parts on request.
pub(crate) fn compile_batch<M: MacroAssembler>(
    optimisations: Optimisations,
    segments: &[Segment],
    registers: u8,
    in_parts: bool,
) -> Option<MachineCode> {
    let mut templates = OpTemplates::new(M::HAS_SATURATING_CONVERSIONS);
    let instructions = segments.iter().map(|segment| segment.instructions.len());
    let instructions = instructions.sum();
    let elements = M::VECTOR_BYTES as usize / 4;
    let mut emitter = Emitter::<M>::new(optimisations, registers, elements, instructions, in_parts);
    let mut kernels = Vec::with_capacity(segments.len());
    for segment in segments {
        let computations = split_segment(optimisations, segment, &mut templates);
        kernels.push(emitter.segment(&segment.locations, &computations, &templates));
    }
    emitter.finish(kernels, &templates)
}

/// Compiles point CFGs. Each entry is a kernel.
pub(crate) fn compile_points<M: MacroAssembler>(
    optimisations: Optimisations,
    cfgs: &[PointCfg],
    registers: u8,
    in_parts: bool,
) -> Option<MachineCode> {
    let mut templates = OpTemplates::new(M::HAS_SATURATING_CONVERSIONS);
    let blocks = cfgs.iter().flat_map(|cfg| &cfg.blocks);
    let instructions = blocks.map(|block| block.instructions.len()).sum();
    let mut emitter = Emitter::<M>::new(optimisations, registers, 1, instructions, in_parts);
    let mut kernels = Vec::new();
    for cfg in cfgs {
        let ebbs = extended_blocks(optimisations, cfg, &mut templates);
        match emitter.point_cfg(cfg, &ebbs, &templates) {
            Some(found) => kernels.extend(found.into_iter().map(Some)),
            None => kernels.extend(cfg.entries.iter().map(|_| None)),
        }
    }
    emitter.finish(kernels, &templates)
}

/// A routine in use.
struct Routine {
    number: u32,
    label: DynamicLabel,
    /// The position of the bytecode instruction that first called it.
    position: u32,
}

impl<M: MacroAssembler> Emitter<M> {
    fn new(
        optimisations: Optimisations,
        registers: u8,
        elements: usize,
        instructions: usize,
        in_parts: bool,
    ) -> Emitter<M> {
        Emitter {
            machine: M::new(instructions.min(MAX_RESERVED)),
            optimisations,
            routines: Vec::new(),
            registers,
            simd_elements: elements,
            slow_paths: Vec::new(),
            parts: in_parts.then(Vec::new),
        }
    }

    /// Writes the code that all kernels share.
    fn finish(
        mut self,
        kernels: Vec<Option<KernelExtent>>,
        templates: &OpTemplates,
    ) -> Option<MachineCode> {
        // Routines may add constants, but not other routines.
        for routine in std::mem::take(&mut self.routines) {
            let (graph, result) = templates.routine(routine.number);
            self.part(KernelPart::SlowRoutine(routine.position));
            self.slow_routine(routine.label, graph, *result);
        }
        let libcalls = self.machine.position();
        self.part(KernelPart::Libcalls);
        let AssembledCode {
            bytes,
            code_end: end,
            data_start: data,
        } = self.machine.assemble()?;
        let mut parts = self.parts.unwrap_or_default();
        if end == libcalls {
            // There are no libcalls.
            parts.pop();
        }
        Some(MachineCode {
            bytes,
            code_end: end,
            data_start: data,
            kernels,
            parts,
        })
    }

    /// Begins a part of the code here.
    fn part(&mut self, part: KernelPart) {
        self.part_from(self.machine.position(), part);
    }

    fn part_from(&mut self, start: usize, part: KernelPart) {
        let Some(parts) = &mut self.parts else { return };
        if parts.last().is_some_and(|&(last, _)| last == start) {
            parts.pop();
        }
        if parts.last().is_none_or(|&(_, last)| last != part) {
            parts.push((start, part));
        }
    }

    /// The label of a routine that the instruction at this position calls.
    fn routine_label(&mut self, number: u32, position: u32) -> DynamicLabel {
        let found = self.routines.iter().find(|own| own.number == number);
        match found {
            Some(routine) => routine.label,
            None => {
                let label = self.machine.new_label();
                self.routines.push(Routine {
                    number,
                    label,
                    position,
                });
                label
            }
        }
    }
}

/// A graph with its locations, and the offsets that these are relative to.
struct AllocatedGraph<'g> {
    graph: &'g Graph,
    positions: &'g NodePositions,
    allocation: Allocation,
    /// Bytes from the stack pointer to the first spill slot.
    spill_base: i32,
    /// Bytes from the stack pointer to the first parameter.
    param_base: i32,
    /// Bytes from the stack pointer to the uniform value of each word.
    uniform_offsets: &'g FxHashMap<u32, i32>,
}

/// A slow path out of line.
struct SlowPath {
    node: NodeId,
    vector: usize,
    begin: DynamicLabel,
    resume: DynamicLabel,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a64::A64Assembler;
    use crate::differential::DifferentialCase;

    #[test]
    fn frame_size_is_bounded() {
        let is_made = |uniforms: i32| {
            let code = DifferentialCase::sum(4 * uniforms as u32, false)
                .code::<A64Assembler>(A64Assembler::VALUE_REGISTERS);
            code.kernels[0].is_some()
        };
        // The sum itself is in a register.
        let most = MAX_FRAME_BYTES / A64Assembler::VECTOR_BYTES;
        assert!(is_made(most));
        assert!(!is_made(most + 1));
    }
}
