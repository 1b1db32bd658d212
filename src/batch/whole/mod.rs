//! Whole batches: all points of a host, on its threads, into planes, sums, or lists of leaves.

mod leaves;
mod output_plane;
mod output_sums;
mod report;

pub use leaves::ClosureLeaves;
pub use output_plane::OutputPlane;
pub use output_sums::OutputSums;
pub use report::{BatchError, BatchReport, FaultyPoints};

use super::numbered_host::NumberedHost;
use super::pool::Pool;
use super::threads::on_threads;
use super::{BatchEvaluator, BatchGlobals, BatchSetup, Part, PlaneSums};
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use crate::program::{Instance, Program};
use adumbra_ir::host::Host;
use adumbra_vm::GlobalSource;
use adumbra_vm::words::as_words_mut;
use output_plane::PlaneBlocks;
pub(crate) use output_plane::PlaneFloats;
use report::report_of;
use std::ops::Range;
use std::sync::Arc;

/// Points that a thread takes at a time.
const BLOCK: usize = 1 << 13;

/// An instance with what its points are evaluated by: a setup, and a number of threads. It keeps
/// the evaluators from one call to the next.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::batch::{BatchGlobals, OutputPlane, Part, WholeBatch};
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let sources = Sources::new("s.adu", "shader s(out float o, out float2 p) { o = global_value<x>; p = float2(o * o, 1); }");
/// let program = Compiler::new(layout).compile(&sources)?;
/// let x: Vec<f32> = (0..100_000).map(|point| point as f32 / 1000.0).collect();
/// let mut globals = BatchGlobals::new(program.globals());
/// globals.plane("x", Part::Value, 0, &x, 1)?;
/// let batch = WholeBatch::new(&Instance::new(&program)).threads(2);
///
/// let mut squares = vec![0.0_f32; x.len()];
/// let planes = &mut [OutputPlane::new("p", Part::Value, 0, &mut squares, 1)];
/// let (_, report) = batch.planes(&globals, 0..x.len(), planes, || NoTextures)?;
/// assert_eq!((squares[2000], report.stopped), (4.0, 0));
///
/// let sums = batch.sums(&globals, 0..x.len(), &["p"], || NoTextures)?.0;
/// assert_eq!(sums.total("p")?[1], 100_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WholeBatch {
    pub(crate) instance: Instance,
    pub(crate) setup: BatchSetup,
    pub(crate) threads: usize,
    /// The number of the point that planes begin with.
    pub(crate) first: u64,
    /// What threads evaluate points by.
    evaluators: Pool<BatchEvaluator>,
}

impl WholeBatch {
    /// On one thread, by the default setup.
    pub fn new(instance: &Instance) -> WholeBatch {
        WholeBatch {
            instance: instance.clone(),
            setup: BatchSetup::default(),
            threads: 1,
            first: 0,
            evaluators: Pool::default(),
        }
    }

