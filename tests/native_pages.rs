//! The pages of machine code. They are those of the whole process, so nothing else runs beside this
//! test.

#![cfg(target_os = "linux")]

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Outcome, Program,
    Sources, Type, batch::Tier, evaluator::Engine,
};
use std::sync::Arc;

fn compiled(text: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("s.adu", text);
    Compiler::new(layout).compile(&sources).unwrap()
}

fn native(program: &Arc<Program>) -> Evaluator {
    Evaluator::with(&Instance::new(program), Engine::Native, Limits::default()).unwrap()
}

fn value(evaluator: &mut Evaluator, x: f32) -> f32 {
    let mut globals = Globals::new(evaluator.instance().program().globals());
    globals.set("x", x, 0.0, 0.0).unwrap();
    assert_eq!(
        evaluator.evaluate(&globals, &mut NoTextures),
        Outcome::Finished
    );
    evaluator.get::<f32>("o").unwrap()
}

/// The permissions of this process's pages that have no name, where the system lists them.
fn nameless_pages() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let nameless = maps
        .lines()
        .filter(|line| line.split_whitespace().count() == 5);
    nameless
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect()
}

#[test]
fn pages_are_never_writable_and_executable_and_come_back() {
    if !Tier::Native.is_available() {
        println!("skipped: there is no machine code for this processor");
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
