//! Observing a program changes nothing.
//!
//! Random programs with an observer give the bits, request the textures, and have the faults that
//! they have without one.

use crate::counts::OBSERVED;
use crate::output_bits::output_bits;
use adumbra::evaluator::Engine;
use adumbra::host::MessageId;
use adumbra::inspect::{Observation, ObservedEvent};
use adumbra::{
    Evaluator, Globals, Host, Instance, Limits, Options, Program, SampleRequest, Sampled, Scalar,
};
use adumbra_fuzz::bundle;
use adumbra_fuzz::oracle::chain::layout;
use adumbra_fuzz::{GeneratedProgram as Generated, Profile};
use std::collections::HashSet;
use std::sync::Arc;

/// Few steps, so that many points are stopped: observers take none.
const STEPS: [u64; 2] = [40, 20_000];

/// The observation of a point.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    outputs: Vec<u32>,
    requests: Vec<[u32; 6]>,
    messages: Vec<Vec<u32>>,
    faults: String,
}

/// Keeps what a point asks and says, and counts what observers get.
struct Log<'a> {
    observations: &'a [Option<Observation>],
    seen: Seen,
    notes: usize,
    /// Whether all numbers that it got are finite: only then derivatives are the same between
    /// compilations.
    is_finite: bool,
}

impl Host for Log<'_> {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        let numbers = [r.u, r.v, r.dudx, r.dudy, r.dvdx, r.dvdy];
        self.seen.requests.push(numbers.map(f32::to_bits));
        Sampled::Ready([r.u, r.v, 0.5, 1.0])
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        match self.observations.get(message.index()) {
            Some(Some(observation)) => {
                self.notes += 1;
                let seen = observation.read(args);
                let shape = match &observation.event {
                    ObservedEvent::Assign { value, .. } | ObservedEvent::Return(value) => {
                        value.as_ref()
                    }
                    _ => None,
                };
                let Some(shape) = shape else { return };
                let [ddx, ddy] = &seen.shadows;
                for words in [&seen.value, ddx, ddy] {
                    let mut words = words.iter();
                    shape.ty.for_each_scalar(&mut |scalar| {
                        let word = words.next().copied().unwrap_or_default();
                        self.is_finite &= scalar != Scalar::F32 || f32::from_bits(word).is_finite();
                    });
                }
            }
            _ => self.seen.messages.push(args.to_vec()),
        }
    }
}

fn run(
    program: &Arc<Program>,
    observations: &[Option<Observation>],
    globals: &[u32],
    engine: Engine,
    steps: u64,
) -> (Seen, usize, bool) {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let evaluator = Evaluator::with(&Instance::new(program), engine, limits);
    let mut evaluator = evaluator.expect("the engine is there");
    let mut log = Log {
        observations,
        seen: Seen::default(),
        notes: 0,
        is_finite: true,
    };
    let mut place = Globals::new(program.globals());
    assert_eq!(place.words().len(), globals.len());
    place.words_mut().copy_from_slice(globals);
    evaluator.evaluate(&place, &mut log);
    log.seen.outputs = output_bits(&evaluator);
    log.seen.faults = format!("{:?}", evaluator.faults());
    (log.seen, log.notes, log.is_finite)
}

#[test]
fn observed_programs_do_what_they_do_otherwise() {
    let (mut notes, mut without_derivatives) = (0, 0);
    for seed in 0..OBSERVED {
        // Of a program that is observed other shadows are demanded.
        let generated = Generated::of_seed(seed, Profile::GRADIENT.without_rules());
        let sources = bundle::sources(&generated.source).expect("its parts are there");
        let options = Options {
            output_derivatives: true,
            ..Options::default()
        };
        let compiler = adumbra::Compiler::new(layout()).with_options(options);
        let plain = compiler.compile(&sources).expect("it is sound");
        let (observed, observations) = compiler.compile_observed(&sources).expect("it is sound");
        for number in 0..3 {
            let mut globals = Vec::new();
            for global in generated.point(number) {
                globals.extend([global.value, global.ddx, global.ddy].concat());
            }
            for steps in STEPS {
                for engine in [Engine::Reference, Engine::Point] {
                    let (mut expected, ..) = run(&plain, &[], &globals, engine, steps);
                    let (mut seen, noted, is_finite) =
                        run(&observed, &observations, &globals, engine, steps);
                    if !is_finite {
                        without_derivatives += 1;
                        for shown in [&mut seen, &mut expected] {
                            let values = shown.outputs.chunks(3).map(|scalar| scalar[0]);
                            shown.outputs = values.collect();
                            let partials = shown.requests.iter_mut();
                            partials.for_each(|request| request[2..].fill(0));
                        }
                    }
                    // Equal requests become one where a pass sees both.
                    for shown in [&mut seen, &mut expected] {
                        let mut different = HashSet::new();
                        shown.requests.retain(|request| different.insert(*request));
                    }
                    assert_eq!(
                        seen, expected,
                        "seed {seed}, point {number}, {engine:?}\n{}",
                        generated.source
                    );
                    notes += noted;
                }
            }
        }
    }
    println!("{notes} notes, {without_derivatives} points that are not finite");
    assert!(notes > 100_000, "{notes}");
    assert!(without_derivatives < OBSERVED * 4, "{without_derivatives}");
}
