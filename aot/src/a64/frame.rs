//! Frames, loops, jumps and operand loads for aarch64.

use super::{
    A64Assembler, Base, FRAME, LIBCALLS, Operand, Pool, REGISTERS, RUNS, SCRATCH, THIRD, VECTOR,
    float_immediate,
};
use crate::assembler::Assembler;
use crate::graph::NodeOp;
use crate::macro_assembler::{AssembledCode, MIN_PAGE_BYTES, MacroAssembler};
use crate::shadow_pairs::VectorHalf;
use adumbra_ops::Libcall;
use adumbra_vm::native::{OperandRef, VectorRun, WordLocation};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// The greatest byte offset, in whole vectors, that a vector load or store encodes.
const REACH: u32 = 4095 * VECTOR as u32;
/// The greatest byte offset that a load or store of an address encodes.
const REACH_OF_ADDRESSES: u32 = 4095 * 8;
/// The greatest word index that a 32-bit load or store encodes.
const REACH_OF_WORDS: u32 = 4095;
/// The greatest immediate that `add` and `sub` encode without a shift.
const STEP: u32 = 4095;

/// Capacity reserved for an instruction's code: enough for most programs to be written without a
/// move.
const INSTRUCTION_BYTES: usize = 1024;

impl A64Assembler {
    /// Loads a vector at a byte offset from a base register.
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

    /// Puts the address of a pool offset in `x17`.
    pub(super) fn pool_address(&mut self, at: u32) {
        self.number(at);
        dynasm!(self.asm; .arch aarch64; add x17, x7, x17);
    }

