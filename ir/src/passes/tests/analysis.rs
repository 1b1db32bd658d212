//! Tests of lineage, demand and lanes within one function.

use super::*;

#[test]
fn floats_of_globals_are_the_only_sources() {
    let out = passed(
        "fn main(%0: f32) -> (f32, f32, f32, f32, f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = mul %1, %0
           %3: i32 = f2i %1
           %4: f32 = i2f %3
           %5: f32, %6: f32, %7: f32, %8: f32 = sample wood(%1, %0)
           %9: f32 = ddx %2
           %10: f32 = ddx %0          // an input
           %11: f32 = ddx %4          // of an int
           %12: f32 = ddx %8          // of a texture
           %13: f32 = ddx %9         // second order
           return %9, %10, %11, %12, %13
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32, f32, f32, f32, f32) ^0 {
           %1: f32:xy = global g[0]
           %2: f32:x = mul %1, %0
           %3: f32, %4: f32, %5: f32, %6: f32 = sample wood(%1, %0)
           %7: f32 = ddx %2
           %8: f32 = const 0.0
           return %7, %8, %8, %8, %8
         }",
    );
}

#[test]
fn given_shadows_are_sources_and_read_no_more_than_is_demanded() {
    let text = "fn main() -> (f32, f32, f32) ^0 {
           %0: f32 = global g[0]
           %1: f32 = sin %0
           %2: f32 = cos %0
           %3: f32 = attach %1, %2, %0
           %4: f32 = attach %2, %1, %0
           %5: f32 = mul %3, %4
           %6: f32 = ddy %3
           %7: f32 = ddx %0
           return %5, %6, %7
         }";
    let expected = "fn main() -> (f32, f32, f32) ^0 {
           %0: f32:x = global g[0]
           %1: f32 = sin %0
           %2: f32 = cos %0
           %3: f32 = const 0.0
           %4: f32:y = attach %1, %3, %0
           %5: f32 = mul %4, %2
           %6: f32 = ddy %4
           %7: f32 = ddx %0
           return %5, %6, %7
         }";
    assert_text(&passed(text, &DUAL), expected);
    assert!(!super::text(&passed(text, &OFF)).contains("attach"));
}

#[test]
fn ops_with_zero_partial_pass_nothing() {
    let out = passed(
        "fn main(%0: f32) -> (f32, f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = floor %1
           %3: f32 = add %1, %2
           %4: f32 = step %1, %3
           %5: f32 = mul %4, %0
           %6: f32 = ddy %3
           %7: f32 = ddx %5
           return %6, %7
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32, f32) ^0 {
           %1: f32:y = global g[0]
           %2: f32 = floor %1
           %3: f32:y = add %1, %2
           %4: f32 = ddy %3
           %5: f32 = const 0.0
           return %4, %5
         }",
    );
}

#[test]
fn conditions_indices_casts_pass_no_demand() {
    let out = passed(
        "fn main() -> (f32) ^0 {
           array &0: f32[4]
           %0: f32 = global g[0]
           %1: f32 = global h[0]
           %2: bool = flt %0, %1
           %3: i32 = f2i %0
           store &0[%3], %1
           %4: f32 = if %2 ^1 {
             %5: f32 = load &0[%3]
             yield %5
           } else ^2 {
             %6: f32 = const 2.0
             yield %6
           }
           %7: f32 = ddx %4
           return %7
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main() -> (f32) ^0 {
           array &0: f32:x[4]
           %0: f32 = global g[0]
           %1: f32:x = global h[0]
           %2: bool = flt %0, %1
           %3: i32 = f2i %0
           store &0[%3], %1
           %4: f32:x = if %2 ^1 {
             %5: f32:x = load &0[%3]
             yield %5
           } else ^2 {
             %6: f32 = const 2.0
             yield %6
           }
           %7: f32 = ddx %4
           return %7
         }",
    );
}

