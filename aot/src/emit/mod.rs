//! From graphs to instructions, for any [`Machine`]: frames, loops, rare ways out of line, and where operands are.

mod kernel;
mod node;

use crate::allocate::Places;
use crate::call::Call;
use crate::compute::segments;
use crate::graph::{Graph, Id};
use crate::machine::Machine;
use crate::template::Templates;
use adumbra_vm::native::Stretch;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// The code of a program's stretches, at any address.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) bytes: Vec<u8>,
    /// Where each kernel begins.
    pub(crate) entries: Vec<usize>,
    /// What it calls: addresses to be filled in by whoever places the code.
    pub(crate) calls: Vec<Call>,
}

/// Writes code.
struct Emitter<M> {
    machine: M,
    /// The routines that are used.
    routines: Vec<(u32, DynamicLabel)>,
    /// How many vector registers may hold values.
    registers: u8,
}

/// Compiles all stretches; nothing if the code is too long.
pub(crate) fn compile<M: Machine>(stretches: &[Stretch]) -> Option<Code> {
    compile_with::<M>(stretches, M::REGISTERS)
}

/// The same with so many vector registers for values.
pub(crate) fn compile_with<M: Machine>(stretches: &[Stretch], registers: u8) -> Option<Code> {
    let mut templates = Templates::new(M::SATURATES);
    let mut emitter = Emitter {
        machine: M::new(),
        routines: Vec::new(),
        registers,
    };
    let mut entries = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        let segments = segments(stretch, &mut templates);
        entries.push(emitter.kernel(&segments, &templates));
    }
    // Routines may ask for constants, but not for other routines.
    for (number, label) in std::mem::take(&mut emitter.routines) {
        let (graph, result) = &templates.routines[number as usize];
        emitter.routine(label, graph, *result);
    }
    let (bytes, calls) = emitter.machine.finish()?;
    Some(Code {
        bytes,
        entries,
        calls,
    })
}

impl<M: Machine> Emitter<M> {
    fn routine_label(&mut self, number: u32) -> DynamicLabel {
        let found = self.routines.iter().find(|(own, _)| *own == number);
        match found {
            Some((_, label)) => *label,
            None => {
                let label = self.machine.label();
                self.routines.push((number, label));
                label
            }
        }
    }
}

/// What nodes of a graph are computed for: where they are, and what that is relative to.
struct Body<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    places: Places,
    /// Bytes from the stack pointer to the first slot.
    slots: i32,
    /// Bytes from the stack pointer to the first parameter.
    params: i32,
    /// Bytes from the stack pointer to the cell of each word.
    cells: &'g FxHashMap<u32, i32>,
    /// Rare ways to be written out of line.
    detours: Vec<Detour>,
}

/// A rare way out of line.
struct Detour {
    node: Id,
    vector: usize,
    begin: DynamicLabel,
    back: DynamicLabel,
}
