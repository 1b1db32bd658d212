//! Tests of unrolling: the unrolled code, and that unrolling is unobservable.

use super::random::{Recorder, observe_in_steps, observe_within, points};
use super::*;
use crate::eval::{EvalOptions, EvalPoint, ShadowMode, evaluate};
use crate::host::Limits;
use crate::module::InstKind;
use crate::passes::{fold::fold, unroll::unroll};
use crate::random::generate;

/// A function whose loop counts up to a number, and sums products with its counter, which it makes
/// a float.
fn counting(to: i32) -> String {
    format!(
        "fn main(%0: f32) -> (f32) ^0 {{
           %1: f32 = const 0.0
           %2: i32 = const 0
           %3: f32 = loop ^1 (%4: f32 $sum = %1, %5: i32 = %2) {{
             %6: i32 = const {to}
             %7: bool = ilt %5, %6
             if %7 ^2 {{
               yield
             }} else ^3 {{
               break ^1 %4
             }}
             %8: f32 = i2f %5
             %9: f32 = mul %8, %0
             %10: f32 = add %4, %9
             %11: i32 = const 1
             %12: i32 = iadd %5, %11
             continue ^1 %10, %12 @7..8
           }}
           return %3
         }}"
    )
}

/// The number of loops of a module, and of iterations without one.
fn loops_and_iterations(module: &Module) -> (usize, usize) {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let insts = || regions.clone().flat_map(|r| &r.insts);
    let loops = insts().filter(|inst| matches!(inst.kind, InstKind::Loop(_)));
    let iterations = insts().filter(|inst| inst.kind == InstKind::TakeStep);
    (loops.count(), iterations.count())
}

#[test]
fn loop_with_constant_end_is_unrolled() {
    let out = passed(&counting(3), &DUAL);
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 $sum = const 0.0
           %2: f32 = mul %1, %0
           %3: f32 $sum = add %1, %2
           turn
           %4: f32 $sum = add %3, %0
           turn
           %5: f32 = const 2.0
           %6: f32 = mul %5, %0
           %7: f32 $sum = add %4, %6
           turn
           return %7
         }",
    );
    let main = out.entry();
    let iterations =
        (main.region(main.body).insts.iter()).filter(|inst| inst.kind == InstKind::TakeStep);
    assert!(
        iterations.clone().all(|inst| inst.span.start == 7),
        "places stay"
    );
    assert_eq!(loops_and_iterations(&passed(&counting(0), &DUAL)), (0, 0));
    assert_eq!(loops_and_iterations(&passed(&counting(-5), &DUAL)), (0, 0));
}

#[test]
fn nested_constant_loops_are_unrolled() {
    // The inner loop has three iterations in each of four, if the outer one is unrolled as well;
    // the innermost depends on the point.
    let text = |end: &str| {
        format!(
            "fn main(%0: f32) -> (f32) ^0 {{
               %1: i32 = const 4
               %2: i32 = const 1
               %3: i32 = const 0
               %4: i32 = const 3
               %5: i32 = f2i %0
               %6: f32 = loop ^1 (%7: f32 = %0, %8: i32 = %1) {{
                 %9: bool = ilt %3, %8
                 if %9 ^2 {{ yield }} else ^3 {{ break ^1 %7 }}
                 %10: f32 = loop ^4 (%11: f32 = %7, %12: i32 = {end}) {{
                   %13: bool = ile %12, %3
                   if %13 ^5 {{
                     %14: f32 = sqrt %11
                     break ^4 %14
                   }} else ^6 {{
                     yield
                   }}
                   %15: bool = flt %11, %0
                   %16: f32 = if %15 ^7 {{
                     %17: f32 = sin %11
                     yield %17
                   }} else ^8 {{
                     %18: f32 = block ^9 {{
                       if %9 ^10 {{ break ^9 %11 }} else ^11 {{ yield }}
                       break ^9 %0
                     }}
                     yield %18
                   }}
                   %19: f32 = add %16, %16
                   %20: i32 = isub %12, %2
                   continue ^4 %19, %20
                 }}
                 %21: i32 = isub %8, %2
                 continue ^1 %10, %21
               }}
               return %6
             }}"
        )
    };
    let within = |end| loops_and_iterations(&passed(&text(end), &DUAL));
    assert_eq!(within("%4"), (0, 4 * 3 + 4));
    assert_eq!(within("%5"), (4, 4));
}

