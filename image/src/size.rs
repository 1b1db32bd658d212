//! The size of an image: at least one pixel, at most [`MAX_PIXELS`].

use crate::error::ImageError;
use std::fmt;
use std::str::FromStr;

/// The most bytes that a byte of deflated data gives: two bits repeat 258 of them (RFC 1951).
pub(crate) const MAX_INFLATION: u64 = 1_032;

/// Most pixels of an image, and most texels of a texture: those of 7680×4320, and a few more. In
/// floats that is half a gigabyte.
pub const MAX_PIXELS: u64 = 1 << 25;

/// Longest side of an image that is decoded [row by row](crate::ImageRows).
pub const MAX_SIDE: u32 = 1 << 16;

/// Width and height, each at least 1, together at most [`MAX_PIXELS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    width: u32,
    height: u32,
}

/// Why an image cannot have a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// Not written as one.
    Malformed(String),
    /// Without pixels.
    Empty(u64, u64),
    /// More than [`MAX_PIXELS`]; how it is written.
    TooLarge(String),
    /// With a side of more than [`MAX_SIDE`]; how it is written.
    TooLong(String),
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeError::Malformed(text) => {
                write!(f, "`{text}` is not a size; one is written 640x480")
            }
            SizeError::Empty(width, height) => write!(f, "{width}x{height} has no pixels"),
            SizeError::TooLarge(size) => write!(
                f,
                "{size} has more than {MAX_PIXELS} pixels, which is the most"
            ),
            SizeError::TooLong(size) => write!(
                f,
                "{size} has a side of more than {MAX_SIDE} pixels, which is the most"
            ),
        }
    }
}

impl std::error::Error for SizeError {}

impl ImageSize {
    /// A size of at least one and at most [`MAX_PIXELS`] pixels.
    ///
    /// # Errors
    /// If there are none or more than [`MAX_PIXELS`].
    pub fn new(width: u64, height: u64) -> Result<ImageSize, SizeError> {
        match width.saturating_mul(height) {
            0 => Err(SizeError::Empty(width, height)),
            1..=MAX_PIXELS => Ok(ImageSize {
                width: width as u32,
                height: height as u32,
            }),
            _ => Err(SizeError::TooLarge(format!("{width}x{height}"))),
        }
    }

    /// Pixels of a row.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(self) -> u32 {
        self.height
    }

    /// Pixels.
    pub fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// Checks that a file of `len` bytes can hold an image of this size, which takes at least `least`
/// bytes of it. Readers call it before decoders take memory for the pixels: the memory of a file is
/// in proportion to its length.
pub(crate) fn check_file(
    [width, height]: [u32; 2],
    len: u64,
    least: u64,
) -> Result<(), ImageError> {
    match len < least {
        true => Err(ImageError::Malformed(format!(
            "it has {len} bytes, too few for {width}x{height} pixels"
        ))),
        false => Ok(()),
    }
}

impl fmt::Display for ImageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Parses `640x480`.
impl FromStr for ImageSize {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<ImageSize, SizeError> {
        let malformed = || SizeError::Malformed(text.to_owned());
        let side = |side: &str| match side.bytes().all(|byte| byte.is_ascii_digit()) {
            // More digits than a number has are more pixels than there may be.
            true if !side.is_empty() => Ok(side.parse().unwrap_or(u64::MAX)),
            _ => Err(malformed()),
        };
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(malformed)?;
        match ImageSize::new(side(width)?, side(height)?) {
            Err(SizeError::TooLarge(_)) => Err(SizeError::TooLarge(text.to_owned())),
            size => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bounded_and_nonempty() {
        let read = |text: &str| text.parse::<ImageSize>();
        let size = read("640x480").unwrap();
        assert_eq!(
            (size.width(), size.height(), size.pixels()),
            (640, 480, 307_200)
        );
        assert_eq!(size.to_string(), "640x480");
        assert!(read("7680X4320").is_ok() && read("1x1").is_ok());
        assert!(read(&format!("{MAX_PIXELS}x1")).is_ok());
        assert_eq!(read("0x4"), Err(SizeError::Empty(0, 4)));
        for huge in [
            "33554433x1",
            "1000000000x1000000000",
            "1x99999999999999999999",
        ] {
            assert_eq!(read(huge), Err(SizeError::TooLarge(huge.to_owned())));
        }
        for text in [
            "", "x", "4", "4x", "x4", "-4x4", "4x4x4", "4 x4", "4.0x4", "+4x4", "٤x4",
        ] {
            assert!(matches!(read(text), Err(SizeError::Malformed(_))), "{text}");
        }
    }
}
