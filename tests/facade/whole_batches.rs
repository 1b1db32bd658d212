//! Whole batches: planes and sums that do not depend on how points are divided.

use adumbra::batch::{
    BatchError, BatchEvaluator, BatchGlobals, BatchReport, BatchSetup, JoinError, OutputPlane,
    OutputSums, Part, PlaneSums, Tier, WholeBatch,
};
use adumbra::gradient::GradientRequest;
use adumbra::host::{FaultKind, MessageId};
use adumbra::{
    Compiler, GlobalsLayout, Host, Instance, NoTextures, Program, SampleRequest, Sampled, Sources,
    Type,
};
use proptest::prelude::*;
use std::sync::{Arc, Barrier, Mutex};

fn program(source: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", source);
    Compiler::new(layout)
        .compile(&sources)
        .unwrap_or_else(|no| panic!("{no}"))
}

/// Bits of sums, and what is wrong with their points.
fn bits(sums: &PlaneSums) -> (Vec<u64>, String) {
    let totals = sums.totals().into_iter().map(f64::to_bits);
    (totals.collect(), format!("{:?}", sums.faults()))
}

proptest! {
    #[test]
    fn sums_do_not_depend_on_shards(
        values in prop::collection::vec((-1.0_f32..1.0, -30_i32..60), 1..1500),
        first in 0_u64..300,
        cuts in prop::collection::vec((0_usize..1500, 0_usize..3), 0..12),
    ) {
        // Some numbers are so small beside others that they vanish.
        let plane: Vec<f32> = values.iter().map(|&(x, e)| x * 2.0_f32.powi(e)).collect();
        let other: Vec<f32> = plane.iter().rev().copied().collect();
        let mut whole = PlaneSums::new(2);
        whole.add(first, &[&plane, &other]);

        let mut cuts: Vec<(usize, usize)> = cuts.into_iter().filter(|(at, _)| *at < plane.len()).collect();
        cuts.push((0, 0));
        cuts.sort_unstable();
        let mut shards: Vec<PlaneSums> = (0..3).map(|_| PlaneSums::new(2)).collect();
        let ends = cuts.iter().skip(1).map(|(at, _)| *at).chain([plane.len()]);
        for (&(start, shard), end) in cuts.iter().zip(ends) {
            shards[shard].add(first + start as u64, &[&plane[start..end], &other[start..end]]);
        }
        let mut joined = shards.pop().unwrap();
        for shard in shards {
            joined.join(shard).unwrap();
        }
        prop_assert_eq!(bits(&joined), bits(&whole));
        let exact: f64 = plane.iter().map(|&x| f64::from(x)).sum();
        let scale: f64 = plane.iter().map(|&x| f64::from(x.abs())).sum();
        prop_assert!((joined.totals()[0] - exact).abs() <= 1e-13 * scale);
    }
}

#[test]
fn points_that_spoil_sums_are_reported() {
    let mut plane = vec![1.0_f32; 1000];
    let sums = |plane: &[f32]| {
        let mut sums = PlaneSums::new(2);
        sums.add(5000, &[&vec![2.0; plane.len()], plane]);
        sums.faults()
    };
    assert!(sums(&plane).is_empty());
    plane[77] = f32::NAN;
    plane[900] = f32::INFINITY;
    let fault = sums(&plane).not_finite.unwrap();
    assert_eq!((fault.plane, fault.point, fault.count), (1, 5077, 2));
    plane.fill(0.0);
    assert!(sums(&plane).is_empty());
    plane[3] = 1e20;
    plane[300] = 1e5;
    assert_eq!(
        sums(&plane).vanished,
        None,
        "15 digits apart is near enough"
    );
    plane[300] = 1e2;
    let fault = sums(&plane).vanished.unwrap();
    assert_eq!((fault.plane, fault.count), (1, 1));
    assert!(fault.point <= 5300 && 5300 < fault.point + 1024);
    plane[4] = 1e2;
    assert_eq!(sums(&plane).vanished.unwrap().point, 5004);
    plane.fill(0.0);
    (plane[3], plane[4]) = (1e-26, 1e-45);
    assert_eq!(
        sums(&plane).vanished.unwrap().point,
        5004,
        "a denormal number"
    );
}

