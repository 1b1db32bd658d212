//! Differential tests of chunks against single points, on random programs, at every level and
//! width.

mod closures;
mod quads;
mod superinstructions;

use super::*;
use crate::PointMachine;
use crate::bytecode::{BytecodeInstruction, Opcode, ShadowPattern, validate};
use adumbra_ir::buffer::{BufferMemory, BufferSet, BufferSums};
use adumbra_ir::host::{SampleRequest, Sampled};
use adumbra_ir::module::{BufferId, MessageId, Module};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::{buffers, generate};
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_ir::types::Lanes;
use adumbra_ops::Op;
use fastrand::Rng;

/// A host whose textures depend on the coordinates. It records the requests and messages of each
/// point.
#[derive(Default)]
struct Recorder {
    at: usize,
    points: Vec<Vec<String>>,
    /// Whether every third request stays pending.
    hesitates: bool,
    requests: usize,
}

fn texel(request: &SampleRequest) -> [f32; 4] {
    let mixed = request.u.to_bits() ^ request.v.to_bits().rotate_left(9) ^ request.texture.0;
    [0, 8, 16, 24].map(|shift| (mixed >> shift & 0xff) as f32 / 255.0)
}

impl Recorder {
    fn note(&mut self, what: String) {
        self.points
            .resize(self.points.len().max(self.at + 1), Vec::new());
        self.points[self.at].push(what);
    }
}

impl Host for Recorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.note(format!("{request:?}"));
        self.requests += 1;
        if self.hesitates && self.requests.is_multiple_of(3) {
            return Sampled::Pending;
        }
        Sampled::Ready(texel(request))
    }
    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.note("a helper".to_owned());
        self.sample(request)
    }
    fn at_point(&mut self, point: usize) {
        self.at = point;
    }
    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.note(format!("{request:?} {adjoint:?}"));
    }
    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.note(format!("{message:?} {args:x?}"));
    }
}

/// The results of a point: its outcome, outputs, faults and closures.
type Shown = (Outcome, Vec<u32>, Faults, String);

struct Case {
    program: Arc<Bytecode>,
    inputs: Vec<u32>,
    /// Per word of the globals, the values of all points.
    globals: Vec<Vec<u32>>,
    points: usize,
    limits: Limits,
    buffers: Arc<BufferSet>,
    without_fusions: SuperinstructionSet,
    /// Whether the points of a chunk run one by one.
    pointwise: bool,
}

const LIMITS: Limits = Limits {
    steps: 3_000,
    call_depth: 20,
    array_elements: 5_000,
    closure_size: 60,
    kept_words: 60,
    parked: 0,
    parked_bytes: 0,
};

impl Case {
    fn new(seed: u64, points: usize) -> Case {
        let options = PassOptions {
            output_shadows: !seed.is_multiple_of(3),
            ..PassOptions::default()
        };
        let (module, _) = passes::run(generate(seed), &options);
        Case::of(&module, seed, points)
    }

    /// A module at random points.
    fn of(module: &Module, seed: u64, points: usize) -> Case {
        let program = Arc::new(crate::lower(module).expect("the module fits"));
        let mut random = Rng::with_seed(seed);
        let word = |random: &mut Rng| {
            let pick = random.u64(..);
            match pick % 16 {
                0 => {
                    [0, 1, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 1 << 23][(pick >> 8) as usize % 6]
                }
                1 | 2 => (pick >> 8) as u32 % 8,
                _ => (((pick >> 8) % 4096) as f32 / 1024.0 - 2.0).to_bits(),
            }
        };
        let mut plane = || {
            let coherent = random.u8(..3) == 0;
            let first = word(&mut random);
            (0..points)
                .map(|_| if coherent { first } else { word(&mut random) })
                .collect()
        };
        let globals = (0..program.interface.global_words())
            .map(|_| plane())
            .collect();
        let inputs = module.inputs.iter().flat_map(|i| i.default.clone());
        Case {
            inputs: inputs.collect(),
            globals,
            points,
            program,
            limits: LIMITS,
            buffers: Arc::new(buffers(module)),
            without_fusions: SuperinstructionSet::NONE,
            pointwise: false,
        }
    }

