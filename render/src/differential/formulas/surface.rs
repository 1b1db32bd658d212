//! Hits with derivatives: what is known of a surface where a ray meets it, and the rays after it.

use super::ray::{reflect, refract};
use super::triangle::{Plane, Triangle, interpolate_uv};
use super::{Neighbours, Ray, RayDifferential, Real, Vec2, Vec3};
use super::{cross, derivatives, dual, finite, unit};
use adumbra::Dual;

/// Where the ray of a next pixel hits the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideHit {
    /// The unit direction of the side ray.
    pub incoming: Vec3,
    /// The point in the plane.
    pub position: Vec3,
    /// The unit shading normal there.
    pub normal: Vec3,
}

/// The point where a ray hits a triangle, and how all of it changes from pixel to pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceDifferential {
    /// The point.
    pub position: Dual<Vec3>,
    /// The weights of the second and third corner; zero if the triangle is degenerate.
    pub barycentric: Dual<Vec2>,
    /// Texture coordinates.
    pub uv: Dual<Vec2>,
    /// The unit shading normal, not turned to the viewer.
    pub normal: Dual<Vec3>,
    /// The unit normal of the plane, to the triangle's outside; its derivatives are zero.
    pub gnormal: Vec3,
    /// The unit direction of the ray, towards the surface.
    pub incoming: Dual<Vec3>,
    /// The unit tangent, along which u grows.
    pub tangent: Dual<Vec3>,
    /// w·(N × T), the side of which the triangle says; not a unit vector where N and T are not
    /// orthogonal.
    pub bitangent: Dual<Vec3>,
    /// What the derivatives came from.
    pub neighbours: Neighbours,
    /// Where side rays hit, under the one-pixel rule.
    pub sides: [Option<SideHit>; 2],
}

impl SurfaceDifferential {
    /// The hit of a ray at the distance `t` along it, by Igehy's transfer or, if the ray has side
    /// rays, by the one-pixel rule.
    ///
    /// All results are finite for finite rays and triangles; the head of `differential` lists where
    /// derivatives are zero.
    pub fn new(triangle: &Triangle, ray: &RayDifferential, t: Real) -> SurfaceDifferential {
        let position = ray.origin + ray.direction * t;
        let Some(plane) = triangle.plane() else {
            let (incoming_d, _) = incoming_derivatives(ray);
            return interpolate_all(
                triangle,
                None,
                dual(position, [Vec3::ZERO; 2]),
                dual(ray.direction, incoming_d),
                ray.neighbours,
            );
        };
        let transferred = transfer(&plane, ray, t);
        let (incoming_d, side_rays) = incoming_derivatives(ray);
        let side_hits =
            side_rays.map(|side| side.and_then(|side| side_hit(triangle, &plane, &side)));
        let position_d = match ray.neighbours {
            Neighbours::Rays(_) => [0, 1].map(|axis| match side_hits[axis] {
                Some((distance, _)) if distance < 0.0 => transferred[axis],
                Some((_, hit)) => finite(hit.position - position),
                None => Vec3::ZERO,
            }),
            Neighbours::Derivatives | Neighbours::Forgotten => transferred,
        };
        let ahead = |(distance, hit): (Real, SideHit)| (distance >= 0.0).then_some(hit);
        SurfaceDifferential {
            sides: side_hits.map(|hit| hit.and_then(ahead)),
            ..interpolate_all(
                triangle,
                Some(&plane),
                dual(position, position_d),
                dual(ray.direction, incoming_d),
                ray.neighbours,
            )
        }
    }