#[test]
fn leaf_sums_are_sums_of_halves() {
    // The definition, one number after the other: the sum, numbers that vanish, the first of them.
    fn expected(values: &[f32]) -> (f64, u64, Option<u64>) {
        let numbered = values.iter().enumerate();
        let mut sums: Vec<(f64, Option<u64>)> = numbered
            .map(|(at, &value)| (f64::from(value), (value != 0.0).then_some(at as u64)))
            .collect();
        let mut vanished = Vec::new();
        while sums.len() > 1 {
            let right = sums.split_off(sums.len() / 2);
            for (left, right) in sums.iter_mut().zip(right) {
                let sum = left.0 + right.0;
                if sum == left.0 && right.0 != 0.0 {
                    vanished.extend(right.1);
                } else if sum == right.0 && left.0 != 0.0 {
                    vanished.extend(left.1);
                }
                let first = [left.1, right.1].into_iter().flatten().min();
                *left = (sum, first);
            }
        }
        let first = vanished.iter().copied().min();
        (sums[0].0, vanished.len() as u64, first)
    }
    let mut random = fastrand::Rng::with_seed(7);
    let mut leaves_that_vanish = 0;
    for apart in (0..2000).map(|round| round % 60) {
        // Powers of two so far apart, now and then denormal, with and without zeros.
        let lowest = random.u32(0..256 - apart);
        let zeros = random.u32(0..64);
        let values: Vec<f32> = (0..64)
            .map(|_| {
                let exponent = if random.bool() {
                    lowest
                } else {
                    lowest + apart
                };
                let mantissa = if random.bool() {
                    random.u32(..) >> 9
                } else {
                    0
                };
                let bits = u32::from(random.bool()) << 31 | exponent.min(254) << 23 | mantissa;
                let is_zero = random.u32(0..64) < zeros;
                f32::from_bits(if is_zero { bits & 1 << 31 } else { bits })
            })
            .collect();
        let mut sums = PlaneSums::new(1);
        sums.add(0, &[&values]);
        let (total, count, first) = expected(&values);
        assert_eq!(sums.totals()[0].to_bits(), total.to_bits(), "{values:?}");
        let found = sums.faults();
        assert_eq!(found.not_finite, None);
        let found = found.vanished.map(|fault| (fault.count, fault.point));
        assert_eq!(found, first.map(|point| (count, point)), "{values:?}");
        leaves_that_vanish += usize::from(found.is_some());
    }
    assert!(
        (200..1500).contains(&leaves_that_vanish),
        "{leaves_that_vanish}"
    );
}

#[test]
fn nodes_of_many_planes_are_those_of_one() {
    // Planes in which a leaf vanishes beside the other one, or does not.
    let planes: Vec<Vec<f32>> = (0..19_u64)
        .map(|plane| {
            let (left, right) = match plane % 4 {
                0 => (1e20, 1.0),
                1 => (1.0, 1e20),
                2 => (1e20, 0.0),
                _ => (plane as f32, 1e-5),
            };
            [vec![left; 64], vec![right; 64]].concat()
        })
        .collect();
    let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
    let mut whole = PlaneSums::new(planes.len());
    whole.add(0, &slices);
    let mut count = 0;
    for (plane, values) in slices.iter().enumerate() {
        let mut alone = PlaneSums::new(1);
        alone.add(0, &[values]);
        assert_eq!(alone.totals()[0].to_bits(), whole.totals()[plane].to_bits());
        let expected = [Some(64), Some(0), None, None][plane % 4];
        assert_eq!(alone.faults().vanished.map(|fault| fault.point), expected);
        count += u64::from(expected.is_some());
    }
    let fault = whole.faults().vanished.unwrap();
    assert_eq!((fault.plane, fault.point, fault.count), (1, 0, count));
}

