//! Facts of another differentiable language, as gradients of shaders.

use crate::shader_gradients::{globals, gradient};
use adumbra::gradient::GradientRequest;
use adumbra::{Evaluator, Instance, NoTextures};

/// The gradient of a shader's `o` by its inputs `x` and `y`, with a seed.
fn facts(body: &str, at: [f32; 2], seed: f32) -> [f32; 2] {
    let (functions, body) = body.split_once("$ ").unwrap_or(("", body));
    let source = format!("{functions} shader s(float x, float y, out float o) {{ {body} }}");
    let found = gradient(&source, GradientRequest::new());
    let mut instance = Instance::new(found.program());
    instance.set("x", at[0]).unwrap();
    instance.set("y", at[1]).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let here = globals(found.program(), &[("d(o)", seed)]);
    evaluator.evaluate(&here, &mut NoTextures);
    ["d(x)", "d(y)"].map(|name| evaluator.get::<f32>(name).unwrap())
}

/// Facts of another differentiable language, checked by calculus.
#[test]
fn facts_about_derivatives_hold_of_shaders() {
    let h = "float h(float x, float y) { return (x + y) * (x - y) + 2 * x * y; }$ o = h(x, y);";
    let equation = "float f(float x, float y) { float q = x * y / (x + 1);
        return (sin(q) + log(1 + q) - exp(y)) * (q - tanh(y)); }$ o = f(x, y);";
    let returns = "float f(float y) { if (y > 0.8) return 10 * y; if (y > 0.6) return 4 * y; return 6 * y; }$ o = f(y);";
    let detached = "float p = 0; float g = 0; float all = 0;
        for (int i = 0; i < 8; i++) { g = max(i * y, 0.0); p += g * y; all += g; }
        p = p / all; o = y + (p - detach(p));";
    let product = "o = 1; for (int i = 0; i < 2; i++) { for (int j = 0; j < 2; j++) { o *= (i + j + 1) * x; } }";
    let sine = "float term = x; o = x; for (int i = 1; i < 30; i++) { term = -term * x * x / ((2 * i) * (2 * i + 1)); o += term; }";
    let strides = "o = 0; for (int i = -3; i <= 3; i += 2) { o += x * x; } for (int i = 7; i > 3; i--) { o += i * 0 * x; }";
    let twice = "void g(float x, out float y) { y = (x + 1) * (x + 1); }$ float y1; g(x, y1); float z = x; g(z, z); o = y1;";
    let rule = "[ForwardDerivative(odd)] float sq(float v) { return v * v; }
        DifferentialPair<float> odd(DifferentialPair<float> v) { return diffPair(v.p * v.p, 3 * v.p * v.d); }$ o = sq(x);";
    let second = "[Differentiable] float f(float v) { return sin(v * v * v) + v * v * v * v * v * v; }$ o = fwd_diff(f)(diffPair(x, 1.0)).d;";
    let table = "o = 0; float a[4]; for (int i = 0; i < 4; i++) { a[i] = x * i; } a[2] = a[3] * a[1]; for (int j = 0; j < 4; j++) { o += a[j]; }";
    for (body, at, seed, expected) in [
        (h, [2.0, 1.5], 1.0, [7.0, 1.0]),
        ("o = x / y * y;", [2.0, 1.5], 1.0, [1.0, 0.0]),
        ("o = -x * y;", [2.0, 1.5], 1.0, [-1.5, -2.0]),
        (equation, [1.5, 0.5], 1.0, [-0.109_633_5, 0.302_920_8]),
        (
            "float2 p = float2(x, y); o = p.x + p.y; ",
            [0.0, 0.0],
            2.3,
            [2.3, 2.3],
        ),
        ("o = y > 0.5 ? 2 * y : y + 1;", [0.0, 1.0], 1.0, [0.0, 2.0]),
        ("o = y > 0.5 ? 2 * y : y + 1;", [0.0, 0.4], 1.0, [0.0, 1.0]),
        (returns, [0.0, 1.0], 1.0, [0.0, 10.0]),
        (returns, [0.0, 0.4], 1.0, [0.0, 6.0]),
        (returns, [0.0, 0.7], 1.0, [0.0, 4.0]),
        (
            "o = x > 1e-8 ? atan2(x, x) : 0.0;",
            [0.0, 0.0],
            1.0,
            [0.0, 0.0],
        ),
        (product, [1.0, 0.0], 0.4, [12.0 * 4.0 * 0.4, 0.0]),
        (sine, [std::f32::consts::PI, 0.0], 1.0, [-1.0, 0.0]),
        (strides, [2.0, 0.0], 1.0, [16.0, 0.0]),
        (detached, [0.0, 1.0], 1.0, [0.0, 2.0]),
        (detached, [0.0, 0.4], 0.5, [0.0, 1.0]),
        (twice, [5.0, 0.0], 1.0, [12.0, 0.0]),
        (rule, [3.0, 0.0], 1.0, [9.0, 0.0]),
        (second, [2.0, 0.0], 0.5, [167.893, 0.0]),
        (table, [2.0, 0.0], 1.0, [4.0 + 12.0, 0.0]),
        ("o = sqrt(x);", [2.0, 0.0], 1.0, [0.353_553, 0.0]),
        ("o = clamp(x, 0.0, y);", [3.0, 2.0], 1.0, [0.0, 1.0]),
        (
            "o = length(float3(x, y, 31));",
            [12.0, 23.0],
            1.0,
            [0.296_862, 0.568_986],
        ),
        (
            "o = floor(x) * y + step(0.5, x);",
            [2.5, 3.0],
            1.0,
            [0.0, 2.0],
        ),
    ] {
        let found = facts(body, at, seed);
        for (found, expected) in found.into_iter().zip(expected) {
            let error = (found - expected).abs();
            assert!(
                error <= 3e-6 * f32::max(1.0, expected.abs()),
                "{body}: {found} {expected}"
            );
        }
    }
}
