//! Loops by machine code: who enters, who comes out where, and what it takes from the budgets.

use super::chunk::{Chunk, Context, Site};
use super::group::Run;
use super::planes::Ref;
use super::waiting::Position;
use crate::native::{AT_ONCE, CALLEES, Points, REACH};
use adumbra_ir::host::CANCEL_PERIOD;

/// Turns of loops that points take before the engine looks after them: so often the host is asked for patience.
const MAX_TURNS: u64 = CANCEL_PERIOD;

/// Room for what code is told and tells.
pub(super) struct Exchange {
    active: Box<[u16]>,
    ways: Box<[u16]>,
    steps: Box<[u32]>,
}

impl Exchange {
    /// For so many points, and at most so many ways.
    pub(super) fn new(points: usize, ways: usize) -> Exchange {
        let points = if ways == 0 {
            0
        } else {
            points.next_multiple_of(REACH)
        };
        let words = points / AT_ONCE;
        Exchange {
            active: vec![0; words].into_boxed_slice(),
            ways: vec![0; words * ways].into_boxed_slice(),
            steps: vec![0; points].into_boxed_slice(),
        }
    }

    pub(super) fn heap(&self) -> usize {
        let Exchange {
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
    pub(super) unsafe fn run_region(
        &mut self,
        region: u32,
        refs: *const Ref,
        context: &mut Context<'_>,
    ) -> bool {
        let info = &self.memory.regions[region as usize];
        // Code counts the steps of a point in 32 bits.
        let most = MAX_TURNS.min(u64::from(u32::MAX) / info.turn);
        let turns = (self.account.left() / info.turn).min(most);
        // Code runs past those who wait before one of its blocks, and they would lose what only those behind it keep.
        let end = Position::new(self.depth, info.end as usize);
        let is_occupied = self.waiting.next().is_some_and(|next| next < end);
        let Some(kernel) = self.memory.kernel(info.unit) else {
            return false;
        };
        // While all go together, steps are as good, and what one pack computes does not wait for its own last turn.
        if self.group.is_everyone() || is_occupied || turns == 0 || self.is_too_deep(info.open) {
            return false;
        }
        let lanes = self.group.lanes();
        let Exchange {
            active,
            ways,
            steps,
        } = &mut self.exchange;
        let words = lanes / AT_ONCE;
        active.fill(0);
        for (pack, &bits) in self.group.active().iter().enumerate() {
            for word in 0..words {
                active[pack * words + word] = (bits >> (word * AT_ONCE)) as u16;
            }
        }
        let stride = active.len();
        let mut points = Points {
            active: active.as_ptr(),
            ways: ways.as_mut_ptr(),
            stride,
            steps: steps.as_mut_ptr(),
            turns,
        };
        let run = Run {
            packs: self.group.packs() as u32,
            ..Run::FIRST
        };
        // SAFETY: the operands are asked of the caller; there is a set of all points for each way, and a number of steps for each, up to a multiple of `REACH` (`Exchange`);
        // planes, the host's too, reach as far (`Memory::at_once`). Nobody waits inside, and those behind have what they keep.
        unsafe {
            kernel(
                refs,
                &raw const run,
                1,
                lanes * size_of::<u32>(),
                &raw mut points,
                &CALLEES,
            );
        }
        let site = Site::Instruction(self.memory.regions[region as usize].position);
        let exchange = std::mem::replace(&mut self.exchange, Exchange::new(0, 0));
        self.take_each(|point| u64::from(exchange.steps[point]), context, site);
        for way in 0..self.memory.regions[region as usize].ways.len() {
            let set = &exchange.ways[way * stride..][..stride];
            let mut found = std::mem::take(&mut self.found);
            found.fill(0);
            for (pack, (found, &active)) in found.iter_mut().zip(self.group.active()).enumerate() {
                if active != 0 {
                    for word in 0..words {
                        *found |= u32::from(set[pack * words + word]) << (word * AT_ONCE);
                    }
                    // A host without patience has stopped the others.
                    *found &= active;
                }
            }
            if found.iter().any(|&bits| bits != 0) {
                let step = self.memory.regions[region as usize].ways[way];
                self.part(&found, step as usize);
            }
            self.found = found;
        }
        self.exchange = exchange;
        true
    }
}
