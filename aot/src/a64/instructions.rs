//! Selects and emits the aarch64 NEON instructions that compute the nodes of a graph.
//!
//! Instructions read all operands before they write their result, but for `bsl`, `bit`, `bif`,
//! `fmla` and `fmls`, which read the register that they overwrite. Which of these is emitted
//! depends on the register of the result; where none fits, the result goes through a scratch
//! register.

use super::{A64Assembler, Operand, SCRATCH, THIRD};
use crate::graph::NodeOp;
use crate::macro_assembler::MacroAssembler;
use dynasmrt::{DynasmApi, dynasm};

impl A64Assembler {
    pub(super) fn copy(&mut self, to: u8, from: u8) {
        if to != from {
            dynasm!(self.asm; .arch aarch64; mov V(to).B16, V(from).B16);
        }
    }

    pub(super) fn unary(&mut self, op: NodeOp, number: u32, to: u8, a: u8) {
        let asm = &mut self.asm;
        match op {
            NodeOp::Sqrt => dynasm!(asm; .arch aarch64; fsqrt V(to).S4, V(a).S4),
            NodeOp::RoundEven => dynasm!(asm; .arch aarch64; frintn V(to).S4, V(a).S4),
            NodeOp::RoundDown => dynasm!(asm; .arch aarch64; frintm V(to).S4, V(a).S4),
            NodeOp::RoundUp => dynasm!(asm; .arch aarch64; frintp V(to).S4, V(a).S4),
            NodeOp::RoundToZero => dynasm!(asm; .arch aarch64; frintz V(to).S4, V(a).S4),
            NodeOp::ToI32 => dynasm!(asm; .arch aarch64; fcvtzs V(to).S4, V(a).S4),
            NodeOp::ToU32 => dynasm!(asm; .arch aarch64; fcvtzu V(to).S4, V(a).S4),
            NodeOp::FromI32 => dynasm!(asm; .arch aarch64; scvtf V(to).S4, V(a).S4),
            NodeOp::ShlBy => dynasm!(asm; .arch aarch64; shl V(to).S4, V(a).S4, number),
            NodeOp::ShrBy => dynasm!(asm; .arch aarch64; ushr V(to).S4, V(a).S4, number),
            NodeOp::SarBy => dynasm!(asm; .arch aarch64; sshr V(to).S4, V(a).S4, number),
            NodeOp::ShrWide => dynasm!(asm; .arch aarch64; ushr V(to).D2, V(a).D2, 32),
            NodeOp::UpperHalf => {
                dynasm!(asm; .arch aarch64; zip2 V(to).D2, V(a).D2, V(a).D2);
            }
            NodeOp::Broadcast => dynasm!(asm; .arch aarch64; dup V(to).S4, V(a).S[number]),
            NodeOp::ShlWide => dynasm!(asm; .arch aarch64; shl V(to).D2, V(a).D2, 32),
            _ => unreachable!(
                "the others have no such number of operands, or are for other machines"
            ),
        }
    }

