//! Loops, calls, limits on both.

use super::*;

#[test]
fn loops_carry_all_values_at_once() {
    // Swaps two values n times and counts the iterations.
    let fibonacci = int_shader(
        "%0: i32 = global n[0] %1: i32 = const 0 %2: i32 = const 1
         %3: i32 = loop ^1 (%4: i32 = %1, %5: i32 = %2, %6: i32 = %0) {
           %7: bool = ile %6, %1
           if %7 ^2 { break ^1 %4 } else ^3 { yield }
           %8: i32 = iadd %4, %5
           %9: i32 = isub %6, %2
           continue ^1 %5, %8, %9
         }
         return %3",
        "",
    );
    for (n, expected) in [(0, 0), (1, 1), (2, 1), (10, 55)] {
        assert_eq!(
            int_output(&fibonacci, n, Limits::default()),
            (expected, vec![])
        );
    }
    let outcome = run(
        &fibonacci,
        &point([0.0_f32; 3], [0.0; 3], 10),
        EvalOptions::default(),
    );
    assert_eq!((outcome.steps, outcome.tally.iterations), (11, 10));
}

#[test]
fn a_loop_carries_shadows() {
    // a·b³, by a loop.
    let power = float_shader(
        "%0: f32:xy = global a[0] %1: f32:xy = global b[0] %2: i32 = const 3 %3: i32 = const 1 %4: i32 = const 0
         %5: f32:xy = loop ^1 (%6: f32:xy = %0, %7: i32 = %2) {
           %8: bool = ile %7, %4
           if %8 ^2 { break ^1 %6 } else ^3 { yield }
           %9: f32:xy = mul %6, %1
           %10: i32 = isub %7, %3
           continue ^1 %9, %10
         }
         return %5",
    );
    let slot = output(&power, ShadowMode::Annotated);
    assert_eq!(slot.float, 54.0);
    assert_eq!(slot.shadows, [27.0 * 0.5 + 2.0 * 27.0, 27.0 * -0.25]);
    assert_eq!(slot, output(&power, ShadowMode::Full));
}

#[test]
fn breaks_and_continues_leave_several_regions() {
    // Counts pairs i < n, j < i by two loops; leaves both at i = 4 through a block.
    let pairs = int_shader(
        "%0: i32 = global n[0] %1: i32 = const 0 %2: i32 = const 1 %15: i32 = const 4
         %3: i32 = block ^1 {
           loop ^2 (%4: i32 = %1, %5: i32 = %1) {
             %6: bool = ile %0, %4
             if %6 ^3 { break ^1 %5 } else ^4 { yield }
             %7: bool = ieq %4, %15
             if %7 ^5 { %8: i32 = ineg %5 break ^1 %8 } else ^6 { yield }
             %9: i32 = iadd %4, %2
             loop ^7 (%10: i32 = %1, %11: i32 = %5) {
               %12: bool = ile %4, %10
               if %12 ^8 { continue ^2 %9, %11 } else ^9 { yield }
               %13: i32 = iadd %10, %2
               %14: i32 = iadd %11, %2
               continue ^7 %13, %14
             }
             unreachable
           }
           unreachable
         }
         return %3",
        "",
    );
    for (n, expected) in [(0, 0), (3, 3), (4, 6), (5, -6)] {
        assert_eq!(
            int_output(&pairs, n, Limits::default()),
            (expected, vec![]),
            "n = {n}"
        );
    }
}

pub(super) const TRIANGLE: &str = "fn tri(%0: i32) -> (i32) @100..200 ^0 {
    %1: i32 = const 0 %2: bool = ieq %0, %1
    if %2 ^1 { return %1 } else ^2 { yield }
    %3: i32 = const 1 %4: i32 = isub %0, %3
    %5: i32 = call tri(%4) @110..120
    %6: i32 = iadd %0, %5
    return %6
}";

#[test]
fn functions_recurse_within_the_limits() {
    let tri = int_shader(
        "%0: i32 = global n[0] %1: i32 = call tri(%0) @10..20 return %1",
        TRIANGLE,
    );
    assert_eq!(int_output(&tri, 10, Limits::default()), (55, vec![]));
    let outcome = run(
        &tri,
        &point([0.0_f32; 3], [0.0; 3], 10),
        EvalOptions::default(),
    );
    assert_eq!(outcome.steps, 12);

    // The shader, and tri for 10 to 0: twelve functions entered, twelve active at once.
    let steps = |steps| Limits {
        steps,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 10, steps(12)).0, 55);
    assert_eq!(
        int_output(&tri, 10, steps(11)),
        (0, vec![FaultKind::StepBudget])
    );
    assert_eq!(
        int_output(&tri, 10, steps(0)),
        (0, vec![FaultKind::StepBudget])
    );
    let depth = |call_depth| Limits {
        call_depth,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 10, depth(12)).0, 55);
    assert_eq!(
        int_output(&tri, 10, depth(11)),
        (0, vec![FaultKind::CallDepth])
    );
    assert_eq!(
        int_output(&tri, -1, Limits::default()),
        (0, vec![FaultKind::CallDepth])
    );

    let endless = run(
        &tri,
        &point([0.0_f32; 3], [0.0; 3], -1),
        EvalOptions::default(),
    );
    assert_eq!(endless.faults.stopped().unwrap().span.start, 110);
}

#[test]
fn calls_do_not_use_the_host_stack() {
    let tri = int_shader(
        "%0: i32 = global n[0] %1: i32 = call tri(%0) return %1",
        TRIANGLE,
    );
    let limits = Limits {
        call_depth: u32::MAX,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 16_000, limits), (128_008_000, vec![]));
    let too_deep = (0, vec![FaultKind::CallDepth]);
    assert_eq!(int_output(&tri, MAX_CALL_DEPTH as i32, limits), too_deep);
}

#[test]
fn an_endless_loop_is_stopped() {
    let endless = int_shader("loop ^1 { continue ^1 @5..6 } unreachable", "");
    let limits = Limits {
        steps: 1000,
        ..Limits::default()
    };
    assert_eq!(
        int_output(&endless, 0, limits),
        (0, vec![FaultKind::StepBudget])
    );
}

#[test]
fn unreachable_code_that_is_reached_stops_the_point() {
    let module = int_shader("unreachable", "");
    assert_eq!(
        int_output(&module, 0, Limits::default()),
        (0, vec![FaultKind::Unreachable])
    );
}
