//! Memory for planes, in structure-of-arrays layout: one register of all points of a chunk is
//! contiguous.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Planes start at a multiple of this many bytes: a cache line.
pub(super) const PLANE_ALIGNMENT: usize = 64;

/// Words of a uniform value: a SIMD vector of the widest level.
pub(super) const UNIFORM_WORDS: usize = 32;

pub(super) use adumbra_simd::OperandRef;

/// Words, aligned for SIMD vectors, zero at first.
pub(super) struct PlaneBuffer {
    start: NonNull<u32>,
    len: usize,
}

impl PlaneBuffer {
    /// Allocates `len` words.
    pub(super) fn new(len: usize) -> PlaneBuffer {
        let layout = PlaneBuffer::layout(len);
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start.cast());
        PlaneBuffer {
            start: start.unwrap_or_else(|| handle_alloc_error(layout)),
            len,
        }
    }

    /// At least one line is allocated, so that there is something to point to.
    fn layout(len: usize) -> Layout {
        let bytes = len.max(UNIFORM_WORDS) * size_of::<u32>();
        Layout::from_size_align(bytes, PLANE_ALIGNMENT).expect("limits bound what is asked for")
    }

    /// The word at an index.
    ///
    /// # Panics
    /// If it is beyond the end.
    pub(super) fn at(&self, index: usize) -> *mut u32 {
        assert!(index <= self.len, "a plane lies in the memory of planes");
        // SAFETY: the index was checked: it is inside, or one past the last word.
        unsafe { self.start.as_ptr().add(index) }
    }

    /// Bytes that they take.
    pub(super) fn memory(&self) -> usize {
        PlaneBuffer::layout(self.len).size()
    }
}

impl Drop for PlaneBuffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr().cast(), PlaneBuffer::layout(self.len)) }
    }
}

// SAFETY: the words are owned, like those of a boxed slice.
unsafe impl Send for PlaneBuffer {}
