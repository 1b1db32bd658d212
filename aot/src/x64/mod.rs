//! Machine code for x86-64: with AVX2 and FMA eight points a vector, or one point in a half vector;
//! with AVX-512 sixteen points a vector.
//!
//! Half vectors take no less time, but the upper halves of registers may be powered down, and
//! divisions and square roots have a better throughput.
//!
//! A kernel is called as [`BatchKernel`](adumbra_vm::native::BatchKernel) says, by the System V
//! convention. Registers: `rdi` the references, `rsi` the next run, `rdx` how many are left, `rcx`
//! the bytes of a SIMD vector of the VM; `r8` the byte offset of the current vectors, `r10` and
//! `r9` the start and end of the run, `rbx` the plane of a register; `rax` and `r11` are free.
//! Other planes of registers are at known distances from that one, so that their addresses need no
//! instruction. Two vector registers are scratch registers for operands in memory, the others hold
//! values. So do six mask registers.
//!
//! A point kernel is called as [`PointKernel`](adumbra_vm::native::PointKernel) says: `rdi` the
//! register file, `rsi` the globals, `rdx` the steps that are left, `rcx` the libcall table. A
//! batch kernel gets that table in `r8`, and keeps it in its frame, with the first run and their
//! number, as each part goes over all of them.
//!
//! A frame has the arguments of routines, the uniform values, and spill slots.

#![allow(
    clippy::useless_conversion,
    reason = "the assembler's macro converts whatever it is given"
)]

mod encoding;
mod frame;
mod instructions;
mod libcall;
mod masks;

use crate::assembler::Assembler;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rustc_hash::FxHashMap;

/// Scratch mask registers. The first one cannot be the mask of an instruction.
const SCRATCH_MASKS: [u8; 2] = [0, 1];
/// The elements of a whole vector of AVX2.
const WHOLE: usize = 8;

/// An operand; constants are in memory.
type Operand = crate::macro_assembler::AsmOperand<u32>;

/// The assembler of batch kernels.
pub(crate) type X64Batch = X64Assembler<WHOLE>;
/// The assembler of batch kernels for processors with AVX-512.
pub(crate) type X64Avx512Batch = X64Assembler<16>;
/// The assembler of point kernels.
pub(crate) type X64Point = X64Assembler<4>;

/// The macro assembler for x86-64, on vectors of `ELEMENTS` elements.
pub(crate) struct X64Assembler<const ELEMENTS: usize> {
    asm: Assembler<X64Relocation>,
    /// The labels of constants and tables. Operands have their numbers, so that an operand is eight
    /// bytes and is passed in a register.
    labels: Vec<DynamicLabel>,
    /// The constants in the order of first use.
    pool: FxHashMap<u32, u32>,
    constants: Vec<(u32, u32)>,
    tables: Vec<(&'static [u32], u32)>,
    /// Of each word of a kernel that is in the plane of a register, its distance from the plane at
    /// `rbx`.
    distances: Vec<Option<i32>>,
    /// The distance of the plane that is addressed now; none if its address is in `rax`.
    addressed: Option<i32>,
    /// Label of the libcall thunk, set by the first call.
    thunk: Option<DynamicLabel>,
}

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Whether instructions of vectors have the EVEX prefix: they have 32 registers then.
    const IS_EVEX: bool = ELEMENTS > WHOLE;
    /// Whether each element is a point.
    const IS_BATCH: bool = ELEMENTS >= WHOLE;

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

    /// Writes constants and tables; returns their offset.
    fn data(&mut self) -> usize {
        let X64Assembler { asm, labels, .. } = self;
        let alignment = WHOLE.max(ELEMENTS) * size_of::<u32>();
        asm.align(alignment, 0);
        let start = asm.offset().0;
        for &(table, label) in &self.tables {
            dynasm!(asm; .arch x64; =>labels[label as usize]);
            // Short tables are read as a vector, and indices modulo eight.
            let words = table.iter().copied().chain(std::iter::repeat(0));
            let words: Vec<u32> = words.take(WHOLE).collect();
            words
                .repeat(alignment / size_of_val(&words[..]))
                .into_iter()
                .for_each(|word| asm.push_u32(word));
        }
        // With EVEX one word is an operand for all elements.
        let each = if Self::IS_EVEX { 1 } else { ELEMENTS };
        for &(bits, label) in &self.constants {
            dynasm!(asm; .arch x64; =>labels[label as usize]);
            for _ in 0..each {
                asm.push_u32(bits);
            }
        }
        start
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
