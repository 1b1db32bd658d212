//! Gradients of whole shaders: what they are of and by, what they respect, what they lack, and that
//! their programs are programs as any.

use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, Tier};
use adumbra::gradient::{DerivativePlace, Gradient, GradientRequest};
use adumbra::group::Group;
use adumbra::host::MessageId;
use adumbra::{
    Compiler, Diagnostics, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance, NoTextures,
    Options, Program, SampleRequest, Sampled, Sources, TexelSlopes, Type,
};
use adumbra_fuzz::campaign::run_shaders;
use adumbra_fuzz::oracle::batch::TierChoice;
use std::sync::Arc;

fn compiler() -> Compiler {
    let layout = GlobalsLayout::hit().with("x", Type::FLOAT);
    Compiler::new(layout.expect("a new name"))
}

fn program(source: &str) -> Arc<Program> {
    let sources = Sources::new("s.adu", source);
    compiler()
        .compile(&sources)
        .unwrap_or_else(|no| panic!("{no}"))
}

pub(crate) fn gradient(source: &str, request: GradientRequest) -> Gradient {
    let found = program(source).gradient(&request);
    found.unwrap_or_else(|no| panic!("{no}"))
}

/// The globals of a gradient's program, with floats set.
pub(crate) fn globals(program: &Program, values: &[(&str, f32)]) -> Globals {
    let mut globals = Globals::new(program.globals());
    for &(name, value) in values {
        globals.set(name, value, 0.0, 0.0).unwrap();
    }
    globals
}

/// Outputs of a program at one point, each a float.
fn outputs<const N: usize>(
    program: &Arc<Program>,
    globals: &Globals,
    names: [&str; N],
) -> [f32; N] {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    evaluator.evaluate(globals, &mut NoTextures);
    names.map(|name| evaluator.get(name).unwrap_or_else(|no| panic!("{no}")))
}

/// The gradient of `o` by floats, with the seed 1.
fn by<const N: usize>(
    source: &str,
    request: GradientRequest,
    values: &[(&str, f32)],
    names: [&str; N],
) -> [f32; N] {
    let gradient = gradient(source, request);
    let mut globals = globals(gradient.program(), values);
    globals.set("d(o)", 1.0, 0.0, 0.0).unwrap();
    outputs(gradient.program(), &globals, names)
}

fn refusal(source: &str, request: &GradientRequest) -> (String, String) {
    let no: Diagnostics = program(source).gradient(request).unwrap_err();
    let last = no.diagnostics.last().expect("there is a reason");
    (last.message.clone(), last.help.clone().unwrap_or_default())
}

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

/// A texture of u·v in red, with its slopes.
struct Saddle;
impl Host for Saddle {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let (u, v) = (request.u, request.v);
        let slopes = TexelSlopes {
            u: [v, 0.0, 0.0, 0.0],
            v: [u, 0.0, 0.0, 0.0],
        };
        Sampled::Sloped([u * v, 0.0, 0.0, 1.0], slopes)
    }
}

#[test]
fn coordinates_have_gradients_by_slopes() {
    let source = "texture2d t; shader s(float a = 2.0, float b = 5.0, out float o) {
        o = texture2d_sample<t>(a * 3.0, b).x; }";
    let sources = Sources::new("s.adu", source);
    let with = compiler().texture_slopes(true).compile(&sources).unwrap();
    let found = with.gradient(&GradientRequest::new()).unwrap();
    assert!(found.ends().is_empty());
    for request in [GradientRequest::new(), GradientRequest::new().forward()] {
        let found = with.gradient(&request).unwrap();
        let seeds = match request.mode() {
            adumbra::gradient::Mode::Backward => [("d(o)", 1.0), ("x", 0.0)],
            adumbra::gradient::Mode::Forward => [("d(a)", 1.0), ("d(b)", 1.0)],
        };
        let mut evaluator = Evaluator::new(&Instance::new(found.program()));
        evaluator.evaluate(&globals(found.program(), &seeds), &mut Saddle);
        match request.mode() {
            adumbra::gradient::Mode::Backward => {
                assert_eq!(evaluator.get::<f32>("d(a)"), Ok(15.0));
                assert_eq!(evaluator.get::<f32>("d(b)"), Ok(6.0));
            }
            adumbra::gradient::Mode::Forward => {
                assert_eq!(evaluator.get::<f32>("d(o)"), Ok(21.0));
            }
        }
    }
    let without = gradient(source, GradientRequest::new());
    assert_eq!(without.ends().len(), 1);
    assert!(
        without.ends()[0].message.contains("`t`"),
        "{:?}",
        without.ends()
    );
}

