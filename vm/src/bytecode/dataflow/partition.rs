//! The partition of registers into atoms: registers that no instruction separates.

use crate::bytecode::{Bytecode, BytecodeArray, Opcode, OperandRole, Register, argument_count};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use std::ops::Range;

/// The atoms of a program: its registers, cut where an instruction, an array or the type of an
/// input starts or ends.
pub(super) struct RegisterPartition {
    /// The first register of each atom, by rising number; then the number of registers.
    starts: Vec<u32>,
}

impl RegisterPartition {
    pub(super) fn new(program: &Bytecode) -> RegisterPartition {
        let mut starts = vec![0, program.registers];
        let mut cut = |register: u32, len: u32| {
            if Register(register).as_constant().is_none() {
                starts.extend([register, register + len]);
            }
        };
        for array in &program.arrays {
            cut(array.base, array.registers());
        }
        for input in inputs(program) {
            cut(input.0.start, input.0.end - input.0.start);
        }
        for code in &program.code {
            if let Opcode::Save | Opcode::Restore = code.opcode {
                cut(code.words[0], code.words[1]);
            }
            for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
                let mut list = |count: usize| {
                    let registers = &program.lists[word as usize..][..count];
                    registers.iter().for_each(|&register| cut(register, 1));
                };
                match role {
                    OperandRole::Read(lanes, _) | OperandRole::Write(lanes, _) => {
                        words(word, lanes).for_each(|register| cut(register, 1));
                    }
                    OperandRole::ReadList(count) | OperandRole::WriteList(count) => {
                        list(count as usize)
                    }
                    OperandRole::Arguments | OperandRole::Taken => {
                        list(argument_count(program, code, i))
                    }
                    _ => {}
                }
            }
        }
        starts.sort_unstable();
        starts.dedup();
        RegisterPartition { starts }
    }

    /// The number of atoms.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The atom of a register.
    pub(super) fn at(&self, register: u32) -> usize {
        self.starts.partition_point(|&start| start <= register) - 1
    }

    /// The atoms of registers that start and end with one.
    pub(super) fn range(&self, start: u32, len: u32) -> Range<usize> {
        match len {
            0 => 0..0,
            _ => self.at(start)..self.at(start + len - 1) + 1,
        }
    }

    /// The atoms of an array.
    pub(super) fn array(&self, array: BytecodeArray) -> Range<usize> {
        self.range(array.base, array.registers())
    }
}

/// The registers of a value and its shadows.
pub(super) fn words(register: u32, lanes: Lanes) -> impl Iterator<Item = u32> {
    let shadows = Direction::BOTH.into_iter().zip(1..);
    let shadows = shadows.filter(move |(direction, _)| lanes.has(*direction));
    std::iter::once(register).chain(shadows.map(move |(_, offset)| register + offset))
}

/// The registers where the host writes inputs, consecutive ones of one type together.
pub(super) fn inputs(program: &Bytecode) -> Vec<(Range<u32>, Scalar)> {
    let mut inputs: Vec<(Range<u32>, Scalar)> = Vec::new();
    let mut at = 3 * program.output_lanes.len() as u32;
    for input in &program.interface.inputs {
        input.ty.for_each_scalar(&mut |scalar| {
            match inputs.last_mut() {
                Some((registers, last)) if *last == scalar => registers.end += 1,
                _ => inputs.push((at..at + 1, scalar)),
            }
            at += 1;
        });
    }
    inputs
}
