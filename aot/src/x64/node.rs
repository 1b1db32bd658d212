//! One node for one vector.

use super::{Body, Detour, Emitter, Operand, SCRATCH, VECTOR};
use crate::allocate::Place;
use crate::graph::{CallOut, Code, Id, Node};
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

/// An instruction on vectors whose last operand is a register or in memory.
macro_rules! last {
    ($asm:expr, $operand:expr, $name:ident $($register:expr),*) => {
        match $operand {
            Operand::Register(r) => dynasm!($asm; .arch x64; $name $(Ry($register),)* Ry(r)),
            Operand::Frame(at) => dynasm!($asm; .arch x64; $name $(Ry($register),)* [rsp + at]),
            Operand::Pool(label) => dynasm!($asm; .arch x64; $name $(Ry($register),)* [=>label]),
        }
    };
    ($asm:expr, $operand:expr, $name:ident $($register:expr),*; $number:expr) => {
        match $operand {
            Operand::Register(r) => dynasm!($asm; .arch x64; $name $(Ry($register),)* Ry(r), $number),
            Operand::Frame(at) => dynasm!($asm; .arch x64; $name $(Ry($register),)* [rsp + at], $number),
            Operand::Pool(label) => dynasm!($asm; .arch x64; $name $(Ry($register),)* [=>label], $number),
        }
    };
}

/// How `vroundps` rounds: without exceptions.
const EVEN: i8 = 8;
const DOWN: i8 = 9;
const UP: i8 = 10;
const TO_ZERO: i8 = 11;

/// `vpsrlq` by 32, written out: the assembler knows only its form for half a register. VEX.256.66.0F.WIG 73 /2 ib in Intel's manual, volume 2.
fn shift_right_wide(asm: &mut VecAssembler<X64Relocation>, to: u8, from: u8) {
    asm.push(0xc4);
    asm.push(0b1100_0001 | u8::from(from < 8) << 5);
    asm.push(0b0000_0101 | (!to & 15) << 3);
    asm.push(0x73);
    asm.push(0b1101_0000 | from & 7);
    asm.push(32);
}

impl Emitter {
    /// Where a node's value is.
    pub(super) fn operand(&mut self, body: &Body<'_>, id: Id, vector: usize) -> Operand {
        let node = body.graph.node(id);
        match node.code {
            Code::Const => Operand::Pool(self.constant(node.a)),
            Code::Cell => Operand::Frame(body.cells[&node.a]),
            Code::Param => Operand::Frame(body.params + node.a as i32 * VECTOR),
            _ => match body.places.at(id, vector) {
                Place::Register(register) => Operand::Register(register),
                Place::Slot(slot) => Operand::Frame(body.slots + slot as i32 * VECTOR),
                Place::Nowhere => unreachable!("an operand has a place"),
            },
        }
    }

    /// The operand in a register: this one, if it is in none.
    pub(super) fn register(&mut self, operand: Operand, scratch: u8) -> u8 {
        match operand {
            Operand::Register(register) => register,
            _ => {
                last!(self.asm, operand, vmovups scratch);
                scratch
            }
        }
    }

    /// Moves an operand to a register.
    pub(super) fn load(&mut self, to: u8, operand: Operand) {
        match operand {
            Operand::Register(from) if from == to => {}
            _ => last!(self.asm, operand, vmovups to),
        }
    }

    pub(super) fn store(&mut self, at: i32, register: u8) {
        dynasm!(self.asm; .arch x64; vmovups [rsp + at], Ry(register));
    }

