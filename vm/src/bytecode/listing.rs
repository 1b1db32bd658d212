//! The listing of bytecode.
//!
//! A line is `12  add.xy.xy.  r5 ← r1, #0=1.5`: position, opcode with the lanes of the result and
//! of each operand, the registers that it writes, those that it reads. `r` are registers, `#`
//! constants, `a` arrays, `t` tapes, `→` positions.

use super::{Bytecode, BytecodeInstruction, Opcode, OperandRole, Operands, Register};
use adumbra_ops::definition::OperandKind;
use std::fmt::{self, Write};

impl fmt::Display for Bytecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "; {} instructions, {} registers, {} constants",
            self.code.len(),
            self.registers,
            self.constants.len()
        )?;
        for (i, array) in self.arrays.iter().enumerate() {
            let (end, lanes) = (array.base + array.registers() - 1, array.lanes.name());
            writeln!(
                f,
                "; a{i}.{lanes}: {} elements at r{}..r{end}",
                array.len, array.base
            )?;
        }
        let operands = Operands::new(self);
        let mut functions = self.functions.iter().peekable();
        for (position, instruction) in self.code.iter().enumerate() {
            if let Some(function) = functions.next_if(|g| g.start as usize == position) {
                write!(f, "{}", function.name)?;
                if function.variant > 0 {
                    write!(f, "#{}", function.variant)?;
                }
                writeln!(f, ":")?;
            }
            write!(f, "{position:5}  ")?;
            self.instruction(f, &operands, instruction)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

/// The mnemonic of an opcode, with its lanes.
pub(super) fn mnemonic(opcode: Opcode) -> String {
    let mut text = match opcode {
        Opcode::Branch(_, when) | Opcode::BranchIf(when) => {
            let word = if when { "unless" } else { "if" };
            let condition = [word, opcode.name()].join(" ");
            condition.trim_end().to_owned()
        }
        _ => opcode.name().to_owned(),
    };
    let lanes = opcode.shown_lanes();
    if lanes.iter().any(|l| !l.is_none()) {
        for lanes in lanes {
            let _ = write!(text, ".{}", lanes.name());
        }
    }
    text
}

/// A line of a listing.
struct Line<'p> {
    program: &'p Bytecode,
    instruction: &'p BytecodeInstruction,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands = Operands::new(self.program);
        self.program.instruction(f, &operands, self.instruction)
    }
}

impl Bytecode {
    /// The line of a listing for the instruction at a position.
    ///
    /// # Panics
    /// If there is none.
    pub fn line(&self, position: u32) -> impl fmt::Display {
        Line {
            program: self,
            instruction: &self.code[position as usize],
        }
    }

    fn instruction(
        &self,
        f: &mut fmt::Formatter<'_>,
        operands: &Operands<'_>,
        instruction: &BytecodeInstruction,
    ) -> fmt::Result {
        let roles = instruction.opcode.roles();
        let words = || instruction.words.into_iter().zip(roles);
        write!(f, "{}", mnemonic(instruction.opcode))?;
        let mut separator = "  ";
        for (i, (word, role)) in words().enumerate() {
            match role {
                OperandRole::Write(..) => {
                    write!(f, "{separator}{}", self.register(Register(word)))?;
                    separator = ", ";
                }
                OperandRole::WriteList(_) => {
                    for &register in operands.list(instruction, i) {
                        write!(f, "{separator}{}", self.register(Register(register)))?;
                        separator = ", ";
                    }
                }
                OperandRole::Taken => {
                    let listed = self.registers(operands.list(instruction, i));
                    write!(f, "{separator}{listed}")?;
                    separator = ", ";
                }
                _ => {}
            }
        }
        if separator == ", " {
            separator = " ← ";
        }
        let kinds: &[OperandKind] = match instruction.opcode {
            Opcode::Arithmetic(op, _) | Opcode::Branch(op, _) => op.info().operands,
            _ => &[],
        };
        let mut kinds = kinds.iter().copied();
        for (i, (word, role)) in words().enumerate() {
            let text = match role {
                OperandRole::Unused
                | OperandRole::Write(..)
                | OperandRole::WriteList(_)
                | OperandRole::Taken => continue,
                OperandRole::Read(..) => self.operand(Register(word), kinds.next()),
                OperandRole::Target => format!("→{word}"),
                OperandRole::Function => {
                    let function = &self.functions[word as usize];
                    format!("{} →{}", function.name, function.start)
                }
                OperandRole::Array => format!("a{word}"),
                OperandRole::Texture => self.interface.textures[word as usize].name.clone(),
                OperandRole::Buffer | OperandRole::Sum => {
                    self.interface.buffers[word as usize].name.clone()
                }
                OperandRole::Tape => format!("t{word}"),
                OperandRole::Shape => self.interface.closures[word as usize].name.clone(),
                OperandRole::Message => {
                    format!("{:?}", self.interface.messages[word as usize].format)
                }
                OperandRole::ReadList(_) | OperandRole::Arguments => {
                    self.registers(operands.list(instruction, i))
                }
                OperandRole::Number => word.to_string(),
            };
            if !text.is_empty() {
                write!(f, "{separator}{text}")?;
                separator = ", ";
            }
        }
        Ok(())
    }

    fn registers(&self, list: &[u32]) -> String {
        let registers = list.iter();
        let names: Vec<String> = registers.map(|&s| self.register(Register(s))).collect();
        names.join(", ")
    }

    fn register(&self, register: Register) -> String {
        self.operand(register, None)
    }

    /// A register that is read as an operand of that kind, if one is known.
    fn operand(&self, register: Register, kind: Option<OperandKind>) -> String {
        let Some(index) = register.as_constant() else {
            return format!("r{}", register.0);
        };
        let bits = self.constants[index as usize];
        let number = f32::from_bits(bits);
        let is_float = match kind {
            Some(kind) => kind == OperandKind::Float,
            // Small words are more likely integers than denormal floats.
            None => bits >= 1 << 23 && number.is_finite(),
        };
        match is_float {
            true => format!("#{index}={number:?}"),
            false if kind == Some(OperandKind::U32) => format!("#{index}={bits}"),
            false => format!("#{index}={}", bits as i32),
        }
    }
}
