//! The sums of gradients by buffers of the host.

use crate::access::AccessError;
use crate::program::Program;
use adumbra_ir::buffer::{BufferMemory, BufferSums};
use adumbra_ir::module::BufferId;
use std::sync::Arc;

/// What points have added to the sums of a program: the gradients by its buffers.
///
/// Additions are exact, so a sum is the same to the bit in whatever order points are evaluated, by
/// whatever engine, and however they are divided among evaluators whose sums are
/// [joined](BufferGradients::join). Each number is rounded once, when it is read.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::gradient::GradientRequest;
/// let source = "buffer<float> w; shader s(out float o) { o = w[1] * global_value<x> + w[0]; }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let gradient = program.gradient(&GradientRequest::new().by_buffer("w"))?;
/// let mut instance = Instance::new(gradient.program());
/// instance.set_buffer("w", vec![0.5_f32, 2.0, 7.0])?;
/// let mut evaluator = Evaluator::new(&instance);
/// let mut globals = Globals::new(gradient.program().globals());
/// globals.set("d(o)", 1.0, 0.0, 0.0)?;
/// for point in 0..10 {
///     globals.set("x", point as f32, 0.0, 0.0)?;
///     evaluator.evaluate(&globals, &mut NoTextures);
/// }
/// assert_eq!(evaluator.take_gradients().of("w")?, [10.0, 45.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BufferGradients {
    /// The sums of the program, by their number, with the names of their buffers and how many
    /// numbers these have.
    known: Vec<(BufferId, String, usize)>,
    sums: BufferSums,
}

impl BufferGradients {
    /// Sums to which nothing was added, for the buffers of an instance.
    pub(crate) fn new(program: &Program, memory: &BufferMemory) -> BufferGradients {
        let buffers = &program.interface().buffers;
        let known = (0..).map(BufferId).zip(buffers).filter_map(|(id, buffer)| {
            let of = buffer.sum_of?;
            let numbers = memory.set.numbers(of).len();
            Some((id, buffers[of.index()].name.clone(), numbers))
        });
        BufferGradients {
            known: known.collect(),
            sums: BufferSums::new(&memory.set),
        }
    }

    /// Takes what was added to a memory.
    pub(crate) fn taken(program: &Program, memory: &Arc<BufferMemory>) -> BufferGradients {
        let mut all = BufferGradients::new(program, memory);
        std::mem::swap(&mut all.sums, &mut memory.sums());
        all
    }

    /// The gradient by a buffer: a sum for each of its numbers, element by element.
    ///
    /// # Errors
    /// If the program has no gradient by a buffer of that name.
    pub fn of(&self, buffer: &str) -> Result<Vec<f64>, AccessError> {
        let known = self.known.iter().map(|(_, name, _)| name.as_str());
        let found = self.known.iter().rev().find(|(_, name, _)| name == buffer);
        let Some(&(id, _, numbers)) = found else {
            return Err(AccessError::Unknown {
                name: buffer.to_owned(),
                closest: crate::access::closest_name(buffer, known).map(str::to_owned),
            });
        };
        let mut all: Vec<f64> = self.sums.of(id).collect();
        all.resize(numbers, 0.0);
        Ok(all)
    }

    /// Adds what other points have added, which evaluators of the same program and of buffers as
    /// long have evaluated.
    ///
    /// # Panics
    /// If they are of another program, or its buffers are longer or shorter.
    pub fn join(&mut self, other: &BufferGradients) {
        assert!(self.is_like(other), "gradients by the same buffers");
        self.sums.join(&other.sums);
    }

    /// Whether others are by the same buffers, and these as long, so that they can be
    /// [joined](BufferGradients::join).
    pub fn is_like(&self, other: &BufferGradients) -> bool {
        self.known == other.known
    }
}
