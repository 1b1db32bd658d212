//! Rules of an image: how paths get their derivatives, at the camera, at hits, at rough surfaces.

use super::{CameraApproximation, Neighbours, RayDifferential, SurfaceDifferential, Triangle};
use crate::camera::Camera;
use glam::DVec2;

/// Where the derivatives of hits come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeedRule {
    /// Igehy's transfer with exact camera derivatives: equal to the true derivative.
    #[default]
    Exact,
    /// Differences to the rays of the next pixels (seed 000's rule).
    OnePixel,
}

/// How derivatives go on after a rough surface, where neighbouring paths have nothing in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Differentials {
    /// As after a mirror, but derivatives of the direction are widened to the lobe's roughness, as
    /// Blender's Cycles does.
    #[default]
    Widened,
    /// As after a mirror: the finest, and the noisiest to load.
    Mirrored,
    /// They are forgotten. Later hits get those that they would have if the camera saw them
    /// directly: Pharr, Jakob, Humphreys, "Physically Based Rendering", 4th edition, §10.1.2.
    FromCamera,
}

/// Radians per roughness by which [`Differentials::Widened`] widens: roughness 1 scatters over a
/// radian.
pub const DEFAULT_WIDENING: f64 = 1.0;

/// How the paths of one image get derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathDifferentials {
    rule: SeedRule,
    differentials: Differentials,
    widening: f64,
    step: f64,
    camera: Camera,
    approximation: CameraApproximation,
}

impl PathDifferentials {
    /// For a camera, with derivatives per `step` pixels: 1, or 1/√spp for the distance of samples.
    pub fn new(
        camera: &Camera,
        rule: SeedRule,
        differentials: Differentials,
        step: f64,
    ) -> PathDifferentials {
        PathDifferentials {
            rule,
            differentials,
            widening: DEFAULT_WIDENING,
            step,
            camera: *camera,
            approximation: CameraApproximation::new(camera),
        }
    }

    /// The pixels that derivatives are per.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The same with other radians per roughness than [`DEFAULT_WIDENING`].
    pub fn with_widening(self, widening: f64) -> PathDifferentials {
        PathDifferentials { widening, ..self }
    }

    /// The camera's ray through a point of the image; `lens` is in the unit disk.
    pub fn camera_ray(&self, pixel: DVec2, lens: DVec2) -> RayDifferential {
        match self.rule {
            SeedRule::Exact => self.camera.ray(pixel, lens).scaled(self.step),
            SeedRule::OnePixel => self.camera.ray_with_sides(pixel, lens, self.step),
        }
    }

    /// The hit of a ray at the distance `t` along it.
    pub fn surface(
        &self,
        ray: &RayDifferential,
        triangle: &Triangle,
        t: f64,
    ) -> SurfaceDifferential {
        match ray.neighbours {
            Neighbours::Forgotten => {
                let position = ray.origin + ray.direction * t;
                let seen = self.approximation.ray_towards(position).scaled(self.step);
                let distance = position.distance(seen.origin);
                let position_d = SurfaceDifferential::new(triangle, &seen, distance).position;
                let position_d = [position_d.ddx, position_d.ddy];
                SurfaceDifferential::with_position(triangle, ray, t, position_d)
            }
            _ => SurfaceDifferential::new(triangle, ray, t),
        }
    }

    /// The ray after a lobe of `roughness` (GGX's α; 1 for a diffuse lobe, 0 for a mirror).
    ///
    /// After roughness above 0 the one-pixel rule has no side rays; derivatives are used.
    pub fn scattered(&self, ray: RayDifferential, roughness: f64) -> RayDifferential {
        if roughness <= 0.0 || roughness.is_nan() {
            return ray;
        }
        match (self.differentials, ray.neighbours) {
            (Differentials::FromCamera, _) | (_, Neighbours::Forgotten) => RayDifferential {
                neighbours: Neighbours::Forgotten,
                ..ray
            },
            (Differentials::Widened, _) => ray.widened(self.widening * roughness),
            (Differentials::Mirrored, _) => ray.widened(0.0),
        }
    }
}
