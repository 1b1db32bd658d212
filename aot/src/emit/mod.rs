//! From graphs to instructions, for any [`Machine`]: frames, loops, rare ways out of line, and where operands are. Whoever wants to look at the code is told what each part of
//! it is for.

mod flow;
mod kernel;
mod node;
mod region;

use crate::allocate::Places;
use crate::compute::{Lineage, segments};
use crate::flow::trees;
use crate::graph::{Graph, Id};
use crate::listing::{Compiled, Extent, Part};
use crate::machine::{Machine, Written};
use crate::optimisation::{Optimisation, Optimisations};
use crate::template::Templates;
use crate::trace::traces;
use adumbra_vm::native::{Flow, Unit, Way};
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// Bytes that a kernel takes of the caller's stack at most; what wants more goes by the steps. Threads may have little stack, and there are programs with
/// any number of cells.
pub(crate) const MAX_FRAME: i32 = 64 << 10;
const _: () = assert!(
    MAX_FRAME <= u16::MAX as i32 + 1,
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
    lanes: usize,
    /// Rare ways that are still to be written out of line.
    asides: Vec<Aside>,
    /// What parts are for, each with where it begins, if somebody asks.
    parts: Option<Vec<(usize, Part)>>,
}

/// How many rows a unit has.
fn rows(unit: &Unit) -> usize {
    match unit {
        Unit::Stretch(stretch) => stretch.rows.len(),
        Unit::Region(region) => region.blocks.iter().map(|block| block.rows.len()).sum(),
    }
}

/// Compiles all units, with so many vector registers for values; nothing if the code is too long. Tells of its parts if that is asked for.
pub(crate) fn compile<M: Machine>(
    optimisations: Optimisations,
    units: &[Unit],
    registers: u8,
    in_parts: bool,
) -> Option<Compiled> {
    let mut templates = Templates::new(M::SATURATES);
    let rows = units.iter().map(rows).sum();
    let lanes = M::VECTOR as usize / 4;
    let mut emitter = Emitter::<M>::new(optimisations, registers, lanes, rows, in_parts);
    let mut kernels = Vec::with_capacity(units.len());
    for unit in units {
        kernels.push(match unit {
            Unit::Stretch(stretch) => {
                let segments = segments(optimisations, stretch, &mut templates);
                emitter.stretch(&segments, &templates)
            }
            Unit::Region(region) if optimisations.has(Optimisation::CompiledLoops) => {
                let traces = traces(optimisations, region, &mut templates);
                emitter.region(region, &traces, &templates)
            }
            Unit::Region(_) => None,
        });
    }
    emitter.finish(kernels, &templates)
}

/// The same of flows, each entry of which is a kernel.
pub(crate) fn compile_flows<M: Machine>(
    optimisations: Optimisations,
    flows: &[Flow],
    registers: u8,
    in_parts: bool,
) -> Option<Compiled> {
    let mut templates = Templates::new(M::SATURATES);
    let pieces = flows.iter().flat_map(|flow| &flow.pieces);
    let rows = pieces.map(|piece| piece.rows.len()).sum();
    let mut emitter = Emitter::<M>::new(optimisations, registers, 1, rows, in_parts);
    let mut kernels = Vec::new();
    for flow in flows {
        let trees = trees(optimisations, flow, &mut templates);
        match emitter.flow(flow, &trees, &templates) {
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

impl<M: Machine> Emitter<M> {
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
            lanes,
            asides: Vec::new(),
            parts: in_parts.then(Vec::new),
        }
    }

    /// Writes what all kernels share.
    fn finish(mut self, kernels: Vec<Option<Extent>>, templates: &Templates) -> Option<Compiled> {
        // Routines may ask for constants, but not for other routines.
        for routine in std::mem::take(&mut self.routines) {
            let (graph, result) = templates.routine(routine.number);
            self.part(Part::Routine(routine.position));
            self.routine(routine.label, graph, *result);
        }
        let behind = self.machine.here();
        self.part(Part::Calls);
        let Written { bytes, end, data } = self.machine.finish()?;
        let mut parts = self.parts.unwrap_or_default();
        if end == behind {
            // Nothing is called.
            parts.pop();
        }
        Some(Compiled {
            bytes,
            end,
            data,
            kernels,
            parts,
        })
    }

    /// What is written from here on is for this.
    fn part(&mut self, part: Part) {
        self.part_from(self.machine.here(), part);
    }

    fn part_from(&mut self, start: usize, part: Part) {
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
                let label = self.machine.label();
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
struct Body<'g> {
    graph: &'g Graph,
    lineage: &'g Lineage,
    places: Places,
    /// Bytes from the stack pointer to the first slot.
    slots: i32,
    /// Bytes from the stack pointer to the first parameter.
    params: i32,
    /// Bytes from the stack pointer to the cell of each word.
    cells: &'g FxHashMap<u32, i32>,
    /// What a region knows of points.
    crowds: Crowds,
}

/// Where a region has masks and numbers of points, as bytes from the stack pointer.
#[derive(Clone, Copy, Default)]
struct Crowds {
    /// Who runs.
    active: i32,
    /// Who goes each way: exits first, then blocks.
    ways: i32,
    exits: u32,
    /// How many vectors the masks of a way are.
    vectors: usize,
    /// Bytes from one way's masks to the next.
    stride: i32,
    /// Steps of the budget that each point took.
    steps: i32,
}

impl Crowds {
    /// The masks of a way.
    fn way(&self, way: Way) -> i32 {
        let number = match way {
            Way::Exit(exit) => exit,
            Way::Block(block) => self.exits + block,
        };
        self.ways + number as i32 * self.stride
    }
}

/// A rare way out of line.
struct Aside {
    node: Id,
    vector: usize,
    begin: DynamicLabel,
    back: DynamicLabel,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a64::A64;
    use crate::trial::Trial;
    use crate::trial::region::code_with_arms;
    use crate::x64::X64;

    #[test]
    fn frames_are_only_so_long() {
        let is_made = |cells: i32| {
            let code = Trial::sum(4 * cells as u32, false).code::<A64>(A64::REGISTERS);
            code.kernels[0].is_some()
        };
        // The sum itself is in a register.
        let most = MAX_FRAME / A64::VECTOR;
        assert!(is_made(most));
        assert!(!is_made(most + 1));
    }

    #[test]
    fn loops_of_many_ways_run_in_fewer_groups() {
        let frame = |arms| {
            let code = code_with_arms::<X64>(arms);
            code.kernels[0].map(|kernel| kernel.frame as i32)
        };
        // Each arm is two ways.
        let bytes = 2 * X64::TURN_GROUP as i32 * X64::VECTOR;
        let fit = |groups: i32| (MAX_FRAME / (groups * bytes)) as u32 - 8;
        let two = frame(fit(2)).expect("two groups fit");
        let one = frame(fit(2) + 16).expect("one group fits");
        assert!(one < two && two <= MAX_FRAME, "{one} {two}");
        assert!(frame(fit(1)).is_some());
        assert_eq!(frame(fit(1) + 16), None);
    }
}
