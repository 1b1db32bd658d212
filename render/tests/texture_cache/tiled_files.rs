//! Tiled textures on disk: every texel comes back; hostile files are an error, never a panic.

use crate::support::noise;
use adumbra_image::{ImageSize, MipPyramid, PngImage, write_png};
use adumbra_render::texture::{
    MAX_TILE_SIDE, SampleFormat, TILE_SIDE, TiledFile, TiledOptions, Wrap, convert_to_tiled,
    level_cards, write_tiled, write_tiled_levels,
};
use exr::prelude::f16;
use std::fs::{self, File};
use std::io::Cursor;
use std::path::Path;

fn options(format: SampleFormat) -> TiledOptions {
    TiledOptions {
        format,
        ..TiledOptions::default()
    }
}

fn tiled(width: u32, height: u32, channels: usize, format: SampleFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = noise(width, height, channels, u64::from(width));
    write_tiled(image, &options(format), &mut bytes).unwrap();
    bytes.into_inner()
}

/// Reads all tiles of a file; the number of errors.
fn read_all(path: &Path) -> Option<usize> {
    let tiled = TiledFile::open(path).ok()?;
    let mut file = File::open(path).unwrap();
    let mut errors = 0;
    for level in 0..tiled.levels() {
        let [columns, rows] = tiled.tiles(level);
        for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
            errors += usize::from(tiled.read_tile(&mut file, level, x, y).is_err());
        }
    }
    Some(errors)
}

#[test]
fn levels_of_ones_own_come_back() {
    let cards = level_cards(2 * TILE_SIDE).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    write_tiled_levels(&cards, &options(SampleFormat::Float), file.as_file()).unwrap();
    let tiled = TiledFile::open(file.path()).unwrap();
    assert_eq!(tiled.levels() as usize, cards.levels().len());
    for (level, image) in (0..).zip(cards.levels()) {
        let (tile, _) = (tiled.read_tile(&mut file.reopen().unwrap(), level, 0, 0)).unwrap();
        let side = image.size().width();
        for (x, y) in
            (0..side.min(TILE_SIDE)).flat_map(|y| (0..side.min(TILE_SIDE)).map(move |x| (x, y)))
        {
            assert_eq!(
                tile.texel(x, y),
                image.pixels()[(y * side + x) as usize],
                "{level}"
            );
        }
    }
}

#[test]
fn texels_of_all_levels_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [
        [1, 1],
        [1, 100],
        [300, 1],
        [64, 64],
        [65, 64],
        [63, 129],
        [200, 3],
        [257, 131],
    ];
    for [width, height] in sizes {
        for channels in [1, 3, 4] {
            for format in [SampleFormat::Half, SampleFormat::Float] {
                let path = folder.path().join("t.exr");
                fs::write(&path, tiled(width, height, channels, format)).unwrap();
                let pyramid = MipPyramid::new(noise(width, height, channels, u64::from(width)));
                let tiled = TiledFile::open(&path).unwrap();
                assert_eq!(tiled.levels() as usize, pyramid.levels().len());
                let mut file = File::open(&path).unwrap();
                let mut tiles = 0;
                for (level, image) in pyramid.levels().iter().enumerate() {
                    let level = level as u32;
                    let size = [image.size().width(), image.size().height()];
                    assert_eq!(tiled.size(level), size);
                    for y in 0..size[1] {
                        let tile_y = y / TILE_SIDE;
                        for tile_x in 0..tiled.tiles(level)[0] {
                            if y % TILE_SIDE != 0 {
                                continue;
                            }
                            tiles += 1;
                            let read = tiled.read_tile(&mut file, level, tile_x, tile_y);
                            let (texels, _) = read.unwrap();
                            let bytes = tiled.tile_bytes(level, tile_x, tile_y);
                            assert_eq!(texels.bytes(), bytes);
                            let [columns, rows] = tiled.size_of_tile(level, tile_x, tile_y);
                            for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)))
                            {
                                let (left, top) = (tile_x * TILE_SIDE, tile_y * TILE_SIDE);
                                let at = (top + y) * size[0] + left + x;
                                let expected = image.pixels()[at as usize].map(|c| match format {
                                    SampleFormat::Half => f16::from_f32(c).to_f32(),
                                    _ => c,
                                });
                                let texel = texels.texel(x, y);
                                assert_eq!(texel.map(f32::to_bits), expected.map(f32::to_bits));
                            }
                        }
                    }
                }
                assert_eq!(tiles, tiled.tile_count());
            }
        }
    }
}

#[test]
fn grey_takes_one_channel_and_half_floats_two_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    let texels = (TILE_SIDE * TILE_SIDE) as usize;
    for (channels, format, bytes) in [
        (1, SampleFormat::Half, 2),
        (1, SampleFormat::Float, 4),
        (3, SampleFormat::Half, 6),
        (4, SampleFormat::Float, 16),
    ] {
        fs::write(&path, tiled(100, 100, channels, format)).unwrap();
        let tiled = TiledFile::open(&path).unwrap();
        assert_eq!(tiled.tile_bytes(0, 0, 0), bytes * texels);
        assert_eq!(tiled.size_of_tile(0, 1, 0), [36, 64]);
        assert_eq!(
            (tiled.tile_index(0, 2, 0), tiled.tile_index(1, 0, 0)),
            (None, Some(4))
        );
        assert_eq!(tiled.tile_index(7, 0, 0), None);
    }
}

