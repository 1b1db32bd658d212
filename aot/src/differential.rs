//! Differential tests of segments: random operands, and the results of their instructions by scalar
//! evaluation, one point after the other.
//!
//! The code of every target is compared with that.

use crate::emit::{compile_batch, compile_points};
use crate::machine_code::MachineCode;
use crate::macro_assembler::MacroAssembler;
use crate::native_compiler::{install, install_points};
use crate::optimisation::Optimisations;
use adumbra_ir::host::{canonical_float, read_shadow};
use adumbra_ops::definition::OperandKind;
use adumbra_ops::scalar_eval::operand_float;
use adumbra_ops::{MAX_OPERANDS, Op};
use adumbra_vm::FloatEnvironment;
use adumbra_vm::native::{
    ArithmeticInst, ArithmeticKind, CfgEntry, DualOperand, Edge, LIBCALLS, LIVE_OUT, OperandRef,
    PointBlock, PointCfg, PointTerminator, Segment, VectorRun, WordLocation,
};
use fastrand::Rng;

/// Points of each plane: four SIMD vectors.
pub(crate) const POINTS: usize = 64;
/// Bytes of a SIMD vector.
pub(crate) const VM_VECTOR_BYTES: usize = 64;
/// The vectors that run: all but the second one, which must not change.
pub(crate) const RUNS: [VectorRun; 2] = [
    VectorRun {
        start: 0,
        vectors: 1,
    },
    VectorRun {
        start: 2 * VM_VECTOR_BYTES as u32,
        vectors: 2,
    },
];

/// The contents of each word of a segment, by point.
pub(crate) type Planes = Vec<[u32; POINTS]>;

/// A segment of one instruction, and the contents of its words before it.
pub(crate) struct DifferentialCase {
    pub(crate) segment: Segment,
    pub(crate) planes: Planes,
}

/// Steps that a point has left, of which instructions take none.
pub(crate) const STEPS: u64 = 5;
/// A generator of random numbers.
pub(crate) struct TestRng(Rng);

impl TestRng {
    pub(crate) fn new(seed: u64) -> TestRng {
        TestRng(Rng::with_seed(seed))
    }

    /// The next number, below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }
}

/// The exit of a point CFG.
pub(crate) const EXIT: u32 = 0x1_2345;

/// Whether a point is in a vector that runs.
fn runs(point: usize) -> bool {
    let byte = 4 * point;
    RUNS.iter().any(|run| {
        let start = run.start as usize;
        (start..start + run.vectors as usize * VM_VECTOR_BYTES).contains(&byte)
    })
}

