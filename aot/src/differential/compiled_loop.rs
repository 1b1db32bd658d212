//! Differential test of a compiled loop with two exits, a bounded number of iterations, an arm that
//! some points skip, and inactive points.
//!
//! The planes and the points' states after its code are compared with its instructions, one point
//! after the other.

use super::{POINTS, Planes, STEPS, VM_VECTOR_BYTES, compute, run, word};
use crate::emit::compile_batch;
use crate::machine_code::MachineCode;
use crate::macro_assembler::MacroAssembler;
use crate::optimisation::Optimisations;
use adumbra_ops::definition::OperandKind;
use adumbra_ops::{MAX_OPERANDS, Op};
use adumbra_vm::native::{
    ArithmeticInst, ArithmeticKind, CompileUnit, CompiledLoop, CondBranch, Condition, DualOperand,
    Edge, LoopBlock, LoopTerminator, VectorRun, WordLocation,
};

/// All points but those of the last vector, in one run: kernels may go past that.
pub(crate) const RUNS: [VectorRun; 1] = [VectorRun {
    start: 0,
    vectors: VECTORS as u32,
}];
/// Vectors that run, and their points.
const VECTORS: usize = POINTS * 4 / VM_VECTOR_BYTES - 1;
const RUNNING: usize = VECTORS * VM_VECTOR_BYTES / 4;

/// The words of the loop.
const ITERATION: u32 = 0;
const LAST: u32 = 1;
const SUM: DualOperand = DualOperand {
    value: 2,
    shadows: [Some(3), None],
};
const STEP: DualOperand = DualOperand {
    value: 4,
    shadows: [Some(5), None],
};
const OWN: u32 = 6;
const SCALE: u32 = 7;
const ONE: u32 = 8;
const FEW: u32 = 9;
const MANY: u32 = 10;
/// Not live after the loop: a branch condition reads the first, instructions read the second, and
/// those of the next iteration the third.
const NEAR: u32 = 11;
const GAIN: u32 = 12;
const BACK: u32 = 13;
/// Live-out: only read after the loop.
const OUT: u32 = 14;
/// The first of the words that each iteration adds one to.
const WORDS: usize = 15;
/// How many of those there are: none, enough for several sections, and enough for long iterations.
pub(crate) const EXTRA_WORDS: [usize; 3] = [0, 40, 100];
const EXITS: u32 = 2;

/// A loop, and the contents of its words and sets before it: active points, steps, and the sets of
/// edges.
pub(crate) struct LoopCase {
    unit: CompileUnit,
    pub(crate) planes: Planes,
    /// The number of the plane of the active points.
    pub(crate) first_state_plane: usize,
}

fn plain(word: u32) -> DualOperand {
    DualOperand {
        value: word,
        shadows: [None; 2],
    }
}

fn inst(op: Op, result: DualOperand, operands: &[DualOperand]) -> ArithmeticInst {
    let mut all = [DualOperand::default(); MAX_OPERANDS];
    all[..operands.len()].copy_from_slice(operands);
    ArithmeticInst {
        kind: ArithmeticKind::Op(op),
        result,
        operands: all,
        position: 0,
    }
}

/// A branch on `a` less than `b`: to `next` if it is, else to `target`.
fn if_less(a: u32, b: u32, next: Edge, target: Edge) -> LoopTerminator {
    let mut operands = [DualOperand::default(); MAX_OPERANDS];
    (operands[0], operands[1]) = (plain(a), plain(b));
    LoopTerminator::Branch(CondBranch {
        condition: Condition {
            test: Some(Op::FLt),
            operands,
        },
        when: true,
        target,
        next,
    })
}

fn block(instructions: Vec<ArithmeticInst>, steps: u32, end: LoopTerminator) -> LoopBlock {
    LoopBlock {
        instructions,
        steps,
        terminator: end,
        position: 0,
    }
}

/// The live-out words, if there are `more` of them.
fn live_out_words(more: usize) -> impl Iterator<Item = u32> {
    let numbers = WORDS as u32..(WORDS + more) as u32;
    [ITERATION, SUM.value, 3, OUT].into_iter().chain(numbers)
}

