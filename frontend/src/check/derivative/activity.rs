//! Gradients that differentiable functions would lose.
//!
//! A value is *varied* if it may depend on a differentiable parameter of its function. The analysis
//! is by variables and expressions, without the order of statements, and repeats until no further
//! variable becomes varied. A varied value that reaches what passes no gradients is an error, since
//! the derivative would silently be 0.
//!
//! An integer is *rounded* if it is made of a varied float. Where it is used as a float again is a
//! warning. So is a derivative that is 0 everywhere: nothing leads from the parameter to a result.

use super::super::TypeChecker;
use super::super::typed_tree::{
    FunctionId, LocalId, TypedExpr, TypedExprKind, TypedParam, TypedStmt,
};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, FunctionOrigin};
use crate::ast::ParamDirection;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Op, Span};
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
    /// By variable: the cast by which an integer in it is rounded.
    rounded: Vec<Option<Span>>,
    /// The same of the value that an update changes.
    current_rounded: Option<Span>,
    /// Casts and calls that make integers of varied values.
    casts: HashSet<Span>,
    /// Whether a varied value is returned.
    returns: bool,
    /// How many walks of callers are around this one.
    depth: u32,
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
    /// At a cast to an integer that is used as a float again.
    Rounded(Span),
    /// In a plain struct that is passed to a function with custom derivatives.
    PlainStruct(FunctionId, TypeId, Span),
}

