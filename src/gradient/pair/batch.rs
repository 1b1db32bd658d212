//! Gradients by pairs of samples of whole batches: kernels that are not quiet, and the axis of each
//! point.

use super::{PairGradient, PairPrograms};
use crate::batch::{BatchError, BatchGlobals, BatchReport, BatchSetup, OutputPlane, WholeBatch};
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use crate::gradient::blocks::{BlockWorker, on_threads};
use crate::gradient::edge::axes::AxisMoves;
use crate::gradient::edge::batch::{Float, gradient_floats, kernels};
use crate::gradient::edge::points::{Here, SampleProgram};
use crate::gradient::edge::search::Sample;
use crate::program::Instance;
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_ir::passes::{decision_names, pair_names};
use std::ops::Range;
use std::sync::Arc;

/// The gradient by pairs of samples of an instance, with what its points are evaluated by.
#[derive(Clone, Debug)]
pub struct PairBatch {
    pairs: PairGradient,
    instance: Instance,
    setup: BatchSetup,
    threads: usize,
    first: u64,
}

/// What pairs of samples made of a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairReport {
    /// Points that see a root: a decision that flips between them and a neighbour.
    pub points: usize,
    /// Points that have a nullified kernel: more than one root is visible in it.
    pub nullified: usize,
    /// The first of these points.
    pub first_nullified: Option<usize>,
}

/// A point that sees a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairPoint {
    /// Its number among the points of the planes.
    pub point: usize,
    /// The number of the axis that supplies its gradient.
    pub axis: usize,
    /// Kernels in which a root is visible.
    pub kernels: usize,
    /// Kernels that are nullified.
    pub nullified: usize,
}

/// A kernel that has a visible root.
struct RootedKernel {
    axis: usize,
    /// How far the root's margins are apart; `None` if there are more roots.
    apart: Option<f64>,
    /// The gradient of the floats that are wanted.
    gradient: Vec<f64>,
}

/// What is found at a point.
struct FoundPoint {
    point: usize,
    kernels: Vec<RootedKernel>,
}

impl FoundPoint {
    /// The axis that supplies the gradient: that of the root whose margins are farthest apart.
    fn axis(&self, axes: usize) -> usize {
        let apart = |axis: usize| {
            let kernels = self.kernels.iter().filter(|kernel| kernel.axis == axis);
            kernels.filter_map(|kernel| kernel.apart).reduce(f64::min)
        };
        let mut best: Option<(usize, f64)> = None;
        for axis in 0..axes {
            if let Some(apart) = apart(axis)
                && best.is_none_or(|(_, most)| apart >= most)
            {
                best = Some((axis, apart));
            }
        }
        best.map_or(0, |(axis, _)| axis)
    }

    /// A float of the gradient, whose smooth part is that: the mean of the axis's kernels.
    fn gradient(&self, axis: usize, float: usize, smooth: f64) -> f64 {
        let kernels = self.kernels.iter().filter(|kernel| kernel.axis == axis);
        let (mut rooted, mut sum) = (0, 0.0);
        for kernel in kernels {
            rooted += 1;
            sum += kernel.gradient[float];
        }
        match rooted {
            0 => smooth,
            1 => 0.5 * (sum + smooth),
            _ => 0.5 * sum,
        }
    }

    fn describe(&self, axes: usize) -> PairPoint {
        let nullified = self.kernels.iter().filter(|kernel| kernel.apart.is_none());
        PairPoint {
            point: self.point,
            axis: self.axis(axes),
            kernels: self.kernels.len(),
            nullified: nullified.count(),
        }
    }
}

impl PairBatch {
    /// The gradient of an instance of the [smooth](PairGradient::smooth) program, on one thread, by
    /// the default setup.
    ///
    /// # Panics
    /// If it is an instance of another program.
    pub fn new(pairs: &PairGradient, instance: &Instance) -> PairBatch {
        let is_own = Arc::ptr_eq(instance.program(), pairs.smooth().program());
        assert!(is_own, "the instance is one of the smooth program");
        PairBatch {
            pairs: pairs.clone(),
            instance: instance.clone(),
            setup: BatchSetup::default(),
            threads: 1,
            first: 0,
        }
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> PairBatch {
        self.threads = threads;
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> PairBatch {
        self.setup = setup;
        self
    }

    /// The same where the first words of the globals' planes are those of point number `first`.
    pub fn numbered_from(mut self, first: u64) -> PairBatch {
        self.first = first;
        self
    }

    /// Evaluates these points, as [`WholeBatch::planes`] does, and gives those that see a root
    /// their gradient by pairs of samples.
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
    ) -> Result<(BufferGradients, BatchReport, PairReport), BatchError> {
        let smooth = WholeBatch::new(&self.instance)
            .setup(self.setup.clone())
            .threads(self.threads)
            .numbered_from(self.first);
        let (gradients, report) = smooth.planes(globals, points.clone(), planes, &host)?;
        let of_smooth = gradient_floats(self.pairs.smooth());
        // Per plane that is one of a gradient: its number among these.
        let mut wanted: Vec<(usize, &Float)> = Vec::new();
        for (at, plane) in planes.iter().enumerate() {
            let (output, part, scalar) = plane.place();
            let mut floats = of_smooth.iter();
            let float = floats.find(|float| float.output == output && float.scalar == scalar);
            wanted.extend(
                float
                    .filter(|_| part == Part::Value)
                    .map(|float| (at, float)),
            );
        }
        let floats: Vec<&Float> = wanted.iter().map(|(_, float)| *float).collect();
        let mut pairs = PairReport::default();
        let axes = self.pairs.axes.len();
        for found in self.search(globals, &points, &floats, &host)? {
            let point = found.describe(axes);
            pairs.points += 1;
            if point.nullified > 0 {
                pairs.nullified += 1;
                let number = self.first as usize + points.start + found.point;
                let first = pairs.first_nullified.unwrap_or(number);
                pairs.first_nullified = Some(first.min(number));
            }
            for (float, (plane, _)) in wanted.iter().enumerate() {
                planes[*plane].replace(found.point, |smooth| {
                    found.gradient(point.axis, float, smooth)
                });
            }
        }
        Ok((gradients, report, pairs))
    }

    /// The points that see a root, in order.
    ///
    /// # Errors
    /// If an engine is not there.
    ///
    /// # Panics
    /// If a host panics.
    pub fn rooted_points<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        host: impl Fn() -> H + Sync,
    ) -> Result<Vec<PairPoint>, EngineError> {
        let found = self.search(globals, &points, &[], &host)?;
        let axes = self.pairs.axes.len();
        Ok(found.iter().map(|found| found.describe(axes)).collect())
    }

