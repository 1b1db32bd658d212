//! The encoder of vector instructions: a prefix, an opcode, a register or memory operand, and
//! perhaps an immediate.
//!
//! Nearly all code is such instructions, and they are alike, so each is a few numbers in a table,
//! and one function encodes them all. Vectors of up to eight elements have the VEX prefix, those of
//! 16 the EVEX prefix. See "VEX prefix" and "Intel AVX-512 encoding" in Intel's manual, volume 2,
//! sections 2.3 and 2.7; opcodes are on its pages of instructions.
//!
//! The assembler's macro has code of its own for each form of each, and adds their bytes one by
//! one; that takes longer, some of its forms are wrong, and it lacks AVX-512.

use super::{Operand, WHOLE, X64Assembler};
use crate::assembler::RelocationFormat;
use crate::macro_assembler::MacroAssembler;
use dynasmrt::DynasmLabelApi;
use dynasmrt::x64::X64Relocation;

/// An instruction on 32-bit floats or words: the mandatory prefix 66, F3 or none, the opcode map,
/// the opcode, and an immediate.
#[derive(Clone, Copy)]
pub(super) struct VectorInstruction {
    prefix: u8,
    map: u8,
    opcode: u8,
    number: Option<u8>,
    pub(super) element: Element,
}

/// How EVEX counts the elements of an operand in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// Words of 32 bits, one of which may be an operand for all.
    Word,
    /// Words of 64 bits.
    Pair,
    /// Vectors: moves, and tables.
    Vector,
    /// One word of 32 bits.
    Single,
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

impl VectorInstruction {
    const fn new(prefix: u8, map: u8, opcode: u8) -> VectorInstruction {
        VectorInstruction {
            prefix,
            map,
            opcode,
            number: None,
            element: Element::Word,
        }
    }

    /// The instruction with an immediate.
    pub(super) const fn with_immediate(self, number: u8) -> VectorInstruction {
        VectorInstruction {
            number: Some(number),
            ..self
        }
    }

    /// The comparison by the opposite predicate: the manual's numbers differ in this bit, of floats
    /// and of words. It holds where an operand is NaN.
    pub(super) fn inverse(self) -> VectorInstruction {
        let number = self.number.map(|predicate| predicate ^ 4);
        VectorInstruction { number, ..self }
    }

    const fn of(self, element: Element) -> VectorInstruction {
        VectorInstruction { element, ..self }
    }
}

/// Names instructions.
macro_rules! instructions {
    ($($name:ident = $prefix:ident $map:ident $opcode:literal $(, $number:literal)? $(of $element:ident)?;)*) => {
        $(pub(super) const $name: VectorInstruction = VectorInstruction::new($prefix, $map, $opcode)
            $(.with_immediate($number))? $(.of(Element::$element))?;)*
    };
}

