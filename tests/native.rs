//! Machine code: what it shows is what the interpreters show.
//!
//! The longer search is `cargo run --release -p adumbra-fuzz -- batch --native --programs 1000000`.

use adumbra::{
    Compiler, Engine, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Outcome,
    Program, Sources, Tier, Type,
};
use adumbra_fuzz::campaign::run_batch;
use adumbra_fuzz::oracle::batch::At;
use std::sync::Arc;
use std::thread;

/// Programs whose seeds are 0, 1, 2, …
const PROGRAMS: u64 = 3_000;

/// Whether there is machine code for this processor; says so if not.
fn is_there() -> bool {
    let is = Tier::Native.is_available();
    if !is {
        println!("skipped: there is no machine code for this processor");
    }
    is
}

#[test]
fn code_shows_what_points_show() {
    if !is_there() {
        return;
    }
    let (report, finding) = run_batch(1_000_000, PROGRAMS, At::Native);
    if let Some(finding) = finding {
        panic!("{finding}");
    }
    println!("{report}");
    assert_eq!(report.mix.hollow(), None);
}

fn compiled(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", text);
    Compiler::new(layout).compile(&sources).unwrap()
}

fn native(program: &Arc<Program>) -> Evaluator {
    Evaluator::with(&Instance::new(program), Engine::Native, Limits::default()).unwrap()
}

/// What a shader of x gives at a point.
fn value(evaluator: &mut Evaluator, x: f32) -> f32 {
    let mut globals = Globals::new(evaluator.instance().program().globals());
    globals.set("x", x, 0.0, 0.0).unwrap();
    assert_eq!(
        evaluator.evaluate(&globals, &mut NoTextures),
        Outcome::Finished
    );
    evaluator.get::<f32>("o").unwrap().value
}

/// How the pages of this process that have no name may be used, where the system tells.
#[cfg(target_os = "linux")]
fn nameless_pages() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let nameless = maps
        .lines()
        .filter(|line| line.split_whitespace().count() == 5);
    nameless
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn pages_are_never_writable_and_executable_and_come_back() {
    if !is_there() {
        return;
    }
    let executable = || {
        let pages = nameless_pages();
        assert!(
            pages
                .iter()
                .all(|may| !(may.contains('w') && may.contains('x'))),
            "{pages:?}"
        );
        pages.iter().filter(|may| may.contains('x')).count()
    };
    let before = executable();
    let programs: Vec<_> = (0..100)
        .map(|i| {
            compiled(&format!(
                "shader s(out float o) {{ o = sin(global_value<x>) + {i}; }}"
            ))
        })
        .collect();
    let evaluators: Vec<Evaluator> = programs.iter().map(native).collect();
    assert!(executable() > before, "there is code");
    drop((programs, evaluators));
    for i in 0..10_000 {
        let text = format!("shader s(out float o) {{ o = global_value<x> * {i} + 1; }}");
        assert_eq!(
            value(&mut native(&compiled(&text)), 2.0),
            2.0 * i as f32 + 1.0
        );
    }
    assert_eq!(executable(), before, "all code is gone");
}

#[test]
fn evaluators_of_a_program_share_its_code() {
    if !is_there() {
        return;
    }
    let program = compiled("shader s(out float o) { o = exp(global_value<x>) * 2; }");
    let mut first = native(&program);
    let stats = first.stats().native.unwrap();
    assert!(
        stats.code_bytes > 0 && stats.compile_us > 0.0 && stats.refused == 0,
        "{stats:?}"
    );
    let expected = value(&mut first, 0.5).to_bits();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut own = native(&program);
                for _ in 0..100 {
                    assert_eq!(value(&mut own, 0.5).to_bits(), expected);
                }
            });
        }
    });
    assert_eq!(
        first.stats().native,
        Some(stats),
        "nothing was compiled again"
    );
}
