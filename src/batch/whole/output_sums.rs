//! Sums of outputs over points, and the gradients by buffers that the points added.

use super::BatchError;
use crate::access::{AccessError, find};
use crate::batch::{JoinError, PlaneSums, SumFaults};
use crate::buffer::BufferGradients;
use crate::program::Program;
use adumbra_ir::Type;

/// Sums of outputs over points, number by number.
///
/// They do not depend on widths, threads, engines or the division of the points: see [`PlaneSums`].
#[derive(Clone, Debug)]
pub struct OutputSums {
    /// Name, type and first plane of each output.
    outputs: Vec<(String, Type, usize)>,
    /// By plane, its scalar among those of all outputs of the program.
    pub(super) slots: Vec<usize>,
    pub(super) sums: PlaneSums,
    /// The gradients by buffers that the points added; none before there are points.
    pub(super) buffers: Option<BufferGradients>,
}

impl OutputSums {
    /// The sums of no points of these outputs.
    ///
    /// # Errors
    /// If there is no such output, or it has no floats.
    pub fn new(program: &Program, outputs: &[&str]) -> Result<OutputSums, BatchError> {
        let (mut found, mut slots) = (Vec::new(), Vec::new());
        for &name in outputs {
            let (before, ty) = find(program.outputs(), name)?;
            let floats = ty.float_scalars();
            if floats.is_empty() {
                return Err(BatchError::NoFloats(name.to_owned()));
            }
            found.push((name.to_owned(), ty.clone(), slots.len()));
            slots.extend(floats.into_iter().map(|scalar| before + scalar));
        }
        Ok(OutputSums {
            outputs: found,
            sums: PlaneSums::new(slots.len()),
            slots,
            buffers: None,
        })
    }

    /// Adds a point by the words of all outputs of the program, as
    /// [`Evaluator::words`](crate::Evaluator::words) gives their values.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// use adumbra::batch::{OutputSums, Part};
    /// let sources = Sources::new("s.adu", "shader s(out int n, out float o) { n = 1; o = 2.5; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// let mut sums = OutputSums::new(&program, &["o"])?;
    /// for point in 0..4 {
    ///     evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    ///     sums.add_point(point, evaluator.words(Part::Value)?);
    /// }
    /// assert_eq!(sums.total("o")?, [10.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer words than the program has.
    pub fn add_point(&mut self, point: u64, words: impl Iterator<Item = u32>) {
        let words: Vec<u32> = words.collect();
        let own = self.slots.iter().map(|&slot| [f32::from_bits(words[slot])]);
        let own: Vec<[f32; 1]> = own.collect();
        let planes: Vec<&[f32]> = own.iter().map(<[f32; 1]>::as_slice).collect();
        self.sums.add_points(point, 1, &planes);
    }

    /// By plane, the output that it is of, and the scalar of it.
    pub(crate) fn floats(&self) -> Vec<(String, usize)> {
        let outputs = self.outputs.iter();
        let floats = outputs.flat_map(|(name, ty, _)| {
            let scalars = ty.float_scalars().into_iter();
            scalars.map(|scalar| (name.clone(), scalar))
        });
        floats.collect()
    }

    /// The sum of each float of an output, in order.
    ///
    /// # Errors
    /// If it is not summed.
    pub fn total(&self, output: &str) -> Result<Vec<f64>, AccessError> {
        let known = self.outputs.iter().map(|(name, ..)| name.as_str());
        let Some((_, ty, first)) = self.outputs.iter().find(|(name, ..)| name == output) else {
            return Err(AccessError::Unknown {
                name: output.to_owned(),
                closest: crate::access::closest_name(output, known).map(str::to_owned),
            });
        };
        let totals = self.sums.totals();
        Ok(totals[*first..][..ty.float_scalars().len()].to_vec())
    }

    /// The gradient by a buffer, summed over the points: a number for each of its numbers.
    ///
    /// # Errors
    /// If the program has no gradient by it, or no points were evaluated.
    pub fn buffer(&self, name: &str) -> Result<Vec<f64>, AccessError> {
        match &self.buffers {
            Some(buffers) => buffers.of(name),
            None => Err(AccessError::Unknown {
                name: name.to_owned(),
                closest: None,
            }),
        }
    }

    /// Adds gradients by buffers: those of an evaluator whose points were added one by one.
    ///
    /// # Panics
    /// If they are of another program, or its buffers are longer or shorter.
    pub fn add_gradients(&mut self, more: &BufferGradients) {
        match &mut self.buffers {
            Some(buffers) => buffers.join(more),
            None => self.buffers = Some(more.clone()),
        }
    }

    /// The planes of all outputs, in order.
    pub fn planes(&self) -> &PlaneSums {
        &self.sums
    }

    /// What is wrong with points: the output of the first one, and the float of it, beside what the
    /// planes say.
    pub fn faults(&self) -> SumFaults {
        self.sums.faults()
    }

    /// The output that a plane is of, and the number of its float.
    pub fn output_of(&self, plane: usize) -> Option<(&str, usize)> {
        let outputs = self.outputs.iter().rev();
        let mut outputs = outputs.filter(|(.., first)| *first <= plane);
        let (name, _, first) = outputs.next()?;
        (plane < self.sums.planes()).then(|| (name.as_str(), plane - first))
    }

    /// Adds the points of other sums of the same outputs, whose gradients are by buffers as long.
    ///
    /// # Errors
    /// If they are of others, or have a point of these: then these are as they were.
    pub fn join(&mut self, other: OutputSums) -> Result<(), JoinError> {
        if self.outputs != other.outputs {
            return Err(JoinError::Outputs);
        }
        if let (Some(own), Some(more)) = (&self.buffers, &other.buffers)
            && !own.is_like(more)
        {
            return Err(JoinError::Buffers);
        }
        self.sums.join(other.sums)?;
        if let Some(more) = &other.buffers {
            self.add_gradients(more);
        }
        Ok(())
    }
}