#[test]
fn loops_with_other_exits_stay() {
    let stays = |insert: &str| {
        let text = counting(3).replace("%8: f32 = i2f %5", &format!("{insert}\n%8: f32 = i2f %5"));
        loops_and_iterations(&passed(&text, &DUAL)) == (1, 0)
    };
    assert!(!stays(""));
    assert!(!stays(
        "%13: bool = flt %0, %4 if %13 ^4 { turn yield } else ^5 { yield }"
    ));
    assert!(stays(
        "%13: bool = flt %0, %4 if %13 ^4 { break ^1 %0 } else ^5 { yield }"
    ));
    assert!(stays(
        "%13: bool = flt %0, %4 if %13 ^4 { return %0 } else ^5 { yield }"
    ));
    assert!(stays(
        "%13: bool = flt %0, %4 if %13 ^4 { continue ^1 %0, %5 } else ^5 { yield }"
    ));
    // A loop that is not left stops the point: no iteration follows.
    let mut module = module(&counting(3).replacen("yield", "unreachable", 1));
    assert!(!unroll(
        &mut module.functions[0],
        &Default::default(),
        &mut MAX_UNROLLED.clone()
    ));
}

/// The effects of a loop's iterations stay in order: with two exits, of which the second one is
/// taken, and arms with effects of their own.
#[test]
fn effects_stay_in_order() {
    let before = module(
        "fn main(%0: f32) -> (f32, i32) ^0 {
           array &0: f32[8]
           %1: i32 = const 0
           %2: i32 = const 1
           %3: i32 = const 9
           %4: i32 = const 2
           %5: f32, %6: i32 = loop ^1 (%7: f32 = %0, %8: i32 = %1, %9: i32 = %3) {
             %10: bool = ile %9, %1
             if %10 ^2 {
               store &0[%1], %7
               break ^1 %7, %8
             } else ^3 {
               store &0[%8], %7
               yield
             }
             %11: f32 = call twice(%7)
             %12: f32, %13: f32, %14: f32, %15: f32 = sample wood(%7, %0)
             %16: bool = ilt %4, %8
             %17: f32 = if %16 ^4 {
               %18: f32 = load &0[%2]
               store &0[%4], %18
               break ^1 %18, %9
             } else ^5 {
               %19: f32 = add %11, %13
               yield %19
             }
             %20: i32 = iadd %8, %2
             %21: i32 = isub %9, %2
             continue ^1 %17, %20, %21
           }
           %22: f32 = load &0[%4]
           %23: f32 = add %5, %22
           return %23, %6
         }
         fn twice(%0: f32) -> (f32) ^0 {
           %1: bool = flt %0, %0
           if %1 ^1 { yield } else ^2 { yield }
           %2: f32 = add %0, %0
           return %2
         }",
    );
    let mut after = before.clone();
    assert!(unroll(
        &mut after.functions[0],
        &Default::default(),
        &mut MAX_UNROLLED.clone()
    ));
    let after = verified(after);
    // It ends in the fourth iteration.
    assert_eq!(loops_and_iterations(&after), (0, 3));
    for point in points(&before, 1, true) {
        let see = |module: &Module| {
            observe_within(module, &point, ShadowMode::Full, true, Limits::default())
        };
        let (expected, got) = (see(&before), see(&after));
        assert!(
            expected.agrees(&got) && expected.steps == got.steps,
            "{expected:?}\n{got:?}"
        );
    }
}

