//! Reads and writes PNG files.

use crate::error::ImageError;
use crate::image::Image;
use crate::size::{ImageSize, MAX_INFLATION};
use crate::srgb;
use png::{BitDepth, ColorType, Decoder, Encoder, SrgbRenderingIntent, Transformations};
use std::io::{BufRead, Seek, Write};

/// The signature of a PNG file.
pub(crate) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The contents of a PNG file of 8 bits a channel.
#[derive(Clone, Copy, Debug)]
pub struct PngImage<'a> {
    /// Width and height.
    pub size: ImageSize,
    /// Red, green, blue, and alpha if there is one, row by row from the top.
    pub bytes: &'a [u8],
    /// Whether there is alpha.
    pub has_alpha: bool,
    /// Whether the bytes are colours by the curve of sRGB; else their meaning is the writer's
    /// affair.
    pub is_srgb: bool,
}

/// Writes a PNG file.
///
/// # Errors
/// If it cannot be written.
///
/// # Panics
/// If there are not as many bytes as the size says.
pub fn write_png(png: &PngImage<'_>, out: impl Write) -> Result<(), ImageError> {
    let channels = if png.has_alpha { 4 } else { 3 };
    assert_eq!(png.bytes.len(), channels * png.size.pixels());
    let mut encoder = Encoder::new(out, png.size.width(), png.size.height());
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(match png.has_alpha {
        true => ColorType::Rgba,
        false => ColorType::Rgb,
    });
    if png.is_srgb {
        encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    }
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(png.bytes)?;
        writer.finish()
    });
    written.map_err(|error| match error {
        png::EncodingError::IoError(error) => ImageError::Io(error),
        other => ImageError::Malformed(other.to_string()),
    })
}

/// Reads a PNG file of `len` bytes; its colours become linear.
pub(crate) fn read_png(file: impl BufRead + Seek, len: u64) -> Result<Image, ImageError> {
    let mut decoder = Decoder::new(file);
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(broken)?;
    let size = ImageSize::new(info.width.into(), info.height.into())?;
    size.check_file(len, info.raw_bytes() as u64 / MAX_INFLATION)?;
    let mut reader = decoder.read_info().map_err(broken)?;
    let bytes = reader.output_buffer_size().unwrap_or(usize::MAX);
    let mut bytes = vec![0; bytes.min(8 * size.pixels())];
    reader.next_frame(&mut bytes).map_err(broken)?;

    let (color, depth) = reader.output_color_type();
    let (channels, has_alpha) = match color {
        ColorType::Grayscale => (1, false),
        ColorType::GrayscaleAlpha => (2, true),
        ColorType::Rgb | ColorType::Indexed => (3, false),
        ColorType::Rgba => (4, true),
    };
    let is_wide = depth == BitDepth::Sixteen;
    let most: u16 = if is_wide { u16::MAX } else { 255 };
    let part = |n: u16| f64::from(n) / f64::from(most);
    let linear: Vec<f32> = (0..=most)
        .map(|n| srgb::to_linear(part(n)) as f32)
        .collect();
    let numbers: Vec<u16> = match is_wide {
        true => {
            let pairs = bytes.chunks_exact(2);
            pairs
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
                .collect()
        }
        false => bytes.iter().map(|&byte| byte.into()).collect(),
    };
    let pixels = numbers
        .chunks_exact(channels)
        .take(size.pixels())
        .map(|pixel| {
            let colours = if channels < 3 { [0; 3] } else { [0, 1, 2] };
            let [r, g, b] = colours.map(|channel| linear[pixel[channel] as usize]);
            let alpha = match has_alpha {
                true => part(pixel[channels - 1]) as f32,
                false => 1.0,
            };
            [r, g, b, alpha]
        });
    Ok(Image::from_pixels(
        size,
        if has_alpha { 4 } else { 3 },
        pixels.collect(),
    ))
}

fn broken(error: png::DecodingError) -> ImageError {
    match error {
        png::DecodingError::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            ImageError::Io(error)
        }
        other => ImageError::Malformed(other.to_string()),
    }
}
