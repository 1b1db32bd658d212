//! Step counts: steps that only arithmetic instructions separate are taken at once, before those.

use super::super::instruction::{BatchInstruction, BatchOp};
use super::Loader;

impl Loader<'_> {
    /// In the block that starts at `first`, step counts move before the arithmetic instructions and
    /// uniforms before them, which have no effects. Where there are several, one instruction for
    /// all of them comes first.
    pub(super) fn merge_step_counts(&mut self, first: usize) {
        let is_count = |inst: &BatchInstruction| matches!(inst.op, BatchOp::CountStep(_));
        if !self.out.instructions[first..].iter().any(is_count) {
            return;
        }
        let insts = self.out.instructions.split_off(first);
        let operands = self.counts.split_off(first);
        let (mut counting, mut instructions) = (Vec::new(), Vec::new());
        for (inst, operands) in insts.into_iter().zip(operands) {
            match inst.op {
                BatchOp::CountStep(open) => counting.push((inst, open)),
                BatchOp::Arithmetic { .. }
                | BatchOp::Uniform(..)
                | BatchOp::Superinstruction { .. } => instructions.push((inst, operands)),
                _ => {
                    self.put(&mut counting, &mut instructions);
                    self.out.instructions.push(inst);
                    self.counts.push(operands);
                }
            }
        }
        self.put(&mut counting, &mut instructions);
    }

    /// Emits step counts, with the inlined calls that are open around each, then instructions with
    /// their numbers of operands.
    fn put(
        &mut self,
        counting: &mut Vec<(BatchInstruction, Option<u32>)>,
        instructions: &mut Vec<(BatchInstruction, u32)>,
    ) {
        if let [(inst, _), _, ..] = &counting[..] {
            let count = counting.len() as u32;
            let open = counting.iter().map(|&(_, open)| open).max().flatten();
            let batch_op = BatchOp::CountSteps { count, open };
            self.out.instructions.push(BatchInstruction {
                op: batch_op,
                ..*inst
            });
            self.counts.push(0);
        }
        let counting = counting.drain(..).map(|(inst, _)| (inst, 0));
        for (inst, operands) in counting.chain(instructions.drain(..)) {
            self.out.instructions.push(inst);
            self.counts.push(operands);
        }
    }
}
