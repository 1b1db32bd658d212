//! Random modules of IR for proptest, which shrink by the choices that their generator made.

use super::choices::ChoiceShrinker;
use adumbra_ir::Module;
use adumbra_ir::random::generate_by;
use adumbra_ir::text::{SpanComments, print};
use proptest::collection::{VecStrategy, vec};
use proptest::num::u8::Any;
use proptest::prelude::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::fmt;

/// The greatest number of bytes that modules of [`modules`] are made from.
const MAX_DRAWN: usize = 1_500;

/// Sound modules without lanes.
pub fn modules() -> Modules {
    Modules {
        bytes: vec(any::<u8>(), 0..MAX_DRAWN),
    }
}

/// The strategy that [`modules`] gives.
#[derive(Debug)]
pub struct Modules {
    bytes: VecStrategy<Any>,
}

impl Strategy for Modules {
    type Tree = ModuleTree;
    type Value = RandomModule;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Modules> {
        let bytes = self.bytes.new_tree(runner)?.current();
        Ok(ModuleTree {
            best: RandomModule(generate_by(&bytes)),
            candidate: None,
            choices: ChoiceShrinker::new(&bytes),
        })
    }
}

/// A module that shows itself as text.
#[derive(Clone, PartialEq)]
pub struct RandomModule(pub Module);

impl RandomModule {
    /// The number of its instructions.
    pub fn size(&self) -> usize {
        let regions = self.0.functions.iter().flat_map(|f| &f.regions);
        regions.map(|region| region.insts.len()).sum()
    }
}

impl fmt::Debug for RandomModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(&self.0, SpanComments::Hidden))
    }
}

/// A failing module, and the ways to make it simpler that are left.
#[derive(Clone, Debug)]
pub struct ModuleTree {
    /// The simplest one that failed.
    best: RandomModule,
    /// The one to be looked at next.
    candidate: Option<RandomModule>,
    choices: ChoiceShrinker,
}

impl ModuleTree {
    /// Looks for the next module to try.
    fn propose(&mut self) -> bool {
        while let Some(bytes) = self.choices.propose() {
            let candidate = RandomModule(generate_by(&bytes));
            if candidate == self.best {
                // The same by fewer or smaller choices.
                self.choices.accept();
            } else if candidate.size() <= self.best.size() {
                self.candidate = Some(candidate);
                return true;
            }
        }
        false
    }
}

impl ValueTree for ModuleTree {
    type Value = RandomModule;

    fn current(&self) -> RandomModule {
        self.candidate.as_ref().unwrap_or(&self.best).clone()
    }

    /// The current module fails: a simpler one comes next.
    fn simplify(&mut self) -> bool {
        if let Some(candidate) = self.candidate.take() {
            self.best = candidate;
            self.choices.accept();
        }
        self.propose()
    }

    /// The current module does not fail: another one comes next, or it is the one before again.
    fn complicate(&mut self) -> bool {
        self.candidate.take().is_some() && self.propose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::module::InstKind;
    use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError};

    /// How many instructions of a kind are left of the first module with such a one, of all.
    fn shrunk(is_wanted: impl Fn(&InstKind) -> bool) -> (usize, RandomModule) {
        let config = Config {
            max_shrink_iters: 5_000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..Config::default()
        };
        let wanted = |module: &Module| {
            let regions = module.functions.iter().flat_map(|f| &f.regions);
            let insts = regions.flat_map(|region| &region.insts);
            insts.filter(|inst| is_wanted(&inst.kind)).count()
        };
        let found = TestRunner::new(config).run(&modules(), |module| {
            adumbra_ir::verify(&module.0).expect("what shrank is sound");
            match wanted(&module.0) {
                0 => Ok(()),
                _ => Err(TestCaseError::fail("there is one")),
            }
        });
        match found {
            Err(TestError::Fail(_, module)) => (wanted(&module.0), module),
            other => panic!("some module has one: {other:?}"),
        }
    }

    #[test]
    fn failing_module_shrinks_to_a_few_instructions() {
        let none = RandomModule(generate_by(&[])).size();
        let (count, module) = shrunk(|kind| matches!(kind, InstKind::MakeClosure(_)));
        // How many functions there are is one of the first choices, on which all others depend.
        assert!(count == 1 && module.size() <= 5 * none, "{module:?}");
        let (count, module) = shrunk(|kind| matches!(kind, InstKind::Loop(_)));
        assert!(count == 1 && module.size() <= none + 15, "{module:?}");
        let (count, module) = shrunk(|kind| matches!(kind, InstKind::Call(..)));
        assert!(count == 1 && module.size() <= 5 * none, "{module:?}");
    }
}
