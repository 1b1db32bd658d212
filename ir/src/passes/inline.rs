//! Inlining of straight-line functions, so that `dot` costs its products and sums, and constants of
//! callers reach callees.
//!
//! Assumes functions that the verifier accepts. Guarantees: no call is left of a function that is
//! one region without calls and arrays, after its own calls were replaced, if it is
//! - *free*: of the standard library, of at most [`MAX_INLINE`] instructions. Inlined instructions
//!   have the span of the call, for faults and messages. Entering it takes no step of the budget
//!   and no call depth. This happens before anything else, and always, so all engines and all
//!   compilations of a shader agree in that;
//! - or else of at most [`MAX_COUNTED`] instructions, within the capacity [`MAX_INLINED`] of the
//!   module. An [`EnterInlined`](InstKind::EnterInlined) before the inlined instructions counts as
//!   the call did, so that inlining is unobservable. Names and spans stay.

use super::replacement::{Replacements, pass_on_name};
use crate::calls::{CallGraph, callees};
use crate::copy::Copied;
use crate::module::*;
use crate::span::Span;

/// The most instructions that a function has whose calls take no step.
pub const MAX_INLINE: usize = 64;

/// The most instructions that an inlined function has whose calls count.
pub const MAX_COUNTED: usize = 512;

/// The most instructions that a module gets by inlining functions whose calls count.
pub const MAX_INLINED: usize = 1 << 14;

/// The treatment of the calls of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// They stay.
    Stay,
    /// They are inlined and counted, if the module has capacity for this number of instructions.
    Counted(usize),
    /// They are inlined, and nothing counts.
    Free,
}

/// Inlines calls in every function of `calls`, callees first. Counted calls may add `capacity`
/// instructions, normally [`MAX_INLINED`].
pub(super) fn inline(module: &mut Module, calls: &CallGraph, capacity: usize) {
    let mut inliner = Inliner {
        calls: vec![Calls::Stay; module.functions.len()],
        capacity,
    };
    for &id in &calls.order {
        inliner.inline_within(module, id);
        inliner.calls[id.index()] = calls_of(module.function(id));
    }
}

/// Whether no function is called that costs nothing to inline.
pub(super) fn is_done(module: &Module) -> bool {
    let functions = module.functions.iter();
    let is_free: Vec<bool> = functions.map(|f| calls_of(f) == Calls::Free).collect();
    let order = CallGraph::new(module).order;
    let mut called = order.iter().flat_map(|&id| callees(module.function(id)));
    !called.any(|callee| is_free[callee.index()])
}

fn calls_of(function: &Function) -> Calls {
    let insts = &function.region(function.body).insts;
    let is_straight = function.custom == CustomDerivatives::default()
        && function.arrays.is_empty()
        && function.terminator(function.body).kind == InstKind::Return
        && insts.iter().all(|inst| {
            !matches!(inst.kind, InstKind::Call(..)) && inst.kind.regions().next().is_none()
        });
    let counts = |inst: &Inst| {
        matches!(
            inst.kind,
            InstKind::EnterInlined(_) | InstKind::NextIteration
        )
    };
    match insts.len() {
        _ if !is_straight => Calls::Stay,
        ..=MAX_INLINE if function.library && !insts.iter().any(counts) => Calls::Free,
        // The `EnterInlined` takes the place of the `Return`.
        len @ ..=MAX_COUNTED => Calls::Counted(len),
        _ => Calls::Stay,
    }
}

struct Inliner {
    /// By function; callees before callers.
    calls: Vec<Calls>,
    /// The number of instructions that may still be added to the module.
    capacity: usize,
}

impl Inliner {
    /// The function to be inlined in place of an instruction.
    fn inlined(&mut self, inst: &Inst) -> Option<(FuncId, Calls)> {
        let InstKind::Call(callee, _) = inst.kind else {
            return None;
        };
        let calls = self.calls[callee.index()];
        match calls {
            Calls::Stay => return None,
            Calls::Counted(len) => self.capacity = self.capacity.checked_sub(len)?,
            Calls::Free => {}
        }
        Some((callee, calls))
    }

    /// Replaces calls in one function.
    fn inline_within(&mut self, module: &mut Module, id: FuncId) {
        let may = |inst: &Inst| match inst.kind {
            InstKind::Call(callee, _) => self.calls[callee.index()] != Calls::Stay,
            _ => false,
        };
        let caller = module.function(id);
        let mut order = Vec::new();
        let mut any = false;
        caller.for_each_region(|region| {
            order.push(region);
            any |= caller.region(region).insts.iter().any(may);
        });
        if !any {
            return;
        }

        // The callees have no calls, so the caller is none of them: its parts can be taken out
        // while theirs are read.
        let caller = &mut module.functions[id.index()];
        let mut values = std::mem::take(&mut caller.values);
        let mut regions = std::mem::take(&mut caller.regions);
        let mut aliases = Replacements::new(values.len());
        for region in order {
            let region = &mut regions[region.index()];
            let insts = std::mem::take(&mut region.insts);
            region.insts.reserve(insts.len());
            for mut inst in insts {
                aliases.rewrite(&mut inst);
                match self.inlined(&inst) {
                    Some((callee, calls)) => {
                        let callee = &module.functions[callee.index()];
                        let is_free = calls == Calls::Free;
                        let out = &mut region.insts;
                        copy(callee, &inst, is_free, &mut values, &mut aliases, out);
                    }
                    None => region.insts.push(inst),
                }
            }
        }
        let caller = &mut module.functions[id.index()];
        caller.values = values;
        caller.regions = regions;
    }
}

/// Appends the callee's instructions, and replaces the results of the call.
fn copy(
    callee: &Function,
    call: &Inst,
    is_free: bool,
    values: &mut Vec<Value>,
    aliases: &mut Replacements,
    out: &mut Vec<Inst>,
) {
    let mut copied = Copied::new(callee);
    for (&param, &arg) in callee.params().iter().zip(&call.args) {
        copied.set_value(param, arg);
    }
    // The library's source is hidden.
    let span_of = |own: Span| if is_free { call.span } else { own };
    if !is_free {
        out.push(Inst {
            kind: InstKind::EnterInlined(0),
            args: Args::new(),
            results: Results::NONE,
            span: call.span,
        });
    }
    for inst in &callee.region(callee.body).insts {
        if inst.kind == InstKind::Return {
            for (result, &value) in call.results.iter().zip(&inst.args) {
                let value = copied.value(value);
                pass_on_name(values, result, value);
                aliases.replace(result, value);
            }
            return;
        }
        let mut copy = inst.clone();
        copied.inst(&mut copy, values.len());
        for old in inst.results.iter() {
            let value = *callee.value(old);
            values.push(Value {
                name: value.name.filter(|_| !is_free),
                span: span_of(value.span),
                ..value
            });
        }
        aliases.extend(values.len());
        if let InstKind::EnterInlined(open) = &mut copy.kind {
            *open = open.saturating_add(1);
        }
        copy.span = span_of(copy.span);
        out.push(copy);
    }
}
