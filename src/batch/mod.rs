//! The batch evaluator: many points at once.

pub use crate::engine::{SimdError, Tier};
pub use crate::tier::{CompileWhen, HOT_POINTS, TierUp};
pub use crate::value::Part;
pub use adumbra_vm::SimdLevel;
pub use adumbra_vm::batch::MAX_WIDTH;
pub use adumbra_vm::words::{AnyWords, Words};
pub use globals::BatchGlobals;
pub use simd_level::SIMD_VARIABLE;
pub use sums::{JoinError, PlaneSums, PointFault, SumFaults};
pub use whole::{BatchError, BatchReport, ClosureLeaves, OutputPlane, OutputSums, WholeBatch};

use crate::access::{AccessError, ClosureSlot, Fingerprint, OutputSlot, find};
use crate::buffer::BufferGradients;
use crate::closure::ClosureView;
use crate::evaluator::output::output_views;
use crate::evaluator::{EngineError, EvaluatorContext, OutputView, ParkError, ParkedPoint};
use crate::program::{Instance, Program};
use crate::stats::Stats;
use crate::tier::tier_up::TierUpState;
use crate::value::{HostValue, MAX_HOST_SCALARS, OutputValue};
use crate::{GlobalsLayout, evaluator::Engine};
use adumbra_ir::Type;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{ClosureRef, Faults, Host, Limits, SampleRequest, Texel};
use adumbra_vm::native::{self, NativeBackend};
use adumbra_vm::words::{as_uninit_words_mut, as_words_mut};
use adumbra_vm::{BatchMachine, BatchOptions, FloatEnvironment, GlobalSource, Outcome};
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::Arc;

pub(crate) mod globals;
pub(crate) mod numbered_host;
mod simd_level;
mod sums;
pub(crate) mod threads;
mod whole;

/// Options of a [`BatchEvaluator`].
#[derive(Clone, Debug, Default)]
pub struct BatchSetup {
    /// The limits of each point.
    pub limits: Limits,
    /// Points of a chunk, 1 to [`MAX_WIDTH`]; `None` for a width that suits the program. A program
    /// with very large arrays has fewer; where points are evaluated in quads, the quads are whole.
    pub width: Option<usize>,
    /// The SIMD level; if `None`, the one that the environment names in [`SIMD_VARIABLE`], else the
    /// best.
    pub simd: Option<SimdLevel>,
    /// Globals whose values are the same for all points of a chunk: values that depend on them
    /// alone are computed once for each chunk. Of those given from planes, the first point's value
    /// counts. Names that are no globals of the program change nothing.
    pub uniform: Vec<String>,
    /// The tier that computes arithmetic.
    pub tier: Tier,
    /// With [`Tier::Auto`]: when the program is compiled.
    pub tier_up: TierUp,
}

/// Evaluates an instance at many points at once, on one thread: a *chunk* of hundreds of points
/// runs through the program together. Every point has, to the bit, its results of an
/// [`Evaluator`](crate::Evaluator).
///
/// It owns its memory. Evaluating allocates none, but where points have more faults, closures or
/// suspended points than before. With [`Tier::Auto`] the compile thread makes a second machine,
/// which grows in the same way; with [`CompileWhen::AtOnce`] one of the evaluations makes it.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Options, Sources, Type, batch::{BatchEvaluator, BatchGlobals, Part}};
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let options = Options { output_derivatives: true, ..Options::default() };
/// let sources = Sources::new("cube.adu", "shader cube(out float o) { float x = global_value<x>; o = x * x * x; }");
/// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
///
/// // The host's planes.
/// let x: Vec<f32> = (0..1000).map(|pixel| pixel as f32).collect();
/// let mut globals = BatchGlobals::new(program.globals());
/// globals.plane("x", Part::Value, 0, &x, 1)?;
/// globals.uniform_part("x", Part::Ddx, 1.0_f32)?;
///
/// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
/// let (mut values, mut slopes) = (vec![0.0_f32; 1000], vec![0.0_f32; 1000]);
/// let width = evaluator.width();
/// for first in (0..1000).step_by(width) {
///     let points = width.min(1000 - first);
///     evaluator.evaluate(&globals, first, points, &mut NoTextures);
///     evaluator.copy("o", Part::Value, 0, &mut values[first..], 1)?;
///     evaluator.copy("o", Part::Ddx, 0, &mut slopes[first..], 1)?;
/// }
/// assert_eq!((values[999], slopes[999]), (999.0 * 999.0 * 999.0, 3.0 * 999.0 * 999.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchEvaluator {
    context: Arc<EvaluatorContext>,
    signature: Fingerprint,
    machine: BatchMachine,
    /// The numbers of buffers, and what points added to sums.
    memory: Arc<BufferMemory>,
    tier: Tier,
    /// The state of tier-up, if it may use machine code.
    tier_up: Option<Box<TierUpState>>,
}

