//! Gradients by edges of whole batches: the smooth parts' program, and what edges add to its
//! planes.

use super::EdgeGradient;
use super::places::{Float, Places, gradient_floats};
use super::worker::{Found, Worker};
use crate::batch::{BatchError, BatchGlobals, BatchReport, BatchSetup, OutputPlane, WholeBatch};
use crate::buffer::BufferGradients;
use crate::evaluator::{Engine, EngineError};
use crate::gradient::Gradient;
use crate::program::Instance;
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_vm::FloatEnvironment;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points that a thread searches for edges at a time.
const BLOCK: usize = 1 << 12;

/// Lines of pixels of a block, if points are those of an image. Those around it are evaluated
/// twice.
const BLOCK_LINES: usize = 16;

/// The gradient by edges of an instance, with what its points are evaluated by.
#[derive(Clone, Debug)]
pub struct EdgeBatch {
    pub(super) edges: EdgeGradient,
    pub(super) instance: Instance,
    pub(super) setup: BatchSetup,
    /// If samples are evaluated one by one, the engine.
    pub(super) single: Option<Engine>,
    threads: usize,
    pub(super) first: u64,
    pub(super) image: Option<ImagePoints>,
}

/// Points that are pixels: the first two axes lead from one to the next, and from line to line.
#[derive(Clone, Debug)]
pub(super) struct ImagePoints {
    width: usize,
    /// The points that the planes of globals have.
    planes: Range<usize>,
}

impl ImagePoints {
    /// The points of a block, with the lines before and after it, as far as there are.
    pub(super) fn around(&self, points: &Range<usize>) -> Range<usize> {
        let start = points.start.saturating_sub(self.width);
        let end = points.end.saturating_add(self.width);
        start.max(self.planes.start)..end.min(self.planes.end)
    }

    /// The number of a point's neighbour, if it is in the same line of pixels, or before or after
    /// it.
    pub(super) fn neighbour(&self, number: usize, axis: usize, side: f64) -> Option<usize> {
        let column = number % self.width;
        match (axis, side < 0.0) {
            (0, true) if column > 0 => Some(number - 1),
            (0, false) if column + 1 < self.width => Some(number + 1),
            (1, true) => number.checked_sub(self.width),
            (1, false) => number.checked_add(self.width),
            _ => None,
        }
    }
}

/// What edges added to a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeReport {
    /// Points that see an edge.
    pub points: usize,
    /// Edges, once for each point that sees them, and each side of it.
    pub roots: usize,
    /// Points some of whose edges do not count: between them and a neighbour there are more than
    /// [`MAX_ROOTS`](super::MAX_ROOTS) edges, or a decision whose margin does not cross its
    /// boundary.
    pub unresolved: usize,
    /// The first of these points.
    pub first_unresolved: Option<usize>,
}

impl EdgeReport {
    /// Adds the points of another report.
    pub fn join(&mut self, other: EdgeReport) {
        self.points += other.points;
        self.roots += other.roots;
        self.unresolved += other.unresolved;
        let firsts = [self.first_unresolved, other.first_unresolved];
        self.first_unresolved = firsts.into_iter().flatten().min();
    }
}

