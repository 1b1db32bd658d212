//! Lookups of one thread: its last tiles, its open files, its counters.

use super::loader::OpenFiles;
use super::micro_cache::MicroCache;
use super::shard::Found;
use super::statistics::add;
use super::texture::{CachedTexture, Texture};
use super::tile::{self, Tile, TileKey, TileLoad};
use super::{ERROR_COLOUR, MissPolicy, TextureCache};
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

/// The tiles that a lookup waits for.
#[derive(Clone, Debug)]
pub struct TileWaits {
    loads: Vec<Arc<TileLoad>>,
}

impl TileWaits {
    /// Whether all of them were read, so that the lookup can be repeated.
    pub fn are_over(&self) -> bool {
        self.loads.iter().all(|load| load.is_finished())
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
            cache,
            textures: Vec::new(),
            micro: MicroCache::default(),
            files: OpenFiles::default(),
            counts: Counts::default(),
            pressure: 0,
            missing: Vec::new(),
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
        let mut source = CacheSource {
            cache: &self.cache,
            texture: &self.textures[texture],
            index: self.textures[texture].tiles_of.unwrap_or(texture as u32),
            policy,
            micro: &mut self.micro,
            files: &mut self.files,
            counts: &mut self.counts,
            missing: &mut self.missing,
            finest: None,
            now: shared.eviction.now(),
        };
        let texel = filter(&mut source);
        let finest = source.finest;
        match texel {
            Ok(texel) if self.missing.is_empty() => {
                self.counts.lookups += 1;
                Ok(TexelLookup { texel, finest })
            }
            _ => {
                self.counts.parked += 1;
                Err(TileWaits {
                    loads: self.missing.clone(),
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
    finest: Option<u32>,
    /// The time of the uses of its tiles.
    now: u64,
}

impl CacheSource<'_> {
    /// The wrap modes of the texture.
    pub fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    /// Finds a tile that is not among the last ones; `None` if the lookup has to wait for it.
    fn find(&mut self, file: &TiledFile, key: TileKey) -> Option<Arc<Tile>> {
        if self.missing.iter().any(|load| load.key == key) {
            return None;
        }
        let shared = &self.cache.shared;
        let bytes = tile::bytes_with(file.tile_bytes(key.level, key.x, key.y));
        shared.eviction.note_request(key, bytes);
        let mut is_first = true;
        loop {
            let found = shared.table.find(key, self.now, || {
                TileLoad::new(key, bytes, shared.memory.clone())
            });
            if is_first {
                match found {
                    Found::Ready(_) => self.counts.hits += 1,
                    Found::Loading(_) | Found::Missing(_) => self.counts.misses += 1,
                }
            }
            is_first = false;
            match (found, self.policy) {
                (Found::Ready(tile), _) => return Some(tile),
                (Found::Missing(load), MissPolicy::Block) => {
                    return Some(shared.load(&load, self.files));
                }
                (Found::Loading(load), MissPolicy::Block) => {
                    if let Some(tile) = load.wait() {
                        return Some(tile);
                    }
                }
                (Found::Missing(load), MissPolicy::Park) => {
                    shared.queue.push(load.clone());
                    self.missing.push(load);
                    return None;
                }
                (Found::Loading(load), MissPolicy::Park) => {
                    self.missing.push(load);
                    return None;
                }
            }
        }
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
