//! What the reference evaluator does with every kind of instruction, with shadows, faults and limits.

use super::*;
use crate::host::{
    CANONICAL_NAN, ClosureNode, ClosureRef, ConstantTexture, FaultKind, MAX_CALL_DEPTH,
    SampleRequest, Sampled,
};
use crate::module::ClosureId;
use crate::span::FileId;
use crate::text::parse;
use crate::types::Direction;
use crate::verify;

/// A module of globals a, b: float and n: int, and functions; the first one is the shader.
fn module(functions: &str, declarations: &str) -> Module {
    let text = format!(
        "adumbra ir 1 global a: float global b: float global n: int texture wood
         closure glow(float, int) {declarations} entry main {functions}"
    );
    let module = match parse(&text, FileId::MAIN) {
        Ok(module) => module,
        Err(d) => panic!("{} at `{}`", d.message, &text[d.span.start as usize..]),
    };
    if let Err(violations) = verify(&module) {
        panic!("{}", violations[0]);
    }
    module
}

/// A shader with one float output.
fn float_shader(body: &str) -> Module {
    module(
        &format!("fn main() -> (f32:xy) ^0 {{ {body} }}"),
        "output o: float",
    )
}

/// A shader with one int output, behind which other functions may stand.
fn int_shader(body: &str, others: &str) -> Module {
    module(
        &format!("fn main() -> (i32) ^0 {{ {body} }} {others}"),
        "output o: int",
    )
}

fn point<F: Number>(a: [F; 3], b: [F; 3], n: i32) -> Point<F> {
    Point {
        globals: vec![
            Slot::float(a[0], [a[1], a[2]]),
            Slot::float(b[0], [b[1], b[2]]),
            Slot::word(n as u32),
        ],
        inputs: Vec::new(),
    }
}

fn run<F: Number>(module: &Module, point: &Point<F>, options: Options) -> Outcome<F> {
    evaluate(
        module,
        point,
        &options,
        &mut ConstantTexture([0.25, 0.5, 0.75, 1.0]),
    )
}

/// The only output at a = 2 (+0.5 x −0.25 y), b = 3 (+1 x), n = 5.
fn output(module: &Module, shadows: Shadows) -> Slot {
    let point = point([2.0, 0.5, -0.25], [3.0, 1.0, 0.0], 5);
    let outcome = run(
        module,
        &point,
        Options {
            shadows,
            ..Options::default()
        },
    );
    assert!(outcome.faults.is_empty());
    outcome.outputs[0]
}

/// The int output and the kinds of faults, at that n.
fn int_output(module: &Module, n: i32, limits: Limits) -> (i32, Vec<FaultKind>) {
    let point = point([0.0; 3], [0.0; 3], n);
    let outcome = run(
        module,
        &point,
        Options {
            limits,
            ..Options::default()
        },
    );
    let faults = outcome.faults.iter().map(|f| f.kind).collect();
    (outcome.outputs[0].word as i32, faults)
}

const PRODUCT: &str =
    "%0: f32:xy = global a[0] %1: f32:x = global b[0] %2: f32:xy = mul %0, %1 return %2";

#[test]
fn values_and_shadows_of_a_product() {
    let slot = output(&float_shader(PRODUCT), Shadows::Annotated);
    assert_eq!(
        (slot.float, slot.shadows),
        (6.0, [3.0 * 0.5 + 2.0, 3.0 * -0.25])
    );
    assert_eq!(slot, output(&float_shader(PRODUCT), Shadows::Full));
}

#[test]
fn only_the_lanes_that_are_laid_out_are_computed() {
    let laid_out = float_shader(
        "%0: f32:x = global a[0] %1: f32 = global b[0] %2: f32:x = mul %0, %1
         %3: f32:xy = global a[0] %4: f32:xy = add %2, %3 return %4",
    );
    let slot = output(&laid_out, Shadows::Annotated);
    assert_eq!((slot.float, slot.shadows), (8.0, [3.0 * 0.5 + 0.5, -0.25]));
    let full = output(&laid_out, Shadows::Full);
    assert_eq!(full.shadows, [3.0 * 0.5 + 2.0 + 0.5, 3.0 * -0.25 - 0.25]);
}