    fn alone(&self) -> Seen {
        let mut machine = PointMachine::new(self.program.clone(), self.limits);
        let memory = Arc::new(BufferMemory::new(&self.buffers));
        machine.set_buffers(&memory);
        let mut host = Recorder::default();
        host.points.resize(self.points, Vec::new());
        let shown = (0..self.points).map(|point| {
            host.at = point;
            let globals: Vec<u32> = self.globals.iter().map(|plane| plane[point]).collect();
            let outcome = machine.run(&globals, &self.inputs, &mut host);
            let closures = format!("{:?}", machine.closures());
            let outputs = machine.outputs().to_vec();
            (outcome, outputs, machine.faults().clone(), closures)
        });
        let shown = shown.collect();
        (shown, host.points, self.sums(&memory.sums()))
    }

    fn together(&self, level: SimdLevel, width: usize, hesitates: bool) -> Seen {
        let options = BatchOptions {
            width: Some(width),
            level: Some(level),
            uniform: self
                .globals
                .iter()
                .map(|plane| plane.iter().all(|word| word == &plane[0]))
                .collect(),
            native: None,
            loaded: None,
            pointwise: self.pointwise,
            without_fusions: self.without_fusions,
        };
        let mut machine = BatchMachine::new(self.program.clone(), self.limits, &options);
        let mut alone = PointMachine::new(self.program.clone(), self.limits);
        let memory = Arc::new(BufferMemory::new(&self.buffers));
        machine.set_buffers(&memory);
        alone.set_buffers(&memory);
        let mut host = Recorder {
            hesitates,
            ..Recorder::default()
        };
        host.points.resize(self.points, Vec::new());
        let strided: Vec<Vec<u32>> = self
            .globals
            .iter()
            .map(|plane| plane.iter().flat_map(|&word| [word, 7, 7]).collect())
            .collect();
        let sources: Vec<GlobalSource<'_>> = (self.globals.iter().zip(&strided).enumerate())
            .map(|(i, (words, strided))| match i % 3 {
                0 if options.uniform[i] => GlobalSource::Uniform(words[0]),
                1 => GlobalSource::Varying {
                    words: strided,
                    stride: 3,
                },
                _ => GlobalSource::Varying { words, stride: 1 },
            })
            .collect();
        let mut shown: Vec<Option<Shown>> = vec![None; self.points];
        let width = machine.width();
        for first in (0..self.points).step_by(width) {
            let points = width.min(self.points - first);
            machine.run(&sources, &self.inputs, first, points, &mut host);
            let scalars = self.program.output_lanes.len();
            let mut planes = vec![vec![0; points]; 3 * scalars];
            for (at, plane) in planes.iter_mut().enumerate() {
                machine.copy_output(at / 3, at % 3, plane, 1);
            }
            for point in 0..points {
                let outputs: Vec<u32> = planes.iter().map(|plane| plane[point]).collect();
                for (at, &word) in outputs.iter().enumerate() {
                    assert_eq!(word, machine.output(at / 3, at % 3, point));
                }
                let closures = format!("{:?}", machine.closures(point));
                let outcome = machine.outcomes()[point];
                shown[first + point] =
                    Some((outcome, outputs, machine.faults(point).clone(), closures));
            }
            while let Some(&(point, _)) = machine.suspended().first() {
                let mut parked = machine.take_suspended(point).expect("it waits");
                host.at = first + point;
                let request = *parked.request().expect("it waits");
                alone.unpark(&mut parked);
                let mut outcome = alone.answer(texel(&request), &mut host);
                while outcome == Outcome::Pending {
                    let request = *alone.request().expect("it waits");
                    outcome = alone.answer(texel(&request), &mut host);
                }
                let closures = format!("{:?}", alone.closures());
                let outputs = alone.outputs().to_vec();
                shown[first + point] = Some((outcome, outputs, alone.faults().clone(), closures));
            }
        }
        let shown = shown.into_iter().map(|shown| shown.expect("each was run"));
        (shown.collect(), host.points, self.sums(&memory.sums()))
    }