pub(super) const TERNARY: &str = "fn main() -> (f32) ^0 {
   %0: f32 $x = global g[0]
   %1: f32 $y = global h[0]
   %2: bool = flt %0, %1
   %3: f32 = if %2 ^1 {
     %4: f32 = ddx %0
     yield %4
   } else ^2 {
     %5: f32 = ddy %1
     yield %5
   }
   return %3
 }";

#[test]
fn each_arm_asks_for_its_own_direction() {
    let report = demand_report(&passed(TERNARY, &DUAL));
    assert_eq!(lanes(&report, "main", 0, "x"), "x");
    assert_eq!(lanes(&report, "main", 0, "y"), "y");
}

#[test]
fn merged_both_arms_ask_for_both() {
    let report = demand_report(&passed(TERNARY, &MERGED));
    assert_eq!(lanes(&report, "main", 0, "x"), "xy");
    assert_eq!(lanes(&report, "main", 0, "y"), "xy");
}

#[test]
fn merged_demand_reaches_outermost_branch() {
    let out = passed(
        "fn main() -> (f32, f32) ^0 {
           %0: f32 $a = global g[0]
           %1: f32 $b = global h[0]
           %2: f32 $c = sin %0
           %3: bool = flt %0, %1
           %4: f32 = if %3 ^1 {
             %5: f32 = if %3 ^2 {
               %6: f32 = ddx %0
               yield %6
             } else ^3 {
               yield %0
             }
             yield %5
           } else ^4 {
             %7: f32 = ddy %1
             yield %7
           }
           %8: f32 = ddx %2
           return %4, %8
         }",
        &MERGED,
    );
    let report = demand_report(&out);
    assert_eq!(lanes(&report, "main", 0, "a"), "xy");
    assert_eq!(lanes(&report, "main", 0, "b"), "xy");
    assert_eq!(lanes(&report, "main", 0, "c"), "x");
}

/// a, b, c = b, c, g in every iteration: a has a shadow from the third iteration on.
pub(super) const LATER: &str = "fn main(%0: i32) -> (f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = const 0.5
           %3: i32 = const 1
           %4: f32 = loop ^1 (%5: i32 = %0, %6: f32 $a = %2, %7: f32 $b = %2, %8: f32 $c = %2) {
             %9: i32 = isub %5, %3
             %10: bool = ilt %9, %3
             if %10 ^2 {
               break ^1 %6
             } else ^3 {
               yield
             }
             continue ^1 %9, %7, %8, %1
           }
           %11: f32 = ddy %4
           return %11
         }";

#[test]
fn lineage_arrives_in_later_iteration() {
    let out = passed(LATER, &DUAL);
    let f = out.entry();
    let lanes: Vec<_> = f.values.iter().map(|v| v.lanes.name()).collect();
    // g, 0.5, 1, the counter, a, b, c, two of the counter's, the result, ddy.
    let expected = ["", "y", "", "", "", "y", "y", "y", "", "", "y", ""];
    assert_eq!(lanes, expected);
}

#[test]
fn demand_goes_around_a_loop() {
    // Only b is read in the end, and it depends on a of the iteration before.
    let out = passed(
        "fn main(%0: i32) -> (f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = loop ^1 (%3: i32 = %0, %4: f32 $a = %1, %5: f32 $b = %1) {
             %6: i32 = isub %3, %0
             %7: bool = ilt %6, %3
             %8: f32 $unasked = exp %5
             %9: bool = flt %8, %1
             %10: bool = and %7, %9
             if %10 ^2 {
               break ^1 %5
             } else ^3 {
               yield
             }
             %11: f32 $next = sin %4
             continue ^1 %6, %11, %4
           }
           %12: f32 = ddx %2
           return %12
         }",
        &DUAL,
    );
    let report = demand_report(&out);
    for name in ["a", "b", "next"] {
        assert_eq!(lanes(&report, "main", 0, name), "x", "{name}");
    }
    assert_eq!(lanes(&report, "main", 0, "unasked"), "");
}

