//! From lowered IR to IR with lanes.
//!
//! Each pass is one file whose head says what it may assume and what it guarantees. In order:
//!
//! 1. `inline` straight functions; `fold`, `dedupe`, `prune` every function, and once more where `unroll` wrote out loops whose turns are known; drop functions that are not
//!    called.
//! 2. `flow`, `summary`: the ways of shadows through functions and calls. `specialise` finds the variants of each function and, with `lineage` and
//!    `demand`, the lanes of their values.
//! 3. `lanes` writes them down. Where a `Shadow` became 0 by that, what it decided may be constant now, so fold, dedupe and prune run once more and the lanes
//!    are found anew, without further variants: no lane outlives its reader.
//!
//! Before them all, `quad` turns derivatives into differences between neighbouring points, where that is asked for.
//!
//! Derivatives that are off are globals without shadows; nothing else differs. So a shader that demands nothing becomes the same IR either way.
//! Everything is linear in the program, times a named constant at most.

mod dce;
mod demand;
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

pub use inline::{MAX_COUNTED, MAX_INLINE, MAX_INLINED};
pub use lost_shadows::{LostShadows, lost_shadows};
pub use pass_times::PassTimes;
pub use quad::{AtDivergence, MAX_WALKS, quads};
pub use report::{FunctionReport, ValueReport, demand as demand_report};
pub use specialise::MAX_VARIANTS;
pub use unroll::{LONG_OP_COST, MAX_UNROLLED, MAX_UNROLLED_IN_ALL, MAX_UNROLLED_WITHIN};

use crate::calls::{self, CallGraph};
use crate::module::{FuncId, InstKind, MipSelection, Module};
use crate::quad::Quad;
use crate::types::{Lanes, Scalar};
use pass_times::{PassClock, PassPhase};
use specialise::Plan;
use summary::ShadowSummaries;

/// The names of the passes, as a [`PassObserver`] is told them, in the order in which they first run.
pub const PASSES: [&str; 7] = [
    "inline",
    "fold",
    "dedupe",
    "prune",
    "unroll",
    "unreached",
    "lanes",
];

/// How often lanes are found anew because shadows turned out to be zero. After that such zeros stay constants that nothing was folded with.
pub const MAX_ROUNDS: usize = 4;

/// Where derivatives come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// From shadows beside the values.
    #[default]
    Dual,
    /// From the neighbours in a quad of 2×2 points: their differences. [`quads`] makes a module one of that kind.
    Quad(Quad),
    /// From nowhere: all are zero.
    Off,
}

/// What the passes are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassOptions {
    /// Where derivatives come from.
    pub derivatives: Derivatives,
    /// One body for each function, with the demand of all its callers, and of both arms of a branch. Functions whose calls count are not inlined.
    pub merge_demand: bool,
    /// Whether the host reads the shadows of the shader's outputs.
    pub output_shadows: bool,
}

/// Told of each pass by its name, and of the module as the pass left it.
pub type PassObserver<'w> = dyn FnMut(&'static str, &Module) + 'w;

/// Runs all passes on a verified module.
pub fn run(module: Module, options: &PassOptions) -> (Module, PassTimes) {
    run_observed(module, options, &mut |_, _| {})
}

/// The first half of [`run`], which knows nothing of shadows: a module to keep, for other constants to be bound later.
pub fn prepare(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut clock = PassClock::start();
    first_half(&mut module, options, &mut |_, _| {}, &mut clock);
    (module, clock.times)
}

/// The second half of [`run`], on a module that is prepared.
pub fn annotate(mut module: Module, options: &PassOptions) -> (Module, PassTimes) {
    let mut clock = PassClock::start();
    second_half(&mut module, options, &mut |_, _| {}, &mut clock);
    (module, clock.times)
}

/// As [`run`], for tests that look at the module between passes.
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

/// The lineage that [`run`] finds for every variant of every function, before it takes what demand leaves of it.
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

/// What happens before anything is known of shadows. Lanes that the module has, as a text may, are found anew.
fn first_half(
    module: &mut Module,
    options: &PassOptions,
    watch: &mut PassObserver,
    clock: &mut PassClock,
) {
    lane_assignment::forget(module);
    if module.functions.len() > 1 {
        let calls = CallGraph::new(module);
        let room = match options.merge_demand {
            true => 0,
            false => MAX_INLINED,
        };
        inline::inline(module, &calls, room);
        watch("inline", module);
    }
    optimise(module, MAX_UNROLLED_IN_ALL, watch);
    clock.lap(PassPhase::Optimise);
}

/// Lanes, and what becomes constant by them.
fn second_half(
    module: &mut Module,
    options: &PassOptions,
    watch: &mut PassObserver,
    clock: &mut PassClock,
) {
    for round in 0.. {
        let zeroed = lay_out(module, options, round == 0, clock);
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

/// Folds, dedupes and prunes every function, with loops written out while there is room for so many instructions, and drops those that are not called.
fn optimise(module: &mut Module, mut room: usize, watch: &mut PassObserver) {
    let calls = CallGraph::new(module);
    for &id in &calls.order {
        tidy(module, id, watch);
        if unroll::unroll(&mut module.functions[id.index()], &mut room) {
            watch("unroll", module);
            tidy(module, id, watch);
        }
    }
    if module.functions.len() > 1 {
        let calls = CallGraph::new(module);
        calls::drop_uncalled(module, &calls);
        watch("unreached", module);
    }
}

/// Folds, dedupes and prunes a function.
fn tidy(module: &mut Module, id: FuncId, watch: &mut PassObserver) {
    let at = id.index();
    fold::fold(&mut module.functions[at]);
    watch("fold", module);
    gvn::gvn(&mut module.functions[at]);
    watch("dedupe", module);
    dce::dce(&mut module.functions[at]);
    watch("prune", module);
}

/// Gives every value its lanes. Returns how many `Shadow`s became 0.
fn lay_out(
    module: &mut Module,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> usize {
    if options.derivatives != Derivatives::Dual || !is_asked(module, options) {
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

/// The variants that the options ask for.
fn plan<'m>(
    module: &'m Module,
    calls: &CallGraph,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> (ShadowSummaries<'m>, Plan) {
    let merge = options.merge_demand;
    let sources = options.derivatives == Derivatives::Dual;
    let summaries = ShadowSummaries::new(module, calls, sources, merge);
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
fn is_asked(module: &Module, options: &PassOptions) -> bool {
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
