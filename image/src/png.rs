//! Reads and writes PNG files.

use crate::error::ImageError;
use crate::rows::{DecodeRows, Decoding, SampleTable, SizeLimit, check_decoded};
use crate::size::{ImageSize, MAX_INFLATION, check_file};
use crate::texture_settings::ColorSpace;
use png::{
    BitDepth, ColorType, Compression, Decoder, Encoder, Reader, SrgbRenderingIntent,
    Transformations,
};
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

/// Writes a PNG file, which is compressed fast rather than well.
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
    // The default makes files somewhat smaller, and takes most of the time of drawing one.
    encoder.set_compression(Compression::Fast);
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

/// Reads the header of a PNG file of `len` bytes.
pub(crate) fn decode<'a>(
    file: impl BufRead + Seek + 'a,
    len: u64,
    color_space: ColorSpace,
    limit: SizeLimit,
) -> Result<Decoding<'a>, ImageError> {
    let mut decoder = Decoder::new(file);
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(broken)?;
    let size = limit(info.width.into(), info.height.into())?;
    check_file(size, len, info.raw_bytes() as u64 / MAX_INFLATION)?;
    let mut reader = decoder.read_info().map_err(broken)?;
    let (color, depth) = reader.output_color_type();
    let channels = match color {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb | ColorType::Indexed => 3,
        ColorType::Rgba => 4,
    };
    let is_wide = depth == BitDepth::Sixteen;
    let line = size[0] as usize * channels * if is_wide { 2 } else { 1 };
    let whole = match reader.info().interlaced {
        true => {
            check_decoded(line as u64 * u64::from(size[1]))?;
            let mut whole = vec![0; line * size[1] as usize];
            reader.next_frame(&mut whole).map_err(broken)?;
            Some(whole)
        }
        false => None,
    };
    Ok(Decoding {
        size,
        channels,
        is_half: false,
        rows: Box::new(PngRows {
            table: SampleTable::new(if is_wide { u16::MAX } else { 255 }, color_space),
            channels,
            is_wide,
            height: size[1] as usize,
            line,
            row: 0,
            reader,
            whole,
        }),
    })
}

/// The rows of a PNG file.
struct PngRows<R: BufRead + Seek> {
    reader: Reader<R>,
    /// The bytes of all rows, if the file is interlaced.
    whole: Option<Vec<u8>>,
    table: SampleTable,
    channels: usize,
    is_wide: bool,
    height: usize,
    /// Bytes of a row.
    line: usize,
    /// The next row.
    row: usize,
}

impl<R: BufRead + Seek> DecodeRows for PngRows<R> {
    fn decode_row(&mut self, row: &mut [f32]) -> Result<(), ImageError> {
        let bytes = match &self.whole {
            Some(whole) => whole
                .get(self.line * self.row..)
                .map(|rest| &rest[..self.line]),
            None => self
                .reader
                .next_row()
                .map_err(broken)?
                .map(|row| row.data()),
        };
        let early = || ImageError::Malformed("it has fewer rows than its header says".to_owned());
        let bytes = bytes.ok_or_else(early)?;
        if self.is_wide {
            let samples = bytes.as_chunks::<2>().0.iter();
            let samples = samples.map(|pair| u16::from_be_bytes(*pair));
            self.table.write(samples, self.channels, row);
        } else {
            let samples = bytes.iter().map(|&byte| byte.into());
            self.table.write(samples, self.channels, row);
        }
        self.row += 1;
        if self.row == self.height && self.whole.is_none() {
            // Checks what comes after the last row.
            self.reader.next_row().map_err(broken)?;
        }
        Ok(())
    }
}

fn broken(error: png::DecodingError) -> ImageError {
    match error {
        png::DecodingError::IoError(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            ImageError::Io(error)
        }
        other => ImageError::Malformed(other.to_string()),
    }
}
