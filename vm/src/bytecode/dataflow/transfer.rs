//! Transfer functions: the effect of each instruction on the state of words.

use super::partition::{RegisterPartition, words};
use super::{
    ALL_STALE, BOOL, FLOAT, INT, STALE, WordKinds, readable_as, readable_as_operand, word_kinds,
};
use crate::bytecode::{
    Bytecode, BytecodeArray, BytecodeInstruction, Holds, Opcode, OperandRole, Operands, Register,
};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use adumbra_ops::definition::OperandKind;

/// The work of running an instruction apart from what it lists, in bytes of states: they take as
/// long to copy or join.
pub(super) const INSTRUCTION_WORK: usize = 1 << 10;
/// The same for a register that it lists.
const REGISTER_WORK: usize = 1 << 6;
/// The same for a register that it saves or restores: engines walk those too.
const SAVED_WORK: usize = 1 << 3;

/// The kinds that the words of a program hold at one position, by atom.
pub(super) type DataflowState = Vec<WordKinds>;

/// The registers that a call has saved, as they were.
pub(super) struct SavedRange {
    pub(super) register: u32,
    pub(super) len: u32,
    pub(super) held: DataflowState,
}

/// The transfer functions of a program's instructions.
pub(super) struct TransferFunction<'p> {
    pub(super) program: &'p Bytecode,
    pub(super) operands: &'p Operands<'p>,
    pub(super) atoms: &'p RegisterPartition,
    /// The kinds of each word of the host's globals.
    globals: Vec<WordKinds>,
    /// The words that the host reads when the shader returns, and the kinds that they may have.
    outputs: Vec<(u32, WordKinds)>,
}

impl<'p> TransferFunction<'p> {
    pub(super) fn new(
        operands: &'p Operands<'p>,
        atoms: &'p RegisterPartition,
    ) -> TransferFunction<'p> {
        let program = operands.program;
        let mut globals = Vec::with_capacity(program.interface.global_words());
        for global in &program.interface.globals {
            let ty = &global.ty;
            ty.for_each_scalar(&mut |scalar| globals.push(word_kinds(scalar)));
            globals.extend(std::iter::repeat_n(FLOAT, 2 * ty.scalar_count()));
        }
        let mut outputs = Vec::new();
        let scalars = program.interface.output_scalars();
        let lanes = &program.output_lanes;
        for (register, (&scalar, &lanes)) in (0..).step_by(3).zip(scalars.iter().zip(lanes)) {
            outputs.push((register, readable_as(scalar)));
            // In quads shadows are differences of values.
            let is_dual = program.quad.is_none();
            let shadows = words(register, lanes).skip(1).filter(|_| is_dual);
            outputs.extend(shadows.map(|register| (register, readable_as(Scalar::F32))));
        }
        TransferFunction {
            program,
            operands,
            atoms,
            globals,
            outputs,
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

    /// Each register of a list of arguments or of words taken, and its type.
    fn arguments(
        &self,
        code: &BytecodeInstruction,
        word: usize,
    ) -> impl Iterator<Item = (u32, Scalar)> {
        let registers = self.operands.list(code, word).iter().copied();
        registers.zip(self.operands.arguments(code, word).iter().copied())
    }

    /// The work of running an instruction, in bytes of states: that of the instruction, of each
    /// register that it lists or saves, and of the atoms of arrays that it names.
    pub(super) fn work(&self, code: &BytecodeInstruction) -> usize {
        if let Opcode::Save | Opcode::Restore = code.opcode {
            return INSTRUCTION_WORK + SAVED_WORK * code.words[1] as usize;
        }
        let roles = code.opcode.roles();
        let is_whole = !matches!(code.opcode, Opcode::Load(..) | Opcode::Store(..));
        let work = |(i, (&word, role)): (usize, (&u32, OperandRole))| match role {
            OperandRole::Array => {
                let array = self.program.arrays[word as usize];
                self.atoms.array(array).len() << u32::from(is_whole)
            }
            _ => REGISTER_WORK * self.operands.list(code, i).len(),
        };
        let words = code.words.iter().zip(roles).enumerate();
        INSTRUCTION_WORK + words.map(work).sum::<usize>()
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
                OperandRole::ReadList(_) => {
                    for &register in self.operands.list(code, i) {
                        self.read(state, register, readable_as(Scalar::F32))?;
                    }
                }
                OperandRole::Arguments => {
                    for (register, scalar) in self.arguments(code, i) {
                        self.read(state, register, readable_as(scalar))?;
                    }
                }
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
            _ => self.write_results(state, code, last, all),
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
    ) {
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
                OperandRole::WriteList(_) => {
                    for &register in self.operands.list(code, i) {
                        self.write(state, register, FLOAT);
                    }
                }
                OperandRole::Taken => {
                    for (register, scalar) in self.arguments(code, i) {
                        if Register(register).as_constant().is_none() {
                            self.write(state, register, word_kinds(scalar));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Checks the words that the host reads when the shader returns.
    pub(super) fn outputs(&self, state: &DataflowState) -> Result<(), String> {
        let mut outputs = self.outputs.iter();
        outputs.try_for_each(|&(register, kinds)| self.read(state, register, kinds).map(drop))
    }

    /// The work of that check, in bytes of states.
    pub(super) fn outputs_work(&self) -> usize {
        REGISTER_WORK * self.outputs.len()
    }

    /// The atoms that an instruction itself reads or writes.
    pub(super) fn touched(&self, code: &BytecodeInstruction, mut each: impl FnMut(usize, bool)) {
        let (operands, atoms) = (self.operands, self.atoms);
        if let Opcode::Save | Opcode::Restore = code.opcode {
            let range = atoms.range(code.words[0], code.words[1]);
            return range.for_each(|atom| each(atom, code.opcode == Opcode::Restore));
        }
        operands.for_each_use(code, |register| each(atoms.at(register), false));
        operands.for_each_def(code, |register| each(atoms.at(register), true));
        for (&word, role) in code.words.iter().zip(code.opcode.roles()) {
            if role == OperandRole::Array {
                let range = atoms.array(self.program.arrays[word as usize]);
                range.for_each(|atom| each(atom, true));
            }
        }
    }
}
