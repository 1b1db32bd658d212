//! Comparisons that only choose between values that are equal where it turns: `a < b ? a : b` is
//! the lesser of two, and jumps nowhere.

use crate::module::*;
use adumbra_ops::Op;

/// A selection by a comparison that has no jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum ContinuousChoice {
    /// The lesser operand of the comparison.
    Min,
    /// The greater one.
    Max,
    /// The magnitude of the operand that is compared with 0.
    Abs,
}

/// What `a < b ? yes : no`, or the same by `<=`, is if it has no jump.
pub(in crate::passes) fn continuous_choice(
    [a, b]: [ValueId; 2],
    [yes, no]: [ValueId; 2],
    is_zero: impl Fn(ValueId) -> bool,
    is_negation: impl Fn(ValueId, ValueId) -> bool,
) -> Option<ContinuousChoice> {
    if (a, b) == (yes, no) {
        return Some(ContinuousChoice::Min);
    }
    if (a, b) == (no, yes) {
        return Some(ContinuousChoice::Max);
    }
    // c < 0 ? -c : c, and 0 < c ? c : -c.
    let is_abs = is_zero(b) && no == a && is_negation(yes, a)
        || is_zero(a) && yes == b && is_negation(no, b);
    is_abs.then_some(ContinuousChoice::Abs)
}

/// By value, whether it is a comparison that is used by selections without a jump alone.
pub(in crate::passes) fn continuous_comparisons(function: &Function) -> Vec<bool> {
    let mut definitions: Vec<Option<&Inst>> = vec![None; function.values.len()];
    let mut regions = Vec::new();
    function.for_each_region(|region| regions.push(region));
    let insts = || {
        let regions = regions.iter();
        regions.flat_map(|&region| &function.region(region).insts)
    };
    for inst in insts() {
        for result in inst.results.iter() {
            definitions[result.index()] = Some(inst);
        }
    }
    let defined = |value: ValueId| definitions[value.index()];
    let is_zero = |value: ValueId| {
        let inst = defined(value);
        inst.is_some_and(|inst| matches!(inst.kind, InstKind::Const(bits) if bits << 1 == 0))
    };
    let is_negation = |value: ValueId, of: ValueId| {
        let inst = defined(value);
        inst.is_some_and(|inst| inst.kind == InstKind::Op(Op::Neg) && inst.args[0] == of)
    };
    let compares = |inst: &Inst| matches!(inst.kind, InstKind::Op(Op::FLt | Op::FLe));
    let mut found: Vec<bool> = (definitions.iter())
        .map(|inst| inst.is_some_and(compares))
        .collect();
    for inst in insts() {
        for (operand, &value) in inst.args.iter().enumerate() {
            let Some(compared) = defined(value).filter(|_| found[value.index()]) else {
                continue;
            };
            let operands = [compared.args[0], compared.args[1]];
            let is_choice = operand == 0
                && inst.kind == InstKind::Op(Op::Select)
                && continuous_choice(operands, [inst.args[1], inst.args[2]], is_zero, is_negation)
                    .is_some();
            found[value.index()] = is_choice;
        }
    }
    found
}
