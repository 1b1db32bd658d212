//! The pipeline: the table of passes, and the order of its slots.
//!
//! Guarantees: a pass runs where its slot does, in the order of the table, if it applies. What it
//! establishes is checked after it in debug builds, and the verifier looks at the module after each
//! slot of modules, and after all slots of functions. The names that observers get, the phases of
//! [`PassTimes`](super::PassTimes) and the list in the docs are those of the table.

use super::pass_times::{PassClock, PassPhase};
use super::{
    KeptRecord, MAX_FORCED, MAX_INLINED, MAX_ROUNDS, MAX_UNROLL_ROUNDS, MAX_UNROLLED_IN_ALL,
    PassObserver, PassOptions, dce, differentiate, fold, gvn, inline, lane_assignment, quad,
    scalar_replacement, shadow_rules, straighten, surfaces, unroll,
};
use crate::calls::{self, CallGraph};
use crate::diagnostic::Diagnostic;
use crate::module::{FuncId, Function, Module};

/// A place in the pipeline. They first run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassSlot {
    /// The module as lowering leaves it: later passes do not know all of it. Only these passes
    /// refuse modules.
    Expansion,
    /// The module, whose functions all have bodies.
    Rules,
    /// The module.
    Inlining,
    /// Each function, callees first; again where a later slot made work.
    Cleanup,
    /// Each function, after its cleanup, again while that makes work.
    Unrolling,
    /// The module, after all its functions.
    Pruning,
    /// The module. Cleanup follows while that makes constants.
    Lanes,
}

impl PassSlot {
    /// Whether its passes run on one function each time.
    const fn is_of_functions(self) -> bool {
        matches!(self, PassSlot::Cleanup | PassSlot::Unrolling)
    }

    /// The phase whose time it takes, but for phases that its passes separate.
    const fn phase(self) -> PassPhase {
        match self {
            PassSlot::Rules | PassSlot::Lanes => PassPhase::Demand,
            _ => PassPhase::Optimise,
        }
    }
}

/// An entry of the pipeline.
#[derive(Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Its slot.
    pub slot: PassSlot,
    /// What holds after it.
    pub establishes: &'static str,
    /// Whether it has anything to do.
    applies: fn(&Module, &PassOptions) -> bool,
    run: fn(&mut Module, &mut PassRunner<'_, '_>) -> PassEffect,
    /// Whether what it establishes holds, of the function that it ran on if it is one of functions.
    holds: fn(&Module, FuncId) -> bool,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassEffect {
    /// Nothing.
    None,
    /// What it is for.
    Done,
    /// The same, and earlier slots have work again.
    Again,
}

impl PassEffect {
    const fn again(again: bool, otherwise: PassEffect) -> PassEffect {
        if again { PassEffect::Again } else { otherwise }
    }
}

const ALWAYS: fn(&Module, &PassOptions) -> bool = |_, _| true;
const HAS_CALLEES: fn(&Module, &PassOptions) -> bool = |module, _| module.functions.len() > 1;
/// What it establishes is for the verifier, or tests, alone to check.
const UNCHECKED: fn(&Module, FuncId) -> bool = |_, _| true;

