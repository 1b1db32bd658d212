//! Full unrolling of loops with a known number of iterations.
//!
//! Assumes a folded function: every value that is always the same is a constant. Guarantees: a loop
//! that ends by constants alone, within the limits, becomes its iterations, one after the other, up
//! to where it ends. A [`NextIteration`](InstKind::NextIteration) replaces each `Continue` and
//! takes its step of the budget, so that unrolling is unobservable. Names and spans stay. A loop
//! stays if anything else may leave or continue it. It also stays if it would become more than
//! [`MAX_UNROLLED`] instructions, or [`MAX_UNROLLED_WITHIN`] inside of other loops, or more than
//! the remaining capacity of the module ([`MAX_UNROLLED_IN_ALL`]). A long op counts as
//! [`LONG_OP_COST`] of them.
//!
//! Hints of the shader writer change that, for loops that are differentiated: a loop that has more
//! iterations than `[MaxIters]` says stays; one with `[ForceUnroll]` may become [`MAX_FORCED`]
//! instructions; one with `[ForceUnroll(n)]` stays as blocks of n iterations (`unroll/blocks.rs`).
//!
//! Values that depend on the iteration's number are constant then, and engines get long
//! straight-line segments.

mod blocks;

use super::fold::constant;
use super::replacement::{Replacements, pass_on_name};
use crate::derivative::HintKind;
use crate::instruction::FieldMut;
use crate::module::*;
use crate::span::Span;
use std::collections::HashMap;

/// The most instructions that a loop becomes.
pub const MAX_UNROLLED: usize = 1 << 10;

/// The most instructions that a loop inside of another loop becomes. The outer loop may have to
/// stay, and engines compile loops only up to a size.
pub const MAX_UNROLLED_WITHIN: usize = 1 << 8;

/// The number of instructions that an op with a long algorithm counts as, such as noise: its
/// machine code is thousands.
pub const LONG_OP_COST: usize = 1 << 8;

/// The most instructions that a module gets by unrolled loops.
pub const MAX_UNROLLED_IN_ALL: usize = 1 << 14;

/// The most instructions that a module gets by loops that are unrolled because hints say so.
pub const MAX_FORCED: usize = 1 << 16;

/// Unrolls loops of a function, inner ones first, within `capacity` instructions. Returns whether
/// there was one.
pub(super) fn unroll(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
) -> bool {
    Unroller::run(function, hints, capacity, |unroller, id, is_within| {
        let most = match is_within {
            true => MAX_UNROLLED_WITHIN,
            false => MAX_UNROLLED,
        };
        unroller.region(id, |_| most);
    })
}