#[test]
fn shards_of_one_point_are_not_joined() {
    let shard = |first: u64, count: usize| {
        let mut sums = PlaneSums::new(1);
        sums.add(first, &[&vec![1.0; count]]);
        sums
    };
    for (one, other, point) in [
        (shard(0, 640), shard(576, 64), 576),
        (shard(0, 100), shard(99, 2), 99),
        (shard(10, 20), shard(0, 64), 10),
        (shard(64, 64), shard(0, 256), 64),
    ] {
        let before = bits(&one);
        let mut both = one.clone();
        assert_eq!(both.join(other.clone()), Err(JoinError::Twice(point)));
        assert_eq!(bits(&both), before);
        let mut both = other;
        assert_eq!(both.join(one), Err(JoinError::Twice(point)));
    }
    let mut both = shard(0, 100);
    both.join(shard(100, 28)).unwrap();
    assert_eq!(both.totals(), [128.0]);
    assert_eq!(both.join(PlaneSums::new(2)), Err(JoinError::Planes(1, 2)));
    assert_eq!(PlaneSums::new(3).totals(), [0.0; 3]);
}

#[test]
fn gradients_are_summed_alike_by_all() {
    let source = "
        float f(float a, float y) { float s = 1; for (int i = 0; i < 5; i++) { if (s > 40) break; s = s * a + sin(y * s); } return s; }
        shader s(float a = 1.1, float2 b = float2(0.25, 3), out float o) { o = f(a, global_value<x>) * b.x - b.y; }";
    let gradient = program(source).gradient(&GradientRequest::new()).unwrap();
    let program = gradient.program();
    let x: Vec<f32> = (0..50_000).map(|at| (at as f32).sin() * 3.0).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals.uniform_part("d(o)", Part::Value, 2e-5_f32).unwrap();
    let outputs = ["o", "d(a)", "d(b)"];
    let sums = |tier: Tier, width: usize, threads: usize, points: std::ops::Range<usize>| {
        let setup = BatchSetup {
            tier,
            width: Some(width),
            ..BatchSetup::default()
        };
        let batch = WholeBatch::new(&Instance::new(program))
            .setup(setup)
            .threads(threads);
        batch
            .sums(&globals, points, &outputs, || NoTextures)
            .unwrap()
            .0
    };
    let expected = bits(sums(Tier::Interpreter, 512, 1, 0..x.len()).planes());
    let tiers = [Tier::Interpreter, Tier::Native].into_iter();
    for tier in tiers.filter(|tier| tier.is_available()) {
        for (width, threads) in [(64, 1), (64, 2), (512, 8), (100, 3)] {
            let found = sums(tier, width, threads, 0..x.len());
            assert_eq!(bits(found.planes()), expected, "{tier:?} {width} {threads}");
        }
    }
    let mut shards = sums(Tier::Interpreter, 64, 2, 12_345..x.len());
    shards
        .join(sums(Tier::Interpreter, 512, 1, 0..12_345))
        .unwrap();
    assert_eq!(bits(shards.planes()), expected);
    let by_b = shards.total("d(b)").unwrap();
    assert!((by_b[1] + 1.0).abs() < 1e-7, "{by_b:?}");
    assert_eq!(shards.output_of(3), Some(("d(b)", 1)));
    assert_eq!(shards.output_of(4), None);
    assert!(shards.total("d(c)").is_err());
    assert!(sums(Tier::Interpreter, 64, 1, 0..0).total("o").unwrap() == [0.0]);
}

/// A mean over a million points keeps 20 bits of what each point adds.
#[test]
fn means_of_a_million_points_keep_their_bits() {
    let plane: Vec<f32> = (0..1_000_000)
        .map(|at| 1e-6 * (1.0 + (at % 3) as f32))
        .collect();
    let mut sums = PlaneSums::new(1);
    for (at, chunk) in plane.chunks(512).enumerate() {
        sums.add(512 * at as u64, &[chunk]);
    }
    let exact: f64 = plane.iter().map(|&x| f64::from(x)).sum();
    assert!((sums.totals()[0] / exact - 1.0).abs() < 1e-12);
}

#[test]
fn planes_are_those_of_points() {
    let source = "shader s(float a = 3, out float2 p, out int n) {
        p = float2(a, global_value<x>); n = (int)global_value<x>; }";
    let program = program(source);
    let x: Vec<f32> = (0..20_000).map(|at| at as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let batch = WholeBatch::new(&Instance::new(&program)).threads(3);
    let (mut pairs, mut numbers) = (vec![-1.0_f32; 2 * 15_000], vec![0_i32; 15_000]);
    let (_, second) = pairs.split_at_mut(1);
    let planes = &mut [
        OutputPlane::new("p", Part::Value, 1, second, 2),
        OutputPlane::new("n", Part::Value, 0, &mut numbers, 1),
    ];
    let (_, report) = batch
        .planes(&globals, 5_000..20_000, planes, || NoTextures)
        .unwrap();
    assert_eq!((report.stopped, report.faulty), (0, 0));
    for at in 0..15_000 {
        let x = (5_000 + at) as f32;
        assert_eq!(
            (pairs[2 * at], pairs[2 * at + 1], numbers[at]),
            (-1.0, x, x as i32)
        );
    }
}

