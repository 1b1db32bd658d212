//! The number of iterations of a loop, if constants decide it.

use super::{LONG_OP_COST, MAX_UNROLLED, Unroller};
use crate::instruction::Effect;
use crate::module::*;
use crate::moved_words::moved_words;
use crate::passes::fold::constant;
use std::collections::HashMap;

/// A loop that may be unrolled.
struct Shape {
    /// The number of instructions that an iteration counts as.
    size: usize,
    exits: Vec<Exit>,
}

/// An exit of a loop: an `If` of which one arm breaks it.
pub(super) struct Exit {
    /// Its position.
    pub(super) at: usize,
    /// The condition with which it ends the loop.
    when: bool,
    pub(super) ends: RegionId,
    pub(super) stays: RegionId,
}

/// The iterations of a loop.
pub(super) struct Iterations {
    /// The number of iterations that end with its `Continue`.
    pub(super) whole: usize,
    pub(super) exits: Vec<Exit>,
    /// The position of the exit that ends the iteration after those.
    pub(super) last: usize,
}

impl Unroller<'_> {
    /// The iterations of a loop, if they are known and become at most `most` instructions, and
    /// `for_elements` more for each access of memory whose place they make known. They are within
    /// the capacity, which is then reduced.
    pub(super) fn iterations(
        &mut self,
        body: RegionId,
        own: &Inst,
        most: usize,
        for_elements: usize,
    ) -> Option<Iterations> {
        let Shape { size, exits } = self.shape(body, most.max(MAX_UNROLLED))?;
        let indices = match for_elements {
            0 => Vec::new(),
            _ => self.unknown_indices(body),
        };
        self.find_deciding(body, &exits, &indices);
        let limit = match self.hints.forces(own.span) {
            None => self.hints.max_iterations(own.span),
            Some(_) => None,
        };
        let limit = limit.map_or(usize::MAX, |(limit, _)| limit as usize);
        let first = own.args.iter().map(|&arg| self.aliases.find(arg));
        let mut carried: Vec<Option<u32>> = first.map(|arg| self.known[arg.index()]).collect();
        let kept = for_elements * self.kept_words(body);
        let mut most = most;
        for whole in 0..*self.capacity / size {
            let last = self.evaluate_iteration(body, &exits, &mut carried)?;
            let known = |index: &&ValueId| self.known[index.index()].is_some();
            most += kept + for_elements * indices.iter().filter(known).count();
            if (whole + 1) * size > most {
                return None;
            }
            if let Some(last) = last {
                if whole > limit {
                    return None;
                }
                *self.capacity -= (whole + 1) * size;
                return Some(Iterations { whole, exits, last });
            }
        }
        None
    }

    /// The indices of arrays' elements in a loop's own region that are not known, but may be in an
    /// iteration.
    fn unknown_indices(&mut self, body: RegionId) -> Vec<ValueId> {
        let mut indices = Vec::new();
        for inst in &self.function.region(body).insts {
            if let InstKind::Load(_) | InstKind::Store(_) = inst.kind {
                let index = self.aliases.find(inst.args[0]);
                if self.known[index.index()].is_none() {
                    indices.push(index);
                }
            }
        }
        indices
    }

    /// The words that a loop's own region keeps on tapes, or takes off them, in an iteration.
    fn kept_words(&self, body: RegionId) -> usize {
        let words = |inst: &Inst| match inst.kind.effect() {
            Effect::UsesTape => moved_words(self.function, inst) as usize,
            _ => 0,
        };
        self.function.region(body).insts.iter().map(words).sum()
    }

    /// Finds the values in a loop's own region on which its end depends, and these indices: only
    /// those need be known.
    fn find_deciding(&mut self, body: RegionId, exits: &[Exit], indices: &[ValueId]) {
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
        let mut open: Vec<ValueId> = conditions.chain(indices.iter().copied()).collect();
        while let Some(value) = open.pop() {
            let value = self.aliases.find(value);
            self.decides[value.index()] = true;
            open.extend(made.remove(&value).into_iter().flatten());
        }
    }

    /// The shape of a loop. `None` if it has more than `most` instructions, has no constant to end
    /// it, or is left and continued other than by itself at its end.
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
                    InstKind::Op(op) | InstKind::WithSlopes(op)
                        if op.info().shares_shadow_routine =>
                    {
                        LONG_OP_COST
                    }
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
}
