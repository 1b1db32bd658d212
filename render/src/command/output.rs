//! Images as files: numbers in EXR, colours in PNG.

use super::Fallible;
use super::arguments::View;
use adumbra_image::{
    Image, ImageSize, PngImage, derivative_grey, derivative_scale, level_colour, level_legend,
    srgb, to_byte, write_exr, write_png,
};
use std::io::{BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The pixels of an image, linear, row by row.
#[derive(Debug)]
pub(crate) struct OutputImage {
    pub(crate) pixels: Vec<[f32; 4]>,
    /// Whether every pixel was drawn.
    pub(crate) is_whole: bool,
}

/// Writes an image, whole or not at all, and prints the legend of its colours.
///
/// # Errors
/// If the name ends neither in .png nor in .exr, or the file cannot be written.
pub(crate) fn write(
    path: &Path,
    view: &View,
    size: ImageSize,
    pixels: &[[f32; 4]],
) -> Fallible<()> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_png = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("png") => true,
        Some("exr") => false,
        _ => return Err(format!("{} ends neither in .png nor in .exr", path.display()).into()),
    };
    let failed =
        |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let draft = NamedTempFile::new_in(folder).map_err(|error| failed(&error.kind()))?;
    let mut file = BufWriter::new(draft.as_file());
    let written = match is_png {
        true => {
            let bytes = colours(view, pixels);
            let png = PngImage {
                size,
                bytes: &bytes,
                has_alpha: false,
                is_srgb: matches!(view, View::Beauty | View::Difference),
            };
            write_png(&png, &mut file)
        }
        false => {
            let channels = if matches!(view, View::Level | View::Footprint) {
                1
            } else {
                3
            };
            write_exr(
                &Image::from_pixels(size, channels, pixels.to_vec()),
                &mut file,
            )
        }
    };
    written.map_err(|error| failed(&error))?;
    file.flush().map_err(|error| failed(&error))?;
    drop(file);
    draft.persist(path).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// The bytes of a PNG file, three for each pixel.
fn colours(view: &View, pixels: &[[f32; 4]]) -> Vec<u8> {
    match view {
        View::Beauty | View::Difference => {
            let tone = |c: f32| to_byte(srgb::from_linear(f64::from(c).clamp(0.0, 1.0)));
            pixels
                .iter()
                .flat_map(|pixel| [0, 1, 2].map(|i| tone(pixel[i])))
                .collect()
        }
        View::Level | View::Footprint => {
            print!("{}", level_legend(pixels.iter().map(|pixel| pixel[0])));
            pixels
                .iter()
                .flat_map(|pixel| level_colour(pixel[0]))
                .collect()
        }
        View::Derivative(..) => {
            let numbers = pixels.iter().flat_map(|pixel| &pixel[..3]);
            let scale = derivative_scale(numbers.copied().collect());
            println!("black -{scale} per pixel, grey 0, white {scale}");
            let grey = |x: f32| derivative_grey(x, scale);
            pixels
                .iter()
                .flat_map(|pixel| [0, 1, 2].map(|i| grey(pixel[i])))
                .collect()
        }
    }
}