    /// The bits of what points have added to all sums.
    fn sums(&self, sums: &BufferSums) -> Vec<u64> {
        let buffers = (0..).map(BufferId).zip(&self.program.interface.buffers);
        let buffers = buffers.filter(|(_, buffer)| buffer.is_sum());
        buffers
            .flat_map(|(id, _)| sums.of(id).map(f64::to_bits))
            .collect()
    }
}

/// The results of each point, its requests and messages, and what all added to sums.
type Seen = (Vec<Shown>, Vec<Vec<String>>, Vec<u64>);

/// Panics if points of a program have other results in a chunk than alone, at a level and with a
/// host that hesitates or not.
fn compare(
    name: &str,
    program: &Bytecode,
    alone: &Seen,
    mut together: impl FnMut(SimdLevel, bool) -> Seen,
) {
    let (alone, said_alone, sums_alone) = alone;
    for level in SimdLevel::available() {
        for hesitates in [false, true] {
            let (together, said, sums) = together(level, hesitates);
            assert_eq!(&sums, sums_alone, "{name}, {level}\n{program}");
            for point in 0..alone.len() {
                let at = format!("{name}, {level}, point {point}");
                assert_eq!(together[point], alone[point], "{at}\n{program}");
                assert_eq!(said[point], said_alone[point], "{at}\n{program}");
            }
            if said_alone.iter().all(Vec::is_empty) {
                break;
            }
        }
    }
}

/// Panics if a program has other results in chunks.
fn check(case: &Case, seed: u64, width: usize) {
    let name = format!("seed {seed}, width {width}");
    compare(&name, &case.program, &case.alone(), |level, hesitates| {
        case.together(level, width, hesitates)
    });
}

#[test]
fn chunk_results_equal_point_results() {
    let seeds = std::env::var("SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(if cfg!(miri) { 4 } else { 300 });
    let first = std::env::var("FIRST")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    for seed in first..first + seeds {
        let mut random = Rng::with_seed(seed);
        let width = random.usize(1..=MAX_WIDTH);
        let points = random.usize(1..=90);
        let width = if seed.is_multiple_of(4) {
            width
        } else {
            4 + width % 40
        };
        check(&Case::new(seed, points), seed, width);
    }
}

/// With limits so low that points are stopped anywhere, in inlined functions too.
#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn limits_stop_same_points_in_chunks() {
    let (mut in_place, mut stopped) = (0, 0);
    for seed in 0..200 {
        let mut case = Case::new(seed, 24);
        let mut code = case.program.code.iter();
        in_place += usize::from(code.any(|code| code.opcode == Opcode::Enter));
        match seed % 2 {
            0 => case.limits.steps = 1 + seed / 2 % 24,
            _ => case.limits.call_depth = 1 + seed as u32 / 2 % 4,
        }
        check(&case, seed, 16);
        let (alone, ..) = case.alone();
        let outcomes = alone.iter().map(|shown| shown.0);
        stopped += outcomes.filter(|&o| o == Outcome::Stopped).count();
    }
    assert!(in_place > 80 && stopped > 1_000, "{in_place} {stopped}");
}

#[test]
fn points_run_one_by_one_have_point_results() {
    for seed in 0..40 {
        let mut case = Case::new(seed, 20);
        case.pointwise = true;
        check(&case, seed, 7);
    }
}

