//! Which functions are differentiated, by which parameters, and what they lose.
//!
//! A marked function is differentiated by all its differentiable parameters. So is a rule of a
//! function of which a derivative of a derivative is taken. From these on, a call passes gradients
//! to the parameters of its callee whose arguments have one: those of plain structs, and those of
//! unmarked functions that rules call.

use super::super::typed_tree::FunctionId;
use super::super::types::{TypeId, TypeKind};
use super::super::{FunctionOrigin, TypeChecker};
use super::activity::{Body, walk};
use super::dependence::{CallSite, DependenceGraph, NodeId, Sources, varied};
use super::loss::Loss;
use crate::ast::ParamDirection;
use crate::limits::MAX_DERIVATIVE_ORDER;
use adumbra_ir::module::DifferentiationMode;
use std::collections::HashSet;

/// What is known of the functions that derivatives reach.
pub(super) struct ReachedFunctions {
    pub(super) graph: DependenceGraph,
    bodies: Vec<Option<Body>>,
}

impl ReachedFunctions {
    pub(super) fn body(&self, id: FunctionId) -> &Body {
        let body = self.bodies[id.0 as usize].as_ref();
        body.expect("the function was reached")
    }

    /// Whether the function was reached.
    pub(super) fn is_known(&self, id: FunctionId) -> bool {
        self.bodies[id.0 as usize].is_some()
    }

    pub(super) fn sites(&self, id: FunctionId) -> &[CallSite] {
        &self.graph.sites[self.body(id).sites.clone()]
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
        let reached = self.reached_functions(starts);
        self.check_rule_cycles(&reached);
        let mut starts = marked;
        starts.extend(self.differentiated_rules(&reached));
        let seeds = self.seeds(&reached, starts);
        self.check_losses(&reached, &seeds);
        self.check_reversed_shadows(&reached, &seeds);
        self.warn_of_zero_derivatives(&reached);
    }

    /// Walks these functions and all that they reach.
    fn reached_functions(&self, starts: Vec<FunctionId>) -> ReachedFunctions {
        let mut graph = DependenceGraph::new(self.functions.len());
        let mut bodies: Vec<Option<Body>> = Vec::new();
        bodies.resize_with(self.functions.len(), || None);
        let mut open = starts;
        while let Some(id) = open.pop() {
            if bodies[id.0 as usize].is_some() {
                continue;
            }
            let body = walk(self, &mut graph, id);
            let rules = self.declared(id).marks.rules;
            open.extend(
                [rules.forward, rules.backward, rules.substitute]
                    .into_iter()
                    .flatten(),
            );
            open.extend(graph.sites[body.sites.clone()].iter().map(|site| site.body));
            bodies[id.0 as usize] = Some(body);
        }
        graph.close();
        ReachedFunctions { graph, bodies }
    }

    /// The function whose derivative it is, at any order, with the modes from the innermost on;
    /// else itself.
    pub(super) fn underived(&self, id: FunctionId) -> (FunctionId, Vec<DifferentiationMode>) {
        let (mut id, mut modes) = (id, Vec::new());
        while let Some(derived) = self.declared(id).derived {
            modes.push(derived.mode);
            id = derived.of;
        }
        modes.reverse();
        (id, modes)
    }

    /// By parameter: the parameter of the underived function whose value it has.
    pub(super) fn underived_params(&self, id: FunctionId) -> Vec<Option<usize>> {
        let mut id = id;
        let mut params: Vec<Option<usize>> =
            (0..self.declared(id).params.len()).map(Some).collect();
        while let Some(derived) = self.declared(id).derived {
            let primal = self.declared(derived.of).params;
            let inner: Vec<Option<usize>> = match derived.mode {
                DifferentiationMode::Forward => (0..primal.len()).map(Some).collect(),
                DifferentiationMode::Backward => {
                    let is_passed = |&at: &usize| {
                        let is_active = !primal[at].is_no_diff
                            && !derived.plain[at]
                            && self.types.known_differential(primal[at].ty).is_some();
                        is_active || primal[at].direction != ParamDirection::Out
                    };
                    let has_value = |at: usize| primal[at].direction != ParamDirection::Out;
                    let passed = (0..primal.len()).filter(is_passed);
                    passed.map(|at| has_value(at).then_some(at)).collect()
                }
            };
            for param in &mut params {
                *param = param.and_then(|at| inner.get(at).copied().flatten());
            }
            id = derived.of;
        }
        params
    }

    /// Whether values of the type have differentials, as far as that was asked for; floats always.
    pub(super) fn is_differentiable_type(&self, ty: TypeId) -> bool {
        self.types.has_floats(ty)
            && (self.types.known_differential(ty).is_some()
                || !matches!(self.types.kind(ty), TypeKind::Struct(_)))
    }

