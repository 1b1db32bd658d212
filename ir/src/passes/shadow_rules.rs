//! Rules that make shadows: where the shadows of a call's results are demanded, a function with a
//! custom forward derivative has them from that, not from its body.
//!
//! Assumes an expanded module, whose functions have no custom derivative but forward ones.
//! Guarantees: they have none. A call of which nothing is demanded is as it was: if there is no
//! other, all of the module is. Of any other call, with arguments p and direction x, the shadows
//! are the tangents of `rule(p, ddx(p))`, put in place by an `Attach`. The value is that of the
//! call, and a rule that calls its function with its own p has it without a call. A direction that
//! is not demanded costs nothing.
//!
//! Demand is found on a copy that is inlined and cleaned up, by the analyses that find lanes later.
//! There functions with rules stay calls, whose active parameters lead to their active results.
//! Rules may demand shadows in turn, as often as [`MAX_RULES_WITHIN`] says; then they are the
//! body's.

use super::flow_signature::FlowSlot;
use super::pass_times::PassClock;
use super::pipeline::PassRunner;
use super::replacement::{Replacements, pass_on_name};
use super::shadow_flow::outer_out;
use super::{Derivatives, PassOptions, lane_assignment};
use crate::calls::CallGraph;
use crate::module::*;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar};
use rustc_hash::FxHashMap;

mod known_value;

/// How deep rules make shadows that rules demand.
pub const MAX_RULES_WITHIN: usize = 4;

/// Whether no function has a rule.
pub(super) fn is_done(module: &Module) -> bool {
    let mut functions = module.functions.iter();
    functions.all(|f| f.custom == CustomDerivatives::default())
}

/// Gives shadows by rules where they are demanded.
pub(super) fn shadow_rules(module: &mut Module, options: &PassOptions) {
    if let Some(ruled) = ruled(module, options) {
        *module = ruled;
    }
    for function in &mut module.functions {
        function.custom = CustomDerivatives::default();
    }
}

/// The module with shadows by rules, if any is demanded.
fn ruled(module: &Module, options: &PassOptions) -> Option<Module> {
    let reached = CallGraph::new(module).order;
    let mut reached = reached.iter().map(|&id| module.function(id));
    if options.derivatives != Derivatives::Dual
        || !reached.any(|function| function.shadow_rule().is_some())
        || !lane_assignment::needs_shadows(module, options)
    {
        return None;
    }
    let mut module = module.clone();
    for function in &mut module.functions {
        if function.shadow_rule().is_none() {
            function.custom = CustomDerivatives::default();
        }
    }
    let mut ignore = |_: &'static str, _: &Module| {};
    PassRunner::new(options, &mut ignore).clean_up_all(&mut module);

    let mut rules = FxHashMap::default();
    for round in 0..MAX_RULES_WITHIN {
        let demanded = demanded(&module, options);
        if demanded.is_empty() {
            return (round > 0).then_some(module);
        }
        for calls in &demanded {
            for &callee in calls.1.keys().map(|(callee, _)| callee) {
                let rule = rules.entry(callee);
                rule.or_insert_with(|| Rule::new(&mut module, callee));
            }
        }
        for (id, calls) in demanded {
            rewrite(&mut module.functions[id.index()], &calls, &rules);
        }
    }
    Some(module)
}

/// By callee and number among the calls of a function, in the order of its regions: the demand on
/// each active result.
type DemandedCalls = FxHashMap<(FuncId, usize), Vec<Lanes>>;

/// The calls whose results have shadows by rules, by function.
fn demanded(module: &Module, options: &PassOptions) -> Vec<(FuncId, DemandedCalls)> {
    let calls = CallGraph::new(module);
    let mut clock = PassClock::start();
    let (summaries, plan) = lane_assignment::plan(module, &calls, options, true, &mut clock);
    let mut all = Vec::new();
    for &id in &calls.order {
        let flow = summaries.flow(id);
        let mut of_function = DemandedCalls::default();
        for (number, &(callee, call)) in flow.calls.iter().enumerate() {
            let Some((_, activity)) = module.function(callee).shadow_rule() else {
                continue;
            };
            let results = (0..).zip(&activity.results).filter(|result| *result.1);
            let lanes = results.map(|(i, _)| {
                let node = outer_out(flow.function, call, FlowSlot::Scalar(i));
                let variants = plan.variants[id.index()].iter();
                variants.fold(Lanes::NONE, |all, v| all | v.lanes[node as usize])
            });
            let lanes: Vec<Lanes> = lanes.collect();
            if lanes.iter().any(|lanes| !lanes.is_none()) {
                of_function.insert((callee, number), lanes);
            }
        }
        if !of_function.is_empty() {
            all.push((id, of_function));
        }
    }
    all
}

