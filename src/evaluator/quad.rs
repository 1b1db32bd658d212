//! The points of a quad in an evaluator: four of one engine, which run in lockstep.
//!
//! Engines know a quad by one instruction, at which a point waits for the others. Here they are
//! joined, by one rule ([`advance`]). When all are done, the differences of their results are its
//! derivatives.

use super::quad_neighbours::{LONE_POINT_HELPERS, QuadNeighbours};
use super::reference::ReferenceMachine;
use super::{Engine, point_machine};
use crate::program::{Instance, Program};
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{ClosureArena, Faults, Host, Limits, SampleRequest, Texel, canonical_float};
use adumbra_ir::quad::{Corner, Lockstep, Quad, QuadPause, advance, with_host};
use adumbra_ir::{Direction, Lanes};
use adumbra_vm::{FloatEnvironment, Outcome, Parked, PointMachine};
use std::sync::Arc;

/// The machine of one of the four.
enum Lane {
    Reference(Box<ReferenceMachine>),
    Point(Box<PointMachine>),
}

/// All four, with their results.
pub(super) struct QuadMachine {
    pub(super) rule: Quad,
    points: [Lane; 4],
    outcomes: [Outcome; 4],
    /// The points that are evaluated for their neighbours alone.
    helpers: [bool; 4],
    /// The neighbours of a lone point.
    neighbours: QuadNeighbours,
    /// The demanded derivatives of each scalar of the outputs.
    differ: Box<[Lanes]>,
    /// By point, value, ddx and ddy of each scalar of the outputs.
    outputs: [Box<[u32]>; 4],
    /// The point that the evaluator shows.
    pub(super) selected: Corner,
}

/// A quad of the batch engine, apart from it.
pub(crate) struct ParkedQuad {
    pub(super) points: [Box<Parked>; 4],
    pub(super) helpers: [bool; 4],
}

impl QuadMachine {
    /// A machine for an instance whose points are evaluated in quads, with a module for the
    /// reference engine.
    pub(super) fn new(
        instance: &Instance,
        rule: Quad,
        limits: Limits,
        engine: Engine,
    ) -> QuadMachine {
        let program = instance.program();
        // No gradient by a buffer is taken of points in quads: its sums are not read.
        let memory = &Arc::new(BufferMemory::new(instance.buffers()));
        let lane = || match engine {
            Engine::Reference => {
                Lane::Reference(Box::new(ReferenceMachine::new(instance, limits, memory)))
            }
            _ => Lane::Point(Box::new(point_machine(program, limits, engine, memory))),
        };
        let differ: Box<[Lanes]> = program.bytecode().output_lanes().into();
        QuadMachine {
            rule,
            points: [(); 4].map(|()| lane()),
            outcomes: [Outcome::Finished; 4],
            helpers: [false; 4],
            neighbours: QuadNeighbours::new(program.globals()),
            outputs: [(); 4].map(|()| vec![0; 3 * differ.len()].into_boxed_slice()),
            differ,
            selected: Corner::UpperLeft,
        }
    }

    /// Evaluates one point. Its neighbours are helpers, whose globals follow from its own and their
    /// derivatives.
    pub(super) fn run_alone(
        &mut self,
        instance: &Instance,
        globals: &[u32],
        host: &mut dyn Host,
    ) -> Outcome {
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let quad = neighbours.quad_globals(instance.program().globals(), globals);
        let outcome = self.run(instance, quad, LONE_POINT_HELPERS, host);
        self.neighbours = neighbours;
        outcome
    }

    /// Evaluates four points.
    pub(super) fn run(
        &mut self,
        instance: &Instance,
        globals: [&[u32]; 4],
        helpers: [bool; 4],
        host: &mut dyn Host,
    ) -> Outcome {
        self.helpers = helpers;
        self.selected = Corner::UpperLeft;
        for at in 0..4 {
            let point = &mut self.points[at];
            host.at_point(at);
            self.outcomes[at] = with_host(helpers[at], host, |host| match point {
                Lane::Reference(point) => point.run(instance, globals[at], host),
                Lane::Point(point) => point.run(globals[at], instance.inputs(), host),
            });
        }
        self.go_on(instance.program(), host)
    }

    /// Resumes the point that waits for the host: the first one, if there are several.
    pub(super) fn answer(
        &mut self,
        program: &Program,
        texel: Texel,
        host: &mut dyn Host,
    ) -> Outcome {
        let mut points = self.points.iter();
        let at = points.position(Lane::awaits_host);
        let at = at.expect("a point waits");
        let point = &mut self.points[at];
        host.at_point(at);
        self.outcomes[at] = with_host(self.helpers[at], host, |host| match point {
            Lane::Reference(point) => point.answer(program, texel, host),
            Lane::Point(point) => point.answer(texel, host),
        });
        self.go_on(program, host)
    }

