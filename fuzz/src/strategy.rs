//! Random programs for proptest, and [`modules`]: failing ones shrink and print as source.
//!
//! Proptest keeps them by its own means. A program follows from the choices that its generator
//! made, which are bytes. So the choices shrink first ([`choices`]): fewer of them, and smaller
//! ones, make simpler programs. Then the source shrinks ([`source`]), as long as it fails, since
//! the generator writes some parts around any choices. Seeds are untouched: a seed gives bytes,
//! these give a program.

mod choices;
mod modules;
mod source;

pub use modules::{ModuleTree, Modules, RandomModule, modules};

use crate::generate::{GeneratedProgram, Profile};
use crate::oracle::Disagreement;
use crate::oracle::chain::REFUSED;
use choices::ChoiceShrinker;
use proptest::collection::{VecStrategy, vec};
use proptest::num::u8::Any;
use proptest::prelude::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{TestCaseError, TestRunner};
use source::SourceShrinker;

/// The greatest number of bytes that programs of [`programs`] are made from: mostly small ones.
const MAX_DRAWN: usize = 1_000;

/// Programs of other choices that shrinking may look at: the text shrinks too, and better in the
/// end.
const MAX_GENERATED: usize = 1_500;

/// Programs of a profile.
pub fn programs(profile: Profile) -> Programs {
    Programs {
        profile,
        bytes: vec(any::<u8>(), 0..MAX_DRAWN),
    }
}

/// The strategy that [`programs`] gives.
#[derive(Debug)]
pub struct Programs {
    profile: Profile,
    bytes: VecStrategy<Any>,
}

impl Strategy for Programs {
    type Tree = ProgramTree;
    type Value = GeneratedProgram;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Programs> {
        let bytes = self.bytes.new_tree(runner)?.current();
        Ok(ProgramTree::new(GeneratedProgram::generate(
            &bytes,
            self.profile,
        )))
    }
}

/// What an oracle says, for proptest. A text that was cut while shrinking may be no program any
/// more; then it says nothing.
///
/// # Errors
/// If it does not agree, or refuses a program as it was generated.
pub fn test_result(
    program: &GeneratedProgram,
    said: Result<(), Disagreement>,
) -> Result<(), TestCaseError> {
    said.map_err(|found| match program.is_cut() && is_refusal(&found) {
        true => TestCaseError::reject("the text is no program"),
        false => TestCaseError::fail(found.to_string()),
    })
}

/// Whether it is that the checker refuses the program.
fn is_refusal(found: &Disagreement) -> bool {
    found.what.starts_with(REFUSED)
}

/// The smallest program found for which `fails` still holds, after at most `tries` calls of it.
///
/// `fails` must say no for text that the checker refuses, or the result is not a program.
pub fn shrink_failure(
    program: GeneratedProgram,
    tries: usize,
    mut fails: impl FnMut(&GeneratedProgram) -> bool,
) -> GeneratedProgram {
    let mut tree = ProgramTree::new(program);
    let mut more = tree.simplify();
    for _ in 0..tries {
        if !more {
            break;
        }
        more = match fails(&tree.current()) {
            true => tree.simplify(),
            false => tree.complicate(),
        };
    }
    tree.best
}

/// A failing program, and the ways to make it simpler that are left.
#[derive(Clone, Debug)]
pub struct ProgramTree {
    /// The simplest one that failed.
    best: GeneratedProgram,
    /// The one to be looked at next.
    candidate: Option<GeneratedProgram>,
    stage: Stage,
    /// Programs of other choices that were looked at.
    generated: usize,
}

/// The ways to shrink that are left.
#[derive(Clone, Debug)]
enum Stage {
    Choices(ChoiceShrinker),
    Text(SourceShrinker),
}

impl ProgramTree {
    /// Begins at that program. One that was not generated has a text alone.
    pub fn new(program: GeneratedProgram) -> ProgramTree {
        let stage = match program.choices() {
            Some((bytes, _)) => Stage::Choices(ChoiceShrinker::new(bytes)),
            None => Stage::Text(SourceShrinker::new(&program.source)),
        };
        ProgramTree {
            best: program,
            candidate: None,
            stage,
            generated: 0,
        }
    }

