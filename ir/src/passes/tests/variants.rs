//! Tests of calls: summaries, variants, recursion, arrays as arguments. An unused array keeps a
//! function from being inlined.

use super::*;
use crate::module::ValueId;
use crate::passes::specialise::MAX_GROWTH;
use crate::types::Direction;
use std::fmt::Write as _;

#[test]
fn equal_requests_share_a_variant() {
    let out = passed(
        "fn main() -> (f32, f32, f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = global h[0]
           %2: f32 = call square(%0)
           %3: f32 = call square(%1)
           %4: f32 = call square(%2)
           %5: f32 = ddx %2
           %6: f32 = ddx %3
           return %4, %5, %6
         }
         fn square(%0: f32) -> (f32) ^0 {
           array &0: i32[1]
           %1: f32 = mul %0, %0
           return %1
         }",
        &DUAL,
    );
    let lanes: Vec<_> = out
        .functions
        .iter()
        .map(|f| f.results[0].lanes.name())
        .collect();
    assert_eq!(lanes, ["", "x", ""]);
    assert_eq!(function(&out, "square", 1).results[0].lanes, Lanes::NONE);
}

#[test]
fn seeds_and_sources_inside_callees_count() {
    let out = passed(
        "fn main() -> (f32, f32) ^0 {
           %0: f32 $u = global g[0]
           %1: f32 $v = sin %0
           %2: f32 $unread = exp %0
           %3: f32 = call tex(%1, %2)
           %4: f32 $own = call source()
           %5: f32 = ddy %4
           return %3, %5
         }
         fn tex(%0: f32, %1: f32) -> (f32) ^0 {
           array &0: i32[1]
           %2: f32 = call texel(%0)
           %3: f32 = add %1, %2
           return %3
         }
         fn texel(%0: f32) -> (f32) ^0 {
           array &0: i32[1]
           %1: f32, %2: f32, %3: f32, %4: f32 = sample wood(%0, %0)
           return %4
         }
         fn source() -> (f32) ^0 {
           array &0: i32[1]
           %0: f32 = global h[0]
           return %0
         }",
        &DUAL,
    );
    let report = demand_report(&out);
    for (name, expected) in [("u", "xy"), ("v", "xy"), ("unread", ""), ("own", "y")] {
        assert_eq!(lanes(&report, "main", 0, name), expected, "{name}");
    }
    let source = function(&out, "source", 0);
    assert_eq!(source.values[0].lanes, Lanes::Y);
}

#[test]
fn recursion_reaches_its_least_fixpoint() {
    // c moves to b, b to a; the result is a. Values that circulate only in d are not demanded.
    let out = passed(
        "fn main(%0: i32) -> (f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = const 0.5
           %3: f32 = call rotate(%0, %2, %2, %1, %1)
           %4: f32 = ddx %3
           return %4
         }
         fn rotate(%0: i32, %1: f32 $a, %2: f32 $b, %3: f32 $c, %4: f32 $d) -> (f32) ^0 {
           %5: i32 = const 1
           %6: bool = ilt %0, %5
           %7: f32 = if %6 ^1 {
             yield %1
           } else ^2 {
             %8: i32 = isub %0, %5
             %9: f32 = exp %4
             %10: f32 = call rotate(%8, %2, %3, %3, %9)
             yield %10
           }
           return %7
         }",
        &DUAL,
    );
    let lanes = |variant| {
        let f = function(&out, "rotate", variant);
        let params = f.params().iter().map(|p| f.value(*p).lanes.name());
        params.collect::<Vec<_>>()
    };
    // One variant for each variable that g has reached.
    assert_eq!(lanes(0), ["", "", "", "x", ""]);
    assert_eq!(lanes(1), ["", "", "x", "x", ""]);
    assert_eq!(lanes(2), ["", "x", "x", "x", ""]);
    assert_eq!(out.functions.len(), 4);

    let merged = passed(
        &print_functions(&out),
        &PassOptions {
            merge_demand: true,
            ..DUAL
        },
    );
    assert_eq!(merged.functions.len(), 4);
}

