//! The hits of a wave, and the points that are evaluated for them: each one alone, or with the
//! helpers of its quad.

use super::material::MaterialShader;
use crate::differential::{QuadRays, QuadSeeds, SurfaceDifferential, SurfaceSeeds, Triangle};
use adumbra::Dual;
use adumbra::derivatives::Corner;
use glam::Vec3;

/// What filters need of a point beside a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TexturePoint {
    /// A number of [0, 1), the same however often the point is evaluated.
    pub random: f32,
    /// The coordinates of the mesh with their derivatives, for hosts that ignore those of requests.
    pub uvw: Dual<Vec3>,
    /// The pixel's index in its tile, for views.
    pub pixel: u32,
    /// Whether the camera sees the point directly.
    pub is_primary: bool,
}

/// A hit to be shaded.
#[derive(Clone, Copy, Debug)]
pub struct WavePoint {
    /// The index of its material.
    pub material: usize,
    /// The globals of its shader.
    pub hit: SurfaceSeeds,
    /// What its texture requests depend on beside.
    pub texture: TexturePoint,
}

/// Hits that are shaded together.
#[derive(Debug, Default)]
pub(super) struct WavePoints {
    pub(super) points: Vec<WavePoint>,
    /// The helpers of each point, if any material is evaluated in quads.
    pub(super) quads: Vec<QuadSeeds>,
}

impl WavePoints {
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.quads.clear();
    }

    /// Adds a hit of a triangle. `quad` has the rays of its helpers, where points have them; the
    /// coordinates of `texture` are the hit's.
    pub(super) fn push(
        &mut self,
        material: usize,
        triangle: &Triangle,
        surface: &SurfaceDifferential,
        quad: Option<QuadRays>,
        texture: TexturePoint,
    ) {
        let hit = surface.seeds();
        self.quads
            .extend(quad.map(|rays| rays.seeds(triangle, surface)));
        self.points.push(WavePoint {
            material,
            hit,
            texture: TexturePoint {
                uvw: hit.uvw,
                ..texture
            },
        });
    }
}

/// The points of a quad.
pub(super) const QUAD: usize = Corner::ALL.len();

/// The hits of a wave. Where points are evaluated in quads, each has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wave<'p> {
    pub(super) points: &'p [WavePoint],
    pub(super) quads: &'p [QuadSeeds],
}

impl Wave<'_> {
    /// Which of its quad a point is, if its material is evaluated in quads.
    pub(super) fn corner(self, shader: &MaterialShader, at: usize) -> Option<Corner> {
        is_in_quads(shader).then(|| self.quads[at].own)
    }
}

/// The points of one evaluation, with the helpers of their quads.
#[derive(Debug, Default)]
pub(super) struct BatchPoints {
    pub(super) hits: Vec<SurfaceSeeds>,
    pub(super) textures: Vec<TexturePoint>,
    pub(super) helpers: Vec<bool>,
    /// The global `time` of all points.
    pub(super) time: f32,
}

impl BatchPoints {
    pub(super) fn clear(&mut self) {
        self.hits.clear();
        self.textures.clear();
        self.helpers.clear();
    }

    fn timed(&self, hit: SurfaceSeeds) -> SurfaceSeeds {
        SurfaceSeeds {
            time: self.time,
            ..hit
        }
    }

    /// Adds a point, or all points of its quad.
    pub(super) fn push(&mut self, wave: Wave<'_>, at: usize, is_in_quad: bool) {
        let point = &wave.points[at];
        if !is_in_quad {
            self.hits.push(self.timed(point.hit));
            self.textures.push(point.texture);
            return;
        }
        let quad = &wave.quads[at];
        self.hits.extend(quad.seeds.map(|hit| self.timed(hit)));
        for corner in Corner::ALL {
            let is_helper = corner != quad.own;
            self.helpers.push(is_helper);
            self.textures.push(TexturePoint {
                // Views show what points ask for themselves.
                is_primary: point.texture.is_primary && !is_helper,
                ..point.texture
            });
        }
    }
}

/// Whether a material's points are evaluated in quads.
pub(super) fn is_in_quads(shader: &MaterialShader) -> bool {
    shader.instance.program().quad().is_some()
}
