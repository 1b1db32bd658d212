//! Test of gradients by aarch64 code on any host: the batch engine of this processor runs a
//! program's gradient, and each kernel that it calls runs in the emulator.
//!
//! The planes of gradients then come from aarch64 code. Sums of them are `f64` additions in an
//! order that the numbers of the points give, or exact ones: equal planes have equal sums.

use super::{A64Assembler, REGISTERS};
use crate::differential::VM_VECTOR_BYTES;
use crate::emit::compile_batch;
use crate::emulator::Emulator;
use crate::machine_code::MachineCode;
use crate::optimisation::Optimisations;
use adumbra_ir::FileId;
use adumbra_ir::buffer::{BufferMemory, BufferSet};
use adumbra_ir::derivative::DifferentiationMode;
use adumbra_ir::exact_sum::ExactSum;
use adumbra_ir::host::{ConstantTexture, Limits};
use adumbra_ir::module::BufferId;
use adumbra_ir::passes::{self, EntryDerivative, PassOptions};
use adumbra_ir::text::parse;
use adumbra_vm::native::{
    BatchKernel, BatchKernels, LibcallTable, NativeBackend, OperandRef, PointCfg, PointKernels,
    Segment, SegmentKey, VectorRun, WordLocation,
};
use adumbra_vm::{BatchMachine, BatchOptions, Bytecode, GlobalSource, Outcome, SimdLevel, lower};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The square of an error between a curve, which is a buffer, and a sine, and an exponential.
const FIT: &str = "adumbra ir 1
global x: float
global y: float
buffer curve: float
input gain: float = 1.25
output error: float
entry fit

fn fit(%0: f32) -> (f32) ^0 {
  %1: f32 = global x[0]
  %2: f32 = const 4.0
  %3: f32 = mul %1, %2
  %4: i32 = f2i %3
  %5: f32 = buffer curve[%4], 0
  %6: i32 = const 1
  %7: i32 = iadd %4, %6
  %8: f32 = buffer curve[%7], 0
  %9: f32 = i2f %4
  %10: f32 = sub %3, %9
  %11: f32 = mix %5, %8, %10
  %12: f32 = mul %11, %0
  %13: f32 = global y[0]
  %14: f32 = mul %0, %13
  %15: f32 = sin %14
  %16: f32 = sub %12, %15
  %17: f32 = const 0.5
  %18: f32 = sub %16, %17
  %19: f32 = mul %18, %18
  %20: f32 = neg %0
  %21: f32 = mul %20, %1
  %22: f32 = exp %21
  %23: f32 = add %19, %22
  return %23
}
";
const CURVE: [f32; 6] = [0.25, -1.5, 0.1, 3.0, -0.7, 2.0];
/// Points of a chunk, in whole SIMD vectors.
const WIDTH: usize = 64;
const POINTS: usize = 3 * WIDTH;

/// The kernels of a program's segments for aarch64, as the kernels of this processor that the
/// engine calls find them.
struct EmulatedKernels {
    emulator: Emulator,
    segments: Vec<Option<(Segment, MachineCode)>>,
    calls: usize,
}

/// One test sets them.
static KERNELS: Mutex<Option<EmulatedKernels>> = Mutex::new(None);

fn kernels() -> MutexGuard<'static, Option<EmulatedKernels>> {
    KERNELS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most segments: each is called by a function of its own.
const MAX_SEGMENTS: usize = 12;
const CALLS: [BatchKernel; MAX_SEGMENTS] = [
    call::<0>, call::<1>, call::<2>, call::<3>, call::<4>, call::<5>, call::<6>, call::<7>,
    call::<8>, call::<9>, call::<10>, call::<11>,
];

/// Runs a segment in the emulator, on copies of its planes.
///
/// # Safety
/// As the engine calls kernels: there is a reference for each location, and planes have the runs.
unsafe extern "sysv64" fn call<const NUMBER: usize>(
    refs: *const OperandRef,
    runs: *const VectorRun,
    count: usize,
    vector_bytes: usize,
    _: &'static LibcallTable,
) {
    assert_eq!(vector_bytes, VM_VECTOR_BYTES);
    // SAFETY: the engine calls with this many runs.
    let runs = unsafe { std::slice::from_raw_parts(runs, count) };
    let words = |run: &VectorRun| {
        let first = run.start as usize / 4;
        first..first + run.vectors as usize * VM_VECTOR_BYTES / 4
    };
    let mut kernels = kernels();
    let kernels = kernels.as_mut().expect("they were compiled");
    kernels.calls += 1;
    let (segment, code) = kernels.segments[NUMBER].as_ref().expect("it has code");
    let mut planes = vec![[0; WIDTH]; segment.locations.len()];
    for (at, location) in segment.locations.iter().enumerate() {
        for word in runs.iter().flat_map(words) {
            planes[at][word] = match location {
                WordLocation::Constant(bits) => *bits,
                // SAFETY: the engine has a reference for each location, and planes of the runs.
                _ => unsafe { *(*refs.add(at)).point(word) },
            };
        }
        if *location == WordLocation::Uniform {
            let first = words(&runs[0]).start;
            planes[at] = [planes[at][first]; WIDTH];
        }
    }
    let found = kernels.emulator.run_planes(code, &planes, runs);
    for &at in &segment.live_out {
        for word in runs.iter().flat_map(words) {
            // SAFETY: as for what was read; the segment's results are in planes.
            unsafe { *(*refs.add(at as usize)).point(word) = found[at as usize][word] };
        }
    }
}

/// Compiles for aarch64, and runs what it compiled in the emulator.
#[derive(Debug)]
struct EmulatedBackend;

