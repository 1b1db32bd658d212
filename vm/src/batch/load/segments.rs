//! Segments: consecutive arithmetic instructions of a block, for a native backend.
//!
//! The instruction that runs a segment's code comes before it. Uniforms among its instructions move
//! before that; they are independent of the rest. The live-out registers of a segment are found
//! backwards over the block's instructions.

use super::super::instruction::{BatchInstruction, BatchOp, OperandLocation};
use super::{Loader, written};
use crate::native::{ArithmeticInst, DualOperand, Segment, WordLocation};
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The fewest instructions of a segment. Fewer are left to their routines.
const MIN_INSTRUCTIONS: usize = 2;

impl Loader<'_> {
    /// Makes segments of the instructions of the block that starts at `first`. `live` has a bit for
    /// each live-out register of the block; all are live-out if it is none.
    pub(super) fn find_segments(&mut self, first: usize, live: Option<&[u64]>) {
        let found = self.segment_ranges(first);
        let mut live_out = self.live_out(first, &found, live);
        live_out.reverse();
        // From here on the block's instructions are built anew.
        let mut insts = self.out.instructions.split_off(first).into_iter();
        let mut at = first;
        self.counts.truncate(first);
        for (range, live_out) in found.into_iter().zip(live_out) {
            self.out
                .instructions
                .extend(insts.by_ref().take(range.start - at));
            let insts = insts.by_ref().take(range.len());
            let (instructions, uniforms): (Vec<BatchInstruction>, Vec<BatchInstruction>) =
                insts.partition(|inst| matches!(inst.op, BatchOp::Arithmetic { .. }));
            self.out.instructions.extend(uniforms);
            self.emit_segment(&instructions, &live_out);
            self.out.instructions.extend(instructions);
            at = range.end;
        }
        self.out.instructions.extend(insts);
    }

    /// The ranges of the segments among the instructions from `first` on.
    fn segment_ranges(&self, first: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut start, mut instructions) = (first, 0);
        let mut close = |range: Range<usize>, instructions: usize| {
            if instructions >= MIN_INSTRUCTIONS {
                found.push(range);
            }
        };
        for (at, inst) in self.out.instructions.iter().enumerate().skip(first) {
            match inst.op {
                BatchOp::Arithmetic { .. } => instructions += 1,
                BatchOp::Uniform(..) => {}
                _ => {
                    close(start..at, instructions);
                    (start, instructions) = (at + 1, 0);
                }
            }
        }
        close(start..self.out.instructions.len(), instructions);
        found
    }

    /// For each segment, the last one first, the registers that it writes and that are live after
    /// it.
    fn live_out(
        &self,
        first: usize,
        found: &[Range<usize>],
        live: Option<&[u64]>,
    ) -> Vec<Vec<u32>> {
        let words = self.in_array.len().div_ceil(64);
        let mut live = Live(live.map_or_else(|| vec![u64::MAX; words], <[u64]>::to_vec));
        let mut all = Vec::with_capacity(found.len());
        let mut ranges = found.iter().rev().peekable();
        for at in (first..self.out.instructions.len()).rev() {
            if ranges.peek().is_some_and(|range| range.end == at + 1) {
                let range = ranges.next().expect("it was looked at").clone();
                all.push(self.live_out_of(range, &live));
            }
            let inst = &self.out.instructions[at];
            let locations = self.locations(at);
            match inst.op {
                BatchOp::Arithmetic { pattern, .. } => {
                    let (results, operands) = locations.split_at(written(pattern));
                    for location in results {
                        live.set(location, false);
                    }
                    operands
                        .iter()
                        .for_each(|location| live.set(location, true));
                }
                op => {
                    let (start, end) = op.elsewhere();
                    locations
                        .iter()
                        .for_each(|location| live.set(location, true));
                    for elsewhere in &self.out.bail_out_values[start as usize..end as usize] {
                        live.set(&self.out.operands[elsewhere.operand as usize], true);
                    }
                }
            }
        }
        all
    }

    /// The registers that the instructions of a range write, and that are live after it.
    fn live_out_of(&self, range: Range<usize>, live: &Live) -> Vec<u32> {
        let mut registers = Vec::new();
        for at in range {
            if let BatchOp::Arithmetic { pattern, .. } = self.out.instructions[at].op {
                for location in &self.locations(at)[..written(pattern)] {
                    if let OperandLocation::Plane(register) = *location
                        && (live.has(register) || self.in_array[register as usize])
                    {
                        registers.push(register);
                    }
                }
            }
        }
        registers.sort_unstable();
        registers.dedup();
        registers
    }

    /// Emits the instruction for a segment.
    fn emit_segment(&mut self, instructions: &[BatchInstruction], live_out: &[u32]) {
        let mut words = SegmentLocations::new(self.plane_bytes);
        let computed = instructions
            .iter()
            .map(|inst| self.arithmetic_inst(inst, &mut words));
        let computed: Vec<ArithmeticInst> = computed
            .map(|inst| inst.expect("these are arithmetic instructions"))
            .collect();
        let number = |register: &u32| words.numbers[&OperandLocation::Plane(*register)];
        // Code of a segment that is split stores more than what is live-out of it.
        let kept = instructions
            .iter()
            .flat_map(|inst| self.kept_operands(inst));
        let kept: Vec<u32> = kept.collect();
        let live_out = live_out.iter().map(number);
        let segment = Segment {
            instructions: computed,
            live_out: live_out.collect(),
            locations: words.locations,
        };
        let refs = self.out.operands.len() as u32;
        self.out.operands.extend(words.operands);
        let inactive = self.inactive_words(kept, instructions.len());
        let batch_op = BatchOp::Segment {
            segment: self.out.segments.len() as u32,
            instructions: instructions.len() as u32,
            inactive,
        };
        self.out.instructions.push(BatchInstruction {
            op: batch_op,
            refs,
            position: instructions[0].position,
        });
        self.out.segments.push(segment);
    }

    /// The arithmetic of an instruction, if it is an op or a copy.
    fn arithmetic_inst(
        &self,
        inst: &BatchInstruction,
        words: &mut SegmentLocations,
    ) -> Option<ArithmeticInst> {
        let BatchOp::Arithmetic { kind, pattern, .. } = inst.op else {
            return None;
        };
        let mut locations = self.out.operands[inst.refs as usize..].iter().copied();
        let mut value =
            |lanes: Lanes| words.dual_operand(&mut locations, lanes, &self.out.constants);
        let result = value(pattern.result());
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        for (i, operand) in operands.iter_mut().enumerate().take(kind.arity()) {
            *operand = value(pattern.operand(i));
        }
        Some(ArithmeticInst {
            kind,
            result,
            operands,
            position: inst.position,
        })
    }
}