    /// Exchanges the machine here, which the point engine runs, for a quad of the batch engine;
    /// gives its memory back.
    pub(super) fn unpark(&mut self, quad: ParkedQuad) -> [Box<Parked>; 4] {
        self.helpers = quad.helpers;
        self.selected = Corner::UpperLeft;
        let mut memory = quad.points;
        for (at, memory) in memory.iter_mut().enumerate() {
            let Lane::Point(point) = &mut self.points[at] else {
                unreachable!("the batch engine's points go on in the point engine");
            };
            point.unpark(memory);
            self.outcomes[at] = point.outcome();
            self.outputs[at].fill(0);
        }
        memory
    }

    fn go_on(&mut self, program: &Program, host: &mut dyn Host) -> Outcome {
        let mode = FloatEnvironment::enter_for_point();
        let (helpers, outcomes) = (self.helpers, &mut self.outcomes);
        advance(self.rule, &mut self.points, |corner, point, difference| {
            let at = corner as usize;
            host.at_point(at);
            outcomes[at] = with_host(helpers[at], host, |host| match point {
                Lane::Reference(point) => point.join(program, difference, host),
                Lane::Point(point) => point.join(difference, host),
            });
        });
        let is_done = !self.points.iter().any(Lane::awaits_host);
        for (outputs, point) in self.outputs.iter_mut().zip(&self.points) {
            match is_done {
                true => outputs.copy_from_slice(point.outputs()),
                false => outputs.fill(0),
            }
        }
        if is_done {
            self.join_outputs();
        }
        drop(mode);
        self.outcome(self.selected)
    }

    /// Gives the outputs their derivatives.
    fn join_outputs(&mut self) {
        for scalar in 0..self.differ.len() {
            if self.differ[scalar].is_none() {
                continue;
            }
            let values = Corner::ALL.map(|corner| {
                let at = corner as usize;
                let value = f32::from_bits(self.outputs[at][3 * scalar]);
                (self.outcomes[at] == Outcome::Finished).then_some(value)
            });
            let wanted = |direction: &Direction| self.differ[scalar].has(*direction);
            for direction in Direction::BOTH.into_iter().filter(wanted) {
                self.rule
                    .for_each_difference(direction, values, |corner, difference| {
                        let outputs = &mut self.outputs[corner as usize];
                        outputs[3 * scalar + 1 + direction as usize] =
                            canonical_float(difference).to_bits();
                    });
            }
        }
    }

    /// How far a point came; all of them wait while one does.
    pub(super) fn outcome(&self, corner: Corner) -> Outcome {
        match self.points.iter().any(Lane::awaits_host) {
            true => Outcome::Pending,
            false => self.outcomes[corner as usize],
        }
    }

    /// The host request of the point that waits for it, if any.
    pub(super) fn request(&self) -> Option<&SampleRequest> {
        self.points
            .iter()
            .find_map(|point| point.awaited()?.request())
    }

    /// The outputs of the selected point.
    pub(super) fn outputs(&self) -> &[u32] {
        &self.outputs[self.selected as usize]
    }

    pub(super) fn faults(&self) -> &Faults {
        match &self.points[self.selected as usize] {
            Lane::Reference(point) => &point.faults,
            Lane::Point(point) => point.faults(),
        }
    }

    pub(super) fn closures(&self) -> &ClosureArena {
        match &self.points[self.selected as usize] {
            Lane::Reference(point) => &point.closures,
            Lane::Point(point) => point.closures(),
        }
    }

    /// Bytes that it takes, its own included.
    pub(super) fn memory(&self) -> usize {
        let words = self.outputs.iter();
        let points = self.points.iter().map(|point| match point {
            Lane::Reference(point) => point.memory(),
            Lane::Point(point) => point.memory(),
        });
        size_of::<QuadMachine>()
            + size_of_val(&self.differ[..])
            + self.neighbours.heap()
            + words.map(|words| size_of_val(&words[..])).sum::<usize>()
            + points.sum::<usize>()
    }
}

impl Lane {
    fn outputs(&self) -> &[u32] {
        match self {
            Lane::Reference(point) => &point.outputs,
            Lane::Point(point) => point.outputs(),
        }
    }
}

impl Lockstep for Lane {
    fn awaited(&self) -> Option<&QuadPause> {
        match self {
            Lane::Reference(point) => Some(point.suspended.as_ref()?.awaited()),
            Lane::Point(point) => point.awaited(),
        }
    }

    fn is_at_same_instruction(&self, other: &Lane) -> bool {
        match (self, other) {
            (Lane::Reference(one), Lane::Reference(other)) => {
                match (&one.suspended, &other.suspended) {
                    (Some(one), Some(other)) => one.is_at_same_instruction(other),
                    _ => false,
                }
            }
            (Lane::Point(one), Lane::Point(other)) => one.is_at_same_instruction(other),
            _ => false,
        }
    }
}
