//! The cache experiment of the article: textures far larger than the memory they may take.
//!
//! It makes 2 GB of tiled textures in a temporary folder (`--textures N` makes more or fewer), and
//! draws a hall of them with 64 MB of tiles in memory: with the derivatives of dual numbers, with
//! those of the mesh, and with none. A table shows what each loads. Each image must have the bits
//! of one that was drawn without a budget.
//!
//! - `--disk-latency MS` compares parking and blocking on a slow disk in place of that.
//! - `--record FILE` writes the requests of the images, one file for each kind of derivatives.
//! - `--openimageio PYTHON` replays the requests into OpenImageIO, too, and prints both results.
//!
//! Source: Jiayin Cao's article of which the README speaks, its part on texture caches: "A texture
//! cache relies on accurate derivative estimates."

mod drawing;
mod hall;
mod other_cache;
mod slow_disk;
mod textures;

use adumbra_image::{PngImage, save_atomically, srgb, to_byte, write_png};
use adumbra_render::scene::{Scene, SceneLoader, TextureSource};
use adumbra_render::texture::cache::{CacheSettings, CacheStatistics, MissPolicy};
use clap::Parser;
use drawing::{DerivativeKind, HallDrawing, draw};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Draws far more textures than fit into memory
#[derive(Debug, Parser)]
struct Arguments {
    /// The folder of the images
    out: PathBuf,

    /// Textures of 4096×4096 texels, each of which takes 45 MB
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u32).range(1..=256))]
    textures: u32,

    /// Texels along each side of a texture
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(64..=16384))]
    side: u32,

    /// Keep the textures in this folder, and use those that are there
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    /// Width of the image in pixels, 1280 if nothing is said; its height is 9/16 of that
    #[arg(long, value_parser = clap::value_parser!(u32).range(16..=7680))]
    width: Option<u32>,

    /// Megabytes of tiles in memory
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    budget: u32,

    /// Threads that draw
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,

    /// Compare parking and blocking with that many milliseconds before each tile
    #[arg(long, value_name = "MS")]
    disk_latency: Option<u32>,

    /// Write the requests: FILE, with the kind of derivatives before its extension
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// A Python program that has the package `openimageio`
    #[arg(long, value_name = "PYTHON")]
    openimageio: Option<PathBuf>,
}

/// A budget that nothing exceeds.
const UNBOUNDED: u64 = u64::MAX / 2;

/// What an example may fail by.
type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.out)?;
    // Textures would fill a memory disk: they are beside the images.
    let folder = tempfile::Builder::new()
        .prefix(".textures.")
        .tempdir_in(&arguments.out)?;
    let kept = arguments.keep.as_deref();
    if let Some(kept) = kept {
        std::fs::create_dir_all(kept)?;
    }
    let place = kept.unwrap_or(folder.path()).canonicalize()?;
    let files = textures::make(&place, arguments.textures, arguments.side)?;
    println!(
        "{} textures of {}×{} texels: {:.0} MB in memory, {:.0} MB on disk",
        files.paths.len(),
        arguments.side,
        arguments.side,
        megabytes(files.bytes_in_memory),
        megabytes(files.bytes_on_disk),
    );
    let scene = folder.path().join("hall.json");
    // On a slow disk an image takes minutes if threads wait for each tile: it is smaller.
    let usual = if arguments.disk_latency.is_some() {
        320
    } else {
        1280
    };
    let width = arguments.width.unwrap_or(usual);
    let size = [width, width * 9 / 16];
    std::fs::write(&scene, hall::scene(folder.path(), &files.paths, size)?)?;
    let scene = SceneLoader::new().load(&scene)?;

    match arguments.disk_latency {
        Some(milliseconds) => {
            let latency = Duration::from_millis(milliseconds.into());
            slow_disk::compare(&scene, budget(&arguments), latency)?;
        }
        None => compare_derivatives(&scene, &arguments)?,
    }
    if arguments.record.is_some() || arguments.openimageio.is_some() {
        replay_recorded(&scene, folder.path(), &arguments)?;
    }
    Ok(folder.close()?)
}

