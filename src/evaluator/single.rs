//! The batch engine as an evaluator of single points sees it: chunks of one.

use super::NoEngine;
use crate::batch::{self, BatchSetup};
use crate::program::{Instance, Program};
use adumbra_ir::host::{ClosureArena, Faults, Host, Limits};
use adumbra_vm::{BatchMachine, Outcome, Parked, Source};

pub(super) struct Single {
    pub(super) machine: BatchMachine,
    /// The globals of the point.
    sources: Vec<Source<'static>>,
    /// Value, ddx and ddy of each scalar of the outputs.
    pub(super) outputs: Vec<u32>,
    /// The point, if it waits for a texture.
    pub(super) waiting: Option<Box<Parked>>,
    no_faults: Faults,
}

impl Single {
    /// # Errors
    /// As [`batch::machine`].
    pub(super) fn new(instance: &Instance, limits: Limits) -> Result<Single, NoEngine> {
        let setup = BatchSetup {
            limits,
            width: Some(1),
            ..BatchSetup::default()
        };
        let program: &Program = instance.program();
        let machine = batch::machine(program, &setup)?;
        let outputs = program.outputs().iter();
        let scalars: usize = outputs.map(|output| output.ty.scalar_count()).sum();
        Ok(Single {
            machine,
            sources: vec![Source::Same(0); program.globals().size() / 4],
            outputs: vec![0; 3 * scalars],
            waiting: None,
            no_faults: Faults::default(),
        })
    }

    pub(super) fn run(&mut self, globals: &[u32], inputs: &[u32], host: &mut dyn Host) -> Outcome {
        if let Some(parked) = self.waiting.take() {
            self.machine.give_back(parked);
        }
        for (source, &word) in self.sources.iter_mut().zip(globals) {
            *source = Source::Same(word);
        }
        self.machine.run(&self.sources, inputs, 0, 1, host);
        self.give(self.machine.outcomes()[0])
    }

    pub(super) fn answer(&mut self, texel: [f32; 4], host: &mut dyn Host) -> Outcome {
        let mut parked = self.waiting.take().expect("a point waits");
        let outcome = self.machine.answer(&mut parked, 0, texel, host);
        self.machine.give_back(parked);
        self.give(outcome)
    }

    /// Lets a point wait here.
    pub(super) fn unpark(&mut self, parked: Box<Parked>) {
        self.outputs.fill(0);
        self.waiting = Some(parked);
    }

    fn give(&mut self, outcome: Outcome) -> Outcome {
        self.waiting = self.machine.take_waiting_at(0);
        for (at, word) in self.outputs.iter_mut().enumerate() {
            *word = self.machine.output(at / 3, at % 3, 0);
        }
        outcome
    }

    /// What went wrong in the last evaluation.
    pub(super) fn faults(&self) -> &Faults {
        match self.machine.points() {
            0 => &self.no_faults,
            _ => self.machine.faults(0),
        }
    }

    pub(super) fn closures(&self) -> &ClosureArena {
        self.machine.closures(0)
    }

    /// Bytes that it takes, its own included.
    pub(super) fn memory(&self) -> usize {
        let waiting = self.waiting.as_ref().map_or(0, |parked| parked.memory());
        size_of::<Single>() - size_of::<BatchMachine>()
            + self.machine.memory()
            + self.sources.capacity() * size_of::<Source<'static>>()
            + self.outputs.capacity() * size_of::<u32>()
            + waiting
    }
}
