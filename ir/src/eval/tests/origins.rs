//! Tests of NaN origins.

use super::*;
use crate::eval::{MAX_NAN_ORIGINS, NanOrigin};

/// The origins of value, ddx and ddy of the only output, by the first byte of each span; at a = -1
/// (+1 x), b = infinity (+1 x).
fn origins(module: &Module) -> [Option<u32>; 3] {
    let point = point([-1.0, 1.0, 0.0], [f32::INFINITY, 1.0, 0.0], 1);
    let with = |origins| {
        let options = EvalOptions {
            origins,
            ..EvalOptions::default()
        };
        run(module, &point, options)
    };
    let (with_origins, plain) = (with(true), with(false));
    // Requesting origins changes no output.
    let bits = |outcome: &EvalOutcome| outcome.outputs[0].float.to_bits();
    assert_eq!(bits(&with_origins), bits(&plain));
    assert_eq!(plain.origins, [NanOrigin::default()]);
    with_origins.origins[0].map(|span| span.map(|span| span.start))
}

fn of_float(body: &str) -> [Option<u32>; 3] {
    origins(&float_shader(body))
}

#[test]
fn first_nan_is_the_origin() {
    let text =
        "%0: f32:xy = global a[0] @1..2 %1: f32:xy = sqrt %0 @3..4 %2: f32:xy = add %1, %0 @5..6
                %3: f32:xy = mul %2, %2 @7..8 return %3";
    assert_eq!(of_float(text), [Some(3); 3]);
    let none = "%0: f32:xy = global a[0] @1..2 return %0";
    assert_eq!(of_float(none), [None; 3]);
}

#[test]
fn attached_shadows_keep_their_origins() {
    let text = "%0: f32:xy = global a[0] @1..2 %1: f32 = sqrt %0 @3..4 %2: f32 = log %0 @5..6
                %3: f32:xy = attach %0, %1, %2 @7..8 return %3";
    assert_eq!(of_float(text), [None, Some(3), Some(5)]);
}

#[test]
fn unread_nan_is_no_origin() {
    let text =
        "%0: f32:xy = global a[0] @1..2 %1: f32 = sqrt %0 @3..4 %2: f32:xy = global b[0] @5..6
                %3: f32:xy = sub %2, %2 @7..8 return %3";
    assert_eq!(of_float(text)[0], Some(7));
}

#[test]
fn derivatives_have_origins_of_their_own() {
    // 0 in value, beyond all floats in ddx: the difference of two such is NaN in ddx alone.
    let steep = "%0: f32:xy = global a[0] @1..2 %1: f32 = const 3e38 @3..4 %2: f32:xy = mul %0, %1 @5..6
                 %3: f32:xy = add %2, %1 @7..8 %4: f32:xy = mul %3, %1 @9..10 %5: f32:xy = sub %4, %4 @11..12";
    assert_eq!(
        of_float(&format!("{steep} return %5")),
        [None, Some(11), None]
    );
    let read = format!("fn main() -> (f32) ^0 {{ {steep} %6: f32 = ddx %5 @13..14 return %6 }}");
    let read = module(&read, "output o: float");
    assert_eq!(origins(&read), [Some(11), None, None]);
}

#[test]
fn origins_travel_through_arrays_loops_and_calls() {
    let module = module(
        "fn main() -> (f32:xy) ^0 {
           array &0: f32:xy[2] %0: f32:xy = global a[0] @1..2 %1: i32 = const 1 %2: f32:xy = sqrt %0 @3..4
           store &0[%1], %2 @5..6 %3: f32:xy = load &0[%1] @7..8 %4: f32:xy = call twice(%3) @9..10
           %5: f32:xy = loop ^1 (%6: f32:xy = %4) { break ^1 %6 } @11..12 return %5
         }
         fn twice(%0: f32:xy) -> (f32:xy) ^0 { %1: f32:xy = add %0, %0 @13..14 return %1 }",
        "output o: float",
    );
    assert_eq!(origins(&module)[0], Some(3));
}

#[test]
fn nans_beyond_limit_have_no_origin() {
    let text: String = (0..=MAX_NAN_ORIGINS as u32)
        .map(|i| format!("%{}: f32:xy = sqrt %0 @{}..{} ", i + 1, i + 1, i + 2))
        .collect();
    let output = |at: usize| of_float(&format!("%0: f32:xy = global a[0] {text} return %{at}"))[0];
    assert_eq!(output(MAX_NAN_ORIGINS), Some(MAX_NAN_ORIGINS as u32));
    assert_eq!(output(MAX_NAN_ORIGINS + 1), None);
}