#[test]
fn an_output_has_the_shadows_that_were_asked_for() {
    let module = module(
        "fn main() -> (f32:y) ^0 { %0: f32:xy = global a[0] return %0 }",
        "output o: float",
    );
    assert_eq!(output(&module, Shadows::Annotated).shadows, [0.0, -0.25]);
    assert_eq!(output(&module, Shadows::Full).shadows, [0.5, -0.25]);
}

#[test]
fn an_operand_without_a_lane_contributes_no_term() {
    // With b infinite the term of a would be NaN: 0 times infinity.
    let text = "%0: f32 = global a[0] %1: f32:x = global b[0] %2: f32:x = mul %0, %1 return %2";
    let module = module(
        &format!("fn main() -> (f32:x) ^0 {{ {text} }}"),
        "output o: float",
    );
    let point = point([2.0, 0.0, 0.0], [f32::INFINITY, 1.0, 0.0], 0);
    let with = |shadows| {
        run(
            &module,
            &point,
            Options {
                shadows,
                ..Options::default()
            },
        )
    };
    assert_eq!(with(Shadows::Annotated).outputs[0].shadows[0], 2.0);
    assert!(with(Shadows::Full).outputs[0].shadows[0].is_nan());
}

#[test]
fn reading_a_shadow_adds_zero_and_has_no_shadow() {
    let module = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = ddx %0 %2: f32 = const 1.0
                     %3: f32 = div %2, %1 %4: f32:xy = mul %0, %3 return %4",
    );
    let outcome = run(
        &module,
        &point([1.0_f32, -0.0, 2.0], [0.0; 3], 0),
        Options::default(),
    );
    assert_eq!(outcome.outputs[0].float, f32::INFINITY);
    assert_eq!(outcome.outputs[0].shadows[1], f32::INFINITY);
}

#[test]
fn loops_carry_all_values_at_once() {
    // Swaps two values n times and counts the turns.
    let fibonacci = int_shader(
        "%0: i32 = global n[0] %1: i32 = const 0 %2: i32 = const 1
         %3: i32 = loop ^1 (%4: i32 = %1, %5: i32 = %2, %6: i32 = %0) {
           %7: bool = ile %6, %1
           if %7 ^2 { break ^1 %4 } else ^3 { yield }
           %8: i32 = iadd %4, %5
           %9: i32 = isub %6, %2
           continue ^1 %5, %8, %9
         }
         return %3",
        "",
    );
    for (n, expected) in [(0, 0), (1, 1), (2, 1), (10, 55)] {
        assert_eq!(
            int_output(&fibonacci, n, Limits::default()),
            (expected, vec![])
        );
    }
    let outcome = run(
        &fibonacci,
        &point([0.0_f32; 3], [0.0; 3], 10),
        Options::default(),
    );
    assert_eq!((outcome.steps, outcome.tally.turns), (11, 10));
}

#[test]
fn a_loop_carries_shadows() {
    // a·b³, by a loop.
    let power = float_shader(
        "%0: f32:xy = global a[0] %1: f32:xy = global b[0] %2: i32 = const 3 %3: i32 = const 1 %4: i32 = const 0
         %5: f32:xy = loop ^1 (%6: f32:xy = %0, %7: i32 = %2) {
           %8: bool = ile %7, %4
           if %8 ^2 { break ^1 %6 } else ^3 { yield }
           %9: f32:xy = mul %6, %1
           %10: i32 = isub %7, %3
           continue ^1 %9, %10
         }
         return %5",
    );
    let slot = output(&power, Shadows::Annotated);
    assert_eq!(slot.float, 54.0);
    assert_eq!(slot.shadows, [27.0 * 0.5 + 2.0 * 27.0, 27.0 * -0.25]);
    assert_eq!(slot, output(&power, Shadows::Full));
}

