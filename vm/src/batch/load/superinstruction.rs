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
use adumbra_simd::{OperandShape, Superinstruction, UnmaskedRoutine, find_superinstruction};
use std::ops::Range;

/// The search window: how many candidates back an instruction looks for one to join.
const WINDOW: usize = 12;

/// An instruction that may be fused with a later one.
pub(super) struct FusionCandidate {
    op: Op,
    /// Its index.
    at: usize,
    /// The location of its result. The value is in a plane of its own.
    result: DualLocation,
    /// How many words of the result are written, its value's first; the others hold the shadows
    /// already.
    written: usize,
    args: Vec<DualLocation>,
    /// The instruction that reads the result for the last time, if there is one for all of its
    /// words.
    last_use: Option<u32>,
}

impl FusionCandidate {
    /// The locations that it writes.
    fn written(&self) -> impl Iterator<Item = OperandLocation> {
        self.result.locations().take(self.written)
    }
}

/// Two instructions as one.
struct Joined {
    /// The index of the first among the candidates.
    first: usize,
    fusion: Superinstruction,
    routine: UnmaskedRoutine,
    args: [DualLocation; Superinstruction::ARITY],
    /// Whether the second moves up, not the first down.
    moves_up: bool,
}

impl Loader<'_> {
    /// Fuses the arithmetic instruction that was just emitted with an earlier one, if it can be.
    pub(super) fn fuse(
        &mut self,
        op: Op,
        result: DualLocation,
        args: &[DualLocation],
        last_uses: &[u32],
    ) {
        let at = self.out.instructions.len() - 1;
        let BatchOp::Arithmetic { pattern, .. } = self.out.instructions[at].op else {
            unreachable!("an arithmetic instruction was emitted");
        };
        let own = FusionCandidate {
            op,
            at,
            result,
            written: written(pattern),
            args: args.to_vec(),
            last_use: (last_uses.iter().all(|last_use| last_use == &last_uses[0]))
                .then(|| last_uses[0]),
        };
        match self.partner(&own) {
            Some(joined) => self.join(joined, &own),
            None => {
                if self.candidates.len() == WINDOW {
                    self.candidates.remove(0);
                }
                self.candidates.push(own);
            }
        }
        debug_assert!(
            (self.candidates.iter()).all(|c| self.locations(c.at)[0] == c.result.value),
            "each gives its result"
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

    /// A candidate that can be fused with the last instruction, and the superinstruction of both.
    fn partner(&self, own: &FusionCandidate) -> Option<Joined> {
        let candidates = self.candidates.iter().enumerate().rev();
        for (first, other) in candidates.filter(|(_, other)| other.last_use == Some(self.position))
        {
            let mut uses = (0..)
                .zip(&own.args)
                .filter(|(_, arg)| arg.overlaps(other.result));
            let (Some((operand, arg)), None) = (uses.next(), uses.next()) else {
                continue;
            };
            let fusion = Superinstruction::of(other.op, own.op, operand);
            let Some(fusion) = fusion.filter(|&fusion| !self.without.has(fusion)) else {
                continue;
            };
            let mut args = own.args.clone();
            args.splice(operand..=operand, other.args.iter().copied());
            let args = args.try_into().expect("both ops have two operands");
            let shapes = shapes(own.result, &args);
            let Some(routine) = shapes.and_then(|s| find_superinstruction(self.level, fusion, s))
            else {
                continue;
            };
            let mut gone = other
                .written()
                .filter(|&location| !own.result.has(location));
            // The shadows of another value must not be written.
            let mut had = own.result.locations().skip(own.written);
            // An instruction in between reads the result in its own location.
            let between = other.at + 1..own.at;
            let is_wanted = *arg != other.result
                || !gone.all(|location| self.is_free(location, other))
                || !had.all(|location| other.written().any(|written| written == location))
                || !self.are_independent(between.clone(), other.written());
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
        self.are_independent(insts.clone(), candidate.written())
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

    /// Moves a candidate and the last instruction together, after a superinstruction for both.
    fn join(&mut self, joined: Joined, last: &FusionCandidate) {
        self.out.superinstructions = self.out.superinstructions.with(joined.fusion);
        let first = self.candidates.remove(joined.first);
        let [then, before] = [last.at, first.at]
            .map(|at| (self.out.instructions.remove(at), self.counts.remove(at)));
        let refs = self.out.operands.len();
        self.out.operands.extend(last.result.locations());
        let written = self.out.operands.len() - refs;
        let args = joined.args.iter();
        self.out
            .operands
            .extend(args.flat_map(|arg| arg.locations()));
        let inst = BatchInstruction {
            op: BatchOp::Superinstruction {
                routine: joined.routine,
                written: written as u8,
                keeps_inactive: last
                    .result
                    .locations()
                    .any(|location| self.keeps_inactive(location)),
            },
            refs: refs as u32,
            position: self.position,
        };
        let instructions = [
            (inst, (self.out.operands.len() - refs) as u32),
            before,
            then,
        ];
        let start = match joined.moves_up {
            true => first.at,
            false => last.at - 1,
        };
        let (insts, counts) = (instructions.map(|own| own.0), instructions.map(|own| own.1));
        self.out.instructions.splice(start..start, insts);
        self.counts.splice(start..start, counts);
        for other in &mut self.candidates {
            if other.at > first.at {
                other.at -= 1;
                other.at += if joined.moves_up {
                    instructions.len()
                } else {
                    0
                };
            }
        }
    }
}

/// The shapes of operands, if a routine can be made for them and such a result.
fn shapes(
    result: DualLocation,
    args: &[DualLocation; Superinstruction::ARITY],
) -> Option<[OperandShape; Superinstruction::ARITY]> {
    let [Some(a), Some(b), Some(c)] = args.map(DualLocation::shape) else {
        return None;
    };
    let shapes = [a, b, c];
    let has_dual = shapes.contains(&OperandShape::Dual);
    let fits = match result.shadows {
        [Some(_), Some(_)] => has_dual,
        [None, None] => !has_dual,
        _ => false,
    };
    fits.then_some(shapes)
}
