//! The passes: from lowered IR to IR with lanes.
//!
//! Each pass is one file whose head has its assumptions and guarantees. The [`pipeline`] is the
//! table of all of them, by slots:
//!
//! 1. *Expansion*: `surfaces` removes what marks where rays meet surfaces; `straighten` and
//!    `differentiate` write the bodies of derivatives of functions, and `quad` replaces
//!    screen-space derivatives by differences between neighbouring points.
//! 2. *Rules*: `shadow_rules` has functions with custom forward derivatives make their shadows by
//!    them, where those are demanded.
//! 3. *Inlining* of straight-line functions; *cleanup* (`fold`, `gvn`, `dce`) of each function, and
//!    again after *unrolling* of loops with a known number of iterations, which includes scalar
//!    replacement of arrays; *pruning* of functions that are not called.
//! 4. *Lanes*: `shadow_flow` and `summary` have the flow of shadows through functions and calls.
//!    `specialise` finds the variants of each function and, with `lineage` and `demand`, the lanes
//!    of their values. `lane_assignment` writes them into the IR. Where a `Shadow` became 0, its
//!    uses may be constant now. So cleanup runs again and the lanes are found anew, without further
//!    variants: no lane outlives its reader.
//!
//! With derivatives off, globals have no shadows; nothing else differs. So a shader that demands
//! nothing becomes the same IR either way. All passes are linear in the program, times a named
//! constant at most.

mod closure_leaves;
mod dataflow;
mod dce;
mod decisions;
mod demand;
mod differentiate;
mod drop_outputs;
mod entry_derivative;
mod flow_signature;
mod fold;
mod gvn;
mod inline;
mod lane_assignment;
mod lineage;
mod lost_gradients;
mod lost_shadows;
mod memory_reads;
mod noise;
mod pair;
mod pass_times;
mod pipeline;
mod quad;
mod replacement;
mod report;
mod scalar_replacement;
mod shadow_flow;
mod shadow_rules;
mod source_sets;
mod specialise;
mod straighten;
mod summary;
mod surfaces;
mod unroll;

#[cfg(test)]
mod tests;

pub use closure_leaves::{MAX_CLOSURE_LEAVES, SeparatedLeaf, separate_leaves};
pub use dataflow::MAX_FIXPOINT_ROUNDS;
pub use decisions::{
    DecisionKind, DecisionSite, MAX_FORCED_DECISIONS, Tracing, names as decision_names,
    trace_decisions, varying_equalities,
};
pub use differentiate::{
    KeepReason, KeptKind, KeptPer, KeptReader, KeptRecord, KeptValue, MAX_DERIVED_INSTRUCTIONS,
    MAX_KEPT_RESULTS, MAX_LINEAR_SETS, MAX_ORDER, MAX_ZERO_CALLS, MAX_ZERO_SETS,
    curvature_left_out, no_forward_rule, shadow_in_backward,
};
pub use drop_outputs::drop_outputs;
pub use entry_derivative::{
    EntryDerivative, EntryLosses, FloatGlobal, differentiate_entry, entry_losses, tangent_globals,
    tangent_name, tangent_type,
};
pub use inline::{MAX_COUNTED, MAX_INLINE, MAX_INLINED, MAX_INLINED_ELEMENTS, MAX_MOVED};
pub use lost_gradients::{
    GradientContext, GradientSignature, LossCause, LostGradient, LostGradients, MAX_CONTEXTS,
    MAX_ELEMENT_NODES, lost_gradients,
};
pub use lost_shadows::{LostShadows, lost_shadows};
pub use noise::{add_noise, noise_globals, scale_name};
pub use pair::{
    MAX_STRAIGHT, names as pair_names, pair_decisions, pair_gradient, straighten_entry,
};
pub use pass_times::PassTimes;
pub use pipeline::{PASSES, PIPELINE, Pass, PassSlot};
pub use quad::{AtDivergence, quads};
pub use report::{FunctionReport, ValueReport, demand as demand_report};
pub use scalar_replacement::{MAX_COPIED_BY_ELEMENT, MAX_JOINED_ELEMENTS, MAX_REPLACED_ELEMENTS};
pub use shadow_rules::MAX_RULES_WITHIN;
pub use specialise::MAX_VARIANTS;
pub use unroll::{
    LONG_OP_COST, MAX_FORCED, MAX_UNROLL_ROUNDS, MAX_UNROLLED, MAX_UNROLLED_IN_ALL,
    MAX_UNROLLED_WITHIN, UNROLLED_FOR_ELEMENT,
};

