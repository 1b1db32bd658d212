//! `switch`: compile-time labels, cases that fall into the next, one scope for all of them.
//!
//! A variable declared in one case is visible in the later ones, also where control jumped past its
//! declaration: it is zero then. So it begins before the `switch`, and its declaration assigns it.

use super::convert::ConversionPurpose;
use super::statement::{Completes, StatementList};
use super::typed_tree::{Local, TypedExpr, TypedExprKind, TypedStmt, TypedSwitch, TypedSwitchCase};
use super::types::{TypeId, TypeKind};
use super::{EnclosingKind, TypeChecker};
use crate::ast;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;
use std::collections::HashMap;

/// The labels so far with their spans: by their bits, `None` for `default`.
type Labels = HashMap<Option<u32>, Span>;

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn switch_statement(
        &mut self,
        value: &ast::Expr<'a>,
        syntax: &[ast::SwitchCase<'a>],
        span: Span,
        out: &mut StatementList<'a>,
    ) -> Completes {
        let value = self.switched(value);
        let scope = self.names.enter();
        self.enter_statement(EnclosingKind::Switch);
        let mut known = Labels::new();
        let mut cases = BumpVec::new_in(self.arena);
        let mut labels = BumpVec::new_in(self.arena);
        let mut is_default = false;
        let mut completes = true;
        for (index, case) in syntax.iter().enumerate() {
            match self.label(case, value.ty, &mut known) {
                Some(bits) => labels.push(bits),
                None => is_default |= case.label.is_none(),
            }
            let is_last = index + 1 == syntax.len();
            if case.statements.is_empty() && !is_last {
                continue;
            }
            let (mut body, ends) = self.statements(case.statements);
            if !is_last {
                self.begin_before(&mut body, out);
            }
            cases.push(TypedSwitchCase {
                labels: std::mem::replace(&mut labels, BumpVec::new_in(self.arena))
                    .into_bump_slice(),
                is_default: std::mem::take(&mut is_default),
                body: body.into_bump_slice(),
                falls_through: ends && !is_last,
            });
            completes = ends;
        }
        let (left, changed) = self.leave_statement();
        self.names.leave(scope);
        let has_default = known.contains_key(&None);
        out.push(TypedStmt::Switch(self.arena.alloc(TypedSwitch {
            value: self.alloc(value),
            cases: cases.into_bump_slice(),
            has_default,
            changed,
            span,
        })));
        completes || left.breaks || !has_default
    }

    /// The compared value.
    fn switched(&mut self, value: &ast::Expr<'a>) -> TypedExpr<'a> {
        let value = self.expr(value);
        if value.is_error() || value.ty.is_integer() {
            return value;
        }
        let is = self.quoted_type(value.ty);
        let help = match value.ty {
            TypeId::FLOAT => format!(
                "compare ranges with `if` and `else if`, or choose by `(int){}`",
                self.quoted(&value)
            ),
            TypeId::BOOL => "write `if (…) … else …`".to_owned(),
            _ => "choose by one of its parts, or write `if (…) … else if (…) …`".to_owned(),
        };
        let message = format!("a `switch` chooses by an int or uint, and this is {is}");
        self.report(
            Diagnostic::new(Code::BadSwitch, value.span, message)
                .here(format!("this is {is}"))
                .help(help),
        );
        TypedExpr::error(value.span)
    }

    /// The bits of a label; `None` for `default`, and for a reported error.
    fn label(&mut self, case: &ast::SwitchCase<'a>, ty: TypeId, known: &mut Labels) -> Option<u32> {
        let (bits, span) = match case.label {
            None => (
                None,
                Span {
                    end: case.span.start + "default".len() as u32,
                    ..case.span
                },
            ),
            Some(label) => {
                let value = self.expr(label);
                let value = self.convert(value, ty, ConversionPurpose::Label);
                if value.is_error() {
                    return None;
                }
                let bits = self.fold_scalar(&value);
                if bits.is_none() {
                    let message = "a label must be known before shading begins";
                    self.report(
                        Diagnostic::new(Code::NotConstant, value.span, message)
                            .here("not a constant")
                            .help("labels are numbers and constants; compare what depends on the point with `if (…) … else if (…) …`"),
                    );
                    return None;
                }
                (bits, label.span)
            }
        };
        if let Some(&first) = known.get(&bits) {
            let message = match case.label {
                Some(_) => "this label occurs twice in one `switch`",
                None => "a `switch` has one `default`",
            };
            self.report(
                Diagnostic::new(Code::DuplicateLabel, span, message)
                    .here("a second time")
                    .label(first, "the first time")
                    .help("control could only go to one of them: remove the other, or join their statements"),
            );
            return None;
        }
        known.insert(bits, span);
        bits
    }

    /// Whether a variable can begin as zero; reported if not.
    fn can_begin_before(&mut self, variable: Local) -> bool {
        let is_sized_there = matches!(self.types.kind(variable.ty), TypeKind::RunTimeArray(_));
        let begins = variable.ty != TypeId::RESOURCE && !is_sized_there;
        if !begins {
            let is = self.quoted_type(variable.ty);
            let message = format!("a `switch` may jump past this variable of type {is}");
            self.report(
                Diagnostic::new(Code::BadVariableType, variable.span, message)
                    .here("not possible in this case")
                    .help("put the case in braces, `case 1: { … }`, or declare it before the `switch`"),
            );
        }
        begins
    }

    /// Moves the variables of a case before the `switch`, since later cases see them.
    fn begin_before(&mut self, body: &mut StatementList<'a>, out: &mut StatementList<'a>) {
        for statement in body {
            let TypedStmt::Declare(local, init) = *statement else {
                continue;
            };
            let variable = self.body.locals[local.0 as usize];
            if !self.can_begin_before(variable) {
                continue;
            }
            out.push(TypedStmt::Declare(local, None));
            let expr = |kind, span| TypedExpr {
                kind,
                ty: variable.ty,
                span,
            };
            let value = init.map_or_else(|| expr(TypedExprKind::Zero, variable.span), |init| *init);
            let place = expr(TypedExprKind::Local(local), variable.span);
            let set = TypedExprKind::Assign(self.alloc(place), self.alloc(value));
            *statement = TypedStmt::Expr(self.alloc(expr(set, variable.span)));
        }
    }
}
