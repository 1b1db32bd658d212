//! Calls of functions that compute one lane: for rows that no fixed sequence of operations can compute.

use super::{Emitter, REGISTERS, VECTOR};
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

type Lanes<T> = [T; 8];

/// Sets each `a` to what the function makes of it and `b`.
///
/// # Safety
/// Both are there, and nobody else has them.
#[allow(
    improper_ctypes_definitions,
    reason = "the function is called from here alone"
)]
unsafe extern "sysv64" fn each_float(
    f: fn(f32, f32) -> f32,
    a: *mut Lanes<f32>,
    b: *const Lanes<f32>,
) {
    // SAFETY: asked of the caller.
    let (a, b) = unsafe { (&mut *a, &*b) };
    for (a, &b) in a.iter_mut().zip(b) {
        *a = f(*a, b);
    }
}

/// The same for words.
///
/// # Safety
/// As for [`each_float`].
#[allow(improper_ctypes_definitions, reason = "as above")]
unsafe extern "sysv64" fn each_word(
    f: fn(u32, u32) -> u32,
    a: *mut Lanes<u32>,
    b: *const Lanes<u32>,
) {
    // SAFETY: asked of the caller.
    let (a, b) = unsafe { (&mut *a, &*b) };
    for (a, &b) in a.iter_mut().zip(b) {
        *a = f(*a, b);
    }
}

impl Emitter {
    /// Writes the thunks that are used. They are given the function in `rax` and the operands in the free vector registers, leave the result in the first
    /// of these, and keep everything else but `rax`.
    pub(super) fn thunks(&mut self) {
        let functions = [
            each_float as *const () as i64,
            each_word as *const () as i64,
        ];
        for (label, function) in self.thunks.into_iter().zip(functions) {
            let Some(label) = label else { continue };
            let saved = |register: u8| (i32::from(register) + 2) * VECTOR;
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
                ; mov rdi, rax
                ; mov rsi, rsp
                ; lea rdx, [rsp + VECTOR]
                ; mov rax, QWORD function
                ; call rax
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
}
