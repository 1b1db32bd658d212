//! The intermediate representation: typed SSA over scalars with structured control flow.
//!
//! A [`Module`] is one shader with the functions that it calls. A [`Function`] is a tree of [`Region`]s; a region is a list of
//! [`Inst`]s whose last one, and no other, is a terminator. A value is defined once, as a result of an instruction or a parameter of a
//! region, and used only where its definition dominates: later in the same region, or in regions nested behind it.
//! What exactly holds is listed, and checked, in [`verify`](crate::verify).
//!
//! Vectors, matrices and structs were scalarised by lowering, so every derivative rule is a scalar rule; [`ArrayParam`]s remember what
//! belonged together. A local array is memory of its own, one per scalar member, with shadows beside it.

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
            /// As an index into the table that it names a row of.
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
}

/// One shader, ready to be analysed and made into code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// All functions; callees and callers in any order.
    pub functions: Vec<Function>,
    /// The shader itself: its parameters are the scalars of `inputs`, its results the scalars of `outputs`, in order.
    pub entry: FuncId,
    /// What the host fills for every point, each with shadows.
    pub globals: Vec<Global>,
    /// Names of the textures that are sampled.
    pub textures: Vec<String>,
    /// Names of the host's resources.
    pub resources: Vec<String>,
    /// Shapes of the closures that are made.
    pub closures: Vec<ClosureShape>,
    /// The messages that may be given.
    pub messages: Vec<Message>,
    /// The shader's parameters that the host may set. They have no shadows.
    pub inputs: Vec<Input>,
    /// What the shader gives back.
    pub outputs: Vec<Output>,
    /// Names of values and arrays, as the shader writer gave them.
    pub names: Vec<String>,
    /// How derivatives are taken, if from the neighbours in a quad; such a module has no shadows. The lanes of the shader's results are then
    /// those that whoever joins the four points fills in.
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
    /// The bits of its scalars when the host says nothing; zero where the shader gives no default.
    pub default: Vec<u32>,
    /// What the shader says about it for people and tools.
    pub metadata: Vec<Metadata>,
}

/// Something that the shader gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What the shader says about it for people and tools.
    pub metadata: Vec<Metadata>,
}

/// What `make_closure` makes: a name and the types of the arguments as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClosureShape {
    /// The closure's name, for the host to interpret.
    pub name: String,
    /// Types of the arguments. Their scalars are the arguments of the instruction.
    pub params: Vec<Type>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name in the source, with nothing about variants or overloads.
    pub name: String,
    /// Which variant of the source function it is, counted from 0; set by specialisation.
    pub variant: u32,
    /// Every value: type, shadows, place.
    pub values: Vec<Value>,
    /// Every region.
    pub regions: Vec<Region>,
    /// Every local array; those with a parameter mode come first, in the order of the calls' array arguments.
    pub arrays: Vec<Array>,
    /// The outermost region; its parameters are the function's scalar parameters.
    pub body: RegionId,
    /// Types and lanes of the results.
    pub results: Vec<FuncResult>,
    /// What belongs together among parameters, results and array parameters.
    pub members: Vec<SourceParam>,
    /// Whether it comes from the standard library: then it is not listed to the user, and takes no step where it is small and straight.
    pub library: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuncResult {
    /// Its type.
    pub ty: Scalar,
    /// The shadows that callers are given; set by the lanes pass.
    pub lanes: Lanes,
}

/// How a parameter travels.
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

/// A parameter or the return value as the source has it: which scalars it became.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceParam {
    /// Its name; `return` for the return value.
    pub name: String,
    /// Its type in the source.
    pub ty: Type,
    /// How it travels.
    pub mode: PassingMode,
    /// Positions among the function's scalar parameters, start and count.
    pub params: (u32, u32),
    /// Positions among the function's results, start and count.
    pub results: (u32, u32),
    /// Positions among the function's array parameters, start and count.
    pub arrays: (u32, u32),
}

/// What is known of a value, wherever it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its type.
    pub ty: Scalar,
    /// The shadows that it carries; empty until the lanes pass, always empty unless `ty` is F32.
    pub lanes: Lanes,
    /// Where it comes from.
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
    /// How it is passed, if it is a parameter of the function. Never `Return`: an array result is an `Out` array.
    pub mode: Option<PassingMode>,
    /// Where it is declared.
    pub span: Span,
    /// Its variable.
    pub name: Option<NameId>,
}

/// A list of instructions, entered at its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// Values defined on entry: the function's parameters, or what a loop carries.
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
    /// How many.
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
    /// What it does.
    pub kind: InstKind,
    /// What it reads.
    pub args: Args,
    /// What it defines.
    pub results: Results,
    /// Where it comes from: faults are reported there.
    pub span: Span,
}

