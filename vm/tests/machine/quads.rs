//! Random modules in quads: the point interpreter against the reference evaluator, bit by bit. The
//! divergence analysis is sound too: points that it accepts always meet at their differences,
//! unless they are stopped.

use crate::agreement::{LIMITS, Random, point};
use adumbra_ir::eval::{self, EvalOptions, EvalOutcome, Progress};
use adumbra_ir::host::{ConstantTexture, canonical_float};
use adumbra_ir::module::{InstKind, Module};
use adumbra_ir::passes::{self, AtDivergence, PassOptions, quads};
use adumbra_ir::quad::{Lockstep, Quad, QuadPause, advance};
use adumbra_ir::random::{generate, generate_convergent};
use adumbra_ir::text::{SpanComments, print};
use adumbra_ir::types::Scalar;
use adumbra_ir::verify::verify;
use adumbra_vm::{PointMachine, lower};
use std::sync::Arc;

const TEXTURE: ConstantTexture = ConstantTexture([0.1, 0.2, 0.3, 0.4]);

/// A point of the reference evaluator that never misses its quad at a difference.
struct Strict(Progress);

impl Lockstep for Strict {
    fn awaited(&self) -> Option<&QuadPause> {
        self.0.awaited()
    }

    fn is_at_same_instruction(&self, other: &Strict) -> bool {
        let is_beside = self.0.is_at_same_instruction(&other.0);
        assert!(is_beside, "points wait at different places");
        is_beside
    }
}

/// The results of a quad.
#[derive(Default)]
struct Mix {
    quads: usize,
    stopped: usize,
    joins: usize,
}

fn run_reference(
    module: &Module,
    points: &[eval::EvalPoint; 4],
    mix: &mut Mix,
) -> [EvalOutcome; 4] {
    let options = EvalOptions {
        limits: LIMITS,
        ..EvalOptions::default()
    };
    let mut host = TEXTURE;
    let begin = |point| Strict(eval::begin(module, point, &options, &mut host));
    let mut lanes = points.each_ref().map(begin);
    // A point that is done may be so since the same difference; the next round decides.
    let (mut done, mut late, mut last) = ([false; 4], lanes.each_ref().map(finished), 4);
    let rule = module.quad.expect("it is in quads");
    advance(rule, &mut lanes, |corner, lane, difference| {
        let at = corner as usize;
        if at <= last {
            done = late;
        }
        last = at;
        assert!(!done.contains(&true), "a point is past the others");
        mix.joins += 1;
        let Progress::Pending(suspended) = lane.0.clone() else {
            unreachable!("a point that is done is not joined");
        };
        *lane = Strict(suspended.resume_difference(module, difference, &mut host));
        late[at] = finished(lane);
    });
    lanes.map(|lane| match lane.0 {
        Progress::Done(outcome) => outcome,
        Progress::Pending(_) => panic!("all are done"),
    })
}

/// Whether a point has ended.
fn finished(lane: &Strict) -> bool {
    match &lane.0 {
        Progress::Done(outcome) => outcome.faults.stopped().is_none(),
        Progress::Pending(_) => false,
    }
}

fn agree(module: &Module, seed: u64, mix: &mut Mix) {
    verify(module).expect("the module is valid");
    let program = lower(module).expect("the module fits");
    let program = Arc::new(program);
    let mut random = Random::new(seed);
    let drawn = [(); 4].map(|()| point(module, &mut random));
    let points = drawn.each_ref().map(|(point, ..)| point.clone());
    let expected = run_reference(module, &points, mix);

    let mut host = TEXTURE;
    let mut machines = drawn.map(|(_, globals, inputs)| {
        let mut machine = PointMachine::new(program.clone(), LIMITS);
        machine.run(&globals, &inputs, &mut host);
        machine
    });
    let rule = module.quad.expect("it is in quads");
    advance(rule, &mut machines, |_, machine, difference| {
        machine.join(difference, &mut host);
    });
    for (machine, expected) in machines.iter().zip(&expected) {
        let context = || {
            format!(
                "seed {seed}\n{}\n{program}",
                print(module, SpanComments::Hidden)
            )
        };
        assert_eq!(machine.faults(), &expected.faults, "{}", context());
        let types = module.entry().results.iter().map(|result| result.ty);
        let values = expected
            .outputs
            .iter()
            .zip(types)
            .map(|(register, ty)| match ty {
                Scalar::F32 => canonical_float(register.float).to_bits(),
                _ => register.bits(ty),
            });
        let values: Vec<u32> = values.collect();
        let found: Vec<u32> = machine.outputs().iter().copied().step_by(3).collect();
        assert_eq!(found, values, "{}", context());
        mix.stopped += usize::from(expected.faults.stopped().is_some());
    }
    mix.quads += 1;
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn random_quads_agree_and_meet() {
    let mut mix = Mix::default();
    for seed in 0..1_000 {
        let rule = Quad::ALL[seed as usize % Quad::ALL.len()];
        let module = quads(generate_convergent(seed), rule, AtDivergence::Refuse)
            .expect("nothing is divergent");
        agree(&module, seed, &mut mix);
        let options = PassOptions {
            derivatives: passes::Derivatives::Quad(rule),
            output_shadows: true,
            ..PassOptions::default()
        };
        let (optimised, _) = passes::run(module, &options);
        agree(&optimised, seed, &mut mix);
    }
    let Mix {
        quads,
        stopped,
        joins,
    } = mix;
    println!("{quads} quads, {joins} differences, {stopped} points stopped");
    assert!(joins > 4_000 && stopped > 4, "hollow");
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn most_random_modules_have_refused_differences() {
    let is_refused = |seed: &u64| quads(generate(*seed), Quad::Fine, AtDivergence::Refuse).is_err();
    let refused = (0..200).filter(is_refused).count();
    assert!((20..200).contains(&refused), "{refused} of 200");
}

#[test]
#[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
fn quad_programs_have_no_shadows() {
    for seed in 0..50 {
        let module = quads(generate_convergent(seed), Quad::Fine, AtDivergence::Refuse)
            .expect("nothing is divergent");
        let insts = module.functions.iter().flat_map(|f| &f.regions);
        for inst in insts.flat_map(|region| &region.insts) {
            assert!(!matches!(inst.kind, InstKind::Shadow(_)));
        }
    }
}

/// No compilation makes it, but a file may hold it: points suspended at different differences. Each
/// is joined with those at its own, and all end.
#[test]
fn points_at_different_differences_are_not_joined() {
    let module = crate::support::module(
        "quad fine global x: float output o: float entry main
        fn main() -> (f32) ^0 {
            %0: f32 = global x[0]
            %1: f32 = const 1.0
            %2: bool = flt %0, %1
            %3: f32 = if %2 ^1 { %4: f32 = difference_x %0 yield %4 } else ^2 { %5: f32 = difference_y %0 yield %5 }
            return %3
        }",
    );
    let program = Arc::new(lower(&module).expect("the module fits"));
    let mut host = TEXTURE;
    let mut machines = [0.0_f32, 2.0, 0.5, 3.5].map(|x| {
        let mut machine = PointMachine::new(program.clone(), LIMITS);
        machine.run(&[x.to_bits(), 0, 0], &[], &mut host);
        machine
    });
    advance(Quad::Fine, &mut machines, |_, machine, difference| {
        machine.join(difference, &mut host);
    });
    let found = machines.map(|machine| f32::from_bits(machine.outputs()[0]));
    assert_eq!(found, [0.0, 1.5, 0.0, 1.5]);
}
