//! Which products of reverse mode are strong, and that gradients of what is not taken are 0.

use super::derivatives::{calling, derived, written};
use super::op_gradients::outputs;
use super::*;
use crate::derivative::DifferentiationMode::Backward;
use crate::module::*;

/// A shader that calls the backward derivative of the function `f` of a module.
fn gradient_of(functions: &str) -> Module {
    let mut module = module(functions);
    let f = module.functions.iter().position(|f| f.name == "f");
    let f = FuncId(f.expect("there is one") as u32);
    let id = derived(&mut module, Backward, f);
    written(calling(module, id))
}

fn strong_products(module: &Module) -> usize {
    let insts = module.functions.iter().flat_map(|f| &f.regions);
    let mut kinds = insts.flat_map(|region| region.insts.iter().map(|inst| &inst.kind));
    let count = kinds
        .by_ref()
        .filter(|kind| **kind == InstKind::Op(Op::StrongMul));
    count.count()
}

/// A module of functions with a shader.
fn with_main(f: &str) -> String {
    format!("fn main() -> () ^0 {{\n  return\n}}\n{f}")
}

#[test]
fn code_of_which_all_counts_has_ordinary_products() {
    let f = "fn f(%0: f32, %1: f32) -> (f32) ^0 {
        %2: f32 = mul %0, %1
        %3: f32 = neg %2
        %4: f32 = mul %3, %3
        %5: f32 = add %4, %0
        %6: f32 = sin %5
        return %6
    }";
    assert_eq!(strong_products(&gradient_of(&with_main(f))), 0);
    let called = "fn f(%0: f32, %1: f32) -> (f32) ^0 {
        %2: f32 = call square(%0)
        %3: f32 = mul %2, %1
        return %3
    }
    fn square(%0: f32) -> (f32) ^0 {
        %1: f32 = mul %0, %0
        return %1
    }";
    assert_eq!(strong_products(&gradient_of(&with_main(called))), 0);
    // The one of t, whose partial is a difference.
    let mixed = "fn f(%0: f32, %1: f32) -> (f32) ^0 {
        %2: f32 = mul %0, %0
        %3: f32 = const 2.0
        %4: f32 = mix %3, %1, %2
        return %4
    }";
    assert_eq!(strong_products(&gradient_of(&with_main(mixed))), 1);
    // The square goes into the result once through a selection and once beside it.
    let chosen = "fn f(%0: f32, %1: f32) -> (f32) ^0 {
        %2: f32 = mul %0, %0
        %3: bool = flt %0, %1
        %4: f32 = select %3, %2, %1
        %5: f32 = add %4, %2
        return %5
    }";
    assert_eq!(strong_products(&gradient_of(&with_main(chosen))), 0);
    let looped = "fn f(%0: f32, %1: f32) -> (f32) ^0 {
        %2: i32 = const 0
        %3: f32 = loop ^1 (%4: i32 = %2, %5: f32 = %0) {
            %6: i32 = const 3
            %7: bool = ilt %4, %6
            if %7 ^2 {
                yield
            } else ^3 {
                break ^1 %5
            }
            %8: f32 = mul %5, %1
            %9: i32 = const 1
            %10: i32 = iadd %4, %9
            continue ^1 %10, %8
        }
        return %3
    }";
    assert_eq!(strong_products(&gradient_of(&with_main(looped))), 0);
}

/// Values that are not finite, with x: log, whose partial there is 0, and rcp, whose partial is
/// not.
const BASES: [(&str, f64); 2] = [("log", -1.0), ("rcp", 0.0)];

