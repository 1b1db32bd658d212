//! Image files decoded from the top, row by row: no more of an image is in memory than its format
//! demands.
//!
//! PNG files are decoded row by row unless they are interlaced, EXR files by rows of their blocks.
//! JPEG files and interlaced PNG files are decoded whole, at their own bits per channel, and have
//! at most [`MAX_DECODED_BYTES`] then.

use crate::error::ImageError;
use crate::size::{ImageSize, MAX_SIDE, SizeError};
use crate::texture_settings::ColorSpace;
use crate::{exr, jpeg, png, srgb};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

/// Most bytes of decoded pixels that a format has in memory at once: 16384×16384 in three bytes
/// each, and some more.
pub const MAX_DECODED_BYTES: u64 = 1 << 30;

/// The rows of an image file, decoded when they are asked for.
///
/// ```no_run
/// use adumbra_image::{ColorSpace, ImageRows};
/// let mut rows = ImageRows::open("wood.png".as_ref(), ColorSpace::Srgb)?;
/// let [_, height] = rows.size();
/// for _ in 0..height {
///     let linear: &[f32] = rows.next_row()?;
///     assert_eq!(linear.len() % rows.channels(), 0);
/// }
/// # Ok::<(), adumbra_image::ImageError>(())
/// ```
pub struct ImageRows<'a> {
    size: [u32; 2],
    channels: usize,
    is_half: bool,
    rows: Box<dyn DecodeRows + 'a>,
    row: Vec<f32>,
}

/// What a format knows of a file when its header is read.
pub(crate) struct Decoding<'a> {
    pub(crate) size: [u32; 2],
    /// Grey, grey and alpha, red, green and blue, or these and alpha.
    pub(crate) channels: usize,
    /// Whether half floats have every bit of the numbers.
    pub(crate) is_half: bool,
    pub(crate) rows: Box<dyn DecodeRows + 'a>,
}

/// The rows of a file, of one format.
pub(crate) trait DecodeRows {
    /// Decodes the next row, all channels of a pixel together. It is called once for each row.
    fn decode_row(&mut self, row: &mut [f32]) -> Result<(), ImageError>;
}

/// Which sizes an image may have.
pub(crate) type SizeLimit = fn(u64, u64) -> Result<[u32; 2], SizeError>;

/// Sides of 1 to [`MAX_SIDE`].
fn bounded_sides(width: u64, height: u64) -> Result<[u32; 2], SizeError> {
    match (width, height) {
        (0, _) | (_, 0) => Err(SizeError::Empty(width, height)),
        _ if width.max(height) > MAX_SIDE.into() => {
            Err(SizeError::TooLong(format!("{width}x{height}")))
        }
        _ => Ok([width as u32, height as u32]),
    }
}

/// Sizes of at most [`MAX_PIXELS`](crate::MAX_PIXELS).
pub(crate) fn bounded_pixels(width: u64, height: u64) -> Result<[u32; 2], SizeError> {
    let size = ImageSize::new(width, height)?;
    Ok([size.width(), size.height()])
}

/// Opens a file, and no folder or device, with its length.
pub(crate) fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let metadata = path.metadata()?;
    match metadata.is_file() {
        true => Ok((File::open(path)?, metadata.len())),
        false => Err(io::Error::other("it is not a file")),
    }
}

