//! Which values of a function have a gradient, and where it would be lost.
//!
//! A value is *varied* if it may depend on a differentiable parameter of its function. An integer is
//! *rounded* if it is made of a varied float. A walk over a body, without the order of its
//! statements, gives a graph of what depends on what ([`DependenceGraph`]); variables are not split.
//! Where a varied value reaches what passes no gradients, or a rounded integer is used as a float,
//! a gradient is lost if the parameters have one there: see [`reach`](super::reach).

use super::super::TypeChecker;
use super::super::typed_tree::{FunctionId, LocalId, TypedExpr, TypedExprKind, TypedStmt};
use super::super::types::TypeId;
use super::dependence::{CallSite, DependenceGraph, Flow, NodeId, PortTarget, rounded, varied};
use super::loss::Loss;
use crate::ast::ParamDirection;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Op, Span};
use std::ops::Range;

/// The port of the integers that a function uses as floats.
const USES: usize = 0;
/// The ports of its result, varied and rounded.
const RESULT: [usize; 2] = [1, 2];

/// The same of a parameter that it writes.
const fn written(param: usize) -> [usize; 2] {
    [2 * param + 3, 2 * param + 4]
}

/// What is known of a body.
pub(super) struct Body {
    /// A node of all integers that it uses as floats.
    pub(super) uses: NodeId,
    /// Nodes of the floats that it gives back.
    pub(super) outputs: Vec<NodeId>,
    /// Its nodes.
    pub(super) nodes: Range<NodeId>,
    /// Its calls, in [`DependenceGraph::sites`].
    pub(super) sites: Range<usize>,
    /// What loses a gradient if the node is varied.
    pub(super) losses: Vec<(Loss, NodeId)>,
    /// Screen-space derivatives, and of what they are.
    pub(super) shadows: Vec<(Span, NodeId)>,
}

/// Walks the body of a function.
pub(super) fn walk(checker: &TypeChecker, graph: &mut DependenceGraph, id: FunctionId) -> Body {
    Walk::new(checker, graph, id).finish(id)
}

/// A walk over one body.
struct Walk<'w, 'a, 'c> {
    checker: &'w TypeChecker<'a, 'c>,
    graph: &'w mut DependenceGraph,
    locals: Vec<Flow>,
    result: Flow,
    /// The value that an update changes.
    current: Flow,
    /// Whether what is walked is under `no_diff`.
    is_detached: bool,
    body: Body,
}

