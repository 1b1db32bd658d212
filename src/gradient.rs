//! Gradients of whole shaders: programs that compute them, beside the outputs.

// `request` says what is asked for, `shader` finds it in a module, `parts` says what a gradient is
// of and by, `losses` reports what it lacks, `jump` adds what discontinuities do.

#[cfg(feature = "batch")]
mod jump;
mod losses;
mod parts;
mod request;
mod shader;
mod transformation;

pub use crate::buffer::BufferGradients;
pub use adumbra_ir::exact_sum::ExactSum;
#[cfg(feature = "batch")]
pub use adumbra_ir::passes::{DecisionKind, DecisionSite};
#[cfg(feature = "batch")]
pub use jump::{
    Axis, JumpBatch, JumpDecision, JumpDecisions, JumpGradient, JumpPoint, JumpReport, JumpRules,
    MAX_AXES, MAX_DECISIONS, MAX_LISTED_DECISIONS, MAX_ROOTS, NoisyProgram, QuietRules,
    RandomInput,
};
pub use parts::{DerivativePlace, DifferentiatedValue, Mode, Parameter, ParameterKind};
pub use request::GradientRequest;
pub(crate) use shader::layout_with_seeds;
pub(crate) use transformation::{Transformation, Transformed, transform};

use crate::compiler::Origin;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::program::Program;
use crate::sources::Sources;
use adumbra_ir::{Code, Span};
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

/// A program that computes a shader's outputs and their derivative, with what each part is called.
///
/// The [program](Gradient::program) is one as any: every engine evaluates it, it serialises, and it
/// has derivatives of its own ([`Program::gradient`] again). It keeps nothing from one evaluation
/// to the next.
#[derive(Clone, Debug)]
pub struct Gradient {
    program: Arc<Program>,
    mode: Mode,
    outputs: Vec<DifferentiatedValue>,
    parameters: Vec<Parameter>,
    ends: Vec<Diagnostic>,
}

impl Gradient {
    fn of(program: Arc<Program>, derivative: shader::ShaderDerivative) -> Gradient {
        Gradient {
            program,
            mode: derivative.mode,
            outputs: derivative.outputs,
            parameters: derivative.parameters,
            ends: derivative.ends,
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The mode of the derivative.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The outputs that it is of. In backward mode the host weighs each by a cotangent; in forward
    /// mode the program gives its tangent.
    pub fn outputs(&self) -> &[DifferentiatedValue] {
        &self.outputs
    }

    /// The parameters that it is by. In backward mode the program gives the gradient of each; in
    /// forward mode the host gives its tangent.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Where gradients end that would matter: in closures, in integers, in samples without slopes,
    /// in custom derivatives that do not have a global. Each is a warning, W0518.
    pub fn ends(&self) -> &[Diagnostic] {
        &self.ends
    }
}

impl Program {
    /// A program that computes the outputs of this one and their gradient. Functions need no marks:
    /// all of the shader is differentiated, by the rules of the ops and by the custom derivatives,
    /// `no_diff` and `detach` of its text.
    ///
    /// The gradient is that of Σ *w·o* over the numbers *o* of the outputs, with the *cotangents*
    /// *w* that the host gives for each point: those of the output `o` are the global `d(o)`, zero
    /// until set. The gradient by the parameter `a` is the output `d(a)`.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::gradient::GradientRequest;
    /// let source = "shader line(float slope, float offset, out float y) { y = slope * global_value<x> + offset; }";
    /// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
    /// let program = compiler.compile(&Sources::new("line.adu", source))?;
    /// let gradient = program.gradient(&GradientRequest::new())?;
    ///
    /// let mut globals = Globals::new(gradient.program().globals());
    /// globals.set("x", 3.0, 0.0, 0.0)?;
    /// globals.set("d(y)", 1.0, 0.0, 0.0)?;
    /// let mut line = Instance::new(gradient.program());
    /// line.set("slope", 2.0)?;
    /// let mut evaluator = Evaluator::new(&line);
    /// evaluator.evaluate(&globals, &mut NoTextures);
    /// let found = ["y", "d(slope)", "d(offset)"].map(|name| evaluator.get::<f32>(name).unwrap());
    /// assert_eq!(found, [6.0, 3.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the request names what the program does not have, or what has no floats; if nothing is
    /// left to differentiate of or by; if the program has inputs folded in, or was loaded and has
    /// derivatives of functions; if the shader has no such derivative
    /// ([E0564](crate::diagnostics::page) in quads, E0559, E0612).
    pub fn gradient(&self, request: &GradientRequest) -> Result<Gradient, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let origin = self.differentiable_origin()?;
        let gradient = [Transformation::Gradient(request.clone())];
        let (program, reported) = origin.transformed(self.sources(), &gradient)?;
        let derivative = reported.derivative.expect("one is asked for");
        Ok(Gradient::of(program, derivative))
    }

    /// How the program was compiled.
    ///
    /// # Errors
    /// If it has inputs folded in, or was loaded and has derivatives of functions.
    pub(crate) fn differentiable_origin(&self) -> Result<&Origin, Diagnostics> {
        let origin = self.origin();
        origin.is_differentiable().then_some(origin).ok_or_else(|| {
            let none = Sources::new("<program>", "");
            let refused = Diagnostic::new(
                Code::NoSuchGradient,
                Span::default(),
                "a program that has inputs folded in, or was loaded and has derivatives of functions, has no gradient, and no other options",
            )
            .help("take the gradient of the program as it was compiled; it can be written, loaded and folded itself");
            Diagnostics::new(vec![refused], self.sources().unwrap_or(&none))
        })
    }
}
