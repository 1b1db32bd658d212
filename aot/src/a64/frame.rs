//! Frames, loops, jumps, and where operands are.

use super::{A64, Base, Operand, Pool, REGISTERS, SCRATCH, THIRD, VECTOR, float_immediate};
use crate::call::{Call, CallOut};
use crate::graph::Code;
use crate::machine::Machine;
use adumbra_vm::native::{Ref, Run};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

/// The greatest number of bytes that a load or store of a vector can name, which are whole vectors.
const REACH: u32 = 4095 * VECTOR as u32;
/// The same of an address.
const REACH_OF_ADDRESSES: u32 = 4095 * 8;
/// What `add` and `sub` can name at once.
const STEP: u32 = 4095;

impl A64 {
    /// Loads a vector so many bytes from a register.
    fn load_from(&mut self, to: u8, base: Base, at: u32) {
        if at > REACH {
            self.number(at);
            match base {
                Base::Stack => dynasm!(self.asm; .arch aarch64; ldr Q(to), [sp, x17]),
                Base::Pool => dynasm!(self.asm; .arch aarch64; ldr Q(to), [x7, x17]),
            }
            return;
        }
        match base {
            Base::Stack => dynasm!(self.asm; .arch aarch64; ldr Q(to), [sp, at]),
            Base::Pool => dynasm!(self.asm; .arch aarch64; ldr Q(to), [x7, at]),
        }
    }

    /// `x17` becomes an address in the pool.
    pub(super) fn pool_address(&mut self, at: u32) {
        self.number(at);
        dynasm!(self.asm; .arch aarch64; add x17, x7, x17);
    }

    /// `x16` becomes the address of a word's plane or cell.
    fn reference(&mut self, word: u32) {
        let at = word * size_of::<Ref>() as u32;
        if at > REACH_OF_ADDRESSES {
            self.number(at);
            dynasm!(self.asm; .arch aarch64; ldr x16, [x0, x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; ldr x16, [x0, at]);
        }
    }

    /// Takes so many bytes from the stack, or gives them back.
    fn move_stack(&mut self, bytes: i32, is_down: bool) {
        let bytes = bytes as u32;
        if bytes > STEP {
            self.number(bytes);
            match is_down {
                true => dynasm!(self.asm; .arch aarch64; sub sp, sp, x17),
                false => dynasm!(self.asm; .arch aarch64; add sp, sp, x17),
            }
        } else if bytes > 0 {
            match is_down {
                true => dynasm!(self.asm; .arch aarch64; sub sp, sp, bytes),
                false => dynasm!(self.asm; .arch aarch64; add sp, sp, bytes),
            }
        }
    }
}

impl Machine for A64 {
    type Constant = u32;

    const VECTOR: i32 = VECTOR;
    const FLIGHT: usize = 2;
    const REGISTERS: u8 = REGISTERS;
    const SCRATCH: [u8; 2] = SCRATCH;
    const RETURN: i32 = 0;
    const SATURATES: bool = true;
    const SETS: bool = false;
    const TURN_FLIGHT: usize = 8;

    fn new() -> A64 {
        let mut asm = VecAssembler::new(0);
        let base = asm.new_dynamic_label();
        let thunk = asm.new_dynamic_label();
        A64 {
            asm,
            pool: Pool::default(),
            base,
            thunk,
        }
    }

    fn offset(&self) -> usize {
        self.asm.offset().0
    }

    fn label(&mut self) -> DynamicLabel {
        self.asm.new_dynamic_label()
    }

    fn bind(&mut self, label: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; =>label);
    }

    fn constant(&mut self, bits: u32) -> u32 {
        bits
    }

    fn enter(&mut self, size: i32) {
        let (base, distance, begin) = (self.base, self.label(), self.label());
        dynasm!(self.asm
            ; .arch aarch64
            ; b =>begin
            ; =>distance
            ; .rel32 =>base
            ; =>begin
            ; stp x29, x30, [sp, -80]!
            ; mov x29, sp
            ; stp d8, d9, [sp, 16]
            ; stp d10, d11, [sp, 32]
            ; stp d12, d13, [sp, 48]
            ; stp d14, d15, [sp, 64]
            ; adr x7, =>distance
            ; ldrsw x17, [x7]
            ; add x7, x7, x17
        );
        self.move_stack(size, true);
    }

    fn leave(&mut self) {
        dynasm!(self.asm
            ; .arch aarch64
            ; mov sp, x29
            ; ldp d8, d9, [sp, 16]
            ; ldp d10, d11, [sp, 32]
            ; ldp d12, d13, [sp, 48]
            ; ldp d14, d15, [sp, 64]
            ; ldp x29, x30, [sp], 80
            ; ret
        );
    }

    fn begin_runs(&mut self, next: DynamicLabel, done: DynamicLabel) {
        // Kernels may be longer than conditional jumps.
        dynasm!(self.asm
            ; .arch aarch64
            ; cbnz x2, =>next
            ; b =>done
            ; =>next
            ; ldp w5, w6, [x1]
            ; madd x6, x6, x3, x5
        );
    }

