//! The description of each kind of instruction, once: its word and its form in IR text, the ids and
//! numbers that it holds, the types of its operands and results, the source of the results' lanes,
//! and its effect.
//!
//! The table at the end of this file is all of it. The parser and printer of IR text, the verifier,
//! the linker, random modules and every pass that renames ids read it. What an instruction
//! computes is in [`eval`](crate::eval), and where its value is by that of [`InstKind`].

use crate::module::*;
use crate::types::{Direction, Scalar, Type};
use Scalar::{Bool, Closure, F32, I32, Resource};
use adumbra_ops::Op;
use smallvec::SmallVec;

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident($ty:ty);)*) => {
        /// An id or a number that a kind of instruction holds.
        #[derive(Clone, Copy, Debug)]
        pub enum Field<'k> {
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

/// The types of operands or of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Types {
    /// These.
    Are(&'static [Scalar]),
    /// Those of these that are as many, else the last.
    OneOf(&'static [&'static [Scalar]]),
    /// One of any type.
    Any,
    /// A scalar of a global.
    OfGlobal(GlobalId, u32),
    /// The element of an array.
    Element(ArrayId),
    /// An index, and an element of an array.
    IndexAndElement(ArrayId),
    /// The scalars of a closure shape.
    OfClosure(ClosureId),
    /// The scalars of a message.
    OfMessage(MessageId),
    /// The fields of a record.
    OfRecord(RecordId),
    /// What an op takes or gives.
    OfOp(Op),
    /// What a function takes or gives.
    OfFunction(FuncId),
    /// What the other ends of its edges have.
    OfEdges,
}

/// The source of the lanes that results may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneSource {
    /// None: the results have no shadows by their nature.
    Never,
    /// The host, for floats.
    Host,
    /// The operands.
    Operands,
    /// The elements of an array.
    Array(ArrayId),
    /// The fields of a record.
    Record(RecordId),
    /// A function's results.
    Function(FuncId),
    /// The values that edges pass.
    Edges,
}

/// What an instruction does beside giving its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// It may fault.
    Faults,
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
    /// `1` the first operand, `*` all others. Between braces is what only stands there with
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

/// The scalars of the entries of a module's tables.
#[derive(Clone, Debug, Default)]
pub struct TableScalars {
    /// By global.
    pub globals: Vec<Vec<Scalar>>,
    /// By closure shape.
    pub closures: Vec<Vec<Scalar>>,
    /// By message.
    pub messages: Vec<Vec<Scalar>>,
}

impl TableScalars {
    /// The scalars of a module whose types are within the limits.
    pub fn new(module: &Module) -> TableScalars {
        let scalars = |types: &[Type]| {
            let mut all = Vec::new();
            for ty in types {
                ty.for_each_scalar(&mut |scalar| all.push(scalar));
            }
            all
        };
        let globals = module.globals.iter();
        let closures = module.closures.iter();
        let messages = module.messages.iter();
        TableScalars {
            globals: globals
                .map(|g| scalars(std::slice::from_ref(&g.ty)))
                .collect(),
            closures: closures.map(|shape| scalars(&shape.params)).collect(),
            messages: messages.map(|message| scalars(&message.params)).collect(),
        }
    }
}

/// Types of operands or results.
pub type ScalarList = SmallVec<[Scalar; 6]>;

impl Types {
    /// The types in a module and a function with these tables, where there are `count` operands or
    /// results. `None` if an id is none of these, or if ops, functions or edges decide.
    pub fn resolve(
        self,
        count: usize,
        scalars: &TableScalars,
        records: &[Record],
        arrays: &[Array],
    ) -> Option<ScalarList> {
        let element = |id: ArrayId| arrays.get(id.index()).map(|array| array.element);
        Some(match self {
            Types::Are(types) => ScalarList::from_slice(types),
            Types::OneOf(all) => {
                let fitting = all.iter().find(|types| types.len() == count);
                ScalarList::from_slice(fitting.or(all.last())?)
            }
            Types::OfGlobal(id, scalar) => {
                let scalars = scalars.globals.get(id.index())?;
                ScalarList::from_slice(&[*scalars.get(scalar as usize)?])
            }
            Types::Element(id) => ScalarList::from_slice(&[element(id)?]),
            Types::IndexAndElement(id) => ScalarList::from_slice(&[I32, element(id)?]),
            Types::OfClosure(id) => ScalarList::from_slice(scalars.closures.get(id.index())?),
            Types::OfMessage(id) => ScalarList::from_slice(scalars.messages.get(id.index())?),
            Types::OfRecord(id) => {
                let fields = &records.get(id.index())?.fields;
                fields.iter().map(|field| field.ty).collect()
            }
            Types::Any | Types::OfOp(_) | Types::OfFunction(_) | Types::OfEdges => return None,
        })
    }
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

