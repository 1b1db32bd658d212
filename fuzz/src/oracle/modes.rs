//! One program compiled in several ways: specialised, with merged demand, without demand, without
//! derivatives.
//!
//! Every pass must leave a module that verifies, every result must survive being printed and
//! parsed. Values must be those of the program before any pass, to the bit; shadows too while all
//! numbers are finite (terms that a compilation leaves out are 0 only then).
//!
//! Shadows by rules are those of bodies within rounding alone. So programs with rules are compiled
//! without them, too ([`CompiledModes`]): these compilations are held against the program before
//! any pass, and those with rules have their values, and are the same where no rule is in demand.

use super::observation::{ComparisonExtent, ObservedRun};
use super::reference::{TextureRecorder, limits, place};
use crate::generate::Point;
use adumbra_ir::eval::{self, EvalOptions, ExecutionCounts, ShadowMode};
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::{CustomDerivatives, Function, InstKind};
use adumbra_ir::passes::{self, AtDivergence, Derivatives, PassOptions};
use adumbra_ir::{FileId, Module, text, verify};
use adumbra_ops::OpSet;

/// A way to compile, and how far what it makes must agree with the program before any pass.
#[derive(Clone, Copy, Debug)]
pub struct CompileMode {
    /// As reports call it.
    pub name: &'static str,
    /// The options of the passes.
    pub options: PassOptions,
    /// The extent that must agree where all numbers are finite.
    extent: ComparisonExtent,
}

/// Every way to compile. The first is the default, with the outputs' shadows.
pub const MODES: [CompileMode; 4] = [
    mode(
        "specialised",
        Derivatives::Dual,
        false,
        true,
        ComparisonExtent::All,
    ),
    mode(
        "merged",
        Derivatives::Dual,
        true,
        true,
        ComparisonExtent::All,
    ),
    mode(
        "undemanded",
        Derivatives::Dual,
        false,
        false,
        ComparisonExtent::Requests,
    ),
    mode(
        "off",
        Derivatives::Off,
        false,
        true,
        ComparisonExtent::Values,
    ),
];

const fn mode(
    name: &'static str,
    derivatives: Derivatives,
    merge_demand: bool,
    output_shadows: bool,
    extent: ComparisonExtent,
) -> CompileMode {
    CompileMode {
        name,
        options: PassOptions {
            derivatives,
            at_divergence: AtDivergence::Refuse,
            merge_demand,
            output_shadows,
            dropped: OpSet::NONE,
        },
        extent,
    }
}

/// Runs the passes; the verifier looks at the module after each of them.
///
/// # Errors
/// What the verifier says, with the pass and the module; or that the result does not survive being
/// printed and parsed.
pub fn compile(lowered: &Module, mode: &CompileMode) -> Result<Module, String> {
    let mut fault = None;
    let (module, _) = passes::run_observed(lowered.clone(), &mode.options, &mut |pass, module| {
        if let (None, Err(violations)) = (&fault, verify(module)) {
            fault = Some(format!(
                "{}: after {pass}: {}\n{}",
                mode.name,
                violations[0],
                text::print(module, text::SpanComments::Hidden)
            ));
        }
    });
    match fault {
        Some(fault) => Err(fault),
        None => round_trip(&module).map(|()| module),
    }
}

/// Whether a module survives being printed and parsed.
///
/// # Errors
/// Where it does not.
pub fn round_trip(module: &Module) -> Result<(), String> {
    let printed = text::print(module, text::SpanComments::Shown);
    match text::parse(&printed, FileId::MAIN) {
        Ok(again) if again == *module => Ok(()),
        Ok(_) => Err(format!(
            "printed and parsed it is another module:\n{printed}"
        )),
        Err(diagnostic) => Err(format!(
            "printed it cannot be parsed: {} at {:?}\n{printed}",
            diagnostic.message, diagnostic.span
        )),
    }
}

/// The observation of a module at a point by the reference evaluator, and its features.
pub(super) fn run(
    module: &Module,
    point: &Point,
    shadows: ShadowMode,
) -> (ObservedRun, ExecutionCounts) {
    let options = EvalOptions {
        limits: limits(),
        shadows,
        path: false,
        origins: false,
    };
    let mut textures = TextureRecorder::default();
    let outcome = eval::evaluate(module, &place(module, point), &options, &mut textures);
    let observed = ObservedRun::of_outcome(module, &outcome, &textures);
    (observed, outcome.tally)
}

