//! The kinds of instruction, and the description of each, once: its word and its form in IR text,
//! the ids and numbers that it holds, the types of its operands and results, the source of the
//! results' lanes, and its effect.
//!
//! The table at the end of this file is all of it. The parser and printer of IR text, the verifier,
//! the linker, random modules and every pass that renames ids read it. What an instruction
//! computes is in [`eval`](crate::eval).

mod shape;

pub use shape::{LaneSource, ScalarList, TableScalars, Types};

use crate::module::*;
use crate::types::{Direction, Scalar};
use Scalar::{Bool, Closure, F32, I32, Resource};
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;

/// The kinds of instruction. `args → results` shows operands and results.
#[derive(Clone, Debug, PartialEq)]
pub enum InstKind {
    /// `→ 1`: these bits. Bool constants are 0 or 1; the only closure constant is 0, the empty
    /// closure.
    Const(u32),
    /// `op's operands → 1`: an op.
    Op(Op),
    /// `float operands of the op → value, a slope for each operand`: the op, and its partial along
    /// each operand, without shadows. Derivatives of functions have it for ops with long
    /// algorithms, which share work between value and slopes; what differentiates it, or needs
    /// shadows of it, expands it to ops.
    WithSlopes(Op),
    /// `→ 1`: a scalar of a global; its shadows are the host's.
    Global(GlobalId, u32),
    /// `→ 1`: a handle to a resource of the host.
    Resource(ResourceId),
    /// `float → 1`: the argument's shadow plus +0, as a value. Its own shadow is zero (second
    /// order).
    Shadow(Direction),
    /// `float value, sx, sy → 1`: the value, whose shadows are sx and sy: the inverse of `Shadow`.
    /// An operand for a shadow that nothing reads is 0. No derivative of a function has it, since
    /// the pass that makes it comes after `differentiate`.
    Attach,
    /// `float → 1`: the difference of the argument between neighbours in the quad, by
    /// [`Module::quad`]. All points of a quad reach it together.
    Difference(Direction),
    /// `float → 1`: the argument and its shadows, as a constant for derivatives of functions. None
    /// is left after `differentiate`.
    Detach,
    /// `→ 0`: every element of the array becomes zero, with zero shadows.
    ArrayZero(ArrayId),
    /// `→ 0`: elements and shadows of the second become those of the first. Same element type and
    /// length. With `i32 start → 0`, one may be longer: the other is copied to or from as many of
    /// its elements, from `start` on; a part beyond an end is moved inside.
    ArrayCopy {
        /// Written.
        to: ArrayId,
        /// Read.
        from: ArrayId,
    },
    /// `i32 parts → i32`: begins an array of `parts` parts of that many elements each: as many
    /// elements, those of one part at least, become zero. The result is the number of parts. It is
    /// 0, with a fault, for a negative one; more than the array's capacity stops the point.
    ArrayResize(ArrayId, u32),
    /// `i32 index → 1`: a number of an element of a buffer; it has no shadows. An index out of
    /// range is clamped; a buffer without elements has 0.
    Buffer(BufferId, u32, IndexCheck),
    /// `→ i32`: the number of elements of a buffer.
    BufferLength(BufferId),
    /// `i32 index, float → 0`: adds to a number of an element of a sum, exactly. An index is taken
    /// as by `Buffer`, but that nothing is added to a sum without elements.
    BufferAdd(BufferId, u32),
    /// `i32 index → 1`: an element. An index out of range is a fault, and clamped.
    Load(ArrayId),
    /// `i32 index, element → 0`: sets an element. An index out of range is a fault, and clamped.
    Store(ArrayId),
    /// `u, v, operands of the level of detail → red, green, blue, alpha`: requests a texture. The
    /// results have no shadows. With slopes there are eight more: those of the four along u, then
    /// along v.
    Sample(TextureId, MipSelection, Slopes),
    /// `u, v, operands of the level of detail, four floats → 0`: passes the adjoint of a sample to
    /// the host, the derivative by each of its numbers. With slopes there are eight floats more,
    /// the derivatives by those.
    TextureAdjoint(TextureId, ExplicitMip, Slopes),
    /// `scalars of the shape's parameters → closure`.
    MakeClosure(ClosureId),
    /// `closure, closure → closure`.
    ClosureAdd,
    /// `closure, float → closure` or `closure, r, g, b → closure`.
    ClosureScale,
    /// `scalars of the message's parameters → 0`: passes their values to the host, never their
    /// shadows.
    Message(MessageId),
    /// `fields of the record → 0`: keeps a record on a tape of the point. Beyond
    /// [`Limits::kept_words`](crate::host::Limits::kept_words) the point is stopped.
    Keep(TapeId, RecordId),
    /// `→ fields of the record`: takes the record of that kind off a tape that was kept last.
    /// Without one the point is stopped. Records of one kind are apart from those of others.
    Take(TapeId, RecordId),
    /// `scalar parameters → results`: a call. The list holds the caller's array for each array
    /// parameter, copied in and out by its mode.
    Call(FuncId, Box<[ArrayId]>),
    /// `→ 0`: counts as a call whose callee is inlined after it. It takes the call's step, and
    /// stops the point where the call would be too deep. The number is that of open inlined calls
    /// around it.
    EnterInlined(u32),
    /// `→ 0`: takes a step: that of a loop iteration whose instructions are unrolled after it, or
    /// one for moving elements of an array that became values.
    TakeStep,
    /// `bool → yields`: the first region if true, else the second.
    If(RegionId, RegionId),
    /// `initial values of the region's parameters → broken values`: runs the region until a break
    /// leaves it.
    Loop(RegionId),
    /// `→ yields or broken values`: runs the region once; a break to it ends it.
    Block(RegionId),

