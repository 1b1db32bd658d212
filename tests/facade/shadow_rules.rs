//! Shadows by custom forward derivatives: without demand nothing changes, and engines agree.

use crate::output_bits::{output_bits, point_bits};
use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup};
use adumbra::derivatives::{Derivatives, Quad};
use adumbra::evaluator::Engine;
use adumbra::value::Part;
use adumbra::{
    Compiler, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance, Options, SampleRequest,
    Sampled, Sources,
};

/// A search, a function of several results and a recursive one, in non-uniform control flow. Each
/// attribute is between `RULE` and `ENDRULE`.
const RULED: &str = "
    float search(float x) {
        float t = 1.0;
        for (int i = 0; i < 8; i++) { t = 0.5 * (t + x / t); if (t * t < x * 1.001) break; }
        return t;
    }
    RULE [ForwardDerivativeOf(search)] ENDRULE
    DifferentialPair<float> search_rule(DifferentialPair<float> x) {
        float t = search(x.p);
        return diffPair(t, x.d / (2.0 * t));
    }
    float2 turned(float2 p, int n) {
        if (n == 0) return p;
        float2 q = turned(p, n - 1);
        return float2(q.x - q.y, q.x + q.y);
    }
    RULE [ForwardDerivativeOf(turned)] ENDRULE
    DifferentialPair<float2> turned_rule(DifferentialPair<float2> p, int n) {
        float2 value = turned(p.p, n), change = p.d;
        for (int i = 0; i < n; i++) change = float2(change.x - change.y, change.x + change.y);
        return diffPair(value, change);
    }
    texture2d wood;
    shader s(out float2 o, out float u, out float3 color) {
        float2 p = global_value<uvw>.xy;
        if (p.x > 0.5) p = turned(p, int(4.0 * p.x)); else p.y = search(p.x);
        o = p;
        u = SLOPE(search(p.x * p.x + 1.0));
        color = texture2d_sample<wood>(CONSTANT);
    }";

fn source(has_rules: bool, slope: &str, place: &str) -> Sources {
    // Bytecode has the places of what is after them.
    let (open, close) = if has_rules {
        ("  ", "  ")
    } else {
        ("/*", "*/")
    };
    let text = RULED.replace("ENDRULE", close).replace("RULE", open);
    let text = text.replace("SLOPE", slope).replace("CONSTANT", place);
    Sources::new("s.adu", text)
}

fn compiler(derivatives: Derivatives, output_derivatives: bool) -> Compiler {
    Compiler::new(GlobalsLayout::hit()).with_options(Options {
        derivatives,
        output_derivatives,
        ..Options::default()
    })
}

/// A texture that shows its footprint.
struct Footprints;

impl Host for Footprints {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let SampleRequest { u, v, .. } = *request;
        let area = request.dudx * request.dvdy - request.dudy * request.dvdx;
        Sampled::Ready([u, v, area, request.dvdx])
    }
}

#[test]
fn bytecode_without_demand_is_that_without_rules() {
    let listing = |compiler: &Compiler, has_rules: bool, slope: &str, place: &str| {
        let program = compiler.compile(&source(has_rules, slope, place));
        program.unwrap_or_else(|found| panic!("{found}")).listing()
    };
    let same = |derivatives: Derivatives, outputs: bool, slope: &str, place: &str| {
        let compiler = compiler(derivatives, outputs);
        let [with, without] =
            [true, false].map(|has_rules| listing(&compiler, has_rules, slope, place));
        with == without
    };
    let (none, constant) = ("", "0.5, 0.25");
    assert!(same(Derivatives::Dual, false, none, constant));
    assert!(same(Derivatives::Off, true, "ddx", constant));
    assert!(same(Derivatives::Quad(Quad::Fine), false, none, "p"));
    // Each of these is a demand.
    assert!(!same(Derivatives::Dual, true, none, constant));
    assert!(!same(Derivatives::Dual, false, "ddy", constant));
    assert!(!same(Derivatives::Dual, false, none, "p"));
}

#[test]
fn engines_agree_on_shadows_by_rules() {
    const POINTS: usize = 61;
    let sources = source(true, "ddx", "p");
    let program = compiler(Derivatives::Dual, true).compile(&sources).unwrap();
    let instance = Instance::new(&program);
    let at = |i: usize| [i as f32 / 40.0, 0.3, 0.0];
    let point = |uvw: [f32; 3]| {
        let mut globals = Globals::new(program.globals());
        let (ddx, ddy) = ([1.0, 0.5, 0.0], [0.25, -2.0, 0.0]);
        globals.set("uvw", uvw, ddx, ddy).unwrap();
        globals
    };
    let mut singles = Vec::new();
    for engine in Engine::available() {
        let mut of_engine = Vec::new();
        for i in 0..POINTS {
            let mut evaluator = Evaluator::with(&instance, engine, Default::default()).unwrap();
            evaluator.evaluate(&point(at(i)), &mut Footprints);
            // Of the root of x, by hand.
            if at(i)[0] > 0.1 && at(i)[0] <= 0.5 {
                let o = evaluator.get::<Dual<[f32; 2]>>("o").unwrap();
                assert!((o.ddx[1] - 0.5 / o.value[1]).abs() < 1e-6, "{o:?}");
            }
            of_engine.push(output_bits(&evaluator));
        }
        singles.push(of_engine);
    }
    assert!(singles.iter().all(|other| *other == singles[0]));

    let plane: Vec<f32> = (0..POINTS).map(|i| at(i)[0]).collect();
    let first = point(at(0));
    let mut globals = BatchGlobals::uniform_from(&first);
    globals.plane("uvw", Part::Value, 0, &plane, 1).unwrap();
    let mut batch = BatchEvaluator::with(&instance, &BatchSetup::default()).unwrap();
    batch.evaluate(&globals, 0, POINTS, &mut Footprints);
    for (i, single) in singles[0].iter().enumerate() {
        assert_eq!(point_bits(&batch, i), *single, "{i}");
    }
}