impl fmt::Debug for BatchEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchEvaluator")
            .field("instance", self.instance())
            .field("width", &self.width())
            .finish_non_exhaustive()
    }
}

/// The machine for an instance; one that may tier up begins as an interpreter.
///
/// # Errors
/// If this processor lacks the level.
pub(crate) fn batch_machine(
    program: &Program,
    setup: &BatchSetup,
    memory: &Arc<BufferMemory>,
) -> Result<BatchMachine, EngineError> {
    // Machine code has folded constants.
    let _mode = FloatEnvironment::enter();
    let level = simd_level::choose_level(setup.simd).map_err(EngineError::Simd)?;
    let native: Option<Arc<dyn NativeBackend>> = match setup.tier {
        Tier::Interpreter | Tier::Auto => None,
        Tier::Native if !native::supports_level(level) => {
            return Err(EngineError::native_unavailable());
        }
        Tier::Native => Some(
            program
                .native_backend()
                .ok_or_else(EngineError::native_unavailable)?,
        ),
    };
    let options = BatchOptions {
        width: setup.width,
        level: Some(level),
        uniform: uniform_words(program.globals(), &setup.uniform),
        native,
        loaded: Some(program.loaded_code().clone()),
        // No code will come at such a level, and its routines are slower than single points.
        pointwise: setup.tier == Tier::Auto && !native::supports_level(level),
        ..BatchOptions::default()
    };
    let bytecode = program.bytecode().clone();
    let mut machine = BatchMachine::new(bytecode, setup.limits, &options);
    machine.set_buffers(memory);
    Ok(machine)
}

impl AccessError {
    /// The error of a scalar that the value of that name lacks.
    fn no_scalar(name: &str, scalar: usize, has: &Type) -> AccessError {
        AccessError::Scalar {
            name: name.to_owned(),
            scalar,
            has: has.to_string(),
        }
    }
}

/// For each word of a layout, whether it is a value of one of these members.
pub(crate) fn uniform_words(layout: &GlobalsLayout, names: &[String]) -> Vec<bool> {
    let mut uniform = vec![false; layout.size() / 4];
    for member in layout.members() {
        if names.iter().any(|name| name == member.name()) {
            uniform[member.part(Part::Value as usize)].fill(true);
        }
    }
    uniform
}

impl BatchEvaluator {
    /// An evaluator within the default limits, with chunks of a width that suits the program. It
    /// uses the best instructions that the processor has, or those that the environment names.
    ///
    /// # Errors
    /// If the environment names instructions that this processor lacks.
    pub fn new(instance: &Instance) -> Result<BatchEvaluator, EngineError> {
        BatchEvaluator::with(instance, &BatchSetup::default())
    }

