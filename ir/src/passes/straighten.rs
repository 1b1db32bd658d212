//! Straightening of what is differentiated: inlines and unrolls, so that a derivative has few loops
//! and calls.
//!
//! Assumes a module that the verifier accepts, in which functions have a
//! [`Recipe`](crate::derivative::Recipe). Guarantees: each loop with `[ForceUnroll]` in a function
//! that is differentiated is unrolled, or to blocks where it says so.

use super::inline::inline;
use super::pipeline::PassRunner;
use super::unroll::{self, MAX_FORCED, NotUnrolled};
use crate::calls::{CallGraph, callees};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::span::Span;

/// Straightens a module.
pub(super) fn straighten(
    module: &mut Module,
    runner: &mut PassRunner<'_, '_>,
) -> Result<(), Diagnostic> {
    let calls = CallGraph::of_all(module);
    inline(module, &calls, runner.inlined());
    let is_differentiated = differentiated(module);
    let mut order = calls.order;
    order.retain(|id| is_differentiated[id.index()]);
    runner.functions(module, &order);
    if module.hints.0.is_empty() {
        return Ok(());
    }
    let mut capacity = MAX_FORCED;
    for id in order {
        // The number of iterations of an inner loop can be known once an outer one is unrolled.
        let at = id.index();
        let mut stays = None;
        while unroll::unroll_forced(
            &mut module.functions[at],
            &module.hints,
            &mut capacity,
            &mut stays,
        ) {
            runner.cleanup(module, id);
        }
        if let Some((span, reason)) = stays {
            return Err(not_unrolled(span, reason));
        }
        let function = &mut module.functions[at];
        match unroll::unroll_blocks(function, &module.hints, &mut capacity) {
            Ok(false) => {}
            Ok(true) => runner.cleanup(module, id),
            Err(span) => return Err(not_unrolled(span, NotUnrolled::TooLarge)),
        }
    }
    Ok(())
}

/// By function: whether it is differentiated, perhaps as a callee or a custom derivative.
fn differentiated(module: &Module) -> Vec<bool> {
    let mut seen = vec![false; module.functions.len()];
    let primals = module.functions.iter().filter_map(|f| f.recipe.as_ref());
    let mut open: Vec<FuncId> = primals.map(|recipe| recipe.of).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            let custom = &module.function(id).custom;
            let rules = [custom.forward, custom.backward, custom.substitute];
            open.extend(rules.into_iter().flatten());
            open.extend(callees(module.function(id)));
        }
    }
    seen
}

fn not_unrolled(span: Span, reason: NotUnrolled) -> Diagnostic {
    let here = match reason {
        NotUnrolled::Endless => "no constant bounds its number of iterations".to_owned(),
        NotUnrolled::TooLarge => {
            format!("it and the loops before it become more than {MAX_FORCED} instructions")
        }
    };
    Diagnostic::new(
        Code::NotUnrolled,
        span,
        "a loop with `[ForceUnroll]` cannot be unrolled",
    )
    .here(here)
    .help("remove it, or write `[ForceUnroll(4)]`, which keeps the loop")
}
