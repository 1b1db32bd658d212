//! Tapes: limits at the same record in all machines, parked points, memory that is reused.

use crate::memory::requests;
use crate::support::*;
use adumbra_ir::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use adumbra_ir::host::{ConstantTexture, FaultKind, Host, Limits, SampleRequest, Sampled};
use adumbra_vm::{
    BatchMachine, BatchOptions, Bytecode, GlobalSource, Outcome, Parked, PointMachine,
};
use std::sync::Arc;

/// Keeps 1 to n, then adds them in the order in which they are taken: s = 3·s + record.
const REVERSE: &str = "
    record (i32)
    global n: int
    output s: int
    entry main
    fn main() -> (i32) ^0 {
        %0: i32 = global n[0]
        %1: i32 = const 0
        %2: i32 = const 1
        %3: i32 = const 3
        loop ^1 (%4: i32 = %2) {
            %5: bool = ile %4, %0
            if %5 ^2 { yield } else ^3 { break ^1 }
            keep 0 #0(%4) @7..8
            %6: i32 = iadd %4, %2
            continue ^1 %6
        }
        %7: i32 = loop ^4 (%8: i32 = %0, %9: i32 = %1) {
            %10: bool = ilt %1, %8
            if %10 ^5 { yield } else ^6 { break ^4 %9 }
            %11: i32 = take 0 #0 @9..10
            %12: i32 = imul %9, %3
            %13: i32 = iadd %12, %11
            %14: i32 = isub %8, %2
            continue ^4 %14, %13
        }
        return %7
    }";

fn expected(n: i32) -> u32 {
    let sum = |s: i32, i| s.wrapping_mul(3).wrapping_add(i);
    (1..=n).rev().fold(0, sum) as u32
}

/// Outcome, output and fault of each point, in chunks of that width.
fn in_chunks(
    program: &Arc<Bytecode>,
    limits: Limits,
    width: usize,
    n: &[u32],
) -> Vec<(Outcome, u32, Option<FaultKind>)> {
    let options = BatchOptions {
        width: Some(width),
        ..BatchOptions::default()
    };
    let mut machine = BatchMachine::new(program.clone(), limits, &options);
    let zero = GlobalSource::Uniform(0);
    let sources = [
        GlobalSource::Varying {
            words: n,
            stride: 1,
        },
        zero,
        zero,
    ];
    let mut all = Vec::new();
    for first in (0..n.len()).step_by(width) {
        let points = width.min(n.len() - first);
        machine.run(&sources, &[], first, points, &mut ConstantTexture([0.0; 4]));
        all.extend((0..points).map(|point| {
            let fault = machine.faults(point).stopped().map(|fault| fault.kind);
            let outcome = machine.outcomes()[point];
            (outcome, machine.output(0, 0, point), fault)
        }));
    }
    all
}

#[test]
fn record_beyond_the_limit_stops_every_machine() {
    let program = Arc::new(bytecode(REVERSE));
    for kept_words in [0, 1, 5, 6] {
        let limits = Limits {
            kept_words,
            ..Limits::default()
        };
        let mut machine = PointMachine::new(program.clone(), limits);
        let all: Vec<u32> = (0..20).collect();
        let alone = all.iter().map(|&n| {
            let outcome = machine.run(&[n, 0, 0], &[], &mut ConstantTexture([0.0; 4]));
            let fault = machine.faults().stopped();
            assert!(fault.is_none_or(|fault| fault.span.start == 7));
            (outcome, machine.outputs()[0], fault.map(|fault| fault.kind))
        });
        let alone: Vec<_> = alone.collect();
        for (&n, shown) in all.iter().zip(&alone) {
            let wanted = match n <= kept_words {
                true => (Outcome::Finished, expected(n as i32), None),
                false => (Outcome::Stopped, 0, Some(FaultKind::KeptWords)),
            };
            assert_eq!(*shown, wanted, "{n} {kept_words}");
        }
        for width in [1, 3, 8, 20] {
            assert_eq!(in_chunks(&program, limits, width, &all), alone, "{width}");
        }
    }
}

