//! Frames: kernels, which go over runs of packs, and routines for rare ways.

use super::{Body, Emitter};
use crate::allocate::Places;
use crate::compute::{Computation, Store};
use crate::graph::{Code, Graph, Id};
use crate::machine::{Machine, Operand};
use crate::template::Templates;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

impl<M: Machine> Emitter<M> {
    /// Writes the kernel of a stretch; says where it begins.
    pub(super) fn kernel(&mut self, segments: &[Computation], templates: &Templates) -> usize {
        // In the frame: what routines are given, the cells, the slots.
        let detours = segments.iter().flat_map(|segment| &segment.graph.detours);
        let given = detours.map(|detour| templates.routines[detour.routine as usize].0.params());
        let mut size = given.max().unwrap_or(0) as i32 * M::VECTOR;
        let mut cells = FxHashMap::default();
        for node in segments.iter().flat_map(|segment| &segment.graph.nodes) {
            if node.code == Code::Cell {
                cells.entry(node.a).or_insert_with(|| {
                    size += M::VECTOR;
                    size - M::VECTOR
                });
            }
        }
        let slots = size;
        let mut most = 0;
        let mut bodies: Vec<Body<'_>> = Vec::with_capacity(segments.len());
        for Computation { graph, stores } in segments {
            let live = graph.live(stores.iter().map(|store| store.value));
            let places = Places::find(graph, &live, stores, M::FLIGHT, self.registers);
            most = most.max(places.slots);
            bodies.push(Body {
                graph,
                live,
                places,
                slots,
                params: 0,
                cells: &cells,
                detours: Vec::new(),
            });
        }
        size += most as i32 * M::VECTOR;
        let start = self.machine.offset();
        self.machine.enter(size);
        let mut sorted: Vec<(u32, i32)> = cells.iter().map(|(&word, &at)| (word, at)).collect();
        sorted.sort_unstable();
        let [scratch, _] = M::SCRATCH;
        for (word, at) in sorted {
            self.machine.load_cell(scratch, word);
            self.machine.store(at, scratch);
        }
        let [next_run, done] = [(); 2].map(|()| self.machine.label());
        self.machine.begin_runs(next_run, done);
        for (body, segment) in bodies.iter_mut().zip(segments) {
            self.segment(body, &segment.stores);
            // Close by, for jumps that do not reach far.
            if !body.detours.is_empty() {
                let behind = self.machine.label();
                self.machine.jump(behind);
                self.detours(body);
                self.machine.bind(behind);
            }
        }
        self.machine.end_runs(next_run, done);
        self.machine.leave();
        start
    }

    /// The loop of a segment over the vectors of a run.
    fn segment(&mut self, body: &mut Body<'_>, stores: &[Store]) {
        let next = self.machine.label();
        self.machine.begin_loop(next);
        let mut pending = stores;
        for id in 0..body.graph.nodes.len() as Id {
            if body.live[id as usize] {
                for vector in 0..M::FLIGHT {
                    self.node(body, id, vector);
                }
            }
            let count = pending
                .iter()
                .take_while(|store| store.behind == id)
                .count();
            let (now, later) = pending.split_at(count);
            for store in now {
                self.store_plane(body, store);
            }
            pending = later;
        }
        self.machine.end_loop(next, M::FLIGHT as i32 * M::VECTOR);
    }

    fn store_plane(&mut self, body: &Body<'_>, store: &Store) {
        self.machine.plane(store.word);
        for vector in 0..body.places.flight {
            let value = self.operand(body, store.value, vector);
            let register = self.machine.register(value, M::SCRATCH[0]);
            self.machine
                .store_plane(vector as i32 * M::VECTOR, register);
        }
    }

    /// Writes a routine: it finds what it is given in the caller's frame, leaves its result there, and keeps all registers but the free ones.
    pub(super) fn routine(&mut self, label: DynamicLabel, graph: &Graph, result: Id) {
        let live = graph.live([result]);
        let end = Store {
            behind: graph.nodes.len() as Id - 1,
            word: 0,
            value: result,
        };
        let places = Places::find(graph, &live, &[end], 1, self.registers);
        let kept: Vec<u8> = (0..self.registers)
            .filter(|register| places.registers >> register & 1 == 1)
            .collect();
        let slots = kept.len() as i32 * M::VECTOR;
        let size = slots + places.slots as i32 * M::VECTOR;
        let mut body = Body {
            graph,
            live,
            places,
            slots,
            params: size + M::RETURN,
            cells: &FxHashMap::default(),
            detours: Vec::new(),
        };
        self.machine.bind(label);
        self.machine.enter_routine(size);
        for (&register, index) in kept.iter().zip(0..) {
            self.machine.store(index * M::VECTOR, register);
        }
        for id in 0..graph.nodes.len() as Id {
            if body.live[id as usize] {
                self.node(&mut body, id, 0);
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
