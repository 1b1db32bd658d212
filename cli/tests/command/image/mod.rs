//! `adumbra image`: images against numbers worked out here, textures, refusals, and drawing again
//! on save.

mod antialias;
mod at;
mod errors;
mod pixels;
mod quads;
mod regions;
mod several;
mod textures;
mod views;
mod watch;

use crate::command::{CommandOutput, adumbra, scratch};
use adumbra_image::{Image, read_image, srgb};
use std::path::{Path, PathBuf};

/// The path of a test's image, in an empty folder of its own.
fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("image")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the directory for tests can be written to");
    folder
}

/// Draws a shader into a file of that name, with these arguments, which spaces separate.
fn draw(name: &str, text: &str, args: &str) -> (CommandOutput, PathBuf) {
    let (stem, _) = name.split_once('.').expect("a name with an ending");
    let file = place(stem).join(name);
    let source = scratch(&format!("image_{stem}.adu"), text);
    let out = file.to_str().expect("a path that is text");
    let args = ["image", &source, "-o", out]
        .into_iter()
        .chain(args.split_whitespace());
    let ran = adumbra(args.collect::<Vec<_>>());
    (ran, file)
}

/// The image of a shader, as floats, and the printed output.
fn floats(name: &str, text: &str, args: &str) -> (Image, String) {
    let (ran, file) = draw(&format!("{name}.exr"), text, args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    (read_image(&file).expect("an image"), ran.stdout)
}

/// The bytes of a PNG image, and the printed output.
fn bytes(name: &str, text: &str, args: &str) -> (Vec<[u8; 4]>, String) {
    let (ran, file) = draw(&format!("{name}.png"), text, args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    (bytes_of(&file), ran.stdout)
}

fn bytes_of(file: &Path) -> Vec<[u8; 4]> {
    let image = read_image(file).expect("an image");
    let byte = |x: f64| (255.0 * x).round() as u8;
    let pixels = image.pixels().iter().map(|&[r, g, b, a]| {
        let [r, g, b] = [r, g, b].map(|x| byte(srgb::from_linear(x.into())));
        [r, g, b, byte(a.into())]
    });
    pixels.collect()
}

/// All files of a folder, by name.
fn listing(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}
