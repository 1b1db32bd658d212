//! What batches ask of blocks besides: where words are last read, and what those keep who wait while a block runs.

use super::{BasicBlocks, add, for_each_def, for_each_use, unite};
use crate::bytecode::{Bytecode, Opcode};
use std::ops::Deref;

/// A word that is read behind its block.
pub(crate) const LIVE_OUT: u32 = u32::MAX;

/// A program's blocks as a batch goes through them.
pub(crate) struct BatchBlocks<'p> {
    blocks: BasicBlocks<'p>,
    /// Where control can come from elsewhere than the instruction before.
    pub(crate) targets: Vec<bool>,
    /// Words, a bit each, that those who wait while a block runs may read later; all words if that was too much to find out.
    kept: Option<Vec<u64>>,
    last_read: Vec<(u32, u32)>,
}

impl<'p> Deref for BatchBlocks<'p> {
    type Target = BasicBlocks<'p>;

    fn deref(&self) -> &BasicBlocks<'p> {
        &self.blocks
    }
}

impl<'p> BatchBlocks<'p> {
    pub(crate) fn new(program: &'p Bytecode, leaves: &'p [bool]) -> BatchBlocks<'p> {
        let blocks = BasicBlocks::new(program, leaves);
        BatchBlocks {
            targets: super::jump_targets(program),
            kept: blocks.find_kept(),
            last_read: vec![(u32::MAX, 0); program.registers as usize],
            blocks,
        }
    }

    /// Words, a bit each, that those keep who wait while a block runs; nothing if all.
    pub(crate) fn live_in_inactive(&self, block: usize) -> Option<&[u64]> {
        let words = self.words();
        let kept = self.kept.as_ref()?;
        Some(&kept[block * words..][..words])
    }

    /// Where the words that each instruction of a block writes are last read before they are written again.
    pub(crate) fn last_uses(&mut self, block: usize) -> LastUses {
        let BatchBlocks {
            blocks, last_read, ..
        } = self;
        let (program, live_out) = (blocks.program, blocks.live_out(block));
        let behind = |slot: u32| match live_out {
            Some(live) if live[slot as usize / 64] >> (slot % 64) & 1 == 0 => 0,
            _ => LIVE_OUT,
        };
        let range = blocks.range(block);
        let mut deaths = LastUses {
            all: Vec::with_capacity(range.len()),
            ends: Vec::with_capacity(range.len()),
        };
        for position in range.rev() {
            let code = &program.code[position as usize];
            for_each_def(program, code, |slot| {
                let (of, at) = last_read[slot as usize];
                let death = if of == block as u32 { at } else { behind(slot) };
                deaths.all.push(death);
                last_read[slot as usize] = (block as u32, 0);
            });
            for_each_use(program, code, |slot| {
                let last = &mut last_read[slot as usize];
                if last.0 != block as u32 {
                    *last = (block as u32, behind(slot));
                }
                last.1 = last.1.max(position);
            });
            deaths.ends.push(deaths.all.len() as u32);
        }
        deaths
    }
}

impl BasicBlocks<'_> {
    /// Finds for each block what those may read who wait while it runs. Whoever runs is at the least position, so others wait at later blocks of the
    /// function, or behind a call of it in those that called. Outputs are read once more when all is done, and arrays as a whole.
    fn find_kept(&self) -> Option<Vec<u64>> {
        let live_in = self.live_in.as_ref()?;
        let (words, program) = (self.words(), self.program);
        let functions = &self.functions;
        let of = |part: usize| part * words..(part + 1) * words;
        let mut kept = vec![0_u64; live_in.len()];
        let mut behind = vec![0_u64; words];
        for block in (0..self.len()).rev() {
            if functions.get(block + 1) != Some(&functions[block]) {
                behind.fill(0);
            }
            kept[of(block)].copy_from_slice(&behind);
            unite(&mut behind, &live_in[of(block)]);
        }
        let mut waiting = vec![0_u64; program.functions.len() * words];
        let mut changed = true;
        while changed {
            changed = false;
            for block in 0..self.len() {
                let last = &program.code[self.range(block).end as usize - 1];
                if last.opcode == Opcode::Call {
                    behind.copy_from_slice(&kept[of(block)]);
                    unite(&mut behind, &waiting[of(functions[block])]);
                    changed |= unite(&mut waiting[of(last.words[0] as usize)], &behind);
                }
            }
        }
        behind.fill(0);
        let arrays = (0..self.in_array.len()).filter(|&slot| self.in_array[slot]);
        (self.outputs().chain(arrays)).for_each(|slot| add(&mut behind, slot));
        for (block, &function) in functions.iter().enumerate() {
            let own = &mut kept[of(block)];
            unite(own, &waiting[of(function)]);
            unite(own, &behind);
        }
        Some(kept)
    }
}

/// Where words are last read that the instructions of a block write: positions, 0 for never, [`LIVE_OUT`] for behind the block; in the order in which
/// [`for_each_def`] gives them, those of the last instruction first.
pub(crate) struct LastUses {
    all: Vec<u32>,
    /// Where those of each instruction end, that of the last one first.
    ends: Vec<u32>,
}

impl LastUses {
    /// Those of each instruction, from the first one on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).rev().map(|index| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.all[start as usize..self.ends[index] as usize]
        })
    }
}
