//! Frames around normals, and the directions of mirrors, refraction and the cosine law.

use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2, FRAC_PI_4};

/// An orthonormal frame whose third axis is the normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    axes: [Vec3; 3],
}

impl Frame {
    /// The frame of a unit normal, and of a tangent where the first axis matters.
    pub(super) fn new(normal: Vec3, tangent: Option<Vec3>) -> Frame {
        let tangent = tangent.unwrap_or_else(|| normal.any_orthonormal_vector());
        Frame {
            axes: [tangent, normal.cross(tangent), normal],
        }
    }

    pub(super) fn to_local(self, world: Vec3) -> Vec3 {
        let [x, y, z] = self.axes.map(|axis| axis.dot(world));
        Vec3::new(x, y, z)
    }

    pub(super) fn to_world(self, local: Vec3) -> Vec3 {
        let [x, y, z] = self.axes;
        (local.x * x + local.y * y + local.z * z).normalize_or_zero()
    }
}

/// The direction that a mirror of this normal reflects `out` to.
pub(super) fn reflected(out: Vec3, normal: Vec3) -> Vec3 {
    2.0 * out.dot(normal) * normal - out
}

/// The direction of the light that refraction sends to `out`, or none where all is reflected. `eta`
/// is the index on the side of `out` over the one beyond.
pub(super) fn refracted(out: Vec3, normal: Vec3, eta: f32) -> Option<Vec3> {
    let cosine = out.dot(normal);
    let square = 1.0 - eta * eta * (1.0 - cosine * cosine).max(0.0);
    (square > 0.0).then(|| (eta * cosine - square.sqrt()) * normal - eta * out)
}

/// A point of the unit disk, equal areas for equal areas (Shirley and Chiu, "A Low Distortion Map
/// Between Disk and Square", 1997).
pub(in crate::shading) fn disk(unit: Vec2) -> Vec2 {
    let at = 2.0 * unit - 1.0;
    if at == Vec2::ZERO {
        return Vec2::ZERO;
    }
    let (radius, angle) = match at.x.abs() > at.y.abs() {
        true => (at.x, FRAC_PI_4 * (at.y / at.x)),
        false => (at.y, FRAC_PI_2 - FRAC_PI_4 * (at.x / at.y)),
    };
    let (sine, cosine) = libm::sincosf(angle);
    radius * Vec2::new(cosine, sine)
}

/// The density of [`cosine_hemisphere`].
pub(super) fn cosine_density(into: Vec3) -> f32 {
    into.z.max(0.0) * FRAC_1_PI
}

/// A direction of the hemisphere around z, with a density of cosine over π.
pub(super) fn cosine_hemisphere(unit: Vec2) -> Vec3 {
    above(disk(unit))
}

/// The direction above a point of the unit disk.
pub(super) fn above(at: Vec2) -> Vec3 {
    at.extend((1.0 - at.length_squared()).max(0.0).sqrt())
}
