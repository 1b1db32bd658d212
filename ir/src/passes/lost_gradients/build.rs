//! What the graph of a function is made of, instruction by instruction.

use super::arrays::{ArrayNodes, replaced_stores};
use super::graph::{CallNodes, LossEdge};
use super::summary::{Summary, types_in, types_out};
use super::{Analysis, LossCause, is_number};
use crate::module::*;
use crate::passes::dataflow::{FlowNode, Joins};
use crate::passes::shadow_flow::{array_node, result_node};
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;

/// Whether custom derivatives have that slot.
fn has_slot(activity: &Activity, slot: u32) -> bool {
    let slots = activity.params.iter().chain(&activity.arrays);
    slots.copied().nth(slot as usize) == Some(true)
}

/// The edges of a graph.
pub(super) struct Build<'b, 'm> {
    analysis: &'b Analysis<'m>,
    id: FuncId,
    function: &'m Function,
    summaries: &'b [Summary],
    pub(super) nodes: FlowNode,
    /// By value: its bits, if it is a constant.
    constants: Vec<Option<u32>>,
    arrays: ArrayNodes,
    pub(super) carried: Vec<(FlowNode, FlowNode)>,
    /// Edges of numbers, without derivatives.
    pub(super) beside: Vec<(FlowNode, FlowNode)>,
    pub(super) losses: Vec<LossEdge>,
    /// Where second derivatives end.
    pub(super) curves: Vec<LossEdge>,
    pub(super) shadows: Vec<(FlowNode, FlowNode, Span)>,
    pub(super) calls: Vec<CallNodes>,
}

impl<'b, 'm> Build<'b, 'm> {
    pub(super) fn new(
        analysis: &'b Analysis<'m>,
        id: FuncId,
        summaries: &'b [Summary],
    ) -> Build<'b, 'm> {
        let function = analysis.module.function(id);
        let mut constants = vec![None; function.values.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            if let InstKind::Const(bits) = inst.kind {
                constants[inst.results.first.index()] = Some(bits);
            }
        }
        let mut nodes = result_node(function, function.results.len() as u32);
        let arrays = ArrayNodes::new(function, &constants, &mut nodes);
        let mut build = Build {
            analysis,
            id,
            function,
            summaries,
            nodes,
            constants,
            arrays,
            carried: Vec::new(),
            beside: Vec::new(),
            losses: Vec::new(),
            curves: Vec::new(),
            shadows: Vec::new(),
            calls: Vec::new(),
        };
        let joins = Joins::new(function);
        function.for_each_region(|region| build.region(region, &joins));
        build
    }

    fn ty(&self, value: ValueId) -> Scalar {
        self.function.value(value).ty
    }

    /// The node of the element that a load or a store is of.
    fn element(&self, array: ArrayId, inst: &Inst) -> FlowNode {
        let index = self.constants[inst.args[0].index()];
        self.arrays.element(self.function, array, index)
    }

    /// An edge on which a number stays what it is.
    fn pass(&mut self, ty: Scalar, from: FlowNode, to: FlowNode) {
        match ty {
            Scalar::F32 => self.carried.push((from, to)),
            ty if is_number(ty) => self.beside.push((from, to)),
            _ => {}
        }
    }

    fn lose(&mut self, from: FlowNode, to: FlowNode, cause: LossCause, span: Span) {
        self.losses.push(LossEdge {
            from,
            to,
            cause,
            span,
        });
    }

    fn region(&mut self, id: RegionId, joins: &Joins) {
        let function = self.function;
        let insts = &function.region(id).insts;
        let replaced = replaced_stores(insts, &self.constants);
        for (at, inst) in insts.iter().enumerate() {
            joins.for_each(function, id, inst, |from, to| {
                self.pass(function.value(to).ty, from.0, to.0);
            });
            if !replaced.contains(&at) {
                self.inst(inst);
            }
        }
    }