#[test]
fn arrays_have_one_lane_set_and_copies_pass_it_on() {
    let out = passed(
        "fn main(%0: i32) -> (f32) ^0 {
           array &0: f32[4] $from
           array &1: f32[4] $to
           array &2: f32[4] $other
           %1: f32 = global g[0]
           %2: f32 = const 0.5
           store &0[%0], %1
           store &0[%0], %2
           array_copy &1, &0
           store &2[%0], %1
           %3: f32 = load &1[%0]
           %4: f32 = load &2[%0]
           %5: f32 = ddx %3
           %6: f32 = add %4, %5
           return %6
         }",
        &DUAL,
    );
    let report = demand_report(&out);
    assert_eq!(lanes(&report, "main", 0, "from"), "x");
    assert_eq!(lanes(&report, "main", 0, "to"), "x");
    assert_eq!(lanes(&report, "main", 0, "other"), "");
}

#[test]
fn the_host_may_ask_for_the_shadows_of_outputs() {
    let text = "fn main(%0: f32) -> (f32, f32, i32) ^0 {
        %1: f32 = global g[0]
        %2: f32 = mul %1, %0
        %3: i32 = f2i %1
        return %2, %0, %3
      }";
    let result_lanes = |options| {
        let out = passed(text, options);
        let results = out.entry().results.iter().map(|r| r.lanes.name());
        results.collect::<Vec<_>>()
    };
    assert_eq!(result_lanes(&OUTPUTS), ["xy", "", ""]);
    assert_eq!(result_lanes(&DUAL), ["", "", ""]);
}

#[test]
fn derivatives_off_are_zero_and_cost_nothing() {
    let text = |read: &str| {
        format!(
            "fn main() -> (f32, f32) ^0 {{
               %0: f32 = global g[0]
               %1: f32 = sin %0
               %2: f32, %3: f32, %4: f32, %5: f32 = sample wood(%0, %1)
               %6: f32 = {read}
               return %5, %6
             }}"
        )
    };
    let off = passed(&text("ddx %1"), &OFF);
    assert_eq!(off, passed(&text("const 0.0"), &OFF));
    assert!(off.entry().values.iter().all(|v| v.lanes.is_none()));
    let host = PassOptions {
        output_shadows: true,
        ..OFF
    };
    assert_eq!(off, passed(&text("ddx %1"), &host));
}

#[test]
fn a_shader_without_demand_is_the_one_with_derivatives_off() {
    // Its derivatives all fold to zero, and with them a sample and a call.
    let text = "fn main(%0: f32) -> (f32, f32) ^0 {
        %1: f32 = global g[0]
        %2: f32 = ddx %0
        %3: f32 = const 0.0
        %4: bool = flt %3, %2
        %5: f32 = if %4 ^1 {
          %6: f32, %7: f32, %8: f32, %9: f32 = sample wood(%1, %1)
          yield %9
        } else ^2 {
          %10: f32 = call twice(%1)
          yield %10
        }
        %11: f32 = call twice(%0)
        return %5, %11
      }
      fn twice(%0: f32) -> (f32) ^0 {
        array &0: i32[1]
        %1: f32 = add %0, %0
        %2: f32 = floor %1
        %3: f32 = ddy %2
        %4: f32 = add %1, %3
        return %4
      }";
    let dual = passed(text, &DUAL);
    assert_eq!(dual, passed(text, &OFF));
    assert_text(
        &dual,
        "fn main(%0: f32) -> (f32, f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = call twice(%1)
           %3: f32 = call twice(%0)
           return %2, %3
         }
         fn twice(%0: f32) -> (f32) ^0 {
           %1: f32 = add %0, %0
           %2: f32 = const 0.0
           %3: f32 = add %1, %2
           return %3
         }",
    );
}

