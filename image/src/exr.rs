//! Reads and writes OpenEXR files, whose floats stay as they are.

use crate::error::ImageError;
use crate::image::Image;
use crate::size::{ImageSize, MAX_INFLATION};
use exr::error::Error;
use exr::meta::header::Header;
use exr::prelude::*;
use std::io::{BufRead, Seek, Write};

/// The signature of an EXR file.
pub(crate) const SIGNATURE: &[u8] = b"\x76\x2f\x31\x01";

/// Writes an EXR file of 32-bit floats, without loss: one channel is `Y`; two to four are `R`, `G`,
/// `B`, `A`.
///
/// # Errors
/// If it cannot be written.
pub fn write_exr(image: &Image, out: impl Write + Seek) -> std::result::Result<(), ImageError> {
    let names = match image.channels() {
        1 => &["Y"][..],
        n => &["R", "G", "B", "A"][..n],
    };
    let channels = names.iter().enumerate().map(|(channel, name)| {
        let samples = image.pixels().iter().map(|pixel| pixel[channel]);
        AnyChannel::new(*name, FlatSamples::F32(samples.collect()))
    });
    let encoding = Encoding {
        compression: Compression::ZIP16,
        blocks: Blocks::ScanLines,
        line_order: LineOrder::Increasing,
    };
    let size = image.size();
    let image = exr::image::Image::from_encoded_channels(
        (size.width() as usize, size.height() as usize),
        encoding,
        AnyChannels::sort(channels.collect()),
    );
    image
        .write()
        .non_parallel()
        .to_buffered(out)
        .map_err(broken)
}

/// The most bytes that a byte of a file gives, by the compression of a layer.
///
/// Run lengths repeat one byte of two 128 times. PIZ repeats a number of two bytes 255 times for
/// nine bits. PXR24 deflates three bytes of four. B44A has blocks of 16 halves in three bytes. DWA
/// has two numbers of two bytes for 64 floats, and deflates them.
fn max_expansion(compression: Compression) -> u64 {
    match compression {
        Compression::Uncompressed => 1,
        Compression::B44 | Compression::B44A => 11,
        Compression::RLE => 64,
        Compression::PIZ => 454,
        Compression::ZIP1 | Compression::ZIP16 => MAX_INFLATION,
        Compression::PXR24 => MAX_INFLATION * 4 / 3,
        _ => MAX_INFLATION * 64,
    }
}

/// The least bytes of a layer: an offset, a place and a length for each of its chunks, and its
/// compressed pixels.
fn least_bytes(header: &Header) -> u64 {
    const CHUNK: u64 = 16;
    let pixels = header.layer_size.area() as u64 * header.channels.bytes_per_pixel as u64;
    let chunks = CHUNK.saturating_mul(header.chunk_count as u64);
    chunks.saturating_add(pixels / max_expansion(header.compression))
}

/// Reads an EXR file of `len` bytes.
pub(crate) fn read_exr(
    mut file: impl BufRead + Seek,
    len: u64,
) -> std::result::Result<Image, ImageError> {
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(broken)?;
    file.rewind()?;
    let has = |header: &Header, names: &[&str]| {
        names.iter().all(|name| {
            header
                .channels
                .list
                .iter()
                .any(|channel| channel.name == **name)
        })
    };
    for header in &meta.headers {
        let size = ImageSize::new(header.layer_size.x() as u64, header.layer_size.y() as u64)?;
        size.check_file(len, least_bytes(header))?;
    }
    let read = read().no_deep_data().largest_resolution_level();
    if meta
        .headers
        .iter()
        .any(|header| has(header, &["R", "G", "B"]))
    {
        let image = read
            .rgba_channels(
                |size, _| Pixels::new(size),
                |pixels: &mut Pixels, at, (r, g, b, a): (f32, f32, f32, f32)| {
                    pixels.set(at, [r, g, b, a]);
                },
            )
            .first_valid_layer()
            .all_attributes()
            .non_parallel()
            .from_buffered(file)
            .map_err(broken)?;
        let has_alpha = meta.headers.iter().any(|header| has(header, &["A"]));
        let channels = if has_alpha { 4 } else { 3 };
        return image.layer_data.channel_data.pixels.into_image(channels);
    }
    if meta.headers.iter().any(|header| has(header, &["Y"])) {
        let image = read
            .specific_channels()
            .required("Y")
            .collect_pixels(
                |size, _| Pixels::new(size),
                |pixels: &mut Pixels, at, (y,): (f32,)| pixels.set(at, [y, y, y, 1.0]),
            )
            .first_valid_layer()
            .all_attributes()
            .non_parallel()
            .from_buffered(file)
            .map_err(broken)?;
        return image.layer_data.channel_data.pixels.into_image(3);
    }
    let why = "no layer has channels `R`, `G`, `B` or `Y`";
    Err(ImageError::Malformed(why.to_owned()))
}

/// Pixels that are being read.
struct Pixels {
    size: Vec2<usize>,
    pixels: Vec<[f32; 4]>,
}

impl Pixels {
    fn new(size: Vec2<usize>) -> Pixels {
        Pixels {
            size,
            pixels: vec![[0.0; 4]; size.area()],
        }
    }

    fn set(&mut self, at: Vec2<usize>, pixel: [f32; 4]) {
        self.pixels[at.flat_index_for_size(self.size)] = pixel;
    }

    fn into_image(self, channels: usize) -> std::result::Result<Image, ImageError> {
        let size = ImageSize::new(self.size.x() as u64, self.size.y() as u64)?;
        Ok(Image::from_pixels(size, channels, self.pixels))
    }
}

fn broken(error: Error) -> ImageError {
    match error {
        Error::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            ImageError::Io(error)
        }
        other => ImageError::Malformed(other.to_string()),
    }
}
