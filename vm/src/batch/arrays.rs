//! Batch instructions on arrays: point by point, except where all points do the same.

use super::chunk::{Chunk, RunContext};
use super::planes::OperandRef;
use crate::bytecode::BytecodeArray;
use adumbra_ir::host::{FaultKind, array_steps};
use adumbra_ir::types::{Direction, Lanes};

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
        let span = self.span_of(self.site());
        let kind = FaultKind::IndexOutOfRange;
        self.results.faults.add(point, kind, span);
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

    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn load(&mut self, array: BytecodeArray, to: Lanes, refs: *const OperandRef) {
        let planes = 1 + to.count() as usize;
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

    pub(super) fn array_zero(&mut self, array: BytecodeArray, context: &mut RunContext<'_>) {
        self.take_steps(array_steps(array.len), context, self.site());
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
        self.take_steps_by_point(|point| array_steps(elements(point)), context, site);
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

    pub(super) fn array_copy(
        &mut self,
        to: BytecodeArray,
        from: BytecodeArray,
        context: &mut RunContext<'_>,
    ) {
        let len = to.len.min(from.len);
        self.take_steps(array_steps(len), context, self.site());
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
        context: &mut RunContext<'_>,
    ) {
        let steps = array_steps(to.len.min(from.len));
        self.take_steps(steps, context, self.site());
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
