//! Tests of folding: constants, identities, and decided branches.

use super::optimise::one;
use super::*;
use crate::passes::{dce::dce, fold::fold};

fn folded(functions: &str) -> Module {
    // DCE as well, so that numbers are in order and unused constants gone.
    one(functions, |f| {
        fold(f);
        dce(f);
    })
}

#[test]
fn constants_fold_to_bits_of_op() {
    let out = folded(
        "fn main() -> (f32, i32) ^0 {
           %0: f32 = const 0.1
           %1: f32 = const 3.0
           %2: f32 = div %0, %1
           %3: f32 = sin %2
           %4: i32 = const 7
           %5: i32 = const -2
           %6: i32 = idiv %4, %5
           return %3, %6
         }",
    );
    let sine = Op::Sin.value(&[(0.1_f32 / 3.0).to_bits()]);
    let expected = format!(
        "fn main() -> (f32, i32) ^0 {{
           %0: f32 = const {:?}
           %1: i32 = const -3
           return %0, %1
         }}",
        f32::from_bits(sine)
    );
    assert_text(&out, &expected);
}

#[test]
fn faulting_instructions_stay() {
    let text = "fn main() -> (i32) ^0 {
        %0: i32 = const 7
        %1: i32 = const 0
        %2: i32 = idiv %0, %1
        return %1
      }";
    assert_text(&folded(text), text);
}

#[test]
fn folded_nan_is_canonical() {
    let out = folded(
        "fn main() -> (f32) ^0 {
           %0: f32 = const 0.0
           %1: f32 = div %0, %0
           return %1
         }",
    );
    assert_text(
        &out,
        "fn main() -> (f32) ^0 {\n%0: f32 = const nan\nreturn %0\n}",
    );
}

#[test]
fn identities_hold_for_every_operand() {
    let out = folded(
        "fn main(%0: f32) -> (f32, f32, f32, f32, f32, f32) ^0 {
           %1: f32 = const 1.0
           %2: f32 = const 0.0
           %3: f32 = const -0.0
           %4: f32 = mul %1, %0
           %5: f32 = div %4, %1
           %6: f32 = sub %5, %2
           %7: f32 = add %3, %6
           %8: f32 = add %7, %2      // -0 + 0 is 0
           %9: f32 = sub %7, %3      // -0 - -0 is 0
           %10: f32 = sub %2, %7
           %11: f32 = mul %7, %2     // infinities
           %12: f32 = sub %7, %7     // infinities
           return %7, %8, %9, %10, %11, %12
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32, f32, f32, f32, f32, f32) ^0 {
           %1: f32 = const 0.0
           %2: f32 = const -0.0
           %3: f32 = add %0, %1
           %4: f32 = sub %0, %2
           %5: f32 = sub %1, %0
           %6: f32 = mul %0, %1
           %7: f32 = sub %0, %0
           return %0, %3, %4, %5, %6, %7
         }",
    );
}

#[test]
fn an_if_on_a_constant_is_its_arm() {
    let out = folded(
        "fn main(%0: f32) -> (f32) ^0 {
           %1: bool = const true
           %2: f32 = if %1 ^1 {
             %3: f32 = add %0, %0
             %4: bool = lnot %1
             %5: f32 = if %4 ^3 {
               yield %0
             } else ^4 {
               yield %3
             }
             yield %5
           } else ^2 {
             loop ^5 {
               break ^5
             }
             yield %0
           }
           return %2
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = add %0, %0
           return %1
         }",
    );
}

#[test]
fn arms_that_agree_decide_nothing() {
    let out = folded(
        "fn main(%0: f32, %1: i32) -> (f32, f32) ^0 {
           %2: bool = ilt %1, %1
           %3: f32, %4: f32 = if %2 ^1 {
             %5: f32 = const 2.0
             yield %0, %5
           } else ^2 {
             %6: f32 = const 2.0
             yield %0, %6
           }
           %7: f32 = add %4, %4
           return %3, %7
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32, f32) ^0 {
           %2: f32 = const 4.0
           return %0, %2
         }",
    );
}

