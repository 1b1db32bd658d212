//! Cameras: perspective, orthographic, thin lens. Rays with exact differentials per pixel.
//!
//! Their formulas are in `differential/formulas/camera.rs`, since they are compiled in two
//! precisions; these are the renderer's, in f64.

pub use crate::differential::double::{Camera, Projection};
