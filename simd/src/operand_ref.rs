//! References to operands, and runs of SIMD vectors. Machine code reads both, so they are
//! `repr(C)`.

/// Where the words of an operand are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OperandRef {
    /// The word of the first point.
    pub at: *mut u32,
    /// All bits for a plane, none for a uniform value, whose one vector serves all.
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

    /// The words of the SIMD vector that begins `offset` bytes after the first one.
    ///
    /// # Safety
    /// The plane has such a vector.
    #[inline(always)]
    pub unsafe fn vector(self, offset: u32) -> *mut u32 {
        // SAFETY: guaranteed by the caller; in a uniform value each vector is the first.
        unsafe { self.at.byte_add(offset as usize & self.mask) }
    }

    /// The value of a point.
    ///
    /// # Safety
    /// There is such a point.
    #[inline(always)]
    pub unsafe fn point(self, point: usize) -> *mut u32 {
        // SAFETY: guaranteed by the caller; every word of a uniform value is the same.
        unsafe { self.at.byte_add((point * size_of::<u32>()) & self.mask) }
    }
}

/// Consecutive SIMD vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct VectorRun {
    /// Bytes from the first vector of the chunk to the first one of the run.
    pub start: u32,
    /// How many vectors the run has.
    pub vectors: u32,
}

impl VectorRun {
    /// The first vector of a chunk, or the one of a uniform value.
    pub const FIRST: VectorRun = VectorRun {
        start: 0,
        vectors: 1,
    };
}
