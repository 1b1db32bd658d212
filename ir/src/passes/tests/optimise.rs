//! Tests of GVN, DCE, and dropping functions.

use super::*;
use crate::passes::{dce::dce, gvn::gvn};

/// One pass over `main`.
pub(super) fn one(functions: &str, pass: impl FnOnce(&mut Function)) -> Module {
    let mut module = module(functions);
    pass(&mut module.functions[0]);
    verified(module)
}

/// GVN, and removal of unused instructions.
fn shared(function: &mut Function) {
    gvn(function);
    dce(function);
}

#[test]
fn repeated_computations_are_shared() {
    let out = one(
        "fn main(%0: f32, %1: i32) -> (f32, f32) ^0 {
           %2: f32 = sin %0
           %3: bool = ilt %1, %1
           %4: f32 = if %3 ^1 {
             %5: f32 = sin %0
             %6: f32 = cos %0
             %7: f32 = add %5, %6
             yield %7
           } else ^2 {
             %8: f32 = cos %0
             yield %8
           }
           %9: f32 = cos %0
           %10: f32 = sin %0
           %11: f32 = add %9, %10
           return %4, %11
         }",
        shared,
    );
    // A cosine in one arm does not serve the other, nor what follows.
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32, f32) ^0 {
           %2: f32 = sin %0
           %3: bool = ilt %1, %1
           %4: f32 = if %3 ^1 {
             %5: f32 = cos %0
             %6: f32 = add %2, %5
             yield %6
           } else ^2 {
             %7: f32 = cos %0
             yield %7
           }
           %8: f32 = cos %0
           %9: f32 = add %8, %2
           return %4, %9
         }",
    );
}

#[test]
fn products_of_neighbouring_points_are_sums() {
    let out = one(
        "fn main(%0: i32) -> (u32, u32, u32, u32, i32) ^0 {
           %1: u32 = const 1000
           %2: i32 = const 3
           %3: u32 = i2u %0
           %4: u32 = imul %3, %1
           %5: i32 = iadd %2, %0
           %6: u32 = i2u %5
           %7: u32 = imul %1, %6
           %8: u32 = const 4000000000
           %9: u32 = iadd %3, %8
           %10: u32 = imul %9, %1
           %11: u32 = const 7
           %12: u32 = imul %9, %11
           %13: i32 = const 1000
           %14: i32 = imul %5, %13
           return %4, %7, %10, %12, %14
         }",
        shared,
    );
    // 1000 · 4000000000 wraps. What was not multiplied by the same number, of the same type, stays
    // a product.
    let more = 4_000_000_000_u32.wrapping_mul(1000);
    assert_text(
        &out,
        &format!(
            "fn main(%0: i32) -> (u32, u32, u32, u32, i32) ^0 {{
           %1: u32 = const 1000
           %2: i32 = const 3
           %3: u32 = i2u %0
           %4: u32 = imul %3, %1
           %5: i32 = iadd %2, %0
           %6: u32 = const 3000
           %7: u32 = iadd %4, %6
           %8: u32 = const 4000000000
           %9: u32 = iadd %3, %8
           %10: u32 = const {more}
           %11: u32 = iadd %4, %10
           %12: u32 = const 7
           %13: u32 = imul %9, %12
           %14: i32 = const 1000
           %15: i32 = imul %5, %14
           return %4, %7, %11, %13, %15
         }}"
        ),
    );
}

#[test]
fn sums_at_neighbouring_points_are_shared() {
    let out = one(
        "fn main(%0: i32, %1: i32) -> (i32, i32, i32, i32, i32, i32) ^0 {
           %2: i32 = const 5
           %3: i32 = iadd %0, %2
           %4: i32 = iadd %1, %3
           %5: i32 = iadd %0, %1
           %6: i32 = iadd %3, %1
           %7: i32 = const -7
           %8: i32 = iadd %7, %1
           %9: i32 = iadd %8, %0
           %10: i32 = iadd %8, %3
           %11: i32 = iadd %2, %8
           return %4, %5, %6, %9, %10, %11
         }",
        shared,
    );
    // The first one comes before the sum it could be made of.
    assert_text(
        &out,
        "fn main(%0: i32, %1: i32) -> (i32, i32, i32, i32, i32, i32) ^0 {
           %2: i32 = const 5
           %3: i32 = iadd %0, %2
           %4: i32 = iadd %1, %3
           %5: i32 = iadd %0, %1
           %6: i32 = iadd %5, %2
           %7: i32 = const -7
           %8: i32 = iadd %5, %7
           %9: i32 = const -2
           %10: i32 = iadd %5, %9
           %11: i32 = iadd %1, %9
           return %4, %5, %6, %8, %10, %11
         }",
    );
}

