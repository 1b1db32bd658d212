//! Where the points of an operand are, and which packs of them run. Code that is not Rust reads both, so they lie in memory as C has them.

/// Where a word is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OperandRef {
    /// That of the first point.
    pub at: *mut u32,
    /// All bits for a plane, none for a cell, whose one pack serves all.
    pub mask: usize,
}

impl OperandRef {
    /// A word in a plane.
    pub const fn to_plane(at: *mut u32) -> OperandRef {
        OperandRef {
            at,
            mask: usize::MAX,
        }
    }

    /// The values of a pack, so many bytes from the first one.
    ///
    /// # Safety
    /// There is such a pack.
    #[inline(always)]
    pub unsafe fn vector(self, offset: u32) -> *mut u32 {
        // SAFETY: asked of the caller; in a cell all packs are the first.
        unsafe { self.at.byte_add(offset as usize & self.mask) }
    }

    /// The value of a point.
    ///
    /// # Safety
    /// There is such a point.
    #[inline(always)]
    pub unsafe fn point(self, point: usize) -> *mut u32 {
        // SAFETY: asked of the caller; every word of a cell is the same.
        unsafe { self.at.byte_add((point * size_of::<u32>()) & self.mask) }
    }
}

/// Neighbouring packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct VectorRun {
    /// Bytes from the first pack of the chunk to the first of these.
    pub start: u32,
    /// How many.
    pub vectors: u32,
}

impl VectorRun {
    /// The first pack of a chunk, or the one of a cell.
    pub const FIRST: VectorRun = VectorRun {
        start: 0,
        vectors: 1,
    };
}
