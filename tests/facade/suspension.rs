//! Texture requests that are answered later: parked points are resumed in any order, on any thread,
//! to the bits of a run that never waited.

use crate::output_bits::output_bits;
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, Options, Outcome, Program,
    SampleRequest, Sampled, Scalar, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part},
    evaluator::{Engine, ParkError, ParkedPoint},
    group::Group,
};
use fastrand::Rng;
use std::sync::Arc;

/// Samples in calls, in recursion, in loops, in both arms of a branch, between arrays and closures:
/// 20 in all.
const SHADER: &str = "
    texture2d wood; texture2d noise; texture2d mask;
    float fall(float x, float y, int n) {
        if (n < 1)
            return texture2d_sample_alpha<mask>(x, y);
        float below = fall(x * 0.5 + y, y - x, n - 1);
        return below + x * texture2d_sample_alpha<noise>(below, x);
    }
    float blur(float p[4], inout float w[4]) {
        float sum = 0;
        for (int i = 0; i < 4; i += 1) {
            color c = texture2d_sample<wood>(p[i], w[i] + sum);
            w[i] = w[i] * c.x + sum;
            sum += c.y;
        }
        return sum;
    }
    float3 pick(float3 p) {
        if (p.x < p.y)
            return texture2d_sample<wood>(p.x * p.y, sin(p.z));
        return texture2d_sample<noise>(exp(p.x), p.y / p.z).zyx;
    }
    shader all(float gain = 0.75, out float o, out color k, out closure c, out int faults) {
        float3 p = global_value<position>;
        float3 n = global_value<normal>;
        float a[4] = { p.x, p.y, n.x, gain };
        float b[4] = { n.y, n.z, p.z, p.x * p.y };
        o = fall(p.x, p.y, 5);
        o += blur(a, b) + ddx(b[2]);
        k = pick(p) + pick(n);
        c = 0 * make_closure<glow>(k);
        for (int i = 0; i < 5; i += 1) {
            float s = texture2d_sample_alpha<mask>(b[i], global_value<uvw>.x * o);
            c = c + s * make_closure<glow>(k * s) + make_closure<rest>(i, o);
        }
        c = texture2d_sample<wood>(global_value<uvw>.x, global_value<uvw>.y) * c;
        o += texture2d_sample_alpha<noise>(global_value<uvw>.y, o);
        faults = 7 / (int(p.x) - 1);
        o += texture2d_sample_alpha<noise>(o, o);
    }";

/// The number of samples that a point of the shader executes.
const SAMPLES: usize = 20;

fn program() -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    let program = compiler.compile(&Sources::new("all.adu", SHADER));
    program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// A group of six units that has as many: four layers, each fed by the one before, between their