#[test]
fn breaks_and_continues_leave_several_regions() {
    // Counts pairs i < n, j < i by two loops; leaves both at i = 4 through a block.
    let pairs = int_shader(
        "%0: i32 = global n[0] %1: i32 = const 0 %2: i32 = const 1 %15: i32 = const 4
         %3: i32 = block ^1 {
           loop ^2 (%4: i32 = %1, %5: i32 = %1) {
             %6: bool = ile %0, %4
             if %6 ^3 { break ^1 %5 } else ^4 { yield }
             %7: bool = ieq %4, %15
             if %7 ^5 { %8: i32 = ineg %5 break ^1 %8 } else ^6 { yield }
             %9: i32 = iadd %4, %2
             loop ^7 (%10: i32 = %1, %11: i32 = %5) {
               %12: bool = ile %4, %10
               if %12 ^8 { continue ^2 %9, %11 } else ^9 { yield }
               %13: i32 = iadd %10, %2
               %14: i32 = iadd %11, %2
               continue ^7 %13, %14
             }
             unreachable
           }
           unreachable
         }
         return %3",
        "",
    );
    for (n, expected) in [(0, 0), (3, 3), (4, 6), (5, -6)] {
        assert_eq!(
            int_output(&pairs, n, Limits::default()),
            (expected, vec![]),
            "n = {n}"
        );
    }
}

const TRIANGLE: &str = "fn tri(%0: i32) -> (i32) @100..200 ^0 {
    %1: i32 = const 0 %2: bool = ieq %0, %1
    if %2 ^1 { return %1 } else ^2 { yield }
    %3: i32 = const 1 %4: i32 = isub %0, %3
    %5: i32 = call tri(%4) @110..120
    %6: i32 = iadd %0, %5
    return %6
}";

#[test]
fn functions_recurse_within_the_limits() {
    let tri = int_shader(
        "%0: i32 = global n[0] %1: i32 = call tri(%0) @10..20 return %1",
        TRIANGLE,
    );
    assert_eq!(int_output(&tri, 10, Limits::default()), (55, vec![]));
    let outcome = run(&tri, &point([0.0_f32; 3], [0.0; 3], 10), Options::default());
    assert_eq!(outcome.steps, 12);

    // The shader, and tri for 10 to 0: twelve functions entered, twelve active at once.
    let steps = |steps| Limits {
        steps,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 10, steps(12)).0, 55);
    assert_eq!(
        int_output(&tri, 10, steps(11)),
        (0, vec![FaultKind::StepBudget])
    );
    assert_eq!(
        int_output(&tri, 10, steps(0)),
        (0, vec![FaultKind::StepBudget])
    );
    let depth = |call_depth| Limits {
        call_depth,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 10, depth(12)).0, 55);
    assert_eq!(
        int_output(&tri, 10, depth(11)),
        (0, vec![FaultKind::CallDepth])
    );
    assert_eq!(
        int_output(&tri, -1, Limits::default()),
        (0, vec![FaultKind::CallDepth])
    );

    let endless = run(&tri, &point([0.0_f32; 3], [0.0; 3], -1), Options::default());
    assert_eq!(endless.faults.stopped().unwrap().span.start, 110);
}

#[test]
fn calls_do_not_use_the_host_stack() {
    let tri = int_shader(
        "%0: i32 = global n[0] %1: i32 = call tri(%0) return %1",
        TRIANGLE,
    );
    let limits = Limits {
        call_depth: u32::MAX,
        ..Limits::default()
    };
    assert_eq!(int_output(&tri, 16_000, limits), (128_008_000, vec![]));
    let too_deep = (0, vec![FaultKind::CallDepth]);
    assert_eq!(int_output(&tri, MAX_CALL_DEPTH as i32, limits), too_deep);
}

#[test]
fn an_endless_loop_is_stopped() {
    let endless = int_shader("loop ^1 { continue ^1 @5..6 } unreachable", "");
    let limits = Limits {
        steps: 1000,
        ..Limits::default()
    };
    assert_eq!(
        int_output(&endless, 0, limits),
        (0, vec![FaultKind::StepBudget])
    );
}

