//! Handlers of control flow: branches, loops, calls with the registers that they save.

use super::arithmetic::jump;
use super::moves::read;
use super::state::{Handler, PointState, ReturnAddress, ThreadedInstruction, handler, next};
use adumbra_ir::host::FaultKind;

// `words`: first register, number of registers.
handler!(save, |ip, file, state| {
    // SAFETY: validation checked the range.
    let [start, len, ..] = (*ip).words;
    let frame = std::slice::from_raw_parts(file.add(start as usize), len as usize);
    let end = state.saved_top + frame.len();
    let Some(free) = state.saved.get_mut(state.saved_top..end) else {
        return state.stop(ip, FaultKind::CallDepth);
    };
    free.copy_from_slice(frame);
    state.saved_top = end;
    next(ip, file, state)
});

// `words`: first register, number of registers.
handler!(restore, |ip, file, state| {
    // SAFETY: validation checked the range; the saved words are outside the file.
    let [start, len, ..] = (*ip).words;
    let Some(bottom) = state.saved_top.checked_sub(len as usize) else {
        return state.stop(ip, FaultKind::Unreachable);
    };
    let words = &state.saved[bottom..state.saved_top];
    std::ptr::copy_nonoverlapping(words.as_ptr(), file.add(start as usize), words.len());
    state.saved_top = bottom;
    next(ip, file, state)
});

/// `words`: distance to the target, condition.
pub(super) fn find_branch_if(when: bool) -> Handler {
    handler!(body, [WHEN], |ip, file, state| {
        // SAFETY: validation checked the register and the target.
        let holds = read(file, (*ip).words[1]) != 0;
        if u8::from(holds) == WHEN {
            next(ip, file, state)
        } else {
            jump(ip)
        }
    });
    if when { body::<1> } else { body::<0> }
}

// `words`: distance to the target.
handler!(jump_to, |ip, _, _| {
    // SAFETY: validation checked the target.
    jump(ip)
});

// `words`: distance to the target.
handler!(loop_to, |ip, _, state| {
    // SAFETY: validation checked the target.
    if let Some(kind) = state.take_steps(1) {
        return state.stop(ip, kind);
    }
    jump(ip)
});

// `words`: distance to the function's first instruction, array elements that it holds, steps for
// arrays that were saved.
handler!(call, |ip, _, state| {
    // SAFETY: validation checked that the function and an instruction after the call exist.
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
});

// `words`: how many inlined calls are open around it.
handler!(enter, |ip, file, state| {
    // SAFETY: validation checked that an instruction comes after it.
    let [open, ..] = (*ip).words;
    let depth = (open as usize).saturating_add(state.calls.len() + 2);
    if let Some(kind) = state.enter(depth, 0, 1) {
        return state.stop(ip, kind);
    }
    next(ip, file, state)
});

// No words.
handler!(iteration, |ip, file, state| {
    // SAFETY: validation checked that an instruction comes after it.
    if let Some(kind) = state.take_steps(1) {
        return state.stop(ip, kind);
    }
    next(ip, file, state)
});

// No words.
handler!(query, |ip, file, state| {
    // SAFETY: validation checked that an instruction comes after it.
    if let Some(kind) = state.query() {
        return state.stop(ip, kind);
    }
    next(ip, file, state)
});

// A return takes no step. So that a long way out of recursion is not without queries, the host is
// asked if the number of functions that stay active is a multiple of the period.
handler!(return_to, |ip, file, state| {
    // SAFETY: the file is that of the program of state and handler.
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
            state.canonicalise_outputs(file);
            std::ptr::null()
        }
    }
});

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