#[test]
fn taken_records_leave_the_limit() {
    let text = "
        record (i32)
        global n: int
        output s: int
        entry main
        fn main() -> (i32) ^0 {
            %0: i32 = global n[0]
            %1: i32 = const 0
            %2: i32 = const 1
            %3: i32 = loop ^1 (%4: i32 = %1, %5: i32 = %1) {
                %6: bool = ilt %4, %0
                if %6 ^2 { yield } else ^3 { break ^1 %5 }
                keep 0 #0(%4) @7..8
                %7: i32 = take 0 #0 @9..10
                %8: i32 = iadd %5, %7
                %9: i32 = iadd %4, %2
                continue ^1 %9, %8
            }
            return %3
        }";
    let program = Arc::new(bytecode(text));
    let limits = Limits {
        kept_words: 1,
        ..Limits::default()
    };
    let mut machine = PointMachine::new(program.clone(), limits);
    let outcome = machine.run(&[5, 0, 0], &[], &mut ConstantTexture([0.0; 4]));
    assert_eq!((outcome, machine.outputs()[0]), (Outcome::Finished, 10));
    for width in [1, 4] {
        let given = in_chunks(&program, limits, width, &[5, 3, 5, 0]);
        let sums: Vec<u32> = given.iter().map(|point| point.1).collect();
        assert_eq!(sums, [10, 3, 10, 0]);
        assert!(given.iter().all(|point| point.2.is_none()), "{given:?}");
    }
}

#[test]
fn vectors_at_different_levels_take_their_own_records() {
    let program = Arc::new(bytecode(REVERSE));
    let n: Vec<u32> = [[3; 32], [5; 32]].concat();
    let given = in_chunks(&program, Limits::default(), n.len(), &n);
    for (&n, point) in n.iter().zip(given) {
        assert_eq!(point, (Outcome::Finished, expected(n as i32), None), "{n}");
    }
}

/// A chunk of that width has no memory for a million records: its points bail out.
#[test]
#[cfg_attr(miri, ignore = "millions of iterations take hours")]
fn million_records_are_the_same_everywhere() {
    let module = module(REVERSE);
    let program = Arc::new(bytecode(REVERSE));
    let n = [1_000_000_u32, 999_999, 5, 1_000_000, 4_194_305, 70_000];
    let limits = Limits {
        steps: 1 << 24,
        ..Limits::default()
    };
    let wanted = n.map(|n| match n <= limits.kept_words {
        true => (Outcome::Finished, expected(n as i32), None),
        false => (Outcome::Stopped, 0, Some(FaultKind::KeptWords)),
    });
    let mut machine = PointMachine::new(program.clone(), limits);
    for (n, wanted) in n.into_iter().zip(wanted) {
        let outcome = machine.run(&[n, 0, 0], &[], &mut ConstantTexture([0.0; 4]));
        let fault = machine.faults().stopped().map(|fault| fault.kind);
        assert_eq!((outcome, machine.outputs()[0], fault), wanted, "{n}");
        let mut point = EvalPoint::<f32>::new(&module);
        point.globals[0] = EvalValue::word(n);
        let options = EvalOptions {
            limits,
            ..EvalOptions::default()
        };
        let evaluated = evaluate(&module, &point, &options, &mut ConstantTexture([0.0; 4]));
        let fault = evaluated.faults.stopped().map(|fault| fault.kind);
        assert_eq!(
            (evaluated.outputs[0].word, fault),
            (wanted.1, wanted.2),
            "{n}"
        );
    }
    for width in [1, 6, 512] {
        assert_eq!(in_chunks(&program, limits, width, &n), wanted, "{width}");
    }
}

/// Never has a texel at once.
struct Absent;

