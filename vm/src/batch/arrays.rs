//! Batch instructions on arrays.
//!
//! An element is a plane. Points that read or write the same element copy planes. Points at other
//! elements copy words, without further checks if all indices are in range.

use super::active::{VectorRun, points_of};
use super::chunk::{Chunk, RunContext};
use super::planes::OperandRef;
use crate::bytecode::{BytecodeArray, ShadowPattern};
use adumbra_ir::host::{FaultKind, move_steps};
use adumbra_ir::types::{Direction, Lanes};
use std::ops::Range;

/// The distances in words from a value to its shadows, and whether it has each.
fn offsets(lanes: Lanes) -> impl Iterator<Item = usize> {
    let shadows = Direction::BOTH.into_iter().zip(1..);
    let shadows = shadows.filter(move |&(direction, _)| lanes.has(direction));
    std::iter::once(0).chain(shadows.map(|(_, offset)| offset))
}

/// Whether a value with these lanes has a word at this distance.
fn has(lanes: Lanes, offset: usize) -> bool {
    offset == 0 || lanes.bits() >> (offset - 1) & 1 == 1
}

impl Chunk {
    /// The index of each active point, below the array's length; faults where it was not. Vectors
    /// go in order, so faults and requests do too.
    ///
    /// # Safety
    /// The operand is an instruction's.
    unsafe fn index(&mut self, point: usize, index: OperandRef, len: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        let index = unsafe { *index.point(point) };
        if index < len {
            return index;
        }
        self.fault_of(point, FaultKind::IndexOutOfRange);
        if (index as i32) < 0 { 0 } else { len - 1 }
    }

