//! Tests of the host's interface: requests, closures, inputs and outputs.

use super::*;

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
         %2: f32, %3: f32, %4: f32, %5: f32 = sample wood(%0, %1)
         %6: f32, %7: f32, %8: f32, %9: f32 = sample wood(%4, %3)
         %10: f32:xy = mul %0, %9 return %10",
    );
    let mut host = Recorder(Vec::new());
    let point = point([2.0, 0.5, -0.0], [-f32::NAN, 1.0, 7.0], 0);
    let outcome = evaluate(&module, &point, &EvalOptions::default(), &mut host);
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
fn outputs_have_canonical_nan() {
    let module = float_shader("%0: f32:xy = global a[0] return %0");
    let point = point([f32::from_bits(0xffc0_1234), -f32::NAN, -0.0], [0.0; 3], 0);
    let slot = run(&module, &point, EvalOptions::default()).outputs[0];
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
        EvalOptions::default(),
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
            EvalOptions {
                limits,
                ..EvalOptions::default()
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
    let mut point = EvalPoint::<f32>::new(&module);
    assert_eq!(point.globals.len(), 3);
    point.globals[0] = EvalValue::float(1.0, [4.0, 5.0]);
    let outcome = run(&module, &point, EvalOptions::default());
    assert_eq!(
        outcome.outputs,
        [
            EvalValue::float(2.5, [4.0, 0.0]),
            EvalValue::word(-3_i32 as u32)
        ]
    );
    let limits = Limits {
        steps: 0,
        ..Limits::default()
    };
    let outcome = run(
        &module,
        &point,
        EvalOptions {
            limits,
            ..EvalOptions::default()
        },
    );
    assert_eq!(outcome.outputs, [EvalValue::default(); 2]);
}