/// Programs whose square of such a value does not go into the result where y is 2, and their
/// gradients there for a cotangent of 1 each.
const UNTAKEN: &[(&str, &str, [f64; 2])] = &[
    (
        "a selection",
        "%5: f32 = select %4, %1, %3
        return %5",
        [0.0, 1.0],
    ),
    (
        "a selection of a sum",
        "%5: f32 = add %3, %1
        %6: f32 = sub %5, %3
        %7: f32 = select %4, %1, %6
        return %7",
        [0.0, 1.0],
    ),
    (
        "a branch",
        "%5: f32 = if %4 ^1 {
            yield %1
        } else ^2 {
            yield %3
        }
        return %5",
        [0.0, 1.0],
    ),
    (
        "an early return",
        "if %4 ^1 {
            return %1
        } else ^2 {
            yield
        }
        %5: f32 = mul %3, %1
        return %5",
        [0.0, 1.0],
    ),
    (
        "the lesser",
        "%5: f32 = min %1, %3
        return %5",
        [0.0, 1.0],
    ),
    (
        "a callee whose result is not taken",
        "%5: f32 = call square(%2)
        %6: f32 = select %4, %1, %5
        return %6",
        [0.0, 1.0],
    ),
    (
        "a callee that is also taken elsewhere",
        "%5: f32 = call square(%2)
        %6: f32 = call square(%1)
        %7: f32 = select %4, %6, %5
        %8: f32 = call square(%7)
        return %8",
        [0.0, 32.0],
    ),
    (
        "a recursive callee whose result is not taken",
        "%5: i32 = const 2
        %6: f32 = call deep(%2, %5)
        %7: f32 = select %4, %1, %6
        return %7",
        [0.0, 1.0],
    ),
    (
        "the last iteration",
        "%5: i32 = const 0
        %6: f32 = loop ^1 (%7: i32 = %5, %8: f32 = %1, %9: f32 = %1) {
            %10: i32 = const 1
            %11: bool = ilt %7, %10
            if %11 ^2 {
                yield
            } else ^3 {
                break ^1 %8
            }
            %12: f32 = mul %9, %3
            %13: f32 = mul %12, %12
            %14: i32 = iadd %7, %10
            continue ^1 %14, %8, %13
        }
        return %6",
        [0.0, 1.0],
    ),
    (
        "a function that is flat at infinity",
        "%5: f32 = const 0.0
        %6: f32 = mul %0, %5
        %7: f32 = rcp %6
        %8: f32 = mul %7, %1
        %9: f32 = mul %8, %8
        %10: f32 = atan %9
        %11: f32 = add %10, %1
        return %11",
        [0.0, 1.0],
    ),
];

#[test]
fn gradients_of_what_is_not_taken_are_zero() {
    for (name, body, gradient) in UNTAKEN {
        for (base, x) in BASES {
            let f = format!(
                "fn f(%0: f32, %1: f32) -> (f32) ^0 {{
                    %2: f32 = {base} %0
                    %3: f32 = mul %2, %2
                    %4: bool = flt %0, %1
                    {body}
                }}
                fn square(%0: f32) -> (f32) ^0 {{
                    %1: f32 = mul %0, %0
                    return %1
                }}
                fn deep(%0: f32, %1: i32) -> (f32) ^0 {{
                    %2: i32 = const 1
                    %3: bool = ilt %1, %2
                    %4: f32 = if %3 ^1 {{
                        %5: f32 = mul %0, %0
                        yield %5
                    }} else ^2 {{
                        %6: i32 = isub %1, %2
                        %7: f32 = call deep(%0, %6)
                        yield %7
                    }}
                    return %4
                }}"
            );
            let shader = gradient_of(&with_main(&f));
            assert_eq!(
                outputs(&shader, &[x, 2.0, 1.0]),
                gradient,
                "{name} of {base}"
            );
        }
    }
}

/// The first of two results does not need the second, which is infinite.
#[test]
fn one_of_several_results_can_be_chosen() {
    let f = "fn f(%0: f32) -> (f32, f32) ^0 {
        %1: f32 = const 3.0
        %2: f32 = mul %0, %1
        %3: f32 = rcp %0
        %4: f32 = mul %3, %3
        return %2, %4
    }";
    let shader = gradient_of(&with_main(f));
    assert_eq!(outputs(&shader, &[0.0, 1.0, 0.0]), [3.0]);
}