    /// The differentiable parameters of a function.
    pub(super) fn differentiable_params(&self, id: FunctionId) -> Sources {
        let mut seeds = Sources::default();
        for (at, param) in self.declared(id).params.iter().enumerate() {
            if param.direction != ParamDirection::Out
                && !param.is_no_diff
                && self.is_differentiable_type(param.ty)
            {
                seeds.insert(varied(at));
            }
        }
        seeds
    }

    /// The rules that are differentiated, since derivatives of derivatives are taken.
    fn differentiated_rules(&self, reached: &ReachedFunctions) -> Vec<FunctionId> {
        type Differentiated = (FunctionId, Vec<DifferentiationMode>);
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
                        .map(|site| {
                            let (callee, mut all) = self.underived(site.callee);
                            all.extend_from_slice(&modes);
                            all.truncate(MAX_DERIVATIVE_ORDER);
                            (callee, all)
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

    /// By function: the parameters that have a gradient, if it is differentiated.
    fn seeds(&self, reached: &ReachedFunctions, starts: Vec<FunctionId>) -> Vec<Option<Sources>> {
        let mut seeds: Vec<Option<Sources>> = vec![None; self.functions.len()];
        for &id in &starts {
            seeds[id.0 as usize] = Some(self.differentiable_params(id));
        }
        let mut open = starts;
        while let Some(id) = open.pop() {
            let Some(own) = seeds[id.0 as usize].clone() else {
                continue;
            };
            for site in reached.sites(id) {
                let rules = self.declared(site.body).marks.rules;
                let callee = match rules.substitute {
                    Some(substitute) => substitute,
                    None if rules != Default::default() => continue,
                    // It is reported that the callee is not marked.
                    None if self.is_marked(id) && !self.is_marked(site.body) => continue,
                    None => site.body,
                };
                let mut is_new = false;
                for (at, arg) in site.args.iter().enumerate() {
                    if reached.graph.meets(arg.varied, &own) {
                        let seeds = &mut seeds[callee.0 as usize];
                        is_new |= seeds.get_or_insert_default().insert(varied(at));
                    }
                }
                if is_new {
                    open.push(callee);
                }
            }
        }
        seeds
    }

    fn check_losses(&mut self, reached: &ReachedFunctions, seeds: &[Option<Sources>]) {
        let mut losses: Vec<(Loss, FunctionId)> = Vec::new();
        // What passes gradients on, or loses them whatever becomes of it.
        let mut ends: Vec<NodeId> = Vec::new();
        let mut uses: Vec<NodeId> = Vec::new();
        let mut users: Vec<FunctionId> = Vec::new();
        for (index, seeds) in seeds.iter().enumerate() {
            let id = FunctionId(index as u32);
            let Some(seeds) = seeds.as_ref().filter(|_| !self.functions[index].is_library) else {
                continue;
            };
            let body = reached.body(id);
            ends.extend(&body.outputs);
            for &(loss, node) in &body.losses {
                let is_call = matches!(loss, Loss::Call(_));
                if (self.is_marked(id) || !is_call) && reached.graph.sources(node).meets(seeds) {
                    losses.push((loss, id));
                    ends.extend((!is_call).then_some(node));
                }
            }
            let gives_gradients = !body.outputs.is_empty();
            if gives_gradients && reached.graph.sources(body.uses).meets(seeds) {
                uses.push(body.uses);
                users.push(id);
            }
        }
        if losses.iter().any(|(loss, _)| matches!(loss, Loss::Call(_))) {
            let leading = reached.graph.leading_to(&ends);
            let matters = |node: &NodeId| leading.binary_search(node).is_ok();
            losses.retain(|(loss, _)| match *loss {
                Loss::Call(site) => reached.graph.sites[site].results.iter().any(matters),
                _ => true,
            });
        }
        for (loss, id) in &losses {
            self.report_loss(loss, *id, &reached.graph.sites);
        }
        let leading = reached.graph.leading_to(&uses);
        for id in users {
            let Some(seeds) = &seeds[id.0 as usize] else {
                continue;
            };
            let nodes = &reached.body(id).nodes;
            let first = leading.partition_point(|&node| node < nodes.start);
            let own = leading[first..]
                .iter()
                .take_while(|&&node| node < nodes.end);
            let varied = own.filter(|&&node| reached.graph.sources(node).meets(seeds));
            for cast in varied.filter_map(|&node| reached.graph.cast_at(node)) {
                self.warn_of_rounding(cast, id);
            }
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
