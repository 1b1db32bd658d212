//! Compiled loops: the points that enter, the exits that they take, and the steps that they use.

use super::active::VectorRun;
use super::chunk::{Chunk, RunContext, Site};
use super::min_pc::SchedulePosition;
use super::planes::OperandRef;
use crate::native::{KERNEL_PADDING, KERNEL_WIDTH, LIBCALLS, LoopState};

/// Buffers that the machine code reads and writes.
pub(super) struct LoopBuffers {
    active: Box<[u16]>,
    edges: Box<[u16]>,
    steps: Box<[u32]>,
}

impl LoopBuffers {
    /// Allocates for `points` points and at most `ways` edges.
    pub(super) fn new(points: usize, edges: usize) -> LoopBuffers {
        let points = if edges == 0 {
            0
        } else {
            points.next_multiple_of(KERNEL_PADDING)
        };
        let words = points / KERNEL_WIDTH;
        LoopBuffers {
            active: vec![0; words].into_boxed_slice(),
            edges: vec![0; words * edges].into_boxed_slice(),
            steps: vec![0; points].into_boxed_slice(),
        }
    }

    pub(super) fn heap(&self) -> usize {
        let LoopBuffers {
            active,
            edges,
            steps,
        } = self;
        size_of_val(&active[..]) + size_of_val(&edges[..]) + size_of_val(&steps[..])
    }
}

impl Chunk {
    /// Runs a loop by its code, as far as no budget can end. Its points become inactive after it,
    /// or before one of its blocks. Returns `false` if its batch instructions have to run instead.
    ///
    /// # Safety
    /// The operands are those of the loop's instruction.
    pub(super) unsafe fn run_compiled_loop(
        &mut self,
        index: u32,
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) -> bool {
        let info = &self.memory.loops[index as usize];
        // The engine regains control as often as the host is asked about cancellation. So the code
        // can count the steps of a point in 32 bits.
        let most = self.query_period.steps().div_ceil(info.iteration_steps);
        let iterations = (self.account.left() / info.iteration_steps).min(most);
        // The code passes points that are inactive before one of its blocks. They would lose the
        // registers that only points after the loop do not keep.
        let end = SchedulePosition::new(self.depth, info.end as usize);
        let is_occupied = self.inactive.next().is_some_and(|next| next < end);
        let Some(kernel) = self.memory.kernel(info.unit) else {
            return false;
        };
        // While all points run together, batch instructions are as fast, and the vectors do not
        // wait for each other's last iteration.
        if self.active.is_all_points()
            || is_occupied
            || iterations == 0
            || self.is_too_deep(info.open)
        {
            return false;
        }
        let lanes = self.active.vector_width();
        let LoopBuffers {
            active,
            edges,
            steps,
        } = &mut self.loop_buffers;
        let words = lanes / KERNEL_WIDTH;
        active.fill(0);
        for (vector, &bits) in self.active.masks().iter().enumerate() {
            for word in 0..words {
                active[vector * words + word] = (bits >> (word * KERNEL_WIDTH)) as u16;
            }
        }
        let stride = active.len();
        let mut points = LoopState {
            active: active.as_ptr(),
            edges: edges.as_mut_ptr(),
            stride,
            steps: steps.as_mut_ptr(),
            iterations,
        };
        let run = VectorRun {
            vectors: self.active.vectors() as u32,
            ..VectorRun::FIRST
        };
        // SAFETY: the caller guarantees the operands. There is a set of all points for each edge,
        // and a number of steps for each point, up to a multiple of `KERNEL_PADDING`
        // (`LoopBuffers`). Planes, the host's too, reach as far (`ChunkMemory::at_once`). No
        // inactive point is inside, and those after the loop keep their registers.
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
        let site = Site::Instruction(self.memory.loops[index as usize].position);
        let loop_buffers = std::mem::replace(&mut self.loop_buffers, LoopBuffers::new(0, 0));
        self.take_steps_by_point(|point| u64::from(loop_buffers.steps[point]), context, site);
        for edge in 0..self.memory.loops[index as usize].edges.len() {
            let set = &loop_buffers.edges[edge * stride..][..stride];
            let mut found = std::mem::take(&mut self.test_masks);
            found.fill(0);
            for (vector, (found, &active)) in found.iter_mut().zip(self.active.masks()).enumerate()
            {
                if active != 0 {
                    for word in 0..words {
                        *found |= u32::from(set[vector * words + word]) << (word * KERNEL_WIDTH);
                    }
                    // A host that cancels has stopped the other points.
                    *found &= active;
                }
            }
            if found.iter().any(|&bits| bits != 0) {
                let target = self.memory.loops[index as usize].edges[edge];
                self.diverge(&found, target as usize);
            }
            self.test_masks = found;
        }
        self.loop_buffers = loop_buffers;
        true
    }
}
