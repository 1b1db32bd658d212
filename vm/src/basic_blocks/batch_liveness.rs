//! Liveness for batches: the registers that inactive points keep.

use super::{BasicBlocks, add, unite};
use crate::bytecode::{Opcode, Operands};
use std::ops::{Deref, DerefMut};

/// The basic blocks of a program, as a batch runs them.
pub(crate) struct BatchBlocks<'p> {
    blocks: BasicBlocks<'p>,
    /// Marks the instructions that control may reach by a jump.
    pub(crate) targets: Vec<bool>,
    /// Per block a bit for each register that inactive points may read later; none if the analysis
    /// was too large.
    live_in_inactive: Option<Vec<u64>>,
}

impl<'p> Deref for BatchBlocks<'p> {
    type Target = BasicBlocks<'p>;

    fn deref(&self) -> &BasicBlocks<'p> {
        &self.blocks
    }
}

impl DerefMut for BatchBlocks<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.blocks
    }
}

impl<'p> BatchBlocks<'p> {
    pub(crate) fn new(operands: &'p Operands<'p>, bails_out: &'p [bool]) -> BatchBlocks<'p> {
        let (program, blocks) = (operands.program, BasicBlocks::new(operands, bails_out));
        BatchBlocks {
            targets: super::jump_targets(program),
            live_in_inactive: blocks.find_live_in_inactive(),
            blocks,
        }
    }

    /// The registers that inactive points keep while a block runs, a bit each; none if they keep
    /// all.
    pub(crate) fn live_in_inactive(&self, block: usize) -> Option<&[u64]> {
        let words = self.words();
        let live_in_inactive = self.live_in_inactive.as_ref()?;
        Some(&live_in_inactive[block * words..][..words])
    }
}

impl BasicBlocks<'_> {
    /// Finds for each block the registers that inactive points may read. Active points are at the
    /// lowest position. So inactive points are at later blocks of the function, or after a call of
    /// it in its callers. Outputs are read once more at the end, and arrays as a whole.
    fn find_live_in_inactive(&self) -> Option<Vec<u64>> {
        let live_in = self.live_in.as_ref()?;
        let (words, program) = (self.words(), self.program);
        let functions = &self.functions;
        let of = |part: usize| part * words..(part + 1) * words;
        let mut live_in_inactive = vec![0_u64; live_in.len()];
        let mut later = vec![0_u64; words];
        for block in (0..self.len()).rev() {
            if functions.get(block + 1) != Some(&functions[block]) {
                later.fill(0);
            }
            live_in_inactive[of(block)].copy_from_slice(&later);
            unite(&mut later, &live_in[of(block)]);
        }
        let mut after_return = vec![0_u64; program.functions.len() * words];
        let mut changed = true;
        while changed {
            changed = false;
            for block in 0..self.len() {
                let last = &program.code[self.range(block).end as usize - 1];
                if last.opcode == Opcode::Call {
                    later.copy_from_slice(&live_in_inactive[of(block)]);
                    unite(&mut later, &after_return[of(functions[block])]);
                    changed |= unite(&mut after_return[of(last.words[0] as usize)], &later);
                }
            }
        }
        later.fill(0);
        let arrays = (0..self.in_array.len()).filter(|&register| self.in_array[register]);
        (self.outputs().chain(arrays)).for_each(|register| add(&mut later, register));
        for (block, &function) in functions.iter().enumerate() {
            let own = &mut live_in_inactive[of(block)];
            unite(own, &after_return[of(function)]);
            unite(own, &later);
        }
        Some(live_in_inactive)
    }
}