    /// The program of its instance.
    pub fn program(&self) -> &Arc<Program> {
        self.instance.program()
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> WholeBatch {
        self.threads = threads;
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> WholeBatch {
        self.setup = setup;
        self.evaluators = Pool::default();
        self
    }

    /// The same of another instance of its program. Of the same buffers, it shares the evaluators
    /// of this one: for hosts that set inputs between one call and the next.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::batch::{BatchGlobals, Part, WholeBatch};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let sources = Sources::new("s.adu", "shader s(float k = 1.0, out float o) { o = k * global_value<x>; }");
    /// let program = Compiler::new(layout).compile(&sources)?;
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &[1.0_f32, 2.0], 1)?;
    /// let mut instance = Instance::new(&program);
    /// let batch = WholeBatch::new(&instance);
    /// let mut sums = Vec::new();
    /// for k in [2.0_f32, 3.0] {
    ///     instance.set("k", k)?;
    ///     let batch = batch.with_instance(&instance);
    ///     sums.extend(batch.sums(&globals, 0..2, &["o"], || NoTextures)?.0.total("o")?);
    /// }
    /// assert_eq!(sums, [6.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If it is an instance of another program.
    pub fn with_instance(&self, instance: &Instance) -> WholeBatch {
        let is_own = Arc::ptr_eq(instance.program(), self.instance.program());
        assert!(is_own, "the instance is one of the batch's program");
        let has_same_buffers = Arc::ptr_eq(instance.buffers(), self.instance.buffers());
        WholeBatch {
            instance: instance.clone(),
            evaluators: match has_same_buffers || instance.program().buffers().next().is_none() {
                true => self.evaluators.clone(),
                false => Pool::default(),
            },
            ..self.clone()
        }
    }

    /// The same where the first words of the globals' planes are those of point number `first`: for
    /// planes of a part of all points. Hosts, sums and reports get the numbers that this gives.
    pub fn numbered_from(mut self, first: u64) -> WholeBatch {
        self.first = first;
        self
    }

    /// Evaluates these points, and writes outputs to planes of the host. The planes begin with the
    /// first of the points, whose numbers are those of the globals' planes. `host` makes one for
    /// each thread. Returns what the points added to gradients by buffers, which is nothing in a
    /// program without.
    ///
    /// # Errors
    /// If an output is not there, or a plane is too short. Then nothing was evaluated.
    ///
    /// # Panics
    /// If a host panics.
    pub fn planes<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        host: impl Fn() -> H + Sync,
    ) -> Result<(BufferGradients, BatchReport), BatchError> {
        self.check_globals(globals, &points)?;
        let blocks = PlaneBlocks::new(planes, self.instance.program(), points.len())?;
        let write = |block: usize, evaluator: &BatchEvaluator, within: usize, (): &mut ()| {
            blocks.write(block, within, evaluator);
        };
        let done = self.on_threads(globals, &points, &host, || (), write)?;
        Ok((done.gradients, done.report))
    }

