//! Derivatives through textures: a host answers with slopes, and every engine goes on by the chain
//! rule.

use crate::output_bits::output_bits;
use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup};
use adumbra::derivatives::Derivatives;
use adumbra::evaluator::Engine;
use adumbra::host::FaultKind;
use adumbra::{
    Compiler, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance, Options, Outcome, Program,
    SampleRequest, Sampled, Sources, Texel, TexelSlopes,
};
use std::sync::Arc;

/// A image that is read where two others say, in every way to sample.
const DEPENDENT: &str = "
    texture2d flow; texture2d image;
    shader s(out float by_uv, out float by_level, out float by_partials, out float flat) {
        float2 uv = global_value<uvw>.xy;
        float2 moved = uv + 0.5 * texture2d_sample<flow>(uv).yz;
        by_uv = texture2d_sample<image>(moved).x;
        by_level = texture2d_sample_level<image>(moved, 1.0).y;
        by_partials = texture2d_sample_grad<image>(moved, ddx(uv), ddy(uv)).z;
        flat = texture2d_sample_alpha<image>(0.25, 0.5);
    }";

/// Textures that are polynomials.
struct Polynomials {
    gives_slopes: bool,
    requests: Vec<SampleRequest>,
}

impl Polynomials {
    fn new(gives_slopes: bool) -> Polynomials {
        Polynomials {
            gives_slopes,
            requests: Vec::new(),
        }
    }

    fn texel(&self, request: &SampleRequest) -> Texel {
        let (u, v, of) = (request.u, request.v, request.texture.0 as f32);
        let numbers = [u * v, u * u - of, 0.5 * v * v, u - 3.0 * v];
        let slopes = TexelSlopes {
            u: [v, 2.0 * u, 0.0, 1.0],
            v: [u, 0.0, v, -3.0],
        };
        match self.gives_slopes && request.slopes {
            true => (numbers, slopes).into(),
            false => numbers.into(),
        }
    }
}

impl Host for Polynomials {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.requests.push(*request);
        self.texel(request).into()
    }
}

/// A host whose textures are all late.
struct Late;

