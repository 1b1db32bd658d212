//! Whether custom forward derivatives are linear in their tangents, so that they can be transposed.
//!
//! What depends on a tangent may only be multiplied by what does not, and be added to what does:
//! else the transpose would be the gradient of something else. Where ways join, and in the elements
//! of an array, tangents may meet only tangents and 0; and no tangent may choose the way. A value
//! depends on a tangent if one reaches it by any instruction, also by those that pass no
//! derivative.

use super::linear::{Linear, linear};
use super::zeros::{MAX_ZERO_SETS, ZeroSlots, Zeros};
use super::{Differentiator, Loss};
use crate::calls::{CallGraph, callees};
use crate::module::*;
use crate::passes::dataflow::{FlowEdges, FlowNode, Joins, SummaryAnalysis, summarise};
use crate::passes::shadow_flow::{array_node, result_node};
use crate::passes::source_sets::SourceSets;
use crate::span::Span;
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;
use rustc_hash::{FxHashMap, FxHashSet};

/// For how many sets of arguments that depend on a tangent, or are 0, a function is checked; one
/// that is called with more counts as nonlinear.
pub const MAX_LINEAR_SETS: usize = 256;

impl Differentiator<'_> {
    /// Checks that a function is linear in what is active of its parameters.
    ///
    /// # Errors
    /// The first place where it is not; `name` is the function that has the derivative, and the
    /// sweeps of those that it calls are to have their records on that tape.
    pub(super) fn check_linear(
        &mut self,
        id: FuncId,
        activity: &Activity,
        name: &str,
        tape: TapeId,
    ) -> Result<(), Loss> {
        let zeros = vec![false; activity.params.len() + activity.arrays.len()];
        let mut open = vec![(id, activity.clone(), zeros)];
        if self.linear.contains(&open[0]) {
            return Ok(());
        }
        self.complete_reached(id)?;
        let graph = CallGraph::of(self.module, vec![id]);
        let summaries = summarise(self.module, &graph, &mut DependenceAnalysis(self.module));
        // By function: how many sets were checked.
        let mut checked: FxHashMap<FuncId, usize> = FxHashMap::default();
        while let Some(mut set) = open.pop() {
            if self.linear.contains(&set) {
                continue;
            }
            let checked = checked.entry(set.0).or_default();
            if *checked >= MAX_ZERO_SETS {
                set.2.fill(false);
            }
            if !self.linear.insert(set.clone()) {
                continue;
            }
            *checked += 1;
            let is_beyond = *checked > MAX_LINEAR_SETS;
            let (id, activity, given_zeros) = set;
            let function = self.function(id).clone();
            let not_linear = |span| Loss::NotLinear {
                name: name.to_owned(),
                span,
            };
            if is_beyond {
                return Err(not_linear(function.span));
            }
            let linear = linear(self, &function, &activity, tape)?;
            let joins = Joins::new(&linear.function);
            let zeros = Zeros::new(self.module).of(&linear.function, &joins, &given_zeros);
            let mut check = Check {
                linear: &linear,
                activity: &activity,
                dependence: Dependence::new(&linear.function, &activity, &summaries),
                given_zeros: &given_zeros,
                zeros,
                joins,
                calls: Vec::new(),
            };
            if let Some(span) = check.violation() {
                return Err(not_linear(span));
            }
            let first = open.len();
            for (callee, wanted, zeros, span) in check.calls {
                let custom = &self.function(callee).custom;
                if custom.is_zero {
                    continue;
                }
                // Nothing is known of a function with derivatives of its own.
                if *custom != CustomDerivatives::default() {
                    return Err(not_linear(span));
                }
                open.push((callee, wanted, zeros));
            }
            open[first..].reverse();
        }
        Ok(())
    }

    /// Writes the bodies of the derived functions that a function reaches, but those that are being
    /// written.
    fn complete_reached(&mut self, id: FuncId) -> Result<(), Loss> {
        let mut seen = FxHashSet::from_iter([id]);
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if !self.making.contains(&id) {
                self.complete(id)?;
            }
            let reached = callees(self.function(id));
            open.extend(reached.filter(|&id| seen.insert(id)));
        }
        Ok(())
    }
}

