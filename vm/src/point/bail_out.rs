//! Entry of a bailed-out point (deoptimisation): a point that the batch engine started continues in
//! a point machine.

use super::state::{ReturnAddress, index};
use super::{Outcome, PointMachine};
use crate::closures::PointClosures;
use adumbra_ir::host::{ClosureArena, Faults, Host, QueryPeriod};
use adumbra_ir::quad::QuadPause;

/// The state of a point, apart from its registers.
pub(crate) struct BailedOutPoint<'a, C> {
    /// Steps that are left.
    pub(crate) steps: u64,
    /// Array elements that are left.
    pub(crate) elements: u32,
    /// Open calls, the first one first: their return positions, and the elements that each callee
    /// holds.
    pub(crate) calls: C,
    pub(crate) faults: &'a Faults,
    pub(crate) closures: PointClosures<'a>,
}

impl PointMachine {
    /// Loads a point; `fill` writes its registers and globals. It saved no frames, and has nothing
    /// on its tapes yet.
    pub(crate) fn load_point<C: Iterator<Item = (u32, u32)>>(
        &mut self,
        point: BailedOutPoint<'_, C>,
        fill: impl FnOnce(&mut [u32], &mut [u32]),
    ) {
        let registers = self.state.program.registers as usize;
        fill(&mut self.file[..registers], &mut self.suspended_globals);
        let state = &mut self.state;
        let code = state.code.first();
        state.steps = point.steps;
        state.elements = point.elements;
        state.calls.clear();
        state
            .calls
            .extend(point.calls.map(|(position, elements)| ReturnAddress {
                ip: code.wrapping_add(index(position) as usize),
                elements,
            }));
        state.saved_top = 0;
        state.tapes.clear();
        state.is_reset = false;
        state.faults = point.faults.clone();
        point.closures.copy_to(&mut state.closures);
        state.suspended = None;
    }

    /// Puts records on a tape of the loaded point; `fill` writes their words.
    pub(crate) fn load_tape(&mut self, tape: usize, records: u32, fill: impl FnOnce(&mut [u32])) {
        self.state.tapes.put(tape, records, fill);
    }

    /// Runs the loaded point from a position on. Control comes there by a jump, or from an
    /// instruction that forwards no value.
    pub(crate) fn resume_at(&mut self, position: u32, host: &mut dyn Host) -> Outcome {
        let mode = super::FloatEnvironment::enter_for_point();
        self.lend(self.suspended_globals.as_ptr(), host);
        let start = self.state.code.at(index(position) as usize);
        // SAFETY: the position is an instruction of the program; the globals are the machine's own.
        let outcome = unsafe { self.execute(start) };
        drop(mode);
        outcome
    }

    /// From now on the host is asked about cancellation after each `period`.
    pub(crate) fn ask_after(&mut self, period: QueryPeriod) {
        self.state.query_period = period;
    }

    /// Suspends the loaded point at the sample or difference at a position.
    pub(crate) fn suspend_at(&mut self, position: u32, awaited: QuadPause) {
        let ip = self.state.code.at(index(position) as usize);
        self.state.suspended = Some((ip, awaited));
    }

    /// Finishes the loaded point; its faults give the outcome.
    pub(crate) fn finish_point(&mut self) {
        if self.outcome() == Outcome::Finished {
            // SAFETY: the file is the machine's own.
            unsafe { self.state.canonicalise_outputs(self.file.as_mut_ptr()) };
        }
        self.end();
    }

    /// Swaps the closures of the last point with those of another.
    pub(crate) fn swap_closures(&mut self, closures: &mut ClosureArena) {
        // The new closures are another point's.
        self.state.is_reset = false;
        std::mem::swap(&mut self.state.closures, closures);
    }
}