/// All passes.
pub const PIPELINE: &[Pass] = &[
    Pass {
        name: "surfaces",
        slot: PassSlot::Expansion,
        establishes: "nothing marks where a ray meets a surface",
        applies: |module, _| !surfaces::is_done(module),
        run: |module, _| {
            surfaces::remove(module);
            PassEffect::Done
        },
        holds: |module, _| surfaces::is_done(module),
    },
    Pass {
        name: "straighten",
        slot: PassSlot::Expansion,
        establishes: "loops with `[ForceUnroll]` are unrolled where derivatives are taken",
        applies: |module, _| module.functions.iter().any(|f| f.recipe.is_some()),
        run: |module, runner| {
            let refused = straighten::straighten(module, runner).err();
            runner.refuse(refused)
        },
        holds: UNCHECKED,
    },
    Pass {
        name: "differentiate",
        slot: PassSlot::Expansion,
        establishes: "derivatives of functions are functions as any other",
        applies: |module, _| !differentiate::is_done(module),
        run: |module, runner| match differentiate::differentiate(module) {
            Ok(kept) => {
                runner.kept = kept;
                PassEffect::Done
            }
            Err(refused) => runner.refuse([refused]),
        },
        holds: |module, _| differentiate::is_done(module),
    },
    Pass {
        name: "quad",
        slot: PassSlot::Expansion,
        establishes: "with `--derivatives quad-*` no shadow is read, only differences",
        applies: |module, options| options.quad().is_some_and(|quad| module.quad != Some(quad)),
        run: |module, runner| {
            let rule = runner.options.quad().expect("it applies");
            let at_divergence = runner.options.at_divergence;
            let refused = quad::replace_shadows(module, rule, at_divergence).err();
            runner.refuse(refused.into_iter().flatten())
        },
        holds: |module, _| !lane_assignment::reads_shadows(module),
    },
    Pass {
        name: "shadow_rules",
        slot: PassSlot::Rules,
        establishes: "no function has a rule; calls whose shadows are demanded have them by it",
        applies: |module, _| !shadow_rules::is_done(module),
        run: |module, runner| {
            shadow_rules::shadow_rules(module, runner.options);
            PassEffect::Done
        },
        holds: |module, _| shadow_rules::is_done(module),
    },
    Pass {
        name: "inline",
        slot: PassSlot::Inlining,
        establishes: "no small, straight function of the library is called",
        applies: HAS_CALLEES,
        run: |module, runner| {
            let calls = CallGraph::new(module);
            inline::inline(module, &calls, runner.inlined());
            PassEffect::Done
        },
        holds: |module, _| inline::is_done(module),
    },
    Pass {
        name: "fold",
        slot: PassSlot::Cleanup,
        establishes: "what has the same result always is a constant",
        applies: ALWAYS,
        run: |module, runner| {
            fold::fold(runner.function(module));
            PassEffect::Done
        },
        holds: UNCHECKED,
    },
    Pass {
        name: "gvn",
        slot: PassSlot::Cleanup,
        establishes: "nothing pure is computed, and no texture sampled, where an equal value is known",
        applies: ALWAYS,
        run: |module, runner| {
            gvn::gvn(runner.function(module));
            PassEffect::Done
        },
        holds: UNCHECKED,
    },
    Pass {
        name: "dce",
        slot: PassSlot::Cleanup,
        establishes: "each instruction has a use or an effect; numbers have no gaps",
        applies: ALWAYS,
        run: |module, runner| {
            dce::dce(runner.function(module));
            PassEffect::Done
        },
        holds: |module, id| dce::is_numbered(module.function(id)),
    },
    Pass {
        name: "unroll",
        slot: PassSlot::Unrolling,
        establishes: "short loops that constants end are straight",
        applies: ALWAYS,
        run: |module, runner| {
            let function = &mut module.functions[runner.function.index()];
            let (forced, capacity) = (&mut runner.forced_capacity, &mut runner.capacity);
            let any = unroll::unroll_where_forced(function, &module.hints, forced)
                | unroll::unroll(function, &module.hints, capacity);
            PassEffect::again(any, PassEffect::None)
        },
        holds: UNCHECKED,
    },
    Pass {
        name: "scalar_replacement",
        slot: PassSlot::Unrolling,
        establishes: "arrays of which each index is a constant are values",
        applies: ALWAYS,
        run: |module, runner| {
            let any = scalar_replacement::replace(runner.function(module));
            PassEffect::again(any, PassEffect::None)
        },
        holds: UNCHECKED,
    },
    Pass {
        name: "unreached",
        slot: PassSlot::Pruning,
        establishes: "each function is called from the entry",
        applies: HAS_CALLEES,
        run: |module, _| {
            let calls = CallGraph::new(module);
            calls::drop_uncalled(module, &calls);
            PassEffect::Done
        },
        holds: |module, _| CallGraph::new(module).order.len() == module.functions.len(),
    },
    Pass {
        name: "lanes",
        slot: PassSlot::Lanes,
        establishes: "lanes are lineage ∩ demand, by variants of functions",
        applies: ALWAYS,
        run: |module, runner| {
            let (options, specialise) = (runner.options, runner.specialise);
            let zeroed = lane_assignment::lanes(module, options, specialise, &mut runner.clock);
            PassEffect::again(zeroed > 0, PassEffect::Done)
        },
        holds: UNCHECKED,
    },
];

/// The names of the passes, as a [`PassObserver`] gets them, in the order in which they first run.
pub const PASSES: [&str; PIPELINE.len()] = {
    let mut names = [""; PIPELINE.len()];
    let mut at = 0;
    while at < PIPELINE.len() {
        names[at] = PIPELINE[at].name;
        at += 1;
    }
    names
};

/// Runs the pipeline on a module.
pub(super) struct PassRunner<'a, 'w> {
    options: &'a PassOptions,
    watch: &'a mut PassObserver<'w>,
    pub(super) clock: PassClock,
    /// The function that slots of functions run on.
    function: FuncId,
    /// The number of instructions that unrolling may still add.
    capacity: usize,
    /// The number that it may add where it is asked for.
    forced_capacity: usize,
    /// Whether functions get variants.
    specialise: bool,
    /// What reverse mode keeps on tapes.
    kept: Vec<KeptRecord>,
    /// Why a pass refused the module.
    refused: Vec<Diagnostic>,
}