    /// Terminator, `values of the enclosing If or Block →`: ends the region normally. In a Loop's
    /// region it is not allowed.
    Yield,
    /// Terminator, `results of that Loop or Block →`: leaves it. Names its region.
    Break(RegionId),
    /// Terminator, `parameters of that Loop →`: its next iteration, one step of the budget. Names
    /// its region.
    Continue(RegionId),
    /// Terminator, `the function's results →`.
    Return,
    /// Terminator: control cannot reach it.
    Unreachable,
}

/// The source of a sample's footprint, by which the host chooses the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MipSelection {
    /// The shadows of u and v.
    Shadows,
    /// Further operands.
    Explicit(ExplicitMip),
}

impl MipSelection {
    /// Four further operands: ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
    pub const GRADIENTS: MipSelection = MipSelection::Explicit(ExplicitMip::Gradients);
    /// One further operand: the level itself.
    pub const LEVEL: MipSelection = MipSelection::Explicit(ExplicitMip::Level);

    /// The number of operands of a sample, u and v included.
    pub const fn operand_count(self) -> usize {
        match self {
            MipSelection::Shadows => 2,
            MipSelection::Explicit(mip) => mip.operand_count(),
        }
    }
}

/// The operands that a sample's footprint comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExplicitMip {
    /// Four operands: ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
    #[default]
    Gradients,
    /// One operand: the level itself.
    Level,
}

impl ExplicitMip {
    /// The number of operands of a sample, u and v included.
    pub const fn operand_count(self) -> usize {
        match self {
            ExplicitMip::Gradients => 6,
            ExplicitMip::Level => 3,
        }
    }
}

/// Whether a sample has the slopes of its four numbers for results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Slopes {
    /// It has the four numbers alone.
    #[default]
    Omitted,
    /// It has their slopes along u and along v, too.
    Given,
}

impl Slopes {
    /// The number of results of a sample.
    pub const fn result_count(self) -> usize {
        match self {
            Slopes::Omitted => 4,
            Slopes::Given => 12,
        }
    }
}

/// What an index out of range is, when a buffer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexCheck {
    /// A fault.
    #[default]
    Faults,
    /// None: what was read before at this index has faulted.
    Silent,
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident($ty:ty);)*) => {
        /// An id or a number that a kind of instruction holds.
        #[derive(Clone, Copy, Debug)]
        pub enum InstField<'k> {
            $($(#[$doc])* $name(&'k $ty),)*
        }

        /// The same, to be replaced.
        #[derive(Debug)]
        pub enum FieldMut<'k> {
            $($(#[$doc])* $name(&'k mut $ty),)*
        }
    };
}

fields! {
    /// An op.
    Op(Op);
    /// The bits of a constant of the result's type.
    Bits(u32);
    /// A number.
    Number(u32);
    /// A region that belongs to the instruction.
    Region(RegionId);
    /// An enclosing region that it jumps to the end, or the beginning, of.
    Target(RegionId);
    /// An array that it reads.
    Read(ArrayId);
    /// An array that it writes.
    Written(ArrayId);
    /// The arrays that it passes.
    Passed(Box<[ArrayId]>);
    /// A function that it calls.
    Function(FuncId);
    /// A global.
    Global(GlobalId);
    /// A texture.
    Texture(TextureId);
    /// A buffer that it reads.
    Buffer(BufferId);
    /// A sum that it adds to.
    Sum(BufferId);
    /// A resource.
    Resource(ResourceId);
    /// A closure shape.
    Closure(ClosureId);
    /// A message.
    Message(MessageId);
    /// A tape.
    Tape(TapeId);
    /// A kind of record.
    Record(RecordId);
}

/// What an instruction does beside giving its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// It may fault.
    Faults,
    /// It adds to a sum, and may fault.
    AddsToSum,
    /// It makes a closure, which has a limit.
    MakesClosure,
    /// It reads an array, and may fault.
    ReadsArray,
    /// It writes an array, and may fault or take steps.
    WritesArray,
    /// It calls the host.
    CallsHost,
    /// It keeps a record on a tape, or takes one off it. Any function of the module may have kept
    /// it, or may take it.
    UsesTape,
    /// It takes steps of the budget.
    TakesSteps,
    /// That of a function.
    Calls,
    /// Those of its regions.
    HasRegions,
    /// It ends its region.
    Ends,
}

