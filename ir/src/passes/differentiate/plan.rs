//! Which primal values the reverse sweep reads, and where they are kept.
//!
//! `choose` decides before what is kept. The forward sweep hands kept values out of ifs and blocks
//! as further results. At the end of each iteration of a loop it puts those of the iteration in a
//! record on the tape. Those of the last iteration, which a break left, it hands out of the loop.
//! So at its end everything kept is a value, or on the tape in the order of iterations.
//!
//! The plan walks the function as `transpose` does: region by region, for the sites by which
//! control can have left the region. So it has all that the reverse sweep reads.

use super::choose::{Choice, Choices};
use super::linear::Linear;
use super::loss::DerivedLimit;
use super::shape::{Shape, Target, inside};
use super::{Differentiator, Loss};
use crate::instruction::Effect;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

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

/// A kept value, with its type, the region that defines it, and for one of the primal function the
/// first instruction that is reversed with it.
struct KeptEntry {
    what: Kept,
    ty: Scalar,
    region: RegionId,
    reader: Option<(RegionId, usize)>,
}

/// A function's plan.
pub(super) struct Plan {
    kept: Vec<KeptEntry>,
    ids: FxHashMap<Kept, KeptId>,
    /// By the region of a block, the first region of an if: what it hands out.
    handed: FxHashMap<RegionId, Vec<KeptId>>,
    /// By loop: the fields of its record.
    records: FxHashMap<RegionId, Vec<KeptId>>,
    /// By loop: what it hands out of its last iteration.
    last: FxHashMap<RegionId, Vec<KeptId>>,
    /// By loop: the most iterations that it is said to have, and where that is said.
    limits: FxHashMap<RegionId, (u32, Span)>,
    pub(super) choices: Choices,
    /// By loop: values from outside of it that are repeated for its iterations.
    repeated: FxHashMap<RegionId, Vec<ValueId>>,
    /// Regions in which something is to be reversed.
    touched: Vec<bool>,
    /// Everything that the reverse sweep reads outside of loops.
    pub(super) outer: Vec<KeptId>,
    /// How many instructions were planned; code of the last iteration is written twice.
    work: usize,
}

/// What reversing regions reads.
#[derive(Default)]
struct Needs {
    kept: BTreeSet<KeptId>,
    /// Values that are among them, or that are repeated from them.
    there: FxHashSet<ValueId>,
}

impl Needs {
    fn insert(&mut self, id: KeptId) {
        self.kept.insert(id);
    }
}

impl Plan {
    /// Plans the reverse sweep of a function; `on_tape` if what is kept at the end of the forward
    /// sweep goes on the tape.
    pub(super) fn new(
        differentiator: &Differentiator<'_>,
        linear: &Linear,
        shape: &Shape,
        on_tape: bool,
    ) -> Result<Plan, Loss> {
        let function = &linear.function;
        let touched = touched(linear);
        let mut plan = Plan {
            kept: Vec::new(),
            ids: FxHashMap::default(),
            handed: FxHashMap::default(),
            records: FxHashMap::default(),
            last: FxHashMap::default(),
            limits: FxHashMap::default(),
            choices: Choices::new(
                linear,
                shape,
                &touched,
                &differentiator.module.hints,
                on_tape,
            ),
            repeated: FxHashMap::default(),
            touched,
            outer: Vec::new(),
            work: 0,
        };
        let mut needed = Needs::default();
        let walk = Walk {
            linear,
            shape,
            hints: &differentiator.module.hints,
            capacity: super::MAX_DERIVED_INSTRUCTIONS - differentiator.instructions,
        };
        let returns = shape.ends(Target::Return).to_vec();
        if !walk.region(&mut plan, function.body, &returns, &mut needed) {
            return Err(super::too_large(function, DerivedLimit::Instructions));
        }
        plan.outer = needed.kept.into_iter().collect();
        plan.outer.sort_unstable();
        for ids in (plan.handed.values_mut())
            .chain(plan.records.values_mut())
            .chain(plan.last.values_mut())
        {
            ids.sort_unstable();
            ids.dedup();
        }
        for values in plan.repeated.values_mut() {
            values.sort_unstable();
            values.dedup();
        }
        Ok(plan)
    }

    /// What a kept value is.
    pub(super) fn what(&self, id: KeptId) -> Kept {
        self.kept[id.index()].what
    }

    /// The type of a kept value.
    pub(super) fn ty(&self, id: KeptId) -> Scalar {
        self.kept[id.index()].ty
    }

