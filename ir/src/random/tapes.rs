//! Random uses of tapes: records that are kept and taken again.

use super::RECORDS;
use super::function::Maker;
use crate::module::*;
use crate::types::Scalar;
use Scalar::{F32, I32};
use adumbra_ops::Op;

impl Maker<'_> {
    pub(super) fn tape(&mut self) -> (TapeId, usize) {
        (
            TapeId(self.random.pick(&[0, 1, 7])),
            self.random.below(RECORDS.len()),
        )
    }

    /// A record that is taken where it was kept; rarely it stays on its tape, or is taken twice.
    pub(super) fn kept(&mut self) {
        let (tape, record) = self.tape();
        let id = RecordId(record as u32);
        let (keep, take) = (InstKind::Keep(tape, id), InstKind::Take(tape, id));
        let fields = RECORDS[record].len();
        self.described(keep, fields);
        if self.random.one_in(8) {
            return;
        }
        self.op();
        let last = self.value(F32);
        self.described(take.clone(), 0);
        self.visible.push(last);
        if self.random.one_in(24) {
            self.described(take, 0);
        }
    }

    /// A loop that keeps a record in each iteration, and one that takes them; rarely it takes one
    /// that was not kept.
    pub(super) fn taped(&mut self, depth: usize) {
        let (tape, record) = self.tape();
        let id = RecordId(record as u32);
        let (keep, take) = (InstKind::Keep(tape, id), InstKind::Take(tape, id));
        let fields = RECORDS[record].len();
        let span = self.span();
        let [any, most] = [self.value(I32), self.b.int(7, span)];
        let mut count = self.b.op(Op::And, &[any, most], span);
        let carried = self.value(F32);
        let first = self.sweep(depth, count, carried, |m| drop(m.described(keep, fields)));
        if self.random.one_in(24) {
            let one = self.b.int(1, span);
            count = self.b.op(Op::IAdd, &[count, one], span);
        }
        self.sweep(depth, count, first, |m| drop(m.described(take, 0)));
    }

    /// A loop of `count` iterations that begin alike, and carry a float, which is the result.
    pub(super) fn sweep(
        &mut self,
        depth: usize,
        count: ValueId,
        carried: ValueId,
        each: impl FnOnce(&mut Self),
    ) -> ValueId {
        let span = self.span();
        let region = self.region(|m, region| {
            let params = [F32, I32].map(|ty| m.b.param(ty, span));
            m.visible.extend(params);
            let zero = m.b.int(0, span);
            let done = m.b.op(Op::ILe, &[params[1], zero], span);
            let leave = m.region(|m, _| m.b.terminate(InstKind::Break(region), [params[0]], span));
            let stay = m.region(|m, _| m.b.terminate(InstKind::Yield, [], span));
            m.b.inst(InstKind::If(leave, stay), [done], [], span);
            each(m);
            m.statements(depth);
            let one = m.b.int(1, span);
            let next = m.b.op(Op::ISub, &[params[1], one], span);
            let carried = m.value(F32);
            m.b.terminate(InstKind::Continue(region), [carried, next], span);
        });
        self.keep(InstKind::Loop(region), &[carried, count], &[F32])[0]
    }
}
