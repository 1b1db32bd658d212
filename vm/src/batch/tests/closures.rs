//! Closures by plane against those of arenas: loops, branches, calls, empty closures, points that
//! leave.

use super::*;
use crate::batch::GlobalSource;

/// What is made depends on x and n. Where x is above 1.9, the point leaves at a recursive call.
const TEXT: &str = "adumbra ir 1
    resource tab
    resource tub
    closure glow(float, int, shader_resource)
    closure coat(closure, float)
    closure base()
    global x: float global n: int
    output c: closure output d: closure
    entry main
    fn main() -> (closure, closure) ^0 {
        %0: f32 = global x[0]
        %1: i32 = global n[0]
        %2: resource = resource tub
        %3: f32 = const 0.0
        %4: f32 = const 1.9
        %5: i32 = const 0
        %6: i32 = const 1
        %7: closure = const empty
        %8: bool = flt %3, %0
        %9: closure = if %8 ^1 {
            %10: closure = make_closure glow(%0, %1, %2)
            yield %10
        } else ^2 { yield %7 }
        %11: closure = make_closure base()
        %12: closure = closure_scale %9, %0
        %13: closure = closure_add %12, %11
        %14: closure = closure_add %7, %13
        %15: bool = flt %4, %0
        %16: closure = if %15 ^3 {
            %17: closure = call coated(%14, %1)
            yield %17
        } else ^4 { yield %14 }
        %18: closure = loop ^5 (%19: i32 = %5, %20: closure = %16) {
            %21: bool = ilt %19, %1
            if %21 ^6 { yield } else ^7 { break ^5 %20 }
            %22: closure = make_closure coat(%20, %0)
            %23: closure = closure_scale %22, %0, %4, %3
            %24: closure = closure_add %20, %23
            %25: i32 = iadd %19, %6
            continue ^5 %25, %24
        }
        %26: closure = make_closure coat(%9, %0)
        return %18, %26
    }
    fn coated(%0: closure, %1: i32) -> (closure) ^0 {
        %2: i32 = const 2
        %3: i32 = const 1
        %4: bool = ilt %1, %2
        %5: closure = if %4 ^1 { yield %0 } else ^2 {
            %6: i32 = isub %1, %3
            %7: closure = call coated(%0, %6)
            %8: closure = closure_add %7, %0
            yield %8
        }
        return %5
    }";

fn case(seed: u64, x: impl Fn(usize) -> f32, n: impl Fn(usize) -> u32) -> Case {
    let module = parse(TEXT, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}"));
    adumbra_ir::verify(&module).expect("it is sound");
    let mut case = Case::of(&module, seed, 100);
    case.globals[0] = (0..100).map(|point| x(point).to_bits()).collect();
    case.globals[3] = (0..100).map(n).collect();
    case
}

#[test]
fn closures_of_points_are_their_own_at_every_width() {
    let nan = f32::from_bits(0xffc1_2345);
    for (seed, width) in [1, 3, 8, 17, 64, 100, 512].into_iter().enumerate() {
        let same = case(seed as u64, |_| 1.5, |_| 5);
        let few_leave = case(seed as u64, |i| if i == 40 { 2.0 } else { 0.5 }, |_| 3);
        let most_leave = case(seed as u64, |i| if i % 10 == 1 { 1.0 } else { 3.0 }, |_| 4);
        let runs = case(
            seed as u64,
            |i| [0.5, nan, -1.0, 1.0][i / 20 % 4],
            |i| i as u32 / 24,
        );
        let mixed = case(
            seed as u64,
            |i| i as f32 % 7.0 / 2.0 - 1.0,
            |i| i as u32 % 5,
        );
        for mut case in [same, few_leave, most_leave, runs, mixed] {
            for closure_size in [100_000, 30, 12, 5, 1, 0] {
                case.limits.closure_size = closure_size;
                check(&case, seed as u64, width);
            }
        }
    }
}

/// The machine after a run of all points.
fn ran(case: &Case) -> BatchMachine {
    let options = BatchOptions {
        width: Some(100),
        ..BatchOptions::default()
    };
    let mut machine = BatchMachine::new(case.program.clone(), LIMITS, &options);
    let words = case.globals.iter();
    let sources: Vec<_> = words
        .map(|words| GlobalSource::Varying { words, stride: 1 })
        .collect();
    machine.run(&sources, &[], 0, 100, &mut Recorder::default());
    machine
}

#[test]
fn points_that_make_the_same_nodes_have_no_lists() {
    let apart = |case| ran(&case).chunk.results.closures.are_apart();
    let x = |point: usize| 0.5 + point as f32 / 100.0;
    assert!(!apart(case(0, x, |_| 5)));
    assert!(!apart(case(0, |point| -x(point), |_| 2)));
    let leaves = |point| if point == 99 { 2.0 } else { x(point) };
    assert!(
        !apart(case(0, leaves, |_| 3)),
        "one is gone when the others go on"
    );
    assert!(apart(case(0, x, |point| point as u32 % 3)));
    assert!(apart(case(0, |point| x(point) - 1.0, |_| 2)));
}

#[test]
fn memory_of_closures_is_reused() {
    let case = case(0, |point| point as f32 / 60.0, |point| point as u32 % 4);
    let mut machine = ran(&case);
    let words = case.globals.iter();
    let sources: Vec<_> = words
        .map(|words| GlobalSource::Varying { words, stride: 1 })
        .collect();
    let mut shown = |first: usize, points: usize| {
        machine.run(&sources, &[], first, points, &mut Recorder::default());
        let closures = (0..points).map(|point| format!("{:?}", machine.closures(point)));
        let closures: Vec<String> = closures.collect();
        assert_eq!(machine.closures(points).count(), 0);
        (closures, machine.memory())
    };
    let (all, _) = shown(0, 100);
    let (some, memory) = shown(30, 40);
    assert_eq!(some, all[30..70]);
    let (again, same) = shown(0, 100);
    assert_eq!((again, same), (all, memory));
}