/// coordinates and what is made of them. Each layer covers the closure of the one below, so
/// closures of other units wait with its samples.
fn group() -> Arc<Program> {
    let uv = "shader uv(out float2 st) { st = global_value<uvw>.xy; }";
    let layer = "
        texture2d map;
        float deep(float x, int n) { return n < 1 ? x : deep(x * 0.5 + texture2d_sample_alpha<map>(x, x), n - 1); }
        shader layer(float2 at, closure below, float gain = 0.25, out float a, out color k, out closure c) {
            float w[3] = { at.x, at.y, gain };
            k = float3(0.0, 0.0, 0.0);
            for (int i = 0; i < 3; i += 1)
                k += w[i] * texture2d_sample<map>(w[i], at.y + k.x);
            a = deep(k.y + gain, 1);
            c = k.x * below + make_closure<rest>(1, a);
        }";
    let top = "
        texture2d mask;
        shader top(color k, float a, closure below, out float o, out closure c) {
            o = a;
            c = below;
            for (int i = 0; i < 4; i += 1) {
                float s = texture2d_sample_alpha<mask>(k.x * i, o);
                o += s * ddx(k.y);
                c = c + s * make_closure<glow>(k * s);
            }
            o += 7 / (int(a * 4) - 1);
        }";
    let [uv, layer, top] = [("uv", uv), ("layer", layer), ("top", top)]
        .map(|(name, text)| Sources::new(format!("{name}.adu"), text));
    let mut group = Group::new();
    group.unit("uv", &uv, None).unit("top", &top, None);
    for i in 0..4 {
        let name = format!("layer{i}");
        group.unit(&name, &layer, None);
        group.connect(("uv", "st"), (&name, "at"));
        group.bind_texture(&name, "map", &format!("map{}", i % 3));
        if i > 0 {
            let below = format!("layer{}", i - 1);
            group.connect((&below, "a"), (&name, "gain"));
            group.connect((&below, "c"), (&name, "below"));
        }
    }
    group
        .connect(("layer3", "a"), ("top", "a"))
        .connect(("layer2", "k"), ("top", "k"))
        .connect(("layer3", "c"), ("top", "below"))
        .expose_output("o", ("top", "o"))
        .expose_output("k", ("layer3", "k"))
        .expose_output("c", ("top", "c"));
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    let program = compiler.compile_group(&group);
    program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// The shader and the group, on each engine.
fn cases() -> impl Iterator<Item = (Arc<Program>, Engine)> {
    let engines = [Engine::Point, Engine::Reference];
    let programs = [program(), group()].into_iter();
    programs.flat_map(move |program| engines.map(|engine| (program.clone(), engine)))
}

/// A sequence that looks random.
struct Random(Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    fn float(&mut self) -> f32 {
        self.below(4_000) as f32 / 1_000.0 - 1.0
    }
}

/// A texel that depends on every bit of a request.
fn texel(r: &SampleRequest) -> [f32; 4] {
    let words = [r.u, r.v, r.dudx, r.dudy, r.dvdx, r.dvdy].map(f32::to_bits);
    let mix = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
    let hash = words.into_iter().fold(u64::from(r.texture.0) + 1, mix);
    let mut random = Random::new(hash);
    std::array::from_fn(|_| random.below(1 << 24) as f32 / (1 << 24) as f32)
}

/// Answers every request at once.
#[derive(Default)]
struct Prompt {
    asked: usize,
}

impl Host for Prompt {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.asked += 1;
        Sampled::Ready(texel(request))
    }
}

/// Answers every request later.
struct Late;

impl Host for Late {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

/// Answers some requests at once, as its lot says.
struct Hesitant<'r>(&'r mut Random);

impl Host for Hesitant<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        match self.0.below(4) {
            0 => Sampled::Ready(texel(request)),
            _ => Sampled::Pending,
        }
    }
}

fn globals(program: &Program, point: u64) -> Globals {
    let mut random = Random::new(point);
    let mut globals = Globals::new(program.globals());
    for name in ["position", "normal", "uvw"] {
        let [value, ddx, ddy] = [(); 3].map(|()| [(); 3].map(|()| random.float()));
        globals.set(name, value, ddx, ddy).unwrap();
    }
    globals
}

/// All that an evaluation shows.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    words: Vec<u32>,
    closure: String,
    faults: String,
}

fn seen(evaluator: &Evaluator) -> Seen {
    let closure = evaluator.output("c").unwrap().closure().unwrap();
    Seen {
        words: output_bits(evaluator),
        closure: closure.json().unwrap(),
        faults: format!("{:?}", evaluator.faults()),
    }
}

fn evaluator(program: &Arc<Program>, engine: Engine, limits: Limits) -> Evaluator {
    Evaluator::with(&Instance::new(program), engine, limits).unwrap()
}

fn expected(program: &Arc<Program>, points: u64) -> Vec<Seen> {
    let mut evaluator = evaluator(program, Engine::Point, Limits::default());
    let mut host = Prompt::default();
    let seen = (0..points).map(|point| {
        let outcome = evaluator.evaluate(&globals(program, point), &mut host);
        assert_eq!(outcome, Outcome::Finished);
        seen(&evaluator)
    });
    let seen = seen.collect();
    assert_eq!(host.asked, SAMPLES * points as usize);
    seen
}

