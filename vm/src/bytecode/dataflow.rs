//! Data-flow check of programs from files: the kinds of values that words hold where they are read.
//!
//! A checked program's results depend on its operands alone, whichever engine runs it and whatever
//! it ran before. No word is read before it was written, since it may hold anything. Bits of a
//! float are no integer, since the payload of a NaN depends on the engine. A boolean is 0 or 1, and
//! integers forge no closure. Lowering makes no other programs. So files are checked always, and
//! lowered programs with debug assertions.
//!
//! The analysis is an abstract interpretation (Cousot and Cousot, "Abstract Interpretation: A
//! Unified Lattice Model", 1977), forward and monotone. Each word has a set of kinds, joined where
//! paths meet. A function is walked with the joined states of all its callers. Loops have one head,
//! and calls restore what they save ([`structure`]), so one walk of a loop is nearly always enough.
//! A loop is walked again only if the state at a head around it has grown.
//! Registers that no instruction separates are one *atom*.

mod fixpoint;
mod partition;
mod structure;
#[cfg(test)]
mod tests;
mod transfer;

use super::{Bytecode, Operands};
use adumbra_ir::types::Scalar;
use adumbra_ops::definition::OperandKind;
use partition::RegisterPartition;

/// Bytes of states that checking a program may copy or join, about a second. Running an instruction
/// counts as some ([`TransferFunction::work`](transfer::TransferFunction::work)). Ordinary programs
/// take 0.1 % of it.
const MAX_WORK: u64 = 1 << 33;
/// The fault of a program beyond these limits: many registers in deeply nested loops.
pub(crate) const TOO_LARGE: &str = "it is too large to be checked";
/// Bytes of states that it may hold at once.
const MAX_HELD: u64 = 1 << 28;

/// The kinds of values that a word may hold, a bit each. A word with no bit is zero, which every
/// type has.
pub(super) type WordKinds = u8;

pub(super) const BOOL: WordKinds = 1 << 0;
pub(super) const INT: WordKinds = 1 << 1;
pub(super) const FLOAT: WordKinds = 1 << 2;
pub(super) const CLOSURE: WordKinds = 1 << 3;
/// The kinds of a word that was not written; of an atom only the registers with this remainder by
/// three. The holes in arrays of values with ddy alone are such registers.
pub(super) const STALE: [WordKinds; 3] = [1 << 4, 1 << 5, 1 << 6];
pub(super) const ALL_STALE: WordKinds = STALE[0] | STALE[1] | STALE[2];

/// The kinds that a value of a type has.
pub(super) fn word_kinds(scalar: Scalar) -> WordKinds {
    match scalar {
        Scalar::F32 => FLOAT,
        Scalar::Bool => BOOL,
        Scalar::I32 | Scalar::U32 | Scalar::Resource => INT,
        Scalar::Closure => CLOSURE,
    }
}

/// The kinds that may be read as a value of a type.
pub(super) fn readable_as(scalar: Scalar) -> WordKinds {
    match scalar {
        Scalar::F32 => FLOAT | INT | BOOL,
        Scalar::Bool => BOOL,
        Scalar::I32 | Scalar::U32 | Scalar::Resource => INT | BOOL,
        Scalar::Closure => CLOSURE,
    }
}

/// The kinds that may be an operand of that kind.
pub(super) fn readable_as_operand(kind: OperandKind) -> WordKinds {
    match kind {
        OperandKind::Float => readable_as(Scalar::F32),
        OperandKind::Bool => readable_as(Scalar::Bool),
        OperandKind::I32 | OperandKind::U32 | OperandKind::Int | OperandKind::Word => {
            readable_as(Scalar::I32)
        }
    }
}

/// Checks a valid program, as the module's head describes.
///
/// # Errors
/// A message that names the fault and the instruction.
pub(crate) fn check(program: &Bytecode) -> Result<(), String> {
    spend(program, CheckBudget::default()).map(drop)
}

/// Checks a valid program within a budget; returns what was spent.
fn spend(program: &Bytecode, mut budget: CheckBudget) -> Result<CheckBudget, String> {
    // What structure and partition pass over.
    budget.spend(program.code.len() * transfer::INSTRUCTION_WORK)?;
    let loops = structure::check(program)?;
    let operands = Operands::new(program);
    let atoms = RegisterPartition::new(&operands);
    fixpoint::check(&operands, &atoms, &loops, budget)
}

/// The work done and the memory held so far.
#[derive(Default)]
pub(super) struct CheckBudget {
    work: u64,
    held: u64,
}

impl CheckBudget {
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.work += bytes as u64;
        match self.work > MAX_WORK || self.held > MAX_HELD {
            true => Err(TOO_LARGE.to_owned()),
            false => Ok(()),
        }
    }

    /// Copies a state, which is kept until it is given back.
    pub(super) fn keep(&mut self, state: &[WordKinds]) -> Result<Vec<WordKinds>, String> {
        self.held += state.len() as u64;
        self.spend(state.len())?;
        Ok(state.to_vec())
    }

    pub(super) fn give_back(&mut self, state: &[WordKinds]) {
        self.held -= state.len() as u64;
    }
}
