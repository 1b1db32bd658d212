//! Long runs: every oracle on ever new seeds until the time is over or something does not agree.

use crate::choices::bytes_of_seed;
use crate::coverage::InputCoverage;
use crate::feature::ProgramKind;
use crate::generate::derived::DerivedKind;
use crate::generate::{GeneratedProgram, Profile};
use crate::mix::ProgramMix;
use crate::oracle::Disagreement;
use crate::oracle::batch::{TierChoice, check_batch};
use crate::oracle::chain::{REFUSED, check_agreement, check_gradients};
use crate::oracle::derived::{
    self, DerivedCounts, engines::check_engines, gradient::check_gradient, second::check_second,
    shader::check_shader, shadow::check_shadow, untaken::check_untaken,
};
use crate::oracle::edges::{EdgeCounts, check_edges};
use crate::oracle::gradients::GradientComparison;
use crate::oracle::quads::{QuadMix, check_quads};
use crate::parallel::check_seeds;
use crate::strategy::shrink_failure;
use crate::targets::TARGETS;
use adumbra::batch::SimdLevel;
use adumbra::evaluator::Engine;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Tries that shrinking a failure may take.
const SHRINK_TRIES: usize = 5_000;

/// The report of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignReport {
    /// The time that it took.
    pub time: Duration,
    /// The mix of programs of all kinds, on which engines and compilations were compared.
    pub any: ProgramMix,
    /// The mix of programs whose derivatives were compared.
    pub gradients: ProgramMix,
    /// The part of their derivatives that was compared.
    pub compared: GradientComparison,
    /// By target, what its inputs came to.
    pub targets: [InputCoverage; TARGETS.len()],
}

impl Default for CampaignReport {
    fn default() -> CampaignReport {
        CampaignReport {
            time: Duration::ZERO,
            any: ProgramMix::of(ProgramKind::Any),
            gradients: ProgramMix::of(ProgramKind::Gradient),
            compared: GradientComparison::default(),
            targets: std::array::from_fn(|_| InputCoverage::with_deadline()),
        }
    }
}

impl CampaignReport {
    /// Why the campaign says too little, if it does.
    pub fn missing_coverage(&self) -> Option<String> {
        let any = self.any.missing_coverage();
        any.or_else(|| self.gradients.missing_coverage())
            .or_else(|| self.compared.hollow())
    }
}

impl fmt::Display for CampaignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs = self.any.programs + self.gradients.programs;
        let seconds = self.time.as_secs_f64();
        writeln!(
            f,
            "{programs} programs and {} inputs of targets in {seconds:.1} s",
            self.targets.iter().map(|seen| seen.inputs).sum::<usize>()
        )?;
        writeln!(f, "of all kinds: {}", self.any)?;
        writeln!(f, "to be differentiated: {}", self.gradients)?;
        write!(f, "{}", self.compared)?;
        for (target, seen) in TARGETS.iter().zip(&self.targets) {
            write!(f, "\ntarget {}: {seen}", target.name)?;
        }
        Ok(())
    }
}

/// Runs seeds from `first` on for that long, or up to the first failure.
///
/// Gives a report, and the failure, shrunk if it is about a program.
pub fn run(first: u64, time: Duration) -> (CampaignReport, Option<String>) {
    let begin = Instant::now();
    let mut report = CampaignReport::default();
    for seed in first.. {
        // What shrinking runs does not count.
        let before = report.clone();
        if let Err(what) = one(seed, &mut report) {
            return (before, Some(format!("seed {seed}: {what}")));
        }
        report.time = begin.elapsed();
        if report.time >= time {
            break;
        }
    }
    (report, None)
}

/// The report of a campaign about batches.
#[derive(Clone, Debug, Default)]
pub struct BatchCampaignReport {
    /// The time that it took.
    pub time: Duration,
    /// The mix of the programs.
    pub mix: ProgramMix,
}

impl fmt::Display for BatchCampaignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<&str> = SimdLevel::available().map(SimdLevel::name).collect();
        let missing: Vec<&str> = SimdLevel::missing().map(SimdLevel::name).collect();
        let seconds = self.time.as_secs_f64();
        writeln!(f, "batches in {seconds:.1} s, at {}", levels.join(", "))?;
        if !missing.is_empty() {
            writeln!(
                f,
                "levels that this processor lacks: {}",
                missing.join(", ")
            )?;
        }
        write!(f, "{}", self.mix)
    }
}

/// Compares batches with single points on `programs` seeds from `first` on, or up to the first
/// failure.
///
/// Uses all processors. Gives a report, and the failure, shrunk.
pub fn run_batch(
    first: u64,
    programs: u64,
    at: TierChoice,
) -> (BatchCampaignReport, Option<String>) {
    let begin = Instant::now();
    let seeds = first..first.saturating_add(programs);
    let (mix, failure) = check_seeds(seeds, &ProgramMix::default(), |seed, mix| {
        let program = GeneratedProgram::of_seed(seed, Profile::ANY);
        checked(&program, |program| check_batch(program, at, mix))
    });
    let time = begin.elapsed();
    (BatchCampaignReport { time, mix }, failure)
}