#[test]
fn interleaved_planes_have_all_scalars_of_an_output() {
    let program = program(
        "struct hit { float2 at; int n; }; shader s(out hit h, out float3 c) {
            float x = global_value<x>; h.at = float2(x, -x); h.n = (int)x; c = float3(x, 1, 2 * x); }",
    );
    let x: Vec<f32> = (0..20_000).map(|at| at as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let batch = WholeBatch::new(&Instance::new(&program)).threads(3);
    let (mut at, mut c) = (vec![[0.0_f32; 2]; 15_000], vec![[0.0_f32; 3]; 15_000]);
    let planes = &mut [
        OutputPlane::interleaved("h.at", Part::Value, at.as_flattened_mut()),
        OutputPlane::interleaved("c", Part::Value, c.as_flattened_mut()),
    ];
    let sums = batch.planes_and_sums(&globals, 5_000..20_000, planes, &["c"], || NoTextures);
    for (number, (at, c)) in at.iter().zip(&c).enumerate() {
        let x = (5_000 + number) as f32;
        assert_eq!((*at, *c), ([x, -x], [x, 1.0, 2.0 * x]));
    }
    let whole: f64 = (5_000..20_000).map(f64::from).sum();
    assert_eq!(
        sums.unwrap().0.total("c").unwrap(),
        [whole, 15_000.0, 2.0 * whole]
    );

    let mut short = vec![0.0_f32; 29];
    let planes = &mut [OutputPlane::interleaved("h.at", Part::Value, &mut short)];
    let refused = batch.planes(&globals, 0..15, planes, || NoTextures);
    let refused = refused.unwrap_err().to_string();
    assert_eq!(
        refused,
        "the plane of the output `h.at` has 29 words, and the points need 30"
    );
}

#[test]
fn faults_are_counted_each_with_its_first_point() {
    let program = program(
        "shader s(out int o) { int n = (int)global_value<x>; int a[2];
            if (n % 3 == 0) { o += a[n]; }
            if (n % 2 == 0) { o += 1 / (n - n); } }",
    );
    let x: Vec<f32> = (0..30_000).map(|at| (30_001 - at) as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    for threads in [1, 3] {
        let batch = WholeBatch::new(&Instance::new(&program)).threads(threads);
        let (_, report) = batch
            .planes(&globals, 0..30_000, &mut [], || NoTextures)
            .unwrap();
        let found = report.faults.iter();
        let found: Vec<_> = found
            .map(|tally| (tally.fault.kind, tally.points, tally.first))
            .collect();
        let expected = [
            (FaultKind::IndexOutOfRange, 10_000, 1),
            (FaultKind::DivisionByZero, 15_000, 1),
        ];
        assert_eq!((found.as_slice(), report.faulty), (&expected[..], 20_000));
        assert_eq!(report.first_fault(), Some((1, report.faults[0].fault)));
    }
}

#[test]
fn evaluators_that_are_kept_add_to_sums_anew() {
    let program = program("buffer<float> w; shader s(out float o) { o = w[0] * global_value<x>; }");
    let gradient = program
        .gradient(&GradientRequest::new().by_buffer("w"))
        .unwrap();
    let mut globals = BatchGlobals::new(gradient.program().globals());
    globals
        .plane("x", Part::Value, 0, &[1.0_f32, 2.0, 4.0], 1)
        .unwrap();
    globals.uniform_part("d(o)", Part::Value, 1.0_f32).unwrap();
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", vec![3.0_f32]).unwrap();
    let batch = WholeBatch::new(&instance);
    for _ in 0..2 {
        let (sums, _) = batch.sums(&globals, 0..3, &["o"], || NoTextures).unwrap();
        assert_eq!(
            (sums.total("o").unwrap(), sums.buffer("w").unwrap()),
            (vec![21.0], vec![7.0])
        );
    }
}

