//! Inputs that are random variables: a shader that is fitted sees each at an offset, at each point
//! another one.

use super::Axis;
use crate::diagnostics::Diagnostics;
use crate::gradient::Transformation;
use crate::program::Program;
use adumbra_ir::passes::{noise_globals, scale_name};
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

/// A shader some of whose inputs are random variables.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
/// let sources = Sources::new("s.adu", "shader s(float a = 2, out float o) { o = 10 * a; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let noisy = program.with_noise(&["a"])?;
/// let variable = &noisy.variables()[0];
///
/// let mut instance = Instance::new(noisy.program());
/// instance.set(&variable.scale, 0.5_f32)?;
/// let mut globals = Globals::new(noisy.program().globals());
/// globals.set(variable.axes[0].global(), -0.25, 0.0, 0.0)?;
/// let mut evaluator = Evaluator::new(&instance);
/// evaluator.evaluate(&globals, &mut NoTextures);
/// // 10 (2 - 0.5 · 0.25)
/// assert_eq!(evaluator.get::<f32>("o")?, 18.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NoisyProgram {
    program: Arc<Program>,
    variables: Vec<RandomInput>,
}

/// An input that is a random variable: the shader sees *a + scale · noise*.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomInput {
    /// The name of the input.
    pub input: String,
    /// The name of the input with its scale, of the same type; 0 until set.
    pub scale: String,
    /// The globals' floats with its noise, in the order of the input's floats. The host gives them
    /// for each point, from the uniform distribution on [-½, ½).
    pub axes: Vec<Axis>,
}

impl NoisyProgram {
    /// The program. Beside the inputs and globals of the one that it was made of it has those of
    /// the variables.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The variables, in the order in which they were named.
    pub fn variables(&self) -> &[RandomInput] {
        &self.variables
    }
}

impl Program {
    /// The same shader where inputs are random variables: at each point it sees them at an offset.
    ///
    /// Their noise may be among the axes of [`jump_gradient`](Program::jump_gradient).
    ///
    /// # Errors
    /// If there is no such input, or one has no floats; if the program has inputs folded in, or
    /// was loaded and has derivatives of functions.
    pub fn with_noise(&self, inputs: &[&str]) -> Result<NoisyProgram, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let origin = self.differentiable_origin()?;
        let names = inputs.iter().map(|&name| name.to_owned()).collect();
        let noise = [Transformation::Noise(names)];
        let (program, _) = origin.transformed(self.sources(), &noise)?;
        let variable = |&name: &&str| {
            let input = self.inputs().iter().find(|input| input.name == name);
            let ty = &input.expect("it was found").ty;
            let axes = noise_globals(name, ty).into_iter().flat_map(|global| {
                let scalars = 0..global.ty.scalar_count();
                scalars.map(move |scalar| Axis::random(global.name.clone(), scalar))
            });
            RandomInput {
                input: name.to_owned(),
                scale: scale_name(name),
                axes: axes.collect(),
            }
        };
        Ok(NoisyProgram {
            program,
            variables: inputs.iter().map(variable).collect(),
        })
    }
}
