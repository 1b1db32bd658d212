//! Textures on disk that are the same each time.

use crate::Fallible;
use adumbra_image::{Image, ImageSize};
use adumbra_render::texture::{SampleFormat, TiledFile, TiledOptions, Wrap, write_tiled};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The textures of a folder.
#[derive(Debug)]
pub(crate) struct TextureFiles {
    pub(crate) paths: Vec<PathBuf>,
    /// Bytes of all tiles of all levels.
    pub(crate) bytes_in_memory: u64,
    pub(crate) bytes_on_disk: u64,
}

/// Makes grey textures of that side, two at a time: each takes 22 bytes a texel meanwhile.
///
/// A file that is there already stays as it is.
pub(crate) fn make(folder: &Path, count: u32, side: u32) -> Fallible<TextureFiles> {
    let next = AtomicU32::new(0);
    let failure = Mutex::new(None);
    let path = |index: u32| folder.join(format!("panel_{side}_{index:03}.exr"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    if path(index).exists() {
                        continue;
                    }
                    if let Err(error) = write(&path(index), index, side) {
                        let message = format!("{}: {error}", path(index).display());
                        *failure.lock().unwrap_or_else(|lock| lock.into_inner()) = Some(message);
                        return;
                    }
                }
            });
        }
    });
    if let Some(message) = failure.into_inner()? {
        return Err(message.into());
    }
    let mut files = TextureFiles {
        paths: (0..count).map(path).collect(),
        bytes_in_memory: 0,
        bytes_on_disk: 0,
    };
    for path in &files.paths {
        let tiled = TiledFile::open(path)?;
        for level in 0..tiled.levels() {
            let [columns, rows] = tiled.tiles(level);
            let tiles = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
            let bytes = tiles.map(|(x, y)| tiled.tile_bytes(level, x, y) as u64);
            files.bytes_in_memory += bytes.sum::<u64>();
        }
        files.bytes_on_disk += std::fs::metadata(path)?.len();
    }
    Ok(files)
}

fn write(path: &Path, index: u32, side: u32) -> Fallible<()> {
    let size = ImageSize::new(side.into(), side.into())?;
    let texels = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let pixels = texels.map(|(x, y)| {
        let grey = slab(index, side, x, y);
        [grey, grey, grey, 1.0]
    });
    let image = Image::from_pixels(size, 3, pixels.collect());
    let options = TiledOptions {
        format: SampleFormat::Half,
        wrap: Wrap::Repeat,
        ..TiledOptions::default()
    };
    // A file is whole or not there.
    let draft = path.with_extension("part");
    write_tiled(image, &options, File::create(&draft)?)?;
    Ok(std::fs::rename(draft, path)?)
}

/// Slabs of stone with joints and grain. Each texture has its own number of slabs.
fn slab(index: u32, side: u32, x: u32, y: u32) -> f32 {
    let slabs = 4 + index % 5;
    let width = side / slabs;
    let row = y / width;
    // Every other row is shifted by half a slab.
    let shifted = (x + row % 2 * (width / 2)) % side;
    let (column, left, top) = (shifted / width, shifted % width, y % width);
    let joint = (width / 24).max(1);
    let base = match left < joint || top < joint {
        true => 0.1,
        false => 0.35 + 0.4 * fraction(hash(index, column, row)),
    };
    let blotch = fraction(hash(index + 1000, x / 16, y / 16));
    // Sixty-four steps: compression makes grain half as large.
    let grain = (64.0 * fraction(hash(index + 2000, x, y))).floor() / 64.0;
    base + 0.1 * blotch + 0.15 * grain
}

/// A number of [0, 1) by the upper bits of a hash.
fn fraction(hash: u32) -> f32 {
    (hash >> 8) as f32 / (1 << 24) as f32
}

/// The finaliser of MurmurHash3 for 32 bits (Appleby, 2011) over three numbers.
fn hash(a: u32, b: u32, c: u32) -> u32 {
    let mixed = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca77);
    let mut x = mixed.rotate_left(13) ^ c.wrapping_mul(0xc2b2_ae3d);
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}
