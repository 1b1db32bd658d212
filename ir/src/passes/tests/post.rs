//! The snippets of the post, as IR. An unused array keeps a function from being inlined.

use super::*;

/// Equation 3 as the post has it: a function, called in `ddx`.
pub(super) const PRACTICAL: &str = "fn main() -> (f32) ^0 {
   %0: f32 = global g[0]
   %1: f32 = global h[0]
   %2: f32 = call eval_practical(%0, %1)
   %3: f32 = ddx %2
   return %3
 }
 fn eval_practical(%0: f32 $x1, %1: f32 $x2) -> (f32) ^0 {
   array &0: i32[1]
   %2: f32 = mul %0, %1
   %3: f32 = const 1.0
   %4: f32 = add %0, %3
   %5: f32 $u = div %2, %4
   %6: f32 = sin %5
   %7: f32 = add %3, %5
   %8: f32 = log %7
   %9: f32 = add %6, %8
   %10: f32 = exp %1
   %11: f32 = sub %9, %10
   %12: f32 = tanh %1
   %13: f32 = sub %5, %12
   %14: f32 = mul %11, %13
   return %14
 }";

#[test]
fn equation_3_carries_x_from_the_globals_to_the_result() {
    let out = passed(PRACTICAL, &DUAL);
    let f = function(&out, "eval_practical", 0);
    for (at, value) in f.values.iter().enumerate() {
        let literal = at == 3;
        assert_eq!(value.lanes.name(), if literal { "" } else { "x" }, "%{at}");
    }
    assert_eq!(f.results[0].lanes, Lanes::X);
    let main: Vec<_> = out.entry().values.iter().map(|v| v.lanes.name()).collect();
    assert_eq!(main, ["x", "x", "x", ""]);
}

#[test]
fn a_literal_through_an_out_argument_has_the_derivative_0() {
    let out = passed(
        "fn main() -> (f32) ^0 {
           %0: f32 $x0 = const 1.0
           %1: f32 $x1 = call func(%0)
           %2: f32 = ddx %1
           return %2
         }
         fn func(%0: f32 $x) -> (f32) ^0 {
           return %0
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main() -> (f32) ^0 {
           enter 0
           %0: f32 = const 0.0
           return %0
         }",
    );
}

/// `void func(float x, float y, out float ox, out float oy)`, called twice.
pub(super) const FUNC: &str = "fn main() -> (f32, f32) ^0 {
   %0: f32 $x0 = global g[0]
   %1: f32 $y0 = const 1.0
   %2: f32 $x1 = const 1.0
   %3: f32 $y1 = global h[0]
   %4: f32 $ox, %5: f32 $oy = call func(%0, %1)
   %6: f32 $g0 = ddx %4
   %7: f32 $ox_, %8: f32 $oy_ = call func(%2, %3)
   %9: f32 $g1 = ddx %8
   return %6, %9
 }
 fn func(%0: f32 $x, %1: f32 $y) -> (f32, f32) ^0 {
   array &0: i32[1]
   return %0, %1
 }";

#[test]
fn two_calls_that_ask_for_different_lanes_get_variants() {
    let out = passed(FUNC, &DUAL);
    assert_text(
        &out,
        "fn main() -> (f32, f32) ^0 {
           %0: f32:x $x0 = global g[0]
           %1: f32 $y0 = const 1.0
           %2: f32 $x1 = const 1.0
           %3: f32:x $y1 = global h[0]
           %4: f32:x $ox, %5: f32 $oy = call func(%0, %1)
           %6: f32 $g0 = ddx %4
           %7: f32 $ox_, %8: f32:x $oy_ = call #2(%2, %3)
           %9: f32 $g1 = ddx %8
           return %6, %9
         }
         fn func(%0: f32:x $x, %1: f32 $y) -> (f32:x, f32) ^0 {
           return %0, %1
         }
         fn func variant 1(%0: f32 $x, %1: f32:x $y) -> (f32, f32:x) ^0 {
           return %0, %1
         }",
    );
    let report = demand_report(&out);
    for (name, expected) in [("x0", "x"), ("y0", ""), ("x1", ""), ("y1", "x")] {
        assert_eq!(lanes(&report, "main", 0, name), expected, "{name}");
    }
}

#[test]
fn merged_the_demand_of_one_call_reaches_both() {
    let out = passed(FUNC, &MERGED);
    assert_eq!(out.functions.len(), 2);
    let report = demand_report(&out);
    for name in ["x", "y"] {
        assert_eq!(lanes(&report, "func", 0, name), "x", "{name}");
    }
    // Literals are passed with shadows too, which are zero.
    for name in ["x0", "y0", "x1", "y1"] {
        assert_eq!(lanes(&report, "main", 0, name), "x", "{name}");
    }
}

#[test]
fn lineage_report_precedes_demand() {
    let lineage = lineage_report(module(FUNC), &DUAL);
    for (name, expected) in [
        ("x0", "xy"),
        ("y0", ""),
        ("ox", "xy"),
        ("oy", ""),
        ("g0", ""),
    ] {
        assert_eq!(lanes(&lineage, "main", 0, name), expected, "{name}");
    }
    assert_eq!(lanes(&lineage, "func", 1, "y"), "x");
}
