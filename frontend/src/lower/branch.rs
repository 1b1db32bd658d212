//! Branches: `if`, `? :`, `&&`, `||`, and their effect on the variables.
//!
//! A selection between values becomes a branch only where a side can fault, has an effect, or is
//! worth skipping.

use super::function::{FunctionLowering, LeafValues};
use super::observe::ConditionKind;
use super::ssa::SlotChange;
use crate::check::typed_tree::{TypedExpr, TypedExprKind};
use crate::check::types::TypeId;
use adumbra_ir::module::{Args, InstKind, RegionId, ValueId};
use adumbra_ir::{Op, Scalar, Span};

/// Most ops on both sides of a selection that are computed rather than skipped.
const MAX_SPECULATED: u32 = 4;

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// Lowers an `if` and its arms. Each arm yields values of the same types. After it, the
    /// variables that either arm changes hold their values from the arm taken.
    pub(super) fn branch(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Self) -> LeafValues,
        otherwise: impl FnOnce(&mut Self) -> LeafValues,
        span: Span,
    ) -> LeafValues {
        let then = self.arm(then, span);
        let otherwise = self.arm(otherwise, span);
        let given = then.given.as_ref().or(otherwise.given.as_ref());
        let count = given.map_or(0, LeafValues::len);
        let (merged, alike) = join(&then, &otherwise);
        let given = given.into_iter().flatten().map(|leaf| leaf.value());
        let values = given.chain(merged.iter().map(|merged| merged.then));
        let types: Vec<Scalar> = values.map(|value| self.builder.ty(value)).collect();
        self.hand_over(&then, merged.iter().map(|merged| merged.then));
        self.hand_over(&otherwise, merged.iter().map(|merged| merged.otherwise));
        let kind = InstKind::If(then.region, otherwise.region);
        let results = self.builder.inst(kind, [condition], types, span);
        let mut results = results.iter();
        let values: LeafValues = results.by_ref().take(count).map(Into::into).collect();
        for (merged, value) in merged.iter().zip(results) {
            self.set(merged.slot, value);
        }
        for change in alike {
            self.environment.set(change.slot, change.after);
        }
        if then.given.is_none() && otherwise.given.is_none() {
            self.builder.terminate(InstKind::Unreachable, [], span);
        }
        values
    }

    fn arm(&mut self, lower: impl FnOnce(&mut Self) -> LeafValues, span: Span) -> Lowered {
        let arm = self.environment.begin_arm();
        let region = self.builder.open_region();
        let values = lower(self);
        let given = match self.builder.is_terminated() {
            true => None,
            false => {
                // The yielded values are known when both arms are lowered.
                self.builder.terminate(InstKind::Yield, [], span);
                Some(values)
            }
        };
        self.builder.close_region();
        Lowered {
            region,
            given,
            changes: self.environment.end_arm(arm),
        }
    }

    /// Fills in the values that the end of an arm yields.
    fn hand_over(&mut self, arm: &Lowered, merged: impl Iterator<Item = ValueId>) {
        let Some(given) = &arm.given else { return };
        let region = &mut self.builder.function_mut().regions[arm.region.index()];
        let end = region.insts.last_mut().expect("an arm has its terminator");
        end.args = given
            .iter()
            .map(|leaf| leaf.value())
            .chain(merged)
            .collect::<Args>();
    }

    /// `a && b` and `a || b`.
    pub(super) fn short_circuit(
        &mut self,
        a: &TypedExpr<'a>,
        b: &TypedExpr<'a>,
        is_and: bool,
        span: Span,
    ) -> ValueId {
        let left = self.value(a);
        if self.can_speculate(&[b]) {
            let right = self.value(b);
            let op = if is_and { Op::And } else { Op::Or };
            return self.builder.op(op, &[left, right], span);
        }
        let decided = |body: &mut Self| {
            let bits = u32::from(!is_and);
            LeafValues::from_elem(body.builder.constant(Scalar::Bool, bits, span).into(), 1)
        };
        let asked = |body: &mut Self| LeafValues::from_elem(body.value(b).into(), 1);
        let values = match is_and {
            true => self.branch(left, asked, decided, span),
            false => self.branch(left, decided, asked, span),
        };
        values[0].value()
    }

    /// `condition ? yes : no`
    pub(super) fn ternary(
        &mut self,
        [condition, yes, no]: &[TypedExpr<'a>; 3],
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        let holds = self.value(condition);
        self.observe_condition(ConditionKind::Ternary, holds, condition.span);
        let is_plain = ty.is_number() || ty.is_vector();
        if is_plain && self.can_speculate(&[yes, no]) {
            let (yes, no) = (self.values(yes), self.values(no));
            return self.select(holds, &yes, &no, span);
        }
        if !self.types().has_arrays(ty) {
            return self.branch(holds, |body| body.values(yes), |body| body.values(no), span);
        }
        // Arrays are filled by the arm taken; scalars are results of the branch.
        let mut storage = self.allocate_temporary(ty, span);
        let leaves = self.leaves(ty);
        let fill = |body: &mut Self, from: &TypedExpr<'a>| {
            let mut storage = storage.clone();
            body.initialise(&mut storage, from, false);
            let all = leaves.iter().zip(storage);
            all.filter(|(leaf, _)| leaf.len == 0)
                .map(|(_, value)| value)
                .collect()
        };
        let scalars = self.branch(holds, |body| fill(body, yes), |body| fill(body, no), span);
        let places = leaves.iter().zip(&mut storage);
        for ((_, place), scalar) in places.filter(|(leaf, _)| leaf.len == 0).zip(scalars) {
            *place = scalar;
        }
        storage
    }

    /// Selects leaf by leaf between existing values.
    pub(super) fn select(
        &mut self,
        condition: ValueId,
        yes: &LeafValues,
        no: &LeafValues,
        span: Span,
    ) -> LeafValues {
        let has_handles = yes
            .iter()
            .any(|leaf| self.builder.ty(leaf.value()).is_handle());
        if has_handles {
            return self.branch(condition, |_| yes.clone(), |_| no.clone(), span);
        }
        let mut out = LeafValues::new();
        for (yes, no) in yes.iter().zip(no) {
            let (yes, no) = (yes.value(), no.value());
            let op = match self.builder.ty(yes) {
                Scalar::F32 => Op::Select,
                _ => Op::ISel,
            };
            out.push(self.builder.op(op, &[condition, yes, no], span).into());
        }
        out
    }

    /// Whether all of them together are cheap, cannot fault and have no effect.
    fn can_speculate(&self, exprs: &[&TypedExpr<'a>]) -> bool {
        let mut left = MAX_SPECULATED;
        exprs.iter().all(|expr| self.is_cheap(expr, &mut left))
    }

    fn is_cheap(&self, expr: &TypedExpr<'a>, left: &mut u32) -> bool {
        match expr.kind {
            TypedExprKind::Constant(_) => true,
            TypedExprKind::Local(_) | TypedExprKind::Global(_) => !self.types().has_arrays(expr.ty),
            TypedExprKind::Zero => expr.ty.is_number() || expr.ty.is_vector(),
            TypedExprKind::Swizzle(inner, _)
            | TypedExprKind::Splat(inner)
            | TypedExprKind::Member(inner, _) => {
                !self.types().has_arrays(inner.ty) && self.is_cheap(inner, left)
            }
            TypedExprKind::Convert(inner) => spend(left, 1) && self.is_cheap(inner, left),
            TypedExprKind::Op(op, operands) => {
                is_cheap_op(op)
                    && spend(left, self.types().leaf_count(expr.ty))
                    && operands.iter().all(|operand| self.is_cheap(operand, left))
            }
            TypedExprKind::Reversed(op, operands) => {
                is_cheap_op(op)
                    && spend(left, 1)
                    && operands.iter().all(|operand| self.is_cheap(operand, left))
            }
            _ => false,
        }
    }
}

