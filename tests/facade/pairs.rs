//! Gradients by pairs of samples: facts, and what pairs must not change.

use crate::discontinuities::{AXES, Fact, facts, hold_on_every_engine};
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part, WholeBatch};
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpPoint, JumpReport, JumpRules};
use adumbra::{
    Compiler, GlobalsLayout, Host, Instance, NoTextures, Program, SampleRequest, Sampled, Sources,
    Type,
};
use std::sync::Arc;

/// The gradient of a fact by pairs, and the point, if it sees a root.
pub(crate) fn by_pairs(
    fact: &Fact,
    engine: Engine,
    setup: &BatchSetup,
) -> (Vec<f64>, Option<JumpPoint>) {
    let (program, axes) = fact.program();
    let pairs = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Pair);
    let pairs = pairs.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let globals = fact.globals(pairs.smooth());
    let mut found = vec![[0.0_f32]; fact.parameters.len()];
    let names = fact.names();
    let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
        .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
        .collect();
    let instance = Instance::new(pairs.smooth().program());
    let batch = JumpBatch::new(&pairs, &instance);
    let batch = batch.setup(setup.clone()).engine(engine);
    let (_, report, of_pairs) = batch
        .planes(&globals, 0..1, &mut planes, || NoTextures)
        .unwrap();
    let points = batch.points(&globals, 0..1, || NoTextures).unwrap();
    assert_eq!(report.stopped, 0, "{}", fact.id);
    let with_roots = points.iter().filter(|point| point.roots > 0);
    assert_eq!(with_roots.count(), of_pairs.points, "{}", fact.id);
    let gradient = found.into_iter().map(|[float]| float.into()).collect();
    (gradient, points.first().copied())
}

#[test]
fn facts_of_pairs_hold_on_every_engine() {
    let facts = facts("pair");
    assert!(facts.len() >= 54, "{} facts", facts.len());
    hold_on_every_engine(&facts, |fact, engine, setup| {
        by_pairs(fact, engine, setup).0
    });
}

#[test]
fn facts_name_axes_and_nullified_kernels() {
    let mut axes = 0;
    let mut nullified = 0;
    for fact in facts("pair") {
        let (_, point) = by_pairs(&fact, Engine::Batch, &BatchSetup::default());
        if let Some(axis) = fact.axis {
            axes += 1;
            assert_eq!(
                point.and_then(|point| point.axis).unwrap_or(0),
                axis,
                "{}",
                fact.id
            );
        }
        nullified += usize::from(fact.is_nullified);
        let found = point.is_some_and(|point| point.nullified > 0);
        assert_eq!(found, fact.is_nullified, "{}", fact.id);
    }
    assert!(axes >= 10 && nullified >= 2, "{axes} {nullified}");
}

/// A compiler whose globals are x, y and z.
fn compiler() -> Compiler {
    let layout = AXES.iter().fold(GlobalsLayout::new(), |layout, axis| {
        layout.with(*axis, Type::FLOAT).unwrap()
    });
    Compiler::new(layout)
}

fn compiled(source: &str) -> Arc<Program> {
    let program = compiler().compile(&Sources::new("s.adu", source));
    program.unwrap_or_else(|found| panic!("{found}\n{source}"))
}

/// An image of a shader's gradients by pairs: planes by output and parameter.
struct ImageGradient {
    planes: Vec<Vec<f32>>,
    report: JumpReport,
    points: Vec<JumpPoint>,
}

const WIDTH: usize = 130;
const HEIGHT: usize = 70;

