//! Gradients by textures: hosts get the adjoints of samples, from every engine the same, and what
//! they add up equals differences.

use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, SimdLevel, Tier};
use adumbra::derivatives::Quad;
use adumbra::evaluator::Engine;
use adumbra::gradient::{DerivativePlace, ExactSum, GradientRequest, Mode, ParameterKind};
use adumbra::{
    Compiler, Derivatives, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, NoTextures,
    Options, Program, SampleRequest, Sampled, Sources, Texel, TexelSlopes, Type,
};
use std::sync::Arc;

/// Functions of a place, of which textures are sums.
const BASIS: usize = 5;
/// Coefficients of two textures.
type Coefficients = [[[f32; 4]; BASIS]; 3];

/// The functions at a request, and their slopes along u and v. The last is the footprint, or the
/// level.
fn basis(request: &SampleRequest) -> [[f32; 3]; BASIS] {
    let footprint = request.dudx + 2.0 * request.dvdx + 3.0 * request.dudy + 4.0 * request.dvdy;
    basis_at(request.u, request.v, request.level.unwrap_or(footprint))
}

fn basis_at(u: f32, v: f32, last: f32) -> [[f32; 3]; BASIS] {
    [
        [1.0, 0.0, 0.0],
        [u, 1.0, 0.0],
        [v, 0.0, 1.0],
        [u * v, v, u],
        [last, 0.0, 0.0],
    ]
}

/// Textures that are sums of the basis, the gradients by their coefficients, and the adjoints.
#[derive(Clone)]
struct Sums {
    coefficients: Coefficients,
    gradient: [[[ExactSum; 4]; BASIS]; 3],
    /// Point, request, adjoint.
    adjoints: Vec<(usize, SampleRequest, Texel)>,
    /// The point that engines count from, and the one that they are at.
    first: usize,
    at: usize,
}

impl Sums {
    fn new(coefficients: Coefficients) -> Sums {
        Sums {
            coefficients,
            gradient: Default::default(),
            adjoints: Vec::new(),
            first: 0,
            at: 0,
        }
    }
}

impl Host for Sums {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let of = self.coefficients[request.texture.index()];
        let lane = |lane: usize| -> [f32; 4] {
            std::array::from_fn(|i| {
                let terms = basis(request).into_iter().zip(of);
                terms.map(|(at, c)| at[lane] * c[i]).sum()
            })
        };
        let slopes = TexelSlopes {
            u: lane(1),
            v: lane(2),
        };
        Sampled::Sloped(lane(0), slopes)
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        let point = self.first + self.at;
        self.adjoints.push((point, *request, *adjoint));
        assert_eq!(request.slopes, adjoint.slopes.is_some());
        let TexelSlopes { u, v } = adjoint.slopes.unwrap_or_default();
        let sums = &mut self.gradient[request.texture.index()];
        for (sums, at) in sums.iter_mut().zip(basis(request)) {
            for (i, sum) in sums.iter_mut().enumerate() {
                for (weight, adjoint) in at.into_iter().zip([adjoint.numbers, u, v]) {
                    sum.add(weight * adjoint[i]);
                }
            }
        }
    }

    fn at_point(&mut self, point: usize) {
        self.at = point;
    }
}

/// Samples of every kind, in functions, loops and branches, at places that other samples give.
const SHADER: &str = "
    texture2d flow; texture2d wood;
    float red(float2 at, float level) { return texture2d_sample_level<wood>(at, level).x; }
    shader s(float gain = 0.5, out float o) {
        float2 uv = global_value<uvw>.xy;
        float2 moved = uv + gain * texture2d_sample<flow>(uv).yz;
        o = texture2d_sample<wood>(moved).y * red(moved, 0.25);
        float sum = 0.25;
        int n = (int)(uv.x * 4);
        for (int i = 0; i < n; i++) {
            sum += sum * red(uv * sum, i);
            if (i == 2) break;
        }
        if (uv.y > 0.5) {
            o += texture2d_sample_grad<wood>(uv, ddx(uv), ddy(moved)).z * sum;
        } else {
            o -= texture2d_sample_alpha<flow>(moved) * sum;
        }
    }";

fn compiler() -> Compiler {
    Compiler::new(GlobalsLayout::hit()).texture_slopes(true)
}

