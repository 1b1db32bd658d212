//! Gradients that differentiable functions would lose.
//!
//! A value is *varied* if it may depend on a differentiable parameter of its function. The analysis
//! is by variables and expressions, without the order of statements, and repeats until no further
//! variable becomes varied. A varied value that reaches what passes no gradients is an error, since
//! the derivative would silently be 0.

use super::super::TypeChecker;
use super::super::typed_tree::{FunctionId, LocalId, TypedExpr, TypedExprKind, TypedStmt};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, FunctionOrigin};
use crate::ast::ParamDirection;
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::HashSet;

/// Most times that a body is walked; then every variable counts as varied.
const MAX_WALKS: usize = 32;

/// A walk over one body.
struct Walk<'w, 'a, 'c> {
    checker: &'w TypeChecker<'a, 'c>,
    varied: Vec<bool>,
    has_changed: bool,
    /// Whether the value that an update changes is varied.
    current: bool,
    /// Whether what is walked is under `no_diff`.
    is_detached: bool,
    losses: Vec<Loss>,
    /// The first shadow of a varied value.
    shadow: Option<Span>,
    callees: Vec<FunctionId>,
}

/// A gradient that ends.
enum Loss {
    /// At a call of an unmarked function.
    Call(FunctionId, Span),
    /// At a texture sample.
    Sample(u32, Span),
    /// In a closure.
    Closure(Span),
    /// In a plain struct that is passed to a function with custom derivatives.
    PlainStruct(FunctionId, TypeId, Span),
}

