//! Chunks of points: results, globals and setup.
//!
//! The longer search is `cargo run --release -p adumbra-fuzz -- batch --programs 1000000`.

use crate::counts::BATCHES;
use crate::output_bits::{output_bits, point_bits};
use adumbra::{
    Compiler, Derivatives, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Options, Outcome, Program, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part},
    derivatives::Quad,
    host::FaultKind,
};
use adumbra_fuzz::campaign::run_batch;
use adumbra_fuzz::oracle::batch::TierChoice;
use std::fmt::Write;
use std::sync::Arc;
use std::thread;

#[test]
fn batches_show_what_points_show() {
    let (report, failure) = run_batch(0, BATCHES, TierChoice::OneEngine);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{report}");
    assert_eq!(report.mix.missing_coverage(), None);
}

fn program(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let layout = layout
        .with("n", Type::Scalar(adumbra::Scalar::I32))
        .unwrap();
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    compiler.compile(&Sources::new("s.adu", text)).unwrap()
}

/// A loop that each point leaves at another time, a function, an array, a fault and a stop.
const DIVERGENT: &str = "
    float twice(float x) { return x < 3 ? x + x : x * sin(x); }
    shader s(out float o, out int turns) {
        float x = global_value<x>;
        int n = global_value<n>;
        float w[3] = { x, 2 * x, x * x };
        turns = 0;
        o = x;
        while (turns != n) { o = twice(o) * 0.5 + w[turns % 4] * 0.1; turns += 1; }
    }";

#[test]
fn a_chunk_in_each_thread_shows_what_points_show() {
    const POINTS: usize = 700;
    let program = program(DIVERGENT);
    let instance = Instance::new(&program);
    let limits = Limits {
        steps: 100,
        ..Limits::default()
    };
    let x: Vec<f32> = (0..POINTS).map(|i| i as f32 * 0.01 - 2.0).collect();
    // Every 50th point never ends.
    let n: Vec<i32> = (0..POINTS as i32)
        .map(|i| if i % 50 == 7 { -1 } else { i * 31 % 23 })
        .collect();
    let mut evaluator =
        Evaluator::with(&instance, adumbra::evaluator::Engine::Point, limits).unwrap();
    let mut point = Globals::new(program.globals());
    let alone: Vec<(Vec<u32>, usize, bool)> = (0..POINTS)
        .map(|i| {
            point.set("x", x[i], 1.0, 0.5).unwrap();
            point.set("n", n[i], 0, 0).unwrap();
            let stopped = evaluator.evaluate(&point, &mut NoTextures) == Outcome::Stopped;
            let faults = evaluator.faults().iter().count();
            (output_bits(&evaluator), faults, stopped)
        })
        .collect();
    assert_eq!(
        alone.iter().filter(|(.., stopped)| *stopped).count(),
        POINTS / 50
    );
    let together = || {
        let setup = BatchSetup {
            limits,
            ..BatchSetup::default()
        };
        let mut evaluator = BatchEvaluator::with(&instance, &setup).unwrap();
        let mut globals = BatchGlobals::new(program.globals());
        globals.plane("x", Part::Value, 0, &x, 1).unwrap();
        globals.uniform_part("x", Part::Ddx, 1.0_f32).unwrap();
        globals.uniform_part("x", Part::Ddy, 0.5_f32).unwrap();
        globals.plane("n", Part::Value, 0, &n, 1).unwrap();
        let mut shown = Vec::new();
        let width = evaluator.width();
        for first in (0..POINTS).step_by(width) {
            let points = width.min(POINTS - first);
            evaluator.evaluate(&globals, first, points, &mut NoTextures);
            for point in 0..points {
                let stopped = evaluator.outcomes()[point] == Outcome::Stopped;
                let faults = evaluator.faults(point);
                assert_eq!(
                    stopped,
                    faults
                        .stopped()
                        .is_some_and(|f| f.kind == FaultKind::StepBudget)
                );
                shown.push((
                    point_bits(&evaluator, point),
                    faults.iter().count(),
                    stopped,
                ));
            }
        }
        shown
    };
    thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(together));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn planes_are_read_and_written_with_any_stride() {
    let program = program(
        "shader s(out float2 o) { float x = global_value<x>; o = float2(x * x, global_value<n>); }",
    );
    let setup = BatchSetup {
        uniform: vec!["n".to_owned()],
        ..BatchSetup::default()
    };
    let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup).unwrap();
    let triples: Vec<[f32; 3]> = (0..100).map(|i| [9.0, i as f32, 9.0]).collect();
    let mut globals = BatchGlobals::new(program.globals());
    let column = &triples.as_flattened()[1..];
    globals.plane("x", Part::Value, 0, column, 3).unwrap();
    globals.uniform("n", 7, 0, 0).unwrap();
    globals.uniform_part("x", Part::Ddx, 0.5_f32).unwrap();
    evaluator.evaluate(&globals, 10, 90, &mut NoTextures);
    let mut pairs = vec![[0.0_f32; 2]; 90];
    for scalar in 0..2 {
        let to = &mut pairs.as_flattened_mut()[scalar..];
        evaluator.copy("o", Part::Value, scalar, to, 2).unwrap();
    }
    for (i, pair) in (10..).zip(&pairs) {
        assert_eq!(*pair, [(i * i) as f32, 7.0]);
    }
    let o = evaluator.get::<Dual<[f32; 2]>>("o", 5).unwrap();
    assert_eq!((o.ddx, o.ddy), ([15.0, 0.0], [0.0; 2]));
    let unknown = evaluator.copy("o", Part::Value, 2, &mut [0.0_f32; 90], 1);
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "`o` is of type `float2`, which has no scalar 2"
    );
    evaluator.evaluate(&globals, 0, 0, &mut NoTextures);
    assert!(evaluator.outcomes().is_empty());
}

