//! Measures the gain of each optimisation: `cargo run --release -p adumbra-bench -- gains` prints
//! the tables of `docs/gains.md`.
//!
//! A program runs as it is, once more as it is (the control), and with one optimisation off at a
//! time. They run round-robin. Times are the least of several rounds. An optimisation that changes
//! nothing in a program is not measured there. `tests/facade/switches.rs` checks that results stay
//! the same.

use crate::materials;
use adumbra::Program;
use adumbra_aot::{Optimisation, Optimisations, Target};
use adumbra_cli::benchmarks::{
    BenchCandidate, PixelGlobals, ROUNDS, Workload, gradient_programs, program, time_round_robin,
    workloads,
};
use adumbra_fuzz::generate::{GlobalBits, Point};
use adumbra_fuzz::switches::{SwitchEngine, SwitchSubject};
use adumbra_vm::{SimdLevel, Superinstruction, SuperinstructionSet};

/// The most points of a program: several chunks.
const MAX_POINTS: usize = 4096;

/// How often evaluators are created: the speed of one depends on the addresses of its memory.
const MEMORIES: usize = 5;

/// The label of the run with all optimisations off.
const ALL: &str = "(all of them)";

/// How often all points are evaluated for one measurement: a batch takes some hundred microseconds
/// for it.
const TIMES: usize = 10;

/// The label of the control.
const CONTROL: &str = "(nothing: the control)";

/// The time of a program without an optimisation over that with it.
struct Gain {
    optimisation: String,
    program: String,
    ratio: f64,
}

/// Measures the gains, and prints a table for each kind of engine.
pub fn run() {
    let subjects = subjects();
    let table = |title: &str, of: &dyn Fn(&SwitchSubject) -> Vec<Gain>| {
        let gains: Vec<Gain> = subjects.iter().flat_map(of).collect();
        print_table(title, &gains);
    };
    table("Batches by machine code", &|subject| {
        native(subject, 0, SwitchEngine::NativeBatch)
    });
    table("Single points by machine code", &|subject| {
        native(subject, 1, SwitchEngine::NativePoint)
    });
    table("Batches by the interpreter: superinstructions", &fusions);
}

/// The benchmark programs with the derivatives of their outputs, and without (`_value`); gradients
/// (`_reverse`); and the materials, with derivatives.
fn subjects() -> Vec<SwitchSubject> {
    let mut subjects = Vec::new();
    let mut add = |name: String, program: &Program, points: &[PixelGlobals]| {
        let points: Vec<Point> = points.iter().take(MAX_POINTS).map(members).collect();
        subjects.push(SwitchSubject::of(name, program, &points));
    };
    for Workload {
        name,
        source,
        points,
        ..
    } in workloads()
    {
        add(name.to_owned(), &program(&source, true), &points);
        add(format!("{name}_value"), &program(&source, false), &points);
    }
    for (name, program, points) in gradient_programs() {
        add(format!("{name}_reverse"), &program, &points);
    }
    subjects.extend(materials::subjects());
    subjects
}

/// The members of a benchmark program's globals.
fn members(pixel: &PixelGlobals) -> Point {
    let members = [pixel.x, pixel.y].map(|member| GlobalBits {
        value: vec![member.value.to_bits()],
        ddx: vec![member.ddx.to_bits()],
        ddy: vec![member.ddy.to_bits()],
    });
    members.into()
}

/// The gains of machine code's optimisations; `kind` selects a subject's kind of code.
fn native(
    subject: &SwitchSubject,
    kind: usize,
    engine: fn(Optimisations) -> SwitchEngine,
) -> Vec<Gain> {
    let Some(target) = Target::for_level(SimdLevel::best()) else {
        return Vec::new();
    };
    let code = |optimisations| subject.code(target, optimisations)[kind].clone();
    let whole = code(Optimisations::ALL);
    let each = Optimisation::ALL.iter().map(|&one| {
        let optimisations = Optimisations::ALL.without(one);
        (one.to_string(), optimisations)
    });
    let all = each.chain([(ALL.to_owned(), Optimisations::NONE)]);
    let all = all.filter(|&(_, optimisations)| code(optimisations) != whole);
    let all = all.map(|(name, optimisations)| (name, engine(optimisations)));
    measure(subject, engine(Optimisations::ALL), all.collect())
}