fn spend(left: &mut u32, count: u32) -> bool {
    match left.checked_sub(count) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

/// Whether the op costs less than a branch and cannot fault.
fn is_cheap_op(op: Op) -> bool {
    match op {
        Op::Neg | Op::Add | Op::Sub | Op::Mul | Op::Min | Op::Max | Op::Abs | Op::Saturate => true,
        _ => !op.info().is_differentiable() && op.info().fault.is_none(),
    }
}

/// An arm that was lowered.
struct Lowered {
    region: RegionId,
    /// The values that it yields; `None` if control does not reach its end.
    given: Option<LeafValues>,
    changes: Vec<SlotChange>,
}

impl Lowered {
    /// The slots that it changed, if control reaches its end.
    fn seen(&self) -> &[SlotChange] {
        match self.given {
            Some(_) => &self.changes,
            None => &[],
        }
    }
}

/// A slot that at least one arm changed, and its value after each.
struct Merged {
    slot: u32,
    then: ValueId,
    otherwise: ValueId,
}

/// The slots that two arms changed, in order: to values of their own, and both to one value from
/// before the branch.
fn join(then: &Lowered, otherwise: &Lowered) -> (Vec<Merged>, Vec<SlotChange>) {
    let (mut a, mut b) = (then.seen(), otherwise.seen());
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut alike = Vec::new();
    loop {
        let (first, second) = (a.first(), b.first());
        let (slot, then, otherwise) = match (first, second) {
            (None, None) => return (merged, alike),
            (Some(x), Some(y)) if x.slot == y.slot => (x.slot, x.after, y.after),
            (Some(x), y) if y.is_none_or(|y| x.slot < y.slot) => (x.slot, x.after, x.before),
            (_, Some(y)) => (y.slot, y.before, y.after),
            (Some(x), None) => (x.slot, x.after, x.before),
        };
        if first.is_some_and(|x| x.slot == slot) {
            a = &a[1..];
        }
        if second.is_some_and(|y| y.slot == slot) {
            b = &b[1..];
        }
        if then != otherwise {
            merged.push(Merged {
                slot,
                then: then.value(),
                otherwise: otherwise.value(),
            });
        } else if let Some(&change) = first {
            alike.push(change);
        }
    }
}
