//! Orders of derivatives, and the tapes of sweeps.
//!
//! A function runs on some of the first tapes, and leaves them as they were. What reverse mode
//! makes of it, and of all that it calls, has its records on the next one: there the reverse sweep
//! meets them in the opposite order, whatever the orders of the functions are that it reverses.
//! Custom backward derivatives are called whole, so that they may use any tape.

use super::{Differentiator, Loss, MAX_ORDER};
use crate::calls::{CallGraph, callees};
use crate::derivative::DifferentiationMode;
use crate::module::{FuncId, Function, Module, TapeId};

/// What is known of a function before its derivatives are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionOrder {
    /// How many derivatives nest in it and in what it calls.
    order: u8,
    /// The number of tapes that it uses, and that what is differentiated of it does.
    tapes: u8,
    /// The number of tapes that its custom backward derivatives use.
    custom: u8,
}

impl FunctionOrder {
    /// Whether a derivative is differentiated again.
    pub(super) fn nests(self) -> bool {
        self.order > 1
    }
}

/// The functions whose code becomes part of the sweeps of a function.
fn swept(function: &Function) -> impl Iterator<Item = FuncId> {
    callees(function).chain(function.custom.forward)
}

/// The orders, by function. Numbers beyond [`MAX_ORDER`] are one more than that.
///
/// Within a cycle of functions only a derivative adds to them: if it were active there, it would be
/// a derivative that needs itself, and else it leaves the tapes as they were.
pub(super) fn orders(module: &Module) -> Vec<FunctionOrder> {
    let graph = CallGraph::by(module, |function, reached| {
        reached.extend(swept(function));
        reached.extend(function.custom.backward);
        reached.extend(function.recipe.as_ref().map(|recipe| recipe.of));
    });
    let mut orders = vec![FunctionOrder::default(); module.functions.len()];
    for component in &graph.components {
        let members = &graph.order[component.clone()];
        // Those of the component itself are still 0.
        let mut highest = FunctionOrder::default();
        for &id in members {
            let function = module.function(id);
            let of = function.recipe.as_ref().map(|recipe| recipe.of);
            for callee in callees(function).chain(of) {
                highest.order = highest.order.max(orders[callee.index()].order);
            }
            for part in swept(function).chain(of) {
                let part = orders[part.index()];
                highest.tapes = highest.tapes.max(part.tapes);
                highest.custom = highest.custom.max(part.custom);
            }
            if let Some(back) = function.custom.backward {
                let back = orders[back.index()];
                highest.custom = highest.custom.max(back.tapes).max(back.custom);
            }
        }
        for &id in members {
            let mut own = highest;
            if let Some(recipe) = &module.function(id).recipe {
                own.order = (own.order + 1).min(MAX_ORDER + 1);
                if recipe.mode == DifferentiationMode::Backward {
                    own.tapes = (own.tapes + 1).max(own.custom).min(MAX_ORDER + 1);
                }
            }
            orders[id.index()] = own;
        }
    }
    orders
}

impl Differentiator<'_> {
    /// Checks that no derivative is of too high an order.
    ///
    /// # Errors
    /// The first that is.
    pub(super) fn check_orders(&self) -> Result<(), Loss> {
        for (function, own) in self.module.functions.iter().zip(&self.orders) {
            if let Some(recipe) = &function.recipe
                && own.order.max(own.tapes) > MAX_ORDER
            {
                return Err(self.order_too_high(recipe.of));
            }
        }
        Ok(())
    }

    /// The order of a derivative of `of` that is made for another one.
    ///
    /// # Errors
    /// It is too high: derivatives of functions that call each other can need those of any order.
    pub(super) fn next_order(&self, of: FuncId) -> Result<FunctionOrder, Loss> {
        match self.orders[of.index()].order {
            order if order < MAX_ORDER => Ok(FunctionOrder {
                order: order + 1,
                ..FunctionOrder::default()
            }),
            _ => Err(self.order_too_high(of)),
        }
    }

    /// The tape of the sweeps of `of`, a function that was there before.
    pub(super) fn tape(&self, of: FuncId) -> TapeId {
        TapeId(u32::from(self.orders[of.index()].tapes))
    }
}