/// The functions of a module, to go through the passes again.
fn print_functions(module: &Module) -> String {
    let mut plain = module.clone();
    for f in &mut plain.functions {
        f.values.iter_mut().for_each(|v| v.lanes = Lanes::NONE);
        f.results.iter_mut().for_each(|r| r.lanes = Lanes::NONE);
    }
    text(&plain)
}

#[test]
fn arrays_follow_passing_mode() {
    let out = passed(
        "fn main(%0: i32) -> (f32, f32) ^0 {
           array &0: f32[4] $given
           array &1: f32[4] $taken
           array &2: f32[4] $both
           array &3: f32[4] $untold
           %1: f32 = global g[0]
           store &0[%0], %1
           store &2[%0], %1
           store &3[%0], %1
           call work(%0) [&0, &1, &2, &3]
           %2: f32 = load &1[%0]
           %3: f32 = ddx %2
           %4: f32 = load &2[%0]
           %5: f32 = ddy %4
           return %3, %5
         }
         fn work(%0: i32) -> () ^0 {
           array &0 in: f32[4] $from
           array &1 out: f32[4] $to
           array &2 inout: f32[4] $through
           array &3 in: f32[4] $unread
           %1: f32 = load &0[%0]
           store &1[%0], %1
           %2: f32 = load &2[%0]
           store &2[%0], %2
           call endless()
           return
         }
         fn endless() -> () ^0 {
           call endless()
           return
         }",
        &DUAL,
    );
    let report = demand_report(&out);
    for (name, expected) in [
        ("given", "x"),
        ("taken", "x"),
        ("both", "y"),
        ("untold", ""),
    ] {
        assert_eq!(lanes(&report, "main", 0, name), expected, "{name}");
    }
    for (name, expected) in [("from", "x"), ("to", "x"), ("through", "y"), ("unread", "")] {
        assert_eq!(lanes(&report, "work", 0, name), expected, "{name}");
    }
}

/// A function of many parameters, called with every subset of the first `calls` ones carrying
/// shadows.
fn many_requests(calls: usize) -> String {
    let params = calls.max(4);
    let mut main =
        String::from("fn main() -> (f32) ^0 {\n%0: f32 = global g[0]\n%1: f32 = const 0.5\n");
    let mut next = 2;
    let mut sum = 1;
    for call in 0..calls {
        let args: Vec<_> = (0..params)
            .map(|p| if p == call { "%0" } else { "%1" })
            .collect();
        writeln!(main, "%{next}: f32 = call sum({})", args.join(", ")).unwrap();
        writeln!(main, "%{}: f32 = ddx %{next}", next + 1).unwrap();
        writeln!(main, "%{}: f32 = add %{sum}, %{}", next + 2, next + 1).unwrap();
        sum = next + 2;
        next += 3;
    }
    writeln!(main, "return %{sum}\n}}").unwrap();
    let list: Vec<_> = (0..params).map(|p| format!("%{p}: f32")).collect();
    writeln!(
        main,
        "fn sum({}) -> (f32) ^0 {{\narray &0: i32[1]",
        list.join(", ")
    )
    .unwrap();
    let mut last = 0;
    for p in 1..params {
        writeln!(main, "%{}: f32 = add %{last}, %{p}", params + p - 1).unwrap();
        last = params + p - 1;
    }
    writeln!(main, "return %{last}\n}}").unwrap();
    main
}

#[test]
fn variants_are_limited() {
    let variants = |calls| passed(&many_requests(calls), &DUAL).functions.len() - 1;
    assert_eq!(variants(1), 1);
    assert_eq!(variants(MAX_VARIANTS), MAX_VARIANTS);
    assert_eq!(variants(MAX_VARIANTS + 1), MAX_VARIANTS + 1);
    assert_eq!(variants(3 * MAX_VARIANTS), MAX_VARIANTS + 1);

    let out = passed(&many_requests(MAX_VARIANTS + 3), &DUAL);
    let union = function(&out, "sum", MAX_VARIANTS as u32);
    let params = union.params().iter().map(|p| union.value(*p).lanes);
    let carried: Vec<_> = params.map(|l| l.name()).collect();
    let mut expected = vec![""; MAX_VARIANTS];
    expected.extend(["x"; 3]);
    assert_eq!(carried, expected);
}

