//! Whole batches: all points of a host, on its threads, into planes or into sums.

use super::{BatchEvaluator, BatchGlobals, BatchSetup, Part, PlaneSums, SumFaults};
use crate::access::{AccessError, find};
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use crate::program::{Instance, Program};
use adumbra_ir::Type;
use adumbra_ir::host::{Fault, Faults, Host};
use adumbra_vm::words::{AnyWords, as_words_mut};
use adumbra_vm::{FloatEnvironment, GlobalSource, Outcome};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Points that a thread takes at a time.
const BLOCK: usize = 1 << 13;

/// An instance with what its points are evaluated by: a setup, and a number of threads.
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
    instance: Instance,
    setup: BatchSetup,
    threads: usize,
    /// The number of the point that planes begin with.
    first: u64,
}

/// A plane of the host, for one scalar of an output.
#[derive(Debug)]
pub struct OutputPlane<'p> {
    output: &'p str,
    part: Part,
    scalar: usize,
    words: &'p mut [u32],
    stride: usize,
}

impl<'p> OutputPlane<'p> {
    /// A plane for value, ddx or ddy of a scalar of an output: the first word is the first point's,
    /// then every `stride`th one. Floats go to `f32`, ints to `i32`, uints and bools to `u32`.
    pub fn new<W: AnyWords>(
        output: &'p str,
        part: Part,
        scalar: usize,
        words: &'p mut [W],
        stride: usize,
    ) -> OutputPlane<'p> {
        OutputPlane {
            output,
            part,
            scalar,
            words: as_words_mut(words),
            stride,
        }
    }
}

/// How the points of a batch went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    /// Points that a limit stopped: their outputs are zero.
    pub stopped: usize,
    /// Points that the host left waiting: their outputs are zero.
    pub pending: usize,
    /// Points with faults.
    pub faulty: usize,
    /// The first of those with a fault, and its first one.
    pub first_fault: Option<(usize, Fault)>,
}

impl BatchReport {
    /// Adds a point.
    pub fn add(&mut self, point: usize, outcome: Outcome, faults: &Faults) {
        match outcome {
            Outcome::Finished => {}
            Outcome::Stopped => self.stopped += 1,
            Outcome::Pending => self.pending += 1,
        }
        if let Some(fault) = faults.iter().next() {
            self.faulty += 1;
            let first = self.first_fault.get_or_insert((point, fault));
            if point < first.0 {
                *first = (point, fault);
            }
        }
    }

    /// Adds the points of another report.
    pub fn join(&mut self, other: BatchReport) {
        self.stopped += other.stopped;
        self.pending += other.pending;
        self.faulty += other.faulty;
        let all = [self.first_fault, other.first_fault].into_iter().flatten();
        self.first_fault = all.min_by_key(|(point, _)| *point);
    }
}

/// Why a batch cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// An output is not there, or has no such part.
    Access(AccessError),
    /// The engine is not there.
    Engine(EngineError),
    /// The globals have another layout than the program's.
    Layout,
    /// The points of the program take their derivatives from their neighbours, and come in quads.
    Quads,
    /// The plane of a global is too short: its name, the words that it needs, those that it has.
    ShortGlobal(String, usize, usize),
    /// The plane of an output is too short: its name, the words that it needs, those that it has.
    ShortOutput(String, usize, usize),
    /// Two points of the plane of an output have one word: its stride is 0.
    SharedOutput(String),
    /// An output has no floats, so there is no sum.
    NoFloats(String),
    /// The numbers of the points are beyond those that a point can have.
    Numbers,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Access(error) => error.fmt(f),
            BatchError::Engine(error) => error.fmt(f),
            BatchError::Quads => f.write_str(
                "points whose derivatives come from quads are evaluated by `BatchEvaluator`, quad by quad",
            ),
            BatchError::Layout => f.write_str("the globals are not laid out as the program's"),
            BatchError::ShortGlobal(name, needs, has) => write!(
                f,
                "the plane of the global `{name}` has {has} words, and the points need {needs}"
            ),
            BatchError::ShortOutput(name, needs, has) => write!(
                f,
                "the plane of the output `{name}` has {has} words, and the points need {needs}"
            ),
            BatchError::SharedOutput(name) => {
                write!(f, "the plane of the output `{name}` has the stride 0")
            }
            BatchError::NoFloats(name) => {
                write!(f, "the output `{name}` has no floats to be summed")
            }
            BatchError::Numbers => f.write_str("the numbers of the points are too large"),
        }
    }
}

impl std::error::Error for BatchError {}

impl From<AccessError> for BatchError {
    fn from(error: AccessError) -> BatchError {
        BatchError::Access(error)
    }
}

impl From<EngineError> for BatchError {
    fn from(error: EngineError) -> BatchError {
        BatchError::Engine(error)
    }
}

