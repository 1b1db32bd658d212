//! Which rows are computed together: a row whose result dies as an operand of a later one joins it, if there is a routine for both.
//!
//! The first row moves down to the second, or that up to the first, so nothing between them may write what the one that moves reads, or have to do with what it
//! writes. In front of the rows comes the step for all of them; the rows stay behind it, for groups that have to leave what others keep alone.
//!
//! A row may have the shadows of another value. Then it writes its value alone; joined with the row that computes those, both are written at once.

use super::super::instruction::{BatchInstruction, BatchOp, OperandLocation};
use super::{Loader, Triple, written};
use adumbra_ops::Op;
use adumbra_simd::{
    Composition, FusionOperand, OperandShape, Superinstruction, UnmaskedRoutine,
    find_superinstruction,
};
use std::ops::Range;

/// How many pieces back a row looks for one to join.
const WINDOW: usize = 12;

/// Rows that others may join, or that may join others.
pub(super) struct FusionCandidate {
    piece: FusionOperand,
    /// The first of its steps, and how many there are.
    start: usize,
    len: usize,
    /// Its value is in a plane of its own.
    result: Triple,
    /// How many places of the result are written, its value's first; the others hold the shadows already.
    written: usize,
    /// Where its rows put what passes between them, should they be computed one by one.
    inner: Vec<OperandLocation>,
    args: Vec<Triple>,
    /// The instruction that reads the result for the last time, if there is one for all of its words.
    dies: Option<u32>,
}

impl FusionCandidate {
    /// The step behind its own.
    fn end(&self) -> usize {
        self.start + self.len
    }

    /// The places that it writes.
    fn written(&self) -> impl Iterator<Item = OperandLocation> {
        self.result.places().take(self.written)
    }
}

/// Two candidates as one.
struct Joined {
    /// Where the first is among the candidates.
    first: usize,
    fusion: Superinstruction,
    routine: UnmaskedRoutine,
    args: Vec<Triple>,
    /// Whether the second moves up, not the first down.
    rises: bool,
}

