//! Gradients against tangents wherever the value is finite, also where other values, operands among
//! them, are infinite or NaN.

use super::{DerivedCounts, Given, given, lowered, modes_apart, named, refused, wide};
use crate::generate::{GeneratedProgram, Point};
use crate::oracle::Disagreement;
use crate::oracle::modes::MODES;
use adumbra_ir::Module;

/// Points that a program is looked at; the globals of odd ones are not all finite.
const POINTS: u64 = 4;

/// The floats of globals that can be anything: weights of gradients are made of those after them.
const ANY_FLOATS: usize = 7;

/// A step of globals, as a fraction of them.
const STEP: f64 = 1e-13;

/// A difference over [`STEP`] that only derivatives of millions of millions make.
const STEEP: f64 = 1e-2;

/// A difference that terms which cancel within a function leave, where values are a few units.
const ABSOLUTE: f64 = 1e-12;

/// A point of a program, with globals that are not finite if its number is odd.
fn point(program: &GeneratedProgram, number: u64) -> Point {
    let mut at = program.point(number);
    if number % 2 == 1 {
        let which = program.source.len() + number as usize;
        let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][which / ANY_FLOATS % 3];
        let mut floats = at.iter_mut().flat_map(|global| &mut global.value);
        if let Some(bits) = floats.nth(which % ANY_FLOATS) {
            *bits = wild.to_bits();
        }
    }
    at
}

/// Whether the outputs that a letter names are finite and of moderate size.
fn is_tame(module: &Module, here: &Given, letter: char) -> bool {
    let outputs = named(module, letter);
    let mut values = outputs.iter().map(|output| here.values[output.at]);
    values.all(|value| value.abs() < super::MAX_VALUE)
}

/// Whether values change so fast that their derivatives can be too large for numbers.
fn is_steep(module: &Module, at: &Point, here: &Given) -> bool {
    let mut beside = wide(module, at);
    for global in &mut beside.globals {
        global.float *= 1.0 + STEP;
    }
    let beside = given(module, &beside);
    let values = named(module, 'v');
    let mut changes = values
        .iter()
        .map(|v| beside.values[v.at] - here.values[v.at]);
    changes.any(|change| change.abs() > STEEP)
}

/// Checks that no derivative is NaN where the value is finite, and that the gradient is the
/// transpose of the tangents there.
///
/// # Errors
/// The disagreement.
pub fn check_untaken(
    program: &GeneratedProgram,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let module = match lowered(program, &MODES[0]) {
        Ok(module) => module,
        Err(no) => return Err(refused(program, &no)),
    };
    for number in 0..POINTS {
        let report = |what: String| Disagreement::new(program, Some(number), what);
        counts.points += 1;
        let at = point(program, number);
        let here = given(&module, &wide(&module, &at));
        if here.is_stopped || !is_tame(&module, &here, 'v') || !is_tame(&module, &here, 'w') {
            counts.skipped += 1;
            continue;
        }
        for letter in ['e', 'g'] {
            let outputs = named(&module, letter);
            let nan = outputs.iter().find(|o| here.values[o.at].is_nan());
            if let Some(output) = nan.filter(|_| !is_steep(&module, &at, &here)) {
                return Err(report(format!(
                    "{letter}{} is NaN, and the value is finite",
                    output.number
                )));
            }
        }
        if !is_tame(&module, &here, 'e') || !is_tame(&module, &here, 'g') {
            counts.skipped += 1;
            continue;
        }
        counts.products += 1;
        if let Some(apart) = modes_apart(&module, &at, &here, (1e-11, ABSOLUTE)) {
            return Err(report(apart));
        }
    }
    Ok(())
}
