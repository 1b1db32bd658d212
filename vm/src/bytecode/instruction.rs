//! Instructions of the register machine: an opcode and its words.
//!
//! An opcode is a kind and its lane pattern, so that an engine can choose a routine for exactly the
//! lanes that there are. [`Opcode::roles`] gives the meaning of an opcode's words; validation,
//! listing and loading use it.

use adumbra_ir::module::Channels;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::definition::OperandKind;
use adumbra_ops::{MAX_OPERANDS, Op};
pub use adumbra_simd::ShadowPattern;

/// The words of an instruction: the most are an op's result and its operands.
pub const WORDS: usize = 1 + MAX_OPERANDS;

/// A register: a 32-bit slot of the register file. A value is in its register, its ddx in the next
/// one, its ddy in the one after that. With the top bit set it is a constant of the program
/// instead, numbered by the other bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

impl Register {
    const CONSTANT: u32 = 1 << 31;

    /// The constant with that number.
    pub const fn constant(index: u32) -> Register {
        Register(index | Register::CONSTANT)
    }

    /// The number of the constant, if it is one.
    pub const fn as_constant(self) -> Option<u32> {
        if self.0 & Register::CONSTANT != 0 {
            Some(self.0 & !Register::CONSTANT)
        } else {
            None
        }
    }
}

/// How many registers a value with these lanes takes. With ddy alone, the register of ddx is a
/// hole.
pub const fn register_count(lanes: Lanes) -> u32 {
    match lanes.bits() {
        0 => 1,
        1 => 2,
        _ => 3,
    }
}

/// The kind of an instruction. In the comments `d`, `a`, `b`, `c` are its words in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// `d ← op(a, b, …)` with shadows by the tangent formula.
    Arithmetic(Op, ShadowPattern),
    /// Jumps to `d` unless `op(a, b, …)` is the boolean. The op's result is a boolean, and it has
    /// no faults.
    Branch(Op, bool),
    /// Jumps to `d` unless `a` is the boolean.
    BranchIf(bool),
    /// Jumps forward to `d`.
    Jump,
    /// Jumps back to `d`: one step of the budget.
    Loop,
    /// `d ← a`: a value with its shadows; the second lanes are those that `a` has, the others
    /// become zero.
    Move(Lanes, Lanes),
    /// `d ←` the host's global at word `a`, its shadows `b` and `2b` words after it.
    Global(Lanes),
    /// `d ← shadow of a, plus +0`.
    Shadow(Direction),
    /// `d ←` the difference of `a` from the neighbour in the quad; all points of a quad come here
    /// together.
    Difference(Direction),
    /// `d ← element of array a at index b`, with these lanes, of which the array has the second
    /// set.
    Load(Lanes, Lanes),
    /// `element of array d at index a ← b`, with the array's lanes, of which `b` has the second
    /// set.
    Store(Lanes, Lanes),
    /// Every element of array `d` becomes zero, with zero shadows.
    ArrayZero,
    /// Elements of array `d ←` those of array `a`; shadows that `a` lacks become zero.
    ArrayCopy,
    /// `d ←` how many parts of `c` elements array `a` has, where `b` is asked for; they become
    /// zero.
    ArrayResize,
    /// The shorter of arrays `d` and `a` is copied to or from the part of the longer that begins at
    /// `b`, moved so that it lies inside.
    ArrayCopyPart,
    /// Array `d ←` array `a` as it was saved, `b` words below the top of the save stack.
    ArrayFromSaved,
    /// Array `d` as it was saved, `b` words below the top of the save stack, `←` array `a`.
    ArrayToSaved,
    /// Pushes `a` registers from `d` on the save stack.
    Save,
    /// Pops `a` registers from `d` off the save stack.
    Restore,
    /// Keeps a record on tape `d`, its words in the registers listed at `a`.
    Keep,
    /// Takes the last record off tape `d`; its words go to the registers listed at `a`, and nowhere
    /// if a constant is listed.
    Take,
    /// Calls function `d`, whose parameters are set; `a` steps more than one, for arrays that were
    /// saved.
    Call,
    /// Counts as an inlined call: one step of the budget, and the depth, with `d` such calls open
    /// around it.
    Enter,
    /// Counts as an iteration of an unrolled loop: one step of the budget.
    Iteration,
    /// Returns to the caller; the shader itself ends.
    Return,
    /// Samples texture `d` at `a`, `b` with these shadows of each; the results go to the registers
    /// listed at `c`.
    Sample(Channels, Lanes, Lanes),
    /// Samples texture `d`; u, v and ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y are in the registers listed at `a`,
    /// the results go to those listed at `c`.
    SampleGradients(Channels),
    /// Samples texture `d`; u, v and the level are in the registers listed at `a`, the results go
    /// to those listed at `c`.
    SampleLevel(Channels),
    /// Gives message `d`, its arguments in the registers listed at `a`.
    Message,
    /// `d ←` a closure of shape `a`, its arguments in the registers listed at `b`.
    MakeClosure,
    /// `d ← a + b`, closures.
    ClosureAdd,
    /// `d ←` closure `a` times `b`.
    ClosureScale,
    /// `d ←` closure `a` times the colour in the three registers listed at `b`.
    ClosureTint,
    /// Control cannot come here; the point stops if it does.
    Unreachable,
}

