//! Tiles in memory, and tiles that are being read.

use super::statistics::TileMemory;
use crate::texture::TileTexels;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a tile besides its texels: the tile, its entry in the table, and two in orders of
/// eviction.
const OVERHEAD: usize = 240;

/// Which tile of which level of which texture of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TileKey {
    pub(super) texture: u32,
    pub(super) level: u32,
    pub(super) x: u32,
    pub(super) y: u32,
}

impl TileKey {
    /// A hash of it, the same in each run.
    pub(super) fn hashed(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// A tile in memory.
#[derive(Debug)]
pub(super) struct Tile {
    texels: TileTexels,
    reserved: u64,
    memory: Arc<TileMemory>,
    /// When it was used last.
    last_use: AtomicU64,
}

/// The bytes that a tile takes, with texels of that many bytes.
pub(super) fn bytes_with(texels: usize) -> u64 {
    (texels + OVERHEAD) as u64
}

impl Tile {
    /// A tile of now, for which `reserved` bytes were taken of the memory; it gives them back.
    pub(super) fn new(
        texels: TileTexels,
        reserved: u64,
        now: u64,
        memory: Arc<TileMemory>,
    ) -> Tile {
        Tile {
            texels,
            reserved,
            memory,
            last_use: AtomicU64::new(now),
        }
    }

    /// Bytes that it takes of the memory.
    pub(super) fn bytes(&self) -> u64 {
        self.reserved
    }

    /// A texel within the tile.
    pub(super) fn texel(&self, x: u32, y: u32) -> [f32; 4] {
        self.texels.texel(x, y)
    }

    /// Notes that it is used at that time.
    pub(super) fn touch(&self, now: u64) {
        // Most often it is noted already; a store would take the cache line from other threads.
        if self.last_use.load(Relaxed) < now {
            self.last_use.store(now, Relaxed);
        }
    }

    /// When it was used last.
    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Relaxed)
    }
}

impl Drop for Tile {
    fn drop(&mut self) {
        self.memory.give_back(self.reserved);
    }
}

/// A read of a tile that is queued or under way.
///
/// As long as lookups wait for it, its bytes are awaited ones of the memory, and its tile is in
/// use: it is not dropped before they have it.
#[derive(Debug)]
pub(super) struct TileLoad {
    pub(super) key: TileKey,
    bytes: u64,
    memory: Arc<TileMemory>,
    state: Mutex<LoadState>,
    finished: Condvar,
}

#[derive(Debug, Default)]
struct LoadState {
    tile: Option<Arc<Tile>>,
}

impl TileLoad {
    /// A read of a tile that takes that many bytes, which are awaited ones already.
    pub(super) fn new(key: TileKey, bytes: u64, memory: Arc<TileMemory>) -> TileLoad {
        TileLoad {
            key,
            bytes,
            memory,
            state: Mutex::default(),
            finished: Condvar::new(),
        }
    }

    /// Bytes that the tile will take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn state(&self) -> MutexGuard<'_, LoadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the tile was read.
    pub(super) fn is_finished(&self) -> bool {
        self.state().tile.is_some()
    }

    /// Waits for the tile.
    pub(super) fn wait(&self) -> Arc<Tile> {
        let mut state = self.state();
        loop {
            if let Some(tile) = &state.tile {
                return tile.clone();
            }
            let woken = self.finished.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Passes the tile to the lookups that wait for it.
    pub(super) fn finish(&self, tile: &Arc<Tile>) {
        self.state().tile = Some(tile.clone());
        self.finished.notify_all();
    }
}

impl Drop for TileLoad {
    fn drop(&mut self) {
        self.memory.await_less(self.bytes);
    }
}
