//! The mask registers of AVX-512, which have a bit for each element.
//!
//! `k0` and `k1` are scratch registers, the others hold values. A mask may be inverted in its
//! register: what is 0 where a comparison holds is then a move with zeros, which has no inverted
//! form.

use super::encoding::{self, EncodedOperand, Masking};
use super::instructions::float_comparison;
use super::{Operand, SCRATCH_MASKS, X64Assembler};
use crate::graph::{ALL_ONES, NodeOp};
use crate::macro_assembler::{MacroAssembler, MaskRegister};

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Loads a mask register from the frame.
    pub(super) fn load_mask(&mut self, to: u8, at: i32) {
        let from = EncodedOperand::in_frame(at, 1);
        self.write_vex(encoding::MASK_LOAD, to, 0, from, false);
    }

    /// Stores a mask register in the frame.
    pub(super) fn store_mask(&mut self, at: i32, register: u8) {
        let to = EncodedOperand::in_frame(at, 1);
        self.write_vex(encoding::MASK_STORE, register, 0, to, false);
    }

    /// The mask register of an operand: its own, or a scratch register.
    fn in_mask(&mut self, mask: Operand, scratch: u8) -> MaskRegister {
        match mask {
            Operand::Mask(register) => register,
            vector => {
                let vector = self.in_register(vector, Self::SCRATCH[1]);
                let from = Operand::Register(vector);
                self.write_binary(encoding::VECTOR_TO_MASK, scratch, from);
                MaskRegister {
                    number: scratch,
                    is_inverted: false,
                }
            }
        }
    }

    /// The number of a mask register that is inverted or is not, as asked for.
    fn mask_as(&mut self, mask: Operand, is_inverted: bool, scratch: u8) -> u8 {
        let found = self.in_mask(mask, scratch);
        if found.is_inverted == is_inverted {
            return found.number;
        }
        let from = EncodedOperand::in_register(found.number);
        self.write_vex(encoding::MASK_NOT, scratch, 0, from, false);
        scratch
    }

    /// Writes a mask to a vector register. `vpmovm2d` would wait for what the register held before,
    /// on Golden Cove.
    pub(super) fn mask_to_vector(&mut self, to: u8, mask: MaskRegister) {
        let ones = Operand::Constant(self.constant(ALL_ONES));
        self.keep_by_mask(to, Operand::Mask(mask), true, ones);
    }

    /// Sets the flags by a mask: zero if no element is set, carry if all are; those of the inverse,
    /// if that is what the register has. Returns whether it is.
    pub(super) fn test_mask(&mut self, mask: Operand) -> bool {
        let mask = self.in_mask(mask, SCRATCH_MASKS[1]);
        let operand = EncodedOperand::in_register(mask.number);
        self.write_vex(encoding::MASK_TEST, mask.number, 0, operand, false);
        mask.is_inverted
    }

    /// Selects by a mask register.
    pub(super) fn select_by_mask(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        let [first, _] = Self::SCRATCH;
        let mask = self.in_mask(mask, SCRATCH_MASKS[1]);
        let (yes, no) = if mask.is_inverted {
            (no, yes)
        } else {
            (yes, no)
        };
        let no = self.in_register(no, first);
        let yes = self.encoded(yes);
        let masking = Masking {
            register: mask.number,
            to_zero: false,
        };
        self.write_masked(encoding::BLEND_BY_MASK, to, no, yes, masking);
    }

    /// Computes a vector from masks: the result of a comparison, or what mask registers keep.
    /// Returns whether it did.
    pub(super) fn binary_of_masks(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand) -> bool {
        let is_mask = |operand| matches!(operand, Operand::Mask(_));
        match op {
            NodeOp::And if is_mask(a) && !is_mask(b) => self.keep_by_mask(to, a, true, b),
            NodeOp::And if is_mask(b) && !is_mask(a) => self.keep_by_mask(to, b, true, a),
            NodeOp::AndNot if is_mask(a) && !is_mask(b) => self.keep_by_mask(to, a, false, b),
            _ if op.is_comparison() || is_mask(a) || is_mask(b) => {
                let mask = MaskRegister {
                    number: SCRATCH_MASKS[1],
                    is_inverted: false,
                };
                self.mask_of(op, mask, a, b);
                self.mask_to_vector(to, mask);
            }
            _ => return false,
        }
        true
    }

    /// Moves an operand where a mask is set, or where it is not, and 0 elsewhere.
    fn keep_by_mask(&mut self, to: u8, mask: Operand, is_set: bool, from: Operand) {
        let register = self.mask_as(mask, !is_set, SCRATCH_MASKS[1]);
        let inst = match from {
            Operand::Constant(_) | Operand::Uniform(_) => encoding::BROADCAST,
            _ => encoding::MOVE,
        };
        let from = self.encoded(from);
        let masking = Masking {
            register,
            to_zero: true,
        };
        self.write_masked(inst, to, 0, from, masking);
    }

    /// Computes a mask from two operands.
    pub(super) fn mask_of(&mut self, op: NodeOp, to: MaskRegister, a: Operand, b: Operand) {
        let [first, _] = Self::SCRATCH;
        // The last operand may be in memory.
        let is_register = |operand| matches!(operand, Operand::Register(_));
        let is_swapped = !is_register(a) && is_register(b);
        let inst = match op {
            NodeOp::ILt if is_swapped => encoding::MASK_I_GT,
            NodeOp::ILt => encoding::MASK_I_LT,
            NodeOp::IEq => encoding::MASK_I_EQ,
            _ => match float_comparison(op, is_swapped) {
                Some(inst) => inst,
                None => return self.combine_masks(op, to, a, b),
            },
        };
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let a = self.in_register(a, first);
        let inst = if to.is_inverted { inst.inverse() } else { inst };
        self.write_ternary(inst, to.number, a, b);
    }

    fn combine_masks(&mut self, op: NodeOp, to: MaskRegister, a: Operand, b: Operand) {
        assert!(!to.is_inverted, "comparisons alone are");
        let inst = match op {
            NodeOp::And => encoding::MASK_AND,
            NodeOp::Or => encoding::MASK_OR,
            NodeOp::Xor => encoding::MASK_XOR,
            NodeOp::AndNot => encoding::MASK_AND_NOT,
            _ => unreachable!("no other operation has masks alone"),
        };
        let a = self.mask_as(a, false, SCRATCH_MASKS[0]);
        let b = self.mask_as(b, false, SCRATCH_MASKS[1]);
        self.write_vex(inst, to.number, a, EncodedOperand::in_register(b), true);
    }
}
