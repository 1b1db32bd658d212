//! Derivatives from the camera alone, for hits whose path forgot its own.
//!
//! Pharr, Jakob, Humphreys, "Physically Based Rendering", 4th edition, §10.1.2
//! (`Approximate_dp_dxy` of pbrt-v4): the hit is treated as if the camera saw it directly, with the
//! least derivatives that any ray of the camera has.

use super::{Neighbours, RayDifferential};
use crate::camera::{Camera, Projection};
use glam::{DQuat, DVec2, DVec3};

/// The least derivatives of a camera's rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraApproximation {
    camera: Camera,
    /// The least lengths of the derivatives of origins and directions along x and y.
    origin_d: [f64; 2],
    direction_d: [f64; 2],
}

/// The points along each side of the image at which rays are looked at.
const LOOKED_AT: u32 = 17;

impl CameraApproximation {
    /// Looks at the rays of a camera.
    pub fn new(camera: &Camera) -> CameraApproximation {
        let mut least = CameraApproximation {
            camera: *camera,
            origin_d: [f64::INFINITY; 2],
            direction_d: [f64::INFINITY; 2],
        };
        let size = DVec2::from(camera.size.map(f64::from));
        for at in 0..LOOKED_AT * LOOKED_AT {
            let place = DVec2::new((at % LOOKED_AT).into(), (at / LOOKED_AT).into());
            let pixel = size * place / f64::from(LOOKED_AT - 1);
            let ray = camera.ray(pixel, DVec2::ZERO);
            for axis in [0, 1] {
                let keep = |least: &mut f64, d: DVec3| *least = least.min(d.length());
                keep(&mut least.origin_d[axis], ray.origin_d[axis]);
                keep(&mut least.direction_d[axis], ray.direction_d[axis]);
            }
        }
        least
    }

    /// The ray from the camera to a point, with the least derivatives per pixel, turned with the
    /// ray. A point at the camera's origin gets zero derivatives.
    pub fn ray_towards(&self, point: DVec3) -> RayDifferential {
        let camera = &self.camera;
        let [right, down] = [camera.right, -camera.up].map(DVec3::normalize_or_zero);
        let forward = camera.forward.normalize_or_zero();
        let to_point = point - camera.origin;
        let (origin, direction) = match camera.projection {
            Projection::Orthographic { .. } => (point - forward * forward.dot(to_point), forward),
            _ => (camera.origin, to_point.normalize_or_zero()),
        };
        let (origin_d, direction_d) = if direction == DVec3::ZERO {
            ([0.0; 2], [0.0; 2])
        } else {
            (self.origin_d, self.direction_d)
        };
        let turn = DQuat::from_rotation_arc(forward, direction);
        RayDifferential {
            origin,
            direction,
            origin_d: [right * origin_d[0], down * origin_d[1]],
            direction_d: [turn * right * direction_d[0], turn * down * direction_d[1]],
            neighbours: Neighbours::Derivatives,
        }
    }
}
