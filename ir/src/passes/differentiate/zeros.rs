//! Which values are 0 whatever the tangents are.
//!
//! A product with 0 counts as 0, as it has no derivative either. The greatest solution is found: a
//! value that ways join is 0 if all that is joined is, also around a loop.

use crate::module::*;
use crate::passes::dataflow::{FlowEdges, Joins};
use adumbra_ops::Op;

/// By value: whether it is 0.
pub(super) fn zeros(function: &Function, joins: &Joins) -> Vec<bool> {
    let mut zeros = vec![true; function.values.len()];
    let mut made: Vec<Option<&Inst>> = vec![None; function.values.len()];
    let mut edges: Vec<(ValueId, ValueId)> = Vec::new();
    let mut open: Vec<ValueId> = function.params().to_vec();
    function.for_each_region(|region| {
        for inst in &function.region(region).insts {
            joins.for_each(function, region, inst, |from, to| edges.push((from, to)));
            let result = inst.results.first;
            match inst.kind {
                InstKind::Const(bits) if bits << 1 == 0 => {}
                InstKind::Op(op) if zero_by(op, |_| true).is_some() => {
                    made[result.index()] = Some(inst);
                    edges.extend(inst.args.iter().map(|&arg| (arg, result)));
                }
                _ if inst.kind.regions().next().is_some() => {}
                _ => open.extend(inst.results.iter()),
            }
        }
    });
    for value in &open {
        zeros[value.index()] = false;
    }
    let users = FlowEdges::new(zeros.len() as u32, &edges, |(from, to)| (from.0, to.0));
    while let Some(value) = open.pop() {
        for &user in users.from(value.0) {
            let stays = made[user as usize].is_some_and(|inst| is_zero(inst, &zeros));
            if zeros[user as usize] && !stays {
                zeros[user as usize] = false;
                open.push(ValueId(user));
            }
        }
    }
    zeros
}

/// Whether an instruction gives 0.
fn is_zero(inst: &Inst, zeros: &[bool]) -> bool {
    let InstKind::Op(op) = inst.kind else {
        return false;
    };
    zero_by(op, |at| zeros[inst.args[at].index()]) == Some(true)
}

/// Whether an op gives 0, by which operands are 0; `None` if they do not decide it.
fn zero_by(op: Op, is_zero: impl Fn(usize) -> bool) -> Option<bool> {
    match op {
        Op::Mul | Op::StrongMul => Some(is_zero(0) || is_zero(1)),
        Op::Neg | Op::Div => Some(is_zero(0)),
        Op::Add | Op::Sub => Some(is_zero(0) && is_zero(1)),
        Op::Select => Some(is_zero(1) && is_zero(2)),
        _ => None,
    }
}