#[test]
fn arrays_travel_by_their_modes() {
    // fill reads the first, writes the second, does both with the third.
    let module = int_shader(
        "array &0: i32[3] array &1: i32[3] array &2: i32[3]
         %0: i32 = const 1 %1: i32 = const 7 %2: i32 = const 100 %3: i32 = const 0
         store &0[%0], %1 store &1[%0], %1 store &2[%0], %1 store &1[%3], %1
         call fill(%0) [&0, &1, &2]
         %4: i32 = load &0[%0] %5: i32 = load &1[%0] %6: i32 = load &2[%0] %7: i32 = load &1[%3]
         %8: i32 = imul %4, %2 %9: i32 = iadd %8, %5 %10: i32 = imul %9, %2 %11: i32 = iadd %10, %6
         %12: i32 = imul %11, %2 %13: i32 = iadd %12, %7
         return %13",
        "fn fill(%0: i32) -> () ^0 {
           array &0 in: i32[3] array &1 out: i32[3] array &2 inout: i32[3]
           %1: i32 = load &0[%0] %2: i32 = load &1[%0] %3: i32 = load &2[%0]
           %4: i32 = iadd %1, %2 %5: i32 = iadd %3, %1
           store &0[%0], %5 store &1[%0], %4 store &2[%0], %5
           return
         }",
    );
    // In: unchanged 7. Out: zero on entry, so 7 + 0. Inout: 7 + 7. Out again: what was not written is zero.
    assert_eq!(
        int_output(&module, 0, Limits::default()),
        (7_07_14_00, vec![])
    );
}

#[test]
fn arrays_hold_the_shadows_they_are_laid_out_for() {
    let text = "array &0: f32:x[2] array &1: f32:xy[2]
         %0: f32:xy = global a[0] %1: i32 = const 1
         store &0[%1], %0 array_copy &1, &0 %2: f32:xy = load &1[%1] return %2";
    assert_eq!(
        output(&float_shader(text), Shadows::Annotated).shadows,
        [0.5, 0.0]
    );
    assert_eq!(
        output(&float_shader(text), Shadows::Full).shadows,
        [0.5, -0.25]
    );
    let zeroed = text.replace("array_copy", "array_zero &0 array_copy");
    assert_eq!(
        output(&float_shader(&zeroed), Shadows::Full),
        Slot::default()
    );
}

#[test]
fn a_part_of_an_array_is_copied_to_or_from_a_shorter_one() {
    let read = |start: i32, at: i32| {
        let module = module(
            &format!(
                "fn main() -> (i32) ^0 {{ array &0: i32[5] array &1: i32[2]
                   %0: i32 = const 1 %1: i32 = const 3 %2: i32 = const 4 %3: i32 = const {start} %4: i32 = const {at} %6: i32 = const 0
                   store &0[%1], %1 store &0[%2], %2 array_copy &1, &0, %1
                   array_copy &0, &1, %3 array_copy &0, &0, %2 %5: i32 = load &0[%4] return %5 }}"
            ),
            "output o: int",
        );
        int_output(&module, 0, Limits::default())
    };
    assert_eq!([0, 1, 2, 3, 4].map(|at| read(1, at).0), [0, 3, 4, 3, 4]);
    assert_eq!([0, 1].map(|at| read(-7, at).0), [3, 4]);
    assert_eq!([2, 3, 4].map(|at| read(9, at).0), [0, 3, 4]);
    assert_eq!(read(9, 3).1, []);
}

#[test]
fn calls_hand_over_the_lanes_that_both_sides_have() {
    let with = |param: &str, result: &str, array: &str| {
        let module = module(
            &format!(
                "fn main() -> (f32:xy) ^0 {{ array &0: f32:xy[1]
                   %0: f32:xy = global a[0] %1: i32 = const 0 store &0[%1], %0
                   %2: f32{result} = call same(%0) [&0]
                   %3: f32:xy = load &0[%1] %4: f32:xy = add %2, %3 return %4 }}
                 fn same(%0: f32{param}) -> (f32{result}) ^0 {{ array &0 inout: f32{array}[1] return %0 }}"
            ),
            "output o: float",
        );
        output(&module, Shadows::Annotated).shadows
    };
    assert_eq!(with(":xy", ":xy", ":xy"), [1.0, -0.5]);
    assert_eq!(with(":xy", ":x", ":y"), [0.5, -0.25]);
    assert_eq!(with(":x", ":x", ""), [0.5, 0.0]);
    assert_eq!(with("", "", ":xy"), [0.5, -0.25]);
}

