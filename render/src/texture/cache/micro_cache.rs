//! The last tiles of a thread, which it reads without a lock.

use super::tile::{Tile, TileKey};
use std::sync::Arc;

/// Number of tiles: two textures, two levels, and four tiles that meet in a corner.
const TILES: usize = 16;

/// The last tiles of a thread. They are in use as long as they are here: the cache keeps them.
#[derive(Debug, Default)]
pub(super) struct MicroCache {
    tiles: [Option<(TileKey, Arc<Tile>)>; TILES],
}

/// The place of a tile. Neighbours, adjacent levels and textures have different ones.
fn place(key: &TileKey) -> usize {
    let bit = |number: u32| (number & 1) as usize;
    bit(key.x) | bit(key.y) << 1 | bit(key.level) << 2 | bit(key.texture) << 3
}

impl MicroCache {
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

    /// Adds a tile in place of another.
    pub(super) fn insert(&mut self, key: TileKey, tile: Arc<Tile>) {
        self.tiles[place(&key)] = Some((key, tile));
    }

    /// Drops all tiles.
    pub(super) fn clear(&mut self) {
        self.tiles.fill_with(|| None);
    }
}
