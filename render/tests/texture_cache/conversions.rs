//! Conversions of images: exact texels from every source, kept once, never the cost of an image.

use crate::support::noise;
use adumbra_image::{ColorSpace, ImageSize, MipPyramid, PngImage, read_image_as, write_png};
use adumbra_render::texture::cache::{CacheSettings, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost, TextureRequest};
use adumbra_render::texture::{
    Footprint, KeepConversions, SampleFormat, TILE_SIDE, TextureSource, TiledFile, TiledOptions,
    Wrap, convert_to_tiled, lookup, write_tiled,
};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const SIDES: [u32; 2] = [90, 70];

/// A PNG file of colours by a seed.
fn png(seed: u64) -> Vec<u8> {
    let size = ImageSize::new(SIDES[0].into(), SIDES[1].into()).unwrap();
    let mut rng = fastrand::Rng::with_seed(seed);
    let bytes: Vec<u8> = (0..3 * size.pixels()).map(|_| rng.u8(..)).collect();
    let png = PngImage {
        size,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: true,
    };
    let mut out = Vec::new();
    write_png(&png, &mut out).unwrap();
    out
}

/// An image as a file, as a part of another file, and as bytes.
fn sources(folder: &Path) -> [TextureSource; 3] {
    let (bytes, name) = (png(1), "images[0]".to_owned());
    let (file, model) = (folder.join("wood.png"), folder.join("model.glb"));
    fs::write(&file, &bytes).unwrap();
    fs::write(&model, [b"before", &bytes[..], b"after"].concat()).unwrap();
    let part = TextureSource::Part {
        name: name.clone(),
        file: model,
        start: 6,
        length: bytes.len() as u64,
    };
    let bytes = TextureSource::Bytes {
        name,
        bytes: bytes.into(),
    };
    [TextureSource::File(file), part, bytes]
}

fn keeping(folder: &Path) -> Arc<TextureCache> {
    let keep = KeepConversions::Yes {
        folder: Some(folder.to_owned()),
    };
    TextureCache::keeping(CacheSettings::default(), keep)
}

/// Colours of a texture at several places and levels.
fn colours(cache: &Arc<TextureCache>, texture: usize) -> Vec<[f32; 4]> {
    let mut host = TextureHost::new(cache.clone(), LookupSettings::default());
    let requests = requests(texture as u32);
    requests
        .map(|request| host.answer_now(&request).numbers)
        .collect()
}

fn requests(texture: u32) -> impl Iterator<Item = TextureRequest> {
    let mut rng = fastrand::Rng::with_seed(9);
    (0..200).map(move |_| TextureRequest {
        texture: Some(texture),
        footprint: Footprint {
            uv: [rng.f32(), rng.f32()],
            dx: [0.2 * rng.f32() * rng.f32(), 0.0],
            dy: [0.0, 0.01],
        },
        level: None,
        random: 0.5,
        slopes: false,
    })
}

/// The same of the whole image in memory.
fn expected(path: &Path, space: ColorSpace) -> Vec<[f32; 4]> {
    let mut pyramid = &MipPyramid::new(read_image_as(path, space).unwrap());
    let settings = LookupSettings::default();
    let colour = |request: TextureRequest| {
        let (rule, filter) = (settings.rule, settings.filter);
        lookup(
            &mut pyramid,
            rule,
            filter,
            Wrap::Repeat,
            &request.footprint,
            0.0,
            0.5,
        )
        .unwrap()
    };
    requests(0).map(colour).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let name = |file: std::io::Result<fs::DirEntry>| file.unwrap().file_name().into_string();
    let mut names: Vec<String> = files.map(|file| name(file).unwrap()).collect();
    names.sort();
    names
}

#[test]
fn images_of_every_source_are_converted_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wood.png");
    for keeps in [false, true] {
        let cache = match keeps {
            true => keeping(&folder.path().join("cache")),
            false => TextureCache::new(CacheSettings::default()),
        };
        for source in sources(folder.path()) {
            for space in ColorSpace::ALL {
                let texture = cache.add_source(&source, space, None);
                assert_eq!(cache.diagnostics(), []);
                assert_eq!(cache.size(texture), Some(SIDES));
                assert_eq!(
                    colours(&cache, texture),
                    expected(&path, space),
                    "{source:?}"
                );
            }
        }
        assert_eq!(cache.conversion_warning(), None);
    }
}

