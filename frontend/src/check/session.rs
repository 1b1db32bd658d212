//! Entries of `eval` and the REPL: each becomes the body of a shader without inputs.
//!
//! A bare name means a host's global. Its first use makes it a variable that starts with the
//! global, shadows included. Variables that the entry writes or declares become outputs of their
//! names; an expression becomes the output `value`.

use super::convert::{ConversionPurpose, conversion_rank};
use super::statement;
use super::symbol_table::ValueBinding;
use super::typed_tree::{
    FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedParam, TypedStmt,
};
use super::types::TypeId;
use super::{DeclaredFunction, FunctionOrigin, LocalProperties, TypeChecker};
use crate::ast::{self, ReplEntry, StmtKind};
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

/// The meaning of an output of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOutput {
    /// The value of an expression.
    Value,
    /// A variable of that name that was written or declared.
    Variable(String),
    /// The value of a variable of that name; its shadows are the next two outputs, of the same
    /// type.
    Seed(String),
    /// The shadow along x of the seed before.
    SeedDdx,
    /// The shadow along y of the seed before.
    SeedDdy,
}

/// The state of an entry while it is checked.
#[derive(Debug, Default)]
pub(super) struct EntryState {
    /// Globals that have become variables.
    variables: Vec<LocalId>,
    /// The meaning of each output of the entry.
    given: Vec<SessionOutput>,
}

