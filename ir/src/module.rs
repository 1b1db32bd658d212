//! The intermediate representation: typed SSA over scalars with structured control flow.
//!
//! A [`Module`] is one shader with the functions that it calls. A [`Function`] is a tree of
//! [`Region`]s; a region is a list of [`Inst`]s whose last one, and no other, is a terminator. A
//! value is defined once, as a result of an instruction or a parameter of a region, and used only
//! where its definition dominates: later in the same region, or in regions nested after it. The
//! exact invariants are listed, and checked, in [`verify`](mod@crate::verify).
//!
//! Lowering scalarised vectors, matrices and structs, so every derivative rule is a scalar rule;
//! [`SourceParam`]s remember the grouping. A local array is memory of its own, one per scalar
//! member, with shadows beside it. SSA form with region parameters is that of MLIR (Lattner et al.,
//! 2021, *MLIR: scaling compiler infrastructure for domain specific computation*, CGO).

pub use crate::derivative::{Activity, CustomDerivatives, DifferentiationMode, Recipe};
pub use crate::message::Message;
use crate::metadata::Metadata;
use crate::quad::Quad;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar, Type};
use adumbra_ops::Op;
use smallvec::SmallVec;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index into the table that it refers to.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

ids! {
    /// A value of one function.
    ValueId;
    /// A region of one function.
    RegionId;
    /// A local array of one function.
    ArrayId;
    /// A function of the module.
    FuncId;
    /// A global of the module.
    GlobalId;
    /// A texture of the module.
    TextureId;
    /// A resource of the module.
    ResourceId;
    /// A closure shape of the module.
    ClosureId;
    /// A message of the module.
    MessageId;
    /// A name in the module's table of names.
    NameId;
    /// A tape of the point.
    TapeId;
    /// A kind of record of the module.
    RecordId;
}

/// One shader, ready for analysis and code generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// All functions; callees and callers in any order.
    pub functions: Vec<Function>,
    /// The shader itself: its parameters are the scalars of `inputs`, its results the scalars of
    /// `outputs`, in order.
    pub entry: FuncId,
    /// The globals, which the host fills for every point, each with shadows.
    pub globals: Vec<Global>,
    /// Names of the textures that are sampled.
    pub textures: Vec<String>,
    /// Names of the host's resources.
    pub resources: Vec<String>,
    /// Shapes of the closures that are made.
    pub closures: Vec<ClosureShape>,
    /// The messages of `printf`.
    pub messages: Vec<Message>,
    /// The kinds of record that tapes keep.
    pub records: Vec<Record>,
    /// The shader's parameters that the host may set. They have no shadows.
    pub inputs: Vec<Input>,
    /// The shader's outputs.
    pub outputs: Vec<Output>,
    /// Names of values and arrays, as the shader writer gave them.
    pub names: Vec<String>,
    /// The rule of derivatives, if they are taken from the neighbours in a quad; such a module has
    /// no shadows. The lanes of the shader's results are then those that the evaluator of the quad
    /// fills in.
    pub quad: Option<Quad>,
}

/// A member of the host's globals.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its name in `global_value<name>`.
    pub name: String,
    /// Its type; no arrays, no closures.
    pub ty: Type,
}

/// A parameter of the shader that the host may set.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The bits of its scalars if the host sets none; zero where the shader has no default.
    pub default: Vec<u32>,
    /// The shader's metadata of it, for people and tools.
    pub metadata: Vec<Metadata>,
}

/// An output of the shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The shader's metadata of it, for people and tools.
    pub metadata: Vec<Metadata>,
}

/// The shape of closures of `make_closure`: a name and the types of the arguments as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClosureShape {
    /// The closure's name, for the host to interpret.
    pub name: String,
    /// Types of the arguments. Their scalars are the arguments of the instruction.
    pub params: Vec<Type>,
}

