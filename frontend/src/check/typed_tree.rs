//! The typed tree: the program after name and type resolution, before lowering.
//!
//! Every name is resolved, every conversion explicit, every overload chosen, every default argument
//! in its place. Nodes live in the arena of the syntax tree. A tree is only lowered when there was
//! no error, so lowering meets no broken node. Operands are evaluated in order.

use super::types::{TypeId, TypeTable};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::metadata::MetadataValue;
use adumbra_ir::module::{Decides, DifferentiationMode, Message, MipSelection};
use adumbra_ir::{Direction, Op, Span};
use smallvec::{SmallVec, smallvec};

/// A variable of one function: a parameter or a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A function, by its number in [`TypedProgram::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A checked program.
#[derive(Debug)]
pub struct TypedProgram<'a> {
    /// All types.
    pub types: TypeTable,
    /// All functions and shaders; used library functions come after those of the user.
    pub functions: Vec<TypedFunction<'a>>,
    /// The textures that the program declares.
    pub textures: Vec<TypedTexture<'a>>,
    /// The buffers that the program declares.
    pub buffers: Vec<TypedBuffer<'a>>,
    /// The resources that the program declares, by name.
    pub resources: Vec<Symbol>,
    /// The closures that are made: name, and types of the arguments.
    pub closures: Vec<(Symbol, Vec<TypeId>)>,
    /// The messages of `printf`.
    pub messages: Vec<Message>,
    /// The host's globals: name and type.
    pub globals: Vec<(Symbol, TypeId)>,
}

/// A texture.
#[derive(Clone, Copy, Debug)]
pub struct TypedTexture<'a> {
    /// Its name.
    pub name: ast::Ident,
    /// Its metadata: names and values.
    pub metadata: &'a [(Symbol, MetadataValue<Symbol>)],
    /// Whether its samples have slopes, whatever those of others have: it is `[Differentiable]`.
    pub has_slopes: bool,
}

/// A buffer.
#[derive(Clone, Copy, Debug)]
pub struct TypedBuffer<'a> {
    /// Its name.
    pub name: ast::Ident,
    /// The type of its elements.
    pub element: TypeId,
    /// Its metadata: names and values.
    pub metadata: &'a [(Symbol, MetadataValue<Symbol>)],
}

/// A function or a shader.
#[derive(Clone, Debug)]
pub struct TypedFunction<'a> {
    /// Its name.
    pub name: Symbol,
    /// The span of its name.
    pub span: Span,
    /// Whether it is a shader.
    pub is_shader: bool,
    /// Whether it comes from the standard library.
    pub is_library: bool,
    /// The result type.
    pub result: TypeId,
    /// Whether its result is declared `no_diff`.
    pub is_no_diff: bool,
    /// The derivative that it is, if it is one: it has no body then.
    pub derived: Option<DerivedFunction<'a>>,
    /// The derivatives of it that the shader writer gave.
    pub custom: CustomRules,
    /// What counts of its decisions.
    pub decides: Decides,
    /// Whether its values are kept for the reverse sweep, if an attribute says so: from its name to
    /// its end, and the attribute.
    pub keeps: Option<(bool, Span, Span)>,
    /// Its parameters.
    pub params: &'a [TypedParam<'a>],
    /// Its variables, those of the parameters among them.
    pub locals: &'a [Local],
    /// Its statements.
    pub body: &'a [TypedStmt<'a>],
}

/// A derivative of a function. Its signature is as the language has it, with pairs.
#[derive(Clone, Copy, Debug)]
pub struct DerivedFunction<'a> {
    /// The mode.
    pub mode: DifferentiationMode,
    /// The function whose derivative it is.
    pub of: FunctionId,
    /// For each parameter of that function: whether it is passed as a plain value, so that nothing
    /// is differentiated by it.
    pub plain: &'a [bool],
}

