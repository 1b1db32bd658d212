//! What gradients are of and by: outputs with their seeds, inputs, globals.

use super::{by, compiler, globals, gradient, outputs};
use adumbra::gradient::{DerivativePlace, GradientRequest};
use adumbra::{
    Compiler, Dual, Evaluator, GlobalsLayout, Instance, NoTextures, Options, Sources, Type,
};

#[test]
fn all_of_an_unmarked_shader_is_differentiated() {
    let source = "
        struct Ring { float radius; float2 centre; int n; };
        float sq(float x) { return x * x; }
        float around(Ring ring, float2 p) {
            float sum = 0;
            for (int i = 1; i <= ring.n; i++) { sum += sq(ring.radius) * i; }
            return sum + dot(p, ring.centre);
        }
        shader s(float radius = 3.0, float2 centre = float2(5, 7), float w[2] = { 11, 13 }, int n = 2, out float o) {
            Ring ring;
            ring.radius = radius; ring.centre = centre; ring.n = n;
            o = around(ring, float2(1, 2));
            for (int i = 0; i < 2; i++) { o += w[i] * w[i]; }
        }";
    let found = gradient(source, GradientRequest::new());
    let places: Vec<&str> = (found.parameters().iter())
        .map(|parameter| parameter.value.name.as_str())
        .collect();
    assert_eq!(places, ["radius", "centre", "w"]);
    assert!(found.ends().is_empty() && found.parameters().iter().all(|by| !by.is_zero));
    let program = found.program();
    let mut evaluator = Evaluator::new(&Instance::new(program));
    evaluator.evaluate(&globals(program, &[("d(o)", 2.0)]), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o"), Ok(27.0 + 19.0 + 121.0 + 169.0));
    assert_eq!(evaluator.get::<f32>("d(radius)"), Ok(2.0 * 3.0 * 2.0 * 3.0));
    assert_eq!(evaluator.get::<[f32; 2]>("d(centre)"), Ok([2.0, 4.0]));
    let weights = evaluator.outputs().find(|output| output.name() == "d(w)");
    let weights: Vec<u32> = weights.expect("it is there").value().words().collect();
    assert_eq!(weights, [44.0_f32, 52.0].map(f32::to_bits));
}

#[test]
fn each_output_has_a_seed_and_missing_ones_are_zero() {
    let source = "shader s(float a = 2.0, out float o, out color c, out float m[2], out int n) {
        o = a * a; c = color(a, 3 * a, 5 * a); m[0] = 7 * a; m[1] = 11 * a; n = 1; }";
    let found = gradient(source, GradientRequest::new());
    let seeds: Vec<Vec<&str>> = (found.outputs().iter())
        .map(|output| match &output.place {
            DerivativePlace::Globals(globals) => {
                globals.iter().map(|(name, _)| name.as_str()).collect()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        seeds,
        [vec!["d(o)"], vec!["d(c)"], vec!["d(m[0])", "d(m[1])"]]
    );
    let with = |values: &[(&str, f32)], c: [f32; 3]| {
        let mut globals = globals(found.program(), values);
        globals.set("d(c)", c, [0.0; 3], [0.0; 3]).unwrap();
        outputs(found.program(), &globals, ["d(a)"])[0]
    };
    assert_eq!(with(&[], [0.0; 3]), 0.0);
    assert_eq!(with(&[("d(o)", 1.0)], [0.0; 3]), 4.0);
    assert_eq!(with(&[], [1.0, 10.0, 100.0]), 1.0 + 30.0 + 500.0);
    assert_eq!(
        with(&[("d(m[1])", 2.0), ("d(o)", -1.0)], [0.0; 3]),
        22.0 - 4.0
    );
    // Names may come in any order.
    let both = gradient(source, GradientRequest::new().of("c").of("o"));
    let mut here = globals(both.program(), &[("d(o)", 1.0)]);
    here.set("d(c)", [1.0, 0.0, 0.0], [0.0; 3], [0.0; 3])
        .unwrap();
    assert_eq!(outputs(both.program(), &here, ["d(a)"]), [5.0]);
    // Of one output alone the others have no seeds.
    let one = gradient(source, GradientRequest::new().of("o"));
    assert!(one.program().globals().member("d(c)").is_none());
}

#[test]
fn parameters_may_be_named_in_any_order() {
    let source = "shader s(float a = 2.0, float b = 3.0, out float o) { o = a * a * b * global_value<x> + global_value<uvw>.x; }";
    let names = ["d(a)", "d(b)", "d(x)"];
    let request = GradientRequest::new()
        .by_global("x")
        .by_input("b")
        .by_global("uvw")
        .by_input("a");
    assert_eq!(
        by(source, request, &[("x", 5.0)], names),
        [60.0, 20.0, 12.0]
    );
    let request = GradientRequest::new()
        .by_input("b")
        .by_global("x")
        .by_input("a")
        .forward();
    let found = gradient(source, request);
    let here = globals(found.program(), &[("x", 5.0), ("d(b)", 1.0)]);
    assert_eq!(outputs(found.program(), &here, ["d(o)"]), [20.0]);
}

#[test]
fn globals_reach_recursive_functions_and_shared_rules() {
    let recursive = "float down(int n) { return n > 0 ? global_value<x> * down(n - 1) : 1.0; }
        shader s(out float o) { o = down(3) + 0.5 * down(1); }";
    let request = || GradientRequest::new().by_global("x");
    assert_eq!(
        by(recursive, request(), &[("x", 2.0)], ["o", "d(x)"]),
        [9.0, 12.5]
    );
    // Each calls the other, and one reads the global; one rule is for two functions.
    let mutual = "float b(int n, float y);
        float a(int n, float y) { return n > 0 ? b(n - 1, y * y) : y; }
        float b(int n, float y) { return global_value<x> * a(n, y); }
        [ForwardDerivative(rule)] float f(float y) { return global_value<x> * y; }
        [ForwardDerivative(rule)] float g(float y) { return y * global_value<x>; }
        DifferentialPair<float> rule(DifferentialPair<float> y) { return diffPair(f(y.p), 7 * y.d * global_value<x>); }
        shader s(float y = 3.0, out float o) { o = a(2, y) + f(y) * g(y); }";
    let found = by(
        mutual,
        GradientRequest::new().by_inputs(),
        &[("x", 2.0)],
        ["o", "d(y)"],
    );
    // x²y⁴ + x²y², where the rule says 7 times the slope of x·y.
    assert_eq!(found, [4.0 * 81.0 + 36.0, 4.0 * 108.0 + 7.0 * 24.0]);
    let found = gradient(mutual, GradientRequest::new().by_inputs().by_global("x"));
    assert!(!found.ends().is_empty(), "rules know nothing of `x`");
    let here = globals(found.program(), &[("x", 2.0), ("d(o)", 1.0)]);
    let numbers = outputs(found.program(), &here, ["d(x)"]);
    assert_eq!(numbers, [2.0 * 2.0 * 81.0]);
}

#[test]
fn inputs_and_globals_of_one_name_have_two_names() {
    let source = "shader s(float x = 2.0, out float o) { o = x * x * global_value<x>; }";
    let request = || GradientRequest::new().by_inputs().by_global("x");
    let found = by(source, request(), &[("x", 5.0)], ["d(x)", "d(global:x)"]);
    assert_eq!(found, [20.0, 4.0]);
    let forward = gradient(source, request().forward());
    let here = globals(forward.program(), &[("x", 5.0), ("d(global:x)", 1.0)]);
    assert_eq!(outputs(forward.program(), &here, ["d(o)"]), [4.0]);
    // Alone the global needs no other name.
    let alone = by(
        source,
        GradientRequest::new().by_global("x"),
        &[("x", 5.0)],
        ["d(x)"],
    );
    assert_eq!(alone, [4.0]);
    // A host may have any names.
    let layout = GlobalsLayout::new().with("d(o)", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", "shader s(float x, out float o) { o = x; }");
    let program = Compiler::new(layout).compile(&sources).unwrap();
    let no = program.gradient(&GradientRequest::new()).unwrap_err();
    assert!(
        no.diagnostics[0].message.contains("`d(o)` is taken"),
        "{no}"
    );
}

#[test]
fn gradients_by_globals_are_shadows() {
    let source = "
        float wave(float k) { return sin(k * global_value<x>) * global_value<uvw>.y; }
        float twice(float k) { return wave(k) + wave(2 * k) * global_value<x>; }
        shader s(float k = 0.7, out float o) { o = twice(k) / (1.5 + global_value<uvw>.x); }";
    let request = GradientRequest::new().by_globals();
    let found = gradient(source, request);
    let names: Vec<&str> = (found.parameters().iter())
        .map(|by| by.value.name.as_str())
        .collect();
    assert_eq!(names, ["uvw", "x"], "the globals that are read");
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let sources = Sources::new("s.adu", source);
    let shadows = compiler().with_options(options).compile(&sources).unwrap();
    for point in 0..20 {
        let (x, u, v) = (
            0.3 * point as f32 - 2.0,
            0.1 * point as f32,
            1.0 - 0.2 * point as f32,
        );
        let mut here = globals(found.program(), &[("x", x), ("d(o)", 1.0)]);
        here.set("uvw", [u, v, 0.0], [0.0; 3], [0.0; 3]).unwrap();
        let mut evaluator = Evaluator::new(&Instance::new(found.program()));
        evaluator.evaluate(&here, &mut NoTextures);
        let by_uvw = evaluator.get::<[f32; 3]>("d(uvw)").unwrap();
        let by_x = evaluator.get::<f32>("d(x)").unwrap();
        let shadow = |along: usize| {
            let mut here = globals(&shadows, &[]);
            let unit = |at: usize| f32::from(u8::from(at == along));
            here.set("x", x, unit(3), 0.0).unwrap();
            let slopes = [unit(0), unit(1), unit(2)];
            here.set("uvw", [u, v, 0.0], slopes, [0.0; 3]).unwrap();
            let mut evaluator = Evaluator::new(&Instance::new(&shadows));
            evaluator.evaluate(&here, &mut NoTextures);
            evaluator.get::<Dual<f32>>("o").unwrap().ddx
        };
        let close = |a: f32, b: f32| (a - b).abs() <= 4e-6 * (1.0 + b.abs());
        for (along, gradient) in [by_uvw[0], by_uvw[1], by_uvw[2], by_x]
            .into_iter()
            .enumerate()
        {
            assert!(
                close(gradient, shadow(along)),
                "{along}: {gradient} {}",
                shadow(along)
            );
        }
    }
}