#[test]
fn unrolling_stops_at_limits() {
    /// Instructions of an iteration, regions included, if constants come before the loop.
    fn iteration_size(module: &Module) -> usize {
        let main = module.entry();
        let mut size = 0;
        main.for_each_region(|region| size += main.region(region).insts.len());
        size - main.region(main.body).insts.len()
    }
    let endless = iteration_size(&passed(&counting(i32::MAX), &DUAL));
    let fit = (MAX_UNROLLED / endless) as i32;
    assert_eq!(
        loops_and_iterations(&passed(&counting(fit - 1), &DUAL)),
        (0, fit as usize - 1)
    );
    assert_eq!(loops_and_iterations(&passed(&counting(fit), &DUAL)), (1, 0));

    // Inside of a loop that stays, fewer.
    let around = |to: i32| {
        let inner = counting(to);
        let body = inner.split_once("^0 {").expect("a body").1;
        let body = body
            .trim_end()
            .strip_suffix("return %3\n         }")
            .expect("it ends so");
        let again =
            "%13: bool = flt %3, %0 if %13 ^5 { break ^4 %3 } else ^6 { yield } continue ^4";
        passed(
            &format!(
                "fn main(%0: f32) -> (f32) ^0 {{ %14: f32 = loop ^4 {{ {body} {again} }} return %14 }}"
            ),
            &DUAL,
        )
    };
    let fit = MAX_UNROLLED_WITHIN / endless - 1;
    assert_eq!(loops_and_iterations(&around(fit as i32)), (1, fit));
    assert_eq!(loops_and_iterations(&around(fit as i32 + 1)), (2, 0));

    // A long op counts as many.
    let noise = |to: i32| {
        let long_op = "%13: f32 = perlin2 %9, %0, %0 %10: f32 = add %4, %13";
        passed(
            &counting(to).replace("%10: f32 = add %4, %9", long_op),
            &DUAL,
        )
    };
    let fit = MAX_UNROLLED / LONG_OP_COST - 2;
    assert_eq!(loops_and_iterations(&noise(fit as i32)), (0, fit));
    assert_eq!(loops_and_iterations(&noise(fit as i32 + 2)), (1, 0));

    // Of two equal loops the second one exceeds the capacity.
    let mut module = module(&counting(3));
    fold(&mut module.functions[0]);
    let mut capacity = 4 * iteration_size(&module);
    let mut copies = [module.functions[0].clone(), module.functions[0].clone()];
    let written = copies
        .each_mut()
        .map(|function| unroll(function, &Default::default(), &mut capacity));
    assert_eq!((written, capacity), ([true, false], 0));
}

#[test]
fn limits_stop_the_same_iterations() {
    let before = module(&counting(5));
    let (after, _) = run(before.clone(), &DUAL);
    assert_eq!(loops_and_iterations(&after), (0, 5));
    let mut stopped = 0;
    for steps in 0..8 {
        let outcome = |module: &Module| {
            let limits = Limits {
                steps,
                ..Limits::default()
            };
            let options = EvalOptions {
                limits,
                ..EvalOptions::default()
            };
            let mut host = Recorder::default();
            let outcome = evaluate(module, &EvalPoint::new(module), &options, &mut host);
            (outcome.faults, outcome.steps, outcome.outputs)
        };
        let expected = outcome(&before);
        assert_eq!(outcome(&after), expected, "{steps}");
        stopped += usize::from(expected.0.stopped().is_some());
    }
    // The shader and five iterations.
    assert_eq!(stopped, 6);
}

/// Random modules with so few steps that they end anywhere: before and after they do the same.
#[test]
fn unrolling_is_unobservable() {
    let (mut written, mut stopped) = (0, 0);
    for seed in 0..400 {
        let mut before = generate(seed);
        before.functions.iter_mut().for_each(fold);
        let mut after = before.clone();
        let mut capacity = MAX_UNROLLED_IN_ALL;
        for function in &mut after.functions {
            written += usize::from(unroll(function, &Default::default(), &mut capacity));
        }
        let after = verified(after);
        for point in points(&before, seed, true) {
            let see = |module: &Module, steps| observe_in_steps(module, &point, steps);
            let end = see(&before, 5_000).steps;
            for steps in (0..12).chain([end / 2, end.saturating_sub(1), end, 5_000]) {
                let (expected, got) = (see(&before, steps), see(&after, steps));
                let same = expected.agrees(&got) && expected.steps == got.steps;
                assert!(same, "module {seed}, {steps} steps");
                stopped += usize::from(expected.faults.iter().any(|fault| fault.kind.stops()));
            }
        }
    }
    assert!(written > 100 && stopped > 1_000, "{written} {stopped}");
}
