//! The metadata of what a module declares.

use super::{Metadata, MetadataValue};
use crate::module::{Input, Output, Texture};

fn find<'a>(entries: &'a [Metadata], name: &str) -> Option<&'a MetadataValue> {
    let entry = entries.iter().find(|entry| entry.name == name)?;
    Some(&entry.value)
}

impl Input {
    /// The input's metadata of that name.
    pub fn metadata_value(&self, name: &str) -> Option<&MetadataValue> {
        find(&self.metadata, name)
    }
}

impl Output {
    /// The output's metadata of that name.
    pub fn metadata_value(&self, name: &str) -> Option<&MetadataValue> {
        find(&self.metadata, name)
    }
}

/// The metadata of a texture that hosts which read its file obey. Other entries are the host's own.
impl Texture {
    /// The name of its file, a string. A relative one begins at the folder of the declaring source.
    pub const FILE: &str = "file";
    /// What happens beyond its edges along u: one of [`WRAPS`](Texture::WRAPS).
    pub const WRAP_U: &str = "wrap_u";
    /// The same along v.
    pub const WRAP_V: &str = "wrap_v";
    /// What its colours mean: one of [`COLOR_SPACES`](Texture::COLOR_SPACES).
    pub const COLOR_SPACE: &str = "color_space";
    /// The values of `wrap_u` and `wrap_v`; without one the texture repeats.
    pub const WRAPS: [&str; 4] = ["repeat", "clamp", "mirror", "black"];
    /// The values of `color_space`: colours by the curve of sRGB, the default, or numbers as they
    /// are.
    pub const COLOR_SPACES: [&str; 2] = ["srgb", "linear"];

    /// The texture's metadata of that name.
    pub fn metadata_value(&self, name: &str) -> Option<&MetadataValue> {
        find(&self.metadata, name)
    }

    /// The string of that name in its metadata.
    pub fn metadata_str(&self, name: &str) -> Option<&str> {
        self.metadata_value(name)?.as_str()
    }
}
