//! The batch engine as an evaluator of single points sees it: chunks of one point, or of one quad.

use super::NoEngine;
use super::neighbours::{HELPERS, Neighbours};
use super::parked::{Home, ParkedPoint, ParkedQuad, TooManyParked};
use crate::batch::{self, BatchSetup};
use crate::program::{Instance, Program};
use adumbra_ir::host::{ClosureArena, Faults, Host, Limits, SampleRequest};
use adumbra_ir::quad::Corner;
use adumbra_vm::{BatchMachine, Outcome, Parked, Source};
use std::sync::Arc;

pub(super) struct Single {
    machine: BatchMachine,
    /// Where the globals are.
    sources: Vec<Source<'static>>,
    /// The globals of a quad, point by point.
    words: Vec<u32>,
    /// If there are quads.
    neighbours: Option<Neighbours>,
    /// Value, ddx and ddy of each scalar of the outputs, of the point that is shown.
    outputs: Vec<u32>,
    shown: Corner,
    no_faults: Faults,
}

impl Single {
    /// # Errors
    /// As [`batch::machine`].
    pub(super) fn new(instance: &Instance, limits: Limits) -> Result<Box<Single>, NoEngine> {
        let setup = BatchSetup {
            limits,
            width: Some(1),
            ..BatchSetup::default()
        };
        let program: &Program = instance.program();
        let machine = batch::machine(program, &setup)?;
        let outputs = program.outputs().iter();
        let scalars: usize = outputs.map(|output| output.ty.scalar_count()).sum();
        let words = program.globals().size() / 4;
        let neighbours = program.quad().map(|_| Neighbours::new(program.globals()));
        Ok(Box::new(Single {
            words: Vec::with_capacity(if neighbours.is_some() { 4 * words } else { 0 }),
            neighbours,
            machine,
            sources: vec![Source::Same(0); words],
            outputs: vec![0; 3 * scalars],
            shown: Corner::UpperLeft,
            no_faults: Faults::default(),
        }))
    }

    /// Evaluates one point, in quads with helpers.
    pub(super) fn run(
        &mut self,
        instance: &Instance,
        globals: &[u32],
        host: &mut dyn Host,
    ) -> Outcome {
        if let Some(mut neighbours) = self.neighbours.take() {
            let quad = neighbours.of(instance.program().globals(), globals);
            let outcome = self.run_quad(instance, quad, HELPERS, host);
            self.neighbours = Some(neighbours);
            return outcome;
        }
        for (source, &word) in self.sources.iter_mut().zip(globals) {
            *source = Source::Same(word);
        }
        let inputs = instance.inputs();
        self.machine.run(&self.sources, inputs, 0, 1, host);
        self.show(Corner::UpperLeft)
    }

    /// Evaluates a quad.
    pub(super) fn run_quad(
        &mut self,
        instance: &Instance,
        globals: [&[u32]; 4],
        helpers: [bool; 4],
        host: &mut dyn Host,
    ) -> Outcome {
        self.words.clear();
        self.words.extend(globals.into_iter().flatten());
        let stride = globals[0].len();
        let mut sources: Vec<Source<'_>> = std::mem::take(&mut self.sources);
        for (first, source) in sources.iter_mut().enumerate() {
            let words = &self.words[first..];
            *source = Source::Plane { words, stride };
        }
        let inputs = instance.inputs();
        self.machine.run_quads(&sources, inputs, 0, &helpers, host);
        // The same memory, without what was lent.
        self.sources = sources.into_iter().map(|_| Source::Same(0)).collect();
        self.show(Corner::UpperLeft)
    }

    /// What the point asks that waits, or the first one of a quad that does.
    pub(super) fn request(&self) -> Option<&SampleRequest> {
        Some(self.asking()?.1)
    }

    fn asking(&self) -> Option<(usize, &SampleRequest)> {
        let waiting = self.machine.waiting().iter();
        let mut asking = waiting.filter_map(|(at, parked)| Some((*at, parked.request()?)));
        asking.next()
    }

    pub(super) fn answer(&mut self, texel: [f32; 4], host: &mut dyn Host) -> Outcome {
        let (point, _) = self.asking().expect("a point waits");
        self.machine.answer(point, texel, host);
        self.show(self.shown)
    }

    /// Moves the point that waits out of it, with its quad if there are quads.
    pub(super) fn park(&mut self, home: &Arc<Home>) -> Result<ParkedPoint, TooManyParked> {
        assert!(self.request().is_some(), "a point waits");
        ParkedPoint::of_batch(home, &mut self.machine, 0)
    }

    /// Lets a point wait here.
    pub(super) fn unpark(&mut self, parked: Box<Parked>) {
        self.machine.give_up();
        self.machine.let_wait(0, parked, false);
        self.show(Corner::UpperLeft);
    }

    /// Lets a quad wait here.
    pub(super) fn unpark_quad(&mut self, quad: ParkedQuad) {
        self.machine.give_up();
        for (at, parked) in quad.points.into_iter().enumerate() {
            self.machine.let_wait(at, parked, quad.helpers[at]);
        }
        self.show(Corner::UpperLeft);
    }

    /// Whether its points are evaluated in quads.
    pub(super) fn is_in_quads(&self) -> bool {
        self.neighbours.is_some()
    }

    /// From now on this point is read; gives how far it came.
    pub(super) fn show(&mut self, corner: Corner) -> Outcome {
        self.shown = corner;
        let point = corner as usize;
        let Some(&outcome) = self.machine.outcomes().get(point) else {
            return Outcome::Finished;
        };
        for (at, word) in self.outputs.iter_mut().enumerate() {
            *word = self.machine.output(at / 3, at % 3, point);
        }
        outcome
    }

    /// Value, ddx and ddy of each scalar of the outputs, of the point that is shown.
    pub(super) fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// What went wrong in the last evaluation.
    pub(super) fn faults(&self) -> &Faults {
        match self.machine.points() {
            0 => &self.no_faults,
            _ => self.machine.faults(self.shown as usize),
        }
    }

    pub(super) fn closures(&self) -> &ClosureArena {
        self.machine.closures(self.shown as usize)
    }

    /// Bytes that it takes, its own included.
    pub(super) fn memory(&self) -> usize {
        size_of::<Single>() - size_of::<BatchMachine>()
            + self.machine.memory()
            + self.sources.capacity() * size_of::<Source<'static>>()
            + self.words.capacity() * size_of::<u32>()
            + self.neighbours.as_ref().map_or(0, Neighbours::heap)
            + self.outputs.capacity() * size_of::<u32>()
    }
}
