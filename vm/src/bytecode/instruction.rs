//! Instructions of the register machine: an opcode and its words.
//!
//! An opcode is a kind and its lane pattern, so that an engine can choose a routine for exactly the
//! lanes that there are. The table in this file describes each kind once: its name
//! and lanes in listings, where control goes next, and the roles of its words. Listing, validation
//! and loading read it.

use adumbra_ir::module::{ExplicitMip, IndexCheck, Slopes};
use adumbra_ir::types::{Direction, Lanes, Scalar};
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

/// The registers of a value with these lanes: its own first.
pub(crate) fn value_registers(register: u32, lanes: Lanes) -> impl Iterator<Item = u32> + Clone {
    let shadows = Direction::BOTH.into_iter().zip(register + 1..);
    let shadows = shadows.filter(move |&(direction, _)| lanes.has(direction));
    std::iter::once(register).chain(shadows.map(|(_, register)| register))
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
    /// Asks the host whether to stop. Long code without steps has them.
    Query,
    /// Returns to the caller; the shader itself ends.
    Return,
    /// Samples texture `d`; the results go to the registers listed at `c`: four numbers, and their
    /// slopes along u and along v where they are given.
    Sample(SampleMip, Slopes),
    /// Passes the adjoint of a sample of texture `d` to the host: u, v, what its footprint comes
    /// from, four numbers, and their slopes where they are given, in the registers listed at `a`.
    TextureAdjoint(ExplicitMip, Slopes),
    /// `d ←` number `c` of the element of buffer `a` at index `b`, of that type; an index out of
    /// range is clamped.
    Buffer(Scalar, IndexCheck),
    /// `d ←` the number of elements of buffer `a`.
    BufferLength,
    /// Adds `b` to number `c` of the element of sum `d` at index `a`, clamped.
    BufferAdd,
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

/// The source of the footprint of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleMip {
    /// Those of the shadows of u and v, in `a` and `b`, that there are.
    Shadows(Lanes, Lanes),
    /// Operands after u and v, in the registers listed at `a`.
    Explicit(ExplicitMip),
}

impl SampleMip {
    /// The roles of the words that u and v come from.
    const fn roles(self) -> [OperandRole; 2] {
        match self {
            SampleMip::Shadows(u, v) => [OperandRole::Read(u), OperandRole::Read(v)],
            SampleMip::Explicit(mip) => {
                let operands = OperandRole::ReadList(mip.operand_count() as u32);
                [operands, OperandRole::Unused]
            }
        }
    }

    /// The lanes in its name.
    fn shown_lanes(self) -> Vec<Lanes> {
        match self {
            SampleMip::Shadows(u, v) => vec![u, v],
            SampleMip::Explicit(_) => Vec::new(),
        }
    }
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
    /// A buffer that is read.
    Buffer,
    /// A buffer that is a sum.
    Sum,
    /// A closure shape.
    Shape,
    /// A position in the lists: that many registers, written with floats.
    WriteList(u32),
    /// A position in the lists: that many registers, read as floats.
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

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successors {
    /// To the next instruction, perhaps by way of a function.
    Next,
    /// To the next one or to the target.
    Either,
    /// To the target.
    Target,
    /// Nowhere within the function.
    None,
}

/// The list of the results of a sample.
const fn texel(slopes: Slopes) -> OperandRole {
    OperandRole::WriteList(slopes.result_count() as u32)
}

/// The name of a sample.
const fn sample_name(mip: SampleMip, slopes: Slopes) -> &'static str {
    let names = match mip {
        SampleMip::Shadows(..) => ["sample", "sample.sloped"],
        SampleMip::Explicit(ExplicitMip::Gradients) => {
            ["sample.gradients", "sample.gradients.sloped"]
        }
        SampleMip::Explicit(ExplicitMip::Level) => ["sample.level", "sample.level.sloped"],
    };
    names[slopes as usize]
}

/// The number of operands of the adjoint of a sample.
const fn adjoint_operands(mip: ExplicitMip, slopes: Slopes) -> u32 {
    (mip.operand_count() + slopes.result_count()) as u32
}

/// The name of the adjoint of a sample.
const fn adjoint_name(mip: ExplicitMip, slopes: Slopes) -> &'static str {
    match (mip, slopes) {
        (ExplicitMip::Gradients, Slopes::Omitted) => "texture.adjoint",
        (ExplicitMip::Level, Slopes::Omitted) => "texture.adjoint.level",
        (ExplicitMip::Gradients, Slopes::Given) => "texture.adjoint.sloped",
        (ExplicitMip::Level, Slopes::Given) => "texture.adjoint.level.sloped",
    }
}

/// These roles, the other words unused.
fn first<const N: usize>(roles: [OperandRole; N]) -> [OperandRole; WORDS] {
    let mut all = [OperandRole::Unused; WORDS];
    all[..N].copy_from_slice(&roles);
    all
}

/// A first role, then the operands of an op with these lanes.
fn operands(before: OperandRole, op: Op, lanes: impl Fn(usize) -> Lanes) -> [OperandRole; WORDS] {
    let mut roles = first([before]);
    for (i, role) in roles[1..=op.arity()].iter_mut().enumerate() {
        *role = OperandRole::Read(lanes(i));
    }
    roles
}

