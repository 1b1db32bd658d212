//! Places: the expressions that can be written to (C's lvalues).
//!
//! A place is a variable that is not constant, a member, an element or a component of a place, or
//! distinct components of one.

use super::TypeChecker;
use super::symbol_table::ValueBinding;
use super::typed_tree::{LocalId, TypedExpr, TypedExprKind};
use super::types::TypeId;
use crate::ast;
use adumbra_ir::{Code, Diagnostic};

impl<'a> TypeChecker<'a, '_> {
    /// The place that an expression means; reported if it is none.
    pub(super) fn place(&mut self, syntax: &ast::Expr<'a>) -> TypedExpr<'a> {
        let value = self.expr(syntax);
        match self.mark_written(syntax, &value, Code::NotAPlace) {
            true => value,
            false => TypedExpr::error(value.span),
        }
    }

    /// Marks the expression as written to. If it cannot be, reports it under `code` and returns
    /// false.
    pub(super) fn mark_written(
        &mut self,
        syntax: &ast::Expr<'a>,
        value: &TypedExpr<'a>,
        code: Code,
    ) -> bool {
        if value.is_error() {
            return false;
        }
        if self.writes_constant(syntax) {
            return false;
        }
        match root(value) {
            Ok(local) => {
                self.body.properties[local.0 as usize].is_written = true;
                if !self.body.enclosing.is_empty() || self.session.is_some() {
                    self.body.changed.push(local);
                }
                true
            }
            Err(problem) => {
                let (message, help) = match problem {
                    Problem::Duplicate => (
                        "a component is written twice",
                        "name each component once: `v.xy = …`",
                    ),
                    Problem::Components => (
                        "components that are picked by name cannot be indexed and written",
                        "index the vector itself: `v[i] = …`",
                    ),
                    Problem::Value => (
                        "only variables and their parts can be written to",
                        "store the value in a variable first",
                    ),
                };
                let message = match code {
                    Code::OutArgument => {
                        "the function writes to this argument, which is not a place"
                    }
                    _ => message,
                };
                self.report(
                    Diagnostic::new(code, value.span, message)
                        .here("cannot be written to")
                        .help(help),
                );
                false
            }
        }
    }

    /// Whether the expression is a constant or a part of one; reported if so.
    fn writes_constant(&mut self, syntax: &ast::Expr<'a>) -> bool {
        let mut root = syntax;
        while let ast::ExprKind::Member(operand, _) | ast::ExprKind::Index(operand, _) = root.kind {
            root = operand;
        }
        let ast::ExprKind::Name(symbol) = root.kind else {
            return false;
        };
        let member = self.member_of_this(symbol);
        let (declared, help) = match self.names.value(symbol) {
            ValueBinding::Local(local) if self.properties(local).is_const => {
                let declared = self.body.locals[local.0 as usize].span;
                (
                    declared,
                    "leave out `const` where it is declared (`let` is `const` too, `var` is not), or use a variable of your own",
                )
            }
            _ if let Some((this, ..)) = member
                && !matches!(self.names.value(symbol), ValueBinding::Local(_)) =>
            {
                if !self.properties(this).is_const {
                    return false;
                }
                let declared = self.body.locals[this.0 as usize].span;
                (declared, "write `[mutating]` before the method")
            }
            ValueBinding::Constant(number) if !self.is_library => {
                let declared = self.constants[number as usize].name.span;
                (
                    declared,
                    "what is declared at file level is constant; declare a variable in the function",
                )
            }
            ValueBinding::Resource(number) if !self.is_library => {
                let declared = self.resources[number as usize].span;
                (
                    declared,
                    "the host says what the resource is; declare a variable in the function",
                )
            }
            ValueBinding::Buffer(number) if !self.is_library => {
                let declared = self.buffers[number as usize].name.span;
                (
                    declared,
                    "a buffer is memory of the host, which shaders read; write to an array, or to an output",
                )
            }
            _ => return false,
        };
        let text = self.symbol_name(symbol).to_owned();
        self.report(
            Diagnostic::new(
                Code::WriteToConst,
                syntax.span,
                format!("`{text}` is constant and cannot be written to"),
            )
            .here("written here")
            .label(declared, "declared here")
            .help(help),
        );
        true
    }
}

enum Problem {
    /// Not a variable.
    Value,
    /// `v.xx = …`
    Duplicate,
    /// `v.yx[i] = …`
    Components,
}

/// The variable that a place is part of.
fn root(value: &TypedExpr) -> Result<LocalId, Problem> {
    match value.kind {
        TypedExprKind::Local(local) => Ok(local),
        TypedExprKind::Member(operand, _) => root(operand),
        TypedExprKind::Swizzle(operand, swizzle) => {
            let picked = swizzle.as_slice();
            let twice = |(i, c): (usize, &u8)| picked[..i].contains(c);
            match picked.iter().enumerate().any(twice) {
                true => Err(Problem::Duplicate),
                false => root(operand),
            }
        }
        TypedExprKind::Index(operand, index) => match operand.kind {
            TypedExprKind::Swizzle(..)
                if operand.ty != TypeId::FLOAT
                    && !matches!(index.kind, TypedExprKind::Constant(_)) =>
            {
                Err(Problem::Components)
            }
            _ => root(operand),
        },
        _ => Err(Problem::Value),
    }
}
