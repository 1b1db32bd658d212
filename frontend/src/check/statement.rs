//! Bodies and statements: scopes, loops, and whether control can leave a function without its
//! result.

use super::convert::ConversionPurpose;
use super::symbol_table::ValueBinding;
use super::typed_tree::{
    self, FunctionId, Local, LocalId, LoopHints, TypedExpr, TypedExprKind, TypedStmt,
};
use super::types::TypeId;
use super::{Enclosing, EnclosingKind, LocalProperties, TypeChecker};
use crate::ast::{self, StmtKind};
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

/// Whether control comes out at the end of a statement.
pub(super) type Completes = bool;

pub(super) type StatementList<'a> = BumpVec<'a, TypedStmt<'a>>;

impl<'a> TypeChecker<'a, '_> {
    /// Checks every body; library functions join the queue while it is processed.
    pub(super) fn check_functions(&mut self) {
        let mut next = 0;
        while next < self.functions.len() {
            let id = FunctionId(next as u32);
            if let Some(syntax) = self.declared(id).syntax
                && let Some(body) = &syntax.body
            {
                self.check_function(id, syntax, body);
            }
            next += 1;
        }
    }

    fn check_function(
        &mut self,
        id: FunctionId,
        syntax: &'a ast::FunctionDef<'a>,
        block: &ast::BlockStmt<'a>,
    ) {
        let declared = *self.declared(id);
        self.is_library = declared.is_library;
        self.result = declared.result;
        let outer = self.begin_body(id);
        let has_this = declared.owner.is_some();
        if has_this {
            self.add_this(&declared.params[0]);
        }
        let params = &declared.params[usize::from(has_this)..];
        for (param, parameter) in params.iter().zip(syntax.parameters) {
            if self.names.innermost_value(param.name).is_some() {
                self.report_redeclared(parameter.declarator.name, None);
            }
            let local = Local {
                name: param.name,
                ty: param.ty,
                span: param.span,
            };
            let facts = LocalProperties {
                is_const: parameter.is_const && param.direction == ast::ParamDirection::In,
                is_hoisted: false,
                is_written: false,
                bits: None,
            };
            let local = self.add_local(local, facts);
            self.names.declare(param.name, ValueBinding::Local(local));
        }
        self.add_passed_on(params.get(syntax.parameters.len()..).unwrap_or_default());
        let (body, completes) = self.statements(block.statements);
        if completes && declared.result != TypeId::VOID && declared.result != TypeId::ERROR {
            let text = self.symbol_name(declared.name.symbol).to_owned();
            let ty = self.quoted_type(declared.result);
            let end = Span {
                start: block.span.end.saturating_sub(1),
                ..block.span
            };
            self.report(
                Diagnostic::new(
                    Code::MissingReturn,
                    end,
                    format!("`{text}` can end without returning a value"),
                )
                .here("control comes here")
                .label(declared.name.span, format!("returns {ty}"))
                .help("add a `return` here, or one to every path that leads here"),
            );
        }
        self.warn_unread_variables(id);
        self.warn_written_inputs(id);
        self.end_body(id, outer, body);
    }

    /// Starts the body of a function: no variables, one scope.
    pub(super) fn begin_body(&mut self, id: FunctionId) -> super::symbol_table::ScopeMark {
        self.current = id;
        self.body.locals.clear();
        self.body.properties.clear();
        self.body.reads.clear();
        self.body.enclosing.clear();
        self.body.changed.clear();
        self.body.hoisted.clear();
        self.body.this = None;
        self.names.enter()
    }

    /// Stores the properties found for the body of a function.
    pub(super) fn end_body(
        &mut self,
        id: FunctionId,
        scope: super::symbol_table::ScopeMark,
        mut body: StatementList<'a>,
    ) {
        self.names.leave(scope);
        if !self.body.hoisted.is_empty() {
            let mut all = BumpVec::from_iter_in(self.body.hoisted.drain(..), self.arena);
            all.append(&mut body);
            body = all;
        }
        let declared = &mut self.functions[id.0 as usize];
        declared.locals = self.arena.alloc_slice_copy(&self.body.locals);
        declared.body = body.into_bump_slice();
        self.current = super::NO_FUNCTION;
        self.is_library = false;
    }

    /// Statements in one scope, which the caller enters.
    pub(super) fn statements(
        &mut self,
        statements: &[ast::Stmt<'a>],
    ) -> (StatementList<'a>, Completes) {
        let mut out = BumpVec::with_capacity_in(statements.len(), self.arena);
        let mut completes = true;
        for statement in statements {
            completes &= self.statement(statement, &mut out);
        }
        (out, completes)
    }

    /// A statement with a scope of its own.
    fn scoped(&mut self, statement: &ast::Stmt<'a>) -> (&'a [TypedStmt<'a>], Completes) {
        let scope = self.names.enter();
        let (out, completes) = match &statement.kind {
            StmtKind::Block(block) if statement.attributes.is_empty() => {
                self.statements(block.statements)
            }
            _ => self.statements(std::slice::from_ref(statement)),
        };
        self.names.leave(scope);
        (out.into_bump_slice(), completes)
    }

    /// A block. One that can be left out completes, whatever is in it.
    fn block(
        &mut self,
        statement: &ast::Stmt<'a>,
        block: &ast::BlockStmt<'a>,
        out: &mut StatementList<'a>,
    ) -> Completes {
        let scope = self.names.enter();
        let (inner, completes) = self.statements(block.statements);
        self.names.leave(scope);
        if !self.is_eliminated(statement) {
            out.push(TypedStmt::Block(inner.into_bump_slice()));
        }
        completes || self.is_eliminable(statement)
    }

    pub(super) fn statement(
        &mut self,
        statement: &ast::Stmt<'a>,
        out: &mut StatementList<'a>,
    ) -> Completes {
        let span = statement.span;
        if self.report_misspelt_keyword(statement) || self.report_uncalled_function(statement) {
            // As for statements that could not be parsed.
            return false;
        }
        let hints = self.statement_attributes(statement);
        match &statement.kind {
            StmtKind::Declaration(declaration) => {
                self.declaration(declaration, out);
                true
            }
            StmtKind::Expr(expr) => {
                let value = self.expr(expr);
                if let TypedExprKind::Assign(place, _) = value.kind {
                    self.uncount_read(place);
                }
                out.push(TypedStmt::Expr(self.alloc(value)));
                true
            }
            StmtKind::Block(block) => self.block(statement, block, out),
            StmtKind::If { arms, otherwise } => self.if_statement(arms, *otherwise, span, out),
            StmtKind::While { condition, body } => {
                let header = Header {
                    hints,
                    conditions: std::slice::from_ref(condition),
                    steps: &[],
                    tests_last: false,
                };
                self.loop_statement(&header, body, span, out)
            }
            StmtKind::DoWhile { body, condition } => {
                let header = Header {
                    hints,
                    conditions: std::slice::from_ref(condition),
                    steps: &[],
                    tests_last: true,
                };
                self.loop_statement(&header, body, span, out)
            }
            StmtKind::For(syntax) => {
                let scope = self.names.enter();
                let mut inner = BumpVec::new_in(self.arena);
                match syntax.init {
                    ast::ForInit::Declaration(declaration) => {
                        self.declaration(declaration, &mut inner);
                    }
                    ast::ForInit::Exprs(exprs) => {
                        for expr in exprs {
                            let value = self.expr(expr);
                            inner.push(TypedStmt::Expr(self.alloc(value)));
                        }
                    }
                }
                let header = Header {
                    hints,
                    conditions: syntax.conditions,
                    steps: syntax.updates,
                    tests_last: false,
                };
                let completes = self.loop_statement(&header, syntax.body, span, &mut inner);
                self.names.leave(scope);
                out.push(TypedStmt::Block(inner.into_bump_slice()));
                completes
            }
            StmtKind::Switch { value, cases } => self.switch_statement(value, cases, span, out),
            StmtKind::Break => {
                let mut enclosing = self.body.enclosing.iter_mut().rev();
                match enclosing.find(|enclosing| enclosing.kind != EnclosingKind::Chain) {
                    Some(enclosing) => enclosing.breaks = true,
                    None => self.outside_loop("break", span),
                }
                out.push(TypedStmt::Break(span));
                false
            }
            StmtKind::Continue => {
                let mut enclosing = self.body.enclosing.iter_mut().rev();
                match enclosing.find(|enclosing| enclosing.kind == EnclosingKind::Loop) {
                    Some(enclosing) => enclosing.continues = true,
                    None => self.outside_loop("continue", span),
                }
                out.push(TypedStmt::Continue(span));
                false
            }
            StmtKind::Return(value) => {
                let value = self.returned(*value, span);
                out.push(TypedStmt::Return(value, span));
                false
            }
            StmtKind::Empty => true,
            StmtKind::Broken(names) => {
                self.declare_broken(names);
                // It may have been a return.
                false
            }
        }
    }

    fn if_statement(
        &mut self,
        arms: &[ast::IfArm<'a>],
        otherwise: Option<&ast::Stmt<'a>>,
        span: Span,
        out: &mut StatementList<'a>,
    ) -> Completes {
        let is_chain = arms.len() > 1;
        if is_chain {
            self.enter_statement(EnclosingKind::Chain);
        }
        let mut checked = BumpVec::with_capacity_in(arms.len(), self.arena);
        // Whether control leaves the arms so far, and whether it reaches the next one.
        let (mut completes, mut goes_on) = (false, true);
        for arm in arms {
            let condition = self.boolean(arm.condition);
            let (body, body_completes) = self.scoped(arm.body);
            let condition = self.alloc(condition);
            match condition.kind {
                TypedExprKind::Constant(0) => {}
                TypedExprKind::Constant(_) => {
                    completes |= goes_on && body_completes;
                    goes_on = false;
                }
                _ => completes |= goes_on && body_completes,
            }
            checked.push(typed_tree::TypedIfArm {
                condition,
                body,
                span: arm.span,
            });
        }
        let (otherwise, else_completes) = match otherwise {
            Some(otherwise) => self.scoped(otherwise),
            None => (&[][..], true),
        };
        let changed = match is_chain {
            true => self.leave_statement().1,
            false => &[],
        };
        out.push(TypedStmt::If(self.arena.alloc(typed_tree::TypedIf {
            arms: checked.into_bump_slice(),
            otherwise,
            changed,
            span,
        })));
        completes || (goes_on && else_completes)
    }

    fn outside_loop(&mut self, word: &str, span: Span) {
        let around = match word {
            "break" => "loop or `switch`",
            _ => "loop",
        };
        self.report(
            Diagnostic::new(
                Code::BreakOutsideLoop,
                span,
                format!("there is no {around} around this `{word}`"),
            )
            .here(format!("outside any {around}"))
            .help("use `return` to leave a function, `if` to skip statements"),
        );
    }

    fn returned(&mut self, value: Option<&ast::Expr<'a>>, span: Span) -> Option<&'a TypedExpr<'a>> {
        let result = self.result;
        let name = match self.current {
            super::NO_FUNCTION => None,
            current => Some(self.declared(current).name),
        };
        match (value, result) {
            (None, TypeId::VOID | TypeId::ERROR) => None,
            (None, _) => {
                let is = self.quoted_type(result);
                let mut diagnostic = Diagnostic::new(
                    Code::BadReturn,
                    span,
                    format!("the function returns {is}, and no value is given"),
                )
                .here("no value")
                .help("write `return value;`");
                if let Some(name) = name {
                    diagnostic = diagnostic.label(name.span, format!("returns {is}"));
                }
                self.report(diagnostic);
                None
            }
            (Some(value), TypeId::VOID) => {
                let value = self.expr(value);
                if value.is_error() {
                    return None;
                }
                let help = match self.session.is_some() && name.is_none() {
                    true => "type the expression alone",
                    false => {
                        "write the result's type before the function's name; a shader gives its results through `out` parameters"
                    }
                };
                self.report(
                    Diagnostic::new(
                        Code::BadReturn,
                        value.span,
                        "a value is returned where none is expected",
                    )
                    .here("nothing receives it")
                    .help(help),
                );
                None
            }
            (Some(value), _) => {
                let value = self.value_of_type(value, result, ConversionPurpose::Return);
                Some(self.alloc(value))
            }
        }
    }

    fn loop_statement(
        &mut self,
        header: &Header<'_, 'a>,
        body: &ast::Stmt<'a>,
        span: Span,
        out: &mut StatementList<'a>,
    ) -> Completes {
        self.enter_statement(EnclosingKind::Loop);
        let mut condition = None;
        if !header.tests_last {
            condition = self.loop_condition(header.conditions);
        }
        let (body, body_completes) = self.scoped(body);
        let mut steps = BumpVec::with_capacity_in(header.steps.len(), self.arena);
        for step in header.steps {
            steps.push(self.expr(step));
        }
        if header.tests_last {
            condition = self.loop_condition(header.conditions);
        }
        let (open, changed) = self.leave_statement();
        out.push(TypedStmt::Loop(self.arena.alloc(typed_tree::TypedLoop {
            hints: header.hints,
            condition,
            tests_last: header.tests_last,
            body,
            updates: steps.into_bump_slice(),
            has_continue: open.continues,
            changed,
            span,
        })));
        let first_iteration_stays = header.tests_last && !body_completes && !open.continues;
        open.breaks || (condition.is_some() && !first_iteration_stays)
    }

    /// The condition of a loop; `None` if it always holds.
    fn loop_condition(&mut self, conditions: &[&ast::Expr<'a>]) -> Option<&'a TypedExpr<'a>> {
        let (last, before) = conditions.split_last()?;
        let mut values = BumpVec::with_capacity_in(conditions.len(), self.arena);
        for condition in before {
            values.push(self.expr(condition));
        }
        let last = self.boolean(last);
        if before.is_empty() {
            let holds = matches!(last.kind, TypedExprKind::Constant(1));
            return (!holds).then(|| self.alloc(last));
        }
        values.push(last);
        Some(self.alloc(TypedExpr {
            kind: TypedExprKind::Sequence(values.into_bump_slice()),
            ..last
        }))
    }

    /// Enters an enclosing statement.
    pub(super) fn enter_statement(&mut self, kind: EnclosingKind) {
        self.body.enclosing.push(Enclosing {
            kind,
            first_local: LocalId(self.body.locals.len() as u32),
            changed_from: self.body.changed.len(),
            breaks: false,
            continues: false,
        });
    }

    /// Leaves the innermost enclosing statement: returns the jumps it met, and the variables from
    /// outside that were written inside, each once. They stay marked for the statements around it.
    pub(super) fn leave_statement(&mut self) -> (Enclosing, &'a [LocalId]) {
        let left = self.body.enclosing.pop().expect("one was entered");
        let facts = &self.body.properties;
        let outside =
            |local: &LocalId| *local < left.first_local || facts[local.0 as usize].is_hoisted;
        let changed = &mut self.body.changed;
        let mut inside: Vec<LocalId> = changed.drain(left.changed_from..).filter(outside).collect();
        inside.sort_unstable();
        inside.dedup();
        changed.extend_from_slice(&inside);
        (left, self.arena.alloc_slice_copy(&inside))
    }
}

/// The header of a `for`, `while` or `do`.
struct Header<'s, 'a> {
    hints: LoopHints,
    conditions: &'s [&'a ast::Expr<'a>],
    steps: &'s [&'a ast::Expr<'a>],
    tests_last: bool,
}
