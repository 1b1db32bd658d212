//! The leaves of a shader's closure as outputs of their own, which have gradients.

use super::ClosureShape;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::gradient::Transformation;
use crate::program::Program;
use adumbra_ir::module::Output;
use adumbra_ir::passes::SeparatedLeaf;
use adumbra_ir::{Code, Scalar, Span, Type};
use std::sync::Arc;

/// A program that gives the leaves of a closure as numbers, with the outputs of each leaf.
///
/// The [program](LeafProgram::program) has the inputs of the shader, its outputs but for closures,
/// and the outputs of the leaves. It is one as any: `program().gradient(…)` is the gradient of
/// weights and arguments by inputs.
#[derive(Clone, Debug)]
pub struct LeafProgram {
    program: Arc<Program>,
    leaves: Vec<LeafOutputs>,
}

/// A leaf of a closure: a place where `make_closure` is reached, and its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafOutputs {
    /// Its name, and the types of its arguments.
    pub shape: ClosureShape,
    /// Where the source makes it.
    pub span: Span,
    /// The output with its weight, a `float3`: the product of all numbers and colours that scale
    /// it, summed over its uses; 0 where it is not made.
    pub weight: String,
    /// For each argument its output, which is 0 where the leaf is not made; none for resources.
    pub arguments: Vec<Option<String>>,
}

impl LeafProgram {
    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The leaves, in the order of the text.
    pub fn leaves(&self) -> &[LeafOutputs] {
        &self.leaves
    }
}

impl Program {
    /// A program that gives the leaves of one of this one's closures as numbers: a weight and the
    /// arguments of each place where a leaf is made, once for each chain of calls to it. Other
    /// closures are left out.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// use adumbra::gradient::GradientRequest;
    /// let source = "shader s(float gloss = 0.5, color tint = color(1, 0.5, 0), out closure c) {
    ///     c = tint * make_closure<diffuse>() + gloss * make_closure<mirror>(gloss * gloss); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let leaves = program.closure_leaves("c")?;
    /// let [diffuse, mirror] = leaves.leaves() else { panic!() };
    /// assert_eq!(mirror.shape.name, "mirror");
    ///
    /// // The gradient of 3 · the red weight of `diffuse` + the argument of `mirror`.
    /// let gradient = leaves.program().gradient(&GradientRequest::new())?;
    /// let mut globals = Globals::new(gradient.program().globals());
    /// globals.set(&format!("d({})", diffuse.weight), [3.0, 0.0, 0.0], [0.0; 3], [0.0; 3])?;
    /// globals.set(&format!("d({})", mirror.arguments[0].as_ref().unwrap()), 1.0, 0.0, 0.0)?;
    /// let mut evaluator = Evaluator::new(&Instance::new(gradient.program()));
    /// evaluator.evaluate(&globals, &mut NoTextures);
    /// assert_eq!(evaluator.get::<[f32; 3]>(&diffuse.weight)?, [1.0, 0.5, 0.0]);
    /// assert_eq!(evaluator.get::<[f32; 3]>("d(tint)")?, [3.0, 0.0, 0.0]);
    /// assert_eq!(evaluator.get::<f32>("d(gloss)")?, 2.0 * 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such output, or it is no closure (E0570); if its leaves are not known before
    /// points are shaded ([E0572](crate::diagnostics::page)); if the program has inputs folded in,
    /// or was loaded and has derivatives of functions.
    pub fn closure_leaves(&self, output: &str) -> Result<LeafProgram, Diagnostics> {
        let origin = self.differentiable_origin()?;
        let leaves = [Transformation::Leaves(output.to_owned())];
        let (program, reported) = origin.transformed(self.sources(), &leaves)?;
        let of = |leaf: SeparatedLeaf| LeafOutputs {
            shape: reported.closures[leaf.shape.index()].clone(),
            span: leaf.span,
            weight: leaf.weight,
            arguments: leaf.arguments,
        };
        let leaves = reported.leaves.into_iter().map(of).collect();
        Ok(LeafProgram { program, leaves })
    }
}

/// The number of an output that is a closure.
///
/// # Errors
/// If there is none of that name.
pub(crate) fn closure_output(
    outputs: &[Output],
    name: &str,
    shader: Span,
) -> Result<usize, Box<Diagnostic>> {
    let is_closure = |output: &Output| output.ty == Type::Scalar(Scalar::Closure);
    let is_meant = |output: &Output| output.name == name && is_closure(output);
    outputs.iter().position(is_meant).ok_or_else(|| {
        let refused = Diagnostic::new(
            Code::NoSuchGradient,
            shader,
            format!("there is no output `{name}` that is a closure"),
        );
        let refused = refused.here("of this shader");
        let known = outputs.iter().filter(|output| is_closure(output));
        let known: Vec<String> = known.map(|output| format!("`{}`", output.name)).collect();
        Box::new(match known.is_empty() {
            true => refused
                .help("the shader gives no closure: its other outputs have gradients as they are"),
            false => refused.help(format!("its closures are {}", known.join(", "))),
        })
    })
}
