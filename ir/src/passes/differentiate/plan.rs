//! Which primal values the reverse sweep reads, and where they are kept.
//!
//! A value is *repeated* if it is cheap from what is there anyway; else it is *kept*. The forward
//! sweep hands kept values out of ifs and blocks as further results. At the end of each iteration
//! of a loop it puts those of the iteration in a record on the tape; those of the last iteration,
//! which a break leaves, it hands out of the loop. So at its end everything kept is a value, or on
//! the tape in the order of iterations.
//!
//! The reverse sweep is planned by the walk that writes it (`reverse.rs`), region by region, for the
//! sites by which control can have left the region.

use super::linear::Linear;
use super::shape::{Shape, Target, inside};
use super::{Differentiator, Loss};
use crate::instruction::Effect;
use crate::module::*;
use crate::types::Scalar;
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;
use std::collections::{BTreeSet, HashMap};

/// The greatest cost of a value that is repeated rather than kept, in additions.
pub(super) const MAX_REPEATED_COST: u32 = 8;

/// A kept value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct KeptId(u32);

impl KeptId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a kept value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kept {
    /// A value of the primal function.
    Value(ValueId),
    /// The site by which the block or loop of that region ended.
    Exit(RegionId),
    /// The number of complete iterations of the loop of that region.
    Count(RegionId),
    /// What the call at that position keeps.
    Callee(RegionId, usize, u32),
    /// Another one as it was in the last iteration of the loop of that region.
    Last(RegionId, KeptId),
}

/// How a value is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is kept.
    Keep,
    /// Its instruction is written again.
    Repeat,
    /// It is a loop's parameter that grows by a constant: where it begins, and the constant.
    Affine(RegionId, ValueId, ValueId),
}

/// Where the instruction is that defines a value.
#[derive(Clone, Copy)]
enum Definition {
    Param(RegionId, usize),
    Inst(RegionId, usize),
}

/// A function's plan.
pub(super) struct Plan {
    kept: Vec<(Kept, Scalar, RegionId)>,
    ids: HashMap<Kept, KeptId>,
    /// By the region of a block, the first region of an if: what it hands out.
    handed: HashMap<RegionId, Vec<KeptId>>,
    /// By loop: the fields of its record.
    records: HashMap<RegionId, Vec<KeptId>>,
    /// By loop: what it hands out of its last iteration.
    last: HashMap<RegionId, Vec<KeptId>>,
    choices: HashMap<ValueId, Choice>,
    definitions: Vec<Option<Definition>>,
    /// Regions in which something is to be reversed.
    touched: Vec<bool>,
    /// Everything that the reverse sweep reads outside of loops.
    pub(super) outer: Vec<KeptId>,
    /// How many instructions were planned; code of the last iteration is written twice.
    work: usize,
}

type KeptSet = BTreeSet<KeptId>;

impl Plan {
    /// Plans the reverse sweep of a function.
    pub(super) fn new(
        differentiator: &Differentiator<'_>,
        linear: &Linear,
        shape: &Shape,
    ) -> Result<Plan, Loss> {
        let function = &linear.function;
        let mut definitions = vec![None; function.values.len()];
        function.for_each_region(|id| {
            let region = function.region(id);
            for (i, &param) in region.params.iter().enumerate() {
                definitions[param.index()] = Some(Definition::Param(id, i));
            }
            for (i, inst) in region.insts.iter().enumerate() {
                for result in inst.results.iter() {
                    definitions[result.index()] = Some(Definition::Inst(id, i));
                }
            }
        });
        let mut plan = Plan {
            kept: Vec::new(),
            ids: HashMap::new(),
            handed: HashMap::new(),
            records: HashMap::new(),
            last: HashMap::new(),
            choices: HashMap::new(),
            definitions,
            touched: touched(linear),
            outer: Vec::new(),
            work: 0,
        };
        let mut needed = KeptSet::new();
        let walk = Walk {
            linear,
            shape,
            capacity: super::MAX_DERIVED_INSTRUCTIONS - differentiator.instructions,
        };
        let returns = shape.ends(Target::Return).to_vec();
        if !walk.region(&mut plan, function.body, &returns, &mut needed) {
            return Err(Loss::TooLarge {
                name: function.name.clone(),
                span: function.span,
            });
        }
        plan.outer = needed.into_iter().collect();
        plan.outer.sort_unstable();
        for ids in (plan.handed.values_mut())
            .chain(plan.records.values_mut())
            .chain(plan.last.values_mut())
        {
            ids.sort_unstable();
            ids.dedup();
        }
        Ok(plan)
    }

    pub(super) fn what(&self, id: KeptId) -> Kept {
        self.kept[id.index()].0
    }

    pub(super) fn ty(&self, id: KeptId) -> Scalar {
        self.kept[id.index()].1
    }

