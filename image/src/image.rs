//! An image: up to four floats a pixel, row by row from the top.

use crate::error::ImageError;
use crate::rows::{ImageRows, bounded_pixels};
use crate::size::ImageSize;
use crate::texture_settings::ColorSpace;
use std::path::Path;

/// Linear red, green, blue and alpha of each pixel, row by row from the top; the first `channels`
/// of them mean something.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    size: ImageSize,
    channels: usize,
    pixels: Vec<[f32; 4]>,
}

impl Image {
    /// An image of zeros.
    ///
    /// # Panics
    /// If there are not 1 to 4 channels.
    pub fn new(size: ImageSize, channels: usize) -> Image {
        Image::from_pixels(size, channels, vec![[0.0; 4]; size.pixels()])
    }

    /// An image of these pixels.
    ///
    /// # Panics
    /// If there are not 1 to 4 channels, or not as many pixels as the size says.
    pub fn from_pixels(size: ImageSize, channels: usize, pixels: Vec<[f32; 4]>) -> Image {
        assert!((1..=4).contains(&channels), "1 to 4 channels");
        assert_eq!(pixels.len(), size.pixels(), "one for each pixel");
        Image {
            size,
            channels,
            pixels,
        }
    }

    /// Width and height.
    pub fn size(&self) -> ImageSize {
        self.size
    }

    /// The number of floats of a pixel that mean something, from the first on.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[[f32; 4]] {
        &self.pixels
    }

    /// All pixels, row by row from the top.
    pub fn pixels_mut(&mut self) -> &mut [[f32; 4]] {
        &mut self.pixels
    }
}

/// Reads a PNG, EXR or JPEG file, chosen by its first bytes.
///
/// PNG: 1 to 16 bits, grey or colour, taken as sRGB and made linear. EXR: the first layer that has
/// `R`, `G`, `B`, or else `Y`, and `A` if there is one, as it is. JPEG: baseline or progressive,
/// grey or colour, taken as sRGB and made linear; an orientation is not applied. Without an alpha
/// channel alpha is 1; grey is red, green and blue alike.
///
/// # Errors
/// If it cannot be read, or is no such file, or is larger than [`MAX_PIXELS`](crate::MAX_PIXELS),
/// or is too short for the size that it says.
pub fn read_image(path: &Path) -> Result<Image, ImageError> {
    read_image_as(path, ColorSpace::Srgb)
}

/// Reads a file as [`read_image`] does, the colours of PNG and JPEG files as a color space says.
///
/// # Errors
/// As [`read_image`].
pub fn read_image_as(path: &Path, color_space: ColorSpace) -> Result<Image, ImageError> {
    let mut rows = ImageRows::open_within(path, color_space, bounded_pixels)?;
    let [width, height] = rows.size().map(u64::from);
    let size = ImageSize::new(width, height)?;
    let channels = rows.channels();
    let mut pixels = Vec::with_capacity(size.pixels());
    for _ in 0..height {
        let row = rows.next_row()?.chunks_exact(channels);
        pixels.extend(row.map(|pixel| match *pixel {
            [y] => [y, y, y, 1.0],
            [y, a] => [y, y, y, a],
            [r, g, b] => [r, g, b, 1.0],
            _ => [pixel[0], pixel[1], pixel[2], pixel[3]],
        }));
    }
    let has_alpha = channels.is_multiple_of(2);
    Ok(Image::from_pixels(
        size,
        if has_alpha { 4 } else { 3 },
        pixels,
    ))
}
