//! Type checker: names, types, overloads. It turns syntax trees into the typed tree.
//!
//! First all declarations of the files are gathered ([`declare`]). Then every body is checked
//! ([`statement`], [`expression`] and their helpers). Library functions join the queue when a call
//! first names them. A diagnostic never stops the rest: an expression with an error gets
//! [`TypeId::ERROR`], which silences consequential errors.

mod buffer;
pub mod builtin;
mod call;
mod closure;
mod constant_folding;
mod convert;
mod declare;
mod derivative;
mod differential;
mod each_expr;
mod eliminate;
mod expression;
mod foreign;
mod initializer;
mod local_declaration;
mod march;
mod matrix;
mod metadata;
mod method;
mod misspelt_keyword;
mod operator;
mod overload_resolution;
mod place;
mod printf;
mod recursion;
mod session;
mod statement;
pub(crate) mod suggest;
mod switch;
mod symbol_table;
mod topological_order;
mod type_resolution;
pub mod typed_tree;
pub mod types;
mod warning;

use crate::ast;
use crate::interner::{Interner, Symbol};
use crate::limits::{MAX_DIAGNOSTICS, MAX_MESSAGE_BYTES};
use adumbra_ir::module::{Decides, Message, Slopes};
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use bumpalo::Bump;
pub(crate) use call::is_built_in;
pub use closure::RegisteredClosure;
pub(crate) use convert::conversion_ops;
pub use convert::implicit_conversion;
pub(crate) use derivative::attribute::is_attribute;
pub use session::SessionOutput;
use std::collections::{HashMap, HashSet};
use symbol_table::SymbolTable;
pub use symbol_table::{HIT_GLOBALS, predeclared_type_names};
use typed_tree::{
    DerivedFunction, FunctionId, Local, LocalId, TypedExpr, TypedFunction, TypedParam,
    TypedProgram, TypedStmt,
};
use types::{TypeId, TypeTable};

/// The input of the checker.
#[derive(Debug)]
pub struct CheckRequest<'a, 'c> {
    /// The user's parsed sources.
    pub files: &'c [ast::AstFile<'a>],
    /// The host's globals; no arrays, no closures.
    pub globals: &'c [(String, adumbra_ir::Type)],
    /// The closures that the host knows; `None` admits any closure.
    pub closures: Option<&'c [RegisteredClosure]>,
    /// An entry typed into a session; a shader is made for it.
    pub entry: Option<ast::ReplEntry<'a>>,
    /// Whether every function counts as `[Differentiable]`.
    pub all_marked: bool,
    /// Whether samples have slopes, by which gradients of coordinates pass.
    pub slopes: Slopes,
    /// Whether the globals are a struct of the host's, to which no option of the command adds.
    pub is_host_struct: bool,
    /// The numbers of the [eliminable blocks](ast::EliminableBlock) of the first file that are left
    /// out: they are checked, and do not run.
    pub eliminated: &'c [u32],
}

/// The output of the checker.
#[derive(Debug)]
pub struct CheckOutput<'a> {
    /// The program; it may be lowered only if no diagnostic is an error.
    pub program: TypedProgram<'a>,
    /// Errors in the order of the sources, at most [`MAX_DIAGNOSTICS`] and one that reports more;
    /// as many warnings, only where there is no error.
    pub diagnostics: Vec<Diagnostic>,
    /// The entry made for [`CheckRequest::entry`], a shader without inputs, and what its outputs
    /// are.
    pub entry: Option<(FunctionId, Vec<SessionOutput>)>,
}

/// Checks a program. Nodes of the typed tree are put into `arena`.
pub fn check<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    request: CheckRequest<'a, '_>,
) -> CheckOutput<'a> {
    let mut checker = TypeChecker::new(arena, interner);
    checker.derivatives.all_marked = request.all_marked;
    checker.derivatives.slopes = request.slopes;
    checker.is_host_struct = request.is_host_struct;
    checker.declare_globals(request.globals);
    if let Some(closures) = request.closures {
        checker.register_closures(closures);
    }
    checker.declare_files(request.files);
    checker.eliminate(request.files, request.eliminated);
    let entry = request.entry.map(|entry| checker.check_entry(&entry));
    checker.check_functions();
    checker.check_fields();
    checker.warn_shaders_without_effect();
    // They are followed through all that functions say.
    if !request.files.iter().any(|file| file.is_broken) {
        checker.check_gradients();
    }
    checker.warn_endless_recursion();
    checker.finish(entry)
}

