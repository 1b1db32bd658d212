//! Writes loops out whose turns are known.
//!
//! Assumes a function that is folded: whatever is always the same is a constant.
//! Guarantees: a loop that constants alone end, and soon, stands as its turns, one behind the other, up to where it ends. A [`Turn`](InstKind::NextIteration) stands for each
//! `Continue` and takes its step of the budget, so that nobody can tell the difference. Names and places stay.
//! Loops stay that anything else may leave or continue, that would become more than [`MAX_UNROLLED`] instructions, or [`MAX_UNROLLED_WITHIN`] inside of other loops, or more than
//! there is still room for in the module. A long row counts as [`LONG_OP_COST`] of them.
//!
//! What goes by the number of a turn is constant then, and machines have long straight lines, in which they keep nothing between turns.

use super::fold::constant;
use super::replacement::{Replacements, pass_on_name};
use crate::module::*;
use std::collections::HashMap;

/// The most instructions that a loop becomes.
pub const MAX_UNROLLED: usize = 1 << 10;

/// The same inside of another loop, which may have to stay: engines have means for loops that are not too long.
pub const MAX_UNROLLED_WITHIN: usize = 1 << 8;

/// How many instructions a row with a long algorithm counts as, such as noise: its machine code is thousands.
pub const LONG_OP_COST: usize = 1 << 8;

/// The most instructions that a module gets by loops that are written out.
pub const MAX_UNROLLED_IN_ALL: usize = 1 << 14;

/// Writes loops of a function out, inner ones first, while there is room for so many instructions. Returns whether there was one.
pub(super) fn unroll(function: &mut Function, room: &mut usize) -> bool {
    if *room == 0 {
        return false;
    }
    // Regions stand before those nested in them.
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
        room,
        any: false,
    };
    unroller.find_constants();
    for &id in around.iter().rev() {
        let most = match is_within[id.index()] {
            true => MAX_UNROLLED_WITHIN,
            false => MAX_UNROLLED,
        };
        unroller.region(id, most);
    }
    unroller.tidy()
}

struct Unroller<'f> {
    function: &'f mut Function,
    /// What stands for the results of loops that are written out.
    aliases: Replacements,
    /// The bits of constants; of a loop's values those that they have in the turn at hand.
    known: Vec<Option<u32>>,
    /// What each value of a loop is in the turn that is written; others are themselves.
    copies: Vec<ValueId>,
    /// The same of regions.
    regions: Vec<RegionId>,
    /// By region: the loop that it was last found in.
    seen: Vec<Option<RegionId>>,
    /// Values of a loop by which it is decided whether it ends.
    decides: Vec<bool>,
    /// How many instructions there may still be.
    room: &'f mut usize,
    any: bool,
}

/// A loop as it may be written out.
struct Shape {
    /// How many instructions a turn counts as.
    size: usize,
    exits: Vec<Exit>,
}

/// Where a loop may end: an `If` of which one arm breaks it.
struct Exit {
    /// Its position.
    at: usize,
    /// The condition with which it ends the loop.
    when: bool,
    ends: RegionId,
    stays: RegionId,
}

/// How often a loop turns.
struct Turns {
    /// How many end with its `Continue`.
    whole: usize,
    exits: Vec<Exit>,
    /// By which of them the turn behind those ends it: its position.
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

    /// Writes out the loops among a region's instructions that become so many at most.
    fn region(&mut self, id: RegionId, most: usize) {
        let insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            let turns = match inst.kind {
                InstKind::Loop(body) => {
                    let turns = self.turns(body, &inst.args, most);
                    turns.map(|turns| (body, turns))
                }
                _ => None,
            };
            match turns {
                Some((body, turns)) => self.write_out(body, &inst, &turns, &mut out),
                None => out.push(inst),
            }
        }
        self.function.regions[id.index()].insts = out;
    }

    /// How often a loop turns, if that is known and there is room for it, which it takes then.
    fn turns(&mut self, body: RegionId, args: &Args, most: usize) -> Option<Turns> {
        let Shape { size, exits } = self.shape(body)?;
        self.find_deciding(body, &exits);
        let first = args.iter().map(|&arg| self.aliases.find(arg));
        let mut carried: Vec<Option<u32>> = first.map(|arg| self.known[arg.index()]).collect();
        for whole in 0..most.min(*self.room) / size {
            if let Some(last) = self.turn(body, &exits, &mut carried)? {
                *self.room -= (whole + 1) * size;
                return Some(Turns { whole, exits, last });
            }
        }
        None
    }

    /// Finds the values in a loop's own region by which it is decided whether it ends: nothing else need be known.
    fn find_deciding(&mut self, body: RegionId, exits: &[Exit]) {
        let Region { params, insts } = self.function.region(body);
        let carried = &insts.last().expect("it continues").args;
        // What each value is made of, until it was looked at.
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

    /// What a loop is, unless it is too large, has no constant to end it, or is left and continued in other ways than by itself at its end.
    fn shape(&mut self, body: RegionId) -> Option<Shape> {
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
                if size > MAX_UNROLLED {
                    return None;
                }
                match inst.kind {
                    InstKind::Continue(to) if to == body => continues += 1,
                    InstKind::Break(to) if to == body => breaks += 1,
                    // Of a region within, which was met before what is in it.
                    InstKind::Break(to) | InstKind::Continue(to)
                        if self.seen[to.index()] == Some(body) => {}
                    InstKind::Break(_) | InstKind::Continue(_) | InstKind::Return => return None,
                    _ => open.extend(inst.kind.regions()),
                }
            }
        }
        (continues == 1 && breaks == exits.len()).then_some(Shape { size, exits })
    }

    /// Runs a turn with what it carries, as far as that is known; then that is what the next one carries. Says where the loop ends, if it does; nothing if that cannot be told.
    fn turn(
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

    /// Appends a loop's turns; what it is left with stands for its results.
    fn write_out(&mut self, body: RegionId, own: &Inst, turns: &Turns, out: &mut Vec<Inst>) {
        self.any = true;
        let Region { params, insts } = std::mem::take(&mut self.function.regions[body.index()]);
        self.carry(&params, &own.args);
        for turn in 0..=turns.whole {
            let mut exits = turns.exits.iter().peekable();
            for (at, inst) in insts.iter().enumerate() {
                match inst.kind {
                    InstKind::If(..) if let Some(exit) = exits.next_if(|exit| exit.at == at) => {
                        let is_last = turn == turns.whole && at == turns.last;
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

    /// What a loop's parameters are in the turn that comes.
    fn carry(&mut self, params: &[ValueId], values: &[ValueId]) {
        for (&param, &value) in params.iter().zip(values) {
            pass_on_name(&mut self.function.values, param, value);
            self.copies[param.index()] = value;
        }
    }

    /// What a value is in the turn that is written.
    fn copied(&mut self, value: ValueId) -> ValueId {
        let value = self.aliases.find(value);
        self.copies[value.index()]
    }

    /// Appends copies of a region's instructions, without the last one. Gives what that gives.
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
        let kind = match inst.kind {
            InstKind::If(then, other) => {
                InstKind::If(self.copy_region(then), self.copy_region(other))
            }
            InstKind::Loop(body) => InstKind::Loop(self.copy_region(body)),
            InstKind::Block(body) => InstKind::Block(self.copy_region(body)),
            InstKind::Break(to) => InstKind::Break(self.regions[to.index()]),
            InstKind::Continue(to) => InstKind::Continue(self.regions[to.index()]),
            ref kind => kind.clone(),
        };
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

    /// Makes everything read what stands for results of loops, and empties regions that nobody comes to. Returns whether a loop was written out.
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
