//! Handlers of instructions on arrays.

use super::moves::{by_lanes, copy, read};
use super::state::offset;
use super::state::{Handler, PointState, ThreadedInstruction, handler, next};
use crate::bytecode::{BytecodeArray, register_count};
use adumbra_ir::host::{FaultKind, move_steps};
use adumbra_ir::types::{Direction, Lanes};

/// The element of an array of `len` elements from register `base` on, at the index in a register,
/// which is clamped; a fault if it was out of range.
///
/// # Safety
/// The register and the array, whose elements have these lanes, are in the file.
#[inline(always)]
unsafe fn element<const LANES: u8>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    index: u32,
    [base, len]: [u32; 2],
) -> *mut u32 {
    // SAFETY: guaranteed by the caller; the clamped index is below the length.
    unsafe {
        let mut index = read(file, index);
        if index >= len {
            state.fault(ip, FaultKind::IndexOutOfRange);
            index = if (index as i32) < 0 { 0 } else { len - 1 };
        }
        file.add((base + index * register_count(Lanes::from_bits(LANES))) as usize)
    }
}

/// `words`: to, index, first element, number of elements.
pub(super) fn find_load(to: Lanes, from: Lanes) -> Handler {
    handler!(body, [TO, FROM], |ip, file, state| {
        // SAFETY: validation checked the registers and the array.
        let [to, index, base, len, ..] = (*ip).words;
        let element = element::<FROM>(ip, file, state, index, [base, len]);
        copy::<TO, FROM>(file.add(to as usize), element);
        next(ip, file, state)
    });
    by_lanes!(body, to, from)
}

/// `words`: first element, number of elements, index, from.
pub(super) fn find_store(to: Lanes, from: Lanes) -> Handler {
    handler!(body, [TO, FROM], |ip, file, state| {
        // SAFETY: validation checked the registers and the array.
        let [base, len, index, from, ..] = (*ip).words;
        let element = element::<TO>(ip, file, state, index, [base, len]);
        copy::<TO, FROM>(element, file.add(from as usize));
        next(ip, file, state)
    });
    by_lanes!(body, to, from)
}

// `words`: first register, number of registers.
handler!(array_zero, |ip, file, state| {
    // SAFETY: validation checked the array.
    let [base, registers, ..] = (*ip).words;
    if let Some(kind) = state.take_move_steps(ip) {
        return state.stop(ip, kind);
    }
    file.add(base as usize).write_bytes(0, registers as usize);
    next(ip, file, state)
});

// `words`: to, array by its number, parts asked for, elements of a part.
handler!(array_resize, |ip, file, state| {
    // SAFETY: validation checked the registers and the array; no more elements are cleared than it
    // has.
    let [to, array, parts, part, ..] = (*ip).words;
    let array = state.program.arrays[array as usize];
    let mut parts = read(file, parts);
    if (parts as i32) < 0 {
        state.fault(ip, FaultKind::NegativeArraySize);
        parts = 0;
    }
    let elements = parts.max(1).checked_mul(part);
    let Some(elements) = elements.filter(|&n| n <= array.len) else {
        return state.stop(ip, FaultKind::ArraySize);
    };
    if let Some(kind) = state.take_steps(move_steps(elements)) {
        return state.stop(ip, kind);
    }
    let registers = elements * array.stride();
    file.add(array.base as usize)
        .write_bytes(0, registers as usize);
    *file.add(to as usize) = parts;
    next(ip, file, state)
});

/// Copies elements of one array to another; shadows that the source lacks become zero.
///
/// # Safety
/// At `to` are `array_to`'s registers, at `from` `array_from`'s, which may overlap.
unsafe fn copy_elements(
    to: *mut u32,
    array_to: BytecodeArray,
    from: *const u32,
    array_from: BytecodeArray,
) {
    // SAFETY: guaranteed by the caller; the shorter length bounds both.
    unsafe {
        if array_to.lanes == array_from.lanes {
            let registers = array_to.registers().min(array_from.registers());
            std::ptr::copy(from, to, registers as usize);
            return;
        }
        for i in 0..array_to.len.min(array_from.len) {
            let to = to.add((i * array_to.stride()) as usize);
            let from = from.add((i * array_from.stride()) as usize);
            *to = *from;
            for direction in Direction::BOTH {
                if array_to.lanes.has(direction) {
                    let offset = offset(direction);
                    let has = array_from.lanes.has(direction);
                    *to.add(offset) = if has { *from.add(offset) } else { 0 };
                }
            }
        }
    }
}

