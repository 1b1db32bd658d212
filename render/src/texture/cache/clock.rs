//! The byte budget: tiles are dropped by the clock algorithm, also called second chance (Corbató, A
//! Paging Experiment with the Multics System, 1968).
//!
//! The hand passes tiles in the order of hashes of their keys. Buckets of an image read textures
//! again and again in the same order; if what they read is larger than the budget, a hand that
//! passed tiles in the order of arrival would drop each one shortly before it is read again.

use super::shard::{TileTable, Verdict};
use super::statistics::{Counters, TileMemory, add};
use super::tile::TileKey;
use rustc_hash::FxHasher;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

/// Decides which tiles stay in memory.
#[derive(Debug)]
pub(super) struct Clock {
    budget: u64,
    state: Mutex<Ring>,
    /// A reserved tile came into the table.
    inserted: Condvar,
    /// Number of times that all tiles were in use; threads then drop those of their micro-caches.
    pressure: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    /// The tiles in the table, after the hashes of their keys.
    tiles: BTreeSet<(u64, TileKey)>,
    /// The tile that the hand passed last.
    hand: Option<(u64, TileKey)>,
    /// Number of tiles that are reserved and not yet in the table.
    reserved: usize,
}

impl Clock {
    pub(super) fn new(budget: u64) -> Clock {
        Clock {
            budget,
            state: Mutex::default(),
            inserted: Condvar::new(),
            pressure: AtomicU64::new(0),
        }
    }

    /// Number of times that all tiles were in use.
    pub(super) fn pressure(&self) -> u64 {
        self.pressure.load(Relaxed)
    }

    /// Takes bytes of the memory for one tile, and drops tiles until they fit into the budget.
    ///
    /// If all tiles are in use by lookups, the tile is over the budget.
    pub(super) fn reserve(
        &self,
        bytes: u64,
        table: &TileTable,
        memory: &TileMemory,
        counters: &Counters,
    ) {
        let state = self.state.lock();
        let mut ring = state.unwrap_or_else(PoisonError::into_inner);
        while memory.bytes() + bytes > self.budget {
            if ring.evict(table) {
                add(&counters.evictions, 1);
            } else if ring.reserved > 0 {
                // Tiles that are being read can be dropped soon.
                let woken = self.inserted.wait(ring);
                ring = woken.unwrap_or_else(PoisonError::into_inner);
            } else {
                self.pressure.fetch_add(1, Relaxed);
                add(&counters.over_budget, 1);
                break;
            }
        }
        memory.take(bytes);
        ring.reserved += 1;
    }

    /// Notes that a reserved tile is in the table.
    pub(super) fn inserted(&self, key: TileKey) {
        let state = self.state.lock();
        let mut ring = state.unwrap_or_else(PoisonError::into_inner);
        ring.reserved -= 1;
        ring.insert(key);
        self.inserted.notify_all();
    }
}

impl Ring {
    /// Adds a tile at the place that the hash of its key decides.
    fn insert(&mut self, key: TileKey) {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        self.tiles.insert((hasher.finish(), key));
    }

    /// Drops one tile; false if all are in use.
    fn evict(&mut self, table: &TileTable) -> bool {
        // The first round takes what second chances there are.
        for _ in 0..2 * self.tiles.len() {
            let after = self.hand.and_then(|hand| {
                let after = (Bound::Excluded(hand), Bound::Unbounded);
                self.tiles.range(after).next()
            });
            let Some(&tile) = after.or_else(|| self.tiles.first()) else {
                return false;
            };
            self.hand = Some(tile);
            if table.evict(&tile.1) == Verdict::Evicted {
                self.tiles.remove(&tile);
                return true;
            }
        }
        false
    }
}