/// A kind of record: values that are kept on a tape together, to be taken later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Types and lanes of the values: floats, integers and bools. The lanes are set by the lanes
    /// pass, the same for all floats of a module.
    pub fields: Vec<FuncResult>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name in the source, with nothing about variants or overloads.
    pub name: String,
    /// The variant of the source function, counted from 0; set by specialisation.
    pub variant: u32,
    /// Every value: type, shadows, place.
    pub values: Vec<Value>,
    /// Every region.
    pub regions: Vec<Region>,
    /// Every local array; those with a parameter mode come first, in the order of the calls' array
    /// arguments.
    pub arrays: Vec<Array>,
    /// The outermost region; its parameters are the function's scalar parameters.
    pub body: RegionId,
    /// Types and lanes of the results.
    pub results: Vec<FuncResult>,
    /// The grouping of parameters, results and array parameters in the source.
    pub members: Vec<SourceParam>,
    /// Whether it comes from the standard library: then it is not listed to the user, and takes no
    /// step if it is small and straight.
    pub library: bool,
    /// The derivative that it is to be, if it is a derived function. Its body is then one
    /// `Unreachable`, until `differentiate` writes it.
    pub recipe: Option<Recipe>,
    /// The derivatives of it that the shader writer gave.
    pub custom: CustomDerivatives,
    /// The span of its declaration.
    pub span: Span,
}

/// One result of a function, or one field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuncResult {
    /// Its type.
    pub ty: Scalar,
    /// The shadows that callers get, or that are kept; set by the lanes pass.
    pub lanes: Lanes,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassingMode {
    /// Copied in.
    In,
    /// Copied out; zero on entry.
    Out,
    /// Copied in and out.
    InOut,
    /// The return value: copied out.
    Return,
}

/// A parameter or the return value as in the source, with the scalars that it became.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceParam {
    /// Its name; `return` for the return value.
    pub name: String,
    /// Its type in the source.
    pub ty: Type,
    /// How it is passed.
    pub mode: PassingMode,
    /// Positions among the function's scalar parameters, start and count.
    pub params: (u32, u32),
    /// Positions among the function's results, start and count.
    pub results: (u32, u32),
    /// Positions among the function's array parameters, start and count.
    pub arrays: (u32, u32),
}

/// The properties of a value, wherever it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its type.
    pub ty: Scalar,
    /// The shadows that it carries; empty until the lanes pass, always empty unless `ty` is F32.
    pub lanes: Lanes,
    /// The span of its definition.
    pub span: Span,
    /// The variable that it is a definition of, if any.
    pub name: Option<NameId>,
}

/// A local array of scalars, zero where nothing was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type of the elements.
    pub element: Scalar,
    /// Number of elements, at least 1.
    pub len: u32,
    /// The shadows that each element carries; empty until the lanes pass.
    pub lanes: Lanes,
    /// How it is passed, if it is a parameter of the function. Never `Return`: an array result is
    /// an `Out` array.
    pub mode: Option<PassingMode>,
    /// The span of its declaration.
    pub span: Span,
    /// Its variable.
    pub name: Option<NameId>,
}

/// A list of instructions, entered at its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// Values defined on entry: the function's parameters, or a loop's loop-carried values.
    pub params: Vec<ValueId>,
    /// The instructions; the last one is a terminator.
    pub insts: Vec<Inst>,
}

/// Operands of an instruction.
pub type Args = SmallVec<[ValueId; 4]>;

/// The values that an instruction defines: consecutive ids.
#[derive(Clone, Copy, Debug, Eq)]
pub struct Results {
    /// The first one; meaningless when there are none.
    pub first: ValueId,
    /// The number of results.
    pub count: u32,
}

impl Results {
    /// No results.
    pub const NONE: Results = Results {
        first: ValueId(0),
        count: 0,
    };

    /// Each result in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone {
        (self.first.0..self.first.0 + self.count).map(ValueId)
    }
}

impl PartialEq for Results {
    fn eq(&self, other: &Results) -> bool {
        self.count == other.count && (self.count == 0 || self.first == other.first)
    }
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The kind of instruction.
    pub kind: InstKind,
    /// Its operands.
    pub args: Args,
    /// Its results.
    pub results: Results,
    /// Its span: faults are reported there.
    pub span: Span,
}