/// Shortens the sentences of a diagnostic to [`MAX_MESSAGE_BYTES`].
fn truncate_messages(mut diagnostic: Diagnostic) -> Diagnostic {
    let own = [&mut diagnostic.message, &mut diagnostic.label];
    let others = diagnostic.labels.iter_mut().map(|label| &mut label.message);
    for sentence in own.into_iter().chain(&mut diagnostic.help).chain(others) {
        if sentence.len() > MAX_MESSAGE_BYTES {
            sentence.truncate(sentence.floor_char_boundary(MAX_MESSAGE_BYTES - '…'.len_utf8()));
            sentence.push('…');
        }
    }
    diagnostic
}

/// The current function while no body is checked.
const NO_FUNCTION: FunctionId = FunctionId(u32::MAX);

/// Where a function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionOrigin {
    /// A declaration of the user or of the library.
    Declared,
    /// An entry of a session.
    Entry,
    /// A derivative of another function, or a built-in as a function.
    Made,
}

/// A declared function.
#[derive(Clone, Copy, Debug)]
struct DeclaredFunction<'a> {
    origin: FunctionOrigin,
    /// The definition, or the prototype as long as there is no definition.
    syntax: Option<&'a ast::FunctionDef<'a>>,
    name: ast::Ident,
    is_library: bool,
    /// The attributes of its definition and of its prototype.
    attributes: [&'a [ast::Attribute<'a>]; 2],
    marks: derivative::Marks,
    /// The derivative that it is.
    derived: Option<DerivedFunction<'a>>,
    /// The march that it is a part of: what the template names, it calls.
    march: Option<march::MarchId>,
    /// What counts of its decisions.
    decides: Decides,
    /// The struct that it is a method of; `this` is its first parameter then.
    owner: Option<TypeId>,
    result: TypeId,
    is_no_diff: bool,
    params: &'a [TypedParam<'a>],
    /// The function of the same name declared before.
    next: Option<FunctionId>,
    locals: &'a [Local],
    body: &'a [TypedStmt<'a>],
}

impl<'a> DeclaredFunction<'a> {
    /// A function without parameters and body.
    fn new(name: ast::Ident, origin: FunctionOrigin) -> DeclaredFunction<'a> {
        DeclaredFunction {
            origin,
            syntax: None,
            name,
            is_library: false,
            attributes: [&[]; 2],
            marks: derivative::Marks::default(),
            derived: None,
            march: None,
            decides: Decides::Own,
            owner: None,
            result: TypeId::VOID,
            is_no_diff: false,
            params: &[],
            next: None,
            locals: &[],
            body: &[],
        }
    }
}

/// A constant of a file.
#[derive(Clone, Copy, Debug)]
struct FileConstant<'a> {
    name: ast::Ident,
    ty: TypeId,
    /// The bits of its scalars; `None` if it was reported as broken.
    bits: Option<&'a [u32]>,
    /// In the body being checked, the variable that holds it: arrays need memory to be indexed.
    local: Option<(FunctionId, LocalId)>,
}

/// A struct of a file.
#[derive(Clone, Copy, Debug)]
struct StructItem<'a> {
    syntax: &'a ast::StructDef<'a>,
    state: StructState,
}

#[derive(Clone, Copy, Debug)]
enum StructState {
    Waiting,
    /// Its members are being resolved.
    Open,
    Done(TypeId),
}

/// Properties of a variable beside its [`Local`].
#[derive(Clone, Copy, Debug)]
struct LocalProperties {
    is_const: bool,
    /// Whether it lives from the beginning of the function, wherever it was first named.
    is_hoisted: bool,
    /// Whether something is assigned to it after its declaration.
    is_written: bool,
    /// Its bits, if it is a constant scalar.
    bits: Option<u32>,
}

