//! Rules that lead back to their own functions on every path, so that their derivatives have no
//! value.
//!
//! A derivative runs a body: that of the rule, or that of the function, in which calls that pass
//! gradients are those of derivatives. The bodies that may be left are a least fixed point, as for
//! [endless recursion](super::super::recursion). It is sought from the rules on, one body at a
//! time; derivatives of derivatives are taken to return.

use super::super::TypeChecker;
use super::super::recursion::{first_call, may_leave};
use super::super::typed_tree::{FunctionId, TypedStmt};
use super::reach::{Instead, ReachedFunctions};
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The run of a function, or of a derivative of it.
type Run = (Option<DifferentiationMode>, FunctionId);

/// A function, and whether its rule is the backward one.
type GivenRule = (FunctionId, bool);

/// The calls through which gradients pass, by function and place.
type Differentiated = HashSet<(FunctionId, Span)>;

/// What a run runs.
#[derive(Clone, Copy)]
struct RunBody<'a> {
    statements: &'a [TypedStmt<'a>],
    owner: FunctionId,
    /// Which derivatives its calls are of.
    mode: Option<DifferentiationMode>,
}

/// Runs that were looked at, and whether they may return.
#[derive(Default)]
struct Runs {
    returns: HashMap<Run, bool>,
    /// By run: those that were stopped by a call of it.
    stopped: HashMap<Run, Vec<Run>>,
    open: Vec<Run>,
}

impl Runs {
    fn may_return(&mut self, run: Run, by: Run) -> bool {
        let returns = *self.returns.entry(run).or_insert_with(|| {
            self.open.push(run);
            false
        });
        if !returns {
            self.stopped.entry(run).or_default().push(by);
        }
        returns
    }
}

