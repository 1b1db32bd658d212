//! The fusion pass: an arithmetic instruction whose result dies as an operand of a later one joins
//! it, if there is a superinstruction for both.
//!
//! The first instruction moves down to the second, or the second up to the first. So no instruction
//! between them may write the operands of the one that moves, or access its result. The
//! superinstruction comes before its single instructions. These stay for groups that must preserve
//! the words of inactive points.
//!
//! An instruction may have the shadows of another value. Then it writes its value alone; fused with
//! the instruction that computes those, it writes both.

use super::super::instruction::{BatchInstruction, BatchOp, OperandLocation};
use super::{DualLocation, Loader, written};
use adumbra_ops::Op;
use adumbra_simd::{
    Composition, FusionOperand, OperandShape, Superinstruction, UnmaskedRoutine,
    find_superinstruction,
};
use std::ops::Range;

/// The search window: how many candidates back an instruction looks for one to join.
const WINDOW: usize = 12;

/// An instruction or a superinstruction that may be fused further.
pub(super) struct FusionCandidate {
    part: FusionOperand,
    /// The first of its instructions, and how many there are.
    start: usize,
    len: usize,
    /// The location of its result. The value is in a plane of its own.
    result: DualLocation,
    /// How many words of the result are written, its value's first; the others hold the shadows
    /// already.
    written: usize,
    /// Where its instructions put intermediate values, should they be computed one by one.
    inner: Vec<OperandLocation>,
    args: Vec<DualLocation>,
    /// The instruction that reads the result for the last time, if there is one for all of its
    /// words.
    last_use: Option<u32>,
}

impl FusionCandidate {
    /// The position after its instructions.
    fn end(&self) -> usize {
        self.start + self.len
    }

    /// The locations that it writes.
    fn written(&self) -> impl Iterator<Item = OperandLocation> {
        self.result.locations().take(self.written)
    }
}

/// Two candidates as one.
struct Joined {
    /// The index of the first among the candidates.
    first: usize,
    fusion: Superinstruction,
    routine: UnmaskedRoutine,
    args: Vec<DualLocation>,
    /// Whether the second moves up, not the first down.
    moves_up: bool,
}

