//! Where the image of a texture is: in a file, in a part of one, or in memory.

use adumbra::sources::open_file;
use adumbra_image::Fingerprint;
use adumbra_image::{ColorSpace, ImageError, ImageRows};
use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// Where a texture's image is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TextureSource {
    /// A file: an image, or a tiled EXR.
    File(PathBuf),
    /// An image file that is a part of another file. It is read when the texture is.
    Part {
        /// The other file, and which of its images it is.
        name: String,
        /// The other file.
        file: PathBuf,
        /// Where the part begins, in bytes.
        start: u64,
        /// Bytes of the part.
        length: u64,
    },
    /// The bytes of an image file, from within the source of another file.
    Bytes {
        /// The other file, and which of its images it is.
        name: String,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
}

impl TextureSource {
    /// A name for messages.
    pub fn name(&self) -> String {
        match self {
            TextureSource::File(path) => path.display().to_string(),
            TextureSource::Part { name, .. } | TextureSource::Bytes { name, .. } => name.clone(),
        }
    }

    /// The bytes of the image file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        let (file, start, length) = match self {
            TextureSource::Bytes { bytes, .. } => return Ok(Cow::Borrowed(bytes)),
            TextureSource::File(file) => (file, 0, u64::MAX),
            TextureSource::Part {
                file,
                start,
                length,
                ..
            } => (file, *start, *length),
        };
        let mut file = open_file(file)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Gives the rows of the image to `read`.
    ///
    /// # Errors
    /// If they cannot be read, or `read` gives one.
    pub fn with_rows<T>(
        &self,
        color_space: ColorSpace,
        read: impl FnOnce(&mut ImageRows<'_>) -> Result<T, ImageError>,
    ) -> Result<T, ImageError> {
        match self {
            TextureSource::File(path) => read(&mut ImageRows::open(path, color_space)?),
            TextureSource::Part { .. } | TextureSource::Bytes { .. } => {
                read(&mut ImageRows::of_bytes(&self.read_bytes()?, color_space)?)
            }
        }
    }

    /// Adds the contents to a fingerprint, as [`Fingerprint::add_file`] adds a file.
    pub fn add_to(&self, all: &mut Fingerprint) {
        match self {
            TextureSource::File(path) => all.add_file(path),
            TextureSource::Part { .. } | TextureSource::Bytes { .. } => match self.read_bytes() {
                Ok(bytes) => all.add_bytes(&bytes),
                Err(error) => all.add_debug(&error.kind()),
            },
        }
    }
}
