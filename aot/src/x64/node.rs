//! What computes.

use super::vex::{self, Vex};
use super::{Operand, SCRATCH, Vectors, WHOLE};
use crate::graph::Code;
use crate::machine::Machine;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// What stands in place of an operand where a shift is by a number: left, right, and right with the sign.
const LEFT: u8 = 6;
const RIGHT: u8 = 2;
const RIGHT_SIGNED: u8 = 4;

impl<const LANES: usize> Vectors<LANES> {
    /// Moves an operand to a register, if it is not there.
    pub(super) fn move_to(&mut self, to: u8, operand: Operand) {
        match operand {
            Operand::Register(from) if from == to => {}
            _ => self.of_two(vex::MOVE, to, operand),
        }
    }

    pub(super) fn select(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        let [first, second] = SCRATCH;
        let mask = self.register(mask, second);
        let no = self.register(no, first);
        self.of_three(vex::BLEND.with(mask << 4), to, no, yes);
    }

    pub(super) fn permute(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let [first, _] = SCRATCH;
        let index = self.register(index, first);
        let table = self.table(table);
        if LANES == WHOLE {
            self.of_three(vex::PERMUTE, to, index, Operand::Constant(table));
        } else {
            // Tables are as long as a whole vector.
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

    pub(super) fn unary(&mut self, code: Code, number: u32, to: u8, a: Operand) {
        let [first, _] = SCRATCH;
        let by = number as u8;
        let (shift, how) = match code {
            Code::Sqrt => return self.of_two(vex::SQRT, to, a),
            Code::RoundEven => return self.of_two(vex::ROUND_EVEN, to, a),
            Code::RoundDown => return self.of_two(vex::ROUND_DOWN, to, a),
            Code::RoundUp => return self.of_two(vex::ROUND_UP, to, a),
            Code::RoundToZero => return self.of_two(vex::ROUND_TO_ZERO, to, a),
            Code::Truncate => return self.of_two(vex::TRUNCATE, to, a),
            Code::FromI32 => return self.of_two(vex::FROM_I32, to, a),
            Code::ShlBy => (vex::SHIFT.with(by), LEFT),
            Code::ShrBy => (vex::SHIFT.with(by), RIGHT),
            Code::SarBy => (vex::SHIFT.with(by), RIGHT_SIGNED),
            Code::ShlWide => (vex::SHIFT_WIDE.with(32), LEFT),
            Code::ShrWide => (vex::SHIFT_WIDE.with(32), RIGHT),
            Code::Upper => {
                let a = self.register(a, first);
                return self.of_three(vex::UPPER, to, a, Operand::Register(a));
            }
            Code::Broadcast if let Operand::Frame(at) = a => {
                return self.of_two(vex::BROADCAST, to, Operand::Frame(at + 4 * number as i32));
            }
            Code::Broadcast => {
                let a = self.register(a, first);
                // Two bits for each lane.
                let each = vex::SHUFFLE.with(by * 0b01010101);
                return self.of_three(each, to, a, Operand::Register(a));
            }
            _ => unreachable!("the others have no such number of operands"),
        };
        let a = self.register(a, first);
        self.of_three(shift, how, to, Operand::Register(a));
    }

    pub(super) fn binary(&mut self, code: Code, to: u8, a: Operand, b: Operand) {
        let [first, _] = SCRATCH;
        let is_register = |operand| matches!(operand, Operand::Register(_));
        // a < b is b > a, and the last operand may be in memory.
        let is_turned = match code {
            Code::ILt => true,
            Code::Lt | Code::Le => !is_register(a) && is_register(b),
            _ => false,
        };
        let vex = match code {
            Code::Lt if is_turned => vex::GT,
            Code::Le if is_turned => vex::GE,
            Code::Add => vex::ADD,
            Code::Sub => vex::SUB,
            Code::Mul => vex::MUL,
            Code::Div => vex::DIV,
            Code::Lt => vex::LT,
            Code::Le => vex::LE,
            Code::Eq => vex::EQ,
            Code::Min => vex::MIN,
            Code::Max => vex::MAX,
            Code::And => vex::AND,
            Code::Or => vex::OR,
            Code::Xor => vex::XOR,
            Code::AndNot => vex::AND_NOT,
            Code::IAdd => vex::I_ADD,
            Code::ISub => vex::I_SUB,
            // Where the first lane of each half alone counts, products of twice the width take half the time, and the lanes behind may be anything.
            Code::IMul if LANES != WHOLE => vex::MUL_WIDE,
            Code::IMul | Code::IMulEach => vex::I_MUL,
            Code::Shl => vex::SHL,
            Code::Shr => vex::SHR,
            Code::Sar => vex::SAR,
            Code::ILt => vex::I_GT,
            Code::IEq => vex::I_EQ,
            Code::IMin => vex::I_MIN,
            Code::IMax => vex::I_MAX,
            Code::MulWide => vex::MUL_WIDE,
            Code::Join => vex::JOIN,
            Code::Halves => vex::SHUFFLE.with(0),
            Code::Interleave => vex::INTERLEAVE,
            _ => unreachable!("the others have no such number of operands"),
        };
        let (a, b) = if is_turned { (b, a) } else { (a, b) };
        let a = self.register(a, first);
        self.of_three(vex, to, a, b);
    }

    /// ±a·b ± c. The instruction overwrites one of its operands, and may find another one in memory.
    pub(super) fn product(&mut self, code: Code, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = SCRATCH;
        let [turned, of_product, of_sum] = forms(code);
        let is = |operand: Operand| matches!(operand, Operand::Register(r) if r == to);
        if is(c) {
            // to += a·b
            let (a, b) = if matches!(a, Operand::Register(_)) {
                (a, b)
            } else {
                (b, a)
            };
            let a = self.register(a, second);
            self.of_three(of_sum, to, a, b);
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
                self.of_three(turned, to, c, b);
                return;
            }
        }
        // What is in memory is moved to where the result will be.
        let (a, b) = match (a, b) {
            (_, Operand::Register(_)) => (a, b),
            (Operand::Register(_), _) if !is(a) => (b, a),
            _ => (a, b),
        };
        let b = self.register(b, second);
        self.move_to(to, a);
        // to = b·to + c
        self.of_three(of_product, to, b, c);
    }
}

/// The instructions for a product with a sum: to·b + c, b·to + c, a·b + to.
fn forms(code: Code) -> [Vex; 3] {
    match code {
        Code::MulAdd => [vex::MUL_ADD_132, vex::MUL_ADD_213, vex::MUL_ADD_231],
        Code::NegMulAdd => [
            vex::NEG_MUL_ADD_132,
            vex::NEG_MUL_ADD_213,
            vex::NEG_MUL_ADD_231,
        ],
        Code::MulSub => [vex::MUL_SUB_132, vex::MUL_SUB_213, vex::MUL_SUB_231],
        _ => [
            vex::NEG_MUL_SUB_132,
            vex::NEG_MUL_SUB_213,
            vex::NEG_MUL_SUB_231,
        ],
    }
}