impl EdgeBatch {
    /// The gradient of an instance of the [smooth](EdgeGradient::smooth) program, on one thread, by
    /// the default setup.
    ///
    /// # Panics
    /// If it is an instance of another program.
    pub fn new(edges: &EdgeGradient, instance: &Instance) -> EdgeBatch {
        let is_own = Arc::ptr_eq(instance.program(), edges.smooth().program());
        assert!(is_own, "the instance is one of the smooth program");
        EdgeBatch {
            edges: edges.clone(),
            instance: instance.clone(),
            setup: BatchSetup::default(),
            single: None,
            threads: 1,
            first: 0,
            image: None,
        }
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> EdgeBatch {
        self.threads = threads;
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> EdgeBatch {
        self.setup = setup;
        self
    }

    /// The same by an engine: one of single points evaluates samples one by one.
    pub fn engine(mut self, engine: Engine) -> EdgeBatch {
        match engine.tier() {
            Some(tier) => (self.setup.tier, self.single) = (tier, None),
            None => self.single = Some(engine),
        }
        self
    }

    /// The same where the first words of the globals' planes are those of point number `first`.
    pub fn numbered_from(mut self, first: u64) -> EdgeBatch {
        self.first = first;
        self
    }

    /// The same for points that are the pixels of an image, numbered line by line: a point's
    /// neighbours along the first axis are the points before and after it, those along the second
    /// the ones a line away. `planes` are the points that the planes of the globals have: what lies
    /// beyond these and the image is evaluated for each point that it is a neighbour of.
    pub fn image(mut self, width: usize, planes: Range<usize>) -> EdgeBatch {
        let is_image = width > 0 && self.edges.axes().len() >= 2;
        self.image = is_image.then_some(ImagePoints { width, planes });
        self
    }

    /// Evaluates these points, as [`WholeBatch::planes`] does, and [adds](EdgeBatch::add) what
    /// edges do.
    ///
    /// # Errors
    /// As those of [`WholeBatch::planes`].
    ///
    /// # Panics
    /// If a host panics.
    pub fn planes<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        host: impl Fn() -> H + Sync,
    ) -> Result<(BufferGradients, BatchReport, EdgeReport), BatchError> {
        let smooth = WholeBatch::new(&self.instance)
            .setup(self.setup.clone())
            .threads(self.threads)
            .numbered_from(self.first);
        let (mut gradients, report) = smooth.planes(globals, points.clone(), planes, &host)?;
        let (more, edges) = self.add(globals, points, planes, host)?;
        if let Some(more) = more {
            gradients.join(&more);
        }
        Ok((gradients, report, edges))
    }

    /// Adds what edges do to planes of the smooth gradient at these points. Returns what they add
    /// to gradients by buffers, if it is by any.
    ///
    /// # Errors
    /// If the engine is not there.
    ///
    /// # Panics
    /// If a host panics, or a plane is too short.
    pub fn add<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        host: impl Fn() -> H + Sync,
    ) -> Result<(Option<BufferGradients>, EdgeReport), EngineError> {
        let mut gradients: Option<BufferGradients> = None;
        let Some(margins) = &self.edges.margins else {
            return Ok((gradients, EdgeReport::default()));
        };
        let of_smooth = gradient_floats(self.edges.smooth());
        // Per plane that is one of a gradient: its number among these.
        let mut wanted: Vec<(usize, Float)> = Vec::new();
        for (at, plane) in planes.iter().enumerate() {
            let (output, part, scalar) = plane.place();
            let mut floats = of_smooth.iter();
            let float = floats.find(|float| float.output == output && float.scalar == scalar);
            wanted.extend(
                float
                    .filter(|_| part == Part::Value)
                    .map(|float| (at, float.clone())),
            );
        }
        let places = Places::new(self.edges.smooth(), margins, &wanted);
        let found = self.on_threads(globals, &points, &places, margins, &host)?;
        let mut edges = EdgeReport::default();
        for found in found {
            edges.join(found.report);
            match (&mut gradients, found.gradients) {
                (Some(gradients), Some(more)) => gradients.join(&more),
                (none, more) => *none = more,
            }
            for (point, added) in found.added {
                for ((plane, _), added) in wanted.iter().zip(added) {
                    planes[*plane].add(point, added);
                }
            }
        }
        Ok((gradients, edges))
    }

    /// Searches all blocks.
    fn on_threads<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
        places: &Places,
        margins: &Gradient,
        host: &(impl Fn() -> H + Sync),
    ) -> Result<Vec<Found>, EngineError> {
        let block = match &self.image {
            None => BLOCK,
            Some(image) => BLOCK.max(BLOCK_LINES.saturating_mul(image.width)),
        };
        let blocks = points.len().div_ceil(block);
        let next = AtomicUsize::new(0);
        let work = || {
            let _mode = FloatEnvironment::enter();
            let mut worker = Worker::new(self, places, margins)?;
            let mut host = host();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= blocks || host.is_cancelled() {
                    return Ok(worker.finish());
                }
                let first = points.start + number * block;
                let block = first..points.end.min(first + block);
                worker.block(globals, block, points.start, &mut host);
            }
        };
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let threads = threads.min(blocks).max(1);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = vec![work()];
            for other in others {
                match other.join() {
                    Ok(done) => all.push(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all.into_iter().collect()
        })
    }
}
