//! The passes: from lowered IR to IR with lanes.
//!
//! Each pass is one file whose head has its assumptions and guarantees. In order:
//!
//! 1. `inline` straight-line functions; `fold`, `gvn` and `dce` every function, and again where
//!    `unroll` unrolled loops with a known number of iterations; drop functions that are not
//!    called.
//! 2. `shadow_flow`, `summary`: the flow of shadows through functions and calls. `specialise` finds
//!    the variants of each function and, with `lineage` and `demand`, the lanes of their values.
//! 3. `lane_assignment` writes them into the IR. Where a `Shadow` became 0, its uses may be
//!    constant now. So fold, GVN and DCE run again and the lanes are found anew, without further
//!    variants: no lane outlives its reader.
//!
//! Before them all, `differentiate` writes the bodies of derivatives of functions, and `quad` replaces
//! screen-space derivatives by differences between neighbouring points, if that is requested.
//!
//! With derivatives off, globals have no shadows; nothing else differs. So a shader that demands
//! nothing becomes the same IR either way. All passes are linear in the program, times a named
//! constant at most.

mod dce;
mod demand;
mod differentiate;
mod fold;
mod gvn;
mod inline;
mod lane_assignment;
mod lineage;
mod lost_shadows;
mod pass_times;
mod quad;
mod replacement;
mod report;
mod shadow_flow;
mod specialise;
mod summary;
mod unroll;

#[cfg(test)]
mod tests;

pub use differentiate::{MAX_DERIVED_INSTRUCTIONS, MAX_KEPT_RESULTS, MAX_ORDER, differentiate};
pub use inline::{MAX_COUNTED, MAX_INLINE, MAX_INLINED};
pub use lost_shadows::{LostShadows, lost_shadows};
pub use pass_times::PassTimes;
pub use quad::{AtDivergence, MAX_WALKS, quads};
pub use report::{FunctionReport, ValueReport, demand as demand_report};
pub use specialise::MAX_VARIANTS;
pub use unroll::{
    LONG_OP_COST, MAX_FORCED, MAX_UNROLLED, MAX_UNROLLED_IN_ALL, MAX_UNROLLED_WITHIN,
};

use crate::calls::{self, CallGraph};
use crate::module::{FuncId, InstKind, MipSelection, Module};
use crate::quad::Quad;
use crate::types::{Lanes, Scalar};
use adumbra_ops::OpSet;
use pass_times::{PassClock, PassPhase};
use shadow_flow::FlowOptions;
use specialise::Plan;
use summary::ShadowSummaries;

/// The names of the passes, as a [`PassObserver`] gets them, in the order in which they first run.
pub const PASSES: [&str; 7] = [
    "inline",
    "fold",
    "gvn",
    "dce",
    "unroll",
    "unreached",
    "lanes",
];

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
    /// One body for each function, with the demand of all its callers, and of both arms of a
    /// branch. Counted calls are not inlined.
    pub merge_demand: bool,
    /// Whether the host reads the shadows of the shader's outputs.
    pub output_shadows: bool,
    /// Ops whose results have no shadows, whatever their operands have.
    pub dropped: OpSet,
}

/// A callback after each pass, with its name and the module.
pub type PassObserver<'w> = dyn FnMut(&'static str, &Module) + 'w;

/// Runs all passes on a verified module.
pub fn run(module: Module, options: &PassOptions) -> (Module, PassTimes) {
    run_observed(module, options, &mut |_, _| {})
}

/// The first half of [`run`], which is independent of shadows: a module for later binding of
/// constants.
pub fn prepare(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut clock = PassClock::start();
    first_half(&mut module, options, &mut |_, _| {}, &mut clock);
    (module, clock.times)
}

/// The second half of [`run`], on a prepared module.
pub fn annotate(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut clock = PassClock::start();
    second_half(&mut module, options, &mut |_, _| {}, &mut clock);
    (module, clock.times)
}

/// [`run`] with an observer, for tests that compare the module between passes.
pub fn run_observed(
    mut module: Module,
    options: &PassOptions,
    watch: &mut PassObserver,
) -> (Module, PassTimes) {
    let mut clock = PassClock::start();
    first_half(&mut module, options, watch, &mut clock);
    second_half(&mut module, options, watch, &mut clock);
    (module, clock.times)
}

