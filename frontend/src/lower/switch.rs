//! `switch`: a block with one branch for each case, which `break` leaves.
//!
//! The branches are siblings, so that bodies are lowered once and the nesting does not grow with
//! the number of cases. A case is entered where one of its labels matches or control falls in from
//! the one before. A case that falls into the next therefore yields whether it was entered. That
//! suffices: a point that has entered an earlier case has fallen through all cases between.

use super::function::{FunctionLowering, LeafValues};
use super::observe::ConditionKind;
use crate::check::typed_tree::TypedSwitch;
use adumbra_ir::module::{InstKind, ValueId};
use adumbra_ir::{Op, Scalar, Span};

impl<'a> FunctionLowering<'_, '_, 'a> {
    pub(super) fn switch_statement(&mut self, statement: &TypedSwitch<'a>) {
        let span = statement.span;
        let value = self.value(statement.value);
        self.observe_condition(ConditionKind::Switch, value, statement.value.span);
        let block = self.builder.open_region();
        self.push_target(false, statement.changed);
        let before = self.carried_values();
        let types: Vec<Scalar> = before.iter().map(|&value| self.builder.ty(value)).collect();
        let mut entered = None;
        for (index, case) in statement.cases.iter().enumerate() {
            let is_last = index + 1 == statement.cases.len();
            if is_last && statement.has_default {
                // Control enters some case, and none before, or it fell through to here.
                self.statements(case.body);
                break;
            }
            let matches = match case.is_default {
                false => self.is_any(value, case.labels.iter(), span),
                true => {
                    let later = statement.cases[index + 1..].iter();
                    let known = self.is_any(value, later.flat_map(|case| case.labels), span);
                    self.builder.op(Op::LNot, &[known], span)
                }
            };
            let enters = match entered {
                Some(entered) => self.builder.op(Op::Or, &[entered, matches], span),
                None => matches,
            };
            let whether = |body: &mut Self, entered: bool| match case.falls_through {
                true => {
                    let bits = u32::from(entered);
                    LeafValues::from_elem(body.builder.constant(Scalar::Bool, bits, span).into(), 1)
                }
                false => LeafValues::new(),
            };
            let values = self.branch(
                enters,
                |body| {
                    body.statements(case.body);
                    match body.builder.is_terminated() {
                        true => LeafValues::new(),
                        false => whether(body, true),
                    }
                },
                |body| whether(body, false),
                span,
            );
            entered = values.first().map(|leaf| leaf.value());
        }
        let ends = !self.builder.is_terminated();
        if ends {
            let values = self.carried_values();
            self.builder.terminate(InstKind::Yield, values, span);
        }
        self.builder.close_region();
        let goes_on = ends || self.target().has_break;
        let results = match goes_on {
            true => types,
            false => Vec::new(),
        };
        let results = self.builder.inst(InstKind::Block(block), [], results, span);
        match goes_on {
            true => self.set_carried(results.iter()),
            false => self.builder.terminate(InstKind::Unreachable, [], span),
        }
        self.targets.pop();
    }

    /// Whether the value is one of the labels.
    fn is_any<'l>(
        &mut self,
        value: ValueId,
        labels: impl Iterator<Item = &'l u32>,
        span: Span,
    ) -> ValueId {
        let ty = self.builder.ty(value);
        let mut any = None;
        for &bits in labels {
            let label = self.builder.constant(ty, bits, span);
            let is_it = self.builder.op(Op::IEq, &[value, label], span);
            any = Some(match any {
                Some(any) => self.builder.op(Op::Or, &[any, is_it], span),
                None => is_it,
            });
        }
        any.unwrap_or_else(|| self.builder.constant(Scalar::Bool, 0, span))
    }
}
