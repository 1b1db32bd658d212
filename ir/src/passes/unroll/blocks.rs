//! Unrolling to blocks: a loop stays, and has n iterations one after the other in its region.
//!
//! Each but the last goes on to the next where it continued, with a
//! [`TakeStep`](InstKind::TakeStep). If it continues inside of nested regions, it is a
//! block that is left there. Breaks leave the loop as before.

use super::{HintKind, Unroller};
use crate::module::*;
use crate::span::Span;

impl Unroller<'_> {
    /// Unrolls the loops among a region's instructions for which that is asked. Returns where the
    /// first one was asked for that is beyond the capacity.
    pub(super) fn blocks(&mut self, id: RegionId) -> Option<Span> {
        let loops = self.function.region(id).insts.iter();
        let loops = loops.filter_map(|inst| match inst.kind {
            InstKind::Loop(body) => {
                let mut hints = self.hints.of_loop(inst.span);
                hints.find_map(|hint| match hint.kind {
                    HintKind::UnrollBlocks(count) => Some((body, count as usize, hint.span)),
                    _ => None,
                })
            }
            _ => None,
        });
        let loops: Vec<(RegionId, usize, Span)> = loops.collect();
        for (body, count, asked) in loops {
            let added = self.size(body).saturating_mul(count - 1);
            if added > *self.capacity {
                return Some(asked);
            }
            *self.capacity -= added;
            if count > 1 {
                self.unroll_block(body, count);
            }
        }
        None
    }

    /// The number of instructions of a region, with those of nested ones.
    pub(super) fn size(&self, id: RegionId) -> usize {
        let mut size = 0;
        let insts = |id| self.function.region(id).insts.len();
        self.function
            .for_each_region_within(id, |id| size += insts(id));
        size
    }

    /// Whether a loop is continued only by its own terminator.
    pub(super) fn continues_at_end(&self, body: RegionId) -> bool {
        let mut continues = Vec::new();
        self.function.for_each_region_within(body, |id| {
            if self.function.terminator(id).kind == InstKind::Continue(body) {
                continues.push(id);
            }
        });
        continues == [body]
    }

    fn unroll_block(&mut self, body: RegionId, count: usize) {
        self.any = true;
        let Region { params, insts } = self.function.region(body).clone();
        let is_straight = self.continues_at_end(body);
        let end = insts.last().expect("a region ends").span;
        self.carry(&params, &params);
        let mut out = Vec::with_capacity(insts.len() * count);
        for _ in 1..count {
            let carried = match is_straight {
                true => self.copy_list(body, &mut out),
                false => self.block(body, &insts, &params, &mut out),
            };
            out.push(Inst::plain(InstKind::TakeStep, end));
            self.carry(&params, &carried);
        }
        insts.iter().for_each(|inst| self.copy(inst, &mut out));
        self.function.regions[body.index()].insts = out;
        // What comes after them is in terms of the loop's own values again.
        self.carry(&params, &params);
    }

    /// Appends an iteration as a block: copies of these instructions, which continue what is copied
    /// as `body`. Returns the loop-carried values after it.
    pub(super) fn block(
        &mut self,
        body: RegionId,
        insts: &[Inst],
        params: &[ValueId],
        out: &mut Vec<Inst>,
    ) -> Args {
        let block = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region::default());
        let mut copies = Vec::with_capacity(insts.len());
        insts.iter().for_each(|inst| self.copy(inst, &mut copies));
        self.function.regions[block.index()].insts = copies;
        // What continued the loop leaves the block.
        for (id, region) in self
            .function
            .regions
            .iter_mut()
            .enumerate()
            .skip(block.index())
        {
            let end = region.insts.last_mut().expect("a region ends");
            if end.kind == InstKind::Continue(body) {
                end.kind = match id == block.index() {
                    true => InstKind::Yield,
                    false => InstKind::Break(block),
                };
            }
        }
        let results = Results {
            first: ValueId(self.function.values.len() as u32),
            count: params.len() as u32,
        };
        for &param in params {
            // The parameter itself is carried on.
            let value = *self.function.value(param);
            self.function.values.push(value);
        }
        self.extend();
        out.push(Inst {
            kind: InstKind::Block(block),
            args: Args::new(),
            results,
            span: insts.last().expect("a region ends").span,
        });
        results.iter().collect()
    }
}
