//! Calls of functions that compute one SIMD element: for ops that no fixed sequence of nodes can
//! compute.

use super::{Operand, X64Assembler};
use crate::macro_assembler::MacroAssembler;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// Bytes from the end of a kernel's frame down to its libcall table.
const LIBCALLS: i32 = 8;

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Writes the thunk that calls a libcall for each SIMD element.
    ///
    /// Inputs: the number of the function in `rax`, the number of elements in `r11`, the operands
    /// in the scratch vector registers. The result is in the first of these. The thunk preserves
    /// everything else but `rax` and `r11`. The libcall table is in the frame of a kernel, and in
    /// `rcx` for a point CFG.
    pub(super) fn libcall_thunk(&mut self, label: DynamicLabel) {
        let saved = |register: u8| (i32::from(register) + 2) * Self::VECTOR_BYTES;
        let saved_mask = |mask: u8| saved(Self::VALUE_REGISTERS) + 4 * i32::from(mask);
        let masks = Self::MASK_REGISTERS;
        let size = saved(Self::VALUE_REGISTERS + u8::from(!masks.is_empty()));
        let [first, second] = Self::SCRATCH;
        dynasm!(self.asm
            ; .arch x64
            ; =>label
            ; push rbp
            ; mov rbp, rsp
            ; push rdi
            ; push rsi
            ; push rdx
            ; push rcx
            ; push r8
            ; push r9
            ; push r10
            ; and rsp, -Self::VECTOR_BYTES
            ; sub rsp, size
        );
        self.store(0, first);
        self.store(Self::VECTOR_BYTES, second);
        for register in 0..Self::VALUE_REGISTERS {
            self.store(saved(register), register);
        }
        for mask in masks.clone() {
            self.store_mask(saved_mask(mask), mask);
        }
        dynasm!(self.asm
            ; .arch x64
            ; vzeroupper
        );
        if Self::IS_BATCH {
            dynasm!(self.asm; .arch x64; mov rcx, [rbp]; mov rcx, [rcx - LIBCALLS]);
        }
        dynasm!(self.asm
            ; .arch x64
            ; mov rdi, rsp
            ; lea rsi, [rsp + Self::VECTOR_BYTES]
            ; mov rdx, r11
            ; call QWORD [rcx + 8 * rax]
        );
        for register in 0..Self::VALUE_REGISTERS {
            self.load(register, Operand::Frame(saved(register)));
        }
        for mask in masks {
            self.load_mask(mask, saved_mask(mask));
        }
        self.load(first, Operand::Frame(0));
        dynasm!(self.asm
            ; .arch x64
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
