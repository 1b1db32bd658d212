//! Compiled loops: loops all of whose blocks are arithmetic instructions and jumps, for a native
//! backend.
//!
//! Points leave a loop for later instructions alone, and its code runs while no inactive point is
//! inside. So all inactive points are after the loop, as they are while its instructions run, and
//! they keep the registers found for its last block.

use super::super::instruction::{BatchInstruction, BatchLoop, BatchOp, OperandLocation};
use super::Loader;
use super::segments::UnitLocations;
use crate::basic_blocks::BatchBlocks;
use crate::native::{
    CompileUnit, CompiledLoop, CondBranch, Condition, DualOperand, Edge, LoopBlock, LoopTerminator,
};
use adumbra_ir::types::Lanes;
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

/// The most batch instructions of a compiled loop. Longer loops are interpreted.
pub(super) const MAX_LOOP_INSTRUCTIONS: usize = 1 << 11;

/// The control flow between blocks, by jumps.
struct Jumps<'s> {
    /// The first instruction of each block.
    starts: &'s [u32],
    /// For each block, those from which a jump leads to it.
    sources: Vec<Vec<usize>>,
    /// For each loop head, the last back edge that leads to it.
    last_back_edge: FxHashMap<usize, usize>,
}

impl Jumps<'_> {
    fn of<'s>(insts: &[BatchInstruction], starts: &'s [u32]) -> Jumps<'s> {
        let mut jumps = Jumps {
            starts,
            sources: vec![Vec::new(); starts.len()],
            last_back_edge: FxHashMap::default(),
        };
        for (at, inst) in insts.iter().enumerate() {
            if let Some(target) = target(inst) {
                let target = jumps.block_of(target);
                let from = jumps.block_of(at);
                jumps.sources[target].push(from);
                if matches!(inst.op, BatchOp::Loop(_)) {
                    jumps.last_back_edge.insert(target, at);
                }
            }
        }
        jumps
    }

    fn block_of(&self, inst: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= inst) - 1
    }
}

/// The target of an instruction that may jump.
fn target(inst: &BatchInstruction) -> Option<usize> {
    match inst.op {
        BatchOp::Branch { target, .. } | BatchOp::Jump(target) | BatchOp::Loop(target) => {
            Some(target as usize)
        }
        _ => None,
    }
}