/// The kinds of instruction. `args → results` shows operands and results; the table in
/// [`instruction`](crate::instruction) describes them.
#[derive(Clone, Debug, PartialEq)]
pub enum InstKind {
    /// `→ 1`: these bits. Bool constants are 0 or 1; the only closure constant is 0, the empty
    /// closure.
    Const(u32),
    /// `op's operands → 1`: an op.
    Op(Op),
    /// `→ 1`: a scalar of a global; its shadows are the host's.
    Global(GlobalId, u32),
    /// `→ 1`: a handle to a resource of the host.
    Resource(ResourceId),
    /// `float → 1`: the argument's shadow plus +0, as a value. Its own shadow is zero (second
    /// order).
    Shadow(Direction),
    /// `float → 1`: the difference of the argument between neighbours in the quad, by
    /// [`Module::quad`]. All points of a quad reach it together.
    Difference(Direction),
    /// `float → 1`: the argument and its shadows, as a constant for derivatives of functions. None is
    /// left after `differentiate`.
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
    /// `i32 index → 1`: an element. An index out of range is a fault, and clamped.
    Load(ArrayId),
    /// `i32 index, element → 0`: sets an element. An index out of range is a fault, and clamped.
    Store(ArrayId),
    /// `u, v, operands of the level of detail → 3 or 1`: requests a texture's colour or alpha. The
    /// results have no shadows.
    Sample(TextureId, Channels, MipSelection),
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
    /// `→ fields of the record`: takes the record of that kind off a tape that was kept last. Without
    /// one the point is stopped. Records of one kind are apart from those of others.
    Take(TapeId, RecordId),
    /// `scalar parameters → results`: a call. The list holds the caller's array for each array
    /// parameter, copied in and out by its mode.
    Call(FuncId, Box<[ArrayId]>),
    /// `→ 0`: counts as a call whose callee is inlined after it. It takes the call's step, and
    /// stops the point where the call would be too deep. The number is that of open inlined calls
    /// around it.
    EnterInlined(u32),
    /// `→ 0`: counts as a loop iteration whose instructions are unrolled after it: takes its step.
    NextIteration,
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

/// The channels of a texture that a sample returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Red, green and blue: three results.
    Color,
    /// Alpha: one result.
    Alpha,
}

impl Channels {
    /// The number of results.
    pub const fn count(self) -> u32 {
        match self {
            Channels::Color => 3,
            Channels::Alpha => 1,
        }
    }

    /// The results, of red, green, blue and alpha.
    pub fn of(self, texel: &[f32; 4]) -> &[f32] {
        match self {
            Channels::Color => &texel[..3],
            Channels::Alpha => &texel[3..],
        }
    }
}

/// The source of a sample's footprint, by which the host chooses the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MipSelection {
    /// The shadows of u and v.
    Shadows,
    /// Four further operands: ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
    Gradients,
    /// One further operand: the level itself.
    Level,
}

impl MipSelection {
    /// The number of operands of a sample, u and v included.
    pub const fn operand_count(self) -> usize {
        match self {
            MipSelection::Shadows => 2,
            MipSelection::Gradients => 6,
            MipSelection::Level => 3,
        }
    }
}

impl Function {
    /// The properties of a value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// A region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// The function's scalar parameters.
    pub fn params(&self) -> &[ValueId] {
        &self.region(self.body).params
    }

    /// The arrays that are parameters, in the order of a call's array arguments.
    pub fn array_params(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().take_while(|a| a.mode.is_some())
    }

    /// The last instruction of a region.
    ///
    /// # Panics
    /// If the region is empty, which the verifier refuses.
    pub fn terminator(&self, id: RegionId) -> &Inst {
        self.region(id)
            .insts
            .last()
            .expect("a region ends with a terminator")
    }

    /// Calls `f` with each region, a region before those nested in it, in program order.
    pub fn for_each_region(&self, mut f: impl FnMut(RegionId)) {
        let mut open = vec![self.body];
        while let Some(id) = open.pop() {
            f(id);
            let at = open.len();
            for inst in &self.region(id).insts {
                open.extend(inst.kind.regions());
            }
            open[at..].reverse();
        }
    }
}

impl Module {
    /// A function.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The shader's own function.
    pub fn entry(&self) -> &Function {
        self.function(self.entry)
    }
}