    /// An evaluator with the given options.
    ///
    /// # Errors
    /// If instructions or machine code are unavailable.
    ///
    /// # Panics
    /// If the width is 0 or more than [`MAX_WIDTH`].
    pub fn with(instance: &Instance, setup: &BatchSetup) -> Result<BatchEvaluator, EngineError> {
        let program = instance.program();
        let memory = Arc::new(BufferMemory::new(instance.buffers()));
        let mut machine = batch_machine(program, setup, &memory)?;
        let tier_up = (setup.tier == Tier::Auto).then(|| {
            let uniform = uniform_words(program.globals(), &setup.uniform);
            let up = setup.tier_up;
            TierUpState::new((program, &memory), &mut machine, &uniform, setup.limits, up)
        });
        Ok(BatchEvaluator {
            // Suspended points resume in evaluators of single points.
            context: EvaluatorContext::new(instance, Engine::Point, setup.limits),
            signature: Fingerprint::of(program.outputs()),
            machine,
            memory,
            tier: setup.tier,
            tier_up: tier_up.flatten().map(Box::new),
        })
    }

    /// The instance that it evaluates.
    pub fn instance(&self) -> &Instance {
        &self.context.instance
    }

    /// The most points that it evaluates at once.
    pub fn width(&self) -> usize {
        self.machine.width()
    }

    /// The instructions that it uses.
    pub fn simd(&self) -> SimdLevel {
        self.machine.level()
    }

