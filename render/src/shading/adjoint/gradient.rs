//! From the adjoints of leaves to gradients by inputs: the gradient program of a material, in
//! batches.

use super::AdjointPoints;
use crate::shading::leaf_values::LeafReader;
use crate::shading::wave::{ShadingEngine, ShadingError, TextureAccess, new_batch};
use adumbra::access::AccessError;
use adumbra::batch::{BatchEvaluator, BatchGlobals};
use adumbra::gradient::{ExactSum, Gradient};
use adumbra::value::Part;
use adumbra::{Globals, Instance, Outcome};
use std::ops::Range;

/// The gradient program of a material, for all threads.
#[derive(Clone, Debug)]
pub(crate) struct GradientMaterial {
    /// The program with its inputs.
    pub(crate) instance: Instance,
    /// For each cotangent its first word among the globals of a point, and the numbers of leaves
    /// that it is of.
    cotangents: Vec<(usize, Range<usize>)>,
    /// For each input that the gradient is by, the numbers among the program's outputs.
    gradients: Vec<Range<usize>>,
    /// The texture of the scene for each texture of the program.
    textures: Vec<usize>,
}

impl GradientMaterial {
    /// A gradient of the outputs that a reader names.
    ///
    /// # Errors
    /// If the gradient's program does not have what it says.
    pub(crate) fn new(
        gradient: &Gradient,
        leaves: &LeafReader,
        inputs: &[String],
        textures: Vec<usize>,
    ) -> Result<GradientMaterial, AccessError> {
        let program = gradient.program();
        let unknown = |name: String| AccessError::Unknown {
            name,
            closest: None,
        };
        let cotangents = leaves.outputs().into_iter().map(|(output, numbers)| {
            let name = format!("d({output})");
            let member = program.globals().member(&name);
            let member = member.ok_or_else(|| unknown(name))?;
            Ok((member.value_offset() / size_of::<u32>(), numbers))
        });
        let gradients = inputs.iter().map(|input| {
            let name = format!("d({input})");
            let found = program.find_output(&name);
            let (first, ty) = found.ok_or_else(|| unknown(name))?;
            Ok(first..first + ty.scalar_count())
        });
        Ok(GradientMaterial {
            instance: Instance::new(program),
            cotangents: cotangents.collect::<Result<_, AccessError>>()?,
            gradients: gradients.collect::<Result<_, AccessError>>()?,
            textures,
        })
    }

    /// Sums of zeros for its inputs.
    pub(crate) fn zeros(&self) -> InputSums {
        let sums = self.gradients.iter();
        InputSums {
            sums: sums
                .map(|numbers| vec![ExactSum::default(); numbers.len()])
                .collect(),
            left_out: 0,
        }
    }
}

/// The gradient by a material's inputs, summed over points. Sums are exact, so they depend on no
/// order.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputSums {
    /// For each input its numbers.
    pub(crate) sums: Vec<Vec<ExactSum>>,
    /// Points whose gradient is not finite, or that were stopped. They are in no sum.
    pub(crate) left_out: u64,
}

impl InputSums {
    /// Adds those of other points.
    pub(crate) fn join(&mut self, other: &InputSums) {
        let pairs = self
            .sums
            .iter_mut()
            .flatten()
            .zip(other.sums.iter().flatten());
        pairs.for_each(|(sum, other)| sum.join(other));
        self.left_out += other.left_out;
    }
}

/// The evaluator of a gradient program, of one thread.
#[derive(Debug)]
pub(crate) struct GradientShader<'a> {
    material: &'a GradientMaterial,
    batch: BatchEvaluator,
    words: Vec<u32>,
    time: f32,
}

impl<'a> GradientShader<'a> {
    /// For points at that time of the image, in seconds.
    ///
    /// # Errors
    /// If the engine cannot run the program here.
    pub(crate) fn new(
        material: &'a GradientMaterial,
        engine: ShadingEngine,
        time: f32,
    ) -> Result<GradientShader<'a>, ShadingError> {
        Ok(GradientShader {
            material,
            batch: new_batch(&material.instance, engine)?,
            words: Vec::new(),
            time,
        })
    }

    /// Adds the gradient of the points of a material, by its number, to sums. Lookups of
    /// `textures` must answer at once.
    pub(in crate::shading) fn add<T: TextureAccess>(
        &mut self,
        (number, all): (usize, &AdjointPoints),
        textures: &mut T,
        sums: &mut InputSums,
    ) {
        let layout = self.material.instance.program().globals();
        let own: Vec<_> = all
            .points
            .iter()
            .filter(|one| one.point.material == number)
            .collect();
        for chunk in own.chunks(self.batch.width()) {
            self.words.clear();
            for one in chunk {
                let first = self.words.len();
                let mut hit = one.point.hit;
                hit.time = self.time;
                self.words.extend_from_slice(Globals::from(&hit).words());
                self.words
                    .resize(first + layout.size() / size_of::<u32>(), 0);
                for (word, numbers) in &self.material.cotangents {
                    let adjoints = &all.adjoints[one.first..][numbers.clone()];
                    for (to, adjoint) in self.words[first + word..].iter_mut().zip(adjoints) {
                        *to = adjoint.to_bits();
                    }
                }
            }
            let points: Vec<_> = chunk.iter().map(|one| one.point.texture).collect();
            textures.begin(&self.material.textures, &points);
            let globals = BatchGlobals::interleaved(layout, &self.words);
            self.batch.evaluate(&globals, 0, chunk.len(), textures);
            for at in 0..chunk.len() {
                self.add_point(at, sums);
            }
        }
    }

    /// Adds the gradient of a point that was evaluated.
    fn add_point(&self, at: usize, sums: &mut InputSums) {
        if self.batch.outcomes()[at] != Outcome::Finished {
            sums.left_out += 1;
            return;
        }
        let words = self.batch.words(Part::Value, at);
        let words = words.expect("each program computes values");
        let words: Vec<f32> = words.map(f32::from_bits).collect();
        let gradients = || {
            self.material
                .gradients
                .iter()
                .map(|range| &words[range.clone()])
        };
        if gradients().flatten().any(|number| !number.is_finite()) {
            sums.left_out += 1;
            return;
        }
        for (sums, numbers) in sums.sums.iter_mut().zip(gradients()) {
            let pairs = sums.iter_mut().zip(numbers);
            pairs.for_each(|(sum, number)| sum.add(*number));
        }
    }
}
