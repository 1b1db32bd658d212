//! Puts small functions of the standard library where they are called, so that `dot` costs what its products and sums cost.
//!
//! Assumes functions that the verifier accepts.
//! Guarantees: no call is left of a library function that is one region without calls and arrays, of at most [`MAX_INLINE`] instructions. What is
//! inlined stands at the place of the call, for faults and messages. Entering an inlined function takes no step of the budget and no call
//! depth; since it happens before anything else, and always, all engines and all compilations of a shader agree in that.
//! Functions of the user stay functions.

use super::alias::Aliases;
use crate::calls::CallGraph;
use crate::module::*;

/// The most instructions that an inlined function has.
pub const MAX_INLINE: usize = 64;

/// Inlines calls in every function of `calls`, callees first.
pub(super) fn inline(module: &mut Module, calls: &CallGraph) {
    if !module.functions.iter().any(|f| f.library) {
        return;
    }
    let mut small = vec![false; module.functions.len()];
    for &id in &calls.order {
        into(module, id, &small);
        small[id.index()] = is_small(module.function(id));
    }
}

fn is_small(function: &Function) -> bool {
    let body = function.region(function.body);
    function.library
        && function.arrays.is_empty()
        && body.insts.len() <= MAX_INLINE
        && function.terminator(function.body).kind == InstKind::Return
        && body.insts.iter().all(|inst| {
            !matches!(inst.kind, InstKind::Call(..)) && inst.kind.regions().next().is_none()
        })
}

/// Replaces the calls of small functions in one function.
fn into(module: &mut Module, id: FuncId, small: &[bool]) {
    let calls_small = |inst: &Inst| match inst.kind {
        InstKind::Call(callee, _) => small[callee.index()],
        _ => false,
    };
    let caller = module.function(id);
    let mut inlined = 0;
    let mut order = Vec::new();
    caller.for_each_region(|region| {
        order.push(region);
        inlined += (caller.region(region).insts.iter())
            .filter(|i| calls_small(i))
            .count();
    });
    if inlined == 0 {
        return;
    }

    // The callees have no calls, so the caller is none of them: its parts can be taken out while theirs are read.
    let caller = &mut module.functions[id.index()];
    let mut values = std::mem::take(&mut caller.values);
    let mut regions = std::mem::take(&mut caller.regions);
    let mut aliases = Aliases::new(values.len());
    for region in order {
        let region = &mut regions[region.index()];
        if !region.insts.iter().any(calls_small) {
            region.insts.iter_mut().for_each(|i| aliases.rewrite(i));
            continue;
        }
        let insts = std::mem::take(&mut region.insts);
        region.insts.reserve(insts.len());
        for mut inst in insts {
            aliases.rewrite(&mut inst);
            match inst.kind {
                InstKind::Call(callee, _) if small[callee.index()] => {
                    let callee = &module.functions[callee.index()];
                    copy(callee, &inst, &mut values, &mut aliases, &mut region.insts);
                }
                _ => region.insts.push(inst),
            }
        }
    }
    let caller = &mut module.functions[id.index()];
    caller.values = values;
    caller.regions = regions;
}

/// Appends the callee's instructions and lets its results stand for those of the call.
fn copy(
    callee: &Function,
    call: &Inst,
    values: &mut Vec<Value>,
    aliases: &mut Aliases,
    out: &mut Vec<Inst>,
) {
    let mut map = vec![ValueId::default(); callee.values.len()];
    for (&param, &arg) in callee.params().iter().zip(&call.args) {
        map[param.index()] = arg;
    }
    for inst in &callee.region(callee.body).insts {
        let args: Args = inst.args.iter().map(|a| map[a.index()]).collect();
        if inst.kind == InstKind::Return {
            for (result, value) in call.results.iter().zip(args) {
                let name = values[result.index()].name;
                let value_name = &mut values[value.index()].name;
                *value_name = value_name.or(name);
                aliases.replace(result, value);
            }
            return;
        }
        let results = Results {
            first: ValueId(values.len() as u32),
            count: inst.results.count,
        };
        for (old, new) in inst.results.iter().zip(results.iter()) {
            map[old.index()] = new;
            aliases.add();
            values.push(Value {
                name: None,
                span: call.span,
                ..*callee.value(old)
            });
        }
        out.push(Inst {
            kind: inst.kind.clone(),
            args,
            results,
            span: call.span,
        });
    }
}