    /// The hit of a ray at the distance `t`, with derivatives of the point that are known from
    /// elsewhere; those of the ray's direction are zero.
    pub fn with_position(
        triangle: &Triangle,
        ray: &RayDifferential,
        t: Real,
        position_d: [Vec3; 2],
    ) -> SurfaceDifferential {
        let plane = triangle.plane();
        let position_d = if plane.is_some() {
            position_d.map(finite)
        } else {
            [Vec3::ZERO; 2]
        };
        interpolate_all(
            triangle,
            plane.as_ref(),
            dual(ray.origin + ray.direction * t, position_d),
            dual(ray.direction, [Vec3::ZERO; 2]),
            ray.neighbours,
        )
    }

    /// The point.
    pub fn position(&self) -> Vec3 {
        self.position.value
    }

    /// The ray that goes on in the same direction.
    pub fn passed(&self) -> RayDifferential {
        let incoming = (self.incoming.value, derivatives(&self.incoming));
        self.ray(incoming, |hit| {
            Some(Ray {
                origin: hit.position,
                direction: hit.incoming,
            })
        })
    }

    /// The ray to a light: neighbouring pixels see it in the same direction, from their own points.
    pub fn towards(&self, origin: Vec3, direction: Vec3) -> RayDifferential {
        RayDifferential {
            origin,
            direction,
            origin_d: derivatives(&self.position),
            direction_d: [Vec3::ZERO; 2],
            neighbours: match self.neighbours {
                Neighbours::Forgotten => Neighbours::Forgotten,
                Neighbours::Rays(_) | Neighbours::Derivatives => Neighbours::Derivatives,
            },
        }
    }

    /// The ray that is reflected about a unit normal, of either side.
    ///
    /// A normal other than the shading normal (that of a closure, of a microfacet) is taken to
    /// change from pixel to pixel as the shading normal does.
    pub fn reflected(&self, normal: Vec3) -> RayDifferential {
        let (normal, side) = self.normal_like(normal);
        self.ray(
            reflect(self.incoming.value, normal.value, self.pairs(&normal)),
            |hit| {
                let (direction, _) =
                    reflect(hit.incoming, side(hit), [(Vec3::ZERO, Vec3::ZERO); 2]);
                Some(Ray {
                    origin: hit.position,
                    direction,
                })
            },
        )
    }

    /// The ray that is refracted at a unit normal, of either side; none if all light is reflected.
    /// `eta` is the index of refraction before the surface by that after it.
    ///
    /// Side rays that are reflected are lost. About normals other than the shading normal see
    /// [`SurfaceDifferential::reflected`].
    pub fn refracted(&self, normal: Vec3, eta: Real) -> Option<RayDifferential> {
        let (normal, side) = self.normal_like(normal);
        let main = refract(self.incoming.value, normal.value, eta, self.pairs(&normal))?;
        Some(self.ray(main, |hit| {
            let still = [(Vec3::ZERO, Vec3::ZERO); 2];
            let (direction, _) = refract(hit.incoming, side(hit), eta, still)?;
            Some(Ray {
                origin: hit.position,
                direction,
            })
        }))
    }

    /// The derivatives of the ray's direction, each with that of a normal.
    fn pairs(&self, normal: &Dual<Vec3>) -> [(Vec3, Vec3); 2] {
        [
            (self.incoming.ddx, normal.ddx),
            (self.incoming.ddy, normal.ddy),
        ]
    }

    /// A normal that changes as the shading normal does, and the same at hits of side rays.
    fn normal_like(&self, normal: Vec3) -> (Dual<Vec3>, impl Fn(SideHit) -> Vec3) {
        let shading = self.normal.value;
        let sign = if normal.dot(shading) < 0.0 { -1.0 } else { 1.0 };
        let moved = Dual {
            value: normal,
            ..self.normal.map(|n| n * sign)
        };
        let normal = unit(&moved).unwrap_or(self.normal);
        let offset = normal.value * sign - shading;
        let at_side = move |hit: SideHit| {
            let moved = dual(hit.normal + offset, [Vec3::ZERO; 2]);
            unit(&moved).map_or(hit.normal, |n| n.value)
        };
        (normal, at_side)
    }

