//! The evaluator of single points and quads, by any engine.

pub use crate::engine::{Engine, EngineError, SimdError, Tier};
pub use crate::float_environment::in_default_float_environment;

use crate::access::{AccessError, ClosureSlot, Fingerprint, OutputSlot};
use crate::buffer::BufferGradients;
use crate::closure::ClosureView;
use crate::globals::{PointGlobals, point_words};
use crate::program::{Instance, Program};
use crate::stats::Stats;
use crate::tier::point_tier_up::PointTierUp;
use crate::value::{HostValue, OutputValue, Part, ValueView};
use adumbra_ir::Diagnostic;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{ClosureRef, Fault, Faults, Host, Limits, SampleRequest, Sampled, Texel};
use adumbra_ir::memory::HeapSize;
use adumbra_ir::quad::Corner;
use adumbra_vm::{FloatEnvironment, Outcome, PointClosures, PointMachine};
pub(crate) use parked::EvaluatorContext;
use quad::QuadMachine;
use reference::ReferenceMachine;
use single::SinglePointBatch;
use std::fmt;
use std::sync::Arc;

pub(crate) mod output;
mod parked;
mod quad;
pub(crate) mod quad_neighbours;
pub(crate) mod reference;
#[cfg(feature = "batch")]
mod single;
#[cfg(not(feature = "batch"))]
#[path = "evaluator/no_single.rs"]
mod single;

pub use output::OutputView;
pub use parked::{ParkError, ParkedPoint, ResumeError};

/// Textures for shaders that sample none: all of them are white and opaque.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTextures;

impl<F> Host<F> for NoTextures {
    fn sample(&mut self, _: &SampleRequest<F>) -> Sampled {
        Sampled::Ready([1.0; 4])
    }
}

/// Evaluates an instance, on one thread. It owns its memory; evaluating allocates none. With the
/// default engine, [`Engine::Auto`], the compile thread makes machine code of a program of which
/// many points are evaluated.
///
/// ```
/// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type};
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let options = Options { output_derivatives: true, ..Options::default() };
/// let sources = Sources::new("cube.adu", "shader cube(out float o) { float x = global_value<x>; o = x * x * x; }");
/// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
///
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// let mut globals = Globals::new(program.globals());
/// for pixel in 0..4 {
///     let x = pixel as f32;
///     globals.set("x", x, 1.0, 0.0)?;
///     evaluator.evaluate(&globals, &mut NoTextures);
///     let o = evaluator.get::<Dual<f32>>("o")?;
///     assert_eq!((o.value, o.ddx, o.ddy), (x * x * x, 3.0 * x * x, 0.0));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluator {
    context: Arc<EvaluatorContext>,
    signature: Fingerprint,
    machine: Machine,
    /// The numbers of buffers, and what points added to sums.
    buffer_memory: Arc<BufferMemory>,
    /// The state of tier-up, while it may yet use machine code.
    tier_up: Option<PointTierUp>,
    /// Memory for globals that have another layout than the program's: of a point, or of the four
    /// of a quad.
    buffers: [Vec<u32>; 4],
}

enum Machine {
    Reference(Box<ReferenceMachine>),
    Point(Box<PointMachine>),
    Batch(Box<SinglePointBatch>),
    /// Four points of a quad, each a machine of its own.
    Quad(Box<QuadMachine>),
}

/// The machine of single points, with machine code for the engine that has it.
fn point_machine(
    program: &Program,
    limits: Limits,
    engine: Engine,
    memory: &Arc<BufferMemory>,
) -> PointMachine {
    let bytecode = program.bytecode().clone();
    // Machine code has folded constants.
    let _mode = FloatEnvironment::enter();
    let native = match engine {
        Engine::Native => program.native_backend(),
        _ => None,
    };
    let mut machine = match native {
        Some(native) => PointMachine::with_code(bytecode, limits, &*native),
        None => PointMachine::new(bytecode, limits),
    };
    machine.set_buffers(memory);
    machine
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator")
            .field("instance", self.instance())
            .finish_non_exhaustive()
    }
}

impl Evaluator {
    /// An evaluator with the default engine and the default limits.
    pub fn new(instance: &Instance) -> Evaluator {
        let evaluator = Evaluator::with(instance, Engine::default(), Limits::default());
        evaluator.expect("the default engine runs every program")
    }

