//! Full unrolling of loops with a known number of iterations.
//!
//! Assumes a folded function: every value that is always the same is a constant. Guarantees: a loop
//! that ends by constants alone, within the limits, becomes its iterations, one after the other, up
//! to where it ends. A [`TakeStep`](InstKind::TakeStep) replaces each `Continue` and
//! takes its step of the budget, so that unrolling is unobservable. Names and spans stay. A loop
//! stays if anything else may leave or continue it. It also stays if it would become more than
//! [`MAX_UNROLLED`] instructions, or [`MAX_UNROLLED_WITHIN`] inside of other loops, or more than
//! the remaining capacity of the module ([`MAX_UNROLLED_IN_ALL`]). A long op counts as
//! [`LONG_OP_COST`] of them. A loop that has elements of arrays at places that its iterations make
//! known, or words of tapes, may become [`UNROLLED_FOR_ELEMENT`] more for each.
//!
//! Hints of the shader writer change that, for loops that are differentiated: a loop that has more
//! iterations than `[MaxIters]` says stays; one with `[ForceUnroll]` may become [`MAX_FORCED`]
//! instructions, and becomes a block if it is left early (`unroll/forced.rs`); one with
//! `[ForceUnroll(n)]` stays as blocks of n iterations (`unroll/blocks.rs`).
//!
//! Values that depend on the iteration's number are constant then, and engines get long
//! straight-line segments.

mod blocks;
mod forced;
mod iterations;

use super::replacement::{Replacements, pass_on_name};
use crate::copy::Copied;
use crate::derivative::{DerivativeHint, HintKind};
use crate::module::*;
use crate::span::Span;
pub(super) use forced::NotUnrolled;
use iterations::Iterations;

/// The most instructions that a loop becomes.
pub const MAX_UNROLLED: usize = 1 << 10;

/// The most instructions that a loop inside of another loop becomes. The outer loop may have to
/// stay, and engines compile loops only up to a size.
pub const MAX_UNROLLED_WITHIN: usize = 1 << 8;

/// The number of instructions that an op with a long algorithm counts as, such as noise: its
/// machine code is thousands.
pub const LONG_OP_COST: usize = 1 << 8;

/// The number of instructions that a loop may become in addition for each access of an element, or
/// of a word of a tape, whose place is then known: elements at places that vary cost as many
/// instructions, and those at known ones may become [values](super::scalar_replacement).
pub const UNROLLED_FOR_ELEMENT: usize = 1 << 4;

/// The most instructions that a module gets by unrolled loops.
pub const MAX_UNROLLED_IN_ALL: usize = 1 << 15;

/// How often a function is unrolled, with cleanup after each time: what an inner loop counts may
/// end the next one.
pub const MAX_UNROLL_ROUNDS: usize = 4;

/// The most instructions that a module gets by loops that are unrolled because hints say so.
pub const MAX_FORCED: usize = 1 << 16;

/// Unrolls loops of a function, inner ones first, within `capacity` instructions. Returns whether
/// there was one.
pub(super) fn unroll(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
) -> bool {
    if *capacity == 0 {
        return false;
    }
    Unroller::run(function, hints, capacity, |unroller, id, is_within| {
        let most = match is_within {
            true => MAX_UNROLLED_WITHIN,
            false => MAX_UNROLLED,
        };
        unroller.region(id, |_| most, UNROLLED_FOR_ELEMENT);
    })
}

/// Unrolls the loops of a function that have `[ForceUnroll]`, where that is possible within
/// `capacity`. Returns whether there was one.
pub(super) fn unroll_where_forced(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
) -> bool {
    let is_forced = |hint: &DerivativeHint| hint.kind == HintKind::Unroll;
    *capacity > 0
        && hints.0.iter().any(is_forced)
        && unroll_forced(function, hints, capacity, &mut None)
}

/// Unrolls the loops of a function that have `[ForceUnroll]`, as far as their numbers of iterations
/// are bounded. `stays` becomes where the first one that is left was asked for, and why it is.
pub(super) fn unroll_forced(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
    stays: &mut Option<(Span, NotUnrolled)>,
) -> bool {
    *stays = None;
    Unroller::run(function, hints, capacity, |unroller, id, _| {
        let most = *unroller.capacity;
        let most_of = |span| match hints.forces(span) {
            Some(_) => most,
            None => 0,
        };
        unroller.region(id, most_of, 0);
        let refused = unroller.forced(id);
        *stays = refused.or(*stays);
    })
}