    /// Puts the address of a word's plane or uniform value in `x16`.
    fn reference(&mut self, word: u32) {
        let at = word * size_of::<OperandRef>() as u32;
        if at > REACH_OF_ADDRESSES {
            self.number(at);
            dynasm!(self.asm; .arch aarch64; ldr x16, [x0, x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; ldr x16, [x0, at]);
        }
    }

    /// Begins a kernel: allocates a frame of `size` bytes and saves the libcall table from
    /// `callees`.
    fn begin(&mut self, size: i32, callees: u8) -> usize {
        let (base, distance) = (self.base, self.new_label());
        dynasm!(self.asm
            ; .arch aarch64
            ; =>distance
            ; .rel32 =>base
        );
        let start = self.position();
        dynasm!(self.asm
            ; .arch aarch64
            ; stp x29, x30, [sp, -FRAME]!
            ; mov x29, sp
            ; stp d8, d9, [sp, 16]
            ; stp d10, d11, [sp, 32]
            ; stp d12, d13, [sp, 48]
            ; stp d14, d15, [sp, 64]
            ; str X(callees), [sp, LIBCALLS]
            ; adr x7, =>distance
            ; ldrsw x17, [x7]
            ; add x7, x7, x17
        );
        for page in 1..(size as u32).div_ceil(MIN_PAGE_BYTES as u32) {
            dynasm!(self.asm; .arch aarch64; sub x17, sp, page, lsl 12; ldr xzr, [x17]);
        }
        self.move_stack(size, true);
        start
    }

    /// Loads a word at an offset from a general register and splats it to all SIMD elements.
    fn load_word(&mut self, to: u8, base: u8, word: u32) {
        if word > REACH_OF_WORDS {
            self.number(4 * word);
            dynasm!(self.asm; .arch aarch64; ldr S(to), [X(base), x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; ldr S(to), [X(base), 4 * word]);
        }
        dynasm!(self.asm; .arch aarch64; dup V(to).S4, V(to).S[0]);
    }

    /// Puts 16 bits of each SIMD element of a mask in `x17`.
    fn bits_of(&mut self, mask: Operand) {
        let mask = self.in_register(mask, SCRATCH[1]);
        dynasm!(self.asm
            ; .arch aarch64
            ; xtn V(THIRD).H4, V(mask).S4
            ; fmov x17, D(THIRD)
        );
    }

    /// Moves the stack pointer down or up by a number of bytes.
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

impl MacroAssembler for A64Assembler {
    type Constant = u32;

    const VECTOR_BYTES: i32 = VECTOR;
    const SEGMENT_VECTORS: usize = 2;
    const VALUE_REGISTERS: u8 = REGISTERS;
    const SCRATCH: [u8; 2] = SCRATCH;
    const RETURN_ADDRESS_BYTES: i32 = 0;
    const HAS_PLANE_OPERANDS: bool = false;
    const HAS_SATURATING_CONVERSIONS: bool = true;

    fn new(instructions: usize) -> A64Assembler {
        let mut asm = Assembler::new(instructions * INSTRUCTION_BYTES, instructions, instructions);
        let base = asm.new_dynamic_label();
        A64Assembler {
            asm,
            pool: Pool::default(),
            base,
            thunk: None,
        }
    }

    fn position(&self) -> usize {
        self.asm.offset().0
    }

    fn new_label(&mut self) -> DynamicLabel {
        self.asm.new_dynamic_label()
    }

    fn bind(&mut self, label: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; =>label);
    }

    fn constant(&mut self, bits: u32) -> u32 {
        bits
    }

    fn enter_kernel(&mut self, size: i32, _: &[WordLocation]) -> usize {
        let start = self.begin(size, 4);
        dynasm!(self.asm; .arch aarch64; stp x1, x2, [x29, RUNS]);
        start
    }

    fn leave_kernel(&mut self) {
        dynasm!(self.asm
            ; .arch aarch64
            ; mov sp, x29
            ; ldp d8, d9, [sp, 16]
            ; ldp d10, d11, [sp, 32]
            ; ldp d12, d13, [sp, 48]
            ; ldp d14, d15, [sp, 64]
            ; ldp x29, x30, [sp], FRAME
            ; ret
        );
    }

    fn begin_runs(&mut self, next: DynamicLabel, done: DynamicLabel) {
        dynasm!(self.asm
            ; .arch aarch64
            ; ldp x1, x2, [x29, RUNS]
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
            ; add x1, x1, size_of::<VectorRun>() as u32
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
        let done = self.new_label();
        dynasm!(self.asm
            ; .arch aarch64
            ; add x4, x4, step as u32
            ; cmp x4, x6
            ; b.hs =>done
            ; b =>next
            ; =>done
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

    fn copy_uniform(&mut self, word: u32, at: i32) {
        let [scratch, _] = SCRATCH;
        self.reference(word);
        dynasm!(self.asm; .arch aarch64; ldr Q(scratch), [x16]);
        self.store(at, scratch);
    }

    fn address_plane(&mut self, word: u32) {
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
            Operand::Frame(at) | Operand::Uniform(at) => self.load_from(to, Base::Stack, at as u32),
            Operand::Plane(..) | Operand::Mask(_) => {
                unreachable!("nothing stays in planes or mask registers here")
            }
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

    fn emit_unary(&mut self, op: NodeOp, number: u32, to: u8, a: Operand) {
        let a = self.in_register(a, SCRATCH[0]);
        self.unary(op, number, to, a);
    }

    fn emit_binary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand) {
        let a = self.in_register(a, SCRATCH[0]);
        let b = self.in_register(b, SCRATCH[1]);
        self.binary(op, to, a, b);
    }

    fn emit_ternary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand, c: Operand) {
        match op {
            NodeOp::Select => self.select(to, a, b, c),
            _ => self.product(op, to, a, b, c),
        }
    }

    fn lookup(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let index = self.in_register(index, SCRATCH[1]);
        let table = self.pool.table(table);
        self.gather(table, to, index);
    }

    fn call_libcall(&mut self, function: Libcall, elements: usize) {
        let asm = &mut self.asm;
        let thunk = *self.thunk.get_or_insert_with(|| asm.new_dynamic_label());
        dynasm!(self.asm
            ; .arch aarch64
            ; movz w17, function as u32
            ; mov x16, elements as u64
            ; bl =>thunk
        );
        if elements == 1 {
            let [result, _] = SCRATCH;
            dynasm!(self.asm; .arch aarch64; dup V(result).S4, V(result).S[0]);
        }
    }

    fn enter_point_kernel(&mut self, size: i32) -> usize {
        self.begin(size, 3)
    }

    fn leave_point_kernel(&mut self, _: i32, exit: u32) {
        self.number(exit);
        dynasm!(self.asm; .arch aarch64; mov x0, x17; mov x1, x2);
        self.leave_kernel();
    }

    fn load_vm_register(&mut self, to: u8, vm_register: u32) {
        self.load_word(to, 0, vm_register);
    }

    fn load_global(&mut self, to: u8, word: u32) {
        self.load_word(to, 1, word);
    }

    fn store_vm_register(&mut self, vm_register: u32, register: u8, half: VectorHalf) {
        let register = match half {
            VectorHalf::First => register,
            VectorHalf::Second => {
                dynasm!(self.asm; .arch aarch64; dup V(THIRD).D2, V(register).D[1]);
                THIRD
            }
        };
        if vm_register > REACH_OF_WORDS {
            self.number(4 * vm_register);
            dynasm!(self.asm; .arch aarch64; str S(register), [x0, x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; str S(register), [x0, 4 * vm_register]);
        }
    }

    fn fill_vm_register(&mut self, vm_register: u32, bits: u32) {
        dynasm!(self.asm
            ; .arch aarch64
            ; movz w16, bits & 0xffff
            ; movk w16, bits >> 16, lsl 16
        );
        if vm_register > REACH_OF_WORDS {
            self.number(4 * vm_register);
            dynasm!(self.asm; .arch aarch64; str w16, [x0, x17]);
        } else {
            dynasm!(self.asm; .arch aarch64; str w16, [x0, 4 * vm_register]);
        }
    }

    fn take_steps(&mut self, steps: u32, fewer: DynamicLabel) {
        let enough = self.new_label();
        dynasm!(self.asm
            ; .arch aarch64
            ; subs x2, x2, steps
            ; b.hs =>enough
            ; b =>fewer
            ; =>enough
        );
    }

    fn return_steps(&mut self, steps: u32) {
        dynasm!(self.asm; .arch aarch64; add x2, x2, steps);
    }

    fn jump(&mut self, to: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; b =>to);
    }

    fn jump_if_any(&mut self, mask: Operand, to: DynamicLabel) {
        self.bits_of(mask);
        let none = self.new_label();
        dynasm!(self.asm
            ; .arch aarch64
            ; cbz x17, =>none
            ; b =>to
            ; =>none
        );
    }

    fn jump_if_less(&mut self, a: u8, b: u8, is_less: bool, to: DynamicLabel) {
        let stay = self.new_label();
        dynasm!(self.asm; .arch aarch64; fcmp S(b), S(a));
        match is_less {
            true => dynasm!(self.asm; .arch aarch64; b.le =>stay),
            false => dynasm!(self.asm; .arch aarch64; b.gt =>stay),
        }
        dynasm!(self.asm; .arch aarch64; b =>to; =>stay);
    }

    fn jump_unless_all(&mut self, mask: Operand, to: DynamicLabel) {
        self.bits_of(mask);
        let all = self.new_label();
        dynasm!(self.asm
            ; .arch aarch64
            ; cmn x17, 1
            ; b.eq =>all
            ; b =>to
            ; =>all
        );
    }

    fn jump_if_none(&mut self, mask: Operand, to: DynamicLabel) {
        self.bits_of(mask);
        let some = self.new_label();
        dynasm!(self.asm
            ; .arch aarch64
            ; cbnz x17, =>some
            ; b =>to
            ; =>some
        );
    }

    fn call(&mut self, routine: DynamicLabel) {
        dynasm!(self.asm; .arch aarch64; bl =>routine);
    }

    fn assemble(mut self) -> Option<AssembledCode> {
        if let Some(label) = self.thunk {
            self.libcall_thunk(label);
        }
        let (base, end) = (self.base, self.position());
        dynasm!(self.asm; .arch aarch64; .align 16; =>base);
        let data = self.position();
        for &word in &self.pool.words {
            self.asm.push_u32(word);
        }
        Some(AssembledCode {
            bytes: self.asm.finalize()?,
            code_end: end,
            data_start: data,
        })
    }
}