/// A module compiled in each of the [`MODES`].
#[derive(Clone, Debug)]
pub struct CompiledModes {
    /// With rules, if it has any.
    pub ruled: Vec<Module>,
    /// Without; nothing if it is the same.
    unruled: Option<Vec<Module>>,
}

impl CompiledModes {
    /// Compiles a module. The verifier looks at it after each pass.
    ///
    /// # Errors
    /// What [`compile`] says, or that rules change a module that does not demand any.
    pub fn new(lowered: &Module) -> Result<CompiledModes, String> {
        let all = |module: &Module| -> Result<Vec<Module>, String> {
            MODES.iter().map(|mode| compile(module, mode)).collect()
        };
        let compiled = CompiledModes {
            ruled: all(lowered)?,
            unruled: without_rules(lowered)
                .map(|plain| all(&plain))
                .transpose()?,
        };
        for ((mode, ruled), plain) in MODES.iter().zip(&compiled.ruled).zip(compiled.unruled()) {
            if !has_ruled_shadows(ruled) && ruled != plain {
                return Err(format!("{}: rules in no demand change it", mode.name));
            }
        }
        Ok(compiled)
    }

    /// The modules without rules.
    pub fn unruled(&self) -> &[Module] {
        self.unruled.as_ref().unwrap_or(&self.ruled)
    }
}

/// A module whose functions have no derivatives of their own, if one has and none is derived.
fn without_rules(lowered: &Module) -> Option<Module> {
    let functions = || lowered.functions.iter();
    let is_plain = |f: &Function| f.custom == CustomDerivatives::default();
    if functions().all(is_plain) || functions().any(|f| f.recipe.is_some()) {
        return None;
    }
    let mut module = lowered.clone();
    for function in &mut module.functions {
        function.custom = CustomDerivatives::default();
    }
    Some(module)
}

/// Whether shadows of a compiled module are made by rules.
pub fn has_ruled_shadows(module: &Module) -> bool {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let mut insts = regions.flat_map(|region| &region.insts);
    insts.any(|inst| inst.kind == InstKind::Attach)
}

/// Holds compilations against the program before any pass. Gives what the program showed and did.
///
/// # Errors
/// The disagreement.
pub fn check(
    lowered: &Module,
    compiled: &CompiledModes,
    point: &Point,
) -> Result<(ObservedRun, ExecutionCounts), String> {
    let (plain, tally) = run(lowered, point, ShadowMode::Full);
    let out_of_steps = |o: &ObservedRun| o.faults.iter().any(|f| f.kind == FaultKind::StepBudget);
    let is_finite = tally.nonfinite == 0;
    let modules = compiled.unruled().iter().zip(&compiled.ruled);
    for (mode, (module, ruled)) in MODES.iter().zip(modules) {
        // What was read of a shadow is a value.
        let reads = tally.reads > 0;
        if reads && (!is_finite || mode.options.derivatives == Derivatives::Off) {
            continue;
        }
        let (found, _) = run(module, point, ShadowMode::Annotated);
        // Inlined functions cost no steps, so one may stop where the other goes on.
        if out_of_steps(&plain) || out_of_steps(&found) {
            continue;
        }
        let extent = if is_finite {
            mode.extent
        } else {
            ComparisonExtent::Values
        };
        if let Some(difference) = plain.difference_by_passes(&found, extent) {
            return Err(format!("before any pass, and {}: {difference}", mode.name));
        }
        if reads || !has_ruled_shadows(ruled) {
            continue;
        }
        let (by_rule, _) = run(ruled, point, ShadowMode::Annotated);
        if out_of_steps(&by_rule) {
            continue;
        }
        // A rule may have faults of its own.
        let [found, by_rule] = [found, by_rule].map(|shown| ObservedRun {
            faults: Vec::new(),
            more_faults: 0,
            ..shown
        });
        if let Some(difference) = found.difference_by_passes(&by_rule, ComparisonExtent::Values) {
            return Err(format!(
                "{}, without rules and with: {difference}",
                mode.name
            ));
        }
    }
    Ok((plain, tally))
}
