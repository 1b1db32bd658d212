//! Tests of inlining functions with arrays: what is passed, and what stays a call.

use super::*;
use crate::calls::CallGraph;
use crate::passes::inline::inline;

/// The module after inlining, and the number of calls that stay.
fn inlined(functions: &str) -> (Module, usize) {
    let mut module = module(functions);
    let calls = CallGraph::new(&module);
    inline(&mut module, &calls, MAX_INLINED);
    let module = verified(module);
    let main = module.entry();
    let insts = main.regions.iter().flat_map(|region| &region.insts);
    let calls = insts.filter(|inst| matches!(inst.kind, InstKind::Call(..)));
    let calls = calls.count();
    (module, calls)
}

/// A caller of `work` with these arrays, and `work` with this parameter.
fn calling(len: u32, passed: &str, params: &str, body: &str) -> String {
    format!(
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {{
           array &0: f32[{len}] $own
           array_zero &0
           call work(%0, %1) [{passed}]
           %2: f32 = load &0[%0]
           return %2
         }}
         fn work(%0: i32, %1: f32) -> () ^0 {{
           {params}
           {body}
           return
         }}"
    )
}

#[test]
fn what_is_only_read_is_the_callers() {
    let text = calling(
        2,
        "&0",
        "array &0 in: f32[2] $given",
        "%2: f32 = load &0[%0]",
    );
    let (module, calls) = inlined(&text);
    assert_eq!((calls, module.entry().arrays.len()), (0, 1));
}

#[test]
fn what_the_caller_keeps_is_copied() {
    let text = calling(2, "&0", "array &0 in: f32[2] $given", "store &0[%0], %1");
    assert_text(
        &dropped(inlined(&text).0),
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           array &1: f32[2] $given
           array_zero &0
           array_copy &1, &0
           enter 0
           store &1[%0], %1
           %2: f32 = load &0[%0]
           return %2
         }",
    );
}

#[test]
fn what_is_passed_back_is_the_callers() {
    let text = calling(2, "&0", "array &0 inout: f32[2] $both", "store &0[%0], %1");
    assert_text(
        &dropped(inlined(&text).0),
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           array_zero &0
           enter 0
           store &0[%0], %1
           %2: f32 = load &0[%0]
           return %2
         }",
    );
    // Passed twice, each is a copy, and the last one counts.
    let both = "array &0 in: f32[2] $a\narray &1 out: f32[2] $b";
    let text = calling(2, "&0, &0", both, "store &1[%0], %1");
    assert_text(
        &dropped(inlined(&text).0),
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           array &1: f32[2] $a
           array &2: f32[2] $b
           array_zero &0
           array_copy &1, &0
           enter 0
           array_zero &2
           store &2[%0], %1
           array_copy &0, &2
           %2: f32 = load &0[%0]
           return %2
         }",
    );
}

#[test]
fn steps_of_passing_stay() {
    let text = calling(
        600,
        "&0",
        "array &0 inout: f32[600] $both",
        "store &0[%0], %1",
    );
    assert_text(
        &dropped(inlined(&text).0),
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[600] $own
           array_zero &0
           turn
           turn
           enter 0
           store &0[%0], %1
           turn
           turn
           %2: f32 = load &0[%0]
           return %2
         }",
    );
}

#[test]
fn early_returns_leave_a_block() {
    let text = "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           %2: f32 = call work(%0, %1) [&0]
           return %2
         }
         fn work(%0: i32, %1: f32) -> (f32) ^0 {
           array &0 in: f32[2] $given
           %2: f32 = load &0[%0]
           %3: bool = flt %2, %1
           if %3 ^1 {
             return %1
           } else ^2 {
             yield
           }
           return %2
         }";
    assert_text(
        &dropped(inlined(text).0),
        "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           enter 0
           %2: f32 = block ^1 {
             %3: f32 = load &0[%0]
             %4: bool = flt %3, %1
             if %4 ^2 {
               break ^1 %1
             } else ^3 {
               yield
             }
             break ^1 %3
           }
           return %2
         }",
    );
}

#[test]
fn functions_that_never_return_leave_a_block() {
    let text = "fn main(%0: i32, %1: f32) -> (f32) ^0 {
           array &0: f32[2] $own
           %2: f32 = call work(%0) [&0]
           return %2
         }
         fn work(%0: i32) -> (f32) ^0 {
           array &0 in: f32[2] $given
           loop ^1 () {
             continue ^1
           }
           unreachable
         }";
    let (module, calls) = inlined(text);
    assert_eq!((calls, module.entry().regions.len()), (0, 3));
}

#[test]
fn arrays_that_entering_would_clear_stay_apart() {
    let calls = |len: u32, is_within: bool| {
        let call = "call work(%0, %1) [&0]";
        let call = match is_within {
            true => format!("if %3 ^1 {{\n{call}\nyield\n}} else ^2 {{\nyield\n}}"),
            false => call.to_owned(),
        };
        let text = format!(
            "fn main(%0: i32, %1: f32) -> (f32) ^0 {{
               array &0: f32[2] $own
               %2: i32 = const 0
               %3: bool = ilt %0, %2
               {call}
               return %1
             }}
             fn work(%0: i32, %1: f32) -> () ^0 {{
               array &0 in: f32[2] $given
               array &1: f32[{len}] $local
               array_zero &1
               return
             }}"
        );
        inlined(&text).1
    };
    assert_eq!(calls(255, true), 0);
    assert_eq!(calls(256, true), 1, "the caller would take steps for it");
    assert_eq!(calls(256, false), 0);
    let most = MAX_INLINED_ELEMENTS as u32;
    assert_eq!([calls(most, false), calls(most + 1, false)], [0, 1]);
}

/// The module without what nothing calls.
fn dropped(mut module: Module) -> Module {
    let calls = CallGraph::new(&module);
    crate::calls::drop_uncalled(&mut module, &calls);
    module
}
