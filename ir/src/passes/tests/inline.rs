//! Tests of inlining: the inlined code, and that inlining is unobservable.

use super::random::{Recorder, Seen, observe_within, points};
use super::*;
use crate::eval::{EvalOptions, EvalPoint, ShadowMode, evaluate};
use crate::host::{FaultKind, Limits};
use crate::module::{Inst, InstKind};
use crate::passes::inline::inline;
use crate::random::generate;

#[test]
fn library_functions_take_no_step_and_those_of_the_user_do() {
    let out = passed(
        "fn main(%0: f32, %1: f32) -> (f32, f32) ^0 {
           %2: f32 $len = call length(%0, %1)
           %3: bool = flt %2, %0
           %4: f32 = if %3 ^1 {
             %5: f32 = call length(%2, %1)
             yield %5
           } else ^2 {
             %6: f32 = call own(%2)
             yield %6
           }
           return %2, %4
         }
         fn length library(%0: f32, %1: f32) -> (f32) ^0 {
           %2: f32 $dropped = call dot(%0, %1)
           %3: f32 = sqrt %2
           return %3
         }
         fn dot library(%0: f32, %1: f32) -> (f32) ^0 {
           %2: f32 = mul %0, %0
           %3: f32 = mul %1, %1
           %4: f32 = add %2, %3
           return %4
         }
         fn own(%0: f32) -> (f32) ^0 {
           %1: f32 $angle = add %0, %0
           %2: f32 = sin %1
           return %2
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: f32) -> (f32, f32) ^0 {
           %2: f32 = mul %0, %0
           %3: f32 = mul %1, %1
           %4: f32 = add %2, %3
           %5: f32 $len = sqrt %4
           %6: bool = flt %5, %0
           %7: f32 = if %6 ^1 {
             %8: f32 = mul %5, %5
             %9: f32 = add %8, %3
             %10: f32 = sqrt %9
             yield %10
           } else ^2 {
             enter 0
             %11: f32 $angle = add %5, %5
             %12: f32 = sin %11
             yield %12
           }
           return %5, %7
         }",
    );
}

/// Three of the user's functions within each other, and another one that stays a call since it
/// branches.
const NESTED: &str = "
    fn main(%0: f32) -> (f32) ^0 {
      %1: f32 = call outer(%0) @10..11
      %2: f32 = call branching(%1) @12..13
      %3: f32 = call outer(%2) @14..15
      return %3
    }
    fn outer(%0: f32) -> (f32) ^0 {
      %1: f32 = call middle(%0) @20..21
      %2: f32 = call inner(%1) @22..23
      return %2
    }
    fn middle(%0: f32) -> (f32) ^0 {
      %1: f32 = call inner(%0) @30..31
      return %1
    }
    fn inner(%0: f32) -> (f32) ^0 {
      message \"here\"() @40..41
      %1: i32 = const 0
      %2: i32 = idiv %1, %1 @42..43
      %3: f32 = i2f %2
      %4: f32 = add %0, %3
      return %4
    }
    fn branching(%0: f32) -> (f32) ^0 {
      %1: bool = flt %0, %0
      %2: f32 = if %1 ^1 {
        yield %0
      } else ^2 {
        %3: f32 = call middle(%0) @50..51
        yield %3
      }
      return %2
    }";

fn nested() -> Module {
    let head = "adumbra ir 1\nmessage \"here\"()\ninput in0: float = 0.5\noutput out0: float\nentry main\n";
    let text = format!("{head}{NESTED}");
    verified(parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}")))
}

#[test]
fn calls_within_calls_count_their_depth() {
    let (out, _) = run(nested(), &DUAL);
    assert_eq!(out.functions.len(), 2);
    let enters = |function: &Function| -> Vec<(u32, u32)> {
        let insts = function.regions.iter().flat_map(|r| &r.insts);
        let enter = |inst: &Inst| match inst.kind {
            InstKind::EnterInlined(open) => Some((inst.span.start, open)),
            _ => None,
        };
        insts.filter_map(enter).collect()
    };
    // `outer`, `middle` in it, `inner` in both of them, `inner` in `outer`; each at its own call.
    let outer = |at| [(at, 0), (20, 1), (30, 2), (22, 1)];
    assert_eq!(enters(out.entry()), [outer(10), outer(14)].concat());
    assert_eq!(enters(&out.functions[1]), [(50, 0), (30, 1)]);
}

