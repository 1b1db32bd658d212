//! The reverse sweep: the linear part of a function, transposed, in the reverse order.
//!
//! Assumes that what its plan keeps is visible or on the tape. Adjoints are values; one that nothing
//! has been added to is absent, not 0. Sums are in reverse program order of uses, operands in order.
//!
//! A region is reversed for the sites by which control can have left it. Instructions after a
//! possible exit are reversed where the site that was taken comes after it: sites are numbered in
//! program order, so one comparison decides, and a chain of exits does not nest.

use super::copy::{Copied, clamped_index};
use super::field::Trace;
use super::linear::{Linear, LinearCall};
use super::plan::{Choice, Kept, KeptId, Plan};
use super::shape::{Shape, Target, inside, within};
use super::sweep::zero_array;
use super::tape;
use crate::builder::FunctionBuilder;
use crate::instruction::Effect;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use adumbra_ops::definition::cotangent;
use std::collections::{BTreeMap, HashMap};

/// A reverse sweep being written.
pub(super) struct Transpose<'a> {
    pub(super) linear: &'a Linear,
    shape: &'a Shape,
    plan: &'a Plan,
    /// By loop: the record of an iteration.
    records: &'a HashMap<RegionId, RecordId>,
    /// By record that the function itself keeps or takes: that of the adjoints of its floats.
    pub(super) adjoint_records: &'a HashMap<RecordId, RecordId>,
    tape: TapeId,
    pub(super) builder: FunctionBuilder,
    /// The forward sweep's values, if it is in the same function.
    pub(super) copied: Option<Copied>,
    /// By primal array.
    pub(super) adjoint_arrays: Vec<Option<ArrayId>>,
    /// Kept values that are visible.
    visible: HashMap<KeptId, ValueId>,
    /// Primal values that are visible because they were repeated, in order.
    repeated: HashMap<ValueId, ValueId>,
    repeated_log: Vec<ValueId>,
    /// By loop that is reversed: the number of iterations before the current one.
    iterations: HashMap<RegionId, ValueId>,
    /// By primal value.
    adjoints: Vec<Option<ValueId>>,
    /// Adjoints that changed, with the one before.
    log: Vec<(ValueId, Option<ValueId>)>,
    /// By target: the adjoints of what its sites pass.
    seeds: HashMap<Target, Vec<Option<ValueId>>>,
}

