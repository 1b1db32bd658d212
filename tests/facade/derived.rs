//! Derivatives of functions: random marked programs against differences, shadows and each other.

use adumbra_fuzz::campaign::run_derived;
use adumbra_fuzz::generate::derived::DerivedKind;
use adumbra_fuzz::oracle::batch::TierChoice;
use adumbra_fuzz::oracle::derived::DerivedCounts;

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
    let counts = agreed(DerivedKind::Gradient, 20_000);
    assert!(counts.refused > 200 && counts.nonzero > 20_000, "{counts}");
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
