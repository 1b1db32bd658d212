//! Reads files into scenes: JSON, glTF and OBJ.

use super::builder::{Builder, Model, PlacedMesh};
use super::bytes::read_model_bytes;
use super::camera::{DEFAULT_SIZE, MAX_SIDE, camera, framing_camera};
use super::compile::{self, MaterialCompiler};
use super::error::{SceneError, ScenePlace, guarded};
use super::file::{InstanceSection, MaterialSection, MeshSection, SceneFile};
use super::file_kind::{FileKind, folder};
use super::preview::{self, PreviewShape};
use super::replacement::{MaterialReplacement, replace_materials};
use super::section::{
    read_environment, read_light, read_mesh, read_texture, read_transform, shader_instance,
    standard,
};
use super::{Environment, Scene, SceneOptions, gltf, obj};
use crate::differential::SurfaceSeeds;
use crate::geometry::{GeometryError, GeometryLimits, GeometryPlace, MeshInstance, World};
use crate::shading::ClosureTable;
use adumbra::{GlobalsLayout, Options, program::Texture};
use glam::{DAffine3, Vec3};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How deep scene files may contain others.
pub const MAX_NESTING: usize = 16;

/// Reads scene files.
///
/// # Example
///
/// ```no_run
/// use adumbra_render::scene::SceneLoader;
/// let scene = SceneLoader::new().with_size(Some([320, 240])).load("helmet.glb".as_ref())?;
/// assert_eq!(scene.camera.size, [320, 240]);
/// # Ok::<(), adumbra_render::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneLoader {
    compiler: MaterialCompiler,
    limits: GeometryLimits,
    size: Option<[u32; 2]>,
    preview: PreviewShape,
    replacements: Vec<MaterialReplacement>,
}

impl Default for SceneLoader {
    fn default() -> SceneLoader {
        SceneLoader::new()
    }
}

impl SceneLoader {
    /// A loader for this renderer's globals and closures.
    pub fn new() -> SceneLoader {
        let registry = ClosureTable::new().registry().clone();
        SceneLoader::with_compiler(MaterialCompiler::new(
            GlobalsLayout::of::<SurfaceSeeds>(),
            registry,
        ))
    }

    /// A loader for other globals or closures.
    pub fn with_compiler(compiler: MaterialCompiler) -> SceneLoader {
        SceneLoader {
            compiler,
            limits: GeometryLimits::default(),
            size: None,
            preview: PreviewShape::default(),
            replacements: Vec::new(),
        }
    }

    /// The same with other options of the compiler, of derivatives for instance.
    pub fn with_options(mut self, options: Options) -> SceneLoader {
        self.compiler = self.compiler.with_options(options);
        self
    }

    /// The same with other limits.
    pub fn with_limits(mut self, limits: GeometryLimits) -> SceneLoader {
        self.limits = limits;
        self
    }

    /// The same with the size of the image, which replaces the scene's.
    pub fn with_size(mut self, size: Option<[u32; 2]>) -> SceneLoader {
        self.size = size;
        self
    }

    /// The same with another shape for a shader that is a scene by itself.
    pub fn with_preview(mut self, shape: PreviewShape) -> SceneLoader {
        self.preview = shape;
        self
    }

    /// The same with shaders in place of materials of the scene, by their names.
    pub fn with_replacements(mut self, replacements: Vec<MaterialReplacement>) -> SceneLoader {
        self.replacements = replacements;
        self
    }

    /// Reads a scene file (`.json`), glTF (`.gltf`, `.glb`), OBJ file (`.obj`) or shader (`.adu`).
    ///
    /// A scene without a camera has [`framing_camera`]. One without any light has a grey
    /// environment.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn load(&self, path: &Path) -> Result<Scene, SceneError> {
        let kind = FileKind::of(path)?;
        let (file, size) = match kind {
            FileKind::Scene => {
                let file = read_scene_file(path)?;
                let size = self.image_size(path, &file)?;
                (Some(file), size)
            }
            _ => (
                None,
                self.checked_size(path, self.size.unwrap_or(DEFAULT_SIZE))?,
            ),
        };
        let options = file.as_ref().map(|file| file.options.clone());
        if let Some((item, why)) = options.as_ref().and_then(SceneOptions::problem) {
            return Err(SceneError::item(path, item, why));
        }
        let mut builder = Builder::new(&self.compiler, self.limits, size);
        let model = match file {
            Some(file) => {
                builder.open.push(canonical(path)?);
                Rc::new(read_scene(&mut builder, path, file)?)
            }
            None if kind == FileKind::Shader => {
                let mut model = preview::read(&mut builder, path, self.preview)?;
                preview::stage(&mut model, self.preview, size);
                Rc::new(model)
            }
            None => read_model(&mut builder, path, path, ScenePlace::File)?,
        };
        replace_materials(&mut builder, path, &self.replacements)?;
        finish(builder, &model, path, options.unwrap_or_default())
    }

    fn image_size(&self, path: &Path, file: &SceneFile) -> Result<[u32; 2], SceneError> {
        let of_file = file.image.map(|image| [image.width, image.height]);
        self.checked_size(path, self.size.or(of_file).unwrap_or(DEFAULT_SIZE))
    }

    fn checked_size(&self, path: &Path, size: [u32; 2]) -> Result<[u32; 2], SceneError> {
        match size.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
            true => Ok(size),
            false => {
                let [width, height] = size;
                let message =
                    format!("it is {width} × {height}; a side is from 1 to {MAX_SIDE} pixels");
                Err(SceneError::item(path, "image", message))
            }
        }
    }
}

