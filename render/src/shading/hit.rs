//! The globals of shaders at a hit.

use crate::differential::SurfaceSeeds;
use adumbra::{Dual, ShaderGlobals};
use glam::Vec3;

/// The globals of a shader: what it knows of the point where a ray hits a surface, each with its
/// derivatives per pixel.
///
/// Shaders read them by `global_value<uvw>`, `position`, `normal`, `gnormal`, `I`,
/// `tangent` and `bitangent`.
#[derive(Clone, Copy, Debug, ShaderGlobals)]
#[repr(C)]
pub struct Hit {
    /// Texture coordinates; the third is 0.
    pub uvw: Dual<Vec3>,
    /// The point in the world.
    pub position: Dual<Vec3>,
    /// The unit shading normal, interpolated over the triangle.
    pub normal: Dual<Vec3>,
    /// The unit normal of the triangle.
    pub gnormal: Dual<Vec3>,
    /// The unit direction of the ray, towards the surface.
    #[globals(name = "I")]
    pub incoming: Dual<Vec3>,
    /// The unit tangent, along which u grows.
    pub tangent: Dual<Vec3>,
    /// Across normal and tangent, up in the texture: the y of normal maps.
    pub bitangent: Dual<Vec3>,
}

impl From<SurfaceSeeds> for Hit {
    fn from(seeds: SurfaceSeeds) -> Hit {
        let SurfaceSeeds {
            uvw,
            position,
            normal,
            gnormal,
            incoming,
            tangent,
            bitangent,
        } = seeds;
        Hit {
            uvw,
            position,
            normal,
            gnormal,
            incoming,
            tangent,
            bitangent,
        }
    }
}

impl Hit {
    /// The same hit without derivatives: what a host passes that has none.
    pub fn without_derivatives(self) -> Hit {
        let still = |dual: Dual<Vec3>| Dual::from(dual.value);
        Hit {
            uvw: still(self.uvw),
            position: still(self.position),
            normal: still(self.normal),
            gnormal: still(self.gnormal),
            incoming: still(self.incoming),
            tangent: still(self.tangent),
            bitangent: still(self.bitangent),
        }
    }
}