/// Iterates while iterations are left and the sum is not too great. Small sums take an arm of their
/// own, which has a word for itself, and small numbers near them a short one.
fn compiled_loop(more: usize) -> CompiledLoop {
    let (iteration, one, own) = (plain(ITERATION), plain(ONE), plain(OWN));
    let [value, gain, near, back] = [SUM.value, GAIN, NEAR, BACK].map(plain);
    let scale = plain(SCALE);
    let first = vec![
        inst(Op::Add, SUM, &[SUM, STEP]),
        inst(Op::Mul, gain, &[value, scale]),
        inst(Op::Add, gain, &[gain, back]),
        inst(Op::Add, near, &[value, one]),
    ];
    let long_arm = vec![
        inst(Op::Mul, SUM, &[SUM, scale]),
        inst(Op::Sin, own, &[value]),
        inst(Op::Add, own, &[own, one]),
        inst(Op::Add, SUM, &[SUM, STEP]),
        inst(Op::Mul, own, &[own, own]),
        inst(Op::Add, SUM, &[SUM, own]),
        inst(Op::Add, gain, &[gain, one]),
        inst(Op::Mul, near, &[near, scale]),
        inst(Op::Mul, back, &[value, scale]),
    ];
    let short_arm = vec![inst(Op::Mul, gain, &[gain, scale])];
    let joined = vec![
        inst(Op::Add, plain(OUT), &[gain, value]),
        inst(Op::Add, iteration, &[iteration, one]),
    ];
    let numbers = WORDS as u32..(WORDS + more) as u32;
    let counted = (numbers.clone()).map(|word| inst(Op::Add, plain(word), &[plain(word), one]));
    let last = [inst(Op::Sqrt, SUM, &[SUM])].into_iter().chain(counted);
    let to = Edge::Block;
    let blocks = vec![
        block(
            Vec::new(),
            0,
            if_less(ITERATION, LAST, to(1), Edge::Exit(0)),
        ),
        block(first, 0, if_less(SUM.value, FEW, to(2), to(3))),
        block(long_arm, 2, LoopTerminator::Jump(to(3))),
        block(Vec::new(), 0, if_less(NEAR, ONE, to(4), to(5))),
        block(short_arm, 0, LoopTerminator::Jump(to(5))),
        block(joined, 0, if_less(MANY, SUM.value, Edge::Exit(1), to(6))),
        block(last.collect(), 1, LoopTerminator::Loop(0)),
    ];
    let mut words = vec![WordLocation::Plane; WORDS + more];
    words[SCALE as usize] = WordLocation::Uniform;
    for (word, constant) in [(ONE, 1.0_f32), (FEW, 1.5), (MANY, 4.0)] {
        words[word as usize] = WordLocation::Constant(constant.to_bits());
    }
    CompiledLoop {
        locations: words,
        blocks,
        exits: EXITS,
        live_out: live_out_words(more).collect(),
    }
}

/// A loop with `arms` arms that are not short.
fn with_arms(arms: u32) -> CompiledLoop {
    let (iteration, own, one) = (plain(ITERATION), plain(OWN), plain(ONE));
    let arm = vec![inst(Op::Add, own, &[own, one]); 5];
    let mut blocks = Vec::new();
    for number in 0..arms {
        let [into, over] = [1, 2].map(|offset| Edge::Block(2 * number + offset));
        blocks.push(block(Vec::new(), 0, if_less(ITERATION, FEW, into, over)));
        blocks.push(block(arm.clone(), 0, LoopTerminator::Jump(over)));
    }
    let next = inst(Op::Add, iteration, &[iteration, one]);
    let again = Edge::Block(2 * arms + 1);
    blocks.push(block(
        vec![next],
        0,
        if_less(ITERATION, MANY, again, Edge::Exit(0)),
    ));
    blocks.push(block(Vec::new(), 0, LoopTerminator::Loop(0)));
    CompiledLoop {
        blocks,
        ..compiled_loop(0)
    }
}

/// The code of a loop with `arms` arms.
pub(crate) fn code_with_arms<M: MacroAssembler>(arms: u32) -> MachineCode {
    let unit = CompileUnit::Loop(with_arms(arms));
    compile_batch::<M>(Optimisations::ALL, &[unit], M::VALUE_REGISTERS, false).expect("it is short")
}

impl LoopCase {
    /// The loop at random points, with `more` words.
    pub(crate) fn new(more: usize) -> LoopCase {
        let compiled_loop = compiled_loop(more);
        let count = WORDS + more;
        let mut numbers = fastrand::Rng::with_seed(3);
        let mut planes = vec![[0; POINTS]; count + 2 + EXITS as usize + compiled_loop.blocks.len()];
        let mut random = |below: u32| word(&mut numbers, OperandKind::Word) % below;
        for point in 0..POINTS {
            planes[LAST as usize][point] = (random(9) as f32).to_bits();
            for word in [SUM.value, STEP.value] {
                planes[word as usize][point] = (random(3000) as f32 / 1000.0).to_bits();
                planes[word as usize + 1][point] = (random(3000) as f32 / 1000.0 - 1.5).to_bits();
            }
            planes[OWN as usize][point] = 0x1234_5678;
            planes[SCALE as usize][point] = 0.4_f32.to_bits();
            for plane in &mut planes[WORDS..count] {
                plane[point] = (random(1000) as f32).to_bits();
            }
            let runs = random(8) > 0 && point < RUNNING;
            // A word of a plane has two words of a set, and 32 points.
            planes[count][point / 32] |= u32::from(runs) << (point % 32);
        }
        // The code overwrites the sets and steps of before.
        planes[count + 1].fill(u32::MAX);
        planes[count + 2..]
            .iter_mut()
            .for_each(|set| set[..POINTS / 32].fill(u32::MAX));
        LoopCase {
            unit: CompileUnit::Loop(compiled_loop),
            planes,
            first_state_plane: count,
        }
    }