impl<'w, 'a, 'c> Walk<'w, 'a, 'c> {
    fn new(
        checker: &'w TypeChecker<'a, 'c>,
        graph: &'w mut DependenceGraph,
        id: FunctionId,
    ) -> Walk<'w, 'a, 'c> {
        let declared = *checker.declared(id);
        let (first, first_node) = (graph.sites.len(), graph.next_node());
        let uses = graph.node();
        graph.expose(uses, id, USES);
        let mut walk = Walk {
            checker,
            graph,
            locals: Vec::with_capacity(declared.locals.len()),
            result: Flow::default(),
            current: Flow::default(),
            is_detached: false,
            body: Body {
                uses,
                outputs: Vec::new(),
                nodes: first_node..first_node,
                sites: first..first,
                losses: Vec::new(),
                shadows: Vec::new(),
            },
        };
        for local in declared.locals {
            let flow = walk.flow(local.ty);
            walk.locals.push(flow);
        }
        if !declared.is_no_diff {
            walk.result = walk.flow(declared.result);
            walk.give(walk.result, id, RESULT);
        }
        for (at, param) in declared.params.iter().enumerate() {
            let flow = walk.locals[param.local.0 as usize];
            if param.is_no_diff {
                continue;
            }
            if param.direction != ParamDirection::In {
                walk.give(flow, id, written(at));
            }
            if param.direction != ParamDirection::Out {
                let sources = [(flow.varied, varied(at)), (flow.rounded, rounded(at))];
                for (node, source) in sources {
                    if let Some(node) = node {
                        walk.graph.source(node, source);
                    }
                }
            }
        }
        walk
    }

    /// Walks the body.
    fn finish(mut self, id: FunctionId) -> Body {
        self.statements(self.checker.declared(id).body);
        self.body.nodes.end = self.graph.next_node();
        self.body.sites.end = self.graph.sites.len();
        self.body
    }

    /// Makes a value what the function gives back.
    fn give(&mut self, flow: Flow, id: FunctionId, ports: [usize; 2]) {
        self.body.outputs.extend(flow.varied);
        for (node, port) in [flow.varied, flow.rounded].into_iter().zip(ports) {
            if let Some(node) = node {
                self.graph.expose(node, id, port);
            }
        }
    }

    /// New nodes for values of a type.
    fn flow(&mut self, ty: TypeId) -> Flow {
        let types = &self.checker.types;
        Flow {
            varied: types.has_floats(ty).then(|| self.graph.node()),
            rounded: types.has_integers(ty).then(|| self.graph.node()),
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
                if let Some(init) = init {
                    let value = self.expr(init);
                    self.lead(value, self.locals[local.0 as usize]);
                }
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
                let value = self.expr(value);
                self.lead(value, self.result);
            }
            TypedStmt::Break(_) | TypedStmt::Continue(_) | TypedStmt::Return(None, _) => {}
        }
    }

    fn lead(&mut self, from: Flow, to: Flow) {
        self.graph.edge(from.varied, to.varied);
        self.graph.edge(from.rounded, to.rounded);
    }

    /// What depends on any of these.
    fn join(&mut self, flows: impl IntoIterator<Item = Flow> + Clone) -> Flow {
        let nodes = flows.clone().into_iter().map(|flow| flow.varied);
        Flow {
            varied: self.graph.any(nodes),
            rounded: (self.graph).any(flows.into_iter().map(|flow| flow.rounded)),
        }
    }

    /// The integers that are made of a value there.
    fn cast(&mut self, value: Option<NodeId>, span: Span) -> Option<NodeId> {
        value.filter(|_| !self.is_detached).map(|value| {
            let cast = self.graph.cast(span);
            self.graph.edge(Some(value), Some(cast));
            cast
        })
    }

    /// Notes that integers are used as floats.
    fn use_as_float(&mut self, rounded: Option<NodeId>) {
        if !self.is_detached {
            self.graph.edge(rounded, Some(self.body.uses));
        }
    }

    /// Changes the variable that a place is part of.
    fn write(&mut self, place: &TypedExpr<'a>, value: Flow) {
        if let Some(local) = root(place) {
            self.lead(value, self.locals[local.0 as usize]);
        }
    }

    /// Walks all, and gives what depends on any.
    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e TypedExpr<'a>>) -> Flow
    where
        'a: 'e,
    {
        let flows: Vec<Flow> = exprs.into_iter().map(|expr| self.expr(expr)).collect();
        self.join(flows)
    }

    fn expr(&mut self, expr: &TypedExpr<'a>) -> Flow {
        let value = match expr.kind {
            TypedExprKind::Local(local) => self.locals[local.0 as usize],
            TypedExprKind::CurrentValue => self.current,
            TypedExprKind::Op(op, operands) => self.op(op, operands, expr),
            TypedExprKind::Reversed(op, operands) => {
                let value = self.exprs(operands);
                Flow {
                    varied: value.varied.filter(|_| op.info().is_differentiable()),
                    ..value
                }
            }
            TypedExprKind::Convert(inner) => {
                let value = self.expr(inner);
                if expr.ty == TypeId::FLOAT {
                    self.use_as_float(value.rounded);
                }
                let cast = match expr.ty.is_integer() {
                    true => self.cast(value.varied, expr.span),
                    false => None,
                };
                Flow {
                    varied: None,
                    rounded: self.graph.any([cast, value.rounded]),
                }
            }
            TypedExprKind::Member(inner, leaf) => {
                let types = &self.checker.types;
                let is_constant = types.is_no_diff_member(inner.ty, leaf, expr.ty);
                let value = self.expr(inner);
                match is_constant {
                    true => Flow::default(),
                    false => value,
                }
            }
            TypedExprKind::Index(value, index) => {
                let value = self.expr(value);
                self.expr(index);
                value
            }
            TypedExprKind::Ternary([condition, yes, no])
            | TypedExprKind::Select([condition, yes, no]) => {
                self.expr(condition);
                self.exprs([yes, no])
            }
            TypedExprKind::Assign(place, value) => {
                self.expr(place);
                let value = self.expr(value);
                self.write(place, value);
                value
            }
            TypedExprKind::Update(update) => {
                let before = self.expr(&update.place);
                let outer = std::mem::replace(&mut self.current, before);
                let value = self.expr(&update.value);
                self.current = outer;
                self.write(&update.place, value);
                value
            }
            TypedExprKind::Call(callee, args) => self.call(callee, args, expr.span),
            TypedExprKind::Shadow(_, inner) => {
                let value = self.expr(inner);
                let varied = value.varied.filter(|_| !self.is_detached);
                (self.body.shadows).extend(varied.map(|varied| (expr.span, varied)));
                value
            }
            TypedExprKind::Detach(inner) => {
                let outer = std::mem::replace(&mut self.is_detached, true);
                self.expr(inner);
                self.is_detached = outer;
                Flow::default()
            }
            TypedExprKind::Sample(texture, _, args) => {
                let value = self.exprs(args);
                self.lose(Loss::Sample(texture, expr.span), value.varied);
                Flow::default()
            }
            TypedExprKind::Closure(_, args) => {
                let value = self.exprs(args);
                self.lose(Loss::Closure(expr.span), value.varied);
                Flow::default()
            }
            TypedExprKind::ClosureScale(parts) => {
                let value = self.exprs(parts);
                self.lose(Loss::Closure(expr.span), value.varied);
                Flow::default()
            }
            TypedExprKind::Sequence(parts) => {
                let flows = parts.iter().map(|part| self.expr(part));
                flows.last().unwrap_or_default()
            }
            // Its elements are zero, whatever their number is made of.
            TypedExprKind::RunTimeArray(count) => {
                self.expr(count);
                Flow::default()
            }
            _ => self.exprs(expr.children()),
        };
        let types = &self.checker.types;
        Flow {
            varied: value.varied.filter(|_| types.has_floats(expr.ty)),
            rounded: value.rounded.filter(|_| types.has_integers(expr.ty)),
        }
    }

    /// Notes what loses a gradient if the value is varied.
    fn lose(&mut self, loss: Loss, varied: Option<NodeId>) {
        let varied = varied.filter(|_| !self.is_detached);
        self.body.losses.extend(varied.map(|varied| (loss, varied)));
    }

    fn op(&mut self, op: Op, operands: &[TypedExpr<'a>], expr: &TypedExpr<'a>) -> Flow {
        let flows: Vec<Flow> = operands.iter().map(|operand| self.expr(operand)).collect();
        if op == Op::AsFloat {
            self.use_as_float(flows[0].rounded);
        }
        let all = self.join(flows.iter().copied());
        let cast = match expr.ty.is_integer() {
            true => self.cast(all.varied, expr.span),
            false => None,
        };
        let carries = flows.iter().zip(op.passes_shadows());
        let carried = carries.filter(|(_, carries)| *carries && op.info().is_differentiable());
        Flow {
            varied: (self.graph).any(carried.map(|(flow, _)| flow.varied)),
            rounded: self.graph.any([cast, all.rounded]),
        }
    }

    fn call(&mut self, callee: FunctionId, args: &[TypedExpr<'a>], span: Span) -> Flow {
        let declared = *self.checker.declared(callee);
        let mut passed = Vec::with_capacity(args.len());
        for (param, arg) in declared.params.iter().zip(args) {
            let value = self.expr(arg);
            let is_constant = param.is_no_diff || param.direction == ParamDirection::Out;
            passed.push(if is_constant { Flow::default() } else { value });
        }
        let rules = declared.marks.rules;
        if self.is_detached || rules.is_zero {
            return Flow::default();
        }
        let any = self.graph.any(passed.iter().map(|flow| flow.varied));
        self.lose_in_call(callee, args, &passed, any);
        let (body, modes) = self.checker.underived(callee);
        let params = self.checker.underived_params(callee);
        // Derivatives, and what is written in their place, may lead from anywhere to anywhere.
        let is_opaque = declared.derived.is_some() || rules != Default::default();
        // Integers of backward derivatives are those that were passed.
        let gives_integers = !modes.contains(&DifferentiationMode::Backward);
        let primal = self.checker.declared(body).params;
        let mut site = CallSite {
            callee,
            body,
            args: vec![Flow::default(); primal.len()],
            targets: vec![PortTarget::default(); 2 * primal.len() + 3],
            results: Vec::new(),
            span,
        };
        site.targets[USES].rounded = Some(self.body.uses);
        for (&param, &flow) in params.iter().zip(&passed) {
            if let Some(param) = param {
                site.args[param] = flow;
            }
        }
        let mut lead = |walk: &mut Self, to: Flow, ports: [usize; 2], span: Span| {
            site.results.extend(to.varied);
            match is_opaque {
                true => walk.graph.edge(any, to.varied),
                false => site.targets[ports[0]].varied = to.varied,
            }
            if let Some(rounded) = to.rounded.filter(|_| gives_integers) {
                let cast = walk.graph.cast(span);
                walk.graph.edge(Some(cast), Some(rounded));
                site.targets[ports[1]] = PortTarget {
                    varied: Some(cast),
                    rounded: Some(rounded),
                };
            }
        };
        for ((param, arg), &at) in declared.params.iter().zip(args).zip(&params) {
            if param.direction != ParamDirection::In
                && !param.is_no_diff
                && let (Some(local), Some(at)) = (root(arg), at)
            {
                lead(self, self.locals[local.0 as usize], written(at), arg.span);
            }
        }
        let mut result = Flow::default();
        if !declared.is_no_diff {
            result = self.flow(declared.result);
            lead(self, result, RESULT, span);
        }
        self.graph.call(site);
        result
    }

    /// Notes what a call loses, before it is added to the graph.
    fn lose_in_call(
        &mut self,
        callee: FunctionId,
        args: &[TypedExpr<'a>],
        passed: &[Flow],
        any: Option<NodeId>,
    ) {
        let declared = *self.checker.declared(callee);
        let types = &self.checker.types;
        let mut written = declared.params.iter();
        let gives_floats = types.has_floats(declared.result)
            || written.any(|p| p.direction != ParamDirection::In && types.has_floats(p.ty));
        if !gives_floats {
            return;
        }
        if !self.checker.is_marked(callee) {
            self.lose(Loss::Call(self.graph.sites.len()), any);
        } else if declared.marks.rules != Default::default() {
            for ((param, arg), flow) in declared.params.iter().zip(args).zip(passed) {
                if !self.checker.is_differentiable_type(param.ty) {
                    let loss = Loss::PlainStruct(callee, param.ty, arg.span);
                    self.lose(loss, flow.varied);
                }
            }
        }
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
