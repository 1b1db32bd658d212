//! Selects and emits the x86-64 instructions that compute the nodes of a graph.

use super::encoding::{self, Element, VectorInstruction};
use super::{Operand, WHOLE, X64Assembler};
use crate::graph::NodeOp;
use crate::macro_assembler::MacroAssembler;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// The opcode extension of a shift by an immediate, in place of an operand: left, right, and right
/// with the sign.
const LEFT: u8 = 6;
const RIGHT: u8 = 2;
const RIGHT_SIGNED: u8 = 4;

impl<const ELEMENTS: usize> X64Assembler<ELEMENTS> {
    /// Moves an operand to a register, if it is not there.
    pub(super) fn move_to(&mut self, to: u8, operand: Operand) {
        match operand {
            Operand::Register(from) if from == to => {}
            Operand::Mask(mask) => self.mask_to_vector(to, mask),
            Operand::Constant(_) | Operand::Uniform(_) if Self::IS_EVEX => {
                self.write_binary(encoding::BROADCAST, to, operand);
            }
            _ => self.write_binary(encoding::MOVE, to, operand),
        }
    }

    pub(super) fn select(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        if Self::IS_EVEX {
            return self.select_by_mask(to, mask, yes, no);
        }
        let [first, second] = Self::SCRATCH;
        let mask = self.in_register(mask, second);
        let no = self.in_register(no, first);
        self.write_ternary(encoding::BLEND.with_immediate(mask << 4), to, no, yes);
    }

    pub(super) fn permute(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let [first, _] = Self::SCRATCH;
        let index = self.in_register(index, first);
        let table = self.table(table);
        if Self::IS_BATCH {
            self.write_ternary(encoding::PERMUTE, to, index, Operand::Constant(table));
        } else {
            // Tables are padded to a whole vector.
            let table = self.labels[table as usize];
            dynasm!(self.asm
                ; .arch x64
                ; vmovd eax, Rx(index)
                ; and eax, WHOLE as i32 - 1
                ; lea r11, [=>table]
                ; vbroadcastss Rx(to), DWORD [r11 + rax * 4]
            );
        }
    }

    pub(super) fn unary(&mut self, op: NodeOp, number: u32, to: u8, a: Operand) {
        let [first, _] = Self::SCRATCH;
        let by = number as u8;
        let (shift, how) = match op {
            NodeOp::Sqrt => return self.write_binary(encoding::SQRT, to, a),
            NodeOp::RoundEven => return self.write_binary(encoding::ROUND_EVEN, to, a),
            NodeOp::RoundDown => return self.write_binary(encoding::ROUND_DOWN, to, a),
            NodeOp::RoundUp => return self.write_binary(encoding::ROUND_UP, to, a),
            NodeOp::RoundToZero => return self.write_binary(encoding::ROUND_TO_ZERO, to, a),
            NodeOp::Truncate => return self.write_binary(encoding::TRUNCATE, to, a),
            NodeOp::FromI32 => return self.write_binary(encoding::FROM_I32, to, a),
            NodeOp::ShlBy => (encoding::SHIFT.with_immediate(by), LEFT),
            NodeOp::ShrBy => (encoding::SHIFT.with_immediate(by), RIGHT),
            NodeOp::SarBy => (encoding::SHIFT.with_immediate(by), RIGHT_SIGNED),
            NodeOp::ShlWide => (encoding::SHIFT_WIDE.with_immediate(32), LEFT),
            NodeOp::ShrWide => (encoding::SHIFT_WIDE.with_immediate(32), RIGHT),
            NodeOp::UpperHalf => {
                let a = self.in_register(a, first);
                return self.write_ternary(encoding::UPPER, to, a, Operand::Register(a));
            }
            NodeOp::Broadcast if let Operand::Frame(at) = a => {
                return self.write_binary(
                    encoding::BROADCAST,
                    to,
                    Operand::Frame(at + 4 * number as i32),
                );
            }
            NodeOp::Broadcast => {
                let a = self.in_register(a, first);
                // Two bits for each element.
                let each = encoding::SHUFFLE.with_immediate(by * 0b01010101);
                return self.write_ternary(each, to, a, Operand::Register(a));
            }
            _ => unreachable!("the others have no such number of operands"),
        };
        let a = self.in_register(a, first);
        self.write_ternary(shift, how, to, Operand::Register(a));
    }

