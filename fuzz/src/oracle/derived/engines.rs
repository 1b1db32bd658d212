//! Derivatives on every engine, to the bit, under limits that end anywhere.

use super::{DerivedCounts, is_too_large, refused};
use crate::bundle;
use crate::choices::next;
use crate::generate::GeneratedProgram;
use crate::oracle::Disagreement;
use crate::oracle::batch::{TestBatch, TierChoice, batch_engines, observe_together};
use crate::oracle::chain::{compiler, observe_within};
use crate::oracle::modes::MODES;
use crate::oracle::observation::ComparisonExtent;
use crate::oracle::reference::limits;
use crate::oracle::suspended::observe_suspended;
use adumbra::evaluator::Engine;
use adumbra_ir::host::Limits;

/// The most points that a program is run on.
const MAX_POINTS: u64 = 24;

/// Limits of which each ends a point anywhere, or not at all.
fn drawn_limits(lot: &mut u64) -> Limits {
    let mut anywhere = |most: u32, usual: u64| match next(lot) % 3 {
        0 => {
            let bits = next(lot) % u64::from(most.ilog2() + 1);
            next(lot) % (2 << bits)
        }
        _ => usual,
    };
    let usual = limits();
    Limits {
        steps: anywhere(1 << 10, usual.steps),
        kept_words: anywhere(1 << 9, u64::from(usual.kept_words)) as u32,
        call_depth: 1 + anywhere(1 << 4, u64::from(usual.call_depth) - 1) as u32,
        array_elements: anywhere(1 << 7, u64::from(usual.array_elements)) as u32,
        ..usual
    }
}

/// Checks that all engines show the same of a program.
///
/// # Errors
/// The disagreement.
pub fn check_engines(
    program: &GeneratedProgram,
    at: TierChoice,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let mut lot = program.seed;
    let mode = &MODES[(next(&mut lot) % 8).saturating_sub(4) as usize % MODES.len()];
    let sources = bundle::sources(&program.source);
    let compiled = sources.and_then(|sources| compiler(mode).compile(&sources));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(no) if is_too_large(&no) => {
            counts.refused += 1;
            return Ok(());
        }
        Err(no) => return Err(refused(program, &no)),
    };
    let report = |point: Option<usize>, what: String| {
        Disagreement::new(program, point.map(|p| p as u64), what)
    };
    let batch = TestBatch::random(program, &mut lot, |number| 1 + number % MAX_POINTS);
    let limits = drawn_limits(&mut lot);
    let points = &batch.points;
    let run = |engine| observe_within(limits, &compiled, engine, points);
    let reference = run(Engine::Reference).map_err(|what| report(None, what))?;
    for shown in &reference {
        counts.points += 1;
        counts.stopped += usize::from(shown.faults.iter().any(|fault| fault.kind.stops()));
    }
    let singles = || Engine::available().filter(|&engine| engine != Engine::Reference);
    for engine in singles() {
        let found = run(engine).map_err(|what| report(None, what))?;
        let waited = observe_suspended(limits, &compiled, engine, points);
        let waited = waited.map_err(|what| report(None, what))?;
        for (i, reference) in reference.iter().enumerate() {
            for (way, shown) in [("", &found[i]), (" after waits", &waited[i])] {
                counts.bits += 1;
                if let Some(difference) = reference.difference(shown, ComparisonExtent::All) {
                    let what = format!(
                        "engines: {}, reference and {engine:?}{way}, {limits:?}: {difference}",
                        mode.name
                    );
                    return Err(report(Some(i), what));
                }
            }
        }
    }
    for engine in batch_engines(at, &mut lot).map_err(|no| report(None, no))? {
        let mut setup = batch.setup(engine);
        setup.limits = limits;
        let waits = next(&mut lot) & next(&mut lot);
        let found = observe_together(&compiled, &setup, points, waits);
        let found = found.map_err(|what| report(None, what))?;
        for (i, (reference, found)) in reference.iter().zip(&found).enumerate() {
            counts.bits += 1;
            if let Some(difference) = reference.difference(found, ComparisonExtent::All) {
                let what = format!(
                    "engines: {}, reference and batch of {}, {engine}, {limits:?}: {difference}",
                    mode.name, batch.width
                );
                return Err(report(Some(i), what));
            }
        }
    }
    Ok(())
}
