//! Estimators: how a fit gets the loss and its gradient at a point.
//!
//! [`Adjoint`] asks the objective, by reverse mode. [`CentralDifferences`] and [`Spsa`] only
//! render, so any [`Render`] can be fitted by them; both are differences of the loss itself.
//! Random variables are the same at both ends of a difference.

use crate::loss::Loss;
use crate::objective::{Objective, ParameterGradient, ParameterPoint, Raster, Render};
use crate::random::CounterStream;

/// Images and their adjoints, which are reused from iteration to iteration.
#[derive(Clone, Debug)]
pub struct Workspace {
    images: Vec<Raster>,
    adjoint: Vec<Raster>,
}

impl Workspace {
    /// Memory for the images of an objective.
    pub fn new<O: Render + ?Sized>(objective: &O) -> Workspace {
        let images: Vec<Raster> = objective
            .shapes()
            .iter()
            .copied()
            .map(Raster::new)
            .collect();
        Workspace {
            adjoint: images.clone(),
            images,
        }
    }

    /// The images of the last rendering.
    pub fn images(&self) -> &[Raster] {
        &self.images
    }

    /// The loss at a point, in a stage; by which results are compared, without one.
    pub(crate) fn loss<O: Render + ?Sized>(
        &mut self,
        objective: &mut O,
        loss: &dyn Loss,
        stage: Option<usize>,
        point: &ParameterPoint<'_>,
    ) -> Result<f64, O::Error> {
        objective.render(point, &mut self.images)?;
        Ok(match stage {
            Some(stage) => loss.evaluate(stage, &self.images, None),
            None => loss.judge(&self.images),
        })
    }
}

/// Where a gradient is estimated.
#[derive(Clone, Copy, Debug)]
pub struct EstimateRequest<'a> {
    /// Parameters, scales and the seed of their noise.
    pub point: ParameterPoint<'a>,
    /// The stage of the loss.
    pub stage: usize,
    /// The number of the iteration in its restart, from 0.
    pub iteration: usize,
    /// Random numbers of this iteration, for the estimator alone.
    pub stream: CounterStream,
}

/// A rule by which gradients are estimated.
pub trait Estimator<O: Render + ?Sized> {
    /// The loss at the point; `gradient` becomes its gradient.
    ///
    /// # Errors
    /// As [`Render::render`].
    fn estimate(
        &self,
        objective: &mut O,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, O::Error>;
}

impl<O: Render + ?Sized, E: Estimator<O> + ?Sized> Estimator<O> for Box<E> {
    fn estimate(
        &self,
        objective: &mut O,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, O::Error> {
        (**self).estimate(objective, loss, request, workspace, gradient)
    }
}

/// The objective's own gradient: one rendering and one reverse pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adjoint;

impl<O: Objective + ?Sized> Estimator<O> for Adjoint {
    fn estimate(
        &self,
        objective: &mut O,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, O::Error> {
        let Workspace { images, adjoint } = workspace;
        objective.render(&request.point, images)?;
        let value = loss.evaluate(request.stage, images, Some(adjoint));
        objective.gradient(&request.point, adjoint, gradient)?;
        Ok(value)
    }
}

/// The parameters and scales of a point, copied to be moved.
struct Moved {
    values: Vec<f64>,
    scales: Vec<f64>,
    noise_seed: u64,
}

impl Moved {
    fn new(point: &ParameterPoint<'_>) -> Moved {
        Moved {
            values: point.values.to_vec(),
            scales: point.scales.to_vec(),
            noise_seed: point.noise_seed,
        }
    }

