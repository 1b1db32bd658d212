//! Suspended points: parked, resumed elsewhere, dropped.

use crate::agreement::Random;
use crate::memory::BUSY;
use crate::support::*;
use adumbra_ir::host::{ConstantTexture, Host, Limits, SampleRequest, Sampled};
use adumbra_ir::module::MessageId;
use adumbra_vm::{Outcome, Parked, PointMachine};
use fastrand::Rng;
use std::sync::Arc;

/// A host with the answers of a [`Recorder`] that leaves about every other request pending.
pub(crate) struct Hesitant {
    pub(crate) recorder: Recorder,
    pub(crate) waits: usize,
    random: Rng,
}

impl Default for Hesitant {
    fn default() -> Hesitant {
        Hesitant {
            recorder: Recorder::default(),
            waits: 0,
            random: Rng::with_seed(7),
        }
    }
}

impl Host for Hesitant {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let answer = self.recorder.sample(request);
        if self.random.bool() {
            return answer;
        }
        self.waits += 1;
        Sampled::Pending
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.recorder.message(message, args);
    }
}

/// Runs a point on one machine after the other: where it is suspended it is answered, or parked and
/// resumed anywhere. Returns the machine in which it ended.
pub(crate) fn run_hesitantly(
    machines: &mut [PointMachine],
    globals: &[u32],
    inputs: &[u32],
    host: &mut Hesitant,
    random: &mut Random,
) -> usize {
    let mut at = random.below(machines.len());
    let mut outcome = machines[at].run(globals, inputs, host);
    while outcome == Outcome::Pending {
        if random.below(3) > 0 {
            let mut parked = Parked::default();
            let wanted = machines[at].parked_memory(&parked);
            machines[at].park(&mut parked);
            assert_eq!(parked.memory(), wanted);
            // Another point runs there meanwhile.
            let zeros = vec![0; globals.len()];
            machines[at].run(&zeros, inputs, &mut ConstantTexture([0.9; 4]));
            at = random.below(machines.len());
            machines[at].unpark(&mut parked);
        }
        outcome = machines[at].answer(TEXEL, host);
    }
    at
}

#[test]
fn suspended_point_is_invisible() {
    let mut machine = machine(BUSY);
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let mut host = Hesitant::default();
    while machine.run(&globals, &[10], &mut host) != Outcome::Pending {}
    assert_eq!(machine.outputs(), [0; 6]);
    let request = *host.recorder.0.last().unwrap();
    assert_eq!((request.u, request.dudx, request.dvdy), (0.5, 1.0, 2.0));
    let mut parked = Parked::default();
    machine.park(&mut parked);
    assert_eq!(parked.request(), Some(&request));
    assert_eq!(
        (machine.request(), parked.request()),
        (None, Some(&request))
    );
    assert_eq!(
        (machine.outputs(), machine.closures().size()),
        (&[0; 6][..], 0)
    );
    assert!(machine.faults().is_empty());
    parked.clear();
    assert_eq!(parked.request(), None);
}

#[test]
fn new_point_drops_the_suspended_one() {
    let mut machine = machine(BUSY);
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let mut host = Hesitant::default();
    while machine.run(&globals, &[4], &mut host) != Outcome::Pending {}
    let mut texture = ConstantTexture(TEXEL.numbers);
    assert_eq!(machine.run(&globals, &[3], &mut texture), Outcome::Finished);
    assert_eq!(machine.request(), None);
    assert_eq!(floats(&machine)[0], [2.0, 4.0, 8.0]);
}

#[test]
fn parked_point_keeps_its_budget() {
    let program = Arc::new(bytecode(BUSY));
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    for steps in 0..30 {
        let limits = Limits {
            steps,
            ..Limits::default()
        };
        let mut machines = [(); 3].map(|()| PointMachine::new(program.clone(), limits));
        let [plain, others @ ..] = &mut machines;
        let outcome = plain.run(&globals, &[10], &mut ConstantTexture(TEXEL.numbers));
        assert_eq!(outcome == Outcome::Finished, steps >= 12);
        let mut random = Random::new(steps);
        let mut host = Hesitant::default();
        let last = run_hesitantly(others, &globals, &[10], &mut host, &mut random);
        assert_eq!(others[last].outputs(), plain.outputs());
        assert_eq!(others[last].faults(), plain.faults());
    }
}

#[test]
#[should_panic(expected = "another program's")]
fn foreign_program_refuses_parked_point() {
    let globals = [0.5, 1.0, 2.0].map(f32::to_bits);
    let [mut here, mut there] = [(); 2].map(|()| machine(BUSY));
    let mut host = Hesitant::default();
    while here.run(&globals, &[4], &mut host) != Outcome::Pending {}
    let mut parked = Parked::default();
    here.park(&mut parked);
    there.unpark(&mut parked);
}