#[test]
fn inlined_code_keeps_spans_and_limits() {
    let before = nested();
    let (after, _) = run(before.clone(), &DUAL);
    let outcome = |module: &Module, steps, call_depth| {
        let limits = Limits {
            steps,
            call_depth,
            ..Limits::default()
        };
        let options = EvalOptions {
            limits,
            ..EvalOptions::default()
        };
        let outcome = evaluate(
            module,
            &EvalPoint::new(module),
            &options,
            &mut Recorder::default(),
        );
        (outcome.faults, outcome.steps, outcome.outputs)
    };
    // The shader, four in each of `outer`, three in `branching`.
    const NEEDED: u64 = 1 + 4 + 3 + 4;
    let mut found = std::collections::HashSet::new();
    for steps in 0..=NEEDED {
        for depth in 0..=5 {
            let expected = outcome(&before, steps, depth);
            assert_eq!(outcome(&after, steps, depth), expected, "{steps} {depth}");
            found.extend(
                expected
                    .0
                    .iter()
                    .map(|fault| (fault.kind, fault.span.start)),
            );
        }
    }
    // At each step count a call ends with one limit or the other.
    let at = |kind, places: &[u32]| places.iter().all(|&place| found.contains(&(kind, place)));
    assert!(
        at(FaultKind::StepBudget, &[10, 12, 14, 20, 22, 30, 50]),
        "{found:?}"
    );
    assert!(at(FaultKind::CallDepth, &[10, 20, 30]), "{found:?}");
    assert!(at(FaultKind::DivisionByZero, &[42]), "{found:?}");
    let (faults, steps, _) = outcome(&after, NEEDED, 4);
    assert_eq!((faults.stopped(), steps), (None, NEEDED));
}

#[test]
fn merged_demand_has_one_body_for_all_calls() {
    let (out, _) = run(nested(), &MERGED);
    assert_eq!(out.functions.len(), 5);
}

#[test]
fn library_function_with_counted_calls_counts() {
    let text = |kind: &str| {
        format!(
            "fn main(%0: f32) -> (f32) ^0 {{
               %1: f32 = call around(%0)
               return %1
             }}
             fn around library(%0: f32) -> (f32) ^0 {{
               %1: f32 = call within(%0)
               return %1
             }}
             fn within {kind}(%0: f32) -> (f32) ^0 {{
               %1: f32 = sin %0
               return %1
             }}"
        )
    };
    let main = |body: &str| {
        format!("fn main(%0: f32) -> (f32) ^0 {{\n{body}%1: f32 = sin %0\nreturn %1\n}}")
    };
    assert_text(&passed(&text("library"), &DUAL), &main(""));
    assert_text(&passed(&text(""), &DUAL), &main("enter 0\nenter 1\n"));
}

/// `main` calls a function of `insts` instructions.
fn calling(mark: &str, insts: usize) -> String {
    let mut text = format!(
        "fn main(%0: f32) -> (f32) ^0 {{
           %1: f32 = call steps(%0)
           return %1
         }}
         fn steps{mark}(%0: f32) -> (f32) ^0 {{\n"
    );
    let ops = insts - 1;
    for i in 0..ops {
        text += &format!("%{}: f32 = sin %{i}\n", i + 1);
    }
    text + &format!("return %{ops}\n}}")
}

#[test]
fn inlining_stops_at_its_limits() {
    let first = |mark, insts| {
        let out = passed(&calling(mark, insts), &DUAL);
        (
            out.functions.len(),
            out.entry().region(out.entry().body).insts[0].kind.clone(),
        )
    };
    assert_eq!(first(" library", MAX_INLINE), (1, InstKind::Op(Op::Sin)));
    assert_eq!(
        first(" library", MAX_INLINE + 1),
        (1, InstKind::EnterInlined(0))
    );
    assert_eq!(first("", MAX_COUNTED), (1, InstKind::EnterInlined(0)));
    // What is called in one place is moved.
    assert_eq!(first("", MAX_COUNTED + 1), (1, InstKind::EnterInlined(0)));
    let twice = |insts| {
        let once = calling("", insts);
        let twice = "%1: f32 = call steps(%0)\n%2: f32 = call steps(%1)\nreturn %2";
        let text = once.replacen("%1: f32 = call steps(%0)\n           return %1", twice, 1);
        passed(&text, &DUAL).functions.len()
    };
    assert_eq!([twice(MAX_COUNTED), twice(MAX_COUNTED + 1)], [1, 2]);
}

/// How many instructions a module has, and how many of them are calls.
fn size(module: &Module) -> (usize, usize) {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let insts = || regions.clone().flat_map(|r| &r.insts);
    let calls = insts().filter(|inst| matches!(inst.kind, InstKind::Call(..)));
    (insts().count(), calls.count())
}

/// Size before and after inlining.
fn grown(text: &str) -> [(usize, usize); 2] {
    let mut module = module(text);
    let before = size(&module);
    let calls = CallGraph::new(&module);
    inline(&mut module, &calls, MAX_INLINED);
    [before, size(&verified(module))]
}

#[test]
fn inlining_respects_module_capacity() {
    const FIT: usize = MAX_INLINED / MAX_COUNTED;
    let text = |calls: usize| {
        let mut main = String::from("fn main(%0: f32) -> (f32) ^0 {\n");
        for call in 0..calls {
            main += &format!("%{}: f32 = call steps(%{call})\n", call + 1);
        }
        main += &format!("return %{calls}\n}}\n");
        let (_, steps) = calling("", MAX_COUNTED)
            .split_once("fn steps")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .expect("it has both");
        main + "fn steps" + &steps
    };
    let [(before, _), (after, calls)] = grown(&text(FIT));
    assert_eq!((after - before, calls), (FIT * (MAX_COUNTED - 1), 0));
    let [(before, _), (after, calls)] = grown(&text(FIT + 3));
    assert_eq!((after - before, calls), (FIT * (MAX_COUNTED - 1), 3));
}

