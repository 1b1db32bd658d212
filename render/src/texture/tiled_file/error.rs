//! Errors of tiled textures: each names its file.

use adumbra_image::ImageError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a tiled texture, or a tile of one, cannot be read or written.
#[derive(Debug)]
pub struct TiledFileError {
    path: PathBuf,
    tile: Option<[u32; 3]>,
    kind: Kind,
}

/// What is wrong, in a file that the caller knows.
#[derive(Debug)]
pub(super) enum Kind {
    /// It cannot be read or written.
    Io(io::Error),
    /// It may be an image, but it is no tiled texture.
    OtherImage(&'static str),
    /// It is beyond a limit.
    Limit(String),
    /// It is malformed or not supported.
    Malformed(String),
    /// As an image it cannot be read.
    Image(ImageError),
    /// It cannot be written.
    Target(ImageError),
}

impl TiledFileError {
    pub(super) fn new(path: &Path, kind: Kind) -> TiledFileError {
        TiledFileError {
            path: path.to_owned(),
            tile: None,
            kind,
        }
    }

    /// The file cannot be read or written.
    pub(in crate::texture) fn io(path: &Path, error: io::Error) -> TiledFileError {
        TiledFileError::new(path, Kind::Io(error))
    }

    /// The file cannot be written.
    pub(in crate::texture) fn target(path: &Path, error: ImageError) -> TiledFileError {
        TiledFileError::new(path, Kind::Target(error))
    }

    pub(super) fn in_tile(self, level: u32, x: u32, y: u32) -> TiledFileError {
        TiledFileError {
            tile: Some([level, x, y]),
            ..self
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file may be an image of another kind, which can be converted.
    pub fn is_other_image(&self) -> bool {
        matches!(self.kind, Kind::OtherImage(_))
    }

    /// Whether the file is one that cannot be written.
    pub fn is_target_unwritable(&self) -> bool {
        matches!(self.kind, Kind::Target(_))
    }
}

impl fmt::Display for TiledFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some([level, x, y]) = self.tile {
            write!(f, "tile {x}, {y} of level {level}: ")?;
        }
        match &self.kind {
            Kind::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the file ends early")
            }
            Kind::Io(error) => error.fmt(f),
            Kind::OtherImage(why) => write!(f, "it is no tiled texture: {why}"),
            Kind::Limit(why) | Kind::Malformed(why) => f.write_str(why),
            Kind::Image(error) => error.fmt(f),
            Kind::Target(error) => write!(f, "it cannot be written: {error}"),
        }
    }
}

impl std::error::Error for TiledFileError {}

impl From<io::Error> for Kind {
    fn from(error: io::Error) -> Kind {
        Kind::Io(error)
    }
}

impl From<ImageError> for Kind {
    fn from(error: ImageError) -> Kind {
        Kind::Image(error)
    }
}

impl From<exr::error::Error> for Kind {
    fn from(error: exr::error::Error) -> Kind {
        match error {
            exr::error::Error::Io(error) => Kind::Io(error),
            other => Kind::Malformed(other.to_string()),
        }
    }
}
