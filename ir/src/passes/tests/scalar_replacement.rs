//! Tests of scalar replacement: what arrays and records become, and that it is unobservable.

use super::random::{observe_in_steps, points};
use super::*;
use crate::host::FaultKind;
use crate::module::{Args, Inst, Results};
use crate::passes::scalar_replacement::replace;
use crate::passes::{dce::dce, fold::fold};
use crate::random::generate;

/// The function `main` after replacement and cleanup.
fn replaced(functions: &str) -> Module {
    let mut module = module(functions);
    for function in &mut module.functions {
        replace(function);
        fold(function);
        dce(function);
    }
    verified(module)
}

fn count(module: &Module, wanted: fn(&InstKind) -> bool) -> usize {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let insts = regions.flat_map(|r| &r.insts);
    insts.filter(|inst| wanted(&inst.kind)).count()
}

#[test]
fn elements_become_values() {
    assert_text(
        &replaced(
            "fn main(%0: f32, %1: f32) -> (f32, f32) ^0 {
               array &0: f32[3] $a
               %2: i32 = const 0
               %3: i32 = const 2
               store &0[%2], %0
               store &0[%3], %1
               %4: f32 = load &0[%2]
               store &0[%2], %1
               %5: f32 = load &0[%2]
               %6: f32 = add %4, %5
               %7: i32 = const 1
               %8: f32 = load &0[%7]
               return %6, %8
             }",
        ),
        "fn main(%0: f32, %1: f32) -> (f32, f32) ^0 {
           %2: f32 = const 0.0
           %3: f32 = add %0, %1
           return %3, %2
         }",
    );
}

#[test]
fn elements_join_where_control_flow_does() {
    assert_text(
        &replaced(
            "fn main(%0: f32, %1: i32) -> (f32) ^0 {
               array &0: f32[2] $a
               %2: i32 = const 0
               %3: i32 = const 1
               store &0[%2], %0
               %4: bool = ilt %1, %3
               if %4 ^1 {
                 %5: f32 = mul %0, %0
                 store &0[%2], %5
                 yield
               } else ^2 {
                 yield
               }
               %6: i32 = loop ^3 (%7: i32 = %2) {
                 %8: bool = ilt %7, %1
                 if %8 ^4 {
                   %9: f32 = load &0[%2]
                   %10: f32 = add %9, %0
                   store &0[%2], %10
                   yield
                 } else ^5 {
                   break ^3 %7
                 }
                 %11: i32 = iadd %7, %3
                 continue ^3 %11
               }
               %12: f32 = load &0[%2]
               return %12
             }",
        ),
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: i32 = const 0
           %3: i32 = const 1
           %4: bool = ilt %1, %3
           %5: f32 $a = if %4 ^1 {
             %6: f32 = mul %0, %0
             yield %6
           } else ^2 {
             yield %0
           }
           %7: f32 $a = loop ^3 (%8: i32 = %2, %9: f32 $a = %5) {
             %10: bool = ilt %8, %1
             %11: f32 $a = if %10 ^4 {
               %12: f32 = add %9, %0
               yield %12
             } else ^5 {
               break ^3 %9
             }
             %13: i32 = iadd %8, %3
             continue ^3 %13, %11
           }
           return %7
         }",
    );
}

#[test]
fn arrays_with_other_uses_stay() {
    let arrays = |body: &str| {
        let result = 3 + body.matches(" = ").count();
        let out = replaced(&format!(
            "fn main(%0: i32, %1: f32) -> (f32) ^0 {{
               array &0: f32[2] $a
               %2: i32 = const 1
               store &0[%2], %1
               {body}
               %{result}: f32 = load &0[%2]
               return %{result}
             }}
             fn taking() -> () ^0 {{
               array &0 in: f32[2] $a
               return
             }}"
        ));
        out.entry().arrays.len()
    };
    assert_eq!(arrays(""), 0);
    assert_eq!(arrays("%3: f32 = load &0[%0]"), 1);
    assert_eq!(arrays("store &0[%0], %1"), 1);
    assert_eq!(arrays("call taking() [&0]"), 1);
    assert_eq!(arrays("%3: i32 = array_resize &0[%2], 1"), 1);
    assert_eq!(
        arrays("%3: i32 = const 2\n%4: f32 = load &0[%3]"),
        1,
        "out of range"
    );
}

#[test]
fn copies_of_large_arrays_keep_both() {
    let left = |len: u32, index: &str| {
        let out = replaced(&format!(
            "fn main(%0: i32, %1: f32) -> (f32) ^0 {{
               array &0: f32[{len}] $a
               array &1: f32[{len}] $b
               %2: i32 = const 1
               store &0[{index}], %1
               array_copy &1, &0
               %3: f32 = load &1[%2]
               return %3
             }}"
        ));
        out.entry().arrays.len()
    };
    assert_eq!(left(MAX_COPIED_BY_ELEMENT, "%0"), 1);
    assert_eq!(left(MAX_COPIED_BY_ELEMENT + 1, "%0"), 2);
    assert_eq!(left(MAX_COPIED_BY_ELEMENT + 1, "%2"), 0);
}

