//! Sequences: consecutive arithmetic instructions of a block, for the interpreter.
//!
//! Nothing is dispatched between two of them: the active SIMD vectors run through all. The
//! instruction that does so comes before the sequence. The single instructions stay after it, for
//! groups that must preserve the words of inactive points. So the instructions of a sequence all
//! write words that inactive points keep, or none does.

use super::super::instruction::{BatchInstruction, BatchOp, RoutineCall};
use super::Loader;

/// The fewest calls of a sequence. Fewer are left to their own instructions.
const MIN_CALLS: usize = 2;

impl Loader<'_> {
    /// Makes sequences of the instructions of the block that starts at `first`.
    pub(super) fn find_sequences(&mut self, first: usize) {
        let mut insts = self
            .out
            .instructions
            .split_off(first)
            .into_iter()
            .peekable();
        while insts.peek().is_some() {
            let start = self.out.routine_calls.len();
            let (mut own, mut all_keep) = (Vec::new(), None);
            while let Some((call, instructions, keeps_inactive)) = insts.peek().and_then(call)
                && keeps_inactive == *all_keep.get_or_insert(keeps_inactive)
            {
                self.out.routine_calls.push(call);
                own.extend(insts.by_ref().take(1 + instructions));
            }
            let count = self.out.routine_calls.len() - start;
            if count < MIN_CALLS {
                self.out.routine_calls.truncate(start);
            } else {
                self.out.instructions.push(BatchInstruction {
                    op: BatchOp::Sequence {
                        calls: (start as u32, count as u32),
                        instructions: own.len() as u32,
                        keeps_inactive: all_keep == Some(true),
                    },
                    ..own[0]
                });
            }
            if count == 0 {
                own.extend(insts.next());
            }
            self.out.instructions.extend(own);
        }
    }
}

/// The unmasked call of an instruction, if it has one. Also the number of instructions after it
/// that the call covers, and whether inactive points keep their words in the planes that it writes.
fn call(inst: &BatchInstruction) -> Option<(RoutineCall, usize, bool)> {
    let (routine, instructions, keeps_inactive) = match inst.op {
        BatchOp::Arithmetic {
            routines,
            keeps_inactive,
            ..
        } => (routines.unmasked?, 0, keeps_inactive),
        BatchOp::Superinstruction {
            routine,
            instructions,
            keeps_inactive,
        } => (routine, instructions as usize, keeps_inactive),
        _ => return None,
    };
    let refs = inst.refs;
    Some((RoutineCall { routine, refs }, instructions, keeps_inactive))
}