fn read_scene_file(path: &Path) -> Result<SceneFile, SceneError> {
    let bytes = read_model_bytes(path).map_err(|why| SceneError::file(path, why))?;
    // What serde derives would take a list of the values of keys.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(SceneError::file(path, "it is a list, not an object"));
    }
    serde_json::from_slice(&bytes).map_err(|error| SceneError::json(path, &error))
}

fn canonical(path: &Path) -> Result<PathBuf, SceneError> {
    let found = std::fs::canonicalize(path);
    found.map_err(|error| SceneError::file(path, format!("it cannot be read: {error}")))
}

/// Reads a file once; `from` and `place` are where it is named.
fn read_model(
    builder: &mut Builder<'_>,
    path: &Path,
    from: &Path,
    place: ScenePlace,
) -> Result<Rc<Model>, SceneError> {
    let at = |message: String| SceneError::new(from, place.clone(), message);
    let id = std::fs::canonicalize(path).map_err(|error| match path == from {
        true => at(format!("it cannot be read: {error}")),
        false => at(format!("{} cannot be read: {error}", path.display())),
    })?;
    if let Some(model) = builder.models.get(&id) {
        return Ok(model.clone());
    }
    if builder.open.contains(&id) {
        return Err(at(format!("{} contains itself", path.display())));
    }
    if builder.open.len() >= MAX_NESTING {
        return Err(at(format!("files are nested more than {MAX_NESTING} deep")));
    }
    builder.open.push(id.clone());
    let model = match FileKind::of(path)? {
        FileKind::Scene => {
            let file = read_scene_file(path)?;
            read_scene(builder, path, file)?
        }
        FileKind::Gltf => guarded(path, || gltf::read(builder, path))?,
        FileKind::Obj => guarded(path, || obj::read(builder, path))?,
        FileKind::Shader => preview::read(builder, path, PreviewShape::default())?,
    };
    builder.open.pop();
    let model = Rc::new(model);
    builder.models.insert(id, model.clone());
    Ok(model)
}

/// Reads the parts of a scene file.
fn read_scene(
    builder: &mut Builder<'_>,
    path: &Path,
    file: SceneFile,
) -> Result<Model, SceneError> {
    let mut model = Model::default();
    let textures = file.textures.0.iter().map(|(name, section)| {
        let item = format!("textures.{name}");
        read_texture(path, &item, section).map(|texture| builder.add_texture(texture))
    });
    let textures: Vec<usize> = textures.collect::<Result<_, _>>()?;
    let find_texture = |name: &str| match file.textures.find(name) {
        Some(index) => Ok(textures[index]),
        None => Err(format!(
            "there is no texture `{name}`; {}",
            file.textures.names()
        )),
    };
    let mut materials = Vec::new();
    for (name, section) in &file.materials.0 {
        let item = format!("materials.{name}");
        let at = |message: String| SceneError::item(path, &*item, message);
        materials.push(match section {
            MaterialSection::Standard(section) => {
                let standard = standard(section, &find_texture).map_err(at)?;
                builder.add_standard(path, &item, name, &standard)?
            }
            MaterialSection::Shader(section) | MaterialSection::Group(section) => {
                let is_group = matches!(
                    &file.materials.0[materials.len()].1,
                    MaterialSection::Group(_)
                );
                let instance = shader_instance(builder, path, &item, section, is_group)?;
                for (texture, _) in &section.textures.0 {
                    let mut known = instance.program().textures().iter();
                    if !known.any(|known| known.name == *texture) {
                        let item = format!("{item}.textures.{texture}");
                        let message = "the material has no such texture";
                        return Err(SceneError::item(path, item, message));
                    }
                }
                let mut bind = |texture: &Texture| {
                    let mut bound = section.textures.0.iter();
                    let bound = bound.find(|(known, _)| *known == texture.name);
                    let name = bound.map_or(&texture.name, |(_, name)| name);
                    if bound.is_none() && file.textures.find(name).is_none() {
                        let program = instance.program();
                        let root = folder(path);
                        if let Some(declared) =
                            compile::declared_texture(root, &section.file, program, texture)?
                        {
                            return Ok(builder.add_texture(declared));
                        }
                    }
                    find_texture(name)
                };
                let material = compile::finish(name, &instance, &mut bind).map_err(at)?;
                builder.materials.push(material);
                builder.materials.len() - 1
            }
        });
    }
    let mut meshes = Vec::new();
    for (name, section) in &file.meshes.0 {
        let item = format!("meshes.{name}");
        let mesh = read_mesh(builder, path, &item, section)?;
        if !matches!(section, MeshSection::File(_)) {
            builder.reserve_triangles(path, &item, mesh.triangles.len())?;
        }
        meshes.push(builder.add_mesh(path, &item, mesh));
    }
    for (index, section) in file.instances.iter().enumerate() {
        let item = format!("instances[{index}]");
        let to_world = read_transform(path, &item, &section.transform)?;
        let material = match &section.material {
            None => None,
            Some(name) => Some(match file.materials.find(name) {
                Some(index) => materials[index],
                None => {
                    let names = file.materials.names();
                    let message = format!("there is no material `{name}`; {names}");
                    return Err(SceneError::item(path, format!("{item}.material"), message));
                }
            }),
        };
        let mesh = section
            .mesh
            .as_ref()
            .map(|name| match file.meshes.find(name) {
                Some(index) => Ok(meshes[index]),
                None => {
                    let names = file.meshes.names();
                    let message = format!("there is no mesh `{name}`; {names}");
                    Err(SceneError::item(path, format!("{item}.mesh"), message))
                }
            });
        let part = read_instance(builder, path, &item, section, mesh.transpose()?, material)?;
        let placed = builder.place(&mut model, &part, &to_world, material);
        placed.map_err(|why| SceneError::item(path, &*item, why))?;
    }
    for (index, section) in file.lights.iter().enumerate() {
        let light = read_light(section);
        let light = light.map_err(|why| SceneError::item(path, format!("lights[{index}]"), why))?;
        model.lights.push(light);
    }
    model.environment = match &file.environment {
        None => None,
        Some(section) => Some(
            read_environment(path, section)
                .map_err(|why| SceneError::item(path, "environment", why))?,
        ),
    };
    if let Some(section) = &file.camera {
        model.camera = Some(
            camera(section, builder.size)
                .map_err(|(key, why)| SceneError::item(path, format!("camera.{key}"), why))?,
        );
    }
    Ok(model)
}

