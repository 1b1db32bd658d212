//! The graph of one function: where derivatives lead, where numbers lead beside them, and where
//! gradients end.
//!
//! Nodes are values, arrays and results as in [`shadow_flow`](super::super::shadow_flow), then
//! joints of calls.

use super::build::Build;
use super::summary::{Summary, types_in, types_out};
use super::{Analysis, GradientContext, LossCause, is_number};
use crate::module::*;
use crate::passes::dataflow::{FlowEdges, FlowNode};
use crate::passes::shadow_flow::{array_node, result_node};
use crate::passes::source_sets::SourceSets;
use crate::span::Span;
use crate::types::Scalar;

/// A place where a gradient ends, if it comes there and matters after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossEdge {
    pub(super) from: FlowNode,
    pub(super) to: FlowNode,
    pub(super) cause: LossCause,
    pub(super) span: Span,
}

/// A call: by slot of the callee, the caller's nodes.
pub(super) struct CallNodes {
    pub(super) span: Span,
    pub(super) callee: FuncId,
    pub(super) ins: Vec<FlowNode>,
    pub(super) outs: Vec<FlowNode>,
    /// Whether contexts of the callee follow from it.
    pub(super) is_followed: bool,
}

impl CallNodes {
    /// Whether a gradient goes in, and one matters that comes out.
    pub(super) fn is_active(&self, flow: &ContextFlow) -> bool {
        self.ins.iter().any(|&node| flow.varied[node as usize])
            && self.outs.iter().any(|&node| flow.is_active(node))
    }
}

/// The nodes of a function that are varied, and that would matter.
pub(super) struct ContextFlow {
    pub(super) varied: Vec<bool>,
    pub(super) matters: Vec<bool>,
    /// Those that were varied before, in a derivative that is differentiated.
    pub(super) before: Vec<bool>,
}

impl ContextFlow {
    fn is_active(&self, node: FlowNode) -> bool {
        self.varied[node as usize] && self.matters[node as usize]
    }
}

/// The graph of a function.
pub(super) struct FunctionGraph<'m> {
    function: &'m Function,
    carried: FlowEdges,
    any: FlowEdges,
    any_back: FlowEdges,
    pub(super) losses: Vec<LossEdge>,
    /// Samples with slopes: where second derivatives end.
    pub(super) curves: Vec<LossEdge>,
    /// Screen-space derivatives: operand, result, place.
    pub(super) shadows: Vec<(FlowNode, FlowNode, Span)>,
    pub(super) calls: Vec<CallNodes>,
}

