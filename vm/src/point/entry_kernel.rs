//! Machine code in place of handlers. At each entry of a CFG a handler runs its kernel, and
//! continues at the exit. Points whose first instruction has code start in the kernel without a
//! handler.
//!
//! The code takes steps until the next one at which the host is asked about cancellation. Then it
//! exits to the instruction that takes that step, whose handler does. So budgets end, and hosts are
//! asked, as without code.

use super::state::{PointState, ThreadedInstruction};
use crate::bytecode::{BytecodeFunction, WORDS};
use crate::native::{LIBCALLS, PointExit, PointKernel, PointKernels};
use adumbra_ir::host::{Limits, QueryPeriod};

/// Installs handlers that run kernels at the entries of their code.
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

/// The steps that code may take before the host is asked or the budget ends.
fn free(steps: u64, active: usize, limits: &Limits, query_period: QueryPeriod) -> u64 {
    match active <= limits.call_depth as usize {
        true => query_period.steps_before_query(steps),
        false => 0,
    }
}

/// The kernel of the shader's entry. If the entry meets no limit, and the host is not asked at it,
/// its budgets are known before there is a point.
pub(super) struct EntryKernel {
    kernel: PointKernel,
    /// Steps that are left after the shader's entry, and those of them that the code may take.
    steps: u64,
    free: u64,
    /// Array elements that are left.
    elements: u32,
}

impl EntryKernel {
    /// The kernel at the shader's first instruction, if there is one.
    pub(super) fn of(
        kernels: &PointKernels,
        start: usize,
        shader: &BytecodeFunction,
        limits: &Limits,
        query_period: QueryPeriod,
    ) -> Option<EntryKernel> {
        let mut entries = kernels.entries.iter();
        let &(entry, kernel) = entries.find(|(entry, _)| entry.at as usize == start)?;
        let steps = limits.steps.checked_sub(1)?;
        let is_free = !query_period.is_due(steps, 1) && limits.call_depth >= 1;
        is_free.then_some(EntryKernel {
            kernel,
            steps,
            free: free(steps, entry.depth as usize, limits, query_period),
            elements: limits.array_elements.checked_sub(shader.elements)?,
        })
    }

    /// Runs the code; returns the exit of the point.
    ///
    /// # Safety
    /// The file and the globals are those of the program of this kernel.
    #[inline(always)]
    pub(super) unsafe fn run(&self, file: *mut u32, globals: *const u32) -> PointExit {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.kernel)(file, globals, self.free, &LIBCALLS) }
    }

    /// The instruction at which a point resumes that did not return.
    ///
    /// # Safety
    /// The point left this code by `left`, and the state is that of its machine.
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

/// `words`: entry, inlined functions that may be active beside the calls.
///
/// # Safety
/// As for [`Handler`](super::state::Handler); [`install_kernels`] put the instruction there, for
/// the kernels of the state.
unsafe fn run(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    _: f32,
    _: f32,
    _: f32,
) -> *const ThreadedInstruction {
    // SAFETY: a handler's instruction exists, and this one was installed since there are kernels.
    // They were made from the machine's own program, whose file and globals have its lengths. Their
    // exits are its instructions, or report that the shader has returned.
    unsafe {
        let [entry, depth, ..] = (*ip).words;
        let kernels = state.kernels.as_ref().unwrap_unchecked();
        let (_, kernel) = kernels.entries.get_unchecked(entry as usize);
        let active = state.calls.len().saturating_add(depth as usize);
        let free = free(state.steps, active, &state.limits, state.query_period);
        let left = kernel(file, state.globals, free, &LIBCALLS);
        state.steps -= free - left.steps;
        match left.has_returned() {
            true => std::ptr::null(),
            false => state.code.first().add(left.exit as usize),
        }
    }
}
