//! Transfer functions: the effect of each instruction on the state of words.

use super::partition::{RegisterPartition, words};
use super::{
    ALL_STALE, BOOL, FLOAT, INT, STALE, WordKinds, readable_as, readable_as_operand, word_kinds,
};
use crate::bytecode::{
    Bytecode, BytecodeArray, BytecodeInstruction, BytecodeTape, Holds, Opcode, OperandRole,
    Register, argument_count,
};
use adumbra_ir::types::{Direction, Lanes, Scalar, Type};
use adumbra_ops::definition::OperandKind;

/// The kinds that the words of a program hold at one position, by atom.
pub(super) type DataflowState = Vec<WordKinds>;

/// The registers that a call has saved, as they were.
pub(super) struct SavedRange {
    pub(super) register: u32,
    pub(super) len: u32,
    pub(super) held: DataflowState,
}

/// The types of the words that a field of a record has: its own, and float for each shadow.
fn words_of(field: Scalar, tape: &BytecodeTape) -> impl Iterator<Item = Scalar> + use<> {
    let shadows = tape.lanes_of(field).count() as usize;
    std::iter::once(field).chain(std::iter::repeat_n(Scalar::F32, shadows))
}

/// The transfer functions of a program's instructions.
pub(super) struct TransferFunction<'p> {
    pub(super) program: &'p Bytecode,
    pub(super) atoms: &'p RegisterPartition,
    /// The kinds of each word of the host's globals.
    globals: Vec<WordKinds>,
}

