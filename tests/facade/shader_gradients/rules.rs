//! What gradients respect of the text; forward mode, nested derivatives, effects.

use super::{by, globals, gradient, outputs};
use adumbra::gradient::GradientRequest;
use adumbra::host::MessageId;
use adumbra::{Evaluator, Host, Instance, NoTextures, Program, SampleRequest, Sampled};
use std::sync::Arc;

#[test]
fn what_the_text_says_of_derivatives_holds() {
    let source = "
        float sq(float x) { return x * x; }
        [ForwardDerivative(scaled_fwd)] float scaled(float x) { return 5 * x * global_value<x>; }
        DifferentialPair<float> scaled_fwd(DifferentialPair<float> x) { return diffPair(scaled(x.p), 100 * x.d); }
        [BackwardDerivative(cubed_bwd)] float cubed(float x) { return x * x * x; }
        void cubed_bwd(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 1000 * d); }
        [TreatAsDifferentiable] float flat(float x) { return 3 * x; }
        shader s(float a = 2.0, float b = 3.0, out float o) {
            o = sq(a) + no_diff sq(b) + detach(b) * a + scaled(b) + cubed(b) + flat(a); }";
    let names = ["d(a)", "d(b)"];
    let found = by(source, GradientRequest::new(), &[("x", 1.0)], names);
    assert_eq!(found, [2.0 * 2.0 + 3.0, 100.0 + 1000.0]);
    // A rule knows nothing of the globals that its function reads.
    let by_x = gradient(source, GradientRequest::new().by_global("x"));
    assert!(by_x.parameters()[0].is_zero);
    assert_eq!(by_x.ends().len(), 1, "{:?}", by_x.ends());
    assert_eq!(by_x.ends()[0].code.to_string(), "W0518");
    assert!(
        by_x.ends()[0].message.contains("`scaled`"),
        "{:?}",
        by_x.ends()
    );
}

#[test]
fn derivatives_within_the_shader_are_differentiated() {
    // In the shader's own derivative the global is a constant, and not in the shader's gradient.
    let source = "
        [Differentiable] float f(float y) { return y * y * y * global_value<x>; }
        [Differentiable] float both(float y) { return f(y) * global_value<x>; }
        shader s(float a = 2.0, out float o) {
            var pair = diffPair(a);
            bwd_diff(both)(pair, 1.0);
            o = pair.d + fwd_diff(f)(diffPair(a, 1.0)).d; }";
    let request = || GradientRequest::new().by_inputs().by_global("x");
    let found = by(source, request(), &[("x", 5.0)], ["o", "d(a)", "d(x)"]);
    // o = 3a²x² + 3a²x.
    assert_eq!(found, [300.0 + 60.0, 300.0 + 60.0, 12.0 * 10.0 + 12.0]);
}

#[test]
fn forward_mode_is_the_transpose() {
    let source = "
        float f(float a, float2 b) { return a > 1 ? exp(a * b.x) / b.y : a * b.y; }
        shader s(float a, float2 b, out float o, out float2 p) {
            o = f(a, b) + global_value<x>;
            p = b * a; while (p.x < 10) { p = p * 1.5 + float2(a, 1); } }";
    let request = || GradientRequest::new().by_inputs().by_global("x");
    let (back, forward) = (
        gradient(source, request()),
        gradient(source, request().forward()),
    );
    for (a, b) in [(0.5, [2.0, 3.0]), (1.5, [0.25, -2.0]), (3.0, [1.0, 0.5])] {
        let set = |program: &Arc<Program>| {
            let mut instance = Instance::new(program);
            instance.set("a", a).unwrap();
            instance.set("b", b).unwrap();
            Evaluator::new(&instance)
        };
        let mut here = globals(back.program(), &[("d(o)", 0.75)]);
        here.set("d(p)", [0.5, -1.25], [0.0; 2], [0.0; 2]).unwrap();
        let mut evaluator = set(back.program());
        evaluator.evaluate(&here, &mut NoTextures);
        let by_a = evaluator.get::<f32>("d(a)").unwrap();
        let by_b = evaluator.get::<[f32; 2]>("d(b)").unwrap();
        let by_x = evaluator.get::<f32>("d(x)").unwrap();

        let mut here = globals(forward.program(), &[("d(a)", 0.3), ("d(x)", 2.0)]);
        here.set("d(b)", [-0.7, 1.1], [0.0; 2], [0.0; 2]).unwrap();
        let mut evaluator = set(forward.program());
        evaluator.evaluate(&here, &mut NoTextures);
        let o = evaluator.get::<f32>("d(o)").unwrap();
        let p = evaluator.get::<[f32; 2]>("d(p)").unwrap();

        let pulled = f64::from(by_a) * 0.3 + f64::from(by_b[0]) * -0.7;
        let pulled = pulled + f64::from(by_b[1]) * 1.1 + f64::from(by_x) * 2.0;
        let pushed = f64::from(o) * 0.75 + f64::from(p[0]) * 0.5 - f64::from(p[1]) * 1.25;
        let scale = 1e-5 * (1.0 + pulled.abs());
        assert!((pulled - pushed).abs() < scale, "{pulled} {pushed}");
    }
}

#[test]
fn gradients_nest() {
    let source = "shader s(float a = 2.0, float b = 3.0, out float o) { o = a * a * a * b; }";
    let first = gradient(source, GradientRequest::new().by_input("a"));
    let second = first
        .program()
        .gradient(&GradientRequest::new().of("d(a)"))
        .unwrap();
    let named: Vec<&str> = (second.parameters().iter())
        .map(|by| by.value.name.as_str())
        .collect();
    assert_eq!(named, ["a", "b"]);
    let here = globals(second.program(), &[("d(o)", 1.0), ("d2(d(a))", 1.0)]);
    let names = ["o", "d(a)", "d2(a)", "d2(b)"];
    let found = outputs(second.program(), &here, names);
    // 3a²b, then 6ab and 3a².
    assert_eq!(found, [24.0, 36.0, 36.0, 12.0]);
    let third = second
        .program()
        .gradient(&GradientRequest::new().of("d2(a)").by_input("a").forward());
    let third = third.unwrap();
    let here = globals(
        third.program(),
        &[("d(o)", 1.0), ("d2(d(a))", 1.0), ("d3(a)", 1.0)],
    );
    assert_eq!(outputs(third.program(), &here, ["d3(d2(a))"]), [18.0]);
}

#[test]
fn effects_happen_once() {
    #[derive(Default)]
    struct Log(Vec<String>);
    impl Host for Log {
        fn sample(&mut self, request: &SampleRequest) -> Sampled {
            self.0.push(format!("sample {}", request.u));
            Sampled::Ready([0.5; 4])
        }
        fn message(&mut self, _: MessageId, args: &[u32]) {
            self.0.push(format!("message {}", f32::from_bits(args[0])));
        }
    }
    let source = r#"texture2d t;
        shader s(float a = 2.0, out float o) {
            printf("%f", a);
            for (int i = 0; i < 3; i++) { o += a * texture2d_sample<t>(float2(i, 0)).x; }
            if (o > 100) return;
            o = o * o; }"#;
    let found = gradient(source, GradientRequest::new());
    let mut log = Log::default();
    let mut evaluator = Evaluator::new(&Instance::new(found.program()));
    evaluator.evaluate(&globals(found.program(), &[("d(o)", 1.0)]), &mut log);
    assert_eq!(log.0, ["message 2", "sample 0", "sample 1", "sample 2"]);
    assert_eq!(evaluator.get::<f32>("d(a)"), Ok(2.0 * 3.0 * 1.5));
}