#[test]
fn indices_are_clamped_and_faults_come_in_order() {
    let module = int_shader(
        "array &0: i32[3] %0: i32 = global n[0] %1: i32 = const 2 %2: i32 = const 9 %3: i32 = const 0
         store &0[%1], %2 @1..2
         %4: i32 = load &0[%0] @3..4
         %5: i32 = idiv %4, %3 @5..6
         %6: i32 = load &0[%0] @3..4
         return %4",
        "",
    );
    use FaultKind::*;
    let limits = Limits::default();
    assert_eq!(int_output(&module, 2, limits), (9, vec![DivisionByZero]));
    assert_eq!(
        int_output(&module, 3, limits),
        (9, vec![IndexOutOfRange, DivisionByZero])
    );
    assert_eq!(
        int_output(&module, i32::MIN, limits),
        (0, vec![IndexOutOfRange, DivisionByZero])
    );
    let outcome = run(
        &module,
        &point([0.0_f32; 3], [0.0; 3], 3),
        Options::default(),
    );
    let starts: Vec<u32> = outcome.faults.iter().map(|f| f.span.start).collect();
    assert_eq!(starts, [3, 5]);
}

#[test]
fn a_store_out_of_range_is_clamped_too() {
    let module = int_shader(
        "array &0: i32[3] %0: i32 = global n[0] %1: i32 = const 9 store &0[%0], %1
         %2: i32 = const 0 %3: i32 = load &0[%2] return %3",
        "",
    );
    let limits = Limits::default();
    assert_eq!(
        int_output(&module, -1, limits),
        (9, vec![FaultKind::IndexOutOfRange])
    );
    assert_eq!(
        int_output(&module, 7, limits),
        (0, vec![FaultKind::IndexOutOfRange])
    );
}

#[test]
fn array_elements_are_limited_over_all_frames() {
    let module = int_shader(
        "array &0: i32[6] %0: i32 = const 1 call inner() [&0] call inner() [&0] return %0",
        "fn inner() -> () ^0 { array &0 in: i32[6] array &1: i32[4] return }",
    );
    let limits = |array_elements| Limits {
        array_elements,
        ..Limits::default()
    };
    assert_eq!(int_output(&module, 0, limits(16)), (1, vec![]));
    assert_eq!(
        int_output(&module, 0, limits(15)),
        (0, vec![FaultKind::ArraySize])
    );
    assert_eq!(
        int_output(&module, 0, limits(5)),
        (0, vec![FaultKind::ArraySize])
    );
}

#[test]
fn unreachable_code_that_is_reached_stops_the_point() {
    let module = int_shader("unreachable", "");
    assert_eq!(
        int_output(&module, 0, Limits::default()),
        (0, vec![FaultKind::Unreachable])
    );
}

/// Keeps requests, and answers with the coordinates.
struct Recorder(Vec<SampleRequest>);

impl Host for Recorder {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.push(*request);
        Sampled::Ready([request.u, request.v, 0.5, 0.125])
    }
}

#[test]
fn samples_ask_the_host_with_partials() {
    let module = float_shader(
        "%0: f32:xy = global a[0] %1: f32:x = global b[0]
         %2: f32, %3: f32, %4: f32 = sample_color wood(%0, %1)
         %5: f32 = sample_alpha wood(%4, %3)
         %6: f32:xy = mul %0, %5 return %6",
    );
    let mut host = Recorder(Vec::new());
    let point = point([2.0, 0.5, -0.0], [-f32::NAN, 1.0, 7.0], 0);
    let outcome = evaluate(&module, &point, &Options::default(), &mut host);
    assert_eq!(outcome.outputs[0].float, 0.25);
    assert_eq!(outcome.outputs[0].shadows, [0.125 * 0.5, 0.0]);
    let [first, second] = host.0[..] else {
        panic!("two samples make two requests");
    };
    assert_eq!(
        [first.u, first.dudx, first.dvdx, first.dvdy],
        [2.0, 0.5, 1.0, 0.0]
    );
    assert_eq!(first.v.to_bits(), CANONICAL_NAN);
    assert_eq!(first.dudy.to_bits(), 0);
    assert_eq!([second.u, second.dudx, second.dvdx], [0.5, 0.0, 0.0]);
}