impl Host for Absent {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

/// Keeps n records, samples, and takes one.
const WAITING: &str = "
    record (f32:xy, i32)
    global x: float
    texture wood
    input n: int = 0
    output o: float
    entry main
    fn main(%0: i32) -> (f32:xy) ^0 {
        %1: f32:xy = global x[0]
        %2: i32 = const 1
        loop ^1 (%3: i32 = %2) {
            %4: bool = ile %3, %0
            if %4 ^2 { yield } else ^3 { break ^1 }
            keep 0 #0(%1, %3)
            %5: i32 = iadd %3, %2
            continue ^1 %5
        }
        %6: f32, %7: f32, %8: f32, %9: f32 = sample wood(%1, %1)
        %10: f32:xy, %11: i32 = take 0 #0
        %12: f32 = i2f %11
        %13: f32:xy = mul %10, %12
        %14: f32:xy = add %13, %9
        return %14
    }";

#[test]
fn parked_point_has_its_tapes_and_they_are_counted() {
    let program = Arc::new(bytecode(WAITING));
    let mut machines = [(); 2].map(|()| PointMachine::new(program.clone(), Limits::default()));
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let mut parked = [Parked::default(), Parked::default()];
    for (n, into) in [1_000, 3].into_iter().zip(&mut parked) {
        assert_eq!(
            machines[0].run(&globals, &[n], &mut Absent),
            Outcome::Pending
        );
        let memory = machines[0].parked_memory(into);
        machines[0].park(into);
        assert_eq!(into.memory(), memory);
    }
    // Four words each.
    let [long, short] = parked.each_ref().map(Parked::memory);
    assert_eq!(long - short, 997 * 16);
    for (n, from) in [1_000.0, 3.0].into_iter().zip(&mut parked) {
        machines[1].unpark(from);
        let outcome = machines[1].answer([0.25; 4], &mut Absent);
        assert_eq!(outcome, Outcome::Finished, "{:?}", machines[1].faults());
        assert_eq!(floats(&machines[1]), [[0.5 * n + 0.25, n, 2.0 * n]]);
    }
}

#[test]
fn next_point_has_empty_tapes() {
    let text = "
        record (i32)
        input n: int = 0
        output o: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            %1: i32 = const 0
            %2: bool = ilt %1, %0
            if %2 ^1 { keep 0 #0(%0) keep 0 #0(%0) yield } else ^2 { yield }
            %3: i32 = take 0 #0
            return %3
        }";
    let mut machine = machine(text);
    for n in [0, 5, 0, 7, 0_u32] {
        let outcome = run(&mut machine, &[], &[n]);
        let stops = n == 0;
        assert_eq!(outcome == Outcome::Stopped, stops, "{n}");
        assert_eq!(machine.outputs()[0], n);
        let fault = machine.faults().stopped().map(|fault| fault.kind);
        assert_eq!(fault, stops.then_some(FaultKind::NothingKept));
    }
}

#[test]
fn tapes_that_have_grown_allocate_nothing() {
    let program = Arc::new(bytecode(REVERSE));
    let mut texture = ConstantTexture([0.0; 4]);
    let mut machine = PointMachine::new(program.clone(), Limits::default());
    machine.run(&[1_000, 0, 0], &[], &mut texture);
    let options = BatchOptions {
        width: Some(64),
        ..BatchOptions::default()
    };
    let mut batch = BatchMachine::new(program, Limits::default(), &options);
    let n: Vec<u32> = (0..64).map(|i| i * 37 % 1_000).collect();
    let zero = GlobalSource::Uniform(0);
    let varying = GlobalSource::Varying {
        words: &n,
        stride: 1,
    };
    let mut run = |sources: &[GlobalSource<'_>]| batch.run(sources, &[], 0, 64, &mut texture);
    run(&[varying, zero, zero]);
    let before = requests();
    for n in [3, 1_000, 0, 999] {
        machine.run(&[n, 0, 0], &[], &mut ConstantTexture([0.0; 4]));
        assert_eq!(machine.outputs()[0], expected(n as i32));
    }
    run(&[varying, zero, zero]);
    assert_eq!(requests() - before, 0);
}