    /// Its code with a number of registers.
    pub(crate) fn code<M: MacroAssembler>(&self, registers: u8) -> MachineCode {
        let unit = std::slice::from_ref(&self.unit);
        compile_batch::<M>(Optimisations::ALL, unit, registers, false).expect("it is short")
    }

    /// The planes after this processor ran its code.
    pub(crate) fn run(&self, code: &MachineCode) -> Planes {
        run(code, &self.planes, &RUNS, Some(self.first_state_plane))
    }

    /// The planes as they have to be.
    fn expected(&self) -> Planes {
        let CompileUnit::Loop(compiled_loop) = &self.unit else {
            unreachable!("it is a loop");
        };
        let mut planes = self.planes.clone();
        let count = self.first_state_plane;
        let active = planes[count];
        planes[count + 2..]
            .iter_mut()
            .for_each(|set| set[..POINTS / 32].fill(0));
        for point in 0..POINTS {
            let mut words: Vec<u32> = planes[..count].iter().map(|plane| plane[point]).collect();
            for (word, location) in words.iter_mut().zip(&compiled_loop.locations) {
                if let WordLocation::Constant(bits) = location {
                    *word = *bits;
                }
            }
            let mut steps = 0;
            if active[point / 32] >> (point % 32) & 1 == 1 {
                let edge = walk(compiled_loop, &mut words, &mut steps);
                let set = match edge {
                    Edge::Exit(exit) => exit,
                    Edge::Block(block) => EXITS + block,
                };
                planes[count + 2 + set as usize][point / 32] |= 1 << (point % 32);
            }
            for word in live_out_words(count - WORDS) {
                planes[word as usize][point] = words[word as usize];
            }
            planes[count + 1][point] = steps;
        }
        planes
    }

    /// Compares the planes after its code.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub(crate) fn compare(&self, found: &Planes) -> Result<(), String> {
        let expected = self.expected();
        for edge in [0, 1, EXITS] {
            let set = expected[self.first_state_plane + 2 + edge as usize];
            assert!(
                set.iter().any(|&points| points != 0),
                "edge {edge} is not taken"
            );
        }
        let planes = found.iter().zip(&expected).enumerate();
        for (plane, (found, expected)) in planes {
            if [NEAR, GAIN, BACK].contains(&(plane as u32)) {
                continue;
            }
            // The state of points after those that run may be anything, but their words stay.
            let significant = |word: usize| match plane {
                _ if plane <= self.first_state_plane => u32::MAX,
                _ if plane == self.first_state_plane + 1 => {
                    if word < RUNNING {
                        u32::MAX
                    } else {
                        0
                    }
                }
                _ => ((1_u64 << RUNNING.saturating_sub(32 * word).min(32)) - 1) as u32,
            };
            let differs = |&word: &usize| (found[word] ^ expected[word]) & significant(word) != 0;
            if let Some(word) = (0..POINTS).find(differs) {
                let [found, expected] = [found[word], expected[word]];
                return Err(format!(
                    "plane {plane} has {found:#x} at {word} and not {expected:#x}"
                ));
            }
        }
        Ok(())
    }
}

/// Runs the loop at one point and returns the edge by which it exits.
fn walk(compiled_loop: &CompiledLoop, words: &mut [u32], steps: &mut u32) -> Edge {
    let (mut at, mut iterations) = (0, 0);
    let mut floats = vec![false; words.len()];
    loop {
        let block = &compiled_loop.blocks[at as usize];
        compute(&block.instructions, words, &mut floats);
        *steps += block.steps;
        let edge = match block.terminator {
            LoopTerminator::Jump(edge) => edge,
            LoopTerminator::Loop(target) => {
                *steps += 1;
                iterations += 1;
                let edge = Edge::Block(target);
                if iterations == STEPS {
                    return edge;
                }
                edge
            }
            LoopTerminator::Branch(CondBranch {
                condition: Condition { test, operands },
                when,
                target,
                next,
            }) => {
                let bits = [0, 1].map(|i: usize| words[operands[i].value as usize]);
                let is_true = test.expect("each branch has a test").value(&bits);
                if (is_true != 0) == when { next } else { target }
            }
        };
        match edge {
            Edge::Block(next) => at = next,
            Edge::Exit(_) => return edge,
        }
    }
}
