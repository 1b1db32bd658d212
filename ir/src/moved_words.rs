//! The words that instructions move, for which they take steps of the budget. Engines must agree in
//! them.

use crate::host::move_steps;
use crate::module::{ArrayId, Function, Inst, InstKind};
use crate::span::Span;

/// The words that an instruction moves whenever it is executed: the elements of arrays that it
/// clears or copies, the values of a record, the arguments of a closure or a message. All others
/// take a constant time, but `array_resize`, which clears what it is asked for, and calls.
pub fn moved_words(function: &Function, inst: &Inst) -> u32 {
    let len = |array: ArrayId| function.arrays[array.index()].len;
    match inst.kind {
        InstKind::ArrayZero(array) => len(array),
        InstKind::ArrayCopy { to, from } => len(to).min(len(from)),
        InstKind::Keep(..) | InstKind::MakeClosure(_) | InstKind::Message(_) => {
            inst.args.len() as u32
        }
        InstKind::Take(..) => inst.results.count,
        _ => 0,
    }
}

/// The instructions that take the steps for moving `words` words, in place of what moved them.
pub(crate) fn steps_for(words: u32, span: Span) -> impl Iterator<Item = Inst> {
    (0..move_steps(words)).map(move |_| Inst::plain(InstKind::TakeStep, span))
}
