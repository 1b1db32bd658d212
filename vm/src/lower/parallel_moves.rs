//! Parallel moves: several values move to their registers as if at once.
//!
//! A move waits until every other move that reads its target has been made. In a cycle of moves,
//! one source is first copied to a scratch register (Boissinot et al., "Revisiting Out-of-SSA
//! Translation for Correctness, Code Quality, and Efficiency", 2009).

use super::register_allocation::RegisterAllocator;
use crate::bytecode::{BytecodeInstruction, Opcode, Register, register_count};
use adumbra_ir::types::Lanes;

/// A register and the lanes that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegisterOperand {
    pub(crate) register: Register,
    pub(crate) lanes: Lanes,
}

impl RegisterOperand {
    /// Its registers; none for a constant, which is never written.
    fn registers(self) -> std::ops::Range<u32> {
        match self.register.as_constant() {
            Some(_) => 0..0,
            None => self.register.0..self.register.0 + register_count(self.lanes),
        }
    }
}

/// The instruction that moves a value; none if it is there already.
fn instruction(to: RegisterOperand, from: RegisterOperand) -> Option<BytecodeInstruction> {
    if to.register == from.register && from.lanes.contains(to.lanes) {
        return None;
    }
    let opcode = Opcode::Move(to.lanes, from.lanes & to.lanes);
    Some(BytecodeInstruction::new(
        opcode,
        [to.register.0, from.register.0],
    ))
}

struct Move {
    to: RegisterOperand,
    from: RegisterOperand,
    /// How many moves that are not made yet read the registers that this one writes.
    waits_for: u32,
    made: bool,
}

/// Moves to be made together. The memory is kept.
#[derive(Default)]
pub(crate) struct ParallelMoves {
    moves: Vec<Move>,
    ready: Vec<usize>,
    scratch: Vec<RegisterOperand>,
}

impl ParallelMoves {
    /// Adds a move. Targets must not overlap.
    pub(crate) fn add(&mut self, to: RegisterOperand, from: RegisterOperand) {
        self.moves.push(Move {
            to,
            from,
            waits_for: 0,
            made: false,
        });
    }

    /// Emits all moves added, and forgets them.
    pub(crate) fn emit(
        &mut self,
        registers: &mut RegisterAllocator,
        mut out: impl FnMut(BytecodeInstruction),
    ) {
        if let [only] = &self.moves[..] {
            instruction(only.to, only.from).map(out);
            self.moves.clear();
            return;
        }
        self.moves.sort_unstable_by_key(|m| m.to.register);
        for i in 0..self.moves.len() {
            for j in self.overwriters(i) {
                self.moves[j].waits_for += u32::from(j != i);
            }
        }
        self.ready.clear();
        self.ready
            .extend((0..self.moves.len()).filter(|&i| self.moves[i].waits_for == 0));
        let mut next = 0;
        loop {
            while let Some(i) = self.ready.pop() {
                self.moves[i].made = true;
                let Move { to, from, .. } = self.moves[i];
                instruction(to, from).map(&mut out);
                self.release(i);
            }
            while next < self.moves.len() && self.moves[next].made {
                next += 1;
            }
            if next == self.moves.len() {
                break;
            }
            // All moves that are left wait. Copying one source lets its overwriter go.
            let from = self.moves[next].from;
            let aside = RegisterOperand {
                register: Register(registers.take(from.lanes)),
                lanes: from.lanes,
            };
            self.scratch.push(aside);
            instruction(aside, from).map(&mut out);
            self.release(next);
            self.moves[next].from = aside;
            next += 1;
        }
        for operand in self.scratch.drain(..) {
            registers.give_back(operand.register.0, operand.lanes);
        }
        self.moves.clear();
    }

    /// The source of move `i` need not be kept any longer.
    fn release(&mut self, i: usize) {
        for j in self.overwriters(i) {
            let other = &mut self.moves[j];
            if j != i {
                other.waits_for -= 1;
                if other.waits_for == 0 && !other.made {
                    self.ready.push(j);
                }
            }
        }
    }

    /// The moves, perhaps with `i` among them, that write a register which move `i` reads.
    fn overwriters(&self, i: usize) -> std::ops::Range<usize> {
        let read = self.moves[i].from.registers();
        let first = self
            .moves
            .partition_point(|m| m.to.registers().end <= read.start);
        let overlapping = self.moves[first..]
            .iter()
            .take_while(|m| m.to.register.0 < read.end);
        first..first + overlapping.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::types::Direction;
    use fastrand::Rng;

    /// Value and shadows in a register; a shadow that it lacks is 0.
    fn read(file: &[u32], operand: RegisterOperand) -> [u32; 3] {
        let at = operand.register.0 as usize;
        let shadow = |d| {
            if operand.lanes.has(d) {
                file[at + 1 + d as usize]
            } else {
                0
            }
        };
        [file[at], shadow(Direction::X), shadow(Direction::Y)]
    }

    fn write(file: &mut [u32], operand: RegisterOperand, values: [u32; 3]) {
        let at = operand.register.0 as usize;
        file[at] = values[0];
        for d in Direction::BOTH {
            if operand.lanes.has(d) {
                file[at + 1 + d as usize] = values[1 + d as usize];
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of rounds take hours")]
    fn parallel_moves_read_before_they_write() {
        let mut random = Rng::with_seed(7);
        let (mut made, mut cycles) = (0, 0);
        for _ in 0..2_000 {
            let mut registers = RegisterAllocator::default();
            registers.reset(10);
            let operands: Vec<RegisterOperand> = (0..1 + random.usize(..8))
                .map(|_| {
                    let lanes = Lanes::ALL[random.usize(..4)];
                    let register = Register(registers.take(lanes));
                    RegisterOperand { register, lanes }
                })
                .collect();
            let top = registers.top();
            let mut moves = ParallelMoves::default();
            let before: Vec<u32> = (0..200).collect();
            let mut expected = before.clone();
            for &to in &operands {
                let from = operands[random.usize(..operands.len())];
                moves.add(to, from);
                write(&mut expected, to, read(&before, from));
            }
            let mut file = before;
            moves.emit(&mut registers, |instruction| {
                let Opcode::Move(to, from) = instruction.opcode else {
                    panic!("only moves are emitted");
                };
                let [a, b, ..] = instruction.words;
                let operand = |register, lanes| RegisterOperand {
                    register: Register(register),
                    lanes,
                };
                let values = read(&file, operand(b, from));
                write(&mut file, operand(a, to), values);
                made += 1;
            });
            cycles += usize::from(registers.top() > top);
            for &operand in &operands {
                assert_eq!(read(&file, operand), read(&expected, operand));
            }
        }
        assert!(made > 5_000 && cycles > 500, "{made} {cycles}");
    }

    #[test]
    fn move_in_place_is_dropped() {
        let operand = RegisterOperand {
            register: Register(3),
            lanes: Lanes::XY,
        };
        let less = RegisterOperand {
            register: Register(3),
            lanes: Lanes::X,
        };
        assert_eq!(instruction(operand, operand), None);
        assert_eq!(instruction(less, operand), None);
        let cleared = BytecodeInstruction::new(Opcode::Move(Lanes::XY, Lanes::X), [3, 3]);
        assert_eq!(instruction(operand, less), Some(cleared));
    }
}
