//! The last use of what each instruction of a block writes.

use super::BasicBlocks;
use crate::native::LIVE_OUT;

impl BasicBlocks<'_> {
    /// The last use of each register that an instruction of a block writes, before it is written
    /// again.
    pub(crate) fn last_uses(&mut self, block: usize) -> LastUses {
        let (program, range) = (self.program, self.range(block));
        let mut last_read = std::mem::take(&mut self.last_read);
        last_read.resize(program.registers as usize, (u32::MAX, 0));
        let later = |register: u32| self.last_use_after(block, register);
        let mut last_uses = LastUses {
            all: Vec::with_capacity(range.len()),
            ends: Vec::with_capacity(range.len()),
        };
        for position in range.rev() {
            let code = &program.code[position as usize];
            self.operands.for_each_def(code, |register| {
                let (of, at) = last_read[register as usize];
                let last_use = if of == block as u32 {
                    at
                } else {
                    later(register)
                };
                last_uses.all.push(last_use);
                last_read[register as usize] = (block as u32, 0);
            });
            self.operands.for_each_use(code, |register| {
                let last = &mut last_read[register as usize];
                if last.0 != block as u32 {
                    *last = (block as u32, later(register));
                }
                last.1 = last.1.max(position);
            });
            last_uses.ends.push(last_uses.all.len() as u32);
        }
        self.last_read = last_read;
        last_uses
    }

    /// The last use in a block of a register that is live at its start, before it is written:
    /// after [`last_uses`](BasicBlocks::last_uses) of that block.
    #[cfg(feature = "batch")]
    pub(crate) fn last_use_of_live_in(&self, block: usize, register: u32) -> u32 {
        match self.last_read[register as usize] {
            (of, at) if of == block as u32 => at,
            _ => self.last_use_after(block, register),
        }
    }

    /// [`LIVE_OUT`] for a register that is live-out of a block, else 0.
    fn last_use_after(&self, block: usize, register: u32) -> u32 {
        match self.live_out(block) {
            Some(live) if live[register as usize / 64] >> (register % 64) & 1 == 0 => 0,
            _ => LIVE_OUT,
        }
    }
}

/// The last uses of the registers that the instructions of a block write: positions, 0 for never,
/// [`LIVE_OUT`] for a live-out register. They are in the order of
/// [`Operands::for_each_def`](crate::bytecode::Operands::for_each_def), those of the last
/// instruction first.
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