#[test]
fn instances_share_evaluators_but_not_values() {
    let program = program(
        "buffer<float> w; shader s(float k, out float o) { o = k * w[0] * global_value<x>; }",
    );
    let mut globals = BatchGlobals::new(program.globals());
    globals
        .plane("x", Part::Value, 0, &[1.0_f32, 2.0], 1)
        .unwrap();
    let mut instance = Instance::new(&program);
    instance.set_buffer("w", vec![1.0_f32]).unwrap();
    instance.set("k", 1.0_f32).unwrap();
    let first = WholeBatch::new(&instance);
    let sum = |batch: &WholeBatch| {
        let sums = batch.sums(&globals, 0..2, &["o"], || NoTextures);
        sums.unwrap().0.total("o").unwrap()[0]
    };
    assert_eq!(sum(&first), 3.0);
    instance.set("k", 2.0_f32).unwrap();
    let second = first.with_instance(&instance);
    instance.set_buffer("w", vec![10.0_f32]).unwrap();
    let third = first.with_instance(&instance);
    assert_eq!(
        [sum(&third), sum(&second), sum(&first), sum(&third)],
        [60.0, 6.0, 3.0, 60.0]
    );
}

#[test]
fn planes_give_gradients_by_buffers() {
    /// Waits at its first sample until all threads have points.
    struct Together<'b>(Option<&'b Barrier>);
    impl Host for Together<'_> {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            if let Some(barrier) = self.0.take() {
                barrier.wait();
            }
            Sampled::Ready([1.0; 4])
        }
    }
    let program = program(
        "buffer<float> w; texture2d t; shader s(out float o) {
            float x = global_value<x>; o = w[(int)x % 3] * x * texture2d_sample<t>(0, 0).x; }",
    );
    let request = GradientRequest::new().by_buffer("w");
    let gradient = program.gradient(&request).unwrap();
    let x: Vec<f32> = (0..30_000).map(|at| (at % 1000) as f32).collect();
    let mut globals = BatchGlobals::new(gradient.program().globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let seed = globals.uniform_part("d(o)", Part::Value, 1.0_f32);
    seed.unwrap();
    let mut instance = Instance::new(gradient.program());
    instance.set_buffer("w", vec![1.0_f32, 2.0, 3.0]).unwrap();
    let mut expected = [0.0; 3];
    for x in &x {
        expected[*x as usize % 3] += f64::from(*x);
    }
    for threads in [1, 3] {
        let barrier = Barrier::new(threads);
        let host = || Together(Some(&barrier));
        let batch = WholeBatch::new(&instance).threads(threads);
        let mut o = vec![0.0_f32; x.len()];
        let planes = &mut [OutputPlane::new("o", Part::Value, 0, &mut o, 1)];
        let planes = batch.planes(&globals, 0..x.len(), planes, host);
        assert_eq!(planes.unwrap().0.of("w").unwrap(), expected, "{threads}");
        assert_eq!(o[7], 14.0);
        let sums = batch.sums(&globals, 0..x.len(), &[], host);
        assert_eq!(sums.unwrap().0.buffer("w").unwrap(), expected, "{threads}");
    }
}

