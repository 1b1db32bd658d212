//! Steps and queries for cancellation with machine code are those of the interpreters.

#[path = "../../vm/tests/machine/step_programs.rs"]
mod step_programs;

use adumbra_aot::NativeCompiler;
use adumbra_ir::host::{Fault, Faults, Host, Limits, SampleRequest, Sampled};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_vm::native::NativeBackend;
use adumbra_vm::{BatchMachine, BatchOptions, Bytecode, GlobalSource, PointMachine, lower};
use std::sync::Arc;
use step_programs::{moving_programs, products, shader};

/// Points of a batch.
const WIDTH: usize = 64;

/// Counts the queries.
#[derive(Default)]
struct CountingHost {
    asked: u32,
}

impl Host for CountingHost {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.0; 4])
    }

    fn is_cancelled(&mut self) -> bool {
        self.asked += 1;
        false
    }
}

/// The program of IR source, with and without optimisation.
fn programs(text: &str) -> [Arc<Bytecode>; 2] {
    let module = parse(&format!("adumbra ir 1\n{text}"), FileId::MAIN).expect("the text is IR");
    let (optimised, _) = passes::run(module.clone(), &PassOptions::default());
    [module, optimised].map(|module| Arc::new(lower(&module).expect("it fits")))
}

fn within(steps: u64) -> Limits {
    Limits {
        steps,
        ..Limits::default()
    }
}

/// The fault that stops a point, and how often the host was asked, without and with machine code.
fn points(program: &Arc<Bytecode>, limits: Limits) -> Option<[(Option<Fault>, u32); 2]> {
    let native = NativeCompiler::new("steps")?;
    let machines = [
        PointMachine::new(program.clone(), limits),
        PointMachine::with_code(program.clone(), limits, &native),
    ];
    Some(machines.map(|mut machine| {
        let mut host = CountingHost::default();
        let globals = vec![0; program.interface().global_words()];
        machine.run(&globals, &[], &mut host);
        (machine.faults().stopped(), host.asked)
    }))
}

/// The same of the points of a batch, of which some are alone in a SIMD vector.
fn batches(program: &Arc<Bytecode>, limits: Limits) -> Option<[(Vec<Faults>, u32); 2]> {
    let native: Arc<dyn NativeBackend> = Arc::new(NativeCompiler::new("steps")?);
    let x: Vec<u32> = (0..WIDTH).map(|i| (i as f32).to_bits()).collect();
    let mut sources = vec![GlobalSource::Uniform(0); program.interface().global_words()];
    sources[0] = GlobalSource::Varying {
        words: &x,
        stride: 1,
    };
    Some([None, Some(native)].map(|native| {
        let options = BatchOptions {
            width: Some(WIDTH),
            native,
            ..BatchOptions::default()
        };
        let mut machine = BatchMachine::new(program.clone(), limits, &options);
        let mut host = CountingHost::default();
        machine.run(&sources, &[], 0, WIDTH, &mut host);
        let faults = (0..WIDTH).map(|point| machine.faults(point).clone());
        (faults.collect(), host.asked)
    }))
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn moved_words_take_steps_in_machine_code() {
    for (name, text, steps) in moving_programs() {
        for program in programs(&text) {
            for budget in 0..=steps {
                let limits = within(budget);
                let Some([interpreted, native]) = points(&program, limits) else {
                    return;
                };
                assert_eq!(native, interpreted, "{name}, {budget} steps");
                assert_eq!(
                    native.0.is_none(),
                    budget == steps,
                    "{name}, {budget} steps"
                );
                let [interpreted, native] = batches(&program, limits).expect("there is code");
                assert_eq!(native, interpreted, "{name}, {budget} steps");
            }
        }
    }
}

/// Long iterations of a loop that differs from point to point, and long code without a loop.
#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn machine_code_asks_as_often_as_interpreters() {
    let straight = products(40_000);
    let endless = format!("loop ^1 {{\n{}continue ^1\n}}", products(3_000));
    for (body, point_steps, batch_steps) in [(straight, 10, 10), (endless, 1_500, 300)] {
        let [program, _] = programs(&shader(&body, "%0"));
        let Some([interpreted, native]) = points(&program, within(point_steps)) else {
            return;
        };
        assert_eq!(native, interpreted);
        assert!(native.1 >= 2, "{}", native.1);
        let [interpreted, native] = batches(&program, within(batch_steps)).expect("there is code");
        assert_eq!(native, interpreted);
        assert!(native.1 >= 2, "{}", native.1);
    }
}
