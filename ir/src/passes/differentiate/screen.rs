//! Tangents along the screen: which functions need them, and which cannot be called twice for them.
//!
//! Backward mode has no rule for a `Shadow`: it would need the cotangent of what the host gives, a
//! shadow, and of all shadows on the way. So a function that reads shadows becomes its forward
//! derivative along the screen first, in which they are values as any other.

use super::Differentiator;
use crate::calls::{CallGraph, callees};
use crate::instruction::Effect;
use crate::module::*;
use crate::types::Lanes;
use rustc_hash::FxHashSet;

/// By function: the directions of the shadows that it reads as values, itself or by those that it
/// calls, or is a derivative of.
pub(in crate::passes) fn shadow_reads(module: &Module) -> Vec<Lanes> {
    let graph = CallGraph::by(module, |function, reached| {
        reached.extend(callees(function));
        reached.extend(function.recipe.as_ref().map(|recipe| recipe.of));
    });
    let mut reads = vec![Lanes::NONE; module.functions.len()];
    for component in &graph.components {
        let members = &graph.order[component.clone()];
        let mut all = Lanes::NONE;
        for &id in members {
            let function = module.function(id);
            for inst in function.regions.iter().flat_map(|region| &region.insts) {
                match inst.kind {
                    InstKind::Shadow(direction) => all |= direction.lanes(),
                    InstKind::Call(callee, _) => all |= reads[callee.index()],
                    _ => {}
                }
            }
            if let Some(recipe) = &function.recipe {
                all |= reads[recipe.of.index()];
            }
        }
        members.iter().for_each(|id| reads[id.index()] = all);
    }
    reads
}

impl Differentiator<'_> {
    /// Whether a second call of a function would be noticed, beside its results.
    pub(super) fn has_effects(&self, function: FuncId) -> bool {
        let mut seen = FxHashSet::from_iter([function]);
        let mut open = vec![function];
        while let Some(id) = open.pop() {
            let function = self.function(id);
            let mut insts = function.regions.iter().flat_map(|region| &region.insts);
            let is_noticed = |inst: &Inst| {
                let effect = inst.kind.effect();
                matches!(
                    effect,
                    Effect::AddsToSum | Effect::CallsHost | Effect::UsesTape
                )
            };
            if insts.any(is_noticed) {
                return true;
            }
            open.extend(callees(function).filter(|&callee| seen.insert(callee)));
        }
        let mut arrays = self.function(function).array_params();
        arrays.any(|array| array.mode != Some(PassingMode::In))
    }
}
