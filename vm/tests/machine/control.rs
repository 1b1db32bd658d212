//! Control flow, calls, arrays, textures, closures.

use crate::support::*;
use adumbra_ir::host::{ClosureNode, ClosureRef, FaultKind, Limits};
use adumbra_vm::{Outcome, PointMachine, lower};
use std::sync::Arc;

#[test]
fn every_kind_of_instruction_is_lowered() {
    let text = include_str!("../../../ir/src/text/every_kind.adir");
    let text = text
        .strip_prefix("adumbra ir 1\n")
        .expect("it has its first line");
    let listing = bytecode(text).to_string();
    for word in [
        "sample.xy.xy",
        "closure.tint",
        "array.copy",
        "loop",
        "call",
        "ddx",
    ] {
        assert!(listing.contains(word), "{word} in\n{listing}");
    }
}

#[test]
fn equation_three_has_its_value_and_both_shadows() {
    let text = "
        global x1: float global x2: float
        output f: float
        entry main
        fn main() -> (f32:xy) ^0 {
            %0: f32:xy = global x1[0]
            %1: f32:xy = global x2[0]
            %2: f32 = const 1.0
            %3: f32:xy = mul %0, %1
            %4: f32:xy = add %0, %2
            %5: f32:xy = div %3, %4
            %6: f32:xy = sin %5
            %7: f32:xy = add %2, %5
            %8: f32:xy = log %7
            %9: f32:xy = exp %1
            %10: f32:xy = add %6, %8
            %11: f32:xy = sub %10, %9
            %12: f32:xy = tanh %1
            %13: f32:xy = sub %5, %12
            %14: f32:xy = mul %11, %13
            return %14
        }";
    let [f] = outputs(text, &[1.5, 1.0, 0.0, 0.5, 0.0, 1.0], &[])[..] else {
        panic!("one output");
    };
    for (got, expected) in f
        .into_iter()
        .zip([0.176_843_36, -0.109_633_5, 0.302_920_89])
    {
        assert!((got - expected).abs() < 3e-7, "{got} {expected}");
    }
}

const SUM: &str = "
    input n: int = 0
    output s: int
    entry main
    fn main(%0: i32) -> (i32) ^0 {
        %1: i32 = const 0
        %2: i32 = const 1
        %3: i32 = loop ^1 (%4: i32 = %1, %5: i32 = %1) {
            %6: bool = ilt %4, %0
            if %6 ^2 {
                %7: i32 = iadd %5, %4
                %8: i32 = iadd %4, %2
                continue ^1 %8, %7
            } else ^3 {
                break ^1 %5
            }
            unreachable
        }
        return %3
    }";

#[test]
fn a_loop_carries_its_values_without_moves() {
    assert_eq!(int(SUM, &[10]), 45);
    assert_eq!(int(SUM, &[0]), 0);
    let listing = bytecode(SUM).to_string();
    let body = listing
        .split("jump")
        .nth(1)
        .expect("the loop is left by a jump");
    let body = body.split("loop").next().expect("a back edge");
    assert!(!body.contains("move"), "{listing}");
}

#[test]
fn values_that_a_loop_exchanges_do_not_overwrite_each_other() {
    let text = "
        input n: int = 0
        output a: int output b: int output c: int
        entry main
        fn main(%0: i32) -> (i32, i32, i32) ^0 {
            %1: i32 = const 0
            %2: i32 = const 1
            %3: i32 = const 2
            %4: i32 = const 3
            %5: i32, %6: i32, %7: i32 = loop ^1 (%8: i32 = %1, %9: i32 = %2, %10: i32 = %3, %11: i32 = %4) {
                %12: bool = ilt %8, %0
                if %12 ^2 {
                    %13: i32 = iadd %8, %2
                    continue ^1 %13, %10, %11, %9
                } else ^3 {
                    break ^1 %11, %9, %10
                }
                unreachable
            }
            return %5, %6, %7
        }";
    let mut machine = machine(text);
    for (n, expected) in [
        (0, [3, 1, 2]),
        (1, [1, 2, 3]),
        (2, [2, 3, 1]),
        (3, [3, 1, 2]),
    ] {
        assert_eq!(run(&mut machine, &[], &[n]), Outcome::Finished);
        let outputs = machine.outputs();
        let got = [outputs[0], outputs[3], outputs[6]];
        assert_eq!(got, expected, "{n}\n{}", machine.program());
    }
}