fn compiled(compiler: &Compiler, source: &str) -> Arc<Program> {
    let program = compiler.compile(&Sources::new("s.adu", source));
    program.unwrap_or_else(|no| panic!("{no}"))
}

fn derived(source: &str, request: &GradientRequest) -> Arc<Program> {
    let gradient = compiled(&compiler(), source).gradient(request);
    let gradient = gradient.unwrap_or_else(|no| panic!("{no}"));
    assert_eq!(gradient.ends().len(), 0, "{:?}", gradient.ends());
    gradient.program().clone()
}

const POINTS: usize = 45;

fn coefficients() -> Coefficients {
    let number = |i: usize| (i as f32 * 0.73).sin() * 0.25;
    std::array::from_fn(|t| {
        std::array::from_fn(|k| std::array::from_fn(|i| number(20 * t + 4 * k + i + 1)))
    })
}

/// The same, without the footprint: that it depends on a texture, too, is no part of a gradient.
fn without_footprint() -> Coefficients {
    let mut coefficients = coefficients();
    coefficients
        .iter_mut()
        .for_each(|of| of[BASIS - 1] = [0.0; 4]);
    coefficients
}

/// The position of a point, and its changes, which are eighths.
fn uvw(point: usize) -> [[f32; 3]; 3] {
    let at = point as f32;
    let [u, v] = [(at * 0.37).fract(), (at * 0.59).fract()];
    [[u, v, 0.0], [0.125, 0.25, 0.0], [-0.25, 0.5, 0.0]]
}

fn globals(program: &Program, point: usize) -> Globals {
    let [value, ddx, ddy] = uvw(point);
    let mut globals = Globals::new(program.globals());
    globals.set("uvw", value, ddx, ddy).unwrap();
    let _ = globals.set("d(o)", 1.5_f32, 0.0, 0.0);
    globals
}

/// The host after all points, one by one.
fn by_points(program: &Arc<Program>, engine: Engine, coefficients: Coefficients) -> Sums {
    let mut evaluator =
        Evaluator::with(&Instance::new(program), engine, Limits::default()).unwrap();
    let mut host = Sums::new(coefficients);
    for point in 0..POINTS {
        host.first = point;
        evaluator.evaluate(&globals(program, point), &mut host);
        assert!(evaluator.faults().is_empty());
    }
    host
}

/// What is added up at all points: 1.5 times the output.
fn loss(program: &Arc<Program>, coefficients: Coefficients) -> f64 {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    let mut host = Sums::new(coefficients);
    let values = (0..POINTS).map(|point| {
        evaluator.evaluate(&globals(program, point), &mut host);
        1.5 * f64::from(evaluator.get::<f32>("o").unwrap())
    });
    values.sum()
}

