//! Entries of a session: one typed source holds several, each a declaration or something to
//! evaluate.

use adumbra_frontend::ast::{Expr, ReplEntry, Stmt, StmtKind, TypeName};
use adumbra_frontend::token_kind::TypeKeyword;
use adumbra_frontend::{Interner, ReplParse, parse_repl};
use adumbra_ir::{Diagnostic, FileId, Span};
use adumbra_vm::FloatEnvironment;
use bumpalo::Bump;
use std::ops::Range;

pub use adumbra_frontend::check::SessionOutput;

/// The content of a typed source.
#[derive(Clone, Debug)]
pub enum SessionEntries {
    /// Entries, in order.
    Complete(Vec<SessionEntry>),
    /// It may become valid with further lines: a bracket or comment is open, or a body is still to
    /// come. Its diagnostics hold if none comes.
    Incomplete(Vec<Diagnostic>),
    /// No further line fixes it.
    Invalid(Vec<Diagnostic>),
}

/// One entry of a typed source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEntry {
    /// A function, struct, constant or texture, by its bytes: to be kept among the sources of later
    /// compilations.
    Item(Range<usize>),
    /// An expression, an assignment, another statement, or a variable with its derivatives, by its
    /// bytes: to be compiled and evaluated.
    Run(Range<usize>),
}

/// Parses a typed source. Its [`FileId`] is that of the first source.
///
/// ```
/// use adumbra::session::{SessionEntries, SessionEntry, parse_entries};
/// let SessionEntries::Complete(found) = parse_entries("float f(float x) { return x; } f(1)") else { panic!() };
/// assert_eq!(found, [SessionEntry::Item(0..30), SessionEntry::Run(31..35)]);
/// assert!(matches!(parse_entries("float f(float x) {"), SessionEntries::Incomplete(_)));
/// assert!(matches!(parse_entries("1 + )"), SessionEntries::Invalid(_)));
/// ```
pub fn parse_entries(text: &str) -> SessionEntries {
    let _mode = FloatEnvironment::enter();
    let (arena, mut interner) = (Bump::new(), Interner::new());
    match parse_repl(&arena, &mut interner, FileId::MAIN, text) {
        ReplParse::Incomplete(diagnostics) => SessionEntries::Incomplete(diagnostics),
        ReplParse::Invalid(diagnostics) => SessionEntries::Invalid(diagnostics),
        ReplParse::Complete(entries) => {
            SessionEntries::Complete(entries.iter().map(kind).collect())
        }
    }
}

fn kind(entry: &ReplEntry<'_>) -> SessionEntry {
    let span = entry.span();
    let bytes = span.start as usize..span.end as usize;
    match entry {
        ReplEntry::Item(_) => SessionEntry::Item(bytes),
        ReplEntry::Statement(statement) if declares_resource(statement) => {
            SessionEntry::Item(bytes)
        }
        ReplEntry::Seed { .. } | ReplEntry::Statement(_) => SessionEntry::Run(bytes),
    }
}

/// A declaration that would be a variable of a file, not of a function: `texture2d wood;`.
fn declares_resource(statement: &Stmt<'_>) -> bool {
    let StmtKind::Declaration(declaration) = &statement.kind else {
        return false;
    };
    matches!(
        declaration.ty.name,
        TypeName::Keyword(TypeKeyword::Texture2d | TypeKeyword::ShaderResource)
    )
}

/// The bytes of the declaration that contains a position, in a source without errors of syntax;
/// `None` if none does.
pub fn item_at(text: &str, byte: u32) -> Option<Range<usize>> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
    let holds = |span: &Span| (span.start..span.end).contains(&byte);
    let span = file.items.iter().map(|item| item.span).find(holds)?;
    Some(span.start as usize..span.end as usize)
}

/// An expression as an entry.
pub(crate) fn expression_entry<'a>(expr: &'a Expr<'a>, arena: &'a Bump) -> ReplEntry<'a> {
    ReplEntry::Statement(arena.alloc(Stmt {
        attributes: &[],
        kind: StmtKind::Expr(expr),
        span: expr.span,
    }))
}
