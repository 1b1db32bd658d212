//! Tapes: order, kinds of record, shadows, limits.

use super::*;

/// Keeps 1 to n, takes them again, and gives the digits in the order in which they came.
const REVERSE: &str =
    "%0: i32 = global n[0] %1: i32 = const 0 %2: i32 = const 1 %14: i32 = const 10
     loop ^1 (%3: i32 = %2) {
       %4: bool = ile %3, %0
       if %4 ^2 { yield } else ^3 { break ^1 }
       keep 0 #0(%3) @7..8
       %5: i32 = iadd %3, %2
       continue ^1 %5
     }
     %6: i32 = loop ^4 (%7: i32 = %0, %8: i32 = %1) {
       %9: bool = ilt %1, %7
       if %9 ^5 { yield } else ^6 { break ^4 %8 }
       %10: i32 = take 0 #0
       %11: i32 = imul %8, %14
       %12: i32 = iadd %11, %10
       %13: i32 = isub %7, %2
       continue ^4 %13, %12
     }
     return %6";

fn with_records(records: &str, body: &str) -> Module {
    let main = format!("fn main() -> (i32) ^0 {{ {body} }}");
    module(&main, &format!("{records} output o: int"))
}

#[test]
fn last_record_is_taken_first() {
    let module = with_records("record (i32)", REVERSE);
    for (n, expected) in [(0, 0), (1, 1), (5, 54_321)] {
        assert_eq!(
            int_output(&module, n, Limits::default()),
            (expected, vec![])
        );
    }
}

#[test]
fn tapes_and_kinds_of_record_are_apart() {
    let body = "%0: i32 = const 1 %1: i32 = const 2 %2: i32 = const 3 %10: i32 = const 10
         keep 0 #0(%0) keep 1 #0(%1) keep 0 #1(%2)
         %3: i32 = take 0 #0 %4: i32 = take 1 #0 %5: i32 = take 0 #1
         %6: i32 = imul %3, %10 %7: i32 = iadd %6, %4
         %8: i32 = imul %7, %10 %9: i32 = iadd %8, %5
         return %9";
    let module = with_records("record (i32) record (i32)", body);
    assert_eq!(int_output(&module, 0, Limits::default()), (123, vec![]));
}

#[test]
fn missing_record_stops_the_point() {
    for body in [
        "%0: i32 = take 0 #0 return %0",
        "%0: i32 = const 1 keep 0 #1(%0) %1: i32 = take 0 #0 return %1",
        "%0: i32 = const 1 keep 1 #0(%0) %1: i32 = take 0 #0 return %1",
        "%0: i32 = const 1 keep 0 #0(%0) %1: i32 = take 0 #0 %2: i32 = take 0 #0 return %2",
    ] {
        let module = with_records("record (i32) record (i32)", body);
        let expected = (0, vec![FaultKind::NothingKept]);
        assert_eq!(
            int_output(&module, 0, Limits::default()),
            expected,
            "{body}"
        );
    }
}

#[test]
fn kept_words_are_limited() {
    let module = with_records("record (i32)", REVERSE);
    let limit = |kept_words| Limits {
        kept_words,
        ..Limits::default()
    };
    assert_eq!(int_output(&module, 3, limit(3)), (321, vec![]));
    assert_eq!(
        int_output(&module, 3, limit(2)),
        (0, vec![FaultKind::KeptWords])
    );
    assert_eq!(
        limit(u32::MAX).bounded().kept_words,
        crate::host::MAX_KEPT_WORDS
    );
    // What was taken does not count, and shadows do not.
    let again = "%0: f32:xy = global a[0] keep 0 #0(%0) %1: f32:xy = take 0 #0
         keep 0 #0(%1) %2: f32:xy = take 0 #0 return %2";
    let again = super::module(
        &format!("fn main() -> (f32:xy) ^0 {{ {again} }}"),
        "record (f32:xy) output o: float",
    );
    let options = EvalOptions {
        limits: limit(1),
        ..EvalOptions::default()
    };
    let outcome = run(&again, &point([2.0_f32, 0.5, -0.25], [0.0; 3], 0), options);
    assert_eq!(outcome.faults.stopped(), None);
    assert_eq!(outcome.outputs[0], EvalValue::float(2.0, [0.5, -0.25]));
}

#[test]
fn record_keeps_its_lanes_and_wide_numbers() {
    let module = |lanes: &str| {
        let body = "%0: f32:xy = global a[0] keep 0 #0(%0)";
        let body = format!("{body} %1: f32{lanes} = take 0 #0 return %1");
        super::module(
            &format!("fn main() -> (f32{lanes}) ^0 {{ {body} }}"),
            &format!("record (f32{lanes}) output o: float"),
        )
    };
    let value = 0.1_f64;
    for (lanes, shadows) in [("", [0.0; 2]), (":x", [0.5, 0.0]), (":xy", [0.5, -0.25])] {
        let point = point([value, 0.5, -0.25], [0.0; 3], 0);
        let outcome = run(&module(lanes), &point, EvalOptions::default());
        assert_eq!(
            outcome.outputs[0],
            EvalValue::float(value, shadows),
            "{lanes}"
        );
    }
}