    /// The word of a point in the plane of a register.
    ///
    /// # Safety
    /// The register and the point exist.
    unsafe fn word(&self, register: u32, point: usize) -> *mut u32 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.memory.register(register).add(point) }
    }

    /// The lowest and the highest index of the active points, as unsigned numbers.
    ///
    /// # Safety
    /// The operand is an instruction's.
    pub(super) unsafe fn index_bounds(&self, index: OperandRef) -> (u32, u32) {
        // SAFETY: guaranteed by the caller; operands have all active points.
        unsafe {
            if index.mask == 0 {
                return (*index.at, *index.at);
            }
            if let Some(alike) = self.index_alike(index) {
                return (alike, alike);
            }
            let (mut lowest, mut highest) = (u32::MAX, 0);
            for &run in &self.active.full.runs {
                let points = self.points_of_run(run);
                let first = index.at.add(points.start);
                for &index in std::slice::from_raw_parts(first, points.len()) {
                    lowest = lowest.min(index);
                    highest = highest.max(index);
                }
            }
            let partial = self.active.partial.iter().zip(&self.active.partial_masks);
            for (&vector, &mask) in partial {
                for point in points_of(vector as usize / size_of::<u32>(), mask) {
                    let index = *index.at.add(point);
                    lowest = lowest.min(index);
                    highest = highest.max(index);
                }
            }
            (lowest, highest)
        }
    }

    /// The index of all active points, if it is one: so it is in most loops. Comparing is faster
    /// than the search for the lowest and the highest, for which some levels lack instructions.
    ///
    /// # Safety
    /// The operand is a plane of an instruction's.
    unsafe fn index_alike(&self, index: OperandRef) -> Option<u32> {
        // SAFETY: guaranteed by the caller; operands have all active points.
        unsafe {
            let first = match (self.active.full.runs.first(), self.active.partial.first()) {
                (Some(run), _) => self.points_of_run(*run).start,
                (None, Some(&vector)) => {
                    let start = vector as usize / size_of::<u32>();
                    points_of(start, self.active.partial_masks[0]).next()?
                }
                (None, None) => return None,
            };
            let first = *index.at.add(first);
            let mut differing = 0;
            for &run in &self.active.full.runs {
                let points = self.points_of_run(run);
                let words = std::slice::from_raw_parts(index.at.add(points.start), points.len());
                differing |= words.iter().fold(0, |bits, word| bits | (word ^ first));
            }
            let partial = self.active.partial.iter().zip(&self.active.partial_masks);
            for (&vector, &mask) in partial {
                for point in points_of(vector as usize / size_of::<u32>(), mask) {
                    differing |= *index.at.add(point) ^ first;
                }
            }
            (differing == 0).then_some(first)
        }
    }

    /// The points of a run of vectors.
    pub(super) fn points_of_run(&self, run: VectorRun) -> Range<usize> {
        let first = run.start as usize / size_of::<u32>();
        let end = first + run.vectors as usize * self.active.vector_width();
        first..end.min(self.results.points)
    }

    /// Calls `each` for each active point, in any order.
    #[inline(always)]
    pub(super) fn for_each_active(&self, mut each: impl FnMut(usize)) {
        for &run in &self.active.full.runs {
            self.points_of_run(run).for_each(&mut each);
        }
        for (&vector, &mask) in self.active.partial.iter().zip(&self.active.partial_masks) {
            points_of(vector as usize / size_of::<u32>(), mask).for_each(&mut each);
        }
    }

    /// Whether an operand lies in an array's planes.
    fn is_within(&self, operand: OperandRef, array: BytecodeArray) -> bool {
        let start = self.memory.register(array.base).addr();
        let bytes = array.registers() as usize * self.memory.plane_bytes();
        operand.mask != 0 && (start..start + bytes).contains(&operand.at.addr())
    }

    /// Loads an element, or stores one, if all indices are in range and the value is apart from the
    /// array. Returns whether it did. `value` has the word at each distance from a value, none if
    /// it does not count.
    ///
    /// # Safety
    /// The index is an instruction's, and so is the value; if it is loaded, it has planes.
    unsafe fn copy_element<const LOAD: bool>(
        &self,
        array: BytecodeArray,
        index: OperandRef,
        value: [Option<OperandRef>; 3],
    ) -> bool {
        // SAFETY: guaranteed by the caller.
        let (lowest, highest) = unsafe { self.index_bounds(index) };
        let mut operands = value.into_iter().flatten();
        if highest >= array.len || operands.any(|operand| self.is_within(operand, array)) {
            return false;
        }
        let first = array.base + lowest * array.stride();
        if lowest != highest {
            // First, since the index may be in a plane that is written.
            // SAFETY: guaranteed by the caller; the indices are in range.
            unsafe { self.copy_words::<LOAD>(array, index, value) };
        }
        for (offset, operand) in value.into_iter().enumerate() {
            let has = has(array.lanes, offset);
            let Some(operand) = operand.filter(|_| lowest == highest || !has) else {
                continue;
            };
            let element = OperandRef::to_plane(match has {
                true => self.memory.register(first + offset as u32),
                false => self.memory.zero(),
            });
            let refs = match LOAD {
                true => [operand, element],
                false => [element, operand],
            };
            let [from_plane, from_uniform] = self.tapes.copies();
            let routines = match refs[1].mask {
                0 => from_uniform,
                _ => from_plane,
            };
            // SAFETY: the planes and uniforms are the chunk's; the routines are for them.
            unsafe { self.arithmetic(&routines, ShadowPattern::default(), true, refs.as_ptr()) };
        }
        true
    }

    /// Copies the words that each active point's element has to a value, or from it.
    ///
    /// # Safety
    /// As for [`copy_element`](Chunk::copy_element); all indices are in range.
    unsafe fn copy_words<const LOAD: bool>(
        &self,
        array: BytecodeArray,
        index: OperandRef,
        value: [Option<OperandRef>; 3],
    ) {
        let plane = self.memory.plane_bytes() / size_of::<u32>();
        let stride = array.stride() as usize * plane;
        let first = self.memory.register(array.base);
        let mut words = [(0, index); 3];
        let mut count = 0;
        for (offset, operand) in value.into_iter().enumerate() {
            if let Some(operand) = operand.filter(|_| has(array.lanes, offset)) {
                words[count] = (offset * plane, operand);
                count += 1;
            }
        }
        if let ([(0, operand), ..], 1) = (words, count)
            && index.mask != 0
        {
            // Most elements are one word.
            return self.for_each_active(|point| {
                // SAFETY: guaranteed by the caller; planes have all points.
                unsafe {
                    let element = first.add(*index.at.add(point) as usize * stride + point);
                    match LOAD {
                        true => *operand.at.add(point) = *element,
                        false => *element = *operand.point(point),
                    }
                }
            });
        }
        self.for_each_active(|point| {
            // SAFETY: guaranteed by the caller; planes have all points. A point's index is read
            // before anything of the point is written.
            unsafe {
                let element = first.add(*index.point(point) as usize * stride + point);
                for &(offset, operand) in &words[..count] {
                    let (element, word) = (element.add(offset), operand.point(point));
                    match LOAD {
                        true => *word = *element,
                        false => *element = *word,
                    }
                }
            }
        });
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn load(&mut self, array: BytecodeArray, to: Lanes, refs: *const OperandRef) {
        let planes = 1 + to.count() as usize;
        let mut value = [None; 3];
        // SAFETY: guaranteed by the caller.
        unsafe {
            for (plane, offset) in offsets(to).enumerate() {
                value[offset] = Some(*refs.add(plane));
            }
            if self.copy_element::<true>(array, *refs.add(planes), value) {
                return;
            }
        }
        for vector in 0..self.active.vectors() {
            for point in self.active.points_of(vector, self.active.masks()[vector]) {
                // SAFETY: guaranteed by the caller; the element is the array's. The element is read
                // before anything is written.
                unsafe {
                    let index = self.index(point, *refs.add(planes), array.len);
                    let element = array.base + index * array.stride();
                    let words: [u32; 3] =
                        std::array::from_fn(|offset| match has(array.lanes, offset) {
                            true => *self.word(element + offset as u32, point),
                            false => 0,
                        });
                    for (plane, offset) in offsets(to).enumerate() {
                        *(*refs.add(plane)).point(point) = words[offset];
                    }
                }
            }
        }
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn store(
        &mut self,
        array: BytecodeArray,
        from: Lanes,
        refs: *const OperandRef,
    ) {
        let zero = OperandRef::to_plane(self.memory.zero());
        let mut value = [None; 3];
        // SAFETY: guaranteed by the caller.
        unsafe {
            for offset in offsets(array.lanes) {
                value[offset] = Some(zero);
            }
            for (plane, offset) in offsets(from).enumerate() {
                value[offset] = Some(*refs.add(1 + plane));
            }
            if self.copy_element::<false>(array, *refs, value) {
                return;
            }
        }
        for vector in 0..self.active.vectors() {
            for point in self.active.points_of(vector, self.active.masks()[vector]) {
                // SAFETY: guaranteed by the caller; the element is the array's. All is read before
                // the element is written.
                unsafe {
                    let index = self.index(point, *refs, array.len);
                    let element = array.base + index * array.stride();
                    let mut words = [0; 3];
                    for (plane, offset) in offsets(from).enumerate() {
                        words[offset] = *(*refs.add(1 + plane)).point(point);
                    }
                    for offset in offsets(array.lanes) {
                        *self.word(element + offset as u32, point) = words[offset];
                    }
                }
            }
        }
    }

    /// Clears the planes of registers for the active points.
    fn clear(&mut self, first: u32, registers: u32) {
        for register in first..first + registers {
            let plane = self.memory.register(register);
            // SAFETY: the plane has all points of the chunk.
            unsafe {
                if self.active.is_all_points() {
                    plane.write_bytes(0, self.width);
                } else {
                    for point in self.active.iter() {
                        *plane.add(point) = 0;
                    }
                }
            }
        }
    }

    pub(super) fn array_zero(&mut self, array: BytecodeArray) {
        self.clear(array.base, array.registers());
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn array_resize(
        &mut self,
        array: BytecodeArray,
        part: u32,
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        // SAFETY: guaranteed by the caller.
        let (to, parts) = unsafe { (*refs, *refs.add(1)) };
        // SAFETY: guaranteed by the caller; the point is active.
        let requested = |point| unsafe { *parts.point(point) };
        let granted = |point| (requested(point) as i32).max(0) as u32;
        let elements = |point| {
            let elements = granted(point).max(1).checked_mul(part);
            elements.filter(|&elements| elements <= array.len)
        };
        let site = self.site();
        for point in self.active.iter() {
            if (requested(point) as i32) < 0 {
                let kind = FaultKind::NegativeArraySize;
                let span = self.span_of(site);
                self.results.faults.add(point, kind, span);
            }
        }
        self.stop(site, |point| {
            elements(point).is_none().then_some(FaultKind::ArraySize)
        });
        let elements = |point| elements(point).unwrap_or(0);
        self.take_steps_by_point(|point| move_steps(elements(point)), context, site);
        for point in self.active.iter() {
            let registers = elements(point) * array.stride();
            let parts = granted(point);
            // SAFETY: the registers are the array's, the point is the chunk's.
            unsafe {
                for register in array.base..array.base + registers {
                    *self.memory.register(register).add(point) = 0;
                }
                *to.point(point) = parts;
            }
        }
    }

    pub(super) fn array_copy(&mut self, to: BytecodeArray, from: BytecodeArray) {
        let len = to.len.min(from.len);
        if !self.active.is_all_points() {
            for point in self.active.iter() {
                // SAFETY: the arrays and the point exist.
                unsafe { self.copy_elements(point, to, from) };
            }
            return;
        }
        // If they overlap, words that are still to be read are not overwritten.
        let forward = to.base <= from.base;
        for i in 0..len {
            let i = if forward { i } else { len - 1 - i };
            let (to_element, from_element) =
                (to.base + i * to.stride(), from.base + i * from.stride());
            for offset in offsets(to.lanes) {
                let plane = self.memory.register(to_element + offset as u32);
                // SAFETY: both planes have all points of the chunk.
                unsafe {
                    match has(from.lanes, offset) {
                        true => {
                            let from = self.memory.register(from_element + offset as u32);
                            std::ptr::copy(from, plane, self.width);
                        }
                        false => plane.write_bytes(0, self.width),
                    }
                }
            }
        }
    }

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn array_copy_part(
        &mut self,
        to: BytecodeArray,
        from: BytecodeArray,
        refs: *const OperandRef,
    ) {
        for point in self.active.iter() {
            // SAFETY: guaranteed by the caller; the part lies inside the longer array.
            unsafe {
                let start = (*(*refs).point(point) as i32).max(0) as u32;
                let start = start.min(to.len.abs_diff(from.len));
                let (mut to, mut from) = (to, from);
                let longer = if to.len > from.len {
                    &mut to
                } else {
                    &mut from
                };
                longer.base += start * longer.stride();
                self.copy_elements(point, to, from);
            }
        }
    }

    /// Copies the elements that both arrays have, for one point; shadows that the source lacks
    /// become zero.
    ///
    /// # Safety
    /// The registers and the point exist.
    unsafe fn copy_elements(&self, point: usize, to: BytecodeArray, from: BytecodeArray) {
        let len = to.len.min(from.len);
        let forward = to.base <= from.base;
        for i in 0..len {
            let i = if forward { i } else { len - 1 - i };
            let (to_element, from_element) =
                (to.base + i * to.stride(), from.base + i * from.stride());
            // SAFETY: guaranteed by the caller.
            unsafe {
                for offset in offsets(to.lanes) {
                    let word = match has(from.lanes, offset) {
                        true => *self.word(from_element + offset as u32, point),
                        false => 0,
                    };
                    *self.word(to_element + offset as u32, point) = word;
                }
            }
        }
    }
}
