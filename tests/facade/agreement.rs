//! Engines and compilations agree on random programs, and on every program that once made them
//! disagree.
//!
//! A new failure goes into `fuzz/regressions` as a source; the longer search is `cargo run
//! --release -p adumbra-fuzz -- campaign --seconds 600`.

use crate::counts::{AGREEMENT, AGREEMENT_DRAWN};
use adumbra_fuzz::campaign::checked;
use adumbra_fuzz::mix::ProgramMix;
use adumbra_fuzz::oracle::chain::check_agreement;
use adumbra_fuzz::parallel::check_seeds;
use adumbra_fuzz::strategy::{programs, test_result};
use adumbra_fuzz::{GeneratedProgram, Profile};
use proptest::proptest;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use std::path::Path;

/// Programs that shrinking looks at.
const MAX_SHRINKS: u32 = 5_000;

#[test]
fn engines_and_compilations_agree_on_random_programs() {
    let (mix, failure) = check_seeds(0..AGREEMENT, &ProgramMix::default(), |seed, mix| {
        let program = GeneratedProgram::of_seed(seed, Profile::ANY);
        checked(&program, |program| check_agreement(program, mix))
    });
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{mix}");
    assert_eq!(mix.missing_coverage(), None);
}

/// Failures stay as seeds of proptest's, which come first the next time.
fn config() -> Config {
    Config {
        cases: AGREEMENT_DRAWN,
        max_shrink_iters: MAX_SHRINKS,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "fuzz/regressions/agreement.txt",
        ))),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn engines_and_compilations_agree_whatever_the_choices(program in programs(Profile::ANY)) {
        test_result(&program, check_agreement(&program, &mut ProgramMix::default()))?;
    }
}

#[test]
fn what_once_disagreed_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|e| e != "adu") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("the program can be read");
        let program = GeneratedProgram::of_text(source);
        if let Err(disagreement) = check_agreement(&program, &mut ProgramMix::default()) {
            panic!("{}: {disagreement}", path.display());
        }
        count += 1;
    }
    assert!(count > 0, "no regressions were run");
}
