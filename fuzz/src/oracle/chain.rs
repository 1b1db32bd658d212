//! One source from compilation to results: compiled in every mode, run by every engine.

use super::Disagreement;
use super::gradients::{self, GradientComparison};
use super::modes::{self, CompileMode, CompiledModes, MODES};
use super::observation::{ComparisonExtent, ObservedOutput, ObservedRun};
use super::reference::{TextureRecorder, limits};
use super::suspended::observe_suspended;
use crate::buffers;
use crate::bundle;
use crate::feature::{Feature, Features};
use crate::generate::{GeneratedProgram, Point, globals};
use crate::mix::ProgramMix;
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Options, Sources,
    derivatives::AtDivergence,
    evaluator::{Engine, OutputView},
    gradient::BufferGradients,
    host::Faults,
};
use adumbra_ir::eval::ExecutionCounts;
use adumbra_ir::host::Limits;
use adumbra_ir::{Diagnostic, Module, Scalar};
use std::iter::repeat;
use std::sync::Arc;

/// Points that agreement is checked on, for each program.
const POINTS: u64 = 3;

/// The start of the report of a generated program that is refused.
pub const REFUSED: &str = "refused though generated:";

/// Why there is no chain to look at.
#[derive(Clone, Debug)]
pub enum ChainError {
    /// The text has errors; they are printed here.
    Refused(String),
    /// Some stage did what it must not.
    Broken(String),
}

/// A text compiled in each of the [`MODES`].
#[derive(Debug)]
pub struct EngineChain {
    /// The module before any pass.
    pub lowered: Module,
    /// The module after the passes.
    pub compiled: CompiledModes,
    /// The program, by mode.
    pub programs: Vec<Arc<adumbra::Program>>,
}

/// The layout of the globals that generated programs read.
pub fn layout() -> GlobalsLayout {
    globals()
        .into_iter()
        .try_fold(GlobalsLayout::new(), |layout, global| {
            layout.with(global.name, global.ty)
        })
        .expect("the globals have different names and allowed types")
}

/// The compiler that generated programs are compiled by. Textures have slopes; what the bits of
/// programs without are, the record says.
pub fn compiler(mode: &CompileMode) -> Compiler {
    let options = Options {
        shader: None,
        derivatives: mode.options.derivatives,
        at_divergence: AtDivergence::Refuse,
        merge_demand: mode.options.merge_demand,
        output_derivatives: mode.options.output_shadows,
        dropped_derivatives: mode.options.dropped,
    };
    Compiler::new(layout())
        .with_options(options)
        .texture_slopes(true)
}

impl EngineChain {
    /// Compiles a bundle in every mode.
    ///
    /// # Errors
    /// If the text has errors, or a stage breaks an invariant.
    pub fn new(source: &str) -> Result<EngineChain, ChainError> {
        let refused =
            |diagnostics: adumbra::Diagnostics| ChainError::Refused(diagnostics.to_string());
        let sources = bundle::sources(source).map_err(refused)?;
        let lowered = compiler(&MODES[0]).lowered(&sources).map_err(refused)?;
        EngineChain::of(lowered, |mode| compiler(mode).compile(&sources))
    }

    /// The same of what was lowered already.
    ///
    /// # Errors
    /// If a mode refuses it, or a stage breaks an invariant.
    pub fn of(
        lowered: Module,
        compile: impl Fn(&CompileMode) -> Result<Arc<adumbra::Program>, adumbra::Diagnostics>,
    ) -> Result<EngineChain, ChainError> {
        let refused =
            |diagnostics: adumbra::Diagnostics| ChainError::Refused(diagnostics.to_string());
        adumbra_ir::verify(&lowered)
            .map_err(|v| ChainError::Broken(format!("lowering: {}", v[0])))?;
        modes::round_trip(&lowered).map_err(ChainError::Broken)?;
        let compiled = CompiledModes::new(&lowered).map_err(ChainError::Broken)?;
        let mut programs = Vec::new();
        for (mode, module) in MODES.iter().zip(&compiled.ruled) {
            let program = compile(mode).map_err(refused)?;
            if program.module() != module {
                let what = format!("{}: two compilations make two modules", mode.name);
                return Err(ChainError::Broken(what));
            }
            programs.push(program);
        }
        Ok(EngineChain {
            lowered,
            compiled,
            programs,
        })
    }

