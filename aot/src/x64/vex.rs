//! The encoder of vector instructions: VEX prefix, opcode, register or memory operand, and perhaps
//! an immediate.
//!
//! Nearly all code is such instructions, and they are alike, so each is a few numbers in a table,
//! and one function encodes them all. See "VEX prefix" in Intel's manual, volume 2, section 2.3;
//! opcodes are on its pages of instructions.
//!
//! The assembler's macro has code of its own for each form of each, and adds their bytes one by
//! one; that takes longer, and some of its forms are wrong.

use super::{Operand, WHOLE, X64Assembler};
use crate::assembler::RelocationFormat;
use crate::macro_assembler::MacroAssembler;
use dynasmrt::DynasmLabelApi;
use dynasmrt::x64::X64Relocation;

/// An instruction on 32-bit floats or words: the mandatory prefix 66, F3 or none, the opcode map,
/// the opcode, and an immediate.
#[derive(Clone, Copy)]
pub(super) struct VexInstruction {
    prefix: u8,
    map: u8,
    opcode: u8,
    number: Option<u8>,
}

const NONE: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;

/// The maps `0F`, `0F38` and `0F3A`.
const M0F: u8 = 1;
const M0F38: u8 = 2;
const M0F3A: u8 = 3;

/// The code of the assembler's references for a 32-bit distance.
const DISTANCE: u8 = 2;

impl RelocationFormat for X64Relocation {
    const REL32: Option<u8> = Some(DISTANCE);
}

impl VexInstruction {
    const fn new(prefix: u8, map: u8, opcode: u8) -> VexInstruction {
        VexInstruction {
            prefix,
            map,
            opcode,
            number: None,
        }
    }

    /// The instruction with an immediate.
    pub(super) const fn with_immediate(self, number: u8) -> VexInstruction {
        VexInstruction {
            number: Some(number),
            ..self
        }
    }
}

/// Names instructions.
macro_rules! instructions {
    ($($name:ident = $prefix:ident $map:ident $opcode:literal $(, $number:literal)?;)*) => {
        $(pub(super) const $name: VexInstruction = VexInstruction::new($prefix, $map, $opcode)$(.with_immediate($number))?;)*
    };
}