#[test]
#[should_panic(expected = "a plane ends before the last point")]
fn a_plane_that_is_too_short_is_refused() {
    let program = program("shader s(out float o) { o = global_value<x>; }");
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let mut globals = BatchGlobals::new(program.globals());
    globals
        .plane("x", Part::Value, 0, &[1.0_f32; 9], 1)
        .unwrap();
    evaluator.evaluate(&globals, 0, 10, &mut NoTextures);
}

#[test]
fn no_points_are_nothing_to_do_wherever_they_begin() {
    let program = program("shader s(out float o) { o = global_value<x>; }");
    let x = [1.0_f32, 2.0, 3.0];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    for first in [0, 3, 4, usize::MAX] {
        evaluator.evaluate(&globals, 0, 3, &mut NoTextures);
        assert_eq!(evaluator.outcomes().len(), 3);
        evaluator.evaluate(&globals, first, 0, &mut NoTextures);
        assert!(evaluator.outcomes().is_empty());
        let copied = evaluator.copy("o", Part::Value, 0, &mut [0.0_f32; 0], 1);
        assert_eq!(copied, Ok(()));
    }
    let options = Options {
        derivatives: Derivatives::Quad(Quad::Fine),
        ..Options::default()
    };
    let compiler = Compiler::new(program.globals().clone()).with_options(options);
    let text = "shader s(out float o) { o = ddx(global_value<x>); }";
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    evaluator.evaluate_quads(&globals, usize::MAX, &[], &mut NoTextures);
    assert!(evaluator.outcomes().is_empty());
}

#[test]
#[should_panic(expected = "a plane ends before the last point")]
fn points_that_cannot_be_numbered_are_refused() {
    let program = program("shader s(out float o) { o = 1; }");
    let globals = BatchGlobals::new(program.globals());
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    evaluator.evaluate(&globals, usize::MAX, 2, &mut NoTextures);
}

#[test]
fn two_thousand_operations_take_less_than_a_megabyte() {
    let mut text =
        String::from("shader s(out float o) { float x = global_value<x>; float y = x;\n");
    for i in 0..500 {
        writeln!(text, " y = sin(y * {i}.5) + x / (y * y + 1.{i});").unwrap();
    }
    text.push_str("o = y; }");
    let program = program(&text);
    assert!(program.stats().bytecode_ops >= 2_000);
    let evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let memory = evaluator.memory();
    println!("{memory} bytes, {} points", evaluator.width());
    assert!(memory <= 1 << 20, "{memory}");
    assert_eq!(evaluator.width(), 512);
}

#[test]
fn programs_with_large_arrays_have_small_chunks() {
    let text = |n: u32| {
        format!(
            "shader s(out float o) {{ float w[{n}]; int n = global_value<n>; w[n] = global_value<x>; o = w[n] + w[0]; }}"
        )
    };
    // An element has three planes. The last one is too large for them: its points run one by one.
    let cases = [
        (4, 512),
        (300, 512),
        (600, 256),
        (1_000, 128),
        (3_000, 64),
        (100_000, 32),
        (200_000, 64),
    ];
    for (elements, width) in cases {
        let program = program(&text(elements));
        let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
        assert_eq!(evaluator.width(), width, "{elements}");
        assert!(evaluator.memory() < 1 << 27);
        let mut globals = BatchGlobals::new(program.globals());
        let x: Vec<f32> = (0..20).map(|i| i as f32).collect();
        globals.plane("x", Part::Value, 0, &x, 1).unwrap();
        globals.uniform("n", 3, 0, 0).unwrap();
        evaluator.evaluate(&globals, 0, 20, &mut NoTextures);
        let o = evaluator.get::<f32>("o", 19).unwrap();
        assert_eq!(o, 19.0);
    }
}