#[test]
fn x_minus_floor_becomes_fract() {
    let out = one(
        "fn main(%0: f32, %1: f32) -> (f32, f32, f32, f32) ^0 {
           %2: f32 = floor %0
           %3: f32 = sub %0, %2
           %4: f32 = fract %0
           %5: f32 = sub %1, %2
           %6: f32 = sub %2, %0
           return %3, %4, %5, %6
         }",
        shared,
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: f32) -> (f32, f32, f32, f32) ^0 {
           %2: f32 = floor %0
           %3: f32 = fract %0
           %4: f32 = sub %1, %2
           %5: f32 = sub %2, %0
           return %3, %3, %4, %5
         }",
    );
}

#[test]
fn faulting_and_effectful_code_is_not_shared() {
    let text = "fn main(%0: i32) -> (i32, i32) ^0 {
        %1: i32 = idiv %0, %0
        %2: i32 = idiv %0, %0
        message done()
        message done()
        return %1, %2
      }";
    assert_text(&one(text, gvn), text);
}

#[test]
fn equal_samples_are_one_request() {
    assert_text(
        &one(
            "fn main(%0: f32) -> (f32, f32, f32, f32) ^0 {
               %1: bool = flt %0, %0
               %2: f32, %3: f32, %4: f32, %5: f32 = sample wood(%0, %0)
               %6: f32, %7: f32 = if %1 ^1 {
                 %8: f32, %9: f32, %10: f32, %11: f32 = sample wood(%0, %0)
                 %12: f32, %13: f32, %14: f32, %15: f32 = sample_level wood(%0, %0, %0)
                 yield %8, %13
               } else ^2 {
                 %16: f32, %17: f32, %18: f32, %19: f32 = sample_level wood(%0, %0, %0)
                 yield %16, %0
               }
               %20: f32, %21: f32, %22: f32, %23: f32 = sample wood(%0, %0)
               return %2, %6, %7, %23
             }",
            shared,
        ),
        "fn main(%0: f32) -> (f32, f32, f32, f32) ^0 {
           %1: bool = flt %0, %0
           %2: f32, %3: f32, %4: f32, %5: f32 = sample wood(%0, %0)
           %6: f32, %7: f32 = if %1 ^1 {
             %8: f32, %9: f32, %10: f32, %11: f32 = sample_level wood(%0, %0, %0)
             yield %2, %9
           } else ^2 {
             %12: f32, %13: f32, %14: f32, %15: f32 = sample_level wood(%0, %0, %0)
             yield %12, %0
           }
           return %2, %6, %7, %5
         }",
    );
}

#[test]
fn ops_with_different_last_operands_stay() {
    let text = "fn main(%0: f32, %1: f32) -> (f32, f32) ^0 {
        %2: f32 = perlin4 %0, %0, %0, %0, %0
        %3: f32 = perlin4 %0, %0, %0, %0, %1
        return %2, %3
      }";
    assert_text(&one(text, gvn), text);
}

#[test]
fn constants_of_two_variables_stay_two() {
    let text = "fn main() -> (f32, f32, f32) ^0 {
        %0: f32 $y0 = const 1.0
        %1: f32 $x1 = const 1.0
        %2: f32 = const 1.0
        return %0, %1, %2
      }";
    let out = one(text, |f| {
        gvn(f);
        dce(f);
    });
    assert_text(
        &out,
        "fn main() -> (f32, f32, f32) ^0 {
           %0: f32 $y0 = const 1.0
           %1: f32 $x1 = const 1.0
           return %0, %1, %0
         }",
    );
}

fn eliminated(functions: &str) -> Module {
    one(functions, dce)
}

#[test]
fn unused_results_and_parameters_go() {
    let out = eliminated(
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: bool = ilt %1, %1
           %3: f32, %4: f32 = if %2 ^1 {
             %5: f32 = sin %0
             yield %5, %0
           } else ^2 {
             yield %0, %0
           }
           // %8 feeds only itself, %9 the result.
           %6: f32, %7: f32 = loop ^3 (%8: f32 = %3, %9: f32 = %4) {
             %10: f32 = add %8, %8
             %11: bool = flt %9, %0
             if %11 ^4 {
               %12: f32 = mul %9, %9
               continue ^3 %10, %12
             } else ^5 {
               break ^3 %10, %9
             }
             unreachable
           }
           return %7
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           %2: bool = ilt %1, %1
           %3: f32 = if %2 ^1 {
             yield %0
           } else ^2 {
             yield %0
           }
           %4: f32 = loop ^3 (%5: f32 = %3) {
             %6: bool = flt %5, %0
             if %6 ^4 {
               %7: f32 = mul %5, %5
               continue ^3 %7
             } else ^5 {
               break ^3 %5
             }
             unreachable
           }
           return %4
         }",
    );
}

