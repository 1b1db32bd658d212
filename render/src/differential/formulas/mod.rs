//! The formulas of cameras, rays and hits, for whichever precision the module around defines.

mod camera;
mod ray;
mod surface;
mod triangle;

pub use camera::{Camera, Projection};
pub use ray::{Neighbours, Ray, RayDifferential};
pub use surface::{SideHit, SurfaceDifferential};
pub use triangle::Triangle;

use super::{DEGENERATE, PARALLEL, Real, Vec2, Vec3};
use adumbra::Dual;

/// A value with its two derivatives.
fn dual<T>(value: T, [ddx, ddy]: [T; 2]) -> Dual<T> {
    Dual { value, ddx, ddy }
}

/// The derivatives of a value along x and y.
fn derivatives<T: Copy>(of: &Dual<T>) -> [T; 2] {
    [of.ddx, of.ddy]
}

/// A vector, or zero if it is not finite.
fn finite(v: Vec3) -> Vec3 {
    if v.is_finite() { v } else { Vec3::ZERO }
}

/// The unit vector along a vector, with derivatives; none for vectors without a direction.
///
/// n = v/|v|, dn = (dv − n(n·dv))/|v|
fn unit(v: &Dual<Vec3>) -> Option<Dual<Vec3>> {
    // Squares of small components would underflow.
    let greatest = v.value.abs().max_element();
    if !(greatest > 0.0 && greatest.is_finite()) {
        return None;
    }
    let scaled = v.value / greatest;
    let length = scaled.length();
    let n = scaled / length;
    let across = |d: Vec3| finite((d - n * n.dot(d)) / length / greatest);
    Some(dual(n, derivatives(v).map(across)))
}

/// The cross product of two vectors, with derivatives.
fn cross(a: &Dual<Vec3>, b: &Dual<Vec3>) -> Dual<Vec3> {
    let rule = |da: Vec3, db: Vec3| finite(da.cross(b.value) + a.value.cross(db));
    Dual {
        value: a.value.cross(b.value),
        ddx: rule(a.ddx, b.ddx),
        ddy: rule(a.ddy, b.ddy),
    }
}
