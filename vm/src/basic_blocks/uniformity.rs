//! Uniformity: the registers that have one value for all points of a chunk from block to block.
//!
//! Such a register is a uniform between blocks: a value that is computed once for all points stays
//! so across branches, loops and calls. Two things end that. A definition may read what varies. And
//! where some points are inactive, a definition must leave theirs alone if they may read it later,
//! which one word for all points cannot.
//!
//! Both are one forward data-flow analysis, from the assumption that all registers are uniforms
//! (the greatest solution). Points wait for others only at later positions, since min-PC scheduling
//! runs the lowest. So the blocks where some may wait follow from the branches whose tests vary:
//! those between a branch and the farthest position that its points reach before they meet again.

use super::{BatchBlocks, add};
use crate::bytecode::{BytecodeInstruction, Opcode, Register};

/// The registers that are uniforms between blocks.
pub(crate) struct UniformRegisters {
    words: usize,
    /// Per block a bit for each register that is a uniform at its start; empty if none is.
    at_start: Vec<u64>,
}

/// Whether the result of an instruction is computed once for all points, where `is_uniform` says
/// that of the words it reads. `uniform_globals` says it of each word among the globals.
pub(crate) fn gives_uniform(
    code: &BytecodeInstruction,
    uniform_globals: &[bool],
    is_uniform: impl Fn(u32) -> bool,
) -> bool {
    let [_, b, c, ..] = code.words;
    match code.opcode {
        Opcode::Arithmetic(op, pattern) => {
            let mut operands = code.words[1..=op.arity()].iter();
            pattern.result().is_none()
                && op.info().fault.is_none()
                && operands.all(|&word| is_uniform(word))
        }
        Opcode::Move(to, _) => to.is_none() && is_uniform(b),
        Opcode::Global(lanes) => lanes.is_none() && uniform_globals[b as usize],
        Opcode::Buffer(..) => is_uniform(c),
        Opcode::BufferLength => true,
        _ => false,
    }
}

impl UniformRegisters {
    /// The analysis. `is_input` says of a register whether it has one value for all points, which
    /// no instruction changes.
    pub(crate) fn of(
        blocks: &BatchBlocks<'_>,
        uniform_globals: &[bool],
        is_input: impl Fn(u32) -> bool,
    ) -> UniformRegisters {
        let words = blocks.words();
        let mut found = UniformRegisters {
            words,
            at_start: Vec::new(),
        };
        if blocks.len() == 1 || blocks.live_in.is_none() {
            return found;
        }
        let program = blocks.program;
        let [mut inputs, mut never, mut first] = [(); 3].map(|()| vec![0_u64; words]);
        for register in 0..program.registers as usize {
            let is_output = blocks.outputs().contains(&register);
            let set = match () {
                () if is_input(register as u32) => &mut inputs,
                () if is_output || blocks.in_array[register] => &mut never,
                () => &mut first,
            };
            add(set, register);
        }
        let mut analysis = Analysis {
            blocks,
            uniform_globals,
            at_start: first.repeat(blocks.len()),
            divergent: vec![false; blocks.len()],
            inputs,
            never,
        };
        // Inputs that are written begin in planes.
        let entry = blocks.at(program.functions[program.entry as usize].start);
        let first_input = blocks.outputs().end;
        for register in first_input..first_input + program.interface.input_words() {
            analysis.at_start[entry * words + register / 64] &= !(1 << (register % 64));
        }
        while analysis.pass() {}
        found.at_start = analysis.at_start;
        for block in 0..blocks.len() {
            let live = blocks.live_in(block).expect("there is liveness");
            let own = &mut found.at_start[block * words..][..words];
            own.iter_mut()
                .zip(live)
                .for_each(|(own, live)| *own &= live);
        }
        found
    }

    /// The live registers that are uniforms at the start of a block.
    pub(crate) fn at_start(&self, block: usize) -> impl Iterator<Item = u32> + use<'_> {
        let words = match self.at_start.is_empty() {
            true => &[],
            false => &self.at_start[block * self.words..][..self.words],
        };
        (0..).zip(words).flat_map(|(index, &bits)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            set.map(move |bit| 64 * index + bit)
        })
    }

    /// Where a live register is at the end of a block: whether a successor reads it as a uniform,
    /// and whether one reads its plane.
    pub(crate) fn at_end(&self, blocks: &BatchBlocks<'_>, block: usize) -> LocationsAtEnd {
        let mut ends = LocationsAtEnd {
            uniforms: Vec::new(),
            planes: Vec::new(),
        };
        if self.at_start.is_empty() {
            return ends;
        }
        ends.uniforms = vec![0; self.words];
        ends.planes = vec![0; self.words];
        blocks.for_each_successor(block, |next| {
            let live = blocks.live_in(next).expect("there is liveness");
            let at_start = &self.at_start[next * self.words..];
            for (word, live) in live.iter().enumerate() {
                ends.uniforms[word] |= at_start[word];
                ends.planes[word] |= live & !at_start[word];
            }
        });
        ends
    }
}