/// What an instruction does. `args → results` says what it reads and defines.
#[derive(Clone, Debug, PartialEq)]
pub enum InstKind {
    /// `→ 1`: these bits. Bool constants are 0 or 1; the only closure constant is 0, the empty closure.
    Const(u32),
    /// `op's operands → 1`: a row of the op table.
    Op(Op),
    /// `→ 1`: a scalar of a global; its shadows are the host's.
    Global(GlobalId, u32),
    /// `→ 1`: a handle to a resource of the host.
    Resource(ResourceId),
    /// `float → 1`: the argument's shadow plus +0, as a value. Its own shadow is zero (second order).
    Shadow(Direction),
    /// `float → 1`: the difference of the argument between neighbours in the quad, by [`Module::quad`]. All points of a quad come here together.
    Difference(Direction),
    /// `→ 0`: every element of the array becomes zero, with zero shadows.
    ArrayZero(ArrayId),
    /// `→ 0`: elements and shadows of the second become those of the first. Same element type and length. With `i32 start → 0`, one may be
    /// longer: the other is copied to or from as many of its elements, from `start` on; a part beyond an end is moved inside.
    ArrayCopy {
        /// Written.
        to: ArrayId,
        /// Read.
        from: ArrayId,
    },
    /// `i32 parts → i32`: an array of so many parts of that many elements each begins: as many elements, those of one part at least, become
    /// zero. The result is the number of parts: 0, with a fault, for a negative one; more than the array has room for stop the point.
    ArrayResize(ArrayId, u32),
    /// `i32 index → 1`: an element. An index out of range is a fault, and clamped.
    Load(ArrayId),
    /// `i32 index, element → 0`: sets an element. An index out of range is a fault, and clamped.
    Store(ArrayId),
    /// `u, v, what the detail takes → 3 or 1`: asks the host for a texture's colour or alpha. The results have no shadows.
    Sample(TextureId, Channels, MipSelection),
    /// `scalars of the shape's parameters → closure`.
    MakeClosure(ClosureId),
    /// `closure, closure → closure`.
    ClosureAdd,
    /// `closure, float → closure` or `closure, r, g, b → closure`.
    ClosureScale,
    /// `scalars of the message's parameters → 0`: hands their values to the host, never their shadows.
    Message(MessageId),
    /// `scalar parameters → results`: a call. The list holds the caller's array for each array parameter, copied in and out by its mode.
    Call(FuncId, Box<[ArrayId]>),
    /// `→ 0`: counts as a call does whose callee's instructions follow in its place: takes its step, and stops the point where the call would be
    /// too deep. So many such calls are open around it.
    EnterInlined(u32),
    /// `→ 0`: counts as the turn of a loop does whose instructions follow in its place: takes its step.
    NextIteration,
    /// `bool → yields`: the first region if true, else the second.
    If(RegionId, RegionId),
    /// `initial values of the region's parameters → broken values`: runs the region until a break leaves it.
    Loop(RegionId),
    /// `→ yields or broken values`: runs the region once; a break to it ends it.
    Block(RegionId),

    /// Terminator, `values of the enclosing If or Block →`: ends the region normally. In a Loop's region it is not allowed.
    Yield,
    /// Terminator, `results of that Loop or Block →`: leaves it. Names its region.
    Break(RegionId),
    /// Terminator, `parameters of that Loop →`: its next turn, one step of the budget. Names its region.
    Continue(RegionId),
    /// Terminator, `the function's results →`.
    Return,
    /// Terminator: control cannot come here.
    Unreachable,
}

/// Which channels of a texture a sample gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Red, green and blue: three results.
    Color,
    /// Alpha: one result.
    Alpha,
}

impl Channels {
    /// How many results.
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

/// What tells a sample's footprint, by which the host chooses the level of detail.
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
    /// How many operands a sample has, u and v included.
    pub const fn operand_count(self) -> usize {
        match self {
            MipSelection::Shadows => 2,
            MipSelection::Gradients => 6,
            MipSelection::Level => 3,
        }
    }
}

impl InstKind {
    /// Whether it must be, and may only be, the last instruction of a region.
    pub const fn is_terminator(&self) -> bool {
        matches!(
            self,
            InstKind::Yield
                | InstKind::Break(_)
                | InstKind::Continue(_)
                | InstKind::Return
                | InstKind::Unreachable
        )
    }

    /// Whether, beside its results, nothing can be seen of it: it may be removed when they are unused, and shared when it is repeated.
    /// Loads are not pure (stores change what they give); rows that can fault are not either.
    pub fn is_pure(&self) -> bool {
        match self {
            InstKind::Const(_)
            | InstKind::Global(..)
            | InstKind::Resource(_)
            | InstKind::Shadow(_)
            | InstKind::Difference(_) => true,
            InstKind::Op(op) => op.info().fault.is_none(),
            _ => false,
        }
    }

    /// The regions that it contains.
    pub fn regions(&self) -> impl Iterator<Item = RegionId> {
        let (a, b) = match self {
            InstKind::If(then, other) => (Some(*then), Some(*other)),
            InstKind::Loop(body) | InstKind::Block(body) => (Some(*body), None),
            _ => (None, None),
        };
        a.into_iter().chain(b)
    }
}

impl Function {
    /// What is known of a value.
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
