//! Ops whose derivatives are dropped (`Options::dropped_derivatives`): engines agree on what is
//! left, and values stay.

use adumbra::derivatives::OpSet;
use adumbra::evaluator::Engine;
use adumbra::inspect::Op;
use adumbra::{Compiler, Dual, GlobalsLayout, Options, Program, Sources, Type};
use adumbra_fuzz::bits::materials;
use adumbra_fuzz::bits::root;
use adumbra_fuzz::bundle;
use adumbra_fuzz::oracle::chain::{layout, observe_within};
use adumbra_fuzz::oracle::observation::{ComparisonExtent, ObservedRun};
use adumbra_fuzz::oracle::reference::limits;
use adumbra_fuzz::surface::{SIDE, middle, point};
use adumbra_fuzz::{GeneratedProgram, Point, Profile};
use adumbra_ir::module::InstKind;
use std::sync::Arc;

/// Random programs.
const PROGRAMS: u64 = 60;

/// From one pixel of the grid to the next of those that materials are evaluated at.
const STRIDE: usize = 53;

/// Sums and products alone have derivatives, the ops that almost every program has.
fn all_but_sums() -> OpSet {
    let kept = [Op::Neg, Op::Add, Op::Sub, Op::Mul];
    let ops = Op::ALL.iter().filter(|op| !kept.contains(op));
    ops.fold(OpSet::NONE, |set, op| set.with(*op))
}

fn options(dropped_derivatives: OpSet) -> Options {
    Options {
        output_derivatives: true,
        dropped_derivatives,
        ..Options::default()
    }
}

fn compiled(layout: GlobalsLayout, sources: &Sources, dropped: OpSet) -> Arc<Program> {
    let compiler = Compiler::new(layout).with_options(options(dropped));
    let program = compiler.compile(sources);
    program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// What the reference shows, with which all engines agree.
fn shown(program: &Arc<Program>, points: &[Point]) -> Vec<ObservedRun> {
    let run = |engine| observe_within(limits(), program, engine, points);
    let expected = run(Engine::Reference).expect("the reference runs everywhere");
    for engine in Engine::available() {
        let found = run(engine).expect("it is available");
        for (expected, found) in expected.iter().zip(&found) {
            let difference = expected.difference(found, ComparisonExtent::All);
            assert_eq!(difference, None, "{engine:?}");
        }
    }
    expected
}

/// Whether a program reads derivatives as numbers, which values follow.
fn reads_derivatives(program: &Program) -> bool {
    let module = program.module();
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let mut insts = regions.flat_map(|region| &region.insts);
    insts.any(|inst| matches!(inst.kind, InstKind::Shadow(_)))
}

#[test]
fn dropped_materials_agree_and_keep_values() {
    let pixels = (0..SIDE * SIDE).step_by(STRIDE).map(middle);
    let points: Vec<Point> = pixels.map(point).collect();
    let (mut compared, mut changed) = (0, 0);
    for path in materials::programs().expect("there are materials") {
        let text = std::fs::read_to_string(root().join(&path)).expect("it can be read");
        let sources = Sources::new(&*path, text);
        let [full, part] = [OpSet::NONE, all_but_sums()]
            .map(|dropped| compiled(GlobalsLayout::hit(), &sources, dropped));
        let reads = reads_derivatives(&full);
        let [full, part] = [full, part].map(|program| shown(&program, &points));
        for (full, part) in full.iter().zip(&part) {
            let values = full.difference(part, ComparisonExtent::Values);
            assert!(reads || values.is_none(), "{path}: {values:?}");
            compared += usize::from(!reads);
            changed += usize::from(full.difference(part, ComparisonExtent::All).is_some());
        }
    }
    assert!(compared > 100 && changed > 100, "{compared}, {changed}");
}

#[test]
fn engines_agree_on_random_programs_with_dropped_ops() {
    for seed in 0..PROGRAMS {
        let program = GeneratedProgram::of_seed(seed, Profile::ANY);
        let sources = bundle::sources(&program.source).expect("it is a bundle");
        let points: Vec<Point> = (0..4).map(|number| program.point(number)).collect();
        shown(&compiled(layout(), &sources, all_but_sums()), &points);
    }
}

#[test]
fn dropped_set_without_used_ops_changes_no_bytecode() {
    let source = "float twice(float x) { return x + sin(x); }
        shader s(float gain = 2.0, out float o) { o = gain * twice(global_value<x>); }";
    let sources = Sources::new("s.adu", source);
    let layout = || GlobalsLayout::new().with("x", Type::FLOAT).expect("a name");
    let listing = |dropped| compiled(layout(), &sources, dropped).listing();
    let none = listing(OpSet::NONE);
    assert!(listing(OpSet::of(&[Op::Cos, Op::Perlin3])) == none);
    assert!(listing(OpSet::of(&[Op::Sin])) != none);
}

#[test]
fn folded_instance_keeps_its_dropped_ops() {
    let source = "shader s(float gain = 2.0, out float o) { float x = global_value<x>; o = x + exp(gain * x); }";
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).expect("a name");
    let program = compiled(
        layout,
        &Sources::new("s.adu", source),
        OpSet::of(&[Op::Exp]),
    );
    let mut instance = adumbra::Instance::new(&program);
    instance.set("gain", 3.0_f32).expect("an input");
    let folded = instance.fold().expect("it was compiled here");
    let mut globals = adumbra::Globals::new(program.globals());
    globals.set("x", 0.0_f32, 2.0, 5.0).expect("a global");
    for instance in [instance, folded] {
        let mut evaluator = adumbra::Evaluator::new(&instance);
        evaluator.evaluate(&globals, &mut adumbra::NoTextures);
        let o = evaluator.get::<Dual<f32>>("o").expect("an output");
        assert_eq!((o.value, o.ddx, o.ddy), (1.0, 2.0, 5.0));
    }
}
