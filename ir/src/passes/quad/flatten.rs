//! Flattening: all points of a quad evaluate both arms of a divergent branch with a derivative, and
//! select the results of their own arm. HLSL calls it `[flatten]`.
//!
//! Assumes a verified module without lanes. Guarantees: a branch stays only if an arm does more
//! than compute values, or if no derivative in it is divergent because of it. An arm may contain
//! constants, globals, ops that cannot fault, samples, calls of functions with the same
//! restriction, and such branches. Points that do not take the arm must have no other effect: no
//! store, message, fault, closure or jump, and no loop, which may not end there. Their texture
//! requests and the steps of calls are observable.

use crate::calls::CallGraph;
use crate::module::*;
use crate::types::Scalar;
use adumbra_ops::Op;

/// Flattens the branches that have these arms, where possible. Returns whether it changed anything.
pub(super) fn flatten(module: &mut Module, arms: &[(FuncId, RegionId)]) -> bool {
    let plain = plain_functions(module);
    let mut arms = arms.to_vec();
    // By function, and for looking them up.
    arms.sort_unstable();
    let mut changed = false;
    for arms in arms.chunk_by(|(one, _), (other, _)| one == other) {
        let function = &mut module.functions[arms[0].0.index()];
        let arms: Vec<RegionId> = arms.iter().map(|(_, arm)| *arm).collect();
        changed |= flatten_in(function, &arms, &plain);
    }
    changed
}

/// By function: whether it computes values and does nothing else.
fn plain_functions(module: &Module) -> Vec<bool> {
    let calls = CallGraph::new(module);
    let mut plain = vec![false; module.functions.len()];
    for &id in &calls.order {
        let function = module.function(id);
        plain[id.index()] = !calls.recursive[id.index()]
            && function.arrays.is_empty()
            && is_plain(function, function.body, &InstKind::Return, &plain);
    }
    plain
}

/// Whether a region computes values, ends with that terminator, and does nothing else.
fn is_plain(function: &Function, region: RegionId, end: &InstKind, plain: &[bool]) -> bool {
    let insts = &function.region(region).insts;
    let Some((last, rest)) = insts.split_last() else {
        return false;
    };
    last.kind == *end
        && rest.iter().all(|inst| match &inst.kind {
            InstKind::Const(_)
            | InstKind::Resource(_)
            | InstKind::Global(..)
            | InstKind::Shadow(_)
            | InstKind::EnterInlined(_)
            | InstKind::TakeStep
            | InstKind::WithSlopes(_)
            | InstKind::Sample(..) => true,
            InstKind::Op(op) => op.info().fault.is_none(),
            InstKind::Call(callee, arrays) => arrays.is_empty() && plain[callee.index()],
            InstKind::If(then, other) => {
                let mut arms = [*then, *other].into_iter();
                arms.all(|arm| is_plain(function, arm, &InstKind::Yield, plain))
            }
            _ => false,
        })
}

/// The op that selects between values of that type, if there is one.
const fn select_op(ty: Scalar) -> Option<Op> {
    match ty {
        Scalar::F32 => Some(Op::Select),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => Some(Op::ISel),
        Scalar::Closure | Scalar::Resource => None,
    }
}

/// Flattens the branches that have one of these arms, which are sorted.
fn flatten_in(function: &mut Function, arms: &[RegionId], plain: &[bool]) -> bool {
    let is_meant = |function: &Function, inst: &Inst| {
        let InstKind::If(then, other) = inst.kind else {
            return false;
        };
        let mut results = inst.results.iter();
        [then, other]
            .iter()
            .any(|arm| arms.binary_search(arm).is_ok())
            && results.all(|result| select_op(function.value(result).ty).is_some())
            && [then, other]
                .into_iter()
                .all(|arm| is_plain(function, arm, &InstKind::Yield, plain))
    };
    let mut changed = false;
    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    for region in order {
        let insts = &function.region(region).insts;
        if !insts.iter().any(|inst| is_meant(function, inst)) {
            continue;
        }
        changed = true;
        let insts = std::mem::take(&mut function.regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            match inst.kind {
                InstKind::If(then, other) if is_meant(function, &inst) => {
                    let given = [then, other].map(|arm| {
                        let arm = &mut function.regions[arm.index()].insts;
                        let end = arm.pop().expect("a region ends with a terminator");
                        out.append(arm);
                        end.args
                    });
                    let [yes, no] = given;
                    for (result, (yes, no)) in inst.results.iter().zip(yes.into_iter().zip(no)) {
                        let op = select_op(function.value(result).ty);
                        out.push(Inst {
                            kind: InstKind::Op(op.expect("it was asked for")),
                            args: Args::from_slice(&[inst.args[0], yes, no]),
                            results: Results {
                                first: result,
                                count: 1,
                            },
                            span: inst.span,
                        });
                    }
                }
                _ => out.push(inst),
            }
        }
        function.regions[region.index()].insts = out;
    }
    changed
}
