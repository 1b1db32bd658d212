//! Handlers of control flow: branches, loops, calls with the registers that they save.

use super::arithmetic::jump;
use super::moves::read;
use super::state::{Handler, PointState, ReturnAddress, ThreadedInstruction, next};
use adumbra_ir::host::FaultKind;

/// `words`: first register, number of registers.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn save(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: validation checked the range.
    unsafe {
        let [start, len, ..] = (*ip).words;
        let frame = std::slice::from_raw_parts(file.add(start as usize), len as usize);
        let end = state.saved_top + frame.len();
        let Some(free) = state.saved.get_mut(state.saved_top..end) else {
            return state.stop(ip, FaultKind::CallDepth);
        };
        free.copy_from_slice(frame);
        state.saved_top = end;
        next(ip, file, state)
    }
}

/// `words`: first register, number of registers.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn restore(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: validation checked the range; the saved words are outside the file.
    unsafe {
        let [start, len, ..] = (*ip).words;
        let Some(bottom) = state.saved_top.checked_sub(len as usize) else {
            return state.stop(ip, FaultKind::Unreachable);
        };
        let words = &state.saved[bottom..state.saved_top];
        std::ptr::copy_nonoverlapping(words.as_ptr(), file.add(start as usize), words.len());
        state.saved_top = bottom;
        next(ip, file, state)
    }
}

/// `words`: distance to the target, condition.
pub(super) fn find_branch_if(when: bool) -> Handler {
    /// # Safety
    /// As for [`Handler`].
    unsafe fn body<const WHEN: bool>(
        ip: *const ThreadedInstruction,
        file: *mut u32,
        state: &mut PointState,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const ThreadedInstruction {
        // SAFETY: validation checked the register and the target.
        unsafe {
            let holds = read(file, (*ip).words[1]) != 0;
            if holds == WHEN {
                next(ip, file, state)
            } else {
                jump(ip)
            }
        }
    }
    if when { body::<true> } else { body::<false> }
}

/// `words`: distance to the target.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn jump_to(
    ip: *const ThreadedInstruction,
    _: *mut u32,
    _: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: validation checked the target.
    unsafe { jump(ip) }
}

/// `words`: distance to the target.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn loop_to(
    ip: *const ThreadedInstruction,
    _: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    if let Some(kind) = state.take_steps(1) {
        return state.stop(ip, kind);
    }
    // SAFETY: validation checked the target.
    unsafe { jump(ip) }
}

/// `words`: distance to the function's first instruction, array elements that it holds, steps for
/// arrays that were saved.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn call(
    ip: *const ThreadedInstruction,
    _: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: validation checked that the function and an instruction after the call exist.
    unsafe {
        let [_, elements, saved, ..] = (*ip).words;
        let steps = 1 + u64::from(saved);
        if let Some(kind) = state.enter(state.calls.len() + 2, elements, steps) {
            return state.stop(ip, kind);
        }
        if state.calls.len() == state.calls.capacity() {
            return state.stop(ip, FaultKind::CallDepth);
        }
        state.calls.push(ReturnAddress {
            ip: ip.add(1),
            elements,
        });
        jump(ip)
    }
}

/// `words`: how many inlined calls are open around it.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn enter(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: validation checked that an instruction comes after it.
    unsafe {
        let [open, ..] = (*ip).words;
        let depth = (open as usize).saturating_add(state.calls.len() + 2);
        if let Some(kind) = state.enter(depth, 0, 1) {
            return state.stop(ip, kind);
        }
        next(ip, file, state)
    }
}

/// No words.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn iteration(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    if let Some(kind) = state.take_steps(1) {
        return state.stop(ip, kind);
    }
    // SAFETY: validation checked that an instruction comes after it.
    unsafe { next(ip, file, state) }
}

/// No words.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn query(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    if let Some(kind) = state.query() {
        return state.stop(ip, kind);
    }
    // SAFETY: validation checked that an instruction comes after it.
    unsafe { next(ip, file, state) }
}

/// A return takes no step. So that a long way out of recursion is not without queries, the host is
/// asked if the number of functions that stay active is a multiple of the period.
///
/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn return_to(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    match state.calls.pop() {
        Some(caller) => {
            state.elements += caller.elements;
            let active = state.calls.len() as u64 + 1;
            if state.query_period.is_due(active, 1)
                && let Some(kind) = state.query()
            {
                return state.stop(ip, kind);
            }
            caller.ip
        }
        None => {
            // SAFETY: the file is that of the program of state and handler.
            unsafe { state.canonicalise_outputs(file) };
            std::ptr::null()
        }
    }
}

/// # Safety
/// As for [`Handler`].
pub(super) unsafe fn unreachable(
    ip: *const ThreadedInstruction,
    _: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    state.stop(ip, FaultKind::Unreachable)
}
