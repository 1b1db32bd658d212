//! Steps of the budget: those that only rows part are taken at once, in front of the rows.

use super::super::step::{Act, Step};
use super::Loader;

impl Loader<'_> {
    /// In the block that begins at `first`, steps that count move in front of the rows and cells before them: those have no effects. Where
    /// there are several, a step for all of them comes first.
    pub(super) fn gather_counts(&mut self, first: usize) {
        let is_count = |step: &Step| matches!(step.act, Act::Count(_));
        if !self.out.steps[first..].iter().any(is_count) {
            return;
        }
        let steps = self.out.steps.split_off(first);
        let operands = self.counts.split_off(first);
        let (mut counting, mut rows) = (Vec::new(), Vec::new());
        for (step, operands) in steps.into_iter().zip(operands) {
            match step.act {
                Act::Count(open) => counting.push((step, open)),
                Act::Row { .. } | Act::Cell(..) | Act::Fused { .. } => rows.push((step, operands)),
                _ => {
                    self.put(&mut counting, &mut rows);
                    self.out.steps.push(step);
                    self.counts.push(operands);
                }
            }
        }
        self.put(&mut counting, &mut rows);
    }

    /// Puts steps that count, with the calls that are open around each, and rows with how many operands each has.
    fn put(&mut self, counting: &mut Vec<(Step, Option<u32>)>, rows: &mut Vec<(Step, u32)>) {
        if let [(step, _), _, ..] = &counting[..] {
            let count = counting.len() as u32;
            let open = counting.iter().map(|&(_, open)| open).max().flatten();
            let act = Act::CountAll { count, open };
            self.out.steps.push(Step { act, ..*step });
            self.counts.push(0);
        }
        let counting = counting.drain(..).map(|(step, _)| (step, 0));
        for (step, operands) in counting.chain(rows.drain(..)) {
            self.out.steps.push(step);
            self.counts.push(operands);
        }
    }
}