/// A random word: now and then one of the special numbers.
fn word(random: &mut Rng, kind: OperandKind) -> u32 {
    const SPECIAL: [f32; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.5,
        2.0,
        1e-40,
        300_000.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let bits = random.u32(..);
    match (kind, bits % 4) {
        (OperandKind::Bool, _) => bits / 4 % 2,
        (OperandKind::Float, 0) => SPECIAL[bits as usize / 4 % SPECIAL.len()].to_bits(),
        (OperandKind::Float, 2 | 3) => (bits as i32 as f32 / 1e9).to_bits(),
        (_, 2) => bits % 50,
        (_, 3) => (bits % 50).wrapping_neg(),
        _ => bits,
    }
}

impl DifferentialCase {
    /// Its code with a number of registers.
    pub(crate) fn code<M: MacroAssembler>(&self, registers: u8) -> MachineCode {
        let segment = std::slice::from_ref(&self.segment);
        let compiled = compile_batch::<M>(Optimisations::ALL, segment, registers, false);
        compiled.expect("it is short")
    }

    fn new(op: Op, shadows: &[[bool; 2]], locations: &[u8], random: &mut Rng) -> DifferentialCase {
        let mut case = DifferentialCase {
            segment: Segment::default(),
            planes: Vec::new(),
        };
        let float = OperandKind::Float;
        let result = case.value(shadows[0], OperandKind::Float, 0, random);
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        for (i, &kind) in op.info().operands.iter().enumerate() {
            let location = if shadows[i + 1] == [false; 2] {
                locations[i]
            } else {
                0
            };
            let kind = if kind == float || op.info().is_differentiable() {
                kind
            } else {
                OperandKind::Word
            };
            operands[i] = case.value(shadows[i + 1], kind, location, random);
        }
        case.segment.live_out = result.locations().collect();
        case.push(ArithmeticKind::Op(op), result, &operands[..op.arity()]);
        case
    }

    /// A case of an instruction that is no op: a result and an operand with these shadows.
    fn other(
        kind: ArithmeticKind,
        result: [bool; 2],
        operand: [bool; 2],
        location: u8,
        random: &mut Rng,
    ) -> DifferentialCase {
        let mut case = DifferentialCase {
            segment: Segment::default(),
            planes: Vec::new(),
        };
        let result = case.value(result, OperandKind::Float, 0, random);
        let operand = case.value(operand, OperandKind::Float, location, random);
        case.segment.live_out = result.locations().collect();
        case.push(kind, result, &[operand]);
        case
    }

    fn value(
        &mut self,
        shadows: [bool; 2],
        kind: OperandKind,
        location: u8,
        random: &mut Rng,
    ) -> DualOperand {
        DualOperand {
            value: self.word(kind, location, random),
            shadows: shadows.map(|has| has.then(|| self.word(OperandKind::Float, 0, random))),
        }
    }

    fn word(&mut self, kind: OperandKind, location: u8, random: &mut Rng) -> u32 {
        let (at, first) = (self.planes.len(), word(random, kind));
        self.planes.push(match location {
            0 => std::array::from_fn(|_| word(random, kind)),
            _ => [first; POINTS],
        });
        self.segment.locations.push(match location {
            0 if at.is_multiple_of(3) => WordLocation::Plane,
            0 => WordLocation::RegisterPlane((at * size_of::<[u32; POINTS]>()) as i32),
            1 => WordLocation::Uniform,
            _ => WordLocation::Constant(first),
        });
        self.planes.len() as u32 - 1
    }

    /// A sum of `terms` constants and uniform values, three to one; before each term the sum may
    /// become its sine.
    pub(crate) fn sum(terms: u32, of_sines: bool) -> DifferentialCase {
        let mut case = DifferentialCase {
            segment: Segment::default(),
            planes: vec![std::array::from_fn(|point| (point as f32).to_bits())],
        };
        case.segment.locations.push(WordLocation::Plane);
        let sum = DualOperand::default();
        for i in 1..=terms {
            // No sum of these is NaN or infinite.
            let bits = (i as f32 * 0.37).to_bits();
            case.planes.push([bits; POINTS]);
            case.segment.locations.push(match i % 4 {
                0 => WordLocation::Uniform,
                _ => WordLocation::Constant(bits),
            });
            let other = DualOperand {
                value: i,
                shadows: [None; 2],
            };
            if of_sines {
                case.push(ArithmeticKind::Op(Op::Sin), sum, &[sum]);
            }
            case.push(ArithmeticKind::Op(Op::Add), sum, &[sum, other]);
        }
        case.segment.live_out = vec![sum.value];
        case
    }

    /// A segment with more words, constants and uniform values, and longer code, than the
    /// instructions of any target reach.
    pub(crate) fn far_operands() -> DifferentialCase {
        DifferentialCase::sum(8_000, true)
    }

    fn push(&mut self, kind: ArithmeticKind, result: DualOperand, operands: &[DualOperand]) {
        let mut all = [DualOperand::default(); MAX_OPERANDS];
        all[..operands.len()].copy_from_slice(operands);
        self.segment.instructions.push(ArithmeticInst {
            kind,
            result,
            operands: all,
            position: self.segment.instructions.len() as u32,
        });
    }

    /// The same instructions for one point: a word is in the register of its number, or, if it was
    /// uniform, among the globals.
    pub(crate) fn point_cfg(&self) -> PointCfg {
        let segment = &self.segment;
        let words = (0..)
            .zip(&segment.locations)
            .map(|(word, location)| match location {
                WordLocation::Plane | WordLocation::RegisterPlane(_) => {
                    WordLocation::Register(word)
                }
                WordLocation::Uniform => WordLocation::Global(word),
                location => *location,
            });
        let mut live = vec![0_u64; segment.locations.len().div_ceil(64)];
        for &word in &segment.live_out {
            live[word as usize / 64] |= 1 << (word % 64);
        }
        PointCfg {
            locations: words.collect(),
            blocks: vec![PointBlock {
                instructions: segment.instructions.clone(),
                last_uses: last_uses(segment),
                terminator: PointTerminator::Jump(Edge::Exit(EXIT)),
                position: 0,
            }],
            live_out: Some(live),
            entries: vec![CfgEntry {
                block: 0,
                at: 0,
                depth: 0,
            }],
        }
    }

    /// The code of the instructions for one point, with a number of registers.
    pub(crate) fn point_code<M: MacroAssembler>(&self, registers: u8) -> MachineCode {
        compile_points::<M>(Optimisations::ALL, &[self.point_cfg()], registers, false)
            .expect("it is short")
    }

    /// The words before the segment, one register file for each point that runs.
    pub(crate) fn register_files(&self) -> Vec<Vec<u32>> {
        let points = (0..POINTS).filter(|&point| runs(point));
        let file = |point: usize| self.planes.iter().map(|plane| plane[point]).collect();
        points.map(file).collect()
    }

    /// The planes after those register files ran.
    pub(crate) fn planes_from_files(&self, files: &[Vec<u32>]) -> Planes {
        let mut planes = self.planes.clone();
        let points = (0..POINTS).filter(|&point| runs(point));
        for (point, file) in points.zip(files) {
            for (plane, &word) in planes.iter_mut().zip(file) {
                plane[point] = word;
            }
        }
        planes
    }

    /// The planes after this processor ran the code for one point on one point after the other.
    pub(crate) fn run_points(&self, code: &MachineCode) -> Planes {
        let mut files = self.register_files();
        let kernels = install_points(&[self.point_cfg()], code).expect("there is memory for code");
        let (_, kernel) = kernels.entries[0];
        let mode = FloatEnvironment::enter();
        for file in &mut files {
            let globals = file.clone();
            // SAFETY: the register file and the globals have all words of the point CFG.
            let left = unsafe { kernel(file.as_mut_ptr(), globals.as_ptr(), STEPS, &LIBCALLS) };
            assert_eq!((left.exit, left.steps), (u64::from(EXIT), STEPS));
        }
        drop(mode);
        self.planes_from_files(&files)
    }

    /// The planes after this processor ran the code, which has one kernel.
    pub(crate) fn run(&self, code: &MachineCode) -> Planes {
        let mut planes = self.planes.clone();
        let kernels = install(code).expect("there is memory for code");
        let refs = planes.iter_mut().map(|plane| plane.as_mut_ptr());
        let refs: Vec<OperandRef> = refs.map(OperandRef::to_plane).collect();
        let mode = FloatEnvironment::enter();
        let kernel = kernels.entries[0].expect("there is code");
        let (runs, count) = (RUNS.as_ptr(), RUNS.len());
        // SAFETY: there is a reference for each word, and all planes have the vectors of the runs.
        unsafe { kernel(refs.as_ptr(), runs, count, VM_VECTOR_BYTES, &LIBCALLS) };
        drop(mode);
        planes
    }

    /// Compares the words after the segment with its instructions, one point after the other.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub(crate) fn compare(&self, found: &Planes) -> Result<(), String> {
        let count = self.segment.locations.len();
        let mut written: Vec<Option<&ArithmeticInst>> = vec![None; count];
        for inst in &self.segment.instructions {
            for word in inst.result.locations() {
                written[word as usize] = Some(inst);
            }
        }
        let mut is_stored = vec![false; count];
        for &word in &self.segment.live_out {
            is_stored[word as usize] = true;
        }
        let mut floats = vec![false; count];
        for point in 0..POINTS {
            let mut expected: Vec<u32> = self.planes.iter().map(|plane| plane[point]).collect();
            if runs(point) {
                compute(&self.segment.instructions, &mut expected, &mut floats);
            }
            for (word, &expected) in expected.iter().enumerate() {
                let inst = written[word].filter(|_| runs(point));
                // A word that is written but not live-out may hold anything.
                if inst.is_some() && !is_stored[word] {
                    continue;
                }
                let found = found[word][point];
                let nan = |bits: u32| f32::from_bits(bits).is_nan();
                let is_nan = floats[word] && nan(expected) && nan(found);
                if found != expected && !is_nan {
                    return Err(self.difference(point, word, inst, [found, expected]));
                }
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        point: usize,
        word: usize,
        inst: Option<&ArithmeticInst>,
        values: [u32; 2],
    ) -> String {
        let [found, expected] = values.map(|bits| format!("{bits:#x} ({})", f32::from_bits(bits)));
        let begin = format!("word {word} at point {point} is {found} and not {expected}");
        let Some(inst) = inst else {
            return format!("{begin}, although nothing writes it");
        };
        let operands = &inst.operands[..inst.kind.arity()];
        let inputs = operands.iter().flat_map(|operand| operand.locations());
        let inputs: Vec<f32> = inputs
            .map(|word| f32::from_bits(self.planes[word as usize][point]))
            .collect();
        format!("{begin}, of {inst:?}; before the segment its operands hold {inputs:?}")
    }
}

/// Runs the instructions at one point. Notes which words become floats, whose NaNs may be any.
fn compute(instructions: &[ArithmeticInst], words: &mut [u32], floats: &mut [bool]) {
    for inst in instructions {
        let operands = &inst.operands[..inst.kind.arity()];
        let first = operands[0].value as usize;
        let (value, is_float) = match inst.kind {
            ArithmeticKind::Copy => (words[first], floats[first]),
            ArithmeticKind::ReadShadow => {
                let shadow = read_shadow(f32::from_bits(words[first]));
                (shadow.to_bits(), true)
            }
            ArithmeticKind::Canonicalise => {
                let value = canonical_float(f32::from_bits(words[first]));
                (value.to_bits(), false)
            }
            ArithmeticKind::Op(op) => {
                let bits: Vec<u32> = operands.iter().map(|v| words[v.value as usize]).collect();
                (
                    op.value(&bits),
                    matches!(op.info().result, OperandKind::Float),
                )
            }
        };
        let shadows = [0, 1].map(|direction| {
            let shadow = operands[0].shadows[direction].map(|word| words[word as usize]);
            let op = match (inst.kind, shadow) {
                (ArithmeticKind::Op(op), _) if inst.result.shadows[direction].is_some() => op,
                (ArithmeticKind::Copy, Some(shadow)) => return shadow,
                (ArithmeticKind::Canonicalise, Some(shadow)) => {
                    return canonical_float(read_shadow(f32::from_bits(shadow))).to_bits();
                }
                _ => return 0,
            };
            let kinds = op.info().operands;
            let numbers = operands.iter().zip(kinds);
            let numbers = numbers.map(|(v, &kind)| operand_float(kind, words[v.value as usize]));
            let numbers: Vec<f32> = numbers.collect();
            let shadow = |word: u32| f32::from_bits(words[word as usize]);
            let shadows = operands.iter().map(|v| v.shadows[direction].map(shadow));
            let shadows: Vec<Option<f32>> = shadows.collect();
            op.tangent(&numbers, f32::from_bits(value), &shadows)
                .to_bits()
        });
        (
            words[inst.result.value as usize],
            floats[inst.result.value as usize],
        ) = (value, is_float);
        for (word, shadow) in inst.result.shadows.into_iter().zip(shadows) {
            if let Some(word) = word {
                let is_any_nan = inst.kind != ArithmeticKind::Canonicalise;
                (words[word as usize], floats[word as usize]) = (shadow, is_any_nan);
            }
        }
    }
}

/// A case of every op and of every other arithmetic instruction: with shadows and without, with
/// operands in planes, uniform values and constants.
pub(crate) fn arithmetic_cases() -> Vec<DifferentialCase> {
    let mut random = Rng::with_seed(1);
    let mut cases = Vec::new();
    for &op in Op::ALL {
        let arity = op.arity();
        let none = [[false; 2]; MAX_OPERANDS + 1];
        let mut patterns = vec![none];
        if op.info().is_differentiable() {
            patterns.push([[true; 2]; MAX_OPERANDS + 1]);
            for i in 1..=arity {
                let mut one = none;
                (one[0], one[i]) = ([true; 2], [true; 2]);
                patterns.push(one);
            }
            patterns.push([[true, false]; MAX_OPERANDS + 1]);
            patterns.push([[false, true]; MAX_OPERANDS + 1]);
        }
        for (i, shadows) in patterns.iter().enumerate() {
            for locations in 0..3_usize.pow(arity.min(3) as u32) {
                // From the second pattern on, one of the locations of operands after the other.
                if i > 0 && locations % patterns.len() != i {
                    continue;
                }
                let locations: [u8; MAX_OPERANDS] =
                    std::array::from_fn(|i| (locations / 3_usize.pow(i.min(2) as u32) % 3) as u8);
                cases.push(DifferentialCase::new(op, shadows, &locations, &mut random));
            }
        }
    }
    let shadows = [[false, false], [true, false], [false, true], [true, true]];
    for location in 0..3 {
        let none = [false; 2];
        cases.push(DifferentialCase::other(
            ArithmeticKind::ReadShadow,
            none,
            none,
            location,
            &mut random,
        ));
        for kind in [ArithmeticKind::Copy, ArithmeticKind::Canonicalise] {
            for operand in shadows {
                cases.push(DifferentialCase::other(
                    kind,
                    [true; 2],
                    operand,
                    location,
                    &mut random,
                ));
            }
        }
    }
    cases
}

/// The last uses of what each instruction of a segment writes: [`PointBlock::last_uses`].
fn last_uses(segment: &Segment) -> Vec<[u32; 3]> {
    let mut next: Vec<u32> = vec![0; segment.locations.len()];
    for &word in &segment.live_out {
        next[word as usize] = LIVE_OUT;
    }
    let found = segment.instructions.iter().rev().map(|inst| {
        let mut last_uses = [0; 3];
        for (word, last_use) in inst.result.locations().zip(&mut last_uses) {
            *last_use = std::mem::take(&mut next[word as usize]);
        }
        for operand in &inst.operands[..inst.kind.arity()] {
            for word in operand.locations() {
                let next = &mut next[word as usize];
                *next = inst.position.max(*next);
            }
        }
        last_uses
    });
    let mut found: Vec<[u32; 3]> = found.collect();
    found.reverse();
    found
}
