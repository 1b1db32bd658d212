//! Long ops in derived code: one `WithSlopes` in place of the instructions of their partials.
//!
//! An algorithm as that of noise shares its work between value and slopes, and its partials are
//! hundreds of instructions. So code that is not differentiated again has them from one
//! instruction, which comes before the op: GVN then has the value from there as well. Where a
//! result has a derivative of its own, as where its shadow is demanded, `WithSlopes` is expanded to
//! the op and its partials, of which each order is differentiated as any code.

use super::field::{Trace, TraceFloat};
use crate::module::*;
use crate::passes::replacement::replace_all;
use crate::types::Scalar;
use adumbra_ops::definition::{BitOpDef, OpDef, Partial, read_operands, tangent};
use adumbra_ops::field::Field;
use adumbra_ops::{Op, OpVisitor};

/// The partials of an op in derived code, whose last instruction is the op.
pub(super) fn partials<'t, R: OpDef<N>, const N: usize>(
    trace: &'t Trace,
    args: &[ValueId],
    value: ValueId,
) -> [Partial<TraceFloat<'t>>; N] {
    if !R::INFO.shares_shadow_routine || trace.nests() {
        return written::<R, N>(trace, args, value);
    }
    together(trace, Op::of::<R, N>(), args)
}

/// The partials of an op, from one instruction.
fn together<'t, const N: usize>(
    trace: &'t Trace,
    op: Op,
    args: &[ValueId],
) -> [Partial<TraceFloat<'t>>; N] {
    let carries = op.passes_shadows();
    let first = trace.with_slopes(op, args);
    std::array::from_fn(|i| match carries[i] {
        true => Partial::Of(trace.float(ValueId(first.0 + 1 + i as u32))),
        false => Partial::Zero,
    })
}

/// The partials of an op, with instructions for them.
fn written<'t, R: OpDef<N>, const N: usize>(
    trace: &'t Trace,
    args: &[ValueId],
    value: ValueId,
) -> [Partial<TraceFloat<'t>>; N] {
    let args = read_operands(R::INFO.operands, args, &|kind, arg| {
        trace.operand(kind, arg)
    });
    R::partials(args, trace.float(value))
}

/// Expands the instructions with slopes of which a result is one that `differs`: that has a
/// derivative of its own. If that is the value alone, slopes stay together. `nests` says whether
/// they are differentiated again. Returns how many were expanded.
pub(in crate::passes) fn expand(
    function: &mut Function,
    nests: bool,
    differs: impl Fn(ValueId) -> bool,
) -> usize {
    let (mut pairs, mut count) = (Vec::new(), 0);
    for region in 0..function.regions.len() {
        let insts = &mut function.regions[region].insts;
        let is_meant = |inst: &Inst| {
            matches!(inst.kind, InstKind::WithSlopes(_)) && inst.results.iter().any(&differs)
        };
        if !insts.iter().any(is_meant) {
            continue;
        }
        let insts = std::mem::take(insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let InstKind::WithSlopes(op) = inst.kind else {
                out.push(inst);
                continue;
            };
            if !is_meant(&inst) {
                out.push(inst);
                continue;
            }
            count += 1;
            let (args, results, span) = (inst.args, inst.results, inst.span);
            let value = Results {
                first: results.first,
                count: 1,
            };
            out.push(Inst {
                kind: InstKind::Op(op),
                args: args.clone(),
                results: value,
                span,
            });
            let slopes: Vec<ValueId> = if results.iter().skip(1).any(&differs) {
                Trace::run(&mut function.values, &mut out, span, nests, |trace| {
                    op.visit(SlopesOf {
                        trace,
                        args: &args,
                        value: results.first,
                    })
                })
            } else {
                let floats = std::iter::repeat_n(Scalar::F32, results.count as usize);
                let results = Results::of_new(&mut function.values, floats, span);
                out.push(Inst {
                    kind: InstKind::WithSlopes(op),
                    args,
                    results,
                    span,
                });
                results.iter().skip(1).collect()
            };
            pairs.extend(results.iter().skip(1).zip(slopes));
        }
        function.regions[region].insts = out;
    }
    replace_all(function, pairs);
    count
}

/// The slopes of a value along operands with these partials.
fn slopes_by<'t, const N: usize>(
    partials: &[Partial<TraceFloat<'t>>; N],
    value: TraceFloat<'t>,
) -> Vec<ValueId> {
    let slopes = (0..N).map(|along| {
        let mut shadows = [None; N];
        shadows[along] = Some(value.lit(1.0));
        tangent(partials, shadows, value).value()
    });
    slopes.collect()
}

/// The slopes of an op along its operands, by its partials.
struct SlopesOf<'t> {
    trace: &'t Trace,
    args: &'t [ValueId],
    value: ValueId,
}

impl OpVisitor for SlopesOf<'_> {
    type Out = Vec<ValueId>;

    fn float<R: OpDef<N>, const N: usize>(self) -> Vec<ValueId> {
        let partials = written::<R, N>(self.trace, self.args, self.value);
        slopes_by(&partials, self.trace.float(self.value))
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Vec<ValueId> {
        unreachable!("it has slopes")
    }
}
