//! Images that materials sample.

use crate::texture::TextureSource;
use adumbra_image::{ColorSpace, Wrap};

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
        self.source.name()
    }
}