/// The mesh or the file of an instance.
fn read_instance(
    builder: &mut Builder<'_>,
    path: &Path,
    item: &str,
    section: &InstanceSection,
    mesh: Option<usize>,
    material: Option<usize>,
) -> Result<Rc<Model>, SceneError> {
    match (mesh, &section.scene) {
        (Some(mesh), None) => {
            let material = match material {
                Some(material) => material,
                None => builder.default_material(path)?,
            };
            let part = PlacedMesh {
                mesh,
                to_world: DAffine3::IDENTITY,
                material,
            };
            Ok(Rc::new(Model {
                instances: vec![part],
                ..Model::default()
            }))
        }
        (None, Some(scene)) => {
            let place = ScenePlace::Item(format!("{item}.scene"));
            read_model(builder, &folder(path).join(scene), path, place)
        }
        _ => {
            let message = "it has either a `mesh` or a `scene`";
            Err(SceneError::item(path, item, message))
        }
    }
}

/// Builds the world, and fills in camera and light.
fn finish(
    mut builder: Builder<'_>,
    model: &Model,
    path: &Path,
    options: SceneOptions,
) -> Result<Scene, SceneError> {
    make_tangents(&mut builder, model);
    let instances = model.instances.iter().map(|part| MeshInstance {
        mesh: part.mesh,
        to_world: part.to_world,
        material: part.material,
    });
    let world = World::with_limits(builder.meshes, instances.collect(), builder.limits);
    let world = world.map_err(|GeometryError { place, problem }| match place {
        GeometryPlace::Mesh(index) => {
            let (file, item) = &builder.mesh_places[index];
            SceneError::item(file, item.clone(), problem)
        }
        GeometryPlace::Instance(index) => {
            let (file, item) = &builder.mesh_places[model.instances[index].mesh];
            let message = format!(
                "instance {index}, of {item} in {}: {problem}",
                file.display()
            );
            SceneError::file(path, message)
        }
        GeometryPlace::World => SceneError::file(path, problem),
    })?;
    let mut warnings = builder.warnings;
    if world.bounds().is_none() {
        warnings.push(format!("{}: there is nothing in it", path.display()));
    }
    let is_dark = model.lights.is_empty() && model.environment.is_none();
    let environment = match (&model.environment, is_dark) {
        (Some(environment), _) => environment.clone(),
        (None, true) => Environment::Constant(Vec3::splat(0.8)),
        (None, false) => Environment::Constant(Vec3::ZERO),
    };
    Ok(Scene {
        camera: (model.camera).unwrap_or_else(|| framing_camera(world.bounds(), builder.size)),
        world,
        materials: builder.materials,
        textures: builder.textures,
        lights: model.lights.clone(),
        environment,
        options,
        warnings,
    })
}

/// Makes the tangents of meshes whose materials read them.
fn make_tangents(builder: &mut Builder<'_>, model: &Model) {
    let reads: Vec<bool> = (builder.materials.iter())
        .map(|material| {
            let program = material.instance.program();
            program.reads("tangent") || program.reads("bitangent")
        })
        .collect();
    let mut wanted = vec![false; builder.meshes.len()];
    for part in &model.instances {
        wanted[part.mesh] |= reads[part.material];
    }
    for (mesh, wanted) in builder.meshes.iter_mut().zip(wanted) {
        if wanted {
            mesh.make_tangents();
        }
    }
}
