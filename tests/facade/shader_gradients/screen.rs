//! Gradients through screen derivatives: backward mode has shadows as values.

use super::{gradient, program};
use adumbra::derivatives::{ParameterScalar, Quad, parameter_differences};
use adumbra::evaluator::Engine;
use adumbra::gradient::GradientRequest;
use adumbra::{
    Compiler, Derivatives, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Options, Program, Sources, Type,
};
use std::sync::Arc;

/// x, y and their shadows, which no rule may take for zeros.
fn point(program: &Arc<Program>, at: usize) -> Globals {
    let mut globals = Globals::new(program.globals());
    let t = at as f32;
    globals
        .set("x", 0.3 + (t * 0.37).fract(), 0.25, -0.125)
        .unwrap();
    let place = [0.6 - t * 0.05, 0.2 + t * 0.07, 0.9];
    let (ddx, ddy) = ([0.125, 0.0625, -0.25], [0.03125, -0.1875, 0.125]);
    globals.set("uvw", place, ddx, ddy).unwrap();
    for seed in ["d(o)", "d(a)"] {
        let _ = globals.set(seed, 1.0_f32, 0.0, 0.0);
    }
    globals
}

fn evaluated(program: &Arc<Program>, at: usize, engine: Engine, names: &[&str]) -> Vec<f32> {
    let instance = Instance::new(program);
    let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
    evaluator.evaluate(&point(program, at), &mut NoTextures);
    assert!(evaluator.faults().is_empty());
    let get = |name: &&str| evaluator.get::<f32>(name).unwrap();
    names.iter().map(get).collect()
}

