//! The reverse sweep: the linear part of a function, transposed, in the reverse order.
//!
//! Assumes that what its plan keeps is visible or on the tape. Adjoints are values; one that
//! nothing has been added to is absent, not 0. Sums are in reverse program order of uses, operands
//! in order.
//!
//! A region is reversed for the sites by which control can have left it. Instructions after a
//! possible exit are reversed where the site that was taken comes after it: sites are numbered in
//! program order, so one comparison decides, and a chain of exits does not nest.

mod arrays;
mod branches;
mod calls;
mod loops;
mod primal;
mod textures;

use super::field::{Coefficient, Trace};
use super::guards::StrongProduct;
use super::linear::Linear;
use super::plan::{KeptId, Plan};
use super::shape::{Definition, Shape, Target};
use crate::builder::FunctionBuilder;
use crate::copy::Copied;
use crate::instruction::Effect;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use adumbra_ops::definition::cotangent;
use branches::is_nested;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A reverse sweep being written.
pub(super) struct Transpose<'a> {
    pub(super) linear: &'a Linear,
    shape: &'a Shape,
    plan: &'a Plan,
    /// By loop: the record of an iteration.
    records: &'a FxHashMap<RegionId, RecordId>,
    /// By record that the function itself keeps or takes: that of the adjoints of its floats.
    pub(super) adjoint_records: &'a FxHashMap<RecordId, RecordId>,
    tape: TapeId,
    pub(super) builder: FunctionBuilder,
    /// The forward sweep's values, if it is in the same function.
    pub(super) copied: Option<Copied>,
    /// By primal array.
    pub(super) adjoint_arrays: Vec<Option<ArrayId>>,
    /// Kept values that are visible.
    visible: FxHashMap<KeptId, ValueId>,
    /// Primal values that are visible because they were repeated, in order.
    repeated: FxHashMap<ValueId, ValueId>,
    repeated_log: Vec<ValueId>,
    /// By loop that is reversed: the number of iterations before the current one.
    iterations: FxHashMap<RegionId, ValueId>,
    /// By primal value.
    adjoints: Vec<Option<ValueId>>,
    /// Adjoints that changed, with the one before.
    log: Vec<(ValueId, Option<ValueId>)>,
    /// By target: the adjoints of what its sites pass.
    seeds: FxHashMap<Target, Vec<Option<ValueId>>>,
    /// Products that are strong, but those of flat partials.
    pub(super) strong: Vec<StrongProduct>,
}

impl<'a> Transpose<'a> {
    pub(super) fn new(
        linear: &'a Linear,
        shape: &'a Shape,
        plan: &'a Plan,
        (records, adjoint_records): (
            &'a FxHashMap<RegionId, RecordId>,
            &'a FxHashMap<RecordId, RecordId>,
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
            visible: FxHashMap::default(),
            repeated: FxHashMap::default(),
            repeated_log: Vec::new(),
            iterations: FxHashMap::default(),
            adjoints: vec![None; linear.function.values.len()],
            log: Vec::new(),
            seeds: FxHashMap::default(),
            strong: Vec::new(),
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

    /// Reverses a region that control left by one of the sites that are possible; `exit` is the
    /// one, if there are several.
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
                    let (shape, function) = (self.shape, &self.linear.function);
                    let inner = |value: ValueId| {
                        let is_inside = match shape.definition(value) {
                            Definition::Inst(at) => {
                                shape.region_of(value) == id && (first..end).contains(&at)
                            }
                            Definition::Param(_) => false,
                        };
                        is_inside || is_nested(shape, function, id, first..end, value)
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
            InstKind::Buffer(buffer, number, _) => {
                let result = inst.results.first;
                let sum = linear.active.derivative_of(result, *buffer);
                if let (Some(sum), Some(adjoint)) = (sum, self.adjoints[result.index()]) {
                    let index = self.value(inst.args[0], span);
                    let kind = InstKind::BufferAdd(sum, *number);
                    self.builder.inst(kind, [index, adjoint], [], span);
                }
            }
            InstKind::Sample(texture, mip, slopes) => {
                if let Some(texture) = linear.active.derivative_of_sample(inst, *texture) {
                    self.sample(inst, texture, *mip, *slopes);
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

    /// An op: to each operand its partial times the adjoint of the result. The product is strong if
    /// the partial need not be finite: the adjoint can be 0 because the result is not taken.
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
            let coefficient = match coefficient {
                Coefficient::Of(of) if !self.is_finite_factor(of) => {
                    self.note_product(true);
                    Coefficient::Singular(of)
                }
                Coefficient::Singular(_) => {
                    self.note_product(false);
                    coefficient
                }
                _ => coefficient,
            };
            let sum = Trace::append(&mut self.builder, span, false, |trace| {
                let partials = [coefficient.partial(trace, value)];
                let mut sums = [before.map(|before| trace.float(before))];
                cotangent(&partials, trace.float(adjoint), [true], &mut sums);
                let [sum] = sums;
                sum.map(|sum| sum.value())
            });
            self.set_adjoint(operand, sum);
        }
    }

    /// Notes that the next instruction is a strong product.
    fn note_product(&mut self, is_guard: bool) {
        let product = ValueId(self.builder.function().values.len() as u32);
        self.strong.push(StrongProduct { product, is_guard });
    }

    /// Whether a value of the primal function is a finite constant other than 0: a factor that
    /// leaves a cotangent of 0, and one that is infinite.
    fn is_finite_factor(&self, value: ValueId) -> bool {
        let inst = self.shape.inst(&self.linear.function, value);
        inst.is_some_and(|inst| match inst.kind {
            InstKind::Const(bits) => {
                let factor = f32::from_bits(bits);
                factor.is_finite() && factor != 0.0
            }
            _ => false,
        })
    }
}
