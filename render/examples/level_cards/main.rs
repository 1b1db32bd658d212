//! Level cards: one frame by each kind of partials, and the pixels whose mip level is wrong.
//!
//! The texture's level l has the legend's colour and the digit l, so an image says which level each
//! pixel read. The scene has what seed 000 calls procedural coordinates: a floor warped by noise up
//! to the horizon, a wall textured from three sides, a pillar with a seam, a sphere in swirled
//! polar coordinates, a displaced terrain, and glass before them.
//!
//! The truth knows no derivatives. Cameras that are shifted by small parts of a pixel trace the
//! same paths, and the differences of the coordinates that they ask for are the partials.
//!
//! `cargo run --release -p adumbra-render --example level_cards -- OUT_DIR [--truth-spp N]
//! [--size WxH]` writes an image for each column, sheets of them, and the scene, which the command
//! `adumbra-render` draws, too. In `off.png` pixels are white whose level is wrong.
//! `render/experiments/flip.py` adds FLIP.

#[path = "../common/mod.rs"]
mod common;
mod frame;
mod truth_image;

use adumbra_render::derivative_mode::DerivativeMode;
use common::drawing::Fallible;
use common::image_file::ByteImage;
use frame::{BUDGET, COLUMNS, Truth, lookup, requests, shot, stage, write_scene};
use glam::DVec2;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use truth_image::true_image;

/// Samples of a pixel of the truth, in each direction.
const DEFAULT_TRUTH_SIDE: u32 = 8;

/// How often each image is drawn.
const DRAWINGS: u32 = 5;

/// The part of each image that the page shows.
const CROP: ([u32; 2], [u32; 2]) = ([420, 300], [540, 300]);

/// The command line.
struct CardOptions {
    out: PathBuf,
    size: [u32; 2],
    truth_side: u32,
}

fn options() -> Fallible<CardOptions> {
    let mut words = std::env::args().skip(1);
    let mut found = CardOptions {
        out: PathBuf::from("target/level_cards"),
        size: [1280, 720],
        truth_side: DEFAULT_TRUTH_SIDE,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match &*word {
            "--truth-spp" => {
                let samples: u32 = value()?.parse()?;
                found.truth_side = samples.isqrt();
                if samples == 0 || found.truth_side.pow(2) != samples {
                    return Err("the samples of the truth are a square number".into());
                }
            }
            "--size" => {
                let size = value()?;
                let (width, height) = size.split_once('x').ok_or("a size is WIDTHxHEIGHT")?;
                found.size = [width.parse()?, height.parse()?];
            }
            _ => found.out = word.into(),
        }
    }
    Ok(found)
}

fn main() -> Fallible<()> {
    let CardOptions {
        out,
        size,
        truth_side,
    } = options()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let scene = write_scene(&out.join("scene"))?;
    let start = Instant::now();
    let true_stage = stage(DerivativeMode::Dual, &scene, size, threads)?;
    let truth = Truth::new(&true_stage)?;
    println!(
        "{} pixels are compared; {} are at silhouettes, {} have no true partials ({:.1?})",
        truth.counted(),
        truth.silhouettes,
        truth.unknown,
        start.elapsed()
    );
    println!("| partials | more than one level off | of pixels | loaded, MB | tiles | ms |");
    println!("|---|---|---|---|---|---|");
    let (mut images, mut masks) = (Vec::new(), Vec::new());
    for mode in COLUMNS {
        let stage = stage(mode, &scene, size, threads)?;
        let off = truth.pixels_off(&requests(mode, &stage)?);
        // The fastest of some, each with an empty cache: the first one compiles.
        let shot = shot(0, DVec2::ZERO);
        let (mut drawn, mut time) = (None, Duration::MAX);
        for _ in 0..DRAWINGS {
            let cache = stage.cache(BUDGET)?;
            let start = Instant::now();
            drawn = Some(stage.draw(&shot, &cache, lookup(mode), mode.partials())?);
            time = time.min(start.elapsed());
        }
        let (pixels, statistics) = drawn.ok_or("nothing was drawn")?;
        println!(
            "| {} | {} | {:.2} % | {:.1} | {} | {} |",
            mode.name(),
            off.len(),
            100.0 * off.len() as f64 / truth.counted() as f64,
            statistics.bytes_loaded as f64 / f64::from(1 << 20),
            statistics.unique_tiles,
            time.as_millis()
        );
        let image = ByteImage::from_linear(size, &pixels);
        image.save(&out.join(mode.name()).with_extension("png"))?;
        let mut mask = ByteImage::new(size, [0; 3]);
        for pixel in off {
            mask.pixels[pixel] = [255; 3];
        }
        masks.push(mask.reduced(3));
        images.push(image);
    }
    let start = Instant::now();
    let (pixels, statistics) = true_image(&true_stage, truth_side)?;
    println!(
        "| truth, {} spp | | | {:.1} | {} | {} |",
        truth_side * truth_side,
        statistics.bytes_loaded as f64 / f64::from(1 << 20),
        statistics.unique_tiles,
        start.elapsed().as_millis()
    );
    let image = ByteImage::from_linear(size, &pixels);
    image.save(&out.join("truth.png"))?;
    images.push(image);
    let reduced: Vec<ByteImage> = images.iter().map(|image| image.reduced(2)).collect();
    ByteImage::sheet(&reduced, 2).save(&out.join("sheet.png"))?;
    let crops = images.iter().map(|image| image.crop(CROP.0, CROP.1));
    ByteImage::sheet(&crops.collect::<Vec<_>>(), 3).save(&out.join("crops.png"))?;
    ByteImage::sheet(&masks, 3).save(&out.join("off.png"))
}
