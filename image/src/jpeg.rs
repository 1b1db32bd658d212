//! Reads JPEG files.

use crate::error::ImageError;
use crate::image::Image;
use crate::size::ImageSize;
use crate::srgb;
use std::io::{Cursor, Read};
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZByteIoError;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The first bytes of a JPEG file.
pub(crate) const SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Longest side of a JPEG image: its header has 16 bits for it.
const MAX_SIDE: usize = u16::MAX as usize;

/// Longest file, in bytes: more than any image of [`MAX_PIXELS`](crate::MAX_PIXELS) needs.
const MAX_BYTES: u64 = 1 << 28;

/// The most pixels that a byte of a file gives: each block of 8 by 8 takes at least a bit.
const PIXELS_PER_BYTE: u64 = 8 * 64;

/// The markers before the data of a scan and at the end of an image. Data has neither.
const START_OF_SCAN: &[u8] = b"\xff\xda";
const END_OF_IMAGE: &[u8] = b"\xff\xd9";

/// Reads a JPEG file of `len` bytes; its colours become linear.
pub(crate) fn read_jpeg(file: impl Read, len: u64) -> Result<Image, ImageError> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(malformed("it has more than 256 MiB, which is the most"));
    }
    // The decoder fills what is missing of the last blocks.
    let last = |marker: &[u8]| bytes.windows(2).rposition(|two| two == marker);
    if last(END_OF_IMAGE) < last(START_OF_SCAN) {
        return Err(malformed("it ends early"));
    }
    // Scalar code decodes to the same bits on every machine. A file that ends early or does not
    // conform is an error, not a grey area.
    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .set_use_unsafe(false)
        .set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(&bytes), options);
    decoder.decode_headers().map_err(broken)?;
    let info = decoder
        .info()
        .ok_or_else(|| malformed("it has no header"))?;
    let size = ImageSize::new(info.width.into(), info.height.into())?;
    size.check_file(len, size.pixels() as u64 / PIXELS_PER_BYTE)?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let (space, channels) = match is_grey {
        true => (ColorSpace::Luma, 1),
        false => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(broken)?;
    if samples.len() != channels * size.pixels() {
        return Err(malformed("it has fewer pixels than its header says"));
    }
    let linear: Vec<f32> = (0..=u8::MAX)
        .map(|n| srgb::to_linear(f64::from(n) / 255.0) as f32)
        .collect();
    let pixels = samples.chunks_exact(channels).map(|pixel| {
        let [r, g, b] = if is_grey { [0; 3] } else { [0, 1, 2] };
        let [r, g, b] = [r, g, b].map(|channel| linear[usize::from(pixel[channel])]);
        [r, g, b, 1.0]
    });
    Ok(Image::from_pixels(size, 3, pixels.collect()))
}

fn malformed(why: &str) -> ImageError {
    ImageError::Malformed(why.to_owned())
}

fn broken(error: DecodeErrors) -> ImageError {
    match error {
        DecodeErrors::IoErrors(ZByteIoError::StdIoError(error))
            if error.kind() != std::io::ErrorKind::UnexpectedEof =>
        {
            ImageError::Io(error)
        }
        DecodeErrors::Format(why) => ImageError::Malformed(why),
        DecodeErrors::FormatStatic(why) => malformed(why),
        other => malformed(other.to_string().trim()),
    }
}
