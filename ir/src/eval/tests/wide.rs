//! Tests of evaluation over f64, and of execution counts.

use super::control::TRIANGLE;
use super::*;

/// A smooth program with calls and a loop: y = b; three times y = sin(y·a) + exp(y/3); y.
fn smooth() -> Module {
    module(
        "fn main() -> (f32:xy) ^0 {
           %0: f32:xy = global a[0] %1: f32:xy = global b[0] %2: i32 = const 3 %3: i32 = const 1 %4: i32 = const 0
           %5: f32:xy = loop ^1 (%6: f32:xy = %1, %7: i32 = %2) {
             %8: bool = ile %7, %4
             if %8 ^2 { break ^1 %6 } else ^3 { yield }
             %9: f32:xy = call turn(%6, %0) %10: i32 = isub %7, %3
             continue ^1 %9, %10
           }
           return %5
         }
         fn turn(%0: f32:xy, %1: f32:xy) -> (f32:xy) ^0 {
           %2: f32:xy = mul %0, %1 %3: f32:xy = sin %2 %4: f32 = const 3.0 %5: f32:xy = div %0, %4
           %6: f32:xy = exp %5 %7: f32:xy = add %3, %6 return %7
         }",
        "output o: float",
    )
}

#[test]
fn narrow_and_wide_numbers_agree_on_smooth_programs() {
    let module = smooth();
    for (a, b) in [(0.5, 0.25), (1.25, -0.75), (-0.375, 1.5)] {
        let wide = run(
            &module,
            &point([a, 1.0, 0.0], [b, 0.0, 1.0], 0),
            EvalOptions::default(),
        );
        let [a32, b32] = [a as f32, b as f32];
        let narrow = run(
            &module,
            &point([a32, 1.0, 0.0], [b32, 0.0, 1.0], 0),
            EvalOptions::default(),
        );
        let (wide, narrow) = (wide.outputs[0], narrow.outputs[0]);
        let close = |x: f64, y: f32| (x - f64::from(y)).abs() <= 4e-6 * x.abs().max(1.0);
        assert!(close(wide.float, narrow.float), "{wide:?} {narrow:?}");
        assert!(
            close(wide.shadows[0], narrow.shadows[0]),
            "{wide:?} {narrow:?}"
        );
        assert!(
            close(wide.shadows[1], narrow.shadows[1]),
            "{wide:?} {narrow:?}"
        );
    }
}

#[test]
fn wide_derivatives_match_finite_differences() {
    let module = smooth();
    let value = |a: f64, b: f64| {
        let point = point([a, 0.0, 0.0], [b, 0.0, 0.0], 0);
        run(&module, &point, EvalOptions::default()).outputs[0].float
    };
    let h = 1e-4;
    for (a, b) in [(0.5, 0.25), (1.25, -0.75), (-0.375, 1.5)] {
        let exact = run(
            &module,
            &point([a, 1.0, 0.0], [b, 0.0, 1.0], 0),
            EvalOptions::default(),
        );
        let [dx, dy] = exact.outputs[0].shadows;
        let fd_x = (value(a + h, b) - value(a - h, b)) / (2.0 * h);
        let fd_y = (value(a, b + h) - value(a, b - h)) / (2.0 * h);
        assert!((dx - fd_x).abs() < 1e-6 * dx.abs().max(1.0), "{dx} {fd_x}");
        assert!((dy - fd_y).abs() < 1e-6 * dy.abs().max(1.0), "{dy} {fd_y}");
    }
}

#[test]
fn wide_numbers_compare_and_convert_wide() {
    let below = int_shader(
        "%0: f32 = global a[0] %1: f32 = global b[0] %2: bool = flt %0, %1 %3: i32 = b2i %2 return %3",
        "",
    );
    let point = |b: f64| point([1.0, 0.0, 0.0], [b, 0.0, 0.0], 0);
    assert_eq!(
        run(&below, &point(1.0 + 1e-12), EvalOptions::default()).outputs[0].word,
        1
    );
    let whole = float_shader(
        "%0: f32 = global b[0] %1: i32 = f2i %0 %2: f32 = i2f %1 %3: f32 = sub %0, %2
         %4: f32:xy = global a[0] %5: f32:xy = mul %4, %3 return %5",
    );
    let outcome = run(
        &whole,
        &point(2.0_f64.powi(25) + 1.25),
        EvalOptions::default(),
    );
    assert_eq!(outcome.outputs[0].float, 0.25);
    let outcome = run(&whole, &point(3.0 - 1e-12), EvalOptions::default());
    assert!((outcome.outputs[0].float - 1.0).abs() < 1e-11);
    let bits = int_shader(
        "%0: f32 = global b[0] %1: i32 = asint %0 %2: f32 = asfloat %1 %3: bool = feq %0, %2 %4: i32 = b2i %3 return %4",
        "",
    );
    assert_eq!(
        run(&bits, &point(0.5), EvalOptions::default()).outputs[0].word,
        1
    );
    assert_eq!(
        run(&bits, &point(0.1), EvalOptions::default()).outputs[0].word,
        0
    );
}

