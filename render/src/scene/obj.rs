//! OBJ files with MTL materials as scenes.
//!
//! OBJ's v goes up; that of textures here goes down, so it is turned over.

use super::builder::{Builder, Model, PlacedMesh};
use super::bytes::read_bytes;
use super::error::{SceneError, ScenePlace, guarded};
use super::gltf::append;
use super::map_statement::MapStatement;
use super::obj_check::{LineError, check_mtl, check_obj};
use super::standard::{Alpha, MapRole, StandardMap, StandardMaterial};
use super::{SceneTexture, TextureSource};
use crate::geometry::Mesh;
use crate::texture::Wrap;
use glam::{DAffine3, Vec2, Vec3};
use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use tobj::{LoadError, LoadOptions};

const OPTIONS: LoadOptions = LoadOptions {
    single_index: true,
    triangulate: true,
    ignore_points: true,
    ignore_lines: true,
};

/// Bytes that are read line by line, so that an error knows its line.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Lines<'a> {
        Lines {
            rest: bytes,
            line: 0,
        }
    }

    fn next_line(&self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        &self.rest[..end.map_or(self.rest.len(), |end| end + 1)]
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.next_line().len().min(into.len());
        into[..count].copy_from_slice(&self.rest[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Lines<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(self.next_line())
    }

    fn consume(&mut self, count: usize) {
        let is_line = count > 0 && count == self.next_line().len();
        self.rest = &self.rest[count.min(self.rest.len())..];
        self.line += usize::from(is_line);
    }
}

fn place(lines: &Lines<'_>) -> ScenePlace {
    ScenePlace::Line(lines.line.max(1), 1)
}

fn line_error(path: &Path, (line, why): LineError) -> SceneError {
    SceneError::new(path, ScenePlace::Line(line, 1), why)
}

/// Libraries of materials that a file names; one that is named again is read once.
const MAX_LIBRARIES: usize = 256;

/// Materials of all libraries of a file.
const MAX_MATERIALS: usize = 1 << 16;

/// What a file has, and what the files of its materials have.
struct ObjContent {
    models: Vec<tobj::Model>,
    /// With the files that they are in.
    materials: Vec<(PathBuf, tobj::Material)>,
    /// Libraries that are not there.
    missing: Vec<PathBuf>,
}

/// The models and materials of a file.
fn load(builder: &mut Builder<'_>, path: &Path) -> Result<ObjContent, SceneError> {
    let bytes = read_bytes(path).map_err(|why| SceneError::file(path, why))?;
    check_obj(&bytes).map_err(|wrong| line_error(path, wrong))?;
    let mut lines = Lines::new(&bytes);
    let folder = path.parent().unwrap_or(Path::new(""));
    let missing: RefCell<Vec<PathBuf>> = RefCell::new(Vec::new());
    let failed: RefCell<Option<SceneError>> = RefCell::new(None);
    let files: RefCell<Vec<PathBuf>> = RefCell::new(Vec::new());
    let libraries: RefCell<HashSet<PathBuf>> = RefCell::new(HashSet::new());
    let loaded = tobj::load_obj_buf(&mut lines, &OPTIONS, |name| {
        let file = folder.join(name);
        let mut libraries = libraries.borrow_mut();
        if libraries.contains(&file) {
            return Ok((Vec::new(), Default::default()));
        }
        libraries.insert(file.clone());
        if libraries.len() <= MAX_LIBRARIES && !file.exists() {
            missing.borrow_mut().push(file);
            return Ok((Vec::new(), Default::default()));
        }
        let materials = files.borrow().len();
        let result = match read_bytes(&file) {
            _ if libraries.len() > MAX_LIBRARIES => {
                let why = format!("it names more than {MAX_LIBRARIES} libraries of materials");
                Err(SceneError::file(path, why))
            }
            Err(why) => Err(SceneError::file(&file, why)),
            Ok(bytes) => guarded(&file, || {
                check_mtl(&bytes).map_err(|wrong| line_error(&file, wrong))?;
                let mut lines = Lines::new(&bytes);
                let loaded = tobj::load_mtl_buf(&mut lines);
                let loaded =
                    loaded.map_err(|error| SceneError::new(&file, place(&lines), error))?;
                if materials + loaded.0.len() > MAX_MATERIALS {
                    let why = format!("there are more than {MAX_MATERIALS} materials");
                    return Err(SceneError::file(&file, why));
                }
                Ok(loaded)
            }),
        };
        result
            .inspect(|(materials, _)| {
                let count = materials.len();
                files.borrow_mut().extend(vec![file.clone(); count]);
            })
            .map_err(|error| {
                failed.borrow_mut().get_or_insert(error);
                LoadError::OpenFileFailed
            })
    });
    if let Some(error) = failed.into_inner() {
        return Err(error);
    }
    let (models, materials) = loaded.map_err(|error| {
        // A face's indices are resolved when its object ends.
        SceneError::new(
            path,
            place(&lines),
            format!("{error}, here or in the object before"),
        )
    })?;
    let materials = materials.map_err(|error| SceneError::file(path, error))?;
    let count = models
        .iter()
        .map(|model| model.mesh.indices.len() / 3)
        .sum();
    builder.reserve_triangles(path, "faces", count)?;
    let files = files.into_inner();
    let folder_of = |index: usize| files.get(index).cloned().unwrap_or_else(|| path.to_owned());
    let materials = materials.into_iter().enumerate();
    let materials = materials.map(|(index, material)| (folder_of(index), material));
    Ok(ObjContent {
        models,
        materials: materials.collect(),
        missing: missing.into_inner(),
    })
}

/// The mesh of a model. Normals or texture coordinates that only some corners have are left out.
fn mesh(builder: &mut Builder<'_>, path: &Path, model: &tobj::Model) -> Mesh {
    let from = &model.mesh;
    let triples = |numbers: &[f32]| -> Vec<Vec3> {
        let triples = numbers.chunks_exact(3);
        triples.map(|v| Vec3::new(v[0], v[1], v[2])).collect()
    };
    let positions = triples(&from.positions);
    let mut normals = triples(&from.normals);
    let pairs = from.texcoords.chunks_exact(2);
    let mut uvs: Vec<Vec2> = pairs.map(|v| Vec2::new(v[0], 1.0 - v[1])).collect();
    let count = positions.len();
    let is_partial = |len: usize| len != 0 && len != count;
    if is_partial(normals.len()) || is_partial(uvs.len()) {
        let (path, name) = (path.display(), &model.name);
        builder.warnings.push(format!(
            "{path}: {name}: normals or texture coordinates of some corners are left out"
        ));
    }
    if normals.len() != count {
        normals.clear();
    }
    if uvs.len() != count {
        uvs.clear();
    }
    let corners = from.indices.chunks_exact(3);
    Mesh {
        positions,
        normals,
        uvs,
        tangents: Vec::new(),
        triangles: corners.map(|c| [c[0], c[1], c[2]]).collect(),
    }
}

/// Reads a file as a scene.
pub(super) fn read(builder: &mut Builder<'_>, path: &Path) -> Result<Model, SceneError> {
    let ObjContent {
        models,
        materials: sources,
        missing,
    } = load(builder, path)?;
    let mut without_material = None;
    for library in &missing {
        let (path, library) = (path.display(), library.display());
        builder.warnings.push(format!(
            "{path}: there is no file {library}: what has its materials is magenta"
        ));
    }
    let mut materials: Vec<Option<usize>> = vec![None; sources.len()];
    let mut result = Model::default();
    for model in &models {
        let material = match model.mesh.material_id.filter(|id| *id < sources.len()) {
            None if missing.is_empty() => builder.default_material(path)?,
            None => match without_material {
                Some(material) => material,
                None => {
                    let magenta = StandardMaterial {
                        base_color: MAGENTA,
                        roughness: 1.0,
                        ..StandardMaterial::default()
                    };
                    let added = builder.add_standard(path, "mtllib", "missing", &magenta)?;
                    *without_material.insert(added)
                }
            },
            Some(id) => match materials[id] {
                Some(material) => material,
                None => {
                    let (file, source) = &sources[id];
                    *materials[id].insert(read_material(builder, file, source)?)
                }
            },
        };
        let mesh = mesh(builder, path, model);
        result.instances.push(PlacedMesh {
            mesh: builder.add_mesh(path, &model.name, mesh),
            to_world: DAffine3::IDENTITY,
            material,
        });
    }
    Ok(result)
}

/// The color of what is missing, as that of textures that cannot be read.
const MAGENTA: [f32; 3] = [1.0, 0.0, 1.0];

/// A material of an MTL file as the built-in one: colour and emission as they are, the exponent of
/// highlights as a roughness (Walter et al., "Microfacet Models for Refraction", 2007).
fn read_material(
    builder: &mut Builder<'_>,
    file: &Path,
    source: &tobj::Material,
) -> Result<usize, SceneError> {
    let item = source.name.clone();
    let mut standard = StandardMaterial::default();
    if let Some(diffuse) = source.diffuse {
        standard.base_color = diffuse;
    }
    if let Some(exponent) = source.shininess.filter(|n| n.is_finite() && *n >= 0.0) {
        // α = √(2 / (n + 2)), and the roughness is √α.
        standard.roughness = (2.0 / (exponent + 2.0)).sqrt().sqrt();
    }
    // The newer extension for roughness and metalness.
    let number = |key: &str| source.unknown_param.get(key)?.trim().parse::<f32>().ok();
    standard.roughness = number("Pr").unwrap_or(standard.roughness);
    standard.metallic = number("Pm").unwrap_or(0.0);
    standard.emission = source.emissive.unwrap_or([0.0; 3]);
    if let Some(dissolve) = source.dissolve.filter(|d| *d < 1.0) {
        standard.alpha = dissolve;
        standard.alpha_mode = Alpha::Blend;
    }
    let other = |key: &str| source.unknown_param.get(key);
    let height = (source.normal_texture.as_ref()).or_else(|| other("bump"));
    let textures = [
        (MapRole::BaseColor, source.diffuse_texture.as_ref()),
        (MapRole::Normal, other("norm")),
        (MapRole::Emission, other("map_Ke")),
        (MapRole::Height, height),
    ];
    for (role, statement) in textures {
        let Some(map) = statement.and_then(|statement| MapStatement::read(statement)) else {
            continue;
        };
        let name = map.name.replace('\\', "/");
        let path = file.parent().unwrap_or(Path::new("")).join(name);
        if !path.is_file() {
            let (file, path) = (file.display(), path.display());
            let warning = format!("{file}: {item}: there is no file {path}");
            builder.warnings.push(warning);
            if role == MapRole::BaseColor {
                standard.base_color = MAGENTA;
            }
            continue;
        }
        let texture = builder.add_texture(SceneTexture {
            source: TextureSource::File(path),
            wrap: [Wrap::Repeat; 2],
            color_space: role.color_space(),
        });
        standard.maps[role as usize] = Some(StandardMap::new(texture));
        if role == MapRole::Emission && source.emissive.is_none() {
            standard.emission = [1.0; 3];
        }
        if role == MapRole::Height {
            standard.height_scale = map.multiplier;
        }
    }
    let left_out = [
        ("map_Ka", source.ambient_texture.is_some()),
        ("map_Ks", source.specular_texture.is_some()),
        ("map_Ns", source.shininess_texture.is_some()),
        ("map_d", source.dissolve_texture.is_some()),
        ("map_Pr", other("map_Pr").is_some()),
        ("map_Pm", other("map_Pm").is_some()),
        ("disp", other("disp").is_some()),
    ];
    for (key, _) in left_out.into_iter().filter(|(_, is_there)| *is_there) {
        let warning = format!("{}: {item}: {key} is left out", file.display());
        builder.warnings.push(warning);
    }
    builder.add_standard(file, &item, &source.name, &standard)
}

/// All objects of a file as one mesh, or the one of a name.
pub(super) fn read_mesh(
    builder: &mut Builder<'_>,
    path: &Path,
    name: Option<&str>,
) -> Result<Mesh, SceneError> {
    let ObjContent { models, .. } = load(builder, path)?;
    let chosen = models
        .iter()
        .filter(|model| name.is_none_or(|name| model.name == name));
    let meshes: Vec<Mesh> = chosen.map(|model| mesh(builder, path, model)).collect();
    meshes.into_iter().reduce(append).ok_or_else(|| match name {
        Some(name) => SceneError::file(path, format!("it has no object `{name}`")),
        None => SceneError::file(path, "it has no faces"),
    })
}
