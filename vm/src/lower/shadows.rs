//! Emission of what makes values of shadows, and shadows of values.

use super::function::FunctionEmitter;
use super::parallel_moves::RegisterOperand;
use crate::bytecode::{Opcode, Register, ShadowPattern, WORDS};
use adumbra_ir::module::{Inst, ValueId};
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::{MAX_OPERANDS, Op};

/// A register as a value without shadows.
fn plain(register: Register) -> RegisterOperand {
    RegisterOperand {
        register,
        lanes: Lanes::NONE,
    }
}

impl FunctionEmitter<'_, '_, '_> {
    pub(super) fn shadow(
        &mut self,
        at: u32,
        direction: Direction,
        args: &[ValueId],
        result: ValueId,
    ) {
        let from = self.register_of(args[0]);
        self.release(args, at);
        if from.lanes.has(direction) {
            let register = self.define(result);
            self.emit(Opcode::Shadow(direction), [register, from.register.0]);
        } else {
            self.put_constant(result, 0);
        }
    }

    /// An op and its slopes: the op with shadows of 1, along x for one operand and along y for
    /// another, for each two slopes that are used.
    pub(super) fn with_slopes(&mut self, at: u32, inst: &Inst, op: Op) {
        let one = self.lowering.constants.register(1.0_f32.to_bits());
        let values = inst.args.iter().map(|&arg| self.register_of(arg).register);
        let values: Vec<Register> = values.collect();
        let slope = |operand: usize| ValueId(inst.results.first.0 + 1 + operand as u32);
        let used: Vec<usize> = (0..op.arity())
            .filter(|&i| self.is_used(slope(i)))
            .collect();
        let mut found = Vec::with_capacity(used.len() + 1);
        // Without any it is the op alone.
        let pairs = match used.is_empty() {
            true => vec![&used[..]],
            false => used.chunks(2).collect(),
        };
        for pair in pairs {
            let mut words = [0; WORDS];
            let mut reads = [Lanes::NONE; MAX_OPERANDS];
            for (word, value) in words[1..].iter_mut().zip(&values) {
                *word = value.0;
            }
            let mut shadowed = Vec::with_capacity(2);
            let mut lanes = Lanes::NONE;
            for ((direction, offset), &i) in Direction::BOTH.into_iter().zip(1..).zip(pair) {
                reads[i] = direction.lanes();
                lanes |= reads[i];
                let to = self.work.registers.take(reads[i]);
                self.work.moves.add(plain(Register(to)), plain(values[i]));
                self.work
                    .moves
                    .add(plain(Register(to + offset)), plain(one));
                words[i + 1] = to;
                shadowed.push((to, reads[i]));
            }
            self.flush_moves();
            let result = self.work.registers.take(lanes);
            words[0] = result;
            let pattern = ShadowPattern::new(lanes, reads);
            self.emit(Opcode::Arithmetic(op, pattern), words);
            for (register, lanes) in shadowed {
                self.work.registers.give_back(register, lanes);
            }
            found.push((result, lanes, pair));
        }
        self.release(&inst.args, at);
        let (first, ..) = found[0];
        let mut results = vec![(inst.results.first, first)];
        for &(register, _, pair) in &found {
            results.extend(
                pair.iter()
                    .zip(register + 1..)
                    .map(|(&i, at)| (slope(i), at)),
            );
        }
        results.retain(|result| self.is_used(result.0));
        for (result, from) in results {
            let to = self.define(result);
            self.work
                .moves
                .add(plain(Register(to)), plain(Register(from)));
        }
        self.flush_moves();
        for (register, lanes, _) in found {
            self.work.registers.give_back(register, lanes);
        }
    }

    /// A value and its shadows move to where the result has them.
    pub(super) fn attach(&mut self, at: u32, args: &[ValueId], result: ValueId) {
        let from: Vec<Register> = args.iter().map(|&a| self.register_of(a).register).collect();
        self.release(args, at);
        let to = self.define(result);
        let lanes = self.lanes(result);
        self.work.moves.add(plain(Register(to)), plain(from[0]));
        for (direction, offset) in Direction::BOTH.into_iter().zip(1..) {
            if lanes.has(direction) {
                let from = plain(from[offset as usize]);
                self.work.moves.add(plain(Register(to + offset)), from);
            }
        }
        self.flush_moves();
    }
}
