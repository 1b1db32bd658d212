//! Code for x86-64 with AVX2 and FMA: eight points a vector, or one point in half a one. Its instructions take no less time, but the upper halves of
//! registers may sleep, and divisions and roots make way sooner.
//!
//! A kernel is called as [`Kernel`](adumbra_vm::native::BatchKernel) says, by the System V convention. Registers: `rdi` the references, `rsi` the next run, `rdx` how many are left, `rcx` the bytes of a
//! pack, `rbx` the points; `r8` the byte offset of the vectors at hand, `r10` and `r9` where the run begins and ends; `rax` and `r11` are free. Two vector registers are free for what stands in memory, the others hold values.
//! A flow is called as [`PointKernel`](adumbra_vm::native::PointKernel) says: `rdi` the register file, `rsi` the globals, `rdx` the steps that are left, `rcx` the table of what may be called. That a kernel is given in `r9`, and keeps in its frame.
//! A frame has what routines are given, the cells, what a region knows of points, and slots for values that found no register.

#![allow(
    clippy::useless_conversion,
    reason = "the assembler's macro converts whatever it is given"
)]

mod frame;
mod instructions;
mod libcall;
mod vex;

use crate::assembler::Assembler;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rustc_hash::FxHashMap;

/// Vector registers that hold values.
const REGISTERS: u8 = 14;
/// Those that are free for what stands in memory.
const SCRATCH: [u8; 2] = [14, 15];
/// Lanes of a whole vector.
const WHOLE: usize = 8;

/// An operand, constants being in memory.
type Operand = crate::macro_assembler::AsmOperand<u32>;

/// Writes code for packs of points.
pub(crate) type X64Batch = X64Assembler<WHOLE>;
/// Writes code for one point.
pub(crate) type X64Point = X64Assembler<4>;

/// Writes code on vectors of so many lanes.
pub(crate) struct X64Assembler<const LANES: usize> {
    asm: Assembler<X64Relocation>,
    /// The labels of constants and tables. Operands name them by number: so these are eight bytes, and go from hand to hand in a register.
    labels: Vec<DynamicLabel>,
    /// Constants, each a vector, in the order in which they were first used.
    pool: FxHashMap<u32, u32>,
    constants: Vec<(u32, u32)>,
    tables: Vec<(&'static [u32], u32)>,
    /// The bits of the points at hand, each in its lane, as a word of a set has them; once somebody asks for them.
    bits: Option<[DynamicLabel; 2]>,
    /// Calls what is called out, once somebody does.
    thunk: Option<DynamicLabel>,
}

impl<const LANES: usize> X64Assembler<LANES> {
    /// A new label for a constant or a table.
    fn data_label(&mut self) -> u32 {
        self.labels.push(self.asm.new_dynamic_label());
        self.labels.len() as u32 - 1
    }

    fn table(&mut self, table: &'static [u32]) -> u32 {
        let found = (self.tables.iter()).find(|(own, _)| std::ptr::eq(*own, table));
        match found {
            Some((_, label)) => *label,
            None => {
                let label = self.data_label();
                self.tables.push((table, label));
                label
            }
        }
    }

    /// Constants and tables: where they begin.
    fn data(&mut self) -> usize {
        let X64Assembler { asm, labels, .. } = self;
        dynasm!(asm; .arch x64; .align 32);
        let start = asm.offset().0;
        for &(bits, label) in &self.constants {
            dynasm!(asm; .arch x64; =>labels[label as usize]);
            for _ in 0..LANES {
                asm.push_u32(bits);
            }
        }
        let mut bit = 1;
        for label in self.bits.into_iter().flatten() {
            dynasm!(asm; .arch x64; =>label);
            for _ in 0..LANES {
                asm.push_u32(bit);
                bit <<= 1;
            }
        }
        for &(table, label) in &self.tables {
            dynasm!(asm; .arch x64; .align 32; =>labels[label as usize]);
            table.iter().for_each(|&word| asm.push_u32(word));
            // Short ones are read as a vector.
            (table.len()..8).for_each(|_| asm.push_u32(0));
        }
        start
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