    /// Does at once what [`planes`](WholeBatch::planes) does with the one outputs, and
    /// [`sums`](WholeBatch::sums) with the others.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::batch::{BatchGlobals, OutputPlane, Part, WholeBatch};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let sources = Sources::new("s.adu", "shader s(out float o) { o = 2 * global_value<x>; }");
    /// let program = Compiler::new(layout).compile(&sources)?;
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &[5.0_f32, 6.0, 7.0], 1)?;
    /// let mut doubled = [0.0_f32; 3];
    /// let planes = &mut [OutputPlane::new("o", Part::Value, 0, &mut doubled, 1)];
    /// let batch = WholeBatch::new(&Instance::new(&program));
    /// let (sums, _) = batch.planes_and_sums(&globals, 0..3, planes, &["o"], || NoTextures)?;
    /// assert_eq!((doubled, sums.total("o")?), ([10.0, 12.0, 14.0], vec![36.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ) -> Result<(OutputSums, BatchReport), BatchError> {
        self.revised_sums(globals, points, planes, outputs, host, |_, _| {})
    }

    /// Evaluates these points, and sums outputs over them. Points that were stopped, or that the
    /// host leaves waiting, count as 0: the report has them.
    ///
    /// # Errors
    /// If an output is not there or has no floats, or a plane of the globals is too short.
    ///
    /// # Panics
    /// If a host panics.
    pub fn sums<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        outputs: &[&str],
        host: impl Fn() -> H + Sync,
    ) -> Result<(OutputSums, BatchReport), BatchError> {
        self.planes_and_sums(globals, points, &mut [], outputs, host)
    }

    /// The same, with planes, where floats are revised before they are summed: `revise` gets
    /// points, and a plane of these for each float.
    pub(crate) fn revised_sums<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        outputs: &[&str],
        host: impl Fn() -> H + Sync,
        revise: impl Fn(Range<usize>, &mut [Vec<f32>]) + Sync,
    ) -> Result<(OutputSums, BatchReport), BatchError> {
        self.check_globals(globals, &points)?;
        let program = self.instance.program();
        let mut whole = OutputSums::new(program, outputs)?;
        let blocks = PlaneBlocks::new(planes, program, points.len())?;
        let (slots, summed) = (whole.slots.clone(), whole.slots.len());
        let add = |block: usize,
                   evaluator: &BatchEvaluator,
                   within: usize,
                   (sums, plane): &mut (PlaneSums, Vec<Vec<f32>>)| {
            blocks.write(block, within, evaluator);
            let count = evaluator.outcomes().len();
            for (words, &scalar) in plane.iter_mut().zip(&slots) {
                words.resize(count, 0.0);
                evaluator.copy_scalar(scalar, Part::Value, as_words_mut(words), 1);
            }
            let number = self.number_of(&points, block, within);
            let first = (number - self.first) as usize;
            revise(first..first + count, plane);
            let slices: Vec<&[f32]> = plane.iter().map(Vec::as_slice).collect();
            sums.add_points(number, count, &slices);
        };
        let empty = || (PlaneSums::new(summed), vec![Vec::new(); summed]);
        let done = self.on_threads(globals, &points, &host, empty, add)?;
        for (sums, _) in done.states {
            let joined = whole.sums.join(sums);
            joined.expect("blocks are of different points");
        }
        whole.buffers = Some(done.gradients);
        Ok((whole, done.report))
    }

    /// Evaluates the points block by block. `each` gets the number of the block, the evaluator
    /// after a chunk, the first point of the chunk within the block, and the state of the thread.
    fn on_threads<H: Host, S: Send>(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
        host: &(impl Fn() -> H + Sync),
        state: impl Fn() -> S + Sync,
        each: impl Fn(usize, &BatchEvaluator, usize, &mut S) + Sync,
    ) -> Result<Evaluated<S>, EngineError> {
        let work = |blocks: &mut dyn Iterator<Item = usize>| {
            let make = || BatchEvaluator::with(&self.instance, &self.setup);
            let mut evaluator = self.evaluators.take(make)?;
            evaluator.set_instance(&self.instance);
            let mut host = host();
            let mut host = NumberedHost::new(&mut host, |point| self.first as usize + point);
            let mut state = state();
            let mut report = BatchReport::default();
            let width = evaluator.width();
            for block in blocks {
                let first = points.start + block * BLOCK;
                let count = BLOCK.min(points.end - first);
                for within in (0..count).step_by(width) {
                    let chunk = width.min(count - within);
                    evaluator.evaluate(globals, first + within, chunk, &mut host);
                    let number = self.first as usize + first + within;
                    report.join(report_of(&evaluator, number));
                    each(block, &evaluator, within, &mut state);
                }
            }
            let gradients = evaluator.take_gradients();
            self.evaluators.put(evaluator);
            Ok(Evaluated {
                report,
                gradients,
                states: vec![state],
            })
        };
        let all = on_threads(points.len().div_ceil(BLOCK), self.threads, work)?;
        let all = all.into_iter().reduce(Evaluated::joined);
        Ok(all.expect("there is a thread"))
    }

    /// The number of a point, by its block and its place there.
    fn number_of(&self, points: &Range<usize>, block: usize, within: usize) -> u64 {
        self.first + (points.start + block * BLOCK + within) as u64
    }

    fn check_globals(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
    ) -> Result<(), BatchError> {
        let layout = self.instance.program().globals();
        if self.instance.program().quad().is_some() {
            return Err(BatchError::Quads);
        }
        if globals.layout() != layout {
            return Err(BatchError::Layout);
        }
        let last = u64::try_from(points.end).ok();
        let last = last.and_then(|end| self.first.checked_add(end));
        if last.is_none_or(|last| isize::try_from(last).is_err()) {
            return Err(BatchError::Numbers);
        }
        if points.is_empty() {
            return Ok(());
        }
        for member in layout.members() {
            let own = (0..3).flat_map(|part| member.part(part));
            for source in own.map(|word| &globals.sources()[word]) {
                if let GlobalSource::Varying { words, stride } = source
                    && words_for(points.end, *stride) > words.len()
                {
                    let needs = words_for(points.end, *stride);
                    let name = member.name().to_owned();
                    return Err(BatchError::ShortGlobal(name, needs, words.len()));
                }
            }
        }
        Ok(())
    }
}

/// Words that points take, one every `stride`.
fn words_for(points: usize, stride: usize) -> usize {
    match points {
        0 => 0,
        points => (points - 1).saturating_mul(stride).saturating_add(1),
    }
}

/// What threads made of the points that they evaluated.
struct Evaluated<S> {
    report: BatchReport,
    /// What the points added to gradients by buffers.
    gradients: BufferGradients,
    /// By thread.
    states: Vec<S>,
}

impl<S> Evaluated<S> {
    /// With what other threads did.
    fn joined(mut self, other: Evaluated<S>) -> Evaluated<S> {
        self.report.join(other.report);
        self.gradients.join(&other.gradients);
        self.states.extend(other.states);
        self
    }
}
