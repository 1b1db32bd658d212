//! Evaluation of points, by whichever engine.

use crate::closure::ClosureView;
use crate::globals::{AccessError, Dual, Globals};
use crate::program::Instance;
use crate::value::{HostValue, View};
use adumbra_ir::eval::{self, Point, Slot};
use adumbra_ir::host::{
    ClosureArena, ClosureRef, Fault, Faults, Host, Limits, SampleRequest, Sampled, leaving,
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

impl<F> Host<F> for NoTextures {
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
    /// Value, ddx and ddy of each scalar of the outputs.
    outputs: Vec<u32>,
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
    /// Value, ddx and ddy of each scalar.
    words: &'a [u32],
    closures: ClosureView<'a>,
    second_order: bool,
}

impl Evaluator {
    /// The usual engine within the usual limits.
    pub fn new(instance: &Instance) -> Evaluator {
        let program = instance.program().bytecode().clone();
        let machine = PointMachine::new(program, Limits::default());
        Evaluator {
            instance: instance.clone(),
            machine: Machine::Point(Box::new(machine)),
        }
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
                outputs: vec![0; 3 * scalars(instance)],
            })),
            Engine::Point => {
                let program = instance.program().bytecode().clone();
                Machine::Point(Box::new(PointMachine::new(program, limits)))
            }
        };
        Ok(Evaluator {
            instance: instance.clone(),
            machine,
        })
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
    pub fn evaluate(&mut self, globals: &Globals, host: &mut dyn Host) -> Outcome {
        let program = self.instance.program();
        assert_eq!(globals.layout(), program.globals(), "the program's layout");
        match &mut self.machine {
            Machine::Point(machine) => machine.run(globals.words(), self.instance.inputs(), host),
            Machine::Reference(reference) => {
                let module = program.module().expect("asked when it was made");
                let point = point(globals, &self.instance);
                let options = eval::Options {
                    limits: reference.limits,
                    ..eval::Options::default()
                };
                let done = eval::evaluate(module, &point, &options, host);
                reference.outputs.clear();
                let mut slots = done.outputs.iter();
                for output in program.outputs() {
                    output.ty.for_each_scalar(&mut |scalar| {
                        let words = slots.next().map(|slot| words_leaving(slot, scalar));
                        reference.outputs.extend(words.unwrap_or_default());
                    });
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
        let words = self.words();
        let arena = self.closures();
        let mut end = 0;
        program.outputs().iter().map(move |output| {
            let start = end;
            end += output.ty.scalar_count();
            let is_closure = matches!(output.ty, Type::Scalar(Scalar::Closure));
            let root = match is_closure {
                true => ClosureRef::from_word(words[3 * start]),
                false => ClosureRef::EMPTY,
            };
            OutputView {
                output,
                words: &words[3 * start..3 * end],
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
        let part = |view: View<'_>| view.get().expect("the type was checked");
        Ok(output.view().map(part))
    }

    /// What went wrong in the last evaluation.
    pub fn faults(&self) -> &Faults {
        match &self.machine {
            Machine::Reference(reference) => &reference.faults,
            Machine::Point(machine) => machine.faults(),
        }
    }

    /// The outputs of the last evaluation as bits, for hosts that read many points: of each scalar of each output, in order, its value, ddx
    /// and ddy. Zeros before the first evaluation.
    ///
    /// ```
    /// # use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// let program = Compiler::new(GlobalsLayout::new())
    ///     .compile(&Sources::new("a.adu", "shader a(out float2 p, out int n) { p = float2(1, 2); n = 3; }"))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// let bits = f32::to_bits;
    /// assert_eq!(evaluator.words(), [bits(1.0), 0, 0, bits(2.0), 0, 0, 3, 0, 0]);
    /// # Ok::<(), adumbra::Findings>(())
    /// ```
    pub fn words(&self) -> &[u32] {
        match &self.machine {
            Machine::Reference(reference) => &reference.outputs,
            Machine::Point(machine) => machine.outputs(),
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

/// How many scalars come out.
fn scalars(instance: &Instance) -> usize {
    let outputs = instance.program().outputs().iter();
    outputs.map(|output| output.ty.scalar_count()).sum()
}

/// The point as the reference engine takes it.
pub(crate) fn point(globals: &Globals, instance: &Instance) -> Point {
    let mut slots = Vec::new();
    for member in globals.layout().members() {
        let view = globals.view(member.name()).expect("its own member");
        let mut words = view.map(|part| part.words());
        member.ty().for_each_scalar(&mut |scalar| {
            let (value, ddx, ddy) = (words.value.next(), words.ddx.next(), words.ddy.next());
            let [value, ddx, ddy] = [value, ddx, ddy].map(Option::unwrap_or_default);
            slots.push(match scalar {
                Scalar::F32 => {
                    let [value, ddx, ddy] = [value, ddx, ddy].map(f32::from_bits);
                    Slot::float(value, [ddx, ddy])
                }
                _ => Slot::from_bits(scalar, value),
            });
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

    /// Its value and its derivatives per pixel, which are zero where they were not asked for.
    pub fn view(&self) -> Dual<View<'a>> {
        let part = |part: usize| {
            let words = self.words.get(part..).unwrap_or_default();
            View::strided(&self.output.ty, words, 3)
        };
        Dual {
            value: part(0),
            ddx: part(1),
            ddy: part(2),
        }
    }

    /// Its value.
    pub fn value(&self) -> View<'a> {
        self.view().value
    }

    /// Its derivative along x, per pixel; zero where it was not asked for.
    pub fn ddx(&self) -> View<'a> {
        self.view().ddx
    }

    /// Its derivative along y, per pixel; zero where it was not asked for.
    pub fn ddy(&self) -> View<'a> {
        self.view().ddy
    }

    /// Whether it depends on a derivative, so that its own derivatives, which are given as zero, are of second order. Not known of programs
    /// that were loaded.
    pub fn is_second_order(&self) -> bool {
        self.second_order
    }

    /// The closure that it is, if it is of type closure.
    pub fn closure(&self) -> Option<ClosureView<'a>> {
        matches!(self.output.ty, Type::Scalar(Scalar::Closure)).then_some(self.closures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, Engine, GlobalsLayout, Options, Sources};
    use adumbra_ir::host::FaultKind;

    const ENGINES: [Engine; 2] = [Engine::Reference, Engine::Point];

    fn evaluators(text: &str, layout: GlobalsLayout, limits: Limits) -> [Evaluator; 2] {
        let options = Options {
            output_derivatives: true,
            ..Options::default()
        };
        let compiler = Compiler::new(layout).with_options(options);
        let program = compiler.compile(&Sources::new("test.adu", text)).unwrap();
        let instance = Instance::new(&program);
        ENGINES.map(|engine| Evaluator::with(&instance, engine, limits).unwrap())
    }

    #[test]
    fn engines_give_the_same_words_closures_and_faults() {
        let text = "texture2d wood; struct pair { float a; int n; };
            shader s(int k = 3, out pair p, out closure c, out float3 v, out bool b) {
                float3 x = global_value<position>;
                p.a = x.x * x.y; p.n = k / (k - 3);
                v = texture2d_sample<wood>(x.x, x.y) * x;
                c = x.x * make_closure<glow>(v, k) + make_closure<glow>(x, 1);
                b = x.z < 0;
            }";
        let [mut reference, mut point] = evaluators(text, GlobalsLayout::hit(), Limits::default());
        let mut globals = Globals::new(reference.instance().program().globals());
        let (value, ddx, ddy) = (
            [1.5, -2.0, -0.0],
            [0.25, f32::NAN, 1.0],
            [0.0, 3.0, f32::INFINITY],
        );
        globals.set("position", value, ddx, ddy).unwrap();
        reference.evaluate(&globals, &mut NoTextures);
        point.evaluate(&globals, &mut NoTextures);
        assert_eq!(reference.words(), point.words());
        assert_eq!(reference.faults(), point.faults());
        let closure =
            |evaluator: &Evaluator| evaluator.output("c").unwrap().closure().unwrap().json();
        assert_eq!(closure(&reference), closure(&point));
        assert_eq!(
            closure(&point).unwrap(),
            r#"{"add":[{"mul":[1.5,{"closure":"glow","args":[[1.5,-2.0,-0.0],3]}]},{"closure":"glow","args":[[1.5,-2.0,-0.0],1]}]}"#
        );
        let p = point.output("p").unwrap();
        assert_eq!(p.value().to_string(), "{ a: -3.0, n: 0 }");
        assert_eq!(p.ddy().to_string(), "{ a: 4.5, n: 0 }");
    }

    #[test]
    fn outputs_are_read_by_name_and_type() {
        let text = "shader s(out float a, out int n) { a = 0.5; n = 7; }";
        let [_, mut point] = evaluators(text, GlobalsLayout::new(), Limits::default());
        point.evaluate(&Globals::new(&GlobalsLayout::new()), &mut NoTextures);
        assert_eq!(point.get::<i32>("n").unwrap().value, 7);
        assert_eq!(
            point.get::<f32>("n").unwrap_err().to_string(),
            "`n` is of type `int`, not `float`"
        );
        assert_eq!(
            point.get::<f32>("b").unwrap_err().to_string(),
            "there is no `b`"
        );
    }

    /// Loses patience when asked for the second time.
    struct Impatient(u32);

    impl Host for Impatient {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            Sampled::Ready([0.0; 4])
        }

        fn is_cancelled(&mut self) -> bool {
            self.0 += 1;
            self.0 == 2
        }
    }

    #[test]
    fn a_host_can_cancel_a_point() {
        let text = "shader s(out int n) { while (true) n += 1; }";
        let limits = Limits {
            steps: u64::MAX,
            ..Limits::default()
        };
        for mut evaluator in evaluators(text, GlobalsLayout::new(), limits) {
            let globals = Globals::new(&GlobalsLayout::new());
            let outcome = evaluator.evaluate(&globals, &mut Impatient(0));
            assert_eq!(outcome, Outcome::Stopped);
            let stopped = evaluator.faults().stopped().unwrap();
            assert_eq!(stopped.kind, FaultKind::Cancelled);
            assert_eq!(evaluator.get::<i32>("n").unwrap().value, 0);
        }
    }

    #[test]
    fn a_loaded_program_has_no_reference() {
        let text = "shader s(out int n) { n = 1; }";
        let [_, point] = evaluators(text, GlobalsLayout::new(), Limits::default());
        let bytes = point.instance().program().to_bytecode();
        let program = crate::Program::from_bytecode(&bytes).unwrap();
        let instance = Instance::new(&program);
        assert!(Evaluator::with(&instance, Engine::Reference, Limits::default()).is_err());
        assert!(Evaluator::with(&instance, Engine::Point, Limits::default()).is_ok());
    }
}