/// The meaning of an enclosing statement for `break`, `continue` and changed variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnclosingKind {
    Loop,
    Switch,
    /// An `if` with several conditions; no jump leaves it.
    Chain,
}

/// A statement around the one being checked.
#[derive(Clone, Copy, Debug)]
struct Enclosing {
    kind: EnclosingKind,
    first_local: LocalId,
    changed_from: usize,
    breaks: bool,
    continues: bool,
}

/// The signature of a closure: its name and the types of its arguments.
type ClosureKey = (Symbol, Vec<TypeId>);

/// The state of the body being checked.
#[derive(Debug, Default)]
struct BodyState<'a> {
    locals: Vec<Local>,
    properties: Vec<LocalProperties>,
    /// How often each variable is read, exact only as to 0 or more.
    reads: Vec<u32>,
    /// The enclosing loops, switches and chains of conditions, the innermost last.
    enclosing: Vec<Enclosing>,
    /// Variables written so far inside those.
    changed: Vec<LocalId>,
    /// Statements that run before the first one.
    hoisted: Vec<TypedStmt<'a>>,
    /// In a method, `this`.
    this: Option<LocalId>,
}

struct TypeChecker<'a, 'c> {
    arena: &'a Bump,
    interner: &'c mut Interner,
    names: SymbolTable,
    types: TypeTable,
    functions: Vec<DeclaredFunction<'a>>,
    constants: Vec<FileConstant<'a>>,
    structs: Vec<StructItem<'a>>,
    aliases: Vec<type_resolution::AliasItem<'a>>,
    /// The newest method of each name, by struct.
    methods: HashMap<(TypeId, Symbol), FunctionId>,
    derivatives: derivative::Derivatives,
    marches: march::Marches<'a>,
    textures: Vec<typed_tree::TypedTexture<'a>>,
    buffers: Vec<typed_tree::TypedBuffer<'a>>,
    resources: Vec<ast::Ident>,
    messages: Vec<Message>,
    closures: Vec<ClosureKey>,
    /// Names of constants that are not declared yet.
    undeclared_constants: HashSet<Symbol>,
    /// `None` if the host has no registry.
    registry: Option<HashMap<Symbol, closure::ClosureParams>>,
    closure_numbers: HashMap<ClosureKey, u32>,
    globals: Vec<(Symbol, TypeId)>,
    is_host_struct: bool,
    /// The blocks that are left out.
    eliminated: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
    /// The diagnostic that reports each name that a function lacks, by index. The key has the file
    /// for names outside of functions.
    lacking: HashMap<(Code, FunctionId, FileId, Symbol), usize>,
    warnings: Vec<Diagnostic>,
    /// The shaders of which a warning says that an input may be meant as an output.
    shaders_with_written_inputs: HashSet<FunctionId>,
    /// The function whose body is being checked.
    current: FunctionId,
    /// The function whose parameters' defaults are being checked.
    defaults_of: Option<&'a ast::FunctionDef<'a>>,
    is_library: bool,
    result: TypeId,
    body: BodyState<'a>,
    session: Option<session::EntryState>,
}

impl<'a, 'c> TypeChecker<'a, 'c> {
    fn new(arena: &'a Bump, interner: &'c mut Interner) -> TypeChecker<'a, 'c> {
        let mut names = SymbolTable::new();
        names.grow(interner.len());
        TypeChecker {
            arena,
            interner,
            names,
            types: TypeTable::new(),
            functions: Vec::new(),
            constants: Vec::new(),
            structs: Vec::new(),
            aliases: Vec::new(),
            methods: HashMap::new(),
            derivatives: derivative::Derivatives::default(),
            marches: march::Marches::default(),
            textures: Vec::new(),
            buffers: Vec::new(),
            resources: Vec::new(),
            messages: Vec::new(),
            closures: Vec::new(),
            undeclared_constants: HashSet::new(),
            registry: None,
            closure_numbers: HashMap::new(),
            globals: Vec::new(),
            is_host_struct: false,
            eliminated: Vec::new(),
            diagnostics: Vec::new(),
            lacking: HashMap::new(),
            warnings: Vec::new(),
            shaders_with_written_inputs: HashSet::new(),
            current: NO_FUNCTION,
            defaults_of: None,
            is_library: false,
            result: TypeId::VOID,
            body: BodyState::default(),
            session: None,
        }
    }