/// The gains of superinstructions.
fn fusions(subject: &SwitchSubject) -> Vec<Gain> {
    let level = SimdLevel::best();
    let engine = |without| SwitchEngine::Batch { level, without };
    let whole = subject.on(engine(SuperinstructionSet::NONE));
    let used = whole.expect("the level is available").superinstructions();
    let used = Superinstruction::ALL
        .iter()
        .filter(|&&fusion| used.has(fusion));
    let each = used.map(|&fusion| {
        (
            format!("{fusion:?}"),
            engine(SuperinstructionSet::NONE.with(fusion)),
        )
    });
    let all = each.chain([(ALL.to_owned(), engine(SuperinstructionSet::ALL))]);
    measure(subject, engine(SuperinstructionSet::NONE), all.collect())
}

/// The time of each way to run a subject over that of the whole.
fn measure(
    subject: &SwitchSubject,
    whole: SwitchEngine,
    others: Vec<(String, SwitchEngine)>,
) -> Vec<Gain> {
    let mut ways = vec![(String::new(), whole), (CONTROL.to_owned(), whole)];
    ways.extend(others);
    let mut least = vec![f64::INFINITY; ways.len()];
    for _ in 0..MEMORIES {
        let candidates = ways.iter().filter_map(|(name, engine)| {
            let mut runner = subject.on(*engine)?;
            Some(BenchCandidate::new(&**name, move || {
                (0..TIMES).for_each(|_| runner.run())
            }))
        });
        let mut candidates: Vec<BenchCandidate<'_>> = candidates.collect();
        let samples = time_round_robin(&mut candidates, ROUNDS / MEMORIES, subject.points());
        for (least, (_, sample)) in least.iter_mut().zip(&samples) {
            *least = least.min(sample.min);
        }
    }
    let times = ways.into_iter().zip(&least).skip(1);
    let gains = times.map(|((optimisation, _), time)| Gain {
        optimisation,
        program: subject.name.clone(),
        ratio: time / least[0],
    });
    gains.collect()
}

/// Prints a line for each optimisation, those that gain most first: in how many programs it is
/// used, and its gain there.
fn print_table(title: &str, gains: &[Gain]) {
    println!("\n## {title}\n");
    println!("| off | programs | mean | least | most |");
    println!("|---|---|---|---|---|");
    let mut names: Vec<&str> = Vec::new();
    for gain in gains {
        if !names.contains(&&*gain.optimisation) {
            names.push(&gain.optimisation);
        }
    }
    let mut lines: Vec<(f64, String)> = Vec::new();
    for name in names {
        let mut own: Vec<&Gain> = gains.iter().filter(|g| g.optimisation == name).collect();
        own.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let sum: f64 = own.iter().map(|gain| gain.ratio.ln()).sum();
        let mean = (sum / own.len() as f64).exp();
        let end = |gain: &Gain| format!("{:.3} {}", gain.ratio, gain.program);
        let (least, most) = (end(own[0]), end(own[own.len() - 1]));
        let count = own.len();
        lines.push((
            mean,
            format!("| {name} | {count} | {mean:.3} | {least} | {most} |"),
        ));
    }
    lines.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    lines.iter().for_each(|(_, line)| println!("{line}"));
    let all = gains.iter().filter(|gain| gain.optimisation == ALL);
    let all = all.map(|gain| format!("{} {:.3}", gain.program, gain.ratio));
    println!(
        "\nAll of them off, by program: {}.",
        all.collect::<Vec<_>>().join(", ")
    );
}
