//! Frames, loops, jumps and operand loads for x86-64.

use super::encoding::{self, EncodedOperand};
use super::{Operand, SCRATCH_MASKS, X64Assembler};
use crate::assembler::Assembler;
use crate::graph::{ALL_ONES, NodeOp};
use crate::macro_assembler::{AssembledCode, MIN_PAGE_BYTES, MacroAssembler, MaskRegister};
use crate::shadow_pairs::VectorHalf;
use adumbra_ops::Libcall;
use adumbra_vm::native::{OperandRef, VectorRun, WordLocation};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Capacity reserved for an instruction's code, and for its references, constants mostly: enough
/// for most programs to be written without a move.
const INSTRUCTION_BYTES: usize = 512;
const INSTRUCTION_REFERENCES: usize = 16;
const INSTRUCTION_LABELS: usize = 4;

/// The distance from the first reference of a kernel to that of a word.
fn reference(word: u32) -> i32 {
    word as i32 * size_of::<OperandRef>() as i32
}

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Puts the address of the first plane of a register among these locations in `rbx`, and finds
    /// the distances of the others.
    fn address_registers(&mut self, locations: &[WordLocation]) {
        let distance = |location: &WordLocation| match *location {
            WordLocation::RegisterPlane(distance) => Some(distance),
            _ => None,
        };
        let mut found = (0..).zip(locations);
        let base = found.find_map(|(word, location)| Some((word, distance(location)?)));
        if let Some((word, _)) = base {
            dynasm!(self.asm; .arch x64; mov rbx, [rdi + reference(word)]);
        }
        let from = base.map_or(0, |(_, distance)| distance);
        self.distances.clear();
        let distances = locations.iter().map(distance);
        self.distances
            .extend(distances.map(|distance| distance.map(|to| to - from)));
    }

    /// Sets the flags by whether a mask is empty.
    fn test(&mut self, mask: Operand) {
        let mask = self.in_register(mask, Self::SCRATCH[1]);
        if Self::IS_BATCH {
            self.write_binary(encoding::TEST, mask, Operand::Register(mask));
        } else {
            dynasm!(self.asm; .arch x64; vmovd eax, Rx(mask); test eax, eax);
        }
    }

    /// Allocates a frame of `size` bytes, and touches each of its pages in turn, so that a stack
    /// overflow meets the guard page.
    fn take_frame(&mut self, size: i32) {
        for page in (MIN_PAGE_BYTES..size).step_by(MIN_PAGE_BYTES as usize) {
            dynasm!(self.asm; .arch x64; test [rsp - page], eax);
        }
        if size > 0 {
            dynasm!(self.asm; .arch x64; sub rsp, size);
        }
    }
}

impl<const ELEMENTS: usize> MacroAssembler for X64Assembler<ELEMENTS> {
    type Constant = u32;

    const VECTOR_BYTES: i32 = 4 * ELEMENTS as i32;
    // Segments are so short that several iterations overlap in the reorder window; two vectors need
    // twice the registers, and were slower or as fast on Zen 5.
    const SEGMENT_VECTORS: usize = 1;
    const UNIFORM_BYTES: i32 = if Self::IS_EVEX {
        size_of::<u32>() as i32
    } else {
        Self::VECTOR_BYTES
    };
    const VALUE_REGISTERS: u8 = if Self::IS_EVEX { 30 } else { 14 };
    const SCRATCH: [u8; 2] = [Self::VALUE_REGISTERS, Self::VALUE_REGISTERS + 1];
    const MASK_REGISTERS: Range<u8> = if Self::IS_EVEX {
        SCRATCH_MASKS[1] + 1..8
    } else {
        0..0
    };
    const RETURN_ADDRESS_BYTES: i32 = 8;
    const HAS_PLANE_OPERANDS: bool = true;
    const HAS_SATURATING_CONVERSIONS: bool = false;

