//! Validates trees: refuses those that are too high, chained comparisons and types as arguments.
//!
//! Each tree is walked once, as soon as it is complete and while it is still in the cache.
//! Recursion ends at [`MAX_TREE_HEIGHT`].

use crate::ast::{
    Attribute, BlockStmt, Declaration, Declarator, Dimension, Expr, ExprKind, ForInit, FunctionDef,
    Initializer, InitializerKind, Item, ItemKind, ReplEntry, Stmt, StmtKind, TypeExpr,
};
use crate::limits::{MAX_DIAGNOSTICS, MAX_TREE_HEIGHT};
use crate::syntax_error::generics_diagnostic;
use adumbra_ir::{Code, Diagnostic, Span};

/// The errors in the shape of trees.
#[derive(Debug, Default)]
pub(crate) struct AstDiagnostics {
    /// At most [`MAX_DIAGNOSTICS`] and one more.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether some tree is higher than [`MAX_TREE_HEIGHT`].
    pub(crate) is_too_high: bool,
}

/// A walk over one tree.
pub(crate) struct AstValidator<'s> {
    /// The source of the tree.
    text: &'s str,
    errors: &'s mut AstDiagnostics,
    /// The current height, counted from the root down.
    depth: usize,
    /// Whether this tree's height was reported.
    is_reported: bool,
}

