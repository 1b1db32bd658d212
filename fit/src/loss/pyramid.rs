//! The loss pyramid: distances of blurred and halved images from their targets.
//!
//! Levels are 1/16, 1/8, 1/4, 1/2 and 1 of the size, each by 2×2 boxes. Those whose smaller side is
//! below [`MIN_SIDE`] are left out, but for the last. Before the coarsest that is left come four of
//! its size, blurred with σ = 5, 2, 1, ½ of its pixels: so images of every size have a level that
//! feels shapes from afar. Stage k sums the first k + 1.
//!
//! With A the map to a level, w the weights of the pixels and d the difference from the target, a
//! level's loss is Σ A(w)·φ(e)/ΣA(w), where e = A(w·d)/A(w). Its derivative by d is
//! w·Aᵀφ′(e)/ΣA(w): exact, and of the size of w.

use super::Loss;
use super::level::Plane;
use crate::objective::{Raster, RasterShape};
use std::fmt;

/// The least side of a level, in pixels.
pub const MIN_SIDE: usize = 16;

/// The most halvings of a level.
const MAX_HALVINGS: usize = 4;

/// The blurs of the coarsest size, in its pixels.
const SIGMAS: [f64; 4] = [5.0, 2.0, 1.0, 0.5];

/// Halvings and blur of each level of an image, from the coarsest.
fn pyramid_levels(shape: RasterShape) -> Vec<(usize, f64)> {
    let side = shape.width.min(shape.height);
    let mut halvings = (0..=MAX_HALVINGS).rev();
    let coarsest = halvings.find(|halvings| side.div_ceil(1 << halvings) >= MIN_SIDE);
    let coarsest = coarsest.unwrap_or(0);
    let blurred = SIGMAS.map(|sigma| (coarsest, sigma)).into_iter();
    let sharp = (0..=coarsest).rev().map(|halvings| (halvings, 0.0));
    blurred.chain(sharp).collect()
}

/// How far a colour is from its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// φ(e) = e².
    L2,
    /// φ(e) = |e|, whose derivative at 0 is 0.
    L1,
}

impl Distance {
    /// φ(e) and φ′(e).
    fn of(self, e: f64) -> (f64, f64) {
        match self {
            Distance::L2 => (e * e, 2.0 * e),
            Distance::L1 if e == 0.0 => (0.0, 0.0),
            Distance::L1 => (e.abs(), 1.0_f64.copysign(e)),
        }
    }
}

/// What an image is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct FitTarget {
    /// Linear colours.
    pub image: Raster,
    /// How much each pixel counts, ≥ 0: a mask, or the alpha of the target. Without weights each
    /// counts 1.
    pub weights: Option<Vec<f32>>,
}

/// Why there is no loss of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossError {
    /// There is no target.
    NoTarget,
    /// The target with this number has another number of weights than pixels.
    WeightCount(usize),
    /// The target with this number has a weight that is negative or not finite.
    Weight(usize),
    /// No pixel of the target with this number counts.
    NoWeight(usize),
    /// The target with this number has a colour that is not finite, in a pixel that counts.
    Colour(usize),
}

impl fmt::Display for LossError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LossError::NoTarget => f.write_str("there is no target"),
            LossError::WeightCount(target) => {
                write!(f, "target {target} does not have one weight for each pixel")
            }
            LossError::Weight(target) => {
                write!(
                    f,
                    "target {target} has a weight that is negative or not finite"
                )
            }
            LossError::NoWeight(target) => write!(f, "no pixel of target {target} has a weight"),
            LossError::Colour(target) => {
                write!(f, "target {target} has a colour that is not finite")
            }
        }
    }
}

impl std::error::Error for LossError {}

/// A level of a target: A(w), and what the loss is divided by.
#[derive(Clone, Debug)]
struct WeightedLevel {
    halvings: usize,
    sigma: f64,
    weights: Plane,
    norm: f64,
}

/// A target with all its levels, from the coarsest.
#[derive(Clone, Debug)]
struct PreparedTarget {
    image: Raster,
    weights: Plane,
    levels: Vec<WeightedLevel>,
}

/// The loss pyramid over all targets: the sum of their losses.
///
/// ```
/// use adumbra_fit::{Distance, Loss, PyramidLoss, Raster, RasterShape, FitTarget};
/// let shape = RasterShape { width: 100, height: 65, channels: 3 };
/// let target = FitTarget { image: Raster::new(shape), weights: None };
/// let loss = PyramidLoss::new(vec![target], Distance::L2)?;
/// // Four blurs of 17 pixels, then sides of 17, 33 and 65; 9 is too small.
/// assert_eq!(loss.stages(), 7);
/// let grey = [Raster::from_values(shape, vec![0.5; shape.floats()])];
/// assert!((loss.judge(&grey) - 0.25).abs() < 1e-12);
/// assert!((loss.evaluate(6, &grey, None) - 1.75).abs() < 1e-12);
/// # Ok::<(), adumbra_fit::LossError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PyramidLoss {
    distance: Distance,
    targets: Vec<PreparedTarget>,
    stages: usize,
}

