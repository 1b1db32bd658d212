//! Losses: how far images are from their targets, and the exact adjoint of that.

mod level;
mod pyramid;

pub use pyramid::{Distance, FitTarget, LossError, MIN_SIDE, PyramidLoss};

use crate::objective::Raster;

/// A loss of images, in stages from the easiest to the one that counts.
///
/// `evaluate` with an adjoint gives the derivatives of the very value that it returns, to rounding.
pub trait Loss {
    /// The number of stages, > 0.
    fn stages(&self) -> usize;

    /// The loss in a stage, `< stages()`. If `adjoint` is there, its images become ∂loss/∂colour.
    fn evaluate(&self, stage: usize, images: &[Raster], adjoint: Option<&mut [Raster]>) -> f64;

    /// The loss by which results are compared, whatever the stage.
    fn judge(&self, images: &[Raster]) -> f64;
}

impl<L: Loss + ?Sized> Loss for Box<L> {
    fn stages(&self) -> usize {
        (**self).stages()
    }

    fn evaluate(&self, stage: usize, images: &[Raster], adjoint: Option<&mut [Raster]>) -> f64 {
        (**self).evaluate(stage, images, adjoint)
    }

    fn judge(&self, images: &[Raster]) -> f64 {
        (**self).judge(images)
    }
}