    /// The regions that it contains.
    #[inline]
    pub fn regions(&self) -> impl Iterator<Item = RegionId> {
        let (mut first, mut second) = (None, None);
        self.for_each_field(|field| {
            if let Field::Region(&region) = field {
                (first, second) = match first {
                    None => (Some(region), None),
                    Some(_) => (first, Some(region)),
                };
            }
        });
        first.into_iter().chain(second)
    }

    /// Calls `each` with every array that it reads, writes or passes.
    pub fn for_each_array_mut(&mut self, mut each: impl FnMut(&mut ArrayId)) {
        self.for_each_field_mut(|field| match field {
            FieldMut::Read(array) | FieldMut::Written(array) => each(array),
            FieldMut::Passed(arrays) => arrays.iter_mut().for_each(&mut each),
            _ => {}
        });
    }

    /// Calls `each` with every region that it contains or jumps to.
    pub fn for_each_region_mut(&mut self, mut each: impl FnMut(&mut RegionId)) {
        self.for_each_field_mut(|field| match field {
            FieldMut::Region(region) | FieldMut::Target(region) => each(region),
            _ => {}
        });
    }
}

/// Defines the walks over kinds by the table. A row is
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
                use LaneSource::{Array, Edges, Function, Host, Never, Operands, Record};
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
            pub fn for_each_field<'k>(&'k self, mut each: impl FnMut(Field<'k>)) {
                match self {
                    $(InstKind::$kind $(($($held)*))? $({ $($named),+ })? => {
                        $(each(Field::$field($name));)*
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

            /// The kind with that word in IR text, if it is no op. Its fields are 0 or empty.
            pub fn of_word(word: &str) -> Option<InstKind> {
                Some(match word {
                    $($word => {
                        $(let $name = Default::default();)*
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
const FLOATS6: Types = Types::Are(&[F32; 6]);
const CLOSURE: Types = Types::Are(&[Closure]);

instructions! {
    "const" = Const(bits), [Bits(bits)], " _", NONE => Any, Never, Pure;
    "global" = Global(global, scalar), [Global(global), Number(scalar)], " _[_]",
        NONE => OfGlobal(*global, *scalar), Host, Pure;
    "resource" = Resource(resource), [Resource(resource)], " _",
        NONE => Are(&[Resource]), Never, Pure;
    "ddx" = Shadow(Direction::X), [], " *", FLOAT => FLOAT, Never, Pure;
    "ddy" = Shadow(Direction::Y), [], " *", FLOAT => FLOAT, Never, Pure;
    "difference_x" = Difference(Direction::X), [], " *", FLOAT => FLOAT, Never, Pure;
    "difference_y" = Difference(Direction::Y), [], " *", FLOAT => FLOAT, Never, Pure;
    "detach" = Detach, [], " *", FLOAT => FLOAT, Operands, Pure;

    "array_zero" = ArrayZero(array), [Written(array)], " _", NONE => NONE, Never, WritesArray;
    "array_copy" = ArrayCopy { to, from }, [Written(to), Read(from)], " _, _{, *}",
        OneOf(&[&[], &[I32]]) => NONE, Never, WritesArray;
    "array_resize" = ArrayResize(array, part), [Written(array), Number(part)], " _[*], _",
        Are(&[I32]) => Are(&[I32]), Never, WritesArray;
    "load" = Load(array), [Read(array)], " _[*]",
        Are(&[I32]) => Element(*array), Array(*array), ReadsArray;
    "store" = Store(array), [Written(array)], " _[1], *",
        IndexAndElement(*array) => NONE, Never, WritesArray;

    "sample_color" = Sample(texture, Channels::Color, MipSelection::Shadows),
        [Texture(texture)], " _(*)", FLOATS2 => FLOATS3, Never, CallsHost;
    "sample_alpha" = Sample(texture, Channels::Alpha, MipSelection::Shadows),
        [Texture(texture)], " _(*)", FLOATS2 => FLOAT, Never, CallsHost;
    "sample_color_gradients" = Sample(texture, Channels::Color, MipSelection::Gradients),
        [Texture(texture)], " _(*)", FLOATS6 => FLOATS3, Never, CallsHost;
    "sample_alpha_gradients" = Sample(texture, Channels::Alpha, MipSelection::Gradients),
        [Texture(texture)], " _(*)", FLOATS6 => FLOAT, Never, CallsHost;
    "sample_color_level" = Sample(texture, Channels::Color, MipSelection::Level),
        [Texture(texture)], " _(*)", FLOATS3 => FLOATS3, Never, CallsHost;
    "sample_alpha_level" = Sample(texture, Channels::Alpha, MipSelection::Level),
        [Texture(texture)], " _(*)", FLOATS3 => FLOAT, Never, CallsHost;
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
    "turn" = NextIteration, [], "", NONE => NONE, Never, TakesSteps;

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
