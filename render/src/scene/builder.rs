//! The parts of a scene while its files are read.

use super::compile::MaterialCompiler;
use super::error::SceneError;
use super::standard::{StandardError, StandardMaterial};
use super::{ColorSpace, Environment, Light, Material, SceneTexture};
use crate::camera::Camera;
use crate::geometry::{GeometryLimits, Mesh};
use crate::texture::Wrap;
use glam::{DAffine3, DVec3, Vec3};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A mesh of a file, in the place of one that is read once.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedMesh {
    pub(super) mesh: usize,
    pub(super) to_world: DAffine3,
    pub(super) material: usize,
}

/// A file that was read: what an instance of it brings.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) instances: Vec<PlacedMesh>,
    pub(super) lights: Vec<Light>,
    pub(super) camera: Option<Camera>,
    pub(super) environment: Option<Environment>,
}

/// Meshes, materials and textures of all files.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) compiler: &'a MaterialCompiler,
    pub(super) limits: GeometryLimits,
    pub(super) size: [u32; 2],
    pub(super) meshes: Vec<Mesh>,
    /// The file of each mesh, and where it is there.
    pub(super) mesh_places: Vec<(PathBuf, String)>,
    pub(super) materials: Vec<Material>,
    pub(super) textures: Vec<SceneTexture>,
    known_textures: FxHashMap<(String, [Wrap; 2], ColorSpace), usize>,
    pub(super) warnings: Vec<String>,
    triangles: usize,
    vertices: usize,
    default_material: Option<usize>,
    /// Files that were read, by their canonical paths.
    pub(super) models: FxHashMap<PathBuf, Rc<Model>>,
    /// Files that are being read, the outermost first.
    pub(super) open: Vec<PathBuf>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        compiler: &'a MaterialCompiler,
        limits: GeometryLimits,
        size: [u32; 2],
    ) -> Builder<'a> {
        Builder {
            compiler,
            limits,
            size,
            meshes: Vec::new(),
            mesh_places: Vec::new(),
            materials: Vec::new(),
            textures: Vec::new(),
            known_textures: FxHashMap::default(),
            warnings: Vec::new(),
            triangles: 0,
            vertices: 0,
            default_material: None,
            models: FxHashMap::default(),
            open: Vec::new(),
        }
    }

    /// Fails if there would be more triangles than the limit.
    pub(super) fn reserve_triangles(
        &mut self,
        file: &Path,
        item: &str,
        count: usize,
    ) -> Result<(), SceneError> {
        self.triangles = self.triangles.saturating_add(count);
        let (count, limit) = (self.triangles, self.limits.triangles);
        if count > limit {
            let message = format!("there are {count} triangles; the limit is {limit}");
            return Err(SceneError::item(file, item, message));
        }
        Ok(())
    }

    /// Fails if there would be more vertices than all triangles can have.
    pub(super) fn reserve_vertices(
        &mut self,
        file: &Path,
        item: &str,
        count: usize,
    ) -> Result<(), SceneError> {
        self.vertices = self.vertices.saturating_add(count);
        let (count, limit) = (self.vertices, self.limits.triangles.saturating_mul(3));
        if count > limit {
            let message = format!("there are {count} vertices; the limit is {limit}");
            return Err(SceneError::item(file, item, message));
        }
        Ok(())
    }

    /// Adds a mesh, whose triangles were reserved.
    pub(super) fn add_mesh(&mut self, file: &Path, item: &str, mesh: Mesh) -> usize {
        self.meshes.push(mesh);
        self.mesh_places.push((file.to_owned(), item.to_owned()));
        self.meshes.len() - 1
    }

    /// Adds a texture, unless it is there.
    pub(super) fn add_texture(&mut self, texture: SceneTexture) -> usize {
        let key = (texture.name(), texture.wrap, texture.color_space);
        *self.known_textures.entry(key).or_insert_with(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        })
    }

    pub(super) fn add_standard(
        &mut self,
        file: &Path,
        item: &str,
        name: &str,
        material: &StandardMaterial,
    ) -> Result<usize, SceneError> {
        let compiled = material.compile(name, self.compiler);
        let compiled = compiled.map_err(|error| match error {
            StandardError::Diagnostics(error) => super::compile::compile_error(file, item, &error),
            StandardError::Other(error) => SceneError::item(file, item, error),
        })?;
        self.materials.push(compiled);
        Ok(self.materials.len() - 1)
    }

    /// The material of what has none: a rough grey.
    pub(super) fn default_material(&mut self, file: &Path) -> Result<usize, SceneError> {
        if let Some(index) = self.default_material {
            return Ok(index);
        }
        let grey = StandardMaterial::default();
        let index = self.add_standard(file, "the default material", "default", &grey)?;
        self.default_material = Some(index);
        Ok(index)
    }

    /// Places a model within another.
    pub(super) fn place(
        &self,
        into: &mut Model,
        model: &Model,
        to_world: &DAffine3,
        material: Option<usize>,
    ) -> Result<(), String> {
        let count = into.instances.len().saturating_add(model.instances.len());
        if count > self.limits.instances {
            let limit = self.limits.instances;
            return Err(format!(
                "there are at least {count} instances; the limit is {limit}"
            ));
        }
        into.instances
            .extend(model.instances.iter().map(|part| PlacedMesh {
                mesh: part.mesh,
                to_world: *to_world * part.to_world,
                material: material.unwrap_or(part.material),
            }));
        into.lights
            .extend(model.lights.iter().map(|light| light.placed(to_world)));
        Ok(())
    }
}

/// A finite light, or why it is none.
pub(super) fn check_light(position_or_direction: DVec3, amount: Vec3) -> Result<(), String> {
    if !position_or_direction.is_finite() {
        return Err("its place is not finite".to_owned());
    }
    match amount.is_finite() && amount.min_element() >= 0.0 {
        true => Ok(()),
        false => Err(format!("its light is {amount}; it is at least 0")),
    }
}
