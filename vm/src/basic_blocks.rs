//! Basic blocks of a program, and the liveness of registers at their ends.
//!
//! Control enters a block at its start alone, and leaves it at its end. Within a block the batch
//! engine may keep a register in another location. At the end of the block a live-out register is
//! in its own plane.
//!
//! Liveness is a backward data-flow analysis over the blocks (Aho, Lam, Sethi and Ullman,
//! "Compilers", 2006, section 9.2.5), through calls and returns.

use crate::bytecode::{Bytecode, Opcode, OperandRole, Operands, Successors};
use std::ops::Range;

#[cfg(feature = "batch")]
mod batch_liveness;
mod last_uses;
#[cfg(feature = "batch")]
mod uniformity;

#[cfg(feature = "batch")]
pub(crate) use batch_liveness::BatchBlocks;
#[cfg(feature = "batch")]
pub(crate) use uniformity::{LocationsAtEnd, UniformRegisters, gives_uniform};

/// The most words of memory that liveness may take. Beyond it every register counts as live-out.
pub(crate) const MAX_LIVENESS_WORDS: usize = 1 << 20;

/// The basic blocks of a program, with the registers that are live at their ends.
pub(crate) struct BasicBlocks<'p> {
    program: &'p Bytecode,
    pub(crate) operands: &'p Operands<'p>,
    /// Per instruction, whether a point bails out there, which reads all registers; empty if none
    /// does.
    bails_out: &'p [bool],
    /// The starts of the blocks, and the end of the program.
    starts: Vec<u32>,
    /// The function of each block.
    functions: Vec<usize>,
    /// Per function, the blocks that its returns lead to.
    returns: Vec<Vec<usize>>,
    /// Registers within arrays, which are always in their planes.
    pub(crate) in_array: Vec<bool>,
    /// Per block a bit for each register that is live at its start; none if the analysis was too
    /// large.
    live_in: Option<Vec<u64>>,
    /// Per block a bit for each live-out register; none if the analysis was too large.
    live_out: Option<Vec<u64>>,
    /// For each register the last block in which uses were found, and the first of them that is not
    /// before the code gone through.
    last_read: Vec<(u32, u32)>,
}

impl<'p> BasicBlocks<'p> {
    pub(crate) fn new(operands: &'p Operands<'p>, bails_out: &'p [bool]) -> BasicBlocks<'p> {
        let program = operands.program;
        let starts = starts(program, bails_out);
        let mut blocks = BasicBlocks {
            program,
            operands,
            bails_out,
            functions: (starts[..starts.len() - 1].iter())
                .map(|&start| program.functions.partition_point(|f| f.start <= start) - 1)
                .collect(),
            returns: Vec::new(),
            starts,
            in_array: in_arrays(program),
            live_in: None,
            live_out: None,
            last_read: Vec::new(),
        };
        blocks.returns = blocks.find_returns();
        blocks.find_live();
        blocks
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The positions of a block's instructions.
    pub(crate) fn range(&self, block: usize) -> Range<u32> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Words of memory for a bit of each register.
    fn words(&self) -> usize {
        (self.program.registers as usize).div_ceil(64)
    }

    /// The registers of the outputs.
    fn outputs(&self) -> Range<usize> {
        0..3 * self.program.output_lanes.len()
    }

    /// The block that starts at a position.
    fn at(&self, position: u32) -> usize {
        let found = self.starts.binary_search(&position);
        found.expect("targets begin blocks")
    }

    /// For each function, the blocks that its returns lead to.
    fn find_returns(&self) -> Vec<Vec<usize>> {
        let mut returns = vec![Vec::new(); self.program.functions.len()];
        for (code, next) in self.program.code.iter().zip(1..) {
            if code.opcode == Opcode::Call {
                returns[code.words[0] as usize].push(self.at(next));
            }
        }
        returns
    }

    /// Whether points leave the blocks at the end of a block, bailing out.
    fn bails_out(&self, block: usize) -> bool {
        self.bails_out.get(self.starts[block + 1] as usize - 1) == Some(&true)
    }

    /// Calls `each` for the blocks that control may reach from the end of a block, through calls
    /// and returns.
    fn for_each_successor(&self, block: usize, each: impl FnMut(usize)) {
        if self.bails_out(block) {
            return;
        }
        let end = self.starts[block + 1];
        let code = &self.program.code[end as usize - 1];
        let target = code.words[0];
        match (code.opcode, code.opcode.successors()) {
            (Opcode::Return, _) => {
                let returns = self.returns[self.functions[block]].iter();
                returns.copied().for_each(each);
            }
            (Opcode::Call, _) => {
                let callee = &self.program.functions[target as usize];
                [self.at(callee.start)].into_iter().for_each(each);
            }
            (_, Successors::None) => {}
            (_, Successors::Target) => [self.at(target)].into_iter().for_each(each),
            (_, Successors::Either) => [target, end]
                .map(|start| self.at(start))
                .into_iter()
                .for_each(each),
            (_, Successors::Next) => [self.at(end)].into_iter().for_each(each),
        }
    }

    /// Finds the live-out registers of each block: the least solution, backwards, through calls and
    /// returns.
    fn find_live(&mut self) {
        let words = self.words();
        let size = self.len().checked_mul(words);
        let Some(size) = size.filter(|&size| size <= MAX_LIVENESS_WORDS) else {
            return;
        };
        let program = self.program;
        let mut live_in = vec![0_u64; size];
        let mut live_out = live_in.clone();
        let mut live = vec![0_u64; words];
        let mut is_first = true;
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..self.len()).rev() {
                let range = self.range(block);
                let last = &program.code[range.end as usize - 1];
                // A point that bails out reads all registers.
                live.fill(if self.bails_out(block) { u64::MAX } else { 0 });
                self.for_each_successor(block, |next| {
                    unite(&mut live, &live_in[next * words..][..words]);
                });
                if last.opcode == Opcode::Return && self.functions[block] == program.entry as usize
                {
                    self.outputs().for_each(|register| add(&mut live, register));
                }
                let out = &mut live_out[block * words..][..words];
                // If live-out has not changed, live-in has not either.
                if out == live && !is_first {
                    continue;
                }
                out.copy_from_slice(&live);
                range
                    .rev()
                    .for_each(|position| self.step_back(position, &mut live));
                let at = &mut live_in[block * words..][..words];
                if at != &live[..] {
                    at.copy_from_slice(&live);
                    changed = true;
                }
            }
            is_first = false;
        }
        self.live_in = Some(live_in);
        self.live_out = Some(live_out);
    }

