//! Tests of single points as machine code against the interpreter: random modules, budgets that end
//! anywhere, cancellation, late textures, and points that move between both.

use adumbra_aot::NativeCompiler;
use adumbra_ir::host::{ConstantTexture, Host, Limits, SampleRequest, Sampled};
use adumbra_ir::module::{MessageId, Module};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::generate;
use adumbra_ir::types::Scalar;
use adumbra_vm::{Bytecode, Outcome, Parked, PointMachine, lower};
use fastrand::Rng;
use std::sync::Arc;

const PROGRAMS: u64 = 300;

const TEXEL: [f32; 4] = [0.1, 0.2, 0.3, 0.4];

struct Random(Rng);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.u64(..n)
    }

    fn word(&mut self, scalar: Scalar) -> u32 {
        const CORNERS: [f32; 5] = [0.0, -0.0, f32::INFINITY, f32::NAN, 1e-40];
        match (scalar, self.below(50)) {
            (Scalar::F32, n @ 0..5) => CORNERS[n as usize].to_bits(),
            (Scalar::F32, n) => (n as f32 / 8.0 - 3.0).to_bits(),
            (_, n) => n as u32 % 6,
        }
    }
}

/// Records requests and messages, suspends every other sample if it is slow, and cancels at a
/// deadline.
#[derive(Default)]
struct Listener {
    is_slow: bool,
    heard: Vec<String>,
    asked: u32,
    /// The number of the query that is answered with cancellation.
    cancel_at: Option<u32>,
}

impl Host for Listener {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.heard.push(format!("{request:?}"));
        match self.is_slow && self.heard.len() % 2 == 1 {
            true => Sampled::Pending,
            false => Sampled::Ready(TEXEL),
        }
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.heard.push(format!("{message:?} {args:x?}"));
    }

    fn is_cancelled(&mut self) -> bool {
        self.asked += 1;
        self.cancel_at == Some(self.asked)
    }
}

/// The observable state of a machine and its host after a point.
fn shown(machine: &PointMachine, host: Listener) -> (Outcome, Vec<u32>, String, Vec<String>, u32) {
    let Listener { heard, asked, .. } = host;
    let what = format!("{:?} {:?}", machine.faults(), machine.closures());
    let outputs = machine.outputs().to_vec();
    (machine.outcome(), outputs, what, heard, asked)
}

/// A machine with machine code and one without.
fn machines(program: &Arc<Bytecode>, limits: Limits) -> Option<[PointMachine; 2]> {
    let native = NativeCompiler::new("random")?;
    let machine = PointMachine::with_code(program.clone(), limits, &native);
    assert_eq!(native.stats().refused, 0);
    Some([PointMachine::new(program.clone(), limits), machine])
}

fn within(steps: u64) -> Limits {
    Limits {
        steps,
        call_depth: 40,
        array_elements: 10_000,
        closure_size: 1_000,
        ..Limits::default()
    }
}

/// Random globals, and the inputs' own values.
fn point(module: &Module, random: &mut Random) -> (Vec<u32>, Vec<u32>) {
    let mut globals = Vec::new();
    for global in &module.globals {
        let mut scalars = Vec::new();
        global
            .ty
            .for_each_scalar(&mut |scalar| scalars.push(scalar));
        globals.extend(scalars.iter().map(|&scalar| random.word(scalar)));
        globals.extend((0..2 * scalars.len()).map(|_| random.word(Scalar::F32)));
    }
    let inputs = module.inputs.iter();
    (globals, inputs.flat_map(|i| i.default.clone()).collect())
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn native_points_match_interpreter() {
    if !NativeCompiler::is_available() {
        return;
    }
    let (mut stopped, mut waited, mut points) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let mut random = Random(Rng::with_seed(seed));
        let options = PassOptions {
            output_shadows: seed % 2 == 0,
            merge_demand: seed % 3 == 0,
            ..PassOptions::default()
        };
        let (module, _) = passes::run(generate(seed), &options);
        let program = Arc::new(lower(&module).expect("the module fits"));
        for steps in [5_000, random.below(60), random.below(300)] {
            let limits = within(steps);
            let [mut plain, mut coded] = machines(&program, limits).expect("there is code");
            let (globals, inputs) = point(&module, &mut random);
            let mut host = Listener::default();
            plain.run(&globals, &inputs, &mut host);
            let expected = shown(&plain, host);
            let mut host = Listener::default();
            coded.run(&globals, &inputs, &mut host);
            let found = shown(&coded, host);
            assert_eq!(found, expected, "seed {seed}, {steps} steps\n{program}");
            stopped += usize::from(expected.0 == Outcome::Stopped);
            points += 1;

            // From one machine to the other at each suspension.
            let mut both = [coded, plain];
            let mut at = seed as usize % 2;
            let mut host = Listener {
                is_slow: true,
                ..Listener::default()
            };
            let mut outcome = both[at].run(&globals, &inputs, &mut host);
            while outcome == Outcome::Pending {
                waited += 1;
                let mut parked = Parked::default();
                both[at].park(&mut parked);
                let zeros = vec![0; globals.len()];
                both[at].run(&zeros, &inputs, &mut ConstantTexture([0.9; 4]));
                at = random.below(2) as usize;
                both[at].unpark(&mut parked);
                outcome = both[at].answer(TEXEL, &mut host);
            }
            let found = shown(&both[at], host);
            assert_eq!(found, expected, "seed {seed}, moving\n{program}");
        }
    }
    assert!(stopped > points / 25, "{stopped} of {points} stopped");
    assert!(waited > points / 4, "{waited} waits in {points}");
}