/// The analysis of what depends on what, through calls too.
struct DependenceAnalysis<'m>(&'m Module);

impl SummaryAnalysis for DependenceAnalysis<'_> {
    /// By result of a function, then by array parameter: what it depends on of the scalar
    /// parameters, then of the array parameters.
    type Summary = SourceSets;

    fn least(&self, id: FuncId) -> SourceSets {
        let function = self.0.function(id);
        SourceSets::none(function.results.len() + function.array_params().count())
    }

    fn greatest(&self, id: FuncId) -> SourceSets {
        let function = self.0.function(id);
        let arrays = function.array_params().count();
        let ins = vec![true; function.params().len() + arrays];
        SourceSets::all(&ins, &vec![true; function.results.len() + arrays])
    }

    fn summarise(&mut self, id: FuncId, summaries: &[SourceSets]) -> SourceSets {
        let function = self.0.function(id);
        // Nothing is known of a body that is not there yet.
        if function.recipe.is_some() {
            return self.greatest(id);
        }
        let edges = dependences(function, summaries);
        let outs = (0..function.results.len() as u32).map(|k| result_node(function, k));
        let arrays = (0..function.array_params().count() as u32).map(ArrayId);
        let outs = outs.chain(arrays.map(|a| array_node(function, a)));
        let outs: Vec<Option<FlowNode>> = outs.map(Some).collect();
        SourceSets::along(&edges, &ins(function), &outs)
    }
}

/// The nodes of what goes into a function, by slot; none for an array that only comes out.
fn ins(function: &Function) -> Vec<Option<FlowNode>> {
    let params = function.params().iter().map(|param| Some(param.0));
    let arrays = (0..).map(ArrayId).zip(function.array_params());
    let arrays = arrays.map(|(id, array)| {
        (array.mode != Some(PassingMode::Out)).then(|| array_node(function, id))
    });
    params.chain(arrays).collect()
}

/// The graph of what depends on what in a function.
fn dependences(function: &Function, summaries: &[SourceSets]) -> FlowEdges {
    let array = |id: ArrayId| array_node(function, id);
    let joins = Joins::new(function);
    let mut edges: Vec<(FlowNode, FlowNode)> = Vec::new();
    // Nodes after these join what leads to several results of a call.
    let mut nodes = result_node(function, function.results.len() as u32);
    function.for_each_region(|region| {
        for inst in &function.region(region).insts {
            joins.for_each(function, region, inst, |from, to| {
                edges.push((from.0, to.0))
            });
            let args = inst.args.iter().map(|arg| arg.0);
            let results = inst.results.iter().map(|result| result.0);
            match &inst.kind {
                InstKind::Loop(_) | InstKind::Block(_) => continue,
                InstKind::Call(callee, passed) => {
                    let passed = passed.iter().map(|&id| array(id));
                    let given: Vec<FlowNode> = args.chain(passed.clone()).collect();
                    let sets = &summaries[callee.index()];
                    let mut joints = FxHashMap::default();
                    for (out, to) in results.chain(passed).enumerate() {
                        let set = sets.set(out);
                        let joint = *joints.entry(set).or_insert_with(|| {
                            nodes += 1;
                            let joint = nodes - 1;
                            let slots = sets.slots(set);
                            edges.extend(slots.map(|from| (given[from as usize], joint)));
                            joint
                        });
                        edges.push((joint, to));
                    }
                    continue;
                }
                InstKind::Load(from) => edges.push((array(*from), inst.results.first.0)),
                InstKind::Store(to) => edges.extend(args.clone().map(|arg| (arg, array(*to)))),
                InstKind::ArrayCopy { to, from } => {
                    let from = args.clone().chain([array(*from)]);
                    edges.extend(from.map(|from| (from, array(*to))));
                }
                InstKind::Return => {
                    let results = (0..).map(|k| result_node(function, k));
                    edges.extend(args.clone().zip(results));
                }
                _ => {}
            }
            for result in results {
                edges.extend(args.clone().map(|arg| (arg, result)));
            }
        }
    });
    FlowEdges::new(nodes, &edges, |&edge| edge)
}

