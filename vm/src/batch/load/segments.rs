//! Stretches: rows of a block that follow one another, for a native backend.
//!
//! In front of a stretch comes the step that runs its code. Cells that stood among its rows come before that: what they do has nothing to do with rows. Which
//! words the code has to leave in their planes is found backwards over the block's steps.

use super::super::instruction::{BatchInstruction, BatchOp, OperandLocation};
use super::{Loader, written};
use crate::native::{ArithmeticInst, CompileUnit, DualOperand, Segment, WordLocation};
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Fewer rows are left to their own routines.
const MIN_ROWS: usize = 2;

impl Loader<'_> {
    /// Makes stretches of the steps of the block that begins at `first`. `live` has a bit for each word that is read behind the block; all
    /// are if there is nothing.
    pub(super) fn find_segments(&mut self, first: usize, live: Option<&[u64]>) {
        let found = self.stretches(first);
        let mut stored = self.stored(first, &found, live);
        stored.reverse();
        // From here on each block's steps are built anew.
        let mut steps = self.out.instructions.split_off(first).into_iter();
        let mut at = first;
        self.counts.truncate(first);
        for (range, stored) in found.into_iter().zip(stored) {
            self.out
                .instructions
                .extend(steps.by_ref().take(range.start - at));
            let steps = steps.by_ref().take(range.len());
            let (rows, cells): (Vec<BatchInstruction>, Vec<BatchInstruction>) =
                steps.partition(|step| matches!(step.op, BatchOp::Arithmetic { .. }));
            self.out.instructions.extend(cells);
            self.stretch(&rows, &stored);
            self.out.instructions.extend(rows);
            at = range.end;
        }
        self.out.instructions.extend(steps);
    }

    /// Where stretches are among the steps from `first` on.
    fn stretches(&self, first: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut start, mut rows) = (first, 0);
        let mut close = |range: Range<usize>, rows: usize| {
            if rows >= MIN_ROWS {
                found.push(range);
            }
        };
        for (at, step) in self.out.instructions.iter().enumerate().skip(first) {
            match step.op {
                BatchOp::Arithmetic { .. } => rows += 1,
                BatchOp::Uniform(..) => {}
                _ => {
                    close(start..at, rows);
                    (start, rows) = (at + 1, 0);
                }
            }
        }
        close(start..self.out.instructions.len(), rows);
        found
    }

    /// For each stretch, the last one first, the slots that it writes and somebody reads later.
    fn stored(&self, first: usize, found: &[Range<usize>], live: Option<&[u64]>) -> Vec<Vec<u32>> {
        let words = self.in_array.len().div_ceil(64);
        let mut live = Live(live.map_or_else(|| vec![u64::MAX; words], <[u64]>::to_vec));
        let mut all = Vec::with_capacity(found.len());
        let mut ranges = found.iter().rev().peekable();
        for at in (first..self.out.instructions.len()).rev() {
            if ranges.peek().is_some_and(|range| range.end == at + 1) {
                let range = ranges.next().expect("it was looked at").clone();
                all.push(self.stored_by(range, &live));
            }
            let step = &self.out.instructions[at];
            let places = self.places(at);
            match step.op {
                BatchOp::Arithmetic { pattern, .. } => {
                    let (results, operands) = places.split_at(written(pattern));
                    for place in results {
                        live.set(place, false);
                    }
                    operands.iter().for_each(|place| live.set(place, true));
                }
                BatchOp::Sample { lent, .. } | BatchOp::Difference { lent, .. } => {
                    places.iter().for_each(|place| live.set(place, true));
                    for lent in &self.out.bail_out_values[lent.0 as usize..lent.1 as usize] {
                        live.set(&self.out.operands[lent.operand as usize], true);
                    }
                }
                _ => places.iter().for_each(|place| live.set(place, true)),
            }
        }
        all
    }

    /// The slots that the rows among these steps write, and that are live behind them.
    fn stored_by(&self, range: Range<usize>, live: &Live) -> Vec<u32> {
        let mut slots = Vec::new();
        for at in range {
            if let BatchOp::Arithmetic { pattern, .. } = self.out.instructions[at].op {
                for place in &self.places(at)[..written(pattern)] {
                    if let OperandLocation::Plane(slot) = *place
                        && (live.has(slot) || self.in_array[slot as usize])
                    {
                        slots.push(slot);
                    }
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The step for all of these rows.
    fn stretch(&mut self, rows: &[BatchInstruction], stored: &[u32]) {
        let mut words = UnitLocations::default();
        let computed = rows
            .iter()
            .map(|step| self.arithmetic_inst(step, &mut words));
        let computed: Vec<ArithmeticInst> =
            computed.map(|row| row.expect("these are rows")).collect();
        let stored = stored
            .iter()
            .map(|&slot| words.numbers[&OperandLocation::Plane(slot)]);
        let stretch = Segment {
            instructions: computed,
            live_out: stored.collect(),
            locations: words.locations,
        };
        let is_kept =
            |step: &BatchInstruction| matches!(step.op, BatchOp::Arithmetic { kept: true, .. });
        let act = BatchOp::Segment {
            unit: self.out.units.len() as u32,
            rows: rows.len() as u32,
            kept: rows.iter().any(is_kept),
        };
        let refs = self.out.operands.len() as u32;
        self.out.operands.extend(words.operands);
        self.out.instructions.push(BatchInstruction {
            op: act,
            refs,
            position: rows[0].position,
        });
        self.out.units.push(CompileUnit::Segment(stretch));
    }

    /// What a step computes, if it is a row or a cell.
    pub(super) fn arithmetic_inst(
        &self,
        step: &BatchInstruction,
        words: &mut UnitLocations,
    ) -> Option<ArithmeticInst> {
        let (BatchOp::Arithmetic { what, pattern, .. } | BatchOp::Uniform(what, _, pattern)) =
            step.op
        else {
            return None;
        };
        let mut places = self.out.operands[step.refs as usize..].iter().copied();
        let mut value = |lanes: Lanes| words.dual_operand(&mut places, lanes, &self.out.constants);
        let result = value(pattern.result());
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        for (i, operand) in operands.iter_mut().enumerate().take(what.arity()) {
            *operand = value(pattern.operand(i));
        }
        Some(ArithmeticInst {
            kind: what,
            result,
            operands,
            position: step.position,
        })
    }
}

/// Slots whose words are read later, a bit each.
struct Live(Vec<u64>);

impl Live {
    fn has(&self, slot: u32) -> bool {
        self.0[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    fn set(&mut self, place: &OperandLocation, is: bool) {
        if let OperandLocation::Plane(slot) = *place {
            let word = &mut self.0[slot as usize / 64];
            let bit = 1 << (slot % 64);
            *word = if is { *word | bit } else { *word & !bit };
        }
    }
}

/// The words of a unit.
#[derive(Default)]
pub(super) struct UnitLocations {
    pub(super) numbers: FxHashMap<OperandLocation, u32>,
    pub(super) operands: Vec<OperandLocation>,
    pub(super) locations: Vec<WordLocation>,
}

impl UnitLocations {
    /// The value at the next places, with these shadows.
    pub(super) fn dual_operand(
        &mut self,
        places: &mut impl Iterator<Item = OperandLocation>,
        lanes: Lanes,
        constants: &[u32],
    ) -> DualOperand {
        let mut next = || {
            let place = places.next().expect("a row has all of its operands");
            self.of(place, constants)
        };
        DualOperand {
            value: next(),
            shadows: Direction::BOTH.map(|d| lanes.has(d).then(&mut next)),
        }
    }

    fn of(&mut self, place: OperandLocation, constants: &[u32]) -> u32 {
        *self.numbers.entry(place).or_insert_with(|| {
            self.locations.push(match place {
                OperandLocation::Plane(_)
                | OperandLocation::Global(_)
                | OperandLocation::Scratch(_) => WordLocation::Plane,
                OperandLocation::Uniform(_)
                | OperandLocation::Input(_)
                | OperandLocation::UniformGlobal(_) => WordLocation::Uniform,
                OperandLocation::Constant(index) => {
                    WordLocation::Constant(constants[index as usize])
                }
                OperandLocation::Zero => WordLocation::Constant(0),
            });
            self.operands.push(place);
            self.operands.len() as u32 - 1
        })
    }
}
