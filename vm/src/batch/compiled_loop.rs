//! Loops by machine code: who enters, who comes out where, and what it takes from the budgets.

use super::active::VectorRun;
use super::chunk::{Chunk, RunContext, Site};
use super::min_pc::SchedulePosition;
use super::planes::OperandRef;
use crate::native::{KERNEL_PADDING, KERNEL_WIDTH, LIBCALLS, LoopState};
use adumbra_ir::host::CANCEL_PERIOD;

/// Turns of loops that points take before the engine looks after them: so often the host is asked for patience.
const MAX_TURNS: u64 = CANCEL_PERIOD;

/// Room for what code is told and tells.
pub(super) struct LoopBuffers {
    active: Box<[u16]>,
    ways: Box<[u16]>,
    steps: Box<[u32]>,
}

impl LoopBuffers {
    /// For so many points, and at most so many ways.
    pub(super) fn new(points: usize, ways: usize) -> LoopBuffers {
        let points = if ways == 0 {
            0
        } else {
            points.next_multiple_of(KERNEL_PADDING)
        };
        let words = points / KERNEL_WIDTH;
        LoopBuffers {
            active: vec![0; words].into_boxed_slice(),
            ways: vec![0; words * ways].into_boxed_slice(),
            steps: vec![0; points].into_boxed_slice(),
        }
    }

    pub(super) fn heap(&self) -> usize {
        let LoopBuffers {
            active,
            ways,
            steps,
        } = self;
        size_of_val(&active[..]) + size_of_val(&ways[..]) + size_of_val(&steps[..])
    }
}

impl Chunk {
    /// The group runs a loop by its code, as far as no budget can end, and waits behind it, or before a block of it. `false` if it has to go by the
    /// steps.
    ///
    /// # Safety
    /// The operands are those of the region's step.
    pub(super) unsafe fn run_compiled_loop(
        &mut self,
        region: u32,
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) -> bool {
        let info = &self.memory.loops[region as usize];
        // Code counts the steps of a point in 32 bits.
        let most = MAX_TURNS.min(u64::from(u32::MAX) / info.iteration_steps);
        let turns = (self.account.left() / info.iteration_steps).min(most);
        // Code runs past those who wait before one of its blocks, and they would lose what only those behind it keep.
        let end = SchedulePosition::new(self.depth, info.end as usize);
        let is_occupied = self.inactive.next().is_some_and(|next| next < end);
        let Some(kernel) = self.memory.kernel(info.unit) else {
            return false;
        };
        // While all go together, steps are as good, and what one pack computes does not wait for its own last turn.
        if self.active.is_all_points() || is_occupied || turns == 0 || self.is_too_deep(info.open) {
            return false;
        }
        let lanes = self.active.vector_width();
        let LoopBuffers {
            active,
            ways,
            steps,
        } = &mut self.loop_buffers;
        let words = lanes / KERNEL_WIDTH;
        active.fill(0);
        for (pack, &bits) in self.active.masks().iter().enumerate() {
            for word in 0..words {
                active[pack * words + word] = (bits >> (word * KERNEL_WIDTH)) as u16;
            }
        }
        let stride = active.len();
        let mut points = LoopState {
            active: active.as_ptr(),
            edges: ways.as_mut_ptr(),
            stride,
            steps: steps.as_mut_ptr(),
            iterations: turns,
        };
        let run = VectorRun {
            vectors: self.active.vectors() as u32,
            ..VectorRun::FIRST
        };
        // SAFETY: the operands are asked of the caller; there is a set of all points for each way, and a number of steps for each, up to a multiple of `KERNEL_PADDING` (`LoopBuffers`);
        // planes, the host's too, reach as far (`ChunkMemory::at_once`). Nobody waits inside, and those behind have what they keep.
        unsafe {
            kernel(
                refs,
                &raw const run,
                1,
                lanes * size_of::<u32>(),
                &raw mut points,
                &LIBCALLS,
            );
        }
        let site = Site::Instruction(self.memory.loops[region as usize].position);
        let exchange = std::mem::replace(&mut self.loop_buffers, LoopBuffers::new(0, 0));
        self.take_steps_by_point(|point| u64::from(exchange.steps[point]), context, site);
        for way in 0..self.memory.loops[region as usize].edges.len() {
            let set = &exchange.ways[way * stride..][..stride];
            let mut found = std::mem::take(&mut self.test_masks);
            found.fill(0);
            for (pack, (found, &active)) in found.iter_mut().zip(self.active.masks()).enumerate() {
                if active != 0 {
                    for word in 0..words {
                        *found |= u32::from(set[pack * words + word]) << (word * KERNEL_WIDTH);
                    }
                    // A host without patience has stopped the others.
                    *found &= active;
                }
            }
            if found.iter().any(|&bits| bits != 0) {
                let step = self.memory.loops[region as usize].edges[way];
                self.diverge(&found, step as usize);
            }
            self.test_masks = found;
        }
        self.loop_buffers = exchange;
        true
    }
}