const FIBONACCI: &str = "
    input n: int = 0
    output f: int
    entry main
    fn main(%0: i32) -> (i32) ^0 {
        %1: i32 = call fib(%0)
        return %1
    }
    fn fib(%0: i32) -> (i32) ^0 {
        %1: i32 = const 2
        %2: bool = ilt %0, %1
        if %2 ^1 {
            return %0
        } else ^2 {
            yield
        }
        %3: i32 = const 1
        %4: i32 = isub %0, %3
        %5: i32 = call fib(%4)
        %6: i32 = isub %0, %1
        %7: i32 = call fib(%6)
        %8: i32 = iadd %5, %7
        return %8
    }";

#[test]
fn recursion_keeps_each_callers_values() {
    assert_eq!(int(FIBONACCI, &[10]), 55);
}

#[test]
fn functions_that_call_each_other_keep_their_values() {
    let text = "
        input n: int = 0
        output s: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            %1: i32 = call even(%0, %0)
            return %1
        }
        fn even(%0: i32, %1: i32) -> (i32) ^0 {
            %2: i32 = const 1
            %3: bool = ilt %0, %2
            if %3 ^1 { return %1 } else ^2 { yield }
            %4: i32 = isub %0, %2
            %5: i32 = call odd(%1, %4)
            %6: i32 = iadd %5, %0
            return %6
        }
        fn odd(%0: i32, %1: i32) -> (i32) ^0 {
            %2: i32 = const 1
            %3: bool = ilt %1, %2
            if %3 ^1 { return %0 } else ^2 { yield }
            %4: i32 = isub %1, %2
            %5: i32 = call even(%4, %0)
            %6: i32 = imul %1, %2
            %7: i32 = iadd %5, %6
            return %7
        }";
    assert_eq!(int(text, &[5]), 5 + 5 + 4 + 3 + 2 + 1);
}

#[test]
fn recursion_with_arrays_copies_them_in_and_out() {
    // Each activation fills its own array, hands it down, and gets it back changed.
    let text = "
        input n: int = 0
        output s: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            array &0: i32[2]
            %1: i32 = const 1
            store &0[%1], %0
            call down(%0) [&0]
            %2: i32 = load &0[%1]
            return %2
        }
        fn down(%0: i32) -> () ^0 {
            array &0 inout: i32[2]
            array &1: i32[2]
            %1: i32 = const 1
            %2: bool = ilt %0, %1
            if %2 ^1 { return } else ^2 { yield }
            %3: i32 = load &0[%1]
            %4: i32 = iadd %3, %0
            store &1[%1], %4
            %5: i32 = isub %0, %1
            call down(%5) [&1]
            %6: i32 = load &1[%1]
            %7: i32 = load &0[%1]
            %8: i32 = iadd %6, %7
            store &0[%1], %8
            return
        }";
    // down(n, a) leaves a + down(n - 1, a + n).
    fn down(n: i32, a: i32) -> i32 {
        if n < 1 { a } else { a + down(n - 1, a + n) }
    }
    assert_eq!(int(text, &[4]), down(4, 4));
}

#[test]
fn a_part_of_an_array_is_copied_with_the_shadows_of_its_new_place() {
    let text = "
        global x: float
        input i: int = 0
        output o: float output p: float output q: float
        entry main
        fn main(%0: i32) -> (f32:xy, f32:xy, f32:xy) ^0 {
            array &0: f32:xy[5]
            array &1: f32:x[2]
            %1: f32:xy = global x[0]
            %2: i32 = const 3
            store &0[%2], %1
            array_copy &1, &0, %2
            array_copy &0, &1, %0
            %3: i32 = const 1
            %4: f32:xy = load &0[%3]
            %5: f32:xy = load &0[%2]
            %6: i32 = const 2
            %7: f32:xy = load &0[%6]
            return %4, %5, %7
        }";
    let (copied, whole, none) = ([2.0, 3.0, 0.0], [2.0, 3.0, 4.0], [0.0; 3]);
    assert_eq!(outputs(text, &[2.0, 3.0, 4.0], &[1]), [copied, whole, none]);
    assert_eq!(outputs(text, &[2.0, 3.0, 4.0], &[9]), [none, copied, none]);
    assert_eq!(
        outputs(text, &[2.0, 3.0, 4.0], &[-2_i32 as u32]),
        [none, whole, none]
    );
}