impl<'a> TypeChecker<'a, '_> {
    /// Reports the gradients that differentiable functions lose.
    pub(in crate::check) fn check_gradients(&mut self) {
        if !self.diagnostics.is_empty() {
            return;
        }
        self.check_written_operations();
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
        self.warn_of_zero_derivatives();
    }

    /// The walk over a function of which all differentiable parameters are varied.
    fn walk(&self, id: FunctionId) -> Walk<'_, 'a, '_> {
        let declared = *self.declared(id);
        let mut walk = self.begin_walk(id);
        for (param, varied) in declared.params.iter().zip(&mut walk.varied) {
            *varied = param.direction != ParamDirection::Out
                && !param.is_no_diff
                && self.is_differentiable_type(param.ty);
        }
        walk.finish(declared.body);
        walk
    }

    fn begin_walk(&self, id: FunctionId) -> Walk<'_, 'a, '_> {
        let declared = *self.declared(id);
        Walk {
            checker: self,
            varied: vec![false; declared.locals.len()],
            has_changed: false,
            current: false,
            is_detached: false,
            rounded: vec![None; declared.locals.len()],
            current_rounded: None,
            casts: HashSet::new(),
            returns: false,
            depth: 0,
            losses: Vec::new(),
            shadow: None,
            callees: Vec::new(),
        }
    }

    /// Warns of derivatives that are 0 everywhere.
    fn warn_of_zero_derivatives(&mut self) {
        for (derivative, span) in std::mem::take(&mut self.derivatives.called) {
            let Some(derived) = self.declared(derivative).derived else {
                continue;
            };
            let primal = *self.declared(derived.of);
            if primal.derived.is_some()
                || primal.is_library
                || primal.origin != FunctionOrigin::Declared
                || primal.marks.rules != Default::default()
            {
                continue;
            }
            let mut flat = Vec::new();
            let mut active = 0;
            for (index, param) in primal.params.iter().enumerate() {
                if derived.plain[index]
                    || param.is_no_diff
                    || param.direction == ParamDirection::Out
                    || !self.is_differentiable_type(param.ty)
                {
                    continue;
                }
                active += 1;
                let mut walk = self.begin_walk(derived.of);
                walk.varied[param.local.0 as usize] = true;
                walk.finish(primal.body);
                let outputs = (primal.params.iter())
                    .filter(|param| param.direction != ParamDirection::In && !param.is_no_diff);
                let leads = walk.returns && !primal.is_no_diff
                    || outputs.into_iter().any(|p| walk.varied[p.local.0 as usize]);
                if !leads {
                    flat.push(param);
                }
            }
            // A forward derivative is one sum over all parameters.
            let is_sum = derived.mode == DifferentiationMode::Forward;
            if is_sum && flat.len() < active {
                continue;
            }
            for param in flat.into_iter().take(if is_sum { 1 } else { usize::MAX }) {
                self.warn_of_zero_derivative(derived.of, param, span);
            }
        }
    }

    fn warn_of_zero_derivative(&mut self, of: FunctionId, param: &TypedParam<'a>, span: Span) {
        let name = self.symbol_name(self.function_name(of)).to_owned();
        let param_name = self.symbol_name(param.name).to_owned();
        self.warn(
            Diagnostic::new(
                Code::FlatDerivative,
                span,
                format!("the derivative of `{name}` by `{param_name}` is 0 everywhere"),
            )
            .here("always 0")
            .label(
                param.span,
                "nothing that has a derivative leads from here to a result",
            )
            .help(format!(
                "write `no_diff` before `{param_name}` if no gradient is wanted, and pass a plain value"
            )),
        );
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
        if let Loss::Rounded(span) = *loss {
            return self.warn_of_rounding(span, within);
        }
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
            Loss::Rounded(span) => unreachable!("reported before: {span:?}"),
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

    fn warn_of_rounding(&mut self, span: Span, within: FunctionId) {
        let name = self.symbol_name(self.function_name(within)).to_owned();
        self.warn(
            Diagnostic::new(
                Code::RoundedGradient,
                span,
                format!(
                    "an integer is made of a value with a gradient, and used as a float again, which `{name}` loses"
                ),
            )
            .here("its derivative is 0")
            .help("write `no_diff` before the float if no gradient is wanted: `(int)(no_diff x)`"),
        );
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

/// How deep the use of an integer is followed through calls.
const MAX_DEPTH: u32 = 4;

impl<'a> Walk<'_, 'a, '_> {
    /// Walks the body until nothing changes.
    fn finish(&mut self, body: &[TypedStmt<'a>]) {
        for walks in 0.. {
            self.has_changed = false;
            self.losses.clear();
            self.callees.clear();
            self.statements(body);
            if !self.has_changed {
                break;
            }
            if walks == MAX_WALKS {
                self.varied.fill(true);
            }
        }
    }

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
                self.round(local, init.and_then(|init| self.rounded(init)));
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
                self.returns |= self.expr(value);
            }
            TypedStmt::Break(_) | TypedStmt::Continue(_) | TypedStmt::Return(None, _) => {}
        }
    }

    fn vary(&mut self, local: LocalId, is_varied: bool) {
        let varied = &mut self.varied[local.0 as usize];
        self.has_changed |= is_varied && !*varied;
        *varied |= is_varied;
    }

    fn round(&mut self, local: LocalId, cast: Option<Span>) {
        let rounded = &mut self.rounded[local.0 as usize];
        self.has_changed |= cast.is_some() && rounded.is_none();
        *rounded = rounded.or(cast);
    }

    /// The cast by which an integer is rounded, of an expression that was walked.
    fn rounded(&self, expr: &TypedExpr<'a>) -> Option<Span> {
        let any = |parts: &[TypedExpr<'a>]| parts.iter().find_map(|part| self.rounded(part));
        if self.casts.contains(&expr.span) && !is_of_floats(expr.ty) {
            return Some(expr.span);
        }
        match expr.kind {
            TypedExprKind::Local(local) => self.rounded[local.0 as usize],
            TypedExprKind::CurrentValue => self.current_rounded,
            _ if is_of_floats(expr.ty) || expr.ty == TypeId::BOOL => None,
            TypedExprKind::Convert(inner)
            | TypedExprKind::Member(inner, _)
            | TypedExprKind::Index(inner, _) => self.rounded(inner),
            TypedExprKind::Op(_, operands) => any(operands),
            TypedExprKind::Reversed(_, operands) => any(operands),
            TypedExprKind::Ternary([_, yes, no]) | TypedExprKind::Select([_, yes, no]) => {
                self.rounded(yes).or(self.rounded(no))
            }
            TypedExprKind::Assign(_, value) => self.rounded(value),
            TypedExprKind::Update(update) => self.rounded(&update.place),
            TypedExprKind::Gather(parts) | TypedExprKind::List(parts) => any(parts),
            TypedExprKind::Sequence(parts) => parts.last().and_then(|part| self.rounded(part)),
            _ => None,
        }
    }

    /// Notes that a value of that type is made of others, of which some are varied.
    fn cast(&mut self, expr: &TypedExpr<'a>, is_varied: bool) {
        if is_varied && expr.ty.is_integer() && !self.is_detached {
            self.has_changed |= self.casts.insert(expr.span);
        }
    }

    /// Notes that a rounded integer is used as a float.
    fn use_as_float(&mut self, rounded: Option<Span>) {
        let is_new =
            |loss: &Loss, span: Span| !matches!(loss, Loss::Rounded(known) if *known == span);
        if let Some(span) = rounded.filter(|_| !self.is_detached)
            && self.losses.iter().all(|loss| is_new(loss, span))
        {
            self.losses.push(Loss::Rounded(span));
        }
    }

    /// Makes the variable that a place is part of rounded.
    fn write_rounded(&mut self, place: &TypedExpr<'a>, cast: Option<Span>) {
        if let Some(local) = root(place) {
            self.round(local, cast);
        }
    }

    /// Makes the variable that a place is part of varied.
    fn write(&mut self, place: &TypedExpr<'a>, is_varied: bool) {
        if let Some(local) = root(place) {
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
            TypedExprKind::Op(op, operands) => self.op(op, operands, expr),
            TypedExprKind::Reversed(op, operands) => {
                self.exprs(operands) && op.info().is_differentiable()
            }
            TypedExprKind::Convert(inner) => {
                let is_varied = self.expr(inner);
                self.cast(expr, is_varied);
                if expr.ty == TypeId::FLOAT {
                    let rounded = self.rounded(inner);
                    self.use_as_float(rounded);
                }
                false
            }
            TypedExprKind::Member(inner, leaf) => {
                let is_constant = self
                    .checker
                    .types
                    .is_no_diff_member(inner.ty, leaf, expr.ty);
                self.expr(inner) && !is_constant
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
                self.write_rounded(place, self.rounded(value));
                is_varied
            }
            TypedExprKind::Update(update) => {
                let before = self.expr(&update.place);
                let outer = std::mem::replace(&mut self.current, before);
                let rounded = self.rounded(&update.place);
                let outer_rounded = std::mem::replace(&mut self.current_rounded, rounded);
                let is_varied = self.expr(&update.value);
                let rounded = self.rounded(&update.value);
                self.current = outer;
                self.current_rounded = outer_rounded;
                self.write_rounded(&update.place, rounded);
                self.write(&update.place, is_varied);
                is_varied
            }
            TypedExprKind::Call(callee, args) => self.call(callee, args, expr),
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

    fn op(&mut self, op: Op, operands: &[TypedExpr<'a>], expr: &TypedExpr<'a>) -> bool {
        let (mut any, mut passes) = (false, false);
        for (operand, carries) in operands.iter().zip(op.passes_shadows()) {
            let is_varied = self.expr(operand);
            any |= is_varied;
            passes |= is_varied && carries;
        }
        self.cast(expr, any);
        if op == Op::AsFloat {
            let rounded = self.rounded(&operands[0]);
            self.use_as_float(rounded);
        }
        passes && op.info().is_differentiable()
    }

    /// Follows integers into a function: whether it uses one that is passed rounded as a float.
    fn uses_as_float(&self, callee: FunctionId, params: &[bool]) -> bool {
        let declared = *self.checker.declared(callee);
        if declared.is_library || declared.derived.is_some() || self.depth >= MAX_DEPTH {
            return false;
        }
        let key = (callee, params.to_vec());
        let uses = &self.checker.derivatives.float_uses;
        if let Some(&known) = uses.borrow().get(&key) {
            return known;
        }
        uses.borrow_mut().insert(key.clone(), false);
        let mut walk = self.checker.begin_walk(callee);
        walk.depth = self.depth + 1;
        for (param, _) in declared.params.iter().zip(params).filter(|p| *p.1) {
            walk.rounded[param.local.0 as usize] = Some(param.span);
        }
        walk.finish(declared.body);
        let mut losses = walk.losses.iter();
        let found = losses.any(|loss| matches!(loss, Loss::Rounded(_)));
        uses.borrow_mut().insert(key, found);
        found
    }

    fn call(&mut self, callee: FunctionId, args: &[TypedExpr<'a>], expr: &TypedExpr<'a>) -> bool {
        let span = expr.span;
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
        let casts: Vec<Option<Span>> = args.iter().map(|arg| self.rounded(arg)).collect();
        let rounded: Vec<bool> = casts.iter().map(Option::is_some).collect();
        let first = casts.into_iter().flatten().next();
        if first.is_some() && !self.is_detached && self.uses_as_float(callee, &rounded) {
            self.use_as_float(first);
        }
        self.cast(expr, any || first.is_some());
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
        let is_varied = any && !self.is_detached && !declared.marks.rules.is_zero;
        for (param, arg) in declared.params.iter().zip(args) {
            if param.direction != ParamDirection::In {
                self.write(arg, is_varied && !param.is_no_diff);
                if param.ty.is_integer() && is_varied {
                    self.write_rounded(arg, Some(arg.span));
                }
            }
        }
        is_varied && !declared.is_no_diff
    }
}

/// The variable that a place is part of.
fn root(place: &TypedExpr<'_>) -> Option<LocalId> {
    let mut root = place;
    while let TypedExprKind::Member(inner, _)
    | TypedExprKind::Swizzle(inner, _)
    | TypedExprKind::Index(inner, _) = root.kind
    {
        root = inner;
    }
    match root.kind {
        TypedExprKind::Local(local) => Some(local),
        _ => None,
    }
}

/// Whether values of the type are floats alone, and so never rounded.
fn is_of_floats(ty: TypeId) -> bool {
    ty == TypeId::FLOAT || ty.is_vector()
}
