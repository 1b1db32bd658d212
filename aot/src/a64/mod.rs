//! Machine code for aarch64 with NEON: four points a vector.
//!
//! A kernel is called as [`BatchKernel`](adumbra_vm::native::BatchKernel) says, by the procedure
//! call standard (AAPCS64). Registers: `x0` the references, `x1` the next run, `x2` how many are
//! left, `x3` the bytes of a SIMD vector of the VM; `x4` the byte offset of the current vectors,
//! `x5` and `x6` the start and end of the run; `x7` the pool; `x16` the address of the current
//! plane or uniform value, else a scratch register like `x17`. `x9` is a scratch register, `x15` is
//! the return address of a routine.
//!
//! A point kernel is called as [`PointKernel`](adumbra_vm::native::PointKernel) says: `x0` the
//! register file, `x1` the globals, `x2` the steps that are left, `x3` the table of libcalls. A
//! batch kernel gets that table in `x4`; both keep it in their frame ([`LIBCALLS`]). A batch kernel
//! also keeps its first run and their number ([`RUNS`]), as each part goes over all of them.
//!
//! Three vector registers are scratch registers, the others hold values. A frame has the arguments
//! of routines, the uniform values, and spill slots; `x29` is its end.
//!
//! The constant pool comes after all code: constants and tables, each known by its offset on first
//! use. A kernel finds the pool by a distance that is stored right before the kernel, so the pool
//! may be any distance away. Frames and pools that are longer than an instruction encodes are
//! reached through `x17`.

#![allow(
    clippy::useless_conversion,
    reason = "the assembler's macro converts whatever it is given"
)]

mod frame;
mod instructions;
mod libcall;

use crate::assembler::{Assembler, RelocationFormat};
use dynasmrt::aarch64::Aarch64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, dynasm};
use rustc_hash::FxHashMap;

/// Vector registers that hold values.
const REGISTERS: u8 = 29;
/// Scratch registers: for operands in memory, and for results that go to memory.
const SCRATCH: [u8; 2] = [29, 30];
/// One more scratch register, free within an instruction.
const THIRD: u8 = 31;
/// Bytes of a vector.
const VECTOR: i32 = 16;

/// Bytes of what a kernel saves, from the frame pointer on.
const FRAME: i32 = 112;
/// Where the libcall table is in that.
const LIBCALLS: u32 = 80;
/// Where the first run and the number of runs are in a batch kernel's.
const RUNS: i32 = 88;

/// An operand; a constant is its bits.
type Operand = crate::macro_assembler::AsmOperand<u32>;

/// Registers that addresses are relative to.
#[derive(Clone, Copy)]
enum Base {
    Stack,
    Pool,
}

/// The references of aarch64 are bit fields of instructions.
impl RelocationFormat for Aarch64Relocation {
    const REL32: Option<u8> = None;
}

/// The macro assembler for aarch64.
pub(crate) struct A64Assembler {
    asm: Assembler<Aarch64Relocation>,
    pool: Pool,
    /// The label of the pool's start.
    base: DynamicLabel,
    /// Label of the libcall thunk, set by the first call.
    thunk: Option<DynamicLabel>,
}

/// The constants and tables after the code.
#[derive(Default)]
struct Pool {
    words: Vec<u32>,
    constants: FxHashMap<u32, u32>,
    tables: Vec<(&'static [u32], u32)>,
}

impl Pool {
    /// Appends words, aligned as a vector, and returns their byte offset in the pool.
    fn push(&mut self, words: impl IntoIterator<Item = u32>) -> u32 {
        let at = self.words.len();
        self.words.extend(words);
        let aligned = self.words.len().next_multiple_of(VECTOR as usize / 4);
        self.words.resize(aligned, 0);
        at as u32 * 4
    }

    /// Returns the byte offset of a vector that is `bits` in each element.
    fn constant(&mut self, bits: u32) -> u32 {
        if let Some(&at) = self.constants.get(&bits) {
            return at;
        }
        let at = self.push([bits; VECTOR as usize / 4]);
        self.constants.insert(bits, at);
        at
    }

    fn table(&mut self, table: &'static [u32]) -> u32 {
        let found = (self.tables.iter()).find(|(own, _)| std::ptr::eq(*own, table));
        if let Some(&(_, at)) = found {
            return at;
        }
        let at = self.push(table.iter().copied());
        self.tables.push((table, at));
        at
    }
}

/// The immediate of `fmov` for a float, if it has one: `aBbbbbbc defgh000 …`, where B is not b (Arm
/// Architecture Reference Manual, VFPExpandImm).
fn float_immediate(bits: u32) -> Option<f32> {
    let exponent = bits >> 25 & 0x3f;
    let is = bits & 0x7_ffff == 0 && (exponent == 0x20 || exponent == 0x1f);
    is.then(|| f32::from_bits(bits))
}

impl A64Assembler {
    /// Puts a number in `x17`.
    fn number(&mut self, number: u32) {
        dynasm!(self.asm; .arch aarch64; movz w17, number & 0xffff);
        if number >> 16 != 0 {
            dynasm!(self.asm; .arch aarch64; movk w17, number >> 16, lsl 16);
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod gradient_tests;
#[cfg(test)]
mod tests;
