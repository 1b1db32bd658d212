//! Ray differentials (Igehy, "Tracing Ray Differentials", SIGGRAPH 1999) and the seeds of shaders.

use adumbra::Dual;
use glam::{DVec2, DVec3, Vec3};

/// A ray, and how it changes from pixel to pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayDifferential {
    pub origin: DVec3,
    /// A unit vector.
    pub direction: DVec3,
    /// Derivatives of the origin along x and y.
    pub origin_d: [DVec3; 2],
    /// Derivatives of the unit direction along x and y.
    pub direction_d: [DVec3; 2],
}

/// A triangle in the world with what is interpolated over it, as derivatives need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    pub positions: [DVec3; 3],
    /// Object normals through the inverse transpose of the instance's map, not normalised.
    pub normals: Option<[DVec3; 3]>,
    /// Object tangents through the linear part of the instance's map.
    pub tangents: Option<[DVec3; 3]>,
    /// The sign of the bitangent (MikkTSpace), times that of the map's determinant.
    pub tangent_w: f64,
    pub uvs: Option<[DVec2; 3]>,
}

/// Where the derivatives of hits come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeedRule {
    /// Igehy's transfer with exact camera derivatives: equal to the true derivative.
    #[default]
    Exact,
    /// Differences to the rays of the next pixels (seed 000's rule).
    OnePixel,
}

/// The globals of a shader at a hit, with derivatives per pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSeeds {
    pub uvw: Dual<Vec3>,
    pub position: Dual<Vec3>,
    pub normal: Dual<Vec3>,
    pub gnormal: Dual<Vec3>,
    /// The unit direction of the ray, towards the surface.
    pub incoming: Dual<Vec3>,
    pub tangent: Dual<Vec3>,
}