impl Host for Late {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

fn compiler(slopes: bool, options: Options) -> Compiler {
    Compiler::new(GlobalsLayout::hit())
        .with_options(options)
        .texture_slopes(slopes)
}

fn compiled(text: &str, slopes: bool) -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let program = compiler(slopes, options).compile(&Sources::new("s.adu", text));
    program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

const UVW: [[f32; 3]; 3] = [[0.5, 0.75, 0.0], [0.25, -0.5, 0.0], [1.0, 0.125, 0.0]];

fn globals(program: &Program) -> Globals {
    let [at, ddx, ddy] = UVW;
    let mut globals = Globals::new(program.globals());
    globals.set("uvw", at, ddx, ddy).unwrap();
    globals
}

/// What the shader above gives, worked out by hand in f64: each output, and its derivatives.
fn expected() -> [[f64; 3]; 3] {
    let of = |i: usize| UVW.map(|lane| f64::from(lane[i]));
    let ([u, ux, uy], [v, vx, vy]) = (of(0), of(1));
    // flow is u² − 0 and v²/2.
    let p = [u + 0.5 * u * u, ux + u * ux, uy + u * uy];
    let q = [v + 0.25 * v * v, vx + 0.5 * v * vx, vy + 0.5 * v * vy];
    let lanes = [1, 2];
    let with = |value: f64, tangent: &dyn Fn(usize) -> f64| {
        let [x, y] = lanes.map(tangent);
        [value, x, y]
    };
    [
        with(p[0] * q[0], &|i| q[0] * p[i] + p[0] * q[i]),
        with(p[0] * p[0] - 1.0, &|i| 2.0 * p[0] * p[i]),
        with(0.5 * q[0] * q[0], &|i| q[0] * q[i]),
    ]
}

#[test]
fn dependent_reads_have_the_derivatives_of_the_chain_rule() {
    let program = compiled(DEPENDENT, true);
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let mut host = Polynomials::new(true);
    evaluator.evaluate(&globals(&program), &mut host);
    let outputs = ["by_uv", "by_level", "by_partials"];
    for (name, [value, ddx, ddy]) in outputs.into_iter().zip(expected()) {
        let dual = evaluator.get::<Dual<f32>>(name).unwrap();
        let pairs = [(dual.value, value), (dual.ddx, ddx), (dual.ddy, ddy)];
        for (found, expected) in pairs {
            assert!(
                (f64::from(found) - expected).abs() < 1e-6,
                "{name} {dual:?}"
            );
        }
    }
    assert_eq!(evaluator.get::<Dual<f32>>("flat").unwrap().ddx, 0.0);
    // The level of a dependent read follows from its own coordinates.
    let [u, ux, _] = [0, 1, 2].map(|i| UVW[i][0]);
    assert_eq!(host.requests[1].dudx, ux + 0.5 * (2.0 * u * ux));
    // Of the constant place no slopes are wanted.
    let wanted: Vec<bool> = host.requests.iter().map(|request| request.slopes).collect();
    assert_eq!(wanted, [true, true, true, true, false]);
    assert!(evaluator.faults().is_empty());
}

#[test]
fn engines_agree_on_slopes_that_come_late_or_never() {
    let program = compiled(DEPENDENT, true);
    let (instance, point) = (Instance::new(&program), globals(&program));
    for gives_slopes in [true, false] {
        let mut shown = Vec::new();
        for engine in Engine::available() {
            for is_late in [false, true] {
                let mut evaluator = Evaluator::with(&instance, engine, Default::default()).unwrap();
                let mut host = Polynomials::new(gives_slopes);
                if is_late {
                    let mut outcome = evaluator.evaluate(&point, &mut Late);
                    while outcome == Outcome::Pending {
                        let texel = host.texel(evaluator.request().unwrap());
                        let parked = evaluator.park().unwrap();
                        outcome = evaluator.resume(parked, texel, &mut Late).unwrap();
                    }
                } else {
                    evaluator.evaluate(&point, &mut host);
                }
                let faults: Vec<_> = evaluator.faults().iter().collect();
                shown.push((output_bits(&evaluator), faults));
            }
        }
        let (_, faults) = &shown[0];
        let lacking = faults.iter().filter(|f| f.kind == FaultKind::NoSlopes);
        assert_eq!(lacking.count(), if gives_slopes { 0 } else { 4 });
        assert!(shown.iter().all(|other| *other == shown[0]));
    }
}

#[test]
fn batches_agree_with_points_on_slopes() {
    const POINTS: usize = 37;
    let program = compiled(DEPENDENT, true);
    let instance = Instance::new(&program);
    let point = globals(&program);
    for gives_slopes in [true, false] {
        let mut host = Polynomials::new(gives_slopes);
        let mut batch = BatchEvaluator::with(&instance, &BatchSetup::default()).unwrap();
        let many = BatchGlobals::uniform_from(&point);
        batch.evaluate(&many, 0, POINTS, &mut host);
        let mut single = Evaluator::new(&instance);
        single.evaluate(&point, &mut host);
        for at in 0..POINTS {
            let found: Vec<_> = batch.faults(at).iter().collect();
            assert_eq!(found, single.faults().iter().collect::<Vec<_>>());
        }
        for name in ["by_uv", "by_level", "by_partials"] {
            let alone = single.get::<Dual<f32>>(name).unwrap();
            for at in [0, POINTS - 1] {
                assert_eq!(batch.get::<Dual<f32>>(name, at).unwrap(), alone, "{name}");
            }
        }
    }
}

#[test]
fn without_slopes_nothing_changes() {
    let listing = |text: &str, slopes: bool, options: &Options| {
        let sources = Sources::new("s.adu", text);
        let program = compiler(slopes, options.clone()).compile(&sources).unwrap();
        program.listing()
    };
    // No derivative is read here.
    let values = Options::default();
    let undemanded = "texture2d wood;
        shader s(out float3 o) { o = texture2d_sample<wood>(global_value<uvw>.xy); }";
    assert_eq!(
        listing(undemanded, true, &values),
        listing(undemanded, false, &values)
    );
    // Coordinates without derivatives, and derivatives that are differences or off.
    let constant = "texture2d wood;
        shader s(float u = 0.5, out float o) { o = texture2d_sample_alpha<wood>(u, u * 2); }";
    let outputs = Options {
        output_derivatives: true,
        ..Options::default()
    };
    assert_eq!(
        listing(constant, true, &outputs),
        listing(constant, false, &outputs)
    );
    let off = Options {
        derivatives: Derivatives::Off,
        ..outputs
    };
    assert_eq!(
        listing(DEPENDENT, true, &off),
        listing(DEPENDENT, false, &off)
    );
}

#[test]
fn textures_with_slopes_are_not_warned_of() {
    let text = "texture2d wood; shader s(out float o) {
        o = ddx(texture2d_sample_alpha<wood>(global_value<uvw>.xy)); }";
    let warnings = |slopes: bool| {
        let program = compiler(slopes, Options::default()).compile(&Sources::new("s.adu", text));
        let program = program.unwrap();
        let codes = program
            .warnings()
            .iter()
            .map(|found| found.code.to_string());
        codes.collect::<Vec<String>>()
    };
    assert_eq!(warnings(true), Vec::<String>::new());
    assert_eq!(warnings(false).len(), 1);
}
