//! Lost gradients: the places where a value that has a gradient becomes one that has none, and that
//! matters to what is differentiated.
//!
//! A value is *varied* if a parameter that is differentiated flows into it by derivatives. It
//! *would matter* if it flows into a result that is differentiated by any way that carries a
//! number: derivatives, integers, samples, closures, calls that lose. A gradient is lost between a
//! varied value and one that would matter, where no derivative leads from one to the other. So what
//! is dead, overwritten or only compared loses nothing; values are in SSA form. Steps (`floor`,
//! comparisons) have the derivative 0 by rule, and lose nothing either.
//!
//! Assumes a lowered module, before any pass; it is folded first, so that what a constant decides
//! does not count. Functions are summarised by what of their results depends on what of their
//! parameters, and then seen in each context in which a differentiated function calls them: at most
//! [`MAX_CONTEXTS`] apart, further ones together.
//!
//! - `graph`: the graph of a function, and what it says in a context; `build`: its edges; `arrays`:
//!   elements of arrays; `summary`: what callers need of a function.

mod arrays;
mod build;
mod graph;
mod summary;

use super::dataflow::{SummaryAnalysis, summarise, visit_callers_first};
use super::fold::fold;
use crate::calls::{CallGraph, callees};
use crate::derivative::DifferentiationMode;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
pub use arrays::MAX_ELEMENT_NODES;
use graph::{FunctionGraph, LossEdge};
use std::collections::HashSet;
use summary::{Summary, result_slots, slots};

/// How many contexts of a function are kept apart.
pub const MAX_CONTEXTS: usize = 16;

/// A way to lose a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossCause {
    /// By a call of a function that is not marked.
    Unmarked(FuncId),
    /// By a sample of a texture.
    Sample(TextureId),
    /// In the slopes of a texture, whose derivative is taken by its coordinates once more.
    Curvature(TextureId),
    /// In a closure.
    Closure,
    /// In an integer: the result of this number, if a call gives it.
    Rounding(Option<u32>),
    /// In a parameter of a function with custom derivatives that do not have it: by its slot,
    /// scalar parameters first, then arrays.
    Parameter(FuncId, u32),
}

/// A gradient that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LostGradient {
    /// The function that loses it.
    pub within: FuncId,
    /// The cause.
    pub cause: LossCause,
    /// The place.
    pub span: Span,
}

/// What is known of a function beside its code, by slots: scalar parameters, then arrays; results,
/// then arrays.
#[derive(Clone, Debug, Default)]
pub struct GradientSignature {
    /// Whether gradients pass through calls of it.
    pub is_marked: bool,
    /// Whether it loses gradients in calls of functions that are not marked. Through the calls of
    /// others they pass, whatever is marked.
    pub is_checked: bool,
    /// The parameters that custom derivatives lose.
    pub lost: Vec<bool>,
}

/// A function that is differentiated, with respect to these slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GradientContext {
    /// Of its parameters: those that are varied.
    pub varied: Vec<bool>,
    /// Of its results: those that matter.
    pub useful: Vec<bool>,
    /// Of its parameters: those by which it is differentiated before, in a derivative that is
    /// differentiated; empty if there is none.
    pub before: Vec<bool>,
}

/// The result of [`lost_gradients`].
#[derive(Debug, Default)]
pub struct LostGradients {
    /// The losses, each once.
    pub losses: Vec<LostGradient>,
    /// Screen-space derivatives of what is differentiated, with their functions.
    pub shadows: Vec<(FuncId, Span)>,
    /// The calls through which gradients pass if all parameters of their function are
    /// differentiated; none without custom derivatives.
    pub active_calls: HashSet<(FuncId, Span)>,
    /// The calls by which functions are differentiated, in these contexts.
    pub live_calls: HashSet<(FuncId, Span)>,
    /// By function.
    summaries: Vec<Summary>,
}

impl LostGradients {
    /// Whether a derivative leads from one of a function's parameters to one of its results.
    pub fn leads(&self, function: FuncId, param: usize, result: usize) -> bool {
        self.summaries[function.index()]
            .carried
            .leads(param, result)
    }
}