#[test]
fn gradients_by_textures_equal_differences() {
    let request = GradientRequest::new().by_textures();
    let gradient = derived(SHADER, &request);
    let host = by_points(&gradient, Engine::Point, without_footprint());
    let primal = compiled(&compiler(), SHADER);
    for texture in 0..2 {
        for k in 0..BASIS {
            for i in 0..4 {
                let moved = |by: f32| {
                    let mut moved = without_footprint();
                    moved[texture][k][i] += by;
                    loss(&primal, moved)
                };
                // Of two steps, so that terms of the third order are gone (Richardson).
                let slope = |h: f32| (moved(h) - moved(-h)) / (2.0 * f64::from(h));
                let expected = (4.0 * slope(1.0 / 64.0) - slope(1.0 / 32.0)) / 3.0;
                let found = host.gradient[texture][k][i].to_f64();
                assert!(
                    (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                    "{texture} {k} {i}: {found} {expected}"
                );
            }
        }
    }
    let is_some =
        |sums: &[[ExactSum; 4]; BASIS]| sums.as_flattened().iter().any(|s| s.to_f64() != 0.0);
    assert!(host.gradient[..2].iter().all(is_some));
}

#[test]
fn engines_pass_the_same_adjoints() {
    let request = GradientRequest::new().by_textures().by_inputs();
    let program = derived(SHADER, &request);
    let expected = by_points(&program, Engine::Reference, coefficients());
    assert!(expected.adjoints.len() > 3 * POINTS);
    let show = |host: &Sums| {
        let mut adjoints = host.adjoints.clone();
        // In a batch points take turns.
        adjoints.sort_by_key(|adjoint| adjoint.0);
        (format!("{adjoints:?}"), host.gradient)
    };
    for engine in Engine::available() {
        let host = by_points(&program, engine, coefficients());
        assert_eq!(show(&host), show(&expected), "{engine:?}");
    }
    let planes: Vec<[[f32; 3]; 3]> = (0..POINTS).map(uvw).collect();
    let parts = [Part::Value, Part::Ddx, Part::Ddy];
    let lanes: Vec<[Vec<f32>; 3]> = (0..3)
        .map(|lane| std::array::from_fn(|i| planes.iter().map(|uvw| uvw[lane][i]).collect()))
        .collect();
    let mut many = BatchGlobals::new(program.globals());
    for (part, lanes) in parts.into_iter().zip(&lanes) {
        for (i, plane) in lanes.iter().enumerate() {
            many.plane("uvw", part, i, plane, 1).unwrap();
        }
    }
    many.uniform_part("d(o)", Part::Value, 1.5_f32).unwrap();
    let tiers = [Tier::Interpreter, Tier::Native];
    for tier in tiers.into_iter().filter(|tier| tier.is_available()) {
        for simd in SimdLevel::available() {
            for width in [7, 64] {
                let setup = BatchSetup {
                    tier,
                    width: Some(width),
                    simd: Some(simd),
                    ..BatchSetup::default()
                };
                let Ok(mut batch) = BatchEvaluator::with(&Instance::new(&program), &setup) else {
                    continue;
                };
                let mut host = Sums::new(coefficients());
                for first in (0..POINTS).step_by(width) {
                    let count = width.min(POINTS - first);
                    batch.evaluate(&many, first, count, &mut host);
                }
                assert_eq!(show(&host), show(&expected), "{tier:?} {simd} {width}");
            }
        }
    }
}

/// ⟨w, J t⟩ = ⟨Jᵀ w, t⟩ for tangents t of the coefficients.
#[test]
fn backward_is_the_transpose_of_forward() {
    let source = "texture2d wood; shader s(out float o) {
        color c = texture2d_sample<wood>(global_value<uvw>.xy);
        o = sin(c.x) * c.y + exp(c.z * texture2d_sample_alpha<wood>(c.x, c.y)); }";
    let new = GradientRequest::new;
    let backward = derived(source, &new().by_texture("wood"));
    let of = by_points(&backward, Engine::Point, coefficients()).gradient[0];
    let forward = compiled(&compiler(), source);
    let forward = forward
        .gradient(&new().forward().by_texture("wood"))
        .unwrap();
    let place = &forward.parameters()[0].value.place;
    assert_eq!(place, &DerivativePlace::Texture("d(wood)".to_owned()));
    let forward = forward.program();
    assert_eq!(forward.textures()[1].name, "d(wood)");
    // The second texture has the tangents.
    let tangents = coefficients()[1];
    let along: f64 = loss_of(forward, "d(o)");
    let of = of.as_flattened().iter().map(ExactSum::to_f64);
    let along_gradient: f64 = of
        .zip(tangents.as_flattened())
        .map(|(of, &t)| of * f64::from(t))
        .sum();
    assert!(
        (along - along_gradient).abs() < 1e-4,
        "{along} {along_gradient}"
    );
}

/// 1.5 times an output, added up at all points.
fn loss_of(program: &Arc<Program>, output: &str) -> f64 {
    let mut evaluator = Evaluator::new(&Instance::new(program));
    let mut host = Sums::new(coefficients());
    let values = (0..POINTS).map(|point| {
        evaluator.evaluate(&globals(program, point), &mut host);
        1.5 * f64::from(evaluator.get::<f32>(output).unwrap())
    });
    values.sum()
}