#[test]
fn a_constant_break_ends_what_follows() {
    // The loop's condition is false at once: `while (false)`.
    let out = folded(
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = loop ^1 (%2: f32 = %0) {
             %3: bool = const false
             %4: f32 = add %2, %2
             if %3 ^2 {
               yield
             } else ^3 {
               break ^1 %4
             }
             %5: f32 = sin %4
             continue ^1 %5
           }
           return %1
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = add %0, %0
           return %1
         }",
    );
}

#[test]
fn a_loop_that_never_continues_is_a_block() {
    let out = folded(
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: f32 = loop ^1 (%3: f32 = %0) {
             %4: bool = ilt %1, %1
             if %4 ^2 {
               %5: f32 = sin %3
               break ^1 %5
             } else ^3 {
               yield
             }
             break ^1 %3
           }
           return %2
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: f32 = block ^1 {
             %3: bool = ilt %1, %1
             if %3 ^2 {
               %4: f32 = sin %0
               break ^1 %4
             } else ^3 {
               yield
             }
             break ^1 %0
           }
           return %2
         }",
    );
}

#[test]
fn code_after_endless_loop_is_removed() {
    let out = folded(
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: bool = ilt %1, %1
           if %2 ^1 {
             return %0
           } else ^2 {
             loop ^3 {
               continue ^3
             }
             yield
           }
           %3: f32, %4: f32, %5: f32, %6: f32 = sample wood(%0, %0)
           return %6
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: bool = ilt %1, %1
           if %2 ^1 {
             return %0
           } else ^2 {
             loop ^3 {
               continue ^3
             }
             unreachable
           }
           unreachable
         }",
    );
}

#[test]
fn a_block_left_at_its_end_is_its_body() {
    let out = folded(
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = block ^1 {
             %2: f32 = block ^2 {
               %3: f32 = sin %0
               yield %3
             }
             break ^1 %2
           }
           return %1
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = sin %0
           return %1
         }",
    );
}

#[test]
fn uints_without_the_highest_bit_become_floats_as_ints_do() {
    let out = folded(
        "fn main(%0: i32) -> (f32, f32, f32, f32, f32, f32, f32) ^0 {
           %1: bool = ilt %0, %0
           %2: u32 = i2u %0
           %3: u32 = const 65535
           %4: u32 = and %3, %2
           %5: f32 = u2f %4
           %6: u32 = const 48
           %7: u32 = shr %2, %6
           %8: u32 = xor %7, %4
           %9: f32 = u2f %8
           %10: u32 = const 32
           %11: u32 = shr %2, %10
           %12: f32 = u2f %11
           %13: u32 = or %4, %2
           %14: f32 = u2f %13
           %15: u32 = const 4294901760
           %16: u32 = and %2, %15
           %17: f32 = u2f %16
           %18: u32 = b2u %1
           %19: f32 = u2f %18
           %20: u32 = iadd %4, %7
           %21: f32 = u2f %20
           return %5, %9, %12, %14, %17, %19, %21
         }",
    );
    let mut functions = out.functions.iter().flat_map(|f| &f.regions);
    let insts = functions.find(|r| !r.insts.is_empty()).map(|r| &r.insts);
    let insts = insts.expect("it has a body").iter();
    let conversions = insts.filter_map(|inst| match inst.kind {
        InstKind::Op(op @ (Op::IToF | Op::UToF)) => Some(op),
        _ => None,
    });
    // Shifted by 48 is by 16, by 32 not at all; sums may carry into the highest bit.
    let expected = [
        Op::IToF,
        Op::IToF,
        Op::UToF,
        Op::UToF,
        Op::UToF,
        Op::IToF,
        Op::UToF,
    ];
    assert_eq!(conversions.collect::<Vec<_>>(), expected);
}
