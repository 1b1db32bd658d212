//! Lookups of one thread: its last tiles, its open files, its counters.

use super::loader::OpenFiles;
use super::micro_cache::MicroCache;
use super::shard::Found;
use super::statistics::add;
use super::texture::{CachedTexture, Texture};
use super::tile::{self, Tile, TileKey, TileLoad};
use super::{AWAITED_PART, ERROR_COLOUR, MissPolicy, TextureCache};
use crate::texture::{TexelSource, TileMissing, TiledFile, Wrap};
use adumbra::Texel;
use std::sync::Arc;

/// The answer to a lookup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TexelLookup {
    /// The numbers, with slopes where they were asked for.
    pub texel: Texel,
    /// The finest level that was read; `None` if no texel was.
    pub finest: Option<u32>,
}

/// The tiles that a lookup waits for. Those that are being read, or were, stay in memory as long as
/// it waits. None are if lookups wait for as many tiles as the budget allows.
#[derive(Clone, Debug)]
pub struct TileWaits {
    loads: Vec<Arc<TileLoad>>,
    /// The first tile that was missing.
    first: TileKey,
}

impl TileWaits {
    /// Whether all that are being read were read, so that the lookup can be repeated.
    pub fn are_over(&self) -> bool {
        self.loads.iter().all(|load| load.is_finished())
    }

    /// Whether any are being read, or were.
    pub fn have_begun(&self) -> bool {
        !self.loads.is_empty()
    }

    /// A number by which lookups that wait for the same tile are neighbours.
    pub fn tile_order(&self) -> u128 {
        let TileKey {
            texture,
            level,
            x,
            y,
        } = self.first;
        [texture, level, y, x]
            .into_iter()
            .fold(0, |order, part| order << 32 | u128::from(part))
    }
}

/// A thread's way to the textures of a cache.
#[derive(Debug)]
pub struct CacheReader {
    cache: Arc<TextureCache>,
    /// The textures of the cache, as far as they were asked for.
    textures: Vec<Arc<CachedTexture>>,
    micro: MicroCache,
    files: OpenFiles,
    counts: Counts,
    pressure: u64,
    missing: Vec<Arc<TileLoad>>,
    refused: Vec<TileKey>,
}

/// What is not yet in the counters of the cache.
#[derive(Debug, Default)]
struct Counts {
    lookups: u64,
    parked: u64,
    micro_hits: u64,
    hits: u64,
    misses: u64,
}