impl<'a> TypeChecker<'a, '_> {
    /// Reports the gradients that differentiable functions lose.
    pub(in crate::check) fn check_gradients(&mut self) {
        if !self.diagnostics.is_empty() {
            return;
        }
        if self.functions.iter().any(|f| f.marks.is_differentiable) {
            for index in 0..self.functions.len() {
                for param in self.functions[index].params {
                    self.differential(param.ty, param.span);
                }
            }
        }
        for index in 0..self.functions.len() {
            let id = FunctionId(index as u32);
            let declared = self.functions[index];
            if declared.origin != FunctionOrigin::Declared
                || declared.is_library
                || !declared.marks.is_differentiable
                || declared.marks.rules != Default::default()
            {
                continue;
            }
            let losses = self.walk(id).losses;
            losses.iter().for_each(|loss| self.report_loss(loss, id));
        }
        self.check_reversed_shadows();
    }

    fn walk(&self, id: FunctionId) -> Walk<'_, 'a, '_> {
        let declared = *self.declared(id);
        let mut walk = Walk {
            checker: self,
            varied: vec![false; declared.locals.len()],
            has_changed: false,
            current: false,
            is_detached: false,
            losses: Vec::new(),
            shadow: None,
            callees: Vec::new(),
        };
        for (param, varied) in declared.params.iter().zip(&mut walk.varied) {
            *varied = param.direction != ParamDirection::Out
                && !param.is_no_diff
                && self.is_differentiable_type(param.ty);
        }
        for walks in 0.. {
            walk.has_changed = false;
            walk.losses.clear();
            walk.callees.clear();
            walk.statements(declared.body);
            if !walk.has_changed {
                break;
            }
            if walks == MAX_WALKS {
                walk.varied.fill(true);
            }
        }
        walk
    }

    /// Whether values of the type have differentials, as far as that was asked for; floats always.
    fn is_differentiable_type(&self, ty: TypeId) -> bool {
        self.types.has_floats(ty)
            && (self.types.known_differential(ty).is_some()
                || !matches!(
                    self.types.kind(ty),
                    super::super::types::TypeKind::Struct(_)
                ))
    }

    fn report_loss(&mut self, loss: &Loss, within: FunctionId) {
        let within = *self.declared(within);
        let around = self.symbol_name(within.name.symbol).to_owned();
        let diagnostic = match *loss {
            Loss::Call(callee, span) => {
                let callee = *self.declared(callee);
                let name = self.symbol_name(callee.name.symbol).to_owned();
                let prototype = self.prototype(&callee, callee.result, callee.params);
                let message =
                    format!("`{name}` is not differentiable, so `{around}` would lose a gradient");
                Diagnostic::new(Code::LostGradient, span, message)
                    .here("its derivative would be 0")
                    .label(callee.name.span, "not marked as differentiable")
                    .help(format!(
                        "write `[Differentiable]` before `{prototype}`; or `no_diff {name}(…)` if no gradient is wanted"
                    ))
            }
            Loss::Sample(texture, span) => {
                let name = self.symbol_name(self.textures[texture as usize].symbol);
                let message = format!(
                    "a texture is sampled where coordinates have a gradient, which `{around}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("its derivative would be 0")
                    .help(format!(
                        "write `no_diff texture2d_sample<{name}>(…)` if no gradient is wanted, or give `{around}` a `[PrimalSubstitute(…)]`"
                    ))
            }
            Loss::Closure(span) => {
                let message = format!(
                    "a closure is made of a value with a gradient, which `{around}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("closures have no derivative")
                    .help("write `no_diff` before the value: `make_closure<name>(no_diff x)`")
            }
            Loss::PlainStruct(callee, ty, span) => {
                let name = self
                    .symbol_name(self.declared(callee).name.symbol)
                    .to_owned();
                let is = self.quoted_type(ty);
                let fix = self.differentiable_fix(ty);
                let message = format!(
                    "{is} is not `IDifferentiable`, so the derivative of `{name}` loses its gradient"
                );
                Diagnostic::new(Code::PlainStructGradient, span, message)
                    .here("its derivative would be 0")
                    .help(format!("{fix}; or `no_diff` before the value"))
            }
        };
        let diagnostic = match diagnostic.code {
            Code::LostGradient => diagnostic.label(within.name.span, "differentiable"),
            _ => diagnostic,
        };
        self.report(diagnostic);
    }

    /// Reports functions that `bwd_diff` is taken of, and that take screen derivatives of what
    /// depends on their parameters.
    fn check_reversed_shadows(&mut self) {
        let reversed = std::mem::take(&mut self.derivatives.reversed);
        let mut shadows: Vec<(Span, Span, FunctionId)> = Vec::new();
        for (function, span) in reversed {
            let mut seen = HashSet::from([function]);
            let mut open = vec![function];
            while let Some(id) = open.pop() {
                let declared = *self.declared(id);
                if let Some(derived) = declared.derived {
                    if seen.insert(derived.of) {
                        open.push(derived.of);
                    }
                    continue;
                }
                let rules = declared.marks.rules;
                if let Some(substitute) = rules.substitute {
                    if seen.insert(substitute) {
                        open.push(substitute);
                    }
                    continue;
                }
                if rules != Default::default() {
                    continue;
                }
                let walk = self.walk(id);
                if let Some(shadow) = walk.shadow {
                    shadows.push((span, shadow, id));
                    break;
                }
                let callees = walk.callees;
                open.extend(callees.into_iter().filter(|&callee| seen.insert(callee)));
            }
        }
        for (span, shadow, id) in shadows {
            let name = self.symbol_name(self.function_name(id)).to_owned();
            let mut diagnostic = Diagnostic::new(
                Code::ShadowInBackward,
                span,
                format!("`bwd_diff` reaches a screen derivative, in `{name}`"),
            )
            .here("no gradient passes it")
            .help("take `ddx` and `ddy` outside, and pass them as `no_diff` parameters");
            if !self.declared(id).is_library {
                diagnostic = diagnostic.label(shadow, "taken here");
            }
            self.report(diagnostic);
        }
    }
}

impl<'a> Walk<'_, 'a, '_> {
    fn statements(&mut self, statements: &[TypedStmt<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &TypedStmt<'a>) {
        match *statement {
            TypedStmt::Expr(expr) => {
                self.expr(expr);
            }
            TypedStmt::Declare(local, init) => {
                let is_varied = init.is_some_and(|init| self.expr(init));
                self.vary(local, is_varied);
            }
            TypedStmt::Block(inner) => self.statements(inner),
            TypedStmt::If(chosen) => {
                for arm in chosen.arms {
                    self.expr(arm.condition);
                    self.statements(arm.body);
                }
                self.statements(chosen.otherwise);
            }
            TypedStmt::Loop(looped) => {
                looped.condition.into_iter().for_each(|condition| {
                    self.expr(condition);
                });
                self.statements(looped.body);
                self.exprs(looped.updates);
            }
            TypedStmt::Switch(chosen) => {
                self.expr(chosen.value);
                for case in chosen.cases {
                    self.statements(case.body);
                }
            }
            TypedStmt::Return(Some(value), _) => {
                self.expr(value);
            }
            TypedStmt::Break(_) | TypedStmt::Continue(_) | TypedStmt::Return(None, _) => {}
        }
    }

    fn vary(&mut self, local: LocalId, is_varied: bool) {
        let varied = &mut self.varied[local.0 as usize];
        self.has_changed |= is_varied && !*varied;
        *varied |= is_varied;
    }

    /// Makes the variable that a place is part of varied.
    fn write(&mut self, place: &TypedExpr<'a>, is_varied: bool) {
        let mut root = place;
        while let TypedExprKind::Member(inner, _)
        | TypedExprKind::Swizzle(inner, _)
        | TypedExprKind::Index(inner, _) = root.kind
        {
            root = inner;
        }
        if let TypedExprKind::Local(local) = root.kind {
            self.vary(local, is_varied);
        }
    }

    /// Walks all, and returns whether any is varied.
    fn exprs(&mut self, exprs: &[TypedExpr<'a>]) -> bool {
        let mut any = false;
        for expr in exprs {
            any |= self.expr(expr);
        }
        any
    }

    /// Whether the value is varied.
    fn expr(&mut self, expr: &TypedExpr<'a>) -> bool {
        let is_varied = match expr.kind {
            TypedExprKind::Local(local) => self.varied[local.0 as usize],
            TypedExprKind::CurrentValue => self.current,
            TypedExprKind::Op(op, operands) => {
                self.exprs(operands) && op.info().is_differentiable()
            }
            TypedExprKind::Reversed(op, operands) => {
                self.exprs(operands) && op.info().is_differentiable()
            }
            TypedExprKind::Convert(inner) => {
                self.expr(inner);
                false
            }
            TypedExprKind::Index(value, index) => {
                let is_varied = self.expr(value);
                self.expr(index);
                is_varied
            }
            TypedExprKind::Ternary([condition, yes, no])
            | TypedExprKind::Select([condition, yes, no]) => {
                self.expr(condition);
                let (yes, no) = (self.expr(yes), self.expr(no));
                yes || no
            }
            TypedExprKind::Assign(place, value) => {
                self.expr(place);
                let is_varied = self.expr(value);
                self.write(place, is_varied);
                is_varied
            }
            TypedExprKind::Update(update) => {
                let before = self.expr(&update.place);
                let outer = std::mem::replace(&mut self.current, before);
                let is_varied = self.expr(&update.value);
                self.current = outer;
                self.write(&update.place, is_varied);
                is_varied
            }
            TypedExprKind::Call(callee, args) => self.call(callee, args, expr.span),
            TypedExprKind::Shadow(_, inner) => {
                let is_varied = self.expr(inner);
                if is_varied {
                    self.shadow.get_or_insert(expr.span);
                }
                is_varied
            }
            TypedExprKind::Detach(inner) => {
                let outer = std::mem::replace(&mut self.is_detached, true);
                self.expr(inner);
                self.is_detached = outer;
                false
            }
            TypedExprKind::Sample(texture, _, args) => {
                if self.exprs(args) && !self.is_detached {
                    self.losses.push(Loss::Sample(texture, expr.span));
                }
                false
            }
            TypedExprKind::Closure(_, args) => {
                self.closure(args, expr.span);
                false
            }
            TypedExprKind::ClosureScale(parts) => {
                self.closure(parts, expr.span);
                false
            }
            TypedExprKind::Sequence(parts) => {
                let mut last = false;
                for part in parts {
                    last = self.expr(part);
                }
                last
            }
            _ => {
                let mut any = false;
                for child in expr.children() {
                    any |= self.expr(child);
                }
                any
            }
        };
        is_varied && self.checker.types.has_floats(expr.ty)
    }

    fn closure(&mut self, parts: &[TypedExpr<'a>], span: Span) {
        if self.exprs(parts) && !self.is_detached {
            self.losses.push(Loss::Closure(span));
        }
    }

    fn call(&mut self, callee: FunctionId, args: &[TypedExpr<'a>], span: Span) -> bool {
        let declared: DeclaredFunction<'a> = *self.checker.declared(callee);
        self.callees.push(callee);
        let mut any = false;
        let mut plain = None;
        for (param, arg) in declared.params.iter().zip(args) {
            let is_varied = self.expr(arg) && param.direction != ParamDirection::Out;
            if is_varied && !param.is_no_diff {
                any = true;
                if !self.checker.is_differentiable_type(param.ty) {
                    plain.get_or_insert((param.ty, arg.span));
                }
            }
        }
        let types = &self.checker.types;
        let gives_floats = types.has_floats(declared.result)
            || declared
                .params
                .iter()
                .any(|param| param.direction != ParamDirection::In && types.has_floats(param.ty));
        let is_lossy = any && gives_floats && !self.is_detached;
        let has_rules = declared.marks.rules != Default::default();
        if is_lossy && !self.checker.is_marked(callee) {
            self.losses.push(Loss::Call(callee, span));
        } else if let Some((ty, span)) = plain.filter(|_| is_lossy && has_rules) {
            self.losses.push(Loss::PlainStruct(callee, ty, span));
        }
        let is_varied = any && !self.is_detached;
        for (param, arg) in declared.params.iter().zip(args) {
            if param.direction != ParamDirection::In {
                self.write(arg, is_varied && !param.is_no_diff);
            }
        }
        is_varied && !declared.is_no_diff
    }
}