impl Loader<'_> {
    /// Makes compiled loops of the outermost loops that can be one. `starts` has the first
    /// instruction of each block.
    pub(super) fn find_loops(&mut self, starts: &[u32], blocks: &BatchBlocks<'_>) {
        let jumps = Jumps::of(&self.out.instructions, starts);
        let mut end = 0;
        for at in 0..self.out.instructions.len() {
            if at < end || !matches!(self.out.instructions[at].op, BatchOp::CompiledLoop(_)) {
                continue;
            }
            let first = jumps.block_of(at);
            let Some(&last) = jumps.last_back_edge.get(&first) else {
                continue;
            };
            let range = first..=jumps.block_of(last);
            if last - at <= MAX_LOOP_INSTRUCTIONS && self.can_compile(&range, &jumps) {
                self.compiled_loop(at, range, last, starts, blocks);
                end = last;
            }
        }
    }

    /// Whether control enters these blocks at the first one alone, leaves them for later ones, and
    /// they have arithmetic instructions and jumps alone.
    fn can_compile(&self, range: &RangeInclusive<usize>, jumps: &Jumps<'_>) -> bool {
        let first = *range.start();
        let is_entered = |block: &usize| {
            let mut sources = jumps.sources[*block].iter();
            *block != first && sources.any(|source| !range.contains(source))
        };
        let end = jumps.starts.get(range.end() + 1);
        let end = end.map_or(self.out.instructions.len(), |&end| end as usize);
        let insts = &self.out.instructions[jumps.starts[first] as usize..end];
        !range.clone().any(|block| is_entered(&block))
            && insts.iter().all(|inst| match inst.op {
                BatchOp::Branch { .. } | BatchOp::Jump(_) | BatchOp::Loop(_) => {
                    target(inst).is_some_and(|target| jumps.block_of(target) >= first)
                }
                BatchOp::Reconverge
                | BatchOp::CompiledLoop(_)
                | BatchOp::Segment { .. }
                | BatchOp::Arithmetic { .. }
                | BatchOp::Uniform(..)
                | BatchOp::CountStep(_)
                | BatchOp::CountSteps { .. } => true,
                _ => false,
            })
    }

    /// The compiled loop of these blocks. The instruction at `at` runs its code; its last back edge
    /// is the instruction at `last`.
    fn compiled_loop(
        &mut self,
        at: usize,
        range: RangeInclusive<usize>,
        last: usize,
        starts: &[u32],
        blocks: &BatchBlocks<'_>,
    ) {
        let (first, count) = (*range.start(), range.clone().count());
        let mut words = UnitLocations::default();
        let mut exits: Vec<u32> = Vec::new();
        let mut open = None;
        let mut edge = |target: u32| {
            let block = starts.partition_point(|&start| start <= target) - 1;
            if range.contains(&block) {
                return Edge::Block((block - first) as u32);
            }
            let known = exits.iter().position(|&exit| exit == target);
            Edge::Exit(known.unwrap_or_else(|| {
                exits.push(target);
                exits.len() - 1
            }) as u32)
        };
        let mut made = Vec::with_capacity(count);
        for block in range.clone() {
            let end = starts
                .get(block + 1)
                .map_or(self.out.instructions.len(), |&end| end as usize);
            let insts = &self.out.instructions[starts[block] as usize..end];
            let instructions = insts
                .iter()
                .filter_map(|inst| self.arithmetic_inst(inst, &mut words));
            let instructions = instructions.collect();
            let counted = insts.iter().filter_map(|inst| match inst.op {
                BatchOp::CountStep(open) => Some(open),
                _ => None,
            });
            open = counted.clone().fold(open, Option::max);
            let next = starts.get(block + 1).copied().unwrap_or_default();
            let last = insts.last().expect("a block has an instruction");
            let end = match last.op {
                BatchOp::Jump(target) => LoopTerminator::Jump(edge(target)),
                BatchOp::Loop(target) => match edge(target) {
                    Edge::Block(target) => LoopTerminator::Loop(target),
                    Edge::Exit(_) => unreachable!("back edges stay inside"),
                },
                BatchOp::Branch {
                    op, when, target, ..
                } => {
                    let mut operands = [DualOperand::default(); MAX_OPERANDS];
                    let mut locations = self.out.operands[last.refs as usize..].iter().copied();
                    for operand in &mut operands[..op.map_or(1, |op| op.arity())] {
                        *operand =
                            words.dual_operand(&mut locations, Lanes::NONE, &self.out.constants);
                    }
                    LoopTerminator::Branch(CondBranch {
                        condition: Condition { test: op, operands },
                        when,
                        target: edge(target),
                        next: edge(next),
                    })
                }
                _ => LoopTerminator::Jump(edge(next)),
            };
            made.push(LoopBlock {
                instructions,
                steps: counted.count() as u32,
                terminator: end,
                position: last.position,
            });
        }
        let end = starts.get(range.end() + 1).copied();
        let end = end.unwrap_or(self.out.instructions.len() as u32);
        // Each block runs at most once in an iteration.
        let iteration_steps = 1 + made.iter().map(|block| u64::from(block.steps)).sum::<u64>();
        // A point leaves for a later block, where inactive points are too.
        let live_out = self.named(&words, blocks.live_in_inactive(*range.end()));
        let compiled_loop = CompiledLoop {
            locations: words.locations,
            blocks: made,
            exits: exits.len() as u32,
            live_out,
        };
        exits.extend(&starts[range]);
        self.out.loops.push(BatchLoop {
            unit: self.out.units.len() as u32,
            edges: exits.into_boxed_slice(),
            end,
            iteration_steps,
            position: self.out.instructions[last].position,
            open,
        });
        self.out.units.push(CompileUnit::Loop(compiled_loop));
        let refs = self.out.operands.len() as u32;
        self.out.operands.extend(words.operands);
        let inst = &mut self.out.instructions[at];
        inst.op = BatchOp::CompiledLoop(Some(self.out.loops.len() as u32 - 1));
        inst.refs = refs;
    }

    /// The indices of the locations that are in these registers, or in an array; all of them if
    /// `registers` is none.
    fn named(&self, words: &UnitLocations, registers: Option<&[u64]>) -> Vec<u32> {
        let has = |register: u32| {
            let found = registers.is_none_or(|registers| {
                registers[register as usize / 64] >> (register % 64) & 1 == 1
            });
            found || self.in_array[register as usize]
        };
        let numbered = (0..).zip(&words.operands);
        let named = numbered.filter(
            |(_, location)| matches!(**location, OperandLocation::Plane(register) if has(register)),
        );
        named.map(|(number, _)| number).collect()
    }
}