    fn end_runs(&mut self, next: DynamicLabel, done: DynamicLabel) {
        dynasm!(self.asm
            ; .arch aarch64
            ; add x1, x1, size_of::<Run>() as u32
            ; sub x2, x2, 1
            ; cbz x2, =>done
            ; b =>next
            ; =>done
        );
    }

    fn begin_loop(&mut self, next: DynamicLabel) {
        dynasm!(self.asm
            ; .arch aarch64
            ; mov x4, x5
            ; =>next
        );
    }

    fn end_loop(&mut self, next: DynamicLabel, step: i32) {
        dynasm!(self.asm
            ; .arch aarch64
            ; add x4, x4, step as u32
            ; cmp x4, x6
            ; b.lo =>next
        );
    }

    fn enter_routine(&mut self, size: i32) {
        dynasm!(self.asm; .arch aarch64; mov x15, x30);
        self.move_stack(size, true);
    }

    fn leave_routine(&mut self, size: i32) {
        self.move_stack(size, false);
        dynasm!(self.asm; .arch aarch64; ret x15);
    }

    fn load_cell(&mut self, to: u8, word: u32) {
        self.reference(word);
        dynasm!(self.asm; .arch aarch64; ldr Q(to), [x16]);
    }

    fn plane(&mut self, word: u32) {
        self.reference(word);
        dynasm!(self.asm; .arch aarch64; add x16, x16, x4);
    }

    fn load_plane(&mut self, to: u8, at: i32) {
        dynasm!(self.asm; .arch aarch64; ldr Q(to), [x16, at as u32]);
    }

    fn store_plane(&mut self, at: i32, register: u8) {
        dynasm!(self.asm; .arch aarch64; str Q(register), [x16, at as u32]);
    }

    fn load(&mut self, to: u8, operand: Operand) {
        match operand {
            Operand::Register(from) if from == to => {}
            Operand::Register(from) => self.copy(to, from),
            Operand::Frame(at) => self.load_from(to, Base::Stack, at as u32),
            Operand::Constant(0) => dynasm!(self.asm; .arch aarch64; movi V(to).D2, 0),
            Operand::Constant(bits) => match float_immediate(bits) {
                Some(float) => dynasm!(self.asm; .arch aarch64; fmov V(to).S4, float),
                None => {
                    let at = self.pool.constant(bits);
                    self.load_from(to, Base::Pool, at);
                }
            },
        }
    }

    fn store(&mut self, at: i32, register: u8) {
        let at = at as u32;
        if at > REACH {
            self.number(at);
            dynasm!(self.asm; .arch aarch64; str Q(register), [sp, x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; str Q(register), [sp, at]);
        }
    }

    fn one(&mut self, code: Code, number: u32, to: u8, a: Operand) {
        let a = self.register(a, SCRATCH[0]);
        self.unary(code, number, to, a);
    }

    fn two(&mut self, code: Code, to: u8, a: Operand, b: Operand) {
        let a = self.register(a, SCRATCH[0]);
        let b = self.register(b, SCRATCH[1]);
        self.binary(code, to, a, b);
    }

    fn three(&mut self, code: Code, to: u8, a: Operand, b: Operand, c: Operand) {
        match code {
            Code::Select => self.select(to, a, b, c),
            _ => self.product(code, to, a, b, c),
        }
    }

    fn lookup(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let index = self.register(index, SCRATCH[1]);
        let table = self.pool.table(table);
        self.gather(table, to, index);
    }

    fn call_out(&mut self, function: CallOut) {
        let callee = self.pool.callee(function);
        self.pool_address(callee);
        let thunk = self.thunk;
        dynasm!(self.asm; .arch aarch64; bl =>thunk);
    }

    fn jump(&mut self, to: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; b =>to);
    }

    fn jump_if_any(&mut self, mask: Operand, to: DynamicLabel) {
        let mask = self.register(mask, SCRATCH[1]);
        dynasm!(self.asm
            ; .arch aarch64
            ; xtn V(THIRD).H4, V(mask).S4
            ; fmov x17, D(THIRD)
            ; cbnz x17, =>to
        );
    }

    fn call(&mut self, routine: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; bl =>routine);
    }

    fn finish(mut self) -> Option<(Vec<u8>, Vec<Call>)> {
        if !self.pool.calls.is_empty() {
            self.thunk();
        }
        let base = self.base;
        dynasm!(self.asm; .arch aarch64; .align 16; =>base);
        let start = self.offset();
        for &word in &self.pool.words {
            self.asm.push_u32(word);
        }
        let calls = self.pool.calls.iter().map(|&(function, at)| Call {
            at: start + at as usize,
            function,
        });
        let calls = calls.collect();
        Some((self.asm.finalize().ok()?, calls))
    }
}
