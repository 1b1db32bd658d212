//! Texture lookup by derivatives: level rules, filters, wrap modes, tiled files and their cache.

/// Texture coordinates, and how they change from pixel to pixel. u and v span the texture from 0 to
/// 1; v goes down from the first row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    pub uv: [f32; 2],
    /// (∂u/∂x, ∂v/∂x).
    pub dx: [f32; 2],
    /// (∂u/∂y, ∂v/∂y).
    pub dy: [f32; 2],
}

/// How coordinates beyond the texture are brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    #[default]
    Repeat,
    Clamp,
    Mirror,
    /// Zero beyond.
    Black,
}

/// A tile that is not in memory yet: the lookup is to be repeated when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileMissing;

/// The texels of all levels of a texture. Level 0 is the finest.
pub trait TexelSource {
    /// 1 + floor(log2(max(width, height))), or fewer.
    fn levels(&self) -> u32;
    /// Width and height of a level.
    fn size(&self, level: u32) -> [u32; 2];
    /// A texel within the level, linear RGBA.
    ///
    /// # Errors
    /// If its tile is not in memory.
    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing>;
}
