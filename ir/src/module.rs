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

pub use crate::derivative::{
    ActiveMemory, Activity, CustomDerivatives, DerivativeHints, DifferentiationMode, Recipe,
};
pub use crate::instruction::{ExplicitMip, IndexCheck, InstKind, MipSelection, Slopes};
pub use crate::message::Message;
use crate::metadata::Metadata;
use crate::quad::rule::Quad;
use crate::span::Span;
use crate::types::{Lanes, Scalar, Type};
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
    /// A buffer of the module.
    BufferId;
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
    /// The textures that are sampled.
    pub textures: Vec<Texture>,
    /// The buffers that are read, and those that gradients are added to.
    pub buffers: Vec<Buffer>,
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
    /// What the shader writer said of how functions are differentiated; none after
    /// `differentiate`. IR text without spans has none.
    pub hints: DerivativeHints,
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

/// A texture, which the host samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// Its name, by which the host knows it.
    pub name: String,
    /// The shader's metadata of it: its file, and how that is read. Nothing is computed from it.
    pub metadata: Vec<Metadata>,
    /// The name where it is declared. A file of the metadata is found from that source.
    pub span: Span,
}

/// A buffer: numbers in memory of the host, of any length, which all points share.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name, by which the host knows it.
    pub name: String,
    /// The type of an element: a float, an int or a vector.
    pub element: Type,
    /// If it is a sum, the buffer before it that has as many elements: points add to those of a
    /// sum, and none reads them.
    pub sum_of: Option<BufferId>,
    /// The shader's metadata of it, for people and tools.
    pub metadata: Vec<Metadata>,
    /// The name where it is declared.
    pub span: Span,
}

impl Buffer {
    /// Whether points add to it.
    pub fn is_sum(&self) -> bool {
        self.sum_of.is_some()
    }

    /// The type of the numbers of an element.
    pub fn scalar(&self) -> Scalar {
        match self.element {
            Type::Scalar(scalar) => scalar,
            _ => Scalar::F32,
        }
    }

    /// The number of numbers of an element.
    pub fn width(&self) -> usize {
        self.element.scalar_count()
    }
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
    /// What counts of its decisions for gradients through edges.
    pub decides: Decides,
    /// The span of its declaration.
    pub span: Span,
}

/// What counts of a function's decisions, for gradients through edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decides {
    /// Each of its own, and those of what it calls.
    #[default]
    Own,
    /// Nothing: it is a part of a ray march, whose surface decides.
    Nothing,
    /// Which surface a ray meets. Its parameters are where that is along the ray, the field there
    /// with that held, whether the ray reaches it, whether it grazes it, and what the field takes.
    /// It calls the field. Calls of it have no result that is read: until decisions are traced,
    /// they only mark the place.
    Surface,
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

impl SourceParam {
    /// An output whose scalars are results from `first` on.
    pub fn output(name: impl Into<String>, ty: Type, first: u32) -> SourceParam {
        SourceParam {
            name: name.into(),
            results: (first, ty.scalar_count() as u32),
            ty,
            mode: PassingMode::Out,
            params: (0, 0),
            arrays: (0, 0),
        }
    }
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

    /// New values of these types, without lanes and names.
    pub(crate) fn of_new(
        values: &mut Vec<Value>,
        types: impl IntoIterator<Item = Scalar>,
        span: Span,
    ) -> Results {
        let first = ValueId(values.len() as u32);
        values.extend(types.into_iter().map(|ty| Value {
            ty,
            lanes: Lanes::NONE,
            span,
            name: None,
        }));
        Results {
            first,
            count: values.len() as u32 - first.0,
        }
    }

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

impl Inst {
    /// An instruction without operands and results.
    pub(crate) fn plain(kind: InstKind, span: Span) -> Inst {
        Inst {
            kind,
            args: Args::new(),
            results: Results::NONE,
            span,
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
    pub fn for_each_region(&self, f: impl FnMut(RegionId)) {
        self.for_each_region_within(self.body, f);
    }

    /// The same for a region and those nested in it.
    pub fn for_each_region_within(&self, region: RegionId, mut f: impl FnMut(RegionId)) {
        let mut open = vec![region];
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
