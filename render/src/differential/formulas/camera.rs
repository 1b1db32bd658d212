//! Cameras: perspective, orthographic, thin lens; rays with exact derivatives per pixel.

use super::{Neighbours, Ray, RayDifferential, Real, Vec2, Vec3};

/// How a camera maps pixels to rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// d = forward + right·(a·tan_half.x + shift.x) + up·(b·tan_half.y + shift.y), from one origin.
    Perspective {
        /// Tangents of half the angles of view.
        tan_half: Vec2,
        /// Moves the image off the axis, in units of the same tangents.
        shift: Vec2,
    },
    /// Parallel rays along `forward`, from origin + right·a·half_size.x + up·b·half_size.y.
    Orthographic {
        /// Half the width and height that are seen, in the world's units.
        half_size: Vec2,
    },
    /// As perspective, from a disk of `lens_radius`, sharp at `focus_distance` along `d`.
    ThinLens {
        /// Tangents of half the angles of view.
        tan_half: Vec2,
        /// Moves the image off the axis, in units of the same tangents.
        shift: Vec2,
        /// The radius of the lens, in the world's units.
        lens_radius: Real,
        /// The distance along `forward` at which the image is sharp.
        focus_distance: Real,
    },
}

/// A camera: a frame in the world, a projection, and the size of the image in pixels.
///
/// Pixel coordinates are continuous, x to the right, y down: a = 2x/w − 1, b = 1 − 2y/h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it is.
    pub origin: Vec3,
    /// To the right in the image. The frame is used as it is; it need not be orthonormal.
    pub right: Vec3,
    /// Up in the image.
    pub up: Vec3,
    /// Into the image.
    pub forward: Vec3,
    /// How pixels become rays.
    pub projection: Projection,
    /// Width and height of the image in pixels.
    pub size: [u32; 2],
}

/// A ray before its direction is made a unit vector, and derivatives per pixel.
struct Beam {
    origin: Vec3,
    direction: Vec3,
    origin_d: [Vec3; 2],
    direction_d: [Vec3; 2],
}

impl Camera {
    /// The ray through a point of the image, with its exact derivatives per pixel. `lens` is in the
    /// unit disk; side rays share it.
    ///
    /// # Panics
    /// Never; a camera without an extent gives rays that are not finite, which hit nothing.
    pub fn ray(&self, pixel: Vec2, lens: Vec2) -> RayDifferential {
        let beam = self.beam(pixel, lens);
        let length = beam.direction.length();
        let direction = beam.direction / length;
        let across = |d: Vec3| (d - direction * direction.dot(d)) / length;
        RayDifferential {
            origin: beam.origin,
            direction,
            origin_d: beam.origin_d,
            direction_d: beam.direction_d.map(across),
            neighbours: Neighbours::Derivatives,
        }
    }

    /// The same ray for the one-pixel rule: it carries the rays of (x + step, y) and (x, y + step),
    /// and its derivatives are per `step` pixels.
    pub fn ray_with_sides(&self, pixel: Vec2, lens: Vec2, step: Real) -> RayDifferential {
        let side = |pixel: Vec2| {
            let beam = self.beam(pixel, lens);
            let direction = beam.direction / beam.direction.length();
            Some(Ray {
                origin: beam.origin,
                direction,
            })
        };
        let [x, y] = [Vec2::new(step, 0.0), Vec2::new(0.0, step)];
        RayDifferential {
            neighbours: Neighbours::Rays([side(pixel + x), side(pixel + y)]),
            ..self.ray(pixel, lens).scaled(step)
        }
    }

    fn beam(&self, pixel: Vec2, lens: Vec2) -> Beam {
        let [width, height] = self.size.map(|size| size as Real);
        let (a, b) = (2.0 * pixel.x / width - 1.0, 1.0 - 2.0 * pixel.y / height);
        let (a_dx, b_dy) = (2.0 / width, -2.0 / height);
        let through = |tan_half: Vec2, shift: Vec2| {
            let across = self.right * (a * tan_half.x + shift.x);
            self.forward + across + self.up * (b * tan_half.y + shift.y)
        };
        let through_d = |tan_half: Vec2| {
            [
                self.right * (a_dx * tan_half.x),
                self.up * (b_dy * tan_half.y),
            ]
        };
        match self.projection {
            Projection::Perspective { tan_half, shift } => Beam {
                origin: self.origin,
                direction: through(tan_half, shift),
                origin_d: [Vec3::ZERO; 2],
                direction_d: through_d(tan_half),
            },
            Projection::Orthographic { half_size } => Beam {
                origin: self.origin + self.right * (a * half_size.x) + self.up * (b * half_size.y),
                direction: self.forward,
                origin_d: through_d(half_size),
                direction_d: [Vec3::ZERO; 2],
            },
            Projection::ThinLens {
                tan_half,
                shift,
                lens_radius,
                focus_distance,
            } => {
                let aside = (self.right * lens.x + self.up * lens.y) * lens_radius;
                Beam {
                    origin: self.origin + aside,
                    direction: through(tan_half, shift) * focus_distance - aside,
                    origin_d: [Vec3::ZERO; 2],
                    direction_d: through_d(tan_half).map(|d| d * focus_distance),
                }
            }
        }
    }
}
