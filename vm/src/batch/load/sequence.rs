//! Sequences: rows of a block that follow one another, for the interpreter.
//!
//! Between two of them nothing is asked: whole packs of the group run through all. In front of a sequence comes the step that does so; its own
//! steps stay behind it, for groups that have to leave what others keep alone. So a sequence's rows all write what others keep, or none does.

use super::super::instruction::{BatchInstruction, BatchOp, RoutineCall};
use super::Loader;

/// Fewer rows are left to their own steps.
const MIN_CALLS: usize = 2;

impl Loader<'_> {
    /// Makes sequences of the steps of the block that begins at `first`.
    pub(super) fn find_sequences(&mut self, first: usize) {
        let mut steps = self
            .out
            .instructions
            .split_off(first)
            .into_iter()
            .peekable();
        while steps.peek().is_some() {
            let start = self.out.routine_calls.len();
            let (mut own, mut all_kept) = (Vec::new(), None);
            while let Some((call, rows, kept)) = steps.peek().and_then(call)
                && kept == *all_kept.get_or_insert(kept)
            {
                self.out.routine_calls.push(call);
                own.extend(steps.by_ref().take(1 + rows));
            }
            let count = self.out.routine_calls.len() - start;
            if count < MIN_CALLS {
                self.out.routine_calls.truncate(start);
            } else {
                self.out.instructions.push(BatchInstruction {
                    op: BatchOp::Sequence {
                        calls: (start as u32, count as u32),
                        steps: own.len() as u32,
                        kept: all_kept == Some(true),
                    },
                    ..own[0]
                });
            }
            if count == 0 {
                own.extend(steps.next());
            }
            self.out.instructions.extend(own);
        }
    }
}

/// What a step calls for whole packs, how many rows follow that are computed by that, and whether points that do not run keep what they have in the
/// planes that it writes; if it is such a step.
fn call(step: &BatchInstruction) -> Option<(RoutineCall, usize, bool)> {
    let (routine, rows, kept) = match step.op {
        BatchOp::Arithmetic { routines, kept, .. } => (routines.unmasked?, 0, kept),
        BatchOp::Superinstruction {
            routine,
            rows,
            kept,
        } => (routine, rows as usize, kept),
        _ => return None,
    };
    let refs = step.refs;
    Some((RoutineCall { routine, refs }, rows, kept))
}
