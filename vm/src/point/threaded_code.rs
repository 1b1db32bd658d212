//! The threaded code of a machine, in memory that does not move with it.
//!
//! Open calls and suspended points hold addresses of instructions while the machine moves: to
//! another thread, or into a list. A boxed slice stays in place too, but moving a box asserts that
//! no other pointer to its content exists.

use super::state::ThreadedInstruction;
use std::ptr::NonNull;

/// Loaded instructions, which are not written to any more.
pub(super) struct ThreadedCode {
    /// From [`Box::leak`].
    all: NonNull<[ThreadedInstruction]>,
}

// SAFETY: instructions are numbers and routines, and the code owns them as a boxed slice would.
unsafe impl Send for ThreadedCode {}

impl ThreadedCode {
    /// Takes ownership of the instructions.
    pub(super) fn new(all: Box<[ThreadedInstruction]>) -> ThreadedCode {
        let all = NonNull::from(Box::leak(all));
        ThreadedCode { all }
    }

    /// The address of the first instruction, from which those of all others may be reached.
    #[inline(always)]
    pub(super) fn first(&self) -> *const ThreadedInstruction {
        self.all.as_ptr().cast()
    }

    /// The address of an instruction.
    ///
    /// # Panics
    /// If the index is out of range.
    pub(super) fn at(&self, index: usize) -> *const ThreadedInstruction {
        assert!(index < self.all.len(), "the instruction exists");
        self.first().wrapping_add(index)
    }

    /// Bytes of the heap that it holds.
    pub(super) fn memory(&self) -> usize {
        self.all.len() * size_of::<ThreadedInstruction>()
    }
}

impl Drop for ThreadedCode {
    fn drop(&mut self) {
        // SAFETY: they were leaked by `new`, and do not run any more.
        drop(unsafe { Box::from_raw(self.all.as_ptr()) });
    }
}