/// Evaluates all points with up to `crowd` of them parked at a time, the next one to go on drawn by
/// lot, on one of two evaluators.
fn suspended(program: &Arc<Program>, engine: Engine, points: u64, crowd: usize) -> Vec<Seen> {
    let mut evaluators = [(); 2].map(|()| evaluator(program, engine, Limits::default()));
    let mut random = Random::new(7);
    let mut waiting: Vec<(u64, ParkedPoint)> = Vec::new();
    let mut found: Vec<Option<Seen>> = vec![None; points as usize];
    let (mut next, mut waits) = (0, 0);
    while next < points || !waiting.is_empty() {
        let at = random.below(2);
        let evaluator = &mut evaluators[at];
        let (point, mut outcome) = if next < points && waiting.len() < crowd {
            next += 1;
            let globals = globals(program, next - 1);
            let host = &mut Hesitant(&mut random);
            (next - 1, evaluator.evaluate(&globals, host))
        } else {
            let (point, parked) = waiting.swap_remove(random.below(waiting.len()));
            let answer = texel(parked.request());
            let host = &mut Hesitant(&mut random);
            (point, evaluator.resume(parked, answer, host).unwrap())
        };
        while outcome == Outcome::Pending && random.below(3) == 0 {
            let answer = texel(evaluator.request().unwrap());
            outcome = evaluator.answer(answer, &mut Hesitant(&mut random));
        }
        if outcome == Outcome::Pending {
            waits += 1;
            waiting.push((point, evaluator.park().unwrap()));
        } else {
            found[point as usize] = Some(seen(evaluator));
        }
        let parked: u32 = evaluators.iter().map(Evaluator::parked).sum();
        assert_eq!(parked as usize, waiting.len());
    }
    assert!(waits > 5 * points, "{waits} waits");
    found.into_iter().map(Option::unwrap).collect()
}

#[test]
fn ten_thousand_points_of_twenty_samples_in_any_order() {
    const POINTS: u64 = 10_000;
    for program in [program(), group()] {
        let expected = expected(&program, POINTS);
        let found = suspended(&program, Engine::Point, POINTS, 500);
        for (point, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "point {point}");
        }
        let faulty = expected
            .iter()
            .filter(|seen| seen.faults.contains("Division"));
        assert!(faulty.count() > 100, "some points divide by zero");
    }
}

#[test]
fn the_reference_engine_waits_as_well() {
    const POINTS: u64 = 100;
    for program in [program(), group()] {
        let expected = expected(&program, POINTS);
        let found = suspended(&program, Engine::Reference, POINTS, 30);
        for (point, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "point {point}");
        }
    }
}

#[test]
fn a_point_goes_on_in_another_thread() {
    let program = program();
    let instance = Instance::new(&program);
    let expected = expected(&program, 8);
    for engine in [Engine::Point, Engine::Reference] {
        let mut here = evaluator(&program, engine, Limits::default());
        let parked: Vec<ParkedPoint> = (0..8)
            .map(|point| {
                here.evaluate(&globals(&program, point), &mut Late);
                here.park().unwrap()
            })
            .collect();
        std::thread::scope(|scope| {
            for (parked, expected) in parked.into_iter().zip(&expected) {
                let instance = &instance;
                scope.spawn(move || {
                    let limits = Limits::default();
                    let mut there = Evaluator::with(instance, engine, limits).unwrap();
                    let answer = texel(parked.request());
                    let mut outcome = there.resume(parked, answer, &mut Late).unwrap();
                    for _ in 1..SAMPLES {
                        assert_eq!(outcome, Outcome::Pending);
                        let parked = there.park().unwrap();
                        let answer = texel(parked.request());
                        outcome = there.resume(parked, answer, &mut Late).unwrap();
                    }
                    assert_eq!((outcome, &seen(&there)), (Outcome::Finished, expected));
                });
            }
        });
        assert_eq!(here.parked(), 0);
    }
}

#[test]
fn parked_points_are_bounded_by_their_number() {
    for (program, engine) in cases() {
        let limits = Limits {
            parked: 3,
            ..Limits::default()
        };
        let mut evaluator = evaluator(&program, engine, limits);
        let globals = globals(&program, 1);
        let mut parked = Vec::new();
        for _ in 0..3 {
            evaluator.evaluate(&globals, &mut Late);
            parked.push(evaluator.park().unwrap());
        }
        evaluator.evaluate(&globals, &mut Late);
        assert_eq!(evaluator.park().unwrap_err(), ParkError::Points(3));
        assert_eq!(evaluator.parked(), 3);
        // The point over the capacity still waits where it is, until another one is dropped.
        assert!(evaluator.request().is_some());
        drop(parked.pop());
        parked.push(evaluator.park().unwrap());
        assert_eq!(evaluator.parked(), 3);
        assert_eq!(evaluator.request(), None);
    }
}

