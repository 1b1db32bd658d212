//! Regions: the points at hand run until the last one has left.
//!
//! The planes that its rows read and write are copied to the frame before the first turn and back behind the last one, so that turns need not look for them.
//!
//! Each way has masks of who goes it, in the frame; a trace is run by those whose way leads to its first block, and begins by taking them. Traces stand in order, and
//! only turns jump back: so whoever runs is at the least trace that anybody is before.

use super::kernel::Frame;
use super::{Crowds, Emitter};
use crate::allocate::{Finder, Flight};
use crate::compute::{Computation, To};
use crate::graph::Code;
use crate::listing::{Extent, Part};
use crate::machine::{Machine, Operand};
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
        let computed = |trace: &Trace| trace.computation.graph.len();
        let longest = traces.iter().map(computed).max().unwrap_or(0);
        let flight = Flight {
            vectors: M::TURN_GROUP,
            groups: match longest {
                0..=LONG_TURN => M::TURN_GROUPS,
                _ => 1,
            },
        };
        let computations = || traces.iter().map(|trace| &trace.computation);
        let mut frame = Frame::of::<M>(computations(), templates, flight)?;
        let count = region.exits.len() + region.blocks.len();
        let [all, written] = planes(computations());
        let crowds = Crowds {
            active: frame.room::<M>(1),
            ways: frame.room::<M>(count),
            exits: region.exits.len() as u32,
            vectors: flight.all(),
            stride: flight.all() as i32 * M::VECTOR,
            steps: frame.room::<M>(1),
        };
        let turns = frame.room::<M>(1);
        frame.crowds = crowds;
        frame.copy_planes::<M>(&all);
        let copies = frame.take_copies();
        let bodies = self.bodies(computations(), &mut frame, &copies, Finder::places);
        let (start, runs) = self.begin(&frame, &copies.cells)?;
        let next = self.machine.label();
        self.part(Part::Points);
        self.machine.begin_loop(next);
        self.part(Part::Gather);
        let nobody = self.machine.label();
        self.gather(&crowds, count, nobody);
        self.machine.begin_turns(turns);
        for word in all {
            if let Some(&copy) = copies.planes.get(&word) {
                self.copy_in(word, copy, crowds.vectors);
            }
        }
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
        for word in written {
            if let Some(&copy) = copies.planes.get(&word) {
                self.copy_out(word, copy, crowds.vectors);
            }
        }
        self.machine.bind(nobody);
        self.tell(&crowds, count);
        self.part(Part::NextPoints);
        self.machine.end_loop(next, crowds.stride);
        for (body, own) in bodies.iter().zip(asides) {
            self.asides = own;
            self.aside(body);
        }
        Some(self.end(start, &frame, runs))
    }

    /// Those who run stand before the first block, nobody elsewhere, and nothing is taken. Jumps if there is nobody.
    fn gather(&mut self, crowds: &Crowds, count: usize, nobody: dynasmrt::DynamicLabel) {
        let [scratch, all] = M::SCRATCH;
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
            let so_far = Operand::Register(all);
            match vector {
                0 => self.machine.load(all, Operand::Register(scratch)),
                _ => (self.machine).two(Code::Or, all, so_far, Operand::Register(scratch)),
            }
        }
        self.machine.jump_if_none(Operand::Register(all), nobody);
    }

    /// Copies the plane of a word to the frame.
    fn copy_in(&mut self, word: u32, copy: i32, vectors: usize) {
        let [scratch, _] = M::SCRATCH;
        self.machine.plane(word);
        for vector in 0..vectors as i32 {
            let at = vector * M::VECTOR;
            self.machine.load_plane(scratch, at);
            self.machine.store(copy + at, scratch);
        }
    }

    /// Copies what the frame has of a word to its plane.
    fn copy_out(&mut self, word: u32, copy: i32, vectors: usize) {
        let [scratch, _] = M::SCRATCH;
        self.machine.plane(word);
        for vector in 0..vectors as i32 {
            let at = vector * M::VECTOR;
            self.machine.load(scratch, Operand::Frame(copy + at));
            self.machine.store_plane(at, scratch);
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

/// The words whose planes are read or written, and those that are written, both in order.
fn planes<'c>(computations: impl Iterator<Item = &'c Computation> + Clone) -> [Vec<u32>; 2] {
    let nodes = computations.clone().flat_map(|own| &own.graph.nodes);
    let read = nodes.filter_map(|node| (node.code == Code::Plane).then_some(node.a));
    let stores = computations.flat_map(|own| &own.stores);
    let written = stores.filter_map(|store| match store.to {
        To::Word(word) => Some(word),
        _ => None,
    });
    let written: Vec<u32> = written.collect();
    let all = read.chain(written.iter().copied()).collect();
    [all, written].map(|mut words: Vec<u32>| {
        words.sort_unstable();
        words.dedup();
        words
    })
}