/// Shaders of `a` whose outputs depend on it by shadows, in every kind of control flow.
const PROGRAMS: [(&str, &str); 10] = [
    ("of a product", "shader s(float a = 0.7, out float o) {
        float x = global_value<x>; o = a * a * ddx(a * x * x) - ddy(x * a) / a; }"),
    ("of a filter's width", "shader s(float a = 0.7, out float o) {
        float2 p = a * global_value<uvw>.xy; float2 w = filterwidth(p);
        o = checker(p * 3.0, 3.0 * w) + w.x * exp(w.y * a); }"),
    ("of noise", "shader s(float a = 0.7, out float o) {
        float3 p = global_value<uvw> * a; float n = snoise(3.0 * p); o = n * fwidth(n) + ddx(n * a); }"),
    ("in functions", "float grid(float2 p, float k) { return sin(k * p.x) * ddx(p.y * k) + ddy(sin(k)); }
        float twice(float2 p, float k) { return grid(p * k, k) + grid(p, k * k); }
        shader s(float a = 0.7, out float o) {
            o = twice(global_value<uvw>.xy, a) * ddx(twice(global_value<uvw>.yz, a) ); }"),
    ("in loops and branches", "shader s(float a = 0.7, out float o) {
        float x = global_value<x>; float sum = a;
        for (int i = 0; i < 5; i++) {
            if (x > 0.5) { sum += ddx(sum * x * a); if (i == 3) break; } else { sum *= 1.0 + ddy(x * sum); }
        }
        o = sum * ddx(sum); }"),
    ("of elements", "shader s(float a = 0.7, out float o) {
        float x = global_value<x>; float all[4];
        for (int i = 0; i < 4; i++) all[i] = pow(a, i + 1) * x;
        o = 0.0; for (int i = 0; i < 4; i++) o += ddx(all[3 - i]) * all[i]; }"),
    ("of a recursion", "float power(float x, int n) { return n <= 0 ? 1.0 : x * power(x, n - 1); }
        shader s(float a = 0.7, out float o) { o = ddx(power(a * global_value<x>, 4)) * a; }"),
    ("of derivatives", "[Differentiable] float f(float x) { return sin(x * x); }
        shader s(float a = 0.7, out float o) {
            float x = global_value<x>; float d = fwd_diff(f)(diffPair(a * x, 1.0)).d;
            var pair = diffPair(a * x); bwd_diff(f)(pair, a);
            o = ddx(d) * pair.d + ddy(pair.d * a); }"),
    ("of what a derivative detaches", "shader s(float a = 0.7, out float o) {
        float x = global_value<x>; o = a * ddx(detach(x * x) * a) * no_diff ddx(x * x); }"),
    ("of a custom derivative", "[BackwardDerivative(f_back)] float f(float x) { return x * x * x; }
        void f_back(inout DifferentialPair<float> x, float cotangent) {
            x = diffPair(x.p, 3.0 * x.p * x.p * cotangent); }
        shader s(float a = 0.7, out float o) { o = ddx(f(a * global_value<x>)) * f(a); }"),
];

#[test]
fn gradients_pass_screen_derivatives() {
    for (name, source) in PROGRAMS {
        let primal = program(source);
        let backward = gradient(source, GradientRequest::new().by_inputs().by_global("x"));
        let forward = primal.gradient(&GradientRequest::new().forward());
        for at in 0..6 {
            let value = evaluated(&primal, at, Engine::Point, &["o"])[0];
            let found = evaluated(backward.program(), at, Engine::Point, &["o", "d(a)"]);
            let reference = evaluated(backward.program(), at, Engine::Reference, &["o", "d(a)"]);
            assert_eq!(found, reference, "{name}");
            assert_eq!(found[0].to_bits(), value.to_bits(), "{name}");
            let instance = Instance::new(&primal);
            let globals = point(&primal, at);
            let by_a = [ParameterScalar::Input(0)];
            let limits = Limits::default();
            let slopes = parameter_differences(&instance, &globals, &by_a, limits, &mut NoTextures);
            let (slope, is_smooth) = slopes.unwrap()[0][0];
            assert!(is_smooth, "{name} at {at}");
            let near = |one: f64, other: f64| (one - other).abs() <= 1e-4 * other.abs().max(1.0);
            assert!(
                near(found[1].into(), slope),
                "{name} at {at}: {}, not {slope}",
                found[1]
            );
            // A custom derivative may be backward alone.
            if let Ok(forward) = &forward {
                let pushed = evaluated(forward.program(), at, Engine::Point, &["d(o)"])[0];
                assert!(
                    near(pushed.into(), slope),
                    "{name} at {at}: {pushed}, not {slope}"
                );
            }
        }
    }
}

/// a²·∂x(a·x²) is 2·a³·x·x′, by x and by a; the shadow of x is the host's, and a constant.
#[test]
fn shadows_of_the_host_are_constants() {
    let source = "shader s(float a = 0.5, out float o) {
        float x = global_value<x>; o = a * a * ddx(a * x * x); }";
    let request = GradientRequest::new().by_inputs().by_global("x");
    let gradient = gradient(source, request);
    let mut globals = Globals::new(gradient.program().globals());
    globals.set("x", 3.0_f32, 2.0, 7.0).unwrap();
    globals.set("d(o)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(gradient.program()));
    evaluator.evaluate(&globals, &mut NoTextures);
    let get = |name: &str| evaluator.get::<f32>(name).unwrap();
    assert_eq!(["o", "d(a)", "d(x)"].map(get), [1.5, 9.0, 0.5]);
}

/// A custom derivative holds for a value whose shadow is read beside it; the shadow is that of the
/// body. With v = (a·x)³ and its shadow t = 3·a³·x²·x′ the gradient of v·t is 5·x·t + v·9·a²·x²·x′.
#[test]
fn custom_derivatives_hold_beside_shadows() {
    let source = "[BackwardDerivative(f_back)] float f(float x) { return x * x * x; }
        void f_back(inout DifferentialPair<float> x, float cotangent) {
            x = diffPair(x.p, 5.0 * cotangent); }
        shader s(float a = 1.0, out float o) {
            float v = f(a * global_value<x>); o = v * ddx(v); }";
    let gradient = gradient(source, GradientRequest::new());
    let mut globals = Globals::new(gradient.program().globals());
    globals.set("x", 2.0_f32, 0.5, 0.0).unwrap();
    globals.set("d(o)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(gradient.program()));
    evaluator.evaluate(&globals, &mut NoTextures);
    let get = |name: &str| evaluator.get::<f32>(name).unwrap();
    assert_eq!(["o", "d(a)"].map(get), [48.0, 204.0]);
}

/// Forward, then backward, and the other way round: both have the second derivative.
#[test]
fn second_derivatives_pass_screen_derivatives() {
    // o = 2·a³·x·x′: by a twice, 12·a·x·x′.
    let source = "shader s(float a = 0.7, out float o) {
        float x = global_value<x>; o = a * a * ddx(a * x * x); }";
    let first = gradient(source, GradientRequest::new().forward());
    let second = first
        .program()
        .gradient(&GradientRequest::new().of("d(o)").by_input("a"));
    let second = second.unwrap();
    let reversed = gradient(source, GradientRequest::new());
    let reversed = reversed
        .program()
        .gradient(&GradientRequest::new().of("d(a)").by_input("a"));
    let reversed = reversed.unwrap();
    let forward = gradient(source, GradientRequest::new());
    let forward = forward
        .program()
        .gradient(&GradientRequest::new().of("d(a)").by_input("a").forward());
    let forward = forward.unwrap();
    for (gradient, seeds, output) in [
        (second, ["d(a)", "d2(d(o))"], "d2(a)"),
        (reversed, ["d(o)", "d2(d(a))"], "d2(a)"),
        (forward, ["d(o)", "d2(a)"], "d2(d(a))"),
    ] {
        let mut globals = point(gradient.program(), 1);
        for seed in seeds {
            globals.set(seed, 1.0_f32, 0.0, 0.0).unwrap();
        }
        let mut evaluator = Evaluator::new(&Instance::new(gradient.program()));
        evaluator.evaluate(&globals, &mut NoTextures);
        let found = evaluator.get::<f32>(output).unwrap();
        let expected = 12.0 * 0.7 * 0.67 * 0.25;
        assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
    }
}

/// Shadows of quads are differences of neighbours, of which a point has no gradient.
#[test]
fn screen_derivatives_of_quads_are_refused() {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let options = Options {
        derivatives: Derivatives::Quad(Quad::Fine),
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    let source = "shader s(float a, out float o) { o = ddx(a * global_value<x>); }";
    let program = compiler.compile(&Sources::new("s.adu", source)).unwrap();
    let no = program.gradient(&GradientRequest::new()).unwrap_err();
    assert_eq!(no.diagnostics.last().unwrap().code.to_string(), "E0564");
    assert!(program.gradient(&GradientRequest::new().forward()).is_ok());
}
