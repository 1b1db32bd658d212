//! Loops in the reverse sweep: the last iteration, which a break left, and then the complete ones,
//! whose records are on the tape.

use super::super::plan::Kept;
use super::super::shape::Target;
use super::super::tape;
use super::Transpose;
use crate::instruction::Effect;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

impl Transpose<'_> {
    /// Reverses a loop that control can have left by these sites; `exit` is the one, if there are
    /// several.
    pub(super) fn reversed_loop(
        &mut self,
        inst: &Inst,
        body: RegionId,
        possible: &[u32],
        exit: Option<ValueId>,
    ) {
        let (plan, shape, linear) = (self.plan, self.shape, self.linear);
        let span = inst.span;
        let results = self.results(inst);
        self.seed(Target::Break(body), results);
        let count = plan.id(Kept::Count(body)).map(|id| self.visible[&id]);
        let params = &linear.function.region(body).params;

        // The last iteration, which a break left.
        for &value in plan.repeated(body) {
            // Not all are read for every way that leads here.
            self.reachable_value(value, span);
        }
        let repeated = self.repeated_log.len();
        let (sites, exit) = self.sites_of(body, possible, exit, span);
        for &id in plan.last(body) {
            // Not all are read for every way that leads here.
            let last = plan.id(Kept::Last(body, id));
            if let Some(&value) = last.and_then(|last| self.visible.get(&last)) {
                self.show(id, value);
            }
        }
        if let Some(count) = count {
            self.iterations.insert(body, count);
        }
        self.region(body, &sites, exit);
        let mut carried: Vec<Option<ValueId>> =
            params.iter().map(|p| self.adjoints[p.index()]).collect();
        self.drop_inner(body);
        self.forget_repeated(repeated);

        let continues = shape.ends(Target::Continue(body)).to_vec();
        if let (Some(count), false) = (count, continues.is_empty()) {
            let active: Vec<usize> = (0..params.len())
                .filter(|&i| linear.active.value(params[i]))
                .collect();
            let outer = self.used_outside(body);
            let mut begin = Args::from_slice(&[count]);
            for &i in &active {
                let adjoint = carried[i];
                begin.push(adjoint.unwrap_or_else(|| self.builder.float(0.0, span)));
            }
            for &value in &outer {
                begin.push(self.adjoint_or_zero(value, span));
            }

            let region = self.builder.open_region();
            let mark = self.log.len();
            let left = self.builder.param(Scalar::I32, span);
            let sums: Vec<ValueId> = (0..active.len() + outer.len())
                .map(|_| self.builder.param(Scalar::F32, span))
                .collect();
            let zero = self.builder.int(0, span);
            let more = self.builder.op(Op::ILt, &[zero, left], span);
            self.builder.leave_unless(more, region, &sums, span);
            let one = self.builder.int(1, span);
            let iteration = self.builder.op(Op::ISub, &[left, one], span);
            let exit = self.take(body, continues.len() > 1, span);
            self.iterations.insert(body, iteration);
            let mut seeds = vec![None; params.len()];
            for (&i, &sum) in active.iter().zip(&sums) {
                seeds[i] = Some(sum);
            }
            self.seed(Target::Continue(body), seeds);
            for (&value, &sum) in outer.iter().zip(&sums[active.len()..]) {
                self.set_adjoint(value, Some(sum));
            }
            self.region(body, &continues, exit);
            let mut next = Args::from_slice(&[iteration]);
            for &i in &active {
                next.push(self.adjoint_or_zero(params[i], span));
            }
            for &value in &outer {
                next.push(self.adjoint_or_zero(value, span));
            }
            self.builder
                .terminate(InstKind::Continue(region), next, span);
            self.builder.close_region();
            self.roll_back(mark);
            self.forget_repeated(repeated);
            let types = sums.iter().map(|_| Scalar::F32);
            let kind = InstKind::Loop(region);
            let mut ends = self.builder.inst(kind, begin, types, span).iter();
            for &i in &active {
                carried[i] = ends.next();
            }
            for (&value, sum) in outer.iter().zip(ends) {
                self.set_adjoint(value, Some(sum));
            }
        }
        self.iterations.remove(&body);
        for (&arg, adjoint) in inst.args.iter().zip(carried) {
            if let Some(adjoint) = adjoint {
                self.add(arg, adjoint, span);
            }
        }
    }

    /// Takes the record of an iteration; returns the site by which it ended, if there are several.
    pub(super) fn take(&mut self, body: RegionId, several: bool, span: Span) -> Option<ValueId> {
        let record = *self.records.get(&body)?;
        let plan = self.plan;
        let mut types: Vec<Scalar> = plan.record(body).iter().map(|&id| plan.ty(id)).collect();
        if several {
            types.push(Scalar::I32);
        }
        let taken = tape::take(&mut self.builder, self.tape, record, types, span);
        for (&id, value) in plan.record(body).iter().zip(taken.iter()) {
            self.show(id, value);
        }
        several.then(|| taken.iter().next_back()).flatten()
    }

    /// Drops the adjoints of values inside of a region, which has been reversed.
    pub(super) fn drop_inner(&mut self, body: RegionId) {
        let function = &self.linear.function;
        let mut inner = Vec::new();
        let mut open = vec![body];
        while let Some(id) = open.pop() {
            let region = function.region(id);
            inner.extend(region.params.iter().copied());
            for inst in &region.insts {
                inner.extend(inst.results.iter());
                open.extend(inst.kind.regions());
            }
        }
        for value in inner {
            if self.adjoints[value.index()].is_some() {
                self.set_adjoint(value, None);
            }
        }
    }

    /// Active values from outside of a loop that its linear part reads, in order.
    pub(super) fn used_outside(&self, body: RegionId) -> Vec<ValueId> {
        let linear = self.linear;
        let function = &linear.function;
        let mut used = Vec::new();
        let mut open = vec![body];
        while let Some(id) = open.pop() {
            for (at, inst) in function.region(id).insts.iter().enumerate() {
                match &inst.kind {
                    InstKind::Op(_) => {
                        let terms = linear.sums.get(&inst.results.first);
                        used.extend(terms.into_iter().flatten().map(|&(_, operand)| operand));
                    }
                    InstKind::Call(..) => {
                        let call = linear.calls.get(&(id, at));
                        used.extend(call.into_iter().flat_map(|call| &call.params));
                    }
                    InstKind::Store(_) | InstKind::Loop(_) => used.extend(&inst.args),
                    kind if kind.effect() == Effect::UsesTape => used.extend(&inst.args),
                    kind if kind.is_terminator() => used.extend(&inst.args),
                    _ => {}
                }
                open.extend(inst.kind.regions());
            }
        }
        let shape = self.shape;
        used.retain(|&value| {
            linear.active.value(value) && !shape.is_within(shape.region_of(value), body)
        });
        used.sort_unstable();
        used.dedup();
        used
    }
}