/// Sums of outputs over points, number by number.
///
/// They do not depend on widths, threads, engines or the division of the points: see [`PlaneSums`].
#[derive(Clone, Debug)]
pub struct OutputSums {
    /// Name, type and first plane of each output.
    outputs: Vec<(String, Type, usize)>,
    /// By plane, its scalar among those of all outputs of the program.
    slots: Vec<usize>,
    sums: PlaneSums,
    /// The gradients by buffers that the points added; none before there are points.
    buffers: Option<BufferGradients>,
}

impl OutputSums {
    /// The sums of no points of these outputs.
    ///
    /// # Errors
    /// If there is no such output, or it has no floats.
    pub fn new(program: &Program, outputs: &[&str]) -> Result<OutputSums, BatchError> {
        let (mut found, mut slots) = (Vec::new(), Vec::new());
        for &name in outputs {
            let (before, ty) = find(program.outputs(), name)?;
            let floats = ty.float_scalars();
            if floats.is_empty() {
                return Err(BatchError::NoFloats(name.to_owned()));
            }
            found.push((name.to_owned(), ty.clone(), slots.len()));
            slots.extend(floats.into_iter().map(|scalar| before + scalar));
        }
        Ok(OutputSums {
            outputs: found,
            sums: PlaneSums::new(slots.len()),
            slots,
            buffers: None,
        })
    }

    /// Adds a point by the words of all outputs of the program, as
    /// [`Evaluator::words`](crate::Evaluator::words) gives their values.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// use adumbra::batch::{OutputSums, Part};
    /// let sources = Sources::new("s.adu", "shader s(out int n, out float o) { n = 1; o = 2.5; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// let mut sums = OutputSums::new(&program, &["o"])?;
    /// for point in 0..4 {
    ///     evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    ///     sums.add_point(point, evaluator.words(Part::Value)?);
    /// }
    /// assert_eq!(sums.total("o")?, [10.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer words than the program has.
    pub fn add_point(&mut self, point: u64, words: impl Iterator<Item = u32>) {
        let words: Vec<u32> = words.collect();
        let own = self.slots.iter().map(|&slot| [f32::from_bits(words[slot])]);
        let own: Vec<[f32; 1]> = own.collect();
        let planes: Vec<&[f32]> = own.iter().map(<[f32; 1]>::as_slice).collect();
        self.sums.add_points(point, 1, &planes);
    }

    /// The sum of each float of an output, in order.
    ///
    /// # Errors
    /// If it is not summed.
    pub fn total(&self, output: &str) -> Result<Vec<f64>, AccessError> {
        let known = self.outputs.iter().map(|(name, ..)| name.as_str());
        let Some((_, ty, first)) = self.outputs.iter().find(|(name, ..)| name == output) else {
            return Err(AccessError::Unknown {
                name: output.to_owned(),
                closest: crate::access::closest_name(output, known).map(str::to_owned),
            });
        };
        let totals = self.sums.totals();
        Ok(totals[*first..][..ty.float_scalars().len()].to_vec())
    }

    /// The gradient by a buffer, summed over the points: a number for each of its numbers.
    ///
    /// # Errors
    /// If the program has no gradient by it, or no points were evaluated.
    pub fn buffer(&self, name: &str) -> Result<Vec<f64>, AccessError> {
        match &self.buffers {
            Some(buffers) => buffers.of(name),
            None => Err(AccessError::Unknown {
                name: name.to_owned(),
                closest: None,
            }),
        }
    }

    /// Adds gradients by buffers: those of an evaluator whose points were added one by one.
    ///
    /// # Panics
    /// If they are of another program, or its buffers are longer or shorter.
    pub fn add_gradients(&mut self, more: &BufferGradients) {
        match &mut self.buffers {
            Some(buffers) => buffers.join(more),
            None => self.buffers = Some(more.clone()),
        }
    }

    /// The planes of all outputs, in order.
    pub fn planes(&self) -> &PlaneSums {
        &self.sums
    }

    /// What is wrong with points: the output of the first one, and the float of it, beside what the
    /// planes say.
    pub fn faults(&self) -> SumFaults {
        self.sums.faults()
    }

    /// The output that a plane is of, and the number of its float.
    pub fn output_of(&self, plane: usize) -> Option<(&str, usize)> {
        let outputs = self.outputs.iter().rev();
        let mut outputs = outputs.filter(|(.., first)| *first <= plane);
        let (name, _, first) = outputs.next()?;
        (plane < self.sums.planes()).then(|| (name.as_str(), plane - first))
    }

    /// Adds the points of other sums of the same outputs, whose gradients are by buffers as long.
    ///
    /// # Errors
    /// If they are of others, or have a point of these: then these are as they were.
    pub fn join(&mut self, other: OutputSums) -> Result<(), super::JoinError> {
        if self.outputs != other.outputs {
            return Err(super::JoinError::Outputs);
        }
        if let (Some(own), Some(more)) = (&self.buffers, &other.buffers)
            && !own.is_like(more)
        {
            return Err(super::JoinError::Buffers);
        }
        self.sums.join(other.sums)?;
        if let Some(more) = &other.buffers {
            self.add_gradients(more);
        }
        Ok(())
    }
}

