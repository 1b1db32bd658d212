//! Structure of control flow and calls: loops are entered at their heads alone, and registers that
//! a call saves are restored right after it.

use crate::bytecode::{Bytecode, BytecodeInstruction, MAX_SAVED_REGISTERS, Opcode, OperandRole};
use adumbra_ir::host::WORDS_PER_STEP;

/// The loops of a program.
pub(super) struct LoopBounds {
    /// By position: one more than that of the last back edge to it, 0 if there is none.
    ends: Vec<u32>,
}

impl LoopBounds {
    /// The position of the last back edge of the loop whose head is at a position.
    pub(super) fn end(&self, head: u32) -> Option<u32> {
        self.ends[head as usize].checked_sub(1)
    }
}

/// Checks both; returns the loops.
pub(super) fn check(program: &Bytecode) -> Result<LoopBounds, String> {
    let loops = loops(program)?;
    calls(program)?;
    Ok(loops)
}

/// The target of an instruction that may jump.
pub(super) fn target(code: &BytecodeInstruction) -> Option<u32> {
    let is_target = code.opcode.roles()[0] == OperandRole::Target;
    is_target.then_some(code.words[0])
}

fn loops(program: &Bytecode) -> Result<LoopBounds, String> {
    let mut loops = LoopBounds {
        ends: vec![0; program.code.len()],
    };
    for (position, code) in (0..).zip(&program.code) {
        if code.opcode == Opcode::Loop {
            loops.ends[code.words[0] as usize] = position + 1;
        }
    }
    // The innermost loop around each position but its head, by its head.
    let mut innermost = vec![None; program.code.len()];
    let mut open: Vec<(u32, u32)> = Vec::new();
    for position in 0..program.code.len() as u32 {
        while open.last().is_some_and(|&(_, end)| end < position) {
            open.pop();
        }
        innermost[position as usize] = open.last().copied();
        if let Some(end) = loops.end(position) {
            if open.last().is_some_and(|&(_, outer)| outer < end) {
                return Err(format!("instruction {position}: loops cross each other"));
            }
            open.push((position, end));
        }
    }
    for (position, code) in (0..).zip(&program.code) {
        let within = target(code).and_then(|target| innermost[target as usize]);
        if within.is_some_and(|(head, end)| !(head..=end).contains(&position)) {
            return Err(format!("instruction {position}: it jumps into a loop"));
        }
    }
    Ok(loops)
}

/// The registers that a call has saved, while its instructions are checked.
#[derive(Default)]
struct Saved {
    ranges: Vec<[u32; 2]>,
    words: u64,
    is_called: bool,
}

fn calls(program: &Bytecode) -> Result<(), String> {
    let mut is_target = vec![false; program.code.len()];
    for target in program.code.iter().filter_map(target) {
        is_target[target as usize] = true;
    }
    let mut saved = Saved::default();
    for (position, code) in program.code.iter().enumerate() {
        let what = match saved.pass(code) {
            Ok(()) if is_target[position] && saved.is_open_before(code) => "it jumps into a call",
            Ok(()) => continue,
            Err(what) => what,
        };
        return Err(format!("instruction {position}: {what}"));
    }
    Ok(())
}

impl Saved {
    /// Whether control was within a call before an instruction that was passed.
    fn is_open_before(&self, code: &BytecodeInstruction) -> bool {
        match code.opcode {
            Opcode::Save => self.ranges.len() > 1,
            Opcode::Restore => true,
            _ => !self.ranges.is_empty(),
        }
    }

    fn pass(&mut self, code: &BytecodeInstruction) -> Result<(), &'static str> {
        let [first, second, ..] = code.words;
        let is_open = !self.ranges.is_empty();
        match code.opcode {
            Opcode::Save if !self.is_called => {
                self.ranges.push([first, second]);
                self.words += u64::from(second);
            }
            Opcode::Call if is_open && !self.is_called => {
                // Registers that functions save, arrays apart, are bounded; elements take steps.
                let elements = u64::from(WORDS_PER_STEP) * (u64::from(second) + 1);
                if self.words > u64::from(MAX_SAVED_REGISTERS) + 3 * elements {
                    return Err("more is saved than the call takes steps for");
                }
                self.is_called = true;
            }
            Opcode::Restore => {
                if !self.is_called || self.ranges.pop() != Some([first, second]) {
                    return Err("it restores what the call has not saved");
                }
                if self.ranges.is_empty() {
                    *self = Saved::default();
                }
            }
            Opcode::ArrayFromSaved if is_open && !self.is_called => {}
            Opcode::ArrayToSaved if self.is_called => {}
            Opcode::ArrayFromSaved | Opcode::ArrayToSaved => return Err("no array was saved"),
            Opcode::Move(..) | Opcode::ArrayCopy | Opcode::Query => {}
            _ if is_open => return Err("it is between a call and the registers saved for it"),
            _ => {}
        }
        Ok(())
    }
}
