//! The abstract syntax tree (AST): the source before name resolution.
//!
//! Every node lives in the arena given to [`parse`](crate::parse), is `Copy`, and knows its span.
//! Nothing is dropped, so a tree of any shape is freed in one step. Parentheses leave no node;
//! they widen the span of what they enclose. No tree is higher than
//! [`MAX_TREE_HEIGHT`](crate::limits::MAX_TREE_HEIGHT), so later stages may recurse.
//!
//! A `Broken` node takes the place of source that could not be parsed. It has been reported
//! already, and later stages skip it in silence.

mod eliminable;
mod operator;
mod print;

pub use eliminable::{
    ANIMATE, ELIMINATE_IF_UNUSED, EliminableBlock, animated_functions, eliminable_blocks,
    has_attribute,
};
pub use operator::{BinaryOp, IncDecOp, UnaryOp};
pub use print::{print, print_expression};

use crate::interner::Symbol;
use crate::token_kind::TypeKeyword;
use adumbra_ir::Span;
use adumbra_ir::module::MipSelection;

/// The type of a buffer, `buffer<T>`.
pub const BUFFER: &str = "buffer";

/// The name of the function that marches a ray through a field, which is in angle brackets.
pub const RAYMARCH: &str = "raymarch";

/// The type of a value with its differential, `DifferentialPair<T>`.
pub const PAIR: &str = "DifferentialPair";

/// The type of differentials of a type, `T.Differential`.
pub const DIFFERENTIAL: &str = "Differential";

/// The derivatives of functions: `fwd_diff(f)`, `bwd_diff(f)`.
pub const DERIVATIVE_MODES: [&str; 2] = ["fwd_diff", "bwd_diff"];

/// An identifier and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The interned identifier.
    pub symbol: Symbol,
    /// Its bytes in the source.
    pub span: Span,
}

/// The tree of a whole source.
#[derive(Clone, Copy, Debug)]
pub struct AstFile<'a> {
    /// The declarations, in the order of the source.
    pub items: &'a [Item<'a>],
    /// Whether some of it could not be parsed.
    pub is_broken: bool,
    /// The whole source.
    pub span: Span,
}

/// One declaration at file level.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The attributes before it.
    pub attributes: &'a [Attribute<'a>],
    /// The kind of declaration.
    pub kind: ItemKind<'a>,
    /// From its first word to its `}` or `;`.
    pub span: Span,
}

/// `[name(arguments)]` before a declaration or statement.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: Ident,
    /// The arguments in parentheses; empty without them.
    pub arguments: &'a [&'a Expr<'a>],
    /// From `[` to `]`.
    pub span: Span,
}

/// The kinds of declaration that a file may have.
#[derive(Clone, Copy, Debug)]
pub enum ItemKind<'a> {
    /// A function, a prototype or a shader.
    Function(&'a FunctionDef<'a>),
    /// `struct name { … };`
    Struct(&'a StructDef<'a>),
    /// File-scope constants and arrays, `texture2d g;`, `shader_resource r;`.
    Declaration(&'a Declaration<'a>),
    /// `typedef float3 name;`
    TypeAlias(&'a TypeAlias<'a>),
    /// An item that could not be parsed. The names that it most likely declares count as declared.
    Broken(&'a [Ident]),
}

/// `typedef type name;`
#[derive(Clone, Copy, Debug)]
pub struct TypeAlias<'a> {
    /// The type that it names.
    pub ty: TypeExpr<'a>,
    /// The new name.
    pub name: Ident,
    /// Dimensions after the name, outermost first.
    pub dimensions: &'a [Dimension<'a>],
}

/// A function, a prototype (no body), a method or a shader entry.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDef<'a> {
    /// The attributes before it.
    pub attributes: &'a [Attribute<'a>],
    /// Whether its result is declared `no_diff`.
    pub is_no_diff: bool,
    /// The result type; `None` for a `shader`.
    pub result: Option<TypeExpr<'a>>,
    /// Its name.
    pub name: Ident,
    /// Its parameters, in order.
    pub parameters: &'a [ParamDecl<'a>],
    /// The span of `(…)`.
    pub parameters_span: Span,
    /// The statements between its braces; `None` for a prototype.
    pub body: Option<BlockStmt<'a>>,
}

impl FunctionDef<'_> {
    /// Whether it was introduced by `shader`.
    pub fn is_shader(&self) -> bool {
        self.result.is_none()
    }
}

/// The direction in which a parameter's value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ParamDirection {
    /// Into the function; the default.
    #[default]
    In,
    /// Out of it.
    Out,
    /// Both ways.
    InOut,
}

