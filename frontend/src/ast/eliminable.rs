//! Blocks after `[EliminateIfUnused]`, which a host can leave out, and functions after `[Animate]`.
//!
//! A block's number is its position among those of its source, in the order of their first bytes,
//! so a block within another one comes after it.

use super::{AstFile, Attribute, FunctionDef, Item, ItemKind, Stmt, StmtKind};
use crate::interner::Interner;
use adumbra_ir::Span;

/// The attribute before a block that may be left out.
pub const ELIMINATE_IF_UNUSED: &str = "EliminateIfUnused";

/// The attribute before a function that is meant to be replaced where a shader is animated.
pub const ANIMATE: &str = "Animate";

/// A block after `[EliminateIfUnused]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EliminableBlock {
    /// From its first attribute to its `}`.
    pub span: Span,
    /// Whether it is the whole body of a condition or loop, so that something must be in its place.
    pub is_body: bool,
}

/// Whether one of the attributes has that name.
pub fn has_attribute(attributes: &[Attribute], name: &str, interner: &Interner) -> bool {
    let mut names = attributes.iter().map(|one| interner.name(one.name.symbol));
    names.any(|found| found == name)
}

/// The blocks of a source that can be left out, by their numbers.
pub fn eliminable_blocks(file: &AstFile, interner: &Interner) -> Vec<EliminableBlock> {
    let mut walk = Walk {
        interner,
        found: Vec::new(),
    };
    for body in functions(file).filter_map(|function| function.body) {
        walk.statements(body.statements);
    }
    walk.found
}

/// The functions, methods and shaders of a source, in order.
fn functions<'f, 'a>(file: &'f AstFile<'a>) -> impl Iterator<Item = &'f FunctionDef<'a>> {
    file.items.iter().flat_map(|item: &'f Item<'a>| {
        let (alone, methods) = match item.kind {
            ItemKind::Function(function) => (Some(function), &[][..]),
            ItemKind::Struct(structure) => (None, structure.methods),
            _ => (None, &[][..]),
        };
        alone.into_iter().chain(methods)
    })
}

/// The functions of a source that are meant to be replaced where it is animated, in order.
pub fn animated_functions<'f, 'a>(
    file: &'f AstFile<'a>,
    interner: &'f Interner,
) -> impl Iterator<Item = &'f FunctionDef<'a>> {
    let is_hook = |function: &&FunctionDef<'a>| {
        function.body.is_some() && has_attribute(function.attributes, ANIMATE, interner)
    };
    functions(file).filter(is_hook)
}

/// A walk over statements. The height of trees is bounded.
struct Walk<'i> {
    interner: &'i Interner,
    found: Vec<EliminableBlock>,
}

impl Walk<'_> {
    fn statements(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|one| self.statement(one, false));
    }

    fn body(&mut self, body: &Stmt) {
        self.statement(body, true);
    }

    fn statement(&mut self, statement: &Stmt, is_body: bool) {
        match statement.kind {
            StmtKind::Block(block) => {
                if has_attribute(statement.attributes, ELIMINATE_IF_UNUSED, self.interner) {
                    let span = statement.span;
                    self.found.push(EliminableBlock { span, is_body });
                }
                self.statements(block.statements);
            }
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|arm| self.body(arm.body));
                otherwise.into_iter().for_each(|body| self.body(body));
            }
            StmtKind::For(parts) => self.body(parts.body),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => self.body(body),
            StmtKind::Switch { cases, .. } => {
                cases
                    .iter()
                    .for_each(|case| self.statements(case.statements));
            }
            StmtKind::Declaration(_)
            | StmtKind::Expr(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Empty
            | StmtKind::Broken(_) => {}
        }
    }
}