    /// Computes a node and puts it in its place.
    pub(super) fn node(&mut self, body: &mut Body<'_>, id: Id, vector: usize) {
        let node = body.graph.node(id);
        if node.code.is_fixed() {
            return;
        }
        let [first, second] = SCRATCH;
        let place = body.places.at(id, vector);
        let to = match place {
            Place::Register(register) => register,
            _ => first,
        };
        match node.code {
            Code::Plane => self.plane(to, node, vector),
            Code::Rare => self.rare(body, id, to, vector),
            Code::CallOut => self.call_out(body, node, to, vector),
            _ => match node.code.operands() {
                1 => self.one(body, node, to, vector),
                2 => {
                    let mut a = self.operand(body, node.a, vector);
                    let mut b = self.operand(body, node.b, vector);
                    let is_turned = matches!(b, Operand::Register(_)) && node.code.commutes();
                    if !matches!(a, Operand::Register(_)) && is_turned {
                        (a, b) = (b, a);
                    }
                    self.two(node.code, to, a, b);
                }
                _ => {
                    let a = self.operand(body, node.a, vector);
                    let b = self.operand(body, node.b, vector);
                    let c = self.operand(body, node.c, vector);
                    match node.code {
                        Code::Select => {
                            let mask = self.register(a, second);
                            let no = self.register(c, first);
                            match b {
                                Operand::Register(yes) => {
                                    dynasm!(self.asm; .arch x64; vblendvps Ry(to), Ry(no), Ry(yes), Ry(mask));
                                }
                                Operand::Frame(at) => {
                                    dynasm!(self.asm; .arch x64; vblendvps Ry(to), Ry(no), [rsp + at], Ry(mask));
                                }
                                Operand::Pool(label) => {
                                    dynasm!(self.asm; .arch x64; vblendvps Ry(to), Ry(no), [=>label], Ry(mask));
                                }
                            }
                        }
                        code => self.product(code, to, a, b, c),
                    }
                }
            },
        }
        if let Place::Slot(slot) = place {
            self.store(body.slots + slot as i32 * VECTOR, to);
        }
    }

    fn one(&mut self, body: &Body<'_>, node: Node, to: u8, vector: usize) {
        let a = self.operand(body, node.a, vector);
        let [first, _] = SCRATCH;
        match node.code {
            Code::Sqrt => last!(self.asm, a, vsqrtps to),
            Code::RoundEven => last!(self.asm, a, vroundps to; EVEN),
            Code::RoundDown => last!(self.asm, a, vroundps to; DOWN),
            Code::RoundUp => last!(self.asm, a, vroundps to; UP),
            Code::RoundToZero => last!(self.asm, a, vroundps to; TO_ZERO),
            Code::Truncate => last!(self.asm, a, vcvttps2dq to),
            Code::FromI32 => last!(self.asm, a, vcvtdq2ps to),
            Code::Lookup => {
                let index = self.register(a, first);
                let table = body.graph.tables[node.b as usize];
                let label = self.table(table);
                last!(self.asm, Operand::Pool(label), vpermd to, index);
            }
            code => {
                let a = self.register(a, first);
                let by = node.b as i8;
                let asm = &mut self.asm;
                match code {
                    Code::ShlBy => dynasm!(asm; .arch x64; vpslld Ry(to), Ry(a), by),
                    Code::ShrBy => dynasm!(asm; .arch x64; vpsrld Ry(to), Ry(a), by),
                    Code::SarBy => dynasm!(asm; .arch x64; vpsrad Ry(to), Ry(a), by),
                    Code::ShrWide => shift_right_wide(asm, to, a),
                    Code::ShlWide => dynasm!(asm; .arch x64; vpsllq Ry(to), Ry(a), 32),
                    _ => unreachable!("the others have no such number of operands"),
                }
            }
        }
    }

