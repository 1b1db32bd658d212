//! Which tiles stay in memory.

use crate::support::{cache, noise};
use adumbra_render::texture::cache::{MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost, TextureRequest};
use adumbra_render::texture::{Filter, Footprint, SampleFormat, TiledOptions, write_tiled};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A texture of one row of tiles, each of 64 KiB.
fn row(folder: &Path, tiles: u32) -> PathBuf {
    let file = folder.join("t.exr");
    let options = TiledOptions {
        format: SampleFormat::Float,
        ..TiledOptions::default()
    };
    let image = noise(64 * tiles, 64, 4, 1);
    write_tiled(image, &options, File::create(&file).unwrap()).unwrap();
    file
}

fn nearest_host(cache: &Arc<TextureCache>) -> TextureHost {
    let settings = LookupSettings {
        filter: Filter::Nearest,
        ignores_partials: true,
        ..LookupSettings::default()
    };
    TextureHost::new(cache.clone(), settings)
}

/// Reads a texel of a tile of a row.
fn read(host: &mut TextureHost, tile: usize, tiles: usize) {
    let request = TextureRequest {
        texture: Some(0),
        footprint: Footprint {
            uv: [(tile as f32 + 0.5) / tiles as f32, 0.5],
            ..Footprint::default()
        },
        level: None,
        random: 0.0,
        slopes: false,
    };
    host.request(0, request).unwrap();
    // Without its last tiles the thread asks the cache each time.
    host.flush();
}

#[test]
fn used_tiles_stay_in_memory() {
    // One texture of a tile is used between all others: it is never the one unused for longest.
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(
        &[row(folder.path(), 40)],
        20 * (65 << 10),
        MissPolicy::Block,
    );
    let mut host = nearest_host(&cache);
    let mut read = |tile: usize| read(&mut host, tile, 40);
    for tile in 1..40 {
        read(0);
        read(tile);
    }
    read(0);
    let statistics = cache.statistics();
    assert_eq!(
        (
            statistics.tiles_read,
            statistics.unique_tiles,
            statistics.misses
        ),
        (40, 40, 40)
    );
    assert_eq!(statistics.hits + statistics.misses, 79);
    assert!(statistics.evictions >= 20 && statistics.over_budget == 0);
    // What was dropped is read again, and that counts: 20 tiles of 39 are in memory.
    let before = statistics.redundant_reads();
    (1..40).for_each(&mut read);
    assert!(cache.statistics().redundant_reads() >= before + 19);
}

#[test]
fn tiles_of_a_loop_larger_than_the_budget_stay_in_part() {
    // Each tile would go shortly before it is read again if the one unused for longest went.
    let folder = tempfile::tempdir().unwrap();
    let budget = 150 * (65 << 10);
    let cache = cache(&[row(folder.path(), 200)], budget, MissPolicy::Block);
    let mut host = nearest_host(&cache);
    let mut round = || {
        let before = cache.statistics().tiles_read;
        (0..200).for_each(|tile| read(&mut host, tile, 200));
        cache.statistics().tiles_read - before
    };
    assert_eq!(round(), 200);
    // Until a sample has shown which rule is better.
    (0..4).for_each(|_| {
        round();
    });
    let reads: Vec<u64> = (0..4).map(|_| round()).collect();
    // 50 have to be read in each round at least.
    assert!(reads.iter().all(|reads| *reads < 130), "{reads:?}");
    assert!(cache.statistics().peak_bytes <= budget);
}
