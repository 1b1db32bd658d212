//! Memory for planes: what one slot holds for each point of a chunk, one behind the other.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Bytes that planes begin at a multiple of: a line of the cache.
pub(super) const ALIGNMENT: usize = 64;

/// Words in a place that holds one value for all points: a pack of the widest level.
pub(super) const CELL_WORDS: usize = 32;

pub(super) use adumbra_packs::Ref;

/// Words, aligned for packs, zero at first.
pub(super) struct Words {
    start: NonNull<u32>,
    len: usize,
}

impl Words {
    /// So many.
    pub(super) fn new(len: usize) -> Words {
        let layout = Words::layout(len);
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start.cast());
        Words {
            start: start.unwrap_or_else(|| handle_alloc_error(layout)),
            len,
        }
    }

    /// At least one line is taken, so that there is something to point to.
    fn layout(len: usize) -> Layout {
        let bytes = len.max(CELL_WORDS) * size_of::<u32>();
        Layout::from_size_align(bytes, ALIGNMENT).expect("limits bound what is asked for")
    }

    /// The word at an index.
    ///
    /// # Panics
    /// If it is beyond the end.
    pub(super) fn at(&self, index: usize) -> *mut u32 {
        assert!(index <= self.len, "a plane lies in the memory of planes");
        // SAFETY: it is inside, or one past the last word.
        unsafe { self.start.as_ptr().add(index) }
    }

    /// Bytes that they take.
    pub(super) fn memory(&self) -> usize {
        Words::layout(self.len).size()
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr().cast(), Words::layout(self.len)) }
    }
}

// SAFETY: the words are owned, like those of a boxed slice.
unsafe impl Send for Words {}