#[test]
fn folded_zero_shadow_leaves_no_dead_lane() {
    // The derivative of the input decides at compile time that the one of g is not demanded.
    let out = passed(
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = sin %1
           %3: f32 = ddx %0
           %4: bool = flt %0, %3
           %5: bool = flt %3, %3
           %6: f32 = if %5 ^1 {
             %7: f32 = ddx %2
             yield %7
           } else ^2 {
             yield %2
           }
           return %6
         }",
        &DUAL,
    );
    assert_text(
        &out,
        "fn main(%0: f32) -> (f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = sin %1
           return %2
         }",
    );
}

#[test]
fn rounds_are_limited() {
    // Each zero decides about the next: every round finds one more.
    let mut text = String::from("fn main(%0: f32) -> (f32) ^0 {\n%1: f32 = global g[0]\n");
    text += "%2: f32 = const 0.0\n";
    let mut last = 0;
    let count = MAX_ROUNDS + 3;
    for i in 0..count {
        let at = 3 + 3 * i;
        // The sum has lineage until the derivative before it is known to be zero.
        text += &format!("%{at}: f32 = ddx %{last}\n");
        text += &format!("%{}: bool = feq %{at}, %2\n", at + 1);
        text += &format!("%{}: f32 = select %{}, %0, %1\n", at + 2, at + 1);
        last = at + 2;
    }
    text += &format!("return %{last}\n}}");
    let out = passed(&text, &DUAL);
    let insts = &out.entry().regions[0].insts;
    let left = insts.iter().filter(|i| i.kind == InstKind::Op(Op::FEq));
    assert_eq!(left.count(), count - MAX_ROUNDS);
}

/// The options with these ops dropped.
const fn without(ops: &[Op], options: PassOptions) -> PassOptions {
    PassOptions {
        dropped: OpSet::of(ops),
        ..options
    }
}

#[test]
fn dropped_ops_pass_nothing() {
    let text = "fn main(%0: f32) -> (f32, f32) ^0 {
           %1: f32 = global g[0]
           %2: f32 = exp %1
           %3: f32 = add %1, %2
           %4: f32 = log %3
           %5: f32 = mul %4, %0
           %6: f32 = ddy %3
           %7: f32 = ddx %5
           return %6, %7
         }";
    assert_text(
        &passed(text, &without(&[Op::Exp, Op::Log], DUAL)),
        "fn main(%0: f32) -> (f32, f32) ^0 {
           %1: f32:y = global g[0]
           %2: f32 = exp %1
           %3: f32:y = add %1, %2
           %4: f32 = ddy %3
           %5: f32 = const 0.0
           return %4, %5
         }",
    );
    // Ops that are not there change nothing.
    let none = passed(text, &DUAL);
    assert_eq!(passed(text, &without(&[Op::Sin], DUAL)), none);
    assert_ne!(passed(text, &without(&[Op::Exp], DUAL)), none);
}

#[test]
fn dropped_ops_pass_nothing_through_calls_and_arrays() {
    let text = "fn main(%0: i32) -> (f32) ^0 {
           array &0: f32[2]
           %1: f32 = global g[0]
           %2: f32 = call curve(%1)
           store &0[%0], %2
           %3: f32 = load &0[%0]
           return %3
         }
         fn curve(%0: f32) -> (f32) ^0 {
           array &0: f32[1]
           %1: f32 = exp %0
           %2: f32 = sin %1
           return %2
         }";
    for options in [
        OUTPUTS,
        PassOptions {
            merge_demand: true,
            ..OUTPUTS
        },
    ] {
        let lanes = |module: &Module| -> Vec<Lanes> {
            let functions = module.functions.iter();
            functions.flat_map(|f| &f.values).map(|v| v.lanes).collect()
        };
        let kept = passed(text, &options);
        assert!(lanes(&kept).iter().any(|lanes| !lanes.is_none()));
        for op in [Op::Exp, Op::Sin] {
            let dropped = passed(text, &without(&[op], options));
            let entry = dropped.entry();
            assert!(entry.values.iter().all(|v| v.lanes.is_none()), "{op:?}");
            assert!(entry.arrays[0].lanes.is_none());
        }
    }
}
