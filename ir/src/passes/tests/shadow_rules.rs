//! Tests of shadows by custom forward derivatives.

use super::*;
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, evaluate};

/// `f(x, k) = x·k`, whose rule says 10·dx, whatever the body does.
const RULED: &str = "
fn f(%0: f32, %1: f32) -> (f32) ^0 {
  custom forward rule
  custom params[1, 0] results[1] arrays[]
  %2: f32 = mul %0, %1
  return %2
}
fn rule(%0: f32, %1: f32, %2: f32) -> (f32, f32) ^0 {
  %3: f32 = call f(%0, %1)
  %4: f32 = const 10.0
  %5: f32 = mul %2, %4
  return %3, %5
}";

/// A module of this shader, and the functions with a rule.
fn ruled(main: &str) -> Module {
    module(&format!("{main}{RULED}"))
}

/// The same without the rule.
fn unruled(main: &str) -> Module {
    let plain = RULED
        .lines()
        .filter(|line| !line.trim().starts_with("custom"));
    let plain: Vec<_> = plain.collect();
    module(&format!("{main}{}", plain.join("\n")))
}

/// The outcome where g is 3 (ddx 0.5, ddy 0.25), and h 2 (ddx 1, ddy 4).
fn outcome(module: &Module) -> EvalOutcome {
    let mut point = EvalPoint::new(module);
    point.globals[0] = EvalValue::float(3.0, [0.5, 0.25]);
    point.globals[1] = EvalValue::float(2.0, [1.0, 4.0]);
    let mut host = random::Recorder::default();
    evaluate(module, &point, &EvalOptions::default(), &mut host)
}

fn values(module: &Module) -> Vec<f32> {
    let outputs = outcome(module).outputs;
    outputs.iter().map(|output| output.float).collect()
}

const DEMANDS: &str = "
fn main() -> (f32, f32, f32) ^0 {
  %0: f32 = global g[0]
  %1: f32 = global h[0]
  %2: f32 = call f(%0, %1)
  %3: f32 = ddx %2
  %4: f32 = ddy %2
  return %2, %3, %4
}";

#[test]
fn demanded_shadows_are_by_the_rule() {
    let by_rule = verified(run(ruled(DEMANDS), &DUAL).0);
    assert_eq!(values(&by_rule), [6.0, 5.0, 2.5]);
    let by_body = verified(run(unruled(DEMANDS), &DUAL).0);
    assert_eq!(values(&by_body), [6.0, 0.5 * 2.0 + 3.0, 0.25 * 2.0 + 12.0]);
}

#[test]
fn modules_that_demand_nothing_are_as_without_rules() {
    let main = "
fn main() -> (f32, f32) ^0 {
  %0: f32 = global g[0]
  %1: f32 = global h[0]
  %2: f32 = call f(%0, %1)
  %3: f32 = ddx %1
  return %2, %3
}";
    for options in [&DUAL, &OFF, &MERGED] {
        let with = verified(run(ruled(main), options).0);
        assert_eq!(with, run(unruled(main), options).0);
        assert!(with.functions.iter().all(|f| f.name != "rule"));
    }
    // Nor does what demand asks for change anything where there are no derivatives.
    assert_eq!(run(ruled(DEMANDS), &OFF).0, run(unruled(DEMANDS), &OFF).0);
}

#[test]
fn a_direction_without_demand_costs_nothing() {
    let main = DEMANDS.replace("ddy %2", "ddx %2");
    let out = verified(run(ruled(&main), &DUAL).0);
    assert_text(
        &out,
        "fn main() -> (f32, f32, f32) ^0 {
           %0: f32:x = global g[0]
           %1: f32 = global h[0]
           enter 0
           %2: f32 = mul %0, %1
           %3: f32 = ddx %0
           enter 0
           %4: f32 = const 10.0
           %5: f32 = mul %3, %4
           %6: f32 = const 0.0
           %7: f32:x = attach %2, %5, %6
           %8: f32 = ddx %7
           return %7, %8, %8
         }",
    );
}