    /// A ray from here; `next` follows a side ray.
    fn ray(
        &self,
        (direction, direction_d): (Vec3, [Vec3; 2]),
        next: impl Fn(SideHit) -> Option<Ray>,
    ) -> RayDifferential {
        RayDifferential {
            origin: self.position.value,
            direction,
            origin_d: derivatives(&self.position),
            direction_d: direction_d.map(finite),
            neighbours: match self.neighbours {
                Neighbours::Rays(_) => Neighbours::Rays(self.sides.map(|hit| next(hit?))),
                other => other,
            },
        }
    }
}

/// Igehy's transfer to a plane: dP = dO + t·dD + dt·D, dt = −((dO + t·dD)·N)/(D·N).
fn transfer(plane: &Plane, ray: &RayDifferential, t: Real) -> [Vec3; 2] {
    if plane.distance(ray.origin, ray.direction).is_none() {
        return [Vec3::ZERO; 2];
    }
    let cosine = ray.direction.dot(plane.normal);
    [0, 1].map(|axis| {
        let moved = ray.origin_d[axis] + ray.direction_d[axis] * t;
        finite(moved - ray.direction * (moved.dot(plane.normal) / cosine))
    })
}

/// The derivatives of the direction, and the side rays there are.
fn incoming_derivatives(ray: &RayDifferential) -> ([Vec3; 2], [Option<Ray>; 2]) {
    match ray.neighbours {
        Neighbours::Rays(sides) => {
            let difference = |side: Ray| side.direction - ray.direction;
            (sides.map(|side| side.map_or(Vec3::ZERO, difference)), sides)
        }
        Neighbours::Derivatives => (ray.direction_d, [None; 2]),
        Neighbours::Forgotten => ([Vec3::ZERO; 2], [None; 2]),
    }
}

/// Where a side ray hits the plane, and how far along; none if it is parallel.
fn side_hit(triangle: &Triangle, plane: &Plane, ray: &Ray) -> Option<(Real, SideHit)> {
    let distance = plane.distance(ray.origin, ray.direction)?;
    let position = ray.origin + ray.direction * distance;
    let still = [Vec3::ZERO; 2];
    let barycentric = plane.barycentric(&dual(position, still));
    let hit = SideHit {
        incoming: ray.direction,
        position,
        normal: triangle.normal(&barycentric, plane.normal).value,
    };
    Some((distance, hit))
}

/// Everything that follows from the point and its derivatives.
fn interpolate_all(
    triangle: &Triangle,
    plane: Option<&Plane>,
    position: Dual<Vec3>,
    incoming: Dual<Vec3>,
    neighbours: Neighbours,
) -> SurfaceDifferential {
    let barycentric = match plane {
        Some(plane) => plane.barycentric(&position),
        None => dual(Vec2::ZERO, [Vec2::ZERO; 2]),
    };
    let outside = if triangle.is_mirrored { -1.0 } else { 1.0 };
    let gnormal = plane.map_or(Vec3::ZERO, |plane| plane.normal * outside);
    let normal = triangle.normal(&barycentric, gnormal);
    let tangent = triangle.tangent(&barycentric);
    let normal_by_tangent = cross(&normal, &tangent);
    let sign = match triangle.tangents {
        Some(_) => triangle.tangent_w,
        None => {
            let along = normal_by_tangent.value.dot(triangle.uv_axes()[1]);
            let is_turned = along * triangle.tangent_w < 0.0;
            if is_turned { -1.0 } else { 1.0 }
        }
    };
    let uv = match triangle.uvs {
        Some(at) => interpolate_uv(at, &barycentric),
        None => dual(Vec2::ZERO, [Vec2::ZERO; 2]),
    };
    SurfaceDifferential {
        position,
        barycentric,
        uv,
        normal,
        gnormal,
        incoming,
        tangent,
        bitangent: normal_by_tangent.map(|v| v * sign),
        neighbours,
        sides: [None; 2],
    }
}
