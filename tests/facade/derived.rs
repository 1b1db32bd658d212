//! Derivatives of functions: random marked programs against differences, shadows and each other.

use crate::counts::GRADIENTS;
use adumbra::{Compiler, GlobalsLayout, Sources};
use adumbra_fuzz::campaign::run_derived;
use adumbra_fuzz::generate::derived::DerivedKind;
use adumbra_fuzz::oracle::batch::TierChoice;
use adumbra_fuzz::oracle::derived::DerivedCounts;
use adumbra_fuzz::oracle::losses::run_losses;

/// Runs that many programs, all of which have to agree.
fn agreed(kind: DerivedKind, programs: u64) -> DerivedCounts {
    let (counts, failure) = run_derived(0, programs, kind, TierChoice::OneEngine);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{counts}");
    assert_eq!(counts.hollow(), None);
    counts
}

#[test]
fn no_gradient_is_lost_in_silence() {
    let counts = agreed(DerivedKind::Gradient, GRADIENTS);
    assert!(
        counts.refused as u64 > GRADIENTS / 100 && counts.nonzero as u64 > GRADIENTS,
        "{counts}"
    );
}

#[test]
fn gradients_are_transposed_tangents_wherever_values_are_finite() {
    let counts = agreed(DerivedKind::Untaken, 1_000);
    assert!(counts.products > 1_500, "{counts}");
}

#[test]
fn tangents_along_the_screen_are_shadows() {
    let counts = agreed(DerivedKind::Shadow, 400);
    assert!(counts.bits > 5_000, "{counts}");
}

#[test]
fn second_derivatives_are_the_same_in_every_nesting() {
    let counts = agreed(DerivedKind::Second, 400);
    assert!(counts.products > 1_000 && counts.nonzero > 150, "{counts}");
}

#[test]
fn engines_agree_on_derivatives_under_limits_that_end_anywhere() {
    let counts = agreed(DerivedKind::Engines, 300);
    assert!(counts.stopped > 100, "{counts}");
}

/// Where no function needs a mark, one that is differentiated is looked at as a marked one.
#[test]
fn losses_are_reported_without_marks() {
    let codes = |call: &str| {
        let mut sources = Sources::new("<expression>", call);
        sources.add(
            "functions.adu",
            "texture2d t; float sampled(float x) { return x * texture2d_sample<t>(x, x).x; }
             float stairs(float x) { return (int)(8 * x) * 0.125 + x; }
             float smooth(float x) { return x * x; } float around(float x) { return stairs(x); }",
        );
        let compiler = Compiler::new(GlobalsLayout::new()).with_all_marked();
        let found = match compiler.compile_expression(&sources) {
            Ok(program) => program.warnings().to_vec(),
            Err(found) => found.diagnostics,
        };
        found.iter().map(|d| d.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(codes("fwd_diff(sampled)(diffPair(0.5, 1.0)).d"), ["E0553"]);
    assert_eq!(codes("fwd_diff(around)(diffPair(0.5, 1.0)).d"), ["W0515"]);
    assert_eq!(codes("fwd_diff(smooth)(diffPair(0.5, 1.0)).d"), [""; 0]);
}

/// What is lost matters in every other program, by construction, and else is dead, overwritten,
/// only compared or multiplied by 0.
#[test]
fn losses_are_reported_where_they_matter() {
    let (counts, failure) = run_losses(0, 2_000);
    assert_eq!(failure, None);
    assert_eq!((counts.losing, counts.keeping), (1_000, 1_000));
}
