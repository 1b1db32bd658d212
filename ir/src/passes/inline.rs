//! Inlining of functions, so that `dot` costs its products and sums, constants of callers reach
//! callees, and arrays are not copied to be passed.
//!
//! Assumes functions that the verifier accepts. Guarantees: no call is left of a function without
//! calls that is written, after its own calls were replaced, if it is
//! - *free*: of the standard library, one region without arrays, of at most [`MAX_INLINE`]
//!   instructions. Inlined instructions have the span of the call, for faults and messages.
//!   Entering it takes no step of the budget and no call depth. This happens before anything else,
//!   and always, so all engines and all compilations of a shader agree in that;
//! - or else *counted*: one region without arrays, or any with an array for a parameter, of at most
//!   [`MAX_COUNTED`] instructions within the capacity [`MAX_INLINED`] of the module, or of any size
//!   within [`MAX_MOVED`] if it is called in one place. An
//!   [`EnterInlined`](InstKind::EnterInlined) before the inlined instructions counts as the call
//!   did, so that inlining is unobservable. Names and spans stay. `inline/arrays.rs` has what
//!   becomes of arrays.

mod arrays;

use super::replacement::{Replacements, pass_on_name};
use crate::calls::{CallGraph, callees};
use crate::copy::Copied;
use crate::entry_steps::cleared_arrays;
use crate::module::*;
pub use arrays::MAX_INLINED_ELEMENTS;
use arrays::PassedArrays;

/// The most instructions that a function has whose calls take no step.
pub const MAX_INLINE: usize = 64;

/// The most instructions that an inlined function has whose calls count, if it is called in several
/// places.
pub const MAX_COUNTED: usize = 512;

/// The most instructions that a module gets by inlining functions whose calls count.
pub const MAX_INLINED: usize = 1 << 14;

/// The most instructions that functions have together which are called in one place and inlined.
/// They are there until dead code goes, so the last one of a chain of calls is copied again and
/// again.
pub const MAX_MOVED: usize = 1 << 17;

/// The treatment of the calls of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// They stay.
    Stay,
    /// They are inlined and counted, if the module has capacity for this number of instructions.
    Counted(usize),
    /// The only one is inlined and counted, if this number of instructions may still be moved.
    Moved(usize),
    /// They are inlined, and nothing counts.
    Free,
}

/// Inlines calls in every function of `calls`, callees first. Counted calls may add `capacity`
/// instructions, normally [`MAX_INLINED`].
pub(super) fn inline(module: &mut Module, calls: &CallGraph, capacity: usize) {
    let mut inliner = Inliner {
        calls: vec![Calls::Stay; module.functions.len()],
        capacity,
        movable: MAX_MOVED,
        elements: MAX_INLINED_ELEMENTS,
    };
    let mut places = vec![0_usize; module.functions.len()];
    for &id in &calls.order {
        for callee in callees(module.function(id)) {
            places[callee.index()] += 1;
        }
    }
    for &id in &calls.order {
        inliner.inline_within(module, id);
        inliner.calls[id.index()] = match calls_of(module.function(id), places[id.index()]) {
            // Functions stay apart.
            Calls::Counted(_) | Calls::Moved(_) if capacity == 0 => Calls::Stay,
            calls => calls,
        };
    }
}

/// Whether no function is called that costs nothing to inline.
pub(super) fn is_done(module: &Module) -> bool {
    let functions = module.functions.iter();
    let is_free: Vec<bool> = functions.map(is_free).collect();
    let order = CallGraph::new(module).order;
    let mut called = order.iter().flat_map(|&id| callees(module.function(id)));
    !called.any(|callee| is_free[callee.index()])
}

/// Whether a function can be inlined: it is written, has no calls, and no derivatives of its own.
fn may_be_inlined(function: &Function) -> bool {
    function.custom == CustomDerivatives::default()
        && function.recipe.is_none()
        && callees(function).next().is_none()
}

/// Whether a function is one region without arrays.
fn is_straight(function: &Function) -> bool {
    let body = &function.region(function.body).insts;
    function.arrays.is_empty()
        && function.terminator(function.body).kind == InstKind::Return
        && body.iter().all(|inst| inst.kind.regions().next().is_none())
}

/// Whether calls of a function take no step.
fn is_free(function: &Function) -> bool {
    let body = &function.region(function.body).insts;
    let counts = |inst: &Inst| matches!(inst.kind, InstKind::EnterInlined(_) | InstKind::TakeStep);
    function.library
        && may_be_inlined(function)
        && is_straight(function)
        && body.len() <= MAX_INLINE
        && !body.iter().any(counts)
}

/// The treatment of a function that is called in that many places.
fn calls_of(function: &Function, places: usize) -> Calls {
    if is_free(function) {
        return Calls::Free;
    }
    let has_array = function.array_params().next().is_some();
    if !may_be_inlined(function) || !(has_array || is_straight(function)) {
        return Calls::Stay;
    }
    let mut len = 0;
    function.for_each_region(|id| len += function.region(id).insts.len());
    match len {
        _ if places == 1 => Calls::Moved(len),
        // The `EnterInlined` takes the place of the `Return`.
        ..=MAX_COUNTED => Calls::Counted(len),
        _ => Calls::Stay,
    }
}

struct Inliner {
    /// By function; callees before callers.
    calls: Vec<Calls>,
    /// The number of instructions that may still be added to the module.
    capacity: usize,
    /// The number of instructions that may still be moved.
    movable: usize,
    /// The number of elements of arrays that callers may still get.
    elements: usize,
}