/// The description of a kind of instruction.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its word in IR text.
    pub word: &'static str,
    /// What follows the word in IR text, but for regions. `_` is the next field that is no region,
    /// `1` the first operand, `*` all others. Between braces is what is there only with
    /// further operands.
    pub form: &'static str,
    /// Types of the operands.
    pub operands: Types,
    /// Types of the results.
    pub results: Types,
    /// The source of the results' lanes.
    pub lanes: LaneSource,
    /// Its effect.
    pub effect: Effect,
}

impl InstKind {
    /// Whether it must be, and may only be, the last instruction of a region.
    pub fn is_terminator(&self) -> bool {
        self.effect() == Effect::Ends
    }

    /// Whether only its results can be observed: it may be removed when they are unused, and shared
    /// when it is repeated. Loads are not pure (stores change them), nor are ops that can fault.
    pub fn is_pure(&self) -> bool {
        self.effect() == Effect::Pure
    }

    /// Its effect.
    #[inline]
    pub fn effect(&self) -> Effect {
        self.description().effect
    }

    /// Whether an op has a partial along each of its operands: it is differentiable, and all of
    /// them are floats.
    pub fn has_slopes(op: Op) -> bool {
        let info = op.info();
        let is_float = |kind: &OperandKind| *kind == OperandKind::Float;
        info.is_differentiable() && info.operands.iter().all(is_float)
    }

    /// The regions that it contains.
    #[inline]
    pub fn regions(&self) -> impl Iterator<Item = RegionId> {
        let (mut first, mut second) = (None, None);
        self.for_each_field(|field| {
            if let InstField::Region(&region) = field {
                (first, second) = match first {
                    None => (Some(region), None),
                    Some(_) => (first, Some(region)),
                };
            }
        });
        first.into_iter().chain(second)
    }
}

/// What a field holds before it is read.
macro_rules! placeholder {
    (Op) => {
        Op::ALL[0]
    };
    ($other:ident) => {
        Default::default()
    };
}

