//! Fitting of parameters to images by gradients.
//!
//! The crate knows no shaders. An [`Objective`] renders images and gives their gradients, a
//! [`Loss`] compares images with targets, and a [`Fit`] searches the parameters with the least
//! loss: by Adam, in stages from coarse to fine, from many starts. [`PyramidLoss`] is the loss of
//! Aδ (Yang, Barnes, Adams, Finkelstein 2022), and [`Schedule`] its schedule.
//!
//! Equal options, images and gradients give the same bits: on every machine, in any order of
//! restarts, and however often a fit is interrupted and resumed.

mod adam;
mod bounds;
mod chart;
mod checkpoint;
mod estimator;
mod exact;
mod fit;
mod loss;
mod objective;
mod options;
mod random;
mod report;
mod restart;
mod schedule;
mod statistics;

pub use adam::{Adam, BETA_1, BETA_2, EPSILON};
pub use bounds::{BoundsError, ParameterBounds};
pub use chart::convergence_svg;
pub use checkpoint::{CheckpointError, SetupDifference, SetupPart, content_hash, write_atomically};
pub use estimator::{Adjoint, CentralDifferences, EstimateRequest, Estimator, Spsa, Workspace};
pub use fit::{Fit, FitProgress};
pub use loss::{Distance, FitTarget, Loss, LossError, MIN_SIDE, PyramidLoss};
pub use objective::{
    FitParameter, LEARNING_RATE, Objective, ParameterGradient, ParameterPoint, Raster, RasterShape,
    Render,
};
pub use options::{FitOptions, FitSetupError};
pub use random::CounterStream;
pub use report::{FitReport, RestartReport, TraceReport, named_values};
pub use restart::{RestartRecord, TracePoint, initial_values};
pub use schedule::Schedule;
pub use statistics::{SuccessStatistics, is_success, wilson_interval};
