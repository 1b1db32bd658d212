//! The batch engine in an evaluator of single points: chunks of one point, or of one quad.

use super::EngineError;
use super::parked::{EvaluatorContext, ParkError, ParkedPoint};
use super::quad::ParkedQuad;
use super::quad_neighbours::{LONE_POINT_HELPERS, QuadNeighbours};
use crate::batch::{self, BatchSetup};
use crate::program::{Instance, Program};
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{Faults, Host, Limits, SampleRequest, Texel};
use adumbra_ir::quad::Corner;
use adumbra_vm::{BatchMachine, GlobalSource, Outcome, Parked, PointClosures};
use std::sync::Arc;

pub(super) struct SinglePointBatch {
    machine: BatchMachine,
    /// The sources of the globals.
    sources: Vec<GlobalSource<'static>>,
    /// The globals of a quad, point by point.
    words: Vec<u32>,
    /// If there are quads.
    neighbours: Option<QuadNeighbours>,
    /// Value, ddx and ddy of each scalar of the outputs, of the selected point.
    outputs: Vec<u32>,
    shown: Corner,
    no_faults: Faults,
}

impl SinglePointBatch {
    /// # Errors
    /// As [`batch::machine`].
    pub(super) fn new(
        instance: &Instance,
        limits: Limits,
        memory: &Arc<BufferMemory>,
    ) -> Result<Box<SinglePointBatch>, EngineError> {
        let setup = BatchSetup {
            limits,
            width: Some(1),
            ..BatchSetup::default()
        };
        let program: &Program = instance.program();
        let machine = batch::batch_machine(program, &setup, memory)?;
        let outputs = program.outputs().iter();
        let scalars: usize = outputs.map(|output| output.ty.scalar_count()).sum();
        let words = program.globals().size() / 4;
        let neighbours = program
            .quad()
            .map(|_| QuadNeighbours::new(program.globals()));
        Ok(Box::new(SinglePointBatch {
            words: Vec::with_capacity(if neighbours.is_some() { 4 * words } else { 0 }),
            neighbours,
            machine,
            sources: vec![GlobalSource::Uniform(0); words],
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
            let quad = neighbours.quad_globals(instance.program().globals(), globals);
            let outcome = self.run_quad(instance, quad, LONE_POINT_HELPERS, host);
            self.neighbours = Some(neighbours);
            return outcome;
        }
        for (source, &word) in self.sources.iter_mut().zip(globals) {
            *source = GlobalSource::Uniform(word);
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
        let mut sources: Vec<GlobalSource<'_>> = std::mem::take(&mut self.sources);
        for (first, source) in sources.iter_mut().enumerate() {
            let words = &self.words[first..];
            *source = GlobalSource::Varying { words, stride };
        }
        let inputs = instance.inputs();
        self.machine.run_quads(&sources, inputs, 0, &helpers, host);
        // The same memory, without the borrowed planes.
        self.sources = sources
            .into_iter()
            .map(|_| GlobalSource::Uniform(0))
            .collect();
        self.show(Corner::UpperLeft)
    }

    /// The request of the suspended point, or of the first one of a quad.
    pub(super) fn request(&self) -> Option<&SampleRequest> {
        Some(self.asking()?.1)
    }

    fn asking(&self) -> Option<(usize, &SampleRequest)> {
        let waiting = self.machine.suspended().iter();
        let mut asking = waiting.filter_map(|(at, parked)| Some((*at, parked.request()?)));
        asking.next()
    }

    pub(super) fn answer(&mut self, texel: Texel, host: &mut dyn Host) -> Outcome {
        let (point, _) = self.asking().expect("no point is suspended");
        self.machine.answer(point, texel, host);
        self.show(self.shown)
    }

    /// Moves the suspended point out of it, with its quad if there are quads.
    pub(super) fn park(
        &mut self,
        context: &Arc<EvaluatorContext>,
    ) -> Result<ParkedPoint, ParkError> {
        assert!(self.request().is_some(), "no point is suspended");
        ParkedPoint::from_batch(context, &mut self.machine, 0)
    }

    /// Suspends a point here.
    pub(super) fn unpark(&mut self, parked: Box<Parked>) {
        self.machine.drop_suspended();
        self.machine.suspend(0, parked, false);
        self.show(Corner::UpperLeft);
    }

    /// Suspends a quad here.
    pub(super) fn unpark_quad(&mut self, quad: ParkedQuad) {
        self.machine.drop_suspended();
        for (at, parked) in quad.points.into_iter().enumerate() {
            self.machine.suspend(at, parked, quad.helpers[at]);
        }
        self.show(Corner::UpperLeft);
    }

    /// Whether its points are evaluated in quads.
    pub(super) fn is_in_quads(&self) -> bool {
        self.neighbours.is_some()
    }

    /// Selects the point that is read; gives how far it came.
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

    /// Value, ddx and ddy of each scalar of the outputs, of the selected point.
    pub(super) fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// The faults of the last evaluation.
    pub(super) fn faults(&self) -> &Faults {
        match self.machine.points() {
            0 => &self.no_faults,
            _ => self.machine.faults(self.shown as usize),
        }
    }

    pub(super) fn closures(&self) -> PointClosures<'_> {
        self.machine.closures(self.shown as usize)
    }

    /// Bytes that it takes, its own included.
    pub(super) fn memory(&self) -> usize {
        size_of::<SinglePointBatch>() - size_of::<BatchMachine>()
            + self.machine.memory()
            + self.sources.capacity() * size_of::<GlobalSource<'static>>()
            + self.words.capacity() * size_of::<u32>()
            + self.neighbours.as_ref().map_or(0, QuadNeighbours::heap)
            + self.outputs.capacity() * size_of::<u32>()
    }
}