/// What a function with a rule is, for its calls.
struct Rule {
    /// The rule.
    function: FuncId,
    /// Whether the function's results come after the rule's own parameters.
    takes_value: bool,
    activity: Activity,
    /// The types of the function's results.
    results: Vec<Scalar>,
}

impl Rule {
    fn new(module: &mut Module, of: FuncId) -> Rule {
        let function = module.function(of);
        let (rule, activity) = function.shadow_rule().expect("it has a rule");
        let activity = activity.clone();
        let results = function.results.iter().map(|result| result.ty).collect();
        let with_value = known_value::with_value(module, of, rule);
        Rule {
            function: with_value.unwrap_or(rule),
            takes_value: with_value.is_some(),
            activity,
            results,
        }
    }
}

/// Gives the results of these calls their shadows.
fn rewrite(function: &mut Function, calls: &DemandedCalls, rules: &FxHashMap<FuncId, Rule>) {
    let mut order = Vec::with_capacity(function.regions.len());
    function.for_each_region(|region| order.push(region));
    let mut aliases = Replacements::new(function.values.len());
    let mut number = 0;
    for region in order {
        let insts = std::mem::take(&mut function.regions[region.index()].insts);
        let mut rewriter = Rewriter {
            values: &mut function.values,
            out: Vec::with_capacity(insts.len()),
        };
        for mut inst in insts {
            aliases.rewrite(&mut inst);
            let InstKind::Call(callee, _) = inst.kind else {
                rewriter.out.push(inst);
                continue;
            };
            let demanded = calls.get(&(callee, number));
            number += 1;
            match demanded {
                Some(lanes) => rewriter.call(inst, lanes, &rules[&callee], &mut aliases),
                None => rewriter.out.push(inst),
            }
        }
        function.regions[region.index()].insts = rewriter.out;
    }
}

struct Rewriter<'f> {
    values: &'f mut Vec<Value>,
    out: Vec<Inst>,
}

impl Rewriter<'_> {
    fn push(&mut self, kind: InstKind, args: Args, types: &[Scalar], span: Span) -> ValueId {
        let results = Results::of_new(self.values, types.iter().copied(), span);
        self.out.push(Inst {
            kind,
            args,
            results,
            span,
        });
        results.first
    }

    /// A call, then the rule for each direction, then the results with their shadows.
    fn call(&mut self, call: Inst, lanes: &[Lanes], rule: &Rule, aliases: &mut Replacements) {
        let (results, span) = (call.results, call.span);
        let of_any = lanes.iter().fold(Lanes::NONE, |all, &lanes| all | lanes);
        self.out.push(call.clone());
        let tangents = Direction::BOTH.map(|direction| {
            let is_demanded = of_any.has(direction);
            is_demanded.then(|| self.tangents(&call, direction, rule))
        });
        let zero = self.push(InstKind::Const(0), Args::new(), &[Scalar::F32], span);
        let active = results.iter().zip(&rule.activity.results);
        let active = active.filter(|result| *result.1).map(|(value, _)| value);
        let mut attached = Vec::with_capacity(lanes.len());
        for (at, (value, &lanes)) in (0..).zip(active.zip(lanes)) {
            if lanes.is_none() {
                continue;
            }
            let mut args = Args::from_slice(&[value]);
            for (direction, first) in Direction::BOTH.into_iter().zip(tangents) {
                let shadow = first.filter(|_| lanes.has(direction));
                args.push(shadow.map_or(zero, |first| ValueId(first.0 + at)));
            }
            let span = self.values[value.index()].span;
            let with_shadows = self.push(InstKind::Attach, args, &[Scalar::F32], span);
            pass_on_name(self.values, value, with_shadows);
            attached.push((value, with_shadows));
        }
        aliases.extend(self.values.len());
        for (value, with_shadows) in attached {
            aliases.replace(value, with_shadows);
        }
    }

    /// Calls the rule for a direction. Returns the first tangent.
    fn tangents(&mut self, call: &Inst, direction: Direction, rule: &Rule) -> ValueId {
        let InstKind::Call(_, arrays) = &call.kind else {
            unreachable!("a call");
        };
        let mut args = call.args.clone();
        for (&arg, _) in (call.args.iter().zip(&rule.activity.params)).filter(|arg| *arg.1) {
            let kind = InstKind::Shadow(direction);
            args.push(self.push(kind, Args::from_slice(&[arg]), &[Scalar::F32], call.span));
        }
        if rule.takes_value {
            args.extend(call.results.iter());
        }
        let mut types = rule.results.clone();
        let count = rule.activity.results.iter().filter(|a| **a).count();
        types.resize(types.len() + count, Scalar::F32);
        let kind = InstKind::Call(rule.function, arrays.clone());
        let first = self.push(kind, args, &types, call.span);
        ValueId(first.0 + rule.results.len() as u32)
    }
}