    /// An evaluator with the given engine and limits.
    ///
    /// # Errors
    /// If the engine cannot run here. The one for batches needs the instructions that the
    /// environment names; the native one, a processor with code. Each needs its feature.
    pub fn with(
        instance: &Instance,
        engine: Engine,
        limits: Limits,
    ) -> Result<Evaluator, EngineError> {
        let quad = instance.program().bytecode().quad();
        let memory = Arc::new(BufferMemory::new(instance.buffers()));
        let machine = match engine {
            Engine::Native if !Tier::Native.is_available() => {
                return Err(EngineError::native_unavailable());
            }
            Engine::Batch => {
                SinglePointBatch::new(instance, limits, &memory).map(Machine::Batch)?
            }
            _ if let Some(rule) = quad => {
                let quad = QuadMachine::new(instance, rule, limits, engine);
                Machine::Quad(Box::new(quad))
            }
            Engine::Reference => {
                Machine::Reference(Box::new(ReferenceMachine::new(instance, limits, &memory)))
            }
            Engine::Point | Engine::Native | Engine::Auto => {
                let machine = point_machine(instance.program(), limits, engine, &memory);
                Machine::Point(Box::new(machine))
            }
        };
        let tier_up = match (engine, &machine) {
            (Engine::Auto, Machine::Point(_)) => {
                PointTierUp::new(instance.program(), &memory, limits)
            }
            _ => None,
        };
        Ok(Evaluator {
            tier_up,
            context: EvaluatorContext::new(instance, engine.for_single_points(), limits),
            signature: Fingerprint::of(instance.program().outputs()),
            machine,
            buffer_memory: memory,
            buffers: Default::default(),
        })
    }

    /// The instance that it evaluates.
    pub fn instance(&self) -> &Instance {
        &self.context.instance
    }

    /// Evaluates one point. Its globals are read in place, from a struct of the host
    /// ([`ShaderGlobals`](crate::ShaderGlobals)) or from [`Globals`](crate::Globals). Texture
    /// requests go to the host in the order in which they are executed. Results stay readable until
    /// the next evaluation. A point that is suspended here is given up.
    ///
    /// Where derivatives come from quads ([`Derivatives::Quad`](crate::Derivatives::Quad)), the
    /// point is the upper left one of its quad. Its neighbours are helpers: their globals are its
    /// own plus their derivatives. The host sees only their texture requests
    /// ([`Host::sample_for_helper`]).
    ///
    /// # Panics
    /// If the globals have another layout than the program's.
    pub fn evaluate<G: PointGlobals>(&mut self, globals: &G, host: &mut dyn Host) -> Outcome {
        if let Some(made) = self.tier_up.as_mut().and_then(PointTierUp::count) {
            self.tier_up = None;
            if let Some(machine) = made {
                self.machine = Machine::Point(machine);
            }
        }
        let instance = &self.context.instance;
        let globals = point_words(globals, instance.program().globals(), &mut self.buffers[0]);
        match &mut self.machine {
            Machine::Point(machine) => machine.run(globals, instance.inputs(), host),
            Machine::Batch(single) => single.run(instance, globals, host),
            Machine::Reference(reference) => reference.run(instance, globals, host),
            Machine::Quad(quad) => quad.run_alone(instance, globals, host),
        }
    }

    /// Evaluates the four points of a quad: upper left, upper right, lower left, lower right. Those
    /// that are no `helpers` are points like any other; helpers complete a quad at an edge. The
    /// host learns which of the four makes a request by [`Host::at_point`]. Results are read of the
    /// point that is selected by [`show`](Evaluator::show).
    ///
    /// ```
    /// use adumbra::{Compiler, Derivatives, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type, derivatives::{Corner, Quad}};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let options = Options { derivatives: Derivatives::Quad(Quad::Fine), output_derivatives: true, ..Options::default() };
    /// let sources = Sources::new("square.adu", "shader square(out float o) { float x = global_value<x>; o = x * x; }");
    /// let program = Compiler::new(layout).with_options(options).compile(&sources)?;
    ///
    /// let quad = [8.5, 9.5, 8.5, 9.5].map(|x| {
    ///     let mut globals = Globals::new(program.globals());
    ///     globals.set("x", x, 0.0, 0.0).map(|()| globals)
    /// });
    /// let [a, b, c, d] = quad;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate_quad([&a?, &b?, &c?, &d?], [false; 4], &mut NoTextures);
    /// for corner in Corner::ALL {
    ///     evaluator.show(corner);
    ///     let o = evaluator.get::<Dual<f32>>("o")?;
    ///     assert_eq!((o.ddx, o.ddy), (18.0, 0.0));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the program's points are not evaluated in quads, or the globals have another layout than
    /// the program's.
    pub fn evaluate_quad<G: PointGlobals>(
        &mut self,
        globals: [&G; 4],
        helpers: [bool; 4],
        host: &mut dyn Host,
    ) -> Outcome {
        let instance = &self.context.instance;
        let layout = instance.program().globals();
        let mut buffers = self.buffers.iter_mut();
        let globals = globals.map(|globals| {
            let buffer = buffers.next().expect("one for each of the four");
            point_words(globals, layout, buffer)
        });
        match &mut self.machine {
            Machine::Quad(quad) => quad.run(instance, globals, helpers, host),
            Machine::Batch(single) => single.run_quad(instance, globals, helpers, host),
            _ => panic!("the program's points are evaluated in quads"),
        }
    }