/// Gradients of an image, with these weights, on threads; without axes the smooth ones.
fn image(source: &str, by: &[&str], weights: &[(&str, f32)], threads: usize) -> [ImageGradient; 2] {
    let program = compiled(source);
    let axes = [Axis::new("x", 0, 1.0), Axis::new("y", 0, 1.0)];
    let pairs = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Pair);
    let pairs = pairs.unwrap_or_else(|found| panic!("{found}"));
    let x: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|point| (point % WIDTH) as f32)
        .collect();
    let y: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|point| (point / WIDTH) as f32)
        .collect();
    let gradient = pairs.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals.plane("y", Part::Value, 0, &y, 1).unwrap();
    for (name, weight) in weights {
        globals
            .uniform(&format!("d({name})"), *weight, 0.0, 0.0)
            .unwrap();
    }
    let instance = Instance::new(gradient);
    let names: Vec<String> = by.iter().map(|name| format!("d({name})")).collect();
    [true, false].map(|is_paired| {
        let mut found = vec![vec![0.0_f32; WIDTH * HEIGHT]; by.len()];
        let mut planes: Vec<OutputPlane<'_>> = (names.iter().zip(&mut found))
            .map(|(name, plane)| OutputPlane::new(name, Part::Value, 0, plane, 1))
            .collect();
        let (mut report, mut points) = (JumpReport::default(), Vec::new());
        if is_paired {
            let batch = JumpBatch::new(&pairs, &instance).threads(threads);
            let all = 0..WIDTH * HEIGHT;
            let found = batch.planes(&globals, all.clone(), &mut planes, || NoTextures);
            report = found.unwrap().2;
            points = batch.points(&globals, all, || NoTextures).unwrap();
        } else {
            let batch = WholeBatch::new(&instance).threads(threads);
            let found = batch.planes(&globals, 0..WIDTH * HEIGHT, &mut planes, || NoTextures);
            found.unwrap();
        }
        ImageGradient {
            planes: found,
            report,
            points,
        }
    })
}

fn bits(planes: &[Vec<f32>]) -> Vec<u32> {
    planes
        .iter()
        .flatten()
        .map(|float| float.to_bits())
        .collect()
}

/// A disc, shaded, over a floor of squares.
const SCENE: &str =
    "shader s(float r = 20.3, float a = 60.2, float size = 9.7, out float c, out float d)
{
    float u = global_value<x> - a;
    float v = global_value<y> - 33.1;
    float e = u * u + v * v - r * r;
    int tile = (int)floor(global_value<x> / size) + (int)floor(global_value<y> / size);
    float ground = tile % 2 == 0 ? 0.8 : 0.3;
    if (e < 0.0) {
        c = 0.5 + 0.01 * u;
        d = ground * 2.0;
    } else {
        c = ground;
        d = 1.0;
    }
}";

#[test]
fn pair_gradients_are_linear_in_weights() {
    let by = ["r", "a", "size"];
    let of = |weights: &[(&str, f32)]| {
        let [pairs, _] = image(SCENE, &by, weights, 1);
        pairs
    };
    let [one, other, both] =
        [[1.0, 0.0], [0.0, 1.0], [2.0, -3.0]].map(|[c, d]| of(&[("c", c), ("d", d)]));
    assert_eq!(one.points, both.points);
    assert_eq!(other.points, both.points);
    assert!(one.report.points > 500, "{:?}", one.report);
    assert!(one.report.nullified > 10, "{:?}", one.report);
    let first = one.points.iter().find(|point| point.nullified > 0);
    assert_eq!(one.report.first_nullified, first.map(|point| point.point));
    let mut edges = 0;
    for plane in 0..by.len() {
        let pairs = one.planes[plane].iter().zip(&other.planes[plane]);
        for ((one, other), both) in pairs.zip(&both.planes[plane]) {
            let sum = 2.0 * one - 3.0 * other;
            let scale = (2.0 * one).abs() + (3.0 * other).abs();
            assert!((sum - both).abs() <= 1e-5 * scale, "{sum} {both}");
            edges += usize::from(*one != 0.0 && *other != 0.0);
        }
    }
    assert!(edges > 50, "{edges}");
}

#[test]
fn pair_gradients_have_the_bits_of_one_thread() {
    let of = |threads| {
        let weights = [("c", 1.0), ("d", 0.5)];
        let [pairs, _] = image(SCENE, &["r", "a", "size"], &weights, threads);
        (bits(&pairs.planes), pairs.report, pairs.points)
    };
    assert_eq!(of(1), of(2));
}

