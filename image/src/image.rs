//! An image: up to four floats a pixel, row by row from the top.

use crate::error::ImageError;
use crate::size::ImageSize;
use crate::texture_settings::ColorSpace;
use crate::{exr, jpeg, png, srgb};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
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
/// `R`, `G`, `B`, and `A` if there is one, or `Y`, as it is. JPEG: baseline or progressive, grey or
/// colour, taken as sRGB and made linear; an orientation is not applied. Without an alpha channel
/// alpha is 1; grey is red, green and blue alike.
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
    let metadata = path.metadata()?;
    let len = metadata.len();
    if !metadata.is_file() {
        let error = io::Error::other("it is not a file");
        return Err(error.into());
    }
    let mut file = BufReader::new(File::open(path)?);
    let mut start = Vec::new();
    file.by_ref().take(8).read_to_end(&mut start)?;
    file.rewind()?;
    let mut image = if start.starts_with(png::SIGNATURE) {
        png::read_png(file, len)?
    } else if start.starts_with(exr::SIGNATURE) {
        return exr::read_exr(file, len);
    } else if start.starts_with(jpeg::SIGNATURE) {
        jpeg::read_jpeg(file, len)?
    } else {
        return Err(ImageError::UnknownFormat);
    };
    if color_space == ColorSpace::Linear {
        for value in image.pixels.iter_mut().flat_map(|pixel| &mut pixel[..3]) {
            *value = srgb::from_linear(f64::from(*value)) as f32;
        }
    }
    Ok(image)
}
