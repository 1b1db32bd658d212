//! Mutants of program files: loading one ends within bounds of time and memory, in a refusal or a
//! program that runs.
//!
//! A mutant is a function of its seed. Time is that of the processor, for the loading thread, and
//! so is memory: mutants are loaded on all processors at once.

pub mod limit_files;
pub mod mutation;

use crate::bounds::thread_peak_bytes;
use crate::choices::{Choices, bytes_of_seed, mixed};
use crate::oracle::bytecode::{check_program, run_point};
use crate::panics::watched;
use crate::{parallel, seeds};
use adumbra::{Limits, Program, gradient::GradientRequest};
use cpu_time::ThreadTime;
use limit_files::LimitFile;
use std::fmt;
use std::ops::{AddAssign, Range};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The most time that loading a file may take.
pub const MAX_LOAD_TIME: Duration = Duration::from_secs(2);

/// The most memory that it may take.
pub const MAX_LOAD_BYTES: usize = 1 << 30;

/// The steps that a point of an accepted mutant may take, and the time that they may, with making
/// the evaluator.
const STEPS: u64 = 1_000;
const MAX_RUN_TIME: Duration = Duration::from_secs(2);

/// Of accepted mutants, one in `ALL_ENGINES` is run by all engines.
const ALL_ENGINES: u64 = 16;

/// Bytes that a mutant is drawn from.
const SEED_BYTES: usize = 256;

/// What became of mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutantCounts {
    /// Mutants that were refused.
    pub refused: usize,
    /// Mutants that were accepted.
    pub accepted: usize,
    /// Those of them that all engines ran.
    pub compared: usize,
    /// Those that have a gradient, which ran.
    pub derived: usize,
    /// The longest load, and the size of its file.
    pub slowest: (Duration, usize),
    /// The most bytes that a load held at once, and the size of its file.
    pub peak: (usize, usize),
    /// The longest run of a point.
    pub slowest_run: Duration,
    /// The size of the largest file.
    pub largest: usize,
}

impl AddAssign for MutantCounts {
    fn add_assign(&mut self, other: MutantCounts) {
        self.refused += other.refused;
        self.accepted += other.accepted;
        self.compared += other.compared;
        self.derived += other.derived;
        self.slowest = self.slowest.max(other.slowest);
        self.peak = self.peak.max(other.peak);
        self.slowest_run = self.slowest_run.max(other.slowest_run);
        self.largest = self.largest.max(other.largest);
    }
}

impl fmt::Display for MutantCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, of_time) = self.slowest;
        let (peak, of_peak) = self.peak;
        write!(
            f,
            "{} files of at most {} bytes: {} refused, {} accepted, {} of these by all engines, {} with \
             a gradient\n\
             longest load {time:?} ({of_time} bytes), most memory {peak} bytes ({of_peak} bytes), \
             longest run {:?}",
            self.refused + self.accepted,
            self.largest,
            self.refused,
            self.accepted,
            self.compared,
            self.derived,
            self.slowest_run,
        )
    }
}

/// Loads the longest file of a kind.
///
/// # Errors
/// The bound that it exceeds.
pub fn check_longest(kind: &LimitFile, clocks: bool) -> Result<MutantCounts, String> {
    check_long(kind, &kind.longest(), clocks)
}

/// Loads a file of a kind.
///
/// # Errors
/// The bound that it exceeds.
pub fn check_long(kind: &LimitFile, file: &[u8], clocks: bool) -> Result<MutantCounts, String> {
    let mut counts = MutantCounts::default();
    let loaded = load(file, clocks, &mut counts);
    loaded.map_err(|what| format!("{}: {what}", kind.name))?;
    Ok(counts)
}

/// Checks the mutants of some seeds. One that fails is saved in a folder; with `clocks`, also for
/// its time.
///
/// # Errors
/// If a file of the project cannot be read.
pub fn run(
    seeds: Range<u64>,
    clocks: bool,
    finds: &Path,
) -> std::io::Result<(MutantCounts, Option<String>)> {
    let files: Vec<Vec<u8>> = (seeds::programs()?.iter())
        .map(|program| program.to_bytecode())
        .collect();
    Ok(parallel::check_seeds(
        seeds,
        &MutantCounts::default(),
        |seed, counts| {
            let bytes = bytes_of_seed(seed, SEED_BYTES);
            let file = mutation::mutant(&files, &mut Choices::new(&bytes));
            check(&file, mixed(seed), clocks, counts).map_err(|what| {
                let path = finds.join(format!("mutant{seed}.adub"));
                let saved =
                    std::fs::create_dir_all(finds).and_then(|()| std::fs::write(&path, file));
                match saved {
                    Ok(()) => format!("{}: {what}", path.display()),
                    Err(error) => format!("{what}\n{}: {error}", path.display()),
                }
            })
        },
    ))
}

/// Loads a file within the bounds; gives its program, if it is accepted.
fn load(
    file: &[u8],
    clocks: bool,
    counts: &mut MutantCounts,
) -> Result<Option<Arc<Program>>, String> {
    counts.largest = counts.largest.max(file.len());
    let begun = ThreadTime::now();
    let (loaded, peak) = thread_peak_bytes(|| unpanicked(|| Program::from_bytecode(file)));
    let taken = begun.elapsed();
    counts.slowest = counts.slowest.max((taken, file.len()));
    counts.peak = counts.peak.max((peak, file.len()));
    if clocks && taken > MAX_LOAD_TIME {
        return Err(format!("to load it takes {taken:?}"));
    }
    if peak > MAX_LOAD_BYTES {
        return Err(format!("to load it takes {peak} bytes"));
    }
    let program = loaded?.ok();
    match program {
        Some(_) => counts.accepted += 1,
        None => counts.refused += 1,
    }
    Ok(program)
}

/// Loads a file, and runs what it has.
fn check(file: &[u8], lot: u64, clocks: bool, counts: &mut MutantCounts) -> Result<(), String> {
    let Some(program) = load(file, clocks, counts)? else {
        return Ok(());
    };
    let limits = Limits {
        steps: STEPS,
        ..Limits::default()
    };
    let begun = ThreadTime::now();
    unpanicked(|| run_point(&program, limits))??;
    let taken = begun.elapsed();
    counts.slowest_run = counts.slowest_run.max(taken);
    if clocks && taken > MAX_RUN_TIME {
        return Err(format!("to run it takes {taken:?}"));
    }
    if lot.is_multiple_of(ALL_ENGINES) {
        counts.compared += 1;
        unpanicked(|| check_program(&program, lot, None))??;
        let gradient = unpanicked(|| program.gradient(&GradientRequest::new()))?;
        if let Ok(gradient) = gradient {
            counts.derived += 1;
            unpanicked(|| run_point(gradient.program(), limits))??;
        }
    }
    Ok(())
}

/// Makes a call; a panic within it is an error.
fn unpanicked<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    match watched(call) {
        (_, Some(panic)) => Err(panic),
        (None, None) => Err("a panic on another thread".to_owned()),
        (Some(result), None) => Ok(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_programs_have_same_bytecode_and_module() {
        let programs = seeds::programs().expect("the project can be read");
        assert!(programs.len() > 200, "{}", programs.len());
        for program in programs {
            let file = program.to_bytecode();
            let loaded = Program::from_bytecode(&file).expect("it was compiled");
            assert_eq!(loaded.listing(), program.listing());
            assert!(loaded.module() == program.module(), "{}", program.listing());
            assert!(loaded.to_bytecode() == file, "{}", program.listing());
        }
    }
}