/// Of a global that is uniform the first point's value counts, also where points run alone.
#[test]
fn uniform_global_is_that_of_first_point() {
    const TEXT: &str = "adumbra ir 1
        global g: float
        output o: float
        entry main
        fn main() -> (f32) ^0 {
          %0: f32 = global g[0]
          return %0
        }";
    let module = parse(TEXT, FileId::MAIN).expect("it is IR");
    let program = Arc::new(crate::lower(&module).expect("the module fits"));
    let words: Vec<u32> = (0..9).map(|i| (i as f32).to_bits()).collect();
    let of_words = GlobalSource::Varying {
        words: &words,
        stride: 1,
    };
    let globals = vec![of_words; program.interface.global_words()];
    for pointwise in [false, true] {
        let options = BatchOptions {
            uniform: vec![true],
            pointwise,
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(program.clone(), LIMITS, &options);
        machine.run(&globals, &[], 4, 5, &mut Recorder::default());
        for point in 0..5 {
            assert_eq!(machine.output(0, 0, point), words[4], "{pointwise}");
        }
    }
}

/// A program of these instructions, whose outputs are in the first nine registers. Of the four
/// registers after them, its inputs, three are floats.
fn of_bytecode(code: Vec<BytecodeInstruction>) -> Case {
    const TEXT: &str = "adumbra ir 1
        global g: float4
        input a: float3 = 1.0, -2.0, 3.0
        input n: int = 4
        output o: float3
        entry main
        fn main(%0: f32, %1: f32, %2: f32, %3: i32) -> (f32:xy, f32:xy, f32:xy) ^0 {
          return %0, %1, %2
        }";
    let module = parse(TEXT, FileId::MAIN).expect("it is IR");
    let mut case = Case::of(&module, code.len() as u64, 70);
    let mut program = (*case.program).clone();
    program.code = code;
    program.spans.clear();
    program.registers = 20;
    program.functions[0].start = 0;
    assert_eq!(validate(&program), Ok(()), "{program}");
    case.program = Arc::new(program);
    case
}

/// Shadows are the registers after a value, whatever these are: uniforms of inputs, or results of a
/// move.
#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn shadows_may_be_uniforms() {
    let (lanes, all) = ([Lanes::NONE, Lanes::X, Lanes::Y, Lanes::XY], 0..20_u32);
    let ops = ["sin", "abs", "add", "mul", "max"].map(|name| Op::from_name(name).expect("an op"));
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let mut pick = |count: usize| random.usize(..count);
        let mut code: Vec<BytecodeInstruction> = all
            .clone()
            .filter(|register| !(9..13).contains(register))
            .map(|register| match pick(3) {
                0 => BytecodeInstruction::new(
                    Opcode::Move(Lanes::NONE, Lanes::NONE),
                    [register, 9 + register % 4],
                ),
                _ => BytecodeInstruction::new(
                    Opcode::Global(Lanes::NONE),
                    [register, register % 12, 0],
                ),
            })
            .collect();
        for _ in 0..1 + pick(5) {
            let [to, a, b] = [0; 3].map(|_| pick(18) as u32);
            code.push(match pick(5) {
                0 => BytecodeInstruction::new(Opcode::Shadow(Direction::X), [to, a]),
                1 => BytecodeInstruction::new(Opcode::Shadow(Direction::Y), [to, a]),
                2 => {
                    let has = lanes[pick(4)];
                    BytecodeInstruction::new(Opcode::Move(has, has), [to, a])
                }
                _ => {
                    let op = ops[pick(ops.len())];
                    let operands = [lanes[pick(4)], lanes[pick(4)]];
                    let operands = &operands[..op.arity()];
                    let result = operands.iter().fold(Lanes::NONE, |all, &own| all | own);
                    let pattern = ShadowPattern::new(result, operands.iter().copied());
                    BytecodeInstruction::new(
                        Opcode::Arithmetic(op, pattern),
                        [to, a, if op.arity() > 1 { b } else { 0 }],
                    )
                }
            });
        }
        code.push(BytecodeInstruction::new(Opcode::Return, []));
        check(&of_bytecode(code), seed, 64);
    }
}

