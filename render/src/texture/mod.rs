//! Texture lookup by derivatives: level rules, filters, wrap modes, tiled files and their cache.
//!
//! [`lookup`] is the way in: a [`LevelRule`] selects the level of a [`Footprint`], a [`Filter`]
//! reads texels of a [`TexelSource`], and a [`Wrap`] mode brings coordinates back.

pub mod cache;
mod conversions;
mod filter;
mod footprint;
pub mod host;
mod level;
mod level_cards;
mod pyramid;
pub mod replay;
mod source;
mod tiled_file;

pub use adumbra_image::Wrap;
pub use conversions::KeepConversions;
pub use filter::{
    EwaWeights, Filter, MAX_ANISOTROPY, MAX_EWA_TEXELS, SlopedTexel, Texels, filter_slopes,
    filter_texels, lookup,
};
pub use footprint::{DFootprint, Footprint, MAX_PARTIAL};
pub use level::{LevelRule, Selection, cycles_lambda, level_size, whole_levels};
pub use level_cards::level_cards;
pub use source::TextureSource;
pub use tiled_file::{
    MAX_TEXTURE_SIDE, MAX_TILE_SIDE, MAX_TILES, SampleFormat, TILE_SIDE, TileBytes, TileTexels,
    TiledFile, TiledFileError, TiledOptions, convert_to_tiled, write_tiled, write_tiled_levels,
};

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
