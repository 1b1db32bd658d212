//! Gradients through discontinuities of whole batches: the smooth gradient's program, and what
//! jumps add to its planes.

use super::blocks::{BlockWorker, Found, PointChange};
use super::image_points::ImagePoints;
use super::places::{Float, gradient_floats};
use super::points::SampleProgram;
use super::{JumpGradient, RulePrograms, edge, pair};
use crate::batch::pool::Pool;
use crate::batch::threads::on_threads;
use crate::batch::whole::PlaneFloats;
use crate::batch::{
    BatchError, BatchGlobals, BatchReport, BatchSetup, OutputPlane, OutputSums, WholeBatch,
};
use crate::buffer::BufferGradients;
use crate::evaluator::{Engine, EngineError};
use crate::program::{Instance, Program};
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_vm::FloatEnvironment;
use std::ops::Range;
use std::sync::Arc;

/// Points that a thread searches for edges at a time.
const BLOCK: usize = 1 << 12;

/// Points whose planes are summed at a time.
const SUMMED: usize = 1 << 20;

/// The golden ratio less 1, in parts of 2⁶⁴.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Lines of pixels of a block, if points are those of an image. Those around it are evaluated
/// twice.
const BLOCK_LINES: usize = 32;

/// The gradient of an instance through discontinuities, with what its points are evaluated by.
#[derive(Clone, Debug)]
pub struct JumpBatch {
    pub(super) jumps: JumpGradient,
    /// The smooth gradient.
    pub(super) smooth: WholeBatch,
    /// If samples are evaluated one by one, the engine.
    single: Option<Engine>,
    pub(super) image: Option<ImagePoints>,
    pub(super) quiet: QuietRules,
    /// The only axis along which edges are looked for, if not along all.
    pub(super) along: Option<usize>,
    /// By the engine and the setup.
    pub(super) pair_samplers: Pool<pair::Samplers>,
    pub(super) edge_samplers: Pool<edge::Samplers>,
    /// What the choice of the random variable that a point looks along begins with.
    random_from: u64,
}

/// The rules of a point and a neighbour between which there is no edge, by the rules
/// [`Pair`](super::JumpRules::Pair).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuietRules {
    /// The gradient there is the smooth one, at the point.
    #[default]
    Smooth,
    /// What depends on a decision has secants between the two, though it does not flip: as in Aδ.
    Secants,
}

/// What jumps did to a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JumpReport {
    /// Points that see an edge.
    pub points: usize,
    /// Edges, once for each point that sees them, and each side of it.
    pub roots: usize,
    /// Points beside which some edges do not count. By the rules `Edge`: a sample does not run to
    /// its end or takes more than [`MAX_DECISIONS`](super::MAX_DECISIONS), there are more than
    /// [`MAX_ROOTS`](super::MAX_ROOTS) to a neighbour, or a decision's margin does not cross its
    /// boundary. By `Pair`: there are several to a neighbour.
    pub nullified: usize,
    /// The first of these points, by its number among all: as
    /// [`numbered_from`](JumpBatch::numbered_from) has them.
    pub first_nullified: Option<usize>,
}

impl JumpReport {
    /// Adds a point, whose number is that among all.
    pub(super) fn add(&mut self, point: &JumpPoint, number: usize) {
        self.join(JumpReport {
            points: usize::from(point.roots + point.nullified > 0),
            roots: point.roots,
            nullified: usize::from(point.nullified > 0),
            first_nullified: (point.nullified > 0).then_some(number),
        });
    }

    /// Adds the points of another report.
    pub fn join(&mut self, other: JumpReport) {
        self.points += other.points;
        self.roots += other.roots;
        self.nullified += other.nullified;
        let firsts = [self.first_nullified, other.first_nullified];
        self.first_nullified = firsts.into_iter().flatten().min();
    }
}

/// A point that has neighbours which decide otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpPoint {
    /// Its number among those that are evaluated, from 0.
    pub point: usize,
    /// The number of the axis that supplies its gradient. By the rules `Edge` each edge has its
    /// own: it is that of all edges that count, if it is the same.
    pub axis: Option<usize>,
    /// Neighbours that decide otherwise.
    pub flips: usize,
    /// The edges.
    pub roots: usize,
    /// Those of them that count: others are seen along another axis, or do not reach an output.
    pub counted: usize,
    /// Neighbours to which edges do not count.
    pub nullified: usize,
}

