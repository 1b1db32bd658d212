//! Equalities of floats that vary: they hold on an edge alone, and count nothing.
//!
//! Assumes a verified module as lowering, or the linker, leaves it. What varies is followed within
//! a function, from globals through ops; integer parts and what is made of them do not vary between
//! their jumps, so that comparing these is as good as any decision.

use super::kind::{OpDecisions, decisions_of};
use crate::calls::CallGraph;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

/// The places in the user's functions where floats are compared for equality of which one varies
/// with a global, in order of functions and code.
pub fn varying_equalities(module: &Module) -> Vec<Span> {
    let mut found = Vec::new();
    for id in CallGraph::new(module).order {
        let function = module.function(id);
        let is_open = function.recipe.is_none() && function.custom == CustomDerivatives::default();
        if is_open && !function.library {
            within(function, &mut found);
        }
    }
    found
}

fn within(function: &Function, found: &mut Vec<Span>) {
    let mut varies = vec![false; function.values.len()];
    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    for inst in order
        .iter()
        .flat_map(|&region| &function.region(region).insts)
    {
        let is_any = inst.args.iter().any(|arg| varies[arg.index()]);
        let is_varying = match &inst.kind {
            InstKind::Global(..) => true,
            InstKind::Op(Op::FEq | Op::FNe) => {
                if is_any {
                    found.push(inst.span);
                }
                false
            }
            InstKind::Op(op) => match decisions_of(*op) {
                OpDecisions::Discrete(_) | OpDecisions::Value(_) | OpDecisions::IntegerParts => {
                    false
                }
                _ => is_any,
            },
            _ => is_any,
        };
        for result in inst.results.iter() {
            let is_float = function.value(result).ty == Scalar::F32;
            varies[result.index()] = is_varying && is_float;
        }
    }
}