#[test]
fn elements_keep_their_shadows_and_lack_what_was_not_stored() {
    let text = "
        global x: float
        input i: int = 0
        output o: float output p: float
        entry main
        fn main(%0: i32) -> (f32:xy, f32:xy) ^0 {
            array &0: f32:xy[4]
            array &1: f32:x[4]
            %1: f32:xy = global x[0]
            store &0[%0], %1
            array_copy &1, &0
            %2: f32:xy = load &0[%0]
            %3: f32:x = load &1[%0]
            %4: i32 = const 3
            store &0[%4], %3
            %5: f32:xy = load &0[%4]
            return %2, %5
        }";
    assert_eq!(
        outputs(text, &[2.0, 3.0, 4.0], &[1]),
        [[2.0, 3.0, 4.0], [2.0, 3.0, 0.0]]
    );
}

#[test]
fn an_index_out_of_range_is_clamped_and_reported_where_it_stands() {
    let text = "
        input i: int = 0
        output o: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            array &0: i32[3]
            %1: i32 = const 0
            %2: i32 = const 2
            %3: i32 = const 7
            store &0[%1], %2
            store &0[%2], %3
            %4: i32 = load &0[%0] @11..15
            return %4
        }";
    let mut machine = machine(text);
    for (index, value, fault) in [(0, 2, false), (2, 7, false), (3, 7, true), (-1, 2, true)] {
        assert_eq!(run(&mut machine, &[], &[index as u32]), Outcome::Finished);
        assert_eq!(machine.outputs()[0], value);
        let faults: Vec<_> = machine
            .faults()
            .iter()
            .map(|f| (f.kind, f.span.start))
            .collect();
        let expected = vec![(FaultKind::IndexOutOfRange, 11); usize::from(fault)];
        assert_eq!(faults, expected);
    }
}

#[test]
fn steps_are_turns_and_calls() {
    let program = Arc::new(bytecode(SUM));
    for (steps, stops) in [(0, true), (10, true), (11, false)] {
        let limits = Limits {
            steps,
            ..Limits::default()
        };
        let mut machine = PointMachine::new(program.clone(), limits);
        let outcome = run(&mut machine, &[], &[10]);
        assert_eq!(outcome == Outcome::Stopped, stops, "{steps}");
        if stops {
            assert_eq!(machine.outputs(), [0; 3]);
            let stopped = machine.faults().stopped().map(|f| f.kind);
            assert_eq!(stopped, Some(FaultKind::StepBudget));
        }
    }
}

#[test]
fn calls_are_as_deep_as_the_limit_says() {
    let text = "
        input n: int = 0
        output s: int
        entry main
        fn main(%0: i32) -> (i32) ^0 {
            %1: i32 = call tri(%0)
            return %1
        }
        fn tri(%0: i32) -> (i32) ^0 {
            array &0: i32[10]
            store &0[%0], %0
            %1: i32 = const 1
            %2: bool = ilt %0, %1
            if %2 ^1 { return %0 } else ^2 { yield }
            %3: i32 = isub %0, %1
            %4: i32 = call tri(%3) @7..9
            %5: i32 = iadd %4, %0
            return %5
        }";
    let program = Arc::new(bytecode(text));
    let run_with = |limits: Limits, n: u32| {
        let mut machine = PointMachine::new(program.clone(), limits);
        run(&mut machine, &[], &[n]);
        (
            machine.faults().stopped().map(|f| (f.kind, f.span.start)),
            machine.outputs()[0],
        )
    };
    let depth = |call_depth| Limits {
        call_depth,
        ..Limits::default()
    };
    // n is 3: the shader and tri of 3, 2, 1, 0.
    assert_eq!(run_with(depth(5), 3), (None, 6));
    assert_eq!(run_with(depth(4), 3), (Some((FaultKind::CallDepth, 7)), 0));
    assert_eq!(
        run_with(Limits::default(), 1 << 20).0,
        Some((FaultKind::CallDepth, 7))
    );
    let elements = |array_elements| Limits {
        array_elements,
        ..Limits::default()
    };
    assert_eq!(run_with(elements(40), 3), (None, 6));
    assert_eq!(
        run_with(elements(39), 3),
        (Some((FaultKind::ArraySize, 7)), 0)
    );
}

