//! From graphs to instructions, for any [`Machine`]: frames, loops, rare ways out of line, and where operands are. Whoever wants to look at the code is told what each part of
//! it is for.

mod compiled_loop;
mod kernel;
mod node;
mod point;

use crate::extended_blocks::extended_blocks;
use crate::graph::{Graph, NodeId};
use crate::graph_builder::{NodePositions, split_segment};
use crate::hyperblock::hyperblocks;
use crate::machine_code::{KernelExtent, KernelPart, MachineCode};
use crate::macro_assembler::{AssembledCode, MacroAssembler};
use crate::optimisation::{Optimisation, Optimisations};
use crate::register_allocation::Allocation;
use crate::template::OpTemplates;
use adumbra_vm::native::{CompileUnit, Edge, PointCfg};
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// Bytes that a kernel takes of the caller's stack at most; what wants more goes by the steps. Threads may have little stack, and there are programs with
/// any number of cells.
pub(crate) const MAX_FRAME_BYTES: i32 = 64 << 10;
const _: () = assert!(
    MAX_FRAME_BYTES <= u16::MAX as i32 + 1,
    "slots of a frame have numbers"
);

/// Rows for which there is room in memory from the beginning; the code of more of them moves as it grows.
const MAX_ROOM: usize = 1 << 14;

/// Writes code.
struct Emitter<M> {
    machine: M,
    optimisations: Optimisations,
    /// The routines that are used.
    routines: Vec<Routine>,
    /// How many vector registers may hold values.
    registers: u8,
    /// Lanes of a vector that differ from one another.
    simd_elements: usize,
    /// Rare ways that are still to be written out of line.
    slow_paths: Vec<SlowPath>,
    /// What parts are for, each with where it begins, if somebody asks.
    parts: Option<Vec<(usize, KernelPart)>>,
}

/// How many rows a unit has.
fn rows(unit: &CompileUnit) -> usize {
    match unit {
        CompileUnit::Segment(stretch) => stretch.instructions.len(),
        CompileUnit::Loop(region) => region
            .blocks
            .iter()
            .map(|block| block.instructions.len())
            .sum(),
    }
}

/// Compiles all units, with so many vector registers for values; nothing if the code is too long. Tells of its parts if that is asked for.
pub(crate) fn compile_batch<M: MacroAssembler>(
    optimisations: Optimisations,
    units: &[CompileUnit],
    registers: u8,
    in_parts: bool,
) -> Option<MachineCode> {
    let mut templates = OpTemplates::new(M::HAS_SATURATING_CONVERSIONS);
    let rows = units.iter().map(rows).sum();
    let lanes = M::VECTOR_BYTES as usize / 4;
    let mut emitter = Emitter::<M>::new(optimisations, registers, lanes, rows, in_parts);
    let mut kernels = Vec::with_capacity(units.len());
    for unit in units {
        kernels.push(match unit {
            CompileUnit::Segment(stretch) => {
                let segments = split_segment(optimisations, stretch, &mut templates);
                emitter.segment(&segments, &templates)
            }
            CompileUnit::Loop(region) if optimisations.has(Optimisation::CompiledLoops) => {
                let traces = hyperblocks(optimisations, region, &mut templates);
                emitter.compiled_loop(region, &traces, &templates)
            }
            CompileUnit::Loop(_) => None,
        });
    }
    emitter.finish(kernels, &templates)
}

/// The same of flows, each entry of which is a kernel.
pub(crate) fn compile_points<M: MacroAssembler>(
    optimisations: Optimisations,
    flows: &[PointCfg],
    registers: u8,
    in_parts: bool,
) -> Option<MachineCode> {
    let mut templates = OpTemplates::new(M::HAS_SATURATING_CONVERSIONS);
    let pieces = flows.iter().flat_map(|flow| &flow.blocks);
    let rows = pieces.map(|piece| piece.instructions.len()).sum();
    let mut emitter = Emitter::<M>::new(optimisations, registers, 1, rows, in_parts);
    let mut kernels = Vec::new();
    for flow in flows {
        let trees = extended_blocks(optimisations, flow, &mut templates);
        match emitter.point_cfg(flow, &trees, &templates) {
            Some(found) => kernels.extend(found.into_iter().map(Some)),
            None => kernels.extend(flow.entries.iter().map(|_| None)),
        }
    }
    emitter.finish(kernels, &templates)
}

