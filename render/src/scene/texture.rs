//! Images that materials sample.

use crate::texture::Wrap;
use adumbra::sources::open_file;
use adumbra_image::{Image, ImageError, read_image, srgb};
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

/// What the numbers of a texture with 8 or 16 bits mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColorSpace {
    /// Colours by the curve of sRGB. EXR files are linear all the same.
    #[default]
    Srgb,
    /// Numbers as they are: normals, roughness.
    Linear,
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
        let (mut image, is_encoded) = match &self.source {
            TextureSource::File(path) => (read_image(path)?, is_encoded(path)?),
            TextureSource::Embedded { bytes, .. } => {
                let mut file = tempfile::NamedTempFile::new()?;
                file.write_all(bytes)?;
                file.flush()?;
                (read_image(file.path())?, true)
            }
        };
        if is_encoded && self.color_space == ColorSpace::Linear {
            for pixel in image.pixels_mut() {
                for value in &mut pixel[..3] {
                    *value = srgb::from_linear(f64::from(*value)) as f32;
                }
            }
        }
        Ok(image)
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

/// Whether an image file has colours by the curve of sRGB, as all but EXR have.
fn is_encoded(path: &Path) -> std::io::Result<bool> {
    use std::io::Read;
    let mut start = [0; 4];
    let read = open_file(path)?.read(&mut start)?;
    Ok(extension(&start[..read]) != "exr")
}
