//! Evaluation of points, by whichever engine.

use crate::closure::ClosureView;
use crate::globals::{AccessError, Dual, Globals};
use crate::program::Instance;
use crate::value::{HostValue, View};
use adumbra_ir::eval::{self, Point, Slot};
use adumbra_ir::host::{
    ClosureArena, ClosureRef, Fault, Faults, Limits, SampleRequest, Sampled, TextureHost, leaving,
    read_shadow,
};
use adumbra_ir::module::Output;
use adumbra_ir::{Diagnostic, Direction, Scalar, Type};
use adumbra_vm::{Outcome, PointMachine};
use std::fmt;

/// What evaluates. All engines give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Walks the intermediate representation, and allocates: slow, the measure of the others.
    Reference,
    /// Interprets bytecode, one point at a time.
    #[default]
    Point,
}

/// The reference engine was asked for, but a program that was loaded has only bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoReference;

impl fmt::Display for NoReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the engine `reference` needs source text; this program was loaded as bytecode")
    }
}

impl std::error::Error for NoReference {}

/// Textures for shaders that sample none: all of them are white and opaque.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTextures;

impl<F> TextureHost<F> for NoTextures {
    fn sample(&mut self, _: &SampleRequest<F>) -> Sampled {
        Sampled::Ready([1.0; 4])
    }
}

/// One thread's means to evaluate an instance. It owns the memory that this takes; evaluating allocates none.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type};
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
///     let o = evaluator.get::<f32>("o")?;
///     assert_eq!((o.value, o.ddx, o.ddy), (x * x * x, 3.0 * x * x, 0.0));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Evaluator {
    instance: Instance,
    machine: Machine,
    /// Values of all outputs' scalars, then their ddx, then their ddy.
    outputs: Vec<u32>,
}

enum Machine {
    Reference(Box<Reference>),
    Point(Box<PointMachine>),
}

/// The reference engine keeps nothing between points but what came of the last one.
struct Reference {
    limits: Limits,
    faults: Faults,
    closures: ClosureArena,
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

/// An output of the last evaluation.
#[derive(Clone, Copy, Debug)]
pub struct OutputView<'a> {
    output: &'a Output,
    words: Dual<&'a [u32]>,
    closures: ClosureView<'a>,
    second_order: bool,
}

impl Evaluator {
    /// The usual engine within the usual limits.
    pub fn new(instance: &Instance) -> Evaluator {
        let program = instance.program().bytecode().clone();
        let machine = PointMachine::new(program, Limits::default());
        Evaluator::from_machine(instance, Machine::Point(Box::new(machine)))
    }

    /// An engine of your choice, within limits of your choice.
    ///
    /// # Errors
    /// If the engine is the reference and the program was loaded from bytecode.
    pub fn with(
        instance: &Instance,
        engine: Engine,
        limits: Limits,
    ) -> Result<Evaluator, NoReference> {
        let machine = match engine {
            Engine::Reference if instance.program().module().is_none() => return Err(NoReference),
            Engine::Reference => Machine::Reference(Box::new(Reference {
                limits,
                faults: Faults::default(),
                closures: ClosureArena::default(),
            })),
            Engine::Point => {
                let program = instance.program().bytecode().clone();
                Machine::Point(Box::new(PointMachine::new(program, limits)))
            }
        };
        Ok(Evaluator::from_machine(instance, machine))
    }

    fn from_machine(instance: &Instance, machine: Machine) -> Evaluator {
        let outputs = instance.program().outputs().iter();
        let scalars: usize = outputs.map(|output| output.ty.scalar_count()).sum();
        Evaluator {
            instance: instance.clone(),
            machine,
            outputs: vec![0; 3 * scalars],
        }
    }

    /// What it evaluates.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Evaluates one point. Texture requests go to the host in the order in which they are executed. What comes out stays readable until the next
    /// evaluation.
    ///
    /// # Panics
    /// If the globals are laid out otherwise than the program's.
    pub fn evaluate(&mut self, globals: &Globals, textures: &mut dyn TextureHost) -> Outcome {
        let program = self.instance.program();
        assert_eq!(globals.layout(), program.globals(), "the program's layout");
        let count = self.outputs.len() / 3;
        match &mut self.machine {
            Machine::Point(machine) => {
                let outcome = machine.run(globals.words(), self.instance.inputs(), textures);
                for (i, words) in machine.outputs().chunks_exact(3).enumerate() {
                    for (part, &word) in words.iter().enumerate() {
                        self.outputs[part * count + i] = word;
                    }
                }
                outcome
            }
            Machine::Reference(reference) => {
                let module = program.module().expect("asked when it was made");
                let point = point(globals, &self.instance);
                let options = eval::Options {
                    limits: reference.limits,
                    ..eval::Options::default()
                };
                let done = eval::evaluate(module, &point, &options, textures);
                let mut scalars = Vec::with_capacity(count);
                for output in program.outputs() {
                    output
                        .ty
                        .for_each_scalar(&mut |scalar| scalars.push(scalar));
                }
                for (i, (slot, scalar)) in done.outputs.iter().zip(scalars).enumerate() {
                    let words = words_leaving(slot, scalar);
                    for (part, word) in words.into_iter().enumerate() {
                        self.outputs[part * count + i] = word;
                    }
                }
                reference.faults = done.faults;
                reference.closures = done.closures;
                match reference.faults.stopped() {
                    None => Outcome::Finished,
                    Some(_) => Outcome::Stopped,
                }
            }
        }
    }

