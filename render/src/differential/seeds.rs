//! Seeds of shaders: a hit's globals in f32.

use super::SurfaceDifferential;
use adumbra::{Dual, ShaderGlobals};
use glam::{DVec3, Vec2, Vec3};

/// The globals of a shader at a hit, with derivatives per pixel.
///
/// Shaders read them by `global_value<uvw>`, `position`, `normal`, `gnormal`, `I`, `tangent`,
/// `bitangent`, `uv` and `time`.
#[derive(Clone, Copy, Debug, PartialEq, ShaderGlobals)]
#[repr(C)]
pub struct SurfaceSeeds {
    /// Texture coordinates; the third is 0.
    pub uvw: Dual<Vec3>,
    /// The point in the world.
    pub position: Dual<Vec3>,
    /// The unit shading normal, not turned to the viewer.
    pub normal: Dual<Vec3>,
    /// The unit normal of the triangle, to its outside; its derivatives are zero.
    pub gnormal: Dual<Vec3>,
    /// The unit direction of the ray, towards the surface.
    #[globals(name = "I")]
    pub incoming: Dual<Vec3>,
    /// The unit tangent, along which u grows.
    pub tangent: Dual<Vec3>,
    /// The sign of the bitangent times normal × tangent. It is towards decreasing v, up in a
    /// texture, with tangents by MikkTSpace and without tangents, in mirrored instances too.
    pub bitangent: Dual<Vec3>,
    /// The first two of `uvw`, as the images of `adumbra image` have them.
    pub uv: Dual<Vec2>,
    /// The time of the image, in seconds. A hit does not know it: it is 0 here.
    pub time: f32,
}

/// The greatest size of a seed; a footprint beyond it covers any texture.
const GREATEST: f64 = 1e30;

impl SurfaceDifferential {
    /// The globals in f32. Components beyond ±1e30 are clamped, so that f32 holds them.
    pub fn seeds(&self) -> SurfaceSeeds {
        let narrow = |v: DVec3| {
            v.clamp(DVec3::splat(-GREATEST), DVec3::splat(GREATEST))
                .as_vec3()
        };
        let uvw = self.uv.map(|uv| narrow(uv.extend(0.0)));
        SurfaceSeeds {
            uvw,
            position: self.position.map(narrow),
            normal: self.normal.map(narrow),
            gnormal: narrow(self.gnormal).into(),
            incoming: self.incoming.map(narrow),
            tangent: self.tangent.map(narrow),
            bitangent: self.bitangent.map(narrow),
            uv: uvw.map(Vec3::truncate),
            time: 0.0,
        }
    }
}
