//! Damaged texture files of every kind: a colour and a diagnostic, never a panic, and no more
//! memory than a sound file of that size could ask for.
//!
//! It is a test by itself since it watches the memory of its process.

use adumbra_image::{Image, ImageSize, PngImage, write_exr, write_png};
use adumbra_render::texture::cache::{CacheSettings, ERROR_COLOUR, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureRequest};
use adumbra_render::texture::replay::replay;
use adumbra_render::texture::{Footprint, SampleFormat, TiledOptions, write_tiled};
use fastrand::Rng;
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// Mutations of each file.
const MUTATIONS: usize = 400;

fn noise(width: u32, height: u32) -> Image {
    let mut rng = Rng::with_seed(3);
    let size = ImageSize::new(width.into(), height.into()).unwrap();
    let pixels = (0..size.pixels()).map(|_| [rng.f32(), rng.f32(), rng.f32(), 1.0]);
    Image::from_pixels(size, 3, pixels.collect())
}

/// Sound files of each kind, small enough that headers are a good part of them.
fn sound_files() -> Vec<(&'static str, Vec<u8>)> {
    let file_of = |write: &dyn Fn(&mut Cursor<Vec<u8>>)| {
        let mut bytes = Cursor::new(Vec::new());
        write(&mut bytes);
        bytes.into_inner()
    };
    let tiled = |format| {
        file_of(&|out| {
            let options = TiledOptions {
                format,
                ..TiledOptions::default()
            };
            write_tiled(noise(70, 9), &options, out).unwrap();
        })
    };
    let png = PngImage {
        size: ImageSize::new(9, 5).unwrap(),
        bytes: &[77; 9 * 5 * 3],
        has_alpha: false,
        is_srgb: true,
    };
    vec![
        ("half.exr", tiled(SampleFormat::Half)),
        ("float.exr", tiled(SampleFormat::Float)),
        (
            "lines.exr",
            file_of(&|out| write_exr(&noise(20, 9), 1, out).unwrap()),
        ),
        ("colours.png", file_of(&|out| write_png(&png, out).unwrap())),
    ]
}

/// Looks the file up in several places and levels; whether all is well.
fn is_drawn(path: &Path) -> bool {
    let cache = TextureCache::new(CacheSettings {
        policy: MissPolicy::Block,
        ..CacheSettings::default()
    });
    cache.add(path, None);
    let mut rng = Rng::with_seed(5);
    let requests = (0..24).map(|index| TextureRequest {
        texture: Some(0),
        footprint: Footprint {
            uv: [rng.f32(), rng.f32()],
            ..Footprint::default()
        },
        level: Some((index % 8) as f32),
        random: 0.5,
        slopes: false,
    });
    let requests: Vec<TextureRequest> = requests.collect();
    let report = replay(&cache, &requests, &LookupSettings::default(), 1);
    let has_failed = report.colours.contains(&ERROR_COLOUR);
    // What is wrong is said, and nothing else is.
    if has_failed {
        assert_eq!(report.diagnostics.len(), 1, "{}", path.display());
        assert!(!report.diagnostics[0].message.is_empty());
    }
    !has_failed
}

/// Damages bytes as files are damaged: single ones, numbers, runs, and ends.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..rng.usize(1..4) {
        // Headers come first, and are read most.
        let most = match rng.bool() {
            true => bytes.len(),
            false => bytes.len().min(700),
        };
        let at = rng.usize(0..most);
        match rng.u8(0..6) {
            0 => bytes[at] ^= 1 << rng.u8(0..8),
            1 => bytes[at] = rng.u8(..),
            2 | 3 => {
                let number = [0, 1, -1, i32::MAX, i32::MIN, 1 << 16, 1 << 24, rng.i32(..)];
                let number = number[rng.usize(0..8)].to_le_bytes();
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            4 => {
                let end = bytes.len().min(at + rng.usize(1..40));
                bytes[at..end].fill(rng.u8(..));
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
}

/// The most address space that the process has had, where the system says it.
fn address_space() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmPeak:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

#[test]
fn damaged_files_are_drawn_or_reported_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let files = sound_files();
    for (name, bytes) in &files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert!(is_drawn(&path), "{name}");
    }
    let before = address_space();
    let mut rng = Rng::with_seed(24);
    for (name, bytes) in &files {
        let path = folder.path().join(name);
        let mut failed = 0;
        for _ in 0..MUTATIONS {
            let mut damaged = bytes.clone();
            mutate(&mut damaged, &mut rng);
            fs::write(&path, &damaged).unwrap();
            failed += usize::from(!is_drawn(&path));
        }
        assert!(failed > MUTATIONS / 4, "{name}: {failed}");
    }
    // The ways in which levels may be kept: one, mip or ripmap levels, rounded down or up.
    let (name, bytes) = &files[0];
    let path = folder.path().join(name);
    let tiles = b"tiles\0tiledesc\0";
    let at = bytes.windows(tiles.len()).position(|run| run == tiles);
    let mode = at.unwrap() + tiles.len() + 4 + 8;
    assert_eq!(bytes[mode], 0x01, "mip levels, rounded down");
    for other in [0x00, 0x02, 0x03, 0x10, 0x11, 0x12, 0x21, 0xff] {
        let mut changed = bytes.clone();
        changed[mode] = other;
        fs::write(&path, &changed).unwrap();
        is_drawn(&path);
    }
    if let (Some(before), Some(after)) = (before, address_space()) {
        // The largest sound texture's table of tiles takes 16 MB.
        assert!(after - before < 512 << 20, "{before} {after}");
    }
}
