//! What words hold where they are read: a check of programs from files, beyond what keeps memory safe.
//!
//! Afterwards what a program gives depends on its operands alone, whichever engine runs it and whatever it ran before. No word is read before it was written, since the
//! point before may have left anything there; bits of a float are no integer, since the payload of a NaN is an engine's own; a boolean is 0 or 1; and integers forge no
//! closure. Lowering makes no other program, so this is asked of files alone, and of all that is lowered where assertions are on.
//!
//! The analysis is forward and monotone: of each word a set of what it may hold, joined where ways meet, functions walked with what all their callers leave. Loops have
//! one head and calls restore what they save ([`structure`]), so one walk of a loop is nearly always enough. Words that no instruction tells apart are one *atom*.

mod fixpoint;
mod partition;
mod structure;
#[cfg(test)]
mod tests;
mod transfer;

use super::Bytecode;
use adumbra_ir::types::Scalar;
use adumbra_ops::definition::OperandKind;
use partition::RegisterPartition;

/// Bytes of states that checking a program may copy or join: a second or two of a processor. Programs that people write take a thousandth.
const MAX_WORK: u64 = 1 << 33;
/// Bytes of states that it may hold at once.
const MAX_HELD: u64 = 1 << 28;

/// What a word may hold, a bit each. A word with no bit is zero, which every type has.
pub(super) type WordKinds = u8;

pub(super) const BOOL: WordKinds = 1 << 0;
pub(super) const INT: WordKinds = 1 << 1;
pub(super) const FLOAT: WordKinds = 1 << 2;
pub(super) const CLOSURE: WordKinds = 1 << 3;
/// What was there before; of an atom those words alone whose slots leave this remainder by three, as the holes in arrays of values with ddy alone do.
pub(super) const STALE: [WordKinds; 3] = [1 << 4, 1 << 5, 1 << 6];
pub(super) const ALL_STALE: WordKinds = STALE[0] | STALE[1] | STALE[2];

/// What a value of a type holds.
pub(super) fn word_kinds(scalar: Scalar) -> WordKinds {
    match scalar {
        Scalar::F32 => FLOAT,
        Scalar::Bool => BOOL,
        Scalar::I32 | Scalar::U32 | Scalar::Resource => INT,
        Scalar::Closure => CLOSURE,
    }
}

/// What may be read as a value of a type.
pub(super) fn readable_as(scalar: Scalar) -> WordKinds {
    match scalar {
        Scalar::F32 => FLOAT | INT | BOOL,
        Scalar::Bool => BOOL,
        Scalar::I32 | Scalar::U32 | Scalar::Resource => INT | BOOL,
        Scalar::Closure => CLOSURE,
    }
}

/// What may be an operand of that kind.
pub(super) fn readable_as_operand(kind: OperandKind) -> WordKinds {
    match kind {
        OperandKind::Float => readable_as(Scalar::F32),
        OperandKind::Bool => readable_as(Scalar::Bool),
        OperandKind::I32 | OperandKind::U32 | OperandKind::Int | OperandKind::Word => {
            readable_as(Scalar::I32)
        }
    }
}

/// Checks a valid program. See the head of the file.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn check(program: &Bytecode) -> Result<(), String> {
    let loops = structure::check(program)?;
    fixpoint::check(program, &RegisterPartition::new(program), &loops)
}

/// What was copied, joined and kept so far.
#[derive(Default)]
pub(super) struct CheckBudget {
    work: u64,
    held: u64,
}

impl CheckBudget {
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.work += bytes as u64;
        match self.work > MAX_WORK || self.held > MAX_HELD {
            true => Err("it is too large to be checked".to_owned()),
            false => Ok(()),
        }
    }

    /// A copy that is kept until it is given back.
    pub(super) fn keep(&mut self, state: &[WordKinds]) -> Result<Vec<WordKinds>, String> {
        self.held += state.len() as u64;
        self.spend(state.len())?;
        Ok(state.to_vec())
    }

    pub(super) fn give_back(&mut self, state: &[WordKinds]) {
        self.held -= state.len() as u64;
    }
}