#[test]
fn nan_leaves_as_one_nan() {
    let module = float_shader("%0: f32:xy = global a[0] return %0");
    let point = point([f32::from_bits(0xffc0_1234), -f32::NAN, -0.0], [0.0; 3], 0);
    let slot = run(&module, &point, Options::default()).outputs[0];
    assert_eq!(slot.float.to_bits(), CANONICAL_NAN);
    assert_eq!(slot.shadows.map(f32::to_bits), [CANONICAL_NAN, 0]);
}

/// glow(a, n)·a + (empty + glow(b, n))·(a, b, a), tied by a loop over n.
const GLOW: &str = "fn main() -> (closure) ^0 {
    %0: f32 = global a[0] %1: f32 = global b[0] %2: i32 = global n[0] %3: closure = const empty
    %4: closure = make_closure glow(%0, %2) %5: closure = closure_scale %4, %0
    %6: closure = make_closure glow(%1, %2) %7: closure = closure_add %3, %6
    %8: closure = closure_scale %7, %0, %1, %0 %9: closure = closure_add %5, %8
    %10: closure = closure_scale %3, %0
    %11: closure = closure_add %9, %10
    return %11 @9..10
}";

#[test]
fn closures_make_a_tree() {
    let module = module(GLOW, "output c: closure");
    let outcome = run(
        &module,
        &point([2.0, 1.0, 1.0], [-f32::NAN, 0.0, 0.0], 5),
        Options::default(),
    );
    let arena = &outcome.closures;
    let root = ClosureRef::from_word(outcome.outputs[0].word);
    let Some(ClosureNode::Add(left, right)) = arena.node(root) else {
        panic!("the root is a sum");
    };
    let (Some(ClosureNode::Scale(first, weight)), Some(ClosureNode::Tint(second, color))) =
        (arena.node(left), arena.node(right))
    else {
        panic!("the sum is of a scaled and a tinted one");
    };
    assert_eq!(
        (weight, color[0], color[1].to_bits()),
        (2.0, 2.0, CANONICAL_NAN)
    );
    for (leaf, a) in [(first, 2.0_f32.to_bits()), (second, CANONICAL_NAN)] {
        let Some(ClosureNode::Leaf { shape, args }) = arena.node(leaf) else {
            panic!("leaves are leaves");
        };
        assert_eq!((shape, arena.args(args)), (ClosureId(0), &[a, 5][..]));
    }
    assert_eq!(arena.size(), 5 + 4);
}

#[test]
fn closures_are_limited_and_gone_when_the_point_is_stopped() {
    let module = module(GLOW, "output c: closure");
    let with = |closure_size| {
        let limits = Limits {
            closure_size,
            ..Limits::default()
        };
        run(
            &module,
            &point([1.0_f32; 3], [1.0; 3], 0),
            Options {
                limits,
                ..Options::default()
            },
        )
    };
    assert!(!ClosureRef::from_word(with(9).outputs[0].word).is_empty());
    let stopped = with(8);
    assert_eq!(
        stopped.faults.stopped().unwrap().kind,
        FaultKind::ClosureSize
    );
    assert!(ClosureRef::from_word(stopped.outputs[0].word).is_empty());
    assert_eq!(stopped.closures.size(), 0);
}

#[test]
fn inputs_start_at_their_defaults_and_a_stop_zeroes_every_output() {
    let module = module(
        "fn main(%0: f32, %1: i32) -> (f32:x, i32) ^0 {
           %2: f32:x = global a[0] %3: f32:x = add %2, %0 return %3, %1 }",
        "input gain: float = 1.5 input k: int = -3 output o: float output n: int",
    );
    let mut point = Point::<f32>::new(&module);
    assert_eq!(point.globals.len(), 3);
    point.globals[0] = Slot::float(1.0, [4.0, 5.0]);
    let outcome = run(&module, &point, Options::default());
    assert_eq!(
        outcome.outputs,
        [Slot::float(2.5, [4.0, 0.0]), Slot::word(-3_i32 as u32)]
    );
    let limits = Limits {
        steps: 0,
        ..Limits::default()
    };
    let outcome = run(
        &module,
        &point,
        Options {
            limits,
            ..Options::default()
        },
    );
    assert_eq!(outcome.outputs, [Slot::default(); 2]);
}