/// The derivatives of a function that the shader writer gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustomRules {
    /// The forward derivative.
    pub forward: Option<FunctionId>,
    /// The backward derivative.
    pub backward: Option<FunctionId>,
    /// The function that is differentiated in its place.
    pub substitute: Option<FunctionId>,
    /// Whether its derivative is zero on purpose.
    pub is_zero: bool,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct TypedParam<'a> {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: TypeId,
    /// The direction in which its value is passed.
    pub direction: ast::ParamDirection,
    /// Whether it is declared `no_diff`.
    pub is_no_diff: bool,
    /// The value for a missing argument; for `out`, the initial value. Converted to `ty`.
    pub default: Option<&'a TypedExpr<'a>>,
    /// Its variable.
    pub local: LocalId,
    /// The metadata of a shader's parameter: names and values.
    pub metadata: &'a [(Symbol, MetadataValue<Symbol>)],
    /// Where it is declared.
    pub span: Span,
}

impl TypedParam<'_> {
    /// The direction of its value in a call. An `out` parameter can be read before it is written,
    /// so it takes the caller's value as `inout` does, unless it starts with a default.
    pub fn call_direction(&self) -> ast::ParamDirection {
        match self.direction {
            ast::ParamDirection::Out if self.default.is_none() => ast::ParamDirection::InOut,
            direction => direction,
        }
    }
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: TypeId,
    /// Where it is declared.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub enum TypedStmt<'a> {
    /// Evaluates an expression and drops its value.
    Expr(&'a TypedExpr<'a>),
    /// Begins a variable's life; zero without an initialiser.
    Declare(LocalId, Option<&'a TypedExpr<'a>>),
    /// Several statements.
    Block(&'a [TypedStmt<'a>]),
    /// `if`
    If(&'a TypedIf<'a>),
    /// `for`, `while`, `do`
    Loop(&'a TypedLoop<'a>),
    /// `switch`
    Switch(&'a TypedSwitch<'a>),
    /// `break`
    Break(Span),
    /// `continue`
    Continue(Span),
    /// `return`, the value converted to the function's result.
    Return(Option<&'a TypedExpr<'a>>, Span),
}

/// An `if`.
#[derive(Clone, Copy, Debug)]
pub struct TypedIf<'a> {
    /// The conditions with their bodies, tested in order; never empty.
    pub arms: &'a [TypedIfArm<'a>],
    /// Run if no condition holds.
    pub otherwise: &'a [TypedStmt<'a>],
    /// If there are several: variables from outside that the statement may change; in order, each
    /// once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// A condition of an `if`.
#[derive(Clone, Copy, Debug)]
pub struct TypedIfArm<'a> {
    /// The condition; a bool.
    pub condition: &'a TypedExpr<'a>,
    /// Run if it holds.
    pub body: &'a [TypedStmt<'a>],
    /// From its `if` to the end of its body.
    pub span: Span,
}

/// The hints before a loop, for its derivatives, each with the span of its attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopHints {
    /// `[MaxIters(n)]`: n, the most iterations that it has.
    pub max_iterations: Option<(u32, Span)>,
    /// `[ForceUnroll]`: no number; `[ForceUnroll(n)]`: n iterations a block.
    pub unrolled: Option<(Option<u32>, Span)>,
    /// `[PreferCheckpoint]`, `[PreferRecompute]`: whether values are kept for the reverse sweep.
    pub keeps: Option<(bool, Span)>,
}

/// Any loop.
#[derive(Clone, Copy, Debug)]
pub struct TypedLoop<'a> {
    /// Its hints.
    pub hints: LoopHints,
    /// Evaluated before each iteration, or after it if `tests_last`; a bool. `None` means always
    /// true.
    pub condition: Option<&'a TypedExpr<'a>>,
    /// Whether the body comes before the condition.
    pub tests_last: bool,
    /// Run in each iteration.
    pub body: &'a [TypedStmt<'a>],
    /// Evaluated after the body.
    pub updates: &'a [TypedExpr<'a>],
    /// Whether a `continue` goes to this loop.
    pub has_continue: bool,
    /// Variables from outside that condition, body or steps may change; in order, each once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// A `switch`.
#[derive(Clone, Copy, Debug)]
pub struct TypedSwitch<'a> {
    /// The compared value; an int or uint.
    pub value: &'a TypedExpr<'a>,
    /// In order.
    pub cases: &'a [TypedSwitchCase<'a>],
    /// Whether one of them is the `default`.
    pub has_default: bool,
    /// Variables from outside that the cases may change; in order, each once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// Adjacent labels of a `switch`, and the statements after them.
