//! Statistics of the texture cache: counters that all threads add to, and their values.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What the cache has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Lookups that were answered.
    pub lookups: u64,
    /// Lookups that had to wait, each time that they did.
    pub parked: u64,
    /// Texels that the tiles of a thread's micro-cache answered.
    pub micro_hits: u64,
    /// Tiles that were asked for and in memory.
    pub hits: u64,
    /// Tiles that were asked for and not in memory.
    pub misses: u64,
    /// Tiles read from files.
    pub tiles_read: u64,
    /// Tiles read from files at least once.
    pub unique_tiles: u64,
    /// Reads that failed: their tiles are of the error colour.
    pub failed_reads: u64,
    /// Bytes read from files, compressed.
    pub bytes_read: u64,
    /// Bytes of all tiles read, in memory.
    pub bytes_loaded: u64,
    /// Tiles that were dropped to make place.
    pub evictions: u64,
    /// Bytes of tiles in memory now.
    pub bytes: u64,
    /// Most bytes of tiles in memory at once, those being read among them.
    pub peak_bytes: u64,
    /// Bytes that textures hold besides tiles, outside of the budget: tables of tiles, and
    /// compressed textures in memory.
    pub resident_bytes: u64,
    /// Times that the budget was exceeded, since all tiles were in use by lookups.
    pub over_budget: u64,
}

impl CacheStatistics {
    /// Reads of tiles that had been read before.
    pub fn redundant_reads(&self) -> u64 {
        self.tiles_read.saturating_sub(self.unique_tiles)
    }
}

/// The counters of a cache.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) lookups: AtomicU64,
    pub(super) parked: AtomicU64,
    pub(super) micro_hits: AtomicU64,
    pub(super) hits: AtomicU64,
    pub(super) misses: AtomicU64,
    pub(super) tiles_read: AtomicU64,
    pub(super) unique_tiles: AtomicU64,
    pub(super) failed_reads: AtomicU64,
    pub(super) bytes_read: AtomicU64,
    pub(super) bytes_loaded: AtomicU64,
    pub(super) evictions: AtomicU64,
    pub(super) over_budget: AtomicU64,
}

impl Counters {
    /// The values now; `memory` has those of tiles, and textures hold `resident_bytes` besides.
    pub(super) fn values(&self, memory: &TileMemory, resident_bytes: u64) -> CacheStatistics {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        CacheStatistics {
            lookups: of(&self.lookups),
            parked: of(&self.parked),
            micro_hits: of(&self.micro_hits),
            hits: of(&self.hits),
            misses: of(&self.misses),
            tiles_read: of(&self.tiles_read),
            unique_tiles: of(&self.unique_tiles),
            failed_reads: of(&self.failed_reads),
            bytes_read: of(&self.bytes_read),
            bytes_loaded: of(&self.bytes_loaded),
            evictions: of(&self.evictions),
            bytes: of(&memory.bytes),
            peak_bytes: of(&memory.peak),
            resident_bytes,
            over_budget: of(&self.over_budget),
        }
    }
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Relaxed);
}

/// The memory of all tiles of a cache, in bytes. A tile takes its part when its place is reserved,
/// and gives it back when the last reference to it is dropped.
#[derive(Debug, Default)]
pub(super) struct TileMemory {
    bytes: AtomicU64,
    peak: AtomicU64,
    /// Bytes of tiles that lookups wait for, read or not.
    awaited: AtomicU64,
    /// Whether a tile was refused since those bytes became fewer.
    is_saturated: AtomicBool,
}

impl TileMemory {
    /// Bytes of the tiles there are.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Whether lookups wait for as many tiles as they may.
    pub(super) fn is_saturated(&self) -> bool {
        self.is_saturated.load(Relaxed)
    }

    /// Takes bytes of a tile that is waited for, unless all such tiles then have more than `most`.
    /// One tile may always be waited for.
    pub(super) fn try_await(&self, bytes: u64, most: u64) -> bool {
        let more = |awaited: u64| {
            let fits = awaited == 0 || awaited.saturating_add(bytes) <= most;
            fits.then(|| awaited.saturating_add(bytes))
        };
        let is_taken = self.awaited.fetch_update(Relaxed, Relaxed, more).is_ok();
        if !is_taken {
            self.is_saturated.store(true, Relaxed);
        }
        is_taken
    }

    pub(super) fn await_less(&self, bytes: u64) {
        self.awaited.fetch_sub(bytes, Relaxed);
        self.is_saturated.store(false, Relaxed);
    }

    pub(super) fn take(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Relaxed);
        self.peak.fetch_max(before + bytes, Relaxed);
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }
}
