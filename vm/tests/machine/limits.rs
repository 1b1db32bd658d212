//! Limits: steps, depth, closures, and what a program may take.

use crate::control::SUM;
use crate::support::*;
use adumbra_ir::host::{ClosureNode, ClosureRef, FaultKind, Limits};
use adumbra_vm::{Outcome, PointMachine, lower};
use std::sync::Arc;

#[test]
fn steps_count_iterations_and_calls() {
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
fn call_depth_is_limited() {
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
fn closure_tree_is_limited() {
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
fn oversized_programs_are_refused() {
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
fn saved_frames_are_bounded() {
    // Every activation keeps 3,000 elements, so their own limit is met at 4 million, and the depth
    // after that.
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
fn saved_registers_are_bounded() {
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
    // The most registers, at the greatest depth.
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
