//! Two rules of eviction, compared: which one would have missed fewer tiles within a budget.
//!
//! A directory for each rule, without texels, follows a sample of the tiles within the same part of
//! the budget. Sampled directories and a counter are those of set dueling (Qureshi et al., Adaptive
//! Insertion Policies for High Performance Caching, ISCA 2007).

use super::tile::TileKey;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Of that many tiles one is sampled.
const SAMPLE: u64 = 16;
/// Most misses by which a rule leads: what was long ago is forgotten.
const MOST_LEAD: i32 = 1024;

/// Which tile is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvictionRule {
    /// The one that was not used for longest.
    LongestUnused,
    /// The next one in the order of hashes of keys.
    Chance,
}

/// Compares rules on a sample of the tiles.
#[derive(Debug)]
pub(super) struct RuleSample {
    is_chance_better: AtomicBool,
    state: Mutex<SampledRules>,
}

#[derive(Debug)]
struct SampledRules {
    longest_unused: Directory,
    chance: Directory,
    /// Requests so far: the time of uses.
    now: u64,
    /// How many misses fewer chance has, within [`MOST_LEAD`].
    lead: i32,
}

/// The sampled tiles that a rule would have in memory, by their places in an order.
#[derive(Debug)]
struct Directory {
    budget: u64,
    bytes: u64,
    /// The place and the bytes of each.
    tiles: FxHashMap<TileKey, (u64, u64)>,
    order: BTreeSet<(u64, TileKey)>,
    /// The tile that was dropped last.
    hand: Option<(u64, TileKey)>,
}

impl RuleSample {
    pub(super) fn new(budget: u64) -> RuleSample {
        let directory = || Directory {
            budget: budget / SAMPLE,
            bytes: 0,
            tiles: FxHashMap::default(),
            order: BTreeSet::new(),
            hand: None,
        };
        RuleSample {
            is_chance_better: AtomicBool::new(false),
            state: Mutex::new(SampledRules {
                longest_unused: directory(),
                chance: directory(),
                now: 0,
                lead: 0,
            }),
        }
    }

    /// The rule that has missed fewer tiles of late.
    pub(super) fn better_rule(&self) -> EvictionRule {
        match self.is_chance_better.load(Relaxed) {
            true => EvictionRule::Chance,
            false => EvictionRule::LongestUnused,
        }
    }

    /// Notes a request of a tile of that many bytes, if it is in the sample.
    pub(super) fn note_request(&self, key: TileKey, bytes: u64) {
        // Other bits than those which shards are chosen by.
        if !(key.hashed() >> 40).is_multiple_of(SAMPLE) {
            return;
        }
        let state = self.state.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.now += 1;
        let now = state.now;
        let longest_unused = state.longest_unused.request(key, now, bytes, |_| None);
        let chance = state.chance.request(key, key.hashed(), bytes, |hand| hand);
        let lead = state.lead + i32::from(longest_unused) - i32::from(chance);
        state.lead = lead.clamp(-MOST_LEAD, MOST_LEAD);
        self.is_chance_better.store(state.lead > 0, Relaxed);
    }
}

impl Directory {
    /// Finds a tile or takes it in; whether it was missing. Then or now it is at that place.
    ///
    /// If others have to go, the first does that comes after the place which `start` makes of the
    /// hand's.
    fn request(
        &mut self,
        key: TileKey,
        place: u64,
        bytes: u64,
        start: impl Fn(Option<(u64, TileKey)>) -> Option<(u64, TileKey)>,
    ) -> bool {
        if let Some((before, _)) = self.tiles.get_mut(&key) {
            self.order.remove(&(*before, key));
            self.order.insert((place, key));
            *before = place;
            return false;
        }
        while self.bytes + bytes > self.budget {
            let after = start(self.hand).and_then(|hand| {
                let after = (Bound::Excluded(hand), Bound::Unbounded);
                self.order.range(after).next()
            });
            let Some(&victim) = after.or_else(|| self.order.first()) else {
                // It is larger than all of the part: no rule keeps it.
                return true;
            };
            self.hand = Some(victim);
            self.order.remove(&victim);
            if let Some((_, bytes)) = self.tiles.remove(&victim.1) {
                self.bytes -= bytes;
            }
        }
        self.bytes += bytes;
        self.tiles.insert(key, (place, bytes));
        self.order.insert((place, key));
        true
    }
}
