//! Any bytes as a program file: they are refused, or they are a program.
//!
//! A program ends in time, and gives the same by every engine, whatever ran before.

use super::batch::{self, TestBatch, TierChoice, batch_engines};
use super::chain::{compiler, observe, observe_within};
use super::modes::MODES;
use super::observation::{ComparisonExtent, ObservedRun};
use super::quads::{self, QuadMix};
use super::reference::limits;
use crate::bytecode::mutation::{HEADER, seal};
use crate::generate::{Point, point};
use adumbra::{Limits, Program, Sources, evaluator::Engine};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Points that a program is run on: a quad.
const POINTS: usize = 4;

/// How long a campaign lets one point take. Its steps are few, so that is a thousand times what it
/// should take even where nothing is optimised.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// The fate of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytecodeOutcome {
    /// They are no valid program.
    Refused,
    /// They were run.
    Run,
}

impl BytecodeOutcome {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            BytecodeOutcome::Refused => "refused",
            BytecodeOutcome::Run => "run",
        }
    }
}

/// Reads, lists, runs and writes bytes.
///
/// Each point is run alone by an evaluator of its own, within `deadline` if there is one. Then all
/// of them are run by one evaluator, forwards and backwards, and by each other engine.
///
/// # Errors
/// If a program that was accepted is not the same when written and read again, takes too long, or
/// shows something else by another engine or after other points.
pub fn check(bytes: &[u8], deadline: Option<Duration>) -> Result<BytecodeOutcome, String> {
    match Program::from_bytecode(bytes) {
        Ok(program) => {
            check_program(&program, lot(bytes), deadline)?;
            Ok(BytecodeOutcome::Run)
        }
        Err(_) => Ok(BytecodeOutcome::Refused),
    }
}

/// The points that a program from a file is run on.
fn points(program: &Program) -> Vec<Point> {
    let members = program.globals().members().iter();
    let types: Vec<_> = members.map(|m| m.ty().clone()).collect();
    (0..POINTS as u64)
        .map(|number| point(&types, 1, number, true))
        .collect()
}

/// Runs a program from a file on one of its points, within limits.
///
/// # Errors
/// If the engine cannot run it.
pub fn run_point(program: &Arc<Program>, limits: Limits) -> Result<(), String> {
    let points = points(program);
    observe_within(limits, program, Engine::Point, &points[..1]).map(drop)
}

/// Runs and writes a program that was read from a file, as [`check`] does.
///
/// # Errors
/// As those of [`check`].
pub fn check_program(
    program: &Arc<Program>,
    lot: u64,
    deadline: Option<Duration>,
) -> Result<(), String> {
    let points = points(program);
    let mut alone = Vec::with_capacity(POINTS);
    for point in &points {
        let begun = Instant::now();
        alone.push(observe(program, Engine::Point, point)?);
        let taken = begun.elapsed();
        if deadline.is_some_and(|deadline| taken > deadline) {
            let steps = limits().steps;
            return Err(format!("a point of at most {steps} steps took {taken:?}"));
        }
    }
    after_others(program, &points, &alone)?;
    together(program, points, &alone, lot)?;
    let again = Program::from_bytecode(&program.to_bytecode())
        .map_err(|d| format!("accepted, and refused when written again: {}", d.message))?;
    match again.listing() == program.listing() {
        true => Ok(()),
        false => Err("written and read again it is another program".to_owned()),
    }
}

/// A number to draw by: the file's checksum.
fn lot(bytes: &[u8]) -> u64 {
    (bytes[8..HEADER].iter()).fold(0, |lot, &byte| lot << 8 | u64::from(byte))
}

/// Where what was shown differs, by whom it was.
fn compare(wanted: &[ObservedRun], found: &[ObservedRun], whose: &str) -> Result<(), String> {
    for (point, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        if let Some(difference) = wanted.difference(found, ComparisonExtent::All) {
            return Err(format!(
                "point {point} in a fresh evaluator and {whose}: {difference}"
            ));
        }
    }
    Ok(())
}

/// Runs points in one evaluator, each after the others.
fn after_others(
    program: &Arc<Program>,
    points: &[Point],
    alone: &[ObservedRun],
) -> Result<(), String> {
    // Batches of single points are run by `together`.
    let engines = [Engine::Point, Engine::Native, Engine::Reference];
    for engine in Engine::available().filter(|engine| engines.contains(engine)) {
        let there_and_back: Vec<Point> =
            points.iter().chain(points.iter().rev()).cloned().collect();
        let found = observe_within(limits(), program, engine, &there_and_back)?;
        let (there, back) = found.split_at(points.len());
        compare(alone, there, &format!("after others by {engine:?}"))?;
        let back: Vec<ObservedRun> = back.iter().rev().cloned().collect();
        compare(alone, &back, &format!("after all others by {engine:?}"))?;
    }
    Ok(())
}

/// Runs points in chunks, those of a program with quads as one.
fn together(
    program: &Arc<Program>,
    points: Vec<Point>,
    alone: &[ObservedRun],
    mut lot: u64,
) -> Result<(), String> {
    let batch = TestBatch::of(points, POINTS as u64);
    let points = &batch.points;
    let all = [false; POINTS];
    let wanted = match program.quad() {
        None => alone.to_vec(),
        Some(_) => quads::observe_alone(program, Engine::Point, points, &all)?,
    };
    for engine in batch_engines(TierChoice::OneEngine, &mut lot)? {
        let setup = batch.setup(engine);
        let found = match program.quad() {
            None => batch::observe_together(program, &setup, points, 0)?,
            Some(_) => {
                let mut mix = QuadMix::default();
                quads::observe_together(program, &setup, points, &all, 0, &mut mix)?
            }
        };
        compare(&wanted, &found, &format!("in a batch by {engine}"))?;
    }
    Ok(())
}

/// A file of this version with that payload, which only reading can refuse.
pub fn with_header(payload: &[u8]) -> Vec<u8> {
    let empty = Sources::new("empty.adu", "shader main() {}");
    let program = compiler(&MODES[0]).compile(&empty);
    let file = program.expect("a shader without statements is one");
    seal(&file.to_bytecode()[..8], payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_past_deadline_is_a_failure() {
        let text = "shader main(out float o) { for (int i = 0; i < 1000; ++i) o += sin(o + 1.0); }";
        let program = compiler(&MODES[0]).compile(&Sources::new("loop.adu", text));
        let file = program.expect("it is a shader").to_bytecode();
        assert_eq!(check(&file, None), Ok(BytecodeOutcome::Run));
        assert_eq!(
            check(&file, Some(Duration::from_secs(86_400))),
            Ok(BytecodeOutcome::Run)
        );
        let found = check(&file, Some(Duration::ZERO)).expect_err("it takes some time");
        assert!(found.contains("took"), "{found}");
    }
}
