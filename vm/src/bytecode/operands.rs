//! Operands of bytecode instructions: the registers that each one writes and reads, and the words
//! that it moves.

use super::instruction::value_registers;
use super::{Bytecode, BytecodeInstruction, BytecodeTape, Opcode, OperandRole, Register};
use adumbra_ir::module::Message;
use std::ops::Range;

/// The registers that an instruction saves or restores.
fn saved(code: &BytecodeInstruction) -> Range<u32> {
    let [start, len, ..] = code.words;
    start..start + len
}

/// The operands of a program's instructions. Its types are walked once, since they are short to
/// write but long to walk.
pub(crate) struct Operands<'p> {
    pub(crate) program: &'p Bytecode,
    /// Of each closure shape, message and tape how many words an instruction lists for it.
    closures: Box<[usize]>,
    messages: Box<[usize]>,
    tapes: Box<[usize]>,
}

impl<'p> Operands<'p> {
    /// The program's types have sizes that validation has bounded.
    pub(crate) fn new(program: &'p Bytecode) -> Operands<'p> {
        let interface = &program.interface;
        let closures = 0..interface.closures.len();
        let messages = interface.messages.iter();
        Operands {
            program,
            closures: closures.map(|shape| interface.arguments(shape)).collect(),
            messages: messages.map(Message::word_count).collect(),
            tapes: program.tapes.iter().map(BytecodeTape::words).collect(),
        }
    }

    /// The number of arguments, or of words taken, that the word `word` lists.
    pub(crate) fn arguments(&self, code: &BytecodeInstruction, word: usize) -> usize {
        let of = code.words[word - 1] as usize;
        match code.opcode.roles()[word - 1] {
            OperandRole::Tape => self.tapes[of],
            OperandRole::Message => self.messages[of],
            _ => self.closures[of],
        }
    }

    /// The registers that the word `word` lists; none if it is no list.
    pub(crate) fn list(&self, code: &BytecodeInstruction, word: usize) -> &'p [u32] {
        let count = match code.opcode.roles()[word] {
            OperandRole::ReadList(count) | OperandRole::WriteList(count) => count as usize,
            OperandRole::Arguments | OperandRole::Taken => self.arguments(code, word),
            _ => return &[],
        };
        &self.program.lists[code.words[word] as usize..][..count]
    }

    /// The words that an instruction moves whenever it is executed, for which it takes steps
    /// ([`move_steps`](adumbra_ir::host::move_steps)). All others take a constant time, but
    /// `ArrayResize`, which clears what it is asked for, and calls, which have the steps for what
    /// they save.
    pub(crate) fn moved_words(&self, code: &BytecodeInstruction) -> u32 {
        let is_whole = !matches!(
            code.opcode,
            Opcode::Load(..) | Opcode::Store(..) | Opcode::ArrayResize
        );
        let words = code.words.iter().zip(code.opcode.roles()).enumerate();
        let moved = words.filter_map(|(i, (&word, role))| match role {
            OperandRole::Array if is_whole => Some(self.program.arrays[word as usize].len),
            // A value is one word, whether it has shadows or not.
            OperandRole::Tape => Some(self.program.tapes[word as usize].fields.len() as u32),
            OperandRole::Arguments if code.opcode.roles()[i - 1] != OperandRole::Tape => {
                Some(self.arguments(code, i) as u32)
            }
            _ => None,
        });
        moved.min().unwrap_or(0)
    }

    /// The registers that an instruction writes, except those within arrays that it names.
    pub(crate) fn for_each_def(&self, code: &BytecodeInstruction, mut each: impl FnMut(u32)) {
        if code.opcode == Opcode::Restore {
            saved(code).for_each(&mut each);
        }
        for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
            match role {
                OperandRole::Write(lanes) => value_registers(word, lanes).for_each(&mut each),
                OperandRole::WriteList(_) | OperandRole::Taken => {
                    self.each_listed(code, i, &mut each);
                }
                _ => {}
            }
        }
    }

    /// The registers that an instruction reads, except constants and those within arrays that it
    /// names.
    pub(crate) fn for_each_use(&self, code: &BytecodeInstruction, mut each: impl FnMut(u32)) {
        if code.opcode == Opcode::Save {
            saved(code).for_each(&mut each);
        }
        for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
            match role {
                OperandRole::Read(lanes) if Register(word).as_constant().is_none() => {
                    value_registers(word, lanes).for_each(&mut each);
                }
                OperandRole::ReadList(_) | OperandRole::Arguments => {
                    self.each_listed(code, i, &mut each);
                }
                _ => {}
            }
        }
    }

    fn each_listed(&self, code: &BytecodeInstruction, word: usize, each: impl FnMut(u32)) {
        let registers = self.list(code, word).iter().copied();
        let registers = registers.filter(|&register| Register(register).as_constant().is_none());
        registers.for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::BytecodeArray;
    use adumbra_ir::FileId;
    use adumbra_ir::host::WORDS_PER_STEP;
    use adumbra_ir::module::ClosureShape;
    use adumbra_ir::text::parse;
    use adumbra_ir::types::{Lanes, Scalar, Type};
    use std::sync::Arc;

    const LEN: u32 = 1_000;

    /// Every kind of instruction on long arrays, records and lists moves as many words, or names a
    /// few registers.
    #[test]
    fn every_instruction_is_short_or_moves_words() {
        let long = vec![Type::Array(Arc::new(Type::FLOAT), LEN)];
        let mut program = Bytecode::empty();
        program.arrays.push(BytecodeArray {
            base: 0,
            len: LEN,
            lanes: Lanes::XY,
        });
        program.tapes.push(BytecodeTape {
            fields: vec![Scalar::F32; LEN as usize],
            lanes: Lanes::XY,
        });
        program.interface.closures.push(ClosureShape {
            name: String::new(),
            params: long.clone(),
        });
        program.interface.messages.push(Message {
            params: long,
            ..Message::default()
        });
        program.lists = vec![0; 3 * LEN as usize];
        let operands = Operands::new(&program);
        let mut moving = Vec::new();
        let text = include_str!("../../../ir/src/text/every_kind.adir");
        let every_kind = parse(text, FileId::MAIN).expect("it is IR");
        let every_kind = crate::lower(&every_kind).expect("it fits");
        // Only recursion has these.
        let saved = [Opcode::ArrayFromSaved, Opcode::ArrayToSaved];
        let opcodes = every_kind.code.iter().map(|code| code.opcode);
        for opcode in opcodes.chain(saved) {
            let code = BytecodeInstruction::new(opcode, []);
            // Calls take steps for what is saved; a resize for the parts that it is asked for.
            if let Opcode::Save | Opcode::Restore | Opcode::ArrayResize = opcode {
                continue;
            }
            let mut named = 0;
            operands.for_each_def(&code, |_| named += 1);
            operands.for_each_use(&code, |_| named += 1);
            let roles = opcode.roles();
            let is_element = matches!(opcode, Opcode::Load(..) | Opcode::Store(..));
            let is_long = roles.contains(&OperandRole::Array) && !is_element;
            match operands.moved_words(&code) {
                0 => assert!(named < WORDS_PER_STEP && !is_long, "{opcode:?} {named}"),
                words => {
                    assert_eq!(words, LEN, "{opcode:?}");
                    moving.push(opcode);
                }
            }
        }
        moving.sort_by_key(|opcode| opcode.name());
        moving.dedup();
        assert_eq!(moving.len(), 9, "{moving:?}");
    }
}
