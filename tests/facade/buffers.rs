//! Buffers: what shaders read of them, what hosts set, and gradients by them, which are sums that
//! have no order.

use crate::shader_gradients::{globals, gradient};
use adumbra::batch::{
    BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, Part, SimdLevel, Tier, TierUp,
    WholeBatch,
};
use adumbra::evaluator::Engine;
use adumbra::gradient::{DerivativePlace, GradientRequest, ParameterKind};
use adumbra::group::Group;
use adumbra::host::FaultKind;
use adumbra::program::{MAX_BUFFER_NUMBERS, MAX_SUM_NUMBERS};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Program, Sources,
    Type,
};
use std::sync::Arc;

const ENGINES: [Engine; 4] = [
    Engine::Reference,
    Engine::Point,
    Engine::Batch,
    Engine::Native,
];

fn program(source: &str) -> Arc<Program> {
    let layout = GlobalsLayout::hit().with("x", Type::FLOAT);
    let compiler = Compiler::new(layout.expect("a new name"));
    let compiled = compiler.compile(&Sources::new("s.adu", source));
    compiled.unwrap_or_else(|no| panic!("{no}"))
}

/// The output `o`, and the kinds of fault, by every engine that there is.
fn evaluated(instance: &Instance, x: f32) -> Vec<(f32, Vec<FaultKind>)> {
    let globals = globals(instance.program(), &[("x", x)]);
    let engines = ENGINES.iter().filter_map(|&engine| {
        let mut evaluator = Evaluator::with(instance, engine, Limits::default()).ok()?;
        evaluator.evaluate(&globals, &mut NoTextures);
        let faults = evaluator.faults().iter().map(|fault| fault.kind);
        Some((evaluator.get("o").unwrap(), faults.collect()))
    });
    engines.collect()
}

#[test]
fn elements_are_read_by_clamped_indices() {
    let source = "
        buffer<float> w;
        buffer<float3> colours;
        buffer<int> numbers;
        float pick(int i) { return w[i]; }
        shader s(out float o) {
            int i = (int)global_value<x>;
            o = pick(i) + 10 * colours[i].y + 100 * numbers[i] + 1000 * w.length();
        }";
    let mut instance = Instance::new(&program(source));
    let none = vec![FaultKind::IndexOutOfRange; 3];
    for found in evaluated(&instance, 1.0) {
        assert_eq!(found, (0.0, none.clone()), "buffers without elements");
    }
    instance.set_buffer("w", vec![0.25_f32, 0.5]).unwrap();
    let colours: Arc<[f32]> = (0..6).map(|i| i as f32).collect();
    instance.set_buffer("colours", colours).unwrap();
    instance.set_buffer("numbers", vec![3_i32, -2]).unwrap();
    let expected = [
        (-5.0, 2000.0 + 300.0 + 10.0 + 0.25, none.clone()),
        (0.0, 2000.0 + 300.0 + 10.0 + 0.25, Vec::new()),
        (1.0, 2000.0 - 200.0 + 40.0 + 0.5, Vec::new()),
        (2.0, 2000.0 - 200.0 + 40.0 + 0.5, none),
    ];
    for (x, o, faults) in expected {
        let all = evaluated(&instance, x);
        assert!(all.len() >= 3);
        for found in all {
            assert_eq!(found, (o, faults.clone()), "at {x}");
        }
    }
}

