//! Chunks whose points stand in quads: points 4q to 4q + 3 are one, in the order of [`Corner::ALL`].
//!
//! A quad stays together. Where all of its points that are not done come to a difference at once, they take it here, by the rule that there is
//! for all engines. Where they do not, and wherever one of them cannot stay, all four leave the chunk, from wherever each of them is, and go on
//! in four point machines that [`advance`] joins. Should one of these wait for the host, all four are put away until it answers.

use super::chunk::{Chunk, HostRequests, RunContext};
use super::instruction::BatchOp;
use super::planes::OperandRef;
use crate::bytecode::Bytecode;
use crate::point::{FloatEnvironment, Outcome, PointMachine};
use adumbra_ir::host::{Host, SampleRequest, Sampled};
use adumbra_ir::quad::{Corner, Lockstep, Quad, QuadPause, advance, with_host};
use adumbra_ir::types::Direction;
use std::ops::Range;

/// Points of a quad.
pub(super) const QUAD: usize = Corner::ALL.len();

/// The first points of a pack's quads, a bit each.
const FIRST_OF_QUADS: u32 = 0x1111_1111;

/// What a chunk knows of its quads.
pub(super) struct Quads {
    rule: Quad,
    /// By point, whether it is evaluated for its neighbours alone.
    pub(super) helpers: Box<[bool]>,
    /// Whether any is.
    has_helpers: bool,
    /// Which point of the batch the chunk's first one is.
    first: usize,
    /// Scalars of the outputs whose derivatives are wanted.
    differ: Box<[u32]>,
}

/// How a point that leaves the group goes on.
pub(super) enum ResumeAt {
    /// With the group's step.
    Current,
    /// Behind it.
    Next,
    /// When that is there which it waits for.
    Answered(QuadPause),
}

impl Quads {
    /// For chunks of so many points; nothing for a program whose points are in no quads.
    pub(super) fn of(program: &Bytecode, width: usize) -> Option<Quads> {
        let lanes = (0..).zip(&program.output_lanes);
        let differ = lanes.filter(|(_, lanes)| !lanes.is_none());
        Some(Quads {
            rule: program.quad?,
            helpers: vec![false; width].into_boxed_slice(),
            has_helpers: false,
            first: 0,
            differ: differ.map(|(scalar, _)| scalar).collect(),
        })
    }

    /// Points from `first` on, of which the helpers are so; none at all if the list is empty.
    pub(super) fn begin(&mut self, first: usize, helpers: &[bool]) {
        self.first = first;
        self.has_helpers = helpers.contains(&true);
        self.helpers.fill(false);
        self.helpers[..helpers.len()].copy_from_slice(helpers);
    }

    /// Lets a point be a helper or none.
    pub(super) fn set_helper(&mut self, point: usize, is_helper: bool) {
        self.helpers[point] = is_helper;
        self.has_helpers |= is_helper;
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        size_of_val(&self.helpers[..]) + size_of_val(&self.differ[..])
    }
}

/// The quads of these points, a bit each.
fn whole(points: u32) -> u32 {
    let quads = (points | points >> 1 | points >> 2 | points >> 3) & FIRST_OF_QUADS;
    quads * 0b1111
}

impl Chunk {
    /// Asks the host for all that the group does, of helpers as for helpers.
    pub(super) fn request_samples(&mut self, context: &mut RunContext<'_>) {
        let HostRequests {
            points,
            requests,
            answers,
            ..
        } = &mut self.requests;
        let host = &mut *context.host;
        let helpers = match &self.quads {
            Some(quads) if quads.has_helpers => &quads.helpers,
            _ => return host.sample_batch(points, requests, answers),
        };
        let is_helper = |&point: &usize| helpers[point - context.first];
        let mut at = 0;
        while at < points.len() {
            if is_helper(&points[at]) {
                host.at_point(points[at]);
                answers[at] = host.sample_for_helper(&requests[at]);
                at += 1;
                continue;
            }
            let own = points[at..].iter().take_while(|point| !is_helper(point));
            let own = at..at + own.count();
            at = own.end;
            host.sample_batch(
                &points[own.clone()],
                &requests[own.clone()],
                &mut answers[own],
            );
        }
    }

    /// Whether a point is evaluated for its neighbours alone.
    pub(super) fn is_helper(&self, point: usize) -> bool {
        self.quads.as_ref().is_some_and(|q| q.helpers[point])
    }