#[test]
fn forty_functions_that_call_the_one_before_three_times_stay_few() {
    // Each call passes its parameters in another order, so that requests differ.
    let mut text = String::from(
        "fn main() -> (f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = const 0.5
           %2: f32 = call f40(%0, %1, %1)
           %3: f32 = ddx %2
           return %3
         }
         fn f0(%0: f32, %1: f32, %2: f32) -> (f32) ^0 {
           array &0: i32[1]
           %3: f32 = mul %0, %1
           %4: f32 = add %3, %2
           return %4
         }\n",
    );
    for i in 1..=40 {
        let callee = i - 1;
        write!(
            text,
            "fn f{i}(%0: f32, %1: f32, %2: f32) -> (f32) ^0 {{
               %3: f32 = call f{callee}(%0, %1, %2)
               %4: f32 = call f{callee}(%1, %2, %0)
               %5: f32 = floor %4
               %6: f32 = call f{callee}(%2, %3, %5)
               %7: f32 = ddy %6
               %8: f32 = add %6, %7
               return %8
             }}\n"
        )
        .unwrap();
    }
    let out = passed(&text, &DUAL);
    assert!(out.functions.len() <= 1 + 41 * (MAX_VARIANTS + 1));
    assert!(out.functions.len() > 41);
    assert_eq!(passed(&text, &MERGED).functions.len(), 42);
    assert_eq!(passed(&text, &OFF).functions.len(), 42);
}

#[test]
fn more_parameters_than_bits_are_followed_too() {
    // Parameters 62 and up share a bit: what flows from one of them seems to flow from all.
    let params = 70;
    let list: Vec<_> = (0..params).map(|p| format!("%{p}: f32")).collect();
    let call = |carrying: usize| {
        let args = (0..params).map(|p| if p == carrying { "%0" } else { "%1" });
        let args: Vec<_> = args.collect();
        let text = format!(
            "fn main() -> (f32, f32) ^0 {{
               %0: f32 $global = global g[0]
               %1: f32 = const 0.5
               %2: f32 = call pick({})
               %3: f32 = ddx %2
               return %2, %3
             }}
             fn pick({}) -> (f32) ^0 {{
               array &0: i32[1]
               %{params}: f32 = add %5, %65
               return %{params}
             }}",
            args.join(", "),
            list.join(", ")
        );
        lanes(&demand_report(&passed(&text, &DUAL)), "main", 0, "global")
    };
    assert_eq!(call(5), "x");
    assert_eq!(call(65), "x");
    assert_eq!(call(6), "");
    assert_eq!(call(66), "x");
}

/// Two functions that call each other, each time with every parameter moved by one; the last one is
/// the result.
fn shifting(params: usize) -> String {
    let list: Vec<_> = (0..params).map(|p| format!("%{p}: f32")).collect();
    let mut args = vec!["%1"; params];
    args[0] = "%0";
    let mut text = format!(
        "fn main() -> (f32) ^0 {{
           %0: f32 = global g[0]
           %1: f32 = const 0.5
           %2: f32 = call even({})
           %3: f32 = ddx %2
           return %3
         }}\n",
        args.join(", ")
    );
    let shifted = (0..params).map(|p| format!("%{}", (p + params - 1) % params));
    let shifted = shifted.collect::<Vec<_>>().join(", ");
    for (name, other) in [("even", "odd"), ("odd", "even")] {
        let (test, inner, result) = (params, params + 1, params + 2);
        write!(
            text,
            "fn {name}({}) -> (f32) ^0 {{
               %{test}: bool = flt %0, %1
               %{result}: f32 = if %{test} ^1 {{
                 yield %{}
               }} else ^2 {{
                 %{inner}: f32 = call {other}({shifted})
                 yield %{inner}
               }}
               return %{result}
             }}\n",
            list.join(", "),
            params - 1,
        )
        .unwrap();
    }
    text
}

#[test]
fn recursion_that_shifts_its_parameters_ends() {
    // More requests than variants, and a union that grows on the way.
    let out = passed(&shifting(40), &DUAL);
    assert_eq!(out.functions.len(), 1 + 2 * (MAX_VARIANTS + 1));
    assert_eq!(out.entry().value(ValueId(0)).lanes, Lanes::X);
    let union = function(&out, "even", MAX_VARIANTS as u32);
    assert!(
        union
            .params()
            .iter()
            .all(|p| union.value(*p).lanes != Lanes::XY)
    );
}

