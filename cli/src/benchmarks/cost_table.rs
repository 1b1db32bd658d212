//! Measures the cost table of *Procedural UV Derivatives Evaluation in SORT Renderer*: its five
//! shaders, with derivatives and without.
//!
//! The post shows no shader; these are ours, and tests hold them to what the post says of them.

use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, time_round_robin};
use adumbra::{
    Compiler, Derivatives, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Options, Program, Sources,
    batch::{BatchEvaluator, BatchGlobals, Part, Tier},
    evaluator::Engine,
};
use std::hint::black_box;
use std::sync::Arc;

/// Letter, description and source, and the factors of derivatives on LLVM in the post: compile
/// time, instructions, run time.
const SHADERS: [(&str, &str, &str, [f64; 3]); 5] = [
    (
        "a",
        "tiny, no derivative needed",
        include_str!("post/table_a.adu"),
        [1.09, 1.00, 1.00],
    ),
    (
        "b",
        "tiny, derivatives needed",
        include_str!("post/table_b.adu"),
        [1.22, 1.64, 1.10],
    ),
    (
        "c",
        "2,000 lines, no derivative needed",
        include_str!("post/table_c.adu"),
        [1.15, 1.01, 1.00],
    ),
    (
        "d",
        "2,000 lines, derivatives needed",
        include_str!("post/table_d.adu"),
        [1.47, 1.07, 1.05],
    ),
    (
        "e",
        "2,000 lines, derivatives that fold to zero",
        include_str!("post/table_e.adu"),
        [2.01, 1.01, 1.01],
    ),
];

/// Points in a round.
const POINTS: usize = 4096;

/// Measures the factors of derivatives, shader by shader: time to compile, size, time to run.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    for (letter, what, source, post) in SHADERS {
        let [compile, instructions, run] = post;
        report.title(format!(
            "table {letter} ({what}), with derivatives over without; the post on LLVM: compile {compile}, instructions {instructions}, run {run}"
        ));
        let sources = Sources::new("table.adu", source);
        let compilers = [Derivatives::Dual, Derivatives::Off].map(|derivatives| {
            Compiler::new(GlobalsLayout::hit()).with_options(Options {
                derivatives,
                ..Options::default()
            })
        });
        let compiled = |compiler: &Compiler| compiler.compile(&sources).expect("it compiles");
        let mut contenders = compilers.each_ref().map(|compiler| {
            BenchCandidate::new("compile", move || {
                black_box(compiled(compiler));
            })
        });
        let times = time_round_robin(&mut contenders, rounds, 1);
        report.timing(
            format!("table_{letter}_compile"),
            "us",
            times[0].1.in_units_of(1e3),
        );
        let over_off = |name| format!("table_{letter}_{name}_over_off");
        report.ratio(over_off("compile"), times[0].1.min / times[1].1.min, None);

        let programs = compilers.each_ref().map(compiled);
        let [ops, off] = programs
            .each_ref()
            .map(|program| program.stats().bytecode_ops as f64);
        report.ratio(over_off("bytecode_ops"), ops / off, None);
        let [listing, off] = programs.each_ref().map(|program| program.listing());
        report.fact(
            format!("table_{letter}_bytecode_is_that_of_off"),
            listing == off,
        );

        let is_native = Tier::Native.is_available();
        if is_native {
            let mut contenders = compilers.each_ref().map(|compiler| {
                BenchCandidate::new("compile", move || {
                    black_box(native(&compiled(compiler)));
                })
            });
            let times = time_round_robin(&mut contenders, rounds, 1);
            let name = "compile_to_native";
            report.timing(
                format!("table_{letter}_{name}"),
                "us",
                times[0].1.in_units_of(1e3),
            );
            report.ratio(over_off(name), times[0].1.min / times[1].1.min, None);
            let bytes = programs.each_ref().map(|program| {
                let stats = native(program).stats().native;
                stats.map_or(0.0, |native| native.code_bytes as f64)
            });
            report.ratio(over_off("native_code_bytes"), bytes[0] / bytes[1], None);
        }

        let goal =
            |letters: &str, most| letters.contains(letter).then_some(RatioGoal::AtMost(most));
        let mut ways = vec![
            ("point_run", points as PrepareRun, None),
            ("batch_run", batch as PrepareRun, goal("d", 1.3)),
        ];
        if is_native {
            ways.push((
                "native_point_run",
                native_points as PrepareRun,
                goal("bd", 1.1),
            ));
        }
        for (name, prepare, goal) in ways {
            let [with, without] = programs.each_ref();
            let runs = [(with, PIXEL), (without, PIXEL), (with, WIDE)];
            let mut contenders =
                runs.map(|(program, step)| BenchCandidate::new(name, prepare(program, step)));
            let times = time_round_robin(&mut contenders, rounds, POINTS);
            let [with, without, wide] = [0, 1, 2].map(|i| times[i].1);
            report.timing(format!("table_{letter}_{name}"), "ns", with);
            report.ratio(over_off(name), with.min / without.min, goal);
            let name = format!("table_{letter}_{name}_of_wide_pixels_over_off");
            report.ratio(name, wide.min / without.min, None);
        }
    }
}