impl<'s> AstValidator<'s> {
    /// `text` is the source of the tree; its diagnostics are added to `errors`.
    pub(crate) fn new(text: &'s str, errors: &'s mut AstDiagnostics) -> AstValidator<'s> {
        AstValidator {
            text,
            errors,
            depth: 0,
            is_reported: false,
        }
    }

    /// An entry typed into the REPL.
    pub(crate) fn entry(&mut self, entry: &ReplEntry) {
        match entry {
            ReplEntry::Seed {
                value, ddx, ddy, ..
            } => {
                self.exprs(&[value, ddx]);
                ddy.iter().for_each(|ddy| self.expr(ddy));
            }
            ReplEntry::Statement(statement) => self.statement(statement),
            ReplEntry::Item(item) => self.item(item),
        }
    }

    pub(crate) fn item(&mut self, item: &Item) {
        self.attributes(item.attributes);
        match item.kind {
            ItemKind::Function(function) => self.function(function),
            ItemKind::Struct(structure) => {
                structure.members.iter().for_each(|m| self.declaration(m));
                for alias in structure.aliases {
                    self.ty(&alias.ty);
                    self.dimensions(alias.dimensions);
                }
                for method in structure.methods {
                    self.attributes(method.attributes);
                    self.function(method);
                }
            }
            ItemKind::TypeAlias(alias) => {
                self.ty(&alias.ty);
                self.dimensions(alias.dimensions);
            }
            ItemKind::Declaration(declaration) => self.declaration(declaration),
            ItemKind::Broken(_) => {}
        }
    }

    fn function(&mut self, function: &FunctionDef) {
        function.result.iter().for_each(|ty| self.ty(ty));
        for parameter in function.parameters {
            self.ty(&parameter.ty);
            self.declarator(&parameter.declarator);
        }
        if let Some(body) = &function.body {
            self.block(body);
        }
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            self.exprs(attribute.arguments);
        }
    }

    /// The grammar nests arguments of types no deeper than brackets.
    fn ty(&mut self, ty: &TypeExpr) {
        ty.arguments.iter().for_each(|ty| self.ty(ty));
        self.dimensions(ty.dimensions);
    }

    fn block(&mut self, block: &BlockStmt) {
        block.statements.iter().for_each(|s| self.statement(s));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.ty(&declaration.ty);
        declaration
            .declarators
            .iter()
            .for_each(|d| self.declarator(d));
    }

    fn declarator(&mut self, declarator: &Declarator) {
        self.dimensions(declarator.dimensions);
        if let Some(init) = declarator.init {
            self.initializer(init);
        }
    }

    fn dimensions(&mut self, dimensions: &[Dimension]) {
        let sizes = dimensions.iter().filter_map(|d| d.size);
        sizes.for_each(|size| self.expr(size));
    }

    /// Goes one level down, if the height allows it.
    fn down(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        if self.depth == MAX_TREE_HEIGHT {
            if !self.is_reported {
                self.is_reported = true;
                self.errors.is_too_high = true;
                let message =
                    format!("more than {MAX_TREE_HEIGHT} operations on top of each other");
                self.report(
                    Diagnostic::new(Code::NestingTooDeep, span, message)
                        .here("too deep from here on")
                        .help("split it: name a part and go on with the name"),
                );
            }
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn initializer(&mut self, init: &Initializer) {
        match init.kind {
            InitializerKind::Expr(expr) => self.expr(expr),
            InitializerKind::List(list) => {
                self.down(init.span, |s| list.iter().for_each(|i| s.initializer(i)));
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.attributes(statement.attributes);
        self.down(statement.span, |s| match statement.kind {
            StmtKind::Declaration(declaration) => s.declaration(declaration),
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => s.expr(expr),
            StmtKind::Block(block) => s.block(&block),
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    s.expr(arm.condition);
                    s.statement(arm.body);
                }
                if let Some(otherwise) = otherwise {
                    s.statement(otherwise);
                }
            }
            StmtKind::For(parts) => {
                match parts.init {
                    ForInit::Declaration(declaration) => s.declaration(declaration),
                    ForInit::Exprs(exprs) => s.exprs(exprs),
                }
                s.exprs(parts.conditions);
                s.exprs(parts.updates);
                s.statement(parts.body);
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                s.expr(condition);
                s.statement(body);
            }
            StmtKind::Switch { value, cases } => {
                s.expr(value);
                for case in cases {
                    if let Some(label) = case.label {
                        s.expr(label);
                    }
                    case.statements.iter().for_each(|inner| s.statement(inner));
                }
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Empty
            | StmtKind::Broken(_) => {}
        });
    }

    fn exprs(&mut self, exprs: &[&Expr]) {
        exprs.iter().for_each(|e| self.expr(e));
    }

    pub(crate) fn expr(&mut self, expr: &Expr) {
        self.down(expr.span, |s| match expr.kind {
            ExprKind::Binary(..) => s.chain(expr),
            ExprKind::Unary(_, a)
            | ExprKind::Cast(_, a)
            | ExprKind::Member(a, _)
            | ExprKind::NoDiff(a)
            | ExprKind::IncDec { place: a, .. } => s.expr(a),
            ExprKind::Apply(callee, list) => {
                s.expr(callee);
                s.exprs(list);
            }
            ExprKind::ConstructType(ty, list) => {
                s.ty(ty);
                s.exprs(list);
            }
            ExprKind::List(list) => s.initializer(list),
            ExprKind::Index(a, b)
            | ExprKind::Assign {
                place: a, value: b, ..
            } => {
                s.expr(a);
                s.expr(b);
            }
            ExprKind::Ternary { condition, yes, no } => {
                s.expr(condition);
                s.expr(yes);
                s.expr(no);
            }
            ExprKind::Construct(_, list)
            | ExprKind::Call(_, list)
            | ExprKind::Raymarch(_, list)
            | ExprKind::MakeClosure(_, list)
            | ExprKind::TextureSample(_, _, list) => s.exprs(list),
            ExprKind::Float(_)
            | ExprKind::Int(_)
            | ExprKind::Uint(_)
            | ExprKind::Bool(_)
            | ExprKind::String(_)
            | ExprKind::Name(_)
            | ExprKind::GlobalValue(_)
            | ExprKind::Broken => {}
        });
    }

    /// Operators that group to the left, as in `a + b - c`: siblings, regardless of their number.
    fn chain(&mut self, last: &Expr) {
        let mut left = last;
        while let ExprKind::Binary(op, a, b) = left.kind {
            if let Some(argument) = left.type_argument()
                && self.text_of(b.span).starts_with('(')
            {
                self.report(generics_diagnostic(self.trimmed(argument)));
            } else if op.is_ordering() {
                self.ordering(a, b);
            }
            self.expr(b);
            left = a;
        }
        self.expr(left);
    }

    /// Refuses `a < b < c`: the left operand is itself an ordering, and no parentheses say that
    /// this is meant.
    fn ordering(&mut self, lhs: &Expr, rhs: &Expr) {
        let Some((_, middle)) = lhs.bare_ordering() else {
            return;
        };
        let whole = lhs.span.to(rhs.span);
        let text = |span| self.text_of(span);
        let help = format!(
            "to test both, write `{} && {}`; if this is meant, put parentheses around `{}`",
            text(lhs.span),
            text(Span {
                start: middle.span.start,
                ..rhs.span
            }),
            text(lhs.span)
        );
        let help = match whole.end - whole.start {
            0..80 => help,
            _ => "to test both, join two comparisons with `&&`".to_owned(),
        };
        self.report(
            Diagnostic::new(
                Code::ChainedComparison,
                whole,
                "comparisons cannot be chained",
            )
            .here("compares a boolean with a number")
            .label(lhs.span, "this is already true or false")
            .help(help),
        );
    }

    fn text_of(&self, span: Span) -> &'s str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// A span without the blanks at its ends.
    fn trimmed(&self, span: Span) -> Span {
        let text = self.text_of(span);
        Span {
            start: span.end - text.trim_start().len() as u32,
            end: span.start + text.trim_end().len() as u32,
            ..span
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.errors.diagnostics.len() <= MAX_DIAGNOSTICS {
            self.errors.diagnostics.push(diagnostic);
        }
    }
}