    /// The id of a kept value, if it is kept.
    pub(super) fn id(&self, what: Kept) -> Option<KeptId> {
        self.ids.get(&what).copied()
    }

    /// What an if or block hands out; for an if by its first region.
    pub(super) fn handed(&self, region: RegionId) -> &[KeptId] {
        self.handed.get(&region).map_or(&[], |ids| ids)
    }

    /// The fields of a loop's record; none if no complete iteration is reversed.
    pub(super) fn record(&self, region: RegionId) -> &[KeptId] {
        self.records.get(&region).map_or(&[], |ids| ids)
    }

    /// What a loop hands out of its last iteration, by the ids within.
    pub(super) fn last(&self, region: RegionId) -> &[KeptId] {
        self.last.get(&region).map_or(&[], |ids| ids)
    }

    pub(super) fn choice(&self, value: ValueId) -> Choice {
        self.choices.get(&value).copied().unwrap_or(Choice::Keep)
    }

    /// Whether anything in a region is to be reversed.
    pub(super) fn is_touched(&self, region: RegionId) -> bool {
        self.touched[region.index()]
    }

    /// The region and the position of the instruction that defines a value.
    pub(super) fn position(&self, value: ValueId) -> Option<(RegionId, usize)> {
        match self.definitions[value.index()] {
            Some(Definition::Inst(region, at)) => Some((region, at)),
            _ => None,
        }
    }

    /// The instruction that defines a value.
    pub(super) fn definition<'f>(
        &self,
        function: &'f Function,
        value: ValueId,
    ) -> Option<&'f Inst> {
        match self.definitions[value.index()] {
            Some(Definition::Inst(region, at)) => Some(&function.region(region).insts[at]),
            _ => None,
        }
    }

    fn keep(&mut self, what: Kept, ty: Scalar, region: RegionId) -> KeptId {
        if let Some(&id) = self.ids.get(&what) {
            return id;
        }
        let id = KeptId(self.kept.len() as u32);
        self.kept.push((what, ty, region));
        self.ids.insert(what, id);
        id
    }
}

/// By region: whether it has an active instruction, or passes an active value on.
fn touched(linear: &Linear) -> Vec<bool> {
    let function = &linear.function;
    let mut touched = vec![false; function.regions.len()];
    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    // Inner regions first.
    for &id in order.iter().rev() {
        let insts = &function.region(id).insts;
        touched[id.index()] = insts.iter().enumerate().any(|(at, inst)| match &inst.kind {
            InstKind::Op(_) => linear.sums.contains_key(&inst.results.first),
            InstKind::Call(..) => linear.calls.contains_key(&(id, at)),
            InstKind::Load(array)
            | InstKind::Store(array)
            | InstKind::ArrayZero(array)
            | InstKind::ArrayResize(array, _) => linear.active.array(*array),
            InstKind::ArrayCopy { to, .. } => linear.active.array(*to),
            kind if kind.effect() == Effect::UsesTape => {
                let mut fields = inst.args.iter().copied().chain(inst.results.iter());
                fields.any(|field| function.value(field).ty == Scalar::F32)
            }
            kind if kind.is_terminator() => inst.args.iter().any(|&a| linear.active.value(a)),
            kind => kind.regions().any(|region| touched[region.index()]),
        });
    }
    touched
}

struct Walk<'a> {
    linear: &'a Linear,
    shape: &'a Shape,
    /// The most instructions that may be planned.
    capacity: usize,
}