#[test]
fn hosts_get_the_numbers_of_points() {
    /// Answers with the number of the point, and notes the numbers of messages.
    struct Numbers<'m>(usize, &'m Mutex<Vec<(usize, f32)>>);
    impl Host for Numbers<'_> {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            Sampled::Ready([self.0 as f32; 4])
        }
        fn at_point(&mut self, point: usize) {
            self.0 = point;
        }
        fn message(&mut self, _: MessageId, args: &[u32]) {
            let mut messages = self.1.lock().unwrap();
            messages.push((self.0, f32::from_bits(args[0])));
        }
    }
    /// Is asked for many points at once.
    struct Together;
    impl Host for Together {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            panic!("samples are answered together");
        }
        fn sample_batch(&mut self, points: &[usize], _: &[SampleRequest], answers: &mut [Sampled]) {
            for (answer, point) in answers.iter_mut().zip(points) {
                *answer = Sampled::Ready([*point as f32; 4]);
            }
        }
    }
    const POINTS: usize = 20_000;
    let program = program(
        r#"texture2d t; shader s(out float o) { float x = global_value<x>;
            o = texture2d_sample<t>(x, 0).x; if (x == 7 || x == 12345) printf("%f", x); }"#,
    );
    let x: Vec<f32> = (0..POINTS).map(|point| point as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let (first, skipped) = (1_000_000, 5);
    let expected: Vec<f32> = (first + skipped..first + POINTS)
        .map(|at| at as f32)
        .collect();
    let batch = WholeBatch::new(&Instance::new(&program));
    let batch = batch.threads(3).numbered_from(first as u64);
    let messages = Mutex::new(Vec::new());
    let mut o = vec![0.0_f32; POINTS - skipped];
    let planes = &mut [OutputPlane::new("o", Part::Value, 0, &mut o, 1)];
    let evaluated = batch.planes(&globals, skipped..POINTS, planes, || Numbers(0, &messages));
    evaluated.unwrap();
    assert!(o == expected);
    let mut messages = messages.into_inner().unwrap();
    messages.sort_by_key(|(point, _)| *point);
    assert_eq!(messages, [(first + 7, 7.0), (first + 12_345, 12_345.0)]);
    o.fill(0.0);
    let planes = &mut [OutputPlane::new("o", Part::Value, 0, &mut o, 1)];
    let evaluated = batch.planes(&globals, skipped..POINTS, planes, || Together);
    evaluated.unwrap();
    assert!(o == expected);
}

