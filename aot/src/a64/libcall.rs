//! Calls of functions that compute one SIMD element: for ops that no fixed sequence of nodes can
//! compute.

use super::{A64Assembler, LIBCALLS, REGISTERS, SCRATCH, VECTOR};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

impl A64Assembler {
    /// Writes the thunk that calls a libcall for each SIMD element.
    ///
    /// Inputs: the number of the function in `x17`, the number of elements in `x16`, the operands
    /// in the scratch vector registers. The result is in the first of these. The thunk preserves
    /// all vector registers and every general register that code holds across instructions: all but
    /// `x9` to `x14` and `x16` to `x18`.
    pub(super) fn libcall_thunk(&mut self, label: DynamicLabel) {
        let [first, second] = SCRATCH;
        let saved = |register: u8| (u32::from(register) + 2) * VECTOR as u32;
        dynasm!(self.asm
            ; .arch aarch64
            ; =>label
            ; stp x29, x30, [sp, -96]!
            ; mov x29, sp
            ; stp x0, x1, [sp, 16]
            ; stp x2, x3, [sp, 32]
            ; stp x4, x5, [sp, 48]
            ; stp x6, x7, [sp, 64]
            ; str x15, [sp, 80]
            ; sub sp, sp, saved(REGISTERS)
            ; str Q(first), [sp]
            ; str Q(second), [sp, VECTOR as u32]
        );
        for register in 0..REGISTERS {
            dynasm!(self.asm; .arch aarch64; str Q(register), [sp, saved(register)]);
        }
        dynasm!(self.asm
            ; .arch aarch64
            ; ldr x9, [x29]
            ; ldr x9, [x9, LIBCALLS]
            ; ldr x17, [x9, x17, lsl 3]
            ; mov x0, sp
            ; add x1, sp, VECTOR as u32
            ; mov x2, x16
            ; blr x17
        );
        for register in 0..REGISTERS {
            dynasm!(self.asm; .arch aarch64; ldr Q(register), [sp, saved(register)]);
        }
        dynasm!(self.asm
            ; .arch aarch64
            ; ldr Q(first), [sp]
            ; mov sp, x29
            ; ldp x0, x1, [sp, 16]
            ; ldp x2, x3, [sp, 32]
            ; ldp x4, x5, [sp, 48]
            ; ldp x6, x7, [sp, 64]
            ; ldr x15, [sp, 80]
            ; ldp x29, x30, [sp], 96
            ; ret
        );
    }
}