    /// The points of the group take a difference, in each quad of which nobody is elsewhere; the others leave.
    ///
    /// # Safety
    /// The operands are those of such a step.
    pub(super) unsafe fn difference(
        &mut self,
        direction: Direction,
        lent: (u32, u32),
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        // SAFETY: asked of the caller.
        let (to, from) = unsafe { (*refs, *refs.add(1)) };
        // SAFETY: asked of the caller, for each point of the group.
        let value = |point| f32::from_bits(unsafe { *from.point(point) });
        let rule = self.quads.as_ref().expect("its points are in quads").rule;
        let pairs = Corner::ALL.map(|own| rule.neighbours(own, direction));
        let mut parted = std::mem::take(&mut self.test_masks);
        parted.fill(0);
        let mut any_parted = false;
        for (pack, &active) in self.active.masks().iter().enumerate() {
            if active == whole(active) {
                for first in self.active.points_of(pack, active & FIRST_OF_QUADS) {
                    let values: [f32; QUAD] = std::array::from_fn(|corner| value(first + corner));
                    for (corner, (a, b)) in pairs.into_iter().enumerate() {
                        let difference = Quad::between(values[a as usize], values[b as usize]);
                        // SAFETY: asked of the caller; all of the quad was read.
                        unsafe { *to.point(first + corner) = difference.to_bits() };
                    }
                }
                continue;
            }
            for first in self.active.points_of(pack, whole(active)).step_by(QUAD) {
                let (_, lowest) = self.active.bit_of(first);
                let here = (active / lowest) & 0b1111;
                if here != 0b1111 && self.inactive.contains_any(pack, 0b1111 * lowest) {
                    parted[pack] |= here * lowest;
                    any_parted = true;
                    continue;
                }
                let values = std::array::from_fn(|corner| {
                    (here >> corner & 1 == 1).then(|| value(first + corner))
                });
                rule.for_each_difference(direction, values, |corner, difference| {
                    // SAFETY: asked of the caller; all of the quad was read.
                    unsafe { *to.point(first + corner as usize) = difference.to_bits() };
                });
            }
        }
        if any_parted {
            let start =
                |point: usize| ResumeAt::Answered(QuadPause::Difference(direction, value(point)));
            self.bail_out_quads(&mut parted, lent, &start, context);
        }
        self.test_masks = parted;
    }

    /// Quads leave the chunk, those of these points of the group: `start` says how they go on. Words that are lent are not in their planes.
    #[cold]
    pub(super) fn bail_out_quads(
        &mut self,
        leaving: &mut [u32],
        lent: (u32, u32),
        start: &dyn Fn(usize) -> ResumeAt,
        context: &mut RunContext<'_>,
    ) {
        for (pack, points) in leaving.iter_mut().enumerate() {
            *points = whole(*points);
            for first in self.active.points_of(pack, *points).step_by(QUAD) {
                for corner in 0..QUAD {
                    self.leave_with_quad(corner, first + corner, lent, start, context);
                }
                self.advance_quad(first, context.host);
            }
        }
        self.active.remove(leaving);
    }

    /// A point goes to the machine for its corner, and goes on there as far as it comes alone.
    fn leave_with_quad(
        &mut self,
        corner: usize,
        point: usize,
        lent: (u32, u32),
        start: &dyn Fn(usize) -> ResumeAt,
        context: &mut RunContext<'_>,
    ) {
        let (pack, bit) = self.active.bit_of(point);
        let position = if self.active.masks()[pack] & bit != 0 {
            let steps = self.steps_left(point);
            self.move_to_point_machine(corner, point, (self.depth, steps), lent, context);
            let position = self.memory.instructions[self.pc].position;
            match start(point) {
                ResumeAt::Current => position,
                ResumeAt::Next => position + 1,
                ResumeAt::Answered(awaited) => {
                    return self.alone[corner].suspend_at(position, awaited);
                }
            }
        } else if let Some((place, account)) = self.inactive.remove_point(pack, bit) {
            let steps = self.steps[point] - account.owed;
            self.move_to_point_machine(corner, point, (place.depth(), steps), (0, 0), context);
            self.position_of(place.pc())
        } else {
            self.move_to_point_machine(corner, point, (0, 0), (0, 0), context);
            return self.alone[corner].finish_point();
        };
        context.host.at_point(context.first + point);
        let (is_helper, alone) = (self.is_helper(point), &mut self.alone[corner]);
        with_host(is_helper, context.host, |host| {
            alone.resume_at(position, host)
        });
    }

