//! Points that leave the chunk and go on in the point interpreter, to the same bits: those of a few that still turn a loop, those that come to
//! a call in a circle, and those whose texture is not there yet. Points in [quads](super::quads) do so four by four.

use super::chunk::{Chunk, RunContext};
use super::quads::ResumeAt;
use crate::point::{BailedOutPoint, Outcome};
use adumbra_ir::host::{Host, SampleRequest};
use adumbra_ir::quad::QuadPause;

impl Chunk {
    /// All points of the group go on alone, from its step on.
    pub(super) fn bail_out(&mut self, context: &mut RunContext<'_>) {
        if self.quads.is_some() {
            let mut leaving = std::mem::take(&mut self.test_masks);
            let packs = self.active.vectors();
            leaving.fill(0);
            leaving[..packs].copy_from_slice(self.active.masks());
            self.bail_out_quads(&mut leaving, (0, 0), &|_| ResumeAt::Current, context);
            self.test_masks = leaving;
            return;
        }
        let position = self.memory.instructions[self.pc].position;
        for pack in 0..self.active.vectors() {
            for point in self.active.points_of(pack, self.active.masks()[pack]) {
                let steps = self.steps_left(point);
                self.move_to_point_machine(0, point, (self.depth, steps), (0, 0), context);
                context.host.at_point(context.first + point);
                let outcome = self.alone[0].resume_at(position, context.host);
                self.store_results(0, point, outcome);
            }
        }
        self.active.clear();
    }

    /// A point waits for the answer to a request at the group's step. Its words are in their planes but for those that are lent.
    pub(super) fn suspend(
        &mut self,
        point: usize,
        request: SampleRequest,
        lent: (u32, u32),
        context: &RunContext<'_>,
    ) {
        let steps = self.steps_left(point);
        self.move_to_point_machine(0, point, (self.depth, steps), lent, context);
        let position = self.memory.instructions[self.pc].position;
        self.alone[0].suspend_at(position, QuadPause::Texel(request));
        self.store_results(0, point, Outcome::Pending);
    }

    /// A point machine takes a point in, which has so many open calls and steps left.
    pub(super) fn move_to_point_machine(
        &mut self,
        machine: usize,
        point: usize,
        (depth, steps): (usize, u64),
        lent: (u32, u32),
        context: &RunContext<'_>,
    ) {
        let Chunk {
            program,
            memory,
            results,
            elements,
            return_addresses: returns,
            alone,
            ..
        } = self;
        let calls = returns[..depth].iter().map(|&back| {
            // A step behind the call's.
            let call = memory.instructions[back as usize - 1].position;
            let callee = program.code[call as usize].words[0];
            (call + 1, program.functions[callee as usize].elements)
        });
        let adopted = BailedOutPoint {
            steps,
            elements: elements[depth],
            calls,
            faults: results.faults.of(point),
            closures: results.closures.get_mut(point),
        };
        alone[machine].load_point(adopted, |registers, globals| {
            let lent = &memory.bail_out_values[lent.0 as usize..lent.1 as usize];
            // SAFETY: the point is the chunk's; where points run in planes, all slots have one.
            unsafe { memory.column(point, lent, registers) };
            for (global, source) in globals.iter_mut().zip(context.sources) {
                *global = source.get(context.first + point);
            }
        });
    }

    /// What came of the point that a machine had last. One that waits, if only for others of its quad, is put away.
    pub(super) fn store_results(&mut self, machine: usize, point: usize, outcome: Outcome) {
        let Chunk { results, alone, .. } = self;
        let alone = &mut alone[machine];
        results.outcomes[point] = outcome;
        results.faults.set(point, alone.faults());
        if outcome == Outcome::Pending {
            let mut parked = results.spare.pop().unwrap_or_default();
            alone.move_out(&mut parked);
            results.suspended.push((point, parked));
        }
        if let Some(closures) = results.closures.get_mut(point) {
            alone.swap_closures(closures);
        }
        if outcome != Outcome::Finished {
            self.clear_outputs(point);
            return;
        }
        for (slot, &word) in (0..).zip(alone.outputs()) {
            // SAFETY: the point is the chunk's, and outputs have planes.
            unsafe { *self.memory.slot(slot).add(point) = word };
        }
    }

    /// Goes on with a point that waits.
    pub(super) fn answer(&mut self, point: usize, texel: [f32; 4], host: &mut dyn Host) -> Outcome {
        match self.quads {
            Some(_) => self.answer_in_quad(point, texel, host),
            None => {
                self.unpark(0, point);
                let outcome = self.alone[0].answer(texel, host);
                self.store_results(0, point, outcome);
            }
        }
        self.results.outcomes[point]
    }

    /// Puts a point that waits into a machine.
    pub(super) fn unpark(&mut self, machine: usize, point: usize) {
        let results = &mut self.results;
        let mut parked = results.take_suspended(point).expect("the point waits");
        self.alone[machine].unpark(&mut parked);
        results.spare.push(parked);
    }
}