impl<'a> TypeChecker<'a, '_> {
    /// Reports rules that lead back to their functions on every path.
    pub(super) fn check_rule_cycles(&mut self, reached: &ReachedFunctions) {
        let mut rules: Vec<Run> = Vec::new();
        for index in 0..self.functions.len() {
            let id = FunctionId(index as u32);
            let given = self.declared(id).marks.rules;
            let forward = given.forward.map(|_| DifferentiationMode::Forward);
            let backward = given.backward.map(|_| DifferentiationMode::Backward);
            rules.extend(
                [forward, backward]
                    .into_iter()
                    .flatten()
                    .map(|mode| (Some(mode), id)),
            );
        }
        if rules.is_empty() {
            return;
        }
        // The calls whose results have gradients that reach those of their function.
        let calls = reached.found.active_calls.iter();
        let differentiated: Differentiated = calls
            .filter_map(|&(within, span)| Some((reached.function(within)?, span)))
            .collect();
        let returns = self.runs_that_return(&rules, &differentiated);
        let is_endless = |run: &Run| returns.get(run) == Some(&false);
        // The walk that reached each run first.
        let mut walks: HashMap<Run, usize> = HashMap::new();
        let mut cycles: Vec<GivenRule> = Vec::new();
        for (walk, &start) in rules.iter().enumerate() {
            let mut path: Vec<Run> = Vec::new();
            let mut next = Some(start).filter(is_endless);
            while let Some(run) = next {
                if let Some(before) = walks.insert(run, walk) {
                    let first = path.iter().position(|&on| on == run);
                    if let Some(first) = first.filter(|_| before == walk) {
                        // A cycle without a rule is one of the functions themselves.
                        let given = path[first..]
                            .iter()
                            .filter_map(|&run| self.rule_of_run(run));
                        cycles.extend(given.min());
                    }
                    break;
                }
                path.push(run);
                next = self.run_body(run).and_then(|body| {
                    let callee =
                        |callee, span| self.run_of_call(&body, callee, span, &differentiated);
                    let returns =
                        |function, span| callee(function, span).is_none_or(|run| !is_endless(&run));
                    let (function, span) = first_call(body.statements, &returns)?;
                    callee(function, span)
                });
            }
        }
        for rule in cycles {
            self.report_rule_cycle(rule);
        }
    }

    /// The rule that a run is one of.
    fn rule_of_run(&self, (mode, function): Run) -> Option<GivenRule> {
        let mode = mode?;
        let owner = self.substituted(function);
        let is_backward = mode == DifferentiationMode::Backward
            && self.declared(owner).marks.rules.backward.is_some();
        match self.instead(owner, mode) {
            Instead::Derivative(_) => Some((owner, is_backward)),
            _ => None,
        }
    }

    /// The function that is differentiated in place of this one.
    fn substituted(&self, function: FunctionId) -> FunctionId {
        let next = |&id: &FunctionId| self.declared(id).marks.rules.substitute;
        std::iter::successors(Some(function), next)
            .last()
            .unwrap_or(function)
    }

    /// What a run runs, if that is a body.
    fn run_body(&self, (mode, function): Run) -> Option<RunBody<'a>> {
        let (mut owner, mut calls) = (function, mode);
        if let Some(mode) = mode {
            owner = self.substituted(function);
            match self.instead(owner, mode) {
                Instead::Derivative(rule) => (owner, calls) = (rule, None),
                Instead::Zero => return None,
                Instead::Function(_) | Instead::Nothing => {}
            }
        }
        let declared = self.declared(owner);
        let is_written = declared.syntax.is_some_and(|syntax| syntax.body.is_some());
        is_written.then_some(RunBody {
            statements: declared.body,
            owner,
            mode: calls,
        })
    }

    /// The run that a call starts, if it is one of a function or of a first derivative.
    fn run_of_call(
        &self,
        body: &RunBody<'a>,
        callee: FunctionId,
        span: Span,
        differentiated: &Differentiated,
    ) -> Option<Run> {
        let (function, modes) = self.underived(callee);
        let outer = body
            .mode
            .filter(|_| differentiated.contains(&(body.owner, span)));
        match (modes[..].first(), outer, modes.len()) {
            (None, outer, _) => Some((outer, function)),
            (Some(&mode), None, 1) => Some((Some(mode), function)),
            _ => None,
        }
    }

    /// The runs that these lead to, and whether they may return.
    fn runs_that_return(
        &self,
        starts: &[Run],
        differentiated: &Differentiated,
    ) -> HashMap<Run, bool> {
        let runs = RefCell::new(Runs {
            returns: starts.iter().map(|&run| (run, false)).collect(),
            open: starts.to_vec(),
            ..Runs::default()
        });
        loop {
            let Some(run) = runs.borrow_mut().open.pop() else {
                break;
            };
            let returns = self.run_body(run).is_none_or(|body| {
                let known = |callee, span| {
                    let called = self.run_of_call(&body, callee, span, differentiated);
                    called.is_none_or(|called| runs.borrow_mut().may_return(called, run))
                };
                may_leave(body.statements, &known)
            });
            let mut runs = runs.borrow_mut();
            if returns && runs.returns.insert(run, true) == Some(false) {
                let stopped = runs.stopped.remove(&run).unwrap_or_default();
                runs.open.extend(stopped);
            }
        }
        runs.into_inner().returns
    }

    fn report_rule_cycle(&mut self, (function, is_backward): GivenRule) {
        let declared = *self.declared(function);
        let rules = declared.marks.rules;
        let (what, rule, site) = match is_backward {
            true => ("backward", rules.backward, declared.marks.rule_spans[1]),
            false => ("forward", rules.forward, declared.marks.rule_spans[0]),
        };
        let (Some(rule), Some(site)) = (rule, site) else {
            return;
        };
        let name = self.symbol_name(declared.name.symbol).to_owned();
        let rule = self.symbol_name(self.function_name(rule)).to_owned();
        let message = format!("the {what} derivative of `{name}` leads back to it on every path");
        self.report(
            Diagnostic::new(Code::RuleCycle, site, message)
                .here("leads back to itself")
                .help(format!(
                    "compute it in `{rule}` without a derivative that needs that of `{name}`"
                )),
        );
    }
}