#[test]
fn large_numbers_stay_finite_in_half_floats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    let mut image = noise(2, 1, 3, 1);
    image.pixels_mut()[0] = [1e9, -1e9, f32::INFINITY, 1.0];
    write_tiled(
        image,
        &options(SampleFormat::Half),
        File::create(&path).unwrap(),
    )
    .unwrap();
    let tiled = TiledFile::open(&path).unwrap();
    let read = tiled.read_tile(&mut File::open(&path).unwrap(), 0, 0, 0);
    assert_eq!(
        read.unwrap().0.texel(0, 0),
        [65504.0, -65504.0, f32::INFINITY, 1.0]
    );
}

#[test]
fn images_are_converted_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let size = ImageSize::new(3, 1).unwrap();
    let png = PngImage {
        size,
        bytes: &[255, 0, 0, 0, 255, 0, 0, 0, 255],
        has_alpha: false,
        is_srgb: true,
    };
    write_png(&png, File::create(path("colours ü €.png")).unwrap()).unwrap();
    for wrap in Wrap::ALL {
        let options = TiledOptions {
            wrap,
            ..TiledOptions::default()
        };
        let tiled = convert_to_tiled(&path("colours ü €.png"), &path("t.exr"), &options).unwrap();
        assert_eq!((tiled.wrap(), tiled.size(0)), (Some(wrap.into()), [3, 1]));
        let (texels, _) = tiled
            .read_tile(&mut File::open(path("t.exr")).unwrap(), 0, 0, 0)
            .unwrap();
        assert_eq!(texels.texel(1, 0), [0.0, 1.0, 0.0, 1.0]);
    }
    let first = fs::read(path("t.exr")).unwrap();
    // The name is in the header, in Latin-1.
    let name = b"colours \xfc ?.png";
    assert!(first.windows(name.len()).any(|bytes| bytes == name));
    // The same source gives the same bytes.
    let options = TiledOptions {
        wrap: Wrap::Black,
        ..TiledOptions::default()
    };
    convert_to_tiled(&path("colours ü €.png"), &path("again.exr"), &options).unwrap();
    assert!(fs::read(path("again.exr")).unwrap() == first);

    fs::write(path("bad.png"), "no image").unwrap();
    for source in ["bad.png", "missing.png"] {
        let error = convert_to_tiled(&path(source), &path("t.exr"), &options).unwrap_err();
        assert_eq!(error.path(), path(source));
    }
    assert!(fs::read(path("t.exr")).unwrap() == first);
    let error = convert_to_tiled(&path("colours ü €.png"), &path("no/t.exr"), &options);
    assert!(error.unwrap_err().to_string().contains("t.exr"));
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.drain(..).count(), 4);
}

#[test]
fn hostile_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.exr");
    let good = tiled(70, 5, 3, SampleFormat::Half);
    fs::write(&path, &good).unwrap();
    assert_eq!(read_all(&path), Some(0));
    // Each prefix is refused as a whole or has tiles that cannot be read.
    for end in (0..good.len()).step_by(3) {
        fs::write(&path, &good[..end]).unwrap();
        assert_ne!(read_all(&path), Some(0), "{end}");
    }
    // Any byte may be wrong; tiles are read or not.
    for at in 0..good.len().min(1500) {
        for flip in [0xff, 0x01] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            fs::write(&path, &bytes).unwrap();
            read_all(&path);
        }
    }
    // The length of the first chunk is after its coordinates, which are zero, and ends their run.
    let zeros = good.windows(16).position(|bytes| *bytes == [0; 16]);
    let zeros = zeros.unwrap();
    let run = good[zeros..].iter().position(|byte| *byte != 0);
    let lengths = zeros + run.unwrap();
    for length in [0, -1, 64 * 5 * 6 + 1, i32::MAX] {
        let mut bytes = good.clone();
        bytes[lengths..lengths + 4].copy_from_slice(&length.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let tiled = TiledFile::open(&path).unwrap();
        let error = tiled
            .read_tile(&mut File::open(&path).unwrap(), 0, 0, 0)
            .unwrap_err();
        let expected = "t.exr: tile 0, 0 of level 0: its length is impossible";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    // The data window and the size of tiles, as large as they can be.
    let place = |name: &[u8]| {
        good.windows(name.len())
            .position(|bytes| bytes == name)
            .unwrap()
    };
    let window = place(b"dataWindow\0box2i\0") + 17 + 4 + 8;
    let tile = place(b"tiles\0tiledesc\0") + 15 + 4;
    for side in [0_i32, -1, 1 << 16, (1 << 16) + 1, i32::MAX - 1, i32::MAX] {
        for both in [false, true] {
            let mut bytes = good.clone();
            bytes[window..window + 4].copy_from_slice(&side.to_le_bytes());
            if both {
                bytes[window + 4..window + 8].copy_from_slice(&side.to_le_bytes());
            }
            fs::write(&path, &bytes).unwrap();
            assert_ne!(read_all(&path), Some(0), "window {side} {both}");
        }
    }
    for side in [0, 1, MAX_TILE_SIDE + 1, 1 << 31, u32::MAX] {
        let mut bytes = good.clone();
        bytes[tile..tile + 4].copy_from_slice(&side.to_le_bytes());
        bytes[tile + 4..tile + 8].copy_from_slice(&side.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        assert_ne!(read_all(&path), Some(0), "tile {side}");
    }
}
