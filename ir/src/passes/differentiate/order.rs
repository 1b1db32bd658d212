//! Orders of derivatives, which say what tape a sweep has its records on.
//!
//! A function's order is how many derivatives of derivatives nest in it, in what it can call, and in
//! the custom derivatives of those. What a function of order n does with tapes, it does with the first
//! n, and it leaves them as they were. So its own sweeps, and those of all that it calls, whatever
//! their order, have their records on the tape after: there the reverse sweep meets them in the
//! opposite order.

use super::{Differentiator, Loss, MAX_ORDER};
use crate::calls::{CallGraph, callees};
use crate::module::{FuncId, Function, Module, TapeId};

/// The functions that can be part of what is made of a function, once for each place, except what it
/// is a derivative of.
fn parts(function: &Function) -> impl Iterator<Item = FuncId> {
    let custom = &function.custom;
    let custom = [custom.forward, custom.backward, custom.substitute];
    callees(function).chain(custom.into_iter().flatten())
}

/// By function: its order, of derivatives too that are not made yet. One more than the highest is
/// never exceeded.
///
/// Within a cycle only a derivative adds to the order: if it were active there, it would be a
/// derivative that needs itself, and else it leaves the tapes as they were.
pub(super) fn orders(module: &Module) -> Vec<u8> {
    let graph = CallGraph::by(module, |function, reached| {
        reached.extend(parts(function));
        reached.extend(function.recipe.as_ref().map(|recipe| recipe.of));
    });
    let mut orders = vec![0; module.functions.len()];
    for component in &graph.components {
        let members = &graph.order[component.clone()];
        let mut highest = 0;
        for &id in members {
            let function = module.function(id);
            let of = function.recipe.as_ref().map(|recipe| recipe.of);
            // Those of the component itself are still 0.
            let reached = parts(function).chain(of).map(|part| orders[part.index()]);
            highest = reached.fold(highest, u8::max);
        }
        for &id in members {
            let is_derivative = module.function(id).recipe.is_some();
            orders[id.index()] = (highest + u8::from(is_derivative)).min(MAX_ORDER + 1);
        }
    }
    orders
}

impl Differentiator<'_> {
    /// The highest order of the functions that `of` can reach, itself included.
    pub(super) fn order(&self, of: FuncId) -> u8 {
        let mut seen = vec![false; self.module.functions.len()];
        let mut open = vec![of];
        let mut highest = 0;
        seen[of.index()] = true;
        while let Some(id) = open.pop() {
            highest = highest.max(self.orders[id.index()]);
            for part in parts(self.function(id)) {
                if !std::mem::replace(&mut seen[part.index()], true) {
                    open.push(part);
                }
            }
        }
        highest
    }

    /// The tape of a backward derivative.
    ///
    /// # Errors
    /// The derivative is of too high an order.
    pub(super) fn tape(&self, derivative: FuncId, of: FuncId) -> Result<TapeId, Loss> {
        match self.orders[derivative.index()] {
            order @ 1..=MAX_ORDER => Ok(TapeId(u32::from(order - 1))),
            _ => Err(self.order_too_high(of)),
        }
    }
}