    /// The instruction that points go on with who wait at a step: the first of a block.
    fn position_of(&self, step: usize) -> u32 {
        let steps = &self.memory.instructions;
        match step.checked_sub(1).map(|before| &steps[before]) {
            Some(before) if matches!(before.op, BatchOp::Call { .. }) => before.position + 1,
            _ => steps[step].position,
        }
    }

    /// Brings the quad in the machines on as far as it comes. Its first point has that number.
    fn advance_quad(&mut self, first: usize, host: &mut dyn Host) {
        let mode = FloatEnvironment::enter_for_point();
        let quads = self.quads.as_ref().expect("its points are in quads");
        let machines: &mut [PointMachine; QUAD] =
            (&mut *self.alone).try_into().expect("one for each corner");
        advance(quads.rule, machines, |corner, machine, difference| {
            let point = first + corner as usize;
            host.at_point(quads.first + point);
            with_host(quads.helpers[point], host, |host| {
                machine.join(difference, host)
            });
        });
        let waits = machines.iter().any(|machine| machine.awaits_host());
        for corner in 0..QUAD {
            let outcome = match waits {
                true => Outcome::Pending,
                false => self.alone[corner].outcome(),
            };
            self.store_results(corner, first + corner, outcome);
        }
        let quad = first / QUAD;
        self.difference_outputs(quad..quad + 1);
        drop(mode);
    }

    /// Gives the outputs of quads their derivatives, unless they wait.
    pub(super) fn difference_outputs(&mut self, which: Range<usize>) {
        let Some(quads) = &self.quads else {
            return;
        };
        for &scalar in &quads.differ {
            let planes = [0, 1, 2].map(|part| self.memory.slot(3 * scalar + part));
            for first in which.clone().map(|quad| QUAD * quad) {
                let values = std::array::from_fn(|corner| {
                    let is_there = self.results.outcomes[first + corner] == Outcome::Finished;
                    // SAFETY: the point is the chunk's, and outputs have planes.
                    is_there.then(|| f32::from_bits(unsafe { *planes[0].add(first + corner) }))
                });
                for direction in Direction::BOTH {
                    let plane = planes[1 + direction as usize];
                    quads
                        .rule
                        .for_each_difference(direction, values, |corner, difference| {
                            // SAFETY: as above.
                            unsafe { *plane.add(first + corner as usize) = difference.to_bits() };
                        });
                }
            }
        }
    }

    /// Runs all quads in the machines.
    pub(super) fn run_quads_pointwise(&mut self, inputs: &[u32], context: &mut RunContext<'_>) {
        for first in (0..self.results.points).step_by(QUAD) {
            for corner in 0..QUAD {
                let point = first + corner;
                self.load_globals(point, context);
                let is_helper = self.is_helper(point);
                let (alone, globals) = (&mut self.alone[corner], &self.globals);
                with_host(is_helper, context.host, |host| {
                    alone.run(globals, inputs, host)
                });
            }
            self.advance_quad(first, context.host);
        }
    }

    /// Points of the group whose requests were not answered wait, and their quads with them.
    pub(super) fn suspend_quads(
        &mut self,
        waiting: &mut [u32],
        lent: (u32, u32),
        context: &mut RunContext<'_>,
    ) {
        let asking = std::mem::take(&mut self.requests);
        let first = context.first;
        let request = |point: usize| -> (SampleRequest, Sampled) {
            let at = asking.points.binary_search(&(first + point));
            let at = at.expect("all points of the group ask");
            (asking.requests[at], asking.answers[at])
        };
        let start = |point: usize| match request(point) {
            (request, Sampled::Pending) => ResumeAt::Answered(QuadPause::Texel(request)),
            _ => ResumeAt::Next,
        };
        self.bail_out_quads(waiting, lent, &start, context);
        self.requests = asking;
    }

    /// Goes on with a quad that waits: the answer is to that point's request.
    pub(super) fn answer_in_quad(&mut self, point: usize, texel: [f32; 4], host: &mut dyn Host) {
        let (first, corner) = (point / QUAD * QUAD, point % QUAD);
        for corner in 0..QUAD {
            self.unpark(corner, first + corner);
        }
        let quads = self.quads.as_ref().expect("its points are in quads");
        host.at_point(quads.first + point);
        let (is_helper, alone) = (quads.helpers[point], &mut self.alone[corner]);
        with_host(is_helper, host, |host| alone.answer(texel, host));
        self.advance_quad(first, host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_are_whole() {
        assert_eq!(whole(0), 0);
        assert_eq!(whole(0b0010_0000_0000_1000), 0b1111_0000_0000_1111);
        assert_eq!(whole(u32::MAX), u32::MAX);
    }
}
