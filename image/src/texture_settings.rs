//! The way in which an image is a texture: its wrap modes, and the meaning of its numbers.

use crate::wrap::Wrap;

/// What the colours of an image with 8 or 16 bits mean. EXR files are linear all the same.
///
/// ```
/// use adumbra_image::ColorSpace;
/// assert_eq!(ColorSpace::from_name("linear"), Some(ColorSpace::Linear));
/// assert_eq!(ColorSpace::default().name(), "srgb");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColorSpace {
    /// Colours by the curve of sRGB.
    #[default]
    Srgb,
    /// Numbers as they are: normals, roughness.
    Linear,
}

impl ColorSpace {
    /// Every color space.
    pub const ALL: [ColorSpace; 2] = [ColorSpace::Srgb, ColorSpace::Linear];
    /// The [`name`](ColorSpace::name) of each.
    pub const NAMES: [&'static str; 2] = ["srgb", "linear"];

    /// The name in scene files and in shaders.
    pub fn name(self) -> &'static str {
        ColorSpace::NAMES[self as usize]
    }

    /// The color space with that [`name`](ColorSpace::name).
    pub fn from_name(name: &str) -> Option<ColorSpace> {
        ColorSpace::ALL
            .into_iter()
            .find(|space| space.name() == name)
    }
}

/// How an image is read as a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextureSettings {
    /// Along u and v.
    pub wrap: [Wrap; 2],
    /// What its numbers mean.
    pub color_space: ColorSpace,
}

impl TextureSettings {
    /// The settings of a texture whose metadata `wrap_u`, `wrap_v` and `color_space` are these
    /// strings, by name; what it does not say is the default.
    ///
    /// ```
    /// use adumbra_image::{TextureSettings, Wrap};
    /// let metadata = |name: &str| (name == "wrap_v").then_some("clamp");
    /// let settings = TextureSettings::of_metadata(metadata)?;
    /// assert_eq!(settings.wrap, [Wrap::Repeat, Wrap::Clamp]);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// If a value is not known, with the reason for people.
    pub fn of_metadata<'m>(
        metadata: impl Fn(&str) -> Option<&'m str>,
    ) -> Result<TextureSettings, String> {
        let unknown = |name: &str, value: &str| format!("`{name}` cannot be {value:?}");
        let wrap = |name: &str| match metadata(name) {
            None => Ok(Wrap::default()),
            Some(value) => Wrap::from_name(value).ok_or_else(|| unknown(name, value)),
        };
        let name = "color_space";
        let color_space = match metadata(name) {
            None => Ok(ColorSpace::default()),
            Some(value) => ColorSpace::from_name(value).ok_or_else(|| unknown(name, value)),
        };
        Ok(TextureSettings {
            wrap: [wrap("wrap_u")?, wrap("wrap_v")?],
            color_space: color_space?,
        })
    }
}
