//! Second derivatives: the same in every nesting, symmetric, and the slopes of first ones.

use super::{
    DerivedCounts, Given, HostNumber, Verdict, given, held, is_too_large, lowered, named, product,
    product_noise, refused, wide,
};
use crate::generate::{GeneratedProgram, Point};
use crate::oracle::Disagreement;
use crate::oracle::modes::MODES;
use adumbra_ir::Module;

/// Two numbers that are to be the same, from the values of outputs.
type Pair<'a> = Box<dyn Fn(&[f64]) -> (f64, f64) + 'a>;

/// Checks the second derivatives that a program takes.
///
/// # Errors
/// The disagreement.
pub fn check_second(
    program: &GeneratedProgram,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let module = match lowered(program, &MODES[0]) {
        Ok(module) => module,
        Err(no) if is_too_large(&no) => {
            counts.refused += 1;
            return Ok(());
        }
        Err(no) => return Err(refused(program, &no)),
    };
    let one = |letter| named(&module, letter)[0].at;
    let (slope, forward_backward, forward_forward) = (one('z'), one('p'), one('q'));
    let (h, k) = (named(&module, 'h'), named(&module, 'k'));
    counts.points += 1;
    let report = |what: String| Disagreement::new(program, Some(0), what);
    let at = program.point(0);
    let here = given(&module, &wide(&module, &at));
    if !here.is_tame {
        counts.skipped += 1;
        return Ok(());
    }

    let along = |values: &[f64], letter, of| product(&module, values, letter, of).0;
    let mut pairs: Vec<(String, Pair<'_>)> = vec![
        (
            "nesting: backward of backward, forward of backward".to_owned(),
            Box::new(|v| (along(v, 'h', 'd'), v[forward_backward])),
        ),
        (
            "nesting: backward of backward, forward of forward".to_owned(),
            Box::new(|v| (along(v, 'h', 'd'), v[forward_forward])),
        ),
    ];
    // What is stopped makes slopes that are no gradient of anything.
    let is_stopped = program.source.contains("no_diff") || program.source.contains("detach(");
    if !is_stopped {
        pairs.push((
            "symmetry: along both directions".to_owned(),
            Box::new(|v| (along(v, 'h', 'd'), along(v, 'j', 'u'))),
        ));
    }
    for (h, k) in h.iter().zip(&k) {
        let (h, k, number) = (h.at, k.at, h.number);
        pairs.push((
            format!("nesting: backward of backward, of forward, by parameter {number}"),
            Box::new(move |v| (v[h], v[k])),
        ));
    }
    let size: f64 = h.iter().map(|h| here.values[h.at].abs()).sum();
    for (name, pair) in &pairs {
        let (a, b) = pair(&here.values);
        counts.products += 1;
        let apart = (a - b).abs();
        if apart > 1e-12 * size + 1e-12 && apart > 16.0 * noise(&module, &at, &here, pair) {
            return Err(report(format!("{name}: {a:e} and {b:e}")));
        }
    }

    if is_stopped {
        return Ok(());
    }
    for h in &h {
        let Some(global) = h.global else { continue };
        let derivative = here.values[h.at];
        let of = |values: &[f64]| values[slope];
        match held(&module, &at, &here, h.at, HostNumber::Global(global), of) {
            Verdict::Agrees => {
                counts.differences += 1;
                counts.nonzero += usize::from(derivative != 0.0);
            }
            Verdict::Unknown => {}
            Verdict::Differs(slope) => {
                return Err(report(format!(
                    "slopes: the second derivative by parameter {} is {derivative:e}, its slope {:e} ± {:e}",
                    h.number, slope.value, slope.error
                )));
            }
        }
    }
    Ok(())
}

/// How much rounding moves both numbers.
fn noise(module: &Module, point: &Point, here: &Given, pair: &Pair<'_>) -> f64 {
    product_noise(module, point, here, |v| pair(v).0)
        + product_noise(module, point, here, |v| pair(v).1)
        + product_noise(module, point, here, |v| pair(v).0 - pair(v).1)
}