#[test]
fn marked_functions_pass_samples_by_slopes() {
    let source = "texture2d t;
        [Differentiable] float f(float a, float b) { return texture2d_sample<t>(a * 3.0, b).x; }
        shader s(float a = 2.0, out float by_a, out float by_b, out float forward) {
            var p = diffPair(a), q = diffPair(5.0);
            bwd_diff(f)(p, q, 1.0);
            by_a = p.d; by_b = q.d; forward = fwd_diff(f)(diffPair(a, 1.0), diffPair(5.0, 10.0)).d; }";
    let sources = Sources::new("s.adu", source);
    let no = compiler().compile(&sources).unwrap_err();
    assert_eq!(no.diagnostics[0].code.to_string(), "E0553");
    let program = compiler().texture_slopes(true).compile(&sources).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    evaluator.evaluate(&Globals::new(program.globals()), &mut Saddle);
    let found = ["by_a", "by_b", "forward"].map(|name| evaluator.get::<f32>(name).unwrap());
    assert_eq!(found, [15.0, 6.0, 75.0]);
}

#[test]
fn ends_are_reported_where_they_matter() {
    let ends = |body: &str| {
        let source = format!(
            "int steps(float x) {{ return (int)(x * 8); }}
             shader s(float a = 0.3, float b = 0.7, out float o, out closure c) {{ {body} }}"
        );
        let found = gradient(&source, GradientRequest::new());
        let ends = found.ends().iter();
        ends.map(|end| source[end.span.start as usize..end.span.end as usize].to_owned())
            .collect::<Vec<String>>()
    };
    let nothing: [&str; 0] = [];
    assert_eq!(ends("o = a * b;"), nothing);
    assert_eq!(
        ends("o = a; c = make_closure<glow>(b);"),
        nothing,
        "`c` is not of floats"
    );
    assert_eq!(ends("o = a * float(steps(b));"), ["steps(b)"]);
    assert_eq!(
        ends("o = a; if (steps(b) > 3) o = 2 * a;"),
        nothing,
        "only compared"
    );
    assert_eq!(ends("o = a * hash11(b);"), ["hash11(b)"]);
    assert_eq!(ends("o = a * no_diff hash11(b);"), nothing);
    assert_eq!(
        ends("o = hash11(a) + hash11(3.0) + no_diff hash11(b);"),
        ["hash11(a)"]
    );
}

#[test]
fn programs_with_gradients_are_programs() {
    let source = "
        float f(float a, float y) { float s = 1; for (int i = 0; i < 5; i++) { if (s > 40) break; s = s * a + sin(y * s); } return s; }
        shader s(float a = 1.5, float b = 0.25, out float o) { o = f(a, global_value<x>) * b; }";
    let found = gradient(source, GradientRequest::new().by_inputs().by_global("x"));
    let loaded = Program::from_bytecode(&found.program().to_bytecode()).unwrap();
    let x: Vec<f32> = (0..300).map(|at| 0.05 * at as f32 - 7.0).collect();
    let seeds: Vec<f32> = (0..300).map(|at| 1.0 + (at % 7) as f32).collect();
    let names = ["o", "d(a)", "d(b)", "d(x)"];
    let point: Vec<[u32; 4]> = (0..x.len())
        .map(|at| {
            let here = globals(found.program(), &[("x", x[at]), ("d(o)", seeds[at])]);
            outputs(found.program(), &here, names).map(f32::to_bits)
        })
        .collect();
    assert!(
        point
            .iter()
            .all(|bits| bits.iter().all(|bits| f32::from_bits(*bits).is_finite()))
    );
    for tier in [Tier::Interpreter, Tier::Native]
        .into_iter()
        .filter(|tier| tier.is_available())
    {
        for program in [found.program(), &loaded] {
            let setup = BatchSetup {
                tier,
                width: Some(64),
                ..BatchSetup::default()
            };
            let mut evaluator = BatchEvaluator::with(&Instance::new(program), &setup).unwrap();
            let mut globals = BatchGlobals::new(program.globals());
            globals.plane("x", Part::Value, 0, &x, 1).unwrap();
            globals.plane("d(o)", Part::Value, 0, &seeds, 1).unwrap();
            for first in (0..x.len()).step_by(64) {
                let points = 64.min(x.len() - first);
                evaluator.evaluate(&globals, first, points, &mut NoTextures);
                for at in 0..points {
                    let found = names.map(|name| evaluator.get::<f32>(name, at).unwrap().to_bits());
                    assert_eq!(found, point[first + at], "{tier:?} {}", first + at);
                }
            }
        }
    }
    let request = GradientRequest::new();
    let no = loaded.gradient(&request).unwrap_err();
    assert!(no.diagnostics[0].message.contains("was loaded"), "{no}");
}