/// The registers that are read from uniforms, and from planes, after a block; a bit each.
#[derive(Default)]
pub(crate) struct LocationsAtEnd {
    uniforms: Vec<u64>,
    planes: Vec<u64>,
}

impl LocationsAtEnd {
    pub(crate) fn is_uniform(&self, register: u32) -> bool {
        has(&self.uniforms, register)
    }

    /// Whether a live-out register is read from its plane. Those that no block reads are: outputs,
    /// and registers of points that bail out.
    pub(crate) fn is_in_plane(&self, register: u32) -> bool {
        !self.is_uniform(register) || has(&self.planes, register)
    }
}

fn has(set: &[u64], register: u32) -> bool {
    (set.get(register as usize / 64)).is_some_and(|word| word >> (register % 64) & 1 == 1)
}

struct Analysis<'p, 'b> {
    blocks: &'b BatchBlocks<'p>,
    uniform_globals: &'b [bool],
    /// Per block the registers that are uniforms at its start, so far.
    at_start: Vec<u64>,
    /// The blocks where some points may be inactive, so far.
    divergent: Vec<bool>,
    /// Registers that are uniforms everywhere.
    inputs: Vec<u64>,
    /// Registers that never are between blocks: outputs, and those within arrays.
    never: Vec<u64>,
}

impl Analysis<'_, '_> {
    /// Visits all blocks; returns whether anything changed.
    fn pass(&mut self) -> bool {
        let words = self.inputs.len();
        let mut changed = false;
        let mut uniform = vec![0_u64; words];
        let mut defined = vec![0_u64; words];
        for block in 0..self.blocks.len() {
            uniform.copy_from_slice(&self.at_start[block * words..][..words]);
            defined.fill(0);
            let varies = self.run(block, &mut uniform, &mut defined);
            changed |= self.diverge(block, varies);
            for word in 0..words {
                let kept = match self.divergent[block] {
                    false => 0,
                    true => self
                        .blocks
                        .live_in_inactive(block)
                        .map_or(u64::MAX, |live| live[word]),
                };
                uniform[word] &= !(self.never[word] | defined[word] & kept);
            }
            let at_start = &mut self.at_start;
            self.blocks.for_each_successor(block, |next| {
                for (at_start, uniform) in at_start[next * words..].iter_mut().zip(&uniform) {
                    changed |= *at_start & !uniform != 0;
                    *at_start &= uniform;
                }
            });
        }
        changed
    }

    /// Runs through a block; returns whether a test at its end varies.
    fn run(&self, block: usize, uniform: &mut [u64], defined: &mut [u64]) -> bool {
        let operands = self.blocks.operands;
        let is_uniform = |uniform: &[u64], word: u32| {
            Register(word).as_constant().is_some() || has(uniform, word) || has(&self.inputs, word)
        };
        let mut varies = false;
        for position in self.blocks.range(block) {
            let code = &self.blocks.program.code[position as usize];
            let gives = gives_uniform(code, self.uniform_globals, |word| is_uniform(uniform, word));
            varies = match code.opcode {
                Opcode::Branch(op, _) => {
                    !(code.words[1..=op.arity()].iter()).all(|&word| is_uniform(uniform, word))
                }
                Opcode::BranchIf(_) => !is_uniform(uniform, code.words[1]),
                _ => false,
            };
            operands.for_each_def(code, |register| {
                add(defined, register as usize);
                let bit = 1 << (register % 64);
                let word = &mut uniform[register as usize / 64];
                *word = match gives && !self.blocks.in_array[register as usize] {
                    true => *word | bit,
                    false => *word & !bit,
                };
            });
        }
        varies
    }

