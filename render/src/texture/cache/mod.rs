//! A cache of texture tiles that threads share: a byte budget, loader threads, statistics.
//!
//! A lookup finds the tiles that it needs in the thread's [`CacheReader`] or in the table of the
//! cache. Tiles that are missing are queued for loader threads, all of a lookup at once; the lookup
//! is repeated when they are there (Peachey, Texture On Demand, Pixar Technical Memo 217, 1990).
//! Results do not depend on the budget, on the policy, or on the number of threads.

mod eviction;
mod loader;
mod micro_cache;
mod reader;
mod rule_sample;
mod shard;
mod statistics;
mod texture;
mod tile;

pub use reader::{CacheReader, CacheSource, TexelLookup, TileWaits};
pub use statistics::CacheStatistics;
pub use texture::{ERROR_COLOUR, TextureDiagnostic};

use super::conversions::{Conversions, KeepConversions};
use super::{
    TextureSource, TileTexels, TiledFile, TiledFileError, TiledOptions, Wrap, write_tiled,
};
use adumbra_image::{ColorSpace, Image};
use eviction::Eviction;
use loader::{LoadQueue, OpenFiles};
use rustc_hash::FxHashMap;
use shard::TileTable;
use statistics::{Counters, TileMemory, add};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use texture::{CachedTexture, Texture};
use tile::{Tile, TileLoad};

/// The default of [`CacheSettings::budget`]: 64 MiB.
pub const DEFAULT_BUDGET: u64 = 64 << 20;
/// The default of [`CacheSettings::loader_threads`]. They wait for disks, not for processors.
pub const DEFAULT_LOADER_THREADS: usize = 16;
/// Parked lookups wait for tiles of at most the budget divided by this. Those which would wait for
/// more begin to wait when others are answered.
pub const AWAITED_PART: u64 = 2;
/// Most loader threads of a cache.
pub const MAX_LOADER_THREADS: usize = 256;

/// What happens at a lookup whose tiles are not in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissPolicy {
    /// Its point waits, and others are shaded meanwhile; loader threads read the tiles.
    #[default]
    Park,
    /// Its thread reads the tiles.
    Block,
}

/// How a cache keeps and reads tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Most bytes of tiles in memory. It is exceeded only by tiles that lookups use at the moment.
    pub budget: u64,
    /// What happens at a miss.
    pub policy: MissPolicy,
    /// Number of loader threads, 1 to [`MAX_LOADER_THREADS`]. [`MissPolicy::Block`] has none.
    pub loader_threads: usize,
    /// A delay before each read of a tile, as of a slow disk.
    pub disk_latency: Duration,
}

impl Default for CacheSettings {
    fn default() -> CacheSettings {
        CacheSettings {
            budget: DEFAULT_BUDGET,
            policy: MissPolicy::default(),
            loader_threads: DEFAULT_LOADER_THREADS,
            disk_latency: Duration::ZERO,
        }
    }
}

/// Textures, and those of their tiles that are in memory.
#[derive(Debug)]
pub struct TextureCache {
    shared: Arc<Shared>,
    settings: CacheSettings,
    loaders: Vec<JoinHandle<()>>,
    /// The first texture of each image.
    images: Mutex<FxHashMap<(TextureSource, ColorSpace), u32>>,
    conversions: Mutex<Conversions>,
}

/// What lookups and loader threads share.
#[derive(Debug)]
struct Shared {
    textures: RwLock<Vec<Arc<CachedTexture>>>,
    table: TileTable,
    eviction: Eviction,
    memory: Arc<TileMemory>,
    counters: Counters,
    queue: LoadQueue,
    disk_latency: Duration,
}

impl TextureCache {
    /// A cache without textures, which keeps no conversions. Starts its loader threads; if the
    /// system gives none, lookups read their tiles themselves.
    pub fn new(settings: CacheSettings) -> Arc<TextureCache> {
        TextureCache::keeping(settings, KeepConversions::No)
    }

    /// The same with conversions that may be kept.
    pub fn keeping(settings: CacheSettings, keep: KeepConversions) -> Arc<TextureCache> {
        let shared = Arc::new(Shared {
            textures: RwLock::default(),
            table: TileTable::new(),
            eviction: Eviction::new(settings.budget),
            memory: Arc::default(),
            counters: Counters::default(),
            queue: LoadQueue::default(),
            disk_latency: settings.disk_latency,
        });
        let threads = match settings.policy {
            MissPolicy::Park => settings.loader_threads.clamp(1, MAX_LOADER_THREADS),
            MissPolicy::Block => 0,
        };
        let started = (0..threads).map_while(|_| loader::start(shared.clone()).ok());
        let loaders: Vec<JoinHandle<()>> = started.collect();
        Arc::new(TextureCache {
            shared,
            settings: CacheSettings {
                policy: match loaders.is_empty() {
                    true => MissPolicy::Block,
                    false => MissPolicy::Park,
                },
                ..settings
            },
            loaders,
            images: Mutex::default(),
            conversions: Mutex::new(Conversions::new(keep)),
        })
    }