/// A derivative by coordinates reads slopes, which are linear in the texels, too.
#[test]
fn gradients_of_derivatives_have_the_adjoints_of_slopes() {
    let source = "texture2d wood;
        [Differentiable] float shade(float2 at) { return texture2d_sample_level<wood>(at, 0.5).x; }
        shader s(out float o) {
            DifferentialPair<float2> at = diffPair(global_value<uvw>.xy, float2(0));
            bwd_diff(shade)(at, 1.0);
            o = at.d.x * at.d.x + 3 * at.d.y; }";
    let gradient = derived(source, &GradientRequest::new().by_textures());
    let host = by_points(&gradient, Engine::Point, coefficients());
    assert!(host.adjoints.iter().all(|(_, request, _)| request.slopes));
    // ∂u of the texture is c₁ + c₃·v, ∂v is c₂ + c₃·u.
    let mut expected = [0.0_f64; BASIS];
    let c = coefficients()[0].map(|of| f64::from(of[0]));
    for point in 0..POINTS {
        let [[u, v, _], ..] = uvw(point).map(|lane| lane.map(f64::from));
        let along_u = 2.0 * (c[1] + c[3] * v);
        let terms = [0.0, along_u, 3.0, along_u * v + 3.0 * u, 0.0];
        for (sum, term) in expected.iter_mut().zip(terms) {
            *sum += 1.5 * term;
        }
    }
    for (sums, expected) in host.gradient[0].iter().zip(expected) {
        let found = sums[0].to_f64();
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}

/// Tangents of texels change along the texture as texels do: by texels and coordinates a second
/// derivative is the same in every order and mode, and a tangent has shadows.
#[test]
fn tangents_by_textures_have_slopes() {
    let source = "texture2d wood; shader s(out float o, out float across) {
        float t = texture2d_sample_level<wood>(global_value<uvw>.xy, 0.5).x;
        o = t * t; across = ddx(o); }";
    let by_texels = || GradientRequest::new().by_texture("wood").forward();
    let by_place = || GradientRequest::new().by_global("uvw");
    let second = |first: GradientRequest, second: GradientRequest| {
        let first = compiled(&compiler(), source)
            .gradient(&first.of("o"))
            .unwrap();
        let request = second.of("d(o)");
        first
            .program()
            .gradient(&request)
            .unwrap()
            .program()
            .clone()
    };
    let orders = [
        (second(by_texels(), by_place()), "d2(uvw)"),
        (second(by_texels(), by_place().forward()), "d2(d(o))"),
        (second(by_place().forward(), by_texels()), "d2(d(o))"),
    ];
    let shadow = compiled(&compiler(), source);
    let shadow = shadow.gradient(&by_texels().of("across")).unwrap();
    // The second texture has the tangents.
    let [of, tangents, _] = coefficients();
    let sum = |of: [[f32; 4]; BASIS], basis: [[f32; 3]; BASIS], lane: usize| -> f64 {
        let terms = of.into_iter().zip(basis);
        terms
            .map(|(c, at)| f64::from(c[0]) * f64::from(at[lane]))
            .sum()
    };
    for point in 0..POINTS {
        let [at, along_x, _] = uvw(point);
        let basis = basis_at(at[0], at[1], 0.5);
        let lanes = |of| [0, 1, 2].map(|lane| sum(of, basis, lane));
        let ([t, t_u, t_v], [d, d_u, d_v]) = (lanes(of), lanes(tangents));
        let gradient = [t_u * d + t * d_u, t_v * d + t * d_v].map(|half| 2.0 * half);
        let along = |[x, y]: [f32; 2]| gradient[0] * f64::from(x) + gradient[1] * f64::from(y);
        let evaluate = |program: &Arc<Program>, output: &str, engine: Engine| {
            let instance = Instance::new(program);
            let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
            let mut globals = globals(program, point);
            for (name, value) in [
                ("d(uvw)", [2.0_f32, -1.0, 0.0]),
                ("d2(uvw)", [2.0, -1.0, 0.0]),
            ] {
                let _ = globals.set(name, value, [0.0; 3], [0.0; 3]);
            }
            let _ = globals.set("d2(d(o))", 1.0_f32, 0.0, 0.0);
            evaluator.evaluate(&globals, &mut Sums::new(coefficients()));
            match output {
                "d2(uvw)" => evaluator.get::<[f32; 3]>(output).unwrap(),
                _ => [evaluator.get::<f32>(output).unwrap(), 0.0, 0.0],
            }
        };
        let near = |found: f32, expected: f64, what: &str| {
            let apart = (f64::from(found) - expected).abs();
            assert!(apart < 1e-6, "{what} at {point}: {found}, not {expected}");
        };
        for engine in [Engine::Point, Engine::Reference] {
            let by_place = evaluate(&orders[0].0, orders[0].1, engine);
            for (found, expected) in by_place.into_iter().zip(gradient) {
                near(found, expected, "backward");
            }
            for (program, output) in &orders[1..] {
                near(
                    evaluate(program, output, engine)[0],
                    along([2.0, -1.0]),
                    "forward",
                );
            }
            let across = evaluate(shadow.program(), "d(across)", engine)[0];
            near(across, along([along_x[0], along_x[1]]), "the shadow");
        }
    }
}

