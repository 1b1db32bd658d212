//! A ray in one space: where it meets boxes, and where triangles.
//!
//! Triangles are tested by the watertight test of Woop, Benthin and Wald ("Watertight Ray/Triangle
//! Intersection", JCGT 2013), in f64. The ray is sheared to an axis, and the signs of three edge
//! functions decide. Two triangles with a common edge compute the same number for it with opposite
//! signs, so no ray passes between them.
//!
//! A hit's distance is moved into the interval in which the ray is inside the triangle's box. The
//! interval of a box is computed by steps that keep order under rounding. So it is inside the
//! interval of each box around it, and no hierarchy can lose or change a hit. Of the boxes of a
//! hierarchy there is a [`NarrowRay`], which may only reject them.

use super::narrow_ray::NarrowRay;
use glam::{BVec3, DVec3, Vec3};

/// How far boxes are widened, as a share of the numbers that rays are computed from: more than all
/// roundings of a triangle's test.
const WIDEN: f64 = 1e-13;

/// Numbers of rays beyond this size hit nothing, so that no product overflows.
const MAX_NUMBER: f64 = 1e65;

/// A ray with what is computed once for all boxes and triangles of a space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpaceRay {
    origin: DVec3,
    /// The origin, moved so that a box's lower planes are widened.
    origin_low: DVec3,
    /// The origin, moved so that a box's upper planes are widened.
    origin_high: DVec3,
    inverse: DVec3,
    is_forward: BVec3,
    /// The axes of the shear; the last is the one along which the direction is longest.
    axes: [usize; 3],
    shear: DVec3,
    /// The same for the boxes of hierarchies.
    pub(super) narrow: NarrowRay,
}

/// A number whose inverse is finite, of the same sign.
fn without_zero(value: f64) -> f64 {
    if value.abs() < 1e-200 {
        1e-200_f64.copysign(value)
    } else {
        value
    }
}

impl SpaceRay {
    /// A ray through a space whose coordinates are no greater than `extent`. None if its numbers
    /// are not finite or too large, or if it has no direction.
    pub(super) fn new(origin: DVec3, direction: DVec3, extent: f64) -> Option<SpaceRay> {
        let within = |v: DVec3| v.to_array().iter().all(|x| x.abs() <= MAX_NUMBER);
        if !within(origin) || !within(direction) || direction.abs().max_element() < 1e-100 {
            return None;
        }
        let pad = DVec3::splat(WIDEN * (origin.abs().max_element() + extent));
        let inverse = direction.map(without_zero).recip();
        let size = direction.abs();
        let last = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        let along = direction[axes[2]];
        Some(SpaceRay {
            origin,
            origin_low: origin + pad,
            origin_high: origin - pad,
            inverse,
            is_forward: inverse.cmpge(DVec3::ZERO),
            axes,
            shear: DVec3::new(
                direction[axes[0]] / along,
                direction[axes[1]] / along,
                1.0 / along,
            ),
            narrow: NarrowRay::new(origin.to_array(), inverse.to_array(), extent),
        })
    }

    /// The distances between which the ray is inside the widened box. Outside, the first is
    /// greater.
    #[inline]
    pub(super) fn interval(&self, min: DVec3, max: DVec3) -> (f64, f64) {
        let low = (min - self.origin_low) * self.inverse;
        let high = (max - self.origin_high) * self.inverse;
        let near = DVec3::select(self.is_forward, low, high);
        let far = DVec3::select(self.is_forward, high, low);
        (near.max_element(), far.min_element())
    }

    /// The distance to a triangle, if it is hit.
    #[inline]
    pub(super) fn hit(&self, corners: [Vec3; 3]) -> Option<f64> {
        let [x, y, z] = self.axes;
        let sheared = corners.map(|corner| {
            let v = corner.as_dvec3() - self.origin;
            let along = v[z];
            DVec3::new(
                v[x] - self.shear.x * along,
                v[y] - self.shear.y * along,
                along,
            )
        });
        let [a, b, c] = sheared;
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let determinant = u + v + w;
        if determinant == 0.0 {
            return None;
        }
        let t = (u * a.z + v * b.z + w * c.z) / determinant * self.shear.z;
        let [a, b, c] = corners;
        let (min, max) = (a.min(b).min(c).as_dvec3(), a.max(b).max(c).as_dvec3());
        let (near, far) = self.interval(min, max);
        (near <= far).then(|| t.max(near).min(far))
    }
}