impl<'p> TransferFunction<'p> {
    pub(super) fn new(program: &'p Bytecode, atoms: &'p RegisterPartition) -> TransferFunction<'p> {
        let mut globals = Vec::with_capacity(program.interface.global_words());
        for global in &program.interface.globals {
            let ty = &global.ty;
            ty.for_each_scalar(&mut |scalar| globals.push(word_kinds(scalar)));
            globals.extend(std::iter::repeat_n(FLOAT, 2 * ty.scalar_count()));
        }
        TransferFunction {
            program,
            atoms,
            globals,
        }
    }

    /// The kinds that a register or a constant holds.
    fn held(&self, state: &DataflowState, register: u32) -> Result<WordKinds, String> {
        let Some(constant) = Register(register).as_constant() else {
            let held = state[self.atoms.at(register)];
            return match held & STALE[register as usize % 3] {
                0 => Ok(held & !ALL_STALE),
                _ => Err(format!("register {register} is read before it is written")),
            };
        };
        Ok(match self.program.constants[constant as usize] {
            0 => 0,
            1 => BOOL,
            _ => INT,
        })
    }

    /// Checks that a register or a constant can be read as one of these.
    fn read(
        &self,
        state: &DataflowState,
        register: u32,
        allowed: WordKinds,
    ) -> Result<WordKinds, String> {
        let held = self.held(state, register)?;
        match held & !allowed {
            0 => Ok(held),
            _ => Err(format!(
                "register {register} holds another type than is read"
            )),
        }
    }

    fn read_list(&self, state: &DataflowState, start: u32, count: u32) -> Result<(), String> {
        let registers = &self.program.lists[start as usize..][..count as usize];
        (registers.iter()).try_for_each(|&register| {
            self.read(state, register, readable_as(Scalar::F32))
                .map(drop)
        })
    }

    fn write(&self, state: &mut DataflowState, register: u32, held: WordKinds) {
        state[self.atoms.at(register)] = held;
    }

    /// Writes a value of a type with floats as shadows.
    fn write_value(&self, state: &mut DataflowState, register: u32, lanes: Lanes, held: WordKinds) {
        words(register, lanes).for_each(|register| self.write(state, register, FLOAT));
        self.write(state, register, held);
    }

    /// The kinds that elements of an array hold, in a part of a state.
    fn elements(&self, array: BytecodeArray, held: &[WordKinds]) -> Result<WordKinds, String> {
        let all = held.iter().fold(0, |all, held| all | held);
        let is_stale = match array.stride() {
            3 => words(array.base, array.lanes)
                .any(|register| all & STALE[register as usize % 3] != 0),
            _ => all & ALL_STALE != 0,
        };
        match is_stale {
            true => Err("an array is read before it is written".to_owned()),
            false => Ok(all & !ALL_STALE),
        }
    }

    /// The kinds that all elements of an array hold after they were written. Only some engines
    /// write the words that are neither a value nor a shadow.
    fn filled(array: BytecodeArray, held: WordKinds) -> WordKinds {
        match array.lanes == Direction::Y.lanes() {
            true => held | STALE[(array.base as usize + 1) % 3],
            false => held,
        }
    }

    /// Checks the words of an array that is read as a whole.
    fn array(&self, state: &DataflowState, array: BytecodeArray) -> Result<WordKinds, String> {
        self.elements(array, &state[self.atoms.array(array)])
    }

    /// Copies elements of an array, which hold this state, to another array.
    fn copy(
        &self,
        to: BytecodeArray,
        from: BytecodeArray,
        held: WordKinds,
        state: &mut [WordKinds],
    ) {
        let shadows = if to.lanes.is_none() { 0 } else { FLOAT };
        let held = held | shadows;
        match to.len <= from.len {
            true => state.fill(Self::filled(to, held)),
            false => state.iter_mut().for_each(|old| *old |= held),
        }
    }

    /// The atoms of an array among those that a call has saved, at this distance below the top, and
    /// the kinds that were saved with them.
    fn saved<'s>(
        &self,
        saves: &'s mut [SavedRange],
        array: BytecodeArray,
        distance: u32,
    ) -> Result<&'s mut [WordKinds], String> {
        let mut below = 0;
        for saved in saves.iter_mut().rev() {
            below += u64::from(saved.len);
            let Some(at) = below.checked_sub(u64::from(distance)) else {
                continue;
            };
            let is_it = u64::from(saved.register) + at == u64::from(array.base)
                && at + u64::from(array.registers()) <= u64::from(saved.len);
            if is_it {
                let first = self.atoms.at(saved.register);
                let range = self.atoms.array(array);
                return Ok(&mut saved.held[range.start - first..range.end - first]);
            }
            break;
        }
        Err("the array that was saved is another".to_owned())
    }

    /// Calls `each` with every register of a list of arguments or of words taken, and its type.
    fn for_each_argument(
        &self,
        code: &BytecodeInstruction,
        word: usize,
        mut each: impl FnMut(u32, Scalar) -> Result<(), String>,
    ) -> Result<(), String> {
        let of = code.words[word - 1] as usize;
        let start = code.words[word] as usize;
        let count = argument_count(self.program, code, word);
        let mut registers = self.program.lists[start..][..count].iter();
        let mut valid = Ok(());
        let mut next = |scalar| {
            let register = *registers.next().expect("a register for each word");
            if valid.is_ok() {
                valid = each(register, scalar);
            }
        };
        let types: &[Type] = match code.opcode.roles()[word - 1] {
            OperandRole::Tape => {
                let tape = &self.program.tapes[of];
                let fields = tape.fields.iter();
                fields.flat_map(|&f| words_of(f, tape)).for_each(&mut next);
                &[]
            }
            OperandRole::Message => &self.program.interface.messages[of].params,
            _ => &self.program.interface.closures[of].params,
        };
        types.iter().for_each(|ty| ty.for_each_scalar(&mut next));
        valid
    }

    /// The kinds that may be read as such a value.
    fn readable(holds: Holds) -> WordKinds {
        match holds {
            Holds::Type(scalar) => readable_as(scalar),
            Holds::Operand(kind) => readable_as_operand(kind),
            Holds::Any => !0,
        }
    }

    /// Runs an instruction that is neither a jump nor a call.
    pub(super) fn run(
        &self,
        state: &mut DataflowState,
        saves: &mut [SavedRange],
        code: &BytecodeInstruction,
    ) -> Result<(), String> {
        let [a, b, c, ..] = code.words;
        let opcode = code.opcode;
        let arrays = &self.program.arrays;
        let array = |word: u32| arrays[word as usize];
        // The kinds of the last value that it reads, and of all of them together.
        let (mut last, mut all) = (0, 0);
        for (i, (&word, role)) in code.words.iter().zip(opcode.roles()).enumerate() {
            match role {
                OperandRole::Read(lanes, holds) => {
                    for register in words(word, lanes).skip(1) {
                        self.read(state, register, readable_as(Scalar::F32))?;
                    }
                    last = self.read(state, word, Self::readable(holds))?;
                    let is_word = holds == Holds::Operand(OperandKind::Word);
                    all |= if is_word { last } else { 0 };
                }
                OperandRole::ReadList(count) => self.read_list(state, word, count)?,
                OperandRole::Arguments => self.for_each_argument(code, i, |register, scalar| {
                    self.read(state, register, readable_as(scalar)).map(drop)
                })?,
                _ => {}
            }
        }
        match opcode {
            Opcode::Global(lanes) => {
                for (register, word) in words(a, lanes).zip(words(0, lanes)) {
                    self.write(state, register, self.globals[(b + c * word) as usize]);
                }
            }
            Opcode::Load(to, _) => {
                let held = self.array(state, array(b))?;
                self.write_value(state, a, to, held);
            }
            Opcode::Store(..) => {
                let shadows = if array(a).lanes.is_none() { 0 } else { FLOAT };
                for old in &mut state[self.atoms.array(array(a))] {
                    *old |= last | shadows;
                }
            }
            Opcode::ArrayZero => {
                state[self.atoms.array(array(a))].fill(Self::filled(array(a), 0));
            }
            Opcode::ArrayCopy | Opcode::ArrayCopyPart => {
                let held = self.array(state, array(b))?;
                let range = self.atoms.array(array(a));
                self.copy(array(a), array(b), held, &mut state[range]);
            }
            Opcode::ArrayFromSaved => {
                let held = self.elements(array(b), self.saved(saves, array(b), c)?)?;
                let range = self.atoms.array(array(a));
                self.copy(array(a), array(b), held, &mut state[range]);
            }
            Opcode::ArrayToSaved => {
                let held = self.array(state, array(b))?;
                self.copy(array(a), array(b), held, self.saved(saves, array(a), c)?);
            }
            _ => self.write_results(state, code, last, all)?,
        }
        Ok(())
    }

    /// Writes what the roles of an instruction say. `last` are the kinds of the last value that it
    /// reads, `all` those of the operands of which the result has the type.
    fn write_results(
        &self,
        state: &mut DataflowState,
        code: &BytecodeInstruction,
        last: WordKinds,
        all: WordKinds,
    ) -> Result<(), String> {
        for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
            match role {
                OperandRole::Write(lanes, holds) => {
                    let held = match holds {
                        Holds::Type(scalar) => word_kinds(scalar),
                        Holds::Operand(OperandKind::Float) => FLOAT,
                        Holds::Operand(OperandKind::Bool) => BOOL,
                        // 0 and 1 stay so under these.
                        Holds::Operand(OperandKind::Word) => all,
                        Holds::Operand(_) => INT,
                        Holds::Any => last,
                    };
                    self.write_value(state, word, lanes, held);
                }
                OperandRole::WriteList(count) => {
                    let registers = &self.program.lists[word as usize..][..count as usize];
                    (registers.iter()).for_each(|&register| self.write(state, register, FLOAT));
                }
                OperandRole::Taken => self.for_each_argument(code, i, |register, scalar| {
                    if Register(register).as_constant().is_none() {
                        self.write(state, register, word_kinds(scalar));
                    }
                    Ok(())
                })?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks the words that the host reads when the shader returns.
    pub(super) fn outputs(&self, state: &DataflowState) -> Result<(), String> {
        let scalars = self.program.interface.output_scalars();
        let lanes = &self.program.output_lanes;
        for (register, (&scalar, &lanes)) in (0..).step_by(3).zip(scalars.iter().zip(lanes)) {
            self.read(state, register, readable_as(scalar))?;
            // In quads shadows are differences of values.
            let is_dual = self.program.quad.is_none();
            for register in words(register, lanes).skip(1).filter(|_| is_dual) {
                self.read(state, register, readable_as(Scalar::F32))?;
            }
        }
        Ok(())
    }

    /// The atoms that an instruction itself reads or writes.
    pub(super) fn touched(&self, code: &BytecodeInstruction, mut each: impl FnMut(usize, bool)) {
        for (i, (&word, role)) in code.words.iter().zip(code.opcode.roles()).enumerate() {
            let list = |count: usize| &self.program.lists[word as usize..][..count];
            let mut registers = |registers: &[u32], is_write: bool| {
                for &register in registers {
                    if Register(register).as_constant().is_none() {
                        each(self.atoms.at(register), is_write);
                    }
                }
            };
            match role {
                OperandRole::Read(lanes, _) => {
                    words(word, lanes).for_each(|register| registers(&[register], false))
                }
                OperandRole::Write(lanes, _) => {
                    words(word, lanes).for_each(|register| registers(&[register], true))
                }
                OperandRole::ReadList(count) => registers(list(count as usize), false),
                OperandRole::WriteList(count) => registers(list(count as usize), true),
                OperandRole::Arguments => {
                    registers(list(argument_count(self.program, code, i)), false)
                }
                OperandRole::Taken => {
                    registers(list(argument_count(self.program, code, i)), true);
                }
                OperandRole::Array => {
                    let range = self.atoms.array(self.program.arrays[word as usize]);
                    range.for_each(|atom| each(atom, true));
                }
                _ => {}
            }
        }
        if let Opcode::Restore = code.opcode {
            let [register, len, ..] = code.words;
            self.atoms
                .range(register, len)
                .for_each(|atom| each(atom, true));
        }
    }
}
