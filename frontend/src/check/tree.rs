//! The typed tree: what the text means, before it becomes instructions.
//!
//! Every name is resolved, every conversion explicit, every overload chosen, every default argument in its place. Nodes live in the
//! arena of the syntax tree. A tree is only lowered when no error was found, so it never holds a broken node that lowering meets.
//! Operands are evaluated in order.

use super::types::{TypeId, Types};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::metadata::MetadataValue;
use adumbra_ir::module::{Detail, Message};
use adumbra_ir::{Direction, Op, Span};
use smallvec::{SmallVec, smallvec};

/// A variable of one function: a parameter or a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A function, by its number in [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A checked program.
#[derive(Debug)]
pub struct Program<'a> {
    /// All types.
    pub types: Types,
    /// All functions and shaders, library functions that are used behind those of the user.
    pub functions: Vec<Function<'a>>,
    /// The textures that the program declares, by name.
    pub textures: Vec<Symbol>,
    /// The resources that the program declares, by name.
    pub resources: Vec<Symbol>,
    /// The closures that are made: name, and types of the arguments.
    pub closures: Vec<(Symbol, Vec<TypeId>)>,
    /// The messages that may be given.
    pub messages: Vec<Message>,
    /// The host's globals: name and type.
    pub globals: Vec<(Symbol, TypeId)>,
}

/// A function or a shader.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: Symbol,
    /// Where its name stands.
    pub span: Span,
    /// Whether it is a shader.
    pub is_shader: bool,
    /// Whether it comes from the standard library.
    pub is_library: bool,
    /// What it returns.
    pub result: TypeId,
    /// Its parameters.
    pub params: &'a [Param<'a>],
    /// Its variables, those of the parameters among them.
    pub locals: &'a [Local],
    /// Its statements.
    pub body: &'a [Stmt<'a>],
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    /// Its name.
    pub name: Symbol,
    /// Its type.
    pub ty: TypeId,
    /// Which way its value travels.
    pub direction: ast::Direction,
    /// What stands in for a missing argument; for `out`, what it starts with. Converted to `ty`.
    pub default: Option<&'a Expr<'a>>,
    /// Its variable.
    pub local: LocalId,
    /// What a shader says about it: names and values.
    pub metadata: &'a [(Symbol, MetadataValue<Symbol>)],
    /// Where it is declared.
    pub span: Span,
}

impl Param<'_> {
    /// The way its value travels in a call. An `out` parameter can be read before it is written, so it brings the caller's value as `inout`
    /// does, unless it starts with a default.
    pub fn travels(&self) -> ast::Direction {
        match self.direction {
            ast::Direction::Out if self.default.is_none() => ast::Direction::InOut,
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
pub enum Stmt<'a> {
    /// Evaluates an expression, its value is dropped.
    Expr(&'a Expr<'a>),
    /// Begins a variable's life; zero without an initialiser.
    Declare(LocalId, Option<&'a Expr<'a>>),
    /// Several statements.
    Block(&'a [Stmt<'a>]),
    /// `if`
    If(&'a If<'a>),
    /// `for`, `while`, `do`
    Loop(&'a Loop<'a>),
    /// `switch`
    Switch(&'a Switch<'a>),
    /// `break`
    Break(Span),
    /// `continue`
    Continue(Span),
    /// `return`, the value converted to the function's result.
    Return(Option<&'a Expr<'a>>, Span),
}

/// An `if`.
#[derive(Clone, Copy, Debug)]
pub struct If<'a> {
    /// What is asked, one after the other; never empty.
    pub arms: &'a [Arm<'a>],
    /// Done if none of them holds.
    pub otherwise: &'a [Stmt<'a>],
    /// If there are several: variables from outside that the statement may change; in order, each once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// A condition of an `if`.
#[derive(Clone, Copy, Debug)]
pub struct Arm<'a> {
    /// What is asked; a bool.
    pub condition: &'a Expr<'a>,
    /// Done if so.
    pub body: &'a [Stmt<'a>],
    /// From its `if` to the end of its body.
    pub span: Span,
}

/// Any loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'a> {
    /// Asked before each turn, or behind it if `tests_last`; a bool. `None`: for ever.
    pub condition: Option<&'a Expr<'a>>,
    /// Whether the body comes before the condition.
    pub tests_last: bool,
    /// Done each turn.
    pub body: &'a [Stmt<'a>],
    /// Evaluated behind the body.
    pub steps: &'a [Expr<'a>],
    /// Whether a `continue` goes to this loop.
    pub continues: bool,
    /// Variables from outside that condition, body or steps may change; in order, each once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// A `switch`.
#[derive(Clone, Copy, Debug)]
pub struct Switch<'a> {
    /// What is compared; an int or uint.
    pub value: &'a Expr<'a>,
    /// In order.
    pub cases: &'a [Case<'a>],
    /// Whether one of them is the `default`.
    pub has_default: bool,
    /// Variables from outside that the cases may change; in order, each once.
    pub changed: &'a [LocalId],
    /// The whole statement.
    pub span: Span,
}

/// The labels of a `switch` that stand together, and the statements behind them.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The bits of the constants; each stands once in the whole `switch`.
    pub labels: &'a [u32],
    /// Whether `default` is among the labels.
    pub is_default: bool,
    /// What is done.
    pub body: &'a [Stmt<'a>],
    /// Whether control may fall from the end of `body` into the next case. Not so for the last one.
    pub falls: bool,
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it does.
    pub kind: ExprKind<'a>,
    /// Its type.
    pub ty: TypeId,
    /// Its place.
    pub span: Span,
}

