//! Calls of functions that compute one lane: for rows that no fixed sequence of operations can compute.

use super::{REGISTERS, VECTOR, X64};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// Bytes from where a kernel's frame ends down to what it may call.
const CALLEES: i32 = 16;

impl X64 {
    /// Writes the thunk. It is given the number of the function in `rax` and the operands in the free vector registers, leaves the result in the first
    /// of these, and keeps everything else but `rax`.
    pub(super) fn thunk(&mut self, label: DynamicLabel) {
        let saved = |register: u8| (i32::from(register) + 2) * VECTOR;
        dynasm!(self.asm
            ; .arch x64
            ; =>label
            ; mov r11, [rbp - CALLEES]
            ; push rbp
            ; mov rbp, rsp
            ; push rdi
            ; push rsi
            ; push rdx
            ; push rcx
            ; push r8
            ; push r9
            ; push r10
            ; and rsp, -VECTOR
            ; sub rsp, saved(REGISTERS)
            ; vmovaps [rsp], ymm14
            ; vmovaps [rsp + VECTOR], ymm15
        );
        for register in 0..REGISTERS {
            let at = saved(register);
            dynasm!(self.asm; .arch x64; vmovaps [rsp + at], Ry(register));
        }
        dynasm!(self.asm
            ; .arch x64
            ; vzeroupper
            ; mov rdi, rsp
            ; lea rsi, [rsp + VECTOR]
            ; mov edx, VECTOR / 4
            ; call QWORD [r11 + 8 * rax]
        );
        for register in 0..REGISTERS {
            let at = saved(register);
            dynasm!(self.asm; .arch x64; vmovaps Ry(register), [rsp + at]);
        }
        dynasm!(self.asm
            ; .arch x64
            ; vmovaps ymm14, [rsp]
            ; mov rdi, [rbp - 8]
            ; mov rsi, [rbp - 16]
            ; mov rdx, [rbp - 24]
            ; mov rcx, [rbp - 32]
            ; mov r8, [rbp - 40]
            ; mov r9, [rbp - 48]
            ; mov r10, [rbp - 56]
            ; mov rsp, rbp
            ; pop rbp
            ; ret
        );
    }
}
