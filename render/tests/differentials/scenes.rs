//! Cameras and triangles that are drawn at random, and simple ones.

use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{RayDifferential, SurfaceDifferential, Triangle};
use fastrand::Rng;
use glam::{DQuat, DVec2, DVec3};

pub(crate) fn number(random: &mut Rng, from: f64, to: f64) -> f64 {
    from + (to - from) * random.f64()
}

pub(crate) fn vector(random: &mut Rng) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| number(random, -1.0, 1.0)))
}

pub(crate) fn direction(random: &mut Rng) -> DVec3 {
    loop {
        let v = vector(random);
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize();
        }
    }
}

/// A camera at `origin` that looks at `target`, of any kind.
pub(crate) fn camera(random: &mut Rng, origin: DVec3, target: DVec3) -> Camera {
    let forward = (target - origin).normalize();
    let right = forward.cross(direction(random)).normalize();
    let tan_half = DVec2::new(number(random, 0.2, 1.0), number(random, 0.2, 1.0));
    let shift = DVec2::new(number(random, -0.2, 0.2), number(random, -0.2, 0.2));
    let projection = match random.u8(0..3) {
        0 => Projection::Perspective { tan_half, shift },
        1 => Projection::Orthographic {
            half_size: tan_half,
        },
        _ => Projection::ThinLens {
            tan_half,
            shift,
            lens_radius: number(random, 0.0, 0.2),
            focus_distance: number(random, 1.0, 4.0),
        },
    };
    Camera {
        origin,
        right,
        up: right.cross(forward),
        forward,
        projection,
        size: [640, 480],
    }
}

/// A triangle of about the size `size` around a point, with normals that differ by `bend`.
pub(crate) fn triangle(random: &mut Rng, center: DVec3, size: f64, bend: f64) -> Triangle {
    let normal = direction(random);
    let frame = DQuat::from_rotation_arc(DVec3::Z, normal);
    let start = number(random, 0.0, 6.0);
    let corner = |at: u8, random: &mut Rng| {
        let turn = DQuat::from_rotation_z(start + 2.0 * f64::from(at) + number(random, -0.3, 0.3));
        center + frame * (turn * DVec3::X) * (size * number(random, 0.7, 1.3))
    };
    let tangent = frame * DVec3::X;
    Triangle {
        positions: [0, 1, 2].map(|at| corner(at, random)),
        normals: Some([0; 3].map(|_| (normal + vector(random) * bend) * number(random, 0.5, 2.0))),
        tangents: Some([0; 3].map(|_| tangent + vector(random) * 0.3)),
        tangent_w: if random.bool() { 1.0 } else { -1.0 },
        is_mirrored: random.bool(),
        uvs: Some([0; 3].map(|_| DVec2::new(number(random, -2.0, 2.0), number(random, -2.0, 2.0)))),
    }
}

pub(crate) fn hit(triangle: &Triangle, ray: &RayDifferential) -> Option<SurfaceDifferential> {
    let t = triangle
        .distance(ray.origin, ray.direction)
        .filter(|t| *t > 0.0)?;
    Some(SurfaceDifferential::new(triangle, ray, t))
}

pub(crate) fn floor() -> Triangle {
    Triangle {
        positions: [
            DVec3::new(-1.0, 0.0, -1.0),
            DVec3::new(-1.0, 0.0, 3.0),
            DVec3::new(3.0, 0.0, -1.0),
        ],
        normals: None,
        tangents: None,
        tangent_w: 1.0,
        is_mirrored: false,
        uvs: None,
    }
}

pub(crate) fn above() -> Camera {
    Camera {
        origin: DVec3::new(0.2, 2.0, 0.1),
        right: DVec3::X,
        up: DVec3::NEG_Z,
        forward: DVec3::NEG_Y,
        projection: Projection::Perspective {
            tan_half: DVec2::splat(0.5),
            shift: DVec2::ZERO,
        },
        size: [100, 100],
    }
}