#[test]
fn groups_have_gradients() {
    let scale = Sources::new(
        "scale.adu",
        "[Differentiable] float sq(float x) { return x * x; }
         shader scale(float k, float x, out float y) { y = fwd_diff(sq)(diffPair(x, k)).d; }",
    );
    let mut group = Group::new();
    group
        .unit("first", &scale, None)
        .unit("second", &scale, None)
        .connect(("first", "y"), ("second", "x"))
        .expose_input("k", ("first", "k"))
        .expose_input("x", ("first", "x"))
        .set("second", "k", 3.0)
        .expose_output("o", ("second", "y"));
    let program = compiler()
        .compile_group(&group)
        .unwrap_or_else(|no| panic!("{no}"));
    let found = program.gradient(&GradientRequest::new()).unwrap();
    let mut instance = Instance::new(found.program());
    instance.set("k", 5.0).unwrap();
    instance.set("x", 7.0).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals(found.program(), &[("d(o)", 1.0)]), &mut NoTextures);
    // o = 3·2·(2·x·k).
    let found = ["o", "d(k)", "d(x)"].map(|name| evaluator.get::<f32>(name).unwrap());
    assert_eq!(found, [420.0, 84.0, 60.0]);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let source = "shader s(float gain, int n, out float o, out int m) { o = gain; m = n; }";
    let (message, help) = refusal(source, &GradientRequest::new().of("oo"));
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("there is no output `oo`", "did you mean `o`?")
    );
    let (message, help) = refusal(source, &GradientRequest::new().by_input("brightness"));
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("there is no input `brightness`", "there is `gain`")
    );
    let (message, _) = refusal(source, &GradientRequest::new().by_input("n"));
    assert_eq!(
        message,
        "the input `n` is of type `int`, which has no float and so no gradient"
    );
    let (message, _) = refusal(source, &GradientRequest::new().of("m"));
    assert!(
        message.starts_with("the output `m` is of type `int`"),
        "{message}"
    );
    let (message, _) = refusal("shader s(out float o) { o = 1; }", &GradientRequest::new());
    assert!(message.contains("no input with a float"), "{message}");
    let (message, _) = refusal(
        "shader s(float a, out int o) { o = 1; }",
        &GradientRequest::new(),
    );
    assert!(message.contains("no output with a float"), "{message}");
    let (message, _) = refusal(
        "shader s(float a, out float o) { o = a; }",
        &GradientRequest::new().by_globals(),
    );
    assert!(
        message.contains("no global with a float is read"),
        "{message}"
    );
    let screen = "shader s(float a, out float o) { o = ddx(a * global_value<x>); }";
    let no = program(screen)
        .gradient(&GradientRequest::new())
        .unwrap_err();
    assert_eq!(no.diagnostics.last().unwrap().code.to_string(), "E0564");
    assert!(
        program(screen)
            .gradient(&GradientRequest::new().forward())
            .is_ok()
    );
}

#[test]
fn gradients_have_limits_that_say_so() {
    // The seeds of outputs are globals, of which there may be a number.
    let mut layout = GlobalsLayout::new();
    for at in 0..16_383 {
        layout.add(format!("g{at}"), Type::FLOAT).unwrap();
    }
    let sources = Sources::new(
        "s.adu",
        "shader s(float a, out float o, out float p) { o = a; p = a; }",
    );
    let full = Compiler::new(layout).compile(&sources).unwrap();
    assert!(full.gradient(&GradientRequest::new().of("o")).is_ok());
    let no = full.gradient(&GradientRequest::new()).unwrap_err();
    assert_eq!(no.diagnostics[0].code.to_string(), "E0570");
    assert!(
        no.diagnostics[0].message.contains("more than 16384"),
        "{no}"
    );
    // Derivatives nest to an order.
    let deep = "shader s(float a = 1.0, out float o) { o = sin(a); }";
    let mut program = program(deep);
    let (mut last, mut of) = (None, "o".to_owned());
    for order in 1..12 {
        let request = GradientRequest::new()
            .of(of.as_str())
            .by_input("a")
            .forward();
        match program.gradient(&request) {
            Ok(next) => program = next.program().clone(),
            Err(no) => {
                last = Some(no.diagnostics[0].message.clone());
                break;
            }
        }
        let which = if order == 1 {
            String::new()
        } else {
            order.to_string()
        };
        of = format!("d{which}({of})");
    }
    let last = last.expect("derivatives end");
    assert!(last.contains("differentiated more than 8 times"), "{last}");
}

#[test]
fn generated_shaders_have_their_gradients() {
    let (counts, failure) = run_shaders(0, 60, TierChoice::OneEngine);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{counts}");
    assert_eq!(counts.hollow(), None);
    assert!(
        counts.products > 90 && counts.nonzero > 200 && counts.bits > 2_000,
        "{counts}"
    );
}
