//! The mix of a target: counts of the fates of its inputs.

use crate::feature::ProgramKind;
use crate::mix::ProgramMix;
use crate::oracle::bytecode::DEADLINE;
use crate::oracle::gradients::GradientComparison;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The mix of the inputs of one target.
#[derive(Clone, Debug)]
pub struct InputCoverage {
    /// Inputs.
    pub inputs: usize,
    /// Counts by the fate of an input, or of the things made from it.
    pub fates: BTreeMap<&'static str, usize>,
    /// The mix of generated programs that were compared with finite differences.
    pub programs: ProgramMix,
    /// The part of their derivatives that was compared.
    pub compared: GradientComparison,
    /// The time that a point of theirs may take, if clocks count.
    ///
    /// They do not in tests, whose machines may be busy.
    pub deadline: Option<Duration>,
}

impl Default for InputCoverage {
    fn default() -> InputCoverage {
        InputCoverage {
            inputs: 0,
            fates: BTreeMap::new(),
            programs: ProgramMix::of(ProgramKind::Gradient),
            compared: GradientComparison::default(),
            deadline: None,
        }
    }
}

impl InputCoverage {
    /// The same for a campaign, in which a point that takes too long is a failure.
    pub fn with_deadline() -> InputCoverage {
        InputCoverage {
            deadline: Some(DEADLINE),
            ..InputCoverage::default()
        }
    }

    /// Counts something that became of an input.
    pub fn count(&mut self, fate: &'static str) {
        self.count_many(fate, 1);
    }

    /// The same, `count` times.
    pub fn count_many(&mut self, fate: &'static str, count: usize) {
        *self.fates.entry(fate).or_default() += count;
    }
}

impl fmt::Display for InputCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} inputs", self.inputs)?;
        for (fate, count) in &self.fates {
            write!(f, "; {fate}: {count}")?;
        }
        if self.programs.programs > 0 {
            write!(f, "\n{}\n{}", self.programs, self.compared)?;
        }
        Ok(())
    }
}
