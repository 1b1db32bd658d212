//! Tangents along the screen against shadows, to the bit.

use super::{DerivedCounts, named, refused};
use crate::bundle;
use crate::generate::{GeneratedProgram, Point};
use crate::oracle::Disagreement;
use crate::oracle::chain::{compiler, observe_within};
use crate::oracle::modes::MODES;
use crate::oracle::reference::limits;
use adumbra::evaluator::Engine;

/// Points that a program is looked at.
const POINTS: u64 = 4;

/// Checks that the tangents that a program takes along the screen are its shadows.
///
/// # Errors
/// The disagreement.
pub fn check_shadow(
    program: &GeneratedProgram,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let sources = bundle::sources(&program.source);
    let compiled = sources.and_then(|sources| compiler(&MODES[0]).compile(&sources));
    let compiled = compiled.map_err(|no| refused(program, &no))?;
    let module = compiled.module();
    let (values, tangents) = (named(module, 'v'), named(module, 'e'));
    let points: Vec<Point> = (0..POINTS).map(|number| program.point(number)).collect();
    for engine in Engine::available() {
        let shown = observe_within(limits(), &compiled, engine, &points);
        let shown = shown.map_err(|what| Disagreement::new(program, None, what))?;
        for (number, shown) in (0..).zip(&shown) {
            counts.points += 1;
            let floats = shown.outputs.iter().flat_map(|o| [o.value, o.shadows[0]]);
            let mut floats = floats.map(f32::from_bits);
            if !shown.faults.is_empty() || !floats.all(f32::is_finite) {
                counts.skipped += 1;
                continue;
            }
            for (value, tangent) in values.iter().zip(&tangents) {
                let shadow = f32::from_bits(shown.outputs[value.at].shadows[0]);
                let tangent = f32::from_bits(shown.outputs[tangent.at].value);
                counts.bits += 1;
                // Zeros have no sign that matters: a term that is left out may be one.
                if shadow.to_bits() != tangent.to_bits() && shadow != tangent {
                    let what = format!(
                        "tangent: of value {} by {engine:?}, shadow {shadow:?} ({:08x}), tangent {tangent:?} ({:08x})",
                        value.number,
                        shadow.to_bits(),
                        tangent.to_bits()
                    );
                    return Err(Disagreement::new(program, Some(number), what));
                }
            }
        }
    }
    Ok(())
}