/// One parameter of a function or input or output of a shader.
#[derive(Clone, Copy, Debug)]
pub struct ParamDecl<'a> {
    /// `in`, `out`, `inout`.
    pub direction: ParamDirection,
    /// Whether it says `const`.
    pub is_const: bool,
    /// Whether it says `no_diff`.
    pub is_no_diff: bool,
    /// Its type as written before the name.
    pub ty: TypeExpr<'a>,
    /// Its name, and the dimensions, default and metadata after it.
    pub declarator: Declarator<'a>,
    /// From its first word to its last.
    pub span: Span,
}

/// One entry of `<<< name = literal, flag >>>`.
#[derive(Clone, Copy, Debug)]
pub struct MetadataItem<'a> {
    /// Its key.
    pub name: Ident,
    /// Its value: a literal, perhaps under a sign; `None` for a flag.
    pub value: Option<&'a Expr<'a>>,
}

/// `struct name { … };`
#[derive(Clone, Copy, Debug)]
pub struct StructDef<'a> {
    /// Its name.
    pub name: Ident,
    /// The interfaces after the `:`.
    pub interfaces: &'a [Ident],
    /// Its members' declarations, in order.
    pub members: &'a [Declaration<'a>],
    /// The names that it gives to types.
    pub aliases: &'a [TypeAlias<'a>],
    /// Its methods, in order.
    pub methods: &'a [FunctionDef<'a>],
}

/// One type, one or more names: a local, a file-scope constant, members of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// Whether it says `const`.
    pub is_const: bool,
    /// Whether it says `no_diff`; members of structs alone do.
    pub is_no_diff: bool,
    /// The type before the names.
    pub ty: TypeExpr<'a>,
    /// The names; never empty.
    pub declarators: &'a [Declarator<'a>],
    /// From its first word to before the `;`.
    pub span: Span,
}

impl Declaration<'_> {
    /// Whether it declares textures.
    pub fn is_of_textures(&self) -> bool {
        self.ty.name == TypeName::Keyword(TypeKeyword::Texture2d)
    }
}

/// A declared name with its own dimensions, initialiser and metadata: `w[8] = { 1.0 }`.
#[derive(Clone, Copy, Debug)]
pub struct Declarator<'a> {
    /// The name.
    pub name: Ident,
    /// Dimensions after the name, outermost first; those of the type (`float[8] w`) come after
    /// them.
    pub dimensions: &'a [Dimension<'a>],
    /// The initialiser.
    pub init: Option<&'a Initializer<'a>>,
    /// The metadata between `<<<` and `>>>`, which only shader parameters and textures have.
    pub metadata: &'a [MetadataItem<'a>],
    /// From the name to the last of them.
    pub span: Span,
}

/// `[n]` of an array type.
#[derive(Clone, Copy, Debug)]
pub struct Dimension<'a> {
    /// The number of elements; `None` for `[]`.
    pub size: Option<&'a Expr<'a>>,
    /// From `[` to `]`.
    pub span: Span,
}

/// The initialiser after the `=` of a declaration.
#[derive(Clone, Copy, Debug)]
pub struct Initializer<'a> {
    /// An expression or a list.
    pub kind: InitializerKind<'a>,
    /// Its span.
    pub span: Span,
}

/// An expression, or braces around initialisers.
#[derive(Clone, Copy, Debug)]
pub enum InitializerKind<'a> {
    /// `= e`
    Expr(&'a Expr<'a>),
    /// `= { a, { b, c } }`
    List(&'a [Initializer<'a>]),
}

/// A type as written.
#[derive(Clone, Copy, Debug)]
pub struct TypeExpr<'a> {
    /// The type's name.
    pub name: TypeName,
    /// The types between `<` and `>`.
    pub arguments: &'a [TypeExpr<'a>],
    /// `.Differential` after it, as often as it is written.
    pub path: &'a [Ident],
    /// Dimensions directly after the name (`float[8] w`), outermost first.
    pub dimensions: &'a [Dimension<'a>],
    /// Name and dimensions.
    pub span: Span,
}

/// The name of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeName {
    /// A keyword.
    Keyword(TypeKeyword),
    /// `pair`, `color`: a struct or a predeclared name.
    Named(Symbol),
    /// `struct pair`: certainly a struct.
    Struct(Symbol),
}

/// Statements in braces: a scope of their own.
#[derive(Clone, Copy, Debug)]
pub struct BlockStmt<'a> {
    /// In order.
    pub statements: &'a [Stmt<'a>],
    /// From `{` to `}`.
    pub span: Span,
}

/// One statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt<'a> {
    /// The attributes before it.
    pub attributes: &'a [Attribute<'a>],
    /// The kind of statement.
    pub kind: StmtKind<'a>,
    /// From its first word to its `;` or `}`.
    pub span: Span,
}

