//! Which functions are differentiated, by which parameters, and what is asked of the analysis of
//! lost gradients.
//!
//! A marked function is differentiated by all its differentiable parameters. So is a rule of a
//! function of which a derivative of a derivative is taken. These functions, and those that they
//! reach, are lowered for [`lost_gradients`], which follows gradients from there.

use super::super::each_expr::for_each_expr;
use super::super::typed_tree::{FunctionId, TypedExpr, TypedExprKind, TypedStmt};
use super::super::types::TypeId;
use super::super::{FunctionOrigin, TypeChecker};
use crate::ast::ParamDirection;
use crate::limits::MAX_DERIVATIVE_ORDER;
use crate::lower::{
    LoweredFrom, LoweredFunctions, SignatureSlot, lower_functions, signature_slots,
};
use adumbra_ir::Span;
use adumbra_ir::calls::callees;
use adumbra_ir::module::{DifferentiationMode, FuncId};
use adumbra_ir::passes::{GradientContext, GradientSignature, LostGradients, lost_gradients};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// What is known of the functions that derivatives reach.
pub(super) struct ReachedFunctions {
    /// What the analysis found.
    pub(super) found: LostGradients,
    /// By function of the IR.
    origins: Vec<LoweredFrom>,
    /// By function of the program.
    numbers: Vec<Option<FuncId>>,
    /// By function of the program: what goes into it, and what comes out.
    slots: Vec<Option<[Vec<SignatureSlot>; 2]>>,
    /// By function of the program: what it calls.
    sites: Vec<Vec<Differentiated>>,
    /// The names of the textures.
    pub(super) textures: Vec<String>,
    /// What is under `no_diff`: the outermost places, in order.
    detached: Vec<Span>,
}

