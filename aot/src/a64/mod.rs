//! Code for aarch64 with NEON: four points a vector.
//!
//! A kernel is called as [`Kernel`](adumbra_vm::native::BatchKernel) says, by the procedure call standard. Registers: `x0` the references, `x1` the next run, `x2` how many are left, `x3` the bytes of a
//! pack; `x8` the points; `x4` the byte offset of the vectors at hand, `x5` and `x6` where the run begins and ends; `x7` the pool; `x16` the plane or cell at hand, or free as `x17` is. `x9` and `x10` are free, `x15` is where a routine returns to.
//! A flow is called as [`PointKernel`](adumbra_vm::native::PointKernel) says: `x0` the register file, `x1` the globals, `x2` the steps that are left, `x3` the table of what may be called. That a kernel is given in `x5`; either keeps it in its frame ([`LIBCALLS`]).
//! Three vector registers are free, the others hold values. A frame has what routines are given, the cells, and slots for values that found no register; `x29` is where it ends.
//!
//! The pool stands behind all code: constants and tables, each known by its offset as soon as it is asked for. A kernel finds it by a distance that stands
//! in front of the kernel, so it may be any distance away. Frames and pools that are longer than an instruction can name are reached through `x17`.

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
/// Those that are free for what stands in memory, and for what is on its way.
const SCRATCH: [u8; 2] = [29, 30];
/// One more that is free within an instruction.
const THIRD: u8 = 31;
/// Bytes of a vector.
const VECTOR: i32 = 16;

/// Where a kernel keeps what it may call, as bytes from the frame pointer.
const LIBCALLS: u32 = 80;

/// An operand, constants being the bits that are wanted.
type Operand = crate::macro_assembler::AsmOperand<u32>;

/// Registers that addresses are relative to.
#[derive(Clone, Copy)]
enum Base {
    Stack,
    Pool,
}

/// Those of its instructions are in parts of words.
impl RelocationFormat for Aarch64Relocation {
    const REL32: Option<u8> = None;
}

/// Writes code.
pub(crate) struct A64Assembler {
    asm: Assembler<Aarch64Relocation>,
    pool: Pool,
    /// Where the pool begins.
    base: DynamicLabel,
    /// Calls what is called out, once somebody does.
    thunk: Option<DynamicLabel>,
}

/// What code reads, behind it.
#[derive(Default)]
struct Pool {
    words: Vec<u32>,
    constants: FxHashMap<u32, u32>,
    tables: Vec<(&'static [u32], u32)>,
}

impl Pool {
    /// Adds words, the first of which is aligned as a vector; says how many bytes from the beginning.
    fn push(&mut self, words: impl IntoIterator<Item = u32>) -> u32 {
        let at = self.words.len();
        self.words.extend(words);
        let aligned = self.words.len().next_multiple_of(VECTOR as usize / 4);
        self.words.resize(aligned, 0);
        at as u32 * 4
    }

    /// A vector of these bits.
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

/// The immediate of `fmov` for a float, if it has one: `aBbbbbbc defgh000 …`, where B is not b. Arm's manual, VFPExpandImm.
fn float_immediate(bits: u32) -> Option<f32> {
    let exponent = bits >> 25 & 0x3f;
    let is = bits & 0x7_ffff == 0 && (exponent == 0x20 || exponent == 0x1f);
    is.then(|| f32::from_bits(bits))
}

impl A64Assembler {
    /// `x17` becomes a number.
    fn number(&mut self, number: u32) {
        dynasm!(self.asm; .arch aarch64; movz w17, number & 0xffff);
        if number >> 16 != 0 {
            dynasm!(self.asm; .arch aarch64; movk w17, number >> 16, lsl 16);
        }
    }
}

#[cfg(test)]
mod tests;
