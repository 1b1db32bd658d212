//! Registers of one function: slots in its own range, reused as values die.

use crate::bytecode::register_count;
use adumbra_ir::types::Lanes;

/// Instructions for which a register rests that became free, as long as there is another one. The batch engine computes rows together that others stand between, unless these write
/// what one of them reads: with 8, sphere tracing takes a twelfth less; where all rest as long as they can, more planes are in use than the first cache holds.
const REST: u32 = 8;

/// A register that is free.
#[derive(Clone, Copy, Debug)]
struct Freed {
    slot: u32,
    /// How many instructions there were when it became so.
    at: u32,
}

/// Hands out registers one, two or three slots wide. What is freed by an instruction is reused for its result, else the latest that has rested; if none has, the latest.
#[derive(Debug, Default)]
pub(crate) struct RegisterAllocator {
    top: u32,
    /// By width, in the order in which they became free.
    free: [Vec<Freed>; 3],
    /// How many instructions there were.
    now: u32,
}

impl RegisterAllocator {
    /// Starts over; the first register is at slot `start`.
    pub(crate) fn reset(&mut self, start: u32) {
        self.top = start;
        self.free.iter_mut().for_each(Vec::clear);
        self.now = 0;
    }

    /// An instruction stands there, or would if control came there.
    pub(crate) fn next_instruction(&mut self) {
        self.now = self.now.saturating_add(1);
    }

    /// One past the last slot handed out so far.
    pub(crate) fn top(&self) -> u32 {
        self.top
    }

    /// A register for a value with these shadows.
    pub(crate) fn take(&mut self, lanes: Lanes) -> u32 {
        let width = register_count(lanes);
        let free = &mut self.free[width as usize - 1];
        let rested = free.partition_point(|freed| freed.at.saturating_add(REST) < self.now);
        let at = match free.last() {
            None => {
                let slot = self.top;
                self.top = slot.saturating_add(width);
                return slot;
            }
            Some(last) if last.at == self.now || rested == 0 => free.len() - 1,
            Some(_) => rested - 1,
        };
        // Behind it are those alone that became free at the last `REST` instructions and at this one, so what is moved up are no more than the values that these read for the last time:
        // a few for rows, thousands where a call or the end of a loop frees as many, but for no longer than they rest.
        free.remove(at).slot
    }

    /// Gives a register back.
    pub(crate) fn give_back(&mut self, slot: u32, lanes: Lanes) {
        self.free[register_count(lanes) as usize - 1].push(Freed { slot, at: self.now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_free_rests_unless_it_is_for_the_result() {
        let mut registers = RegisterAllocator::default();
        registers.reset(10);
        let [a, b, c] = [(); 3].map(|()| registers.take(Lanes::NONE));
        assert_eq!([a, b, c], [10, 11, 12]);
        registers.give_back(a, Lanes::NONE);
        for _ in 0..=REST {
            registers.next_instruction();
        }
        // The first has rested, the second is free for this instruction's result.
        registers.give_back(b, Lanes::NONE);
        assert_eq!(registers.take(Lanes::NONE), b);
        registers.give_back(b, Lanes::NONE);
        registers.next_instruction();
        registers.give_back(c, Lanes::NONE);
        registers.next_instruction();
        assert_eq!(registers.take(Lanes::NONE), a);
        // None has rested: the latest.
        assert_eq!(registers.take(Lanes::NONE), c);
        assert_eq!(registers.take(Lanes::NONE), b);
        assert_eq!(registers.take(Lanes::NONE), 13);
    }
}