impl<'a> TypeChecker<'a, '_> {
    /// Checks an entry as the body of a shader made for it.
    pub(super) fn check_entry(
        &mut self,
        entry: &ReplEntry<'a>,
    ) -> (FunctionId, Vec<SessionOutput>) {
        let span = entry.span();
        let name = ast::Ident {
            symbol: self.interner.intern("eval"),
            span,
        };
        let id = FunctionId(self.functions.len() as u32);
        self.functions
            .push(DeclaredFunction::new(name, FunctionOrigin::Entry));
        self.session = Some(EntryState::default());
        self.result = TypeId::VOID;
        let scope = self.begin_body(id);
        let mut out = BumpVec::new_in(self.arena);
        let mut params = BumpVec::new_in(self.arena);
        match entry {
            ReplEntry::Seed {
                name,
                value,
                ddx,
                ddy,
            } => self.seed(*name, [value, ddx], *ddy, &mut out, &mut params),
            ReplEntry::Statement(statement) => {
                self.entry_statement(statement, &mut out, &mut params)
            }
            ReplEntry::Item(_) => {}
        }
        self.written_variables(&mut params);
        self.functions[id.0 as usize].params = params.into_bump_slice();
        self.end_body(id, scope, out);
        let session = self.session.take().expect("set above");
        (id, session.given)
    }

    fn entry_statement(
        &mut self,
        statement: &ast::Stmt<'a>,
        out: &mut statement::StatementList<'a>,
        params: &mut BumpVec<'a, TypedParam<'a>>,
    ) {
        let StmtKind::Expr(expr) = &statement.kind else {
            self.statement(statement, out);
            return;
        };
        self.statement_attributes(statement);
        if let ast::ExprKind::Assign {
            op: None,
            place,
            value,
        } = expr.kind
            && let ast::ExprKind::Name(symbol) = place.kind
        {
            let name = ast::Ident {
                symbol,
                span: place.span,
            };
            self.define(name, value, out);
            return;
        }
        let writes = matches!(
            expr.kind,
            ast::ExprKind::Assign { .. } | ast::ExprKind::IncDec { postfix: false, .. }
        );
        let value = self.expr(expr);
        if writes || value.ty == TypeId::VOID || value.is_error() {
            out.push(TypedStmt::Expr(self.alloc(value)));
            return;
        }
        let name = ast::Ident {
            symbol: self.interner.intern("value"),
            span: expr.span,
        };
        self.output(name, value, SessionOutput::Value, out, params);
    }

    /// `name = value` at the top: keeps the variable's type if the value fits it, else makes a new
    /// variable.
    fn define(
        &mut self,
        name: ast::Ident,
        value: &ast::Expr<'a>,
        out: &mut statement::StatementList<'a>,
    ) {
        let value = self.expr(value);
        if value.is_error() || !self.can_store(value.ty, value.span) {
            return;
        }
        let known = self
            .names
            .global(name.symbol)
            .map(|global| self.globals[global as usize].1);
        let value = match known {
            Some(ty) if conversion_rank(value.ty, ty).is_some() => {
                self.convert(value, ty, ConversionPurpose::Assign)
            }
            _ => value,
        };
        let local = self.new_local(name, value.ty);
        self.names.declare(name.symbol, ValueBinding::Local(local));
        out.push(TypedStmt::Declare(local, Some(self.alloc(value))));
    }

    fn seed(
        &mut self,
        name: ast::Ident,
        parts: [&ast::Expr<'a>; 2],
        ddy: Option<&ast::Expr<'a>>,
        out: &mut statement::StatementList<'a>,
        params: &mut BumpVec<'a, TypedParam<'a>>,
    ) {
        let [value, ddx] = parts.map(|part| self.expr(part));
        let ddy = ddy.map(|ddy| self.expr(ddy));
        if value.is_error() {
            return;
        }
        let ty = match value.ty {
            TypeId::INT | TypeId::UINT => TypeId::FLOAT,
            ty => ty,
        };
        if !ty.is_floats() {
            let is = self.quoted_type(ty);
            self.report(
                Diagnostic::new(
                    Code::BadDerivative,
                    value.span,
                    format!("{is} has no shadows"),
                )
                .here(format!("this is {is}"))
                .help("floats, vectors and matrices have shadows; leave them out: `name = value`"),
            );
            return;
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let givens = [
            SessionOutput::Seed(text),
            SessionOutput::SeedDdx,
            SessionOutput::SeedDdy,
        ];
        let span = value.span;
        for (part, given) in [Some(value), Some(ddx), ddy].into_iter().zip(givens) {
            let part = match part {
                Some(part) => self.convert(part, ty, ConversionPurpose::Seed),
                None => TypedExpr {
                    kind: TypedExprKind::Zero,
                    ty,
                    span,
                },
            };
            self.output(name, part, given, out, params);
        }
    }

    pub(super) fn new_local(&mut self, name: ast::Ident, ty: TypeId) -> LocalId {
        let local = Local {
            name: name.symbol,
            ty,
            span: name.span,
        };
        let facts = LocalProperties {
            is_const: false,
            is_hoisted: false,
            is_written: false,
            bits: None,
        };
        self.add_local(local, facts)
    }

    fn output(
        &mut self,
        name: ast::Ident,
        value: TypedExpr<'a>,
        given: SessionOutput,
        out: &mut statement::StatementList<'a>,
        params: &mut BumpVec<'a, TypedParam<'a>>,
    ) {
        if !self.can_store(value.ty, value.span) {
            return;
        }
        let local = self.new_local(name, value.ty);
        out.push(TypedStmt::Declare(local, Some(self.alloc(value))));
        self.give(local, given, params);
    }

    fn give(
        &mut self,
        local: LocalId,
        given: SessionOutput,
        params: &mut BumpVec<'a, TypedParam<'a>>,
    ) {
        let Local { name, ty, span } = self.body.locals[local.0 as usize];
        params.push(TypedParam {
            name,
            ty,
            direction: ast::ParamDirection::Out,
            is_no_diff: false,
            default: None,
            local,
            metadata: &[],
            span,
        });
        self.session
            .as_mut()
            .expect("in an entry")
            .given
            .push(given);
    }

    /// Turns the variables that the entry declared or wrote into outputs.
    fn written_variables(&mut self, params: &mut BumpVec<'a, TypedParam<'a>>) {
        let session = self.session.as_ref().expect("in an entry");
        let changed = std::mem::take(&mut self.body.changed);
        let written = |local: &LocalId| changed.contains(local);
        let mut all: Vec<LocalId> = session.variables.iter().copied().filter(written).collect();
        for index in 0..self.body.locals.len() as u32 {
            let name = self.body.locals[index as usize].name;
            if self.names.innermost_value(name) == Some(ValueBinding::Local(LocalId(index)))
                && !all.contains(&LocalId(index))
            {
                all.push(LocalId(index));
            }
        }
        for local in all {
            let Local { name, ty, span } = self.body.locals[local.0 as usize];
            let text = self.symbol_name(name).to_owned();
            if !ty.is_number() && !ty.is_floats() {
                self.not_kept(&text, ty, span);
                continue;
            }
            self.give(local, SessionOutput::Variable(text), params);
        }
    }

    fn not_kept(&mut self, name: &str, ty: TypeId, span: Span) {
        if ty == TypeId::ERROR {
            return;
        }
        let is = self.quoted_type(ty);
        let part = match self.types.primal_of_pair(ty) {
            Some(_) => "keep a part of it, as in `x = (…).d`, or ",
            None if self.struct_of(ty).is_some() => "keep a member of it, or ",
            None => "",
        };
        self.report(
            Diagnostic::new(
                Code::BadVariableType,
                span,
                format!("a session keeps numbers, vectors and matrices, and `{name}` is {is}"),
            )
            .here("would be lost")
            .help(format!(
                "{part}use it within braces, `{{ … }}`, or in a function"
            )),
        );
    }

    /// In an entry, a bare name that is not declared is a global of the host.
    pub(super) fn session_value(&mut self, symbol: Symbol, span: Span) -> Option<TypedExpr<'a>> {
        self.session.as_ref()?;
        let global = self.names.global(symbol)?;
        let is_it = |local: &&LocalId| self.body.locals[local.0 as usize].name == symbol;
        let known = self.session.as_ref()?.variables.iter().find(is_it).copied();
        if let Some(local) = known {
            return Some(TypedExpr {
                kind: TypedExprKind::Local(local),
                ty: self.body.locals[local.0 as usize].ty,
                span,
            });
        }
        let (_, ty) = self.globals[global as usize];
        let name = ast::Ident { symbol, span };
        let start = TypedExpr {
            kind: TypedExprKind::Global(global),
            ty,
            span,
        };
        let local = self.hoist(name, start);
        self.body.properties[local.0 as usize].is_const = false;
        self.session.as_mut()?.variables.push(local);
        Some(TypedExpr {
            kind: TypedExprKind::Local(local),
            ty,
            span,
        })
    }
}
