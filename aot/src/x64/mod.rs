//! Code for x86-64 with AVX2 and FMA: eight points a vector.
//!
//! A kernel is called as [`Kernel`](adumbra_vm::native::Kernel) says, by the System V convention. Registers: `rdi` the references, `rsi` the next run, `rdx` how many are left, `rcx` the bytes of a
//! pack; `r8` the byte offset of the vectors at hand, `r10` and `r9` where the run begins and ends; `rax` is free. Two vector registers are free for what stands in memory, the others hold values.
//! A frame has what routines are given, the cells, and slots for values that found no register.

#![allow(
    clippy::useless_conversion,
    reason = "the assembler's macro converts whatever it is given"
)]

mod kernel;
mod node;
mod thunk;

use crate::compute::segments;
use crate::graph::{Graph, Id};
use crate::template::Templates;
use adumbra_vm::native::Stretch;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use rustc_hash::FxHashMap;

/// Vector registers that hold values.
const REGISTERS: u8 = 14;
/// Those that are free for what stands in memory.
const SCRATCH: [u8; 2] = [14, 15];
/// Bytes of a vector.
const VECTOR: i32 = 32;

/// The code of a program's stretches, at any address.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) bytes: Vec<u8>,
    /// Where each kernel begins.
    pub(crate) entries: Vec<usize>,
}

/// Writes code.
struct Emitter {
    asm: VecAssembler<X64Relocation>,
    /// Constants, each a vector, in the order in which they were first used.
    pool: FxHashMap<u32, DynamicLabel>,
    constants: Vec<(u32, DynamicLabel)>,
    tables: Vec<(&'static [u32], DynamicLabel)>,
    /// The routines that are used.
    routines: Vec<(u32, DynamicLabel)>,
    thunks: [Option<DynamicLabel>; 2],
    /// How many vector registers may hold values.
    registers: u8,
}

/// Where an operand is.
#[derive(Clone, Copy)]
enum Operand {
    Register(u8),
    /// So many bytes behind the stack pointer.
    Frame(i32),
    Pool(DynamicLabel),
}

/// Compiles all stretches.
pub(crate) fn compile(stretches: &[Stretch]) -> Code {
    compile_with(stretches, REGISTERS)
}

/// The same with so many vector registers for values.
fn compile_with(stretches: &[Stretch], registers: u8) -> Code {
    let mut templates = Templates::default();
    let mut emitter = Emitter {
        asm: VecAssembler::new(0),
        pool: FxHashMap::default(),
        constants: Vec::new(),
        tables: Vec::new(),
        routines: Vec::new(),
        thunks: [None; 2],
        registers,
    };
    let mut entries = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        let segments = segments(stretch, &mut templates);
        entries.push(emitter.kernel(&segments, &templates).0);
    }
    // Routines may ask for constants, but not for other routines.
    for (number, label) in std::mem::take(&mut emitter.routines) {
        let (graph, result) = &templates.routines[number as usize];
        emitter.routine(label, graph, *result);
    }
    emitter.thunks();
    emitter.data();
    let bytes = emitter.asm.finalize();
    Code {
        bytes: bytes.expect("every label is placed"),
        entries,
    }
}

impl Emitter {
    fn offset(&self) -> AssemblyOffset {
        self.asm.offset()
    }

    /// A vector of these bits.
    fn constant(&mut self, bits: u32) -> DynamicLabel {
        let Emitter {
            asm,
            pool,
            constants,
            ..
        } = self;
        *pool.entry(bits).or_insert_with(|| {
            let label = asm.new_dynamic_label();
            constants.push((bits, label));
            label
        })
    }

    fn table(&mut self, table: &'static [u32]) -> DynamicLabel {
        let found = (self.tables.iter()).find(|(own, _)| std::ptr::eq(*own, table));
        match found {
            Some((_, label)) => *label,
            None => {
                let label = self.asm.new_dynamic_label();
                self.tables.push((table, label));
                label
            }
        }
    }

    fn routine_label(&mut self, number: u32) -> DynamicLabel {
        let found = self.routines.iter().find(|(own, _)| *own == number);
        match found {
            Some((_, label)) => *label,
            None => {
                let label = self.asm.new_dynamic_label();
                self.routines.push((number, label));
                label
            }
        }
    }

    /// Constants and tables.
    fn data(&mut self) {
        let asm = &mut self.asm;
        dynasm!(asm; .arch x64; .align 32);
        for &(bits, label) in &self.constants {
            dynasm!(asm; .arch x64; =>label);
            for _ in 0..VECTOR / 4 {
                asm.push_u32(bits);
            }
        }
        for &(table, label) in &self.tables {
            dynasm!(asm; .arch x64; .align 32; =>label);
            table.iter().for_each(|&word| asm.push_u32(word));
            // Short ones are read as a vector.
            (table.len()..8).for_each(|_| asm.push_u32(0));
        }
    }
}

/// What nodes of a graph are computed for: where they are, and what that is relative to.
struct Body<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    places: crate::allocate::Places,
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

#[cfg(test)]
mod tests;
