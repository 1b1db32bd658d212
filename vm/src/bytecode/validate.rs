//! Validation of bytecode: everything that an engine relies on without checks. Bytecode comes from
//! lowering alone, which asserts that it is valid, whatever module it was given.
//!
//! After validation, every register that an instruction names is in the file, with its shadows, and
//! no constant is written. Targets, functions, arrays, textures, buffers, shapes and lists
//! exist, with the
//! lanes of the opcode. Control stays in its function, goes forward except for loops, and does not
//! run off the end. Each global word is one of the host's. Element indices, the two stacks, and
//! handles of closures and resources are checked at run time. So any program ends within its budget
//! of steps and depth, and touches no foreign memory.

#[cfg(test)]
mod tests;

use super::{
    Bytecode, BytecodeArray, BytecodeInstruction, MAX_LISTED_REGISTERS, MAX_REGISTERS, Opcode,
    OperandRole, Operands, Register,
};
use adumbra_ir::limits::MAX_RECORD_FIELDS;
use adumbra_ir::module::Buffer;
use adumbra_ir::types::{Direction, Lanes, Scalar, Type};
use adumbra_ops::MAX_OPERANDS;
use adumbra_ops::definition::OperandKind;

type Valid = Result<(), String>;

/// Checks a program, as the module's head describes.
///
/// # Errors
/// A message that names the fault and the instruction.
pub(crate) fn validate(program: &Bytecode) -> Valid {
    interface(program)?;
    layout(program)?;
    let mut checker = Checker {
        program,
        operands: Operands::new(program),
        global_words: program.interface.global_words() as u64,
        wants_resource: wants_resource(program),
        listed: 0,
    };
    checker.functions()?;
    let mut function = 0;
    for (position, instruction) in (0..).zip(&program.code) {
        if program
            .functions
            .get(function + 1)
            .is_some_and(|f| f.start == position)
        {
            function += 1;
        }
        let valid = checker.instruction(position, instruction, function);
        valid.map_err(|what| format!("instruction {position}: {what}"))?;
    }
    Ok(())
}

struct Checker<'p> {
    program: &'p Bytecode,
    operands: Operands<'p>,
    global_words: u64,
    /// By closure shape, whether a resource is among its arguments.
    wants_resource: Vec<bool>,
    /// Registers in the lists of the instructions so far.
    listed: u64,
}