/// The kinds of statement. An unbraced body is a scope like a block (`if (a) int tmp = 0;`).
#[derive(Clone, Copy, Debug)]
pub enum StmtKind<'a> {
    /// `float a = 1, b;`
    Declaration(&'a Declaration<'a>),
    /// `e;`
    Expr(&'a Expr<'a>),
    /// `{ … }`
    Block(BlockStmt<'a>),
    /// `if (condition) body else if (condition) body else otherwise`, any number of conditions
    If {
        /// The conditions with their bodies, tested in order; never empty.
        arms: &'a [IfArm<'a>],
        /// The `else` body, run if no condition holds.
        otherwise: Option<&'a Stmt<'a>>,
    },
    /// `for (init; condition; step) body`
    For(&'a ForLoop<'a>),
    /// `while (condition) body`
    While {
        /// Evaluated before each iteration.
        condition: &'a Expr<'a>,
        /// Run in each iteration.
        body: &'a Stmt<'a>,
    },
    /// `do body while (condition);`
    DoWhile {
        /// Run in each iteration.
        body: &'a Stmt<'a>,
        /// Evaluated after each iteration.
        condition: &'a Expr<'a>,
    },
    /// `switch (value) { case 1: … default: … }`
    Switch {
        /// The value compared with the labels.
        value: &'a Expr<'a>,
        /// The labels with the statements after each, in order; control falls from one into the
        /// next.
        cases: &'a [SwitchCase<'a>],
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return e;`
    Return(Option<&'a Expr<'a>>),
    /// `;`
    Empty,
    /// A statement that could not be parsed, with the names that it most likely declares.
    Broken(&'a [Ident]),
}

/// A condition of an `if`, and the body that runs where it is the first that holds.
#[derive(Clone, Copy, Debug)]
pub struct IfArm<'a> {
    /// The condition.
    pub condition: &'a Expr<'a>,
    /// Run if it holds.
    pub body: &'a Stmt<'a>,
    /// From its `if` to the end of its body.
    pub span: Span,
}

/// A `for` loop. Its header is a scope around its body.
#[derive(Clone, Copy, Debug)]
pub struct ForLoop<'a> {
    /// Run once, before the loop.
    pub init: ForInit<'a>,
    /// Evaluated in order before each iteration; the last one decides. Empty means always true.
    pub conditions: &'a [&'a Expr<'a>],
    /// Evaluated in order after each iteration.
    pub updates: &'a [&'a Expr<'a>],
    /// Run in each iteration.
    pub body: &'a Stmt<'a>,
}

/// The first part of a `for` header.
#[derive(Clone, Copy, Debug)]
pub enum ForInit<'a> {
    /// `int i = 0, j = 1`
    Declaration(&'a Declaration<'a>),
    /// `i = 0, j = 1`, perhaps nothing.
    Exprs(&'a [&'a Expr<'a>]),
}

/// One label of a `switch` and the statements up to the next.
#[derive(Clone, Copy, Debug)]
pub struct SwitchCase<'a> {
    /// The constant; `None` for `default`.
    pub label: Option<&'a Expr<'a>>,
    /// The statements after the label; empty where labels share their statements.
    pub statements: &'a [Stmt<'a>],
    /// From `case` or `default` to its last statement.
    pub span: Span,
}

/// One expression.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// The kind of expression.
    pub kind: ExprKind<'a>,
    /// Its span, parentheses around it included.
    pub span: Span,
}

impl Expr<'_> {
    /// The operands of an ordering (`a < b`) without parentheses around it. Parentheses would have
    /// widened its span beyond that of its left operand.
    pub fn bare_ordering(&self) -> Option<(&Expr<'_>, &Expr<'_>)> {
        match self.kind {
            ExprKind::Binary(op, left, right)
                if op.is_ordering() && left.span.start == self.span.start =>
            {
                Some((left, right))
            }
            _ => None,
        }
    }

    /// The span of `<T>`, with blanks around it, in `f <T> x`: two names before the last operand,
    /// which make no sense as a comparison. A call with a type as its argument is parsed as that.
    pub fn type_argument(&self) -> Option<Span> {
        let ExprKind::Binary(BinaryOp::Greater, left, right) = self.kind else {
            return None;
        };
        let ExprKind::Binary(BinaryOp::Less, name, argument) = left.kind else {
            return None;
        };
        let are_names = matches!(
            [name.kind, argument.kind],
            [ExprKind::Name(_), ExprKind::Name(_)]
        );
        (are_names && left.bare_ordering().is_some()).then_some(Span {
            start: name.span.end,
            end: right.span.start,
            ..self.span
        })
    }
}

/// The kinds of expression. Operands are evaluated left to right.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// `0.5`, `.5f`, `4.e1`
    Float(f32),
    /// `7`, or the 32-bit pattern of `0x1f`. `2147483648` occurs only below a minus and is
    /// `i32::MIN`.
    Int(i32),
    /// `7u`, `0x1fu`
    Uint(u32),
    /// `true`, `false`
    Bool(bool),
    /// `"text"`, its escapes resolved
    String(Symbol),
    /// `x`
    Name(Symbol),
    /// `-x`
    Unary(UnaryOp, &'a Expr<'a>),
    /// `a + b`
    Binary(BinaryOp, &'a Expr<'a>, &'a Expr<'a>),
    /// `a = b`; with an operator, `a += b`
    Assign {
        /// The operator before the `=`.
        op: Option<BinaryOp>,
        /// The assigned expression. The type checker decides whether it is a place.
        place: &'a Expr<'a>,
        /// The assigned value.
        value: &'a Expr<'a>,
    },
    /// `++a`, `a--`
    IncDec {
        /// Increment or decrement.
        step: IncDecOp,
        /// Whether the operator comes after the operand: the result is then the old value.
        postfix: bool,
        /// The place that is incremented or decremented.
        place: &'a Expr<'a>,
    },
    /// `condition ? yes : no`
    Ternary {
        /// The condition.
        condition: &'a Expr<'a>,
        /// The value if it holds.
        yes: &'a Expr<'a>,
        /// The value if it does not.
        no: &'a Expr<'a>,
    },
    /// `(int)x`
    Cast(TypeKeyword, &'a Expr<'a>),
    /// `float3(x, y, z)`: a keyword type called
    Construct(TypeKeyword, &'a [&'a Expr<'a>]),
    /// `f(x, y)`; also `color(k)` and other types that are names. Arguments that could not be
    /// parsed are one `Broken` node, here and below, so their number means nothing then.
    Call(Ident, &'a [&'a Expr<'a>]),
    /// `obj.method(x)`, `fwd_diff(f)(x)`: something other than a name or keyword called
    Apply(&'a Expr<'a>, &'a [&'a Expr<'a>]),
    /// `DifferentialPair<float>(p, d)`: a type with arguments called
    ConstructType(&'a TypeExpr<'a>, &'a [&'a Expr<'a>]),
    /// `{ a, b }` where an expression is expected
    List(&'a Initializer<'a>),
    /// `no_diff f(x)`
    NoDiff(&'a Expr<'a>),
    /// `a[i]`
    Index(&'a Expr<'a>, &'a Expr<'a>),
    /// `a.x`: a struct's member or a swizzle
    Member(&'a Expr<'a>, Ident),
    /// `global_value<name>`
    GlobalValue(Ident),
    /// `raymarch<field>(origin, direction, steps)`
    Raymarch(Ident, &'a [&'a Expr<'a>]),
    /// `make_closure<Name>(a, b)`
    MakeClosure(Ident, &'a [&'a Expr<'a>]),
    /// `texture2d_sample<name>(u, v)` and its relatives
    TextureSample(TextureSample, Ident, &'a [&'a Expr<'a>]),
    /// An expression that could not be parsed.
    Broken,
}

/// The keyword of a texture sample: its result, and how it chooses the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureSample {
    /// `texture2d_sample_alpha`: the alpha instead of the colour.
    pub alpha: bool,
    /// How it chooses the level of detail.
    pub mip: MipSelection,
}

impl TextureSample {
    /// The keyword.
    pub const fn keyword(self) -> &'static str {
        match (self.alpha, self.mip) {
            (false, MipSelection::Shadows) => "texture2d_sample",
            (false, MipSelection::GRADIENTS) => "texture2d_sample_grad",
            (false, MipSelection::LEVEL) => "texture2d_sample_level",
            (true, MipSelection::Shadows) => "texture2d_sample_alpha",
            (true, MipSelection::GRADIENTS) => "texture2d_sample_alpha_grad",
            (true, MipSelection::LEVEL) => "texture2d_sample_alpha_level",
        }
    }
}

/// One entry typed into the REPL.
#[derive(Clone, Copy, Debug)]
pub enum ReplEntry<'a> {
    /// `u = 0.25 : 1.0/512 : 0`: a variable with its shadows.
    Seed {
        /// The variable.
        name: Ident,
        /// Its value.
        value: &'a Expr<'a>,
        /// Its change per pixel along x.
        ddx: &'a Expr<'a>,
        /// Its change per pixel along y; zero if it is left out.
        ddy: Option<&'a Expr<'a>>,
    },
    /// An expression or a statement, a local declaration among them.
    Statement(&'a Stmt<'a>),
    /// A function, a struct, a texture.
    Item(&'a Item<'a>),
}

impl ReplEntry<'_> {
    /// Its span.
    pub fn span(&self) -> Span {
        match self {
            ReplEntry::Seed { name, ddx, ddy, .. } => name.span.to(ddy.unwrap_or(ddx).span),
            ReplEntry::Statement(statement) => statement.span,
            ReplEntry::Item(item) => item.span,
        }
    }
}