#[test]
fn calls_are_ruled_one_by_one() {
    // Of two calls, and of two callers of one function, one demands.
    let main = "
fn main() -> (f32, f32, f32, f32) ^0 {
  %0: f32 = global g[0]
  %1: f32 = global h[0]
  %2: f32 = call f(%0, %1)
  %3: f32 = call twice(%0)
  %4: f32 = call twice(%1)
  %5: f32 = ddx %4
  return %2, %3, %4, %5
}
fn twice(%0: f32) -> (f32) ^0 {
  array &0: i32[1]
  %1: f32 = const 2.0
  %2: f32 = call f(%0, %1)
  return %2
}";
    let out = verified(run(ruled(main), &DUAL).0);
    assert_eq!(values(&out), [6.0, 6.0, 4.0, 10.0]);
    let insts = out.functions.iter().flat_map(|f| &f.regions);
    let insts = insts.flat_map(|region| &region.insts);
    assert_eq!(insts.filter(|i| i.kind == InstKind::Attach).count(), 1);
}

#[test]
fn chained_calls_pass_shadows_on() {
    let main = "
fn main() -> (f32, f32) ^0 {
  %0: f32 = global g[0]
  %1: f32 = global h[0]
  %2: f32 = call f(%0, %1)
  %3: f32 = call f(%2, %1)
  %4: f32 = call f(%3, %1)
  %5: f32 = ddy %4
  return %4, %5
}";
    let out = verified(run(ruled(main), &DUAL).0);
    assert_eq!(values(&out), [24.0, 250.0]);
}

#[test]
fn second_order_is_zero() {
    let main = DEMANDS.replace("ddy %2", "ddy %3");
    let out = verified(run(ruled(&main), &DUAL).0);
    assert_eq!(values(&out), [6.0, 5.0, 0.0]);
}

#[test]
fn rules_have_the_value_they_would_call_for() {
    // A search of three iterations, which the rule needs the end of.
    let text = "
fn main() -> (f32, f32, f32) ^0 {
  %0: f32 = global g[0]
  %1: f32 = call search(%0)
  %2: f32 = ddx %1
  %3: f32 = ddy %1
  return %1, %2, %3
}
fn search(%0: f32) -> (f32) ^0 {
  custom forward rule
  custom params[1] results[1] arrays[]
  %1: i32 = const 0
  %2: f32 = loop ^1 (%3: f32 = %0, %4: i32 = %1) {
    %5: i32 = f2i %0
    %6: bool = ilt %4, %5
    if %6 ^2 {
      yield
    } else ^3 {
      break ^1 %3
    }
    %7: f32 = sqrt %3
    %8: i32 = const 1
    %9: i32 = iadd %4, %8
    continue ^1 %7, %9
  }
  return %2
}
fn rule(%0: f32, %1: f32) -> (f32, f32) ^0 {
  %2: f32, %3: f32 = call written(%1, %0)
  return %2, %3
}
fn written(%0: f32, %1: f32) -> (f32, f32) ^0 {
  %2: f32 = call search(%1)
  %3: f32 = mul %2, %0
  return %2, %3
}";
    let out = verified(run(module(text), &DUAL).0);
    let root = 3.0_f32.sqrt().sqrt().sqrt();
    assert_eq!(values(&out), [root, root * 0.5, root * 0.25]);
    let searches = out.functions.iter().filter(|f| f.name == "search");
    assert_eq!(searches.count(), 1);
    assert_eq!(outcome(&out).tally.iterations, 3);
}

#[test]
fn shadows_of_tangents_are_zero_in_rules() {
    let text = RULED.replace(
        "%5: f32 = mul %2, %4",
        "%6: f32 = call f(%2, %4) %5: f32 = ddx %6",
    );
    let out = verified(run(module(&format!("{DEMANDS}{text}")), &DUAL).0);
    assert_eq!(values(&out), [6.0, 0.0, 0.0]);
}
