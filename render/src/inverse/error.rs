//! Why a scene has no gradient by an input.

use crate::scene_image::SceneImageError;
use crate::shading::ShadingError;
use adumbra::Diagnostics;
use adumbra::access::AccessError;
use adumbra_fit::BoundsError;
use std::fmt;

/// Why a scene has no gradient by an input.
#[derive(Debug)]
pub enum InverseError {
    /// A name is not of the form `material.input`.
    NotAnInput(String),
    /// No material has that name: with the one that was probably meant, or all.
    UnknownMaterial(String, Vec<String>),
    /// The material has no such input: with the material, and the one that was probably meant, or
    /// all that have floats.
    UnknownInput(String, String, Vec<String>),
    /// The input is no float and no vector.
    NoFloats(String),
    /// The material's program has no gradient by it: with the name of the material.
    Gradient(String, Diagnostics),
    /// Points of the material are evaluated in quads.
    Quads(String),
    /// The material's program and its gradient do not fit.
    Access(AccessError),
    /// The bounds of an input make no sense.
    Bounds(BoundsError),
    /// A number of the input is not finite.
    NotFinite(String),
    /// The scene cannot be drawn.
    Image(SceneImageError),
}

impl fmt::Display for InverseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choice = |known: &[String]| match known {
            [] => "; there are none".to_owned(),
            [meant] => format!("; did you mean `{meant}`?"),
            all => format!("; there are `{}`", all.join("`, `")),
        };
        match self {
            InverseError::NotAnInput(name) => write!(
                f,
                "`{name}` is no input of a material: write `material.input`"
            ),
            InverseError::UnknownMaterial(name, known) => {
                write!(f, "there is no material `{name}`{}", choice(known))
            }
            InverseError::UnknownInput(material, name, known) => write!(
                f,
                "the material `{material}` has no input `{name}`{}",
                choice(known)
            ),
            InverseError::NoFloats(name) => write!(
                f,
                "`{name}` is no float and no vector, so it has no gradient"
            ),
            InverseError::Gradient(material, diagnostics) => {
                let report = diagnostics.to_string();
                write!(f, "material `{material}`:\n{}", report.trim_end())
            }
            InverseError::Quads(material) => write!(
                f,
                "points of the material `{material}` are evaluated in quads, and have no gradient by inputs"
            ),
            InverseError::Access(error) => error.fmt(f),
            InverseError::Bounds(error) => error.fmt(f),
            InverseError::NotFinite(name) => write!(f, "a number of `{name}` is not finite"),
            InverseError::Image(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InverseError {}

impl InverseError {
    /// Whether the names of inputs are at fault.
    pub fn is_of_names(&self) -> bool {
        matches!(
            self,
            InverseError::NotAnInput(_)
                | InverseError::UnknownMaterial(..)
                | InverseError::UnknownInput(..)
                | InverseError::NoFloats(_)
        )
    }
}

impl From<SceneImageError> for InverseError {
    fn from(error: SceneImageError) -> InverseError {
        InverseError::Image(error)
    }
}

impl From<ShadingError> for InverseError {
    fn from(error: ShadingError) -> InverseError {
        InverseError::Image(SceneImageError::Shading(error))
    }
}

impl From<AccessError> for InverseError {
    fn from(error: AccessError) -> InverseError {
        InverseError::Access(error)
    }
}
