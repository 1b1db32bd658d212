//! What computes.

use super::{Operand, SCRATCH, Vectors, WHOLE, registers};
use crate::assembler::Assembler;
use crate::graph::Code;
use crate::machine::Machine;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// An instruction on vectors, perhaps with a number, whose last operand is a register or in memory.
macro_rules! last {
    ($self:expr, $operand:expr, $name:ident $($register:expr),* $(; $number:expr)?) => {
        match $operand {
            Operand::Register(r) => registers!($self, $name $($register,)* r $(; $number)?),
            Operand::Frame(at) if LANES == WHOLE => {
                dynasm!($self.asm; .arch x64; $name $(Ry($register),)* [rsp + at] $(, $number)?);
            }
            Operand::Frame(at) => {
                dynasm!($self.asm; .arch x64; $name $(Rx($register),)* [rsp + at] $(, $number)?);
            }
            Operand::Constant(label) if LANES == WHOLE => {
                dynasm!($self.asm; .arch x64; $name $(Ry($register),)* [=>label] $(, $number)?);
            }
            Operand::Constant(label) => {
                dynasm!($self.asm; .arch x64; $name $(Rx($register),)* [=>label] $(, $number)?);
            }
        }
    };
}

/// How `vroundps` rounds: without exceptions.
const EVEN: i8 = 8;
const DOWN: i8 = 9;
const UP: i8 = 10;
const TO_ZERO: i8 = 11;

/// `vpsrlq` by 32, written out: the assembler knows only its form for half a register. VEX.L.66.0F.WIG 73 /2 ib in Intel's manual, volume 2, where L says whether the
/// vector is a whole one.
fn shift_right_wide(asm: &mut Assembler<X64Relocation>, is_whole: bool, to: u8, from: u8) {
    asm.push(0xc4);
    asm.push(0b1100_0001 | u8::from(from < 8) << 5);
    asm.push(0b0000_0001 | u8::from(is_whole) << 2 | (!to & 15) << 3);
    asm.push(0x73);
    asm.push(0b1101_0000 | from & 7);
    asm.push(32);
}

impl<const LANES: usize> Vectors<LANES> {
    /// Moves an operand to a register, if it is not there.
    pub(super) fn move_to(&mut self, to: u8, operand: Operand) {
        match operand {
            Operand::Register(from) if from == to => {}
            _ => last!(self, operand, vmovups to),
        }
    }

    pub(super) fn select(&mut self, to: u8, mask: Operand, yes: Operand, no: Operand) {
        let [first, second] = SCRATCH;
        let mask = self.register(mask, second);
        let no = self.register(no, first);
        match yes {
            Operand::Register(yes) => registers!(self, vblendvps to, no, yes, mask),
            Operand::Frame(at) if LANES == WHOLE => {
                dynasm!(self.asm; .arch x64; vblendvps Ry(to), Ry(no), [rsp + at], Ry(mask));
            }
            Operand::Frame(at) => {
                dynasm!(self.asm; .arch x64; vblendvps Rx(to), Rx(no), [rsp + at], Rx(mask));
            }
            Operand::Constant(label) if LANES == WHOLE => {
                dynasm!(self.asm; .arch x64; vblendvps Ry(to), Ry(no), [=>label], Ry(mask));
            }
            Operand::Constant(label) => {
                dynasm!(self.asm; .arch x64; vblendvps Rx(to), Rx(no), [=>label], Rx(mask));
            }
        }
    }

    pub(super) fn permute(&mut self, table: &'static [u32], to: u8, index: Operand) {
        let [first, _] = SCRATCH;
        let index = self.register(index, first);
        let table = self.table(table);
        if LANES == WHOLE {
            dynasm!(self.asm; .arch x64; vpermd Ry(to), Ry(index), [=>table]);
        } else {
            // Tables are as long as a whole vector.
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
        match code {
            Code::Sqrt => last!(self, a, vsqrtps to),
            Code::RoundEven => last!(self, a, vroundps to; EVEN),
            Code::RoundDown => last!(self, a, vroundps to; DOWN),
            Code::RoundUp => last!(self, a, vroundps to; UP),
            Code::RoundToZero => last!(self, a, vroundps to; TO_ZERO),
            Code::Truncate => last!(self, a, vcvttps2dq to),
            Code::FromI32 => last!(self, a, vcvtdq2ps to),
            code => {
                let a = self.register(a, first);
                let by = number as i8;
                match code {
                    Code::ShlBy => registers!(self, vpslld to, a; by),
                    Code::ShrBy => registers!(self, vpsrld to, a; by),
                    Code::SarBy => registers!(self, vpsrad to, a; by),
                    Code::ShrWide => shift_right_wide(&mut self.asm, LANES == WHOLE, to, a),
                    Code::ShlWide => registers!(self, vpsllq to, a; 32),
                    _ => unreachable!("the others have no such number of operands"),
                }
            }
        }
    }

    pub(super) fn binary(&mut self, code: Code, to: u8, a: Operand, b: Operand) {
        let [first, _] = SCRATCH;
        if code == Code::ILt {
            // a < b is b > a.
            let b = self.register(b, first);
            last!(self, a, vpcmpgtd to, b);
            return;
        }
        let a = self.register(a, first);
        macro_rules! codes {
            ($($code:ident => $name:ident;)*) => {
                match code {
                    $(Code::$code => last!(self, b, $name to, a),)*
                    _ => unreachable!("the others have no such number of operands"),
                }
            };
        }
        codes! {
            Add => vaddps;
            Sub => vsubps;
            Mul => vmulps;
            Div => vdivps;
            Lt => vcmplt_oqps;
            Le => vcmple_oqps;
            Eq => vcmpeqps;
            Min => vminps;
            Max => vmaxps;
            And => vandps;
            Or => vorps;
            Xor => vxorps;
            AndNot => vandnps;
            IAdd => vpaddd;
            ISub => vpsubd;
            IMul => vpmulld;
            Shl => vpsllvd;
            Shr => vpsrlvd;
            Sar => vpsravd;
            IEq => vpcmpeqd;
            IMin => vpminsd;
            IMax => vpmaxsd;
            MulWide => vpmuludq;
        }
    }

    /// ±a·b ± c. The instruction overwrites one of its operands, and may find another one in memory.
    pub(super) fn product(&mut self, code: Code, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = SCRATCH;
        let is = |operand: Operand| matches!(operand, Operand::Register(r) if r == to);
        macro_rules! forms {
            ($of_sum:ident $of_product:ident $turned:ident) => {{
                if is(c) {
                    // to += a·b
                    let (a, b) = if matches!(a, Operand::Register(_)) { (a, b) } else { (b, a) };
                    let a = self.register(a, second);
                    last!(self, b, $of_sum to, a);
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
                        last!(self, b, $turned to, c);
                        return;
                    }
                }
                let b = self.register(b, second);
                self.move_to(to, a);
                // to = b·to + c
                last!(self, c, $of_product to, b);
            }};
        }
        match code {
            Code::MulAdd => forms!(vfmadd231ps vfmadd213ps vfmadd132ps),
            Code::NegMulAdd => forms!(vfnmadd231ps vfnmadd213ps vfnmadd132ps),
            Code::MulSub => forms!(vfmsub231ps vfmsub213ps vfmsub132ps),
            _ => forms!(vfnmsub231ps vfnmsub213ps vfnmsub132ps),
        }
    }
}
