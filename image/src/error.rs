//! Errors of reading and writing images.

use crate::size::SizeError;
use std::fmt;
use std::io;

/// Why an image cannot be read or written.
#[derive(Debug)]
pub enum ImageError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// It is no PNG, EXR or JPEG.
    UnknownFormat,
    /// It has a size that no image may have.
    Size(SizeError),
    /// It is malformed, ends early, or is of a form that is not supported: why, in words.
    Malformed(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Io(error) => error.fmt(f),
            ImageError::UnknownFormat => f.write_str("it is no PNG, EXR or JPEG file"),
            ImageError::Size(error) => error.fmt(f),
            ImageError::Malformed(why) => write!(f, "the image cannot be read: {why}"),
        }
    }
}

impl std::error::Error for ImageError {}

impl From<io::Error> for ImageError {
    fn from(error: io::Error) -> ImageError {
        ImageError::Io(error)
    }
}

impl From<SizeError> for ImageError {
    fn from(error: SizeError) -> ImageError {
        ImageError::Size(error)
    }
}