// SAFETY: a kernel writes the live-out planes of its segment alone, in its runs. Its results are
// those of the emulated code, which the tests of every op compare with scalar evaluation.
unsafe impl NativeBackend for EmulatedBackend {
    fn compile_batch(
        &self,
        _: SimdLevel,
        _: &SegmentKey,
        segments: &[Segment],
    ) -> Option<BatchKernels> {
        assert!(segments.len() <= MAX_SEGMENTS, "{}", segments.len());
        let segments = segments.iter().map(|segment| {
            let only = std::slice::from_ref(segment);
            let code = compile_batch::<A64Assembler>(Optimisations::ALL, only, REGISTERS, false);
            let code = code.filter(|code| code.kernels[0].is_some());
            code.map(|code| (segment.clone(), code))
        });
        let segments: Vec<_> = segments.collect();
        let calls = segments.iter().zip(CALLS);
        let entries = calls.map(|(segment, call)| segment.as_ref().map(|_| call));
        let entries = entries.collect();
        let mut kernels = kernels();
        kernels.as_mut().expect("there is an emulator").segments = segments;
        Some(BatchKernels {
            entries,
            code: Arc::new(()),
        })
    }

    fn compile_points(&self, _: &dyn Fn() -> Vec<PointCfg>) -> Option<PointKernels> {
        None
    }
}

/// The planes of all outputs of the gradient, and the exact sums by the curve.
fn gradient(program: &Arc<Bytecode>, numbers: &Arc<BufferSet>, native: bool) -> GradientBits {
    let options = BatchOptions {
        width: Some(WIDTH),
        level: Some(SimdLevel::Avx2),
        native: native.then(|| Arc::new(EmulatedBackend) as Arc<dyn NativeBackend>),
        ..BatchOptions::default()
    };
    let mut machine = BatchMachine::new(program.clone(), Limits::default(), &options);
    assert_eq!(machine.has_machine_code(), native);
    let memory = Arc::new(BufferMemory::new(numbers));
    machine.set_buffers(&memory);
    let x: Vec<u32> = (0..POINTS)
        .map(|at| (at as f32 / POINTS as f32).to_bits())
        .collect();
    let y: Vec<u32> = x.iter().rev().copied().collect();
    // By the interface: x, y and the seed, each with its shadows.
    let mut sources = vec![GlobalSource::Uniform(0); program.interface().global_words()];
    let globals = [
        GlobalSource::Varying {
            words: &x,
            stride: 1,
        },
        GlobalSource::Varying {
            words: &y,
            stride: 1,
        },
        GlobalSource::Uniform(1.0_f32.to_bits()),
    ];
    for (at, source) in globals.into_iter().enumerate() {
        sources[3 * at] = source;
    }
    let scalars = program.output_lanes().len();
    let mut planes = vec![Vec::new(); scalars];
    for first in (0..POINTS).step_by(WIDTH) {
        let mut host = ConstantTexture([0.0; 4]);
        machine.run(&sources, &[1.25_f32.to_bits()], first, WIDTH, &mut host);
        for point in 0..WIDTH {
            assert_eq!(machine.outcomes()[point], Outcome::Finished);
            for (scalar, plane) in planes.iter_mut().enumerate() {
                plane.push(machine.output(scalar, 0, point));
            }
        }
    }
    let sums = planes.iter().map(|plane| {
        let mut sum = ExactSum::default();
        plane.iter().for_each(|&bits| sum.add(f32::from_bits(bits)));
        sum.to_f64().to_bits()
    });
    let sums = sums.collect();
    let by_curve = memory.sums().of(BufferId(1)).map(f64::to_bits).collect();
    GradientBits {
        planes,
        sums,
        by_curve,
    }
}

/// A gradient over all points.
#[derive(Debug, PartialEq)]
struct GradientBits {
    /// By output, then by point.
    planes: Vec<Vec<u32>>,
    /// By output.
    sums: Vec<u64>,
    /// By number of the curve.
    by_curve: Vec<u64>,
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn gradient_sums_match_interpreter() {
    if !SimdLevel::Avx2.is_available() {
        return;
    }
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let mut module = parse(FIT, FileId::MAIN).expect("it is well-formed");
    let derivative = EntryDerivative {
        mode: DifferentiationMode::Backward,
        outputs: vec![0],
        inputs: vec![0],
        globals: Vec::new(),
        buffers: vec![0],
        textures: Vec::new(),
        nested: 0,
        passes_shadows: false,
    };
    passes::differentiate_entry(&mut module, &derivative);
    passes::differentiate(&mut module).expect("it is differentiable");
    let (module, _) = passes::run(module, &PassOptions::default());
    let program = Arc::new(lower(&module).expect("the module fits"));
    let mut numbers = BufferSet::new(&module.buffers);
    numbers.set(BufferId(0), CURVE.to_vec().into());
    let numbers = Arc::new(numbers);

    *kernels() = Some(EmulatedKernels {
        emulator,
        segments: Vec::new(),
        calls: 0,
    });
    let expected = gradient(&program, &numbers, false);
    let found = gradient(&program, &numbers, true);
    assert_eq!(found, expected);
    let sums = expected.sums.iter().chain(&expected.by_curve);
    let sums: Vec<f64> = sums.map(|&bits| f64::from_bits(bits)).collect();
    assert!(sums.iter().take(7).all(|sum| *sum != 0.0), "{sums:?}");
    let kernels = kernels().take().expect("it was set");
    let instructions = kernels.segments.iter().flatten();
    let instructions: usize = instructions.map(|(s, _)| s.instructions.len()).sum();
    assert!(kernels.calls >= POINTS / WIDTH, "{} calls", kernels.calls);
    assert!(instructions > 20, "{instructions} instructions\n{program}");
}