/// The live registers, a bit each.
struct Live(Vec<u64>);

impl Live {
    fn has(&self, register: u32) -> bool {
        self.0[register as usize / 64] >> (register % 64) & 1 == 1
    }

    fn set(&mut self, location: &OperandLocation, is: bool) {
        if let OperandLocation::Plane(register) = *location {
            let word = &mut self.0[register as usize / 64];
            let bit = 1 << (register % 64);
            *word = if is { *word | bit } else { *word & !bit };
        }
    }
}

/// The locations of a segment, and its operands.
struct SegmentLocations {
    plane_bytes: usize,
    numbers: FxHashMap<OperandLocation, u32>,
    operands: Vec<OperandLocation>,
    locations: Vec<WordLocation>,
}

impl SegmentLocations {
    fn new(plane_bytes: usize) -> SegmentLocations {
        SegmentLocations {
            plane_bytes,
            numbers: FxHashMap::default(),
            operands: Vec::new(),
            locations: Vec::new(),
        }
    }

    /// The value at the next locations, with these lanes.
    fn dual_operand(
        &mut self,
        locations: &mut impl Iterator<Item = OperandLocation>,
        lanes: Lanes,
        constants: &[u32],
    ) -> DualOperand {
        let mut next = || {
            let location = locations.next().expect("an op has all of its operands");
            self.of(location, constants)
        };
        DualOperand {
            value: next(),
            shadows: Direction::BOTH.map(|d| lanes.has(d).then(&mut next)),
        }
    }

    fn of(&mut self, location: OperandLocation, constants: &[u32]) -> u32 {
        *self.numbers.entry(location).or_insert_with(|| {
            self.locations.push(match location {
                OperandLocation::Plane(register) => {
                    let distance = i32::try_from(register as usize * self.plane_bytes);
                    distance.map_or(WordLocation::Plane, WordLocation::RegisterPlane)
                }
                OperandLocation::Global(_) | OperandLocation::Scratch(_) => WordLocation::Plane,
                OperandLocation::Uniform(_)
                | OperandLocation::Input(_)
                | OperandLocation::UniformGlobal(_) => WordLocation::Uniform,
                OperandLocation::Constant(index) => {
                    WordLocation::Constant(constants[index as usize])
                }
                OperandLocation::Zero => WordLocation::Constant(0),
            });
            self.operands.push(location);
            self.operands.len() as u32 - 1
        })
    }
}