use crate::calls::CallGraph;
use crate::diagnostic::Diagnostic;
use crate::module::{FuncId, Module};
use crate::quad::Quad;
use adumbra_ops::OpSet;
use pass_times::PassClock;
use pipeline::PassRunner;

/// How often lanes are found anew because shadows were zero. After that such zeros stay constants
/// that are not folded further.
pub const MAX_ROUNDS: usize = 4;

/// The source of derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// From shadows beside the values.
    #[default]
    Dual,
    /// From the neighbours in a quad of 2×2 points: their differences. [`quads`] makes such a
    /// module.
    Quad(Quad),
    /// All derivatives are zero.
    Off,
}

/// The options of the passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassOptions {
    /// The source of derivatives.
    pub derivatives: Derivatives,
    /// The treatment of derivatives from quads in non-uniform control flow.
    pub at_divergence: AtDivergence,
    /// One body for each function, with the demand of all its callers, and of both arms of a
    /// branch. Counted calls are not inlined.
    pub merge_demand: bool,
    /// Whether the host reads the shadows of the shader's outputs.
    pub output_shadows: bool,
    /// Ops whose results have no shadows, whatever their operands have.
    pub dropped: OpSet,
}

impl PassOptions {
    /// The rule of derivatives from quads, if they are the source.
    fn quad(&self) -> Option<Quad> {
        match self.derivatives {
            Derivatives::Quad(rule) => Some(rule),
            Derivatives::Dual | Derivatives::Off => None,
        }
    }
}

/// A callback after each pass, with its name and the module.
pub type PassObserver<'w> = dyn FnMut(&'static str, &Module) + 'w;

/// Runs the passes of the first slot on a verified module, as lowering leaves it. A module whose
/// derivatives are expanded stays as it is. Returns what reverse mode keeps on tapes.
///
/// # Errors
/// Why there is no such derivative.
pub fn expand(
    module: &mut Module,
    options: &PassOptions,
    watch: &mut PassObserver,
) -> Result<Vec<KeptRecord>, Vec<Diagnostic>> {
    PassRunner::new(options, watch).expand(module)
}

/// [Expands](expand) derivatives of functions. Returns what they keep on tapes.
///
/// # Errors
/// The first derivative that cannot be made.
pub fn differentiate(module: &mut Module) -> Result<Vec<KeptRecord>, Box<Diagnostic>> {
    let expanded = expand(module, &PassOptions::default(), &mut |_, _| {});
    expanded.map_err(|mut refused| Box::new(refused.remove(0)))
}

/// Runs all other passes on a verified and [expanded](expand) module.
pub fn run(module: Module, options: &PassOptions) -> (Module, PassTimes) {
    run_observed(module, options, &mut |_, _| {})
}

/// The first half of [`run`], which is independent of shadows: a module for later binding of
/// constants.
pub fn prepare(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut ignore = |_: &'static str, _: &Module| {};
    let mut runner = PassRunner::new(options, &mut ignore);
    runner.prepare(&mut module);
    (module, runner.clock.times)
}

/// The second half of [`run`], on a prepared module.
pub fn annotate(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut ignore = |_: &'static str, _: &Module| {};
    let mut runner = PassRunner::new(options, &mut ignore);
    runner.annotate(&mut module);
    (module, runner.clock.times)
}

/// [`run`] with an observer, for tests that compare the module between passes.
pub fn run_observed(
    mut module: Module,
    options: &PassOptions,
    watch: &mut PassObserver,
) -> (Module, PassTimes) {
    let mut runner = PassRunner::new(options, watch);
    runner.prepare(&mut module);
    runner.annotate(&mut module);
    (module, runner.clock.times)
}

/// The lineage that [`run`] finds for every variant of every function, before the intersection with
/// demand.
pub fn lineage_report(module: Module, options: &PassOptions) -> Vec<FunctionReport> {
    let (module, _) = prepare(module, options);
    let calls = CallGraph::new(&module);
    let mut clock = PassClock::start();
    let (summaries, plan) = lane_assignment::plan(&module, &calls, options, true, &mut clock);
    let mut reports = Vec::new();
    let (mut state, mut work) = (Vec::new(), Vec::new());
    for (at, function) in module.functions.iter().enumerate() {
        for (number, variant) in (0..).zip(&plan.variants[at]) {
            let signature = &summaries.signatures[at];
            let flow = summaries.flow(FuncId(at as u32));
            lineage::lineage(flow, signature, &variant.ins, &mut state, &mut work);
            reports.push(report::report(&module, function, number, &state));
        }
    }
    reports
}