/// Compares quads of all engines on `programs` seeds from `first` on, or up to the first failure.
///
/// Uses all processors. Gives a report, and the failure, shrunk.
pub fn run_quads(first: u64, programs: u64, at: TierChoice) -> (QuadMix, Option<String>) {
    let seeds = first..first.saturating_add(programs);
    check_seeds(seeds, &QuadMix::default(), |seed, mix| {
        // Programs without rules are stopped more often.
        let profile = match seed % 2 {
            0 => Profile::ANY,
            _ => Profile::RECORDED,
        };
        let program = GeneratedProgram::of_seed(seed, profile);
        checked(&program, |program| check_quads(program, at, mix))
    })
}

/// Checks programs about derivatives on `programs` seeds from `first` on, or up to the first
/// failure.
///
/// Uses all processors. Gives counts, and the failure, shrunk.
pub fn run_derived(
    first: u64,
    programs: u64,
    kind: DerivedKind,
    at: TierChoice,
) -> (DerivedCounts, Option<String>) {
    let seeds = first..first.saturating_add(programs);
    check_seeds(seeds, &DerivedCounts::default(), |seed, counts| {
        let program = GeneratedProgram::of_seed(seed, Profile::derived(kind));
        checked(&program, |program| {
            if !derived::is_whole(program) {
                return Ok(());
            }
            match kind {
                DerivedKind::Gradient => check_gradient(program, counts),
                DerivedKind::Shadow => check_shadow(program, counts),
                DerivedKind::Second => check_second(program, counts),
                DerivedKind::Engines => check_engines(program, at, counts),
                DerivedKind::Untaken => check_untaken(program, counts),
            }
        })
    })
}

/// Checks the gradients of generated shaders, which have no marks, on `programs` seeds from `first`
/// on, or up to the first failure. One in four reads derivatives along the screen.
///
/// Uses all processors. Gives counts, and the failure, shrunk.
pub fn run_shaders(first: u64, programs: u64, at: TierChoice) -> (DerivedCounts, Option<String>) {
    let seeds = first..first.saturating_add(programs);
    check_seeds(seeds, &DerivedCounts::default(), |seed, counts| {
        let profile = match seed % 4 {
            3 => Profile::SCREEN_GRADIENT,
            _ => Profile::GRADIENT,
        };
        let program = GeneratedProgram::of_seed(seed, profile);
        checked(&program, |program| check_shader(program, at, counts))
    })
}

/// Checks gradients through edges of generated shaders on `programs` seeds from `first` on, or up
/// to the first failure. One in 32 has all of the language; one in 8 runs on every engine.
///
/// Uses all processors. Gives counts, and the failure, shrunk.
pub fn run_edges(first: u64, programs: u64) -> (EdgeCounts, Option<String>) {
    let seeds = first..first.saturating_add(programs);
    check_seeds(seeds, &EdgeCounts::default(), |seed, counts| {
        let program = edge_program(seed);
        let engines: Vec<Engine> = match seed % 8 {
            0 => Engine::available().collect(),
            _ => vec![Engine::Batch, Engine::Point],
        };
        checked(&program, |program| check_edges(program, &engines, counts))
    })
}

/// The program of a seed whose gradient through edges is checked.
pub fn edge_program(seed: u64) -> GeneratedProgram {
    let profile = match seed % 32 {
        0 => Profile::GRADIENT,
        _ => Profile::JUMPS,
    };
    GeneratedProgram::of_seed(seed, profile)
}

fn one(seed: u64, report: &mut CampaignReport) -> Result<(), String> {
    let CampaignReport {
        any,
        gradients,
        compared,
        targets,
        ..
    } = report;
    checked(&GeneratedProgram::of_seed(seed, Profile::ANY), |program| {
        check_agreement(program, any)
    })?;
    checked(
        &GeneratedProgram::of_seed(seed, Profile::GRADIENT),
        |program| check_gradients(program, gradients, compared),
    )?;
    for (target, seen) in TARGETS.iter().zip(targets) {
        let bytes = bytes_of_seed(seed, 64 + (seed % 1500) as usize);
        seen.inputs += 1;
        caught(|| (target.run)(&bytes, seen)).map_err(|what| format!("{}: {what}", target.name))?;
    }
    Ok(())
}

fn caught(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("a panic: {}", text.unwrap_or_default()))
    })
}

/// Checks a program.
///
/// # Errors
/// The disagreement, on the smallest program found that has one of the same kind.
pub fn checked(
    program: &GeneratedProgram,
    mut check: impl FnMut(&GeneratedProgram) -> Result<(), Disagreement>,
) -> Result<(), String> {
    let mut try_on =
        |program: &GeneratedProgram| caught(|| check(program).map_err(|d| d.to_string()));
    let Err(first) = try_on(program) else {
        return Ok(());
    };
    if first.starts_with(REFUSED) {
        // Any smaller text is refused as well, for reasons of its own.
        return Err(first);
    }
    let kind = |report: &str| report.split(char::is_whitespace).next().map(str::to_owned);
    let small = shrink_failure(program.clone(), SHRINK_TRIES, |program| {
        let found = try_on(program);
        found.is_err_and(|report| kind(&report) == kind(&first))
    });
    let again = try_on(&small);
    Err(again.err().unwrap_or(first))
}
