//! The batch evaluator: an instance, and the machine that runs chunks of points.

mod outputs;
mod suspended;

use super::globals::BatchGlobals;
use super::{BatchSetup, SimdLevel, Tier, batch_machine, uniform_words};
use crate::access::Fingerprint;
use crate::buffer::BufferGradients;
use crate::evaluator::{Engine, EngineError, EvaluatorContext};
use crate::program::Instance;
use crate::stats::Stats;
use crate::tier::tier_up::TierUpState;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::Host;
use adumbra_vm::{BatchMachine, GlobalSource};
use std::fmt;
use std::sync::Arc;

/// Evaluates an instance at many points at once, on one thread: a *chunk* of hundreds of points
/// runs through the program together. Every point has, to the bit, its results of an
/// [`Evaluator`](crate::Evaluator).
///
/// It owns its memory. Evaluating allocates none, but where points have more faults, closures or
/// suspended points than before. With [`Tier::Auto`] the compile thread makes a second machine,
/// which grows in the same way; with [`CompileWhen::AtOnce`](super::CompileWhen::AtOnce) one of the
/// evaluations makes it.
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
    /// If the width is 0 or more than [`MAX_WIDTH`](super::MAX_WIDTH).
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

    /// Evaluates another instance of the program from now on, of the same buffers.
    pub(crate) fn set_instance(&mut self, instance: &Instance) {
        if self.instance().inputs() != instance.inputs() {
            self.context = self.context.of_instance(instance);
        }
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

    /// Waits for the machine code that it has requested by
    /// [`CompileWhen::Background`](super::CompileWhen::Background), if any is pending, for the sake
    /// of measurements. The next evaluation may use it.
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
        globals: &BatchGlobals<'_>,
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
        globals: &BatchGlobals<'_>,
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
    fn sources<'g, 'a>(&self, globals: &'g BatchGlobals<'a>) -> &'g [GlobalSource<'a>] {
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
        let mut stats = self
            .instance()
            .evaluator_stats(self.memory(), tier, may_be_native);
        if let (Some(native), Some(tier_up)) = (&mut stats.native, &self.tier_up) {
            native.speedup = tier_up.speedup();
        }
        stats
    }
}
