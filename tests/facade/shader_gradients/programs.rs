//! Gradients are programs as any: by every engine, of groups, of generated shaders.

use super::{compiler, globals, gradient, outputs};
use adumbra::batch::{BatchEvaluator, BatchGlobals, BatchSetup, Part, Tier};
use adumbra::gradient::GradientRequest;
use adumbra::group::Group;
use adumbra::{Evaluator, Instance, NoTextures, Program, Sources};
use adumbra_fuzz::campaign::run_shaders;
use adumbra_fuzz::oracle::batch::TierChoice;

#[test]
fn programs_with_gradients_are_programs() {
    let source = "
        float f(float a, float y) { float s = 1; for (int i = 0; i < 5; i++) { if (s > 40) break; s = s * a + sin(y * s); } return s; }
        shader s(float a = 1.5, float b = 0.25, out float o) { o = f(a, global_value<x>) * b; }";
    let found = gradient(source, GradientRequest::new().by_inputs().by_global("x"));
    let loaded = Program::from_bytecode(&found.program().to_bytecode()).unwrap();
    let x: Vec<f32> = (0..300).map(|at| 0.05 * at as f32 - 7.0).collect();
    let seeds: Vec<f32> = (0..300).map(|at| 1.0 + (at % 7) as f32).collect();
    let names = ["o", "d(a)", "d(b)", "d(x)"];
    let point: Vec<[u32; 4]> = (0..x.len())
        .map(|at| {
            let here = globals(found.program(), &[("x", x[at]), ("d(o)", seeds[at])]);
            outputs(found.program(), &here, names).map(f32::to_bits)
        })
        .collect();
    assert!(
        point
            .iter()
            .all(|bits| bits.iter().all(|bits| f32::from_bits(*bits).is_finite()))
    );
    for tier in [Tier::Interpreter, Tier::Native]
        .into_iter()
        .filter(|tier| tier.is_available())
    {
        for program in [found.program(), &loaded] {
            let setup = BatchSetup {
                tier,
                width: Some(64),
                ..BatchSetup::default()
            };
            let mut evaluator = BatchEvaluator::with(&Instance::new(program), &setup).unwrap();
            let mut globals = BatchGlobals::new(program.globals());
            globals.plane("x", Part::Value, 0, &x, 1).unwrap();
            globals.plane("d(o)", Part::Value, 0, &seeds, 1).unwrap();
            for first in (0..x.len()).step_by(64) {
                let points = 64.min(x.len() - first);
                evaluator.evaluate(&globals, first, points, &mut NoTextures);
                for at in 0..points {
                    let found = names.map(|name| evaluator.get::<f32>(name, at).unwrap().to_bits());
                    assert_eq!(found, point[first + at], "{tier:?} {}", first + at);
                }
            }
        }
    }
    let request = GradientRequest::new();
    let no = loaded.gradient(&request).unwrap_err();
    assert!(no.diagnostics[0].message.contains("was loaded and"), "{no}");
}

#[test]
fn groups_have_gradients() {
    let scale = Sources::new(
        "scale.adu",
        "[Differentiable] float sq(float x) { return x * x; }
         shader scale(float k, float x, out float y) { y = fwd_diff(sq)(diffPair(x, k)).d; }",
    );
    let mut group = Group::new();
    group
        .unit("first", &scale, None)
        .unit("second", &scale, None)
        .connect(("first", "y"), ("second", "x"))
        .expose_input("k", ("first", "k"))
        .expose_input("x", ("first", "x"))
        .set("second", "k", 3.0)
        .expose_output("o", ("second", "y"));
    let program = compiler()
        .compile_group(&group)
        .unwrap_or_else(|no| panic!("{no}"));
    let found = program.gradient(&GradientRequest::new()).unwrap();
    let mut instance = Instance::new(found.program());
    instance.set("k", 5.0).unwrap();
    instance.set("x", 7.0).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&globals(found.program(), &[("d(o)", 1.0)]), &mut NoTextures);
    // o = 3·2·(2·x·k).
    let found = ["o", "d(k)", "d(x)"].map(|name| evaluator.get::<f32>(name).unwrap());
    assert_eq!(found, [420.0, 84.0, 60.0]);
}

#[test]
fn generated_shaders_have_their_gradients() {
    let (counts, failure) = run_shaders(0, 60, TierChoice::OneEngine);
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    println!("{counts}");
    assert_eq!(counts.hollow(), None);
    assert!(
        counts.products > 90 && counts.nonzero > 200 && counts.bits > 2_000,
        "{counts}"
    );
    assert!(counts.by_buffers > 20, "{counts}");
}
