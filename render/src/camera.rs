//! Cameras: perspective, orthographic, thin lens. Rays with exact differentials per pixel.

use crate::differential::RayDifferential;
use glam::{DVec2, DVec3};

/// How a camera maps pixels to rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// d = forward + right·(a·tan_half.x + shift.x) + up·(b·tan_half.y + shift.y), from one origin.
    Perspective { tan_half: DVec2, shift: DVec2 },
    /// Parallel rays along `forward`, from origin + right·a·half_size.x + up·b·half_size.y.
    Orthographic { half_size: DVec2 },
    /// As perspective, from a disk of `lens_radius`, sharp at `focus_distance` along `d`.
    ThinLens {
        tan_half: DVec2,
        shift: DVec2,
        lens_radius: f64,
        focus_distance: f64,
    },
}

/// A camera: a frame in the world, a projection, and the size of the image in pixels.
///
/// Pixel coordinates are continuous, x to the right, y down: a = 2x/w − 1, b = 1 − 2y/h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub origin: DVec3,
    pub right: DVec3,
    pub up: DVec3,
    pub forward: DVec3,
    pub projection: Projection,
    pub size: [u32; 2],
}

impl Camera {
    /// The ray through a point of the image, with its exact derivatives per pixel. `lens` is in the
    /// unit disk; side rays share it.
    pub fn ray(&self, pixel: DVec2, lens: DVec2) -> RayDifferential {
        let _ = (pixel, lens);
        todo!()
    }
}
