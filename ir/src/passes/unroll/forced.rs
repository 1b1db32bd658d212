//! Unrolling of loops that are left early, where the shader writer asks for it.
//!
//! A loop whose iterations constants bound becomes a block of them. Where the loop was left, the
//! block is; where an iteration was continued before its end, it is a block of its own. What a
//! constant decides is left to folding. The bound is found by running the iterations on what is
//! constant: a condition that is not goes both ways.

use super::Unroller;
use crate::module::*;
use crate::passes::fold::constant;
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// A reason that a loop with `[ForceUnroll]` stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum NotUnrolled {
    /// No constant ends it.
    Endless,
    /// It has too many instructions.
    TooLarge,
}

/// What an iteration leads to.
#[derive(Default)]
struct Outcome {
    /// The loop-carried values of the next one, as far as they are known, if there may be one.
    next: Option<Vec<Option<u32>>>,
    /// Whether a constant decided between leaving the loop and staying.
    is_decided: bool,
}

/// The walk over an iteration.
struct Walk {
    body: RegionId,
    outcome: Outcome,
    /// By region that a jump can leave: the results of its instruction.
    results: HashMap<RegionId, Results>,
    /// Regions after whose instruction control may come.
    falls: HashSet<RegionId>,
    /// Regions that the loop is left in.
    leaving: HashSet<RegionId>,
}