impl WholeBatch {
    /// On one thread, by the default setup.
    pub fn new(instance: &Instance) -> WholeBatch {
        WholeBatch {
            instance: instance.clone(),
            setup: BatchSetup::default(),
            threads: 1,
            first: 0,
        }
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> WholeBatch {
        self.threads = threads;
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> WholeBatch {
        self.setup = setup;
        self
    }

    /// The same where the first words of the globals' planes are those of point number `first`: for
    /// planes of a part of all points. Sums and reports have the numbers that this gives.
    pub fn numbered_from(mut self, first: u64) -> WholeBatch {
        self.first = first;
        self
    }

    /// Evaluates these points, and writes outputs to planes of the host. The planes begin with the
    /// first of the points; the numbers of points are those of the globals' planes, and those that
    /// hosts get. `host` makes one for each thread. Returns what the points added to gradients by
    /// buffers, which is nothing in a program without.
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
        let program = self.instance.program();
        let count = points.len();
        let mut slots = Vec::with_capacity(planes.len());
        for plane in &*planes {
            let (before, ty) = find(program.outputs(), plane.output)?;
            if plane.scalar >= ty.scalar_count() {
                return Err(AccessError::no_scalar(plane.output, plane.scalar, ty).into());
            }
            if plane.part != Part::Value {
                program.check_derivatives(plane.output)?;
            }
            let needs = words_for(count, plane.stride);
            if needs > plane.words.len() {
                let name = plane.output.to_owned();
                return Err(BatchError::ShortOutput(name, needs, plane.words.len()));
            }
            if plane.stride == 0 && count > 1 {
                return Err(BatchError::SharedOutput(plane.output.to_owned()));
            }
            slots.push((before + plane.scalar, plane.part, plane.stride));
        }
        // The words of each block, for the thread that takes it.
        let blocks = if slots.is_empty() {
            0
        } else {
            count.div_ceil(BLOCK)
        };
        let mut parts: Vec<Vec<&mut [u32]>> = (0..blocks).map(|_| Vec::new()).collect();
        for plane in planes {
            let mut rest = &mut *plane.words;
            for part in &mut parts {
                let words = BLOCK.saturating_mul(plane.stride).max(1).min(rest.len());
                let (own, others) = rest.split_at_mut(words);
                part.push(own);
                rest = others;
            }
        }
        let parts: Vec<Mutex<Vec<&mut [u32]>>> = parts.into_iter().map(Mutex::new).collect();
        let write = |block: usize, evaluator: &BatchEvaluator, within: usize, (): &mut ()| {
            if slots.is_empty() {
                return;
            }
            let mut part = parts[block].lock().unwrap_or_else(PoisonError::into_inner);
            for (words, &(scalar, kind, stride)) in part.iter_mut().zip(&slots) {
                evaluator.copy_scalar(scalar, kind, &mut words[within * stride..], stride);
            }
        };
        let done = self.on_threads(globals, &points, &host, || (), write)?;
        Ok((done.gradients, done.report))
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
        self.check_globals(globals, &points)?;
        let program = self.instance.program();
        let mut whole = OutputSums::new(program, outputs)?;
        let (slots, planes) = (whole.slots.clone(), whole.slots.len());
        let add = |block: usize,
                   evaluator: &BatchEvaluator,
                   within: usize,
                   (sums, plane): &mut (PlaneSums, Vec<Vec<f32>>)| {
            let count = evaluator.outcomes().len();
            for (words, &scalar) in plane.iter_mut().zip(&slots) {
                words.resize(count, 0.0);
                evaluator.copy_scalar(scalar, Part::Value, as_words_mut(words), 1);
            }
            let slices: Vec<&[f32]> = plane.iter().map(Vec::as_slice).collect();
            let first = (points.start + block * BLOCK + within) as u64;
            sums.add_points(self.first + first, count, &slices);
        };
        let empty = || (PlaneSums::new(planes), vec![Vec::new(); planes]);
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
        let blocks = points.len().div_ceil(BLOCK);
        let next = AtomicUsize::new(0);
        let work = || {
            let _mode = FloatEnvironment::enter();
            let mut evaluator = BatchEvaluator::with(&self.instance, &self.setup)?;
            let (mut host, mut state) = (host(), state());
            let mut report = BatchReport::default();
            let width = evaluator.width();
            loop {
                let block = next.fetch_add(1, Ordering::Relaxed);
                if block >= blocks {
                    return Ok(Evaluated {
                        report,
                        gradients: evaluator.take_gradients(),
                        states: vec![state],
                    });
                }
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
        };
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let threads = threads.min(blocks).max(1);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                let other = match other.join() {
                    Ok(done) => done,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                all = all.and_then(|all| Ok(all.joined(other?)));
            }
            all
        })
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

/// The report on the points of the last evaluation, the first of which has that number.
fn report_of(evaluator: &BatchEvaluator, first: usize) -> BatchReport {
    let mut report = BatchReport::default();
    for (point, outcome) in evaluator.outcomes().iter().enumerate() {
        report.add(first + point, *outcome, evaluator.faults(point));
    }
    report
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