#[test]
fn batch_parks_all_up_to_limit() {
    let text =
        "texture2d t; shader s(out float o) { o = texture2d_sample<t>(global_value<uvw>.x, 0).x; }";
    let compiler = Compiler::new(GlobalsLayout::hit());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let material = Instance::new(&program);
    let limits = Limits {
        parked: 5,
        ..Limits::default()
    };
    let setup = BatchSetup {
        limits,
        ..BatchSetup::default()
    };
    let mut batch = BatchEvaluator::with(&material, &setup).unwrap();
    let x: Vec<f32> = (0..8).map(|point| point as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("uvw", Part::Value, 0, &x, 1).unwrap();
    batch.evaluate(&globals, 0, 8, &mut Late);
    let mut parked = Vec::new();
    let full = batch.park_all(&mut parked).unwrap_err();
    assert_eq!((full, parked.len()), (ParkError::Points(5), 5));
    assert_eq!(batch.suspended().count(), 3);

    // Once some have gone on, there is place for the others; each knows its number.
    let mut single = Evaluator::with(&material, Engine::Point, limits).unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        for (point, waiting) in parked.drain(..) {
            let texel = [waiting.request().u; 4];
            single.resume(waiting, texel, &mut Late).unwrap();
            assert_eq!(single.get::<f32>("o").unwrap(), x[point]);
            seen.push(point);
        }
        batch.park_all(&mut parked).unwrap();
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((batch.suspended().count(), parked.len()), (0, 0));
}

#[test]
fn parked_points_are_bounded_by_their_memory() {
    for (program, engine) in cases() {
        let usual = Limits::default();
        let globals = globals(&program, 1);
        let mut measure = evaluator(&program, engine, usual);
        measure.evaluate(&globals, &mut Late);
        let size = measure.park().unwrap().memory();
        println!("{engine:?}: a parked point takes {size} bytes");
        let limits = Limits {
            parked_bytes: 2 * size,
            ..usual
        };
        let mut evaluator = evaluator(&program, engine, limits);
        let park = |evaluator: &mut Evaluator| {
            evaluator.evaluate(&globals, &mut Late);
            evaluator.park()
        };
        for _ in 0..3 {
            let parked = [(); 2].map(|()| park(&mut evaluator).unwrap());
            let full = park(&mut evaluator).unwrap_err();
            assert_eq!(full, ParkError::Bytes(2 * size));
            drop(parked);
            assert_eq!(evaluator.parked(), 0);
        }
    }
}

#[test]
fn spare_memory_that_does_not_fit_makes_way() {
    // Deep calls or many closures wait with the sample, never both.
    let text = "texture2d wood;
        float down(float x, int n) { return n < 1 ? texture2d_sample_alpha<wood>(x, x) : down(x, n - 1) + x; }
        shader s(out float o, out closure c) {
            int n = global_value<n>;
            c = 0 * make_closure<glow>(1);
            for (int i = n; i < 100; i += 1) c = c + make_closure<glow>(i);
            o = down(0.5, n);
        }";
    let layout = GlobalsLayout::new().with("n", Type::Scalar(Scalar::I32));
    let compiler = Compiler::new(layout.unwrap());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let mut globals = Globals::new(program.globals());
    let mut park = |evaluator: &mut Evaluator, n: i32| {
        globals.set("n", n, 0, 0).unwrap();
        evaluator.evaluate(&globals, &mut Late);
        evaluator.park()
    };
    let mut usual = evaluator(&program, Engine::Point, Limits::default());
    let sizes = [100, 0].map(|n| park(&mut usual, n).unwrap().memory());
    drop(usual);
    let limits = Limits {
        parked_bytes: sizes[0].max(sizes[1]),
        ..Limits::default()
    };
    let mut evaluator = evaluator(&program, Engine::Point, limits);
    for n in [100, 0, 100, 0] {
        let point = park(&mut evaluator, n).unwrap();
        assert!(point.memory() <= limits.parked_bytes);
    }
}

#[test]
fn a_point_goes_on_only_where_everything_is_the_same() {
    let program = program();
    let globals = globals(&program, 1);
    let instance = Instance::new(&program);
    let mut other_inputs = instance.clone();
    other_inputs.set("gain", 0.5_f32).unwrap();
    let other_program = Instance::new(&self::program());
    let usual = Limits::default();
    let fewer_steps = Limits { steps: 99, ..usual };
    let mut here = Evaluator::new(&instance);
    let others = [
        Evaluator::with(&other_inputs, Engine::Point, usual),
        Evaluator::with(&other_program, Engine::Point, usual),
        Evaluator::with(&instance, Engine::Reference, usual),
        Evaluator::with(&instance, Engine::Point, fewer_steps),
    ];
    here.evaluate(&globals, &mut Late);
    let mut parked = here.park().unwrap();
    for other in others {
        let refused = other.unwrap().resume(parked, [0.0; 4], &mut Late);
        parked = refused.unwrap_err().0;
        assert_eq!(here.parked(), 1);
    }
    let answer = texel(parked.request());
    let outcome = here.resume(parked, answer, &mut Prompt::default());
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    assert_eq!(seen(&here), expected(&program, 2)[1]);
}

#[test]
fn what_went_wrong_before_a_sample_is_seen_while_it_waits() {
    let text = "texture2d wood; shader s(int n, out float o) { o = 1 / n; o += texture2d_sample_alpha<wood>(o, o); }";
    let compiler = Compiler::new(GlobalsLayout::new());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    for engine in [Engine::Point, Engine::Reference] {
        let mut evaluator = evaluator(&program, engine, Limits::default());
        let globals = Globals::new(program.globals());
        assert_eq!(evaluator.evaluate(&globals, &mut Late), Outcome::Pending);
        assert_eq!(evaluator.faults().iter().count(), 1);
        assert_eq!(output_bits(&evaluator), [0]);
        let parked = evaluator.park().unwrap();
        assert_eq!(evaluator.faults().iter().count(), 0);
        let outcome = evaluator.resume(parked, [0.0, 0.0, 0.0, 0.5], &mut Late);
        assert_eq!(outcome.unwrap(), Outcome::Finished);
        assert_eq!(evaluator.faults().iter().count(), 1);
        assert_eq!(evaluator.get::<f32>("o").unwrap(), 0.5);
    }
}

#[test]
fn pending_point_has_no_outputs_yet() {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let text = "texture2d t;
        shader s(out float o, out closure c) {
            o = 2 * global_value<x>;
            c = make_closure<glow>(o);
            o += texture2d_sample<t>(o, 0.5).x;
        }";
    let program = Compiler::new(layout).compile(&Sources::new("s.adu", text));
    let program = program.unwrap();
    let (instance, c) = (Instance::new(&program), program.closure_slot("c").unwrap());
    let mut globals = Globals::new(program.globals());
    globals.set("x", 3.0_f32, 0.0, 0.0).unwrap();
    for engine in [Engine::Point, Engine::Reference, Engine::Batch] {
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        evaluator.evaluate(&globals, &mut Late);
        assert_eq!(evaluator.get::<f32>("o").unwrap(), 0.0);
        assert_eq!(evaluator.closure(c).to_string(), "0");
        evaluator.answer([1.0; 4], &mut Late);
        assert_eq!(evaluator.get::<f32>("o").unwrap(), 7.0);
        assert_eq!(evaluator.closure(c).to_string(), "glow(6.0)");
    }
    let mut batch = BatchEvaluator::new(&instance).unwrap();
    batch.evaluate(&BatchGlobals::uniform_from(&globals), 0, 8, &mut Late);
    let mut parked = Vec::new();
    batch.park_all(&mut parked).unwrap();
    assert_eq!(parked.len(), 8);
    let mut plane = [9.0_f32; 8];
    batch.copy("o", Part::Value, 0, &mut plane, 1).unwrap();
    assert_eq!(plane, [0.0; 8]);
    assert_eq!(batch.closure(c, 3).to_string(), "0");
}

#[test]
#[should_panic(expected = "no point is suspended")]
fn parking_without_suspended_point_panics() {
    let program = program();
    let _ = evaluator(&program, Engine::Point, Limits::default()).park();
}

#[test]
#[should_panic(expected = "point 3 is not suspended")]
fn answering_unsuspended_point_of_batch_panics() {
    let program = program();
    let mut batch = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    batch.answer(3, [0.0; 4], &mut Late);
}
