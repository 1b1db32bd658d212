//! Arrays: elements, modes, indices, limits.

use super::*;

#[test]
fn arrays_follow_passing_modes() {
    // fill reads the first, writes the second, does both with the third.
    let module = int_shader(
        "array &0: i32[3] array &1: i32[3] array &2: i32[3]
         %0: i32 = const 1 %1: i32 = const 7 %2: i32 = const 100 %3: i32 = const 0
         store &0[%0], %1 store &1[%0], %1 store &2[%0], %1 store &1[%3], %1
         call fill(%0) [&0, &1, &2]
         %4: i32 = load &0[%0] %5: i32 = load &1[%0] %6: i32 = load &2[%0] %7: i32 = load &1[%3]
         %8: i32 = imul %4, %2 %9: i32 = iadd %8, %5 %10: i32 = imul %9, %2 %11: i32 = iadd %10, %6
         %12: i32 = imul %11, %2 %13: i32 = iadd %12, %7
         return %13",
        "fn fill(%0: i32) -> () ^0 {
           array &0 in: i32[3] array &1 out: i32[3] array &2 inout: i32[3]
           %1: i32 = load &0[%0] %2: i32 = load &1[%0] %3: i32 = load &2[%0]
           %4: i32 = iadd %1, %2 %5: i32 = iadd %3, %1
           store &0[%0], %5 store &1[%0], %4 store &2[%0], %5
           return
         }",
    );
    // In: unchanged 7. Out: zero on entry, so 7 + 0. Inout: 7 + 7. Out again: what was not written
    // is zero.
    assert_eq!(
        int_output(&module, 0, Limits::default()),
        (7_07_14_00, vec![])
    );
}

#[test]
fn arrays_hold_assigned_shadows() {
    let text = "array &0: f32:x[2] array &1: f32:xy[2]
         %0: f32:xy = global a[0] %1: i32 = const 1
         store &0[%1], %0 array_copy &1, &0 %2: f32:xy = load &1[%1] return %2";
    assert_eq!(
        output(&float_shader(text), ShadowMode::Annotated).shadows,
        [0.5, 0.0]
    );
    assert_eq!(
        output(&float_shader(text), ShadowMode::Full).shadows,
        [0.5, -0.25]
    );
    let zeroed = text.replace("array_copy", "array_zero &0 array_copy");
    assert_eq!(
        output(&float_shader(&zeroed), ShadowMode::Full),
        EvalValue::default()
    );
}

#[test]
fn a_part_of_an_array_is_copied_to_or_from_a_shorter_one() {
    let read = |start: i32, at: i32| {
        let module = module(
            &format!(
                "fn main() -> (i32) ^0 {{ array &0: i32[5] array &1: i32[2]
                   %0: i32 = const 1 %1: i32 = const 3 %2: i32 = const 4 %3: i32 = const {start} %4: i32 = const {at} %6: i32 = const 0
                   store &0[%1], %1 store &0[%2], %2 array_copy &1, &0, %1
                   array_copy &0, &1, %3 array_copy &0, &0, %2 %5: i32 = load &0[%4] return %5 }}"
            ),
            "output o: int",
        );
        int_output(&module, 0, Limits::default())
    };
    assert_eq!([0, 1, 2, 3, 4].map(|at| read(1, at).0), [0, 3, 4, 3, 4]);
    assert_eq!([0, 1].map(|at| read(-7, at).0), [3, 4]);
    assert_eq!([2, 3, 4].map(|at| read(9, at).0), [0, 3, 4]);
    assert_eq!(read(9, 3).1, []);
}

#[test]
fn calls_pass_common_lanes() {
    let with = |param: &str, result: &str, array: &str| {
        let module = module(
            &format!(
                "fn main() -> (f32:xy) ^0 {{ array &0: f32:xy[1]
                   %0: f32:xy = global a[0] %1: i32 = const 0 store &0[%1], %0
                   %2: f32{result} = call same(%0) [&0]
                   %3: f32:xy = load &0[%1] %4: f32:xy = add %2, %3 return %4 }}
                 fn same(%0: f32{param}) -> (f32{result}) ^0 {{ array &0 inout: f32{array}[1] return %0 }}"
            ),
            "output o: float",
        );
        output(&module, ShadowMode::Annotated).shadows
    };
    assert_eq!(with(":xy", ":xy", ":xy"), [1.0, -0.5]);
    assert_eq!(with(":xy", ":x", ":y"), [0.5, -0.25]);
    assert_eq!(with(":x", ":x", ""), [0.5, 0.0]);
    assert_eq!(with("", "", ":xy"), [0.5, -0.25]);
}

#[test]
fn indices_are_clamped_and_faults_come_in_order() {
    let module = int_shader(
        "array &0: i32[3] %0: i32 = global n[0] %1: i32 = const 2 %2: i32 = const 9 %3: i32 = const 0
         store &0[%1], %2 @1..2
         %4: i32 = load &0[%0] @3..4
         %5: i32 = idiv %4, %3 @5..6
         %6: i32 = load &0[%0] @3..4
         return %4",
        "",
    );
    use FaultKind::*;
    let limits = Limits::default();
    assert_eq!(int_output(&module, 2, limits), (9, vec![DivisionByZero]));
    assert_eq!(
        int_output(&module, 3, limits),
        (9, vec![IndexOutOfRange, DivisionByZero])
    );
    assert_eq!(
        int_output(&module, i32::MIN, limits),
        (0, vec![IndexOutOfRange, DivisionByZero])
    );
    let outcome = run(
        &module,
        &point([0.0_f32; 3], [0.0; 3], 3),
        EvalOptions::default(),
    );
    let starts: Vec<u32> = outcome.faults.iter().map(|f| f.span.start).collect();
    assert_eq!(starts, [3, 5]);
}

#[test]
fn a_store_out_of_range_is_clamped_too() {
    let module = int_shader(
        "array &0: i32[3] %0: i32 = global n[0] %1: i32 = const 9 store &0[%0], %1
         %2: i32 = const 0 %3: i32 = load &0[%2] return %3",
        "",
    );
    let limits = Limits::default();
    assert_eq!(
        int_output(&module, -1, limits),
        (9, vec![FaultKind::IndexOutOfRange])
    );
    assert_eq!(
        int_output(&module, 7, limits),
        (0, vec![FaultKind::IndexOutOfRange])
    );
}

#[test]
fn array_elements_are_limited_over_all_frames() {
    let module = int_shader(
        "array &0: i32[6] %0: i32 = const 1 call inner() [&0] call inner() [&0] return %0",
        "fn inner() -> () ^0 { array &0 in: i32[6] array &1: i32[4] return }",
    );
    let limits = |array_elements| Limits {
        array_elements,
        ..Limits::default()
    };
    assert_eq!(int_output(&module, 0, limits(16)), (1, vec![]));
    assert_eq!(
        int_output(&module, 0, limits(15)),
        (0, vec![FaultKind::ArraySize])
    );
    assert_eq!(
        int_output(&module, 0, limits(5)),
        (0, vec![FaultKind::ArraySize])
    );
}