    /// The tier that computed the last evaluation, or will compute the first: with [`Tier::Auto`]
    /// the interpreter or machine code.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type, batch::{BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, SimdLevel, Tier, TierUp}};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let sources = Sources::new("cube.adu", "shader cube(out float o) { float x = global_value<x>; o = x * x * x; }");
    /// let program = Compiler::new(layout).compile(&sources)?;
    /// let globals = BatchGlobals::new(program.globals());
    /// // From the first point on, by this thread.
    /// let tier_up = TierUp { when: CompileWhen::AtOnce, after: 0 };
    /// let setup = BatchSetup { tier: Tier::Auto, tier_up, ..BatchSetup::default() };
    /// let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup)?;
    /// let mut tiers = Vec::new();
    /// for _ in 0..4 {
    ///     evaluator.evaluate(&globals, 0, 100, &mut NoTextures);
    ///     tiers.push(evaluator.tier());
    /// }
    /// // Both run alternately, where there is machine code; some time later the faster one stays.
    /// let both = [Tier::Interpreter, Tier::Native, Tier::Native, Tier::Interpreter];
    /// let expected = if Tier::Native.is_available() { both } else { [Tier::Interpreter; 4] };
    /// # let expected = if evaluator.simd() == SimdLevel::Baseline && cfg!(target_arch = "x86_64") { [Tier::Interpreter; 4] } else { expected };
    /// assert_eq!(tiers, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tier(&self) -> Tier {
        match (&self.tier_up, self.tier) {
            (Some(tier_up), _) => tier_up.tier(),
            (None, Tier::Native) => Tier::Native,
            (None, _) => Tier::Interpreter,
        }
    }

    /// Waits for the machine code that it has requested by [`CompileWhen::Background`], if any is
    /// pending, for the sake of measurements. The next evaluation may use it.
    pub fn wait_for_code(&self) {
        if let Some(tier_up) = &self.tier_up {
            tier_up.wait();
        }
    }

    /// Evaluates points `first` to `first + points` of a batch. Requests of each sample go to the
    /// host together ([`Host::sample_batch`]), with the numbers of the points in the batch. Each
    /// point's requests and messages come in the order in which it executes them. Results stay
    /// readable until the next evaluation. Points that are suspended here are given up.
    ///
    /// Where derivatives come from quads ([`Derivatives::Quad`](crate::Derivatives::Quad)), each
    /// four points are a quad, in the order of [`Corner::ALL`](crate::derivatives::Corner::ALL).
    ///
    /// # Panics
    /// If there are more points than the [`width`](BatchEvaluator::width), quads that are not
    /// whole, the globals have another layout than the program's, or a plane is too short. No
    /// points are evaluated wherever the first of them would be.
    pub fn evaluate(
        &mut self,
        globals: &globals::BatchGlobals<'_>,
        first: usize,
        points: usize,
        host: &mut dyn Host,
    ) {
        let sources = self.sources(globals);
        self.run(points, |machine, inputs| {
            machine.run(sources, inputs, first, points, host);
        });
    }

    /// Runs a batch of `points` points by the machine of the current tier.
    fn run(&mut self, points: usize, run: impl FnOnce(&mut BatchMachine, &[u32])) {
        let inputs = self.context.instance.inputs();
        match &mut self.tier_up {
            Some(tier_up) => tier_up.run(&mut self.machine, points, |machine| run(machine, inputs)),
            None => run(&mut self.machine, inputs),
        }
    }

    /// Evaluates quads at an edge: the points from `first` on, one for each of `helpers`. Points
    /// whose helper is set are evaluated for their neighbours alone. The host answers what they
    /// sample by [`Host::sample_for_helper`], and gets none of their messages.
    ///
    /// ```
    /// use adumbra::{Compiler, Derivatives, Dual, GlobalsLayout, Instance, NoTextures, Options, Sources, Type, batch::{BatchEvaluator, BatchGlobals, Part}, derivatives::Quad};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let options = Options { derivatives: Derivatives::Quad(Quad::Fine), output_derivatives: true, ..Options::default() };
    /// let sources = Sources::new("square.adu", "shader square(out float o) { float x = global_value<x>; o = x * x; }");
    /// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
    ///
    /// // An image of three pixels: two quads, of which the second lies half beyond its edge, and all below.
    /// let x: [f32; 8] = [8.5, 9.5, 8.5, 9.5, 10.5, 11.5, 10.5, 11.5];
    /// let helpers = [false, false, true, true, false, true, true, true];
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &x, 1)?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate_quads(&globals, 0, &helpers, &mut NoTextures);
    /// let slopes = [0, 1, 4].map(|point| evaluator.get::<Dual<f32>>("o", point).map(|o| o.ddx));
    /// assert_eq!(slopes, [Ok(18.0), Ok(18.0), Ok(22.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As for [`evaluate`](BatchEvaluator::evaluate); if the program's points are not evaluated in
    /// quads.
    pub fn evaluate_quads(
        &mut self,
        globals: &globals::BatchGlobals<'_>,
        first: usize,
        helpers: &[bool],
        host: &mut dyn Host,
    ) {
        let sources = self.sources(globals);
        self.run(helpers.len(), |machine, inputs| {
            machine.run_quads(sources, inputs, first, helpers, host);
        });
    }

    /// # Panics
    /// If the globals have another layout than the program's.
    fn sources<'g, 'a>(&self, globals: &'g globals::BatchGlobals<'a>) -> &'g [GlobalSource<'a>] {
        assert!(
            globals.layout() == self.instance().program().globals(),
            "the globals are laid out as the program's"
        );
        globals.sources()
    }

    /// Takes the gradients by buffers that its points have added since this was asked last; none of
    /// a program that has none. Points that are parked, and go on elsewhere, add the rest there.
    pub fn take_gradients(&mut self) -> BufferGradients {
        BufferGradients::taken(self.context.instance.program(), &self.memory)
    }

    /// How far each point of the last evaluation came.
    pub fn outcomes(&self) -> &[Outcome] {
        self.machine.outcomes()
    }

    /// The faults of a point of the last evaluation, numbered from its first one.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn faults(&self, point: usize) -> &Faults {
        self.machine.faults(point)
    }

    /// Whether a point of the last evaluation has faults.
    pub(crate) fn has_faults(&self) -> bool {
        self.machine.has_faults()
    }

    /// An output, or a member of one that is a struct (`ray.origin`), at a point of the last
    /// evaluation: its value, or as a [`Dual`](crate::Dual) its value and its derivatives.
    ///
    /// # Errors
    /// If there is no such output, it has another type, or derivatives are asked for and the
    /// program was compiled without [`output_derivatives`](crate::Options::output_derivatives).
    ///
    /// # Panics
    /// If there is no such point.
    pub fn get<T: OutputValue>(&self, path: &str, point: usize) -> Result<T, AccessError> {
        Ok(self.read_at(self.instance().program().find_read::<T>(path)?, point))
    }

    /// An output as [`get`](BatchEvaluator::get) gives it, without looking for its name.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or has derivatives that this one does
    /// not compute, or there is no such point.
    pub fn read<T: OutputValue>(&self, slot: OutputSlot<T>, point: usize) -> T {
        self.read_at(self.output_at(slot), point)
    }

    /// The scalars before the output of a slot.
    fn output_at<T: OutputValue>(&self, slot: OutputSlot<T>) -> usize {
        let computes_derivatives = self.instance().program().output_derivatives();
        slot.output(self.signature, computes_derivatives)
    }

    /// The output that begins at a scalar.
    fn read_at<T: OutputValue>(&self, before: usize, point: usize) -> T {
        let count = T::Value::ty().scalar_count();
        let mut words = [0; MAX_HOST_SCALARS];
        T::of_parts(|part| {
            for (scalar, word) in words[..count].iter_mut().enumerate() {
                *word = self.machine.output(before + scalar, part as usize, point);
            }
            T::Value::read(&words[..count])
        })
    }

    /// Copies value, ddx or ddy of one scalar of an output, for all points of the last evaluation,
    /// to a plane of the host: every `stride`th of its words. Floats go to `f32`, ints to `i32`,
    /// uints and bools to `u32`.
    ///
    /// # Errors
    /// If there is no such output, it has no such scalar, or derivatives are asked for and the
    /// program was compiled without [`output_derivatives`](crate::Options::output_derivatives).
    ///
    /// # Panics
    /// If the plane is too short.
    pub fn copy<W: AnyWords>(
        &self,
        output: &str,
        part: Part,
        scalar: usize,
        to: &mut [W],
        stride: usize,
    ) -> Result<(), AccessError> {
        let scalar = self.scalar_of(output, part, scalar)?;
        self.machine
            .copy_output(scalar, part as usize, as_words_mut(to), stride);
        Ok(())
    }

    /// Copies a part of a scalar, counted over all outputs, to every `stride`th word of a plane.
    pub(crate) fn copy_scalar(&self, scalar: usize, part: Part, to: &mut [u32], stride: usize) {
        self.machine.copy_output(scalar, part as usize, to, stride);
    }

    /// Copies value, ddx or ddy of one scalar of an output, as [`copy`](BatchEvaluator::copy) does,
    /// to a plane that may be uninitialised: new memory, or that of a host in another language. The
    /// words between stay.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, batch::{BatchEvaluator, BatchGlobals, Part}};
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", "shader s(out float o) { o = 2.5; }"))?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate(&BatchGlobals::new(program.globals()), 0, 100, &mut NoTextures);
    ///
    /// let mut plane = Vec::<f32>::with_capacity(100);
    /// evaluator.copy_uninit("o", Part::Value, 0, plane.spare_capacity_mut(), 1)?;
    /// // SAFETY: of 100 points the values were written, side by side.
    /// unsafe { plane.set_len(100) };
    /// assert_eq!(plane, [2.5; 100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy`](BatchEvaluator::copy).
    ///
    /// # Panics
    /// If the plane is too short.
    pub fn copy_uninit<W: AnyWords>(
        &self,
        output: &str,
        part: Part,
        scalar: usize,
        to: &mut [MaybeUninit<W>],
        stride: usize,
    ) -> Result<(), AccessError> {
        let scalar = self.scalar_of(output, part, scalar)?;
        let to = as_uninit_words_mut(to);
        self.machine
            .copy_output_uninit(scalar, part as usize, to, stride);
        Ok(())
    }

    /// A scalar of an output among those of all outputs, to read that part of it.
    fn scalar_of(&self, output: &str, part: Part, scalar: usize) -> Result<usize, AccessError> {
        let program = self.instance().program();
        let (before, ty) = find(program.outputs(), output)?;
        if scalar >= ty.scalar_count() {
            return Err(AccessError::no_scalar(output, scalar, ty));
        }
        if part != Part::Value {
            program.check_derivatives(output)?;
        }
        Ok(before + scalar)
    }

    /// Copies value, ddx or ddy of one scalar of an output, as [`copy`](BatchEvaluator::copy) does,
    /// without looking for its name. A slot of a [`Dual`](crate::Dual) has the derivatives.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, GlobalsLayout, Instance, NoTextures, Options, Sources, Type, batch::{BatchEvaluator, BatchGlobals, Part}};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let options = Options { output_derivatives: true, ..Options::default() };
    /// let sources = Sources::new("square.adu", "shader square(out float o) { float x = global_value<x>; o = x * x; }");
    /// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
    /// let o = program.output_slot::<Dual<f32>>("o")?;
    ///
    /// let x = [1.0_f32, 2.0, 3.0];
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &x, 1)?;
    /// globals.uniform_part("x", Part::Ddx, 1.0_f32)?;
    /// let mut evaluator = BatchEvaluator::new(&Instance::new(&program))?;
    /// evaluator.evaluate(&globals, 0, 3, &mut NoTextures);
    /// let mut slopes = [0.0_f32; 3];
    /// evaluator.copy_slot(o, Part::Ddx, 0, &mut slopes, 1);
    /// assert_eq!(slopes, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or has derivatives that this one does
    /// not compute, its type has no such part or scalar, or the plane is too short.
    pub fn copy_slot<T: OutputValue, W: AnyWords>(
        &self,
        slot: OutputSlot<T>,
        part: Part,
        scalar: usize,
        to: &mut [W],
        stride: usize,
    ) {
        let count = T::Value::ty().scalar_count();
        assert!(scalar < count, "the type has the scalar");
        let has_part = T::HAS_DERIVATIVES || part == Part::Value;
        assert!(has_part, "the slot of a `Dual` has derivatives");
        let scalar = self.output_at(slot) + scalar;
        self.machine
            .copy_output(scalar, part as usize, as_words_mut(to), stride);
    }

    /// Value, ddx or ddy of the outputs of a point of the last evaluation as bits: those of each
    /// scalar of each output, in order.
    ///
    /// # Errors
    /// If there are outputs and the program does not compute their derivatives.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn words(
        &self,
        part: Part,
        point: usize,
    ) -> Result<impl Iterator<Item = u32> + '_, AccessError> {
        self.instance().program().check_words(part)?;
        let scalars = 0..self.output_scalars();
        Ok(scalars.map(move |scalar| self.machine.output(scalar, part as usize, point)))
    }

    fn output_scalars(&self) -> usize {
        let outputs = self.instance().program().outputs().iter();
        outputs.map(|output| output.ty.scalar_count()).sum()
    }

    /// Every output of a point of the last evaluation, in order. Its bits are put into `buffer`,
    /// which can be reused.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn outputs<'a>(
        &'a self,
        point: usize,
        buffer: &'a mut Vec<u32>,
    ) -> impl Iterator<Item = OutputView<'a>> {
        buffer.clear();
        let words = 0..3 * self.output_scalars();
        buffer.extend(words.map(|at| self.machine.output(at / 3, at % 3, point)));
        let arena = self.machine.closures(point);
        output_views(self.instance().program(), buffer, arena)
    }

    /// An output of type closure at a point of the last evaluation.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or there is no such point.
    pub fn closure(&self, slot: ClosureSlot, point: usize) -> ClosureView<'_> {
        self.closure_at(slot.offset(self.signature), point)
    }

    /// The closure of an output of that scalar at a point.
    fn closure_at(&self, scalar: usize, point: usize) -> ClosureView<'_> {
        self.numbered_closure(self.machine.output(scalar, 0, point), point)
    }

    /// A closure of a point of the last evaluation by its [number](ClosureView::number); one that
    /// there is not is empty.
    pub fn numbered_closure(&self, number: u32, point: usize) -> ClosureView<'_> {
        let interface = self.instance().program().interface();
        ClosureView {
            arena: self.machine.closures(point),
            shapes: &interface.closures,
            resources: &interface.resources,
            root: ClosureRef::from_word(number),
        }
    }

    /// The suspended points of the last evaluation, for which the host answered
    /// [`Pending`](crate::Sampled::Pending), each with its request. While one point of a quad is
    /// suspended, none of its four has an [outcome](BatchEvaluator::outcomes).
    pub fn suspended(&self) -> impl Iterator<Item = (usize, &SampleRequest)> {
        let waiting = self.machine.suspended().iter();
        waiting.filter_map(|(point, parked)| Some((*point, parked.request()?)))
    }

    /// Resumes a suspended point, alone or with its quad. The answer is red, green, blue, alpha,
    /// or a [`Texel`] that has their slopes, too. All that follows has the bits of an evaluation
    /// whose host answers at once.
    ///
    /// # Panics
    /// If the point is not suspended.
    pub fn answer(
        &mut self,
        point: usize,
        texel: impl Into<Texel>,
        host: &mut dyn Host,
    ) -> Outcome {
        self.machine.answer(point, texel, host)
    }

    /// Moves a suspended point out of the evaluator, so that it can wait beyond the next
    /// evaluation. It resumes in any [`Evaluator`](crate::Evaluator) of the same instance and
    /// limits, with the engine [`Point`](Engine::Point). All four points of a quad go along; there,
    /// [`show`](crate::Evaluator::show) selects the one that is read.
    ///
    /// # Errors
    /// If a limit on parked points is met; the point then is still suspended here.
    ///
    /// # Panics
    /// If the point is not suspended.
    pub fn park(&mut self, point: usize) -> Result<ParkedPoint, ParkError> {
        ParkedPoint::from_batch(&self.context, &mut self.machine, point)
    }

    /// Parks all points that are suspended here, each with its number in the last evaluation; one
    /// point of a quad represents all four.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, batch::{BatchEvaluator, BatchGlobals}};
    /// /// A host whose textures are still on disk.
    /// struct Disk;
    /// impl Host for Disk {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Sampled::Pending
    ///     }
    /// }
    ///
    /// let source = "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(0.5, 0.5); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let material = Instance::new(&program);
    /// let mut batch = BatchEvaluator::new(&material)?;
    /// batch.evaluate(&BatchGlobals::new(program.globals()), 0, 10, &mut Disk);
    /// let mut parked = Vec::new();
    /// batch.park_all(&mut parked)?;
    ///
    /// // Some batches later, one by one.
    /// let mut single = Evaluator::new(&material);
    /// for (number, (point, waiting)) in parked.into_iter().enumerate() {
    ///     assert_eq!(point, number);
    ///     single.resume(waiting, [0.5, 0.25, 0.125, 1.0], &mut Disk)?;
    ///     assert_eq!(single.get::<[f32; 3]>("c")?, [0.5, 0.25, 0.125]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a limit on parked points is met; those that are not in `parked` then are still suspended
    /// here.
    pub fn park_all(&mut self, parked: &mut Vec<(usize, ParkedPoint)>) -> Result<(), ParkError> {
        let first =
            |evaluator: &BatchEvaluator| evaluator.suspended().map(|(point, _)| point).next();
        while let Some(point) = first(self) {
            parked.push((point, self.park(point)?));
        }
        Ok(())
    }

    /// Bytes that it takes, its own included, beside instance and program. It grows with the most
    /// faults, the largest closures and the most points that waited so far.
    pub fn memory(&self) -> usize {
        let tier_up = self.tier_up.as_ref();
        let tier_up = tier_up.map_or(0, |tier_up| size_of::<TierUpState>() + tier_up.heap());
        size_of::<BatchEvaluator>() - size_of::<BatchMachine>()
            + self.machine.memory()
            + self.memory.memory()
            + self.context.memory()
            + tier_up
    }

    /// The statistics of its program, with the memory of the instance and of itself, and those of
    /// machine code.
    pub fn stats(&self) -> Stats {
        let may_be_native = self.tier != Tier::Interpreter;
        let tier = Some(self.tier());
        let mut stats = Stats::of_evaluator(self.instance(), self.memory(), tier, may_be_native);
        if let (Some(native), Some(tier_up)) = (&mut stats.native, &self.tier_up) {
            native.speedup = tier_up.speedup();
        }
        stats
    }
}
