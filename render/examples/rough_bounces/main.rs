//! Derivatives after rough bounces: widened to the lobe, as after a mirror, or from the camera.
//!
//! The camera sees three upright metal plates of growing roughness, and in them a floor with a fine
//! texture. Only the plates are seen directly, so every lookup comes after a rough bounce. Each way
//! of going on ([`Differentials`]) is drawn with the same samples, and compared with an image of
//! 1,024 samples that looks up the finest level alone.
//!
//! The widening is that of Blender's Cycles; derivatives from the camera are those of pbrt-v4
//! (Pharr, Jakob, Humphreys, "Physically Based Rendering", 4th edition, §10.1.2).
//!
//! `cargo run --release -p adumbra-render --example rough_bounces -- OUT_DIR [REFERENCE_SPP]`

use adumbra_image::{
    Image, ImageSize, PngImage, save_atomically, srgb, to_byte, write_exr, write_png,
};
use adumbra_render::differential::Differentials;
use adumbra_render::scene::{Scene, SceneLoader};
use adumbra_render::scene_image::{ImageSettings, SceneImage, draw_scene};
use adumbra_render::texture::cache::CacheSettings;
use adumbra_render::texture::host::LookupSettings;
use adumbra_render::texture::{SampleFormat, TiledOptions, convert_to_tiled};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Samples of each compared image.
const SAMPLES: u32 = 16;
/// The side of the texture.
const TEXELS: u32 = 4096;

const SCENE: &str = r#"{
    "image": { "width": 192, "height": 108 },
    "camera": { "perspective": { "from": [0, 1.2, 3], "to": [0, 1.05, 0], "fov": 34 } },
    "meshes": { "floor": { "plane": {} }, "plate": { "quad": {} } },
    "textures": { "grain": { "file": "grain.exr" } },
    "materials": {
        "floor": { "shader": { "file": "floor.adu" } },
        "smooth": { "standard": { "metallic": 1, "base-color": [1, 1, 1], "roughness": 0.15 } },
        "rough": { "standard": { "metallic": 1, "base-color": [1, 1, 1], "roughness": 0.35 } },
        "rougher": { "standard": { "metallic": 1, "base-color": [1, 1, 1], "roughness": 0.6 } }
    },
    "instances": [
        { "mesh": "floor", "material": "floor", "transform": [{ "scale": [40, 1, 40] }] },
        { "mesh": "plate", "material": "smooth", "transform": [
            { "scale": [2, 4, 1] }, { "translate": [-2.6, -0.5, 0] }] },
        { "mesh": "plate", "material": "rough", "transform": [
            { "scale": [1.2, 4, 1] }, { "translate": [-0.6, -0.5, 0] }] },
        { "mesh": "plate", "material": "rougher", "transform": [
            { "scale": [2, 4, 1] }, { "translate": [0.6, -0.5, 0] }] }
    ],
    "environment": { "constant": [0.5, 0.6, 0.8] }
}"#;

/// A floor that shines by itself, so that noise is that of texture lookups.
const FLOOR: &str = "texture2d grain;
shader floor(out closure surface) {
    color base = texture2d_sample<grain>(2 * global_value<uvw>.xy).xyz;
    surface = make_closure<emission>(base);
}";

/// Bright grains on dark ground, coarse and fine.
fn texel(at: u32) -> [u8; 3] {
    let (x, y) = (at % TEXELS, at / TEXELS);
    let hash = |x: u32, y: u32, salt: u32| {
        let word = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca6b) ^ salt;
        let word = (word ^ (word >> 15)).wrapping_mul(0x2c1b_3c6d);
        (word ^ (word >> 12)).wrapping_mul(0x297a_2d39) >> 24
    };
    let coarse = hash(x / 256, y / 256, 1);
    let fine = hash(x / 4, y / 4, 2);
    let value = if fine > 220 { 255 } else { coarse / 3 };
    [value, value * 9 / 10, value * 3 / 4].map(|c| c as u8)
}

fn write_scene(folder: &Path) -> Result<Scene, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("scene.json"), SCENE)?;
    std::fs::write(folder.join("floor.adu"), FLOOR)?;
    let tiled = folder.join("grain.exr");
    if !tiled.exists() {
        let bytes: Vec<u8> = (0..TEXELS * TEXELS).flat_map(texel).collect();
        let png = PngImage {
            size: ImageSize::new(TEXELS.into(), TEXELS.into())?,
            bytes: &bytes,
            has_alpha: false,
            is_srgb: true,
        };
        let file = folder.join("grain.png");
        save_atomically(&file, |to| write_png(&png, to))?;
        let options = TiledOptions {
            format: SampleFormat::Half,
            ..TiledOptions::default()
        };
        convert_to_tiled(&file, &tiled, &options)?;
    }
    Ok(SceneLoader::new().load(&folder.join("scene.json"))?)
}

fn save(
    folder: &Path,
    name: &str,
    scene: &Scene,
    image: &SceneImage,
) -> Result<(), Box<dyn Error>> {
    let [width, height] = scene.camera.size;
    let size = ImageSize::new(width.into(), height.into())?;
    let tone = |c: f32| to_byte(srgb::from_linear(f64::from(c).clamp(0.0, 1.0)));
    let bytes: Vec<u8> = (image.pixels.iter())
        .flat_map(|p| [0, 1, 2].map(|i| tone(p[i])))
        .collect();
    let png = PngImage {
        size,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: true,
    };
    save_atomically(&folder.join(format!("{name}.png")), |to| {
        write_png(&png, to)
    })?;
    let exr = Image::from_pixels(size, 3, image.pixels.clone());
    save_atomically(&folder.join(format!("{name}.exr")), |to| {
        write_exr(&exr, 0, to)
    })?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder for images")?);
    let reference_samples = arguments.next().map_or(Ok(1024), |spp| spp.parse())?;
    let scene = write_scene(&folder)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let finest = LookupSettings {
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let draw = |samples: u32, differentials: Differentials, lookup: LookupSettings| {
        let cache = CacheSettings::default();
        let settings = ImageSettings {
            samples,
            bounces: 1,
            differentials,
            lookup,
            cache,
            threads,
            ..ImageSettings::default()
        };
        draw_scene(&scene, &settings)
    };
    let reference = draw(reference_samples, Differentials::Mirrored, finest)?;
    save(&folder, "reference", &scene, &reference)?;
    println!("| derivatives after a rough bounce | mean level | MB loaded | tiles | RMSE |");
    println!("|---|---|---|---|---|");
    let by_partials = LookupSettings::default();
    for (name, differentials, lookup) in [
        ("widened", Differentials::Widened, by_partials),
        ("mirrored", Differentials::Mirrored, by_partials),
        ("camera", Differentials::FromCamera, by_partials),
        ("none", Differentials::Mirrored, finest),
    ] {
        let image = draw(SAMPLES, differentials, lookup)?;
        save(&folder, name, &scene, &image)?;
        println!(
            "| {name} | {:.2} | {:.1} | {} | {:.4} |",
            image.mean_level().unwrap_or(0.0),
            image.textures.bytes_loaded as f64 / f64::from(1 << 20),
            image.textures.unique_tiles,
            image.rmse(&reference)
        );
    }
    Ok(())
}