#[test]
fn unread_code_goes_and_effects_stay() {
    let out = eliminated(
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           array &0: f32[4]
           array &1: f32[4]
           array &2: f32[4]
           %2: bool = ilt %1, %1
           %3: i32 = const 3
           array_zero &0
           store &0[%3], %0
           store &1[%1], %0         // may fault
           if %2 ^1 {
             store &0[%3], %0
             %4: f32 = sin %0
             block ^3 {
               if %2 ^4 {
                 break ^3
               } else ^5 {
                 yield
               }
               yield
             }
             yield
           } else ^2 {
             yield
           }
           %5: f32 = load &2[%3]
           %6: f32 = load &2[%1]    // may fault
           %7: f32, %8: f32, %9: f32, %10: f32 = sample wood(%0, %0)
           %11: i32 = idiv %1, %3    // a faulting op
           return %0
         }",
    );
    assert_text(
        &out,
        "fn main(%0: f32, %1: i32) -> (f32) ^0 {
           array &0: f32[4]
           array &1: f32[4]
           %2: i32 = const 3
           store &0[%1], %0
           %3: f32 = load &1[%1]
           %4: f32, %5: f32, %6: f32, %7: f32 = sample wood(%0, %0)
           %8: i32 = idiv %1, %2
           return %0
         }",
    );
}

#[test]
fn observable_break_keeps_its_condition() {
    let text = "fn main(%0: f32, %1: i32) -> (f32) ^0 {
        %2: bool = ilt %1, %1
        block ^1 {
          if %2 ^2 {
            break ^1
          } else ^3 {
            yield
          }
          %3: f32, %4: f32, %5: f32, %6: f32 = sample wood(%0, %0)
          yield
        }
        return %0
      }";
    assert_text(&eliminated(text), text);
}

#[test]
fn loops_stay_since_iterations_are_counted() {
    let text = "fn main(%0: i32) -> (i32) ^0 {
        loop ^1 (%1: i32 = %0) {
          %2: bool = ilt %1, %0
          if %2 ^2 {
            break ^1
          } else ^3 {
            %3: i32 = iadd %1, %1
            continue ^1 %3
          }
          unreachable
        }
        return %0
      }";
    assert_text(&eliminated(text), text);
}

#[test]
fn calls_with_unread_results_stay() {
    let text = "
      fn main(%0: f32) -> (f32) ^0 {
        %1: f32 = call branching(%0)
        %2: f32 = call around(%0)
        return %0
      }
      fn branching(%0: f32) -> (f32) ^0 {
        %1: f32 = const 0.0
        %2: bool = flt %0, %1
        %3: f32 = if %2 ^1 {
          yield %1
        } else ^2 {
          yield %0
        }
        return %3
      }
      fn around(%0: f32) -> (f32) ^0 {
        %1: f32 = call around(%0)
        return %1
      }";
    let uncalled = "
      fn uncalled(%0: f32) -> (f32) ^0 {
        return %0
      }";
    assert_text(&passed(&format!("{text}{uncalled}"), &DUAL), text);
}

#[test]
fn nests_as_deep_as_the_verifier_allows_are_fine() {
    let depth = crate::limits::MAX_REGION_DEPTH - 1;
    let mut text = String::from("fn main(%0: f32, %1: i32) -> (f32) ^0 {\n");
    text += "%2: bool = ilt %1, %1\n";
    for i in 1..=depth {
        text += &format!("if %2 ^{i} {{\n");
    }
    text += "%3: f32, %4: f32, %5: f32, %6: f32 = sample wood(%0, %0)\nyield\n";
    for i in (1..=depth).rev() {
        text += &format!("}} else ^{} {{\nyield\n}}\n", depth + i);
        text += if i > 1 { "yield\n" } else { "return %0\n}" };
    }
    let out = passed(&text, &DUAL);
    assert_eq!(out.entry().regions.len(), 2 * depth + 1);
}

#[test]
fn lanes_that_a_text_has_are_found_anew() {
    // A repeated computation has lanes once: it may replace one that has none.
    let text = "fn main() -> (f32, f32) ^0 {
                  %0: f32 = global g[0]
                  %1: f32:xy = global g[0]
                  %2: f32:xy = mul %1, %1
                  return %0, %2
                }";
    for output_shadows in [false, true] {
        let options = PassOptions {
            output_shadows,
            ..PassOptions::default()
        };
        let mut passes = 0;
        let (out, _) = run_observed(module(text), &options, &mut |_, module| {
            verified(module.clone());
            passes += 1;
        });
        let lanes = out.entry().results.iter().map(|result| result.lanes);
        assert!(lanes.eq([[Lanes::NONE, Lanes::XY][usize::from(output_shadows)]; 2]));
        assert!(passes > 3, "{passes}");
    }
}