/// Each is called in one place, and has the instructions of all after it once it is done.
#[test]
fn chain_of_calls_stays_small() {
    const FUNCTIONS: usize = 1_000;
    let functions = (0..FUNCTIONS).map(|i| {
        let name = if i == 0 {
            "main".to_owned()
        } else {
            format!("f{i}")
        };
        let body = match i + 1 {
            FUNCTIONS => "%1: f32 = sin %0 return %1".to_owned(),
            next => format!("%1: f32 = sin %0 %2: f32 = call f{next}(%1) return %2"),
        };
        format!("fn {name}(%0: f32) -> (f32) ^0 {{ {body} }}\n")
    });
    let [(before, _), (after, calls)] = grown(&functions.collect::<String>());
    assert!(after - before <= MAX_MOVED, "{before} {after}");
    assert!(
        after - before > MAX_MOVED / 2 && calls > 0,
        "{after} {calls}"
    );
}

/// Each calls the next twice, so that fully inlined code would be exponential.
#[test]
fn exponential_inlining_is_bounded() {
    const LEVELS: usize = 1_000;
    let mut text =
        String::from("fn main(%0: f32) -> (f32) ^0 {\n%1: f32 = call f0(%0)\nreturn %1\n}\n");
    for level in 0..LEVELS {
        let next = level + 1;
        text += &format!(
            "fn f{level}(%0: f32) -> (f32) ^0 {{\n%1: f32 = call f{next}(%0)\n%2: f32 = call f{next}(%1)\nreturn %2\n}}\n"
        );
    }
    text += &format!("fn f{LEVELS}(%0: f32) -> (f32) ^0 {{\n%1: f32 = sin %0\nreturn %1\n}}\n");
    let [(before, calls), (after, still)] = grown(&text);
    assert!(after - before < 4 * MAX_COUNTED, "{before} {after}");
    assert!((calls - 20..calls).contains(&still), "{calls} {still}");
}

/// Random modules without free calls, with step and depth limits that stop them anywhere: before
/// and after they do the same.
#[test]
fn inlining_is_unobservable() {
    let (mut entered, mut called, mut stopped, mut too_deep, mut compared) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        let mut before = generate(seed);
        before.functions.iter_mut().for_each(|f| f.library = false);
        let mut inlined = before.clone();
        let calls = CallGraph::new(&inlined);
        inline(&mut inlined, &calls, MAX_INLINED);
        let inlined = verified(inlined);
        let passed = verified(run(before.clone(), &OUTPUTS).0);
        let has = |wanted: fn(&InstKind) -> bool| {
            let regions = passed.functions.iter().flat_map(|f| &f.regions);
            regions.flat_map(|r| &r.insts).any(|i| wanted(&i.kind))
        };
        entered += usize::from(has(|kind| matches!(kind, InstKind::EnterInlined(1..))));
        called += usize::from(has(|kind| matches!(kind, InstKind::Call(..))));
        for point in points(&before, seed, true) {
            let see = |module: &Module, shadows, steps, call_depth| -> Seen {
                let limits = Limits {
                    steps,
                    call_depth,
                    ..Limits::default()
                };
                observe_within(module, &point, shadows, true, limits)
            };
            const ENOUGH: (u64, u32) = (5_000, 64);
            let all = see(&before, ShadowMode::Full, ENOUGH.0, ENOUGH.1);
            let end = all.steps;
            let some = (0..12).chain([end / 2, end.saturating_sub(1), end, ENOUGH.0]);
            let limits = some.map(|steps| (steps, ENOUGH.1));
            for (steps, depth) in limits.chain((0..6).map(|depth| (ENOUGH.0, depth))) {
                let expected = see(&before, ShadowMode::Full, steps, depth);
                let same = |got: &Seen, of: &Module| {
                    assert!(
                        expected.steps == got.steps && expected.agrees(got),
                        "module {seed}, {steps} steps, {depth} calls: {expected:?}\n{got:?}\n{}\n\n{}",
                        print(&before, SpanComments::Shown),
                        print(of, SpanComments::Shown),
                    );
                };
                same(&see(&inlined, ShadowMode::Full, steps, depth), &inlined);
                if all.comparable {
                    same(&see(&passed, ShadowMode::Annotated, steps, depth), &passed);
                }
                let stop = expected
                    .faults
                    .iter()
                    .map(|fault| fault.kind)
                    .find(|kind| kind.stops());
                stopped += usize::from(stop == Some(FaultKind::StepBudget));
                too_deep += usize::from(stop == Some(FaultKind::CallDepth));
                compared += 1;
            }
        }
    }
    // The campaign must not be hollow.
    assert!(entered > 40 && called > 60, "{entered} {called}");
    assert!(
        stopped > compared / 4 && too_deep > compared / 20,
        "{stopped}, {too_deep} of {compared}"
    );
}