#[test]
fn data_maps_are_exact_and_keep_their_channels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heights.png");
    for (color, channels) in [
        (png::ColorType::Grayscale, 1),
        (png::ColorType::GrayscaleAlpha, 2),
        (png::ColorType::Rgb, 3),
        (png::ColorType::Rgba, 4),
    ] {
        let mut encoder = png::Encoder::new(File::create(&path).unwrap(), 16, 16);
        encoder.set_color(color);
        let mut writer = encoder.write_header().unwrap();
        let bytes: Vec<u8> = (0..256 * channels).map(|at| (at * 7 % 256) as u8).collect();
        writer.write_image_data(&bytes).unwrap();
        writer.finish().unwrap();
        let options = TiledOptions {
            color_space: ColorSpace::Linear,
            ..TiledOptions::default()
        };
        let target = folder.path().join("heights.exr");
        let tiled = convert_to_tiled(&path, &target, &options).unwrap();
        assert_eq!(tiled.tile_bytes(0, 0, 0), 256 * 4 * channels);
        let (texels, _) = tiled
            .read_tile(&mut File::open(&target).unwrap(), 0, 0, 0)
            .unwrap();
        for at in 0..256 {
            let byte = |channel: usize| f32::from(bytes[at * channels + channel]) / 255.0;
            let expected = match channels {
                1 => [byte(0), byte(0), byte(0), 1.0],
                2 => [byte(0), byte(0), byte(0), byte(1)],
                3 => [byte(0), byte(1), byte(2), 1.0],
                _ => [byte(0), byte(1), byte(2), byte(3)],
            };
            assert_eq!(texels.texel(at as u32 % 16, at as u32 / 16), expected);
        }
    }
}

#[test]
fn half_floats_stay_half_floats() {
    let folder = tempfile::tempdir().unwrap();
    let [source, target] = ["a.exr", "b.exr"].map(|name| folder.path().join(name));
    let options = TiledOptions {
        format: SampleFormat::Half,
        ..TiledOptions::default()
    };
    let image = noise(TILE_SIDE, TILE_SIDE, 3, 4);
    write_tiled(image, &options, File::create(&source).unwrap()).unwrap();
    let halves = convert_to_tiled(&source, &target, &TiledOptions::default()).unwrap();
    let texels = (TILE_SIDE * TILE_SIDE) as usize;
    assert_eq!(halves.tile_bytes(0, 0, 0), 6 * texels);
    let mut files = [&source, &target].map(|path| File::open(path).unwrap());
    let tile = |file: &mut File, of: &TiledFile| of.read_tile(file, 0, 0, 0).unwrap().0;
    let original = TiledFile::open(&source).unwrap();
    assert_eq!(tile(&mut files[1], &halves), tile(&mut files[0], &original));
}

/// A folder with an image and a cache folder that is not there yet.
fn kept() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("images");
    fs::create_dir(&images).unwrap();
    let cache = folder.path().join("user/cache");
    (folder, images, cache)
}

#[test]
fn conversions_are_kept_until_images_change() {
    let (_folder, images, folder) = kept();
    let [file, part, bytes] = sources(&images);
    let add = |source: &TextureSource| {
        let cache = keeping(&folder);
        let texture = cache.add_source(source, ColorSpace::Linear, None);
        assert_eq!(cache.conversion_warning(), None);
        colours(&cache, texture)
    };
    let first = add(&file);
    let kept = images.join("wood.png.adumbra-linear.exr");
    assert_eq!(
        names(&images),
        ["model.glb", "wood.png", "wood.png.adumbra-linear.exr"]
    );
    // The next time it is used as it is.
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    assert_eq!(add(&file), first);
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), written);
    // Another image under the name, or a conversion that is damaged, is converted again.
    fs::write(images.join("wood.png"), png(2)).unwrap();
    let second = add(&file);
    assert_ne!(second, first);
    fs::write(&kept, b"no texture").unwrap();
    assert_eq!(add(&file), second);
    assert!(!folder.exists());
    // Images inside other files are in the folder, by contents.
    assert_eq!(add(&part), first);
    let in_folder = names(&folder);
    assert_eq!(in_folder.len(), 1);
    assert_eq!(add(&bytes), first);
    assert_eq!(names(&folder), in_folder);
}

#[test]
fn conversions_that_cannot_be_kept_cost_a_warning() {
    let (_folder, images, folder) = kept();
    let [file, part, _] = sources(&images);
    let expected = expected(&images.join("wood.png"), ColorSpace::Srgb);
    let check = |source: &TextureSource, warning: Option<&str>| {
        let cache = keeping(&folder);
        let texture = cache.add_source(source, ColorSpace::Srgb, None);
        assert_eq!(cache.diagnostics(), []);
        assert_eq!(colours(&cache, texture), expected);
        let found = cache.conversion_warning();
        assert_eq!(found.is_some(), warning.is_some(), "{found:?}");
        assert!(warning.is_none_or(|part| found.unwrap().contains(part)));
    };
    // A folder of that name cannot be replaced by the conversion.
    fs::create_dir(images.join("wood.png.adumbra-srgb.exr")).unwrap();
    check(&file, None);
    assert_eq!(names(&folder).len(), 1);
    // Neither can a file be the cache folder.
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "a file").unwrap();
    check(&file, Some("not kept"));
    check(&part, Some("not kept"));
    // Nothing is left of what could not be kept.
    let left = ["model.glb", "wood.png", "wood.png.adumbra-srgb.exr"];
    assert_eq!(names(&images), left);
}

#[test]
fn images_in_files_that_change_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [_, part, _] = sources(folder.path());
    fs::write(folder.path().join("model.glb"), "short").unwrap();
    let cache = keeping(&folder.path().join("cache"));
    let texture = cache.add_source(&part, ColorSpace::Srgb, None);
    let diagnostics = cache.diagnostics();
    assert_eq!(diagnostics[0].texture, texture);
    assert!(
        diagnostics[0].message.starts_with("images[0]: "),
        "{}",
        diagnostics[0].message
    );
}