/// A function whose result `i` is its own result `i + 1` one call deeper; the last one is its
/// parameter.
fn descending(results: usize) -> String {
    let list = |prefix: &str, from: usize| {
        let numbers = (from..from + results).map(|i| format!("{prefix}{i}"));
        numbers.collect::<Vec<_>>().join(", ")
    };
    let floats = vec!["f32"; results].join(", ");
    let inner: Vec<_> = (2..2 + results).map(|i| format!("%{i}: f32")).collect();
    let first = 2 + results;
    let outer: Vec<_> = (first..first + results)
        .map(|i| format!("%{i}: f32"))
        .collect();
    let mut same: Vec<_> = vec!["%1"; results];
    same[results - 1] = "%0";
    format!(
        "fn main() -> (f32) ^0 {{
           %0: f32 = global g[0]
           %1: f32 = const 0.5
           {} = call down(%0, %1)
           %{first}: f32 = ddx %2
           return %{first}
         }}
         fn down(%0: f32, %1: f32) -> ({floats}) ^0 {{
           %{}: bool = flt %0, %1
           {} = if %{} ^1 {{
             yield {}
           }} else ^2 {{
             {} = call down(%0, %1)
             yield {}, %0
           }}
           return {}
         }}",
        inner.join(", "),
        first + results,
        outer.join(", "),
        first + results,
        same.join(", "),
        inner.join(", "),
        list("%", 3).rsplit_once(", ").expect("several").0,
        list("%", first),
    )
}

#[test]
fn a_union_that_grows_too_often_takes_everything() {
    // Each call asks for one result more than the one around it.
    let lanes = |results| {
        let out = passed(&descending(results), &DUAL);
        let union = function(&out, "down", MAX_VARIANTS as u32);
        let lanes = union.results.iter().map(|r| r.lanes);
        lanes.fold(Lanes::NONE, |all, lanes| all | lanes)
    };
    assert_eq!(lanes(MAX_VARIANTS + MAX_GROWTH as usize), Lanes::X);
    assert_eq!(lanes(MAX_VARIANTS + MAX_GROWTH as usize + 10), Lanes::XY);
}

#[test]
fn recursion_is_followed_for_a_limited_number_of_rounds() {
    // The shadow of g reaches the first result after as many calls as there are results.
    for results in [MAX_FIXPOINT_ROUNDS - 10, MAX_FIXPOINT_ROUNDS + 10] {
        let out = run(module(&descending(results)), &DUAL).0;
        assert!(out.entry().value(ValueId(0)).lanes.has(Direction::X));
    }
    // Undemanded values are distinguished only within the limit.
    let unasked = |results| {
        let text = descending(results).replace("%1: f32 = const 0.5\n", "%1: f32 = global h[0]\n");
        let out = run(module(&text.replace("yield %1, ", "yield %0, ")), &DUAL).0;
        out.entry().value(ValueId(1)).lanes
    };
    assert_eq!(unasked(20), Lanes::X);
    assert_eq!(unasked(MAX_FIXPOINT_ROUNDS + 10), Lanes::XY);
}

#[test]
fn a_long_chain_of_calls_needs_no_stack() {
    let count = 20_000;
    let mut text = String::from(
        "fn main() -> (f32) ^0 {\n%0: f32 = global g[0]\n%1: f32 = call f0(%0)\n%2: f32 = ddx %1\nreturn %2\n}\n",
    );
    for i in 0..count {
        writeln!(
            text,
            "fn f{i}(%0: f32) -> (f32) ^0 {{\n%1: f32 = call f{}(%0)\nreturn %1\n}}",
            i + 1
        )
        .unwrap();
    }
    writeln!(
        text,
        "fn f{count}(%0: f32) -> (f32) ^0 {{\narray &0: i32[1]\nreturn %0\n}}"
    )
    .unwrap();
    let out = passed(&text, &DUAL);
    assert_eq!(out.functions.len(), count + 2);
    assert!(out.functions.iter().all(|f| f.values[0].lanes == Lanes::X));
}