    /// The first instruction that is reversed with a kept value of the primal function.
    pub(super) fn reader(&self, id: KeptId) -> Option<(RegionId, usize)> {
        self.kept[id.index()].reader
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

    /// The values from outside of a loop that are repeated for its iterations.
    pub(super) fn repeated(&self, region: RegionId) -> &[ValueId] {
        self.repeated.get(&region).map_or(&[], |values| values)
    }

    /// The most iterations that a loop is said to have, and where that is said.
    pub(super) fn limit(&self, region: RegionId) -> Option<(u32, Span)> {
        self.limits.get(&region).copied()
    }

    /// Whether anything in a region is to be reversed.
    pub(super) fn is_touched(&self, region: RegionId) -> bool {
        self.touched[region.index()]
    }

    fn keep(&mut self, what: Kept, ty: Scalar, region: RegionId) -> KeptId {
        if let Some(&id) = self.ids.get(&what) {
            return id;
        }
        let id = KeptId(self.kept.len() as u32);
        self.kept.push(KeptEntry {
            what,
            ty,
            region,
            reader: None,
        });
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
            InstKind::Buffer(buffer, ..) => {
                let derivative = linear.active.derivative_of(inst.results.first, *buffer);
                derivative.is_some()
            }
            InstKind::Sample(texture, ..) => {
                linear.active.derivative_of_sample(inst, *texture).is_some()
            }
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
    hints: &'a DerivativeHints,
    /// The most instructions that may be planned.
    capacity: usize,
}

impl Walk<'_> {
    /// Adds what reversing a region reads, if control can have left it by these sites. Returns
    /// whether the limit holds.
    fn region(&self, plan: &mut Plan, id: RegionId, possible: &[u32], needed: &mut Needs) -> bool {
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
        needed: &mut Needs,
    ) -> bool {
        match &inst.kind {
            InstKind::Call(..) => {
                if let Some(call) = self.linear.calls.get(&at) {
                    for (i, &ty) in (0..).zip(&call.kept) {
                        let id = plan.keep(Kept::Callee(at.0, at.1, i), ty, at.0);
                        needed.insert(id);
                    }
                    self.reads(plan, at, inst, needed);
                }
            }
            InstKind::If(then, other) => {
                if !plan.is_touched(*then) && !plan.is_touched(*other) {
                    return true;
                }
                let arms = [then, other];
                let sites = arms.map(|&arm| self.shape.arm_sites(arm, *other, possible));
                if sites.iter().all(|sites| !sites.is_empty()) {
                    self.reads(plan, at, inst, needed);
                }
                let mut inner = Needs::default();
                for (&arm, sites) in arms.into_iter().zip(sites) {
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
                let mut inner = Needs::default();
                if !self.region(plan, *body, &sites, &mut inner) {
                    return false;
                }
                self.hand_out(plan, *body, &[*body], inner, needed);
            }
            InstKind::Loop(body) if plan.is_touched(*body) => {
                let limit = self.hints.max_iterations(inst.span);
                plan.limits.extend(limit.map(|limit| (*body, limit)));
                return self.reversed_loop(plan, at.0, *body, possible, needed);
            }
            _ => self.reads(plan, at, inst, needed),
        }
        true
    }

    /// Adds what reversing an instruction reads itself.
    fn reads(&self, plan: &mut Plan, at: (RegionId, usize), inst: &Inst, needed: &mut Needs) {
        self.linear
            .for_each_read(at, inst, |value| self.value(plan, at, value, needed));
    }

    fn reversed_loop(
        &self,
        plan: &mut Plan,
        outer: RegionId,
        body: RegionId,
        possible: &[u32],
        needed: &mut Needs,
    ) -> bool {
        let ends = self.shape.ends_of(body);
        let continues = self.shape.ends(Target::Continue(body)).to_vec();
        if ends.len() > 1 {
            needed.insert(plan.keep(Kept::Exit(body), Scalar::I32, outer));
        }
        if !continues.is_empty() {
            needed.insert(plan.keep(Kept::Count(body), Scalar::I32, outer));
        }
        let mut complete = Needs::default();
        if !self.region(plan, body, &continues, &mut complete) {
            return false;
        }
        let mut last = Needs::default();
        let sites = inside(possible, &ends, self.shape.sites(body));
        if !self.region(plan, body, &sites, &mut last) {
            return false;
        }
        let is_within =
            |plan: &Plan, id: KeptId| self.shape.is_within(plan.kept[id.index()].region, body);
        let (own, others): (Vec<_>, Vec<_>) = complete
            .kept
            .into_iter()
            .partition(|&id| is_within(plan, id));
        plan.records.entry(body).or_default().extend(own);
        needed.kept.extend(others);
        for id in last.kept {
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
        inner: Needs,
        needed: &mut Needs,
    ) {
        for id in inner.kept {
            let defined = plan.kept[id.index()].region;
            if regions
                .iter()
                .any(|&region| self.shape.is_within(defined, region))
            {
                plan.handed.entry(key).or_default().push(id);
            }
            needed.insert(id);
        }
    }

    /// Adds a value that reversing an instruction reads, or what it is repeated from.
    fn value(
        &self,
        plan: &mut Plan,
        reader: (RegionId, usize),
        value: ValueId,
        needed: &mut Needs,
    ) {
        let function = &self.linear.function;
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !needed.there.insert(value) {
                continue;
            }
            plan.work += 1;
            let choice = plan.choices.of(value);
            match choice {
                Choice::Keep(_) => {
                    let ty = function.value(value).ty;
                    let defined = self.shape.region_of(value);
                    let id = plan.keep(Kept::Value(value), ty, defined);
                    plan.kept[id.index()].reader.get_or_insert(reader);
                    needed.insert(id);
                    continue;
                }
                Choice::Repeat => {
                    let inst = self.shape.inst(function, value);
                    open.extend(&inst.expect("it can run again").args);
                }
                Choice::Affine(_, begin, step) => open.extend([begin, step]),
            }
            if let Some(body) = self.outermost_after(reader.0, value) {
                plan.repeated.entry(body).or_default().push(value);
            }
        }
    }

    /// The outermost loop around a region that a value is outside of.
    fn outermost_after(&self, region: RegionId, value: ValueId) -> Option<RegionId> {
        let shape = self.shape;
        let defined = shape.region_of(value);
        let mut found = None;
        let mut at = shape.loop_of(region);
        while let Some(body) = at {
            if shape.is_within(defined, body) {
                break;
            }
            found = Some(body);
            at = shape.parent(body).and_then(|outer| shape.loop_of(outer));
        }
        found
    }
}
