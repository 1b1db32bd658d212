//! The last tiles of a thread, which it reads without a lock.

use super::tile::{Tile, TileKey};
use std::sync::Arc;

/// Number of tiles: two textures, two levels, and four tiles that meet in a corner.
const TILES: usize = 16;

/// They have at most the budget of the cache divided by this, or are one tile.
const PART: u64 = 4;

/// The last tiles of a thread. They are in use as long as they are here: the cache keeps them.
#[derive(Debug)]
pub(super) struct MicroCache {
    tiles: [Option<(TileKey, Arc<Tile>)>; TILES],
    bytes: u64,
    most: u64,
}

/// The place of a tile. Neighbours, adjacent levels and textures have different ones.
fn place(key: &TileKey) -> usize {
    let bit = |number: u32| (number & 1) as usize;
    bit(key.x) | bit(key.y) << 1 | bit(key.level) << 2 | bit(key.texture) << 3
}

impl MicroCache {
    /// An empty one of a cache with that budget.
    pub(super) fn new(budget: u64) -> MicroCache {
        MicroCache {
            tiles: Default::default(),
            bytes: 0,
            most: budget / PART,
        }
    }

    /// The tile, if it is one of the last; it is used at that time.
    pub(super) fn get(&self, key: &TileKey, now: u64) -> Option<&Tile> {
        match &self.tiles[place(key)] {
            Some((of, tile)) if of == key => {
                tile.touch(now);
                Some(tile)
            }
            _ => None,
        }
    }

    /// Adds a tile in place of another, or of all if they have too many bytes with it.
    pub(super) fn insert(&mut self, key: TileKey, tile: Arc<Tile>) {
        let place = place(&key);
        if let Some((_, before)) = self.tiles[place].take() {
            self.bytes -= before.bytes();
        }
        if self.bytes + tile.bytes() > self.most {
            self.clear();
        }
        self.bytes += tile.bytes();
        self.tiles[place] = Some((key, tile));
    }

    /// Drops all tiles.
    pub(super) fn clear(&mut self) {
        self.tiles.fill_with(|| None);
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::TileTexels;

    #[test]
    fn tiles_have_a_part_of_the_budget() {
        let tile = || {
            let texels = TileTexels::constant([0.5; 4]);
            Arc::new(Tile::new(texels, 100, 0, Arc::default()))
        };
        let key = |x: u32, y: u32| TileKey {
            x,
            y,
            ..TileKey::default()
        };
        let corner = [key(0, 0), key(1, 0), key(0, 1), key(1, 1)];
        let kept = |budget: u64| {
            let mut cache = MicroCache::new(budget);
            for key in corner {
                cache.insert(key, tile());
            }
            corner.map(|key| cache.get(&key, 0).is_some())
        };
        assert_eq!(kept(400 * PART), [true; 4]);
        assert_eq!(kept(399 * PART), [false, false, false, true]);
        assert_eq!(kept(0), [false, false, false, true]);
        let mut cache = MicroCache::new(200 * PART);
        for x in (0..20).step_by(2) {
            cache.insert(corner[1], tile());
            cache.insert(key(x, 0), tile());
            assert!(cache.get(&corner[1], 0).is_some());
        }
        assert_eq!(cache.bytes, 200);
    }
}
