//! Why a picture cannot be read or written.

use crate::size::SizeError;
use std::fmt;
use std::io;

/// Why a picture cannot be read or written.
#[derive(Debug)]
pub enum PictureError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// It is neither PNG nor EXR.
    NotAPicture,
    /// It has a size that no picture may have.
    Size(SizeError),
    /// It says what it should not, ends early, or has what is not supported: why, in words.
    Broken(String),
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureError::Io(error) => error.fmt(f),
            PictureError::NotAPicture => f.write_str("it is neither a PNG nor an EXR file"),
            PictureError::Size(error) => error.fmt(f),
            PictureError::Broken(why) => write!(f, "the picture cannot be read: {why}"),
        }
    }
}

impl std::error::Error for PictureError {}

impl From<io::Error> for PictureError {
    fn from(error: io::Error) -> PictureError {
        PictureError::Io(error)
    }
}

impl From<SizeError> for PictureError {
    fn from(error: SizeError) -> PictureError {
        PictureError::Size(error)
    }
}