/// What in a function depends on a tangent.
struct Dependence {
    nodes: Vec<bool>,
    /// The number of values.
    values: usize,
}

impl Dependence {
    fn new(function: &Function, tangents: &Activity, summaries: &[SourceSets]) -> Dependence {
        let edges = dependences(function, summaries);
        let mut nodes = vec![false; edges.nodes()];
        let given = [&tangents.params[..], &tangents.arrays].concat();
        for (node, &is_given) in ins(function).into_iter().zip(&given) {
            if let Some(node) = node {
                nodes[node as usize] = is_given;
            }
        }
        edges.flood(&mut nodes, &mut Vec::new());
        Dependence {
            nodes,
            values: function.values.len(),
        }
    }

    fn value(&self, value: ValueId) -> bool {
        self.nodes[value.index()]
    }

    fn array(&self, array: ArrayId) -> bool {
        self.nodes[self.values + array.index()]
    }

    fn any(&self, values: &[ValueId]) -> bool {
        values.iter().any(|&value| self.value(value))
    }
}

/// The search for a place where a function is not linear.
struct Check<'l> {
    linear: &'l Linear,
    activity: &'l Activity,
    dependence: Dependence,
    /// By parameter: whether callers pass 0.
    given_zeros: &'l [bool],
    zeros: ZeroSlots,
    joins: Joins,
    /// Active calls, to be checked too, with the parameters that are 0.
    calls: Vec<(FuncId, Activity, Vec<bool>, Span)>,
}