instructions! {
    MOVE = NONE M0F 0x10 of Vector;
    STORE = NONE M0F 0x11 of Vector;
    SHUFFLE = NONE M0F 0xc6;
    // Of halves: the first of either operand, or the second of the last one after that of the
    // first.
    JOIN = NONE M0F 0x16;
    INTERLEAVE = NONE M0F 0x14;
    // Of a word in memory.
    BROADCAST = P66 M0F38 0x18 of Single;
    UPPER = NONE M0F 0x12;
    TEST = P66 M0F38 0x17;
    PERMUTE = P66 M0F38 0x36 of Vector;
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
    MUL_WIDE = P66 M0F 0xf4 of Pair;
    // By immediates: of words, and of pairs.
    SHIFT = P66 M0F 0x72;
    SHIFT_WIDE = P66 M0F 0x73 of Pair;
    // With EVEX only. Of words, to mask registers.
    MASK_I_EQ = P66 M0F3A 0x1f, 0;
    MASK_I_LT = P66 M0F3A 0x1f, 1;
    MASK_I_GT = P66 M0F3A 0x1f, 6;
    // The second operand where the mask is set.
    BLEND_BY_MASK = P66 M0F38 0x65;
    VECTOR_TO_MASK = PF3 M0F38 0x39;
    // Of mask registers.
    MASK_AND = NONE M0F 0x41;
    // !a & b.
    MASK_AND_NOT = NONE M0F 0x42;
    MASK_OR = NONE M0F 0x45;
    MASK_XOR = NONE M0F 0x47;
    MASK_NOT = NONE M0F 0x44;
    MASK_LOAD = NONE M0F 0x90;
    MASK_STORE = NONE M0F 0x91;
    // Sets the zero flag if no bit is set, and the carry flag if all are.
    MASK_TEST = NONE M0F 0x98;
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

/// The mask of an EVEX instruction.
#[derive(Clone, Copy)]
pub(super) struct Masking {
    /// The number of the mask register; 0 is none.
    pub(super) register: u8,
    /// Whether other elements become zero, or stay.
    pub(super) to_zero: bool,
}

impl Masking {
    const NONE: Masking = Masking {
        register: 0,
        to_zero: false,
    };
}

/// The operand of an instruction that may be in memory, as its ModRM byte without the register
/// field, and the bytes after that.
#[derive(Clone, Copy)]
pub(super) struct EncodedOperand {
    bytes: u64,
    length: usize,
    /// The register, or 0 in memory.
    register: u8,
    /// Whether `r8` is added to its address.
    is_indexed: bool,
    /// The label of a constant or table that is its address.
    data: Option<u32>,
    /// Whether it is one word for all elements, with EVEX.
    is_word: bool,
}

impl EncodedOperand {
    /// The vector at `rax`.
    pub(super) const AT_RAX: EncodedOperand = EncodedOperand::in_memory(0, 1);

    const fn in_memory(bytes: u64, length: usize) -> EncodedOperand {
        EncodedOperand {
            bytes,
            length,
            register: 0,
            is_indexed: false,
            data: None,
            is_word: false,
        }
    }

    pub(super) fn in_register(register: u8) -> EncodedOperand {
        EncodedOperand {
            register,
            ..EncodedOperand::in_memory(u64::from(0xc0 | register & 7), 1)
        }
    }

    /// A number of bytes above the stack pointer; distances of eight bits are multiples of `unit`.
    pub(super) fn in_frame(at: i32, unit: i32) -> EncodedOperand {
        let short = i8::try_from(at / unit).ok();
        match short.filter(|_| at % unit == 0) {
            Some(at) => EncodedOperand::in_memory(0x2444 | u64::from(at as u8) << 16, 3),
            None => EncodedOperand::in_memory(0x2484 | u64::from(at as u32) << 16, 6),
        }
    }

    /// At a distance from `rax` and `r8`, or from `rbx` and `r8`, of 32 bits.
    fn indexed(base: u64, distance: i32) -> EncodedOperand {
        EncodedOperand {
            is_indexed: true,
            ..EncodedOperand::in_memory(0x84 | base << 8 | u64::from(distance as u32) << 16, 6)
        }
    }
}

/// The numbers of registers in addresses.
const RAX: u64 = 0;
const RBX: u64 = 3;

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// The factor of distances of eight bits.
    const UNIT: i32 = if Self::IS_EVEX { Self::VECTOR_BYTES } else { 1 };

    /// Encodes an operand.
    pub(super) fn encoded(&mut self, operand: Operand) -> EncodedOperand {
        match operand {
            Operand::Register(register) => EncodedOperand::in_register(register),
            Operand::Frame(at) => EncodedOperand::in_frame(at, Self::UNIT),
            Operand::Uniform(at) if Self::IS_EVEX => EncodedOperand {
                is_word: true,
                ..EncodedOperand::in_frame(at, size_of::<u32>() as i32)
            },
            Operand::Uniform(at) => EncodedOperand::in_frame(at, 1),
            Operand::Constant(label) => EncodedOperand {
                data: Some(label),
                is_word: true,
                ..EncodedOperand::in_memory(0x05, 5)
            },
            Operand::Plane(word, vector) => {
                self.address_plane(word);
                self.at_plane(i32::from(vector) * Self::VECTOR_BYTES)
            }
            Operand::Mask(_) => unreachable!("a mask is no vector"),
        }
    }

    /// A number of bytes after the current vector of the plane that is addressed.
    pub(super) fn at_plane(&self, at: i32) -> EncodedOperand {
        match self.addressed {
            Some(distance) => EncodedOperand::indexed(RBX, distance + at),
            None if at < Self::UNIT << 7 => EncodedOperand {
                is_indexed: true,
                ..EncodedOperand::in_memory(0x44 | u64::from((at / Self::UNIT) as u8) << 16, 3)
            },
            None => EncodedOperand::indexed(RAX, at),
        }
    }

    /// Writes an instruction of two operands.
    pub(super) fn write_binary(&mut self, inst: VectorInstruction, to: u8, from: Operand) {
        // An absent register is encoded as 0.
        self.write_ternary(inst, to, 0, from);
    }

    /// Writes an instruction of three operands, the last of which may be in memory. Some have a
    /// part of their opcode in place of the first.
    pub(super) fn write_ternary(
        &mut self,
        inst: VectorInstruction,
        to: u8,
        first: u8,
        last: Operand,
    ) {
        let last = self.encoded(last);
        self.write_encoded(inst, to, first, last);
    }

    /// Writes an instruction whose last operand is encoded.
    pub(super) fn write_encoded(
        &mut self,
        inst: VectorInstruction,
        to: u8,
        first: u8,
        last: EncodedOperand,
    ) {
        if Self::IS_EVEX {
            self.write_masked(inst, to, first, last, Masking::NONE);
        } else {
            self.write_vex(inst, to, first, last, ELEMENTS == WHOLE);
        }
    }

    /// Writes an instruction with a VEX prefix, of the longer of two lengths or of the shorter one.
    pub(super) fn write_vex(
        &mut self,
        inst: VectorInstruction,
        to: u8,
        first: u8,
        last: EncodedOperand,
        is_long: bool,
    ) {
        let (high, indexed) = (last.register >> 3, u8::from(last.is_indexed));
        let to_high = (!to & 8) << 4;
        let last_byte = (!first & 15) << 3 | u8::from(is_long) << 2 | inst.prefix;
        let (head, length) = match inst.map == M0F && high | indexed == 0 {
            true => ([0xc5, to_high | last_byte, inst.opcode, 0], 3),
            false => {
                let second = to_high | (!indexed & 1) << 6 | (!high & 1) << 5 | inst.map;
                ([0xc4, second, last_byte, inst.opcode], 4)
            }
        };
        self.finish(u64::from(u32::from_le_bytes(head)), length, inst, to, last);
    }

    /// Writes an instruction of vectors by a mask.
    pub(super) fn write_masked(
        &mut self,
        inst: VectorInstruction,
        to: u8,
        first: u8,
        last: EncodedOperand,
        masking: Masking,
    ) {
        // Sixteen elements are the third length.
        let is_broadcast = last.is_word && inst.element == Element::Word;
        let is_pair = u8::from(inst.element == Element::Pair);
        let index = match last.is_indexed {
            true => 1,
            false => last.register >> 4,
        };
        let head = [
            0x62,
            (!to & 8) << 4 | (!index & 1) << 6 | (!last.register & 8) << 2 | (!to & 16) | inst.map,
            is_pair << 7 | (!first & 15) << 3 | 1 << 2 | inst.prefix,
            u8::from(masking.to_zero) << 7
                | 0b10 << 5
                | u8::from(is_broadcast) << 4
                | (!first & 16) >> 1
                | masking.register,
            inst.opcode,
            0,
            0,
            0,
        ];
        self.finish(u64::from_le_bytes(head), 5, inst, to, last);
    }

    /// Writes an instruction after its prefix and opcode, which are `length` bytes.
    fn finish(
        &mut self,
        head: u64,
        length: usize,
        inst: VectorInstruction,
        to: u8,
        last: EncodedOperand,
    ) {
        let (number, immediate_bytes) = match inst.number {
            Some(number) => (u64::from(number) << (8 * last.length), 1),
            None => (0, 0),
        };
        let rest = u128::from(last.bytes | u64::from(to & 7) << 3 | number);
        let bytes = u128::from(head) | rest << (8 * length);
        self.asm
            .push_instruction(bytes, length + last.length + usize::from(immediate_bytes));
        if let Some(label) = last.data {
            let label = self.labels[label as usize];
            self.asm
                .dynamic_reloc(label, 0, 4 + immediate_bytes, 0, DISTANCE);
        }
    }
}
