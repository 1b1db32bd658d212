//! Sequences: consecutive arithmetic instructions of a block, for the interpreter.
//!
//! Nothing is dispatched between two of them: the active SIMD vectors run through all. The
//! instruction that does so comes before the sequence. The single instructions stay after it, for
//! groups that must preserve more words of inactive points than are worth saving.

use super::super::instruction::{
    BatchInstruction, BatchOp, FUSED_INSTRUCTIONS, InactiveWords, RoutineCall,
};
use super::{Loader, written};
use rustc_hash::FxHashSet;

/// The fewest calls of a sequence. Fewer are left to their own instructions.
const MIN_CALLS: usize = 2;

/// The fewest instructions of a segment or a sequence for each plane that is saved for inactive
/// points. Where there are fewer, saving costs more than the routines that leave those points
/// alone.
const MIN_INSTRUCTIONS_PER_SAVED: usize = 4;

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
            let mut own = Vec::new();
            let mut kept = Vec::new();
            while let Some((call, instructions)) = insts.peek().and_then(call) {
                self.out.routine_calls.push(call);
                let first = own.len();
                own.extend(insts.by_ref().take(1 + instructions));
                kept.extend(self.kept_operands(&own[first]));
            }
            let count = self.out.routine_calls.len() - start;
            if count < MIN_CALLS {
                self.out.routine_calls.truncate(start);
            } else {
                let inactive = self.inactive_words(kept, count);
                self.out.instructions.push(BatchInstruction {
                    op: BatchOp::Sequence {
                        calls: (start as u32, count as u32),
                        instructions: own.len() as u32,
                        inactive,
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

    /// The operands that an arithmetic instruction or a superinstruction writes, and whose words
    /// inactive points keep.
    pub(super) fn kept_operands(&self, inst: &BatchInstruction) -> Vec<u32> {
        let count = match inst.op {
            BatchOp::Arithmetic { pattern, .. } => written(pattern),
            BatchOp::Superinstruction { written, .. } => written as usize,
            _ => 0,
        };
        let is_kept = |&at: &u32| self.keeps_inactive(self.out.operands[at as usize]);
        (inst.refs..).take(count).filter(is_kept).collect()
    }

    /// How a segment or a sequence of that many instructions preserves the words of inactive points
    /// that are at these operands.
    pub(super) fn inactive_words(
        &mut self,
        mut kept: Vec<u32>,
        instructions: usize,
    ) -> InactiveWords {
        let operands = &self.out.operands;
        let mut planes = FxHashSet::default();
        kept.retain(|&at| planes.insert(operands[at as usize]));
        match kept.len() {
            0 => InactiveWords::Unread,
            count if count * MIN_INSTRUCTIONS_PER_SAVED > instructions => InactiveWords::Kept,
            count => {
                let first = self.out.saved_operands.len();
                self.out.saved_operands.extend(kept);
                InactiveWords::Saved(first as u32, count as u32)
            }
        }
    }
}

/// The unmasked call of an instruction, if it has one, and the number of instructions after it that
/// the call covers.
fn call(inst: &BatchInstruction) -> Option<(RoutineCall, usize)> {
    let (routine, instructions) = match inst.op {
        BatchOp::Arithmetic { routines, .. } => (routines.unmasked?, 0),
        BatchOp::Superinstruction { routine, .. } => (routine, FUSED_INSTRUCTIONS),
        _ => return None,
    };
    let refs = inst.refs;
    Some((RoutineCall { routine, refs }, instructions))
}
