//! The materials of `examples/materials`, with the derivatives of outputs: single points and
//! batches by the interpreters, batches by machine code. Closures beside their arguments.
//!
//! W1 to W4 have no noise ops; most materials spend half of their time there.

use adumbra::{Compiler, GlobalsLayout, Options, Sources};
use adumbra_aot::Optimisations;
use adumbra_cli::benchmarks::{
    BenchCandidate, BenchReport, ROUNDS, RatioGoal, Timing, time_round_robin,
};
use adumbra_fuzz::bits::{materials, root};
use adumbra_fuzz::generate::Point;
use adumbra_fuzz::surface::{SIDE, middle, point};
use adumbra_fuzz::switches::{SwitchEngine, SwitchSubject};
use adumbra_vm::{SimdLevel, SuperinstructionSet};

/// The least that batches gain over single points.
const GAIN: f64 = 4.5;

/// The most that closures cost over their arguments.
const CLOSURES: f64 = 2.5;

/// A shader that makes closures, and one whose outputs are their arguments and weights.
const MAKERS: [(&str, &str); 2] = [
    (
        "closures",
        "shader closures(out closure c) {
            float3 n = global_value<normal>, p = global_value<position>;
            c = color(p) * make_closure<rough>(n, p.x) + p.y * make_closure<glossy>(n, p, p.y, p.z);
        }",
    ),
    (
        "arguments",
        "shader arguments(
            out color tint, out float3 n, out float sigma,
            out float weight, out float3 normal, out float3 tangent, out float x, out float y)
        {
            n = normal = global_value<normal>;
            float3 p = tangent = global_value<position>;
            tint = color(p);
            sigma = p.x;
            weight = x = p.y;
            y = p.z;
        }",
    ),
];

/// The points of the surface.
fn points() -> Vec<Point> {
    (0..SIDE * SIDE).map(|i| point(middle(i))).collect()
}

/// The materials at the points of the surface.
pub fn subjects() -> impl Iterator<Item = SwitchSubject> {
    let points = points();
    let paths = materials::programs().expect("the materials are in the workspace");
    paths.into_iter().map(move |path| {
        let source = std::fs::read_to_string(root().join(&path)).expect("a material can be read");
        let compiler = Compiler::new(GlobalsLayout::hit()).with_options(Options {
            output_derivatives: true,
            ..Options::default()
        });
        let program = compiler.compile(&Sources::new(&*path, source));
        let program = program.unwrap_or_else(|found| panic!("{path} is wrong:\n{found}"));
        let name = path.rsplit('/').next().unwrap_or(&path);
        SwitchSubject::of(name.trim_end_matches(".adu"), &program, &points)
    })
}

/// Checks and times the materials.
pub fn run(report: &mut BenchReport) {
    report.title("materials, with derivatives: nanoseconds a point");
    let level = SimdLevel::Avx2;
    let (mut gains, mut natives): (Vec<f64>, Vec<Timing>) = Default::default();
    for subject in subjects() {
        let name = &subject.name;
        let batch = SwitchEngine::Batch {
            level,
            without: SuperinstructionSet::NONE,
        };
        let engines = [
            ("point".to_owned(), SwitchEngine::Point),
            (level.to_string(), batch),
            (
                "native".to_owned(),
                SwitchEngine::NativeBatch(Optimisations::ALL),
            ),
        ];
        let runners = engines.map(|(title, engine)| Some((title, subject.on(engine)?)));
        let mut runners: Vec<_> = runners.into_iter().flatten().collect();
        let shown: Vec<_> = runners
            .iter_mut()
            .map(|(_, runner)| runner.shown())
            .collect();
        assert!(
            shown.iter().all(|found| found == &shown[0]),
            "{name}: engines differ"
        );
        let mut candidates: Vec<BenchCandidate<'_>> = (runners.iter_mut())
            .map(|(title, runner)| BenchCandidate::new(&**title, || runner.run()))
            .collect();
        let samples = time_round_robin(&mut candidates, ROUNDS, subject.points());
        for (title, sample) in &samples {
            report.timing(format!("material_{name}_{title}"), "ns", *sample);
        }
        // Where the processor has the level, and machine code.
        if let [(_, point), (_, batch), others @ ..] = &samples[..] {
            let ratio = point.min / batch.min;
            report.ratio(format!("material_{name}_point_over_{level}"), ratio, None);
            gains.push(ratio);
            natives.extend(others.iter().map(|(_, sample)| *sample));
        }
    }
    if !gains.is_empty() {
        let ratio = format!("materials_point_over_{level}");
        report.ratio(ratio, mean(gains), Some(RatioGoal::AtLeast(GAIN)));
    }
    if !natives.is_empty() {
        let [min, median] = [
            |sample: &Timing| sample.min,
            |sample: &Timing| sample.median,
        ]
        .map(|of| mean(natives.iter().map(of)));
        report.timing("materials_native", "ns", Timing { min, median });
    }
    closures(report);
}

/// The geometric mean.
fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = (values.into_iter()).fold((0.0, 0.0), |(sum, count), value| {
        (sum + value.ln(), count + 1.0)
    });
    (sum / count).exp()
}

/// Times closures beside their arguments, at the best level.
fn closures(report: &mut BenchReport) {
    let points = points();
    let subjects = MAKERS.map(|(name, source)| {
        let compiler = Compiler::new(GlobalsLayout::hit());
        let program = compiler.compile(&Sources::new(name, source));
        let program = program.unwrap_or_else(|found| panic!("{name} is wrong:\n{found}"));
        SwitchSubject::of(name, &program, &points)
    });
    let mut runners = subjects.each_ref().map(|subject| {
        let engine = SwitchEngine::Batch {
            level: SimdLevel::best(),
            without: SuperinstructionSet::NONE,
        };
        subject.on(engine).expect("the level is available")
    });
    let candidates = runners.iter_mut().zip(MAKERS);
    let mut candidates: Vec<BenchCandidate<'_>> = candidates
        .map(|(runner, (name, _))| BenchCandidate::new(name, || runner.run()))
        .collect();
    let samples = time_round_robin(&mut candidates, ROUNDS, points.len());
    for (name, sample) in &samples {
        report.timing(format!("material_{name}"), "ns", *sample);
    }
    let ratio = samples[0].1.min / samples[1].1.min;
    let goal = Some(RatioGoal::AtMost(CLOSURES));
    report.ratio("closures_over_arguments", ratio, goal);
}