#[test]
fn buffers_are_shared_and_checked() {
    let program = program("buffer<float2> weights; shader s(out float o) { o = weights[0].y; }");
    let mut instance = Instance::new(&program);
    let error = |result: Result<(), adumbra::access::AccessError>| result.unwrap_err().to_string();
    assert_eq!(
        error(instance.set_buffer("weight", vec![1.0_f32])),
        "there is no `weight`; did you mean `weights`?"
    );
    assert_eq!(
        error(instance.set_buffer("weights", vec![1_i32, 2])),
        "`weights` is of type `buffer<float2>`, not `buffer<int>`"
    );
    assert_eq!(
        error(instance.set_buffer("weights", vec![1.0_f32; 3])),
        "an element of `weights` has 2 numbers, and 3 are no whole elements"
    );
    let numbers: Arc<[f32]> = vec![1.0, 2.0].into();
    instance.set_buffer("weights", numbers.clone()).unwrap();
    let other = instance.clone();
    assert_eq!(Arc::strong_count(&numbers), 2, "one beside the host's");
    let mut evaluator = Evaluator::new(&instance);
    instance.set_buffer("weights", vec![5.0_f32, 6.0]).unwrap();
    let globals = Globals::new(program.globals());
    evaluator.evaluate(&globals, &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o"), Ok(2.0), "made before");
    for (instance, expected) in [(&instance, 6.0), (&other, 2.0)] {
        let mut evaluator = Evaluator::new(instance);
        evaluator.evaluate(&globals, &mut NoTextures);
        assert_eq!(evaluator.get::<f32>("o"), Ok(expected));
    }
}

/// Bytecode keeps what is declared, and folding keeps what is set.
#[test]
fn buffers_come_through_files_and_folding() {
    let source =
        "buffer<float> w <<< min = 0 >>>; shader s(float k = 2, out float o) { o = k * w[1]; }";
    let program = program(source);
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    assert!(program.buffers().eq(loaded.buffers()));
    let mut instance = Instance::new(&loaded);
    instance.set_buffer("w", vec![1.0_f32, 3.0]).unwrap();
    let globals = Globals::new(program.globals());
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals, &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o"), Ok(6.0));
    let mut instance = Instance::new(&program);
    instance.set_buffer("w", vec![1.0_f32, 3.0]).unwrap();
    let mut evaluator = Evaluator::new(&instance.fold().unwrap());
    evaluator.evaluate(&globals, &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o"), Ok(6.0));
}

/// A small network: its weights and its biases are a buffer, its layers loops.
const NETWORK: &str = "
    buffer<float> w;
    shader network(float gain = 1.5, out float o) {
        float2 p = float2(global_value<x>, 0.3);
        float hidden[6];
        for (int i = 0; i < 6; i++) {
            float sum = w[3 * i + 2];
            for (int j = 0; j < 2; j++) { sum += w[3 * i + j] * p[j]; }
            hidden[i] = sin(sum);
        }
        o = 0;
        for (int i = 0; i < 6; i++) { o += gain * w[18 + i] * hidden[i]; }
    }";

fn weights() -> Vec<f32> {
    (0..24).map(|i| (i as f32 * 0.7).sin()).collect()
}

/// The network's value in `f64`.
fn network(w: &[f64], x: f64) -> f64 {
    let unit = |i: usize| (w[3 * i] * x + w[3 * i + 1] * 0.3_f32 as f64 + w[3 * i + 2]).sin();
    (0..6).map(|i| 1.5 * w[18 + i] * unit(i)).sum()
}

#[test]
fn gradients_by_buffers_equal_differences() {
    let gradient = gradient(NETWORK, GradientRequest::new().by_buffers().by_inputs());
    let weight = &gradient.parameters()[1];
    assert_eq!(
        (weight.kind, &weight.value.place, weight.is_zero),
        (ParameterKind::Buffer, &DerivativePlace::Sum, false)
    );
    assert_eq!(gradient.ends().len(), 0);
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", weights()).unwrap();
    let wide: Vec<f64> = weights().iter().map(|&w| w.into()).collect();
    for engine in ENGINES {
        let Ok(mut evaluator) = Evaluator::with(&instance, engine, Limits::default()) else {
            continue;
        };
        let globals = globals(gradient.program(), &[("x", 0.7), ("d(o)", 2.0)]);
        evaluator.evaluate(&globals, &mut NoTextures);
        let found = evaluator.take_gradients().of("w").unwrap();
        assert_eq!(found.len(), 24);
        for (at, found) in found.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut w = wide.clone();
                w[at] += by;
                network(&w, 0.7_f32.into())
            };
            let expected = 2.0 * (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (found - expected).abs() < 1e-5,
                "{engine:?} {at}: {found} {expected}"
            );
        }
        // They were taken.
        assert!(
            evaluator
                .take_gradients()
                .of("w")
                .unwrap()
                .iter()
                .all(|&sum| sum == 0.0)
        );
    }
}

#[test]
fn tangents_of_buffers_are_buffers() {
    let gradient = gradient(NETWORK, GradientRequest::new().forward().by_buffer("w"));
    let place = &gradient.parameters()[0].value.place;
    assert_eq!(place, &DerivativePlace::Buffer("d(w)".to_owned()));
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", weights()).unwrap();
    let tangents: Vec<f32> = (0..24).map(|i| (i as f32).cos()).collect();
    instance.set_buffer("d(w)", tangents.clone()).unwrap();
    let moved = |by: f64| {
        let w = weights().into_iter().zip(&tangents);
        let w: Vec<f64> = w.map(|(w, &t)| f64::from(w) + by * f64::from(t)).collect();
        network(&w, 0.7_f32.into())
    };
    let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals(gradient.program(), &[("x", 0.7)]), &mut NoTextures);
    let found: f32 = evaluator.get("d(o)").unwrap();
    assert!(
        (f64::from(found) - expected).abs() < 1e-5,
        "{found} {expected}"
    );
}

