//! Ifs in the reverse sweep, and the sites by which control left what is reversed.

use super::super::plan::Kept;
use super::super::shape::{Shape, Target, inside, within};
use super::Transpose;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

impl Transpose<'_> {
    /// Writes an if whose arms add to adjoints; those of values inside of it are dropped.
    pub(super) fn branch(
        &mut self,
        condition: ValueId,
        span: Span,
        inner: impl Fn(ValueId) -> bool,
        then: impl FnOnce(&mut Self),
        other: impl FnOnce(&mut Self),
    ) {
        let (mark, repeated) = (self.log.len(), self.repeated_log.len());
        let first = self.builder.open_region();
        then(self);
        let mut then = self.roll_back(mark);
        self.forget_repeated(repeated);
        self.builder.pause_region();
        let second = self.builder.open_region();
        other(self);
        let mut other = self.roll_back(mark);
        self.forget_repeated(repeated);
        self.builder.pause_region();

        then.retain(|&value, _| !inner(value));
        other.retain(|&value, _| !inner(value));
        let mut changed: Vec<ValueId> = then.keys().chain(other.keys()).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        for (region, adjoints) in [(first, &then), (second, &other)] {
            self.builder.resume_region(region);
            let mut yielded = Args::new();
            for value in &changed {
                let now = adjoints.get(value).copied();
                let now = now.unwrap_or(self.adjoints[value.index()]);
                yielded.push(match now {
                    Some(adjoint) => adjoint,
                    None => self.builder.float(0.0, span),
                });
            }
            self.builder.terminate(InstKind::Yield, yielded, span);
            self.builder.close_region();
        }
        let types = changed.iter().map(|_| Scalar::F32);
        let kind = InstKind::If(first, second);
        let results = self.builder.inst(kind, [condition], types, span);
        for (&value, sum) in changed.iter().zip(results.iter()) {
            self.set_adjoint(value, Some(sum));
        }
    }

    /// The sites by which control can have left a nested region, and the one that it took.
    pub(super) fn sites_of(
        &mut self,
        region: RegionId,
        possible: &[u32],
        exit: Option<ValueId>,
        span: Span,
    ) -> (Vec<u32>, Option<ValueId>) {
        let ends = self.shape.ends_of(region);
        let range = self.shape.sites(region);
        let own = self.plan.id(Kept::Exit(region));
        let own = own.and_then(|id| self.visible.get(&id).copied());
        self.chosen(&ends, range, own, possible, exit, span)
    }

    pub(super) fn chosen(
        &mut self,
        ends: &[u32],
        range: (u32, u32),
        own: Option<ValueId>,
        possible: &[u32],
        exit: Option<ValueId>,
        span: Span,
    ) -> (Vec<u32>, Option<ValueId>) {
        let sites = inside(possible, ends, range);
        let leaves = !within(possible, range).is_empty();
        let stays = !ends.is_empty() && possible.last() > Some(&range.1);
        let exit = match (sites.len(), leaves, stays) {
            (0 | 1, ..) => None,
            (_, false, _) => own,
            (_, true, false) => exit,
            (_, true, true) => {
                let exit = exit.expect("several sites are possible");
                let own = match own {
                    Some(own) => own,
                    None => self.builder.int(ends[0] as i32, span),
                };
                let last = self.builder.int(range.1 as i32, span);
                let left = self.builder.op(Op::ILe, &[exit, last], span);
                Some(self.builder.op(Op::ISel, &[left, exit, own], span))
            }
        };
        (sites, exit)
    }

    /// Reverses an if whose arms control can have left by these sites.
    pub(super) fn reversed_if(
        &mut self,
        inst: &Inst,
        then: RegionId,
        other: RegionId,
        possible: &[u32],
        exit: Option<ValueId>,
    ) {
        if !self.plan.is_touched(then) && !self.plan.is_touched(other) {
            return;
        }
        let span = inst.span;
        let results = self.results(inst);
        let shape = self.shape;
        let arm = |this: &mut Self, arm: RegionId| {
            this.seed(Target::Yield(arm), results.clone());
            let ends = shape.ends(Target::Yield(arm)).to_vec();
            let range = shape.sites(arm);
            let ahead = shape.ahead(arm, other, possible);
            let (sites, exit) = this.chosen(&ends, range, None, &ahead, exit, span);
            this.region(arm, &sites, exit);
        };
        // Where control cannot have come by one arm, it came by the other.
        let can_end = |arm: RegionId| !shape.arm_sites(arm, other, possible).is_empty();
        match (can_end(then), can_end(other)) {
            (true, true) => {}
            (true, false) => return arm(self, then),
            (false, _) => return arm(self, other),
        }
        let condition = self.value(inst.args[0], span);
        let inner = |value: ValueId| {
            let region = shape.region_of(value);
            shape.is_within(region, then) || shape.is_within(region, other)
        };
        self.branch(
            condition,
            span,
            inner,
            |this| arm(this, then),
            |this| arm(this, other),
        );
    }
}

/// Whether a value is defined inside of regions of these instructions.
pub(super) fn is_nested(
    shape: &Shape,
    function: &Function,
    region: RegionId,
    range: std::ops::Range<usize>,
    value: ValueId,
) -> bool {
    let mut at = shape.region_of(value);
    while let Some(parent) = shape.parent(at) {
        if parent == region {
            let insts = &function.region(region).insts[range];
            return insts
                .iter()
                .any(|inst| inst.kind.regions().any(|r| r == at));
        }
        at = parent;
    }
    false
}