    /// Marks the blocks where points may wait after this one, whose test may vary; returns whether
    /// there are new ones.
    fn diverge(&mut self, block: usize, varies: bool) -> bool {
        let (blocks, is_divergent) = (self.blocks, self.divergent[block]);
        if !varies && !is_divergent {
            return false;
        }
        let program = blocks.program;
        let code = &program.code[blocks.range(block).end as usize - 1];
        let function = blocks.functions[block];
        let start = |function: usize| match program.functions.get(function) {
            Some(function) => blocks.at(function.start),
            None => blocks.len(),
        };
        let waiting = match code.opcode {
            Opcode::Branch(..) | Opcode::BranchIf(_) | Opcode::Jump => {
                block + 1..blocks.at(code.words[0])
            }
            Opcode::Loop => blocks.at(code.words[0])..block + 1,
            Opcode::Return => block + 1..start(function + 1),
            Opcode::Call => {
                let callee = code.words[0] as usize;
                start(callee)..start(callee + 1)
            }
            _ => return false,
        };
        let mut changed = false;
        for divergent in &mut self.divergent[waiting] {
            changed |= !std::mem::replace(divergent, true);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::{Bytecode, BytecodeFunction, Operands, ShadowPattern};
    use adumbra_ir::span::{FileId, Span};
    use adumbra_ir::text::parse;
    use adumbra_ir::types::Lanes;
    use adumbra_ops::Op;

    /// For each block of a shader of these instructions, how many registers are uniforms at its
    /// start. The global `n` is uniform, `x` varies.
    fn uniforms_at_start(instructions: &str) -> Vec<usize> {
        let text = format!(
            "adumbra ir 1 global n: int global x: float output o: float entry main
             fn main() -> (f32) ^0 {{
                 %0: i32 = global n[0]
                 %1: f32 = global x[0]
                 %2: f32 = const 0.5
                 %3: bool = flt %1, %2
                 %4: i32 = const 1
                 %5: i32 = iadd %0, %4
                 {instructions}
             }}"
        );
        let module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}"));
        counts(&crate::lower(&module).expect("the module fits"))
    }

    fn counts(program: &Bytecode) -> Vec<usize> {
        let operands = Operands::new(program);
        let blocks = BatchBlocks::new(&operands, &[]);
        let uniform = [true, true, true, false, false, false];
        let found = UniformRegisters::of(&blocks, &uniform, |_| false);
        (0..blocks.len())
            .map(|block| found.at_start(block).count())
            .collect()
    }

    /// The same for a loop that counts to n, or until a test holds. After it a number is selected
    /// by `last`, which may be the last counter, %6.
    fn counting(test: &str, last: &str) -> Vec<usize> {
        uniforms_at_start(&format!(
            "%6: i32, %7: f32 = loop ^1 (%8: i32 = %4, %9: f32 = %1) {{
                 %10: bool = ilt %8, %0
                 if %10 ^2 {{ yield }} else ^3 {{ break ^1 %8, %9 }}
                 if {test} ^4 {{ break ^1 %8, %9 }} else ^5 {{ yield }}
                 %11: i32 = iadd %8, %4
                 %12: f32 = mul %9, %1
                 continue ^1 %11, %12
             }}
             %13: bool = ilt {last}, %0
             %14: f32 = select %13, %7, %2
             return %14"
        ))
    }

    /// n and a number that follows from it are read after the branch. What the arms give differs,
    /// though each gives a uniform.
    #[test]
    fn values_survive_varying_branches_and_merged_ones_do_not() {
        let found = uniforms_at_start(
            "%6: i32 = if %3 ^1 { yield %5 } else ^2 { yield %0 }
             %7: bool = ilt %5, %0
             %8: bool = ilt %6, %0
             %9: f32 = select %7, %1, %2
             %10: f32 = select %8, %9, %2
             return %10",
        );
        assert_eq!(found, [0, 2, 2, 2]);
    }

    /// n is a uniform everywhere. The counter is one in the loop, unless points that left it early
    /// read theirs.
    #[test]
    fn counter_is_a_uniform_unless_points_keep_their_own() {
        assert_eq!(counting("%3", "%5"), [0, 3, 3, 3, 2]);
        assert_eq!(counting("%3", "%6"), [0, 1, 1, 1, 1]);
        assert_eq!(counting("%10", "%6"), [0, 2, 3, 2, 2]);
    }

    /// A number is written before the test of a loop, and read after it. Points that left the loop
    /// wait while others write theirs.
    #[test]
    fn number_before_a_varying_test_is_no_uniform_after_the_loop() {
        let (n, x, number) = (3, 4, 5);
        let code = [
            (Opcode::Global(Lanes::NONE), [n, 0, 1]),
            (Opcode::Global(Lanes::NONE), [x, 3, 1]),
            (
                Opcode::Arithmetic(Op::IAdd, ShadowPattern::default()),
                [number, n, n],
            ),
            (Opcode::Branch(Op::FLt, true), [5, x, x]),
            (Opcode::Loop, [2, 0, 0]),
            (Opcode::Move(Lanes::NONE, Lanes::NONE), [0, number, 0]),
            (Opcode::Return, [0; 3]),
        ];
        let program = Bytecode {
            code: code
                .into_iter()
                .map(|(opcode, words)| BytecodeInstruction::new(opcode, words))
                .collect(),
            functions: vec![BytecodeFunction {
                name: String::new(),
                variant: 0,
                start: 0,
                span: Span::default(),
                elements: 0,
            }],
            output_lanes: vec![Lanes::NONE],
            registers: 6,
            ..Bytecode::empty()
        };
        assert_eq!(counts(&program), [0, 1, 1, 0]);
    }
}