/// The sums of a batch, to the bit, whatever evaluates it.
#[test]
fn sums_have_no_order() {
    const POINTS: usize = 3000;
    let source = "
        buffer<float> w;
        buffer<float2> table;
        shader s(out float o) {
            float x = global_value<x>;
            int i = (int)(x * 7);
            float2 t = table[i];
            o = w[0] * x * x * 1e-6 + exp(w[1] * x) + t.x * t.y;
            if (x > 0.5) { for (int j = 0; j < i; j++) { o += w[j] * x; } }
        }";
    let gradient = gradient(source, GradientRequest::new().by_buffers());
    let program = gradient.program();
    let mut instance = Instance::new(program);
    instance
        .set_buffer("w", vec![0.3_f32, 2.0, 0.5, 0.25])
        .unwrap();
    instance.set_buffer("table", vec![0.1_f32; 14]).unwrap();
    let x: Vec<f32> = (0..POINTS).map(|i| (i as f32 * 0.377).fract()).collect();
    let seeds: Vec<f32> = (0..POINTS)
        .map(|i| 1e-6 * (i as f32 * 0.11).sin())
        .collect();
    let mut planes = BatchGlobals::new(program.globals());
    planes.plane("x", Part::Value, 0, &x, 1).unwrap();
    planes.plane("d(o)", Part::Value, 0, &seeds, 1).unwrap();
    let bits = |sums: Vec<f64>| sums.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    let mut expected: Option<[Vec<u64>; 2]> = None;
    let mut check = |name: &str, found: [Vec<f64>; 2]| {
        assert!(found.iter().all(|sums| sums.iter().any(|&sum| sum != 0.0)));
        let found = found.map(bits);
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{name}");
    };
    for engine in [Engine::Reference, Engine::Point] {
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        for point in (0..POINTS).rev() {
            let values = [("x", x[point]), ("d(o)", seeds[point])];
            evaluator.evaluate(&globals(program, &values), &mut NoTextures);
        }
        let sums = evaluator.take_gradients();
        check(
            &format!("{engine:?}"),
            ["w", "table"].map(|name| sums.of(name).unwrap()),
        );
    }
    let tiers = [Tier::Interpreter, Tier::Native, Tier::Auto];
    for tier in tiers.into_iter().filter(|tier| tier.is_available()) {
        for simd in SimdLevel::available() {
            for (width, threads) in [(64, 1), (512, 2), (7, 8)] {
                let setup = BatchSetup {
                    tier,
                    width: Some(width),
                    simd: Some(simd),
                    tier_up: TierUp {
                        when: CompileWhen::AtOnce,
                        after: 0,
                    },
                    ..BatchSetup::default()
                };
                if BatchEvaluator::with(&instance, &setup).is_err() {
                    continue;
                }
                let whole = WholeBatch::new(&instance).setup(setup).threads(threads);
                let name = format!("{tier:?} {simd} {width} {threads}");
                let (sums, report) = whole.sums(&planes, 0..POINTS, &[], || NoTextures).unwrap();
                assert_eq!(report.stopped, 0);
                check(&name, ["w", "table"].map(|of| sums.buffer(of).unwrap()));
                // The same in two shards.
                let part = |points| whole.sums(&planes, points, &[], || NoTextures).unwrap().0;
                let mut shards = part(1234..POINTS);
                shards.join(part(0..1234)).unwrap();
                check(&name, ["w", "table"].map(|of| shards.buffer(of).unwrap()));
            }
        }
    }
}

/// The mean of a loss of 1e-6 over a million points keeps every bit of an `f32`.
#[test]
fn small_means_keep_their_bits() {
    const POINTS: usize = 1_000_000;
    let gradient = gradient(
        "buffer<float> w; shader s(out float o) { o = w[0] * w[0]; }",
        GradientRequest::new().by_buffer("w"),
    );
    let mut instance = Instance::new(gradient.program());
    let weight = 0.7_f32;
    instance.set_buffer("w", vec![weight]).unwrap();
    let seed = 1e-6_f32 / POINTS as f32;
    let mut planes = BatchGlobals::new(gradient.program().globals());
    planes.uniform_part("d(o)", Part::Value, seed).unwrap();
    let whole = WholeBatch::new(&instance).threads(2);
    let (sums, _) = whole.sums(&planes, 0..POINTS, &[], || NoTextures).unwrap();
    let found = sums.buffer("w").unwrap()[0];
    let each = weight * seed;
    assert_eq!(found, POINTS as f64 * 2.0 * f64::from(each));
}

