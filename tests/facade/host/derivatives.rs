//! Derivatives of outputs that were not asked for are errors, whichever function reads them; zeros
//! that were asked for are zeros.

use adumbra::access::AccessError;
use adumbra::batch::{BatchEvaluator, BatchGlobals};
use adumbra::evaluator::Engine;
use adumbra::group::Group;
use adumbra::value::Part;
use adumbra::{
    Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Options,
    Program, Sources, Type,
};
use std::sync::Arc;

/// `constant` has no lanes, whether its derivatives are asked for or not.
const TEXT: &str = "struct pair { float a; int n; };
    shader s(float gain = 2.0, out float constant, out pair p) {
        constant = gain;
        p.a = gain * global_value<x>;
        p.n = 7;
    }";

fn compiler(output_derivatives: bool) -> Compiler {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    Compiler::new(layout).with_options(Options {
        output_derivatives,
        ..Options::default()
    })
}

fn compiled(output_derivatives: bool) -> Arc<Program> {
    let sources = Sources::new("s.adu", TEXT);
    compiler(output_derivatives).compile(&sources).unwrap()
}

/// A program without the derivatives of its outputs, or with them, however it came about.
fn programs(output_derivatives: bool) -> [Arc<Program>; 4] {
    let program = compiled(output_derivatives);
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let folded = Instance::new(&program).fold().unwrap();
    let mut group = Group::new();
    group
        .unit("u", &Sources::new("s.adu", TEXT), None)
        .expose_output("constant", ("u", "constant"))
        .expose_output("p", ("u", "p"));
    let grouped = compiler(output_derivatives).compile_group(&group).unwrap();
    [program, loaded, folded.program().clone(), grouped]
}

fn refused<T: std::fmt::Debug>(read: Result<T, AccessError>, name: &str) {
    let error = read.unwrap_err();
    let name = name.to_owned();
    assert_eq!(error, AccessError::NoDerivatives { name: name.clone() });
    let expected = format!(
        "the derivatives of `{name}` were not computed: its program was compiled without `output_derivatives`"
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn unasked_derivatives_of_point_are_refused() {
    for program in programs(false) {
        assert!(!program.output_derivatives());
        refused(program.output_slot::<Dual<f32>>("p.a"), "p.a");
        let slot = program.output_slot::<f32>("p.a").unwrap();
        for engine in Engine::available() {
            let instance = Instance::new(&program);
            let Ok(mut evaluator) = Evaluator::with(&instance, engine, Limits::default()) else {
                continue;
            };
            let mut globals = Globals::new(program.globals());
            globals.set("x", 3.0_f32, 1.0, 0.5).unwrap();
            evaluator.evaluate(&globals, &mut NoTextures);
            assert_eq!((evaluator.get("p.a"), evaluator.read(slot)), (Ok(6.0), 6.0));
            refused(evaluator.get::<Dual<f32>>("constant"), "constant");
            refused(evaluator.get::<Dual<i32>>("p.n"), "p.n");
            let values: Vec<u32> = evaluator.words(Part::Value).unwrap().collect();
            assert_eq!(values, [2.0_f32.to_bits(), 6.0_f32.to_bits(), 7]);
            for part in [Part::Ddx, Part::Ddy] {
                refused(evaluator.words(part).map(Vec::from_iter), "constant");
            }
            let p = evaluator.output("p").unwrap();
            assert_eq!(p.value().to_string(), "{ a: 6.0, n: 7 }");
            refused(p.dual(), "p");
        }
    }
}

#[test]
fn unasked_derivatives_of_batch_are_refused() {
    for program in programs(false) {
        let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
        let globals = BatchGlobals::new(program.globals());
        evaluator.evaluate(&globals, 0, 2, &mut NoTextures);
        assert_eq!(evaluator.get("constant", 1), Ok(2.0_f32));
        refused(evaluator.get::<Dual<f32>>("constant", 1), "constant");
        let mut buffer = Vec::new();
        let view = evaluator.outputs(1, &mut buffer).next().unwrap();
        refused(view.dual(), "constant");
        let mut plane = [0.0_f32; 2];
        evaluator.copy("p", Part::Value, 0, &mut plane, 1).unwrap();
        for part in [Part::Ddx, Part::Ddy] {
            refused(evaluator.copy("p.a", part, 0, &mut plane, 1), "p.a");
            let mut new = Vec::<f32>::with_capacity(2);
            let to = new.spare_capacity_mut();
            refused(evaluator.copy_uninit("p", part, 0, to, 1), "p");
            refused(evaluator.words(part, 1).map(Vec::from_iter), "constant");
        }
    }
}

#[test]
fn asked_derivatives_that_are_zero_are_read() {
    for program in programs(true) {
        assert!(program.output_derivatives());
        let constant = program.output_slot::<Dual<f32>>("constant").unwrap();
        let mut globals = Globals::new(program.globals());
        globals.set("x", 3.0_f32, 1.0, 0.5).unwrap();
        let mut evaluator = Evaluator::new(&Instance::new(&program));
        evaluator.evaluate(&globals, &mut NoTextures);
        assert_eq!(evaluator.read(constant), Dual::from(2.0));
        assert_eq!(evaluator.get("p.n"), Ok(Dual::from(7)));
        assert_eq!(evaluator.get::<Dual<f32>>("p.a").unwrap().ddx, 2.0);
        let mut batch = BatchEvaluator::new(&Instance::new(&program)).unwrap();
        let globals = BatchGlobals::uniform_from(&globals);
        batch.evaluate(&globals, 0, 1, &mut NoTextures);
        let mut plane = [9.0_f32];
        batch.copy_slot(constant, Part::Ddx, 0, &mut plane, 1);
        assert_eq!((plane, batch.read(constant, 0)), ([0.0], Dual::from(2.0)));
    }
    // No output has lanes.
    let sources = Sources::new("s.adu", "shader s(out float o) { o = 2.0; }");
    let program = compiler(true).compile(&sources).unwrap();
    let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    for program in [program, loaded] {
        let mut evaluator = Evaluator::new(&Instance::new(&program));
        evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
        assert_eq!(evaluator.get("o"), Ok(Dual::from(2.0)));
    }
    // There is no output to be asked about.
    let sources = Sources::new("s.adu", "shader s() {}");
    let program = compiler(false).compile(&sources).unwrap();
    let evaluator = Evaluator::new(&Instance::new(&program));
    assert_eq!(evaluator.words(Part::Ddx).unwrap().count(), 0);
}

#[test]
#[should_panic(expected = "compiled without `output_derivatives`")]
fn slot_of_derivatives_is_refused_by_program_without() {
    let slot = compiled(true).output_slot::<Dual<f32>>("p.a").unwrap();
    Evaluator::new(&Instance::new(&compiled(false))).read(slot);
}

#[test]
#[should_panic(expected = "the slot of a `Dual` has derivatives")]
fn slot_of_value_has_no_derivatives() {
    let program = compiled(true);
    let evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let slot = program.output_slot::<f32>("p.a").unwrap();
    evaluator.copy_slot(slot, Part::Ddx, 0, &mut [0.0_f32], 1);
}
