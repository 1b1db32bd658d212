//! Liveness for batches: the last use of each register in a block, and the registers that inactive
//! points keep.

use super::{BasicBlocks, add, unite};
use crate::bytecode::{Opcode, Operands};
use std::ops::Deref;

/// The last use of a register that is live-out of its block.
pub(crate) const LIVE_OUT: u32 = u32::MAX;

/// The basic blocks of a program, as a batch runs them.
pub(crate) struct BatchBlocks<'p> {
    blocks: BasicBlocks<'p>,
    /// Marks the instructions that control may reach by a jump.
    pub(crate) targets: Vec<bool>,
    /// Per block a bit for each register that inactive points may read later; none if the analysis
    /// was too large.
    live_in_inactive: Option<Vec<u64>>,
    last_read: Vec<(u32, u32)>,
}

impl<'p> Deref for BatchBlocks<'p> {
    type Target = BasicBlocks<'p>;

    fn deref(&self) -> &BasicBlocks<'p> {
        &self.blocks
    }
}

impl<'p> BatchBlocks<'p> {
    pub(crate) fn new(operands: &'p Operands<'p>, bails_out: &'p [bool]) -> BatchBlocks<'p> {
        let (program, blocks) = (operands.program, BasicBlocks::new(operands, bails_out));
        BatchBlocks {
            targets: super::jump_targets(program),
            live_in_inactive: blocks.find_live_in_inactive(),
            last_read: vec![(u32::MAX, 0); program.registers as usize],
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

    /// The last use in a block of a register that is live at its start, before it is written:
    /// after [`last_uses`](BatchBlocks::last_uses) of that block.
    pub(crate) fn last_use_of_live_in(&self, block: usize, register: u32) -> u32 {
        match self.last_read[register as usize] {
            (of, at) if of == block as u32 => at,
            _ => self.last_use_after(block, register),
        }
    }

    /// The last use of each register that an instruction of a block writes, before it is written
    /// again.
    pub(crate) fn last_uses(&mut self, block: usize) -> LastUses {
        let BatchBlocks {
            blocks, last_read, ..
        } = self;
        let program = blocks.program;
        let later = |register: u32| blocks.last_use_after(block, register);
        let range = blocks.range(block);
        let mut last_uses = LastUses {
            all: Vec::with_capacity(range.len()),
            ends: Vec::with_capacity(range.len()),
        };
        for position in range.rev() {
            let code = &program.code[position as usize];
            blocks.operands.for_each_def(code, |register| {
                let (of, at) = last_read[register as usize];
                let last_use = if of == block as u32 {
                    at
                } else {
                    later(register)
                };
                last_uses.all.push(last_use);
                last_read[register as usize] = (block as u32, 0);
            });
            blocks.operands.for_each_use(code, |register| {
                let last = &mut last_read[register as usize];
                if last.0 != block as u32 {
                    *last = (block as u32, later(register));
                }
                last.1 = last.1.max(position);
            });
            last_uses.ends.push(last_uses.all.len() as u32);
        }
        last_uses
    }
}

impl BasicBlocks<'_> {
    /// [`LIVE_OUT`] for a register that is live-out of a block, else 0.
    fn last_use_after(&self, block: usize, register: u32) -> u32 {
        match self.live_out(block) {
            Some(live) if live[register as usize / 64] >> (register % 64) & 1 == 0 => 0,
            _ => LIVE_OUT,
        }
    }

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

/// The last uses of the registers that the instructions of a block write: positions, 0 for never,
/// [`LIVE_OUT`] for a live-out register. They are in the order of [`Operands::for_each_def`], those
/// of the last instruction first.
pub(crate) struct LastUses {
    all: Vec<u32>,
    /// The end of each instruction's last uses, that of the last instruction first.
    ends: Vec<u32>,
}

impl LastUses {
    /// The last uses of each instruction, from the first one on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).rev().map(|index| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.all[start as usize..self.ends[index] as usize]
        })
    }
}