#[test]
fn sums_that_are_not_finite_are_reported() {
    let source = "buffer<float> w; shader s(out float o) {
        int i = (int)global_value<x>; o = w[i] * w[i + 2]; }";
    let gradient = gradient(source, GradientRequest::new().by_buffer("w"));
    let mut instance = Instance::new(gradient.program());
    instance
        .set_buffer("w", vec![4.0_f32, 1.0, 0.5, 1e30])
        .unwrap();
    let x = [0.0, 0.0, 1.0, 0.0];
    let mut planes = BatchGlobals::new(gradient.program().globals());
    planes.plane("x", Part::Value, 0, &x, 1).unwrap();
    planes.uniform_part("d(o)", Part::Value, 1e10_f32).unwrap();
    let whole = WholeBatch::new(&instance);
    let (sums, report) = whole.sums(&planes, 0..4, &[], || NoTextures).unwrap();
    let expected = [1.5e10, f64::INFINITY, 12e10, f64::from(1e10_f32)];
    let near = |(found, expected): (&f64, f64)| {
        (found / expected - 1.0).abs() < 1e-6 || *found == expected
    };
    let found = sums.buffer("w").unwrap();
    assert!(found.iter().zip(expected).all(near), "{found:?}");
    let (point, fault) = report.first_fault().expect("a product overflows");
    assert_eq!(
        (point, fault.kind, report.faulty),
        (2, FaultKind::SumNotFinite, 1)
    );
}

#[test]
fn requests_of_no_such_buffer_are_refused() {
    let refused = |source: &str, request: GradientRequest| {
        let no = program(source).gradient(&request).unwrap_err();
        no.diagnostics[0].message.clone()
    };
    let source = "buffer<int> n; buffer<float> w; shader s(out float o) { o = w[n[0]]; }";
    assert_eq!(
        refused(source, GradientRequest::new().by_buffer("v")),
        "there is no buffer `v`"
    );
    assert_eq!(
        refused(source, GradientRequest::new().by_buffer("n")),
        "the buffer `n` is of type `int`, which has no float and so no gradient"
    );
    let loss = gradient(
        "buffer<float> w; shader s(out float o) { o = (int)w[0] * 2.0 + hash11(w[1]); }",
        GradientRequest::new().by_buffer("w"),
    );
    assert!(loss.ends().len() == 2 && loss.parameters()[0].is_zero);
}

/// A custom derivative has no gradient by what its function reads of a buffer.
#[test]
fn custom_derivatives_lose_buffers() {
    let source = "
        buffer<float> w;
        [BackwardDerivative(back)] float scaled(float x) { return w[0] * x; }
        void back(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 3 * d); }
        shader s(float a = 2, out float o) { o = scaled(a) + w[1]; }";
    let found = gradient(source, GradientRequest::new().by_buffers().by_inputs());
    assert_eq!(found.ends().len(), 1, "{:?}", found.ends());
    let mut instance = Instance::new(found.program());
    instance.set_buffer("w", vec![5.0_f32, 7.0]).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals(found.program(), &[("d(o)", 1.0)]), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("d(a)"), Ok(3.0));
    assert_eq!(evaluator.take_gradients().of("w").unwrap(), [0.0, 1.0]);
}

