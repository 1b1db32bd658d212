//! Limits stop a point at the same place whatever the engine, and leave nothing behind.

use adumbra::{Engine, Limits};
use adumbra_fuzz::oracle::chain::{Chain, observe_within};
use adumbra_fuzz::oracle::observed::Extent;
use adumbra_fuzz::oracle::reference::limits;
use adumbra_fuzz::{Point, Profile, Program};

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
        let program = Program::of_seed(seed, Profile::ANY);
        let chain = Chain::new(&program.source).expect("a generated program is accepted");
        let points = [program.point(1), program.point(2)];
        let compiled = &chain.programs[0];
        for limits in tight() {
            let run = |engine| {
                observe_within(limits, compiled, engine, &points).expect("both engines can run it")
            };
            for (reference, found) in run(Engine::Reference).iter().zip(run(Engine::Point)) {
                if let Some(difference) = reference.difference(&found, Extent::All) {
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
fn a_stopped_point_does_not_disturb_the_next() {
    let source = "int down(int n) { return n > 0 ? 1 + down(n - 1) : 0; }
                  shader main(out int deep, out float o) { deep = down(global_value<gn> * 1000); o = global_value<ga>; }";
    let chain = Chain::new(source).expect("it is a program");
    let program = Program {
        source: source.to_owned(),
        seed: 3,
        wild: false,
    };
    let points: Vec<_> = (0..8).map(|number| program.point(number)).collect();
    let run = |points: &[Point]| {
        observe_within(limits(), &chain.programs[0], Engine::Point, points).expect("it runs")
    };
    let together = run(&points);
    let alone: Vec<_> = points
        .iter()
        .flat_map(|point| run(std::slice::from_ref(point)))
        .collect();
    assert_eq!(together, alone);
    let stopped = together.iter().filter(|o| !o.faults.is_empty()).count();
    assert!(
        stopped > 0 && stopped < points.len(),
        "{stopped} were stopped"
    );
}