impl<'m> FunctionGraph<'m> {
    pub(super) fn new(
        analysis: &Analysis<'m>,
        id: FuncId,
        summaries: &[Summary],
    ) -> FunctionGraph<'m> {
        let function = analysis.module.function(id);
        let build = Build::new(analysis, id, summaries);
        let Build {
            nodes,
            carried,
            beside: mut any,
            losses,
            curves,
            shadows,
            calls,
            ..
        } = build;
        any.extend(&carried);
        any.extend(losses.iter().map(|loss| (loss.from, loss.to)));
        FunctionGraph {
            function,
            carried: FlowEdges::new(nodes, &carried, |&edge| edge),
            any: FlowEdges::new(nodes, &any, |&edge| edge),
            any_back: FlowEdges::new(nodes, &any, |&(from, to)| (to, from)),
            losses,
            curves,
            shadows,
            calls,
        }
    }

    fn ins(&self) -> impl Iterator<Item = FlowNode> {
        let params = self.function.params().iter().map(|param| param.0);
        let arrays = (0..self.function.array_params().count() as u32).map(ArrayId);
        params.chain(arrays.map(|array| array_node(self.function, array)))
    }

    fn outs(&self) -> impl Iterator<Item = FlowNode> {
        let results = 0..self.function.results.len() as u32;
        let results = results.map(|result| result_node(self.function, result));
        let arrays = (0..self.function.array_params().count() as u32).map(ArrayId);
        results.chain(arrays.map(|array| array_node(self.function, array)))
    }

    /// What is varied and would matter in a context.
    pub(super) fn flow(&self, context: &GradientContext) -> ContextFlow {
        let mut work = Vec::new();
        let mut reached = |params: &[bool]| {
            let mut varied = vec![false; self.carried.nodes()];
            for ((node, ty), is_varied) in self.ins().zip(types_in(self.function)).zip(params) {
                varied[node as usize] |= *is_varied && ty == Some(Scalar::F32);
            }
            self.carried.flood(&mut varied, &mut work);
            varied
        };
        let (varied, before) = (reached(&context.varied), reached(&context.before));
        let mut matters = vec![false; varied.len()];
        let outs = self
            .outs()
            .zip(types_out(self.function))
            .zip(&context.useful);
        for ((node, ty), is_useful) in outs {
            let has_gradient = matches!(ty, Some(Scalar::F32 | Scalar::Closure));
            matters[node as usize] |= *is_useful && has_gradient;
        }
        self.any_back.flood(&mut matters, &mut work);
        ContextFlow {
            varied,
            matters,
            before,
        }
    }

    /// The contexts in which the function calls others.
    pub(super) fn contexts_of_callees(
        &self,
        analysis: &Analysis<'_>,
        flow: &ContextFlow,
    ) -> Vec<(FuncId, GradientContext, Span)> {
        let calls = self.calls.iter().filter(|call| call.is_followed);
        let context = |call: &CallNodes| {
            let of = |nodes: &[FlowNode], flow: &[bool]| -> Vec<bool> {
                nodes.iter().map(|&node| flow[node as usize]).collect()
            };
            let mut context = GradientContext {
                varied: of(&call.ins, &flow.varied),
                useful: of(&call.outs, &flow.matters),
                before: match flow.before.contains(&true) {
                    true => of(&call.ins, &flow.before),
                    false => Vec::new(),
                },
            };
            let mut callee = analysis.module.function(call.callee);
            let mut id = call.callee;
            while let Some(recipe) = &callee.recipe {
                context = of_primal(analysis.module.function(recipe.of), recipe, &context);
                id = recipe.of;
                callee = analysis.module.function(id);
            }
            let is_live = context.varied.contains(&true) && context.useful.contains(&true);
            let has_rules = analysis.module.function(id).custom != CustomDerivatives::default();
            (is_live && !has_rules).then_some((id, context, call.span))
        };
        calls.filter_map(context).collect()
    }

    /// What leads where.
    pub(super) fn summary(&self) -> Summary {
        let ins = self.ins().zip(types_in(self.function));
        let ins = ins.map(|(node, ty)| ty.is_some_and(is_number).then_some(node));
        let ins: Vec<Option<FlowNode>> = ins.collect();
        let sources = |edges: &FlowEdges, counts: fn(Scalar) -> bool| {
            let outs = self.outs().zip(types_out(self.function));
            let outs = outs.map(|(node, ty)| ty.is_some_and(counts).then_some(node));
            SourceSets::along(edges, &ins, &outs.collect::<Vec<_>>())
        };
        Summary {
            carried: sources(&self.carried, |ty| ty == Scalar::F32),
            any: sources(&self.any, is_number),
        }
    }
}

/// The context of a function in one of a derivative of it: varied if the value or its tangent is,
/// and all results matter if one of the derivative does.
fn of_primal(primal: &Function, recipe: &Recipe, context: &GradientContext) -> GradientContext {
    let params = primal.params().len();
    let arrays: Vec<PassingMode> = primal.array_params().filter_map(|a| a.mode).collect();
    let is_forward = recipe.mode == DifferentiationMode::Forward;
    let tangents = |active: &[bool]| active.iter().filter(|active| **active).count();
    let scalars = match is_forward {
        true => params + tangents(&recipe.activity.params),
        false => params + tangents(&recipe.activity.results),
    };
    let mut varied = context.varied[..params].to_vec();
    let mut passed = context.varied[scalars..].iter();
    varied.extend(arrays.iter().map(|mode| match (is_forward, mode) {
        (false, PassingMode::Out) => false,
        _ => passed.next().copied().unwrap_or(false),
    }));
    if is_forward {
        let active = (0..params).filter(|&at| recipe.activity.params[at]);
        for (at, is_varied) in active.zip(&context.varied[params..scalars]) {
            varied[at] |= is_varied;
        }
        let active = (0..arrays.len()).filter(|&at| recipe.activity.arrays[at]);
        for (at, is_varied) in active.zip(passed) {
            varied[params + at] |= is_varied;
        }
    }
    let (own, derived) = match recipe.with_results {
        true => context.useful.split_at(primal.results.len()),
        false => context.useful.split_at(0),
    };
    let matters = derived.contains(&true);
    let outs = (recipe.activity.results.iter()).chain(&recipe.activity.arrays);
    let mut useful: Vec<bool> = outs.map(|&is_active| is_active && matters).collect();
    for (useful, &is_useful) in useful.iter_mut().zip(own) {
        *useful |= is_useful;
    }
    let mut before: Vec<bool> = match recipe.screen {
        // Shadows are no derivatives by parameters.
        Some(_) => vec![false; recipe.activity.params.len() + arrays.len()],
        None => (recipe.activity.params.iter())
            .chain(&recipe.activity.arrays)
            .copied()
            .collect(),
    };
    for (before, &is_before) in before.iter_mut().zip(&context.before) {
        *before |= is_before;
    }
    GradientContext {
        varied,
        useful,
        before,
    }
}
