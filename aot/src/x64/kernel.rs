//! Frames: kernels, which go over runs of packs, and routines for rare ways.

use super::{Body, Emitter, Operand, SCRATCH, VECTOR};
use crate::allocate::Places;
use crate::compute::{Computation, Store};
use crate::graph::{Code, Graph, Id};
use crate::template::Templates;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rustc_hash::FxHashMap;

/// Vectors that a kernel computes at once.
const FLIGHT: usize = 2;

impl Emitter {
    /// Writes the kernel of a stretch.
    pub(super) fn kernel(
        &mut self,
        segments: &[Computation],
        templates: &Templates,
    ) -> AssemblyOffset {
        // In the frame: what routines are given, the cells, the slots.
        let detours = segments.iter().flat_map(|segment| &segment.graph.detours);
        let given = detours.map(|detour| templates.routines[detour.routine as usize].0.params());
        let mut size = given.max().unwrap_or(0) as i32 * VECTOR;
        let mut cells = FxHashMap::default();
        for node in segments.iter().flat_map(|segment| &segment.graph.nodes) {
            if node.code == Code::Cell {
                cells.entry(node.a).or_insert_with(|| {
                    size += VECTOR;
                    size - VECTOR
                });
            }
        }
        let slots = size;
        let mut most = 0;
        let mut bodies: Vec<Body<'_>> = Vec::with_capacity(segments.len());
        for Computation { graph, stores } in segments {
            let live = graph.live(stores.iter().map(|store| store.value));
            let places = Places::find(graph, &live, stores, FLIGHT, self.registers);
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
        size += most as i32 * VECTOR;
        let start = self.offset();
        dynasm!(self.asm
            ; .arch x64
            ; push rbp
            ; mov rbp, rsp
            ; and rsp, -VECTOR
            ; sub rsp, size
        );
        let mut sorted: Vec<(u32, i32)> = cells.iter().map(|(&word, &at)| (word, at)).collect();
        sorted.sort_unstable();
        for (word, at) in sorted {
            self.reference(word);
            dynasm!(self.asm; .arch x64; vmovups Ry(SCRATCH[0]), [rax]);
            self.store(at, SCRATCH[0]);
        }
        let [next_run, done] = [(); 2].map(|()| self.asm.new_dynamic_label());
        dynasm!(self.asm
            ; .arch x64
            ; test rdx, rdx
            ; jz =>done
            ; =>next_run
            ; mov r10d, [rsi]
            ; mov r9d, [rsi + 4]
            ; imul r9, rcx
            ; add r9, r10
        );
        for (body, segment) in bodies.iter_mut().zip(segments) {
            self.segment(body, &segment.stores);
        }
        dynasm!(self.asm
            ; .arch x64
            ; add rsi, size_of::<adumbra_vm::native::Run>() as i32
            ; dec rdx
            ; jnz =>next_run
            ; =>done
            ; vzeroupper
            ; mov rsp, rbp
            ; pop rbp
            ; ret
        );
        for body in &mut bodies {
            self.detours(body);
        }
        start
    }

    /// The loop of a segment over the vectors of a run.
    fn segment(&mut self, body: &mut Body<'_>, stores: &[Store]) {
        let next = self.asm.new_dynamic_label();
        dynasm!(self.asm
            ; .arch x64
            ; mov r8, r10
            ; .align 16
            ; =>next
        );
        let mut pending = stores;
        for id in 0..body.graph.nodes.len() as Id {
            if body.live[id as usize] {
                for vector in 0..FLIGHT {
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
        let step = FLIGHT as i32 * VECTOR;
        dynasm!(self.asm
            ; .arch x64
            ; add r8, step
            ; cmp r8, r9
            ; jb =>next
        );
    }

    fn store_plane(&mut self, body: &Body<'_>, store: &Store) {
        self.reference(store.word);
        for vector in 0..body.places.flight {
            let value = self.operand(body, store.value, vector);
            let register = self.register(value, SCRATCH[0]);
            let at = vector as i32 * VECTOR;
            dynasm!(self.asm; .arch x64; vmovups [rax + r8 + at], Ry(register));
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
        let slots = kept.len() as i32 * VECTOR;
        let size = slots + places.slots as i32 * VECTOR;
        let mut body = Body {
            graph,
            live,
            places,
            slots,
            // Behind the frame stands where to return to.
            params: size + 8,
            cells: &FxHashMap::default(),
            detours: Vec::new(),
        };
        dynasm!(self.asm; .arch x64; =>label; sub rsp, size);
        for (&register, index) in kept.iter().zip(0..) {
            self.store(index * VECTOR, register);
        }
        for id in 0..graph.nodes.len() as Id {
            if body.live[id as usize] {
                self.node(&mut body, id, 0);
            }
        }
        let value = self.operand(&body, result, 0);
        let value = self.register(value, SCRATCH[0]);
        self.store(body.params, value);
        for (&register, index) in kept.iter().zip(0..) {
            self.load(register, Operand::Frame(index * VECTOR));
        }
        dynasm!(self.asm; .arch x64; add rsp, size; ret);
    }
}
