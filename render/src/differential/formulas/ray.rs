//! Rays with derivatives, and how mirrors and glass bend them.

use super::{Real, Vec3};

/// A ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts.
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
}

/// What the derivatives of a ray's hit come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Neighbours {
    /// The derivatives of the ray.
    #[default]
    Derivatives,
    /// The rays of the next pixels along x and y, as far as they still follow the path: the
    /// one-pixel rule.
    Rays([Option<Ray>; 2]),
    /// Nothing: the path went over a rough surface, and the camera's approximation is used.
    Forgotten,
}

/// A ray, and how it changes from pixel to pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayDifferential {
    /// Where it starts.
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
    /// Derivatives of the origin along x and y.
    pub origin_d: [Vec3; 2],
    /// Derivatives of the unit direction along x and y.
    pub direction_d: [Vec3; 2],
    /// What the derivatives of its hit come from.
    pub neighbours: Neighbours,
}

impl RayDifferential {
    /// The same ray with derivatives per `step` pixels: 1/√spp is the distance of samples.
    pub fn scaled(&self, step: Real) -> RayDifferential {
        RayDifferential {
            origin_d: self.origin_d.map(|d| d * step),
            direction_d: self.direction_d.map(|d| d * step),
            ..*self
        }
    }

    /// The same ray with derivatives of its direction at least `spread` long, in radians: what a
    /// rough surface does that scatters into a lobe of this width.
    ///
    /// Derivatives keep their directions. One without a direction gets one across the ray. Side
    /// rays are left out: derivatives are used from here on.
    pub fn widened(&self, spread: Real) -> RayDifferential {
        let [x, y] = across(self.direction);
        let widen = |d: Vec3, fallback: Vec3| {
            let length = d.length();
            if length >= spread {
                d
            } else if length > 0.0 {
                d * (spread / length)
            } else {
                fallback * spread
            }
        };
        let [dx, dy] = self.direction_d;
        RayDifferential {
            direction_d: [widen(dx, x), widen(dy, y)],
            neighbours: Neighbours::Derivatives,
            ..*self
        }
    }
}

/// Two unit vectors across a unit vector and across each other: Duff et al., "Building an
/// Orthonormal Basis, Revisited", JCGT 2017.
fn across(n: Vec3) -> [Vec3; 2] {
    let sign = if n.z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [
        Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vec3::new(b, sign + n.y * n.y * a, -n.y),
    ]
}

/// The mirrored direction and its derivative: D' = D − 2(D·N)N.
pub(super) fn reflect(
    direction: Vec3,
    normal: Vec3,
    derivatives: [(Vec3, Vec3); 2],
) -> (Vec3, [Vec3; 2]) {
    let cosine = direction.dot(normal);
    let derive = |(dd, dn): (Vec3, Vec3)| {
        let cosine_d = dd.dot(normal) + direction.dot(dn);
        dd - (dn * cosine + normal * cosine_d) * 2.0
    };
    (direction - normal * (2.0 * cosine), derivatives.map(derive))
}

/// The refracted direction and its derivative; none if all light is reflected. `eta` is the index
/// before the surface by that after it; the normal may point to either side.
///
/// With N turned against D: D' = ηD − μN, μ = η(D·N) − (D'·N), D'·N = −√(1 − η²(1 − (D·N)²))
pub(super) fn refract(
    direction: Vec3,
    normal: Vec3,
    eta: Real,
    derivatives: [(Vec3, Vec3); 2],
) -> Option<(Vec3, [Vec3; 2])> {
    let side = if direction.dot(normal) > 0.0 {
        -1.0
    } else {
        1.0
    };
    let normal = normal * side;
    let cosine = direction.dot(normal);
    let square = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if square <= 0.0 || square.is_nan() {
        return None;
    }
    let cosine_after = -square.sqrt();
    let mu = eta * cosine - cosine_after;
    let derive = |(dd, dn): (Vec3, Vec3)| {
        let dn = dn * side;
        let cosine_d = dd.dot(normal) + direction.dot(dn);
        let mu_d = (eta - eta * eta * cosine / cosine_after) * cosine_d;
        dd * eta - dn * mu - normal * mu_d
    };
    Some((direction * eta - normal * mu, derivatives.map(derive)))
}
