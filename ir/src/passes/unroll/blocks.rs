//! Unrolling to blocks: a loop stays, and has n iterations one after the other in its region.
//!
//! Each but the last goes on to the next where it continued, with a
//! [`NextIteration`](InstKind::NextIteration). If it continues inside of nested regions, it is a
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
    fn size(&self, id: RegionId) -> usize {
        let mut open = vec![id];
        let mut size = 0;
        while let Some(id) = open.pop() {
            let insts = &self.function.region(id).insts;
            size += insts.len();
            open.extend(insts.iter().flat_map(|inst| inst.kind.regions()));
        }
        size
    }

    /// Whether a loop is continued only by its own terminator.
    fn continues_at_end(&self, body: RegionId) -> bool {
        let mut open: Vec<RegionId> = Vec::new();
        let insts = &self.function.region(body).insts;
        open.extend(insts.iter().flat_map(|inst| inst.kind.regions()));
        while let Some(id) = open.pop() {
            if self.function.terminator(id).kind == InstKind::Continue(body) {
                return false;
            }
            let insts = &self.function.region(id).insts;
            open.extend(insts.iter().flat_map(|inst| inst.kind.regions()));
        }
        self.function.terminator(body).kind == InstKind::Continue(body)
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
                false => self.block(body, &params, &mut out),
            };
            out.push(Inst {
                kind: InstKind::NextIteration,
                args: Args::new(),
                results: Results::NONE,
                span: end,
            });
            self.carry(&params, &carried);
        }
        for inst in &insts {
            let copy = self.copy(inst);
            out.push(copy);
        }
        self.function.regions[body.index()].insts = out;
        // What comes after them is in terms of the loop's own values again.
        self.carry(&params, &params);
    }

    /// Appends an iteration as a block. Returns the loop-carried values after it.
    fn block(&mut self, body: RegionId, params: &[ValueId], out: &mut Vec<Inst>) -> Args {
        let block = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region::default());
        self.regions.push(block);
        self.seen.push(None);
        self.next_is = Some((body, block));
        let insts = self.function.region(body).insts.clone();
        let mut copies: Vec<Inst> = insts.iter().map(|inst| self.copy(inst)).collect();
        self.next_is = None;
        let end = copies.last_mut().expect("a region ends");
        if end.kind == InstKind::Break(block) {
            end.kind = InstKind::Yield;
        }
        let span = end.span;
        self.function.regions[block.index()].insts = copies;
        let first = ValueId(self.function.values.len() as u32);
        for &param in params {
            // The copy is a value of its own: the parameter itself is carried on.
            let carried = self.copies[param.index()];
            self.copy_value(param);
            self.copies[param.index()] = carried;
        }
        let results = Results {
            first,
            count: params.len() as u32,
        };
        out.push(Inst {
            kind: InstKind::Block(block),
            args: Args::new(),
            results,
            span,
        });
        results.iter().collect()
    }
}