/// Unrolls the loops of a function that have `[ForceUnroll(n)]` to blocks.
///
/// # Errors
/// Where the first one was asked for that has too many instructions for `capacity`.
pub(super) fn unroll_blocks(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
) -> Result<bool, Span> {
    let mut error = None;
    let any = Unroller::run(function, hints, capacity, |unroller, id, _| {
        let found = unroller.blocks(id);
        error = error.or(found);
    });
    error.map_or(Ok(any), Err)
}

impl DerivativeHints {
    /// Where `[ForceUnroll]` was written before the loop of an instruction at that span.
    fn forces(&self, span: Span) -> Option<Span> {
        let mut hints = self.of_loop(span);
        hints.find_map(|hint| (hint.kind == HintKind::Unroll).then_some(hint.span))
    }
}

impl<'f> Unroller<'f> {
    /// Treats the regions that have loops, inner ones first: `each` gets whether the region is
    /// inside of a loop. Returns whether a loop was changed.
    fn run(
        function: &'f mut Function,
        hints: &'f DerivativeHints,
        capacity: &'f mut usize,
        mut each: impl FnMut(&mut Unroller<'f>, RegionId, bool),
    ) -> bool {
        // Regions come before those nested in them.
        let mut around = Vec::new();
        let mut is_within = vec![false; function.regions.len()];
        function.for_each_region(|id| {
            let mut has_loop = false;
            for inst in &function.region(id).insts {
                let is_loop = matches!(inst.kind, InstKind::Loop(_));
                has_loop |= is_loop;
                for nested in inst.kind.regions() {
                    is_within[nested.index()] = is_within[id.index()] || is_loop;
                }
            }
            if has_loop {
                around.push(id);
            }
        });
        if around.is_empty() {
            return false;
        }
        let mut unroller = Unroller {
            aliases: Replacements::new(function.values.len()),
            known: vec![None; function.values.len()],
            copied: Copied::itself(function),
            seen: vec![None; function.regions.len()],
            decides: vec![false; function.values.len()],
            function,
            hints,
            capacity,
            any: false,
        };
        unroller.find_constants();
        for &id in around.iter().rev() {
            each(&mut unroller, id, is_within[id.index()]);
        }
        unroller.tidy()
    }
}

struct Unroller<'f> {
    function: &'f mut Function,
    /// The replacements of the results of unrolled loops.
    aliases: Replacements,
    /// The bits of constants; of a loop's values those in the current iteration.
    known: Vec<Option<u32>>,
    /// The values and regions of a loop in the iteration being written; others are themselves.
    copied: Copied,
    /// By region: the loop that it was last found in.
    seen: Vec<Option<RegionId>>,
    /// Values of a loop on which its end depends.
    decides: Vec<bool>,
    hints: &'f DerivativeHints,
    /// The number of instructions that may still be added.
    capacity: &'f mut usize,
    any: bool,
}

