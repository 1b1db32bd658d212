//! Frames: kernels, which go over runs of packs, and routines for rare ways.

use super::{Body, Crowds, Emitter, MAX_FRAME};
use crate::allocate::{Finder, Flight, Places};
use crate::compute::{Computation, Lineage, Store, To};
use crate::graph::{Code, Graph, Id};
use crate::listing::{Extent, Part};
use crate::machine::{Machine, Operand};
use crate::optimisation::Optimisation;
use crate::template::Templates;
use adumbra_vm::native::AT_ONCE;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a kernel has on the stack, as bytes from the stack pointer: first of all what routines are given.
pub(super) struct Frame {
    pub(super) size: i32,
    pub(super) flight: Flight,
    /// Where the cell of each word is copied to.
    cells: FxHashMap<u32, i32>,
    /// What a region knows of points.
    pub(super) crowds: Crowds,
}

impl Frame {
    /// That of a kernel for these, of so many vectors at once; none if a row of theirs found no room.
    pub(super) fn of<'g, M: Machine>(
        computations: impl Iterator<Item = &'g Computation> + Clone,
        templates: &Templates,
        flight: Flight,
    ) -> Option<Frame> {
        if templates.is_full() {
            return None;
        }
        let detours = (computations.clone()).flat_map(|own| &own.graph.detours);
        let given = detours.map(|detour| templates.routine(detour.routine).0.params());
        let mut size = given.max().unwrap_or(0) as i32 * M::VECTOR;
        let mut cells = FxHashMap::default();
        for &word in computations.flat_map(|own| &own.graph.cells) {
            cells.entry(word).or_insert_with(|| {
                size = size.saturating_add(M::VECTOR);
                size - M::VECTOR
            });
        }
        Some(Frame {
            size,
            flight,
            cells,
            crowds: Crowds::default(),
        })
    }

    /// Whether a kernel may have it.
    pub(super) fn fits(&self) -> bool {
        self.size <= MAX_FRAME
    }

    /// The copies of cells.
    pub(super) fn take_cells(&mut self) -> FxHashMap<u32, i32> {
        std::mem::take(&mut self.cells)
    }

    /// Room for so many masks or numbers of all points at hand.
    pub(super) fn room<M: Machine>(&mut self, count: usize) -> i32 {
        let at = self.size;
        let bytes = (count * self.flight.all()).saturating_mul(M::VECTOR as usize);
        self.size = (self.size).saturating_add(i32::try_from(bytes).unwrap_or(i32::MAX));
        at
    }
}

impl<M: Machine> Emitter<M> {
    /// Writes the kernel of a stretch; says where it is. Nothing if its frame would be too large.
    pub(super) fn stretch(
        &mut self,
        segments: &[Computation],
        templates: &Templates,
    ) -> Option<Extent> {
        const { assert!(M::FLIGHT * M::VECTOR as usize <= AT_ONCE * size_of::<u32>()) };
        let vectors = match self.optimisations.has(Optimisation::Interleaving) {
            true => M::FLIGHT,
            false => 1,
        };
        let mut frame = Frame::of::<M>(segments.iter(), templates, Flight::one_group(vectors))?;
        let cells = frame.take_cells();
        let find = match self.optimisations.has(Optimisation::ConstantRegisters) {
            true => Finder::places_of_loop,
            false => Finder::places,
        };
        let bodies = self.bodies(segments.iter(), &mut frame, &cells, find);
        let (start, runs) = self.begin(&frame, &cells)?;
        for (body, segment) in bodies.iter().zip(segments) {
            let next = self.machine.label();
            self.part(Part::Points);
            for &(bits, register) in &body.places.kept {
                let constant = self.machine.constant(bits);
                self.machine.load(register, Operand::Constant(constant));
            }
            self.machine.begin_loop(next);
            self.nodes(body, 1, &segment.stores);
            self.part(Part::NextPoints);
            self.machine.end_loop(next, vectors as i32 * M::VECTOR);
            self.aside(body);
        }
        Some(self.end(start, &frame, runs))
    }