    fn new(instructions: usize) -> Self {
        let asm = Assembler::new(
            instructions * INSTRUCTION_BYTES,
            instructions * INSTRUCTION_REFERENCES,
            instructions * INSTRUCTION_LABELS,
        );
        X64Assembler {
            asm,
            labels: Vec::new(),
            pool: FxHashMap::default(),
            constants: Vec::new(),
            tables: Vec::new(),
            distances: Vec::new(),
            addressed: None,
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
        dynasm!(self.asm; .arch x64; =>label);
    }

    /// Returns the number of a vector that is `bits` in each element.
    fn constant(&mut self, bits: u32) -> u32 {
        if let Some(&label) = self.pool.get(&bits) {
            return label;
        }
        let label = self.data_label();
        self.pool.insert(bits, label);
        self.constants.push((bits, label));
        label
    }

    fn enter_kernel(&mut self, size: i32, locations: &[WordLocation]) -> usize {
        let start = self.position();
        dynasm!(self.asm
            ; .arch x64
            ; push rbp
            ; mov rbp, rsp
            ; push r8
            ; push rbx
            ; push rsi
            ; push rdx
            ; and rsp, -Self::VECTOR_BYTES
        );
        self.take_frame(size);
        self.address_registers(locations);
        start
    }

    fn leave_kernel(&mut self) {
        dynasm!(self.asm
            ; .arch x64
            ; vzeroupper
            ; mov rbx, [rbp - 16]
            ; mov rsp, rbp
            ; pop rbp
            ; ret
        );
    }

    fn begin_runs(&mut self, next: DynamicLabel, done: DynamicLabel) {
        dynasm!(self.asm
            ; .arch x64
            ; mov rsi, [rbp - 24]
            ; mov rdx, [rbp - 32]
            ; test rdx, rdx
            ; jz =>done
            ; =>next
            ; mov r10d, [rsi]
            ; mov r9d, [rsi + 4]
            ; imul r9, rcx
            ; add r9, r10
        );
    }

    fn end_runs(&mut self, next: DynamicLabel, done: DynamicLabel) {
        dynasm!(self.asm
            ; .arch x64
            ; add rsi, size_of::<VectorRun>() as i32
            ; dec rdx
            ; jnz =>next
            ; =>done
        );
    }

    fn begin_loop(&mut self, next: DynamicLabel) {
        dynasm!(self.asm
            ; .arch x64
            ; mov r8, r10
            ; .align 16
            ; =>next
        );
    }

    fn end_loop(&mut self, next: DynamicLabel, step: i32) {
        dynasm!(self.asm
            ; .arch x64
            ; add r8, step
            ; cmp r8, r9
            ; jb =>next
        );
    }

    fn enter_routine(&mut self, size: i32) {
        dynasm!(self.asm; .arch x64; sub rsp, size);
    }

    fn leave_routine(&mut self, size: i32) {
        dynasm!(self.asm; .arch x64; add rsp, size; ret);
    }

    fn copy_uniform(&mut self, word: u32, at: i32) {
        dynasm!(self.asm; .arch x64; mov rax, [rdi + reference(word)]);
        if Self::IS_EVEX {
            return dynasm!(self.asm; .arch x64; mov eax, [rax]; mov [rsp + at], eax);
        }
        let [scratch, _] = Self::SCRATCH;
        self.write_encoded(encoding::MOVE, scratch, 0, EncodedOperand::AT_RAX);
        self.store(at, scratch);
    }

    fn address_plane(&mut self, word: u32) {
        self.addressed = self.distances[word as usize];
        if self.addressed.is_none() {
            dynasm!(self.asm; .arch x64; mov rax, [rdi + reference(word)]);
        }
    }

    fn load_plane(&mut self, to: u8, at: i32) {
        self.write_encoded(encoding::MOVE, to, 0, self.at_plane(at));
    }

    fn store_plane(&mut self, at: i32, register: u8) {
        self.write_encoded(encoding::STORE, register, 0, self.at_plane(at));
    }

    fn load(&mut self, to: u8, operand: Operand) {
        self.move_to(to, operand);
    }

    fn store(&mut self, at: i32, register: u8) {
        self.write_binary(encoding::STORE, register, Operand::Frame(at));
    }

    fn emit_unary(&mut self, op: NodeOp, number: u32, to: u8, a: Operand) {
        self.unary(op, number, to, a);
    }

    fn emit_binary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand) {
        self.binary(op, to, a, b);
    }

    fn emit_mask(&mut self, op: NodeOp, to: MaskRegister, a: Operand, b: Operand) {
        self.mask_of(op, to, a, b);
    }