    /// Looks for the next program to try.
    fn propose(&mut self) -> bool {
        loop {
            match &mut self.stage {
                Stage::Choices(choices) => {
                    let bytes = choices.propose();
                    let Some(bytes) = bytes.filter(|_| self.generated < MAX_GENERATED) else {
                        self.stage = Stage::Text(SourceShrinker::new(&self.best.source));
                        continue;
                    };
                    let (_, profile) = self.best.choices().expect("it was generated");
                    let candidate = GeneratedProgram::generate(&bytes, profile);
                    if candidate.source == self.best.source && candidate.seed == self.best.seed {
                        // The same by fewer or smaller choices.
                        choices.accept();
                        self.best = candidate;
                    } else if candidate.source.len() <= self.best.source.len() {
                        self.candidate = Some(candidate);
                        self.generated += 1;
                        return true;
                    }
                }
                Stage::Text(text) => {
                    let shorter = text.propose(&self.best.source);
                    self.candidate = shorter.map(|source| self.best.with_source(source));
                    return self.candidate.is_some();
                }
            }
        }
    }
}

impl ValueTree for ProgramTree {
    type Value = GeneratedProgram;

    fn current(&self) -> GeneratedProgram {
        self.candidate.as_ref().unwrap_or(&self.best).clone()
    }

    /// The current program fails: a simpler one comes next.
    fn simplify(&mut self) -> bool {
        if let Some(candidate) = self.candidate.take() {
            self.best = candidate;
            match &mut self.stage {
                Stage::Choices(choices) => choices.accept(),
                Stage::Text(text) => text.accept(),
            }
        }
        self.propose()
    }

    /// The current program does not fail: another one comes next, or it is the one before again.
    fn complicate(&mut self) -> bool {
        self.candidate.take().is_some() && self.propose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::test_runner::{Config, RngSeed, TestError};

    /// Whether a program fails: if it has this operator, as few have.
    fn has_modulo(program: &GeneratedProgram) -> bool {
        program.source.contains(" % ")
    }

    #[test]
    fn failing_seed_shrinks_to_a_few_lines() {
        let mut shrunk = 0;
        for seed in 0..20 {
            let program = GeneratedProgram::of_seed(seed, Profile::ANY);
            if !has_modulo(&program) {
                continue;
            }
            shrunk += 1;
            let small = shrink_failure(program, 5_000, has_modulo);
            assert!(has_modulo(&small));
            assert!(small.source.trim().len() < 60, "{seed}: {}", small.source);
        }
        assert!(shrunk > 5, "{shrunk}");
    }

    #[test]
    fn choices_alone_make_programs_that_are_accepted() {
        // As long as the text is not cut it is what some choices generate.
        let program = GeneratedProgram::of_seed(3, Profile::ANY);
        let mut seen = 0;
        shrink_failure(program, MAX_GENERATED, |program| {
            if let (false, Some((bytes, profile))) = (program.is_cut(), program.choices()) {
                seen += 1;
                assert_eq!(*program, GeneratedProgram::generate(bytes, profile));
            }
            program.source.len() > 2_000
        });
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn tries_are_counted() {
        let mut count = 0;
        shrink_failure(GeneratedProgram::of_seed(5, Profile::ANY), 7, |_| {
            count += 1;
            false
        });
        assert_eq!(count, 7);
    }

    #[test]
    fn passing_programs_leave_the_first_unchanged() {
        let program = GeneratedProgram::of_seed(5, Profile::ANY);
        let mut tree = ProgramTree::new(program.clone());
        let mut more = tree.simplify();
        while more {
            more = tree.complicate();
        }
        assert_eq!(tree.current().source, program.source);
    }

    #[test]
    fn proptest_reports_a_small_program() {
        let config = Config {
            cases: 200,
            max_shrink_iters: 5_000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner = TestRunner::new(config);
        let found = runner.run(&programs(Profile::ANY), |program| {
            let said = |what: &str| Err(Disagreement::new(&program, None, what));
            match program.source.contains("for (") {
                true => test_result(&program, said("values")),
                // Text that was cut may be refused, which is no failure.
                false if program.is_cut() => test_result(&program, said(REFUSED)),
                false => Ok(()),
            }
        });
        let Err(TestError::Fail(why, program)) = found else {
            panic!("some program has a loop: {found:?}");
        };
        let (why, shown) = (why.to_string(), format!("{program:#?}"));
        assert!(
            why.starts_with("values\n") && why.contains("for ("),
            "{why}"
        );
        assert!(shown.contains("for (") && shown.len() < 120, "{shown}");
    }

    #[test]
    fn refusal_of_a_generated_program_fails() {
        let program = GeneratedProgram::of_seed(1, Profile::ANY);
        let refused = |program: &GeneratedProgram| {
            let found = Disagreement::new(program, None, format!("{REFUSED}\nwhy"));
            test_result(program, Err(found)).unwrap_err()
        };
        assert!(matches!(refused(&program), TestCaseError::Fail(_)));
        let cut = program.with_source("shader".to_owned());
        assert!(matches!(refused(&cut), TestCaseError::Reject(_)));
    }
}
