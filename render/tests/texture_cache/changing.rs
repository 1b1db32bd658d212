//! Files that change while they are drawn, that many materials share, and many files.

use crate::support::{UNBOUNDED, cache, noise};
use adumbra_render::texture::cache::{CacheSettings, ERROR_COLOUR, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureRequest};
use adumbra_render::texture::replay::replay;
use adumbra_render::texture::{Filter, Footprint, SampleFormat, TiledOptions, Wrap, write_tiled};
use std::fs::{self, File};
use std::io::Cursor;
use std::sync::Arc;

/// A tiled texture, in memory.
fn tiled(side: u32, channels: usize, seed: u64) -> Vec<u8> {
    let options = TiledOptions {
        format: SampleFormat::Float,
        ..TiledOptions::default()
    };
    let mut bytes = Cursor::new(Vec::new());
    write_tiled(noise(side, side, channels, seed), &options, &mut bytes).unwrap();
    bytes.into_inner()
}

/// The nearest texel of the finest level of each texture at these coordinates.
fn texels(cache: &Arc<TextureCache>, at: &[(u32, [f32; 2])]) -> Vec<[f32; 4]> {
    let requests = at.iter().map(|&(texture, uv)| TextureRequest {
        texture: Some(texture),
        footprint: Footprint {
            uv,
            ..Footprint::default()
        },
        level: None,
        random: 0.5,
        slopes: false,
    });
    let nearest = LookupSettings {
        filter: Filter::Nearest,
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let requests: Vec<TextureRequest> = requests.collect();
    replay(cache, &requests, &nearest, 1).colours
}

/// The middles of the 16 tiles of a texture of 256×256 texels, row by row.
fn tiles() -> Vec<(u32, [f32; 2])> {
    let middle = |at: u32| (at as f32 + 0.5) / 4.0;
    let tiles = (0..16).map(|tile| (0, [middle(tile % 4), middle(tile / 4)]));
    tiles.collect()
}

#[test]
fn files_that_shrink_while_drawn_give_colours_and_a_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    let good = tiled(256, 3, 1);
    for policy in [MissPolicy::Park, MissPolicy::Block] {
        fs::write(&path, &good).unwrap();
        // No tile stays, so each is read again.
        let cache = cache(std::slice::from_ref(&path), 1, policy);
        let before = texels(&cache, &tiles());
        assert!(!before.contains(&ERROR_COLOUR));
        assert_eq!(cache.diagnostics(), []);
        // The last tile that was read may stay; now that is the first, unless a loader was late.
        texels(&cache, &tiles()[..1]);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(good.len() as u64 / 3).unwrap();
        drop(file);
        let after = texels(&cache, &tiles());
        // The first tiles are where they were, and the others are not there.
        assert_eq!(after[0], before[0], "{policy:?}");
        let is_gone = |colour: &&[f32; 4]| **colour == ERROR_COLOUR;
        assert!(after[8..].iter().filter(is_gone).count() >= 7, "{policy:?}");
        for (after, before) in after.iter().zip(&before) {
            assert!(after == before || *after == ERROR_COLOUR, "{policy:?}");
        }
        let diagnostics = cache.diagnostics();
        assert_eq!(diagnostics.len(), 1);
        let message = &diagnostics[0].message;
        assert!(message.contains("t.exr: tile ") && message.contains("the file ends early"));
    }
}

#[cfg(unix)]
#[test]
fn files_that_vanish_while_drawn_give_colours_and_a_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    fs::write(&path, tiled(256, 3, 1)).unwrap();
    for policy in [MissPolicy::Park, MissPolicy::Block] {
        let other = folder.path().join("other.exr");
        fs::copy(&path, &other).unwrap();
        let cache = cache(std::slice::from_ref(&other), 1, policy);
        let before = match policy {
            // A loader thread that has the file open would read on.
            MissPolicy::Park => Vec::new(),
            MissPolicy::Block => texels(&cache, &tiles()),
        };
        assert!(!before.contains(&ERROR_COLOUR));
        fs::remove_file(&other).unwrap();
        let after = texels(&cache, &tiles());
        assert!(after.iter().all(|colour| *colour == ERROR_COLOUR));
        let diagnostics = cache.diagnostics();
        assert_eq!(diagnostics.len(), 1, "{policy:?}");
        assert!(diagnostics[0].message.contains("other.exr"));
    }
}

#[test]
fn textures_of_one_file_share_its_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    fs::write(&path, tiled(256, 4, 1)).unwrap();
    let cache = TextureCache::new(CacheSettings::default());
    let other_way = folder.path().join(".").join("t.exr");
    let black = cache.add(&path, Some(Wrap::Black.into()));
    let repeat = cache.add(&other_way, None);
    assert_eq!((black, repeat, cache.len()), (0, 1, 2));
    assert_eq!(cache.wrap(0), Some(Wrap::Black.into()));
    assert_eq!(cache.wrap(1), Some(Wrap::Repeat.into()));
    assert_eq!((cache.size(1), cache.levels(1)), (Some([256; 2]), Some(9)));
    let of = |texture: u32| tiles().into_iter().map(move |(_, uv)| (texture, uv));
    let first = texels(&cache, &of(0).collect::<Vec<_>>());
    let read = cache.statistics();
    assert_eq!((read.tiles_read, read.unique_tiles), (16, 16));
    assert_eq!(texels(&cache, &of(1).collect::<Vec<_>>()), first);
    assert_eq!(cache.statistics().tiles_read, 16);
    // Each keeps its own wrap mode.
    let beyond = texels(&cache, &[(0, [1.125, 0.125]), (1, [1.125, 0.125])]);
    assert_eq!(beyond, [[0.0; 4], first[0]]);

    // A file that cannot be read is reported once.
    for _ in 0..3 {
        cache.add(&folder.path().join("missing.exr"), None);
    }
    let indices: Vec<usize> = cache.diagnostics().iter().map(|d| d.texture).collect();
    assert_eq!(indices, [2]);
    assert_eq!(texels(&cache, &[(4, [0.5; 2])]), [ERROR_COLOUR]);
}

#[test]
fn ten_thousand_textures_are_read() {
    const COUNT: u32 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let kinds: Vec<Vec<u8>> = (0..7).map(|kind| tiled(4, 3, kind)).collect();
    let expected: Vec<[f32; 4]> = (0..7)
        .map(|kind| noise(4, 4, 3, kind).pixels()[0])
        .collect();
    let files = (0..COUNT).map(|index| {
        let path = folder.path().join(format!("{index}.exr"));
        fs::write(&path, &kinds[index as usize % 7]).unwrap();
        path
    });
    let files: Vec<_> = files.collect();
    // Files are opened and closed as they are needed: systems allow few at once.
    for (policy, budget) in [(MissPolicy::Park, UNBOUNDED), (MissPolicy::Block, 1 << 16)] {
        let cache = cache(&files, budget, policy);
        let at: Vec<_> = (0..COUNT).map(|index| (index, [0.1, 0.1])).collect();
        let colours = texels(&cache, &at);
        assert_eq!(cache.diagnostics(), []);
        for (index, colour) in colours.iter().enumerate() {
            assert_eq!(*colour, expected[index % 7], "{policy:?} {index}");
        }
        let statistics = cache.statistics();
        assert_eq!(statistics.unique_tiles, u64::from(COUNT));
        assert!(statistics.peak_bytes <= budget);
    }
}