    fn emit_ternary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand, c: Operand) {
        match op {
            NodeOp::Select => self.select(to, a, b, c),
            _ => self.product(op, to, a, b, c),
        }
    }

    fn lookup(&mut self, table: &'static [u32], to: u8, index: Operand) {
        self.permute(table, to, index);
    }

    fn call_libcall(&mut self, function: Libcall, elements: usize) {
        let asm = &mut self.asm;
        let thunk = *self.thunk.get_or_insert_with(|| asm.new_dynamic_label());
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, function as i32
            ; mov r11d, elements as i32
            ; call =>thunk
        );
        if elements == 1 {
            let [result, _] = Self::SCRATCH;
            let from = Operand::Register(result);
            self.write_ternary(encoding::SHUFFLE.with_immediate(0), result, result, from);
        }
    }

    fn enter_point_kernel(&mut self, size: i32) -> usize {
        let start = self.asm.offset().0;
        // With the return address it is a multiple of the stack's alignment.
        self.take_frame(size + Self::RETURN_ADDRESS_BYTES);
        start
    }

    fn leave_point_kernel(&mut self, size: i32, exit: u32) {
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, exit as i32
            ; add rsp, size + Self::RETURN_ADDRESS_BYTES
            ; ret
        );
    }

    fn load_vm_register(&mut self, to: u8, vm_register: u32) {
        dynasm!(self.asm; .arch x64; vbroadcastss Rx(to), DWORD [rdi + 4 * vm_register as i32]);
    }

    fn load_global(&mut self, to: u8, word: u32) {
        dynasm!(self.asm; .arch x64; vbroadcastss Rx(to), DWORD [rsi + 4 * word as i32]);
    }

    fn store_vm_register(&mut self, vm_register: u32, register: u8, half: VectorHalf) {
        let at = 4 * vm_register as i32;
        match half {
            VectorHalf::First => {
                dynasm!(self.asm; .arch x64; vmovss DWORD [rdi + at], Rx(register))
            }
            VectorHalf::Second => {
                dynasm!(self.asm; .arch x64; vextractps DWORD [rdi + at], Rx(register), 2);
            }
        }
    }

    fn fill_vm_register(&mut self, vm_register: u32, bits: u32) {
        dynasm!(self.asm; .arch x64; mov DWORD [rdi + 4 * vm_register as i32], bits as i32);
    }

    fn take_steps(&mut self, steps: u32, fewer: DynamicLabel) {
        dynasm!(self.asm; .arch x64; sub rdx, steps as i32; jb =>fewer);
    }

    fn return_steps(&mut self, steps: u32) {
        dynasm!(self.asm; .arch x64; add rdx, steps as i32);
    }

    fn jump(&mut self, to: DynamicLabel) {
        dynasm!(self.asm; .arch x64; jmp =>to);
    }

    fn jump_if_any(&mut self, mask: Operand, to: DynamicLabel) {
        if Self::IS_EVEX && self.test_mask(mask) {
            // Not all of the inverse are set.
            dynasm!(self.asm; .arch x64; jnc =>to);
        } else {
            if !Self::IS_EVEX {
                self.test(mask);
            }
            dynasm!(self.asm; .arch x64; jnz =>to);
        }
    }

    fn jump_if_less(&mut self, a: u8, b: u8, is_less: bool, to: DynamicLabel) {
        dynasm!(self.asm; .arch x64; vucomiss Rx(b), Rx(a));
        match is_less {
            true => dynasm!(self.asm; .arch x64; ja =>to),
            false => dynasm!(self.asm; .arch x64; jbe =>to),
        }
    }

    fn jump_unless_all(&mut self, mask: Operand, to: DynamicLabel) {
        if Self::IS_EVEX {
            if self.test_mask(mask) {
                return dynasm!(self.asm; .arch x64; jnz =>to);
            }
            dynasm!(self.asm; .arch x64; jnc =>to);
        } else if Self::IS_BATCH {
            let mask = self.in_register(mask, Self::SCRATCH[1]);
            let ones = Operand::Constant(self.constant(ALL_ONES));
            // Sets the carry flag if the mask has all bits of `ones`.
            self.write_binary(encoding::TEST, mask, ones);
            dynasm!(self.asm; .arch x64; jnc =>to);
        } else {
            self.jump_if_none(mask, to);
        }
    }

    fn jump_if_none(&mut self, mask: Operand, to: DynamicLabel) {
        self.test(mask);
        dynasm!(self.asm; .arch x64; jz =>to);
    }

    fn call(&mut self, routine: DynamicLabel) {
        dynasm!(self.asm; .arch x64; call =>routine);
    }

    fn assemble(mut self) -> Option<AssembledCode> {
        if let Some(label) = self.thunk {
            self.libcall_thunk(label);
        }
        let end = self.position();
        let data = self.data();
        Some(AssembledCode {
            bytes: self.asm.finalize()?,
            code_end: end,
            data_start: data,
        })
    }
}