impl<'a> ImageRows<'a> {
    /// Opens a PNG, EXR or JPEG file as [`read_image_as`](crate::read_image_as) does, and reads its
    /// header. Sides are at most [`MAX_SIDE`].
    ///
    /// # Errors
    /// If it cannot be read, or is no such file, or is too large, or is too short for the size that
    /// it says.
    pub fn open(path: &Path, color_space: ColorSpace) -> Result<ImageRows<'static>, ImageError> {
        ImageRows::open_within(path, color_space, bounded_sides)
    }

    pub(crate) fn open_within(
        path: &Path,
        color_space: ColorSpace,
        limit: SizeLimit,
    ) -> Result<ImageRows<'static>, ImageError> {
        let (file, len) = open_file(path)?;
        ImageRows::decode(BufReader::new(file), len, color_space, limit)
    }

    /// The rows of a file's bytes, with the limits of [`open`](ImageRows::open).
    ///
    /// # Errors
    /// As [`open`](ImageRows::open).
    pub fn of_bytes(bytes: &'a [u8], color_space: ColorSpace) -> Result<ImageRows<'a>, ImageError> {
        let file = Cursor::new(bytes);
        ImageRows::decode(file, bytes.len() as u64, color_space, bounded_sides)
    }

    fn decode(
        mut file: impl BufRead + Seek + 'a,
        len: u64,
        color_space: ColorSpace,
        limit: SizeLimit,
    ) -> Result<ImageRows<'a>, ImageError> {
        let mut start = Vec::new();
        file.by_ref().take(8).read_to_end(&mut start)?;
        file.rewind()?;
        let decoding = if start.starts_with(png::SIGNATURE) {
            png::decode(file, len, color_space, limit)?
        } else if start.starts_with(exr::SIGNATURE) {
            exr::decode(file, len, limit)?
        } else if start.starts_with(jpeg::SIGNATURE) {
            jpeg::decode(file, len, color_space, limit)?
        } else {
            return Err(ImageError::UnknownFormat);
        };
        let Decoding {
            size,
            channels,
            is_half,
            rows,
        } = decoding;
        Ok(ImageRows {
            size,
            channels,
            is_half,
            rows,
            row: vec![0.0; size[0] as usize * channels],
        })
    }

    /// Width and height.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Numbers of a pixel: 1 is grey, 2 are grey and alpha, 3 are red, green and blue, 4 are these
    /// and alpha.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Whether half floats have every bit of the numbers: those of an EXR file of half floats.
    pub fn is_half(&self) -> bool {
        self.is_half
    }

    /// Decodes the next row: linear numbers, those of a pixel together. It is to be called once for
    /// each row.
    ///
    /// # Errors
    /// If the file cannot be read, is malformed or ends early.
    pub fn next_row(&mut self) -> Result<&[f32], ImageError> {
        self.rows.decode_row(&mut self.row)?;
        Ok(&self.row)
    }
}

impl fmt::Debug for ImageRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageRows")
            .field("size", &self.size)
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}

/// Checks the bytes of pixels that a format decodes at once.
pub(crate) fn check_decoded(bytes: u64) -> Result<(), ImageError> {
    match bytes > MAX_DECODED_BYTES {
        true => Err(ImageError::Malformed(format!(
            "{bytes} bytes of its pixels are decoded at once; {MAX_DECODED_BYTES} is the most"
        ))),
        false => Ok(()),
    }
}

/// The numbers of integer samples: colours by the curve of a color space, alpha as it is.
pub(crate) struct SampleTable {
    most: u16,
    colours: Vec<f32>,
}

impl SampleTable {
    /// Of samples from 0 to `most`.
    pub(crate) fn new(most: u16, color_space: ColorSpace) -> SampleTable {
        let colour = |n: u16| {
            let part = f64::from(n) / f64::from(most);
            match color_space {
                ColorSpace::Srgb => srgb::to_linear(part) as f32,
                ColorSpace::Linear => part as f32,
            }
        };
        SampleTable {
            most,
            colours: (0..=most).map(colour).collect(),
        }
    }

    /// Writes the numbers of a row's samples; the second and fourth channel are alpha.
    pub(crate) fn write(
        &self,
        samples: impl Iterator<Item = u16>,
        channels: usize,
        row: &mut [f32],
    ) {
        let alpha = channels.is_multiple_of(2).then_some(channels - 1);
        for (at, (number, sample)) in row.iter_mut().zip(samples).enumerate() {
            *number = match Some(at % channels) == alpha {
                true => (f64::from(sample) / f64::from(self.most)) as f32,
                false => self.colours[usize::from(sample)],
            };
        }
    }
}
