//! Gradients against tangents and against differences, and the hunt for gradients that are lost.

use super::{
    DerivedCounts, HostNumber, Verdict, given, held, lowered, modes_apart, named, refused,
    stops_gradients, wide,
};
use crate::bundle;
use crate::generate::GeneratedProgram;
use crate::oracle::Disagreement;
use crate::oracle::chain::compiler;
use crate::oracle::modes::MODES;
use adumbra::Diagnostics;

/// Points that a program is looked at.
const POINTS: u64 = 2;

/// A difference that terms which cancel within a function leave, where values are a few units.
const ABSOLUTE: f64 = 1e-13;

/// The codes that say that a gradient is lost, or that something has no derivative.
fn says_so(no: &Diagnostics) -> bool {
    let mut errors = no.diagnostics.iter().filter(|d| d.is_error());
    errors.all(|d| {
        let code = d.code.to_string();
        ("E0551"..="E0569").contains(&code.as_str())
    })
}

/// Checks the gradient that a program takes.
///
/// # Errors
/// The disagreement.
pub fn check_gradient(
    program: &GeneratedProgram,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let module = match lowered(program, &MODES[0]) {
        Ok(module) => module,
        Err(no) if program.source.contains("plain_") && says_so(&no) => {
            counts.refused += 1;
            return Ok(());
        }
        Err(no) => return Err(refused(program, &no)),
    };
    let (values, weights, gradients) = (
        named(&module, 'v'),
        named(&module, 'w'),
        named(&module, 'g'),
    );
    for number in 0..POINTS {
        let report = |what: String| Disagreement::new(program, Some(number), what);
        counts.points += 1;
        let at = program.point(number);
        let here = given(&module, &wide(&module, &at));
        if !here.is_tame {
            counts.skipped += 1;
            continue;
        }

        counts.products += 1;
        if let Some(apart) = modes_apart(&module, &at, &here, (1e-12, ABSOLUTE)) {
            return Err(report(apart));
        }

        let weighted = |values_there: &[f64]| {
            let terms = values.iter().zip(&weights);
            terms
                .map(|(v, w)| here.values[w.at] * values_there[v.at])
                .sum()
        };
        for gradient in &gradients {
            let Some(global) = gradient.global else {
                continue;
            };
            let derivative = here.values[gradient.at];
            let by = HostNumber::Global(global);
            let verdict = held(&module, &at, &here, gradient.at, by, weighted);
            match verdict {
                Verdict::Agrees => {
                    counts.differences += 1;
                    counts.nonzero += usize::from(derivative != 0.0);
                }
                Verdict::Unknown => {}
                Verdict::Differs(_) if stops_gradients(&program.source) => {
                    counts.explained += usize::from(derivative == 0.0);
                }
                Verdict::Differs(slope) if derivative == 0.0 => {
                    if is_reported(program) {
                        counts.explained += 1;
                        continue;
                    }
                    return Err(report(format!(
                        "lost: the gradient of parameter {} is 0, its slope {:e} ± {:e}",
                        gradient.number, slope.value, slope.error
                    )));
                }
                Verdict::Differs(slope) => {
                    return Err(report(format!(
                        "slopes: the gradient of parameter {} is {derivative:e}, its slope {:e} ± {:e}",
                        gradient.number, slope.value, slope.error
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Whether the checker warns that a derivative is zero.
fn is_reported(program: &GeneratedProgram) -> bool {
    let Ok(sources) = bundle::sources(&program.source) else {
        return false;
    };
    let diagnostics = compiler(&MODES[0]).check(&sources);
    diagnostics.iter().any(|d| {
        let code = d.code.to_string();
        code == "W0513" || code == "W0515"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Profile;
    use crate::generate::derived::DerivedKind;

    /// The first words of reports on 60 programs, where `change` is what is given for a derivative.
    fn reports(change: impl Fn(&str) -> String) -> Vec<String> {
        let mut found = Vec::new();
        for seed in 0..60 {
            let mut program =
                GeneratedProgram::of_seed(seed, Profile::derived(DerivedKind::Gradient));
            let lines = program.source.lines().map(|line| {
                let is_output = line.starts_with("    e") || line.starts_with("    g");
                match line.split_once(" = ").filter(|_| is_output) {
                    Some((name, given)) => {
                        let given = given.trim_end_matches(';');
                        format!("{name} = {};\n", change(given))
                    }
                    None => format!("{line}\n"),
                }
            });
            program.source = lines.collect();
            if let Err(no) = check_gradient(&program, &mut DerivedCounts::default()) {
                let report = no.to_string();
                found.extend(report.split(':').next().map(str::to_owned));
            }
        }
        found
    }

    fn count(found: &[String], what: &str) -> usize {
        found.iter().filter(|report| *report == what).count()
    }

    #[test]
    fn lost_and_wrong_gradients_are_found() {
        assert_eq!(reports(str::to_owned), Vec::<String>::new());
        let lost = reports(|_| "0.0".to_owned());
        assert!(count(&lost, "lost") > 20, "{lost:?}");
        let wrong = reports(|given| format!("1.001 * {given}"));
        assert!(count(&wrong, "slopes") > 20, "{wrong:?}");
    }
}