/// Finds the gradients that functions lose which are differentiated in these contexts. `signatures`
/// are by function.
pub fn lost_gradients(
    mut module: Module,
    signatures: &[GradientSignature],
    roots: &[(FuncId, GradientContext)],
) -> LostGradients {
    for function in &mut module.functions {
        if function.recipe.is_none() {
            fold(function);
        }
    }
    let calls = CallGraph::by(&module, |function, reached| {
        reached.extend(callees(function));
        reached.extend(function.recipe.as_ref().map(|recipe| recipe.of));
        reached.extend(function.custom.substitute);
    });
    let analysis = Analysis {
        module: &module,
        signatures,
    };
    let summaries = summarise(&module, &calls, &mut &analysis);
    let mut contexts: Vec<Contexts> = vec![Contexts::default(); module.functions.len()];
    for (function, context) in roots {
        contexts[function.index()].add(context.clone());
    }
    let mut found = LostGradients::default();
    let mut seen = HashSet::new();
    visit_callers_first(&calls, |id| {
        let function = module.function(id);
        if function.recipe.is_some() || contexts[id.index()].is_done() {
            return false;
        }
        let graph = FunctionGraph::new(&analysis, id, &summaries);
        while let Some(context) = contexts[id.index()].next() {
            let flow = graph.flow(&context);
            let is_twice = |curve: &&LossEdge| flow.before[curve.from as usize];
            let curves = graph.curves.iter().filter(is_twice);
            for &LossEdge {
                from,
                to,
                cause,
                span,
            } in graph.losses.iter().chain(curves)
            {
                let lost = LostGradient {
                    within: id,
                    cause,
                    span,
                };
                if flow.varied[from as usize] && flow.matters[to as usize] && seen.insert(lost) {
                    found.losses.push(lost);
                }
            }
            for &(from, to, span) in &graph.shadows {
                if flow.varied[from as usize] && flow.matters[to as usize] {
                    found.shadows.push((id, span));
                }
            }
            for (callee, context, span) in graph.contexts_of_callees(&analysis, &flow) {
                contexts[callee.index()].add(context);
                found.live_calls.insert((id, span));
            }
        }
        true
    });
    let has_rules = |f: &Function| f.custom.forward.or(f.custom.backward).is_some();
    if module.functions.iter().any(has_rules) {
        for (id, function) in (0..).map(FuncId).zip(&module.functions) {
            if function.recipe.is_none() {
                let graph = FunctionGraph::new(&analysis, id, &summaries);
                let all = graph.flow(&GradientContext {
                    varied: vec![true; slots(function)],
                    useful: vec![true; result_slots(function)],
                    before: Vec::new(),
                });
                let active = graph.calls.iter().filter(|call| call.is_active(&all));
                (found.active_calls).extend(active.map(|call| (id, call.span)));
            }
        }
    }
    found.summaries = summaries;
    found
}

/// The contexts of a function.
#[derive(Clone, Debug, Default)]
struct Contexts {
    all: Vec<GradientContext>,
    /// How many were seen.
    done: usize,
}

impl Contexts {
    fn add(&mut self, context: GradientContext) {
        let covers = |known: &GradientContext| {
            is_within(&context.varied, &known.varied)
                && is_within(&context.useful, &known.useful)
                && (context.before.is_empty() || known.before.len() == context.before.len())
                && is_within(&context.before, &known.before)
        };
        if self.all.iter().any(covers) {
            return;
        }
        if self.all.len() < MAX_CONTEXTS {
            self.all.push(context);
            return;
        }
        let last = self.all.last_mut().expect("there are some");
        join(&mut last.varied, &context.varied);
        join(&mut last.useful, &context.useful);
        last.before
            .resize(last.before.len().max(context.before.len()), false);
        join(&mut last.before, &context.before);
        self.done = self.done.min(MAX_CONTEXTS - 1);
    }

    fn is_done(&self) -> bool {
        self.done == self.all.len()
    }

    fn next(&mut self) -> Option<GradientContext> {
        let context = self.all.get(self.done)?.clone();
        self.done += 1;
        Some(context)
    }
}

fn is_within(part: &[bool], all: &[bool]) -> bool {
    part.iter().zip(all).all(|(part, all)| !part || *all)
}

fn join(all: &mut [bool], more: &[bool]) {
    for (all, more) in all.iter_mut().zip(more) {
        *all |= more;
    }
}

/// What the graphs of functions are made of.
struct Analysis<'m> {
    module: &'m Module,
    signatures: &'m [GradientSignature],
}

impl Analysis<'_> {
    /// The function whose derivatives are those of another.
    fn substituted(&self, id: FuncId) -> FuncId {
        let next = |&id: &FuncId| self.module.function(id).custom.substitute;
        let chain = std::iter::successors(Some(id), next);
        chain.take(self.module.functions.len()).last().unwrap_or(id)
    }

    /// Whether a function is no backward derivative, nor one of one.
    fn is_forward(&self, id: FuncId) -> bool {
        let next = |&id: &FuncId| Some(self.module.function(id).recipe.as_ref()?.of);
        let mut all = std::iter::successors(Some(id), next);
        all.all(|id| {
            let recipe = self.module.function(id).recipe.as_ref();
            recipe.is_none_or(|recipe| recipe.mode == DifferentiationMode::Forward)
        })
    }
}

impl SummaryAnalysis for &Analysis<'_> {
    type Summary = Summary;

    fn least(&self, id: FuncId) -> Summary {
        Summary::none(self.module.function(id))
    }

    fn greatest(&self, id: FuncId) -> Summary {
        Summary::all(self.module.function(id))
    }

    fn summarise(&mut self, id: FuncId, summaries: &[Summary]) -> Summary {
        let function = self.module.function(id);
        match function.recipe {
            // Derivatives may lead from anywhere to anywhere.
            Some(_) => Summary::all(function),
            None => FunctionGraph::new(self, id, summaries).summary(),
        }
    }
}

/// Whether a value of that type can have a gradient, or be made of one that has.
fn is_number(ty: Scalar) -> bool {
    matches!(
        ty,
        Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::Closure
    )
}
