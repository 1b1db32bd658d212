//! Chunks whose points are in quads: points 4q to 4q + 3 are one, in the order of [`Corner::ALL`].
//!
//! A quad stays together. If all of its points that are not done reach a difference at once, they
//! compute it here, by the rule of all engines. If they do not, or one of them must bail out, all
//! four bail out, each from its own position. They continue in four point machines that [`advance`]
//! joins. If one of these suspends, all four are parked until the host answers.

use super::chunk::{Chunk, HostRequests, RunContext};
use super::instruction::BatchOp;
use super::planes::OperandRef;
use crate::bytecode::Bytecode;
use crate::point::{FloatEnvironment, Outcome, PointMachine};
use adumbra_ir::host::{Host, SampleRequest, Sampled, Texel};
use adumbra_ir::quad::{Corner, Lockstep, Quad, QuadPause, advance, with_host};
use adumbra_ir::types::Direction;
use std::ops::Range;

/// Points of a quad.
pub(super) const QUAD: usize = Corner::ALL.len();

/// The first points of a SIMD vector's quads, a bit each.
const FIRST_OF_QUADS: u32 = 0x1111_1111;

/// The quads of a chunk.
pub(super) struct Quads {
    rule: Quad,
    /// By point, whether it is evaluated for its neighbours alone.
    pub(super) helpers: Box<[bool]>,
    /// Whether any point is a helper.
    has_helpers: bool,
    /// The index of the chunk's first point in the batch.
    first: usize,
    /// Scalars of the outputs whose derivatives are computed.
    differ: Box<[u32]>,
}

/// Where a point that bails out resumes.
pub(super) enum ResumeAt {
    /// At the group's instruction.
    Current,
    /// After the group's instruction.
    Next,
    /// When its request is answered.
    Answered(QuadPause),
}

impl Quads {
    /// Allocates for chunks of `width` points; none for a program whose points are in no quads.
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

    /// Starts a run of points from `first` on, with these helpers; without any if the list is
    /// empty.
    pub(super) fn begin(&mut self, first: usize, helpers: &[bool]) {
        self.first = first;
        self.has_helpers = helpers.contains(&true);
        self.helpers.fill(false);
        self.helpers[..helpers.len()].copy_from_slice(helpers);
    }

    /// Sets whether a point is a helper.
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
    /// Passes the requests of the active points to the host, those of helpers marked as such.
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

    /// The active points compute a difference, in each quad whose points are all here; the others
    /// bail out.
    ///
    /// # Safety
    /// The operands are those of such an instruction.
    pub(super) unsafe fn difference(
        &mut self,
        direction: Direction,
        elsewhere: (u32, u32),
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        // SAFETY: guaranteed by the caller.
        let (to, from) = unsafe { (*refs, *refs.add(1)) };
        // SAFETY: guaranteed by the caller, for each active point.
        let value = |point| f32::from_bits(unsafe { *from.point(point) });
        let rule = self.quads.as_ref().expect("its points are in quads").rule;
        let pairs = Corner::ALL.map(|own| rule.neighbours(own, direction));
        let mut diverged = std::mem::take(&mut self.test_masks);
        diverged.fill(0);
        let mut any_parted = false;
        for (vector, &active) in self.active.masks().iter().enumerate() {
            if active == whole(active) {
                for first in self.active.points_of(vector, active & FIRST_OF_QUADS) {
                    let values: [f32; QUAD] = std::array::from_fn(|corner| value(first + corner));
                    for (corner, (a, b)) in pairs.into_iter().enumerate() {
                        let difference = Quad::between(values[a as usize], values[b as usize]);
                        // SAFETY: guaranteed by the caller; all of the quad was read.
                        unsafe { *to.point(first + corner) = difference.to_bits() };
                    }
                }
                continue;
            }
            for first in self.active.points_of(vector, whole(active)).step_by(QUAD) {
                let (_, lowest) = self.active.bit_of(first);
                let here = (active / lowest) & 0b1111;
                if here != 0b1111 && self.inactive.contains_any(vector, 0b1111 * lowest) {
                    diverged[vector] |= here * lowest;
                    any_parted = true;
                    continue;
                }
                let values = std::array::from_fn(|corner| {
                    (here >> corner & 1 == 1).then(|| value(first + corner))
                });
                rule.for_each_difference(direction, values, |corner, difference| {
                    // SAFETY: guaranteed by the caller; all of the quad was read.
                    unsafe { *to.point(first + corner as usize) = difference.to_bits() };
                });
            }
        }
        if any_parted {
            let start =
                |point: usize| ResumeAt::Answered(QuadPause::Difference(direction, value(point)));
            self.bail_out_quads(&mut diverged, elsewhere, &start, context);
        }
        self.test_masks = diverged;
    }

    /// Quads bail out, those of these active points; `start` is where they resume. Registers that
    /// are `elsewhere` are not in their planes.
    #[cold]
    pub(super) fn bail_out_quads(
        &mut self,
        leaving: &mut [u32],
        elsewhere: (u32, u32),
        start: &dyn Fn(usize) -> ResumeAt,
        context: &mut RunContext<'_>,
    ) {
        for (vector, points) in leaving.iter_mut().enumerate() {
            *points = whole(*points);
            for first in self.active.points_of(vector, *points).step_by(QUAD) {
                for corner in 0..QUAD {
                    self.bail_out_with_quad(corner, first + corner, elsewhere, start, context);
                }
                self.advance_quad(first, context.host);
            }
        }
        self.active.remove(leaving);
    }