impl Unroller<'_> {
    /// Unrolls the loops among a region's instructions for which that is asked. Returns where the
    /// first one was asked for that stays, and why.
    pub(super) fn forced(&mut self, id: RegionId) -> Option<(Span, NotUnrolled)> {
        let mut refused = None;
        let insts = self.function.region(id).insts.iter().enumerate();
        let loops: Vec<(usize, RegionId, Span)> = insts
            .filter_map(|(at, inst)| match inst.kind {
                InstKind::Loop(body) => Some((at, body, self.hints.forces(inst.span)?)),
                _ => None,
            })
            .collect();
        for (at, body, asked) in loops {
            let mut own = self.function.region(id).insts[at].clone();
            self.aliases.rewrite(&mut own);
            match self.bound(body, &own) {
                Ok(count) => {
                    *self.capacity -= count * self.size(body);
                    let block = self.unroll_to_block(body, &own, count);
                    self.function.regions[id.index()].insts[at] = block;
                }
                Err(reason) => refused = refused.or(Some((asked, reason))),
            }
        }
        refused
    }

    /// The greatest number of iterations that a loop has, within the capacity.
    fn bound(&mut self, body: RegionId, own: &Inst) -> Result<usize, NotUnrolled> {
        let size = self.size(body);
        let mut within = Vec::new();
        (self.function).for_each_region_within(body, |id| within.push(id));
        let leaving = self.leaving(body, &within);
        let mut carried: Vec<Option<u32>> = (own.args.iter())
            .map(|&arg| self.known[arg.index()])
            .collect();
        let mut found = Err(NotUnrolled::TooLarge);
        for count in 1..=*self.capacity / size.max(1) {
            for (param, bits) in self.function.region(body).params.iter().zip(&carried) {
                self.known[param.index()] = *bits;
            }
            let mut walk = Walk {
                body,
                outcome: Outcome::default(),
                results: HashMap::new(),
                falls: HashSet::new(),
                leaving: leaving.clone(),
            };
            self.walk(body, Results::NONE, body, &mut walk);
            match walk.outcome {
                Outcome { next: None, .. } => {
                    found = Ok(count);
                    break;
                }
                Outcome { is_decided, .. } if !is_decided => {
                    found = Err(NotUnrolled::Endless);
                    break;
                }
                Outcome { next, .. } => carried = next.expect("there is one"),
            }
        }
        // What was known of one iteration is not of all.
        for id in within {
            let region = self.function.region(id);
            let insts = region.insts.iter();
            let insts = insts.filter(|inst| !matches!(inst.kind, InstKind::Const(_)));
            let results = insts.flat_map(|inst| inst.results.iter());
            for value in region.params.iter().copied().chain(results) {
                self.known[value.index()] = None;
            }
        }
        found
    }

    /// The regions among these that leave a loop, or have one within them that does.
    fn leaving(&self, body: RegionId, within: &[RegionId]) -> HashSet<RegionId> {
        let mut leaving = HashSet::new();
        // Regions come before those nested in them.
        for &id in within.iter().rev() {
            let region = self.function.region(id);
            let leaves = region.insts.iter().any(|inst| match inst.kind {
                InstKind::Break(to) => to == body,
                InstKind::Return => true,
                _ => inst.kind.regions().any(|inner| leaving.contains(&inner)),
            });
            if leaves {
                leaving.insert(id);
            }
        }
        leaving
    }

    /// Runs a region on what is known. `results` are those of its instruction, and `key` is the
    /// region by which that is known.
    fn walk(&mut self, id: RegionId, results: Results, key: RegionId, walk: &mut Walk) {
        let insts = self.function.region(id).insts.clone();
        for inst in &insts {
            let condition = match inst.kind {
                InstKind::If(..) => self.known[self.aliases.find(inst.args[0]).index()],
                _ => None,
            };
            match inst.kind {
                InstKind::Const(_) => continue,
                InstKind::Op(op) => {
                    let result = inst.results.first;
                    let args = inst.args.iter().map(|&arg| self.aliases.find(arg));
                    let args = args.map(|arg| self.known[arg.index()]);
                    let bits = constant(op, args, self.function.value(result).ty);
                    self.known[result.index()] = bits;
                }
                InstKind::If(then, other) => {
                    if condition.is_some() {
                        walk.outcome.is_decided |=
                            walk.leaving.contains(&then) || walk.leaving.contains(&other);
                    }
                    if condition != Some(0) {
                        self.walk(then, inst.results, then, walk);
                    }
                    if condition.is_none_or(|bits| bits == 0) {
                        self.walk(other, inst.results, then, walk);
                    }
                    if !walk.falls.remove(&then) {
                        return;
                    }
                }
                InstKind::Block(block) => {
                    walk.results.insert(block, inst.results);
                    self.walk(block, inst.results, block, walk);
                    if !walk.falls.remove(&block) {
                        return;
                    }
                }
                InstKind::Loop(inner) => {
                    for &param in &self.function.region(inner).params {
                        self.known[param.index()] = None;
                    }
                    walk.results.insert(inner, inst.results);
                    self.walk(inner, Results::NONE, inner, walk);
                    for result in inst.results.iter() {
                        self.known[result.index()] = None;
                    }
                    if !walk.falls.remove(&inner) {
                        return;
                    }
                }
                InstKind::Yield => self.give(&inst.args, results, key, walk),
                InstKind::Break(to) if to != walk.body => {
                    let results = walk.results[&to];
                    self.give(&inst.args, results, to, walk);
                }
                InstKind::Continue(to) if to == walk.body => {
                    let args = inst.args.iter().map(|&arg| self.aliases.find(arg));
                    let args: Vec<Option<u32>> = args.map(|arg| self.known[arg.index()]).collect();
                    match &mut walk.outcome.next {
                        None => walk.outcome.next = Some(args),
                        Some(next) => {
                            for (known, bits) in next.iter_mut().zip(args) {
                                *known = known.filter(|known| Some(*known) == bits);
                            }
                        }
                    }
                }
                _ => {
                    for result in inst.results.iter() {
                        self.known[result.index()] = None;
                    }
                }
            }
        }
    }

    /// Gives the results of an instruction values of one way to its end.
    fn give(&mut self, args: &[ValueId], results: Results, key: RegionId, walk: &mut Walk) {
        let is_first = walk.falls.insert(key);
        for (result, &arg) in results.iter().zip(args) {
            let bits = self.known[self.aliases.find(arg).index()];
            let known = &mut self.known[result.index()];
            *known = match is_first {
                true => bits,
                false => known.filter(|known| Some(*known) == bits),
            };
        }
    }

    /// The block of a loop's iterations.
    fn unroll_to_block(&mut self, body: RegionId, own: &Inst, count: usize) -> Inst {
        self.any = true;
        self.resolve(body);
        let is_straight = self.continues_at_end(body);
        let Region { params, insts } = std::mem::take(&mut self.function.regions[body.index()]);
        let block = RegionId(self.function.regions.len() as u32);
        self.function.regions.push(Region::default());
        self.extend();
        self.copied.set_region(body, block);
        self.carry(&params, &own.args);
        let end = insts.last().expect("a region ends").span;
        let mut out = Vec::with_capacity(insts.len() * count);
        for _ in 1..count {
            let carried = match is_straight {
                true => self.copy_all(&insts, &mut out),
                false => self.block(block, &insts, &params, &mut out),
            };
            out.push(Inst::plain(InstKind::TakeStep, end));
            self.carry(&params, &carried);
        }
        let first = self.function.regions.len();
        insts.iter().for_each(|inst| self.copy(inst, &mut out));
        self.function.regions[block.index()].insts = out;
        // The last iteration does not continue.
        let last = self.function.regions[first..].iter_mut();
        for end in last.filter_map(|region| region.insts.last_mut()) {
            end_here(end, block);
        }
        let own_end = self.function.regions[block.index()].insts.last_mut();
        end_here(own_end.expect("a region ends"), block);
        Inst {
            kind: InstKind::Block(block),
            args: Args::new(),
            results: own.results,
            span: own.span,
        }
    }
}

/// Replaces a `Continue` that is never reached.
fn end_here(end: &mut Inst, block: RegionId) {
    if end.kind == InstKind::Continue(block) {
        end.kind = InstKind::Unreachable;
        end.args.clear();
    }
}
