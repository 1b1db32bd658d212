//! Regions: the points at hand run until the last one has left.
//!
//! Each way has masks of who goes it, in the frame; a trace is run by those whose way leads to its first block, and begins by taking them. Traces stand in order, and
//! only turns jump back: so whoever runs is at the least trace that anybody is before.

use super::kernel::Frame;
use super::{Crowds, Emitter};
use crate::allocate::{Finder, Flight};
use crate::compute::Computation;
use crate::graph::Code;
use crate::listing::{Extent, Part};
use crate::machine::{Machine, Operand};
use crate::optimisation::Optimisation;
use crate::template::Templates;
use crate::trace::Trace;
use adumbra_vm::native::{AT_ONCE, End, REACH, Region, Way};

/// Nodes of a trace in whose turns one group of vectors has enough to do: longer ones want their registers more.
const LONG_TURN: usize = 192;

impl<M: Machine> Emitter<M> {
    /// Writes the kernel of a region; says where it is. Nothing if its frame would be too large.
    pub(super) fn region(
        &mut self,
        region: &Region,
        traces: &[Trace],
        templates: &Templates,
    ) -> Option<Extent> {
        const { assert!(REACH.is_multiple_of(M::TURN_GROUPS * AT_ONCE)) }
        let lengths = traces.iter().map(|trace| trace.computation.graph.len());
        let is_interleaved = self.optimisations.has(Optimisation::LoopInterleaving);
        let most = match lengths.max().unwrap_or(0) {
            0..=LONG_TURN if is_interleaved => M::TURN_GROUPS,
            _ => 1,
        };
        // What is too much for the frame may fit for fewer points.
        let mut groups = [most, 1].into_iter().take(most.min(2));
        groups.find_map(|groups| {
            let flight = Flight {
                vectors: M::TURN_GROUP,
                groups,
            };
            self.region_for(region, traces, templates, flight)
        })
    }

    /// The same for so many vectors at once.
    fn region_for(
        &mut self,
        region: &Region,
        traces: &[Trace],
        templates: &Templates,
        flight: Flight,
    ) -> Option<Extent> {
        let computations = || traces.iter().map(|trace| &trace.computation);
        let mut frame = Frame::of::<M>(computations(), templates, flight)?;
        let count = region.exits as usize + region.blocks.len();
        let crowds = Crowds {
            active: frame.room::<M>(1),
            ways: frame.room::<M>(count),
            exits: region.exits,
            vectors: flight.all(),
            stride: flight.all() as i32 * M::VECTOR,
            steps: frame.room::<M>(1),
        };
        let turns = frame.room::<M>(1);
        frame.crowds = crowds;
        let cells = frame.take_cells();
        let bodies = self.bodies(computations(), &mut frame, &cells, Finder::places);
        let (start, runs) = self.begin(&frame, &cells)?;
        let next = self.machine.label();
        self.part(Part::Points);
        self.machine.begin_loop(next);
        self.part(Part::Gather);
        self.gather(&crowds, count);
        self.machine.begin_turns(turns);
        let mut labels: Vec<_> = traces.iter().map(|_| self.machine.label()).collect();
        let out = self.machine.label();
        labels.push(out);
        let trace_of = |block: u32| {
            let found = traces.iter().position(|trace| trace.blocks.start == block);
            found.expect("turns go to the beginning of a trace")
        };
        let mut asides = Vec::with_capacity(bodies.len());
        for (number, (trace, body)) in traces.iter().zip(&bodies).enumerate() {
            let Computation { stores, .. } = &trace.computation;
            self.part(Part::Take);
            self.machine.bind(labels[number]);
            self.take(&crowds, trace.blocks.start, labels[number + 1]);
            self.nodes(body, flight.groups, stores);
            asides.push(std::mem::take(&mut self.asides));
            let last = &region.blocks[trace.blocks.end as usize - 1];
            if let End::Loop(target) = last.end {
                self.part(Part::Row(last.position));
                self.machine.turn(turns, labels[trace_of(target)]);
                self.machine.jump(out);
            }
        }
        self.part(Part::Tell);
        self.machine.bind(out);
        self.tell(&crowds, count);
        self.part(Part::NextPoints);
        self.machine.end_loop(next, crowds.stride);
        for (body, own) in bodies.iter().zip(asides) {
            self.asides = own;
            self.aside(body);
        }
        Some(self.end(start, &frame, runs))
    }

    /// Those who run stand before the first block, nobody elsewhere, and nothing is taken.
    fn gather(&mut self, crowds: &Crowds, count: usize) {
        let [scratch, _] = M::SCRATCH;
        let zero = Operand::Constant(self.machine.constant(0));
        self.machine.load(scratch, zero);
        for vector in 0..crowds.vectors as i32 {
            for way in 0..count as i32 {
                let at = crowds.ways + way * crowds.stride + vector * M::VECTOR;
                self.machine.store(at, scratch);
            }
            self.machine
                .store(crowds.steps + vector * M::VECTOR, scratch);
        }
        for vector in 0..crowds.vectors {
            self.machine.load_active(scratch, vector);
            let at = crowds.way(Way::Block(0)) + vector as i32 * M::VECTOR;
            self.machine.store(at, scratch);
        }
    }

    /// Those who stand before a block run, if there are any; else control goes on.
    fn take(&mut self, crowds: &Crowds, block: u32, none: dynasmrt::DynamicLabel) {
        let [first, second] = M::SCRATCH;
        let way = crowds.way(Way::Block(block));
        let at = |vector: usize| Operand::Frame(way + vector as i32 * M::VECTOR);
        self.machine.load(first, at(0));
        for vector in 1..crowds.vectors {
            let so_far = Operand::Register(first);
            self.machine.two(Code::Or, first, so_far, at(vector));
        }
        let some = self.machine.label();
        self.machine.jump_if_any(Operand::Register(first), some);
        self.machine.jump(none);
        self.machine.bind(some);
        let zero = Operand::Constant(self.machine.constant(0));
        self.machine.load(second, zero);
        for vector in 0..crowds.vectors {
            self.machine.load(first, at(vector));
            self.machine
                .store(crowds.active + vector as i32 * M::VECTOR, first);
            self.machine.store(way + vector as i32 * M::VECTOR, second);
        }
    }

    /// Tells who goes which way, and what each took.
    fn tell(&mut self, crowds: &Crowds, count: usize) {
        let [scratch, _] = M::SCRATCH;
        for vector in 0..crowds.vectors {
            let at = crowds.steps + vector as i32 * M::VECTOR;
            self.machine.load(scratch, Operand::Frame(at));
            self.machine.store_steps(scratch, vector);
        }
        let groups = crowds.vectors / M::TURN_GROUP;
        self.machine.store_sets(crowds.ways, count, groups);
    }
}