#[derive(Clone, Copy, Debug)]
pub struct TypedSwitchCase<'a> {
    /// The bits of the constants; each occurs once in the whole `switch`.
    pub labels: &'a [u32],
    /// Whether `default` is among the labels.
    pub is_default: bool,
    /// The statements.
    pub body: &'a [TypedStmt<'a>],
    /// Whether control may fall from the end of `body` into the next case. Not so for the last one.
    pub falls_through: bool,
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct TypedExpr<'a> {
    /// The kind of expression.
    pub kind: TypedExprKind<'a>,
    /// Its type.
    pub ty: TypeId,
    /// Its span.
    pub span: Span,
}

impl<'a> TypedExpr<'a> {
    /// The expression that replaces one with a reported error.
    pub const fn error(span: Span) -> TypedExpr<'a> {
        TypedExpr {
            kind: TypedExprKind::Zero,
            ty: TypeId::ERROR,
            span,
        }
    }

    /// A scalar by its bits.
    pub const fn constant(ty: TypeId, bits: u32, span: Span) -> TypedExpr<'a> {
        TypedExpr {
            kind: TypedExprKind::Constant(bits),
            ty,
            span,
        }
    }

    /// Its subexpressions in the order of evaluation; all of them for `? :` and `select`.
    pub fn children(&self) -> SmallVec<[&TypedExpr<'a>; 3]> {
        match self.kind {
            TypedExprKind::Constant(_)
            | TypedExprKind::Constants(_)
            | TypedExprKind::Zero
            | TypedExprKind::Local(_)
            | TypedExprKind::Global(_)
            | TypedExprKind::Resource(_)
            | TypedExprKind::BufferLength(_)
            | TypedExprKind::CurrentValue => SmallVec::new(),
            TypedExprKind::Op(_, parts)
            | TypedExprKind::Gather(parts)
            | TypedExprKind::List(parts)
            | TypedExprKind::Call(_, parts)
            | TypedExprKind::Sample(_, _, parts)
            | TypedExprKind::Message(_, parts)
            | TypedExprKind::Closure(_, parts)
            | TypedExprKind::Sequence(parts) => parts.iter().collect(),
            TypedExprKind::Reversed(_, parts) | TypedExprKind::ClosureScale(parts) => {
                parts.iter().collect()
            }
            TypedExprKind::Ternary(parts) | TypedExprKind::Select(parts) => parts.iter().collect(),
            TypedExprKind::Convert(part)
            | TypedExprKind::Splat(part)
            | TypedExprKind::Diagonal(part)
            | TypedExprKind::UpperLeft(part)
            | TypedExprKind::RunTimeArray(part)
            | TypedExprKind::Swizzle(part, _)
            | TypedExprKind::BufferElement(_, part)
            | TypedExprKind::Member(part, _)
            | TypedExprKind::Detach(part)
            | TypedExprKind::Shadow(_, part) => smallvec![part],
            TypedExprKind::Index(a, b)
            | TypedExprKind::Assign(a, b)
            | TypedExprKind::And(a, b)
            | TypedExprKind::Or(a, b)
            | TypedExprKind::ClosureAdd(a, b) => smallvec![a, b],
            TypedExprKind::Update(update) => smallvec![&update.place, &update.value],
        }
    }

    /// Whether it was reported already.
    pub fn is_error(&self) -> bool {
        self.ty == TypeId::ERROR
    }
}

/// Components that a swizzle picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// Which ones, in order; as many as `count`.
    pub components: [u8; 4],
    /// 1 to 4.
    pub count: u8,
}

impl Swizzle {
    /// The picked components in order.
    pub fn as_slice(&self) -> &[u8] {
        &self.components[..self.count as usize]
    }
}

