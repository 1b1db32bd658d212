//! Statements and loops.
//!
//! A loop carries the scalar leaves of the variables that it may change: they are the parameters of
//! its region, and every exit passes them. A `continue` is a jump to the loop if nothing is between
//! body and condition; otherwise the body is a block of its own that it leaves.

use super::function::{FunctionLowering, LeafValues};
use super::observe::{ConditionKind, ObservedEvent};
use super::ssa::JumpTarget;
use crate::check::typed_tree::{LocalId, TypedIf, TypedLoop, TypedStmt};
use crate::check::types::TypeKind;
use crate::limits::MAX_BRANCH_ARGUMENTS;
use adumbra_ir::Scalar;
use adumbra_ir::module::{InstKind, ValueId};

impl<'a> FunctionLowering<'_, '_, 'a> {
    pub(super) fn statements(&mut self, statements: &[TypedStmt<'a>]) {
        for statement in statements {
            if self.builder.is_terminated() {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &TypedStmt<'a>) {
        self.indices.clear();
        match *statement {
            TypedStmt::Expr(expr) => {
                self.values(expr);
            }
            TypedStmt::Declare(local, init) => self.declare(local, init),
            TypedStmt::Block(statements) => self.statements(statements),
            TypedStmt::If(statement) => self.if_statement(statement),
            TypedStmt::Loop(statement) => self.loop_statement(statement),
            TypedStmt::Break(span) => {
                let target = self.target();
                target.has_break = true;
                let kind = InstKind::Break(target.region);
                let values = self.carried_values();
                self.builder.terminate(kind, values, span);
            }
            TypedStmt::Continue(span) => {
                let mut targets = self.targets.iter().rev();
                let target = targets.find(|target| target.is_loop);
                let target = target.expect("inside a loop");
                let kind = match target.block {
                    Some(block) => InstKind::Break(block),
                    None => InstKind::Continue(target.region),
                };
                let carried = target.carried.clone();
                let values = self.held(&carried);
                self.builder.terminate(kind, values, span);
            }
            TypedStmt::Switch(statement) => self.switch_statement(statement),
            TypedStmt::Return(value, span) => {
                let values = match value {
                    Some(value) => self.values(value),
                    None => LeafValues::new(),
                };
                self.return_from_function(&values, span);
            }
        }
    }

    fn if_statement(&mut self, statement: &TypedIf<'a>) {
        let [arm] = statement.arms else {
            return self.chain(statement);
        };
        let condition = self.value(arm.condition);
        self.observe_condition(ConditionKind::If, condition, arm.condition.span);
        self.branch(
            condition,
            |body| {
                body.statements(arm.body);
                LeafValues::new()
            },
            |body| {
                body.statements(statement.otherwise);
                LeafValues::new()
            },
            statement.span,
        );
    }

    /// An `if` with several conditions: a block that each arm leaves. The conditions are siblings,
    /// so the nesting does not grow with their number.
    fn chain(&mut self, statement: &TypedIf<'a>) {
        let span = statement.span;
        let slots = self.scalar_slots(statement.changed);
        let before = self.held(&slots).into_iter();
        let types: Vec<Scalar> = before.map(|value| self.builder.ty(value)).collect();
        let block = self.builder.open_region();
        let mut ends = false;
        for arm in statement.arms {
            let condition = self.value(arm.condition);
            self.observe_condition(ConditionKind::If, condition, arm.condition.span);
            let leave = |body: &mut Self| {
                body.statements(arm.body);
                if !body.builder.is_terminated() {
                    ends = true;
                    let values = body.held(&slots);
                    (body.builder).terminate(InstKind::Break(block), values, arm.span);
                }
                LeafValues::new()
            };
            self.branch(condition, leave, |_| LeafValues::new(), arm.span);
        }
        self.statements(statement.otherwise);
        if !self.builder.is_terminated() {
            ends = true;
            let values = self.held(&slots);
            self.builder.terminate(InstKind::Yield, values, span);
        }
        self.builder.close_region();
        let results = if ends { types } else { Vec::new() };
        let results = self.builder.inst(InstKind::Block(block), [], results, span);
        match ends {
            true => {
                for (&slot, value) in slots.iter().zip(results.iter()) {
                    self.set(slot, value);
                }
            }
            false => self.builder.terminate(InstKind::Unreachable, [], span),
        }
    }

    /// Whether what is being lowered may run several times.
    pub(super) fn in_loop(&self) -> bool {
        self.targets.iter().any(|target| target.is_loop)
    }

    /// The innermost target.
    pub(super) fn target(&mut self) -> &mut JumpTarget {
        self.targets.last_mut().expect("inside a loop or switch")
    }

    /// Makes the open region the innermost target; it carries the scalar leaves of these variables.
    pub(super) fn push_target(&mut self, is_loop: bool, changed: &[LocalId]) {
        let carried = self.scalar_slots(changed);
        self.targets.push(JumpTarget {
            region: self.builder.current(),
            is_loop,
            block: None,
            carried,
            has_break: false,
        });
    }

    /// The current values of these slots, to be passed on; empty once that is
    /// [too much](MAX_BRANCH_ARGUMENTS).
    fn held(&mut self, slots: &[u32]) -> Vec<ValueId> {
        self.shared.branch_arguments += slots.len() as u64;
        if self.shared.branch_arguments > MAX_BRANCH_ARGUMENTS {
            return Vec::new();
        }
        let slots = slots.iter();
        slots
            .map(|&slot| self.environment.get(slot).value())
            .collect()
    }

    /// The current values of the variables that the innermost target carries.
    pub(super) fn carried_values(&mut self) -> Vec<ValueId> {
        let carried = std::mem::take(&mut self.target().carried);
        let values = self.held(&carried);
        self.target().carried = carried;
        values
    }

    /// Sets the slots that the innermost target carries.
    pub(super) fn set_carried(&mut self, values: impl Iterator<Item = ValueId>) {
        for (index, value) in values.enumerate() {
            let slot = self.target().carried[index];
            self.set(slot, value);
        }
    }

    /// The scalar leaves of these variables.
    fn scalar_slots(&self, locals: &[LocalId]) -> Vec<u32> {
        let mut slots = Vec::with_capacity(locals.len());
        for &local in locals {
            let ty = self.function.locals[local.0 as usize].ty;
            if let TypeKind::RunTimeArray(_) = self.types().kind(ty) {
                // Its length stays as it is.
                continue;
            }
            let leaves = self.leaves(ty);
            let all = (self.first_slot(local)..).zip(leaves);
            slots.extend(all.filter(|(_, leaf)| leaf.len == 0).map(|(slot, _)| slot));
        }
        slots
    }

    fn loop_statement(&mut self, statement: &TypedLoop<'a>) {
        let span = statement.span;
        self.shared.hint_loop(statement);
        self.observe(ObservedEvent::LoopBegins, [], span);
        let looped = self.builder.open_region();
        self.push_target(true, statement.changed);
        let initial = self.carried_values();
        let types: Vec<Scalar> = initial
            .iter()
            .map(|&value| self.builder.ty(value))
            .collect();
        for (index, &ty) in types.iter().enumerate() {
            let param = self.builder.param(ty, span);
            let slot = self.target().carried[index];
            self.set(slot, param);
        }
        if !statement.tests_last {
            self.leave_unless(statement);
        }
        self.observe(ObservedEvent::Iteration, [], span);
        let has_end = statement.tests_last || !statement.updates.is_empty();
        if statement.has_continue && has_end {
            let block = self.builder.open_region();
            self.target().block = Some(block);
            self.statements(statement.body);
            if !self.builder.is_terminated() {
                let values = self.carried_values();
                self.builder.terminate(InstKind::Yield, values, span);
            }
            self.builder.close_region();
            let kind = InstKind::Block(block);
            let results = self.builder.inst(kind, [], types.iter().copied(), span);
            self.set_carried(results.iter());
        } else {
            self.statements(statement.body);
        }
        if !self.builder.is_terminated() {
            for step in statement.updates {
                self.values(step);
            }
            if statement.tests_last {
                self.leave_unless(statement);
            }
            let values = self.carried_values();
            self.builder
                .terminate(InstKind::Continue(looped), values, span);
        }
        self.builder.close_region();
        let ends = self.target().has_break;
        let results = match ends {
            true => types,
            false => Vec::new(),
        };
        let kind = InstKind::Loop(looped);
        let results = self.builder.inst(kind, initial, results, span);
        if ends {
            self.set_carried(results.iter());
            self.observe(ObservedEvent::LoopEnds, [], span);
        } else {
            self.builder.terminate(InstKind::Unreachable, [], span);
        }
        self.targets.pop();
    }

    /// Leaves the innermost loop unless its condition holds.
    fn leave_unless(&mut self, statement: &TypedLoop<'a>) {
        let Some(condition) = statement.condition else {
            return;
        };
        let holds = self.value(condition);
        self.observe_condition(ConditionKind::Loop, holds, condition.span);
        let span = condition.span;
        let stay = self.builder.open_region();
        self.builder.terminate(InstKind::Yield, [], span);
        self.builder.close_region();
        let leave = self.builder.open_region();
        let target = self.target();
        target.has_break = true;
        let kind = InstKind::Break(target.region);
        let values = self.carried_values();
        self.builder.terminate(kind, values, span);
        self.builder.close_region();
        self.builder
            .inst(InstKind::If(stay, leave), [holds], [], span);
    }
}
