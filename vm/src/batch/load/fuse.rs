//! Which rows are computed together: a row whose result dies as an operand of a later one joins it, if there is a routine for both.
//!
//! The first row moves down to the second, so nothing between them may write what it reads, or have to do with what it writes. In front of the
//! rows comes the step for all of them; the rows stay behind it, for groups that have to leave what others keep alone.

use super::super::step::{Act, Place, Step};
use super::{Loader, Triple, written};
use adumbra_ir::ops::Op;
use adumbra_packs::{Full, Fusion, Piece, Shape, find_fusion};
use std::ops::Range;

/// How many pieces back a row looks for one to join.
const WINDOW: usize = 12;

/// Rows that others may join, or that may join others.
pub(super) struct Candidate {
    piece: Piece,
    /// The first of its steps, and how many there are.
    start: usize,
    len: usize,
    result: Triple,
    args: Vec<Triple>,
    /// The instruction that reads the result for the last time, if there is one for all of its words.
    dies: Option<u32>,
}

/// Two candidates as one.
struct Joined {
    /// Where the first is among the candidates.
    first: usize,
    fusion: Fusion,
    routine: Full,
    args: Vec<Triple>,
}

impl Loader<'_> {
    /// The step just emitted computes a row: it is joined with those before it that it can be joined with.
    pub(super) fn join_rows(&mut self, op: Op, result: Triple, args: &[Triple], deaths: &[u32]) {
        let mut own = Candidate {
            piece: Piece::Row(op),
            start: self.out.steps.len() - 1,
            len: 1,
            result,
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
    }

    /// A candidate that can join the last one, and what both are.
    fn partner(&self, own: &Candidate) -> Option<Joined> {
        let candidates = self.candidates.iter().enumerate().rev();
        for (first, other) in candidates.filter(|(_, other)| other.dies == Some(self.position)) {
            let mut uses = (0..)
                .zip(&own.args)
                .filter(|(_, arg)| arg.meets(other.result));
            let (Some((operand, arg)), None) = (uses.next(), uses.next()) else {
                continue;
            };
            let Some(fusion) = Fusion::of(other.piece, own.piece, operand) else {
                continue;
            };
            let mut args = own.args.clone();
            args.splice(operand..=operand, other.args.iter().copied());
            let routine = shapes(own.result, &args)
                .and_then(|shapes| find_fusion(self.level, fusion, &shapes));
            let is_free =
                |place| matches!(place, Place::Own(slot) if self.held[slot as usize] == 0);
            if let Some(routine) = routine
                && *arg == other.result
                && arg.places().all(is_free)
                && self.can_move(other, own.start)
            {
                return Some(Joined {
                    first,
                    fusion,
                    routine,
                    args,
                });
            }
        }
        None
    }

    /// Whether nothing between a candidate and a step has to do with what it reads or writes.
    fn can_move(&self, candidate: &Candidate, to: usize) -> bool {
        let end = candidate.start + candidate.len;
        self.out.steps[end..to]
            .iter()
            .zip(&self.counts[end..to])
            .all(|(step, &count)| {
                let places = &self.out.places[step.refs as usize..][..count as usize];
                let count = match step.act {
                    Act::Row { pattern, .. } => written(pattern),
                    Act::Cell(..) => 1,
                    // The rows behind it tell what it does.
                    Act::Fused { .. } => return true,
                    _ => 0,
                };
                let written = &places[..count];
                !places.iter().any(|&place| candidate.result.has(place))
                    && !candidate
                        .args
                        .iter()
                        .any(|arg| written.iter().any(|&place| arg.has(place)))
            })
    }

    /// A candidate's steps move to those of the last one, behind a step for all of them.
    fn join(&mut self, joined: Joined, last: Candidate) -> Candidate {
        let first = self.candidates.remove(joined.first);
        for later in &mut self.candidates[joined.first..] {
            later.start -= first.len;
        }
        let start = last.start - first.len;
        let mut rows = self.take_rows(first.start..first.start + first.len);
        rows.extend(self.take_rows(start..start + last.len));
        let refs = self.out.places.len();
        self.out.places.extend(last.result.places());
        let args = joined.args.iter();
        self.out.places.extend(args.flat_map(|arg| arg.places()));
        let (row, _) = rows.last().expect("there are two at least");
        let step = Step {
            act: Act::Fused {
                routine: joined.routine,
                rows: rows.len() as u32,
                kept: matches!(row.act, Act::Row { kept: true, .. }),
            },
            refs: refs as u32,
            position: row.position,
        };
        rows.insert(0, (step, (self.out.places.len() - refs) as u32));
        let len = rows.len();
        for (step, count) in rows {
            self.out.steps.push(step);
            self.counts.push(count);
        }
        Candidate {
            piece: Piece::Fused(joined.fusion),
            start,
            len,
            args: joined.args,
            ..last
        }
    }

    /// Takes steps away, and gives the rows among them, each with how many operands it has.
    fn take_rows(&mut self, range: Range<usize>) -> Vec<(Step, u32)> {
        let steps = self.out.steps.drain(range.clone());
        let rows = steps.zip(self.counts.drain(range));
        rows.filter(|(step, _)| !matches!(step.act, Act::Fused { .. }))
            .collect()
    }
}

/// The shapes of operands, if a routine can be made for them and such a result.
fn shapes(result: Triple, args: &[Triple]) -> Option<Vec<Shape>> {
    let shapes: Option<Vec<Shape>> = args.iter().map(|arg| arg.shape()).collect();
    let has_dual = shapes.as_ref()?.contains(&Shape::Dual);
    let fits = match result.shadows {
        [Some(_), Some(_)] => has_dual,
        [None, None] => !has_dual,
        _ => false,
    };
    shapes.filter(|_| fits)
}
