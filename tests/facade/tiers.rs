//! Programs tier up from the interpreter to machine code while they are evaluated, which no result
//! shows.
//!
//! The longer search is `cargo run --release -p adumbra-fuzz -- batch --auto --programs 1000000`.

use crate::counts::{AUTO_BATCHES, AUTO_QUADS};
use crate::output_bits::{output_bits, point_bits};
use adumbra::{
    Compiler, Evaluator, GlobalsLayout, Host, Instance, Limits, NoTextures, Outcome, Program,
    SampleRequest, Sampled, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, Part, SimdLevel, Tier, TierUp},
    evaluator::Engine,
};
use adumbra_fuzz::campaign::{run_batch, run_quads};
use adumbra_fuzz::oracle::batch::TierChoice;
use std::sync::{Arc, Barrier};
use std::thread;

const THREADS: usize = 8;

/// Points of a pass, in batches of [`WIDTH`].
const POINTS: usize = 1 << 11;
const WIDTH: usize = 128;

/// Whether there is machine code for this processor; says so if not.
fn is_there() -> bool {
    let is = Tier::Native.is_available();
    if !is {
        println!("skipped: there is no machine code for this processor");
    }
    is
}

fn compiled(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", text);
    Compiler::new(layout).compile(&sources).unwrap()
}

fn evaluator(program: &Arc<Program>, tier: Tier, tier_up: TierUp) -> BatchEvaluator {
    let setup = BatchSetup {
        width: Some(WIDTH),
        tier,
        tier_up,
        ..BatchSetup::default()
    };
    BatchEvaluator::with(&Instance::new(program), &setup).unwrap()
}

fn x() -> Vec<f32> {
    let at = |i: usize| (i % 64) as f32 * 0.0137 + (i / 64) as f32 * 0.0071;
    (0..POINTS).map(at).collect()
}

/// Runs all points; gives the bits that came out, and the tiers of the batches.
fn pass(evaluator: &mut BatchEvaluator, x: &[f32]) -> (Vec<u32>, Vec<Tier>) {
    let mut globals = BatchGlobals::new(evaluator.instance().program().globals());
    globals.plane("x", Part::Value, 0, x, 1).unwrap();
    globals.uniform_part("x", Part::Ddx, 1.0_f32).unwrap();
    let (mut bits, mut tiers) = (Vec::new(), Vec::new());
    for first in (0..x.len()).step_by(WIDTH) {
        evaluator.evaluate(&globals, first, WIDTH, &mut NoTextures);
        bits.extend((0..WIDTH).flat_map(|point| point_bits(evaluator, point)));
        tiers.push(evaluator.tier());
    }
    (bits, tiers)
}

/// Eight threads evaluate one program from its first point until code was compiled, taken, tried,
/// and kept or given up.
#[test]
fn every_batch_of_eight_threads_has_the_interpreters_bits() {
    if !is_there() {
        return;
    }
    let program = compiled(
        "shader s(out float o, out float s) {
            float x = global_value<x>, sum = 0;
            for (int i = 0; i < 40; ++i) { if (fract(x * 3.1 + float(i) * 0.37) < 0.5) continue; sum += sin(sum + x); if (sum > 3) break; }
            o = sum * exp(-x); s = ddx(o);
        }",
    );
    let x = x();
    let (expected, _) = pass(
        &mut evaluator(&program, Tier::Interpreter, TierUp::default()),
        &x,
    );
    let tier_up = TierUp {
        when: CompileWhen::Background,
        after: POINTS as u64,
    };
    let all_are_there = Barrier::new(THREADS);
    let rise = || {
        let mut evaluator = evaluator(&program, Tier::Auto, tier_up);
        all_are_there.wait();
        let mut all = Vec::new();
        let mut check = |evaluator: &mut BatchEvaluator| {
            let (found, tiers) = pass(evaluator, &x);
            assert!(found == expected, "{tiers:?}");
            all.extend(tiers);
        };
        // Code comes at whatever time, and in the end it is there.
        for _ in 0..4 {
            check(&mut evaluator);
        }
        evaluator.wait_for_code();
        for _ in 0..3 {
            check(&mut evaluator);
        }
        (all, evaluator.stats())
    };
    let ends = thread::scope(|scope| {
        let threads = [(); THREADS].map(|()| scope.spawn(rise));
        threads.map(|thread| thread.join().unwrap())
    });
    // A late thread may find that others have decided.
    for tier in [Tier::Interpreter, Tier::Native] {
        assert!(ends.iter().any(|(tiers, _)| tiers.contains(&tier)));
    }
    for (_, stats) in &ends {
        assert_eq!(
            stats.tier, ends[0].1.tier,
            "what one has measured holds for all"
        );
        let native = stats.native.unwrap();
        let is_faster = native.speedup.is_some_and(|speedup| speedup > 1.0);
        assert_eq!(stats.tier == Some(Tier::Native), is_faster, "{native:?}");
        assert_eq!((native.refused, native.panicked), (0, 0));
    }
}