impl<'a, 'w> PassRunner<'a, 'w> {
    pub(super) fn new(options: &'a PassOptions, watch: &'a mut PassObserver<'w>) -> Self {
        PassRunner {
            options,
            watch,
            clock: PassClock::start(),
            function: FuncId::default(),
            capacity: MAX_UNROLLED_IN_ALL,
            forced_capacity: MAX_FORCED,
            specialise: true,
            kept: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The number of instructions that a module may get by inlining.
    pub(super) fn inlined(&self) -> usize {
        match self.options.merge_demand {
            true => 0,
            false => MAX_INLINED,
        }
    }

    /// The passes of the first slot, up to one that refuses the module. Returns what reverse mode
    /// keeps on tapes.
    pub(super) fn expand(
        mut self,
        module: &mut Module,
    ) -> Result<Vec<KeptRecord>, Vec<Diagnostic>> {
        self.slot(PassSlot::Expansion, module);
        match self.refused.is_empty() {
            true => Ok(self.kept),
            false => Err(self.refused),
        }
    }

    /// The passes before the analysis of shadows. Lanes that the module already has, as IR text
    /// may, are removed.
    pub(super) fn prepare(&mut self, module: &mut Module) {
        lane_assignment::forget(module);
        self.slot(PassSlot::Rules, module);
        self.slot(PassSlot::Inlining, module);
        self.optimise(module);
    }

    /// Inlines and cleans up as [`prepare`](PassRunner::prepare) does, and keeps functions that
    /// nothing calls.
    pub(super) fn clean_up_all(&mut self, module: &mut Module) {
        self.slot(PassSlot::Inlining, module);
        let calls = CallGraph::new(module);
        self.functions(module, &calls.order);
    }

    /// Finds lanes, and folds the constants that they cause. Functions get variants once, and no
    /// loop is unrolled any more.
    pub(super) fn annotate(&mut self, module: &mut Module) {
        (self.capacity, self.forced_capacity) = (0, 0);
        for round in 0..=MAX_ROUNDS {
            self.specialise = round == 0;
            if !self.slot(PassSlot::Lanes, module) || round == MAX_ROUNDS {
                break;
            }
            lane_assignment::forget(module);
            self.optimise(module);
        }
    }

    fn optimise(&mut self, module: &mut Module) {
        let calls = CallGraph::new(module);
        self.functions(module, &calls.order);
        self.slot(PassSlot::Pruning, module);
    }

    /// The slots of functions, on these.
    pub(super) fn functions(&mut self, module: &mut Module, order: &[FuncId]) {
        for &id in order {
            self.cleanup(module, id);
            for _ in 0..MAX_UNROLL_ROUNDS {
                if !self.slot(PassSlot::Unrolling, module) {
                    break;
                }
                self.cleanup(module, id);
            }
        }
        verify(module, "cleanup");
    }

    /// Cleans up a function.
    pub(super) fn cleanup(&mut self, module: &mut Module, id: FuncId) {
        self.function = id;
        self.slot(PassSlot::Cleanup, module);
    }

    /// Runs the passes of a slot. Returns whether earlier slots have work again.
    fn slot(&mut self, slot: PassSlot, module: &mut Module) -> bool {
        let mut again = false;
        for pass in PIPELINE.iter().filter(|pass| pass.slot == slot) {
            if !self.refused.is_empty() || !(pass.applies)(module, self.options) {
                continue;
            }
            let effect = (pass.run)(module, self);
            if !self.refused.is_empty() || effect == PassEffect::None {
                continue;
            }
            again |= effect == PassEffect::Again;
            debug_assert!(
                (pass.holds)(module, self.function),
                "after {}: {}",
                pass.name,
                pass.establishes
            );
            if !slot.is_of_functions() {
                verify(module, pass.name);
            }
            (self.watch)(pass.name, module);
        }
        self.clock.lap(slot.phase());
        again
    }

    fn function<'m>(&self, module: &'m mut Module) -> &'m mut Function {
        &mut module.functions[self.function.index()]
    }

    fn refuse(&mut self, refused: impl IntoIterator<Item = Diagnostic>) -> PassEffect {
        self.refused.extend(refused);
        PassEffect::Done
    }
}

/// Checks a module in debug builds.
fn verify(module: &Module, pass: &str) {
    if cfg!(debug_assertions)
        && let Err(violations) = crate::verify(module)
    {
        panic!("after {pass}: {violations:?}");
    }
}