impl PyramidLoss {
    /// The loss with all levels.
    ///
    /// # Errors
    /// If there is no target, or one has wrong weights.
    pub fn new(targets: Vec<FitTarget>, distance: Distance) -> Result<PyramidLoss, LossError> {
        PyramidLoss::with_levels(targets, distance, pyramid_levels)
    }

    /// The loss of the images themselves, in one stage.
    ///
    /// # Errors
    /// As [`PyramidLoss::new`].
    pub fn flat(targets: Vec<FitTarget>, distance: Distance) -> Result<PyramidLoss, LossError> {
        PyramidLoss::with_levels(targets, distance, |_| vec![(0, 0.0)])
    }

    fn with_levels(
        targets: Vec<FitTarget>,
        distance: Distance,
        levels: impl Fn(RasterShape) -> Vec<(usize, f64)>,
    ) -> Result<PyramidLoss, LossError> {
        let targets = targets.into_iter().enumerate();
        let targets = targets.map(|(number, target)| {
            let levels = levels(target.image.shape());
            PreparedTarget::new(number, target, &levels)
        });
        let targets: Vec<PreparedTarget> = targets.collect::<Result<_, _>>()?;
        let stages = targets.iter().map(|target| target.levels.len()).max();
        Ok(PyramidLoss {
            distance,
            targets,
            stages: stages.ok_or(LossError::NoTarget)?,
        })
    }

    /// The shapes of the targets.
    pub fn shapes(&self) -> impl Iterator<Item = RasterShape> {
        self.targets.iter().map(|target| target.image.shape())
    }
}

impl PreparedTarget {
    fn new(
        number: usize,
        target: FitTarget,
        levels: &[(usize, f64)],
    ) -> Result<PreparedTarget, LossError> {
        let shape = target.image.shape();
        let mut weights = Plane::new(shape.width, shape.height, 1);
        match &target.weights {
            None => weights.values.fill(1.0),
            Some(given) if given.len() == shape.pixels() => {
                let wide = weights.values.iter_mut().zip(given);
                wide.for_each(|(wide, given)| *wide = f64::from(*given));
            }
            Some(_) => return Err(LossError::WeightCount(number)),
        }
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if !weights.values.iter().all(is_weight) {
            return Err(LossError::Weight(number));
        }
        if weights.values.iter().all(|weight| *weight == 0.0) {
            return Err(LossError::NoWeight(number));
        }
        let pixels = target.image.values().chunks_exact(shape.channels);
        let mut counting = pixels
            .zip(&weights.values)
            .filter(|(_, weight)| **weight > 0.0);
        if !counting.all(|(pixel, _)| pixel.iter().all(|colour| colour.is_finite())) {
            return Err(LossError::Colour(number));
        }
        let halvings = levels.iter().map(|level| level.0).max().unwrap_or(0);
        let planes = halved_planes(weights.clone(), halvings);
        let levels = levels.iter().map(|&(halvings, sigma)| {
            let weights = planes[halvings].blurred(sigma);
            let norm = weights.values.iter().sum::<f64>() * shape.channels as f64;
            WeightedLevel {
                halvings,
                sigma,
                weights,
                norm,
            }
        });
        Ok(PreparedTarget {
            image: target.image,
            levels: levels.collect(),
            weights,
        })
    }

    /// w·d. A pixel without weight is 0, whatever its colour.
    fn difference(&self, image: &Raster) -> Plane {
        let shape = self.image.shape();
        assert_eq!(image.shape(), shape, "the target's shape");
        let mut plane = Plane::new(shape.width, shape.height, shape.channels);
        let [own, target] = [image, &self.image].map(|image| image.values());
        let colours = own
            .chunks_exact(shape.channels)
            .zip(target.chunks_exact(shape.channels));
        let pixels = plane.values.chunks_exact_mut(shape.channels);
        for ((to, (own, target)), &weight) in pixels.zip(colours).zip(&self.weights.values) {
            if weight > 0.0 {
                for ((to, own), target) in to.iter_mut().zip(own).zip(target) {
                    *to = weight * (f64::from(*own) - f64::from(*target));
                }
            }
        }
        plane
    }

