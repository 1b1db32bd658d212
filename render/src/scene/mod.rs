//! Scenes: what to draw, from scene files (JSON), glTF, OBJ, or a shader's file.
//!
//! A [`SceneLoader`] reads a file into a [`Scene`]: a camera, a [`World`] of meshes and instances,
//! compiled materials, textures, lights and the environment. `docs/render.md` describes the format
//! of scene files under "Scene files"; the types of `file` are its definition. A glTF or OBJ file
//! is a scene by itself, and so is a shader (`.adu`), which is drawn on a sphere and a square.
//! Everything that is wrong with a file is a [`SceneError`] with a place.

mod builder;
mod bytes;
mod camera;
mod compile;
mod error;
mod file;
mod file_kind;
mod fingerprint;
mod fitted;
mod gltf;
mod light;
mod loader;
mod map_statement;
mod obj;
mod obj_check;
mod preview;
mod replacement;
mod section;
mod standard;
mod texture;
mod transform;

pub use crate::texture::TextureSource;
pub use adumbra_image::ColorSpace;
pub use bytes::MAX_FILE_BYTES;
pub use camera::{DEFAULT_SIZE, MAX_SIDE, framing_camera};
pub use compile::{MaterialCompiler, set_input};
pub use error::{SceneError, ScenePlace};
pub use file::{DEFAULT_BOUNCES, DEFAULT_SAMPLES, MAX_BOUNCES, MAX_SAMPLES, SceneOptions};
pub use fitted::with_inputs;
pub use light::{ArrivingLight, Light, SpotCone};
pub use loader::{MAX_NESTING, SceneLoader};
pub use preview::PreviewShape;
pub use replacement::MaterialReplacement;
pub use texture::SceneTexture;

use crate::camera::Camera;
use crate::geometry::World;
use adumbra::Instance;
use glam::Vec3;
use std::path::PathBuf;

/// Light from infinity in all directions.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// The same radiance everywhere.
    Constant(Vec3),
    /// A latitude-longitude image, and a factor.
    Image {
        /// The file of the image.
        file: PathBuf,
        /// What its radiance is multiplied by.
        scale: f32,
    },
}

/// A compiled material of the scene.
#[derive(Clone, Debug)]
pub struct Material {
    /// Its name, for messages.
    pub name: String,
    /// The program with its inputs folded in.
    pub instance: Instance,
    /// The program with its inputs set, which can be set otherwise.
    pub unfolded: Instance,
    /// The texture of the scene for each texture of the program.
    pub textures: Vec<usize>,
}

/// All that an image is drawn from.
#[derive(Debug)]
pub struct Scene {
    /// The camera, with the size of the image.
    pub camera: Camera,
    /// Meshes and instances.
    pub world: World,
    /// The materials that instances have.
    pub materials: Vec<Material>,
    /// Images that materials sample.
    pub textures: Vec<SceneTexture>,
    /// Lights without a shape.
    pub lights: Vec<Light>,
    /// Light from infinity.
    pub environment: Environment,
    /// Options of the command that the scene sets.
    pub options: SceneOptions,
    /// What was left out or replaced, for people.
    pub warnings: Vec<String>,
}
