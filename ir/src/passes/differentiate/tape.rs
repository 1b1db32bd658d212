//! Records on tapes: their derivatives, and those that the sweeps of reverse mode make.

use super::forward::Forward;
use super::loss::Loss;
use super::transpose::Transpose;
use crate::builder::FunctionBuilder;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;

/// Appends an instruction that keeps a record with these values.
pub(super) fn keep(
    builder: &mut FunctionBuilder,
    tape: TapeId,
    record: RecordId,
    values: impl IntoIterator<Item = ValueId>,
    span: Span,
) {
    builder.inst(InstKind::Keep(tape, record), values, [], span);
}

/// Appends an instruction that takes a record with values of these types.
pub(super) fn take(
    builder: &mut FunctionBuilder,
    tape: TapeId,
    record: RecordId,
    fields: impl IntoIterator<Item = Scalar>,
    span: Span,
) -> Results {
    builder.inst(InstKind::Take(tape, record), [], fields, span)
}

fn floats(
    function: &Function,
    values: impl IntoIterator<Item = ValueId>,
) -> impl Iterator<Item = ValueId> {
    let values = values.into_iter();
    values.filter(|&value| function.value(value).ty == Scalar::F32)
}

impl Forward<'_, '_> {
    /// A record is kept or taken with the tangents of its floats after them.
    pub(super) fn record(&mut self, inst: &Inst) -> Result<(), Loss> {
        let primal = self.primal;
        let is_float = |value: ValueId| primal.value(value).ty == Scalar::F32;
        match inst.kind {
            InstKind::Keep(tape, record) => {
                let record = self.differentiator.record_with_tangents(primal, record)?;
                let selected: Vec<bool> = inst.args.iter().map(|&a| is_float(a)).collect();
                let args = self.with_tangents(inst, selected);
                keep(&mut self.builder, tape, record, args, inst.span);
            }
            InstKind::Take(tape, record) => {
                let record = self.differentiator.record_with_tangents(primal, record)?;
                let selected: Vec<bool> = inst.results.iter().map(is_float).collect();
                let types = self.result_types(inst, &selected);
                let results = take(&mut self.builder, tape, record, types, inst.span);
                self.copied.define(&mut self.builder, primal, inst, results);
                let tangents = results.iter().skip(inst.results.count as usize);
                for (result, tangent) in floats(primal, inst.results.iter()).zip(tangents) {
                    if self.active.value(result) {
                        self.tangents[result.index()] = Some(tangent);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Transpose<'_> {
    /// Records of lower orders: the adjoints of what was taken are kept, and the other way round.
    pub(super) fn record(&mut self, inst: &Inst) {
        let function = &self.linear.function;
        match inst.kind {
            InstKind::Take(tape, record) => {
                if let Some(&adjoints) = self.adjoint_records.get(&record) {
                    let fields: Vec<ValueId> = floats(function, inst.results.iter())
                        .map(|result| self.adjoint_or_zero(result, inst.span))
                        .collect();
                    keep(&mut self.builder, tape, adjoints, fields, inst.span);
                }
            }
            InstKind::Keep(tape, record) => {
                if let Some(&adjoints) = self.adjoint_records.get(&record) {
                    let kept: Vec<ValueId> = floats(function, inst.args.iter().copied()).collect();
                    let types = kept.iter().map(|_| Scalar::F32);
                    let taken = take(&mut self.builder, tape, adjoints, types, inst.span);
                    for (&arg, adjoint) in kept.iter().zip(taken.iter()) {
                        self.add(arg, adjoint, inst.span);
                    }
                }
            }
            _ => {}
        }
    }
}