#[test]
fn points_without_roots_have_the_smooth_gradient() {
    let [pairs, smooth] = image(SCENE, &["r", "a"], &[("c", 1.0), ("d", 1.0)], 1);
    let seen = pairs.points.iter().filter(|point| point.roots > 0);
    let sees: Vec<usize> = seen.map(|point| point.point).collect();
    for (pairs, smooth) in pairs.planes.iter().zip(&smooth.planes) {
        for (point, (one, other)) in pairs.iter().zip(smooth).enumerate() {
            let is_seen = sees.binary_search(&point).is_ok();
            assert!(is_seen || one.to_bits() == other.to_bits(), "{point}");
        }
    }
    let continuous = "shader s(float r = 20.3, float p = 0.3, out float c)
    {
        float u = global_value<x> / r;
        c = max(sin(u * p) * u, abs(global_value<y> - r) - clamp(u, 0.2, p)) + pow(u + 1.0, p);
        if (u < p) { c += min(u, 0.5); } else { c += min(u, 0.5); }
        c = c < p ? p : c;
    }";
    let [pairs, smooth] = image(continuous, &["r", "p"], &[("c", 1.0)], 1);
    assert_eq!(pairs.report, JumpReport::default());
    assert_eq!(bits(&pairs.planes), bits(&smooth.planes));
}

#[test]
fn calls_loops_and_branches_have_the_gradient_of_straight_code() {
    let winding = "float ring(float e, float w)
    {
        if (e < -w) return 0.2;
        if (e > w) return 0.9;
        return 0.5 + e * 0.1;
    }
    void scale(inout float f[3], float by) { for (int i = 0; i < 3; ++i) f[i] = f[i] * by; }
    shader s(float r = 20.3, float w = 4.2, out float c)
    {
        float u = global_value<x> - 60.0;
        float v = global_value<y> - 33.1;
        float all[3];
        for (int i = 0; i < 3; ++i) {
            if (i == 1) continue;
            all[i] = ring(sqrt(u * u + v * v) - r * (1.0 + 0.5 * i), w);
        }
        scale(all, 2.0);
        c = 0.0;
        for (int i = 0; i < 8; ++i) {
            if (i == 3) break;
            c += all[i];
        }
        if (u > 0.0 && v > w) { float t = c * c; c = t > 2.0 ? t : 1.0; }
        switch (v > 10.0 ? 1 : 0) { case 0: c = c * 3.0; break; case 1: c = c + r; break; }
    }";
    let straight = "shader s(float r = 20.3, float w = 4.2, out float c)
    {
        float u = global_value<x> - 60.0;
        float v = global_value<y> - 33.1;
        float e = sqrt(u * u + v * v) - r * (1.0 + 0.5 * 0);
        float f = sqrt(u * u + v * v) - r * (1.0 + 0.5 * 2);
        float a = (e < -w ? 0.2 : (e > w ? 0.9 : 0.5 + e * 0.1)) * 2.0;
        float b = (f < -w ? 0.2 : (f > w ? 0.9 : 0.5 + f * 0.1)) * 2.0;
        float sum = 0.0 + a + 0.0 * 2.0 + b;
        float t = sum * sum;
        float corner = (u > 0.0 && v > w) ? (t > 2.0 ? t : 1.0) : sum;
        c = v > 10.0 ? corner + r : corner * 3.0;
    }";
    let of = |source| {
        let [pairs, _] = image(source, &["r", "w"], &[("c", 1.0)], 1);
        pairs
    };
    let (winding, straight) = (of(winding), of(straight));
    assert!(winding.report.points > 500 && winding.report.nullified > 0);
    assert_eq!(winding.report, straight.report);
    assert_eq!(winding.points, straight.points);
    assert_eq!(bits(&winding.planes), bits(&straight.planes));
}

#[test]
fn integers_pass_adjoints_to_the_operand_that_flips() {
    // At 0: integers 0 here, 1 above, -1 below; so above the comparison turns, by 2 over 1.
    let source = "shader s(float t = 0.6, out float c)
    {
        int tile = (int)floor(global_value<x> + t);
        c = (tile + 3) % 4 == 0 ? 3.0 : 1.0;
    }";
    let [pairs, _] = image(source, &["t"], &[("c", 1.0)], 1);
    for (found, known) in pairs.planes[0].iter().zip([1.0, 0.0, -1.0, 0.0]) {
        assert!((found - known).abs() < 1e-6, "{:?}", &pairs.planes[0][..4]);
    }
}