    /// The settings, with the policy that is in force.
    pub fn settings(&self) -> CacheSettings {
        self.settings
    }

    /// Adds the texture of a file whose colours are of sRGB, as [`add_source`] does.
    ///
    /// [`add_source`]: TextureCache::add_source
    pub fn add(&self, file: &Path, wrap: Option<[Wrap; 2]>) -> usize {
        self.add_source(
            &TextureSource::File(file.to_owned()),
            ColorSpace::Srgb,
            wrap,
        )
    }

    /// Adds a texture and returns its index.
    ///
    /// An image that is no tiled texture is converted to one without loss. An image that cannot be
    /// read gives a texture of the [`ERROR_COLOUR`] and a diagnostic. The wrap modes along u and v
    /// are `wrap`, or else those of the file, or else [`Wrap::Repeat`].
    ///
    /// An image that is added again has the tiles of the first time, and no diagnostic of its own.
    pub fn add_source(
        &self,
        source: &TextureSource,
        color_space: ColorSpace,
        wrap: Option<[Wrap; 2]>,
    ) -> usize {
        let images = self.images.lock();
        let mut images = images.unwrap_or_else(PoisonError::into_inner);
        // Two paths may lead to one file. One that leads nowhere is itself.
        let same = match source {
            TextureSource::File(file) => file.canonicalize().map(TextureSource::File).ok(),
            TextureSource::Part { .. } | TextureSource::Bytes { .. } => None,
        };
        let key = (same.unwrap_or_else(|| source.clone()), color_space);
        if let Some(&first) = images.get(&key)
            && let Some(texture) = self.shared.texture(first as usize)
        {
            return self.push(CachedTexture::sharing(first, &texture, wrap));
        }
        let opened = self.open(source, color_space);
        let index = self.add_tiled(PathBuf::from(source.name()), opened, wrap);
        if let Ok(first) = u32::try_from(index) {
            images.insert(key, first);
        }
        index
    }

    /// Opens a tiled texture, or the conversion of another image.
    fn open(
        &self,
        source: &TextureSource,
        color_space: ColorSpace,
    ) -> Result<TiledFile, TiledFileError> {
        if let TextureSource::File(file) = source {
            match TiledFile::open(file) {
                Err(error) if error.is_other_image() => {}
                opened => return opened,
            }
        }
        let conversions = self.conversions.lock();
        let mut conversions = conversions.unwrap_or_else(PoisonError::into_inner);
        conversions.tiled(source, color_space)
    }

    /// Adds a tiled texture, or one that cannot be read.
    fn add_tiled(
        &self,
        name: PathBuf,
        opened: Result<TiledFile, TiledFileError>,
        wrap: Option<[Wrap; 2]>,
    ) -> usize {
        let (texels, of_file, failure) = match opened {
            Ok(tiled) => {
                let wrap = tiled.wrap();
                (Texture::Tiled(Arc::new(tiled)), wrap, None)
            }
            Err(error) => (Texture::Failed, None, Some(error.to_string())),
        };
        let wrap = wrap.or(of_file).unwrap_or_default();
        let texture = CachedTexture::new(name, wrap, texels);
        if let Some(message) = failure {
            texture.note_failure([0; 3], message);
        }
        self.push(texture)
    }

    /// Adds an image, which stays compressed in memory and outside of the budget, and returns its
    /// index.
    pub fn add_image(&self, name: &str, image: Image, wrap: impl Into<[Wrap; 2]>) -> usize {
        let name = PathBuf::from(name);
        let mut bytes = Cursor::new(Vec::new());
        let written = write_tiled(image, &TiledOptions::default(), &mut bytes);
        let written = written.map_err(|error| TiledFileError::target(&name, error));
        let opened = written.and_then(|()| TiledFile::of_bytes(&name, bytes.into_inner().into()));
        self.add_tiled(name, opened, Some(wrap.into()))
    }

    /// Why a conversion is not kept where it should be: the first time that it was so.
    pub fn conversion_warning(&self) -> Option<String> {
        let conversions = self.conversions.lock();
        let conversions = conversions.unwrap_or_else(PoisonError::into_inner);
        conversions.warning().map(str::to_owned)
    }

    fn push(&self, texture: CachedTexture) -> usize {
        let textures = self.shared.textures.write();
        let mut textures = textures.unwrap_or_else(PoisonError::into_inner);
        textures.push(Arc::new(texture));
        textures.len() - 1
    }

