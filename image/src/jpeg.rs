//! Reads JPEG files.

use crate::error::ImageError;
use crate::rows::{DecodeRows, Decoding, SampleTable, SizeLimit, check_decoded};
use crate::size::check_file;
use crate::texture_settings::ColorSpace;
use std::io::{Cursor, Read};
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZByteIoError;
use zune_jpeg::zune_core::colorspace::ColorSpace as JpegColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The first bytes of a JPEG file.
pub(crate) const SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Longest side of a JPEG image: its header has 16 bits for it.
const MAX_SIDE: usize = u16::MAX as usize;

/// Longest file, in bytes: more than an image of a quarter of
/// [`MAX_DECODED_BYTES`](crate::MAX_DECODED_BYTES) needs.
const MAX_BYTES: u64 = 1 << 28;

/// The most pixels that a byte of a file gives: each block of 8 by 8 takes at least a bit.
const PIXELS_PER_BYTE: u64 = 8 * 64;

/// The markers before the data of a scan and at the end of an image. Data has neither.
const START_OF_SCAN: &[u8] = b"\xff\xda";
const END_OF_IMAGE: &[u8] = b"\xff\xd9";

/// Decodes a JPEG file of `len` bytes.
pub(crate) fn decode<'a>(
    file: impl Read,
    len: u64,
    color_space: ColorSpace,
    limit: SizeLimit,
) -> Result<Decoding<'a>, ImageError> {
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
    let size = limit(info.width.into(), info.height.into())?;
    let pixels = u64::from(size[0]) * u64::from(size[1]);
    check_file(size, len, pixels / PIXELS_PER_BYTE)?;
    let is_grey = decoder.input_colorspace() == Some(JpegColorSpace::Luma);
    let (space, channels) = match is_grey {
        true => (JpegColorSpace::Luma, 1),
        false => (JpegColorSpace::RGB, 3),
    };
    check_decoded(channels as u64 * pixels)?;
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(broken)?;
    if samples.len() as u64 != channels as u64 * pixels {
        return Err(malformed("it has fewer pixels than its header says"));
    }
    Ok(Decoding {
        size,
        channels,
        is_half: false,
        rows: Box::new(JpegRows {
            table: SampleTable::new(u8::MAX.into(), color_space),
            channels,
            samples: samples.into_iter(),
        }),
    })
}

/// The rows of a JPEG file, which is decoded.
struct JpegRows {
    table: SampleTable,
    channels: usize,
    /// The samples of the rows that are left.
    samples: std::vec::IntoIter<u8>,
}

impl DecodeRows for JpegRows {
    fn decode_row(&mut self, row: &mut [f32]) -> Result<(), ImageError> {
        let samples = self.samples.by_ref().take(row.len());
        self.table.write(samples.map(u16::from), self.channels, row);
        Ok(())
    }
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