    /// The loss over some of the levels; `adjoint` becomes its derivatives.
    fn evaluate(
        &self,
        distance: Distance,
        levels: &[WeightedLevel],
        image: &Raster,
        adjoint: Option<&mut Raster>,
    ) -> f64 {
        let halvings = levels.iter().map(|level| level.halvings).max();
        let planes = halved_planes(self.difference(image), halvings.unwrap_or(0));
        let mut adjoints: Vec<Plane> = match adjoint {
            Some(_) => {
                let zeros = |plane: &Plane| Plane::new(plane.width, plane.height, plane.channels);
                planes.iter().map(zeros).collect()
            }
            None => Vec::new(),
        };
        let mut loss = 0.0;
        for level in levels {
            let plane = &planes[level.halvings];
            let mut sum = adjoints.get_mut(level.halvings);
            if level.sigma == 0.0 {
                loss += level.evaluate(distance, plane, sum);
                continue;
            }
            let mut slopes = Plane::new(plane.width, plane.height, plane.channels);
            let values = plane.blurred(level.sigma);
            loss += level.evaluate(distance, &values, sum.is_some().then_some(&mut slopes));
            if let Some(sum) = &mut sum {
                let slopes = slopes.blurred(level.sigma).values;
                sum.values.iter_mut().zip(slopes).for_each(|(s, v)| *s += v);
            }
        }
        if let Some(adjoint) = adjoint {
            for halvings in (1..adjoints.len()).rev() {
                let (finer, coarser) = adjoints.split_at_mut(halvings);
                finer[halvings - 1].add_doubled(&coarser[0]);
            }
            assert_eq!(adjoint.shape(), image.shape(), "the image's shape");
            let channels = image.shape().channels;
            let pixels = adjoint.values_mut().chunks_exact_mut(channels);
            let pixels = pixels.zip(adjoints[0].values.chunks_exact(channels));
            for ((to, slopes), &weight) in pixels.zip(&self.weights.values) {
                for (to, slope) in to.iter_mut().zip(slopes) {
                    *to = (weight * slope) as f32;
                }
            }
        }
        loss
    }
}

impl WeightedLevel {
    /// The loss of A(w·d); adds its derivatives by that to `slopes`.
    fn evaluate(&self, distance: Distance, values: &Plane, slopes: Option<&mut Plane>) -> f64 {
        let channels = values.channels;
        let pixels = values.values.chunks_exact(channels);
        let pixels = pixels.zip(&self.weights.values).enumerate();
        let pixels = pixels.filter(|(_, (_, weight))| **weight > 0.0);
        let mut sum = 0.0;
        match slopes {
            None => {
                for (_, (pixel, &weight)) in pixels {
                    for value in pixel {
                        sum += weight * distance.of(value / weight).0;
                    }
                }
            }
            Some(slopes) => {
                for (at, (pixel, &weight)) in pixels {
                    let slopes = &mut slopes.values[at * channels..][..channels];
                    for (value, to) in pixel.iter().zip(slopes) {
                        let (distance, slope) = distance.of(value / weight);
                        sum += weight * distance;
                        *to += slope / self.norm;
                    }
                }
            }
        }
        sum / self.norm
    }
}

/// A plane and its halved ones.
fn halved_planes(plane: Plane, halvings: usize) -> Vec<Plane> {
    let mut planes = vec![plane];
    for at in 0..halvings {
        planes.push(planes[at].halved());
    }
    planes
}

impl Loss for PyramidLoss {
    fn stages(&self) -> usize {
        self.stages
    }

    /// A target with fewer levels than another joins the sum with its coarsest at once.
    fn evaluate(&self, stage: usize, images: &[Raster], mut adjoint: Option<&mut [Raster]>) -> f64 {
        assert!(stage < self.stages, "stage {stage} of {}", self.stages);
        assert_eq!(images.len(), self.targets.len(), "one for each target");
        let pairs = self.targets.iter().zip(images).enumerate();
        let losses = pairs.map(|(at, (target, image))| {
            let missing = self.stages - target.levels.len();
            let count = (stage + 1).saturating_sub(missing).max(1);
            let adjoint = adjoint.as_deref_mut().map(|adjoint| &mut adjoint[at]);
            target.evaluate(self.distance, &target.levels[..count], image, adjoint)
        });
        losses.sum()
    }

    /// The loss of the images themselves, without levels.
    fn judge(&self, images: &[Raster]) -> f64 {
        assert_eq!(images.len(), self.targets.len(), "one for each target");
        let pairs = self.targets.iter().zip(images);
        let losses = pairs.map(|(target, image)| {
            let finest = &target.levels[target.levels.len() - 1..];
            target.evaluate(self.distance, finest, image, None)
        });
        losses.sum()
    }
}

#[cfg(test)]
mod tests;