impl<'a> Transpose<'a> {
    pub(super) fn new(
        linear: &'a Linear,
        shape: &'a Shape,
        plan: &'a Plan,
        (records, adjoint_records): (
            &'a HashMap<RegionId, RecordId>,
            &'a HashMap<RecordId, RecordId>,
        ),
        tape: TapeId,
        builder: FunctionBuilder,
    ) -> Transpose<'a> {
        Transpose {
            linear,
            shape,
            plan,
            records,
            adjoint_records,
            tape,
            builder,
            copied: None,
            adjoint_arrays: Vec::new(),
            visible: HashMap::new(),
            repeated: HashMap::new(),
            repeated_log: Vec::new(),
            iterations: HashMap::new(),
            adjoints: vec![None; linear.function.values.len()],
            log: Vec::new(),
            seeds: HashMap::new(),
        }
    }

    /// Says by which value something kept is visible.
    pub(super) fn show(&mut self, id: KeptId, value: ValueId) {
        self.visible.insert(id, value);
    }

    /// Says what the adjoints of the values are that the sites of a target pass.
    pub(super) fn seed(&mut self, target: Target, adjoints: Vec<Option<ValueId>>) {
        self.seeds.insert(target, adjoints);
    }

    /// Reverses the function's body; `exit` is the site by which it ended, if there are several.
    pub(super) fn body(&mut self, exit: Option<ValueId>) {
        let returns = self.shape.ends(Target::Return).to_vec();
        self.region(self.linear.function.body, &returns, exit);
    }

    /// The adjoint of a value, 0 if nothing was added to it.
    pub(super) fn adjoint_or_zero(&mut self, value: ValueId, span: Span) -> ValueId {
        match self.adjoints[value.index()] {
            Some(adjoint) => adjoint,
            None => self.builder.float(0.0, span),
        }
    }

    /// Adds the elements of an array to those of another.
    pub(super) fn add_array(&mut self, to: ArrayId, from: ArrayId, span: Span) {
        let len = self.builder.function().arrays[from.index()].len;
        self.each_element(len, span, |this, i| {
            let sum = this.load(to, i, span);
            let more = this.load(from, i, span);
            let sum = this.builder.op(Op::Add, &[sum, more], span);
            this.store(to, i, sum, span);
        });
    }

    fn load(&mut self, array: ArrayId, index: ValueId, span: Span) -> ValueId {
        let kind = InstKind::Load(array);
        self.builder.inst(kind, [index], [Scalar::F32], span).first
    }

    fn store(&mut self, array: ArrayId, index: ValueId, value: ValueId, span: Span) {
        self.builder
            .inst(InstKind::Store(array), [index, value], [], span);
    }

    /// Writes a loop over the indices below `len`.
    fn each_element(&mut self, len: u32, span: Span, body: impl FnOnce(&mut Self, ValueId)) {
        let zero = self.builder.int(0, span);
        let region = self.builder.open_region();
        let i = self.builder.param(Scalar::I32, span);
        let len = self.builder.int(len as i32, span);
        let more = self.builder.op(Op::ILt, &[i, len], span);
        self.leave_unless(more, region, &[], span);
        body(self, i);
        let one = self.builder.int(1, span);
        let next = self.builder.op(Op::IAdd, &[i, one], span);
        self.builder
            .terminate(InstKind::Continue(region), [next], span);
        self.builder.close_region();
        self.builder.inst(InstKind::Loop(region), [zero], [], span);
    }

    /// Leaves a loop with these results unless a condition holds.
    fn leave_unless(&mut self, more: ValueId, region: RegionId, results: &[ValueId], span: Span) {
        let then = self.builder.open_region();
        self.builder.terminate(InstKind::Yield, [], span);
        self.builder.close_region();
        let other = self.builder.open_region();
        let results = results.iter().copied();
        self.builder
            .terminate(InstKind::Break(region), results, span);
        self.builder.close_region();
        self.builder
            .inst(InstKind::If(then, other), [more], [], span);
    }

    /// The primal value: kept, repeated, or there from the forward sweep.
    fn value(&mut self, value: ValueId, span: Span) -> ValueId {
        let there = self.copied.as_ref().and_then(|copied| copied.get(value));
        if let Some(new) = there.or(self.repeated.get(&value).copied()) {
            return new;
        }
        let plan = self.plan;
        let function = &self.linear.function;
        let new = match plan.choice(value) {
            Choice::Keep => {
                let id = plan.id(Kept::Value(value));
                let visible = id.and_then(|id| self.visible.get(&id));
                return *visible.expect("the plan keeps what is read");
            }
            Choice::Repeat => {
                let inst = plan.definition(function, value).expect("an instruction");
                let args: Args = inst.args.iter().map(|&a| self.value(a, span)).collect();
                if inst.kind == InstKind::Detach {
                    args[0]
                } else {
                    let ty = function.value(value).ty;
                    self.builder.inst(inst.kind.clone(), args, [ty], span).first
                }
            }
            Choice::Affine(region, begin, step) => {
                let (begin, step) = (self.value(begin, span), self.value(step, span));
                let iteration = self.iterations[&region];
                let moved = self.builder.op(Op::IMul, &[iteration, step], span);
                self.builder.op(Op::IAdd, &[begin, moved], span)
            }
        };
        self.repeated.insert(value, new);
        self.repeated_log.push(value);
        new
    }

    fn forget_repeated(&mut self, mark: usize) {
        for value in self.repeated_log.drain(mark..) {
            self.repeated.remove(&value);
        }
    }

    fn set_adjoint(&mut self, value: ValueId, adjoint: Option<ValueId>) {
        let before = std::mem::replace(&mut self.adjoints[value.index()], adjoint);
        self.log.push((value, before));
    }

    /// Adds to the adjoint of a value, if it is active.
    pub(super) fn add(&mut self, value: ValueId, term: ValueId, span: Span) {
        if self.linear.active.value(value) {
            let sum = match self.adjoints[value.index()] {
                Some(sum) => self.builder.op(Op::Add, &[sum, term], span),
                None => term,
            };
            self.set_adjoint(value, Some(sum));
        }
    }

    /// Undoes changes of adjoints; returns the last of each value, in order of values.
    fn roll_back(&mut self, mark: usize) -> BTreeMap<ValueId, Option<ValueId>> {
        let mut changed = BTreeMap::new();
        for (value, before) in self.log.drain(mark..).rev() {
            let now = std::mem::replace(&mut self.adjoints[value.index()], before);
            changed.entry(value).or_insert(now);
        }
        changed
    }

    /// Reverses a region that control left by one of the sites that are possible; `exit` is the one,
    /// if there are several.
    fn region(&mut self, id: RegionId, possible: &[u32], exit: Option<ValueId>) {
        let (Some(&last), true) = (possible.last(), self.plan.is_touched(id)) else {
            return;
        };
        let insts = &self.linear.function.region(id).insts;
        // Instructions that can have run, and the possible site before each.
        let mut reached: Vec<(usize, Option<u32>)> = Vec::new();
        let mut next = self.shape.sites(id).0;
        for (at, inst) in insts.iter().enumerate() {
            if next > last {
                break;
            }
            let before = possible.partition_point(|&site| site < next);
            reached.push((at, before.checked_sub(1).map(|i| possible[i])));
            for inner in inst.kind.regions() {
                next = self.shape.sites(inner).1 + 1;
            }
        }
        for part in reached.chunk_by(|a, b| a.1 == b.1).rev() {
            let (first, before) = part[0];
            let end = first + part.len();
            match before {
                None => self.run(id, first..end, possible, exit),
                Some(site) => {
                    let exit = exit.expect("several sites are possible");
                    let span = insts[first].span;
                    let site = self.builder.int(site as i32, span);
                    let ran = self.builder.op(Op::ILt, &[site, exit], span);
                    let plan = self.plan;
                    let (shape, function) = (self.shape, &self.linear.function);
                    let inner = |value: ValueId| {
                        let inside = plan
                            .position(value)
                            .is_some_and(|(region, at)| region == id && (first..end).contains(&at));
                        inside || is_nested(shape, function, id, first..end, value)
                    };
                    self.branch(
                        ran,
                        span,
                        inner,
                        |this| this.run(id, first..end, possible, Some(exit)),
                        |_| {},
                    );
                }
            }
        }
    }

    /// Reverses instructions, all of which ran.
    fn run(
        &mut self,
        region: RegionId,
        range: std::ops::Range<usize>,
        possible: &[u32],
        exit: Option<ValueId>,
    ) {
        let linear = self.linear;
        let insts = &linear.function.region(region).insts;
        for at in range.rev() {
            self.inst((region, at), &insts[at], possible, exit);
        }
    }

    /// Writes an if whose arms add to adjoints; those of values inside of it are dropped.
    fn branch(
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

    fn inst(
        &mut self,
        at: (RegionId, usize),
        inst: &Inst,
        possible: &[u32],
        exit: Option<ValueId>,
    ) {
        let linear = self.linear;
        let span = inst.span;
        let adjoint_of = |this: &Self, array: ArrayId| this.adjoint_arrays[array.index()];
        match &inst.kind {
            InstKind::Op(_) => self.sum(inst),
            InstKind::Load(array) => {
                let sum = self
                    .adjoints
                    .get(inst.results.first.index())
                    .copied()
                    .flatten();
                if let (Some(adjoints), Some(more)) = (adjoint_of(self, *array), sum) {
                    let index = self.index(inst, *array);
                    let sum = self.load(adjoints, index, span);
                    let sum = self.builder.op(Op::Add, &[sum, more], span);
                    self.store(adjoints, index, sum, span);
                }
            }
            InstKind::Store(array) => {
                if let Some(adjoints) = adjoint_of(self, *array) {
                    let index = self.index(inst, *array);
                    let sum = self.load(adjoints, index, span);
                    self.add(inst.args[1], sum, span);
                    let zero = self.builder.float(0.0, span);
                    self.store(adjoints, index, zero, span);
                }
            }
            InstKind::ArrayZero(array) => {
                if let Some(adjoints) = adjoint_of(self, *array) {
                    self.builder
                        .inst(InstKind::ArrayZero(adjoints), [], [], span);
                }
            }
            InstKind::ArrayResize(array, part) => {
                if let Some(adjoints) = adjoint_of(self, *array) {
                    let parts = self.value(inst.results.first, span);
                    let kind = InstKind::ArrayResize(adjoints, *part);
                    self.builder.inst(kind, [parts], [Scalar::I32], span);
                }
            }
            InstKind::ArrayCopy { to, from } => self.array_copy(inst, *to, *from),
            InstKind::Call(..) => {
                if let Some(call) = linear.calls.get(&at) {
                    self.call(at, inst, call);
                }
            }
            kind if kind.effect() == Effect::UsesTape => self.record(inst),
            InstKind::If(then, other) => self.reversed_if(inst, *then, *other, possible, exit),
            InstKind::Block(body) => {
                if self.plan.is_touched(*body) {
                    let results = self.results(inst);
                    self.seed(Target::Break(*body), results.clone());
                    self.seed(Target::Yield(*body), results);
                    let (sites, exit) = self.sites_of(*body, possible, exit, span);
                    self.region(*body, &sites, exit);
                }
            }
            InstKind::Loop(body) => {
                if self.plan.is_touched(*body) {
                    self.reversed_loop(inst, *body, possible, exit);
                }
            }
            kind => {
                let target = super::shape::target_of(at.0, kind);
                let seeds = target.and_then(|target| self.seeds.get(&target).cloned());
                for (&arg, seed) in inst.args.iter().zip(seeds.into_iter().flatten()) {
                    if let Some(seed) = seed {
                        self.add(arg, seed, span);
                    }
                }
            }
        }
    }

    fn results(&self, inst: &Inst) -> Vec<Option<ValueId>> {
        let results = inst.results.iter();
        results
            .map(|result| self.adjoints[result.index()])
            .collect()
    }

    /// An op: to each operand its partial times the adjoint of the result.
    fn sum(&mut self, inst: &Inst) {
        let linear = self.linear;
        let result = inst.results.first;
        let (Some(terms), Some(adjoint)) =
            (linear.sums.get(&result), self.adjoints[result.index()])
        else {
            return;
        };
        let span = inst.span;
        for &(coefficient, operand) in terms {
            let value = coefficient.value().map(|value| self.value(value, span));
            let before = self.adjoints[operand.index()];
            let sum = Trace::append(&mut self.builder, span, |trace| {
                let partials = [coefficient.partial(trace, value)];
                let mut sums = [before.map(|before| trace.float(before))];
                cotangent(&partials, trace.float(adjoint), [true], &mut sums);
                let [sum] = sums;
                sum.map(|sum| sum.value())
            });
            self.set_adjoint(operand, sum);
        }
    }

    /// The index of a load or store, which faulted in the forward sweep if it was out of range.
    fn index(&mut self, inst: &Inst, array: ArrayId) -> ValueId {
        let index = self.value(inst.args[0], inst.span);
        let len = self.linear.function.arrays[array.index()].len;
        clamped_index(&mut self.builder, index, len, inst.span)
    }

    fn array_copy(&mut self, inst: &Inst, to: ArrayId, from: ArrayId) {
        let Some(adjoints) = self.adjoint_arrays[to.index()] else {
            return;
        };
        let span = inst.span;
        let arrays = &self.linear.function.arrays;
        let (to_len, from_len) = (arrays[to.index()].len, arrays[from.index()].len);
        let source = self.adjoint_arrays[from.index()];
        let start = inst.args.first().map(|&start| {
            let start = self.value(start, span);
            let most = to_len.abs_diff(from_len) + 1;
            clamped_index(&mut self.builder, start, most, span)
        });
        self.each_element(to_len.min(from_len), span, |this, i| {
            let moved = match start {
                Some(start) => this.builder.op(Op::IAdd, &[i, start], span),
                None => i,
            };
            let (at_to, at_from) = match to_len > from_len {
                true => (moved, i),
                false => (i, moved),
            };
            let more = this.load(adjoints, at_to, span);
            let zero = this.builder.float(0.0, span);
            // First, so that a copy of an array to itself changes nothing.
            this.store(adjoints, at_to, zero, span);
            if let Some(source) = source {
                let sum = this.load(source, at_from, span);
                let sum = this.builder.op(Op::Add, &[sum, more], span);
                this.store(source, at_from, sum, span);
            }
        });
    }

    /// The sites by which control can have left a nested region, and the one that it took.
    fn sites_of(
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

    fn chosen(
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

    fn reversed_if(
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
        let condition = self.value(inst.args[0], span);
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

    fn reversed_loop(
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
            self.leave_unless(more, region, &sums, span);
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
    fn take(&mut self, body: RegionId, several: bool, span: Span) -> Option<ValueId> {
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
    fn drop_inner(&mut self, body: RegionId) {
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
    fn used_outside(&self, body: RegionId) -> Vec<ValueId> {
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

    /// A call: the reverse sweep of the callee.
    fn call(&mut self, at: (RegionId, usize), inst: &Inst, call: &LinearCall) {
        let span = inst.span;
        let mut args = Args::new();
        let mut passed = Vec::new();
        match &call.custom {
            None => {
                for i in 0..call.kept.len() as u32 {
                    let id = self.plan.id(Kept::Callee(at.0, at.1, i));
                    args.push(self.visible[&id.expect("it is planned")]);
                }
            }
            Some(custom) => {
                for &arg in &custom.args {
                    args.push(self.value(arg, span));
                }
                for (array, elements) in &custom.arrays {
                    let shape = self.linear.function.arrays[array.index()];
                    let copy = zero_array(&mut self.builder, &shape, span);
                    for (i, &element) in (0..).zip(elements) {
                        let index = self.builder.int(i, span);
                        let element = self.value(element, span);
                        self.store(copy, index, element, span);
                    }
                    passed.push(copy);
                }
            }
        }
        for &result in &call.results {
            args.push(self.adjoint_or_zero(result, span));
        }

        // Arrays of cotangents that are the caller's own, but where two parameters share one: the
        // last that is written has it, and the others are added.
        let mut added = Vec::new();
        let mut cleared = Vec::new();
        for (i, &(array, mode)) in call.arrays.iter().enumerate() {
            let own = self.adjoint_arrays[array.index()];
            let shares = |other: &(ArrayId, PassingMode)| other.0 == array;
            let is_last = !call.arrays[i + 1..].iter().any(shares);
            let is_apart = match (mode, &call.custom) {
                (PassingMode::In, Some(_)) => true,
                (PassingMode::In, None) => call.arrays.iter().filter(|a| shares(a)).count() > 1,
                _ => !is_last,
            };
            passed.push(match own {
                Some(own) if !is_apart => {
                    if mode == PassingMode::Out && call.custom.is_some() {
                        cleared.push(own);
                    }
                    own
                }
                _ => {
                    let shape = self.linear.function.arrays[array.index()];
                    let apart = zero_array(&mut self.builder, &shape, span);
                    if let (Some(own), true) = (own, mode != PassingMode::Out) {
                        added.push((own, apart));
                    }
                    apart
                }
            });
        }
        let types = call.params.iter().map(|_| Scalar::F32);
        let kind = InstKind::Call(call.back, passed.into_boxed_slice());
        let gradients = self.builder.inst(kind, args, types, span);
        for own in cleared {
            self.builder.inst(InstKind::ArrayZero(own), [], [], span);
        }
        for (own, apart) in added {
            self.add_array(own, apart, span);
        }
        for (&param, gradient) in call.params.iter().zip(gradients.iter()) {
            self.add(param, gradient, span);
        }
    }
}

/// Whether a value is defined inside of regions of these instructions.
fn is_nested(
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