    /// Selects the point of the quad that is read, until the next evaluation, which selects the
    /// upper left one; gives how far that point came.
    ///
    /// # Panics
    /// If the program's points are not evaluated in quads.
    pub fn show(&mut self, corner: Corner) -> Outcome {
        match &mut self.machine {
            Machine::Quad(quad) => {
                quad.selected = corner;
                quad.outcome(corner)
            }
            Machine::Batch(single) if single.is_in_quads() => single.show(corner),
            _ => panic!("the program's points are evaluated in quads"),
        }
    }

    /// The request of the suspended point, if the host answered [`Pending`](Sampled::Pending). In a
    /// quad several may be suspended; this is the first.
    pub fn request(&self) -> Option<&SampleRequest> {
        match &self.machine {
            Machine::Point(machine) => machine.request(),
            Machine::Batch(single) => single.request(),
            Machine::Reference(reference) => reference.suspended.as_ref()?.request(),
            Machine::Quad(quad) => quad.request(),
        }
    }

    /// Resumes the suspended point. The answer is red, green, blue, alpha, or a [`Texel`] that has
    /// their slopes, too. All that follows has the bits of an evaluation whose host answers at
    /// once.
    ///
    /// # Panics
    /// If no point is suspended.
    pub fn answer(&mut self, texel: impl Into<Texel>, host: &mut dyn Host) -> Outcome {
        let texel = texel.into();
        match &mut self.machine {
            Machine::Point(machine) => machine.answer(texel, host),
            Machine::Batch(single) => single.answer(texel, host),
            Machine::Reference(reference) => {
                reference.answer(self.context.instance.program(), texel, host)
            }
            Machine::Quad(quad) => quad.answer(self.context.instance.program(), texel, host),
        }
    }

    /// Moves the suspended point out of the evaluator, which is then free for other points. It
    /// allocates only if no memory is left by earlier parked points; a quad takes its machines with
    /// it, and always allocates.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Outcome, SampleRequest, Sampled, Sources, Type};
    /// /// A host whose textures are still on disk.
    /// struct Disk;
    /// impl Host for Disk {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Sampled::Pending
    ///     }
    /// }
    ///
    /// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
    /// let source = "texture2d wood; shader s(out float o) { float x = global_value<x>; o = x + texture2d_sample_alpha<wood>(x, x); }";
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// let mut globals = Globals::new(program.globals());
    /// let mut waiting = Vec::new();
    /// for pixel in 0..4 {
    ///     globals.set("x", pixel as f32, 1.0, 0.0)?;
    ///     assert_eq!(evaluator.evaluate(&globals, &mut Disk), Outcome::Pending);
    ///     waiting.push(evaluator.park()?);
    /// }
    /// // Some time later, the texels are there, in whatever order.
    /// while let Some(point) = waiting.pop() {
    ///     assert_eq!(point.request().u, waiting.len() as f32);
    ///     evaluator.resume(point, [0.0, 0.0, 0.0, 0.5], &mut Disk)?;
    ///     assert_eq!(evaluator.get::<f32>("o")?, waiting.len() as f32 + 0.5);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a limit on parked points is met; the point then is still suspended here.
    ///
    /// # Panics
    /// If no point is suspended.
    pub fn park(&mut self) -> Result<ParkedPoint, ParkError> {
        let state = match &mut self.machine {
            Machine::Point(machine) => self.context.park_point(machine)?,
            Machine::Batch(single) => return single.park(&self.context),
            Machine::Reference(reference) => self.context.park_reference(reference)?,
            Machine::Quad(quad) => {
                assert!(quad.request().is_some(), "no point is suspended");
                self.context.park_quad(quad)?
            }
        };
        Ok(ParkedPoint::new(&self.context, state))
    }

