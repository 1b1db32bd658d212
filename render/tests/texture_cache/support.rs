//! Textures, caches and requests for tests.

use adumbra_image::{Image, ImageSize, MipPyramid};
use adumbra_render::texture::cache::{CacheSettings, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureRequest};
use adumbra_render::texture::{
    EwaWeights, Filter, Footprint, SampleFormat, TiledOptions, Wrap, write_tiled,
};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// An image of noise, with 1 to 4 channels. One channel is grey in all, and alpha is 1 unless there
/// are four, as in images that were read.
pub(crate) fn noise(width: u32, height: u32, channels: usize, seed: u64) -> Image {
    let size = ImageSize::new(width.into(), height.into()).unwrap();
    let mut rng = fastrand::Rng::with_seed(seed);
    let pixels = (0..size.pixels()).map(|_| match channels {
        1 => {
            let grey = rng.f32();
            [grey, grey, grey, 1.0]
        }
        4 => std::array::from_fn(|_| 2.0 * rng.f32()),
        _ => [rng.f32(), rng.f32(), rng.f32(), 1.0],
    });
    Image::from_pixels(size, channels.max(3), pixels.collect())
}

pub(crate) const UNBOUNDED: u64 = u64::MAX / 2;

/// Tiled textures of several sizes and formats in a folder.
pub(crate) struct Textures {
    _folder: TempDir,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) pyramids: Vec<MipPyramid>,
}

pub(crate) fn textures(count: usize) -> Textures {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut pyramids = Vec::new();
    for index in 0..count {
        let [width, height] = [[256, 256], [200, 144], [300, 65], [64, 190]][index % 4];
        let channels = [4, 3, 1][index % 3];
        let image = noise(width, height, channels, index as u64);
        let options = TiledOptions {
            format: SampleFormat::Float,
            wrap: Wrap::ALL[index % 4],
            ..TiledOptions::default()
        };
        let file = folder.path().join(format!("{index}.exr"));
        write_tiled(image.clone(), &options, File::create(&file).unwrap()).unwrap();
        files.push(file);
        pyramids.push(MipPyramid::new(image));
    }
    Textures {
        _folder: folder,
        files,
        pyramids,
    }
}

pub(crate) fn cache(files: &[PathBuf], budget: u64, policy: MissPolicy) -> Arc<TextureCache> {
    let cache = TextureCache::new(CacheSettings {
        budget,
        policy,
        loader_threads: 4,
        disk_latency: Duration::ZERO,
    });
    for (index, file) in files.iter().enumerate() {
        assert_eq!(cache.add(file, None), index);
    }
    cache
}

/// Requests without order, of all sizes of footprints.
pub(crate) fn scattered(count: usize, textures: usize) -> Vec<TextureRequest> {
    let mut rng = fastrand::Rng::with_seed(24);
    let number = |rng: &mut fastrand::Rng, scale: f32| scale * (2.0 * rng.f32() - 1.0);
    (0..count)
        .map(|_| {
            let scale = 0.5_f32.powi(rng.i32(1..9));
            let rng = &mut rng;
            TextureRequest {
                texture: Some(rng.u32(0..textures as u32)),
                footprint: Footprint {
                    uv: [number(rng, 2.0), number(rng, 2.0)],
                    dx: [number(rng, scale), number(rng, scale)],
                    dy: [number(rng, scale), number(rng, scale)],
                },
                level: rng.bool().then(|| 6.0 * rng.f32()).filter(|_| rng.bool()),
                random: rng.f32(),
                slopes: false,
            }
        })
        .collect()
}

pub(crate) fn bits(colours: &[[f32; 4]]) -> Vec<[u32; 4]> {
    colours.iter().map(|c| c.map(f32::to_bits)).collect()
}

pub(crate) fn ewa() -> LookupSettings {
    LookupSettings {
        filter: Filter::Ewa {
            max_anisotropy: 8,
            weights: EwaWeights::Exact,
        },
        ..LookupSettings::default()
    }
}
