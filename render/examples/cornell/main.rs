//! A Cornell box with a lamp of 0.12 of its side: the noise of 16 and 64 samples.
//!
//! `cargo run --release -p adumbra-render --example cornell -- OUT_DIR [REFERENCE_SPP]`

use adumbra_image::{Image, ImageSize, save_atomically, write_exr};
use adumbra_render::scene::SceneLoader;
use adumbra_render::scene_image::{ImageSettings, SceneImage, draw_scene};
use std::error::Error;
use std::path::{Path, PathBuf};

/// Samples of the compared images.
const SAMPLES: [u32; 2] = [16, 64];
/// Samples of the reference.
const REFERENCE: u32 = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder for images")?);
    let reference = arguments.next().map_or(Ok(REFERENCE), |spp| spp.parse())?;
    std::fs::create_dir_all(&folder)?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cornell/box.json");
    let scene = SceneLoader::new().load(&file)?;
    let [width, height] = scene.camera.size;
    let size = ImageSize::new(width.into(), height.into())?;
    let draw = |samples: u32, seed: u32| -> Result<SceneImage, Box<dyn Error>> {
        let settings = ImageSettings {
            samples,
            seed,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            ..ImageSettings::default()
        };
        let drawn = draw_scene(&scene, &settings)?;
        let image = Image::from_pixels(size, 3, drawn.pixels.clone());
        let file = folder.join(format!("{samples}.exr"));
        save_atomically(&file, |to| write_exr(&image, 0, to))?;
        Ok(drawn)
    };
    let reference = draw(reference, 0)?;
    for samples in SAMPLES {
        let error = draw(samples, 1)?.relative_mse(&reference);
        println!("{samples} samples: relMSE {error:.5}");
    }
    Ok(())
}