/// Uniforms change places from one iteration to the next, both ways round, while points leave.
#[test]
fn uniforms_change_places_at_once() {
    for next in ["%6, %7, %8", "%8, %6, %7", "%7, %8, %6"] {
        let text = format!(
            "adumbra ir 1 global n: int output o: int entry main
             fn main() -> (i32) ^0 {{
                 %0: i32 = global n[0]
                 %1: i32 = const 1
                 %2: i32 = const 3
                 %3: i32 = const 7
                 %4: i32 = loop ^1 (%5: i32 = %1, %6: i32 = %1, %7: i32 = %2, %8: i32 = %3, %9: i32 = %0) {{
                     %10: bool = ilt %5, %0
                     if %10 ^2 {{ yield }} else ^3 {{ break ^1 %9 }}
                     %11: i32 = imul %9, %3
                     %12: i32 = iadd %11, %6
                     %13: i32 = iadd %5, %1
                     %14: i32 = imul %12, %2
                     %15: i32 = iadd %14, %7
                     continue ^1 %13, {next}, %15
                 }}
                 return %4
             }}"
        );
        let module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}"));
        for (seed, width) in [1, 8, 100].into_iter().enumerate() {
            let mut case = Case::of(&module, seed as u64, 100);
            case.globals[0] = (0..100).map(|i| i / 9 % 11).collect();
            check(&case, seed as u64, width);
        }
    }
}

/// Points keep and take other numbers of records, in nested loops, with shadows and without.
#[test]
fn records_of_points_are_their_own_at_every_width() {
    let text = "adumbra ir 1
        record (f32:xy, i32) record (bool, f32:xy)
        global x: float global n: int global m: int
        output o: float output s: int
        entry main
        fn main() -> (f32:xy, i32) ^0 {
            %0: f32:xy = global x[0]
            %1: i32 = global n[0]
            %2: i32 = global m[0]
            %3: i32 = const 31
            %4: i32 = and %1, %3
            %5: i32 = and %2, %3
            %6: i32 = const 0
            %7: i32 = const 1
            %8: f32:xy = loop ^1 (%9: i32 = %4, %10: f32:xy = %0) {
                %11: bool = ilt %6, %9
                if %11 ^2 { yield } else ^3 { break ^1 %10 }
                keep 0 #0(%10, %9)
                loop ^4 (%12: i32 = %5) {
                    %13: bool = ilt %6, %12
                    if %13 ^5 { yield } else ^6 { break ^4 }
                    keep 1 #1(%13, %10)
                    %14: i32 = isub %12, %7
                    continue ^4 %14
                }
                %15: f32:xy = sin %10
                %16: i32 = isub %9, %7
                continue ^1 %16, %15
            }
            %17: f32:xy, %18: i32 = loop ^7 (%19: i32 = %4, %20: f32:xy = %8, %21: i32 = %6) {
                %22: bool = ilt %6, %19
                if %22 ^8 { yield } else ^9 { break ^7 %20, %21 }
                %23: f32:xy = loop ^10 (%24: i32 = %5, %25: f32:xy = %20) {
                    %26: bool = ilt %6, %24
                    if %26 ^11 { yield } else ^12 { break ^10 %25 }
                    %27: bool, %28: f32:xy = take 1 #1
                    %29: f32:xy = select %27, %28, %0
                    %30: f32:xy = add %25, %29
                    %31: i32 = isub %24, %7
                    continue ^10 %31, %30
                }
                %32: f32:xy, %33: i32 = take 0 #0
                %34: f32:xy = cos %32
                %35: f32:xy = mul %34, %23
                %36: i32 = imul %21, %3
                %37: i32 = iadd %36, %33
                %38: i32 = isub %19, %7
                continue ^7 %38, %35, %37
            }
            return %17, %18
        }";
    let module = parse(text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}"));
    adumbra_ir::verify(&module).expect("it is sound");
    for (seed, width) in [1, 3, 8, 17, 64, 100, 512, MAX_WIDTH]
        .into_iter()
        .enumerate()
    {
        for kept_words in [100_000, 200, 7] {
            let mut case = Case::of(&module, seed as u64, 100);
            let coherent = |i: usize| (i / 24) as u32 * 5;
            case.globals[3] = (0..100).map(|i| coherent(i) + i as u32 % 4).collect();
            case.globals[6] = (0..100).map(|i| coherent(i) + 1).collect();
            case.limits.kept_words = kept_words;
            case.limits.steps = 100_000;
            check(&case, seed as u64, width);
        }
    }
}