impl Loader<'_> {
    /// Fuses the arithmetic instruction that was just emitted with earlier ones, as far as
    /// possible.
    pub(super) fn fuse(
        &mut self,
        op: Op,
        result: DualLocation,
        args: &[DualLocation],
        last_uses: &[u32],
    ) {
        let start = self.out.instructions.len() - 1;
        let BatchOp::Arithmetic { pattern, .. } = self.out.instructions[start].op else {
            unreachable!("an arithmetic instruction was emitted");
        };
        let mut own = FusionCandidate {
            part: FusionOperand::Op(op),
            start,
            len: 1,
            result,
            written: written(pattern),
            inner: Vec::new(),
            args: args.to_vec(),
            last_use: (last_uses.iter().all(|last_use| last_use == &last_uses[0]))
                .then(|| last_uses[0]),
        };
        while let Some(joined) = self.partner(&own) {
            own = self.join(joined, own);
        }
        if self.candidates.len() == WINDOW {
            self.candidates.remove(0);
        }
        self.candidates.push(own);
        debug_assert!(
            (self.candidates.iter()).all(|c| self.locations(c.end() - 1)[0] == c.result.value),
            "the last instruction of each gives its result"
        );
    }

    /// Extends the life of a word under another type, until its last use there.
    pub(super) fn extend_last_use(&mut self, location: OperandLocation, last_use: u32) {
        for candidate in &mut self.candidates {
            if candidate.result.value == location && candidate.last_use == Some(self.position) {
                candidate.last_use = Some(last_use);
            }
        }
    }

    /// A candidate that can be fused with the last one, and the superinstruction of both.
    fn partner(&self, own: &FusionCandidate) -> Option<Joined> {
        let candidates = self.candidates.iter().enumerate().rev();
        for (first, other) in candidates
            .filter(|(_, other)| other.last_use == Some(self.position) && other.end() <= own.start)
        {
            let mut uses = (0..)
                .zip(&own.args)
                .filter(|(_, arg)| arg.overlaps(other.result));
            let (Some((operand, arg)), None) = (uses.next(), uses.next()) else {
                continue;
            };
            let Some((fusion, args)) = self.fusion(other, own, operand) else {
                continue;
            };
            let shapes = shapes(own.result, &args);
            let Some(routine) = shapes.and_then(|s| find_superinstruction(self.level, fusion, &s))
            else {
                continue;
            };
            let mut gone = other
                .written()
                .filter(|&location| !own.result.has(location));
            // The shadows of another value must not be written.
            let mut had = own.result.locations().skip(own.written);
            // An instruction in between reads the result in its own location. So does one that did
            // before the last one moved up.
            let between = other.end()..own.start;
            let after = own.end()..self.out.instructions.len();
            let is_wanted = *arg != other.result
                || !gone.all(|location| self.is_free(location, other))
                || !had.all(|location| other.written().any(|written| written == location))
                || !self.are_independent(between.clone(), other.written())
                || !self.are_independent(after, other.written());
            if is_wanted {
                continue;
            }
            let sinks = self.can_pass(between.clone(), other);
            if sinks || self.can_pass(between, own) {
                return Some(Joined {
                    first,
                    fusion,
                    routine,
                    args,
                    moves_up: !sinks,
                });
            }
        }
        None
    }

    /// The superinstruction of both candidates, if the first gives the second that operand; and the
    /// operands that neither computes.
    fn fusion(
        &self,
        first: &FusionCandidate,
        then: &FusionCandidate,
        operand: usize,
    ) -> Option<(Superinstruction, Vec<DualLocation>)> {
        let mut fusion = self.made(Composition::Chain(first.part, then.part, operand))?;
        let mut args = then.args.clone();
        args.splice(operand..=operand, first.args.iter().copied());
        // As long as any two of them are the same.
        while let Some((shorter, upper)) = self.with_same(fusion, &args) {
            fusion = shorter;
            args.remove(upper);
        }
        Some((fusion, args))
    }

    /// A superinstruction for which two of the operands are the same, and which of them is not
    /// passed any more.
    fn with_same(
        &self,
        fusion: Superinstruction,
        args: &[DualLocation],
    ) -> Option<(Superinstruction, usize)> {
        let pairs = (0..args.len()).flat_map(|upper| (0..upper).map(move |lower| (lower, upper)));
        let mut same = pairs.filter(|&(lower, upper)| args[lower] == args[upper]);
        same.find_map(|(lower, upper)| {
            let fusion = self.made(Composition::SharedOperand(fusion, lower, upper))?;
            Some((fusion, upper))
        })
    }

    /// The superinstruction that is composed so, if it is used.
    fn made(&self, made: Composition) -> Option<Superinstruction> {
        Superinstruction::of(made).filter(|&fusion| !self.without.has(fusion))
    }

    /// Whether no register aliases a plane except the candidate's, which writes it.
    fn is_free(&self, location: OperandLocation, candidate: &FusionCandidate) -> bool {
        let (OperandLocation::Plane(register), OperandLocation::Plane(to)) =
            (location, candidate.result.value)
        else {
            return false;
        };
        let own = to..to + candidate.result.locations().count() as u32;
        let guests = own.filter(|&own| own != register && self.map[own as usize] == location);
        self.alias_counts[register as usize] == guests.count() as u32
    }

    /// Whether none of these instructions reads or writes any of these locations.
    fn are_independent(
        &self,
        insts: Range<usize>,
        mut all: impl Iterator<Item = OperandLocation>,
    ) -> bool {
        all.all(|location| {
            let mut insts = insts.clone();
            insts.all(|inst| !self.locations(inst).contains(&location))
        })
    }

    /// Whether a candidate may be computed before these instructions as well as after them: none
    /// accesses the results of the candidate, or writes its operands.
    fn can_pass(&self, mut insts: Range<usize>, candidate: &FusionCandidate) -> bool {
        let inner = candidate.inner.iter().copied();
        self.are_independent(insts.clone(), candidate.written().chain(inner))
            && insts.all(|inst| {
                let count = match self.out.instructions[inst].op {
                    BatchOp::Arithmetic { pattern, .. } => written(pattern),
                    BatchOp::Uniform(..) => 1,
                    // The single instructions after a superinstruction have its effects.
                    _ => 0,
                };
                let written = &self.locations(inst)[..count];
                !(candidate.args.iter())
                    .any(|arg| written.iter().any(|&location| arg.has(location)))
            })
    }

    /// Moves the instructions of two candidates together, after a superinstruction for all of them.
    fn join(&mut self, joined: Joined, last: FusionCandidate) -> FusionCandidate {
        self.out.superinstructions = self.out.superinstructions.with(joined.fusion);
        let first = self.candidates.remove(joined.first);
        let mut inner = last.inner.clone();
        inner.extend(first.inner.iter().copied().chain(first.written()));
        let (between, end) = (first.end()..last.start, last.end());
        let own = self.take_instructions(last.start..end);
        let mut instructions = self.take_instructions(first.start..between.start);
        instructions.extend(own);
        let refs = self.out.operands.len();
        self.out.operands.extend(last.result.locations());
        let written = last.result.locations().count();
        let args = joined.args.iter();
        self.out
            .operands
            .extend(args.flat_map(|arg| arg.locations()));
        let inst = BatchInstruction {
            op: BatchOp::Superinstruction {
                routine: joined.routine,
                instructions: instructions.len() as u32,
                written: written as u8,
                keeps_inactive: last
                    .result
                    .locations()
                    .any(|location| self.keeps_inactive(location)),
            },
            refs: refs as u32,
            position: self.position,
        };
        instructions.insert(0, (inst, (self.out.operands.len() - refs) as u32));
        let len = instructions.len();
        let start = match joined.moves_up {
            true => first.start,
            false => last.start - first.len,
        };
        let (insts, counts): (Vec<BatchInstruction>, Vec<u32>) = instructions.into_iter().unzip();
        self.out.instructions.splice(start..start, insts);
        self.counts.splice(start..start, counts);
        for other in &mut self.candidates {
            if between.contains(&other.start) {
                other.start -= first.len;
                other.start += if joined.moves_up { len } else { 0 };
            } else if other.start >= end {
                other.start = other.start - first.len - last.len + len;
            }
        }
        FusionCandidate {
            part: FusionOperand::Superinstruction(joined.fusion),
            start,
            len,
            written,
            inner,
            args: joined.args,
            ..last
        }
    }

    /// Removes a range, and returns the single instructions in it, each with its number of
    /// operands.
    fn take_instructions(&mut self, range: Range<usize>) -> Vec<(BatchInstruction, u32)> {
        let insts = self.out.instructions.drain(range.clone());
        let instructions = insts.zip(self.counts.drain(range));
        instructions
            .filter(|(inst, _)| !matches!(inst.op, BatchOp::Superinstruction { .. }))
            .collect()
    }
}

/// The shapes of operands, if a routine can be made for them and such a result.
fn shapes(result: DualLocation, args: &[DualLocation]) -> Option<Vec<OperandShape>> {
    let shapes: Option<Vec<OperandShape>> = args.iter().map(|arg| arg.shape()).collect();
    let has_dual = shapes.as_ref()?.contains(&OperandShape::Dual);
    let fits = match result.shadows {
        [Some(_), Some(_)] => has_dual,
        [None, None] => !has_dual,
        _ => false,
    };
    shapes.filter(|_| fits)
}
