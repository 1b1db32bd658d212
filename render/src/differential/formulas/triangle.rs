//! Triangles: planes, barycentric coordinates, and what is interpolated.

use super::{DEGENERATE, PARALLEL, Real, Vec2, Vec3, dual, finite, unit};
use adumbra::Dual;

/// A triangle in the world with what is interpolated over it, as derivatives need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// The corners.
    pub positions: [Vec3; 3],
    /// Object normals through the inverse transpose of the instance's map, not normalised.
    pub normals: Option<[Vec3; 3]>,
    /// Object tangents through the linear part of the instance's map.
    pub tangents: Option<[Vec3; 3]>,
    /// With tangents: the sign of the bitangent (MikkTSpace), times that of the map's determinant.
    /// Without: 1 for a bitangent along which v grows, −1 for one along which it decreases.
    pub tangent_w: Real,
    /// Whether the instance's map mirrors: its determinant is negative, so that the outside is the
    /// clockwise side.
    pub is_mirrored: bool,
    /// Texture coordinates.
    pub uvs: Option<[Vec2; 3]>,
}

/// The plane of a triangle that is not degenerate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    corner: Vec3,
    /// normalize(E1 × E2): not turned, even in mirrored instances.
    pub(super) normal: Vec3,
    /// The gradients of the barycentric coordinates of the second and third corner.
    gradients: [Vec3; 2],
}

impl Plane {
    /// The distance along a ray; none if it is parallel.
    pub(super) fn distance(&self, origin: Vec3, direction: Vec3) -> Option<Real> {
        let cosine = direction.dot(self.normal);
        if cosine.abs() <= PARALLEL {
            return None;
        }
        let t = (self.corner - origin).dot(self.normal) / cosine;
        t.is_finite().then_some(t)
    }

    /// How barycentric coordinates change along a vector.
    pub(super) fn along(&self, v: Vec3) -> Vec2 {
        let b = Vec2::new(v.dot(self.gradients[0]), v.dot(self.gradients[1]));
        if b.is_finite() { b } else { Vec2::ZERO }
    }

    /// The barycentric coordinates of a point, with derivatives.
    pub(super) fn barycentric(&self, position: &Dual<Vec3>) -> Dual<Vec2> {
        Dual {
            value: self.along(position.value - self.corner),
            ddx: self.along(position.ddx),
            ddy: self.along(position.ddy),
        }
    }
}

/// Interpolated corners of vectors, with derivatives.
pub(super) fn interpolate(at: [Vec3; 3], barycentric: &Dual<Vec2>) -> Dual<Vec3> {
    let [first, e1, e2] = [at[0], at[1] - at[0], at[2] - at[0]];
    let moved = barycentric.map(|b| e1 * b.x + e2 * b.y);
    Dual {
        value: first + moved.value,
        ..moved
    }
}

/// Interpolated texture coordinates, with derivatives; zero where they would overflow.
pub(super) fn interpolate_uv(at: [Vec2; 3], barycentric: &Dual<Vec2>) -> Dual<Vec2> {
    let [first, e1, e2] = [at[0], at[1] - at[0], at[2] - at[0]];
    let moved = barycentric.map(|b| e1 * b.x + e2 * b.y);
    let uv = Dual {
        value: first + moved.value,
        ..moved
    };
    uv.map(|uv| if uv.is_finite() { uv } else { Vec2::ZERO })
}

impl Triangle {
    /// The edges from the first corner.
    fn edges(&self) -> [Vec3; 2] {
        let [first, second, third] = self.positions;
        [second - first, third - first]
    }

    /// The plane; none if the triangle is degenerate: the sine between its edges squared is at most
    /// [`DEGENERATE`], or its size leaves the range of numbers.
    pub(super) fn plane(&self) -> Option<Plane> {
        let [e1, e2] = self.edges();
        let normal = e1.cross(e2);
        let area_square = normal.length_squared();
        let product = e1.length_squared() * e2.length_squared();
        if !(area_square > DEGENERATE * product && product.is_finite()) {
            return None;
        }
        let area = area_square.sqrt();
        let normal = normal / area;
        Some(Plane {
            corner: self.positions[0],
            normal,
            gradients: [e2.cross(normal) / area, normal.cross(e1) / area],
        })
    }

    /// The distance from a ray's origin to the triangle's plane along its unit direction, negative
    /// if the plane is before its origin; none if the ray is parallel or the triangle degenerate.
    pub fn distance(&self, origin: Vec3, direction: Vec3) -> Option<Real> {
        self.plane()?.distance(origin, direction)
    }

    /// The derivatives of the position along u and v; zero if uvs do not span the triangle.
    pub fn uv_axes(&self) -> [Vec3; 2] {
        let Some([first, second, third]) = self.uvs else {
            return [Vec3::ZERO; 2];
        };
        let ([e1, e2], [a, b]) = (self.edges(), [second - first, third - first]);
        let determinant = a.x * b.y - a.y * b.x;
        let sizes = a.length_squared() * b.length_squared();
        if determinant * determinant <= DEGENERATE * sizes {
            return [Vec3::ZERO; 2];
        }
        let along = [e1 * b.y - e2 * a.y, e2 * a.x - e1 * b.x];
        along.map(|v| finite(v / determinant))
    }

    /// The unit shading normal: interpolated, or that of the plane.
    pub(super) fn normal(&self, barycentric: &Dual<Vec2>, gnormal: Vec3) -> Dual<Vec3> {
        let interpolated = self
            .normals
            .and_then(|at| unit(&interpolate(at, barycentric)));
        interpolated.unwrap_or(dual(gnormal, [Vec3::ZERO; 2]))
    }

    /// The unit tangent: interpolated, along u, or along the first edge that has a length.
    pub(super) fn tangent(&self, barycentric: &Dual<Vec2>) -> Dual<Vec3> {
        let still = |v: Vec3| unit(&dual(v, [Vec3::ZERO; 2]));
        let [e1, e2] = self.edges();
        self.tangents
            .and_then(|at| unit(&interpolate(at, barycentric)))
            .or_else(|| still(self.uv_axes()[0]))
            .or_else(|| still(e1))
            .or_else(|| still(e2))
            .unwrap_or(dual(Vec3::ZERO, [Vec3::ZERO; 2]))
    }
}
