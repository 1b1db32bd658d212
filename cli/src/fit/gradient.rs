//! The gradient of a shader's image by the inputs that are fitted, by the rules of a fit.

use super::parameters::FittedInputs;
use crate::args::fit::FitRules;
use crate::image::ShownOutput;
use crate::report::{self, OutputFormat};
use adumbra::gradient::{Axis, Gradient, GradientRequest, JumpGradient, JumpRules};
use adumbra::{Diagnostic, Diagnostics, Program};

/// The gradient of the shader, by rules.
pub enum ShaderGradient {
    Smooth(Gradient),
    Jumps(JumpGradient),
}

/// The axes of an image, along which pixels have neighbours.
fn pixel_axes() -> impl Iterator<Item = Axis> {
    (0..2).map(|at| Axis::new("pixel", at, 1.0))
}

/// A gradient of the image by the inputs.
fn request(inputs: &FittedInputs, output: &ShownOutput) -> GradientRequest {
    let request = GradientRequest::new().of(output.name.as_str());
    let inputs = inputs.inputs().iter();
    inputs.fold(request, |request, input| request.by_input(&*input.name))
}

/// The gradient through edges, which says of inputs whether they move some.
///
/// # Errors
/// If the shader has none.
pub fn edge_gradient(
    program: &Program,
    inputs: &FittedInputs,
    output: &ShownOutput,
) -> Result<JumpGradient, Diagnostics> {
    let axes: Vec<Axis> = pixel_axes().collect();
    program.jump_gradient(&request(inputs, output), &axes, JumpRules::Edge)
}

impl ShaderGradient {
    /// The gradient by inputs and the scales of those that are random variables, unless it is one
    /// of differences of the loss.
    ///
    /// # Errors
    /// If the rules refuse the program.
    pub fn by_rules(
        rules: FitRules,
        program: &Program,
        inputs: &FittedInputs,
        output: &ShownOutput,
    ) -> Result<Option<ShaderGradient>, Diagnostics> {
        let variables = || inputs.inputs().iter().filter_map(|of| of.variable.as_ref());
        let request = variables().fold(request(inputs, output), |request, variable| {
            request.by_input(&*variable.scale)
        });
        let random = variables().flat_map(|variable| variable.axes.iter().cloned());
        let axes: Vec<Axis> = pixel_axes().chain(random).collect();
        let jumps = |rules| {
            let jumps = program.jump_gradient(&request, &axes, rules);
            jumps.map(ShaderGradient::Jumps).map(Some)
        };
        match rules {
            FitRules::Smooth => program
                .gradient(&request)
                .map(ShaderGradient::Smooth)
                .map(Some),
            FitRules::Pair => jumps(JumpRules::Pair),
            FitRules::Edge => jumps(JumpRules::Edge),
            FitRules::Fd | FitRules::Spsa => Ok(None),
        }
    }

    /// The gradient of the smooth parts.
    pub fn smooth(&self) -> &Gradient {
        match self {
            ShaderGradient::Smooth(gradient) => gradient,
            ShaderGradient::Jumps(jumps) => jumps.smooth(),
        }
    }

    /// Where derivatives end that would matter.
    pub fn ends(&self) -> &[Diagnostic] {
        match self {
            ShaderGradient::Smooth(gradient) => gradient.ends(),
            ShaderGradient::Jumps(jumps) => jumps.ends(),
        }
    }

    /// Notes that no input changes the image, as far as the rules see.
    pub fn note_still_image(&self, format: OutputFormat) {
        let mut parameters = self.smooth().parameters().iter();
        let (is_still, advice) = match self {
            ShaderGradient::Smooth(_) => (
                parameters.all(|by| by.is_zero),
                ": `--rules edge` counts what moves its edges",
            ),
            ShaderGradient::Jumps(jumps) => (parameters.all(|by| jumps.is_zero(by)), ""),
        };
        if is_still {
            let text = format!("by these rules no input that is fitted changes the image{advice}");
            report::note(&text, format);
        }
    }
}