impl Check<'_> {
    fn is_zero(&self, value: ValueId) -> bool {
        self.zeros.value(value)
    }

    /// Whether the value has a derivative by a tangent.
    fn is_active(&self, value: ValueId) -> bool {
        self.linear.active.value(value) && self.dependence.value(value)
    }

    /// Whether the value is something else than a tangent or 0.
    fn is_foreign(&self, value: ValueId) -> bool {
        !self.is_active(value) && !self.is_zero(value)
    }

    /// Whether the array has elements that are tangents.
    fn is_active_array(&self, array: ArrayId) -> bool {
        self.linear.active.array(array) && self.dependence.array(array)
    }

    /// Whether something else than a tangent becomes a value that is one otherwise.
    fn joins_foreign(&self, region: RegionId, inst: &Inst) -> bool {
        let mut found = false;
        (self.joins).for_each(&self.linear.function, region, inst, |from, to| {
            found |= self.is_active(to) && self.is_foreign(from);
        });
        found
    }

    /// Whether a region leaves what is around it, or writes elements that are tangents.
    fn has_effect(&self, region: RegionId) -> bool {
        let function = &self.linear.function;
        let mut inside = Vec::new();
        function.for_each_region_within(region, |inner| inside.push(inner));
        let mut insts = inside.iter().flat_map(|&id| &function.region(id).insts);
        insts.any(|inst| match &inst.kind {
            InstKind::Return => true,
            InstKind::Break(to) | InstKind::Continue(to) => !inside.contains(to),
            InstKind::Store(array)
            | InstKind::ArrayZero(array)
            | InstKind::ArrayResize(array, _) => self.is_active_array(*array),
            InstKind::ArrayCopy { to, .. } => self.is_active_array(*to),
            InstKind::Call(_, arrays) => arrays.iter().any(|&array| self.is_active_array(array)),
            _ => false,
        })
    }

    /// Where the function is not linear first.
    fn violation(&mut self) -> Option<Span> {
        let function = &self.linear.function;
        let mut params = (0..).map(ArrayId).zip(function.array_params());
        // What the caller's array has is no tangent.
        if params.any(|(id, array)| {
            array.mode != Some(PassingMode::Out)
                && self.is_active_array(id)
                && !self.activity.arrays[id.index()]
                && !self.given_zeros[function.params().len() + id.index()]
        }) {
            return Some(function.span);
        }
        let mut order = Vec::new();
        function.for_each_region(|region| order.push(region));
        // An instruction is a better place than the loop or branch that its operands come from.
        let mut joined = None;
        for id in order {
            for (position, inst) in function.region(id).insts.iter().enumerate() {
                if self.is_violated(id, position, inst) {
                    return Some(inst.span);
                }
                if joined.is_none() && self.joins_foreign(id, inst) {
                    joined = Some(inst.span);
                }
            }
        }
        joined
    }

    fn is_violated(&mut self, region: RegionId, position: usize, inst: &Inst) -> bool {
        let linear = self.linear;
        match &inst.kind {
            InstKind::Op(op) if self.is_active(inst.results.first) => {
                let terms = linear.sums.get(&inst.results.first).into_iter().flatten();
                let mut terms = terms.filter(|(_, operand)| self.dependence.value(*operand));
                let is_piecewise = matches!(op.info().class, OpClass::Kink | OpClass::Jump);
                let added = match op {
                    Op::Add | Op::Sub => &inst.args[..],
                    Op::Select => &inst.args[1..],
                    Op::Mix => &inst.args[..2],
                    _ => &[],
                };
                (is_piecewise && *op != Op::Select)
                    || terms.any(|(c, _)| c.value().is_some_and(|c| self.dependence.value(c)))
                    || added.iter().any(|&arg| self.is_foreign(arg))
            }
            InstKind::Load(array) => {
                linear.active.array(*array) && self.dependence.value(inst.args[0])
            }
            InstKind::Store(array) => {
                linear.active.array(*array)
                    && (self.dependence.value(inst.args[0])
                        || self.is_active_array(*array) && self.is_foreign(inst.args[1]))
            }
            InstKind::ArrayCopy { to, from } => {
                linear.active.array(*to)
                    && (self.dependence.any(&inst.args)
                        || self.is_active_array(*to)
                            && !self.is_active_array(*from)
                            && !self.zeros.array(*from))
            }
            InstKind::If(then, other) => {
                let yields = inst.results.iter().any(|result| self.is_active(result));
                self.dependence.value(inst.args[0])
                    && (yields || self.has_effect(*then) || self.has_effect(*other))
            }
            InstKind::Call(callee, arrays) if linear.calls.contains_key(&(region, position)) => {
                let wanted = linear.active.of_call(inst, arrays);
                let values = |active: &[bool], values: &[ValueId]| -> Vec<bool> {
                    let all = values.iter().zip(active);
                    all.map(|(&v, &is)| is && self.dependence.value(v))
                        .collect()
                };
                let results: Vec<ValueId> = inst.results.iter().collect();
                let passed = arrays.iter().zip(&wanted.arrays);
                let wanted = Activity {
                    params: values(&wanted.params, &inst.args),
                    results: values(&wanted.results, &results),
                    arrays: passed
                        .map(|(array, &is)| is && self.dependence.array(*array))
                        .collect(),
                    memory: ActiveMemory::default(),
                };
                let given = inst.args.iter().zip(&wanted.params);
                let is_violated =
                    (given.into_iter()).any(|(&arg, &is)| self.dependence.value(arg) && !is);
                let zeros = self.zeros.passed(&linear.function, inst, arrays);
                self.calls.push((*callee, wanted, zeros, inst.span));
                is_violated
            }
            InstKind::Return => {
                // Of what depends on no tangent, only 0 is linear.
                let tangents = inst.args.iter().zip(&self.activity.results);
                (tangents.into_iter()).any(|(&arg, &is)| is && self.is_foreign(arg))
            }
            _ => false,
        }
    }
}