#[test]
fn a_sample_asks_with_its_four_partials() {
    let text = "
        global u: float global v: float
        texture wood texture gold
        output r: float output a: float
        entry main
        fn main() -> (f32, f32) ^0 {
            %0: f32:xy = global u[0]
            %1: f32:x = global v[0]
            %2: f32, %3: f32, %4: f32 = sample_color gold(%0, %1)
            %5: f32 = sample_alpha wood(%1, %0)
            return %4, %5
        }";
    let mut machine = machine(text);
    let mut host = Recorder::default();
    let globals = [0.5, -0.0, 2.0, f32::NAN, 3.0, 4.0].map(f32::to_bits);
    assert_eq!(machine.run(&globals, &[], &mut host), Outcome::Finished);
    let [a, b] = host.0[..] else {
        panic!("two requests")
    };
    assert_eq!((a.texture.0, b.texture.0), (1, 0));
    let bits = [a.u, a.v, a.dudx, a.dudy, a.dvdx, a.dvdy].map(f32::to_bits);
    assert_eq!(
        bits,
        [
            0.5_f32.to_bits(),
            0x7fc0_0000,
            0,
            2.0_f32.to_bits(),
            3.0_f32.to_bits(),
            0
        ]
    );
    assert_eq!(floats(&machine), [[0.3, 0.0, 0.0], [0.4, 0.0, 0.0]]);
}