#[test]
fn random_programs_that_rise_show_what_points_show() {
    if !is_there() {
        return;
    }
    let (report, failure) = run_batch(2_000_000, AUTO_BATCHES, TierChoice::Auto);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{report}");
    assert_eq!(report.mix.missing_coverage(), None);
    let (mix, failure) = run_quads(2_000_000, AUTO_QUADS, TierChoice::Auto);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{mix}");
}

/// Textures that are late; what they show says where they were asked for.
struct Late;

impl Host for Late {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

fn texel(request: &SampleRequest) -> [f32; 4] {
    [request.u, request.dudx, 0.25, 1.0]
}

/// Points that wait stay with the machine of their batch, or go on elsewhere, whichever machine
/// computes the next one.
#[test]
fn points_that_wait_are_answered_after_a_tier_up() {
    if !is_there() {
        return;
    }
    let program = compiled(
        "texture2d t;
         shader s(out color c) {
            float x = global_value<x>;
            float y = exp(x) * x;
            c = texture2d_sample<t>(y, x) * x + sin(y);
        }",
    );
    let tier_up = TierUp {
        when: CompileWhen::AtOnce,
        after: 0,
    };
    let x = x();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    globals.uniform_part("x", Part::Ddx, 1.0_f32).unwrap();
    // By the number of the batch: what came of points that were answered in it, and of one that
    // waited beyond the next batch.
    let shown = |tier: Tier| {
        let mut evaluator = evaluator(&program, tier, tier_up);
        let mut alone = Evaluator::with(&Instance::new(&program), Engine::Auto, Limits::default());
        let alone = alone.as_mut().unwrap();
        let mut parked = None;
        let (mut all, mut tiers) = (Vec::new(), Vec::new());
        for first in (0..POINTS).step_by(WIDTH) {
            evaluator.evaluate(&globals, first, WIDTH, &mut Late);
            tiers.push(evaluator.tier());
            assert_eq!(evaluator.suspended().count(), WIDTH);
            if let Some((point, request)) = parked.take() {
                let outcome = alone.resume(point, texel(&request), &mut Late);
                assert_eq!(outcome.unwrap(), Outcome::Finished);
                all.append(&mut output_bits(alone));
            }
            let waiting: Vec<_> = evaluator.suspended().map(|(at, r)| (at, *r)).collect();
            for (at, request) in &waiting[1..] {
                let outcome = evaluator.answer(*at, texel(request), &mut Late);
                assert_eq!(outcome, Outcome::Finished);
                all.append(&mut point_bits(&evaluator, *at));
            }
            let (at, request) = waiting[0];
            parked = Some((evaluator.park(at).unwrap(), request));
        }
        (all, tiers)
    };
    let (expected, _) = shown(Tier::Interpreter);
    let (found, tiers) = shown(Tier::Auto);
    assert!(tiers.contains(&Tier::Interpreter) && tiers.contains(&Tier::Native));
    assert!(found == expected);
}

/// The sizes of the groups in which requests come.
#[derive(Default)]
struct Groups(Vec<usize>);

impl Host for Groups {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.push(1);
        Sampled::Ready(texel(request))
    }

    fn sample_batch(&mut self, _: &[usize], requests: &[SampleRequest], answers: &mut [Sampled]) {
        self.0.push(requests.len());
        for (request, answer) in requests.iter().zip(answers) {
            *answer = Sampled::Ready(texel(request));
        }
    }
}

/// At a level without vectors batches are slower than single points, and there is no code for it.
#[test]
fn auto_without_vectors_runs_points_one_by_one() {
    let program = compiled(
        "texture2d t; shader s(out color c) { c = texture2d_sample<t>(global_value<x>, 0.5); }",
    );
    let x = x();
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let shown = |tier| {
        let setup = BatchSetup {
            width: Some(WIDTH),
            simd: Some(SimdLevel::Baseline),
            tier,
            ..BatchSetup::default()
        };
        let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup).unwrap();
        let mut groups = Groups::default();
        evaluator.evaluate(&globals, 0, WIDTH, &mut groups);
        let bits = (0..WIDTH).flat_map(|point| point_bits(&evaluator, point));
        (bits.collect::<Vec<_>>(), groups.0)
    };
    let (expected, groups) = shown(Tier::Interpreter);
    assert_eq!(groups, [WIDTH]);
    let (found, groups) = shown(Tier::Auto);
    assert_eq!(found, expected);
    // Elsewhere the baseline has vectors.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(groups, [1; WIDTH]);
    }
}
