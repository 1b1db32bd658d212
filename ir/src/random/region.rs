//! Random regions: branches, blocks and counted loops.

use super::function::{Maker, Target};
use crate::module::*;
use crate::types::Scalar;
use Scalar::{Bool, I32};
use adumbra_ops::Op;

impl Maker<'_> {
    /// Ends a region that yields these types: mostly so, else by a jump further out.
    pub(super) fn end(&mut self, yields: &[Scalar]) {
        let span = self.span();
        let (kind, types) = match self.random.below(12) {
            0 if !self.targets.is_empty() => {
                let target = &self.targets[self.random.below(self.targets.len())];
                (InstKind::Break(target.region), target.results.clone())
            }
            1 => (
                InstKind::Return,
                self.signatures[self.index].results.clone(),
            ),
            _ => (InstKind::Yield, yields.to_vec()),
        };
        let args = self.values(&types);
        self.b.terminate(kind, args, span);
    }

    /// Fills a region, which sees the values visible here and hides its own.
    pub(super) fn region(&mut self, fill: impl FnOnce(&mut Self, RegionId)) -> RegionId {
        let visible = self.visible.len();
        let region = self.b.open_region();
        fill(self, region);
        self.b.close_region();
        self.visible.truncate(visible);
        region
    }

    pub(super) fn branch(&mut self, depth: usize) {
        let condition = self.value(Bool);
        let results = self.types(3);
        let mut arms = [RegionId(0); 2];
        for arm in &mut arms {
            *arm = self.region(|m, _| {
                m.statements(depth);
                m.end(&results);
            });
        }
        self.keep(InstKind::If(arms[0], arms[1]), &[condition], &results);
    }

    pub(super) fn block(&mut self, depth: usize) {
        let results = self.types(2);
        let region = self.region(|m, region| {
            m.targets.push(Target {
                region,
                results: results.clone(),
            });
            m.statements(depth);
            m.end(&results);
            m.targets.pop();
        });
        self.keep(InstKind::Block(region), &[], &results);
    }

    /// A loop with a counter from at most 4 down to 0, and other things that it carries.
    pub(super) fn counted(&mut self, depth: usize) {
        let results = self.types(2);
        let mut carried = self.types(3);
        carried.push(I32);
        let span = self.span();
        // Most loops have as many iterations as the point decides; a loop with a constant count is
        // unrolled.
        let count = match self.random.one_in(4) {
            true => {
                let count = self.random.below(5) as i32;
                self.b.int(count, span)
            }
            false => {
                let [any, most] = [self.value(I32), self.b.int(3, span)];
                self.b.op(Op::And, &[any, most], span)
            }
        };
        let mut initial = self.values(&carried[..carried.len() - 1]);
        initial.push(count);
        let region = self.region(|m, region| {
            let params: Vec<ValueId> = carried.iter().map(|&ty| m.b.param(ty, span)).collect();
            m.visible.extend(&params);
            let counter = params[params.len() - 1];
            let zero = m.b.int(0, span);
            let done = m.b.op(Op::ILe, &[counter, zero], span);
            let leave = m.region(|m, _| {
                let args = m.values(&results);
                m.b.terminate(InstKind::Break(region), args, span);
            });
            let stay = m.region(|m, _| m.b.terminate(InstKind::Yield, [], span));
            m.b.inst(InstKind::If(leave, stay), [done], [], span);
            m.targets.push(Target {
                region,
                results: results.clone(),
            });
            m.statements(depth);
            m.targets.pop();
            let one = m.b.int(1, span);
            let next = m.b.op(Op::ISub, &[counter, one], span);
            let mut args = m.values(&carried[..carried.len() - 1]);
            args.push(next);
            m.b.terminate(InstKind::Continue(region), args, span);
        });
        self.keep(InstKind::Loop(region), &initial, &results);
    }
}