/// The role of a word of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandRole {
    /// Not used, zero.
    Unused,
    /// A register that is written, with these lanes.
    Write(Lanes),
    /// A register that is read, with these lanes.
    Read(Lanes),
    /// The position of an instruction.
    Target,
    /// A function.
    Function,
    /// An array.
    Array,
    /// A texture.
    Texture,
    /// A closure shape.
    Shape,
    /// A position in the lists: that many registers, written.
    WriteList(u32),
    /// A position in the lists: that many registers, read.
    ReadList(u32),
    /// A message.
    Message,
    /// A position in the lists: as many registers as the shape or message in the word before has
    /// scalars, or a record of the tape there has words, read.
    Arguments,
    /// A tape.
    Tape,
    /// A position in the lists: as many registers as a record of the tape in the word before has
    /// words. They are written, except constants.
    Taken,
    /// A number, which the opcode constrains.
    Number,
}

/// These roles, the other words unused.
fn first<const N: usize>(roles: [OperandRole; N]) -> [OperandRole; WORDS] {
    let mut all = [OperandRole::Unused; WORDS];
    all[..N].copy_from_slice(&roles);
    all
}

impl Opcode {
    /// The role of each word.
    pub fn roles(self) -> [OperandRole; WORDS] {
        use OperandRole::*;
        const NO: Lanes = Lanes::NONE;
        match self {
            Opcode::Arithmetic(op, pattern) => {
                let mut roles = first([Write(pattern.result())]);
                for i in 0..op.arity() {
                    roles[i + 1] = Read(pattern.operand(i));
                }
                roles
            }
            Opcode::Branch(op, _) => {
                let mut roles = first([Target]);
                roles[1..=op.arity()].fill(Read(NO));
                roles
            }
            Opcode::BranchIf(_) => first([Target, Read(NO)]),
            Opcode::Jump | Opcode::Loop => first([Target]),
            Opcode::Move(to, from) => first([Write(to), Read(from)]),
            Opcode::Global(lanes) => first([Write(lanes), Number, Number]),
            Opcode::Shadow(direction) => first([Write(NO), Read(direction.lanes())]),
            Opcode::Difference(_) => first([Write(NO), Read(NO)]),
            Opcode::Load(to, _) => first([Write(to), Array, Read(NO)]),
            Opcode::Store(_, from) => first([Array, Read(NO), Read(from)]),
            Opcode::ArrayZero => first([Array]),
            Opcode::ArrayCopy => first([Array, Array]),
            Opcode::ArrayCopyPart => first([Array, Array, Read(NO)]),
            Opcode::ArrayResize => first([Write(NO), Array, Read(NO), Number]),
            Opcode::ArrayFromSaved | Opcode::ArrayToSaved => first([Array, Array, Number]),
            Opcode::Save | Opcode::Restore => first([Number, Number]),
            Opcode::Keep => first([Tape, Arguments]),
            Opcode::Take => first([Tape, Taken]),
            Opcode::Call => first([Function, Number]),
            Opcode::Enter => first([Number]),
            Opcode::Iteration | Opcode::Return | Opcode::Unreachable => first([]),
            Opcode::Sample(channels, u, v) => {
                first([Texture, Read(u), Read(v), WriteList(channels.count())])
            }
            Opcode::SampleGradients(channels) => {
                first([Texture, ReadList(6), Unused, WriteList(channels.count())])
            }
            Opcode::SampleLevel(channels) => {
                first([Texture, ReadList(3), Unused, WriteList(channels.count())])
            }
            Opcode::Message => first([Message, Arguments]),
            Opcode::MakeClosure => first([Write(NO), Shape, Arguments]),
            Opcode::ClosureAdd | Opcode::ClosureScale => first([Write(NO), Read(NO), Read(NO)]),
            Opcode::ClosureTint => first([Write(NO), Read(NO), ReadList(3)]),
        }
    }

    /// Whether an op can be the condition of a [`Branch`](Opcode::Branch).
    pub fn can_branch_on(op: Op) -> bool {
        let info = op.info();
        !info.is_differentiable() && info.result == OperandKind::Bool && info.fault.is_none()
    }

    /// For a branch, the one that jumps when this does not.
    pub fn opposite(self) -> Option<Opcode> {
        match self {
            Opcode::Branch(op, when) => Some(Opcode::Branch(op, !when)),
            Opcode::BranchIf(when) => Some(Opcode::BranchIf(!when)),
            _ => None,
        }
    }

    /// Whether control never continues at the next instruction.
    pub const fn never_falls_through(self) -> bool {
        matches!(
            self,
            Opcode::Jump | Opcode::Loop | Opcode::Return | Opcode::Unreachable
        )
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytecodeInstruction {
    /// The kind of the instruction.
    pub opcode: Opcode,
    /// Its words, whose meaning [`Opcode::roles`] gives.
    pub words: [u32; WORDS],
}

impl BytecodeInstruction {
    /// An instruction with these words, the others zero.
    pub fn new<const N: usize>(opcode: Opcode, words: [u32; N]) -> BytecodeInstruction {
        let mut all = [0; WORDS];
        all[..N].copy_from_slice(&words);
        BytecodeInstruction { opcode, words: all }
    }
}
