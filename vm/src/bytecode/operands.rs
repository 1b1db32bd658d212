//! Definitions and uses of bytecode instructions: the registers that each one writes and reads.

use super::{Bytecode, BytecodeInstruction, Opcode, OperandRole, Register};
use adumbra_ir::types::{Direction, Lanes};
use std::ops::Range;

/// Calls `each` for the registers of a value with these lanes.
fn each_word(register: u32, lanes: Lanes, mut each: impl FnMut(u32)) {
    each(register);
    for (direction, offset) in Direction::BOTH.into_iter().zip(1..) {
        if lanes.has(direction) {
            each(register + offset);
        }
    }
}

fn list(program: &Bytecode, start: u32, count: usize) -> &[u32] {
    &program.lists[start as usize..][..count]
}

/// The registers that an instruction saves or restores.
fn saved(code: &BytecodeInstruction) -> Range<u32> {
    let [start, len, ..] = code.words;
    start..start + len
}

/// The registers that an instruction writes, except those within arrays that it names.
pub(crate) fn for_each_def(
    program: &Bytecode,
    code: &BytecodeInstruction,
    mut each: impl FnMut(u32),
) {
    if code.opcode == Opcode::Restore {
        saved(code).for_each(&mut each);
    }
    for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
        match role {
            OperandRole::Write(lanes, _) => each_word(word, lanes, &mut each),
            OperandRole::WriteList(count) => {
                list(program, word, count as usize)
                    .iter()
                    .for_each(|&register| each(register));
            }
            OperandRole::Taken => {
                let registers = list(program, word, argument_count(program, code, i));
                let written = registers
                    .iter()
                    .filter(|&&register| Register(register).as_constant().is_none());
                written.for_each(|&register| each(register));
            }
            _ => {}
        }
    }
}

/// The registers that an instruction reads, except constants and those within arrays that it names.
pub(crate) fn for_each_use(
    program: &Bytecode,
    code: &BytecodeInstruction,
    mut each: impl FnMut(u32),
) {
    if code.opcode == Opcode::Save {
        saved(code).for_each(&mut each);
    }
    let mut read = |register: u32, lanes| {
        if Register(register).as_constant().is_none() {
            each_word(register, lanes, &mut each);
        }
    };
    for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
        match role {
            OperandRole::Read(lanes, _) => read(word, lanes),
            OperandRole::ReadList(count) => {
                let registers = list(program, word, count as usize);
                registers
                    .iter()
                    .for_each(|&register| read(register, Lanes::NONE));
            }
            OperandRole::Arguments => {
                let registers = list(program, word, argument_count(program, code, i));
                registers
                    .iter()
                    .for_each(|&register| read(register, Lanes::NONE));
            }
            _ => {}
        }
    }
}

/// The number of registers in the list of arguments, or of words taken, that the word `word` names.
pub(crate) fn argument_count(program: &Bytecode, code: &BytecodeInstruction, word: usize) -> usize {
    let of = code.words[word - 1] as usize;
    match code.opcode.roles()[word - 1] {
        OperandRole::Tape => program.tapes[of].words(),
        OperandRole::Message => program.interface.messages[of].word_count(),
        _ => program.interface.arguments(of),
    }
}