/// Hosts give slopes and no second slopes: by coordinates twice, what is curved is lost, which is
/// reported; by texels and coordinates nothing is.
#[test]
fn second_derivatives_by_coordinates_are_warned_of() {
    let source = "texture2d wood; shader s(float k = 0.5, out float o) {
        float2 at = k * global_value<uvw>.xy;
        o = texture2d_sample_level<wood>(at, 0.5).x; }";
    let ends = |first: GradientRequest, second: GradientRequest| {
        let first = compiled(&compiler(), source).gradient(&first).unwrap();
        let of = match second.mode() {
            Mode::Forward if first.mode() == Mode::Backward => "d(k)",
            _ => "d(o)",
        };
        let second = first.program().gradient(&second.of(of)).unwrap();
        let ends = second.ends().iter();
        ends.map(|end| end.message.clone()).collect::<Vec<_>>()
    };
    let new = GradientRequest::new;
    let lost = "a second derivative ends here: the slopes of `wood` count as constants along it";
    assert_eq!(ends(new().forward(), new()), [lost]);
    assert_eq!(ends(new(), new().forward()), [lost]);
    assert_eq!(ends(new().forward(), new().by_global("uvw")), [lost]);
    assert!(ends(new().by_texture("wood").forward(), new()).is_empty());
    assert!(ends(new().forward(), new().by_texture("wood")).is_empty());
}

#[test]
fn textures_are_among_the_parameters() {
    let program = compiled(
        &compiler(),
        "texture2d wood; texture2d unused; texture2d mask;
        shader s(float a = 1, out float o) {
            o = a; if (texture2d_sample_alpha<mask>(0.5, 0.5) > 0) o *= texture2d_sample_alpha<wood>(0, 0); }",
    );
    let gradient = program
        .gradient(&GradientRequest::new().by_textures().by_inputs())
        .unwrap();
    let parameters: Vec<_> = (gradient.parameters().iter())
        .map(|by| {
            (
                by.kind,
                by.value.name.as_str(),
                by.value.place.clone(),
                by.is_zero,
            )
        })
        .collect();
    let adjoints = || DerivativePlace::Adjoints;
    let d_a = DerivativePlace::Output("d(a)".to_owned());
    let expected = [
        (ParameterKind::Input, "a", d_a, false),
        (ParameterKind::Texture, "mask", adjoints(), true),
        (ParameterKind::Texture, "wood", adjoints(), false),
    ];
    assert_eq!(parameters, expected);
    assert_eq!(gradient.parameters()[1].value.ty, Type::Vector(4));
    // The host sees the textures that it knew.
    let textures = gradient
        .program()
        .textures()
        .iter()
        .map(|t| t.name.as_str());
    assert_eq!(textures.collect::<Vec<_>>(), ["mask", "wood"]);
}

#[test]
fn gradients_by_textures_that_cannot_be_are_refused() {
    let source = "texture2d wood; shader s(float a = 1, out float o) {
        o = a * a * texture2d_sample_alpha<wood>(a, 0.5); }";
    let refused = |program: &Program, request: GradientRequest| {
        let no = program.gradient(&request).unwrap_err();
        let no = &no.diagnostics[0];
        (no.code.to_string(), no.message.clone())
    };
    let new = GradientRequest::new;
    let program = compiled(&compiler(), source);
    let unknown = refused(&program, new().by_texture("wod"));
    assert_eq!(
        unknown,
        ("E0570".into(), "there is no texture `wod`".into())
    );
    let once = program.gradient(&new().by_texture("wood")).unwrap();
    let (code, message) = refused(once.program(), new().by_texture("wood"));
    assert_eq!(code, "E0570");
    assert!(message.contains("by a texture already"), "{message}");
    // By other parameters it goes on, and the adjoints are as before.
    let again = once.program().gradient(&new().by_input("a")).unwrap();
    let adjoints =
        |program: &Arc<Program>| by_points(program, Engine::Point, coefficients()).adjoints;
    assert_eq!(
        format!("{:?}", adjoints(again.program())),
        format!("{:?}", adjoints(once.program()))
    );
}