/// In derivatives that a shader takes itself buffers are constants; a host's go through these.
#[test]
fn derivatives_within_shaders_are_differentiated_by_buffers() {
    let source = "
        buffer<float> w;
        [Differentiable] float cube(float x) { return w[0] * x * x * x; }
        shader s(float a = 2, out float o) {
            DifferentialPair<float> x = diffPair(a);
            bwd_diff(cube)(x, 1.0);
            o = x.d * w[1];
        }";
    let found = gradient(source, GradientRequest::new().by_buffers().by_inputs());
    let mut instance = Instance::new(found.program());
    instance.set_buffer("w", vec![0.5_f32, 3.0]).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals(found.program(), &[("d(o)", 1.0)]), &mut NoTextures);
    // o = 3·w0·a²·w1
    assert_eq!(evaluator.get::<f32>("o"), Ok(18.0));
    assert_eq!(evaluator.get::<f32>("d(a)"), Ok(6.0 * 0.5 * 2.0 * 3.0));
    assert_eq!(evaluator.take_gradients().of("w").unwrap(), [36.0, 6.0]);
    // The gradient of the gradient adds what it does, once.
    let again = found
        .program()
        .gradient(&GradientRequest::new().of("d(a)").by_input("a"));
    let again = again.unwrap_or_else(|no| panic!("{no}"));
    let mut instance = Instance::new(again.program());
    instance.set_buffer("w", vec![0.5_f32, 3.0]).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let values = [("d(o)", 1.0), ("d2(d(a))", 1.0)];
    evaluator.evaluate(&globals(again.program(), &values), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("d2(a)"), Ok(6.0 * 0.5 * 3.0));
    assert_eq!(evaluator.take_gradients().of("w").unwrap(), [36.0, 6.0]);
}

/// Units of a group share the buffers that have one name, if the elements are of one type.
#[test]
fn units_share_buffers() {
    let group = |second: &str| {
        let first = "buffer<float> w; shader a(out float o) { o = w[0]; }";
        let mut group = Group::new();
        group.unit("first", &Sources::new("a.adu", first), None);
        group.unit("second", &Sources::new("b.adu", second), None);
        group.expose_output("o", ("first", "o"));
        group.expose_output("p", ("second", "p"));
        Compiler::new(GlobalsLayout::hit()).compile_group(&group)
    };
    let program = group("buffer<float> w; shader b(out float p) { p = 3 * w[1]; }").unwrap();
    let gradient = program
        .gradient(&GradientRequest::new().by_buffers())
        .unwrap();
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", vec![2.0_f32, 5.0]).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    let seeds = [("d(o)", 1.0), ("d(p)", 10.0)];
    evaluator.evaluate(&globals(gradient.program(), &seeds), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("p"), Ok(15.0));
    assert_eq!(evaluator.take_gradients().of("w").unwrap(), [1.0, 30.0]);
    let refused = group("buffer<int> w; shader b(out float p) { p = w[1]; }").unwrap_err();
    assert_eq!(
        refused.diagnostics[0].message,
        "the buffer `w` of the group has elements of two types"
    );
}

/// A million parameters have a gradient; more than can be summed are refused.
#[test]
fn buffers_have_limits() {
    const MANY: usize = 1 << 20;
    let source = "buffer<float> w; shader s(out float o) {
        int i = (int)global_value<x>; o = w[i] * w[w.length() - 1 - i]; }";
    let gradient = gradient(source, GradientRequest::new().by_buffer("w"));
    let mut instance = Instance::new(gradient.program());
    let weights: Arc<[f32]> = (0..MANY).map(|at| at as f32).collect();
    instance.set_buffer("w", weights).unwrap();
    let x: Vec<f32> = (0..1000).map(|at| (at * 1000) as f32).collect();
    let mut planes = BatchGlobals::new(gradient.program().globals());
    planes.plane("x", Part::Value, 0, &x, 1).unwrap();
    planes.uniform_part("d(o)", Part::Value, 1.0_f32).unwrap();
    let whole = WholeBatch::new(&instance).threads(2);
    let (sums, _) = whole.sums(&planes, 0..1000, &[], || NoTextures).unwrap();
    let found = sums.buffer("w").unwrap();
    assert_eq!(found.len(), MANY);
    let touched: Vec<usize> = (0..MANY).filter(|&at| found[at] != 0.0).collect();
    assert_eq!(
        touched.len(),
        2 * 1000 - 1,
        "w[0] has a product of 0 with it"
    );
    assert_eq!(found[5000], (MANY - 1 - 5000) as f64);
    let error = instance.set_buffer("w", vec![0.0_f32; MAX_SUM_NUMBERS + 1]);
    assert_eq!(
        error.unwrap_err().to_string(),
        format!(
            "`w` can have {MAX_SUM_NUMBERS} numbers, not {}",
            MAX_SUM_NUMBERS + 1
        )
    );
    let mut plain = Instance::new(&program(
        "buffer<float> w; shader s(out float o) { o = w[0]; }",
    ));
    plain
        .set_buffer("w", vec![0.0_f32; MAX_SUM_NUMBERS + 1])
        .unwrap();
    assert!(plain.buffer("w").unwrap().len() < MAX_BUFFER_NUMBERS);
}