    fn finish(mut self, entry: Option<(FunctionId, Vec<SessionOutput>)>) -> CheckOutput<'a> {
        self.diagnostics
            .sort_by_key(|d| (d.span.file, d.span.start));
        if let Some(next) = self.diagnostics.get(MAX_DIAGNOSTICS) {
            let message = format!("there are more than {MAX_DIAGNOSTICS} errors");
            let rest = Diagnostic::new(Code::TooManyErrors, next.span, message)
                .here("the next one")
                .help("fix the first ones; the others may follow from them");
            self.diagnostics.truncate(MAX_DIAGNOSTICS);
            self.diagnostics.push(rest);
        }
        if self.diagnostics.is_empty() {
            self.warnings.sort_by_key(|d| (d.span.file, d.span.start));
            self.diagnostics = std::mem::take(&mut self.warnings);
        }
        CheckOutput {
            program: self.take_program(),
            diagnostics: self.diagnostics,
            entry,
        }
    }

    /// The program, with the types of the checker, which has none left.
    fn take_program(&mut self) -> TypedProgram<'a> {
        let names = self.qualified_names();
        let function = |(f, name): (&DeclaredFunction<'a>, Symbol)| TypedFunction {
            name,
            span: f.name.span,
            is_shader: match f.syntax {
                Some(syntax) => syntax.is_shader(),
                None => f.origin == FunctionOrigin::Entry,
            },
            is_library: f.is_library,
            result: f.result,
            is_no_diff: f.is_no_diff,
            derived: f.derived,
            custom: f.marks.rules,
            decides: f.decides,
            keeps: f.marks.keeps.map(|(keeps, span)| {
                let body = f.syntax.and_then(|syntax| syntax.body);
                (
                    keeps,
                    body.map_or(f.name.span, |body| f.name.span.to(body.span)),
                    span,
                )
            }),
            params: f.params,
            locals: f.locals,
            body: f.body,
        };
        TypedProgram {
            functions: self.functions.iter().zip(names).map(function).collect(),
            types: std::mem::take(&mut self.types),
            textures: self.textures.clone(),
            buffers: self.buffers.clone(),
            resources: self.resources.iter().map(|name| name.symbol).collect(),
            closures: self.closures.clone(),
            messages: self.messages.clone(),
            globals: self.globals.clone(),
        }
    }

    fn declared(&self, id: FunctionId) -> &DeclaredFunction<'a> {
        &self.functions[id.0 as usize]
    }

    /// Whether there are more errors than are reported; the search ends then.
    fn is_error_limit_reached(&self) -> bool {
        self.diagnostics.len() > MAX_DIAGNOSTICS
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.is_error_limit_reached() {
            self.diagnostics.push(truncate_messages(diagnostic));
        }
    }

    fn symbol_name(&self, symbol: Symbol) -> &str {
        self.interner.name(symbol)
    }

    /// A type as it is written, in backquotes.
    fn quoted_type(&self, ty: TypeId) -> String {
        format!("`{}`", self.types.name(ty, self.interner))
    }

    /// Puts an expression into the arena.
    fn alloc(&self, expr: TypedExpr<'a>) -> &'a TypedExpr<'a> {
        self.arena.alloc(expr)
    }

    /// Adds a variable to the function.
    fn add_local(&mut self, local: Local, facts: LocalProperties) -> LocalId {
        let id = LocalId(self.body.locals.len() as u32);
        self.body.locals.push(local);
        self.body.properties.push(facts);
        self.body.reads.push(0);
        id
    }

    fn properties(&self, local: LocalId) -> &LocalProperties {
        &self.body.properties[local.0 as usize]
    }
}