/// A point passes the adjoints of its own samples, not those of its neighbours in a quad.
#[test]
fn helpers_of_quads_pass_no_adjoints() {
    let quads = compiler().with_options(Options {
        derivatives: Derivatives::Quad(Quad::Fine),
        ..Options::default()
    });
    let source = "texture2d wood; buffer<float> w; shader s(out float o) {
        o = w[0] * texture2d_sample<wood>(global_value<uvw>.xy).x; }";
    let program = compiled(&quads, source);
    let gradient = program
        .gradient(&GradientRequest::new().by_texture("wood"))
        .unwrap();
    let program = gradient.program();
    let mut instance = Instance::new(program);
    instance.set_buffer("w", vec![2.0_f32]).unwrap();
    let places = [[0.1, 0.2], [0.2, 0.2], [0.1, 0.5], [0.2, 0.5]];
    let points = places.map(|[u, v]| {
        let mut globals = globals(program, 0);
        globals.set("uvw", [u, v, 0.0], [0.0; 3], [0.0; 3]).unwrap();
        globals
    });
    for engine in Engine::available() {
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut host = Sums::new(coefficients());
        let helpers = [true, false, true, true];
        evaluator.evaluate_quad(points.each_ref(), helpers, &mut host);
        let [(_, request, adjoint)] = host.adjoints[..] else {
            panic!("{engine:?}: {:?}", host.adjoints);
        };
        assert_eq!([request.u, request.v], places[1]);
        // Differences to the neighbours are the footprint.
        assert_eq!([request.dudx, request.dvdy], [0.2 - 0.1, 0.5 - 0.2]);
        assert_eq!(adjoint.numbers, [3.0, 0.0, 0.0, 0.0]);
    }
    // Sums of buffers have no helpers.
    let no = compiled(&quads, source).gradient(&GradientRequest::new().by_buffers());
    let no = no.unwrap_err();
    assert!(no.diagnostics[0].message.contains("quads"), "{no}");
}

#[test]
fn bytecode_with_adjoints_is_loaded() {
    let program = derived(SHADER, &GradientRequest::new().by_textures());
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let hosts = [&program, &loaded].map(|p| by_points(p, Engine::Point, coefficients()));
    assert_eq!(hosts[0].gradient, hosts[1].gradient);
    // Hosts that take no adjoints lose them.
    let globals = globals(&loaded, 0);
    Evaluator::new(&Instance::new(&loaded)).evaluate(&globals, &mut NoTextures);
}

/// Samples of a marked texture have slopes, whatever the host says of others.
#[test]
fn marked_textures_have_slopes() {
    let source = "[Differentiable] texture2d wood; texture2d plain;
        shader s(float a = 0.25, out float o) {
            o = texture2d_sample_level<wood>(float2(a, 0.5), 0).x
                + texture2d_sample_level<plain>(float2(a, 0.5), 0).x; }";
    let compiler = Compiler::new(GlobalsLayout::hit());
    let gradient = compiled(&compiler, source)
        .gradient(&GradientRequest::new())
        .unwrap();
    let ends: Vec<&str> = gradient
        .ends()
        .iter()
        .map(|end| end.message.as_str())
        .collect();
    assert_eq!(ends.len(), 1);
    assert!(ends[0].contains("`plain`"), "{ends:?}");
    let mut evaluator = Evaluator::new(&Instance::new(gradient.program()));
    let mut host = Sums::new(coefficients());
    evaluator.evaluate(&globals(gradient.program(), 0), &mut host);
    let c = coefficients()[0].map(|of| of[0]);
    let expected = 1.5 * (c[1] + c[3] * 0.5);
    assert!((evaluator.get::<f32>("d(a)").unwrap() - expected).abs() < 1e-6);
}
