//! The article's comparison of biases: images of one sample a pixel, whose mip levels are moved by
//! −1, 0, +1 and +2, beside the same image of 1,024 samples (seed 000, "Applying Derivatives in
//! Mipmap Selection in SORT").
//!
//! As there, nothing is random: one lamp at infinity, no further bounces. The article's rule takes
//! the greatest of the four partials and rounds the level down; OpenGL's blends two levels.
//!
//! Three measures compare with the reference: the RMSE of linear colours, FLIP
//! (`render/experiments/flip.py`), and sharpness, the energy of the luma's gradient by Sobel's
//! operator over the reference's ("Tenengrad": Krotkov, Focusing, IJCV 1, 1987). It is above 1 in
//! images with aliasing, and below 1 in blurred ones.
//!
//! `cargo run --release -p adumbra-render --example bias_series -- OUT_DIR [SPP]`

#[path = "../common/mod.rs"]
mod common;

use adumbra_render::scene::SceneLoader;
use adumbra_render::scene_textures::PartialSource;
use adumbra_render::texture::LevelRule;
use adumbra_render::texture::host::LookupSettings;
use common::drawing::{Fallible, Shot, Stage};
use common::image_file::ByteImage;
use common::interior::write_scene;
use std::path::PathBuf;

/// Samples of a pixel of the reference.
const REFERENCE_SAMPLES: u32 = 1024;

/// More than all tiles.
const BUDGET: u64 = 1 << 30;

const BIASES: [f32; 4] = [-1.0, 0.0, 1.0, 2.0];

/// The part of the image that the page shows, magnified.
const CROP: ([u32; 2], [u32; 2]) = ([190, 110], [160, 110]);

fn main() -> Fallible<()> {
    let mut words = std::env::args().skip(1);
    let out = words
        .next()
        .map_or_else(|| PathBuf::from("target/bias_series"), PathBuf::from);
    let samples: u32 = words
        .next()
        .map_or(Ok(REFERENCE_SAMPLES), |word| word.parse())?;
    let scene = write_scene(&out.join("scene"))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let stage = Stage::new(SceneLoader::new().load(&scene)?, threads)?;
    let size = stage.scene.camera.size;
    let draw = |samples: u32, rule: LevelRule, bias: f32| -> Fallible<Vec<[f32; 4]>> {
        let shot = Shot {
            samples,
            step: 1.0 / f64::from(samples).sqrt(),
            ..Shot::default()
        };
        let lookup = LookupSettings {
            rule,
            bias,
            ..LookupSettings::default()
        };
        Ok(stage
            .draw(&shot, &stage.cache(BUDGET)?, lookup, PartialSource::Request)?
            .0)
    };
    let reference = draw(samples, LevelRule::GlIso, 0.0)?;
    let save = |name: &str, pixels: &[[f32; 4]]| -> Fallible<ByteImage> {
        let image = ByteImage::from_linear(size, pixels);
        image.save(&out.join(name).with_extension("png"))?;
        Ok(image.crop(CROP.0, CROP.1).magnified(2))
    };
    save("reference", &reference)?;
    println!("| rule | bias | RMSE | sharpness |");
    println!("|---|---|---|---|");
    let mut crops = Vec::new();
    for rule in [LevelRule::SortFloor, LevelRule::GlIso] {
        for bias in BIASES {
            let pixels = draw(1, rule, bias)?;
            println!(
                "| {} | {bias:+} | {:.4} | {:.3} |",
                rule.name(),
                rmse(&pixels, &reference),
                sharpness(size, &pixels) / sharpness(size, &reference)
            );
            crops.push(save(&format!("{}_{bias:+}", rule.name()), &pixels)?);
        }
    }
    // The article's rule, then the reference.
    crops.truncate(BIASES.len());
    let crop = ByteImage::from_linear(size, &reference).crop(CROP.0, CROP.1);
    crops.push(crop.magnified(2));
    ByteImage::sheet(&crops, crops.len() as u32).save(&out.join("sheet.png"))
}

/// The root of the mean square of the differences of linear colours.
fn rmse(image: &[[f32; 4]], reference: &[[f32; 4]]) -> f64 {
    let pairs = image.iter().zip(reference);
    let squares = pairs.flat_map(|(a, b)| (0..3).map(move |i| f64::from(a[i] - b[i]).powi(2)));
    (squares.sum::<f64>() / (3 * image.len()) as f64).sqrt()
}

/// The mean square of the gradient of the luma.
fn sharpness(size: [u32; 2], pixels: &[[f32; 4]]) -> f64 {
    let [width, height] = size.map(|n| n as usize);
    let bytes = ByteImage::from_linear(size, pixels).pixels;
    let luma =
        |[r, g, b]: [u8; 3]| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
    let at = |x: usize, y: usize| luma(bytes[y * width + x]);
    let mut sum = 0.0;
    for (y, x) in (1..height - 1).flat_map(|y| (1..width - 1).map(move |x| (y, x))) {
        let column = |x: usize| at(x, y - 1) + 2.0 * at(x, y) + at(x, y + 1);
        let row = |y: usize| at(x - 1, y) + 2.0 * at(x, y) + at(x + 1, y);
        let (along_x, along_y) = (column(x + 1) - column(x - 1), row(y + 1) - row(y - 1));
        sum += along_x * along_x + along_y * along_y;
    }
    sum / ((width - 2) * (height - 2)) as f64
}