instructions! {
    MOVE = NONE M0F 0x10;
    STORE = NONE M0F 0x11;
    SHUFFLE = NONE M0F 0xc6;
    // Of halves: the first of either operand, or the second of the last one after that of the
    // first.
    JOIN = NONE M0F 0x16;
    INTERLEAVE = NONE M0F 0x14;
    // Of a word in memory.
    BROADCAST = P66 M0F38 0x18;
    UPPER = NONE M0F 0x12;
    TEST = P66 M0F38 0x17;
    PERMUTE = P66 M0F38 0x36;
    BLEND = P66 M0F3A 0x4a;
    SQRT = NONE M0F 0x51;
    // Without exceptions.
    ROUND_EVEN = P66 M0F3A 0x08, 8;
    ROUND_DOWN = P66 M0F3A 0x08, 9;
    ROUND_UP = P66 M0F3A 0x08, 10;
    ROUND_TO_ZERO = P66 M0F3A 0x08, 11;
    TRUNCATE = PF3 M0F 0x5b;
    FROM_I32 = NONE M0F 0x5b;
    ADD = NONE M0F 0x58;
    SUB = NONE M0F 0x5c;
    MUL = NONE M0F 0x59;
    DIV = NONE M0F 0x5e;
    // Ordered, without exceptions for quiet NaNs.
    LT = NONE M0F 0xc2, 0x11;
    LE = NONE M0F 0xc2, 0x12;
    GT = NONE M0F 0xc2, 0x1e;
    GE = NONE M0F 0xc2, 0x1d;
    EQ = NONE M0F 0xc2, 0;
    MIN = NONE M0F 0x5d;
    MAX = NONE M0F 0x5f;
    AND = NONE M0F 0x54;
    AND_NOT = NONE M0F 0x55;
    OR = NONE M0F 0x56;
    XOR = NONE M0F 0x57;
    I_ADD = P66 M0F 0xfe;
    I_SUB = P66 M0F 0xfa;
    I_MUL = P66 M0F38 0x40;
    SHL = P66 M0F38 0x47;
    SHR = P66 M0F38 0x45;
    SAR = P66 M0F38 0x46;
    I_GT = P66 M0F 0x66;
    I_EQ = P66 M0F 0x76;
    I_MIN = P66 M0F38 0x39;
    I_MAX = P66 M0F38 0x3d;
    MUL_WIDE = P66 M0F 0xf4;
    // By immediates: of words, and of pairs.
    SHIFT = P66 M0F 0x72;
    SHIFT_WIDE = P66 M0F 0x73;
    // to·b + c and its like, by the order of operands in the manual's names.
    MUL_ADD_132 = P66 M0F38 0x98;
    MUL_ADD_213 = P66 M0F38 0xa8;
    MUL_ADD_231 = P66 M0F38 0xb8;
    MUL_SUB_132 = P66 M0F38 0x9a;
    MUL_SUB_213 = P66 M0F38 0xaa;
    MUL_SUB_231 = P66 M0F38 0xba;
    NEG_MUL_ADD_132 = P66 M0F38 0x9c;
    NEG_MUL_ADD_213 = P66 M0F38 0xac;
    NEG_MUL_ADD_231 = P66 M0F38 0xbc;
    NEG_MUL_SUB_132 = P66 M0F38 0x9e;
    NEG_MUL_SUB_213 = P66 M0F38 0xae;
    NEG_MUL_SUB_231 = P66 M0F38 0xbe;
}

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Writes an instruction of two operands.
    pub(super) fn vex_binary(&mut self, vex: VexInstruction, to: u8, from: Operand) {
        // An absent register is encoded as 0.
        self.vex_ternary(vex, to, 0, from);
    }

    /// Writes an instruction of three operands, the last of which may be in memory. Some have a
    /// part of their opcode in place of the first.
    pub(super) fn vex_ternary(&mut self, vex: VexInstruction, to: u8, first: u8, last: Operand) {
        // The highest bit of the last one, if it is a register; its encoding, and the bytes of
        // that.
        let (high, operand, length) = match last {
            Operand::Register(register) => (register >> 3, u64::from(0xc0 | register & 7), 1),
            Operand::Frame(at) => match i8::try_from(at) {
                Ok(at) => (0, 0x2444 | u64::from(at as u8) << 16, 3),
                Err(_) => (0, 0x2484 | u64::from(at as u32) << 16, 6),
            },
            Operand::Constant(_) => (0, 0x05, 5),
            Operand::Plane(word, vector) => {
                self.address_plane(word);
                // A distance of eight bits.
                const { assert!(Self::SEGMENT_VECTORS as i32 * Self::VECTOR_BYTES <= 1 << 7) };
                let at = vector * Self::VECTOR_BYTES as u8;
                match self.addressed {
                    // From `rbx`.
                    Some(distance) => {
                        let distance = distance + i32::from(at);
                        (0, 0x0384 | u64::from(distance as u32) << 16, 6)
                    }
                    None => (0, 0x44 | u64::from(at) << 16, 3),
                }
            }
        };
        // The highest bit of the index register, `r8`.
        let indexed = u8::from(matches!(last, Operand::Plane(..)));
        let (number, immediate_bytes) = match vex.number {
            Some(number) => (u64::from(number) << (8 * length), 1),
            None => (0, 0),
        };
        // All bytes after the opcode.
        let rest = u128::from(operand | u64::from(to & 7) << 3 | number);
        let to_high = (!to & 8) << 4;
        let last_byte = (!first & 15) << 3 | u8::from(ELEMENTS == WHOLE) << 2 | vex.prefix;
        let (head, rest, head_length) = match vex.map == M0F && high | indexed == 0 {
            true => ([0xc5, to_high | last_byte, vex.opcode, 0], rest << 24, 3),
            false => {
                let second = to_high | (!indexed & 1) << 6 | (!high & 1) << 5 | vex.map;
                ([0xc4, second, last_byte, vex.opcode], rest << 32, 4)
            }
        };
        let bytes = u128::from(u32::from_le_bytes(head)) | rest;
        self.asm
            .push_instruction(bytes, head_length + length + usize::from(immediate_bytes));
        if let Operand::Constant(label) = last {
            let label = self.labels[label as usize];
            self.asm
                .dynamic_reloc(label, 0, 4 + immediate_bytes, 0, DISTANCE);
        }
    }
}