impl Unroller<'_> {
    fn find_constants(&mut self) {
        for inst in self.function.regions.iter().flat_map(|r| &r.insts) {
            if let InstKind::Const(bits) = inst.kind {
                self.known[inst.results.first.index()] = Some(bits);
            }
        }
    }

    /// Unrolls the loops among a region's instructions that become `most` instructions at most, by
    /// the span of the loop, and `for_elements` more for each access of memory.
    fn region(&mut self, id: RegionId, most: impl Fn(Span) -> usize, for_elements: usize) {
        let insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            let iterations = match inst.kind {
                InstKind::Loop(body) => {
                    let iterations = self.iterations(body, &inst, most(inst.span), for_elements);
                    iterations.map(|iterations| (body, iterations))
                }
                _ => None,
            };
            match iterations {
                Some((body, iterations)) => self.unroll_loop(body, &inst, &iterations, &mut out),
                None => out.push(inst),
            }
        }
        self.function.regions[id.index()].insts = out;
    }

    /// Appends a loop's iterations; its final values replace its results.
    fn unroll_loop(
        &mut self,
        body: RegionId,
        own: &Inst,
        iterations: &Iterations,
        out: &mut Vec<Inst>,
    ) {
        self.any = true;
        self.resolve(body);
        let Region { params, insts } = std::mem::take(&mut self.function.regions[body.index()]);
        self.carry(&params, &own.args);
        for iteration in 0..=iterations.whole {
            let mut exits = iterations.exits.iter().peekable();
            for (at, inst) in insts.iter().enumerate() {
                match inst.kind {
                    InstKind::If(..) if let Some(exit) = exits.next_if(|exit| exit.at == at) => {
                        let is_last = iteration == iterations.whole && at == iterations.last;
                        let arm = if is_last { exit.ends } else { exit.stays };
                        let given = self.copy_list(arm, out);
                        if is_last {
                            for (result, value) in own.results.iter().zip(given) {
                                pass_on_name(&mut self.function.values, result, value);
                                self.aliases.replace(result, value);
                            }
                            return;
                        }
                        for (result, value) in inst.results.iter().zip(given) {
                            self.copied.set_value(result, value);
                        }
                    }
                    InstKind::Continue(_) => {
                        let carried = self.copied.args(&inst.args);
                        out.push(Inst::plain(InstKind::TakeStep, inst.span));
                        self.carry(&params, &carried);
                    }
                    _ => self.copy(inst, out),
                }
            }
        }
    }

    /// Replaces the results of unrolled loops in a region.
    fn resolve(&mut self, region: RegionId) {
        let (function, aliases) = (&mut *self.function, &mut self.aliases);
        let mut within = Vec::new();
        function.for_each_region_within(region, |id| within.push(id));
        for id in within {
            let insts = &mut function.regions[id.index()].insts;
            insts.iter_mut().for_each(|inst| aliases.rewrite(inst));
        }
    }

    /// Sets a loop's parameters for the next iteration.
    fn carry(&mut self, params: &[ValueId], values: &[ValueId]) {
        for (&param, &value) in params.iter().zip(values) {
            pass_on_name(&mut self.function.values, param, value);
            self.copied.set_value(param, value);
        }
    }

    /// Appends copies of a region's instructions, without the terminator. Returns the terminator's
    /// operands.
    fn copy_list(&mut self, id: RegionId, out: &mut Vec<Inst>) -> Args {
        let insts = self.function.region(id).insts.clone();
        self.copy_all(&insts, out)
    }

    /// The same of a list of them.
    fn copy_all(&mut self, insts: &[Inst], out: &mut Vec<Inst>) -> Args {
        let (last, rest) = insts.split_last().expect("a region ends with a terminator");
        rest.iter().for_each(|inst| self.copy(inst, out));
        self.copied.args(&last.args)
    }

    /// Appends a copy of an instruction, with copies of its regions.
    fn copy(&mut self, inst: &Inst, out: &mut Vec<Inst>) {
        let function = &mut *self.function;
        let mut nested = Vec::new();
        for region in inst.kind.regions() {
            function.for_each_region_within(region, |id| nested.push(id));
        }
        let region = |function: &Function, id| function.region(id).clone();
        let value = |function: &Function, old| *function.value(old);
        self.copied.regions(function, &nested, region, value);

        let mut copy = inst.clone();
        self.copied.inst(&mut copy, function.values.len());
        for old in inst.results.iter() {
            function.values.push(*function.value(old));
        }
        self.extend();
        if let InstKind::Const(bits) = copy.kind {
            self.known[copy.results.first.index()] = Some(bits);
        }
        out.push(copy);
    }

    /// Adds what the function has got to what is known of its parts.
    fn extend(&mut self) {
        let values = self.function.values.len();
        self.aliases.extend(values);
        self.known.resize(values, None);
        self.decides.resize(values, false);
        self.seen.resize(self.function.regions.len(), None);
        self.copied.extend(self.function);
    }

    /// Replaces the results of unrolled loops everywhere, and empties unreachable regions. Returns
    /// whether a loop was unrolled.
    fn tidy(mut self) -> bool {
        if !self.any {
            return false;
        }
        let mut reached = vec![false; self.function.regions.len()];
        self.function
            .for_each_region(|id| reached[id.index()] = true);
        for (region, reached) in self.function.regions.iter_mut().zip(reached) {
            if !reached {
                *region = Region::default();
            }
            for inst in &mut region.insts {
                self.aliases.rewrite(inst);
            }
        }
        true
    }
}
