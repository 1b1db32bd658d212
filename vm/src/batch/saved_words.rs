//! Words of inactive points, saved while machine code, or a sequence of the interpreter, computes
//! whole SIMD vectors.

use super::active::ActivePoints;
use super::planes::OperandRef;

/// The words that are saved.
pub(super) struct SavedWords(Box<[u32]>);

impl SavedWords {
    /// Allocates for `planes` planes of `points` points.
    pub(super) fn new(planes: usize, points: usize) -> SavedWords {
        SavedWords(vec![0; planes * points].into_boxed_slice())
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        size_of_val(&self.0[..])
    }

    /// Saves the SIMD vectors that are active in part.
    ///
    /// # Safety
    /// They are planes with those vectors.
    pub(super) unsafe fn save(
        &mut self,
        active: &ActivePoints,
        planes: impl Iterator<Item = OperandRef>,
    ) {
        let width = active.vector_width();
        let mut saved = self.0.chunks_exact_mut(width);
        for plane in planes {
            for (&offset, saved) in active.partial.iter().zip(&mut saved) {
                // SAFETY: guaranteed by the caller.
                saved.copy_from_slice(unsafe {
                    std::slice::from_raw_parts(plane.vector(offset), width)
                });
            }
        }
    }

    /// Restores the words of inactive points in the same planes.
    ///
    /// # Safety
    /// As for [`save`](SavedWords::save), since which nothing has become active or inactive.
    pub(super) unsafe fn restore(
        &self,
        active: &ActivePoints,
        planes: impl Iterator<Item = OperandRef>,
    ) {
        let width = active.vector_width();
        let mut saved = self.0.chunks_exact(width);
        for plane in planes {
            let vectors = active.partial.iter().zip(&active.partial_masks);
            for ((&offset, &mask), saved) in vectors.zip(&mut saved) {
                // SAFETY: guaranteed by the caller.
                let words = unsafe { std::slice::from_raw_parts_mut(plane.vector(offset), width) };
                for (point, (word, &saved)) in words.iter_mut().zip(saved).enumerate() {
                    *word = if mask >> point & 1 == 1 { *word } else { saved };
                }
            }
        }
    }
}