/// The kinds of expression.
#[derive(Clone, Copy, Debug)]
pub enum TypedExprKind<'a> {
    /// A scalar, by its bits.
    Constant(u32),
    /// A constant of any type, by the bits of its scalars, array elements in order.
    Constants(&'a [u32]),
    /// The zero of any type.
    Zero,
    /// A variable. A place.
    Local(LocalId),
    /// A global of the host.
    Global(u32),
    /// An element of a buffer, at an index.
    BufferElement(u32, &'a TypedExpr<'a>),
    /// The number of elements of a buffer.
    BufferLength(u32),
    /// A resource of the host, to be passed on.
    Resource(u32),
    /// An op, component by component; a scalar operand is used for every component.
    Op(Op, &'a [TypedExpr<'a>]),
    /// A binary op whose operands are in the reverse of their order of evaluation.
    Reversed(Op, &'a [TypedExpr<'a>; 2]),
    /// A conversion between numbers, component by component.
    Convert(&'a TypedExpr<'a>),
    /// A scalar for every component of a vector.
    Splat(&'a TypedExpr<'a>),
    /// A scalar on the diagonal of a matrix, zeros elsewhere.
    Diagonal(&'a TypedExpr<'a>),
    /// The upper left of a larger matrix.
    UpperLeft(&'a TypedExpr<'a>),
    /// The leaves of the operands in order: constructors, lists for structs.
    Gather(&'a [TypedExpr<'a>]),
    /// The first elements of an array; the others are zero.
    List(&'a [TypedExpr<'a>]),
    /// An array of as many elements as the int says, all zero; the initial value of a variable.
    RunTimeArray(&'a TypedExpr<'a>),
    /// Components of a vector. A place if the operand is one.
    Swizzle(&'a TypedExpr<'a>, Swizzle),
    /// A member of a struct, by its first leaf. A place if the operand is one.
    Member(&'a TypedExpr<'a>, u32),
    /// An element of an array, a row of a matrix or a component of a vector. A place if the first
    /// operand is one.
    Index(&'a TypedExpr<'a>, &'a TypedExpr<'a>),
    /// Assigns to a place; the value is the assigned one.
    Assign(&'a TypedExpr<'a>, &'a TypedExpr<'a>),
    /// Sets a place to a value computed from its [`Current`](TypedExprKind::CurrentValue) one, the
    /// place's operands evaluated once.
    Update(&'a CompoundAssign<'a>),
    /// Inside an [`Update`](TypedExprKind::Update): the value that its place had.
    CurrentValue,
    /// A call; one argument for each parameter: a place for `out` and `inout`.
    Call(FunctionId, &'a [TypedExpr<'a>]),
    /// `&&` of bools.
    And(&'a TypedExpr<'a>, &'a TypedExpr<'a>),
    /// `||` of bools.
    Or(&'a TypedExpr<'a>, &'a TypedExpr<'a>),
    /// `? :`, the condition a bool.
    Ternary(&'a [TypedExpr<'a>; 3]),
    /// `select`: both values are evaluated.
    Select(&'a [TypedExpr<'a>; 3]),
    /// `ddx` or `ddy`, component by component; parts that are not floats become zero.
    Shadow(Direction, &'a TypedExpr<'a>),
    /// The value, as a constant for derivatives of functions; also what a call in it writes.
    Detach(&'a TypedExpr<'a>),
    /// Samples a texture's colour (`float3`) or alpha (`float`); the operands' components are u, v
    /// and those of the level of detail.
    Sample(u32, MipSelection, &'a [TypedExpr<'a>]),
    /// Prints the message of that number.
    Message(u32, &'a [TypedExpr<'a>]),
    /// Makes a closure of that number.
    Closure(u32, &'a [TypedExpr<'a>]),
    /// A sum of closures.
    ClosureAdd(&'a TypedExpr<'a>, &'a TypedExpr<'a>),
    /// A closure and its weight, a float or `float3`, in the order written.
    ClosureScale(&'a [TypedExpr<'a>; 2]),
    /// Evaluates all, and gives the last one.
    Sequence(&'a [TypedExpr<'a>]),
}

/// A compound assignment, `++` or `--`.
#[derive(Clone, Copy, Debug)]
pub struct CompoundAssign<'a> {
    /// The place.
    pub place: TypedExpr<'a>,
    /// The new value, of the place's type.
    pub value: TypedExpr<'a>,
    /// Whether the expression's value is the old one.
    pub postfix: bool,
}