/// A smooth program with calls and a loop: y = b; three times y = sin(y·a) + exp(y/3); y.
fn smooth() -> Module {
    module(
        "fn main() -> (f32:xy) ^0 {
           %0: f32:xy = global a[0] %1: f32:xy = global b[0] %2: i32 = const 3 %3: i32 = const 1 %4: i32 = const 0
           %5: f32:xy = loop ^1 (%6: f32:xy = %1, %7: i32 = %2) {
             %8: bool = ile %7, %4
             if %8 ^2 { break ^1 %6 } else ^3 { yield }
             %9: f32:xy = call turn(%6, %0) %10: i32 = isub %7, %3
             continue ^1 %9, %10
           }
           return %5
         }
         fn turn(%0: f32:xy, %1: f32:xy) -> (f32:xy) ^0 {
           %2: f32:xy = mul %0, %1 %3: f32:xy = sin %2 %4: f32 = const 3.0 %5: f32:xy = div %0, %4
           %6: f32:xy = exp %5 %7: f32:xy = add %3, %6 return %7
         }",
        "output o: float",
    )
}

#[test]
fn narrow_and_wide_numbers_agree_on_smooth_programs() {
    let module = smooth();
    for (a, b) in [(0.5, 0.25), (1.25, -0.75), (-0.375, 1.5)] {
        let wide = run(
            &module,
            &point([a, 1.0, 0.0], [b, 0.0, 1.0], 0),
            Options::default(),
        );
        let [a32, b32] = [a as f32, b as f32];
        let narrow = run(
            &module,
            &point([a32, 1.0, 0.0], [b32, 0.0, 1.0], 0),
            Options::default(),
        );
        let (wide, narrow) = (wide.outputs[0], narrow.outputs[0]);
        let close = |x: f64, y: f32| (x - f64::from(y)).abs() <= 4e-6 * x.abs().max(1.0);
        assert!(close(wide.float, narrow.float), "{wide:?} {narrow:?}");
        assert!(
            close(wide.shadows[0], narrow.shadows[0]),
            "{wide:?} {narrow:?}"
        );
        assert!(
            close(wide.shadows[1], narrow.shadows[1]),
            "{wide:?} {narrow:?}"
        );
    }
}

#[test]
fn wide_derivatives_are_what_finite_differences_say() {
    let module = smooth();
    let value = |a: f64, b: f64| {
        let point = point([a, 0.0, 0.0], [b, 0.0, 0.0], 0);
        run(&module, &point, Options::default()).outputs[0].float
    };
    let h = 1e-4;
    for (a, b) in [(0.5, 0.25), (1.25, -0.75), (-0.375, 1.5)] {
        let exact = run(
            &module,
            &point([a, 1.0, 0.0], [b, 0.0, 1.0], 0),
            Options::default(),
        );
        let [dx, dy] = exact.outputs[0].shadows;
        let fd_x = (value(a + h, b) - value(a - h, b)) / (2.0 * h);
        let fd_y = (value(a, b + h) - value(a, b - h)) / (2.0 * h);
        assert!((dx - fd_x).abs() < 1e-6 * dx.abs().max(1.0), "{dx} {fd_x}");
        assert!((dy - fd_y).abs() < 1e-6 * dy.abs().max(1.0), "{dy} {fd_y}");
    }
}

#[test]
fn wide_numbers_compare_and_convert_wide() {
    let below = int_shader(
        "%0: f32 = global a[0] %1: f32 = global b[0] %2: bool = flt %0, %1 %3: i32 = b2i %2 return %3",
        "",
    );
    let point = |b: f64| point([1.0, 0.0, 0.0], [b, 0.0, 0.0], 0);
    assert_eq!(
        run(&below, &point(1.0 + 1e-12), Options::default()).outputs[0].word,
        1
    );
    let whole = float_shader(
        "%0: f32 = global b[0] %1: i32 = f2i %0 %2: f32 = i2f %1 %3: f32 = sub %0, %2
         %4: f32:xy = global a[0] %5: f32:xy = mul %4, %3 return %5",
    );
    let outcome = run(&whole, &point(2.0_f64.powi(25) + 1.25), Options::default());
    assert_eq!(outcome.outputs[0].float, 0.25);
    let outcome = run(&whole, &point(3.0 - 1e-12), Options::default());
    assert!((outcome.outputs[0].float - 1.0).abs() < 1e-11);
    let bits = int_shader(
        "%0: f32 = global b[0] %1: i32 = asint %0 %2: f32 = asfloat %1 %3: bool = feq %0, %2 %4: i32 = b2i %3 return %4",
        "",
    );
    assert_eq!(
        run(&bits, &point(0.5), Options::default()).outputs[0].word,
        1
    );
    assert_eq!(
        run(&bits, &point(0.1), Options::default()).outputs[0].word,
        0
    );
}