#[test]
fn paths_differ_where_floats_decide_differently() {
    let path = |module: &Module, a: f64| {
        let options = EvalOptions {
            path: true,
            ..EvalOptions::default()
        };
        run(module, &point([a, 0.0, 0.0], [0.0; 3], 0), options).path
    };
    let branch = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 1.0 %2: bool = flt %0, %1
         %3: f32:xy = if %2 ^1 { yield %0 } else ^2 { %4: f32:xy = mul %0, %0 yield %4 } return %3",
    );
    let kink = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 1.0 %2: f32:xy = max %0, %1 return %2",
    );
    let fraction = float_shader("%0: f32:xy = global a[0] %1: f32:xy = fract %0 return %1");
    let index = float_shader(
        "array &0: f32:x[4] %0: f32:xy = global a[0] %1: i32 = f2i %0 %2: f32:x = load &0[%1]
         %3: f32:xy = mul %2, %0 return %3",
    );
    let trips = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 0.5 %2: f32 = const 1.0
         %3: f32:xy = loop ^1 (%4: f32:xy = %0) {
           %5: bool = flt %4, %2
           if %5 ^2 { break ^1 %4 } else ^3 { yield }
           %6: f32:xy = mul %4, %1
           continue ^1 %6
         }
         return %3",
    );
    let conversion = float_shader(
        "%0: f32:xy = global a[0] %1: i32 = f2i %0 %2: f32 = i2f %1 %3: f32:xy = add %0, %2 return %3",
    );
    for module in [branch, kink, fraction, index, trips, conversion] {
        assert_eq!(path(&module, 0.75), path(&module, 0.875));
        assert_ne!(path(&module, 0.875), path(&module, 1.125));
        assert_eq!(path(&module, 1.125), path(&module, 1.25));
        let unasked = run(
            &module,
            &point([1.0_f64; 3], [0.0; 3], 0),
            EvalOptions::default(),
        );
        assert_eq!(unasked.path, 0);
    }
}

#[test]
fn execution_is_counted() {
    let recursive = int_shader(
        "array &0: i32[2] %0: i32 = global n[0] %1: i32 = call tri(%0) store &0[%0], %1 %2: i32 = load &0[%0]
         %3: f32 = global a[0] %4: f32 = log %3 %5: f32 = ddx %4 %6: i32 = call same(%2)
         return %6",
        &format!("{TRIANGLE} fn same(%0: i32) -> (i32) ^0 {{ member n: int inout params[0, 1] results[0, 1] return %0 }}"),
    );
    let outcome = run(
        &recursive,
        &point([0.0_f32; 3], [0.0; 3], 1),
        EvalOptions::default(),
    );
    let expected = ExecutionCounts {
        iterations: 0,
        calls: 3,
        recursions: 1,
        writes: 1,
        accesses: 2,
        reads: 1,
        nonfinite: 1,
    };
    assert_eq!(outcome.tally, expected);
}

#[test]
fn slots_know_their_bits() {
    let slot = EvalValue::<f64>::from_bits(Scalar::F32, 0.1_f32.to_bits());
    assert_eq!(slot.float, f64::from(0.1_f32));
    assert_eq!(slot.bits(Scalar::F32), 0.1_f32.to_bits());
    assert_eq!(
        EvalValue::<f32>::from_bits(Scalar::Bool, 1).bits(Scalar::Bool),
        1
    );
    assert_eq!(
        EvalValue::float(1.0_f32, [2.0, 3.0]).shadow(Direction::Y),
        3.0
    );
}