/// Defines the walks over kinds by the table. An entry is
/// `word = kind, [fields], form, operands => results, lanes, effect;`.
macro_rules! instructions {
    ($($word:literal = $kind:ident $(($($held:tt)*))? $({ $($named:ident),+ })?,
        [$($field:ident($name:ident)),*], $form:literal,
        $operands:expr => $results:expr, $lanes:expr, $effect:ident;)*
    ) => {
        impl InstKind {
            /// Its description.
            #[inline]
            #[allow(unused_variables)]
            pub fn description(&self) -> Description {
                use LaneSource::{Array, Edges, Function, Given, Host, Never, Operands, Record};
                use Types::*;
                match self {
                    $(InstKind::$kind $(($($held)*))? $({ $($named),+ })? => Description {
                        word: $word,
                        form: $form,
                        operands: $operands,
                        results: $results,
                        lanes: $lanes,
                        effect: Effect::$effect,
                    },)*
                    InstKind::Op(op) => {
                        let info = op.info();
                        Description {
                            word: info.name,
                            form: " *",
                            operands: OfOp(*op),
                            results: OfOp(*op),
                            lanes: if info.is_differentiable() { Operands } else { Never },
                            effect: match info.fault {
                                None => Effect::Pure,
                                Some(_) => Effect::Faults,
                            },
                        }
                    }
                }
            }

            /// Calls `each` with every field, in the order of IR text.
            #[inline]
            #[allow(unused_variables, unused_mut)]
            pub fn for_each_field<'k>(&'k self, mut each: impl FnMut(InstField<'k>)) {
                match self {
                    $(InstKind::$kind $(($($held)*))? $({ $($named),+ })? => {
                        $(each(InstField::$field($name));)*
                    })*
                    InstKind::Op(_) => {}
                }
            }

            /// Calls `each` with every field, in the order of IR text, so that it can be replaced.
            #[inline]
            #[allow(unused_variables, unused_mut)]
            pub fn for_each_field_mut<'k>(&'k mut self, mut each: impl FnMut(FieldMut<'k>)) {
                match self {
                    $(InstKind::$kind $(($($held)*))? $({ $($named),+ })? => {
                        $(each(FieldMut::$field($name));)*
                    })*
                    InstKind::Op(_) => {}
                }
            }

            /// The kind with that word in IR text, if it is no op. Its fields are placeholders.
            pub fn of_word(word: &str) -> Option<InstKind> {
                Some(match word {
                    $($word => {
                        $(let $name = placeholder!($field);)*
                        InstKind::$kind $(($($held)*))? $({ $($named),+ })?
                    })*
                    _ => return None,
                })
            }

            /// The words of all kinds that are no ops.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }
    };
}

const NONE: Types = Types::Are(&[]);
const FLOAT: Types = Types::Are(&[F32]);
const FLOATS2: Types = Types::Are(&[F32; 2]);
const FLOATS3: Types = Types::Are(&[F32; 3]);
const FLOATS4: Types = Types::Are(&[F32; 4]);
const FLOATS6: Types = Types::Are(&[F32; 6]);
const FLOATS7: Types = Types::Are(&[F32; 7]);
const FLOATS10: Types = Types::Are(&[F32; 10]);
const FLOATS12: Types = Types::Are(&[F32; 12]);
const FLOATS15: Types = Types::Are(&[F32; 15]);
const FLOATS18: Types = Types::Are(&[F32; 18]);
const CLOSURE: Types = Types::Are(&[Closure]);

instructions! {
    "with_slopes" = WithSlopes(op), [Op(op)], " _ *",
        Floats(op.arity()) => Floats(op.arity() + 1), Never, Pure;
    "const" = Const(bits), [Bits(bits)], " _", NONE => Any, Never, Pure;
    "global" = Global(global, scalar), [Global(global), Number(scalar)], " _[_]",
        NONE => OfGlobal(*global, *scalar), Host, Pure;
    "resource" = Resource(resource), [Resource(resource)], " _",
        NONE => Are(&[Resource]), Never, Pure;
    "ddx" = Shadow(Direction::X), [], " *", FLOAT => FLOAT, Never, Pure;
    "ddy" = Shadow(Direction::Y), [], " *", FLOAT => FLOAT, Never, Pure;
    "attach" = Attach, [], " *", FLOATS3 => FLOAT, Given, Pure;
    "difference_x" = Difference(Direction::X), [], " *", FLOAT => FLOAT, Never, Pure;
    "difference_y" = Difference(Direction::Y), [], " *", FLOAT => FLOAT, Never, Pure;
    "detach" = Detach, [], " *", FLOAT => FLOAT, Operands, Pure;

    "array_zero" = ArrayZero(array), [Written(array)], " _", NONE => NONE, Never, WritesArray;
    "array_copy" = ArrayCopy { to, from }, [Written(to), Read(from)], " _, _{, *}",
        OneOf(&[&[], &[I32]]) => NONE, Never, WritesArray;
    "array_resize" = ArrayResize(array, part), [Written(array), Number(part)], " _[*], _",
        Are(&[I32]) => Are(&[I32]), Never, WritesArray;
    "buffer" = Buffer(buffer, number, IndexCheck::Faults), [Buffer(buffer), Number(number)],
        " _[*], _", Are(&[I32]) => OfBuffer(*buffer), Never, Faults;
    "buffer_again" = Buffer(buffer, number, IndexCheck::Silent), [Buffer(buffer), Number(number)],
        " _[*], _", Are(&[I32]) => OfBuffer(*buffer), Never, Pure;
    "buffer_length" = BufferLength(buffer), [Buffer(buffer)], " _", NONE => Are(&[I32]), Never, Pure;
    "buffer_add" = BufferAdd(buffer, number), [Sum(buffer), Number(number)],
        " _[1], _, *", Are(&[I32, F32]) => NONE, Never, AddsToSum;
    "load" = Load(array), [Read(array)], " _[*]",
        Are(&[I32]) => Element(*array), Array(*array), ReadsArray;
    "store" = Store(array), [Written(array)], " _[1], *",
        IndexAndElement(*array) => NONE, Never, WritesArray;

    "sample" = Sample(texture, MipSelection::Shadows, Slopes::Omitted),
        [Texture(texture)], " _(*)", FLOATS2 => FLOATS4, Never, CallsHost;
    "sample_gradients" = Sample(texture, MipSelection::GRADIENTS, Slopes::Omitted),
        [Texture(texture)], " _(*)", FLOATS6 => FLOATS4, Never, CallsHost;
    "sample_level" = Sample(texture, MipSelection::LEVEL, Slopes::Omitted),
        [Texture(texture)], " _(*)", FLOATS3 => FLOATS4, Never, CallsHost;
    "sample_sloped" = Sample(texture, MipSelection::Shadows, Slopes::Given),
        [Texture(texture)], " _(*)", FLOATS2 => FLOATS12, Never, CallsHost;
    "sample_gradients_sloped" = Sample(texture, MipSelection::GRADIENTS, Slopes::Given),
        [Texture(texture)], " _(*)", FLOATS6 => FLOATS12, Never, CallsHost;
    "sample_level_sloped" = Sample(texture, MipSelection::LEVEL, Slopes::Given),
        [Texture(texture)], " _(*)", FLOATS3 => FLOATS12, Never, CallsHost;
    "texture_adjoint" = TextureAdjoint(texture, ExplicitMip::Gradients, Slopes::Omitted),
        [Texture(texture)], " _(*)", FLOATS10 => NONE, Never, CallsHost;
    "texture_adjoint_level" = TextureAdjoint(texture, ExplicitMip::Level, Slopes::Omitted),
        [Texture(texture)], " _(*)", FLOATS7 => NONE, Never, CallsHost;
    "texture_adjoint_sloped" = TextureAdjoint(texture, ExplicitMip::Gradients, Slopes::Given),
        [Texture(texture)], " _(*)", FLOATS18 => NONE, Never, CallsHost;
    "texture_adjoint_level_sloped" = TextureAdjoint(texture, ExplicitMip::Level, Slopes::Given),
        [Texture(texture)], " _(*)", FLOATS15 => NONE, Never, CallsHost;
    "message" = Message(message), [Message(message)], " _(*)",
        OfMessage(*message) => NONE, Never, CallsHost;

    "make_closure" = MakeClosure(shape), [Closure(shape)], " _(*)",
        OfClosure(*shape) => CLOSURE, Never, MakesClosure;
    "closure_add" = ClosureAdd, [], " *", Are(&[Closure; 2]) => CLOSURE, Never, MakesClosure;
    "closure_scale" = ClosureScale, [], " *",
        OneOf(&[&[Closure, F32], &[Closure, F32, F32, F32]]) => CLOSURE, Never, MakesClosure;

    "keep" = Keep(tape, record), [Tape(tape), Record(record)], " _ _(*)",
        OfRecord(*record) => NONE, Never, UsesTape;
    "take" = Take(tape, record), [Tape(tape), Record(record)], " _ _",
        NONE => OfRecord(*record), Record(*record), UsesTape;

    "call" = Call(callee, arrays), [Function(callee), Passed(arrays)], " _(*)_",
        OfFunction(*callee) => OfFunction(*callee), Function(*callee), Calls;
    "enter" = EnterInlined(open), [Number(open)], " _", NONE => NONE, Never, TakesSteps;
    "turn" = TakeStep, [], "", NONE => NONE, Never, TakesSteps;

    "if" = If(then, other), [Region(then), Region(other)], " *",
        Are(&[Bool]) => OfEdges, Edges, HasRegions;
    "loop" = Loop(body), [Region(body)], "", OfEdges => OfEdges, Edges, HasRegions;
    "block" = Block(body), [Region(body)], "", NONE => OfEdges, Edges, HasRegions;
    "yield" = Yield, [], "{ *}", OfEdges => NONE, Never, Ends;
    "break" = Break(to), [Target(to)], " _{ *}", OfEdges => NONE, Never, Ends;
    "continue" = Continue(to), [Target(to)], " _{ *}", OfEdges => NONE, Never, Ends;
    "return" = Return, [], "{ *}", OfEdges => NONE, Never, Ends;
    "unreachable" = Unreachable, [], "", NONE => NONE, Never, Ends;
}