impl CacheReader {
    /// A reader without tiles.
    pub fn new(cache: Arc<TextureCache>) -> CacheReader {
        CacheReader {
            micro: MicroCache::new(cache.settings.budget),
            cache,
            textures: Vec::new(),
            files: OpenFiles::default(),
            counts: Counts::default(),
            pressure: 0,
            missing: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The cache.
    pub fn cache(&self) -> &Arc<TextureCache> {
        &self.cache
    }

    /// Looks a texture up by `filter`, which reads texels.
    ///
    /// With [`MissPolicy::Park`] tiles that are missing are queued for loader threads; with
    /// [`MissPolicy::Block`] they are read here. A texture that does not exist is of the
    /// [`ERROR_COLOUR`].
    ///
    /// # Errors
    /// If it has to wait for tiles; it is then to be repeated.
    pub fn lookup(
        &mut self,
        texture: usize,
        policy: MissPolicy,
        filter: impl FnOnce(&mut CacheSource<'_>) -> Result<Texel, TileMissing>,
    ) -> Result<TexelLookup, TileWaits> {
        let shared = &self.cache.shared;
        while self.textures.len() <= texture {
            let Some(next) = shared.texture(self.textures.len()) else {
                self.counts.lookups += 1;
                return Ok(TexelLookup {
                    texel: Texel::flat(ERROR_COLOUR),
                    finest: None,
                });
            };
            self.textures.push(next);
        }
        let pressure = shared.eviction.pressure();
        if pressure != self.pressure {
            self.micro.clear();
            self.pressure = pressure;
        }
        self.missing.clear();
        self.refused.clear();
        let mut source = CacheSource {
            cache: &self.cache,
            texture: &self.textures[texture],
            index: self.textures[texture].tiles_of.unwrap_or(texture as u32),
            policy,
            micro: &mut self.micro,
            files: &mut self.files,
            counts: &mut self.counts,
            missing: &mut self.missing,
            refused: &mut self.refused,
            finest: None,
            now: shared.eviction.now(),
        };
        let texel = filter(&mut source);
        let finest = source.finest;
        let missing = self.missing.iter().map(|load| load.key);
        match (texel, missing.chain(self.refused.iter().copied()).min()) {
            (Ok(texel), None) => {
                self.counts.lookups += 1;
                Ok(TexelLookup { texel, finest })
            }
            (_, first) => {
                self.counts.parked += 1;
                Err(TileWaits {
                    loads: std::mem::take(&mut self.missing),
                    first: first.unwrap_or_default(),
                })
            }
        }
    }

    /// Drops the last tiles, so that the cache may drop them too.
    pub fn release(&mut self) {
        self.micro.clear();
    }

    /// Adds what it counted to the statistics of the cache.
    pub fn flush(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let counters = &self.cache.shared.counters;
        add(&counters.lookups, counts.lookups);
        add(&counters.parked, counts.parked);
        add(&counters.micro_hits, counts.micro_hits);
        add(&counters.hits, counts.hits);
        add(&counters.misses, counts.misses);
    }
}

impl Drop for CacheReader {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The texels of a texture during a lookup. A texel whose tile is missing is zero for now, so that
/// the lookup finds all tiles that it needs.
#[derive(Debug)]
pub struct CacheSource<'a> {
    cache: &'a TextureCache,
    texture: &'a CachedTexture,
    index: u32,
    policy: MissPolicy,
    micro: &'a mut MicroCache,
    files: &'a mut OpenFiles,
    counts: &'a mut Counts,
    missing: &'a mut Vec<Arc<TileLoad>>,
    /// Tiles that may not be read now.
    refused: &'a mut Vec<TileKey>,
    finest: Option<u32>,
    /// The time of the uses of its tiles.
    now: u64,
}

impl CacheSource<'_> {
    /// The wrap modes of the texture.
    pub fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    /// Notes that the lookup is at coordinates that are infinite or NaN, where there is no texel.
    pub fn note_lost_lookup(&self) {
        self.texture.note_lost_lookup();
    }

    /// Finds a tile that is not among the last ones; `None` if the lookup has to wait for it.
    fn find(&mut self, file: &TiledFile, key: TileKey) -> Option<Arc<Tile>> {
        if self.missing.iter().any(|load| load.key == key) || self.refused.contains(&key) {
            return None;
        }
        let shared = &self.cache.shared;
        let bytes = tile::bytes_with(file.tile_bytes(key.level, key.x, key.y));
        shared.eviction.note_request(key, bytes);
        let most = match self.policy {
            MissPolicy::Block => u64::MAX,
            MissPolicy::Park => self.cache.settings.budget / AWAITED_PART,
        };
        let found = shared.table.find(key, self.now, || {
            let may_wait = shared.memory.try_await(bytes, most);
            may_wait.then(|| TileLoad::new(key, bytes, shared.memory.clone()))
        });
        match found {
            Found::Ready(_) => self.counts.hits += 1,
            Found::Loading(_) | Found::Missing(_) | Found::Refused => self.counts.misses += 1,
        }
        match (found, self.policy) {
            (Found::Ready(tile), _) => return Some(tile),
            (Found::Missing(load), MissPolicy::Block) => {
                return Some(shared.load(&load, self.files));
            }
            (Found::Loading(load), MissPolicy::Block) => return Some(load.wait()),
            (Found::Missing(load), MissPolicy::Park) => {
                shared.queue.push(load.clone());
                self.missing.push(load);
            }
            (Found::Loading(load), MissPolicy::Park) => self.missing.push(load),
            (Found::Refused, _) => self.refused.push(key),
        }
        None
    }
}

impl TexelSource for CacheSource<'_> {
    fn levels(&self) -> u32 {
        self.texture.levels()
    }

    fn size(&self, level: u32) -> [u32; 2] {
        self.texture.size(level)
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing> {
        self.finest = Some(self.finest.map_or(level, |finest| finest.min(level)));
        let file = match &self.texture.texels {
            Texture::Tiled(file) => file,
            Texture::Failed => return Ok(ERROR_COLOUR),
        };
        let [width, height] = file.tile_size();
        let key = TileKey {
            texture: self.index,
            level,
            x: x / width,
            y: y / height,
        };
        let (x, y) = (x % width, y % height);
        if let Some(tile) = self.micro.get(&key, self.now) {
            self.counts.micro_hits += 1;
            return Ok(tile.texel(x, y));
        }
        let Some(tile) = self.find(file, key) else {
            return Ok([0.0; 4]);
        };
        let texel = tile.texel(x, y);
        self.micro.insert(key, tile);
        Ok(texel)
    }
}
