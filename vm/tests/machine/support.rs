//! Modules from IR source, and runs of them.

use adumbra_ir::host::{ConstantTexture, Host, Limits};
use adumbra_ir::module::Module;
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_ir::verify::verify;
use adumbra_vm::{Bytecode, Outcome, PointMachine, lower};
use std::sync::Arc;

/// A verified module from IR source without its first line.
pub(crate) fn module(text: &str) -> Module {
    let module = parse(&format!("adumbra ir 1\n{text}"), FileId::MAIN).expect("the text is IR");
    verify(&module).expect("the module is valid");
    module
}

/// Its bytecode.
pub(crate) fn bytecode(text: &str) -> Bytecode {
    lower(&module(text)).expect("the module fits")
}

/// A machine for a module within the default limits.
pub(crate) fn machine(text: &str) -> PointMachine {
    PointMachine::new(Arc::new(bytecode(text)), Limits::default())
}

/// Runs a machine on float globals and inputs by their bits. Textures are constant.
pub(crate) fn run(machine: &mut PointMachine, globals: &[f32], inputs: &[u32]) -> Outcome {
    let globals: Vec<u32> = globals.iter().map(|g| g.to_bits()).collect();
    machine.run(&globals, inputs, &mut ConstantTexture([0.1, 0.2, 0.3, 0.4]))
}

/// Value, ddx and ddy of each output, of one run that must finish.
pub(crate) fn outputs(text: &str, globals: &[f32], inputs: &[u32]) -> Vec<[f32; 3]> {
    let mut machine = machine(text);
    assert_eq!(
        run(&mut machine, globals, inputs),
        Outcome::Finished,
        "{:?}",
        machine.faults()
    );
    floats(&machine)
}

/// Value, ddx and ddy of each output.
pub(crate) fn floats(machine: &PointMachine) -> Vec<[f32; 3]> {
    let triple = |w: &[u32]| [w[0], w[1], w[2]].map(f32::from_bits);
    machine.outputs().chunks(3).map(triple).collect()
}

/// The first output's value as an int.
pub(crate) fn int(text: &str, inputs: &[i32]) -> i32 {
    let mut machine = machine(text);
    let inputs: Vec<u32> = inputs.iter().map(|&i| i as u32).collect();
    let outcome = run(&mut machine, &[], &inputs);
    assert_eq!(
        outcome,
        Outcome::Finished,
        "{:?}\n{}",
        machine.faults(),
        machine.program()
    );
    machine.outputs()[0] as i32
}

/// The answer of a [`Recorder`].
pub(crate) const TEXEL: adumbra_ir::host::Texel = adumbra_ir::host::Texel {
    numbers: [0.1, 0.2, 0.3, 0.4],
    slopes: Some(adumbra_ir::host::TexelSlopes {
        u: [0.5, 0.6, 0.7, 0.8],
        v: [-0.5, 0.0, 0.25, 1.0],
    }),
};

/// Keeps the requests that it answers, and messages with the number of requests before.
#[derive(Default)]
pub(crate) struct Recorder(
    pub(crate) Vec<adumbra_ir::host::SampleRequest>,
    pub(crate) Vec<(usize, adumbra_ir::module::MessageId, Vec<u32>)>,
);

impl Host for Recorder {
    fn sample(&mut self, request: &adumbra_ir::host::SampleRequest) -> adumbra_ir::host::Sampled {
        self.0.push(*request);
        TEXEL.into()
    }

    fn message(&mut self, message: adumbra_ir::module::MessageId, args: &[u32]) {
        self.1.push((self.0.len(), message, args.to_vec()));
    }
}