impl Inliner {
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
        let body = caller.body;
        let cleared = cleared_arrays(caller);
        let mut aliases = Replacements::new(caller.values.len());
        for region in order {
            let insts =
                std::mem::take(&mut module.functions[id.index()].regions[region.index()].insts);
            let mut out = Vec::with_capacity(insts.len());
            for mut inst in insts {
                aliases.rewrite(&mut inst);
                match inst.kind {
                    InstKind::Call(callee, _) if self.calls[callee.index()] != Calls::Stay => {
                        let both = [id.index(), callee.index()];
                        let both = module.functions.get_disjoint_mut(both);
                        let [caller, callee_function] = both.expect("what is inlined has no calls");
                        let mut copy = Copy {
                            caller,
                            callee: callee_function,
                            returns_early: returns_early(callee_function),
                            call: &inst,
                            aliases: &mut aliases,
                            out: &mut out,
                        };
                        if !self.inline_call(callee, region == body, &mut copy) {
                            out.push(inst);
                        }
                    }
                    _ => out.push(inst),
                }
            }
            module.functions[id.index()].regions[region.index()].insts = out;
        }
        arrays::take_entry_steps(&mut module.functions[id.index()], &cleared);
    }

    /// Inlines a call, if there is capacity. `is_certain` says that it is outside of control flow.
    fn inline_call(&mut self, callee: FuncId, is_certain: bool, copy: &mut Copy<'_>) -> bool {
        let (added, moved) = match self.calls[callee.index()] {
            Calls::Stay => return false,
            Calls::Free => {
                copy.write(None);
                return true;
            }
            Calls::Counted(len) => (len, 0),
            Calls::Moved(len) => (0, len),
        };
        let arrays = PassedArrays::new(copy.caller, copy.callee, copy.call);
        let is_certain = is_certain && !copy.returns_early;
        let elements = arrays.elements(copy.callee, is_certain);
        let capacity = self.capacity.checked_sub(added);
        let movable = self.movable.checked_sub(moved);
        let elements = elements.and_then(|elements| self.elements.checked_sub(elements));
        let (Some(capacity), Some(movable), Some(elements)) = (capacity, movable, elements) else {
            return false;
        };
        (self.capacity, self.movable, self.elements) = (capacity, movable, elements);
        copy.write(Some(&arrays));
        true
    }
}

/// Whether a function returns otherwise than at its end.
fn returns_early(function: &Function) -> bool {
    let mut early = false;
    function.for_each_region(|id| {
        let returns = function.terminator(id).kind == InstKind::Return;
        early |= returns != (id == function.body);
    });
    early
}

/// A call that is being replaced.
struct Copy<'a> {
    caller: &'a mut Function,
    callee: &'a Function,
    returns_early: bool,
    call: &'a Inst,
    /// The results of the call are replaced.
    aliases: &'a mut Replacements,
    out: &'a mut Vec<Inst>,
}

impl Copy<'_> {
    /// Appends the callee's instructions, and replaces the results of the call. Without `arrays`
    /// nothing counts.
    fn write(&mut self, arrays: Option<&PassedArrays>) {
        let Copy { callee, call, .. } = *self;
        let mut copied = Copied::new(callee);
        for (&param, &arg) in callee.params().iter().zip(&call.args) {
            copied.set_value(param, arg);
        }
        if let Some(arrays) = arrays {
            arrays.pass_in(self, &mut copied);
            self.out
                .push(Inst::plain(InstKind::EnterInlined(0), call.span));
            arrays.clear(self);
        }
        let is_free = arrays.is_none();
        if self.returns_early {
            // The function's results leave a block.
            copied.set_region(callee.body, RegionId(self.caller.regions.len() as u32));
            self.caller.regions.push(Region::default());
        }
        let value = |_: &Function, old| {
            let value = *callee.value(old);
            Value {
                name: value.name.filter(|_| !is_free),
                // The library's source is hidden.
                span: if is_free { call.span } else { value.span },
                ..value
            }
        };
        let original = |_: &Function, id| {
            let mut region = callee.region(id).clone();
            for inst in &mut region.insts {
                match &mut inst.kind {
                    InstKind::EnterInlined(open) => *open = open.saturating_add(1),
                    kind @ InstKind::Return => *kind = InstKind::Break(callee.body),
                    _ => {}
                }
                if is_free {
                    inst.span = call.span;
                }
            }
            region
        };
        let mut body = original(self.caller, callee.body).insts;
        let last = body.pop().expect("a region ends with a terminator");
        let mut insts = Vec::with_capacity(body.len() + 1);
        for mut inst in body {
            let mut nested = Vec::new();
            for region in inst.kind.regions() {
                callee.for_each_region_within(region, |id| nested.push(id));
            }
            copied.regions(self.caller, &nested, original, value);
            let results = inst.results;
            copied.inst(&mut inst, self.caller.values.len());
            for old in results.iter() {
                let value = value(self.caller, old);
                self.caller.values.push(value);
            }
            insts.push(inst);
        }
        self.aliases.extend(self.caller.values.len());
        if self.returns_early {
            let mut last = last;
            copied.rename(&mut last);
            insts.push(last);
            let block = copied.region(callee.body);
            self.caller.regions[block.index()].insts = insts;
            self.out.push(Inst {
                results: call.results,
                ..Inst::plain(InstKind::Block(block), call.span)
            });
        } else {
            self.out.append(&mut insts);
            for (result, &value) in call.results.iter().zip(&last.args) {
                let value = copied.value(value);
                pass_on_name(&mut self.caller.values, result, value);
                self.aliases.replace(result, value);
            }
        }
        if let Some(arrays) = arrays {
            arrays.pass_out(self);
        }
    }
}
