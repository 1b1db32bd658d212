//! Selections of one value or another: `min`, `max`, `abs` and logic where those say the same.

use super::writer::Writer;
use crate::module::ValueId;
use crate::passes::decisions::{ContinuousChoice, continuous_choice};
use crate::types::Scalar;
use adumbra_ops::Op;

/// A selection, or what it is like.
pub(super) fn select(
    writer: &mut Writer,
    condition: ValueId,
    yes: ValueId,
    no: ValueId,
) -> ValueId {
    if let Some(arm) = writer.arm(condition, yes, no) {
        return arm;
    }
    if let Some((Op::LNot, args)) = writer.definition(condition) {
        return select(writer, args[0], no, yes);
    }
    match writer.ty(yes) {
        Scalar::Bool => {
            let [zero, one] = [0, 1].map(|bits| (writer.is(yes, bits), writer.is(no, bits)));
            match (one, zero) {
                ((true, _), (_, true)) => condition,
                ((_, true), (true, _)) => writer.op(Op::LNot, &[condition]),
                (_, (_, true)) => writer.op(Op::And, &[condition, yes]),
                ((true, _), _) => writer.op(Op::Or, &[condition, no]),
                (_, (true, _)) => {
                    let condition = writer.op(Op::LNot, &[condition]);
                    writer.op(Op::And, &[condition, no])
                }
                ((_, true), _) => {
                    let condition = writer.op(Op::LNot, &[condition]);
                    writer.op(Op::Or, &[condition, yes])
                }
                _ => writer.op(Op::ISel, &[condition, yes, no]),
            }
        }
        Scalar::F32 => {
            if let Some((compare @ (Op::FLt | Op::FLe), args)) = writer.definition(condition) {
                let (a, b) = (args[0], args[1]);
                // At ties `min` and `max` take their first operand.
                let ordered = |taken, other| match compare {
                    Op::FLt => [other, taken],
                    _ => [taken, other],
                };
                let is_zero = |value| writer.known(value).is_some_and(|bits| bits << 1 == 0);
                let is_negation = |value, of| matches!(writer.definition(value), Some((Op::Neg, args)) if args[0] == of);
                match continuous_choice([a, b], [yes, no], is_zero, is_negation) {
                    Some(ContinuousChoice::Min) => return writer.op(Op::Min, &ordered(a, b)),
                    Some(ContinuousChoice::Max) => return writer.op(Op::Max, &ordered(b, a)),
                    Some(ContinuousChoice::Abs) => {
                        let operand = if is_zero(b) { a } else { b };
                        return writer.op(Op::Abs, &[operand]);
                    }
                    None => {}
                }
            }
            writer.op(Op::Select, &[condition, yes, no])
        }
        _ => writer.op(Op::ISel, &[condition, yes, no]),
    }
}