/// The arrays that the first two words name, after the steps for copying the shorter one are taken;
/// else the fault that stops the point.
///
/// # Safety
/// The instruction exists.
unsafe fn two_arrays(
    ip: *const ThreadedInstruction,
    state: &mut PointState,
) -> Result<[BytecodeArray; 2], FaultKind> {
    // SAFETY: guaranteed by the caller.
    let (words, fault) = unsafe { ((*ip).words, state.take_move_steps(ip)) };
    match fault {
        Some(kind) => Err(kind),
        None => Ok([words[0], words[1]].map(|array| state.program.arrays[array as usize])),
    }
}

// `words`: to, from, as numbers of arrays.
handler!(array_copy, |ip, file, state| {
    // SAFETY: validation checked both arrays.
    let [to, from] = match two_arrays(ip, state) {
        Ok(arrays) => arrays,
        Err(kind) => return state.stop(ip, kind),
    };
    copy_elements(
        file.add(to.base as usize),
        to,
        file.add(from.base as usize),
        from,
    );
    next(ip, file, state)
});

// `words`: to, from, as numbers of arrays; where the part of the longer begins.
handler!(array_copy_part, |ip, file, state| {
    // SAFETY: validation checked both arrays and the register; the part is inside the longer array.
    let [mut to, mut from] = match two_arrays(ip, state) {
        Ok(arrays) => arrays,
        Err(kind) => return state.stop(ip, kind),
    };
    let start = (read(file, (*ip).words[2]) as i32).max(0) as u32;
    let start = start.min(to.len.abs_diff(from.len));
    let longer = if to.len > from.len {
        &mut to
    } else {
        &mut from
    };
    longer.base += start * longer.stride();
    copy_elements(
        file.add(to.base as usize),
        to,
        file.add(from.base as usize),
        from,
    );
    next(ip, file, state)
});

/// The saved words from `distance` below the top, if there are as many as the array has registers.
fn saved(state: &mut PointState, distance: u32, array: BytecodeArray) -> Option<&mut [u32]> {
    let start = state.saved_top.checked_sub(distance as usize)?;
    let end = start.checked_add(array.registers() as usize)?;
    state.saved[..state.saved_top].get_mut(start..end)
}

// `words`: to, from, as numbers of arrays; distance of the second below the top of the save stack.
handler!(array_from_saved, |ip, file, state| {
    // SAFETY: validation checked both arrays; the saved words are outside the file, and long
    // enough.
    let [to, from] = match two_arrays(ip, state) {
        Ok(arrays) => arrays,
        Err(kind) => return state.stop(ip, kind),
    };
    match saved(state, (*ip).words[2], from) {
        Some(words) => copy_elements(file.add(to.base as usize), to, words.as_ptr(), from),
        None => return state.stop(ip, FaultKind::Unreachable),
    }
    next(ip, file, state)
});

// `words`: to, from, as numbers of arrays; distance of the first below the top of the save stack.
handler!(array_to_saved, |ip, file, state| {
    // SAFETY: validation checked both arrays; the saved words are outside the file, and long
    // enough.
    let [to, from] = match two_arrays(ip, state) {
        Ok(arrays) => arrays,
        Err(kind) => return state.stop(ip, kind),
    };
    match saved(state, (*ip).words[2], to) {
        Some(words) => copy_elements(words.as_mut_ptr(), to, file.add(from.base as usize), from),
        None => return state.stop(ip, FaultKind::Unreachable),
    }
    next(ip, file, state)
});
