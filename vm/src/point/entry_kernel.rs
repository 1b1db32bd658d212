//! Machine code in place of routines: where control comes into the code of a flow, a routine runs it, and goes on where it leads out. Points that begin with
//! code begin it without a routine.
//!
//! The code takes steps while there are some before the host is to be asked for patience. Then it leads out to the instruction that takes the next one, whose
//! own routine does; so budgets end, and hosts are asked, as if there were no code.

use super::state::{PointState, ThreadedInstruction};
use crate::bytecode::{BytecodeFunction, WORDS};
use crate::native::{LIBCALLS, PointExit, PointKernel, PointKernels};
use adumbra_ir::host::{CANCEL_PERIOD, Limits, is_cancel_check_due};

/// Puts routines that run code where control comes into it.
pub(super) fn install_kernels(kernels: &PointKernels, code: &mut [ThreadedInstruction]) {
    for (number, (entry, _)) in (0..).zip(&*kernels.entries) {
        let mut words = [0; WORDS];
        words[..2].copy_from_slice(&[number, entry.depth]);
        code[entry.at as usize] = ThreadedInstruction {
            handler: run,
            words,
        };
    }
}

/// Steps that code may take of those that are left. They are asked about at multiples of the period; the last of all is among them.
fn free(steps: u64, active: usize, limits: &Limits) -> u64 {
    match active <= limits.call_depth as usize {
        true => steps.saturating_sub(1) % CANCEL_PERIOD,
        false => 0,
    }
}

/// The code that points begin with. Where the shader's entry meets no limit, and the host is not asked, that is known before there is a point.
pub(super) struct EntryKernel {
    kernel: PointKernel,
    /// Steps that are left behind the shader's entry, and those of them that the code may take.
    steps: u64,
    free: u64,
    /// Array elements that are left.
    elements: u32,
}

impl EntryKernel {
    /// That of a shader whose first instruction stands there.
    pub(super) fn of(
        kernels: &PointKernels,
        start: usize,
        shader: &BytecodeFunction,
        limits: &Limits,
    ) -> Option<EntryKernel> {
        let mut entries = kernels.entries.iter();
        let &(entry, kernel) = entries.find(|(entry, _)| entry.at as usize == start)?;
        let steps = limits.steps.checked_sub(1)?;
        let is_free = !is_cancel_check_due(steps, 1) && limits.call_depth >= 1;
        is_free.then_some(EntryKernel {
            kernel,
            steps,
            free: free(steps, entry.depth as usize, limits),
            elements: limits.array_elements.checked_sub(shader.elements)?,
        })
    }

    /// Runs the code; how the point left it.
    ///
    /// # Safety
    /// The file is of the program that this is of, and the globals are as long as it says.
    #[inline(always)]
    pub(super) unsafe fn run(&self, file: *mut u32, globals: *const u32) -> PointExit {
        // SAFETY: asked of the caller.
        unsafe { (self.kernel)(file, globals, self.free, &LIBCALLS) }
    }

    /// The instruction that the point goes on with, which did not return.
    ///
    /// # Safety
    /// The point left this code so, and the state is that of its machine.
    pub(super) unsafe fn resume(
        &self,
        left: PointExit,
        state: &mut PointState,
    ) -> *const ThreadedInstruction {
        state.steps = self.steps - (self.free - left.steps);
        state.elements = self.elements;
        // SAFETY: other exits are instructions of the program.
        unsafe { state.code.first().add(left.exit as usize) }
    }
}

/// `words`: entry, functions that may be active beside those that are called.
///
/// # Safety
/// As for [`Handler`](super::state::Handler); [`place`] put the instruction there, for the kernels that the state has.
unsafe fn run(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: a handler's instruction exists; such a one was placed since there are kernels. They were made from the machine's own program, whose file and globals
    // are as long as it says; what they lead out to are its instructions, or says that the shader has returned.
    unsafe {
        let [entry, depth, ..] = (*ip).words;
        let kernels = state.kernels.as_ref().unwrap_unchecked();
        let (_, kernel) = kernels.entries.get_unchecked(entry as usize);
        let active = state.calls.len().saturating_add(depth as usize);
        let free = free(state.steps, active, &state.limits);
        let left = kernel(file, state.globals, free, &LIBCALLS);
        state.steps -= free - left.steps;
        match left.has_returned() {
            true => std::ptr::null(),
            false => state.code.first().add(left.exit as usize),
        }
    }
}
