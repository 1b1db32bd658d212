//! The partition of registers into atoms: registers that no instruction separates.

use crate::bytecode::{Bytecode, BytecodeArray, Opcode, OperandRole, Operands, Register};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use std::ops::Range;

/// The atoms of a program: its registers, cut where an instruction, an array or the type of an
/// input starts or ends.
pub(super) struct RegisterPartition {
    /// A bit for the first register of each atom.
    starts: Vec<u64>,
    /// The number of atoms that start before each word of bits.
    before: Vec<u32>,
    len: usize,
}

impl RegisterPartition {
    /// Takes time in proportion to the program's size: a list that several instructions name is cut
    /// once.
    pub(super) fn new(operands: &Operands<'_>) -> RegisterPartition {
        let program = operands.program;
        let mut starts = vec![0; program.registers as usize / 64 + 1];
        let mut start = |register: u32| starts[register as usize / 64] |= 1 << (register % 64);
        let mut cut = |register: u32, len: u32| {
            if Register(register).as_constant().is_none() {
                start(register);
                start(register + len);
            }
        };
        cut(0, program.registers);
        for array in &program.arrays {
            cut(array.base, array.registers());
        }
        for input in inputs(program) {
            cut(input.0.start, input.0.end - input.0.start);
        }
        // How many more lists cover each place than the one before.
        let mut covering = vec![0_i32; program.lists.len() + 1];
        for code in &program.code {
            if let Opcode::Save | Opcode::Restore = code.opcode {
                cut(code.words[0], code.words[1]);
            }
            for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
                if let OperandRole::Read(lanes, _) | OperandRole::Write(lanes, _) = role {
                    words(word, lanes).for_each(|register| cut(register, 1));
                }
                let listed = operands.list(code, i).len();
                if listed > 0 {
                    covering[word as usize] += 1;
                    covering[word as usize + listed] -= 1;
                }
            }
        }
        let mut covered = 0;
        for (&register, change) in program.lists.iter().zip(covering) {
            covered += change;
            if covered > 0 {
                cut(register, 1);
            }
        }
        // The end of the last atom starts none.
        starts[program.registers as usize / 64] &= !(1 << (program.registers % 64));
        let mut len = 0;
        let count = |bits: &u64| {
            len += bits.count_ones();
            len - bits.count_ones()
        };
        RegisterPartition {
            before: starts.iter().map(count).collect(),
            starts,
            len: len as usize,
        }
    }

    /// The number of atoms.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The atom of a register.
    pub(super) fn at(&self, register: u32) -> usize {
        let word = register as usize / 64;
        let up_to = self.starts[word] & (u64::MAX >> (63 - register % 64));
        (self.before[word] + up_to.count_ones()) as usize - 1
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