    /// Moves a point to the machine for its corner, and runs it as far as it comes alone.
    fn bail_out_with_quad(
        &mut self,
        corner: usize,
        point: usize,
        elsewhere: (u32, u32),
        start: &dyn Fn(usize) -> ResumeAt,
        context: &mut RunContext<'_>,
    ) {
        let (vector, bit) = self.active.bit_of(point);
        let position = if self.active.masks()[vector] & bit != 0 {
            let steps = self.steps_left(point);
            self.move_to_point_machine(corner, point, (self.depth, steps), elsewhere, context);
            let position = self.memory.instructions[self.pc].position;
            match start(point) {
                ResumeAt::Current => position,
                ResumeAt::Next => position + 1,
                ResumeAt::Answered(awaited) => {
                    return self.point_machines[corner].suspend_at(position, awaited);
                }
            }
        } else if let Some((position, account)) = self.inactive.remove_point(vector, bit) {
            let steps = self.steps[point] - account.owed;
            let elsewhere = self.memory.values_at(position.pc());
            let account = (position.depth(), steps);
            self.move_to_point_machine(corner, point, account, elsewhere, context);
            self.position_of(position.pc())
        } else {
            self.move_to_point_machine(corner, point, (0, 0), (0, 0), context);
            return self.point_machines[corner].finish_point();
        };
        context.host.at_point(context.first + point);
        let (is_helper, machine) = (self.is_helper(point), &mut self.point_machines[corner]);
        with_host(is_helper, context.host, |host| {
            machine.resume_at(position, host)
        });
    }

    /// The bytecode instruction at which inactive points resume: the first of a block.
    fn position_of(&self, pc: usize) -> u32 {
        let instructions = &self.memory.instructions;
        match pc.checked_sub(1).map(|before| &instructions[before]) {
            Some(before) if matches!(before.op, BatchOp::Call { .. }) => before.position + 1,
            _ => instructions[pc].position,
        }
    }

    /// Advances the quad in the machines as far as it comes. `first` is its first point.
    fn advance_quad(&mut self, first: usize, host: &mut dyn Host) {
        let mode = FloatEnvironment::enter_for_point();
        let quads = self.quads.as_ref().expect("its points are in quads");
        let machines: &mut [PointMachine; QUAD] = (&mut *self.point_machines)
            .try_into()
            .expect("one for each corner");
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
                false => self.point_machines[corner].outcome(),
            };
            self.store_results(corner, first + corner, outcome);
        }
        let quad = first / QUAD;
        self.difference_outputs(quad..quad + 1);
        drop(mode);
    }

    /// Computes the derivatives of the outputs of quads, unless they are suspended.
    pub(super) fn difference_outputs(&mut self, which: Range<usize>) {
        let Some(quads) = &self.quads else {
            return;
        };
        for &scalar in &quads.differ {
            let planes = [0, 1, 2].map(|part| self.memory.register(3 * scalar + part));
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
                            // SAFETY: the points are the chunk's, and outputs have planes.
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
                let (machine, globals) = (&mut self.point_machines[corner], &self.globals);
                with_host(is_helper, context.host, |host| {
                    machine.run(globals, inputs, host)
                });
            }
            self.advance_quad(first, context.host);
        }
    }

    /// Active points whose requests were not answered suspend, and their quads with them.
    pub(super) fn suspend_quads(
        &mut self,
        suspending: &mut [u32],
        elsewhere: (u32, u32),
        context: &mut RunContext<'_>,
    ) {
        let requests = std::mem::take(&mut self.requests);
        let first = context.first;
        let request = |point: usize| -> (SampleRequest, Sampled) {
            let at = requests.points.binary_search(&(first + point));
            let at = at.expect("all points of the group ask");
            (requests.requests[at], requests.answers[at])
        };
        let start = |point: usize| match request(point) {
            (request, Sampled::Pending) => ResumeAt::Answered(QuadPause::Texel(request)),
            _ => ResumeAt::Next,
        };
        self.bail_out_quads(suspending, elsewhere, &start, context);
        self.requests = requests;
    }

    /// Resumes a suspended quad: the answer is to that point's request.
    pub(super) fn answer_in_quad(&mut self, point: usize, texel: Texel, host: &mut dyn Host) {
        let (first, corner) = (point / QUAD * QUAD, point % QUAD);
        for corner in 0..QUAD {
            self.unpark(corner, first + corner);
        }
        let quads = self.quads.as_ref().expect("its points are in quads");
        host.at_point(quads.first + point);
        let (is_helper, machine) = (quads.helpers[point], &mut self.point_machines[corner]);
        with_host(is_helper, host, |host| machine.answer(texel, host));
        self.advance_quad(first, host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_point_selects_its_whole_quad() {
        assert_eq!(whole(0), 0);
        assert_eq!(whole(0b0010_0000_0000_1000), 0b1111_0000_0000_1111);
        assert_eq!(whole(u32::MAX), u32::MAX);
    }
}
