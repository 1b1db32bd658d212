//! Labels: jump targets that are bound after the jumps, by backpatching.

use crate::bytecode::BytecodeInstruction;

/// The jumps to one label: each one's target word holds the position of the jump before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(u32);

const NONE: u32 = u32::MAX;

impl Label {
    /// A label without jumps.
    pub(crate) const NEW: Label = Label(NONE);

    /// Whether no jump has this target.
    pub(crate) fn is_unused(self) -> bool {
        self.0 == NONE
    }

    /// The word for the target of the jump that is appended next, at position `at`.
    pub(crate) fn add_jump(&mut self, at: usize) -> u32 {
        std::mem::replace(&mut self.0, at as u32)
    }

    /// Binds the label to the end of the code.
    pub(crate) fn bind(self, code: &mut [BytecodeInstruction]) {
        let here = code.len() as u32;
        let mut at = self.0;
        while at != NONE {
            at = std::mem::replace(&mut code[at as usize].words[0], here);
        }
    }

    /// The jump at position `from`, the last to be added, is now at `to`.
    pub(crate) fn replace(&mut self, from: usize, to: usize) {
        debug_assert_eq!(self.0, from as u32);
        self.0 = to as u32;
    }

    /// Forgets the jump at position `at`, if it was the last to be added.
    pub(crate) fn forget(&mut self, at: usize, code: &[BytecodeInstruction]) -> bool {
        let last = self.0 == at as u32;
        if last {
            self.0 = code[at].words[0];
        }
        last
    }
}
