//! Fitting of parameters to images by gradients.
//!
//! The crate knows no shaders. An [`Objective`] renders images and gives their gradients, a
//! [`Loss`] compares images with targets. [`PyramidLoss`] is the loss of Aδ (Yang, Barnes, Adams,
//! Finkelstein 2022).

mod loss;
mod objective;
mod random;

pub use loss::{Distance, FitTarget, Loss, LossError, MIN_SIDE, PyramidLoss};
pub use objective::{
    FitParameter, LEARNING_RATE, Objective, ParameterGradient, ParameterPoint, Raster, RasterShape,
    Render,
};
pub use random::CounterStream;
