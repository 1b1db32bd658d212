//! Images as files: numbers in EXR, colours in PNG.

use super::arguments::{DrawArguments, View};
use super::progress::ProgressFile;
use super::tone::Tone;
use super::{Fallible, thread_count};
use adumbra_image::{
    Image, ImageFormat, ImagePart, ImageSize, PngImage, derivative_grey, derivative_scale,
    level_colour, level_legend, save_atomically, srgb, to_byte, write_exr, write_exr_part,
    write_png,
};
use std::path::Path;

/// The pixels of an image, or of a region of it, linear, row by row.
#[derive(Debug)]
pub(crate) struct OutputImage {
    /// Points that were stopped.
    pub(crate) stopped: u64,
    pub(crate) pixels: Vec<[f32; 4]>,
    /// The key of all parts of the image, if this is one.
    pub(crate) key: u64,
    /// Whether every pixel was drawn.
    pub(crate) is_whole: bool,
    /// The file that keeps the tiles, until the image is written.
    pub(crate) progress: Option<ProgressFile>,
}

/// The format of a file.
///
/// # Errors
/// If its name ends neither in .png nor in .exr.
pub(crate) fn image_format(path: &Path) -> Fallible<ImageFormat> {
    let format = ImageFormat::from_path(path);
    Ok(format.ok_or_else(|| format!("{} ends neither in .png nor in .exr", path.display()))?)
}

/// Writes an image, whole or not at all, and prints the legend of its colours. With alpha, colours
/// are multiplied by it in EXR files, and are not in PNG files. An EXR file says which part of an
/// image it is, if it is one.
///
/// # Errors
/// If the name ends neither in .png nor in .exr, or the file cannot be written.
pub(crate) fn write(
    arguments: &DrawArguments,
    view: &View,
    size: ImageSize,
    pixels: &[[f32; 4]],
    part: Option<&ImagePart>,
) -> Fallible<()> {
    let (path, has_alpha) = (&arguments.out, arguments.alpha);
    let tone = arguments.tone();
    let saved = match image_format(path)? {
        ImageFormat::Png => {
            let bytes = match has_alpha {
                true => colours_and_alpha(tone, pixels),
                false => colours(view, tone, pixels),
            };
            if let (View::Beauty, Some(hint)) = (view, tone.hint(pixels)) {
                anstream::eprintln!("adumbra-render: {hint}");
            }
            let png = PngImage {
                size,
                bytes: &bytes,
                has_alpha,
                is_srgb: matches!(view, View::Beauty | View::Difference),
            };
            save_atomically(path, |file| write_png(&png, file))
        }
        ImageFormat::Exr => {
            let channels = match view {
                View::Level | View::Footprint => 1,
                _ if has_alpha => 4,
                _ => 3,
            };
            let image = Image::from_pixels(size, channels, pixels.to_vec());
            let threads = thread_count(arguments.threads);
            save_atomically(path, |file| match part {
                Some(part) => write_exr_part(&image, part, threads, file),
                None => write_exr(&image, threads, file),
            })
        }
    };
    Ok(saved.map_err(|error| format!("cannot write {}: {error}", path.display()))?)
}

/// The bytes of a PNG file with alpha, four for each pixel. Its colours are those of the covered
/// part.
fn colours_and_alpha(tone: Tone, pixels: &[[f32; 4]]) -> Vec<u8> {
    let shown = |&[r, g, b, alpha]: &[f32; 4]| {
        let covered = match alpha > 0.0 {
            true => [r, g, b].map(|c| c / alpha),
            false => [0.0; 3],
        };
        let [r, g, b] = covered;
        let color = tone.apply(&[r, g, b, alpha]).to_array();
        let [r, g, b] = color.map(|c| to_byte(srgb::from_linear(c)));
        [r, g, b, to_byte(f64::from(alpha.clamp(0.0, 1.0)))]
    };
    pixels.iter().flat_map(shown).collect()
}

/// The bytes of a PNG file, three for each pixel.
fn colours(view: &View, tone: Tone, pixels: &[[f32; 4]]) -> Vec<u8> {
    match view {
        View::Beauty | View::Difference => {
            let shown = pixels.iter().map(|pixel| match view {
                View::Beauty => tone.apply(pixel),
                _ => Tone::NEUTRAL.apply(pixel),
            });
            shown
                .flat_map(|color| color.to_array().map(|c| to_byte(srgb::from_linear(c))))
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
