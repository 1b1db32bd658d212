//! The tiles in memory: a hash table in shards, each with a lock of its own.

use super::tile::{Tile, TileKey, TileLoad};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of shards: threads that ask for different tiles seldom wait for each other.
const SHARDS: usize = 32;

/// A tile of the table.
#[derive(Clone, Debug)]
enum Residence {
    /// It is being read.
    Loading(Arc<TileLoad>),
    /// It is in memory.
    Ready(Arc<Tile>),
}

/// A tile as a lookup finds it.
#[derive(Debug)]
pub(super) enum Found {
    /// It is in memory.
    Ready(Arc<Tile>),
    /// Another lookup asked for it before.
    Loading(Arc<TileLoad>),
    /// It is missing: the caller has it read.
    Missing(Arc<TileLoad>),
    /// It is missing, and may not be read now.
    Refused,
}

/// What becomes of a tile that is to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was dropped.
    Evicted,
    /// It was used later than thought, at that time.
    Used(u64),
    /// A lookup uses it now.
    Pinned,
}

type Shard = FxHashMap<TileKey, Residence>;

/// All tiles in memory or being read.
#[derive(Debug)]
pub(super) struct TileTable {
    shards: Vec<Mutex<Shard>>,
}

impl TileTable {
    pub(super) fn new() -> TileTable {
        TileTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    fn shard(&self, key: &TileKey) -> MutexGuard<'_, Shard> {
        // The table takes the upper bits.
        let shard = &self.shards[(key.hashed() >> 20) as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds a tile, which is used at that time; one that is missing is from now on being read.
    ///
    /// `load` makes the read of a missing one, if it may be read.
    pub(super) fn find(
        &self,
        key: TileKey,
        now: u64,
        load: impl FnOnce() -> Option<TileLoad>,
    ) -> Found {
        match self.shard(&key).entry(key) {
            Entry::Occupied(entry) => match entry.get() {
                Residence::Ready(tile) => {
                    tile.touch(now);
                    Found::Ready(tile.clone())
                }
                Residence::Loading(load) => Found::Loading(load.clone()),
            },
            Entry::Vacant(entry) => {
                let Some(load) = load() else {
                    return Found::Refused;
                };
                let load = Arc::new(load);
                entry.insert(Residence::Loading(load.clone()));
                Found::Missing(load)
            }
        }
    }

    /// Puts a tile in place of its read.
    pub(super) fn insert(&self, key: TileKey, tile: Arc<Tile>) {
        self.shard(&key).insert(key, Residence::Ready(tile));
    }

    /// Drops a tile unless it is in use or was used after that time.
    pub(super) fn evict(&self, key: &TileKey, after: u64) -> Verdict {
        let mut shard = self.shard(key);
        let Some(Residence::Ready(tile)) = shard.get(key) else {
            return Verdict::Evicted;
        };
        // Others take references under this lock only, so 1 stays 1.
        if Arc::strong_count(tile) > 1 {
            return Verdict::Pinned;
        }
        let used = tile.last_use();
        if used > after {
            return Verdict::Used(used);
        }
        shard.remove(key);
        Verdict::Evicted
    }
}
