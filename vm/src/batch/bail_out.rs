//! Bail out: points leave the chunk and continue in the point interpreter, with the same bits.
//!
//! The last few points of a loop bail out, points at a call in a recursive cycle, and points whose
//! texture is late. Points in [quads](super::quads) do so four by four. In JIT compilers this is
//! deoptimisation (Hölzle, Chambers and Ungar, "Debugging Optimized Code with Dynamic
//! Deoptimization", 1992).

use super::chunk::{Chunk, RunContext};
use super::quads::ResumeAt;
use crate::point::{BailedOutPoint, Outcome};
use adumbra_ir::host::{FaultKind, Host, SampleRequest, Texel};
use adumbra_ir::quad::QuadPause;

impl Chunk {
    /// All active points bail out, from their current instruction on.
    pub(super) fn bail_out(&mut self, context: &mut RunContext<'_>) {
        self.bail_out_from(self.memory.values_at(self.pc), context);
    }

    /// The same within a block, where these registers are not in their planes.
    pub(super) fn bail_out_from(&mut self, elsewhere: (u32, u32), context: &mut RunContext<'_>) {
        if self.quads.is_some() {
            let mut leaving = std::mem::take(&mut self.test_masks);
            let vectors = self.active.vectors();
            leaving.fill(0);
            leaving[..vectors].copy_from_slice(self.active.masks());
            self.bail_out_quads(&mut leaving, elsewhere, &|_| ResumeAt::Current, context);
            self.test_masks = leaving;
            return;
        }
        let position = self.memory.instructions[self.pc].position;
        for vector in 0..self.active.vectors() {
            for point in self.active.points_of(vector, self.active.masks()[vector]) {
                let steps = self.steps_left(point);
                self.move_to_point_machine(0, point, (self.depth, steps), elsewhere, context);
                context.host.at_point(context.first + point);
                let outcome = self.point_machines[0].resume_at(position, context.host);
                self.store_results(0, point, outcome);
            }
        }
        self.active.clear();
    }

    /// A point suspends at the current instruction, until its request is answered. Its registers
    /// are in their planes, except the bail-out values.
    pub(super) fn suspend(
        &mut self,
        point: usize,
        request: SampleRequest,
        elsewhere: (u32, u32),
        context: &RunContext<'_>,
    ) {
        let steps = self.steps_left(point);
        self.move_to_point_machine(0, point, (self.depth, steps), elsewhere, context);
        let position = self.memory.instructions[self.pc].position;
        self.point_machines[0].suspend_at(position, QuadPause::Texel(request));
        self.store_results(0, point, Outcome::Pending);
    }

    /// Moves a point into a point machine, with its open calls and the steps that it has left.
    pub(super) fn move_to_point_machine(
        &mut self,
        machine: usize,
        point: usize,
        (depth, steps): (usize, u64),
        elsewhere: (u32, u32),
        context: &RunContext<'_>,
    ) {
        let Chunk {
            program,
            memory,
            results,
            elements,
            return_addresses: returns,
            point_machines,
            tapes,
            uniform,
            ..
        } = self;
        let calls = returns[..depth].iter().map(|&back| {
            // The instruction before the return address is the call.
            let call = memory.instructions[back as usize - 1].position;
            let callee = program.code[call as usize].words[0];
            (call + 1, program.functions[callee as usize].elements)
        });
        let adopted = BailedOutPoint {
            steps,
            elements: elements[depth],
            calls,
            faults: results.faults.of(point),
            closures: results.closures.of(point),
        };
        point_machines[machine].load_point(adopted, |registers, globals| {
            let elsewhere = &memory.bail_out_values[elsewhere.0 as usize..elsewhere.1 as usize];
            // SAFETY: the point is the chunk's; where points run in planes, all registers have one.
            unsafe { memory.column(point, elsewhere, registers) };
            context.read_globals(point, uniform, globals);
        });
        // SAFETY: the point is the chunk's.
        let columns = unsafe { tapes.columns(point) };
        for (tape, (records, fill)) in columns.enumerate() {
            point_machines[machine].load_tape(tape, records, fill);
        }
    }

    /// Stores the results of the point that a machine ran last. A point that suspends, if only for
    /// others of its quad, is parked.
    pub(super) fn store_results(&mut self, machine: usize, point: usize, outcome: Outcome) {
        let Chunk {
            results,
            point_machines,
            ..
        } = self;
        let point_machine = &mut point_machines[machine];
        let stopped = point_machine.faults().stopped();
        let is_cancelled = stopped.is_some_and(|fault| fault.kind == FaultKind::Cancelled);
        results.outcomes[point] = outcome;
        results.faults.set(point, point_machine.faults());
        if outcome == Outcome::Pending {
            let mut parked = results.spare.pop().unwrap_or_default();
            point_machine.move_out(&mut parked);
            results.suspended.push((point, parked));
        }
        if let Some(closures) = results.closures.arena_of(point) {
            point_machine.swap_closures(closures);
        }
        if outcome != Outcome::Finished {
            self.clear_outputs(point);
            if is_cancelled {
                self.ask_at_every_step();
            }
            return;
        }
        for (register, &word) in (0..).zip(point_machine.outputs()) {
            // SAFETY: the point is the chunk's, and outputs have planes.
            unsafe { *self.memory.register(register).add(point) = word };
        }
    }

    /// Resumes a suspended point with the answer to its request.
    pub(super) fn answer(&mut self, point: usize, texel: Texel, host: &mut dyn Host) -> Outcome {
        match self.quads {
            Some(_) => self.answer_in_quad(point, texel, host),
            None => {
                self.unpark(0, point);
                let outcome = self.point_machines[0].answer(texel, host);
                self.store_results(0, point, outcome);
            }
        }
        self.results.outcomes[point]
    }

    /// Puts a suspended point into a machine.
    pub(super) fn unpark(&mut self, machine: usize, point: usize) {
        let results = &mut self.results;
        let Some(mut parked) = results.take_suspended(point) else {
            panic!("point {point} is not suspended");
        };
        self.point_machines[machine].unpark(&mut parked);
        results.spare.push(parked);
    }
}