#[test]
fn paths_differ_where_floats_decide_differently() {
    let path = |module: &Module, a: f64| {
        let options = Options {
            path: true,
            ..Options::default()
        };
        run(module, &point([a, 0.0, 0.0], [0.0; 3], 0), options).path
    };
    let branch = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 1.0 %2: bool = flt %0, %1
         %3: f32:xy = if %2 ^1 { yield %0 } else ^2 { %4: f32:xy = mul %0, %0 yield %4 } return %3",
    );
    let kink = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 1.0 %2: f32:xy = max %0, %1 return %2",
    );
    let cell = float_shader("%0: f32:xy = global a[0] %1: f32:xy = fract %0 return %1");
    let index = float_shader(
        "array &0: f32:x[4] %0: f32:xy = global a[0] %1: i32 = f2i %0 %2: f32:x = load &0[%1]
         %3: f32:xy = mul %2, %0 return %3",
    );
    let trips = float_shader(
        "%0: f32:xy = global a[0] %1: f32 = const 0.5 %2: f32 = const 1.0
         %3: f32:xy = loop ^1 (%4: f32:xy = %0) {
           %5: bool = flt %4, %2
           if %5 ^2 { break ^1 %4 } else ^3 { yield }
           %6: f32:xy = mul %4, %1
           continue ^1 %6
         }
         return %3",
    );
    let conversion = float_shader(
        "%0: f32:xy = global a[0] %1: i32 = f2i %0 %2: f32 = i2f %1 %3: f32:xy = add %0, %2 return %3",
    );
    for module in [branch, kink, cell, index, trips, conversion] {
        assert_eq!(path(&module, 0.75), path(&module, 0.875));
        assert_ne!(path(&module, 0.875), path(&module, 1.125));
        assert_eq!(path(&module, 1.125), path(&module, 1.25));
        let unasked = run(
            &module,
            &point([1.0_f64; 3], [0.0; 3], 0),
            Options::default(),
        );
        assert_eq!(unasked.path, 0);
    }
}

#[test]
fn what_a_point_did_is_counted() {
    let recursive = int_shader(
        "array &0: i32[2] %0: i32 = global n[0] %1: i32 = call tri(%0) store &0[%0], %1 %2: i32 = load &0[%0]
         %3: f32 = global a[0] %4: f32 = log %3 %5: f32 = ddx %4 %6: i32 = call same(%2)
         return %6",
        &format!("{TRIANGLE} fn same(%0: i32) -> (i32) ^0 {{ member n: int inout params[0, 1] results[0, 1] return %0 }}"),
    );
    let outcome = run(
        &recursive,
        &point([0.0_f32; 3], [0.0; 3], 1),
        Options::default(),
    );
    let expected = Tally {
        turns: 0,
        calls: 3,
        recursions: 1,
        writes: 1,
        accesses: 2,
        reads: 1,
        nonfinite: 1,
    };
    assert_eq!(outcome.tally, expected);
}

#[test]
fn slots_know_their_bits() {
    let slot = Slot::<f64>::from_bits(Scalar::F32, 0.1_f32.to_bits());
    assert_eq!(slot.float, f64::from(0.1_f32));
    assert_eq!(slot.bits(Scalar::F32), 0.1_f32.to_bits());
    assert_eq!(
        Slot::<f32>::from_bits(Scalar::Bool, 1).bits(Scalar::Bool),
        1
    );
    assert_eq!(Slot::float(1.0_f32, [2.0, 3.0]).shadow(Direction::Y), 3.0);
}
