//! Machine code in place of routines: where control comes into the code of a flow, a routine runs it, and goes on where it leads out.
//!
//! The code takes steps while there are some before the host is to be asked for patience. Then it leads out to the instruction that takes the next one, whose
//! own routine does; so budgets end, and hosts are asked, as if there were no code.

use super::state::{State, Threaded};
use crate::bytecode::WORDS;
use crate::native::{CALLEES, PointKernels};
use adumbra_ir::host::CANCEL_PERIOD;

/// Puts routines that run code where control comes into it.
pub(super) fn place(kernels: &PointKernels, code: &mut [Threaded]) {
    for (number, (entry, _)) in (0..).zip(&*kernels.entries) {
        let mut words = [0; WORDS];
        words[..2].copy_from_slice(&[number, entry.depth]);
        code[entry.at as usize] = Threaded {
            handler: run,
            words,
        };
    }
}

/// `words`: entry, functions that may be active beside those that are called.
unsafe fn run(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: a handler's instruction exists; such a one was placed since there are kernels. They were made from the machine's own program, whose file and globals
    // are as long as it says; what they lead out to are its instructions.
    unsafe {
        let [entry, depth, ..] = (*ip).words;
        let kernels = state.kernels.as_ref().unwrap_unchecked();
        let (_, kernel) = kernels.entries.get_unchecked(entry as usize);
        let active = state.calls.len().saturating_add(depth as usize);
        // Steps that are left are asked about at multiples of the period; the last of all is among them.
        let free = match active <= state.limits.call_depth as usize {
            true => state.steps.saturating_sub(1) % CANCEL_PERIOD,
            false => 0,
        };
        let left = kernel(file, state.globals, free, &CALLEES);
        state.steps -= free - left.steps;
        state.code.add(left.exit as usize)
    }
}