fn budget(arguments: &Arguments) -> u64 {
    u64::from(arguments.budget) << 20
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Draws the image with each kind of derivatives, within the budget and without one.
fn compare_derivatives(scene: &Scene, arguments: &Arguments) -> Fallible<()> {
    println!(
        "derivatives  lookups  loaded MB  from disk MB  different tiles  read again  most MB      ms"
    );
    let mut rows: Vec<(DerivativeKind, CacheStatistics)> = Vec::new();
    for derivatives in DerivativeKind::ALL {
        let drawing = |budget| HallDrawing {
            derivatives,
            cache: CacheSettings {
                budget,
                ..CacheSettings::default()
            },
            threads: arguments.threads.into(),
            records: false,
        };
        let drawn = draw(scene, &drawing(budget(arguments)))?;
        let statistics = drawn.statistics;
        println!(
            "{:<11} {:>8} {:>10.1} {:>13.1} {:>16} {:>11} {:>8.1} {:>7}",
            derivatives.name(),
            statistics.lookups,
            megabytes(statistics.bytes_loaded),
            megabytes(statistics.bytes_read),
            statistics.unique_tiles,
            statistics.redundant_reads(),
            megabytes(statistics.peak_bytes),
            drawn.time.as_millis(),
        );
        if draw(scene, &drawing(UNBOUNDED))?.bits() != drawn.bits() {
            return Err("the budget changed the image".into());
        }
        let file = arguments.out.join(format!("{}.png", derivatives.name()));
        write_image(&file, scene, &drawn.pixels)?;
        rows.push((derivatives, statistics));
    }
    println!("each image has the bits of one without a budget");
    if let [(_, dual), .., (_, none)] = &rows[..] {
        println!(
            "without derivatives {:.0} times as many bytes are loaded",
            none.bytes_loaded as f64 / dual.bytes_loaded as f64
        );
    }
    Ok(())
}

fn write_image(file: &Path, scene: &Scene, pixels: &[[f32; 4]]) -> Fallible<()> {
    let [width, height] = scene.camera.size.map(u64::from);
    let tone = |c: f32| to_byte(srgb::from_linear(f64::from(c).clamp(0.0, 1.0)));
    let colours = pixels.iter().flat_map(|pixel| pixel[..3].iter());
    let bytes: Vec<u8> = colours.map(|channel| tone(*channel)).collect();
    let png = PngImage {
        size: adumbra_image::ImageSize::new(width, height)?,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: true,
    };
    Ok(save_atomically(file, |out| write_png(&png, out))?)
}

/// Records the requests of the image as one thread makes them, and replays them.
fn replay_recorded(scene: &Scene, folder: &Path, arguments: &Arguments) -> Fallible<()> {
    // Requests have the indices of the scene's textures.
    let files = scene.textures.iter().map(|texture| match &texture.source {
        TextureSource::File(file) => Ok(file.clone()),
        _ => Err("the hall's textures are files"),
    });
    let files = &files.collect::<Result<Vec<PathBuf>, _>>()?;
    for derivatives in [DerivativeKind::Dual, DerivativeKind::None] {
        let drawn = draw(
            scene,
            &HallDrawing {
                derivatives,
                cache: CacheSettings {
                    policy: MissPolicy::Block,
                    ..CacheSettings::default()
                },
                threads: 1,
                records: true,
            },
        )?;
        let name = format!("{}.txt", derivatives.name());
        let stream = match &arguments.record {
            Some(file) => file.with_extension(&name),
            None => folder.join(&name),
        };
        other_cache::write_stream(&stream, derivatives, drawn.requests.clone())?;
        if let Some(python) = &arguments.openimageio {
            println!("requests with derivatives: {}", derivatives.name());
            let ours = other_cache::ours(files, &drawn.requests, derivatives, budget(arguments));
            let theirs = other_cache::openimageio(python, &stream, arguments.budget, files)?;
            other_cache::print(&ours, &theirs);
        }
    }
    Ok(())
}
