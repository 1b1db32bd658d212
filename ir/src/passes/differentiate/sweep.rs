//! The forward sweep of reverse mode: the primal function, which keeps what its plan says.
//!
//! Guarantees: results, faults, samples and messages are those of the primal function. What is kept
//! is a value at the end, or on the tape, in the order of iterations.

use super::array::zero_array;
use super::linear::Linear;
use super::plan::{Kept, KeptId, Plan};
use super::shape::{Shape, Target};
use super::tape;
use crate::builder::FunctionBuilder;
use crate::copy::Copied;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use rustc_hash::FxHashMap;

/// What a return of the primal function becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    /// Nothing: the function ends at its end only, and the reverse sweep follows in the region.
    Fall,
    /// A break out of the block of that region, with what is kept.
    Break(RegionId),
    /// The same with the results before.
    BreakWithResults(RegionId),
    /// A return of the results, and what is kept.
    Results,
    /// A return of the results, once what is kept is on the tape.
    Tape(TapeId, RecordId),
}

/// A forward sweep being written.
pub(super) struct Sweep<'a> {
    pub(super) linear: &'a Linear,
    pub(super) shape: &'a Shape,
    pub(super) plan: &'a Plan,
    pub(super) builder: FunctionBuilder,
    pub(super) copied: Copied,
    /// The tape of this order of derivatives.
    pub(super) tape: TapeId,
    /// By loop whose iterations are reversed: its record.
    pub(super) records: FxHashMap<RegionId, RecordId>,
    pub(super) returns: Returns,
    /// The site by which the function ended, once it is known.
    pub(super) exit: Option<ValueId>,
    /// Kept values that are visible by other values than the copied ones.
    visible: FxHashMap<KeptId, ValueId>,
    /// Those that became visible, in order, with the value before.
    log: Vec<(KeptId, Option<ValueId>)>,
    /// By open loop: the number of complete iterations.
    counts: FxHashMap<RegionId, ValueId>,
    /// By arm of an if: its first arm.
    arm_keys: FxHashMap<RegionId, RegionId>,
    /// By type: the zero in place of what is not there, at the function's begin.
    zeros: FxHashMap<Scalar, ValueId>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(
        linear: &'a Linear,
        shape: &'a Shape,
        plan: &'a Plan,
        builder: FunctionBuilder,
        copied: Copied,
    ) -> Sweep<'a> {
        Sweep {
            linear,
            shape,
            plan,
            builder,
            copied,
            tape: TapeId(0),
            records: FxHashMap::default(),
            returns: Returns::Results,
            exit: None,
            visible: FxHashMap::default(),
            log: Vec::new(),
            counts: FxHashMap::default(),
            arm_keys: FxHashMap::default(),
            zeros: FxHashMap::default(),
        }
    }

    /// Says by which value something kept is visible now.
    pub(super) fn show(&mut self, id: KeptId, value: ValueId) {
        let before = self.visible.insert(id, value);
        self.log.push((id, before));
    }

    /// Says that nothing is visible any more.
    pub(super) fn forget(&mut self) {
        self.visible.clear();
        self.log.clear();
    }

    /// The value of something kept, if it has been computed and is visible here.
    pub(super) fn resolve(&self, id: KeptId) -> Option<ValueId> {
        if let Some(&value) = self.visible.get(&id) {
            return Some(value);
        }
        match self.plan.what(id) {
            Kept::Value(value) => self.copied.get(value),
            Kept::Count(region) => self.counts.get(&region).copied(),
            // At an exit out of the loop, its last iteration is the current one.
            Kept::Last(region, inner) if self.counts.contains_key(&region) => self.resolve(inner),
            Kept::Last(..) | Kept::Exit(_) | Kept::Callee(..) => None,
        }
    }

    /// The value of something kept, or zero where nothing will read it.
    pub(super) fn kept(&mut self, id: KeptId, span: Span) -> ValueId {
        match (self.resolve(id), self.plan.what(id)) {
            // The loop is left from inside.
            (Some(value), Kept::Count(region)) if self.counts.contains_key(&region) => {
                self.counted(region, value)
            }
            (Some(value), _) => value,
            (None, _) => self.zero(self.plan.ty(id), span),
        }
    }

    /// The zero of a type.
    fn zero(&mut self, ty: Scalar, span: Span) -> ValueId {
        *(self.zeros.entry(ty)).or_insert_with(|| self.builder.constant_at_begin(ty, 0, span))
    }

    /// The number of iterations of a loop, held against what is said of it.
    fn counted(&mut self, region: RegionId, count: ValueId) -> ValueId {
        match self.plan.limit(region) {
            Some((limit, span)) => {
                let limit = self.builder.int(limit as i32, span);
                self.builder.op(Op::Iterations, &[count, limit], span)
            }
            None => count,
        }
    }

    /// Copies the instructions of a region to the current one.
    pub(super) fn region(&mut self, id: RegionId) {
        let linear = self.linear;
        self.copied.set_region(id, self.builder.current());
        for (at, inst) in linear.function.region(id).insts.iter().enumerate() {
            self.inst(id, at, inst);
        }
    }

    fn nested(&mut self, id: RegionId, counted: bool) {
        let linear = self.linear;
        self.builder.open_region();
        let mark = self.log.len();
        for &param in &linear.function.region(id).params {
            self.copied
                .param(&mut self.builder, &linear.function, param);
        }
        if counted {
            let count = self.builder.param(Scalar::I32, linear.function.span);
            self.counts.insert(id, count);
        }
        self.region(id);
        self.builder.close_region();
        self.counts.remove(&id);
        self.copied.hide(&linear.function, id);
        for (id, before) in self.log.drain(mark..).rev() {
            match before {
                Some(value) => self.visible.insert(id, value),
                None => self.visible.remove(&id),
            };
        }
    }

    fn types(&self, inst: &Inst, further: &[KeptId]) -> Vec<Scalar> {
        let function = &self.linear.function;
        let types = inst.results.iter().map(|r| function.value(r).ty);
        let further = further.iter().map(|&id| self.plan.ty(id));
        types.chain(further).collect()
    }

    /// What the block or loop of a region, or the if of an arm, hands out: ids within, then ids by
    /// which it is visible outside.
    fn handed(&self, region: RegionId) -> (Vec<KeptId>, Vec<KeptId>) {
        let plan = self.plan;
        let inside: Vec<KeptId> = [plan.handed(region), plan.last(region)].concat();
        let mut outside = plan.handed(region).to_vec();
        let last = plan.last(region).iter();
        outside.extend(last.filter_map(|&id| plan.id(Kept::Last(region, id))));
        debug_assert_eq!(inside.len(), outside.len());
        (inside, outside)
    }

    /// Operands of a site, then what is kept there.
    fn site(&mut self, region: RegionId, inst: &Inst, ends: RegionId) -> Args {
        let plan = self.plan;
        let span = inst.span;
        let mut args = self.copied.args(&inst.args);
        for id in self.handed(ends).0 {
            args.push(self.kept(id, span));
        }
        if plan.id(Kept::Exit(ends)).is_some() {
            let site = self.shape.sites(region).1;
            args.push(self.builder.int(site as i32, span));
        }
        if plan.id(Kept::Count(ends)).is_some() {
            args.push(self.counts[&ends]);
        }
        args
    }

    /// The ids by which everything that a region hands out is visible outside.
    fn given(&self, region: RegionId) -> Vec<KeptId> {
        let mut given = self.handed(region).1;
        given.extend(self.plan.id(Kept::Exit(region)));
        given.extend(self.plan.id(Kept::Count(region)));
        given
    }

    /// Appends an instruction whose regions are copied, with what the first of them hands out.
    fn append(&mut self, inst: &Inst, args: Args, region: RegionId) {
        let function = &self.linear.function;
        let given = self.given(region);
        let types = self.types(inst, &given);
        let kind = self.copied.kind(&inst.kind);
        let results = self.builder.inst(kind, args, types, inst.span);
        self.copied
            .define(&mut self.builder, function, inst, results);
        for (value, &id) in results.iter().skip(inst.results.count as usize).zip(&given) {
            self.show(id, value);
        }
    }

    fn inst(&mut self, region: RegionId, at: usize, inst: &Inst) {
        let linear = self.linear;
        let span = inst.span;
        match &inst.kind {
            InstKind::If(then, other) => {
                let args = self.copied.args(&inst.args);
                self.arm(*then, *then);
                self.arm(*other, *then);
                self.append(inst, args, *then);
            }
            InstKind::Block(body) => {
                self.nested(*body, false);
                self.append(inst, Args::new(), *body);
            }
            InstKind::Loop(body) => {
                let counted = self.plan.id(Kept::Count(*body)).is_some();
                let mut args = self.copied.args(&inst.args);
                if counted {
                    args.push(self.builder.int(0, span));
                }
                self.nested(*body, counted);
                self.append(inst, args, *body);
                if let Some(id) = self.plan.id(Kept::Count(*body))
                    && let Some(count) = self.resolve(id)
                {
                    let counted = self.counted(*body, count);
                    self.show(id, counted);
                }
            }
            InstKind::Yield => {
                let ends = self.arm_keys.get(&region).copied().unwrap_or(region);
                let args = self.site(region, inst, ends);
                self.builder.terminate(InstKind::Yield, args, span);
            }
            InstKind::Break(to) => {
                let args = self.site(region, inst, *to);
                let kind = self.copied.kind(&inst.kind);
                self.builder.terminate(kind, args, span);
            }
            InstKind::Continue(to) => self.next_iteration(region, inst, *to),
            InstKind::Return => self.return_site(region, inst),
            InstKind::Unreachable => self.builder.terminate(InstKind::Unreachable, [], span),
            InstKind::Call(..) if linear.calls.contains_key(&(region, at)) => {
                self.call(region, at, inst);
            }
            _ => self.copied.copy(&mut self.builder, &linear.function, inst),
        }
    }

    fn arm(&mut self, arm: RegionId, key: RegionId) {
        self.arm_keys.insert(arm, key);
        self.nested(arm, false);
    }

    /// Puts the record of an iteration on the tape, and begins the next one.
    fn next_iteration(&mut self, region: RegionId, inst: &Inst, to: RegionId) {
        let span = inst.span;
        let mut args = self.copied.args(&inst.args);
        if let Some(&record) = self.records.get(&to) {
            let mut fields = Args::new();
            for &id in self.plan.record(to) {
                fields.push(self.kept(id, span));
            }
            if self.shape.ends(Target::Continue(to)).len() > 1 {
                let site = self.shape.sites(region).1;
                fields.push(self.builder.int(site as i32, span));
            }
            tape::keep(&mut self.builder, self.tape, record, fields, span);
        }
        if let Some(&count) = self.counts.get(&to) {
            let one = self.builder.int(1, span);
            args.push(self.builder.op(Op::IAdd, &[count, one], span));
        }
        let kind = self.copied.kind(&inst.kind);
        self.builder.terminate(kind, args, span);
    }

    fn return_site(&mut self, region: RegionId, inst: &Inst) {
        let span = inst.span;
        let mut args = self.copied.args(&inst.args);
        let mut kept = Args::new();
        if self.returns != Returns::Fall {
            for &id in &self.plan.outer {
                kept.push(self.kept(id, span));
            }
            if self.shape.ends(Target::Return).len() > 1 {
                let site = self.shape.sites(region).1;
                kept.push(self.builder.int(site as i32, span));
            }
        }
        match self.returns {
            Returns::Fall => {}
            Returns::Break(block) => {
                self.builder.terminate(InstKind::Break(block), kept, span);
            }
            Returns::BreakWithResults(block) => {
                args.extend(kept);
                self.builder.terminate(InstKind::Break(block), args, span);
            }
            Returns::Results => {
                args.extend(kept);
                self.builder.terminate(InstKind::Return, args, span);
            }
            Returns::Tape(tape, record) => {
                tape::keep(&mut self.builder, tape, record, kept, span);
                self.builder.terminate(InstKind::Return, args, span);
            }
        }
    }

    /// The forward sweep of the callee, in place of the call.
    fn call(&mut self, region: RegionId, at: usize, inst: &Inst) {
        let linear = self.linear;
        let call = &linear.calls[&(region, at)];
        let InstKind::Call(_, arrays) = &inst.kind else {
            return;
        };
        let span = inst.span;
        let mut args = self.copied.args(&inst.args);
        for _ in 0..call.zeros {
            args.push(self.builder.float(0.0, span));
        }
        let mut passed: Vec<ArrayId> = arrays.iter().map(|&a| self.copied.array(a)).collect();
        for array in &call.zero_arrays {
            let shape = linear.function.arrays[array.index()];
            passed.push(zero_array(&mut self.builder, &shape, span));
        }
        let mut types = self.types(inst, &[]);
        types.extend(std::iter::repeat_n(Scalar::F32, call.ignored));
        types.extend(&call.kept);
        let kind = InstKind::Call(call.forward_sweep, passed.into_boxed_slice());
        let results = self.builder.inst(kind, args, types, span);
        self.copied
            .define(&mut self.builder, &linear.function, inst, results);
        let skipped = inst.results.count as usize + call.ignored;
        for (i, value) in (0..).zip(results.iter().skip(skipped)) {
            if let Some(id) = self.plan.id(Kept::Callee(region, at, i)) {
                self.show(id, value);
            }
        }
    }
}
