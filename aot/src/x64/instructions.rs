//! Selects and emits the x86-64 instructions that compute the nodes of a graph.

use super::vex::{self, VexInstruction};
use super::{Operand, SCRATCH, WHOLE, X64Assembler};
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
            _ => self.vex_binary(vex::MOVE, to, operand),
        }
    }

    pub(super) fn select(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        let [first, second] = SCRATCH;
        let mask = self.in_register(mask, second);
        let no = self.in_register(no, first);
        self.vex_ternary(vex::BLEND.with_immediate(mask << 4), to, no, yes);
    }

    pub(super) fn permute(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let [first, _] = SCRATCH;
        let index = self.in_register(index, first);
        let table = self.table(table);
        if ELEMENTS == WHOLE {
            self.vex_ternary(vex::PERMUTE, to, index, Operand::Constant(table));
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
        let [first, _] = SCRATCH;
        let by = number as u8;
        let (shift, how) = match op {
            NodeOp::Sqrt => return self.vex_binary(vex::SQRT, to, a),
            NodeOp::RoundEven => return self.vex_binary(vex::ROUND_EVEN, to, a),
            NodeOp::RoundDown => return self.vex_binary(vex::ROUND_DOWN, to, a),
            NodeOp::RoundUp => return self.vex_binary(vex::ROUND_UP, to, a),
            NodeOp::RoundToZero => return self.vex_binary(vex::ROUND_TO_ZERO, to, a),
            NodeOp::Truncate => return self.vex_binary(vex::TRUNCATE, to, a),
            NodeOp::FromI32 => return self.vex_binary(vex::FROM_I32, to, a),
            NodeOp::ShlBy => (vex::SHIFT.with_immediate(by), LEFT),
            NodeOp::ShrBy => (vex::SHIFT.with_immediate(by), RIGHT),
            NodeOp::SarBy => (vex::SHIFT.with_immediate(by), RIGHT_SIGNED),
            NodeOp::ShlWide => (vex::SHIFT_WIDE.with_immediate(32), LEFT),
            NodeOp::ShrWide => (vex::SHIFT_WIDE.with_immediate(32), RIGHT),
            NodeOp::UpperHalf => {
                let a = self.in_register(a, first);
                return self.vex_ternary(vex::UPPER, to, a, Operand::Register(a));
            }
            NodeOp::Broadcast if let Operand::Frame(at) = a => {
                return self.vex_binary(vex::BROADCAST, to, Operand::Frame(at + 4 * number as i32));
            }
            NodeOp::Broadcast => {
                let a = self.in_register(a, first);
                // Two bits for each element.
                let each = vex::SHUFFLE.with_immediate(by * 0b01010101);
                return self.vex_ternary(each, to, a, Operand::Register(a));
            }
            _ => unreachable!("the others have no such number of operands"),
        };
        let a = self.in_register(a, first);
        self.vex_ternary(shift, how, to, Operand::Register(a));
    }

    pub(super) fn binary(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand) {
        let [first, _] = SCRATCH;
        let is_register = |operand| matches!(operand, Operand::Register(_));
        // a < b is b > a, and the last operand may be in memory.
        let is_swapped = match op {
            NodeOp::ILt => true,
            NodeOp::Lt | NodeOp::Le => !is_register(a) && is_register(b),
            _ => false,
        };
        let vex = match op {
            NodeOp::Lt if is_swapped => vex::GT,
            NodeOp::Le if is_swapped => vex::GE,
            NodeOp::Add => vex::ADD,
            NodeOp::Sub => vex::SUB,
            NodeOp::Mul => vex::MUL,
            NodeOp::Div => vex::DIV,
            NodeOp::Lt => vex::LT,
            NodeOp::Le => vex::LE,
            NodeOp::Eq => vex::EQ,
            NodeOp::Min => vex::MIN,
            NodeOp::Max => vex::MAX,
            NodeOp::And => vex::AND,
            NodeOp::Or => vex::OR,
            NodeOp::Xor => vex::XOR,
            NodeOp::AndNot => vex::AND_NOT,
            NodeOp::IAdd => vex::I_ADD,
            NodeOp::ISub => vex::I_SUB,
            // With one defined element in each half, products of twice the width take half the
            // time: the elements after it may be anything.
            NodeOp::IMul if ELEMENTS != WHOLE => vex::MUL_WIDE,
            NodeOp::IMul | NodeOp::IMulEach => vex::I_MUL,
            NodeOp::Shl => vex::SHL,
            NodeOp::Shr => vex::SHR,
            NodeOp::Sar => vex::SAR,
            NodeOp::ILt => vex::I_GT,
            NodeOp::IEq => vex::I_EQ,
            NodeOp::IMin => vex::I_MIN,
            NodeOp::IMax => vex::I_MAX,
            NodeOp::MulWide => vex::MUL_WIDE,
            NodeOp::Join => vex::JOIN,
            NodeOp::Duplicate => vex::SHUFFLE.with_immediate(0),
            NodeOp::Interleave => vex::INTERLEAVE,
            _ => unreachable!("the others have no such number of operands"),
        };
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let a = self.in_register(a, first);
        self.vex_ternary(vex, to, a, b);
    }

    /// ±a·b ± c. The instruction overwrites one of its operands, and may read another one in
    /// memory.
    pub(super) fn product(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = SCRATCH;
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
            self.vex_ternary(of_sum, to, a, b);
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
                self.vex_ternary(swapped, to, c, b);
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
        self.vex_ternary(of_product, to, b, c);
    }
}

/// The instructions for a product with a sum: to·b + c, b·to + c, a·b + to.
fn forms(op: NodeOp) -> [VexInstruction; 3] {
    match op {
        NodeOp::MulAdd => [vex::MUL_ADD_132, vex::MUL_ADD_213, vex::MUL_ADD_231],
        NodeOp::NegMulAdd => [
            vex::NEG_MUL_ADD_132,
            vex::NEG_MUL_ADD_213,
            vex::NEG_MUL_ADD_231,
        ],
        NodeOp::MulSub => [vex::MUL_SUB_132, vex::MUL_SUB_213, vex::MUL_SUB_231],
        _ => [
            vex::NEG_MUL_SUB_132,
            vex::NEG_MUL_SUB_213,
            vex::NEG_MUL_SUB_231,
        ],
    }
}