/// The lineage that [`run`] finds for every variant of every function, before the intersection with
/// demand.
pub fn lineage_report(mut module: Module, options: &PassOptions) -> Vec<FunctionReport> {
    first_half(
        &mut module,
        options,
        &mut |_, _| {},
        &mut PassClock::start(),
    );
    let calls = CallGraph::new(&module);
    let (summaries, plan) = plan(&module, &calls, options, true, &mut PassClock::start());
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

/// The passes before the analysis of shadows. Lanes that the module already has, as IR text may,
/// are removed.
fn first_half(
    module: &mut Module,
    options: &PassOptions,
    watch: &mut PassObserver,
    clock: &mut PassClock,
) {
    lane_assignment::forget(module);
    if module.functions.len() > 1 {
        let calls = CallGraph::new(module);
        let capacity = match options.merge_demand {
            true => 0,
            false => MAX_INLINED,
        };
        inline::inline(module, &calls, capacity);
        watch("inline", module);
    }
    optimise(module, MAX_UNROLLED_IN_ALL, watch);
    clock.lap(PassPhase::Optimise);
}

/// Finds lanes, and folds the constants that they cause.
fn second_half(
    module: &mut Module,
    options: &PassOptions,
    watch: &mut PassObserver,
    clock: &mut PassClock,
) {
    for round in 0.. {
        let zeroed = assign_lanes(module, options, round == 0, clock);
        watch("lanes", module);
        clock.lap(PassPhase::Demand);
        if zeroed == 0 || round == MAX_ROUNDS {
            break;
        }
        lane_assignment::forget(module);
        optimise(module, 0, watch);
        clock.lap(PassPhase::Optimise);
    }
}

/// Runs fold, GVN and DCE on every function, unrolls loops within `capacity` instructions, and
/// drops uncalled functions.
fn optimise(module: &mut Module, capacity: usize, watch: &mut PassObserver) {
    let calls = CallGraph::new(module);
    optimise_functions(module, &calls, capacity, watch);
    if module.functions.len() > 1 {
        let calls = CallGraph::new(module);
        calls::drop_uncalled(module, &calls);
        watch("unreached", module);
    }
}

/// Runs fold, GVN and DCE on every function of `calls`, and unrolls loops within `capacity`
/// instructions.
fn optimise_functions(
    module: &mut Module,
    calls: &CallGraph,
    mut capacity: usize,
    watch: &mut PassObserver,
) {
    for &id in &calls.order {
        simplify(module, id, watch);
        let function = &mut module.functions[id.index()];
        if unroll::unroll(function, &module.hints, &mut capacity) {
            watch("unroll", module);
            simplify(module, id, watch);
        }
    }
}

/// Runs fold, GVN and DCE on a function.
fn simplify(module: &mut Module, id: FuncId, watch: &mut PassObserver) {
    let at = id.index();
    fold::fold(&mut module.functions[at]);
    watch("fold", module);
    gvn::gvn(&mut module.functions[at]);
    watch("gvn", module);
    dce::dce(&mut module.functions[at]);
    watch("dce", module);
}

/// Assigns lanes to every value. Returns how many `Shadow`s became 0.
fn assign_lanes(
    module: &mut Module,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> usize {
    if options.derivatives != Derivatives::Dual || !reads_shadows(module, options) {
        let zeroed = lane_assignment::clear(module);
        if module.quad.is_some() && options.output_shadows {
            quad::mark_outputs(module);
        }
        return zeroed;
    }
    let calls = CallGraph::new(module);
    let (_, plan) = plan(module, &calls, options, specialise, clock);
    lane_assignment::assign(module, plan, specialise)
}

/// The variants for the options.
fn plan<'m>(
    module: &'m Module,
    calls: &CallGraph,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> (ShadowSummaries<'m>, Plan) {
    let merge = options.merge_demand;
    let flows = FlowOptions {
        sources: options.derivatives == Derivatives::Dual,
        merge_arms: merge,
        dropped: options.dropped,
    };
    let summaries = ShadowSummaries::new(module, calls, flows);
    clock.lap(PassPhase::Lineage);
    let max_variants = if specialise && !merge {
        MAX_VARIANTS
    } else {
        0
    };
    let entry = if options.output_shadows {
        Lanes::XY
    } else {
        Lanes::NONE
    };
    let plan = specialise::specialise(&summaries, calls, max_variants, entry, clock);
    (summaries, plan)
}

/// Whether any shadow is read at all.
fn reads_shadows(module: &Module, options: &PassOptions) -> bool {
    let outputs =
        options.output_shadows && (module.entry().results.iter()).any(|r| r.ty == Scalar::F32);
    let inside = || {
        let insts = module
            .functions
            .iter()
            .flat_map(|f| &f.regions)
            .flat_map(|r| &r.insts);
        insts.into_iter().any(|i| {
            matches!(
                i.kind,
                InstKind::Shadow(_) | InstKind::Sample(_, _, MipSelection::Shadows)
            )
        })
    };
    outputs || inside()
}
