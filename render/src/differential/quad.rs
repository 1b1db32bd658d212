//! Quads: a hit with the helper points of its neighbours, as GPUs shade 2×2 pixels.
//!
//! The pixel's parity says which of the four the point is. The other three are helpers: the points
//! where the rays of the neighbouring pixels meet the plane of the *same* triangle, beyond its
//! edges and before the ray's origin if need be, as rasterisers extrapolate. So a helper has the
//! position, coordinates, normal and direction of its own ray. The rays are those of the camera;
//! after a surface they are the point's ray moved by its derivatives.
//!
//! Where a ray is parallel to the plane, and where a path forgot its derivatives, a helper has the
//! point's globals plus their derivatives.

use super::{
    Neighbours, PathDifferentials, Ray, RayDifferential, SurfaceDifferential, SurfaceSeeds,
    Triangle,
};
use adumbra::Dual;
use adumbra::derivatives::Corner;
use glam::{DVec2, DVec3, Vec3};

/// The globals of the four points of a quad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadSeeds {
    /// Which of them is the point itself; the others are helpers.
    pub own: Corner,
    /// The globals, in the order of [`Corner::ALL`].
    pub seeds: [SurfaceSeeds; 4],
}

/// The rays of the four points of a quad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadRays {
    own: Corner,
    rays: [Ray; 4],
}

/// The corner of its quad that a pixel is: quads begin at even columns and rows.
pub fn corner_of([x, y]: [u32; 2]) -> Corner {
    Corner::ALL[(y % 2 * 2 + x % 2) as usize]
}

/// From one point of a quad to all of them, in pixels.
fn offsets(own: Corner) -> [DVec2; 4] {
    let place = |corner: Corner| {
        let at = corner as u32;
        DVec2::new((at % 2).into(), (at / 2).into())
    };
    Corner::ALL.map(|corner| place(corner) - place(own))
}

impl QuadRays {
    /// The rays of a quad after a surface: those of its derivatives.
    pub fn after(own: Corner, ray: &RayDifferential) -> QuadRays {
        let ([origin_dx, origin_dy], [dx, dy]) = (ray.origin_d, ray.direction_d);
        QuadRays {
            own,
            rays: offsets(own).map(|at| {
                let direction = ray.direction + dx * at.x + dy * at.y;
                Ray {
                    origin: ray.origin + origin_dx * at.x + origin_dy * at.y,
                    direction: direction.normalize_or(ray.direction),
                }
            }),
        }
    }

    /// The globals of all four points on the plane of the triangle that the point's own ray hit,
    /// which is `surface`.
    pub fn seeds(&self, triangle: &Triangle, surface: &SurfaceDifferential) -> QuadSeeds {
        let seeds = surface.seeds();
        let offsets = offsets(self.own);
        QuadSeeds {
            own: self.own,
            seeds: Corner::ALL.map(|corner| {
                let at = corner as usize;
                if corner == self.own {
                    return seeds;
                }
                let ray = self.rays[at];
                match (
                    surface.neighbours,
                    triangle.distance(ray.origin, ray.direction),
                ) {
                    (Neighbours::Forgotten, _) | (_, None) => moved(&seeds, offsets[at]),
                    (_, Some(t)) => SurfaceDifferential::new(triangle, &still(ray), t).seeds(),
                }
            }),
        }
    }
}

impl PathDifferentials {
    /// The rays of a quad from the camera: `own` is the ray through the point of the image, as
    /// [`camera_ray`](PathDifferentials::camera_ray) gives it. Its neighbours are as far away as
    /// derivatives count.
    pub fn camera_quad(&self, own: Corner, pixel: DVec2, lens: DVec2) -> QuadRays {
        QuadRays {
            own,
            rays: offsets(own).map(|at| {
                let ray = self.camera_ray(pixel + at * self.step(), lens);
                Ray {
                    origin: ray.origin,
                    direction: ray.direction,
                }
            }),
        }
    }
}

/// A ray without derivatives: those of helpers are not read.
fn still(ray: Ray) -> RayDifferential {
    RayDifferential {
        origin: ray.origin,
        direction: ray.direction,
        origin_d: [DVec3::ZERO; 2],
        direction_d: [DVec3::ZERO; 2],
        neighbours: Neighbours::Derivatives,
    }
}

/// Globals plus their derivatives.
fn moved(seeds: &SurfaceSeeds, at: DVec2) -> SurfaceSeeds {
    let at = at.as_vec2();
    let moved = |global: &Dual<Vec3>| Dual {
        value: global.value + global.ddx * at.x + global.ddy * at.y,
        ..*global
    };
    let uvw = moved(&seeds.uvw);
    SurfaceSeeds {
        uvw,
        position: moved(&seeds.position),
        normal: moved(&seeds.normal),
        gnormal: moved(&seeds.gnormal),
        incoming: moved(&seeds.incoming),
        tangent: moved(&seeds.tangent),
        bitangent: moved(&seeds.bitangent),
        uv: uvw.map(Vec3::truncate),
        time: seeds.time,
    }
}
