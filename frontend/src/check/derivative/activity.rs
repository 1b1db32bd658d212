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
use super::super::typed_tree::{FunctionId, LocalId, TypedExpr, TypedExprKind, TypedStmt};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, FunctionOrigin};
use super::loss::Loss;
use crate::ast::ParamDirection;
use adumbra_ir::{Op, Span};
use std::collections::{HashMap, HashSet};

/// The most times that a body is walked. After that every variable counts as varied: errors may be
/// too many, never too few.
const MAX_WALKS: usize = 32;

/// A walk over one body.
pub(super) struct Walk<'w, 'a, 'c> {
    checker: &'w TypeChecker<'a, 'c>,
    pub(super) varied: Vec<bool>,
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
    pub(super) returns: bool,
    /// How many walks of callers are around this one.
    depth: u32,
    /// By function and the parameters that are rounded: whether it uses one of those as a float.
    float_uses: HashMap<(FunctionId, Vec<bool>), bool>,
    pub(super) losses: Vec<Loss>,
    /// The first shadow of a varied value.
    pub(super) shadow: Option<Span>,
    pub(super) callees: Vec<FunctionId>,
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
    pub(super) fn walk(&self, id: FunctionId) -> Walk<'_, 'a, '_> {
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

    /// A walk over a function of which nothing is varied yet.
    pub(super) fn begin_walk(&self, id: FunctionId) -> Walk<'_, 'a, '_> {
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
            float_uses: HashMap::new(),
            losses: Vec::new(),
            shadow: None,
            callees: Vec::new(),
        }
    }

    /// Whether values of the type have differentials, as far as that was asked for; floats always.
    pub(super) fn is_differentiable_type(&self, ty: TypeId) -> bool {
        self.types.has_floats(ty)
            && (self.types.known_differential(ty).is_some()
                || !matches!(
                    self.types.kind(ty),
                    super::super::types::TypeKind::Struct(_)
                ))
    }
}

/// How many calls deep the use of an integer is followed; beyond that nothing is reported.
const MAX_DEPTH: u32 = 4;

impl<'a> Walk<'_, 'a, '_> {
    /// Walks the body until nothing changes.
    pub(super) fn finish(&mut self, body: &[TypedStmt<'a>]) {
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
    fn uses_as_float(&mut self, callee: FunctionId, params: &[bool]) -> bool {
        let declared = *self.checker.declared(callee);
        if declared.is_library || declared.derived.is_some() || self.depth >= MAX_DEPTH {
            return false;
        }
        let key = (callee, params.to_vec());
        if let Some(&known) = self.float_uses.get(&key) {
            return known;
        }
        // A call inside of itself adds nothing.
        self.float_uses.insert(key.clone(), false);
        let mut walk = self.checker.begin_walk(callee);
        walk.depth = self.depth + 1;
        walk.float_uses = std::mem::take(&mut self.float_uses);
        for (param, _) in declared.params.iter().zip(params).filter(|p| *p.1) {
            walk.rounded[param.local.0 as usize] = Some(param.span);
        }
        walk.finish(declared.body);
        let mut losses = walk.losses.iter();
        let found = losses.any(|loss| matches!(loss, Loss::Rounded(_)));
        self.float_uses = std::mem::take(&mut walk.float_uses);
        self.float_uses.insert(key, found);
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