impl<'a> Expr<'a> {
    /// What stands for something that was reported already.
    pub const fn error(span: Span) -> Expr<'a> {
        Expr {
            kind: ExprKind::Zero,
            ty: TypeId::ERROR,
            span,
        }
    }

    /// A scalar by its bits.
    pub const fn constant(ty: TypeId, bits: u32, span: Span) -> Expr<'a> {
        Expr {
            kind: ExprKind::Constant(bits),
            ty,
            span,
        }
    }

    /// The expressions that it consists of, in the order in which they are evaluated; of a choice, all.
    pub fn parts(&self) -> SmallVec<[&Expr<'a>; 3]> {
        match self.kind {
            ExprKind::Constant(_)
            | ExprKind::Constants(_)
            | ExprKind::Zero
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Resource(_)
            | ExprKind::Current => SmallVec::new(),
            ExprKind::Op(_, parts)
            | ExprKind::Gather(parts)
            | ExprKind::List(parts)
            | ExprKind::Call(_, parts)
            | ExprKind::Sample(_, _, parts)
            | ExprKind::Message(_, parts)
            | ExprKind::Closure(_, parts)
            | ExprKind::Sequence(parts) => parts.iter().collect(),
            ExprKind::Reversed(_, parts) | ExprKind::ClosureScale(parts) => parts.iter().collect(),
            ExprKind::Ternary(parts) | ExprKind::Select(parts) => parts.iter().collect(),
            ExprKind::Convert(part)
            | ExprKind::Splat(part)
            | ExprKind::Diagonal(part)
            | ExprKind::Corner(part)
            | ExprKind::RunTimeArray(part)
            | ExprKind::Swizzle(part, _)
            | ExprKind::Member(part, _)
            | ExprKind::Shadow(_, part) => smallvec![part],
            ExprKind::Index(a, b)
            | ExprKind::Assign(a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::ClosureAdd(a, b) => smallvec![a, b],
            ExprKind::Update(update) => smallvec![&update.place, &update.value],
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

/// What an expression does.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
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
    /// A resource of the host, to be passed on.
    Resource(u32),
    /// A row of the op table, component by component; scalar operands stand for every component.
    Op(Op, &'a [Expr<'a>]),
    /// A row of two operands that it is given in the reverse of the order in which they are evaluated.
    Reversed(Op, &'a [Expr<'a>; 2]),
    /// A conversion between numbers, component by component.
    Convert(&'a Expr<'a>),
    /// A scalar for every component of a vector.
    Splat(&'a Expr<'a>),
    /// A scalar on the diagonal of a matrix, zeros elsewhere.
    Diagonal(&'a Expr<'a>),
    /// The upper left of a larger matrix.
    Corner(&'a Expr<'a>),
    /// The leaves of the operands in order: constructors, lists for structs.
    Gather(&'a [Expr<'a>]),
    /// The first elements of an array; the others are zero.
    List(&'a [Expr<'a>]),
    /// An array of as many elements as the int says, all zero; what a variable begins with.
    RunTimeArray(&'a Expr<'a>),
    /// Components of a vector. A place if the operand is one.
    Swizzle(&'a Expr<'a>, Swizzle),
    /// A member of a struct, by its first leaf. A place if the operand is one.
    Member(&'a Expr<'a>, u32),
    /// An element of an array, a row of a matrix or a component of a vector. A place if the first operand is one.
    Index(&'a Expr<'a>, &'a Expr<'a>),
    /// Sets a place; the value is what was written.
    Assign(&'a Expr<'a>, &'a Expr<'a>),
    /// Sets a place to a value computed from its [`Current`](ExprKind::Current) one, the place's operands evaluated once.
    Update(&'a Update<'a>),
    /// Inside an [`Update`](ExprKind::Update): the value that its place had.
    Current,
    /// A call; one argument for each parameter: a place for `out` and `inout`.
    Call(FunctionId, &'a [Expr<'a>]),
    /// `&&` of bools.
    And(&'a Expr<'a>, &'a Expr<'a>),
    /// `||` of bools.
    Or(&'a Expr<'a>, &'a Expr<'a>),
    /// `? :`, the condition a bool.
    Ternary(&'a [Expr<'a>; 3]),
    /// `select`: both values are evaluated.
    Select(&'a [Expr<'a>; 3]),
    /// `ddx` or `ddy`, component by component; parts that are not floats become zero.
    Shadow(Direction, &'a Expr<'a>),
    /// Asks for a texture's colour (`float3`) or alpha (`float`): the operands' components are u, v and what the detail takes.
    Sample(u32, Detail, &'a [Expr<'a>]),
    /// Gives the message of that number.
    Message(u32, &'a [Expr<'a>]),
    /// Makes a closure of that number.
    Closure(u32, &'a [Expr<'a>]),
    /// A sum of closures.
    ClosureAdd(&'a Expr<'a>, &'a Expr<'a>),
    /// A closure and its weight, a float or `float3`, in the order written.
    ClosureScale(&'a [Expr<'a>; 2]),
    /// Evaluates all, gives the last one.
    Sequence(&'a [Expr<'a>]),
}

/// A compound assignment, `++` or `--`.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The place.
    pub place: Expr<'a>,
    /// The new value, of the place's type.
    pub value: Expr<'a>,
    /// Whether the expression's value is the old one.
    pub postfix: bool,
}