    fn two(&mut self, code: Code, to: u8, a: Operand, b: Operand) {
        let [first, _] = SCRATCH;
        if code == Code::ILt {
            // a < b is b > a.
            let b = self.register(b, first);
            last!(self.asm, a, vpcmpgtd to, b);
            return;
        }
        let a = self.register(a, first);
        macro_rules! codes {
            ($($code:ident => $name:ident;)*) => {
                match code {
                    $(Code::$code => last!(self.asm, b, $name to, a),)*
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
    fn product(&mut self, code: Code, to: u8, a: Operand, b: Operand, c: Operand) {
        let [_, second] = SCRATCH;
        let is = |operand: Operand| matches!(operand, Operand::Register(r) if r == to);
        macro_rules! forms {
            ($of_sum:ident $of_product:ident $turned:ident) => {{
                if is(c) {
                    // to += a·b
                    let (a, b) = if matches!(a, Operand::Register(_)) { (a, b) } else { (b, a) };
                    let a = self.register(a, second);
                    last!(self.asm, b, $of_sum to, a);
                    return;
                }
                let (a, b) = if is(b) { (b, a) } else { (a, b) };
                if let Operand::Register(c) = c {
                    let (a, b) = match (is(a), b) {
                        (false, Operand::Register(_)) if !matches!(a, Operand::Register(_)) => (b, a),
                        _ => (a, b),
                    };
                    if !is(b) {
                        self.load(to, a);
                        // to = to·b + c
                        last!(self.asm, b, $turned to, c);
                        return;
                    }
                }
                let b = self.register(b, second);
                self.load(to, a);
                // to = b·to + c
                last!(self.asm, c, $of_product to, b);
            }};
        }
        match code {
            Code::MulAdd => forms!(vfmadd231ps vfmadd213ps vfmadd132ps),
            Code::NegMulAdd => forms!(vfnmadd231ps vfnmadd213ps vfnmadd132ps),
            Code::MulSub => forms!(vfmsub231ps vfmsub213ps vfmsub132ps),
            _ => forms!(vfnmsub231ps vfnmsub213ps vfnmsub132ps),
        }
    }

    fn plane(&mut self, to: u8, node: Node, vector: usize) {
        let at = vector as i32 * VECTOR;
        if vector == 0 {
            self.reference(node.a);
        }
        dynasm!(self.asm; .arch x64; vmovups Ry(to), [rax + r8 + at]);
    }

    /// `rax` becomes the address of a word's plane or cell.
    pub(super) fn reference(&mut self, word: u32) {
        let at = word as i32 * size_of::<adumbra_vm::native::Ref>() as i32;
        dynasm!(self.asm; .arch x64; mov rax, [rdi + at]);
    }

    /// The usual result, and a way out of line where any lane needs another.
    fn rare(&mut self, body: &mut Body<'_>, id: Id, to: u8, vector: usize) {
        let node = body.graph.node(id);
        let fast = self.operand(body, node.b, vector);
        self.load(to, fast);
        let mask = self.operand(body, node.a, vector);
        let mask = self.register(mask, SCRATCH[1]);
        let (begin, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        dynasm!(self.asm
            ; .arch x64
            ; vptest Ry(mask), Ry(mask)
            ; jnz =>begin
            ; =>back
        );
        body.detours.push(Detour {
            node: id,
            vector,
            begin,
            back,
        });
    }

    /// The ways out of line.
    pub(super) fn detours(&mut self, body: &mut Body<'_>) {
        let [first, second] = SCRATCH;
        for detour in std::mem::take(&mut body.detours) {
            let Detour {
                node,
                vector,
                begin,
                back,
            } = detour;
            dynasm!(self.asm; .arch x64; =>begin);
            let place = body.places.at(node, vector);
            let node = body.graph.node(node);
            // What is put into the frame ruins the register that the result may be on its way in.
            if place != Place::Register(first) && !matches!(place, Place::Register(_)) {
                let Place::Slot(slot) = place else {
                    unreachable!("a result has a place")
                };
                self.store(body.slots + slot as i32 * VECTOR, first);
            }
            let way = &body.graph.detours[node.c as usize];
            for (index, &input) in (0..).zip(&way.inputs) {
                let input = self.operand(body, input, vector);
                let input = self.register(input, first);
                self.store(body.params + index * VECTOR, input);
            }
            let routine = self.routine_label(way.routine);
            let params = body.params;
            dynasm!(self.asm; .arch x64; call =>routine);
            let mask = self.operand(body, node.a, vector);
            let mask = self.register(mask, second);
            let to = match place {
                Place::Register(register) => register,
                Place::Slot(slot) => {
                    let at = Operand::Frame(body.slots + slot as i32 * VECTOR);
                    self.load(first, at);
                    first
                }
                Place::Nowhere => unreachable!("a result has a place"),
            };
            dynasm!(self.asm
                ; .arch x64
                ; vblendvps Ry(to), Ry(to), [rsp + params], Ry(mask)
                ; jmp =>back
            );
        }
    }

    fn call_out(&mut self, body: &Body<'_>, node: Node, to: u8, vector: usize) {
        let [first, second] = SCRATCH;
        let (a, b) = (
            self.operand(body, node.a, vector),
            self.operand(body, node.b, vector),
        );
        self.load(first, a);
        self.load(second, b);
        let (thunk, function) = match body.graph.call_outs[node.c as usize] {
            CallOut::Float(f) => (0, f as usize),
            CallOut::Word(f) => (1, f as usize),
        };
        let asm = &mut self.asm;
        let label = *self.thunks[thunk].get_or_insert_with(|| asm.new_dynamic_label());
        dynasm!(asm
            ; .arch x64
            ; mov rax, QWORD function as i64
            ; call =>label
        );
        self.load(to, Operand::Register(first));
    }
}