const NO: Lanes = Lanes::NONE;

/// Defines what is derived from the table. An entry is
/// `Opcode(fields), name, [lanes in its name], successors, [roles of words];`.
macro_rules! instructions {
    ($($opcode:ident $(($($field:ident),+))?, $name:expr, $lanes:expr,
        $successors:ident, $roles:expr;)*
    ) => {
        #[allow(unused_variables)]
        impl Opcode {
            /// The role of each word.
            pub fn roles(self) -> [OperandRole; WORDS] {
                use OperandRole::*;
                match self {
                    $(Opcode::$opcode $(($($field),+))? => $roles,)*
                }
            }

            /// Where control goes after it.
            pub const fn successors(self) -> Successors {
                match self {
                    $(Opcode::$opcode $(($($field),+))? => Successors::$successors,)*
                }
            }

            /// Its name in listings, without lanes.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Opcode::$opcode $(($($field),+))? => $name,)*
                }
            }

            /// The lanes in its name.
            pub(super) fn shown_lanes(self) -> Vec<Lanes> {
                match self {
                    $(Opcode::$opcode $(($($field),+))? => Vec::from($lanes),)*
                }
            }
        }
    };
}

instructions! {
    Arithmetic(op, pattern), op.info().name, arithmetic_lanes(op, pattern), Next,
        operands(Write(pattern.result()), op, |i| {
            pattern.operand(i)
        });
    Branch(op, when), op.info().name, [], Either, operands(Target, op, |_| NO);
    BranchIf(when), "", [], Either, first([Target, Read(NO)]);
    Jump, "jump", [], Target, first([Target]);
    Loop, "loop", [], Target, first([Target]);
    Move(to, from), "move", [to, from], Next, first([Write(to), Read(from)]);
    Global(lanes), "global", [lanes], Next, first([Write(lanes), Number, Number]);
    Shadow(direction), ["ddx", "ddy"][direction as usize], [], Next,
        first([Write(NO), Read(direction.lanes())]);
    Load(to, from), "load", [to, from], Next, first([Write(to), Array, Read(NO)]);
    Store(to, from), "store", [to, from], Next, first([Array, Read(NO), Read(from)]);
    ArrayZero, "array.zero", [], Next, first([Array]);
    ArrayCopy, "array.copy", [], Next, first([Array, Array]);
    ArrayFromSaved, "array.from-saved", [], Next, first([Array, Array, Number]);
    ArrayToSaved, "array.to-saved", [], Next, first([Array, Array, Number]);
    Save, "save", [], Next, first([Number, Number]);
    Restore, "restore", [], Next, first([Number, Number]);
    Call, "call", [], Next, first([Function, Number]);
    Return, "return", [], None, first([]);
    Sample(mip, slopes), sample_name(mip, slopes), mip.shown_lanes(), Next, {
            let [u, v] = mip.roles();
            first([Texture, u, v, texel(slopes)])
        };
    MakeClosure, "closure", [], Next, first([Write(NO), Shape, Arguments]);
    ClosureAdd, "closure.add", [], Next,
        first([Write(NO), Read(NO), Read(NO)]);
    ClosureScale, "closure.scale", [], Next,
        first([Write(NO), Read(NO), Read(NO)]);
    ClosureTint, "closure.tint", [], Next,
        first([Write(NO), Read(NO), ReadList(3)]);
    Unreachable, "unreachable", [], None, first([]);
    Message, "message", [], Next, first([Message, Arguments]);
    ArrayCopyPart, "array.copy-part", [], Next, first([Array, Array, Read(NO)]);
    ArrayResize, "array.resize", [], Next,
        first([Write(NO), Array, Read(NO), Number]);
    Difference(direction), ["difference.x", "difference.y"][direction as usize], [], Next,
        first([Write(NO), Read(NO)]);
    Enter, "enter", [], Next, first([Number]);
    Iteration, "turn", [], Next, first([]);
    Keep, "keep", [], Next, first([Tape, Arguments]);
    Take, "take", [], Next, first([Tape, Taken]);
    Query, "query", [], Next, first([]);
    Buffer(scalar, check), ["buffer", "buffer.again"][check as usize], [], Next,
        first([Write(NO), Buffer, Read(NO), Number]);
    BufferLength, "buffer.length", [], Next, first([Write(NO), Buffer]);
    BufferAdd, "buffer.add", [], Next, first([Sum, Read(NO), Read(NO), Number]);
    TextureAdjoint(mip, slopes), adjoint_name(mip, slopes), [], Next,
        first([Texture, ReadList(adjoint_operands(mip, slopes))]);
}

/// The lanes of the result, then of each operand.
fn arithmetic_lanes(op: Op, pattern: ShadowPattern) -> Vec<Lanes> {
    let operands = (0..op.arity()).map(|i| pattern.operand(i));
    std::iter::once(pattern.result()).chain(operands).collect()
}

impl Opcode {
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
        matches!(self.successors(), Successors::Target | Successors::None)
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