    /// The places of everything, as they are found one graph at a time, in a frame that grows with it.
    pub(super) fn bodies<'g>(
        &self,
        computations: impl Iterator<Item = &'g Computation>,
        frame: &mut Frame,
        cells: &'g FxHashMap<u32, i32>,
        find: fn(&mut Finder, &Graph, &[Store]) -> Places,
    ) -> Vec<Body<'g>> {
        let slots = frame.size;
        let mut finder = Finder::new(frame.flight, self.registers, M::READS_PLANES);
        let mut most = 0;
        let bodies = computations.map(|computation| {
            let Computation {
                graph,
                stores,
                lineage,
            } = computation;
            let places = find(&mut finder, graph, stores);
            most = most.max(places.slots);
            Body {
                graph,
                lineage,
                places,
                slots,
                params: 0,
                cells,
                crowds: frame.crowds,
            }
        });
        let bodies = bodies.collect();
        let bytes = i64::from(most) * frame.flight.groups as i64 * i64::from(M::VECTOR);
        frame.size = (frame.size).saturating_add(i32::try_from(bytes).unwrap_or(i32::MAX));
        bodies
    }

    /// Enters a kernel, up to the beginning of a run: where it begins, and the labels of the loop over runs. Nothing is written if its frame is too long.
    pub(super) fn begin(
        &mut self,
        frame: &Frame,
        cells: &FxHashMap<u32, i32>,
    ) -> Option<(usize, [DynamicLabel; 2])> {
        if !frame.fits() {
            return None;
        }
        self.part(Part::Pool);
        let start = self.machine.enter(frame.size);
        self.part_from(start, Part::Entry);
        self.part(Part::Cells);
        let mut sorted: Vec<(u32, i32)> = cells.iter().map(|(&word, &at)| (word, at)).collect();
        sorted.sort_unstable();
        let [scratch, _] = M::SCRATCH;
        for (word, at) in sorted {
            self.machine.load_cell(scratch, word);
            self.machine.store(at, scratch);
        }
        let [next, done] = [(); 2].map(|()| self.machine.label());
        self.part(Part::Runs);
        self.machine.begin_runs(next, done);
        Some((start, [next, done]))
    }

    /// The next run, or back to the caller: where the kernel that began there is.
    pub(super) fn end(
        &mut self,
        start: usize,
        frame: &Frame,
        [next, done]: [DynamicLabel; 2],
    ) -> Extent {
        self.part(Part::NextRun);
        self.machine.end_runs(next, done);
        self.part(Part::Exit);
        self.machine.leave();
        Extent {
            start,
            end: self.machine.here(),
            frame: frame.size as usize,
        }
    }

    /// Rare ways, close by for jumps that do not reach far.
    pub(super) fn aside(&mut self, body: &Body<'_>) {
        if !self.asides.is_empty() {
            let behind = self.machine.label();
            self.machine.jump(behind);
            self.asides(body);
            self.machine.bind(behind);
        }
    }

    /// Nodes, and what is stored behind them, for the vectors at hand: piece by piece, and group by group.
    pub(super) fn nodes(&mut self, body: &Body<'_>, groups: usize, mut stores: &[Store]) {
        let flight = body.places.flight;
        let mut start = 0;
        for &end in &body.places.pieces {
            let count = stores.partition_point(|store| store.behind < end);
            let (own, later) = stores.split_at(count);
            for group in 0..groups {
                self.piece(body, start..end, group * flight..(group + 1) * flight, own);
            }
            (start, stores) = (end, later);
        }
    }

    /// Some of the nodes, for some of the vectors.
    fn piece(
        &mut self,
        body: &Body<'_>,
        ids: Range<Id>,
        vectors: Range<usize>,
        mut stores: &[Store],
    ) {
        for id in ids {
            if body.places.has(id) {
                if self.parts.is_some() {
                    self.part(Part::Row(body.lineage.of(id)));
                }
                for vector in vectors.clone() {
                    self.node(body, id, vector);
                }
            }
            while let [store, later @ ..] = stores
                && store.behind == id
            {
                if self.parts.is_some() {
                    self.part(Part::Store(body.lineage.of(store.value)));
                }
                self.put(body, store, vectors.clone());
                stores = later;
            }
        }
    }

    fn put(&mut self, body: &Body<'_>, store: &Store, vectors: Range<usize>) {
        if let To::Word(word) = store.to {
            self.machine.plane(word);
        }
        for vector in vectors {
            let value = self.operand(body, store.value, vector);
            match store.to {
                To::Word(_) => {
                    let register = self.machine.register(value, M::SCRATCH[0]);
                    self.machine
                        .store_plane(vector as i32 * M::VECTOR, register);
                }
                To::Way(way) => {
                    let at = body.crowds.way(way) + vector as i32 * M::VECTOR;
                    self.unite(Code::Or, at, value);
                }
                To::Steps => {
                    let at = body.crowds.steps + vector as i32 * M::VECTOR;
                    self.unite(Code::IAdd, at, value);
                }
                To::Test => unreachable!("kernels of packs have no turns"),
                To::Result => {
                    let register = self.machine.register(value, M::SCRATCH[0]);
                    self.machine.store(body.params, register);
                }
            }
        }
    }

    /// What stands in the frame, with a value.
    fn unite(&mut self, code: Code, at: i32, value: Operand<M::Constant>) {
        let [first, second] = M::SCRATCH;
        let value = Operand::Register(self.machine.register(value, first));
        self.machine.two(code, second, value, Operand::Frame(at));
        self.machine.store(at, second);
    }

    /// Writes a routine: it finds what it is given in the caller's frame, leaves its result there, and keeps all registers but the free ones.
    pub(super) fn routine(&mut self, label: DynamicLabel, graph: &Graph, result: Id) {
        let end = Store {
            behind: graph.nodes.len() as Id - 1,
            to: To::Result,
            value: result,
        };
        let places = Finder::new(Flight::one_group(1), self.registers, M::READS_PLANES)
            .places(graph, &[end]);
        let kept: Vec<u8> = (0..self.registers)
            .filter(|register| places.registers >> register & 1 == 1)
            .collect();
        let slots = kept.len() as i32 * M::VECTOR;
        let size = slots + places.slots as i32 * M::VECTOR;
        let body = Body {
            graph,
            lineage: &Lineage::default(),
            places,
            slots,
            params: size + M::RETURN,
            cells: &FxHashMap::default(),
            crowds: Crowds::default(),
        };
        self.machine.bind(label);
        self.machine.enter_routine(size);
        for (&register, index) in kept.iter().zip(0..) {
            self.machine.store(index * M::VECTOR, register);
        }
        for id in 0..graph.nodes.len() as Id {
            if body.places.has(id) {
                self.node(&body, id, 0);
            }
        }
        let value = self.operand(&body, result, 0);
        let value = self.machine.register(value, M::SCRATCH[0]);
        self.machine.store(body.params, value);
        for (&register, index) in kept.iter().zip(0..) {
            self.machine
                .load(register, Operand::Frame(index * M::VECTOR));
        }
        self.machine.leave_routine(size);
    }
}