#[test]
fn leaves_come_in_the_order_of_points() {
    const POINTS: usize = 20_000;
    let program = program(
        "shader s(out closure c, out float o) {
            float x = global_value<x>;
            o = x;
            if (x % 3 == 0) c = 0.5 * make_closure<one>(x, float2(1, x));
            if (x % 5 == 0) c = c + color(1, x, 0) * (make_closure<two>((int)x) + c);
            for (int i = 0; i < x % 4; i++) c += make_closure<one>(-x, float2(i, 2)); }",
    );
    let x: Vec<f32> = (0..POINTS).map(|point| (point % 1000) as f32).collect();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let instance = Instance::new(&program);

    let mut evaluator = BatchEvaluator::new(&instance).unwrap();
    let slot = program.closure_slot("c").unwrap();
    let kinds = program.closures().len();
    /// Points, weights and arguments of a kind.
    type Leaves = (Vec<u64>, Vec<[f32; 3]>, Vec<u32>);
    let mut expected: Vec<Leaves> = vec![Leaves::default(); kinds];
    let mut weights = Vec::new();
    for first in (0..POINTS).step_by(evaluator.width()) {
        let points = evaluator.width().min(POINTS - first);
        evaluator.evaluate(&globals, first, points, &mut NoTextures);
        for point in 0..points {
            for (weight, leaf) in evaluator.closure(slot, point).leaves(&mut weights) {
                let (points, weights, words) = &mut expected[leaf.shape()];
                points.push((500 + first + point) as u64);
                weights.push(weight);
                words.extend(leaf.words());
            }
        }
    }
    assert!(expected.iter().all(|(points, ..)| points.len() > 1000));
    for threads in [1, 3] {
        let batch = WholeBatch::new(&instance)
            .threads(threads)
            .numbered_from(500);
        let found = batch.closures(&globals, 0..POINTS, "c", || NoTextures);
        let (found, report) = found.unwrap();
        assert_eq!(report, BatchReport::default());
        for (kind, (points, weights, words)) in found.iter().zip(&expected) {
            assert!(
                kind.points() == points && kind.arguments() == words,
                "{threads}"
            );
            assert!(kind.weights() == weights, "{threads}");
            assert_eq!(kind.arguments().len(), kind.width() * kind.len());
        }
        let part = batch.closures(&globals, 30..30, "c", || NoTextures);
        assert!(
            part.unwrap()
                .0
                .iter()
                .all(|kind| kind.is_empty() && kind.width() > 0)
        );
    }

    let batch = WholeBatch::new(&instance);
    let no = batch
        .closures(&globals, 0..1, "d", || NoTextures)
        .unwrap_err();
    assert!(matches!(no, BatchError::Access(_)), "{no}");
    let no = batch
        .closures(&globals, 0..1, "o", || NoTextures)
        .unwrap_err();
    assert!(matches!(no, BatchError::Access(_)), "{no}");
    let nested = self::program(
        "shader s(out closure c) { c = make_closure<coat>(global_value<x>, make_closure<one>()); }",
    );
    let globals = BatchGlobals::new(nested.globals());
    let batch = WholeBatch::new(&Instance::new(&nested));
    let no = batch
        .closures(&globals, 0..1, "c", || NoTextures)
        .unwrap_err();
    assert_eq!(no, BatchError::NestedClosure("coat".to_owned()));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let program = program(
        "shader s(out float o, out float p, out int n) { o = 1 / (int)global_value<x>; p = o; n = 1; }",
    );
    let x = [0.0_f32; 10];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let batch = WholeBatch::new(&Instance::new(&program)).threads(0);
    let refused = |points: usize, plane: &mut OutputPlane<'_>| {
        let planes = std::slice::from_mut(plane);
        batch
            .planes(&globals, 0..points, planes, || NoTextures)
            .unwrap_err()
            .to_string()
    };
    let mut words = [0.0_f32; 10];
    let no = refused(
        11,
        &mut OutputPlane::new("o", Part::Value, 0, &mut [0.0_f32; 20], 1),
    );
    assert_eq!(
        no,
        "the plane of the global `x` has 10 words, and the points need 11"
    );
    let no = refused(
        10,
        &mut OutputPlane::new("o", Part::Value, 0, &mut words[..9], 1),
    );
    assert_eq!(
        no,
        "the plane of the output `o` has 9 words, and the points need 10"
    );
    let no = refused(
        10,
        &mut OutputPlane::new("o", Part::Value, 0, &mut words, 0),
    );
    assert_eq!(no, "the plane of the output `o` has the stride 0");
    let no = refused(
        10,
        &mut OutputPlane::new("oo", Part::Value, 0, &mut words, 1),
    );
    assert_eq!(no, "there is no `oo`; did you mean `o`?");
    let no = refused(10, &mut OutputPlane::new("o", Part::Ddx, 0, &mut words, 1));
    assert!(no.contains("output_derivatives"), "{no}");
    let far = batch.clone().numbered_from(u64::MAX);
    let far = far
        .sums(&globals, 0..10, &["o"], || NoTextures)
        .unwrap_err();
    assert_eq!(far, BatchError::Numbers);
    // One point needs no stride.
    let mut one = [0_i32; 1];
    let planes = &mut [OutputPlane::new("n", Part::Value, 0, &mut one, 0)];
    batch.planes(&globals, 0..1, planes, || NoTextures).unwrap();
    assert_eq!(one, [1]);
    let mut sums_of_o = OutputSums::new(&program, &["o"]).unwrap();
    let of_p = OutputSums::new(&program, &["p"]).unwrap();
    assert_eq!(sums_of_o.join(of_p), Err(JoinError::Outputs));
    let sums = batch.sums(&globals, 0..10, &["n"], || NoTextures);
    assert_eq!(sums.unwrap_err(), BatchError::NoFloats("n".to_owned()));
    assert!(
        OutputSums::new(&program, &["o"])
            .unwrap()
            .total("o")
            .unwrap()
            == [0.0]
    );
    let options = adumbra::Options {
        derivatives: adumbra::Derivatives::Quad(adumbra::derivatives::Quad::Fine),
        ..adumbra::Options::default()
    };
    let quads = Compiler::new(GlobalsLayout::new()).with_options(options);
    let quads = quads
        .compile(&Sources::new("q.adu", "shader q(out float o) { o = 1; }"))
        .unwrap();
    let globals_of_quads = BatchGlobals::new(quads.globals());
    let refused = WholeBatch::new(&Instance::new(&quads));
    let refused = refused.sums(&globals_of_quads, 0..4, &["o"], || NoTextures);
    assert_eq!(refused.unwrap_err(), BatchError::Quads);
    // Points with faults are counted.
    let (_, report) = batch.sums(&globals, 0..10, &["o"], || NoTextures).unwrap();
    assert_eq!((report.faulty, report.first_fault().unwrap().0), (10, 0));
}