    fn point(&self) -> ParameterPoint<'_> {
        ParameterPoint {
            values: &self.values,
            scales: &self.scales,
            noise_seed: self.noise_seed,
        }
    }
}

/// The slope of the loss between two ends of the number that `of` names, which stays as it was; 0
/// if bounds left no step.
fn slope_between<O: Render + ?Sized>(
    (objective, loss, stage): (&mut O, &dyn Loss, usize),
    workspace: &mut Workspace,
    moved: &mut Moved,
    of: impl Fn(&mut Moved) -> &mut f64,
    ends: [f64; 2],
) -> Result<f64, O::Error> {
    let here = *of(moved);
    let mut losses = [0.0; 2];
    for (end, to) in ends.iter().zip(&mut losses) {
        *of(moved) = *end;
        *to = workspace.loss(objective, loss, Some(stage), &moved.point())?;
    }
    *of(moved) = here;
    Ok(slope(losses[0] - losses[1], ends[0] - ends[1]))
}

/// The slope of a difference; 0 if bounds left no step.
fn slope(change: f64, step: f64) -> f64 {
    if step == 0.0 { 0.0 } else { change / step }
}

/// Central differences: two renderings for each parameter that is not fixed, and two for each scale
/// of noise. Ends are clamped to the bounds of their parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentralDifferences {
    /// The distance of each end, over the parameter's range; over 1 for scales. > 0.
    pub step: f64,
}

impl Default for CentralDifferences {
    fn default() -> CentralDifferences {
        CentralDifferences { step: 0.01 }
    }
}

impl<O: Render + ?Sized> Estimator<O> for CentralDifferences {
    fn estimate(
        &self,
        objective: &mut O,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, O::Error> {
        let (stage, point) = (request.stage, &request.point);
        let parameters = objective.parameters().to_vec();
        let mut moved = Moved::new(point);
        for (at, parameter) in parameters.iter().enumerate().filter(|(_, p)| !p.fixed) {
            let distance = self.step * parameter.width();
            let ends = [distance, -distance].map(|step| parameter.clamp(point.values[at] + step));
            let by = (&mut *objective, loss, stage);
            let slope = slope_between(by, workspace, &mut moved, |m| &mut m.values[at], ends)?;
            gradient.values[at] = slope;
        }
        let random = parameters.iter().enumerate().filter(|(_, p)| p.is_random());
        for (at, _) in random.filter(|_| !point.scales.is_empty()) {
            let scale = point.scales[at];
            let ends = [scale + self.step, (scale - self.step).max(0.0)];
            let by = (&mut *objective, loss, stage);
            let slope = slope_between(by, workspace, &mut moved, |m| &mut m.scales[at], ends)?;
            gradient.scales[at] = slope;
        }
        // Last, so that the workspace has the images of the point.
        workspace.loss(objective, loss, Some(stage), point)
    }
}

/// Simultaneous perturbation (Spall 1992): all parameters move at once, each by ±c, and the one
/// difference of the loss over each own step estimates the gradient. c falls as (k + 1)^−0.101 with
/// the iteration k (Spall 1998).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spsa {
    /// c of the first iteration, over the parameter's range; over 1 for scales. > 0.
    pub step: f64,
    /// Directions that are averaged in each iteration, > 0: two renderings each.
    pub samples: usize,
}

impl Default for Spsa {
    fn default() -> Spsa {
        Spsa {
            step: 0.01,
            samples: 1,
        }
    }
}

/// γ: how fast SPSA's steps fall.
const SPSA_DECAY: f64 = 0.101;

impl<O: Render + ?Sized> Estimator<O> for Spsa {
    fn estimate(
        &self,
        objective: &mut O,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, O::Error> {
        let (stage, point) = (Some(request.stage), &request.point);
        let parameters = objective.parameters().to_vec();
        let step = self.step / libm::pow(request.iteration as f64 + 1.0, SPSA_DECAY);
        gradient.values.fill(0.0);
        gradient.scales.fill(0.0);
        let numbers = (point.values.len() + point.scales.len()) as u64;
        let samples = self.samples.max(1);
        for sample in 0..samples as u64 {
            let sign = |number: usize| {
                let bits = request.stream.word(sample * numbers + number as u64);
                if bits >> 63 == 0 { step } else { -step }
            };
            let mut ends = [Moved::new(point), Moved::new(point)];
            let mut losses = [0.0; 2];
            for ((end, to), side) in ends.iter_mut().zip(&mut losses).zip([1.0, -1.0]) {
                for (at, parameter) in parameters.iter().enumerate().filter(|(_, p)| !p.fixed) {
                    let value = point.values[at] + side * sign(at) * parameter.width();
                    end.values[at] = parameter.clamp(value);
                }
                for (at, scale) in point.scales.iter().enumerate() {
                    if parameters[at].is_random() {
                        let number = point.values.len() + at;
                        end.scales[at] = (scale + side * sign(number)).max(0.0);
                    }
                }
                *to = workspace.loss(objective, loss, stage, &end.point())?;
            }
            let change = (losses[0] - losses[1]) / samples as f64;
            let add = |sums: &mut [f64], ends: [&[f64]; 2]| {
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum += slope(change, ends[0][at] - ends[1][at]);
                }
            };
            add(&mut gradient.values, [&ends[0].values, &ends[1].values]);
            add(&mut gradient.scales, [&ends[0].scales, &ends[1].scales]);
        }
        workspace.loss(objective, loss, stage, point)
    }
}
