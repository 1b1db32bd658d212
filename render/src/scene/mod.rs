//! Scenes: what to draw, from scene files (JSON), glTF, OBJ, or generated.

use crate::camera::Camera;
use crate::geometry::World;
use adumbra::Instance;
use glam::{DVec3, Vec3};
use std::path::PathBuf;

/// A light without a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Light {
    /// A point light; its intensity, W/sr.
    Point { position: DVec3, intensity: Vec3 },
    /// A light at infinity, towards `direction`; its irradiance, W/m².
    Directional { direction: DVec3, irradiance: Vec3 },
}

/// Light from infinity in all directions.
#[derive(Clone, Debug, PartialEq)]
pub enum Environment {
    /// The same radiance everywhere.
    Constant(Vec3),
    /// A latitude-longitude image, and a factor.
    Image { file: PathBuf, scale: f32 },
}

/// A compiled material of the scene.
#[derive(Clone, Debug)]
pub struct Material {
    pub name: String,
    /// The program with its parameters; compiled for [`Hit`](crate::shading::Hit) and the closures
    /// of [`shading`](crate::shading).
    pub instance: Instance,
    /// The texture of the scene for each texture of the program.
    pub textures: Vec<usize>,
}

/// All that an image is drawn from.
#[derive(Debug)]
pub struct Scene {
    pub camera: Camera,
    pub world: World,
    pub materials: Vec<Material>,
    /// Files of textures: images, or tiled EXR.
    pub textures: Vec<PathBuf>,
    pub lights: Vec<Light>,
    pub environment: Environment,
}
