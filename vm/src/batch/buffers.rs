//! Batch instructions on buffers.
//!
//! Points that read the same element, as most do, get copies of one word. Those that add to the
//! same element add exactly, all at once.

use super::active::points_of;
use super::chunk::Chunk;
use super::planes::{OperandRef, UNIFORM_WORDS};
use crate::bytecode::ShadowPattern;
use adumbra_ir::buffer::{BufferNumbers, BufferSums};
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::{BufferId, IndexCheck};

impl Chunk {
    /// Adds a fault of the current instruction to a point.
    pub(super) fn fault_of(&mut self, point: usize, kind: FaultKind) {
        let span = self.span_of(self.site());
        self.results.faults.add(point, kind, span);
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn buffer(
        &mut self,
        buffer: BufferId,
        number: u32,
        check: IndexCheck,
        refs: *const OperandRef,
    ) {
        // SAFETY: guaranteed by the caller.
        let [to, index] = unsafe { [*refs, *refs.add(1)] };
        // SAFETY: the index is an instruction's.
        let (lowest, highest) = unsafe { self.index_bounds(index) };
        if check == IndexCheck::Faults && !self.buffers.set.has(buffer, highest) {
            for vector in 0..self.active.vectors() {
                for point in self.active.points_of(vector, self.active.masks()[vector]) {
                    // SAFETY: guaranteed by the caller.
                    let index = unsafe { *index.point(point) };
                    if !self.buffers.set.has(buffer, index) {
                        self.fault_of(point, FaultKind::IndexOutOfRange);
                    }
                }
            }
        }
        if lowest == highest {
            let word = self.buffers.set.word(buffer, lowest, number);
            // SAFETY: guaranteed by the caller.
            unsafe { self.give(to, word) };
            return;
        }
        let buffers = self.buffers.set.clone();
        let at = |index: u32| buffers.position(buffer, index, number);
        // SAFETY: guaranteed by the caller: indices that differ are in a plane, and then so is what
        // is given. A point's index is read before anything of the point is written.
        unsafe {
            match buffers.numbers(buffer) {
                BufferNumbers::Floats(floats) => self.for_each_active(|point| {
                    let float = floats.get(at(*index.at.add(point)));
                    *to.at.add(point) = float.map_or(0, |float| float.to_bits());
                }),
                BufferNumbers::Ints(ints) => self.for_each_active(|point| {
                    let int = ints.get(at(*index.at.add(point)));
                    *to.at.add(point) = int.map_or(0, |int| int.cast_unsigned());
                }),
            }
        }
    }

    /// # Safety
    /// The operand is that of such an instruction.
    pub(super) unsafe fn buffer_length(&mut self, buffer: BufferId, refs: *const OperandRef) {
        let length = self.buffers.set.len(buffer);
        // SAFETY: guaranteed by the caller.
        unsafe { self.give(*refs, length) };
    }

    /// Gives a word to a uniform, or to all active points of a plane.
    ///
    /// # Safety
    /// The operand is one that an instruction writes.
    unsafe fn give(&self, to: OperandRef, word: u32) {
        let mut words = [word; UNIFORM_WORDS];
        if to.mask == 0 {
            // SAFETY: a uniform has that many words.
            return unsafe { to.at.copy_from(words.as_ptr(), UNIFORM_WORDS) };
        }
        let from = OperandRef {
            at: words.as_mut_ptr(),
            mask: 0,
        };
        let [_, from_uniform] = self.tapes.copies();
        let (pattern, refs) = (ShadowPattern::default(), [to, from]);
        // SAFETY: the plane is the chunk's, the words are a uniform; the routines are for them.
        unsafe { self.arithmetic(&from_uniform, pattern, true, refs.as_ptr()) };
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn buffer_add(
        &mut self,
        buffer: BufferId,
        number: u32,
        refs: *const OperandRef,
    ) {
        // SAFETY: guaranteed by the caller.
        let [index, value] = unsafe { [*refs, *refs.add(1)] };
        // SAFETY: the index is an instruction's.
        let (lowest, highest) = unsafe { self.index_bounds(index) };
        let memory = self.buffers.clone();
        let mut sums = memory.sums();
        for run in 0..self.active.full.runs.len() {
            let points = self.points_of_run(self.active.full.runs[run]);
            let is_alike = lowest == highest && value.mask != 0;
            // SAFETY: the plane has the points of the run.
            let values = || unsafe {
                std::slice::from_raw_parts(value.at.add(points.start).cast(), points.len())
            };
            if !is_alike || !sums.add_all(&memory.set, buffer, [lowest, number], values()) {
                for point in points {
                    // SAFETY: guaranteed by the caller.
                    let [index, value] = unsafe { [*index.point(point), *value.point(point)] };
                    self.add_to(&mut sums, (buffer, number), point, [index, value]);
                }
            }
        }
        for at in 0..self.active.partial.len() {
            let first = self.active.partial[at] as usize / size_of::<u32>();
            for point in points_of(first, self.active.partial_masks[at]) {
                // SAFETY: guaranteed by the caller.
                let [index, value] = unsafe { [*index.point(point), *value.point(point)] };
                self.add_to(&mut sums, (buffer, number), point, [index, value]);
            }
        }
    }

    /// Adds what a point has for an element, by its index and its value.
    fn add_to(
        &mut self,
        sums: &mut BufferSums,
        (buffer, number): (BufferId, u32),
        point: usize,
        [index, value]: [u32; 2],
    ) {
        let value = f32::from_bits(value);
        if !sums.add(&self.buffers.set, buffer, index, number, value) {
            self.fault_of(point, FaultKind::SumNotFinite);
        }
    }
}
