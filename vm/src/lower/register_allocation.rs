//! Register allocation of one function, by linear scan during emission: registers in its own range,
//! reused after a delay as values die.
//!
//! The range grows as needed, so nothing is spilled. [`liveness`](super::liveness) has the live
//! ranges and hints.

use crate::bytecode::register_count;
use adumbra_ir::types::Lanes;

/// The reuse delay: instructions for which a freed register is not reused while there is another
/// one. The fusion pass of the batch engine joins instructions across others, unless these write
/// the operands of one of them. With a delay of 8, sphere tracing takes 8 % less time. With an
/// unlimited delay, more planes are in use than the first-level cache holds.
const REUSE_DELAY: u32 = 8;

/// A register that is free.
#[derive(Clone, Copy, Debug)]
struct Freed {
    register: u32,
    /// The instruction count when it was freed.
    at: u32,
}

/// Allocates one, two or three consecutive registers for a value and its shadows. The result of an
/// instruction reuses a register that the instruction frees, else the latest whose delay is over;
/// if there is none, the latest.
#[derive(Debug, Default)]
pub(crate) struct RegisterAllocator {
    top: u32,
    /// By width, in the order in which they became free.
    free: [Vec<Freed>; 3],
    /// How many instructions there were.
    now: u32,
}

impl RegisterAllocator {
    /// Starts over; the first register is `start`.
    pub(crate) fn reset(&mut self, start: u32) {
        self.top = start;
        self.free.iter_mut().for_each(Vec::clear);
        self.now = 0;
    }

    /// Counts an instruction, whether or not control can come there.
    pub(crate) fn next_instruction(&mut self) {
        self.now = self.now.saturating_add(1);
    }

    /// One past the last register allocated so far.
    pub(crate) fn top(&self) -> u32 {
        self.top
    }

    /// Allocates a register for a value with these lanes.
    pub(crate) fn take(&mut self, lanes: Lanes) -> u32 {
        let width = register_count(lanes);
        let free = &mut self.free[width as usize - 1];
        let reusable =
            free.partition_point(|freed| freed.at.saturating_add(REUSE_DELAY) < self.now);
        let at = match free.last() {
            None => {
                let register = self.top;
                self.top = register.saturating_add(width);
                return register;
            }
            Some(last) if last.at == self.now || reusable == 0 => free.len() - 1,
            Some(_) => reusable - 1,
        };
        // After it are those alone that were freed at the last `REUSE_DELAY` instructions and at
        // this one. So no more entries move up than these instructions have last uses. These are a
        // few for an op, thousands where a call or a loop end frees as many, but only during the
        // delay.
        free.remove(at).register
    }

    /// Frees a register.
    pub(crate) fn give_back(&mut self, register: u32, lanes: Lanes) {
        self.free[register_count(lanes) as usize - 1].push(Freed {
            register,
            at: self.now,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_register_reuse_is_delayed() {
        let mut registers = RegisterAllocator::default();
        registers.reset(10);
        let [a, b, c] = [(); 3].map(|()| registers.take(Lanes::NONE));
        assert_eq!([a, b, c], [10, 11, 12]);
        registers.give_back(a, Lanes::NONE);
        for _ in 0..=REUSE_DELAY {
            registers.next_instruction();
        }
        // The delay of the first is over, the second is free for this instruction's result.
        registers.give_back(b, Lanes::NONE);
        assert_eq!(registers.take(Lanes::NONE), b);
        registers.give_back(b, Lanes::NONE);
        registers.next_instruction();
        registers.give_back(c, Lanes::NONE);
        registers.next_instruction();
        assert_eq!(registers.take(Lanes::NONE), a);
        // No delay is over: the latest.
        assert_eq!(registers.take(Lanes::NONE), c);
        assert_eq!(registers.take(Lanes::NONE), b);
        assert_eq!(registers.take(Lanes::NONE), 13);
    }
}