    /// Number of textures.
    pub fn len(&self) -> usize {
        let textures = self.shared.textures.read();
        textures.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether there is no texture.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Width and height of the finest level of a texture; 1×1 of one that cannot be read.
    pub fn size(&self, texture: usize) -> Option<[u32; 2]> {
        Some(self.shared.texture(texture)?.size(0))
    }

    /// Number of levels of a texture.
    pub fn levels(&self, texture: usize) -> Option<u32> {
        Some(self.shared.texture(texture)?.levels())
    }

    /// The wrap modes of a texture, along u and v.
    pub fn wrap(&self, texture: usize) -> Option<[Wrap; 2]> {
        Some(self.shared.texture(texture)?.wrap)
    }

    /// What failed so far, in the order of the textures' indices: for each the first tile that
    /// cannot be read, and the number of lookups that no texel answers.
    pub fn diagnostics(&self) -> Vec<TextureDiagnostic> {
        let textures = self.shared.textures.read();
        let textures = textures.unwrap_or_else(PoisonError::into_inner);
        let failed = textures.iter().enumerate().flat_map(|(index, texture)| {
            texture.failures().map(move |message| TextureDiagnostic {
                texture: index,
                file: texture.file.clone(),
                message,
            })
        });
        failed.collect()
    }

    /// The statistics so far. A [`CacheReader`] adds its own when it is flushed or dropped.
    pub fn statistics(&self) -> CacheStatistics {
        let textures = self.shared.textures.read();
        let textures = textures.unwrap_or_else(PoisonError::into_inner);
        let resident: usize = textures
            .iter()
            .map(|texture| texture.resident_bytes())
            .sum();
        self.shared
            .counters
            .values(&self.shared.memory, resident as u64)
    }

    /// Whether lookups wait for as many tiles as they may, so that no other tile is read for one
    /// until some are answered.
    pub fn is_saturated(&self) -> bool {
        self.shared.memory.is_saturated()
    }

    /// Number of reads of loader threads that were finished, for [`wait`](TextureCache::wait).
    pub fn finished_reads(&self) -> u64 {
        self.shared.queue.finished()
    }

    /// Waits until loader threads have finished more reads than that, or have none; whether they
    /// have finished more.
    pub fn wait(&self, finished_reads: u64) -> bool {
        self.shared.queue.wait(finished_reads)
    }
}

impl Drop for TextureCache {
    fn drop(&mut self) {
        self.shared.queue.close();
        for loader in self.loaders.drain(..) {
            // A thread that panicked has nothing left to do.
            let _ = loader.join();
        }
    }
}

impl Shared {
    fn texture(&self, index: usize) -> Option<Arc<CachedTexture>> {
        let textures = self.textures.read();
        let textures = textures.unwrap_or_else(PoisonError::into_inner);
        textures.get(index).cloned()
    }

    /// Reads a tile and puts it in the table; one that cannot be read is of the error colour.
    fn load(&self, load: &TileLoad, files: &mut OpenFiles) -> Arc<Tile> {
        let key = load.key;
        let texture = self.texture(key.texture as usize);
        let file = texture.as_ref().and_then(|texture| match &texture.texels {
            Texture::Tiled(file) => Some((texture, &**file)),
            Texture::Failed => None,
        });
        let reserved = load.bytes();
        self.eviction
            .reserve(reserved, &self.table, &self.memory, &self.counters);
        if !self.disk_latency.is_zero() {
            std::thread::sleep(self.disk_latency);
        }
        let texels = file.map(|(texture, file)| self.read(texture, file, load, files));
        let texels = texels.unwrap_or_else(|| TileTexels::constant(ERROR_COLOUR));
        add(&self.counters.bytes_loaded, texels.bytes() as u64);
        let now = self.eviction.now();
        let tile = Arc::new(Tile::new(texels, reserved, now, self.memory.clone()));
        self.table.insert(key, tile.clone());
        load.finish(&tile);
        self.eviction.inserted(key);
        tile
    }

    fn read(
        &self,
        texture: &CachedTexture,
        file: &TiledFile,
        load: &TileLoad,
        files: &mut OpenFiles,
    ) -> TileTexels {
        let key = load.key;
        add(&self.counters.tiles_read, 1);
        let index = file.tile_index(key.level, key.x, key.y);
        if index.is_some_and(|index| texture.note_read(index)) {
            add(&self.counters.unique_tiles, 1);
        }
        let opened = files.open(key.texture, file);
        let read = opened.map_err(|error| TiledFileError::io(file.path(), error));
        match read.and_then(|opened| file.read_tile(opened, key.level, key.x, key.y)) {
            Ok((texels, bytes)) => {
                add(&self.counters.bytes_read, bytes as u64);
                texels
            }
            Err(error) => {
                add(&self.counters.failed_reads, 1);
                texture.note_failure([key.level, key.y, key.x], error.to_string());
                TileTexels::constant(ERROR_COLOUR)
            }
        }
    }
}