impl JumpPoint {
    /// A point that sees nothing so far.
    pub(super) fn new(point: usize) -> JumpPoint {
        JumpPoint {
            point,
            axis: None,
            flips: 0,
            roots: 0,
            counted: 0,
            nullified: 0,
        }
    }
}

impl JumpBatch {
    /// The gradient of an instance of the [smooth](JumpGradient::smooth) program, on one thread, by
    /// the default setup.
    ///
    /// # Panics
    /// If it is an instance of another program.
    pub fn new(jumps: &JumpGradient, instance: &Instance) -> JumpBatch {
        let is_own = Arc::ptr_eq(instance.program(), jumps.smooth().program());
        assert!(is_own, "the instance is one of the smooth program");
        JumpBatch {
            jumps: jumps.clone(),
            smooth: WholeBatch::new(instance),
            single: None,
            image: None,
            quiet: QuietRules::Smooth,
            along: None,
            pair_samplers: Pool::default(),
            edge_samplers: Pool::default(),
            random_from: 0,
        }
    }

    /// The same with these rules where there is no edge.
    pub fn quiet(mut self, rules: QuietRules) -> JumpBatch {
        self.quiet = rules;
        self
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> JumpBatch {
        self.smooth = self.smooth.threads(threads);
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> JumpBatch {
        self.smooth = self.smooth.setup(setup);
        self.without_samplers()
    }

    /// The same by an engine: one of single points evaluates samples one by one.
    pub fn engine(mut self, engine: Engine) -> JumpBatch {
        match engine.tier() {
            Some(tier) => (self.smooth.setup.tier, self.single) = (tier, None),
            None => self.single = Some(engine),
        }
        self.without_samplers()
    }

    /// The same without what samples were evaluated by.
    fn without_samplers(self) -> JumpBatch {
        JumpBatch {
            pair_samplers: Pool::default(),
            edge_samplers: Pool::default(),
            ..self
        }
    }

    /// The same where the first words of the globals' planes are those of point number `first`.
    pub fn numbered_from(mut self, first: u64) -> JumpBatch {
        self.smooth = self.smooth.numbered_from(first);
        self
    }

    /// The same for points that are the pixels of an image, numbered line by line: a point's
    /// neighbours along the first axis are the points before and after it, those along the second
    /// the ones a line away. `planes` are the points that the planes of the globals have: what lies
    /// beyond these and the image is evaluated for each point that it is a neighbour of.
    pub fn image(mut self, width: usize, planes: Range<usize>) -> JumpBatch {
        let is_image = width > 0 && self.jumps.neighbour_axes() >= 2;
        self.image = is_image.then_some(ImagePoints::new(width, planes));
        self
    }

    /// The same where points choose the random variables that they look along from `first` on. If
    /// that is uniform among all numbers, so is the variable of each point, and the expectation of
    /// its gradient is that along all. Points of successive numbers look along different ones.
    pub fn random_from(mut self, first: u64) -> JumpBatch {
        self.random_from = first;
        self
    }

    /// The same for the neighbours along one axis, by its number among
    /// [`axes`](JumpGradient::axes). By the rules `Edge` these edges count what they count among
    /// all, and those of the axes, each alone, add up to all.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn along(mut self, axis: usize) -> JumpBatch {
        let is_one = axis < self.jumps.neighbour_axes();
        assert!(is_one, "there is no axis {axis} with neighbours");
        self.along = Some(axis);
        self
    }

    /// Evaluates these points, as [`WholeBatch::planes`] does, and [adds](JumpBatch::add) what
    /// jumps do.
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
    ) -> Result<(BufferGradients, BatchReport, JumpReport), BatchError> {
        let (mut gradients, report) = self.smooth.planes(globals, points.clone(), planes, &host)?;
        let (more, jumps) = self.add(globals, points, planes, host)?;
        if let Some(more) = more {
            gradients.join(&more);
        }
        Ok((gradients, report, jumps))
    }