    /// Holds all compilations and engines against each other at each point. Gives what the program
    /// showed and did there.
    ///
    /// # Errors
    /// The disagreement, with the number of the point.
    pub fn agree(
        &self,
        points: &[Point],
    ) -> Result<Vec<(ObservedRun, ExecutionCounts)>, (usize, String)> {
        let mut shown = Vec::new();
        for (i, point) in points.iter().enumerate() {
            let found = modes::check(&self.lowered, &self.compiled, point);
            shown.push(found.map_err(|what| (i, what))?);
        }
        for (mode, program) in MODES.iter().zip(&self.programs) {
            let run = |engine| observe_within(limits(), program, engine, points);
            let reference = run(Engine::Reference).map_err(|what| (0, what))?;
            // Making code takes longer than running it; other compilations are run by it where
            // batches are.
            let is_first = mode.name == MODES[0].name;
            let engines = || Engine::available().filter(|&e| is_first || e != Engine::Native);
            for engine in engines().filter(|&engine| engine != Engine::Reference) {
                let found = run(engine).map_err(|what| (0, what))?;
                for (i, (reference, found)) in reference.iter().zip(&found).enumerate() {
                    if let Some(difference) = reference.difference(found, ComparisonExtent::All) {
                        let what = format!("{}, reference and {engine:?}: {difference}", mode.name);
                        return Err((i, what));
                    }
                }
            }
            if reference.iter().all(|shown| shown.requests.is_empty()) {
                continue;
            }
            for engine in engines() {
                let waited = observe_suspended(limits(), program, engine, points);
                let waited = waited.map_err(|what| (0, what))?;
                for (i, (reference, waited)) in reference.iter().zip(&waited).enumerate() {
                    if let Some(difference) = reference.difference(waited, ComparisonExtent::All) {
                        let what = format!("{}, {engine:?} after waits: {difference}", mode.name);
                        return Err((i, what));
                    }
                }
            }
        }
        Ok(shown)
    }

    /// Whether the programs survive being written to bytes and read back, and then run as before.
    ///
    /// # Errors
    /// The disagreement.
    pub fn survive_bytes(&self, point: &Point) -> Result<(), String> {
        for (mode, program) in MODES.iter().zip(&self.programs) {
            let bytes = program.to_bytecode();
            let again = adumbra::Program::from_bytecode(&bytes).map_err(|d| {
                format!("{}: its own bytecode is refused: {}", mode.name, d.message)
            })?;
            if again.listing() != program.listing() {
                return Err(format!("{}: read back it is listed otherwise", mode.name));
            }
            if again.to_bytecode() != bytes {
                return Err(format!("{}: written again it has other bytes", mode.name));
            }
            let before = observe(program, Engine::Point, point)?;
            let after = observe(&again, Engine::Point, point)?;
            if let Some(difference) = before.difference(&after, ComparisonExtent::All) {
                return Err(format!(
                    "{}, before and after bytes: {difference}",
                    mode.name
                ));
            }
        }
        Ok(())
    }
}

/// The observation of a program at a point by one engine.
///
/// # Errors
/// If the engine cannot run the program.
pub fn observe(
    program: &Arc<adumbra::Program>,
    engine: Engine,
    point: &Point,
) -> Result<ObservedRun, String> {
    let points = std::slice::from_ref(point);
    let mut shown = observe_within(limits(), program, engine, points)?;
    Ok(shown.remove(0))
}