impl Walk<'_> {
    /// Adds what reversing a region reads, if control can have left it by these sites. Returns
    /// whether the limit holds.
    fn region(
        &self,
        plan: &mut Plan,
        id: RegionId,
        possible: &[u32],
        needed: &mut KeptSet,
    ) -> bool {
        let (Some(&last), true) = (possible.last(), plan.is_touched(id)) else {
            return true;
        };
        let insts = &self.linear.function.region(id).insts;
        plan.work += insts.len();
        if plan.work > self.capacity {
            return false;
        }
        let mut next = self.shape.sites(id).0;
        for (at, inst) in insts.iter().enumerate() {
            if next > last {
                break;
            }
            if !self.inst(plan, (id, at), inst, possible, needed) {
                return false;
            }
            for inner in inst.kind.regions() {
                next = self.shape.sites(inner).1 + 1;
            }
        }
        true
    }

    fn inst(
        &self,
        plan: &mut Plan,
        at: (RegionId, usize),
        inst: &Inst,
        possible: &[u32],
        needed: &mut KeptSet,
    ) -> bool {
        let active = &self.linear.active;
        match &inst.kind {
            InstKind::Op(_) => {
                for &(coefficient, _) in self
                    .linear
                    .sums
                    .get(&inst.results.first)
                    .into_iter()
                    .flatten()
                {
                    if let Some(value) = coefficient.value() {
                        self.value(plan, value, needed);
                    }
                }
            }
            InstKind::Load(array) | InstKind::Store(array) if active.array(*array) => {
                self.value(plan, inst.args[0], needed);
            }
            InstKind::ArrayCopy { to, .. } if active.array(*to) => {
                for &start in &inst.args {
                    self.value(plan, start, needed);
                }
            }
            InstKind::ArrayResize(array, _) if active.array(*array) => {
                self.value(plan, inst.results.first, needed);
            }
            InstKind::Call(..) => {
                if let Some(call) = self.linear.calls.get(&at) {
                    for (i, &ty) in (0..).zip(&call.kept) {
                        let id = plan.keep(Kept::Callee(at.0, at.1, i), ty, at.0);
                        needed.insert(id);
                    }
                    if let Some(custom) = &call.custom {
                        let elements = custom.arrays.iter().flat_map(|(_, elements)| elements);
                        for &value in custom.args.iter().chain(elements) {
                            self.value(plan, value, needed);
                        }
                    }
                }
            }
            InstKind::If(then, other) => {
                if !plan.is_touched(*then) && !plan.is_touched(*other) {
                    return true;
                }
                self.value(plan, inst.args[0], needed);
                let mut inner = KeptSet::new();
                for &arm in [then, other] {
                    let sites = self.shape.arm_sites(arm, *other, possible);
                    if !self.region(plan, arm, &sites, &mut inner) {
                        return false;
                    }
                }
                self.hand_out(plan, *then, &[*then, *other], inner, needed);
            }
            InstKind::Block(body) => {
                if !plan.is_touched(*body) {
                    return true;
                }
                let ends = self.shape.ends_of(*body);
                let sites = inside(possible, &ends, self.shape.sites(*body));
                if ends.len() > 1 {
                    needed.insert(plan.keep(Kept::Exit(*body), Scalar::I32, at.0));
                }
                let mut inner = KeptSet::new();
                if !self.region(plan, *body, &sites, &mut inner) {
                    return false;
                }
                self.hand_out(plan, *body, &[*body], inner, needed);
            }
            InstKind::Loop(body) if plan.is_touched(*body) => {
                return self.reversed_loop(plan, at.0, *body, possible, needed);
            }
            _ => {}
        }
        true
    }

    fn reversed_loop(
        &self,
        plan: &mut Plan,
        outer: RegionId,
        body: RegionId,
        possible: &[u32],
        needed: &mut KeptSet,
    ) -> bool {
        let ends = self.shape.ends_of(body);
        let continues = self.shape.ends(Target::Continue(body)).to_vec();
        if ends.len() > 1 {
            needed.insert(plan.keep(Kept::Exit(body), Scalar::I32, outer));
        }
        if !continues.is_empty() {
            needed.insert(plan.keep(Kept::Count(body), Scalar::I32, outer));
        }
        let mut complete = KeptSet::new();
        if !self.region(plan, body, &continues, &mut complete) {
            return false;
        }
        let mut last = KeptSet::new();
        let sites = inside(possible, &ends, self.shape.sites(body));
        if !self.region(plan, body, &sites, &mut last) {
            return false;
        }
        let is_within =
            |plan: &Plan, id: KeptId| self.shape.is_within(plan.kept[id.index()].2, body);
        let (own, others): (Vec<_>, Vec<_>) =
            complete.into_iter().partition(|&id| is_within(plan, id));
        plan.records.entry(body).or_default().extend(own);
        needed.extend(others);
        for id in last {
            if is_within(plan, id) {
                plan.last.entry(body).or_default().push(id);
                let ty = plan.ty(id);
                needed.insert(plan.keep(Kept::Last(body, id), ty, outer));
            } else {
                needed.insert(id);
            }
        }
        true
    }

    /// What is needed of the inside of an if or block is handed out of it.
    fn hand_out(
        &self,
        plan: &mut Plan,
        key: RegionId,
        regions: &[RegionId],
        inner: KeptSet,
        needed: &mut KeptSet,
    ) {
        for id in inner {
            let defined = plan.kept[id.index()].2;
            if regions
                .iter()
                .any(|&region| self.shape.is_within(defined, region))
            {
                plan.handed.entry(key).or_default().push(id);
            }
            needed.insert(id);
        }
    }

    /// Adds a value that the reverse sweep reads, or what it is repeated from.
    fn value(&self, plan: &mut Plan, value: ValueId, needed: &mut KeptSet) {
        let function = &self.linear.function;
        let choice = match plan.choices.get(&value) {
            Some(&choice) => choice,
            None => {
                let choice = self.choose(plan, value);
                plan.choices.insert(value, choice);
                choice
            }
        };
        match choice {
            Choice::Keep => {
                let ty = function.value(value).ty;
                let region = self.shape.region_of(value);
                needed.insert(plan.keep(Kept::Value(value), ty, region));
            }
            Choice::Repeat => {
                let args = plan
                    .definition(function, value)
                    .map(|inst| inst.args.clone());
                for arg in args.into_iter().flatten() {
                    // Below a repeated value everything else is free, or repeated too.
                    self.value(plan, arg, needed);
                }
            }
            Choice::Affine(_, begin, step) => {
                self.value(plan, begin, needed);
                self.value(plan, step, needed);
            }
        }
    }

    fn choose(&self, plan: &mut Plan, value: ValueId) -> Choice {
        if let Some(affine) = self.affine(plan, value) {
            return affine;
        }
        let region = self.shape.region_of(value);
        let around = self.shape.loop_of(region);
        if around.is_none() && region == self.linear.function.body {
            // There at the end of the sweep, but for what costs nothing at all.
            let inst = plan.definition(&self.linear.function, value);
            let is_free = inst.is_some_and(|inst| inst.args.is_empty() && inst.kind.is_pure());
            return match is_free {
                true => Choice::Repeat,
                false => Choice::Keep,
            };
        }
        match self.cost(plan, value, around, MAX_REPEATED_COST) {
            Some(cost) if cost <= MAX_REPEATED_COST && self.is_op(plan, value) => Choice::Repeat,
            _ => Choice::Keep,
        }
    }

    fn is_op(&self, plan: &Plan, value: ValueId) -> bool {
        let inst = plan.definition(&self.linear.function, value);
        inst.is_some_and(|inst| {
            matches!(
                inst.kind,
                InstKind::Op(_)
                    | InstKind::Const(_)
                    | InstKind::Global(..)
                    | InstKind::Resource(_)
                    | InstKind::Detach
            ) && inst.kind.is_pure()
        })
    }

    /// The cost of computing a value of an iteration again from what is there: values from outside
    /// of the loop, and the loop's parameters. `None` if it is above `budget`, or impossible.
    fn cost(
        &self,
        plan: &Plan,
        value: ValueId,
        around: Option<RegionId>,
        budget: u32,
    ) -> Option<u32> {
        let function = &self.linear.function;
        let region = self.shape.region_of(value);
        let is_outside =
            self.shape.loop_of(region) != around || (around.is_none() && region == function.body);
        match plan.definitions[value.index()]? {
            _ if is_outside
                && !matches!(plan.definition(function, value)?.kind, InstKind::Const(_)) =>
            {
                Some(0)
            }
            Definition::Param(..) => Some(0),
            Definition::Inst(region, at) => {
                let inst = &function.region(region).insts[at];
                let own = match inst.kind {
                    InstKind::Const(_) | InstKind::Global(..) | InstKind::Resource(_) => 0,
                    InstKind::Detach => 1,
                    InstKind::Op(op) if inst.kind.is_pure() => weight(op),
                    _ => return None,
                };
                let mut total = own;
                for &arg in &inst.args {
                    let left = budget.checked_sub(total)?;
                    total += self.cost(plan, arg, around, left)?;
                }
                (total <= budget).then_some(total)
            }
        }
    }

    /// Whether a value is a loop's parameter that grows by a constant in each iteration.
    fn affine(&self, plan: &Plan, value: ValueId) -> Option<Choice> {
        let function = &self.linear.function;
        let Some(Definition::Param(region, position)) = plan.definitions[value.index()] else {
            return None;
        };
        let outer = self.shape.parent(region)?;
        if function.value(value).ty != Scalar::I32 {
            return None;
        }
        let owner = function.region(outer).insts.iter();
        let owner = owner
            .into_iter()
            .find(|inst| inst.kind == InstKind::Loop(region))?;
        let begin = *owner.args.get(position)?;
        let mut step = None;
        let mut order = Vec::new();
        function.for_each_region(|id| order.push(id));
        for id in order {
            if !self.shape.is_within(id, region) {
                continue;
            }
            let end = function.terminator(id);
            if end.kind != InstKind::Continue(region) {
                continue;
            }
            let inst = plan.definition(function, end.args[position])?;
            if inst.kind != InstKind::Op(Op::IAdd) || inst.args[0] != value {
                return None;
            }
            let by = inst.args[1];
            let constant = plan.definition(function, by)?;
            let same = |other: ValueId| {
                plan.definition(function, other)
                    .is_some_and(|other| other.kind == constant.kind)
            };
            if !matches!(constant.kind, InstKind::Const(_)) || !step.is_none_or(same) {
                return None;
            }
            step = Some(by);
        }
        Some(Choice::Affine(region, begin, step?))
    }
}

/// The cost of an op, in additions.
fn weight(op: Op) -> u32 {
    let info = op.info();
    match info.class {
        _ if info.shares_shadow_routine => 100,
        _ if matches!(op, Op::Div | Op::Sqrt) => 4,
        OpClass::Smooth => 12,
        _ => 1,
    }
}
