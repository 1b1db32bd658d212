//! The textures of a cache: in tiles, or failed.

use super::statistics::add;
use crate::texture::{TiledFile, Wrap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The colour of texels that cannot be read: magenta, opaque.
pub const ERROR_COLOUR: [f32; 4] = [1.0, 0.0, 1.0, 1.0];

/// Why a texture, or tiles of it, are of the [`ERROR_COLOUR`], or lookups are black.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureDiagnostic {
    /// The texture's index in the cache.
    pub texture: usize,
    /// Its file.
    pub file: PathBuf,
    /// What is wrong, with the file's name. Of several tiles it is the first.
    pub message: String,
}

/// A texture of a cache.
#[derive(Debug)]
pub(super) struct CachedTexture {
    pub(super) file: PathBuf,
    pub(super) wrap: [Wrap; 2],
    pub(super) texels: Texture,
    /// The index of the first texture of the same file: its tiles are those of all.
    pub(super) tiles_of: Option<u32>,
    /// A bit for each tile: whether it was read at least once.
    read: Vec<AtomicU64>,
    /// What failed: the first tile by level, row and column, and why.
    failure: Mutex<Option<([u32; 3], String)>>,
    /// Lookups at coordinates that are infinite or NaN.
    lost_lookups: AtomicU64,
}

/// The texels of a texture.
#[derive(Debug)]
pub(super) enum Texture {
    Tiled(Arc<TiledFile>),
    Failed,
}

impl CachedTexture {
    pub(super) fn new(file: PathBuf, wrap: [Wrap; 2], texels: Texture) -> CachedTexture {
        let tiles = match &texels {
            Texture::Tiled(file) => file.tile_count(),
            Texture::Failed => 0,
        };
        let words = (0..tiles.div_ceil(64)).map(|_| AtomicU64::new(0));
        CachedTexture {
            file,
            wrap,
            texels,
            tiles_of: None,
            read: words.collect(),
            failure: Mutex::new(None),
            lost_lookups: AtomicU64::new(0),
        }
    }

    /// Another texture of the same file, with wrap modes of its own; what is read counts for the
    /// first, which has that index.
    pub(super) fn sharing(
        first: u32,
        of: &CachedTexture,
        wrap: Option<[Wrap; 2]>,
    ) -> CachedTexture {
        let (texels, of_file) = match &of.texels {
            Texture::Tiled(file) => (Texture::Tiled(file.clone()), file.wrap()),
            Texture::Failed => (Texture::Failed, None),
        };
        CachedTexture {
            file: of.file.clone(),
            wrap: wrap.or(of_file).unwrap_or_default(),
            texels,
            tiles_of: Some(first),
            read: Vec::new(),
            failure: Mutex::new(None),
            lost_lookups: AtomicU64::new(0),
        }
    }

    pub(super) fn levels(&self) -> u32 {
        match &self.texels {
            Texture::Tiled(file) => file.levels(),
            Texture::Failed => 1,
        }
    }

    pub(super) fn size(&self, level: u32) -> [u32; 2] {
        match &self.texels {
            Texture::Tiled(file) => file.size(level),
            Texture::Failed => [1, 1],
        }
    }

    /// Bytes of memory besides tiles. Of several textures of a file the first has them.
    pub(super) fn resident_bytes(&self) -> usize {
        let file = match (&self.texels, self.tiles_of) {
            (Texture::Tiled(file), None) => file.resident_bytes(),
            _ => 0,
        };
        file + size_of_val(&*self.read)
    }

    /// Notes that a tile was read; whether it is the first time.
    pub(super) fn note_read(&self, tile: usize) -> bool {
        let bit = 1 << (tile % 64);
        let word = self.read.get(tile / 64);
        word.is_some_and(|word| word.fetch_or(bit, Relaxed) & bit == 0)
    }

    /// Notes that a tile, by level, row and column, cannot be read.
    pub(super) fn note_failure(&self, tile: [u32; 3], message: String) {
        let failure = self.failure.lock();
        let mut failure = failure.unwrap_or_else(PoisonError::into_inner);
        // Threads read in any order; the message does not depend on it.
        if failure.as_ref().is_none_or(|(first, _)| tile < *first) {
            *failure = Some((tile, message));
        }
    }

    /// Notes a lookup at coordinates that are infinite or NaN.
    pub(super) fn note_lost_lookup(&self) {
        add(&self.lost_lookups, 1);
    }

    /// What failed: the first tile, then lookups.
    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        let failure = self.failure.lock();
        let failure = failure.unwrap_or_else(PoisonError::into_inner);
        let of_file = failure.as_ref().map(|(_, message)| message.clone());
        let of_lookups = match self.lost_lookups.load(Relaxed) {
            0 => None,
            1 => Some("1 lookup at infinite or NaN coordinates is black".to_owned()),
            count => Some(format!(
                "{count} lookups at infinite or NaN coordinates are black"
            )),
        };
        of_file.into_iter().chain(of_lookups)
    }
}
