//! The byte budget: which tiles are dropped to make place for others.
//!
//! Most often it is the tile that was not used for longest: neighbours in an image ask for the same
//! tiles. But an image reads textures again and again in the same order; if what it reads is larger
//! than the budget, that rule drops each tile shortly before it is read again. Tiles then go in the
//! order of hashes of their keys, which is chance. A [`RuleSample`] says which of the two is better
//! now.

use super::rule_sample::{EvictionRule, RuleSample};
use super::shard::{TileTable, Verdict};
use super::statistics::{Counters, TileMemory, add};
use super::tile::TileKey;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

/// Decides which tiles stay in memory.
#[derive(Debug)]
pub(super) struct Eviction {
    budget: u64,
    state: Mutex<Residents>,
    /// A reserved tile came into the table.
    inserted: Condvar,
    /// Number of times that all tiles were in use; threads then drop those of their micro-caches.
    pressure: AtomicU64,
    /// Number of tiles that came, which is the time of uses.
    now: AtomicU64,
    sample: RuleSample,
}

/// The tiles in the table.
#[derive(Debug, Default)]
struct Residents {
    /// After the hashes of their keys; each with its time in `by_use`.
    by_hash: BTreeMap<(u64, TileKey), u64>,
    /// After the time of a use that is known here; there may have been later ones.
    by_use: BTreeSet<(u64, TileKey)>,
    /// The tile that went last by chance.
    hand: Option<(u64, TileKey)>,
    /// Number of tiles that are reserved and not yet in the table.
    reserved: usize,
}

impl Eviction {
    pub(super) fn new(budget: u64) -> Eviction {
        Eviction {
            budget,
            state: Mutex::default(),
            inserted: Condvar::new(),
            pressure: AtomicU64::new(0),
            now: AtomicU64::new(0),
            sample: RuleSample::new(budget),
        }
    }

    /// Number of times that all tiles were in use.
    pub(super) fn pressure(&self) -> u64 {
        self.pressure.load(Relaxed)
    }

    /// The time, for [`Tile::touch`](super::tile::Tile::touch).
    pub(super) fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    /// Notes that a lookup asked the table for a tile of that many bytes.
    pub(super) fn note_request(&self, key: TileKey, bytes: u64) {
        self.sample.note_request(key, bytes);
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
        let mut residents = state.unwrap_or_else(PoisonError::into_inner);
        while memory.bytes() + bytes > self.budget {
            let is_dropped = match self.sample.better_rule() {
                EvictionRule::LongestUnused => residents.drop_longest_unused(table, self.now()),
                EvictionRule::Chance => residents.drop_by_chance(table),
            };
            if is_dropped {
                add(&counters.evictions, 1);
            } else if residents.reserved > 0 {
                // Tiles that are being read can be dropped soon.
                let woken = self.inserted.wait(residents);
                residents = woken.unwrap_or_else(PoisonError::into_inner);
            } else {
                self.pressure.fetch_add(1, Relaxed);
                add(&counters.over_budget, 1);
                break;
            }
        }
        memory.take(bytes);
        residents.reserved += 1;
    }

    /// Notes that a reserved tile is in the table.
    pub(super) fn inserted(&self, key: TileKey) {
        let state = self.state.lock();
        let mut residents = state.unwrap_or_else(PoisonError::into_inner);
        residents.reserved -= 1;
        residents.put(key, self.now.fetch_add(1, Relaxed));
        self.inserted.notify_all();
    }
}

impl Residents {
    /// Adds a tile that was used at that time, or moves it there.
    fn put(&mut self, key: TileKey, used: u64) {
        if let Some(before) = self.by_hash.insert((key.hashed(), key), used) {
            self.by_use.remove(&(before, key));
        }
        self.by_use.insert((used, key));
    }

    /// Drops the tile that was not used for longest; false if all are in use.
    fn drop_longest_unused(&mut self, table: &TileTable, now: u64) -> bool {
        let mut in_use = Vec::new();
        let mut is_dropped = false;
        while let Some((used, key)) = self.by_use.pop_first() {
            match table.evict(&key, used) {
                Verdict::Evicted => {
                    self.by_hash.remove(&(key.hashed(), key));
                    is_dropped = true;
                    break;
                }
                Verdict::Used(later) => self.put(key, later),
                Verdict::Pinned => in_use.push(key),
            }
        }
        in_use.into_iter().for_each(|key| self.put(key, now));
        is_dropped
    }

    /// Drops the next tile in the order of hashes that is not in use; false if all are.
    fn drop_by_chance(&mut self, table: &TileTable) -> bool {
        for _ in 0..self.by_hash.len() {
            let after = self.hand.and_then(|hand| {
                let after = (Bound::Excluded(hand), Bound::Unbounded);
                self.by_hash.range(after).next()
            });
            let Some((&tile, &used)) = after.or_else(|| self.by_hash.first_key_value()) else {
                return false;
            };
            self.hand = Some(tile);
            if table.evict(&tile.1, u64::MAX) == Verdict::Evicted {
                self.by_hash.remove(&tile);
                self.by_use.remove(&(used, tile.1));
                return true;
            }
        }
        false
    }
}