    /// Every output of the last evaluation, in order.
    pub fn outputs(&self) -> impl Iterator<Item = OutputView<'_>> {
        let program = self.instance.program();
        let interface = program.interface();
        let (values, shadows) = self.outputs.split_at(self.outputs.len() / 3);
        let (ddx, ddy) = shadows.split_at(values.len());
        let arena = self.closures();
        let mut end = 0;
        program.outputs().iter().map(move |output| {
            let start = end;
            end += output.ty.scalar_count();
            let is_closure = matches!(output.ty, Type::Scalar(Scalar::Closure));
            let root = match is_closure {
                true => ClosureRef::from_word(values[start]),
                false => ClosureRef::EMPTY,
            };
            OutputView {
                output,
                words: Dual {
                    value: &values[start..end],
                    ddx: &ddx[start..end],
                    ddy: &ddy[start..end],
                },
                closures: ClosureView {
                    arena,
                    shapes: &interface.closures,
                    resources: &interface.resources,
                    root,
                },
                second_order: program
                    .second_order()
                    .get(start..end)
                    .is_some_and(|scalars| scalars.contains(&true)),
            }
        })
    }

    /// The output of that name; `None` if there is none.
    pub fn output(&self, name: &str) -> Option<OutputView<'_>> {
        self.outputs().find(|output| output.name() == name)
    }

    /// An output with its derivatives, which are zero unless the program was compiled with
    /// [`output_derivatives`](crate::Options::output_derivatives).
    ///
    /// # Errors
    /// If there is no such output or it has another type.
    pub fn get<T: HostValue>(&self, name: &str) -> Result<Dual<T>, AccessError> {
        let output = self.output(name);
        let output = output.ok_or_else(|| AccessError::Unknown(name.to_owned()))?;
        AccessError::check(name, output.ty(), &T::ty())?;
        Ok(output.words.map(T::read))
    }

    /// What went wrong in the last evaluation.
    pub fn faults(&self) -> &Faults {
        match &self.machine {
            Machine::Reference(reference) => &reference.faults,
            Machine::Point(machine) => machine.faults(),
        }
    }

    fn closures(&self) -> &ClosureArena {
        match &self.machine {
            Machine::Reference(reference) => &reference.closures,
            Machine::Point(machine) => machine.closures(),
        }
    }
}

/// A fault as a finding, to be rendered like any other.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, fault_finding, render};
/// let sources = Sources::new("divide.adu", "shader divide(int n, out int o) { o = 1 / n; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// let findings: Vec<_> = evaluator.faults().iter().map(fault_finding).collect();
/// assert!(render::text(&findings, &sources, false).contains("division by zero"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fault_finding(fault: Fault) -> Diagnostic {
    let code = fault.kind.code();
    let what = if fault.kind.stops() {
        "stopped here"
    } else {
        "here"
    };
    Diagnostic::new(code, fault.span, code.title()).here(what)
}

/// The point as the reference engine takes it.
pub(crate) fn point(globals: &Globals, instance: &Instance) -> Point {
    let mut slots = Vec::new();
    for member in globals.layout().members() {
        let view = globals.view(member.name()).expect("its own member");
        let words = view.map(|part| part.words());
        let mut at = 0;
        member.ty().for_each_scalar(&mut |scalar| {
            slots.push(match scalar {
                Scalar::F32 => {
                    let float = words.map(|part| f32::from_bits(part[at]));
                    Slot::float(float.value, [float.ddx, float.ddy])
                }
                _ => Slot::from_bits(scalar, words.value[at]),
            });
            at += 1;
        });
    }
    let mut inputs = Vec::new();
    let mut words = instance.inputs().iter();
    for input in instance.program().inputs() {
        input.ty.for_each_scalar(&mut |scalar| {
            let word = words.next().copied().unwrap_or_default();
            inputs.push(Slot::from_bits(scalar, word));
        });
    }
    Point {
        globals: slots,
        inputs,
    }
}

/// Value, ddx and ddy of an output's scalar as they leave.
fn words_leaving(slot: &Slot, scalar: Scalar) -> [u32; 3] {
    if scalar != Scalar::F32 {
        return [slot.bits(scalar), 0, 0];
    }
    let shadow = |direction| read_shadow(slot.shadow(direction));
    [slot.float, shadow(Direction::X), shadow(Direction::Y)].map(|x| leaving(x).to_bits())
}

impl<'a> OutputView<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.output.name
    }

    /// Its type.
    pub fn ty(&self) -> &'a Type {
        &self.output.ty
    }

    /// Its value.
    pub fn value(&self) -> View<'a> {
        View::new(&self.output.ty, self.words.value)
    }

    /// Its derivative along x, per pixel; zero where it was not asked for.
    pub fn ddx(&self) -> View<'a> {
        View::new(&self.output.ty, self.words.ddx)
    }

    /// Its derivative along y, per pixel; zero where it was not asked for.
    pub fn ddy(&self) -> View<'a> {
        View::new(&self.output.ty, self.words.ddy)
    }

    /// Whether it depends on a derivative, so that its own derivatives, which are given as zero, are of second order. Known for expressions
    /// only; for shaders always false.
    pub fn is_second_order(&self) -> bool {
        self.second_order
    }

    /// The closure that it is, if it is of type closure.
    pub fn closure(&self) -> Option<ClosureView<'a>> {
        matches!(self.output.ty, Type::Scalar(Scalar::Closure)).then_some(self.closures)
    }
}