/// The observations of a program at points that one evaluator runs one after the other.
///
/// # Errors
/// If the engine cannot run the program.
pub fn observe_within(
    limits: Limits,
    program: &Arc<adumbra::Program>,
    engine: Engine,
    points: &[Point],
) -> Result<Vec<ObservedRun>, String> {
    observe_with_sums(limits, program, engine, points).map(|(shown, _)| shown)
}

/// The same, with the bits of the sums that the points added to.
///
/// # Errors
/// If the engine cannot run the program.
pub fn observe_with_sums(
    limits: Limits,
    program: &Arc<adumbra::Program>,
    engine: Engine,
    points: &[Point],
) -> Result<(Vec<ObservedRun>, Vec<u64>), String> {
    let instance = buffers::instance(program);
    let mut evaluator =
        Evaluator::with(&instance, engine, limits).map_err(|error| error.to_string())?;
    let shown = points.iter().map(|point| {
        let mut textures = TextureRecorder::default();
        evaluator.evaluate(&point_globals(program, point), &mut textures);
        shown(&evaluator, &textures)
    });
    let shown = shown.collect();
    Ok((shown, sum_bits(program, &evaluator.take_gradients())))
}

/// The bits of all sums of a program. Any NaN has those of any NaN.
pub(super) fn sum_bits(program: &adumbra::Program, sums: &BufferGradients) -> Vec<u64> {
    let known = program
        .buffers()
        .filter_map(|buffer| sums.of(&buffer.name).ok());
    let canonical = |sum: f64| if sum.is_nan() { f64::NAN } else { sum };
    known
        .flatten()
        .map(|sum| canonical(sum).to_bits())
        .collect()
}

/// The globals of a point; those that it lacks are zero.
pub(crate) fn point_globals(program: &adumbra::Program, point: &Point) -> Globals {
    let mut globals = Globals::new(program.globals());
    let words = point.iter().flat_map(|at| [&at.value, &at.ddx, &at.ddy]);
    for (word, &given) in globals.words_mut().iter_mut().zip(words.flatten()) {
        *word = given;
    }
    globals
}

/// The observation of an evaluator after an evaluation.
pub(crate) fn shown(evaluator: &Evaluator, textures: &TextureRecorder) -> ObservedRun {
    shown_words(evaluator.outputs(), textures, evaluator.faults())
}

/// The words of outputs, requests and faults together.
pub(super) fn shown_words<'a>(
    views: impl Iterator<Item = OutputView<'a>>,
    textures: &TextureRecorder,
    faults: &Faults,
) -> ObservedRun {
    let (mut outputs, mut closures) = (Vec::new(), Vec::new());
    for output in views {
        if let Some(closure) = output.closure() {
            closures.push(closure.json().unwrap_or_else(|e| e.to_string()));
        }
        // Zeros where they are not computed.
        let dual = output.dual().ok().into_iter();
        let shadows = dual.flat_map(|dual| dual.ddx.words().zip(dual.ddy.words()));
        let mut words = output.value().words().zip(shadows.chain(repeat((0, 0))));
        output.ty().for_each_scalar(&mut |ty| {
            let (value, (x, y)) = words.next().expect("three words for each scalar");
            outputs.push(ObservedOutput {
                ty,
                value: if ty == Scalar::Closure { 0 } else { value },
                shadows: [x, y],
            });
        });
    }
    ObservedRun::new(outputs, textures, faults, closures)
}