/// Makes a closure that runs a program at all points, given how u and v change from pixel to pixel.
type PrepareRun = fn(&Arc<Program>, f32) -> Box<dyn FnMut()>;

/// The surface coordinates of a point: u runs fast, v slowly.
fn uvw(point: usize) -> [f32; 3] {
    let side = POINTS.isqrt();
    [
        (point % side) as f32 / side as f32,
        (point / side) as f32 / side as f32,
        0.0,
    ]
}

/// The change of u and v from pixel to pixel.
const PIXEL: f32 = 0.01;
/// A change so large that shadows of a long shader, whose ops shrink them, do not become denormal:
/// many processors are slow on denormals.
const WIDE: f32 = 1e12;

/// The shadows of uvw.
fn shadows(step: f32) -> [[f32; 3]; 2] {
    [[step, 0.0, 0.0], [0.0, step, 0.0]]
}

const NORMAL: [f32; 3] = [0.0, 0.0, 1.0];

/// An evaluator that runs a program's single points by machine code.
fn native(program: &Arc<Program>) -> Evaluator {
    let evaluator = Evaluator::with(&Instance::new(program), Engine::Native, Limits::default());
    evaluator.expect("there is machine code for this processor")
}

fn points(program: &Arc<Program>, step: f32) -> Box<dyn FnMut()> {
    each_point(Evaluator::new(&Instance::new(program)), step)
}

fn native_points(program: &Arc<Program>, step: f32) -> Box<dyn FnMut()> {
    each_point(native(program), step)
}

fn each_point(mut evaluator: Evaluator, step: f32) -> Box<dyn FnMut()> {
    let [ddx, ddy] = shadows(step);
    let program = evaluator.instance().program().clone();
    let mut globals = Globals::new(program.globals());
    let given = globals.set("normal", NORMAL, [0.0; 3], [0.0; 3]);
    given.expect("hits have a normal");
    let slot = program.globals().slot::<[f32; 3]>("uvw");
    let slot = slot.expect("hits have uvw");
    Box::new(move || {
        for point in 0..POINTS {
            let value = uvw(point);
            globals.write(slot, Dual { value, ddx, ddy });
            evaluator.evaluate(&globals, &mut NoTextures);
            black_box(&evaluator);
        }
    })
}

fn batch(program: &Arc<Program>, step: f32) -> Box<dyn FnMut()> {
    let [ddx, ddy] = shadows(step);
    let mut evaluator = BatchEvaluator::new(&Instance::new(program))
        .expect("the environment asks for what is there");
    let planes = [0, 1].map(|i| (0..POINTS).map(|point| uvw(point)[i]).collect::<Vec<f32>>());
    Box::new(move || {
        let mut globals = BatchGlobals::new(evaluator.instance().program().globals());
        let given = globals
            .uniform("uvw", [0.0; 3], ddx, ddy)
            .and_then(|()| globals.plane("uvw", Part::Value, 0, &planes[0], 1))
            .and_then(|()| globals.plane("uvw", Part::Value, 1, &planes[1], 1))
            .and_then(|()| globals.uniform("normal", NORMAL, [0.0; 3], [0.0; 3]));
        given.expect("hits have uvw and a normal");
        let width = evaluator.width();
        for first in (0..POINTS).step_by(width) {
            evaluator.evaluate(&globals, first, width.min(POINTS - first), &mut NoTextures);
            black_box(evaluator.outcomes());
        }
    })
}