fn is_around(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// A function, and the modes of derivatives of it, the innermost first.
pub(super) type Differentiated = (FunctionId, Vec<DifferentiationMode>);

impl ReachedFunctions {
    /// The function that one of the IR was made of.
    pub(super) fn function(&self, id: FuncId) -> Option<FunctionId> {
        match self.origins[id.index()] {
            LoweredFrom::Function(function) => Some(function),
            LoweredFrom::Derivative(..) | LoweredFrom::Rule => None,
        }
    }

    /// The function of the IR that was made of one, if that was reached.
    pub(super) fn number(&self, id: FunctionId) -> Option<FuncId> {
        self.numbers[id.0 as usize]
    }

    /// What goes into a function that was reached, and what comes out.
    pub(super) fn slots(&self, id: FunctionId) -> &[Vec<SignatureSlot>; 2] {
        let slots = self.slots[id.0 as usize].as_ref();
        slots.expect("the function was reached")
    }

    /// What a function calls.
    pub(super) fn sites(&self, id: FunctionId) -> &[Differentiated] {
        &self.sites[id.0 as usize]
    }

    /// Whether a place is under `no_diff`.
    pub(super) fn is_detached(&self, span: Span) -> bool {
        let begins_before = |outer: &Span| (outer.file, outer.start) <= (span.file, span.start);
        let before = self.detached.partition_point(begins_before);
        before > 0 && is_around(self.detached[before - 1], span)
    }
}

impl<'a> TypeChecker<'a, '_> {
    /// Reports the gradients that differentiable functions lose.
    pub(in crate::check) fn check_gradients(&mut self) {
        if !self.diagnostics.is_empty() {
            return;
        }
        self.check_written_operations();
        let all = || (0..self.functions.len() as u32).map(FunctionId);
        let is_own = |id: &FunctionId| {
            let declared = self.declared(*id);
            declared.origin == FunctionOrigin::Declared && !declared.is_library
        };
        let has_rules = |id: &FunctionId| self.declared(*id).marks.rules != Default::default();
        let called = &self.derivatives.called;
        let asked: HashSet<FunctionId> = match self.derivatives.all_marked {
            true => called.iter().map(|&(id, _)| self.underived(id).0).collect(),
            false => HashSet::new(),
        };
        let is_marked =
            |id: &FunctionId| self.declared(*id).marks.is_differentiable || asked.contains(id);
        let marked: Vec<FunctionId> = (all()
            .filter(is_own)
            .filter(is_marked)
            .filter(|id| !has_rules(id)))
        .collect();
        let mut starts: Vec<FunctionId> = marked.clone();
        starts.extend(all().filter(is_own).filter(has_rules));
        let reversed = &self.derivatives.reversed;
        let asked = called.iter().chain(reversed).map(|&(id, _)| id);
        starts.extend(asked.map(|id| self.underived(id).0));
        if starts.is_empty() {
            return;
        }
        for index in 0..self.functions.len() {
            if marked.is_empty() {
                break;
            }
            for param in self.functions[index].params {
                self.differential(param.ty, param.span);
            }
        }
        if !self.diagnostics.is_empty() {
            return;
        }
        let Some(reached) = self.reached_functions(starts, marked) else {
            return;
        };
        self.check_rule_cycles(&reached);
        self.check_outputs(&reached);
        self.check_losses(&reached);
        self.check_reversed_shadows(&reached);
        self.warn_of_zero_derivatives(&reached);
    }

    /// Lowers these functions and all that they reach, and follows gradients from the marked ones
    /// and from rules; `None` if they are too large to be lowered, which is reported then.
    fn reached_functions(
        &mut self,
        starts: Vec<FunctionId>,
        marked: Vec<FunctionId>,
    ) -> Option<ReachedFunctions> {
        let program = self.take_program();
        let lowered = lower_functions(&program, self.interner, starts, self.derivatives.slopes);
        let slots = |id: &LoweredFrom| match id {
            LoweredFrom::Function(id) => {
                let function = &program.functions[id.0 as usize];
                Some((*id, signature_slots(&program.types, function)))
            }
            _ => None,
        };
        let known: Option<Vec<_>> = lowered
            .as_ref()
            .ok()
            .map(|lowered| lowered.origins.iter().map(slots).collect());
        self.types = program.types;
        let LoweredFunctions {
            module,
            origins,
            mut detached,
        } = match lowered {
            Ok(lowered) => lowered,
            Err(diagnostic) => {
                self.report(diagnostic);
                return None;
            }
        };
        detached.sort_by_key(|span| (span.file, span.start, Reverse(span.end)));
        detached.dedup_by(|inner, outer| is_around(*outer, *inner));
        let count = self.functions.len();
        let mut reached = ReachedFunctions {
            found: LostGradients::default(),
            numbers: vec![None; count],
            slots: vec![None; count],
            sites: vec![Vec::new(); count],
            textures: module.textures.iter().map(|t| t.name.clone()).collect(),
            origins,
            detached,
        };
        for (number, known) in (0..).map(FuncId).zip(known.into_iter().flatten()) {
            let Some((id, slots)) = known else {
                continue;
            };
            reached.numbers[id.0 as usize] = Some(number);
            reached.slots[id.0 as usize] = Some(slots);
            let site = |callee: FuncId| match reached.origins[callee.index()] {
                LoweredFrom::Function(id) => Some((id, Vec::new())),
                LoweredFrom::Derivative(mode, of) => {
                    let (id, mut modes) = self.underived(of);
                    modes.push(mode);
                    Some((id, modes))
                }
                LoweredFrom::Rule => None,
            };
            let sites = callees(module.function(number)).filter_map(site).collect();
            reached.sites[id.0 as usize] = sites;
        }
        let mut roots = marked;
        roots.extend(self.differentiated_rules(&reached));
        let reversed = self.derivatives.reversed.iter();
        let reversed = reversed.map(|&(id, _)| self.underived(id).0);
        let has_rules = |id: &FunctionId| self.declared(*id).marks.rules != Default::default();
        roots.extend(reversed.filter(|id| !has_rules(id)));
        let roots = roots.into_iter().filter_map(|id| {
            let number = reached.number(id)?;
            Some((number, self.full_context(&reached, id)))
        });
        let roots: Vec<_> = roots.collect();
        let signatures: Vec<GradientSignature> = (reached.origins.iter())
            .map(|&origin| self.gradient_signature(&reached, origin))
            .collect();
        reached.found = lost_gradients(module, &signatures, &roots);
        Some(reached)
    }

    /// A function that is differentiated by all that it can be.
    fn full_context(&self, reached: &ReachedFunctions, id: FunctionId) -> GradientContext {
        let declared = *self.declared(id);
        let [ins, outs] = reached.slots(id);
        let is_read = |slot: &SignatureSlot| {
            let param = slot.param.map(|at| declared.params[at].direction);
            slot.is_active && param != Some(ParamDirection::Out)
        };
        GradientContext {
            varied: ins.iter().map(is_read).collect(),
            useful: outs
                .iter()
                .map(|slot| self.gives_gradient(id, slot))
                .collect(),
            before: Vec::new(),
        }
    }

    /// Whether what comes out of a function there is not `no_diff`.
    pub(super) fn gives_gradient(&self, id: FunctionId, slot: &SignatureSlot) -> bool {
        let declared = self.declared(id);
        !match slot.param {
            Some(at) => declared.params[at].is_no_diff,
            None => declared.is_no_diff,
        }
    }

    fn gradient_signature(
        &self,
        reached: &ReachedFunctions,
        origin: LoweredFrom,
    ) -> GradientSignature {
        let LoweredFrom::Function(id) = origin else {
            return GradientSignature {
                is_marked: true,
                is_checked: false,
                lost: Vec::new(),
            };
        };
        let declared = *self.declared(id);
        let lost = |slot: &SignatureSlot| {
            let param = slot.param.map(|at| declared.params[at]);
            slot.is_float
                && !slot.is_active
                && param.is_some_and(|param| {
                    !param.is_no_diff
                        && param.direction != ParamDirection::Out
                        && !self.is_differentiable_type(param.ty)
                })
        };
        GradientSignature {
            is_marked: self.is_marked(id),
            is_checked: declared.origin == FunctionOrigin::Declared && self.is_marked(id),
            lost: reached.slots(id)[0].iter().map(lost).collect(),
        }
    }

    /// The function whose derivative it is, at any order, with the modes from the innermost on;
    /// else itself.
    pub(super) fn underived(&self, id: FunctionId) -> Differentiated {
        let (mut id, mut modes) = (id, Vec::new());
        while let Some(derived) = self.declared(id).derived {
            modes.push(derived.mode);
            id = derived.of;
        }
        modes.reverse();
        (id, modes)
    }

    /// Whether values of the type have differentials, as far as that was asked for; floats always.
    pub(super) fn is_differentiable_type(&self, ty: TypeId) -> bool {
        self.types.is_differentiable(ty)
    }

    /// The rules that are differentiated, since derivatives of derivatives are taken.
    fn differentiated_rules(&self, reached: &ReachedFunctions) -> Vec<FunctionId> {
        let mut found = Vec::new();
        let called = self.derivatives.called.iter();
        let mut open: Vec<Differentiated> = called.map(|&(id, _)| self.underived(id)).collect();
        let mut seen: HashSet<Differentiated> = open.iter().cloned().collect();
        while let Some((id, modes)) = open.pop() {
            let Some((innermost, outer)) = modes.split_first() else {
                continue;
            };
            let next: Vec<Differentiated> = match self.instead(id, *innermost) {
                Instead::Function(substitute) => vec![(substitute, modes)],
                Instead::Derivative(rule) => {
                    if !outer.is_empty() {
                        found.push(rule);
                    }
                    vec![(rule, outer.to_vec())]
                }
                Instead::Zero => continue,
                Instead::Nothing => {
                    let sites = reached.sites(id).iter();
                    sites
                        .map(|(callee, of)| {
                            let mut all = of.clone();
                            all.extend_from_slice(&modes);
                            all.truncate(MAX_DERIVATIVE_ORDER);
                            (*callee, all)
                        })
                        .collect()
                }
            };
            for next in next {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        found
    }

    /// What is written in place of a function's derivative.
    pub(super) fn instead(&self, id: FunctionId, mode: DifferentiationMode) -> Instead {
        let rules = self.declared(id).marks.rules;
        let rule = match mode {
            DifferentiationMode::Forward => rules.forward,
            DifferentiationMode::Backward => rules.backward.or(rules.forward),
        };
        match (rules.substitute, rule) {
            (Some(substitute), _) => Instead::Function(substitute),
            (None, Some(rule)) => Instead::Derivative(rule),
            (None, None) if rules.is_zero => Instead::Zero,
            (None, None) => Instead::Nothing,
        }
    }
}

/// What is written in place of a derivative.
pub(super) enum Instead {
    /// A function that is differentiated.
    Function(FunctionId),
    /// A derivative.
    Derivative(FunctionId),
    /// That it is zero.
    Zero,
    Nothing,
}

/// Calls by their places: the callee and its arguments.
pub(super) type CallsByPlace<'a> = HashMap<Span, (FunctionId, &'a [TypedExpr<'a>])>;

/// The calls of a body.
pub(super) fn calls_of<'a>(body: &[TypedStmt<'a>]) -> CallsByPlace<'a> {
    let mut calls = CallsByPlace::new();
    for_each_expr(body, &mut |expr| {
        if let TypedExprKind::Call(callee, args) = expr.kind {
            calls.entry(expr.span).or_insert((callee, args));
        }
    });
    calls
}