/// What a program did at a point.
pub(super) fn features(observed: &ObservedRun, tally: &ExecutionCounts) -> Features {
    let mut features = Features::default();
    let is_nonzero = |bits: &u32| f32::from_bits(*bits) != 0.0;
    let mut shadows = observed.outputs.iter().flat_map(|o| o.shadows);
    let mut partials = observed.requests.iter().flat_map(|(r, _)| &r[3..]);
    let stops = observed.faults.iter().any(|f| f.kind.stops());
    features.insert_if(Feature::Loop, tally.iterations > 0);
    features.insert_if(Feature::Call, tally.calls > 0);
    features.insert_if(Feature::Recursion, tally.recursions > 0);
    features.insert_if(Feature::Inout, tally.writes > 0);
    features.insert_if(Feature::Array, tally.accesses > 0);
    features.insert_if(Feature::Sample, partials.any(is_nonzero));
    let levels = observed
        .requests
        .iter()
        .filter(|(_, level)| level.is_some());
    features.insert_if(Feature::Level, levels.count() > 0);
    features.insert_if(Feature::Message, !observed.messages.is_empty());
    features.insert_if(Feature::Shadow, tally.reads > 0);
    features.insert_if(
        Feature::Closure,
        observed.closures.iter().any(|c| c != "null"),
    );
    features.insert_if(Feature::Derivative, shadows.any(|bits| is_nonzero(&bits)));
    features.insert_if(Feature::Fault, !stops && !observed.faults.is_empty());
    features.insert_if(Feature::Stop, stops);
    features
}

fn chain(program: &GeneratedProgram) -> Result<EngineChain, Disagreement> {
    EngineChain::new(&program.source).map_err(|no| {
        let what = match no {
            ChainError::Refused(diagnostics) => format!("{REFUSED}\n{diagnostics}"),
            ChainError::Broken(what) => what,
        };
        Disagreement::new(program, None, what)
    })
}

/// Checks that a generated program is accepted, and that all compilations and engines agree on it
/// at some points.
///
/// # Errors
/// The disagreement.
pub fn check_agreement(
    program: &GeneratedProgram,
    mix: &mut ProgramMix,
) -> Result<(), Disagreement> {
    let chain = chain(program)?;
    let points: Vec<Point> = (0..POINTS).map(|number| program.point(number)).collect();
    let report = |(number, what)| Disagreement::new(program, Some(number as u64), what);
    let shown = chain.agree(&points).map_err(report)?;
    let survived = chain.survive_bytes(&points[0]);
    survived.map_err(|what| report((0, what)))?;
    let mut all = program.written(&chain.lowered);
    let is_ruled = modes::has_ruled_shadows(&chain.compiled.ruled[0]);
    all.insert_if(Feature::RuledShadow, is_ruled);
    let (_, first) = &shown[0];
    for (shown, tally) in &shown {
        mix.point(shown.floats());
        all.extend(features(shown, tally));
        all.insert_if(Feature::Divergence, tally.iterations != first.iterations);
    }
    mix.program(&chain.lowered, all);
    Ok(())
}

/// Checks that a generated program's derivatives are those of its values, at one point.
///
/// # Errors
/// The disagreement.
pub fn check_gradients(
    program: &GeneratedProgram,
    mix: &mut ProgramMix,
    compared: &mut GradientComparison,
) -> Result<(), Disagreement> {
    let chain = chain(program)?;
    let points = [program.point(0)];
    let report = |what| Disagreement::new(program, Some(0), what);
    let shown = chain.agree(&points).map_err(|(_, what)| report(what))?;
    let is_ruled = modes::has_ruled_shadows(&chain.compiled.ruled[0]);
    for (shown, tally) in &shown {
        let mut all = program.written(&chain.lowered);
        all.insert_if(Feature::RuledShadow, is_ruled);
        all.extend(features(shown, tally));
        mix.point(shown.floats());
        mix.program(&chain.lowered, all);
    }
    if is_ruled {
        let modules = [&chain.compiled.ruled[0], &chain.compiled.unruled()[0]];
        gradients::check_rules(modules, &points[0], compared).map_err(report)?;
    }
    gradients::check(&chain.compiled.ruled[0], &points[0], compared).map_err(report)
}

/// Whether a diagnostic's spans lie within their sources.
pub(super) fn spans_are_valid(diagnostic: &Diagnostic, sources: &Sources) -> bool {
    let labels = diagnostic.labels.iter().map(|label| label.span);
    labels.chain([diagnostic.span]).all(|span| {
        sources.get(span.file).is_some_and(|file| {
            file.text()
                .get(span.start as usize..span.end as usize)
                .is_some()
        })
    })
}
