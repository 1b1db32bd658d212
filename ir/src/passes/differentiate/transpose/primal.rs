//! Primal values in the reverse sweep.

use super::super::choose::Choice;
use super::super::plan::Kept;
use super::Transpose;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

impl Transpose<'_> {
    /// The primal value: kept, repeated, or there from the forward sweep.
    pub(super) fn value(&mut self, value: ValueId, span: Span) -> ValueId {
        let found = self.reachable_value(value, span);
        found.expect("the plan keeps what is read")
    }

    /// The primal value, unless something that it needs is not kept here.
    pub(super) fn reachable_value(&mut self, value: ValueId, span: Span) -> Option<ValueId> {
        let mut open = vec![value];
        while let Some(&value) = open.last() {
            if self.there(value).is_none() {
                let operands: Args = match self.plan.choices.of(value) {
                    Choice::Keep(_) => return None,
                    Choice::Repeat => {
                        let inst = self.shape.inst(&self.linear.function, value);
                        inst.expect("it can run again").args.clone()
                    }
                    Choice::Affine(_, begin, step) => Args::from_slice(&[begin, step]),
                };
                let before = open.len();
                open.extend(operands.into_iter().filter(|&a| self.there(a).is_none()));
                if open.len() > before {
                    continue;
                }
                self.repeat(value, span);
            }
            open.pop();
        }
        self.there(value)
    }

    /// The primal value, if it is there.
    pub(super) fn there(&self, value: ValueId) -> Option<ValueId> {
        let copied = self.copied.as_ref().and_then(|copied| copied.get(value));
        let kept = || {
            let id = self.plan.id(Kept::Value(value))?;
            self.visible.get(&id).copied()
        };
        copied
            .or_else(|| self.repeated.get(&value).copied())
            .or_else(kept)
    }

    /// Computes a value again whose operands are there.
    pub(super) fn repeat(&mut self, value: ValueId, span: Span) {
        let function = &self.linear.function;
        let operand = |this: &Self, value| this.there(value).expect("it is there");
        let new = match self.plan.choices.of(value) {
            Choice::Affine(region, begin, step) => {
                let is = |value, constant| {
                    let inst = self.shape.inst(function, value);
                    inst.is_some_and(|inst| inst.kind == InstKind::Const(constant))
                };
                let (is_one, is_zero) = (is(step, 1), is(begin, 0));
                let (begin, step) = (operand(self, begin), operand(self, step));
                let iteration = self.iterations[&region];
                let moved = match is_one {
                    true => iteration,
                    false => self.builder.op(Op::IMul, &[iteration, step], span),
                };
                match is_zero {
                    true => moved,
                    false => self.builder.op(Op::IAdd, &[begin, moved], span),
                }
            }
            _ => {
                let inst = self.shape.inst(function, value).expect("it can run again");
                let args: Args = inst.args.iter().map(|&a| operand(self, a)).collect();
                let types: Vec<Scalar> =
                    inst.results.iter().map(|r| function.value(r).ty).collect();
                let place = value.0 - inst.results.first.0;
                let kind = match inst.kind {
                    // It has faulted, if it has to.
                    InstKind::Buffer(buffer, number, _) => {
                        InstKind::Buffer(buffer, number, IndexCheck::Silent)
                    }
                    ref kind => kind.clone(),
                };
                let results = self.builder.inst(kind, args, types, span);
                ValueId(results.first.0 + place)
            }
        };
        self.repeated.insert(value, new);
        self.repeated_log.push(value);
    }

    /// Forgets the values that were repeated after a mark: their regions end.
    pub(super) fn forget_repeated(&mut self, mark: usize) {
        for value in self.repeated_log.drain(mark..) {
            self.repeated.remove(&value);
        }
    }
}
