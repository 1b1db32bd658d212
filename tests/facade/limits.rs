//! Limits stop a point at the same place whatever the engine, and leave no state.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Sources,
    evaluator::Engine, host::FaultKind,
};
use adumbra_fuzz::oracle::chain::{EngineChain, observe_within};
use adumbra_fuzz::oracle::observation::ComparisonExtent;
use adumbra_fuzz::oracle::reference::limits;
use adumbra_fuzz::{GeneratedProgram, Point, Profile};

/// Limits that stop many programs, each in its own way.
fn tight() -> Vec<Limits> {
    let steps = |steps| Limits { steps, ..limits() };
    let call_depth = |call_depth| Limits {
        call_depth,
        ..limits()
    };
    let array_elements = |array_elements| Limits {
        array_elements,
        ..limits()
    };
    let closure_size = |closure_size| Limits {
        closure_size,
        ..limits()
    };
    let mut all = Vec::new();
    all.extend([0, 1, 2, 4, 7, 12, 20, 40].map(steps));
    all.extend([0, 1, 2, 3, 4].map(call_depth));
    all.extend([0, 3, 6, 12, 24].map(array_elements));
    all.extend([0, 1, 3, 6].map(closure_size));
    all
}

#[test]
fn engines_stop_at_the_same_place() {
    let (mut stopped, mut finished) = (0, 0);
    for seed in 0..80 {
        let program = GeneratedProgram::of_seed(seed, Profile::ANY);
        let chain = EngineChain::new(&program.source).expect("a generated program is accepted");
        let points = [program.point(1), program.point(2)];
        let compiled = &chain.programs[0];
        for limits in tight() {
            let run = |engine| {
                observe_within(limits, compiled, engine, &points).expect("both engines can run it")
            };
            for (reference, found) in run(Engine::Reference).iter().zip(run(Engine::Point)) {
                if let Some(difference) = reference.difference(&found, ComparisonExtent::All) {
                    panic!("seed {seed}, {limits:?}: {difference}\n{}", program.source);
                }
                match reference.faults.iter().any(|fault| fault.kind.stops()) {
                    true => {
                        stopped += 1;
                        assert!(found.floats().all(|x| x.to_bits() == 0), "seed {seed}");
                    }
                    false => finished += 1,
                }
            }
        }
    }
    assert!(
        stopped > 500 && finished > 500,
        "{stopped} stopped, {finished} finished"
    );
}

#[test]
fn each_limit_stops_the_first_point_beyond_it() {
    let usual = Limits::default();
    // Of each: its fault, itself, a shader, the largest n that is within it, and the sum up to n
    // that the shader gives.
    let cases = [
        (
            // One for the shader, one for each iteration but the first.
            FaultKind::StepBudget,
            Limits { steps: 10, ..usual },
            "shader s(int n, out int o) { o = 0; for (int i = 1; i <= n; i += 1) o += i; }",
            9,
        ),
        (
            // The shader, and `down` of n to 0.
            FaultKind::CallDepth,
            Limits {
                call_depth: 7,
                ..usual
            },
            "int down(int n) { return n > 0 ? n + down(n - 1) : 0; }
             shader s(int n, out int o) { o = down(n); }",
            5,
        ),
        (
            // 4 elements for each `down`.
            FaultKind::ArraySize,
            Limits {
                array_elements: 30,
                ..usual
            },
            "int down(int n) { int a[4]; a[n] = n; return n > 0 ? a[n] + down(n - 1) : 0; }
             shader s(int n, out int o) { o = down(n); }",
            6,
        ),
        (
            // A leaf takes two, and so does adding it, but for the first.
            FaultKind::ClosureSize,
            Limits {
                closure_size: 11,
                ..usual
            },
            "shader s(int n, out int o, out closure c) {
                 o = 0;
                 for (int i = 1; i <= n; i += 1) { o += i; c = c + make_closure<glow>(i); }
             }",
            4,
        ),
    ];
    for (kind, limits, text, most) in cases {
        let compiler = Compiler::new(GlobalsLayout::new());
        let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
        for engine in [Engine::Reference, Engine::Point] {
            for n in 0..most + 3 {
                let mut instance = Instance::new(&program);
                instance.set("n", n).unwrap();
                let mut evaluator = Evaluator::with(&instance, engine, limits).unwrap();
                evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
                let stopped = evaluator.faults().stopped().map(|fault| fault.kind);
                let (expected, sum) = match n <= most {
                    true => (None, n * (n + 1) / 2),
                    false => (Some(kind), 0),
                };
                let found = (stopped, evaluator.get::<i32>("o").unwrap());
                assert_eq!(found, (expected, sum), "{kind:?} of {n}, {engine:?}");
            }
        }
    }
}

#[test]
fn engines_are_as_deep_as_each_other_whatever_is_asked() {
    let text = "float down(float x, int n) { return n > 0 ? x + down(x * 0.5, n - 1) : x; }
                shader s(int n, out float o) { o = down(1.0, n); }";
    let compiler = Compiler::new(GlobalsLayout::new());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let limits = Limits {
        call_depth: u32::MAX,
        array_elements: u32::MAX,
        ..Limits::default()
    };
    for (n, stopped) in [(16_382, None), (16_383, Some(FaultKind::CallDepth))] {
        for engine in [Engine::Reference, Engine::Point] {
            let mut instance = Instance::new(&program);
            instance.set("n", n).unwrap();
            let mut evaluator = Evaluator::with(&instance, engine, limits).unwrap();
            evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
            let found = evaluator.faults().stopped().map(|fault| fault.kind);
            assert_eq!(found, stopped, "{engine:?} at {n}");
        }
    }
}

#[test]
fn a_stopped_point_does_not_disturb_the_next() {
    let source = "int down(int n) { return n > 0 ? 1 + down(n - 1) : 0; }
                  shader main(out int deep, out float o) { deep = down(global_value<gn> * 1000); o = global_value<ga>; }";
    let chain = EngineChain::new(source).expect("it is a program");
    let program = GeneratedProgram::of_text(source);
    let points: Vec<_> = (0..8).map(|number| program.point(number)).collect();
    for engine in Engine::available() {
        let run = |points: &[Point]| {
            observe_within(limits(), &chain.programs[0], engine, points).expect("it runs")
        };
        let together = run(&points);
        let alone: Vec<_> = points
            .iter()
            .flat_map(|point| run(std::slice::from_ref(point)))
            .collect();
        assert_eq!(together, alone, "{engine:?}");
        let stopped = together.iter().filter(|o| !o.faults.is_empty()).count();
        assert!(
            stopped > 0 && stopped < points.len(),
            "{stopped} were stopped"
        );
    }
}