    /// Resumes a parked point as [`answer`](Evaluator::answer) does, on any evaluator of the same
    /// instance, engine and limits, so on another thread, too. A point that is suspended here is
    /// given up.
    ///
    /// # Errors
    /// If the evaluator is of another instance, engine or limits than the one that the point was
    /// parked from; the point is given back.
    pub fn resume(
        &mut self,
        point: ParkedPoint,
        texel: impl Into<Texel>,
        host: &mut dyn Host,
    ) -> Result<Outcome, ResumeError> {
        point.unpark(&self.context, &mut self.machine)?;
        Ok(self.answer(texel, host))
    }

    /// Takes the gradients by buffers that its points have added since this was asked last; none of
    /// a program that has none. Its next points begin anew.
    pub fn take_gradients(&mut self) -> BufferGradients {
        BufferGradients::taken(self.context.instance.program(), &self.buffer_memory)
    }

    /// Bytes that it takes, its own included, beside instance and program: executable code,
    /// registers, stacks, closures, the points parked from here and the memory kept for more of
    /// them. It grows with the largest closures and the most parked points so far.
    pub fn memory(&self) -> usize {
        let machine = match &self.machine {
            Machine::Point(machine) => machine.memory(),
            Machine::Batch(single) => single.memory(),
            Machine::Reference(reference) => reference.memory(),
            Machine::Quad(quad) => quad.memory(),
        };
        size_of::<Evaluator>()
            + machine
            + self.context.memory()
            + self.buffers.heap_bytes()
            + self.tier_up.as_ref().map_or(0, PointTierUp::heap)
            + self.buffer_memory.memory()
    }

    /// The statistics of its program, with the memory of the instance and of itself.
    pub fn stats(&self) -> Stats {
        let tier = self.context.engine.tier();
        let is_native = tier == Some(Tier::Native);
        self.instance()
            .evaluator_stats(self.memory(), tier, is_native)
    }

    /// Waits for the machine code that it has requested, if any is pending, for the sake of
    /// measurements: one of the next evaluations uses it.
    pub fn wait_for_code(&self) {
        if let Some(tier_up) = &self.tier_up {
            tier_up.wait();
        }
    }

    /// Whether its points run by machine code.
    #[cfg(test)]
    pub(crate) fn has_machine_code(&self) -> bool {
        match &self.machine {
            Machine::Point(machine) => machine.has_machine_code(),
            _ => false,
        }
    }

    /// The number of points that are parked from here, neither resumed nor dropped yet.
    pub fn parked(&self) -> u32 {
        self.context.parked_count()
    }