#[test]
fn limits_bound_what_becomes_values() {
    let left = |len: usize, nested: usize| {
        let mut body = String::from("array_zero &0\n");
        for at in 0..nested {
            let (then, other) = (2 * at + 1, 2 * at + 2);
            body = format!("if %3 ^{then} {{\n{body}yield\n}} else ^{other} {{\nyield\n}}\n");
        }
        let out = replaced(&format!(
            "fn main(%0: i32, %1: f32) -> (f32) ^0 {{
               array &0: f32[{len}] $a
               array &1: f32[2] $b
               %2: i32 = const 1
               %3: bool = ilt %0, %2
               store &1[%2], %1
               {body}
               %4: f32 = load &0[%2]
               %5: f32 = load &1[%2]
               %6: f32 = add %4, %5
               return %6
             }}"
        ));
        out.entry().arrays.len()
    };
    assert_eq!(left(MAX_REPLACED_ELEMENTS - 2, 0), 0);
    assert_eq!(left(MAX_REPLACED_ELEMENTS - 1, 0), 1, "the small one goes");
    assert_eq!(left(MAX_JOINED_ELEMENTS / 8, 8), 0);
    assert_eq!(left(MAX_JOINED_ELEMENTS / 8, 9), 2);
}

/// A function that keeps a record, does this, and takes it.
fn keeping(between: &str) -> Module {
    let result = 4 + between.matches(" = ").count();
    let mut text = String::from(
        "adumbra ir 1\ninput a: float = 0.0\ninput n: int = 0\noutput o: float\nrecord (f32)\nentry main\n",
    );
    text += &format!(
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {{
           %2: i32 = const 0
           %3: bool = ilt %1, %2
           keep 0 #0(%0)
           {between}
           %{result}: f32 = take 0 #0
           return %{result}
         }}
         fn other() -> () ^0 {{
           return
         }}"
    );
    let mut module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    module = verified(module);
    module.functions.iter_mut().for_each(|f| {
        replace(f);
    });
    verified(module)
}

#[test]
fn records_are_used_where_nothing_else_sees_the_tape() {
    let takes = |between: &str| count(&keeping(between), |kind| matches!(kind, InstKind::Take(..)));
    assert_eq!(takes(""), 0);
    // The last one first.
    assert_eq!(takes("keep 0 #0(%0)\n%4: f32 = take 0 #0"), 0);
    let within = |body: &str, end: &str| {
        takes(&format!(
            "if %3 ^1 {{\n{body}\n{end}\n}} else ^2 {{\nyield\n}}"
        ))
    };
    assert_eq!(within("", "yield"), 0);
    assert_eq!(within("", "return %0"), 1, "what was kept is left");
    assert_eq!(within("keep 0 #0(%0)\n%4: f32 = take 0 #0", "yield"), 1);
    assert_eq!(takes("call other()"), 1);
    // A jump that stays within does not leave.
    let block = |to: &str| {
        takes(&format!(
            "block ^3 {{\nif %3 ^1 {{\n{to}\n}} else ^2 {{\nyield\n}}\nbreak ^3\n}}"
        ))
    };
    assert_eq!(block("break ^3"), 0);
    assert_eq!(block("return %0"), 1);
}

/// The module with constants in range for each index of an array, and arrays that many times as
/// long.
fn with_constant_indices(mut module: Module, seed: u64, longer: u32) -> Module {
    let mut random = fastrand::Rng::with_seed(seed);
    for function in &mut module.functions {
        for array in &mut function.arrays {
            array.len *= longer;
        }
        for region in 0..function.regions.len() {
            let insts = std::mem::take(&mut function.regions[region].insts);
            let mut out = Vec::new();
            for mut inst in insts {
                if let InstKind::Load(array) | InstKind::Store(array) = inst.kind {
                    let len = function.arrays[array.index()].len;
                    let index = InstKind::Const(random.u32(..len.min(4)));
                    let results = Results::of_new(&mut function.values, [Scalar::I32], inst.span);
                    inst.args[0] = results.first;
                    out.push(Inst {
                        kind: index,
                        args: Args::new(),
                        results,
                        span: inst.span,
                    });
                }
                out.push(inst);
            }
            function.regions[region].insts = out;
        }
    }
    verified(module)
}

/// Random modules whose indices are constants, with budgets that end anywhere: before and after
/// they do the same.
#[test]
fn replacement_is_unobservable() {
    let (mut arrays, mut joined, mut stopped, mut compared) = (0, 0, 0, 0);
    for seed in 0..600 {
        let longer = if seed % 3 == 0 { 100 } else { 1 };
        let before = with_constant_indices(generate(seed), seed, longer);
        let mut after = before.clone();
        let mut values = 0;
        for function in &mut after.functions {
            values += function.values.len();
            arrays += usize::from(replace(function));
        }
        let after = verified(after);
        let now: usize = after.functions.iter().map(|f| f.values.len()).sum();
        joined += usize::from(now > values + 8);
        for point in points(&before, seed, true) {
            let see = |module: &Module, steps| observe_in_steps(module, &point, steps);
            const ENOUGH: u64 = 5_000;
            let end = see(&before, ENOUGH).steps;
            let some = [
                0,
                1,
                2,
                3,
                5,
                8,
                end / 2,
                end.saturating_sub(1),
                end,
                ENOUGH,
            ];
            for steps in some {
                let (expected, got) = (see(&before, steps), see(&after, steps));
                let mut kinds = expected.faults.iter().map(|fault| fault.kind);
                let is_stopped = kinds.any(|kind| kind == FaultKind::StepBudget);
                // What moved many words took its steps together.
                assert!(
                    (is_stopped || expected.steps == got.steps) && expected.agrees(&got),
                    "module {seed}, {steps} steps: {expected:?}\n{got:?}\n{}\n\n{}",
                    text(&before),
                    text(&after),
                );
                stopped += usize::from(is_stopped);
                compared += 1;
            }
        }
    }
    // The campaign must not be hollow.
    assert!(arrays > 300 && joined > 100, "{arrays} {joined}");
    assert!(stopped > compared / 4, "{stopped} of {compared}");
}