#[test]
fn what_samples_cannot_be_compared_through_is_refused() {
    let shader = |body: &str| {
        format!(
            "shader s(float t = 0.6, out float c) {{ float x = global_value<x>; c = 0.0; {body} }}"
        )
    };
    let recursive = "float f(float x) { if (x < 1.0) return x; return f(x - 1.0); } ";
    let ruled = "[Differentiable] DifferentialPair<float> g(DifferentialPair<float> x) { return diffPair(x.p, x.d); }
        [ForwardDerivative(g)] float f(float x) { return x; } ";
    let cases = [
        (
            shader("while (x > t) { x = x - t; c = 1.0 - c; }"),
            "different iterations",
        ),
        (
            shader("for (int i = 0; i < 9; ++i) { if (x > t) break; c += t; }"),
            "different iterations",
        ),
        (
            format!("{recursive}{}", shader("c = f(t);")),
            "calls itself",
        ),
        (
            format!("{ruled}{}", shader("c = f(t);")),
            "a derivative of its own",
        ),
        (
            shader("float a[3]; if (x > t) a[1] = t; c = a[1];"),
            "a store",
        ),
        (shader("if (x > t) printf(\"%f\", x);"), "a message"),
        (
            shader("int n = (int)x; if (x > t) c = 7 / n;"),
            "an op that may fault",
        ),
        (
            shader("float a[3]; a[1] = t; c = a[(int)x];"),
            "different elements",
        ),
        (
            shader("for (int i = 0; i < 20000; ++i) c = sin(c + t * x);"),
            "longer than",
        ),
        (
            shader("for (int i = 0; i < 40000; ++i) c = t;"),
            "longer than",
        ),
    ];
    let axes = [Axis::new("x", 0, 1.0)];
    for (source, reason) in cases {
        let program = compiled(&source);
        let refused = program
            .jump_gradient(&GradientRequest::new(), &axes, JumpRules::Pair)
            .unwrap_err();
        let refused = refused
            .diagnostics
            .iter()
            .find(|found| found.is_error())
            .unwrap();
        assert_eq!(refused.code.to_string(), "E0571", "{source}");
        assert!(refused.message.contains(reason), "{}", refused.message);
        assert!(
            refused.help.as_ref().unwrap().contains("by edges"),
            "{source}"
        );
        // The place is in the source.
        assert!(refused.span.end > refused.span.start, "{source}");
        assert!(
            program
                .jump_gradient(&GradientRequest::new(), &axes, JumpRules::Edge)
                .is_ok(),
            "{source}"
        );
    }
    let program = compiled("buffer<float> w; shader s(float t, out float c) { c = w[0] * t; }");
    for (request, reason) in [
        (GradientRequest::new().by_buffer("w"), "pairs of samples"),
        (GradientRequest::new().by_inputs().forward(), "is forward"),
    ] {
        let refused = program
            .jump_gradient(&request, &axes, JumpRules::Pair)
            .unwrap_err();
        assert!(refused.diagnostics[0].message.contains(reason));
    }
}

/// A texture whose red is u.
struct Ramp;

impl Host for Ramp {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        Sampled::Ready([request.u, 0.0, 0.0, 1.0])
    }
}

#[test]
fn textures_are_sampled_at_both_points_and_shadows_are_constants() {
    let source = "texture2d ramp;
    shader s(float t = 0.4, out float c)
    {
        float2 at = float2(global_value<x>, global_value<y>);
        c = step(t, at.x) * texture2d_sample_level<ramp>(at, 0.0).x + t * ddx(at.x);
    }";
    let program = compiled(source);
    let axes = [Axis::new("x", 0, 0.5)];
    let pairs = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Pair);
    let pairs = pairs.unwrap_or_else(|found| panic!("{found}"));
    let gradient = pairs.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.uniform("x", 0.25_f32, 2.0, 0.0).unwrap();
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut by_t = [0.0_f32];
    let planes = &mut [OutputPlane::new("d(t)", Part::Value, 0, &mut by_t, 1)];
    let batch = JumpBatch::new(&pairs, &Instance::new(gradient));
    let (_, _, report) = batch.planes(&globals, 0..1, planes, || Ramp).unwrap();
    // Reds are 0.25 and 0.75, the step has a slope of -1 over 0.5; the other kernel is quiet.
    assert_eq!((by_t, report.points), ([2.0 - 0.5 * 0.5 / 0.5], 1));
}