#[test]
fn closures_are_a_tree_within_their_limit() {
    let text = "
        global k: float
        resource tab
        closure glow(float, shader_resource)
        input n: int = 0
        output c: closure
        entry main
        fn main(%0: i32) -> (closure) ^0 {
            %1: f32 = global k[0]
            %2: resource = resource tab
            %3: closure = make_closure glow(%1, %2)
            %4: i32 = const 0
            %5: i32 = const 1
            %6: closure = const empty
            %7: closure = loop ^1 (%8: i32 = %4, %9: closure = %6) {
                %10: bool = ilt %8, %0
                if %10 ^2 {
                    %11: closure = closure_scale %3, %1
                    %12: closure = closure_add %9, %11
                    %13: i32 = iadd %8, %5
                    continue ^1 %13, %12
                } else ^3 { break ^1 %9 }
                unreachable
            }
            return %7
        }";
    let mut machine = machine(text);
    assert_eq!(run(&mut machine, &[0.5, 0.0, 0.0], &[2]), Outcome::Finished);
    let closures = machine.closures();
    let top = ClosureRef::from_word(machine.outputs()[0]);
    let Some(ClosureNode::Add(a, b)) = closures.node(top) else {
        panic!("a sum")
    };
    assert_ne!(a, b);
    let Some(ClosureNode::Scale(leaf, weight)) = closures.node(a) else {
        panic!("a product")
    };
    assert_eq!(weight, 0.5);
    let Some(ClosureNode::Leaf { args, .. }) = closures.node(leaf) else {
        panic!("a leaf")
    };
    assert_eq!(closures.args(args), [0.5_f32.to_bits(), 0]);
    assert_eq!(
        run(&mut machine, &[0.5, 0.0, 0.0], &[1 << 18]),
        Outcome::Stopped
    );
    assert_eq!(
        machine.faults().stopped().map(|f| f.kind),
        Some(FaultKind::ClosureSize)
    );
    assert_eq!((machine.outputs()[0], machine.closures().size()), (0, 0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut text = String::from("output o: int entry main fn main() -> (i32) ^0 { ");
    for i in 0..12 {
        text += &format!("call f{i}() ");
    }
    text += "%0: i32 = const 0 return %0 } ";
    for i in 0..65 {
        text += &format!("fn f{i}() -> () ^0 {{ array &0: i32[262144] ");
        if i < 64 {
            text += &format!("call f{}() ", i + 1);
        }
        text += "return }\n";
    }
    let error = lower(&module(&text)).expect_err("65 times 2^18 words");
    assert_eq!(error.code, adumbra_ir::Code::ProgramTooLarge);
}

#[test]
fn frames_that_recursion_saves_are_bounded() {
    // Every activation keeps 3,000 elements, so that their own limit is met at 4 million, and the depth behind that.
    let text = "
        global x: float
        output s: float
        entry main
        fn main() -> (f32) ^0 {
            %0: f32:xy = global x[0]
            %1: f32 = call deep(%0)
            return %1
        }
        fn deep(%0: f32:xy) -> (f32) ^0 {
            array &0: f32:xy[3000]
            %1: i32 = const 0
            store &0[%1], %0
            %2: f32 = call deep(%0)
            %3: f32:xy = load &0[%1]
            %4: f32 = ddx %3
            return %4
        }";
    let program = Arc::new(bytecode(text));
    for (array_elements, kind) in [
        (1 << 22, FaultKind::ArraySize),
        (1 << 24, FaultKind::CallDepth),
    ] {
        let limits = Limits {
            array_elements,
            call_depth: 5_000,
            ..Limits::default()
        };
        let mut machine = PointMachine::new(program.clone(), limits);
        assert_eq!(run(&mut machine, &[0.0; 3], &[]), Outcome::Stopped);
        assert_eq!(machine.faults().stopped().map(|f| f.kind), Some(kind));
    }
}

#[test]
fn what_a_function_keeps_while_it_calls_itself_is_bounded() {
    let text = |values: usize| {
        let keep: String = (0..values)
            .map(|i| format!("%{}: f32:xy = global x[0]\n", i + 1))
            .collect();
        let last = values + 1;
        let add: String = (1..=values)
            .map(|i| format!("%{}: f32:xy = add %{}, %{i}\n", last + i, last + i - 1))
            .collect();
        format!(
            "global x: float
            output s: float
            entry main
            fn main() -> (f32:xy) ^0 {{
                %0: f32:xy = global x[0]
                %1: f32:xy = call deep(%0)
                return %1
            }}
            fn deep(%0: f32:xy) -> (f32:xy) ^0 {{
                {keep}
                %{last}: f32:xy = call deep(%0)
                {add}
                return %{}
            }}",
            last + values
        )
    };
    let error = lower(&module(&text(11_000))).expect_err("33,000 words");
    assert_eq!(error.code, adumbra_ir::Code::ProgramTooLarge);
    // As much as may be, as deep as may be.
    let program = Arc::new(bytecode(&text(10_900)));
    let limits = Limits {
        call_depth: 2_000,
        ..Limits::default()
    };
    let mut machine = PointMachine::new(program, limits);
    assert_eq!(run(&mut machine, &[0.0; 3], &[]), Outcome::Stopped);
    let kind = machine.faults().stopped().map(|f| f.kind);
    assert_eq!(kind, Some(FaultKind::CallDepth));
}

#[test]
fn functions_that_are_never_active_together_share_their_slots() {
    let text = |second: &str| {
        format!(
            "output o: int
            entry main
            fn main() -> (i32) ^0 {{
                %0: i32 = const 1
                %1: i32 = call a(%0)
                %2: i32 = call b(%0)
                %3: i32 = iadd %1, %2
                return %3
            }}
            fn a(%0: i32) -> (i32) ^0 {{
                array &0: i32[100]
                %1: i32 = load &0[%0]
                {second}
                return %1
            }}
            fn b(%0: i32) -> (i32) ^0 {{
                array &0: i32[100]
                %1: i32 = load &0[%0]
                return %1
            }}"
        )
    };
    assert!(bytecode(&text("")).stats().registers < 200);
    assert!(bytecode(&text("%2: i32 = call b(%0)")).stats().registers > 200);
}

#[test]
fn an_array_is_zero_each_time_its_function_begins() {
    let text = "
        input i: int = 0
        output a: int output b: int
        entry main
        fn main(%0: i32) -> (i32, i32) ^0 {
            %1: i32 = call count(%0)
            %2: i32 = call count(%0)
            return %1, %2
        }
        fn count(%0: i32) -> (i32) ^0 {
            array &0: i32[4]
            %1: i32 = load &0[%0]
            %2: i32 = const 1
            %3: i32 = iadd %1, %2
            store &0[%0], %3
            %4: i32 = load &0[%0]
            return %4
        }";
    let mut machine = machine(text);
    for _ in 0..2 {
        assert_eq!(run(&mut machine, &[], &[2]), Outcome::Finished);
        assert_eq!([machine.outputs()[0], machine.outputs()[3]], [1, 1]);
    }
}

#[test]
fn a_branch_over_a_jump_becomes_one_branch() {
    let text = "
        input on: bool = false
        output o: int
        entry main
        fn main(%0: bool) -> (i32) ^0 {
            %1: i32 = const 1
            %2: i32 = const 2
            %3: i32 = block ^1 {
                if %0 ^2 { break ^1 %1 } else ^3 { yield }
                break ^1 %2
            }
            %4: i32 = block ^4 {
                block ^5 {
                    if %0 ^6 { break ^5 } else ^7 { yield }
                    break ^4 %2
                }
                yield %1
            }
            %5: i32 = const 10
            %6: i32 = imul %3, %5
            %7: i32 = iadd %4, %6
            return %7
        }";
    assert_eq!([int(text, &[0]), int(text, &[1])], [22, 11]);
    let listing = bytecode(text).to_string();
    assert_eq!(listing.matches("jump").count(), 2, "{listing}");
}