    /// The points that see a root, in order, with the gradients of these floats.
    fn search<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
        wanted: &[&Float],
        host: &(impl Fn() -> H + Sync),
    ) -> Result<Vec<FoundPoint>, EngineError> {
        let Some(programs) = &self.pairs.programs else {
            return Ok(Vec::new());
        };
        let worker = || Worker::new(self, programs, globals, wanted);
        let workers = on_threads(points, self.threads, host, worker)?;
        let mut found: Vec<FoundPoint> = workers.into_iter().flat_map(|w| w.found).collect();
        found.sort_unstable_by_key(|found| found.point);
        Ok(found)
    }
}

/// A thread that searches blocks of points for roots.
struct Worker<'b> {
    globals: &'b BatchGlobals<'b>,
    axes: &'b [AxisMoves],
    /// Words of a point: its globals, and the weights.
    stride: usize,
    number_from: usize,
    compared: SampleProgram,
    pair: SampleProgram,
    found: Vec<FoundPoint>,
    /// Per wanted float, its number among the scalars that are read.
    wanted: Vec<usize>,
}

impl<'b> Worker<'b> {
    fn new(
        batch: &'b PairBatch,
        programs: &PairPrograms,
        globals: &'b BatchGlobals<'b>,
        wanted: &[&Float],
    ) -> Result<Worker<'b>, EngineError> {
        let program = |program, outputs: &[&str]| {
            let instance = batch.instance.for_program(program);
            SampleProgram::new(&instance, &batch.setup, outputs, &[])
        };
        let [count, hash @ ..] = [
            decision_names::COUNT,
            decision_names::HASH[0],
            decision_names::HASH[1],
        ];
        // All floats of an output are read, in order.
        let mut outputs = vec![pair_names::ROOTS, pair_names::APART];
        let mut first: Vec<usize> = vec![0, 1];
        let all = gradient_floats(batch.pairs.smooth());
        let mut numbers = Vec::new();
        for float in wanted {
            let of_output = all.iter().filter(|other| other.output == float.output);
            let at = match outputs.iter().position(|output| *output == float.output) {
                Some(at) => at,
                None => {
                    first.push(first[first.len() - 1] + widths(&all, outputs[outputs.len() - 1]));
                    outputs.push(&float.output);
                    outputs.len() - 1
                }
            };
            let before = of_output.take_while(|other| other.scalar < float.scalar);
            numbers.push(first[at] + before.count());
        }
        let smooth = batch.instance.program();
        Ok(Worker {
            globals,
            axes: &batch.pairs.moves,
            stride: smooth.globals().size() / 4,
            number_from: batch.first as usize,
            compared: program(&programs.compared, &[count, hash[0], hash[1]])?,
            pair: program(&programs.pair, &outputs)?,
            found: Vec::new(),
            wanted: numbers,
        })
    }
}

/// The floats of an output of gradients; 1 of one that is none.
fn widths(floats: &[Float], output: &str) -> usize {
    let own = floats.iter().filter(|float| float.output == output);
    own.count().max(1)
}

impl BlockWorker for Worker<'_> {
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H) {
        let here = Here::new(self.globals, self.stride, points.clone(), self.number_from);
        let kernels = kernels(&mut self.compared, self.axes, &here, host);
        self.pair.clear();
        for kernel in &kernels {
            let neighbour = Sample {
                point: kernel.point,
                axis: kernel.axis,
                offset: kernel.side,
                forced: Default::default(),
                watched: 0,
            };
            self.pair.add(&here, self.axes, &neighbour, 0.0);
        }
        self.pair.run(host);
        for (number, kernel) in kernels.iter().enumerate() {
            let roots = self.pair.word(number, 0);
            if roots == 0 || !self.pair.has_ended(number) {
                continue;
            }
            let is_one = roots == 1;
            let gradient = self.wanted.iter().map(|&scalar| match is_one {
                true => self.pair.float(number, scalar),
                false => 0.0,
            });
            let rooted = RootedKernel {
                axis: kernel.axis,
                apart: is_one.then(|| self.pair.float(number, 1)),
                gradient: gradient.collect(),
            };
            let point = points.start + kernel.point - origin;
            match self.found.last_mut() {
                Some(found) if found.point == point => found.kernels.push(rooted),
                _ => self.found.push(FoundPoint {
                    point,
                    kernels: vec![rooted],
                }),
            }
        }
    }
}