    pub(super) fn binary(&mut self, op: NodeOp, to: u8, a: u8, b: u8) {
        macro_rules! codes {
            ($($op:ident => $name:ident $a:ident $b:ident $shape:ident;)*) => {
                match op {
                    $(NodeOp::$op => {
                        dynasm!(self.asm; .arch aarch64; $name V(to).$shape, V($a).$shape, V($b).$shape);
                    })*
                    NodeOp::Min => self.lesser(to, a, b, [b, a]),
                    NodeOp::Max => self.lesser(to, a, b, [a, b]),
                    NodeOp::Shr => {
                        // A left shift by a negative count.
                        dynasm!(self.asm
                            ; .arch aarch64
                            ; neg V(THIRD).S4, V(b).S4
                            ; ushl V(to).S4, V(a).S4, V(THIRD).S4
                        );
                    }
                    NodeOp::Sar => {
                        dynasm!(self.asm
                            ; .arch aarch64
                            ; neg V(THIRD).S4, V(b).S4
                            ; sshl V(to).S4, V(a).S4, V(THIRD).S4
                        );
                    }
                    NodeOp::MulWide => {
                        // The even elements side by side.
                        let [even, _] = SCRATCH;
                        dynasm!(self.asm
                            ; .arch aarch64
                            ; xtn V(THIRD).S2, V(b).D2
                            ; xtn V(even).S2, V(a).D2
                            ; umull V(to).D2, V(even).S2, V(THIRD).S2
                        );
                    }
                    _ => unreachable!("the others have no such number of operands"),
                }
            };
        }
        codes! {
            Add => fadd a b S4;
            Sub => fsub a b S4;
            Mul => fmul a b S4;
            Join => zip1 a b D2;
            Duplicate => zip1 a b D2;
            Interleave => zip1 a b S4;
            Div => fdiv a b S4;
            Lt => fcmgt b a S4;
            Le => fcmge b a S4;
            Eq => fcmeq a b S4;
            And => and a b B16;
            Or => orr a b B16;
            Xor => eor a b B16;
            AndNot => bic b a B16;
            IAdd => add a b S4;
            ISub => sub a b S4;
            IMul => mul a b S4;
            IMulEach => mul a b S4;
            Shl => ushl a b S4;
            ILt => cmgt b a S4;
            IEq => cmeq a b S4;
            IMin => smin a b S4;
            IMax => smax a b S4;
        }
    }

    /// `a` where the first number is greater than the second one, else `b`, as the graph defines
    /// it: `fmin` and `fmax` have other rules for NaN and zeros.
    fn lesser(&mut self, to: u8, a: u8, b: u8, [more, less]: [u8; 2]) {
        dynasm!(self.asm; .arch aarch64; fcmgt V(THIRD).S4, V(more).S4, V(less).S4);
        self.choose(to, THIRD, a, b);
    }

    /// `yes` where the mask is set, else `no`; the mask may be overwritten.
    fn choose(&mut self, to: u8, mask: u8, yes: u8, no: u8) {
        if to == no {
            dynasm!(self.asm; .arch aarch64; bit V(to).B16, V(yes).B16, V(mask).B16);
        } else if to == yes {
            dynasm!(self.asm; .arch aarch64; bif V(to).B16, V(no).B16, V(mask).B16);
        } else {
            self.copy(to, mask);
            dynasm!(self.asm; .arch aarch64; bsl V(to).B16, V(yes).B16, V(no).B16);
        }
    }

    pub(super) fn select(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        let [first, second] = SCRATCH;
        let yes = self.in_register(yes, first);
        let no = self.in_register(no, second);
        let mask = self.in_register(mask, THIRD);
        self.choose(to, mask, yes, no);
    }

    /// ±a·b ± c. The instruction accumulates into the register that it overwrites.
    pub(super) fn product(&mut self, op: NodeOp, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = SCRATCH;
        let is = |operand: Operand| matches!(operand, Operand::Register(r) if r == to);
        // A scratch register for operands in memory: they may be in the register of the result.
        let sum = if is(a) || is(b) { SCRATCH[0] } else { to };
        match op {
            NodeOp::MulAdd | NodeOp::NegMulAdd => self.load(sum, c),
            _ => {
                let c = self.in_register(c, sum);
                dynasm!(self.asm; .arch aarch64; fneg V(sum).S4, V(c).S4);
            }
        }
        let a = self.in_register(a, second);
        let b = self.in_register(b, THIRD);
        match op {
            NodeOp::MulAdd | NodeOp::MulSub => {
                dynasm!(self.asm; .arch aarch64; fmla V(sum).S4, V(a).S4, V(b).S4);
            }
            _ => dynasm!(self.asm; .arch aarch64; fmls V(sum).S4, V(a).S4, V(b).S4),
        }
        self.copy(to, sum);
    }

    /// Looks up the words of a table, one SIMD element at a time.
    pub(super) fn gather(&mut self, table: u32, to: u8, index: u8) {
        self.pool_address(table);
        for element in 0..4 {
            dynasm!(self.asm
                ; .arch aarch64
                ; umov w16, V(index).S[element]
                ; ldr w16, [x17, x16, lsl 2]
                ; ins V(THIRD).S[element], w16
            );
        }
        self.copy(to, THIRD);
    }
}