/// A routine that somebody calls.
struct Routine {
    number: u32,
    label: DynamicLabel,
    /// The instruction of the bytecode that first took it.
    position: u32,
}

impl<M: MacroAssembler> Emitter<M> {
    fn new(
        optimisations: Optimisations,
        registers: u8,
        lanes: usize,
        rows: usize,
        in_parts: bool,
    ) -> Emitter<M> {
        Emitter {
            machine: M::new(rows.min(MAX_ROOM)),
            optimisations,
            routines: Vec::new(),
            registers,
            simd_elements: lanes,
            slow_paths: Vec::new(),
            parts: in_parts.then(Vec::new),
        }
    }

    /// Writes what all kernels share.
    fn finish(
        mut self,
        kernels: Vec<Option<KernelExtent>>,
        templates: &OpTemplates,
    ) -> Option<MachineCode> {
        // Routines may ask for constants, but not for other routines.
        for routine in std::mem::take(&mut self.routines) {
            let (graph, result) = templates.routine(routine.number);
            self.part(KernelPart::SlowRoutine(routine.position));
            self.slow_routine(routine.label, graph, *result);
        }
        let behind = self.machine.position();
        self.part(KernelPart::Libcalls);
        let AssembledCode {
            bytes,
            code_end: end,
            data_start: data,
        } = self.machine.assemble()?;
        let mut parts = self.parts.unwrap_or_default();
        if end == behind {
            // Nothing is called.
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

    /// What is written from here on is for this.
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

    /// The label of a routine that the instruction at this position takes.
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

/// What nodes of a graph are computed for: where they are, and what that is relative to.
struct AllocatedGraph<'g> {
    graph: &'g Graph,
    positions: &'g NodePositions,
    allocation: Allocation,
    /// Bytes from the stack pointer to the first slot.
    spill_base: i32,
    /// Bytes from the stack pointer to the first parameter.
    param_base: i32,
    /// Bytes from the stack pointer to the cell of each word.
    uniform_offsets: &'g FxHashMap<u32, i32>,
    /// What a region knows of points.
    masks: LoopMasks,
}

/// Where a region has masks and numbers of points, as bytes from the stack pointer.
#[derive(Clone, Copy, Default)]
struct LoopMasks {
    /// Who runs.
    active: i32,
    /// Who goes each way: exits first, then blocks.
    edges: i32,
    exits: u32,
    /// How many vectors the masks of a way are.
    vectors: usize,
    /// Bytes from one way's masks to the next.
    stride: i32,
    /// Steps of the budget that each point took.
    steps: i32,
}

impl LoopMasks {
    /// The masks of a way.
    fn edge_offset(&self, way: Edge) -> i32 {
        let number = match way {
            Edge::Exit(exit) => exit,
            Edge::Block(block) => self.exits + block,
        };
        self.edges + number as i32 * self.stride
    }
}

/// A rare way out of line.
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
    use crate::differential::compiled_loop::code_with_arms;
    use crate::x64::X64Batch;

    #[test]
    fn frames_are_only_so_long() {
        let is_made = |cells: i32| {
            let code = DifferentialCase::sum(4 * cells as u32, false)
                .code::<A64Assembler>(A64Assembler::VALUE_REGISTERS);
            code.kernels[0].is_some()
        };
        // The sum itself is in a register.
        let most = MAX_FRAME_BYTES / A64Assembler::VECTOR_BYTES;
        assert!(is_made(most));
        assert!(!is_made(most + 1));
    }

    #[test]
    fn loops_of_many_ways_run_in_fewer_groups() {
        let frame = |arms| {
            let code = code_with_arms::<X64Batch>(arms);
            code.kernels[0].map(|kernel| kernel.frame_bytes as i32)
        };
        // Each arm is two ways.
        let bytes = 2 * X64Batch::LOOP_GROUP_VECTORS as i32 * X64Batch::VECTOR_BYTES;
        let fit = |groups: i32| (MAX_FRAME_BYTES / (groups * bytes)) as u32 - 8;
        let two = frame(fit(2)).expect("two groups fit");
        let one = frame(fit(2) + 16).expect("one group fits");
        assert!(one < two && two <= MAX_FRAME_BYTES, "{one} {two}");
        assert!(frame(fit(1)).is_some());
        assert_eq!(frame(fit(1) + 16), None);
    }
}