fn check(holds: bool, what: &str) -> Valid {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// Checks the sizes of what the host sees. Types are short to write but long to walk.
fn interface(p: &Bytecode) -> Valid {
    let i = &p.interface;
    let most = MAX_REGISTERS as usize;
    let outputs: usize = i.outputs.iter().map(|o| o.ty.scalar_count()).sum();
    let arguments: usize = (0..i.closures.len()).map(|c| i.arguments(c)).sum();
    check(i.global_words() <= most, "the globals are too large")?;
    check(i.input_words() <= most, "the inputs are too large")?;
    check(3 * outputs <= most, "the outputs are too large")?;
    check(arguments <= most, "the closures are too large")?;
    for message in &i.messages {
        check(message.is_valid(), "a message does not fit its types")?;
    }
    for (at, buffer) in i.buffers.iter().enumerate() {
        let is_float = matches!(buffer.element, Type::FLOAT | Type::Vector(2..=4));
        let is_int = buffer.element == Type::Scalar(Scalar::I32) && !buffer.is_sum();
        check(is_float || is_int, "no buffer has such elements")?;
        let of = buffer.sum_of.map(|of| i.buffers[..at].get(of.index()));
        let is_like = |of: &Buffer| !of.is_sum() && of.element == buffer.element;
        let fits = of.is_none_or(|of| of.is_some_and(is_like));
        check(fits, "a sum is of no buffer like it")?;
    }
    for input in &i.inputs {
        let words = input.default.len() == input.ty.scalar_count();
        check(words, "a default has not its type's words")?;
    }
    let scalars = i.output_scalars();
    let lanes = &p.output_lanes;
    check(
        lanes.len() == scalars.len(),
        "an output has no shadows said",
    )?;
    for (&scalar, lanes) in scalars.iter().zip(lanes) {
        let fits = scalar == Scalar::F32 || lanes.is_none();
        check(fits, "an output that is no float has shadows")?;
        let is_read = p.output_derivatives || lanes.is_none();
        check(is_read, "an output has shadows that no host reads")?;
    }
    Ok(())
}

/// Checks registers, arrays, tapes and lists.
fn layout(p: &Bytecode) -> Valid {
    let registers = u64::from(p.registers);
    check(p.registers <= MAX_REGISTERS, "it has too many registers")?;
    check(
        p.constants.len() <= MAX_REGISTERS as usize,
        "it has too many constants",
    )?;
    let fixed = 3 * p.output_lanes.len() + p.interface.input_words();
    check(
        fixed as u64 <= registers,
        "outputs and inputs have no registers",
    )?;
    for array in &p.arrays {
        check(array.len > 0, "an array has no elements")?;
        let end = u64::from(array.base) + u64::from(array.len) * u64::from(array.stride());
        check(end <= registers, "an array is outside of the register file")?;
    }
    for tape in &p.tapes {
        let fits = (1..=MAX_RECORD_FIELDS).contains(&tape.fields.len());
        check(fits, "a record has no fields, or too many")?;
        let handles = [Scalar::Closure, Scalar::Resource];
        let is_word = tape.fields.iter().all(|field| !handles.contains(field));
        check(is_word, "a record has a field that is no number")?;
    }
    for &register in &p.lists {
        read(p, register, Lanes::NONE)?;
    }
    let rising = p.spans.windows(2).all(|s| s[0].0 < s[1].0);
    check(rising, "its places are not in order")
}

fn wants_resource(p: &Bytecode) -> Vec<bool> {
    let shapes = p.interface.closures.iter().map(|shape| {
        let mut found = false;
        let mut find = |scalar| found |= scalar == Scalar::Resource;
        (shape.params.iter()).for_each(|ty| ty.for_each_scalar(&mut find));
        found
    });
    shapes.collect()
}

impl Checker<'_> {
    fn functions(&self) -> Valid {
        let p = self.program;
        check(
            (p.entry as usize) < p.functions.len(),
            "the shader is missing",
        )?;
        check(p.functions[0].start == 0, "code is before all functions")?;
        let rising = p.functions.windows(2).all(|f| f[0].start < f[1].start);
        check(rising, "functions are not in order")?;
        for (function, f) in p.functions.iter().enumerate() {
            check(f.start < self.end(function), "a function has no code")?;
            let last = (self.end(function) as usize)
                .checked_sub(1)
                .and_then(|l| p.code.get(l));
            let ends = last.is_some_and(|i| i.opcode.never_falls_through());
            check(ends, "control runs off the end of a function")?;
        }
        Ok(())
    }

    /// One past the last instruction of a function.
    fn end(&self, function: usize) -> u32 {
        let next = self.program.functions.get(function + 1);
        next.map_or(self.program.code.len() as u32, |f| f.start)
    }

    fn instruction(
        &mut self,
        position: u32,
        instruction: &BytecodeInstruction,
        function: usize,
    ) -> Valid {
        let p = self.program;
        let (opcode, words) = (instruction.opcode, instruction.words);
        self.opcode(opcode)?;
        let roles = opcode.roles();
        for (i, (&word, role)) in words.iter().zip(roles).enumerate() {
            let index = word as usize;
            match role {
                OperandRole::Unused => check(word == 0, "an unused word is not zero")?,
                OperandRole::Write(lanes) => written(p, word, lanes)?,
                OperandRole::Read(lanes) => read(p, word, lanes)?,
                OperandRole::Target => {
                    let range = p.functions[function].start..self.end(function);
                    check(
                        range.contains(&word),
                        "the target is in no function of its own",
                    )?;
                    let backward = opcode == Opcode::Loop;
                    check(
                        (word <= position) == backward,
                        "it jumps in the wrong direction",
                    )?;
                }
                OperandRole::Function => {
                    check(index < p.functions.len(), "the function is missing")?
                }
                OperandRole::Array => check(index < p.arrays.len(), "the array is missing")?,
                OperandRole::Texture => {
                    check(index < p.interface.textures.len(), "the texture is missing")?;
                }
                OperandRole::Buffer => self.buffer(index, false)?,
                OperandRole::Sum => self.buffer(index, true)?,
                OperandRole::Shape => self.shape(index)?,
                OperandRole::WriteList(n) => {
                    for &register in self.list(word, n as usize)? {
                        written(p, register, Lanes::NONE)?;
                    }
                }
                OperandRole::ReadList(n) => self.list(word, n as usize).map(|_| ())?,
                OperandRole::Message => {
                    check(index < p.interface.messages.len(), "the message is missing")?
                }
                // Where constants are listed to be taken, words are dropped.
                OperandRole::Arguments | OperandRole::Taken => {
                    let count = self.operands.arguments(instruction, i);
                    self.list(word, count).map(|_| ())?;
                    self.listed += count as u64;
                    check(
                        self.listed <= MAX_LISTED_REGISTERS,
                        "the lists are too long",
                    )?;
                }
                OperandRole::Tape => check(index < p.tapes.len(), "the tape is missing")?,
                OperandRole::Number => {}
            }
        }
        let [a, b, c, ..] = words.map(u64::from);
        let array = |word: u32| -> BytecodeArray { p.arrays[word as usize] };
        match opcode {
            Opcode::Global(lanes) => {
                let last = b + c * u64::from(extent(lanes));
                check(last < self.global_words, "the global is missing")
            }
            Opcode::Save | Opcode::Restore => check(
                a + b <= u64::from(p.registers),
                "the frame is outside of the register file",
            ),
            Opcode::Buffer(scalar, _) => {
                let buffer = &p.interface.buffers[words[1] as usize];
                check(buffer.scalar() == scalar, "the buffer has other numbers")?;
                self.number_of(words[1], words[3])
            }
            Opcode::BufferAdd => self.number_of(words[0], words[3]),
            Opcode::Load(_, from) => {
                check(array(words[1]).lanes == from, "the array has other shadows")
            }
            Opcode::Store(to, _) => {
                check(array(words[0]).lanes == to, "the array has other shadows")
            }
            _ => Ok(()),
        }
    }

    /// Checks that the fields of an opcode fit each other.
    fn opcode(&self, opcode: Opcode) -> Valid {
        match opcode {
            Opcode::Arithmetic(op, pattern) => {
                let (info, result) = (op.info(), pattern.result());
                let discrete = !info.is_differentiable();
                check(
                    !(discrete && pattern.0 != 0),
                    "an op without derivative has shadows",
                )?;
                for i in 0..MAX_OPERANDS {
                    let lanes = pattern.operand(i);
                    let float = info.operands.get(i) == Some(&OperandKind::Float);
                    let fits = result.contains(lanes) && (float || lanes.is_none());
                    check(fits, "an operand has shadows that do not count")?;
                }
                Ok(())
            }
            Opcode::Difference(_) => check(
                self.program.quad.is_some(),
                "a difference between points that are in no quad",
            ),
            Opcode::Branch(op, _) => check(Opcode::can_branch_on(op), "the op is no condition"),
            Opcode::Move(to, from) | Opcode::Store(to, from) => {
                check(to.contains(from), "a shadow goes nowhere")
            }
            _ => Ok(()),
        }
    }

    fn buffer(&self, index: usize, is_sum: bool) -> Valid {
        let buffer = self.program.interface.buffers.get(index);
        check(
            buffer.is_some_and(|buffer| buffer.is_sum() == is_sum),
            "the buffer is missing",
        )
    }

    /// Checks that an element of a buffer has a number.
    fn number_of(&self, buffer: u32, number: u32) -> Valid {
        let width = self.program.interface.buffers[buffer as usize].width();
        check((number as usize) < width, "an element has fewer numbers")
    }

    fn shape(&self, index: usize) -> Valid {
        let wants = self.wants_resource.get(index);
        let has = !*wants.ok_or("the closure is missing")?
            || !self.program.interface.resources.is_empty();
        check(has, "the closure wants a resource, of which there are none")
    }

    fn list(&self, start: u32, count: usize) -> Result<&[u32], String> {
        let rest = self.program.lists.get(start as usize..);
        let list = rest.and_then(|r| r.get(..count));
        list.ok_or_else(|| "the list is missing".to_owned())
    }
}

fn written(p: &Bytecode, register: u32, lanes: Lanes) -> Valid {
    check(
        Register(register).as_constant().is_none(),
        "a constant is written",
    )?;
    read(p, register, lanes)
}

fn read(p: &Bytecode, register: u32, lanes: Lanes) -> Valid {
    match Register(register).as_constant() {
        Some(index) => {
            check(lanes.is_none(), "a constant has shadows")?;
            check(
                (index as usize) < p.constants.len(),
                "the constant is missing",
            )
        }
        None => {
            let last = u64::from(register) + u64::from(extent(lanes));
            check(last < u64::from(p.registers), "the register is missing")
        }
    }
}

/// Registers from a value to the last of its shadows.
fn extent(lanes: Lanes) -> u32 {
    if lanes.has(Direction::Y) {
        2
    } else {
        u32::from(lanes.has(Direction::X))
    }
}
