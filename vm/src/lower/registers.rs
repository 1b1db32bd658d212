//! Registers of one function: slots in its own range, reused as values die.

use crate::bytecode::width;
use adumbra_ir::types::Lanes;

/// Hands out registers one, two or three slots wide. A freed one is reused for the next value of its width, latest first.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    top: u32,
    free: [Vec<u32>; 3],
}

impl Registers {
    /// Starts over; the first register is at slot `start`.
    pub(crate) fn reset(&mut self, start: u32) {
        self.top = start;
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// One past the last slot handed out so far.
    pub(crate) fn top(&self) -> u32 {
        self.top
    }

    /// A register for a value with these shadows.
    pub(crate) fn take(&mut self, lanes: Lanes) -> u32 {
        let width = width(lanes);
        self.free[width as usize - 1].pop().unwrap_or_else(|| {
            let slot = self.top;
            self.top = slot.saturating_add(width);
            slot
        })
    }

    /// Gives a register back.
    pub(crate) fn give_back(&mut self, slot: u32, lanes: Lanes) {
        self.free[width(lanes) as usize - 1].push(slot);
    }
}
