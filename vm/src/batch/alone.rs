//! Points that leave the chunk and go on in the point interpreter, to the same bits: those of a few that still turn a loop, those that come to
//! a call in a circle, and those whose texture is not there yet.

use super::chunk::{Chunk, Context};
use crate::point::{Adopted, Outcome};
use adumbra_ir::host::SampleRequest;

impl Chunk {
    /// All points of the group go on alone, from its step on.
    pub(super) fn leave(&mut self, context: &mut Context<'_>) {
        let position = self.memory.steps[self.at].position;
        for pack in 0..self.group.packs() {
            for point in self.group.points_of(pack, self.group.active()[pack]) {
                self.adopt(point, (0, 0), context);
                context.host.at_point(context.first + point);
                let outcome = self.alone.go_on(position, context.host);
                self.take_results(point, outcome);
            }
        }
        self.group.clear();
    }

    /// A point waits for the answer to a request at the group's step. Its words are in their planes but for those that are lent.
    pub(super) fn wait(
        &mut self,
        point: usize,
        request: SampleRequest,
        lent: (u32, u32),
        context: &Context<'_>,
    ) {
        self.adopt(point, lent, context);
        let position = self.memory.steps[self.at].position;
        self.alone.wait(position, request);
        self.take_results(point, Outcome::Pending);
    }

    /// The point interpreter takes a point of the group in.
    fn adopt(&mut self, point: usize, lent: (u32, u32), context: &Context<'_>) {
        let steps = self.steps_left(point);
        let Chunk {
            program,
            memory,
            results,
            elements,
            returns,
            depth,
            alone,
            ..
        } = self;
        let calls = returns[..*depth].iter().map(|&back| {
            // A step behind the call's.
            let call = memory.steps[back as usize - 1].position;
            let callee = program.code[call as usize].words[0];
            (call + 1, program.functions[callee as usize].elements)
        });
        let adopted = Adopted {
            steps,
            elements: elements[*depth],
            calls,
            faults: results.faults.of(point),
            closures: results.closures.get_mut(point),
        };
        alone.adopt(adopted, |registers, globals| {
            let lent = &memory.lent[lent.0 as usize..lent.1 as usize];
            // SAFETY: the point is the chunk's; where points run in planes, all slots have one.
            unsafe { memory.column(point, lent, registers) };
            for (global, source) in globals.iter_mut().zip(context.sources) {
                *global = source.get(context.first + point);
            }
        });
    }

    /// What came of the point that the point interpreter had last.
    pub(super) fn take_results(&mut self, point: usize, outcome: Outcome) {
        let Chunk { results, alone, .. } = self;
        results.outcomes[point] = outcome;
        results.faults.set(point, alone.faults());
        if outcome == Outcome::Pending {
            let mut parked = results.spare.pop().unwrap_or_default();
            alone.park(&mut parked);
            results.waiting.push((point, parked));
        }
        if let Some(closures) = results.closures.get_mut(point) {
            alone.swap_closures(closures);
        }
        if outcome != Outcome::Finished {
            self.no_outputs(point);
            return;
        }
        for (slot, &word) in (0..).zip(alone.outputs()) {
            // SAFETY: the point is the chunk's, and outputs have planes.
            unsafe { *self.memory.slot(slot).add(point) = word };
        }
    }
}