    /// Makes the registers that are live after an instruction those that are live before it.
    fn step_back(&self, position: u32, live: &mut [u64]) {
        let code = &self.program.code[position as usize];
        self.operands.for_each_def(code, |register| {
            live[register as usize / 64] &= !(1 << (register % 64));
        });
        self.operands
            .for_each_use(code, |register| add(live, register as usize));
    }

    /// Calls `each` for the instructions of a block, the last one first, with the registers that
    /// are live after each. None if the analysis was too large.
    pub(crate) fn for_each_live_after(
        &self,
        block: usize,
        mut each: impl FnMut(u32, &[u64]),
    ) -> Option<()> {
        let mut live = self.live_out(block)?.to_vec();
        for position in self.range(block).rev() {
            each(position, &live);
            self.step_back(position, &mut live);
        }
        Some(())
    }

    /// The registers that are live at the start of a block, a bit each; none if all may be.
    #[cfg(feature = "batch")]
    fn live_in(&self, block: usize) -> Option<&[u64]> {
        let words = self.words();
        let live = self.live_in.as_ref()?;
        Some(&live[block * words..][..words])
    }

    /// The live-out registers of a block, a bit each; none if all may be live.
    pub(crate) fn live_out(&self, block: usize) -> Option<&[u64]> {
        let words = self.words();
        let live = self.live_out.as_ref()?;
        Some(&live[block * words..][..words])
    }
}

/// Sets the bit of a register.
fn add(to: &mut [u64], register: usize) {
    to[register / 64] |= 1 << (register % 64);
}

/// Adds one set of registers to another; returns whether it grew.
fn unite(to: &mut [u64], from: &[u64]) -> bool {
    let mut changed = false;
    for (to, from) in to.iter_mut().zip(from) {
        changed |= from & !*to != 0;
        *to |= from;
    }
    changed
}

/// Marks the registers within arrays. Arrays may overlap, and there may be many.
fn in_arrays(program: &Bytecode) -> Vec<bool> {
    let mut spans: Vec<(u32, u32)> = (program.arrays.iter())
        .map(|array| (array.base, array.base + array.registers()))
        .collect();
    spans.sort_unstable();
    let mut in_array = vec![false; program.registers as usize];
    let mut covered = 0;
    for (start, end) in spans {
        if end > covered {
            in_array[start.max(covered) as usize..end as usize].fill(true);
            covered = end;
        }
    }
    in_array
}

/// Marks the instructions that are jump targets.
pub(crate) fn jump_targets(program: &Bytecode) -> Vec<bool> {
    let mut targets = vec![false; program.code.len()];
    for instruction in &program.code {
        for (word, role) in instruction
            .words
            .into_iter()
            .zip(instruction.opcode.roles())
        {
            if role == OperandRole::Target {
                targets[word as usize] = true;
            }
        }
    }
    targets
}

/// The starts of the blocks, and the end of the program.
fn starts(program: &Bytecode, bails_out: &[bool]) -> Vec<u32> {
    let mut is_start = jump_targets(program);
    is_start.push(true);
    for function in &program.functions {
        is_start[function.start as usize] = true;
    }
    for (position, code) in program.code.iter().enumerate() {
        let is_bail_out = bails_out.get(position) == Some(&true);
        if ends_basic_block(code.opcode) || is_bail_out {
            is_start[position + 1] = true;
        }
        if is_bail_out {
            is_start[position] = true;
        }
    }
    let starts = (0..).zip(&is_start).filter(|&(_, &is)| is);
    starts.map(|(position, _)| position).collect()
}

/// Whether control may continue elsewhere than at the next instruction.
pub(crate) fn ends_basic_block(opcode: Opcode) -> bool {
    opcode.successors() != Successors::Next || opcode == Opcode::Call
}