    fn inst(&mut self, inst: &'m Inst) {
        let function = self.function;
        let node = |array: &ArrayId| array_node(function, *array);
        let element = |array: &ArrayId| function.arrays[array.index()].element;
        let result = inst.results.first.0;
        match &inst.kind {
            InstKind::Op(op) => {
                let mut constants = [None; MAX_OPERANDS];
                for (constant, arg) in constants.iter_mut().zip(&inst.args) {
                    *constant = self.constants[arg.index()];
                }
                let carries = op.passes_shadows_given(constants);
                let to = self.ty(inst.results.first);
                for (&arg, carries) in inst.args.iter().zip(carries) {
                    match (self.ty(arg), to) {
                        (Scalar::F32, Scalar::F32) if carries => {
                            self.carried.push((arg.0, result));
                        }
                        (Scalar::F32, Scalar::I32 | Scalar::U32) => {
                            self.lose(arg.0, result, LossCause::Rounding(None), inst.span);
                        }
                        (from, to) if from != Scalar::F32 && is_number(from) && is_number(to) => {
                            self.beside.push((arg.0, result));
                        }
                        _ => {}
                    }
                }
            }
            InstKind::Shadow(_) => {
                self.carried.push((inst.args[0].0, result));
                self.shadows.push((inst.args[0].0, result, inst.span));
            }
            InstKind::Load(array) => {
                let from = self.element(*array, inst);
                self.pass(element(array), from, result);
            }
            InstKind::Store(array) => {
                let to = self.element(*array, inst);
                self.pass(element(array), inst.args[1].0, to);
            }
            InstKind::ArrayCopy { to, from } => self.pass(element(to), node(from), node(to)),
            // With slopes, derivatives go by `sloped` ops. Those of slopes do not.
            InstKind::Sample(texture, _, Slopes::Given) => {
                let numbers = inst.results.iter().take(Slopes::Omitted.result_count());
                let coordinates = &inst.args[..2];
                let pairs = numbers.flat_map(|to| coordinates.iter().map(move |from| (from, to)));
                self.curves.extend(pairs.map(|(from, to)| LossEdge {
                    from: from.0,
                    to: to.0,
                    cause: LossCause::Curvature(*texture),
                    span: inst.span,
                }));
            }
            InstKind::Sample(texture, ..) => {
                let floats = inst.args.iter().copied();
                let floats = floats.filter(|&arg| function.value(arg).ty == Scalar::F32);
                for (arg, to) in floats.flat_map(|arg| inst.results.iter().map(move |to| (arg, to)))
                {
                    self.lose(arg.0, to.0, LossCause::Sample(*texture), inst.span);
                }
            }
            InstKind::MakeClosure(_) | InstKind::ClosureAdd | InstKind::ClosureScale => {
                for &arg in &inst.args {
                    match self.ty(arg) {
                        Scalar::F32 => self.lose(arg.0, result, LossCause::Closure, inst.span),
                        Scalar::Closure => self.beside.push((arg.0, result)),
                        _ => {}
                    }
                }
            }
            InstKind::Call(callee, arrays) => self.call(inst, *callee, arrays),
            InstKind::Return => {
                for (k, &arg) in (0..).zip(&inst.args) {
                    self.pass(self.ty(arg), arg.0, result_node(function, k));
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, inst: &Inst, callee: FuncId, arrays: &[ArrayId]) {
        let callee = self.analysis.substituted(callee);
        let module = self.analysis.module;
        let called = module.function(callee);
        if called.custom.is_zero {
            return;
        }
        let arrays = arrays.iter().map(|&array| array_node(self.function, array));
        let ins: Vec<FlowNode> = inst
            .args
            .iter()
            .map(|arg| arg.0)
            .chain(arrays.clone())
            .collect();
        let outs: Vec<FlowNode> = inst.results.iter().map(|r| r.0).chain(arrays).collect();
        let signatures = self.analysis.signatures;
        let is_lost =
            signatures[self.id.index()].is_checked && !signatures[callee.index()].is_marked;
        let has_rules = called.custom != CustomDerivatives::default();
        // Integers of backward derivatives are those that were passed.
        let gives_primals = self.analysis.is_forward(callee);
        let types: Vec<Option<Scalar>> = types_in(called).collect();
        let summary = &self.summaries[callee.index()];
        // Custom derivatives may lead from anywhere to anywhere.
        let all = has_rules.then(|| Summary::all(called).carried);
        let carried = all.as_ref().unwrap_or(&summary.carried);
        // By set: the joints of what leads to a result by any way, floats and others, and by
        // derivatives. Results that depend on the same share them, so that the edges stay few.
        let (mut any_joints, mut carried_joints) = (FxHashMap::default(), FxHashMap::default());
        // What custom derivatives lose matters if any result does.
        let lost = self.node();
        for (slot, &is_lost) in signatures[callee.index()].lost.iter().enumerate() {
            if has_rules && is_lost {
                let cause = LossCause::Parameter(callee, slot as u32);
                self.lose(ins[slot], lost, cause, inst.span);
            }
        }
        for (slot, ty) in types_out(called).enumerate() {
            let Some(ty) = ty.filter(|&ty| is_number(ty)) else {
                continue;
            };
            let to = outs[slot];
            let any = summary.any.set(slot);
            let (floats, others) = *any_joints.entry(any).or_insert_with(|| {
                let is_float = |from: &u32| types[*from as usize] == Some(Scalar::F32);
                let slots = summary.any.slots(any);
                let (floats, others): (Vec<u32>, Vec<u32>) = slots.partition(is_float);
                let nodes =
                    |slots: Vec<u32>| slots.iter().map(|&slot| ins[slot as usize]).collect();
                let others = self.joint(nodes(others), JointKind::Beside);
                (self.joint(nodes(floats), JointKind::Carried), others)
            });
            if let Some(others) = others {
                self.beside.push((others, to));
            }
            match (ty, floats) {
                (Scalar::F32, Some(floats)) if is_lost => {
                    self.lose(floats, to, LossCause::Unmarked(callee), inst.span);
                }
                (Scalar::F32, floats) if !is_lost => {
                    let set = carried.set(slot);
                    let through = *carried_joints.entry(set).or_insert_with(|| {
                        let through = carried
                            .slots(set)
                            .filter(|&from| !has_rules || has_slot(&called.custom.activity, from));
                        let nodes = through.map(|from| ins[from as usize]).collect();
                        self.joint(nodes, JointKind::Carried)
                    });
                    if let Some(through) = through {
                        self.carried.push((through, to));
                    }
                    match has_rules {
                        true => self.beside.push((lost, to)),
                        false => self.beside.extend(floats.map(|floats| (floats, to))),
                    }
                }
                (Scalar::I32 | Scalar::U32, Some(floats)) if gives_primals => {
                    let cause = LossCause::Rounding(Some(slot as u32));
                    self.lose(floats, to, cause, inst.span);
                }
                (_, floats) => self.beside.extend(floats.map(|floats| (floats, to))),
            }
        }
        self.calls.push(CallNodes {
            span: inst.span,
            callee,
            ins,
            outs,
            is_followed: !is_lost && !has_rules,
        });
    }

    fn node(&mut self) -> FlowNode {
        self.nodes += 1;
        self.nodes - 1
    }

    /// A node that all of these lead to.
    fn joint(&mut self, from: Vec<FlowNode>, kind: JointKind) -> Option<FlowNode> {
        if from.len() < 2 {
            return from.first().copied();
        }
        let joint = self.node();
        let edges = from.into_iter().map(|from| (from, joint));
        match kind {
            JointKind::Carried => self.carried.extend(edges),
            JointKind::Beside => self.beside.extend(edges),
        }
        Some(joint)
    }
}

/// What leads to a joint.
#[derive(Clone, Copy, Debug)]
enum JointKind {
    /// Derivatives.
    Carried,
    /// Numbers without.
    Beside,
}