    /// Sums outputs over these points, as [`WholeBatch::sums`] does, with what jumps
    /// [add](JumpBatch::add) to those that are gradients, and to gradients by buffers.
    ///
    /// # Errors
    /// As those of [`WholeBatch::sums`].
    ///
    /// # Panics
    /// If a host panics.
    pub fn sums<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        outputs: &[&str],
        host: impl Fn() -> H + Sync,
    ) -> Result<(OutputSums, BatchReport, JumpReport), BatchError> {
        let mut sums = OutputSums::new(self.jumps.smooth().program(), outputs)?;
        let (mut report, mut jumps) = (BatchReport::default(), JumpReport::default());
        let mut first = points.start;
        // Once also if there are no points, for the errors and the buffers.
        loop {
            let band = first..points.end.min(first.saturating_add(SUMMED));
            first = band.end;
            let (of_band, went, found) =
                self.planes_and_sums(globals, band, &mut [], outputs, &host)?;
            sums.join(of_band).expect("bands are of different points");
            report.join(went);
            jumps.join(found);
            if first >= points.end {
                return Ok((sums, report, jumps));
            }
        }
    }

    /// Does at once what [`planes`](JumpBatch::planes) does with the one outputs, and
    /// [`sums`](JumpBatch::sums) with the others: each point is evaluated once, and what is between
    /// two is searched once.
    ///
    /// # Errors
    /// As those of both.
    ///
    /// # Panics
    /// If a host panics.
    pub fn planes_and_sums<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        outputs: &[&str],
        host: impl Fn() -> H + Sync,
    ) -> Result<(OutputSums, BatchReport, JumpReport), BatchError> {
        let program = self.jumps.smooth().program();
        let of_planes = PlaneFloats::of(planes, program);
        let of_sums = OutputSums::new(program, outputs)?.floats();
        let summed = of_sums.iter();
        let summed = summed.map(|(output, scalar)| (output.as_str(), Part::Value, *scalar));
        let (own, wanted) = self.wanted(of_planes.places(planes).chain(summed));
        let mut found = self.found(globals, &points, &wanted, &host)?;
        found
            .changes
            .sort_unstable_by_key(|change| change.point.point);
        let revise = |own_points: Range<usize>, floats: &mut [Vec<f32>]| {
            let at = |point: usize| {
                let place = point - points.start;
                let before = |change: &PointChange| change.point.point < place;
                found.changes.partition_point(before)
            };
            let changes = found.changes[at(own_points.start)..at(own_points.end)].iter();
            for change in changes.filter(|change| change.is_one()) {
                let point = points.start + change.point.point - own_points.start;
                for (&float, &added) in own.iter().zip(&change.added) {
                    if let Some(float) = float.checked_sub(of_planes.len()) {
                        let float = &mut floats[float][point];
                        *float = change.revised(*float, added);
                    }
                }
            }
        };
        let (mut sums, report) =
            (self.smooth).revised_sums(globals, points.clone(), planes, outputs, &host, revise)?;
        if let Some(gradients) = &found.gradients {
            sums.add_gradients(gradients);
        }
        let of_planes_alone = own.iter().copied().zip(0..);
        let own: Vec<(usize, usize)> = of_planes_alone
            .filter(|(float, _)| *float < of_planes.len())
            .collect();
        found.revise(&own, &of_planes, planes);
        Ok((sums, report, found.report))
    }

    /// Makes planes of the smooth gradient at these points those of the gradient with jumps.
    /// Returns what jumps add to gradients by buffers, if it is by any.
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
    ) -> Result<(Option<BufferGradients>, JumpReport), EngineError> {
        let floats = PlaneFloats::of(planes, self.jumps.smooth().program());
        let (own, wanted) = self.wanted(floats.places(planes));
        let found = self.found(globals, &points, &wanted, &host)?;
        let own: Vec<(usize, usize)> = own.into_iter().zip(0..).collect();
        found.revise(&own, &floats, planes);
        Ok((found.gradients, found.report))
    }

    /// The points that have neighbours which decide otherwise, in order.
    ///
    /// # Errors
    /// If the engine is not there.
    ///
    /// # Panics
    /// If a host panics.
    pub fn points<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        host: impl Fn() -> H + Sync,
    ) -> Result<Vec<JumpPoint>, EngineError> {
        let found = self.found(globals, &points, &[], &host)?;
        let points = found.changes.iter().map(|change| change.point);
        let mut found: Vec<JumpPoint> = points.filter(|point| point.flips > 0).collect();
        found.sort_unstable_by_key(|found| found.point);
        Ok(found)
    }

    /// The axes along which edges are looked for between neighbours.
    pub(super) fn searched_axes(&self) -> Range<usize> {
        let all = 0..self.jumps.neighbour_axes();
        self.along.map_or(all, |axis| axis..axis + 1)
    }

    /// Of planes, by the output, the part of it and the scalar, those of floats of the gradient:
    /// their numbers, and what they are.
    fn wanted<'o>(
        &self,
        planes: impl Iterator<Item = (&'o str, Part, usize)>,
    ) -> (Vec<usize>, Vec<Float>) {
        let of_smooth = gradient_floats(self.jumps.smooth());
        let own = planes
            .enumerate()
            .filter_map(|(at, (output, part, scalar))| {
                let mut floats = of_smooth.iter().filter(|_| part == Part::Value);
                let float = floats.find(|float| float.output == output && float.scalar == scalar);
                Some((at, float?.clone()))
            });
        own.unzip()
    }

    /// The random variables, by their numbers among the axes.
    pub(super) fn random_axes(&self) -> Range<usize> {
        self.jumps.neighbour_axes()..self.jumps.axes.len()
    }

    /// The words of the random variables among those of a point.
    pub(super) fn random_words(&self) -> Vec<usize> {
        let moves = self.jumps.moves[self.random_axes()].iter();
        moves.map(|axis| axis.moves[0].0).collect()
    }

    /// The random variable along which the point of that number looks; none if edges are looked
    /// for along one axis of neighbours alone.
    pub(super) fn random_axis(&self, number: usize) -> Option<usize> {
        let all = self.random_axes();
        let is_searched = !all.is_empty() && self.along.is_none();
        is_searched.then(|| {
            // Multiples of the golden ratio, modulo 1, are even in each interval of numbers.
            let place = (number as u64).wrapping_mul(GOLDEN_RATIO);
            let place = u128::from(place.wrapping_add(self.random_from));
            all.start + ((place * all.len() as u128) >> 64) as usize
        })
    }

    /// What is found, with the gradients of these floats.
    fn found<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
        wanted: &[Float],
        host: &(impl Fn() -> H + Sync),
    ) -> Result<Found, EngineError> {
        let _mode = FloatEnvironment::enter();
        match &self.jumps.programs {
            RulePrograms::Smooth => Ok(Found::default()),
            RulePrograms::Pair(programs) => self.on_threads(points, host, || {
                pair::Worker::new(self, programs, globals, wanted)
            }),
            RulePrograms::Edge(programs) => self.on_threads(points, host, || {
                edge::Worker::new(self, programs, globals, wanted, edge::Adds::Gradient)
            }),
        }
    }

    /// What workers find in all blocks.
    pub(super) fn on_threads<W: BlockWorker, H: Host>(
        &self,
        points: &Range<usize>,
        host: &(impl Fn() -> H + Sync),
        worker: impl Fn() -> Result<W, EngineError> + Sync,
    ) -> Result<Found, EngineError> {
        let block = match &self.image {
            None => BLOCK,
            Some(image) => BLOCK.max(image.lines(BLOCK_LINES)),
        };
        let work = |numbers: &mut dyn Iterator<Item = usize>| {
            let (mut worker, mut host) = (worker()?, host());
            for number in numbers {
                if host.is_cancelled() {
                    break;
                }
                let first = points.start + number * block;
                let block = first..points.end.min(first.saturating_add(block));
                worker.block(block, points.start, &mut host);
            }
            Ok(worker.finish())
        };
        let all = on_threads(points.len().div_ceil(block), self.smooth.threads, work)?;
        Ok(all.into_iter().fold(Found::default(), Found::joined))
    }

    /// A program that is evaluated at samples, of which these outputs are read.
    pub(super) fn sample_program(
        &self,
        program: &Arc<Program>,
        outputs: &[&str],
        seeds: &[&str],
    ) -> Result<SampleProgram, EngineError> {
        let WholeBatch {
            instance, setup, ..
        } = &self.smooth;
        let instance = instance.for_program(program);
        // Samples differ along the axes, though the points may not.
        let setup = BatchSetup {
            uniform: Vec::new(),
            ..setup.clone()
        };
        SampleProgram::new(&instance, (&setup, self.single), outputs, seeds)
    }
}