/// Unrolls the loops of a function that have `[ForceUnroll]`, as far as their numbers of iterations
/// are known.
pub(super) fn unroll_forced(
    function: &mut Function,
    hints: &DerivativeHints,
    capacity: &mut usize,
) -> bool {
    Unroller::run(function, hints, capacity, |unroller, id, _| {
        let most = *unroller.capacity;
        unroller.region(id, |span| match hints.forces(span) {
            Some(_) => most,
            None => 0,
        });
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

/// Where `[ForceUnroll]` was written before a loop that is still there.
pub(super) fn left(function: &Function, hints: &DerivativeHints) -> Option<Span> {
    let mut left = None;
    function.for_each_region(|id| {
        for inst in &function.region(id).insts {
            if let InstKind::Loop(_) = inst.kind {
                left = left.or(hints.forces(inst.span));
            }
        }
    });
    left
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
        if *capacity == 0 {
            return false;
        }
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
            copies: (0..function.values.len() as u32).map(ValueId).collect(),
            regions: (0..function.regions.len() as u32).map(RegionId).collect(),
            seen: vec![None; function.regions.len()],
            decides: vec![false; function.values.len()],
            function,
            hints,
            capacity,
            next_is: None,
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
    /// The copy of each value of a loop in the iteration being written; others are themselves.
    copies: Vec<ValueId>,
    /// The same of regions.
    regions: Vec<RegionId>,
    /// By region: the loop that it was last found in.
    seen: Vec<Option<RegionId>>,
    /// Values of a loop on which its end depends.
    decides: Vec<bool>,
    hints: &'f DerivativeHints,
    /// The number of instructions that may still be added.
    capacity: &'f mut usize,
    /// A loop whose `Continue`s leave a block: both regions.
    next_is: Option<(RegionId, RegionId)>,
    any: bool,
}

/// A loop that may be unrolled.
struct Shape {
    /// The number of instructions that an iteration counts as.
    size: usize,
    exits: Vec<Exit>,
}

/// An exit of a loop: an `If` of which one arm breaks it.
struct Exit {
    /// Its position.
    at: usize,
    /// The condition with which it ends the loop.
    when: bool,
    ends: RegionId,
    stays: RegionId,
}

/// The iterations of a loop.
struct Iterations {
    /// The number of iterations that end with its `Continue`.
    whole: usize,
    exits: Vec<Exit>,
    /// The position of the exit that ends the iteration after those.
    last: usize,
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
    /// the span of the loop.
    fn region(&mut self, id: RegionId, most: impl Fn(Span) -> usize) {
        let insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            let iterations = match inst.kind {
                InstKind::Loop(body) => {
                    let iterations = self.iterations(body, &inst, most(inst.span));
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

    /// The iterations of a loop, if they are known and within the capacity, which is then reduced.
    fn iterations(&mut self, body: RegionId, own: &Inst, most: usize) -> Option<Iterations> {
        let Shape { size, exits } = self.shape(body, most.max(MAX_UNROLLED))?;
        self.find_deciding(body, &exits);
        let limit = match self.hints.forces(own.span) {
            None => self.hints.max_iterations(own.span),
            Some(_) => None,
        };
        let limit = limit.map_or(usize::MAX, |(limit, _)| limit as usize);
        let first = own.args.iter().map(|&arg| self.aliases.find(arg));
        let mut carried: Vec<Option<u32>> = first.map(|arg| self.known[arg.index()]).collect();
        for whole in 0..most.min(*self.capacity) / size {
            if let Some(last) = self.evaluate_iteration(body, &exits, &mut carried)? {
                if whole > limit {
                    return None;
                }
                *self.capacity -= (whole + 1) * size;
                return Some(Iterations { whole, exits, last });
            }
        }
        None
    }

    /// Finds the values in a loop's own region on which its end depends: only those need be known.
    fn find_deciding(&mut self, body: RegionId, exits: &[Exit]) {
        let Region { params, insts } = self.function.region(body);
        let carried = &insts.last().expect("it continues").args;
        // The operands of each value, until it was visited.
        let mut made = HashMap::with_capacity(params.len() + insts.len());
        for (&param, arg) in params.iter().zip(carried) {
            made.insert(param, std::slice::from_ref(arg));
        }
        for inst in insts {
            if let InstKind::Op(_) = inst.kind {
                made.insert(inst.results.first, &inst.args[..]);
            }
        }
        let conditions = exits.iter().map(|exit| insts[exit.at].args[0]);
        let mut open: Vec<ValueId> = conditions.collect();
        while let Some(value) = open.pop() {
            let value = self.aliases.find(value);
            self.decides[value.index()] = true;
            open.extend(made.remove(&value).into_iter().flatten());
        }
    }

    /// The shape of a loop. `None` if it has more than `most` instructions, has no constant to end it, or is left and
    /// continued other than by itself at its end.
    fn shape(&mut self, body: RegionId, most: usize) -> Option<Shape> {
        let mut exits = Vec::new();
        let insts = &self.function.region(body).insts;
        for (at, inst) in insts.iter().enumerate() {
            let InstKind::If(then, other) = inst.kind else {
                continue;
            };
            let [then_ends, other_ends] = [then, other]
                .map(|arm| self.function.terminator(arm).kind == InstKind::Break(body));
            let (when, ends, stays) = match (then_ends, other_ends) {
                (false, false) => continue,
                (true, _) => (true, then, other),
                (false, true) => (false, other, then),
            };
            if self.function.terminator(stays).kind != InstKind::Yield {
                return None;
            }
            exits.push(Exit {
                at,
                when,
                ends,
                stays,
            });
        }
        let ends_itself = self.function.terminator(body).kind == InstKind::Continue(body);
        if exits.is_empty() || !ends_itself {
            return None;
        }
        let (mut size, mut continues, mut breaks) = (0, 0, 0);
        let mut open = vec![body];
        while let Some(id) = open.pop() {
            self.seen[id.index()] = Some(body);
            for inst in &self.function.region(id).insts {
                size += match inst.kind {
                    InstKind::Op(op) if op.info().shares_shadow_routine => LONG_OP_COST,
                    _ => 1,
                };
                if size > most {
                    return None;
                }
                match inst.kind {
                    InstKind::Continue(to) if to == body => continues += 1,
                    InstKind::Break(to) if to == body => breaks += 1,
                    // A jump to a nested region, which was visited before its instructions.
                    InstKind::Break(to) | InstKind::Continue(to)
                        if self.seen[to.index()] == Some(body) => {}
                    InstKind::Break(_) | InstKind::Continue(_) | InstKind::Return => return None,
                    _ => open.extend(inst.kind.regions()),
                }
            }
        }
        (continues == 1 && breaks == exits.len()).then_some(Shape { size, exits })
    }

    /// Evaluates an iteration with its loop-carried values, as far as they are known; they become
    /// those of the next one. Returns the exit that ends the loop, if one does; `None` if that is
    /// unknown.
    fn evaluate_iteration(
        &mut self,
        body: RegionId,
        exits: &[Exit],
        carried: &mut [Option<u32>],
    ) -> Option<Option<usize>> {
        let region = self.function.region(body);
        for (param, bits) in region.params.iter().zip(carried.iter()) {
            self.known[param.index()] = *bits;
        }
        let mut exits = exits.iter().peekable();
        for (at, inst) in region.insts.iter().enumerate() {
            match inst.kind {
                InstKind::Const(_) => {}
                InstKind::Op(op) if self.decides[inst.results.first.index()] => {
                    let result = inst.results.first;
                    let args = inst.args.iter().map(|&arg| self.aliases.find(arg));
                    let args = args.map(|arg| self.known[arg.index()]);
                    let bits = constant(op, args, self.function.value(result).ty);
                    self.known[result.index()] = bits;
                }
                InstKind::If(..) if let Some(exit) = exits.next_if(|exit| exit.at == at) => {
                    let condition = self.known[self.aliases.find(inst.args[0]).index()]?;
                    if (condition != 0) == exit.when {
                        return Some(Some(at));
                    }
                }
                InstKind::Continue(_) => {
                    for (bits, arg) in carried.iter_mut().zip(&inst.args) {
                        *bits = self.known[self.aliases.find(*arg).index()];
                    }
                }
                _ => {}
            }
        }
        Some(None)
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
                            self.copies[result.index()] = value;
                        }
                    }
                    InstKind::Continue(_) => {
                        let carried: Args = inst.args.iter().map(|&arg| self.copied(arg)).collect();
                        out.push(Inst {
                            kind: InstKind::NextIteration,
                            args: Args::new(),
                            results: Results::NONE,
                            span: inst.span,
                        });
                        self.carry(&params, &carried);
                    }
                    _ => {
                        let copy = self.copy(inst);
                        out.push(copy);
                    }
                }
            }
        }
    }

    /// Sets a loop's parameters for the next iteration.
    fn carry(&mut self, params: &[ValueId], values: &[ValueId]) {
        for (&param, &value) in params.iter().zip(values) {
            pass_on_name(&mut self.function.values, param, value);
            self.copies[param.index()] = value;
        }
    }

    /// A value in the iteration being written.
    fn copied(&mut self, value: ValueId) -> ValueId {
        let value = self.aliases.find(value);
        self.copies[value.index()]
    }

    /// Appends copies of a region's instructions, without the terminator. Returns the terminator's
    /// operands.
    fn copy_list(&mut self, id: RegionId, out: &mut Vec<Inst>) -> Args {
        let insts = self.function.region(id).insts.clone();
        let (last, rest) = insts.split_last().expect("a region ends with a terminator");
        for inst in rest {
            let copy = self.copy(inst);
            out.push(copy);
        }
        last.args.iter().map(|&arg| self.copied(arg)).collect()
    }

    /// A copy of an instruction, with copies of its regions.
    fn copy(&mut self, inst: &Inst) -> Inst {
        let args = inst.args.iter().map(|&arg| self.copied(arg)).collect();
        let mut kind = inst.kind.clone();
        if let InstKind::Continue(to) = kind
            && let Some((of, block)) = self.next_is
            && of == to
        {
            kind = InstKind::Break(block);
        } else {
            kind.for_each_field_mut(|field| match field {
                FieldMut::Region(region) => *region = self.copy_region(*region),
                FieldMut::Target(region) => *region = self.regions[region.index()],
                _ => {}
            });
        }
        let results = Results {
            first: ValueId(self.function.values.len() as u32),
            count: inst.results.count,
        };
        for old in inst.results.iter() {
            let new = self.copy_value(old);
            if let InstKind::Const(bits) = kind {
                self.known[new.index()] = Some(bits);
            }
        }
        Inst {
            kind,
            args,
            results,
            span: inst.span,
        }
    }

    fn copy_value(&mut self, old: ValueId) -> ValueId {
        let new = ValueId(self.function.values.len() as u32);
        self.function.values.push(*self.function.value(old));
        self.aliases.add();
        self.known.push(None);
        self.decides.push(false);
        self.copies.push(new);
        self.copies[old.index()] = new;
        new
    }

    fn copy_region(&mut self, old: RegionId) -> RegionId {
        let new = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region::default());
        self.regions.push(new);
        self.seen.push(None);
        self.regions[old.index()] = new;
        let Region { params, insts } = self.function.region(old).clone();
        let params = params.iter().map(|&param| self.copy_value(param)).collect();
        let insts = insts.iter().map(|inst| self.copy(inst)).collect();
        self.function.regions[new.index()] = Region { params, insts };
        new
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