impl Loader<'_> {
    /// The step just emitted computes a row: it is joined with those before it that it can be joined with.
    pub(super) fn fuse(&mut self, op: Op, result: Triple, args: &[Triple], deaths: &[u32]) {
        let start = self.out.instructions.len() - 1;
        let BatchOp::Arithmetic { pattern, .. } = self.out.instructions[start].op else {
            unreachable!("a row was emitted");
        };
        let mut own = FusionCandidate {
            piece: FusionOperand::Op(op),
            start,
            len: 1,
            result,
            written: written(pattern),
            inner: Vec::new(),
            args: args.to_vec(),
            dies: (deaths.iter().all(|death| death == &deaths[0])).then(|| deaths[0]),
        };
        while let Some(joined) = self.partner(&own) {
            own = self.join(joined, own);
        }
        if self.candidates.len() == WINDOW {
            self.candidates.remove(0);
        }
        self.candidates.push(own);
        debug_assert!(
            (self.candidates.iter()).all(|c| self.places(c.end() - 1)[0] == c.result.value),
            "the last step of each is the row that gives its result"
        );
    }

    /// What dies here lives on where it is, under another type, until it dies there.
    pub(super) fn extend_last_use(&mut self, place: OperandLocation, death: u32) {
        for candidate in &mut self.candidates {
            if candidate.result.value == place && candidate.dies == Some(self.position) {
                candidate.dies = Some(death);
            }
        }
    }

    /// A candidate that can join the last one, and what both are.
    fn partner(&self, own: &FusionCandidate) -> Option<Joined> {
        let candidates = self.candidates.iter().enumerate().rev();
        for (first, other) in candidates
            .filter(|(_, other)| other.dies == Some(self.position) && other.end() <= own.start)
        {
            let mut uses = (0..)
                .zip(&own.args)
                .filter(|(_, arg)| arg.meets(other.result));
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
            let mut gone = other.written().filter(|&place| !own.result.has(place));
            // The shadows of a third value are nobody's to write.
            let mut had = own.result.places().skip(own.written);
            // Who reads the result in between needs it in its place; so does who did before the last one moved up.
            let between = other.end()..own.start;
            let behind = own.end()..self.out.instructions.len();
            let is_wanted = *arg != other.result
                || !gone.all(|place| self.is_free(place, other))
                || !had.all(|place| other.written().any(|written| written == place))
                || !self.leave_alone(between.clone(), other.written())
                || !self.leave_alone(behind, other.written());
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
                    rises: !sinks,
                });
            }
        }
        None
    }

    /// Both candidates as one, the first of which gives the second that operand, and what that has of others.
    fn fusion(
        &self,
        first: &FusionCandidate,
        then: &FusionCandidate,
        operand: usize,
    ) -> Option<(Superinstruction, Vec<Triple>)> {
        let mut fusion = self.made(Composition::Chain(first.piece, then.piece, operand))?;
        let mut args = then.args.clone();
        args.splice(operand..=operand, first.args.iter().copied());
        // As long as any two of them are the same.
        while let Some((shorter, upper)) = self.with_same(fusion, &args) {
            fusion = shorter;
            args.remove(upper);
        }
        Some((fusion, args))
    }

    /// A fusion for which two of the operands are the same, and which of them is not given any more.
    fn with_same(
        &self,
        fusion: Superinstruction,
        args: &[Triple],
    ) -> Option<(Superinstruction, usize)> {
        let pairs = (0..args.len()).flat_map(|upper| (0..upper).map(move |lower| (lower, upper)));
        let mut same = pairs.filter(|&(lower, upper)| args[lower] == args[upper]);
        same.find_map(|(lower, upper)| {
            let fusion = self.made(Composition::SharedOperand(fusion, lower, upper))?;
            Some((fusion, upper))
        })
    }

    /// The fusion that is made so, if it is used.
    fn made(&self, made: Composition) -> Option<Superinstruction> {
        Superinstruction::of(made).filter(|&fusion| !self.without.has(fusion))
    }

    /// Whether nobody has a word in a plane but a candidate, which writes it.
    fn is_free(&self, place: OperandLocation, candidate: &FusionCandidate) -> bool {
        let (OperandLocation::Plane(slot), OperandLocation::Plane(to)) =
            (place, candidate.result.value)
        else {
            return false;
        };
        let own = to..to + candidate.result.places().count() as u32;
        let guests = own.filter(|&own| own != slot && self.map[own as usize] == place);
        self.held[slot as usize] == guests.count() as u32
    }

    /// Whether none of these steps reads or writes any of these places.
    fn leave_alone(
        &self,
        steps: Range<usize>,
        mut all: impl Iterator<Item = OperandLocation>,
    ) -> bool {
        all.all(|place| {
            let mut steps = steps.clone();
            steps.all(|step| !self.places(step).contains(&place))
        })
    }

    /// Whether a candidate may be computed before these steps as well as behind them: none has to do with what its rows write, or writes what they read.
    fn can_pass(&self, mut steps: Range<usize>, candidate: &FusionCandidate) -> bool {
        let inner = candidate.inner.iter().copied();
        self.leave_alone(steps.clone(), candidate.written().chain(inner))
            && steps.all(|step| {
                let count = match self.out.instructions[step].op {
                    BatchOp::Arithmetic { pattern, .. } => written(pattern),
                    BatchOp::Uniform(..) => 1,
                    // The rows behind what is together tell what it does.
                    _ => 0,
                };
                let written = &self.places(step)[..count];
                !(candidate.args.iter()).any(|arg| written.iter().any(|&place| arg.has(place)))
            })
    }

    /// The steps of two candidates come together, behind a step for all of them.
    fn join(&mut self, joined: Joined, last: FusionCandidate) -> FusionCandidate {
        self.out.joined_by = self.out.joined_by.with(joined.fusion);
        let first = self.candidates.remove(joined.first);
        let mut inner = last.inner.clone();
        inner.extend(first.inner.iter().copied().chain(first.written()));
        let (between, end) = (first.end()..last.start, last.end());
        let own = self.take_rows(last.start..end);
        let mut rows = self.take_rows(first.start..between.start);
        rows.extend(own);
        let refs = self.out.operands.len();
        self.out.operands.extend(last.result.places());
        let args = joined.args.iter();
        self.out.operands.extend(args.flat_map(|arg| arg.places()));
        let step = BatchInstruction {
            op: BatchOp::Superinstruction {
                routine: joined.routine,
                rows: rows.len() as u32,
                kept: last.result.places().any(|place| self.is_kept(place)),
            },
            refs: refs as u32,
            position: self.position,
        };
        rows.insert(0, (step, (self.out.operands.len() - refs) as u32));
        let len = rows.len();
        let start = match joined.rises {
            true => first.start,
            false => last.start - first.len,
        };
        let (steps, counts): (Vec<BatchInstruction>, Vec<u32>) = rows.into_iter().unzip();
        self.out.instructions.splice(start..start, steps);
        self.counts.splice(start..start, counts);
        for other in &mut self.candidates {
            if between.contains(&other.start) {
                other.start -= first.len;
                other.start += if joined.rises { len } else { 0 };
            } else if other.start >= end {
                other.start = other.start - first.len - last.len + len;
            }
        }
        FusionCandidate {
            piece: FusionOperand::Superinstruction(joined.fusion),
            start,
            len,
            written: last.result.places().count(),
            inner,
            args: joined.args,
            ..last
        }
    }

    /// Takes steps away, and gives the rows among them, each with how many operands it has.
    fn take_rows(&mut self, range: Range<usize>) -> Vec<(BatchInstruction, u32)> {
        let steps = self.out.instructions.drain(range.clone());
        let rows = steps.zip(self.counts.drain(range));
        rows.filter(|(step, _)| !matches!(step.op, BatchOp::Superinstruction { .. }))
            .collect()
    }
}

/// The shapes of operands, if a routine can be made for them and such a result.
fn shapes(result: Triple, args: &[Triple]) -> Option<Vec<OperandShape>> {
    let shapes: Option<Vec<OperandShape>> = args.iter().map(|arg| arg.shape()).collect();
    let has_dual = shapes.as_ref()?.contains(&OperandShape::Dual);
    let fits = match result.shadows {
        [Some(_), Some(_)] => has_dual,
        [None, None] => !has_dual,
        _ => false,
    };
    shapes.filter(|_| fits)
}
