//! Images that materials sample.

use adumbra_image::{ColorSpace, Image, ImageError, Wrap, read_image_as};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a texture's image is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TextureSource {
    /// A file: an image, or a tiled EXR.
    File(PathBuf),
    /// A file's bytes within another file.
    Embedded {
        /// The other file, and which of its images it is.
        name: String,
        /// The bytes of a PNG or JPEG file.
        bytes: Arc<[u8]>,
    },
}

/// A texture of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneTexture {
    /// Where its image is.
    pub source: TextureSource,
    /// What happens beyond its edges, along u and v.
    pub wrap: [Wrap; 2],
    /// What its numbers mean.
    pub color_space: ColorSpace,
}

impl SceneTexture {
    /// A name for messages.
    pub fn name(&self) -> String {
        match &self.source {
            TextureSource::File(path) => path.display().to_string(),
            TextureSource::Embedded { name, .. } => name.clone(),
        }
    }

    /// The file of the texture. Embedded bytes are written to one in `folder`, which is named by
    /// `index`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn to_file(&self, folder: &Path, index: usize) -> std::io::Result<PathBuf> {
        match &self.source {
            TextureSource::File(path) => Ok(path.clone()),
            TextureSource::Embedded { bytes, .. } => {
                let path = folder.join(format!("{index}.{}", extension(bytes)));
                std::fs::write(&path, bytes)?;
                Ok(path)
            }
        }
    }

    /// Decodes the image; its numbers are linear.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self) -> Result<Image, ImageError> {
        match &self.source {
            TextureSource::File(path) => read_image_as(path, self.color_space),
            TextureSource::Embedded { bytes, .. } => {
                let mut file = tempfile::NamedTempFile::new()?;
                file.write_all(bytes)?;
                file.flush()?;
                read_image_as(file.path(), self.color_space)
            }
        }
    }
}

/// The ending of a file with these bytes.
fn extension(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xd8, ..] => "jpg",
        [0x76, 0x2f, 0x31, 0x01, ..] => "exr",
        _ => "png",
    }
}