    /// Every output of the last evaluation, in order.
    pub fn outputs(&self) -> impl Iterator<Item = OutputView<'_>> {
        output::output_views(
            self.instance().program(),
            self.output_words(),
            self.closures(),
        )
    }

    /// The output of that name; `None` if there is none.
    pub fn output(&self, name: &str) -> Option<OutputView<'_>> {
        self.outputs().find(|output| output.name() == name)
    }

    /// An output, or a member of one that is a struct (`ray.origin`): its value, or as a
    /// [`Dual`](crate::Dual) its value and its derivatives.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources};
    /// let source = "shader half(out float o) { o = 0.5 * global_value<uvw>.x; }";
    /// let options = Options { output_derivatives: true, ..Options::default() };
    /// let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    /// let program = compiler.compile(&Sources::new("half.adu", source))?;
    /// let mut globals = Globals::new(program.globals());
    /// globals.set("uvw", [3.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3])?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&globals, &mut NoTextures);
    /// assert_eq!(evaluator.get::<f32>("o")?, 1.5);
    /// assert_eq!(evaluator.get::<Dual<f32>>("o")?, Dual { value: 1.5, ddx: 0.5, ddy: 0.0 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such output, it has another type, or derivatives are asked for and the
    /// program was compiled without [`output_derivatives`](crate::Options::output_derivatives).
    pub fn get<T: OutputValue>(&self, path: &str) -> Result<T, AccessError> {
        Ok(self.read_at(self.instance().program().find_read::<T>(path)?))
    }

    /// An output as [`get`](Evaluator::get) gives it, without looking for its name.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs, or has derivatives that this one does
    /// not compute.
    pub fn read<T: OutputValue>(&self, slot: OutputSlot<T>) -> T {
        self.read_at(self.output_at(slot))
    }

    /// An output of type closure, without looking for its name.
    ///
    /// # Panics
    /// If the slot was found in a program with other outputs.
    pub fn closure(&self, slot: ClosureSlot) -> ClosureView<'_> {
        self.numbered_closure(self.output_words()[3 * slot.offset(self.signature)])
    }

    /// The scalars before the output of a slot.
    fn output_at<T: OutputValue>(&self, slot: OutputSlot<T>) -> usize {
        let computes_derivatives = self.instance().program().output_derivatives();
        slot.output(self.signature, computes_derivatives)
    }

    /// The output that begins at a scalar.
    fn read_at<T: OutputValue>(&self, scalars: usize) -> T {
        let ty = T::Value::ty();
        let words = &self.output_words()[3 * scalars..];
        T::of_parts(|part| {
            let view = ValueView::strided(&ty, &words[part as usize..], 3);
            view.get().expect("a view of its own type")
        })
    }

    /// The closures of the last evaluation.
    fn closures(&self) -> PointClosures<'_> {
        match &self.machine {
            Machine::Reference(reference) => (&reference.closures).into(),
            Machine::Quad(quad) => quad.closures().into(),
            Machine::Point(machine) => machine.closures().into(),
            Machine::Batch(single) => single.closures(),
        }
    }

    /// A closure of the last evaluation by its [number](ClosureView::number); one that there is not
    /// is empty.
    pub fn numbered_closure(&self, number: u32) -> ClosureView<'_> {
        let interface = self.instance().program().interface();
        ClosureView {
            closures: self.closures(),
            shapes: &interface.closures,
            resources: &interface.resources,
            root: ClosureRef::from_word(number),
        }
    }

    /// The faults of the last evaluation.
    pub fn faults(&self) -> &Faults {
        match &self.machine {
            Machine::Reference(reference) => &reference.faults,
            Machine::Quad(quad) => quad.faults(),
            Machine::Point(machine) => machine.faults(),
            Machine::Batch(single) => single.faults(),
        }
    }

    /// Value, ddx or ddy of the outputs of the last evaluation as bits, for hosts that read many
    /// points: those of each scalar of each output, in order. Zeros before the first evaluation.
    ///
    /// ```
    /// # use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, value::Part};
    /// let program = Compiler::new(GlobalsLayout::new())
    ///     .compile(&Sources::new("a.adu", "shader a(out float2 p, out int n) { p = float2(1, 2); n = 3; }"))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// assert!(evaluator.words(Part::Value)?.eq([1.0_f32.to_bits(), 2.0_f32.to_bits(), 3]));
    /// assert!(evaluator.words(Part::Ddx).is_err(), "compiled without `output_derivatives`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are outputs and the program does not compute their derivatives.
    pub fn words(&self, part: Part) -> Result<impl Iterator<Item = u32>, AccessError> {
        self.instance().program().check_words(part)?;
        let words = self.output_words().iter().skip(part as usize).step_by(3);
        Ok(words.copied())
    }

    /// Value, ddx and ddy of each scalar of the outputs.
    fn output_words(&self) -> &[u32] {
        match &self.machine {
            Machine::Reference(reference) => &reference.outputs,
            Machine::Quad(quad) => quad.outputs(),
            Machine::Point(machine) => machine.outputs(),
            Machine::Batch(single) => single.outputs(),
        }
    }
}

/// A fault as a diagnostic, to be rendered like any other.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, diagnostics::fault_diagnostic, render};
/// let sources = Sources::new("divide.adu", "shader divide(int n, out int o) { o = 1 / n; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// let diagnostics: Vec<_> = evaluator.faults().iter().map(fault_diagnostic).collect();
/// assert!(render::text(&diagnostics, &sources, false).contains("division by zero"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fault_diagnostic(fault: Fault) -> Diagnostic {
    let code = fault.kind.code();
    let what = if fault.kind.stops() {
        "stopped here"
    } else {
        "here"
    };
    Diagnostic::new(code, fault.span, code.title())
        .here(what)
        .help(fault.kind.help())
}

#[cfg(test)]
mod tests;