    pub(super) fn binary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand) {
        let [first, second] = Self::SCRATCH;
        if Self::IS_EVEX && self.binary_of_masks(op, to, a, b) {
            return;
        }
        let is_register = |operand| matches!(operand, Operand::Register(_));
        // a < b is b > a, and the last operand may be in memory.
        let is_swapped = match op {
            NodeOp::ILt => true,
            NodeOp::Lt | NodeOp::Le => !is_register(a) && is_register(b),
            _ => false,
        };
        let inst = match op {
            NodeOp::Add => encoding::ADD,
            NodeOp::Sub => encoding::SUB,
            NodeOp::Mul => encoding::MUL,
            NodeOp::Div => encoding::DIV,
            NodeOp::Min => encoding::MIN,
            NodeOp::Max => encoding::MAX,
            NodeOp::And => encoding::AND,
            NodeOp::Or => encoding::OR,
            NodeOp::Xor => encoding::XOR,
            NodeOp::AndNot => encoding::AND_NOT,
            NodeOp::IAdd => encoding::I_ADD,
            NodeOp::ISub => encoding::I_SUB,
            // With one defined element in each half, products of twice the width take half the
            // time: the elements after it may be anything.
            NodeOp::IMul if !Self::IS_BATCH => encoding::MUL_WIDE,
            NodeOp::IMul | NodeOp::IMulEach => encoding::I_MUL,
            NodeOp::Shl => encoding::SHL,
            NodeOp::Shr => encoding::SHR,
            NodeOp::Sar => encoding::SAR,
            NodeOp::ILt => encoding::I_GT,
            NodeOp::IEq => encoding::I_EQ,
            NodeOp::IMin => encoding::I_MIN,
            NodeOp::IMax => encoding::I_MAX,
            NodeOp::MulWide => encoding::MUL_WIDE,
            NodeOp::Join => encoding::JOIN,
            NodeOp::Duplicate => encoding::SHUFFLE.with_immediate(0),
            NodeOp::Interleave => encoding::INTERLEAVE,
            _ => float_comparison(op, is_swapped)
                .expect("the others have no such number of operands"),
        };
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let a = self.in_register(a, first);
        let b = match (inst.element, b) {
            // A word in memory is no pair.
            (Element::Pair, Operand::Constant(_) | Operand::Uniform(_)) if Self::IS_EVEX => {
                Operand::Register(self.in_register(b, second))
            }
            _ => b,
        };
        self.write_ternary(inst, to, a, b);
    }

    /// ±a·b ± c. The instruction overwrites one of its operands, and may read another one in
    /// memory.
    pub(super) fn product(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = Self::SCRATCH;
        let [swapped, of_product, of_sum] = forms(op);
        let is = |operand: Operand| matches!(operand, Operand::Register(r) if r == to);
        if is(c) {
            // to += a·b
            let (a, b) = if matches!(a, Operand::Register(_)) {
                (a, b)
            } else {
                (b, a)
            };
            let a = self.in_register(a, second);
            self.write_ternary(of_sum, to, a, b);
            return;
        }
        let (a, b) = if is(b) { (b, a) } else { (a, b) };
        if let Operand::Register(c) = c {
            let (a, b) = match (is(a), b) {
                (false, Operand::Register(_)) if !matches!(a, Operand::Register(_)) => (b, a),
                _ => (a, b),
            };
            if !is(b) {
                self.move_to(to, a);
                // to = to·b + c
                self.write_ternary(swapped, to, c, b);
                return;
            }
        }
        // An operand in memory is moved to the register of the result.
        let (a, b) = match (a, b) {
            (_, Operand::Register(_)) => (a, b),
            (Operand::Register(_), _) if !is(a) => (b, a),
            _ => (a, b),
        };
        let b = self.in_register(b, second);
        self.move_to(to, a);
        // to = b·to + c
        self.write_ternary(of_product, to, b, c);
    }
}

/// The comparison of floats by an operation, or of its operands the other way around.
pub(super) fn float_comparison(op: NodeOp, is_swapped: bool) -> Option<VectorInstruction> {
    Some(match op {
        NodeOp::Lt if is_swapped => encoding::GT,
        NodeOp::Le if is_swapped => encoding::GE,
        NodeOp::Lt => encoding::LT,
        NodeOp::Le => encoding::LE,
        NodeOp::Eq => encoding::EQ,
        _ => return None,
    })
}

/// The instructions for a product with a sum: to·b + c, b·to + c, a·b + to.
fn forms(op: NodeOp) -> [VectorInstruction; 3] {
    match op {
        NodeOp::MulAdd => [
            encoding::MUL_ADD_132,
            encoding::MUL_ADD_213,
            encoding::MUL_ADD_231,
        ],
        NodeOp::NegMulAdd => [
            encoding::NEG_MUL_ADD_132,
            encoding::NEG_MUL_ADD_213,
            encoding::NEG_MUL_ADD_231,
        ],
        NodeOp::MulSub => [
            encoding::MUL_SUB_132,
            encoding::MUL_SUB_213,
            encoding::MUL_SUB_231,
        ],
        _ => [
            encoding::NEG_MUL_SUB_132,
            encoding::NEG_MUL_SUB_213,
            encoding::NEG_MUL_SUB_231,
        ],
    }
}
