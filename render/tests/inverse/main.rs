//! Inverse rendering: gradients of images by inputs of materials, against formulas and against
//! differences of images.

mod command;
mod differences;
mod exact;
mod fit;
mod names;

use adumbra_image::{Image, ImageSize, write_exr};
use adumbra_render::inverse::InverseScene;
use adumbra_render::scene::{Scene, SceneLoader};
use adumbra_render::scene_image::ImageSettings;
use serde_json::Value;
use std::path::Path;

/// Writes a scene file and its shaders into a folder, and loads it.
pub(crate) fn load(folder: &Path, scene: &Value, shaders: &[(&str, &str)]) -> Scene {
    for (name, source) in shaders {
        std::fs::write(folder.join(name), source).unwrap();
    }
    let file = folder.join("scene.json");
    std::fs::write(&file, scene.to_string()).unwrap();
    let scene = SceneLoader::new().load(&file);
    scene.unwrap_or_else(|error| panic!("{error}"))
}

/// The image of a scene as it is, and the gradient of the sum of all its colours, by these inputs.
pub(crate) fn of_sum(
    scene: &Scene,
    settings: &ImageSettings,
    names: &[&str],
) -> (Vec<[f32; 3]>, Vec<Vec<f64>>) {
    let mut inverse = InverseScene::new(scene, settings, names);
    let inverse = inverse.as_mut().unwrap_or_else(|error| panic!("{error}"));
    let image = inverse.image().unwrap();
    let gradient = inverse.gradient(&vec![[1.0; 3]; image.len()]).unwrap();
    assert_eq!(gradient.left_out, 0);
    (image, gradient.by_inputs)
}

/// The sum of an image's colours, by channel.
pub(crate) fn sum(image: &[[f32; 3]]) -> [f64; 3] {
    let channel = |at: usize| image.iter().map(|pixel| f64::from(pixel[at])).sum();
    [0, 1, 2].map(channel)
}

/// A texture without edges.
pub(crate) fn write_wall(folder: &Path) {
    const SIDE: usize = 32;
    let place = |at: usize| (at as f32 + 0.5) / SIDE as f32;
    let pixel = |at: usize| {
        let (u, v) = (place(at % SIDE), place(at / SIDE));
        [0.2 + 0.6 * u, 0.7 - 0.4 * v, 0.3 + 0.4 * u * v, 1.0]
    };
    let size = ImageSize::new(SIDE as u64, SIDE as u64).unwrap();
    let image = Image::from_pixels(size, 3, (0..SIDE * SIDE).map(pixel).collect());
    let file = std::fs::File::create(folder.join("wall.exr")).unwrap();
    write_exr(&image, 0, std::io::BufWriter::new(file)).unwrap();
}
