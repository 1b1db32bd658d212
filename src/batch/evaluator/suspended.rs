//! The points of a batch evaluator that wait for textures.

use super::BatchEvaluator;
use crate::evaluator::{ParkError, ParkedPoint};
use adumbra_ir::host::{Host, SampleRequest, Texel};
use adumbra_vm::Outcome;

impl BatchEvaluator {
    /// The suspended points of the last evaluation, for which the host answered
    /// [`Pending`](crate::Sampled::Pending), each with its request. While one point of a quad is
    /// suspended, none of its four has an [outcome](BatchEvaluator::outcomes).
    pub fn suspended(&self) -> impl Iterator<Item = (usize, &SampleRequest)> {
        let waiting = self.machine.suspended().iter();
        waiting.filter_map(|(point, parked)| Some((*point, parked.request()?)))
    }

    /// Resumes a suspended point, alone or with its quad. The answer is red, green, blue, alpha,
    /// or a [`Texel`] that has their slopes, too. All that follows has the bits of an evaluation
    /// whose host answers at once.
    ///
    /// # Panics
    /// If the point is not suspended.
    pub fn answer(
        &mut self,
        point: usize,
        texel: impl Into<Texel>,
        host: &mut dyn Host,
    ) -> Outcome {
        self.machine.answer(point, texel, host)
    }

    /// Moves a suspended point out of the evaluator, so that it can wait beyond the next
    /// evaluation. It resumes in any [`Evaluator`](crate::Evaluator) of the same instance and
    /// limits, with the engine [`Point`](crate::evaluator::Engine::Point). All four points of a
    /// quad go along; there, [`show`](crate::Evaluator::show) selects the one that is read.
    ///
    /// # Errors
    /// If a limit on parked points is met; the point then is still suspended here.
    ///
    /// # Panics
    /// If the point is not suspended.
    pub fn park(&mut self, point: usize) -> Result<ParkedPoint, ParkError> {
        ParkedPoint::from_batch(&self.context, &mut self.machine, point)
    }

    /// Parks all points that are suspended here, each with its number in the last evaluation; one
    /// point of a quad represents all four.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, batch::{BatchEvaluator, BatchGlobals}};
    /// /// A host whose textures are still on disk.
    /// struct Disk;
    /// impl Host for Disk {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Sampled::Pending
    ///     }
    /// }
    ///
    /// let source = "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(0.5, 0.5); }";
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
    /// let material = Instance::new(&program);
    /// let mut batch = BatchEvaluator::new(&material)?;
    /// batch.evaluate(&BatchGlobals::new(program.globals()), 0, 10, &mut Disk);
    /// let mut parked = Vec::new();
    /// batch.park_all(&mut parked)?;
    ///
    /// // Some batches later, one by one.
    /// let mut single = Evaluator::new(&material);
    /// for (number, (point, waiting)) in parked.into_iter().enumerate() {
    ///     assert_eq!(point, number);
    ///     single.resume(waiting, [0.5, 0.25, 0.125, 1.0], &mut Disk)?;
    ///     assert_eq!(single.get::<[f32; 3]>("c")?, [0.5, 0.25, 0.125]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a limit on parked points is met; those that are not in `parked` then are still suspended
    /// here.
    pub fn park_all(&mut self, parked: &mut Vec<(usize, ParkedPoint)>) -> Result<(), ParkError> {
        let first =
            |evaluator: &BatchEvaluator| evaluator.suspended().map(|(point, _)| point).next();
        while let Some(point) = first(self) {
            parked.push((point, self.park(point)?));
        }
        Ok(())
    }
}
