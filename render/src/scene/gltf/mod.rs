//! glTF 2.0 files as scenes: nodes, meshes, materials, cameras, and lights (KHR_lights_punctual).
//!
//! What the crate `gltf` would take on trust is checked here: the header of binary files, cycles of
//! nodes, ranges of accessors, objects whose types lack their parts.

mod accessor;
mod buffers;
mod extensions;
mod instancing;
mod material;
mod mesh;

use super::builder::{Builder, Model, PlacedMesh, check_light};
use super::bytes::read_model_bytes;
use super::camera::half_view;
use super::error::SceneError;
use super::transform::quaternion;
use super::{Light, SceneError as Error, SpotCone};
use crate::camera::{Camera, Projection};
use crate::geometry::Mesh;
use buffers::{Blob, Buffers};
use extensions::Extensions;
use glam::{DAffine3, DVec2, DVec3, DVec4, Vec3};
use gltf::json::Root;
use gltf::json::extensions::scene::khr_lights_punctual::Type as LightType;
use gltf::json::validation::Checked;
use gltf::{Document, Node, Semantic};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// A file whose objects are as they should be.
struct File<'a> {
    path: &'a Path,
    document: Document,
    extensions: Extensions,
    buffers: Buffers,
}

impl File<'_> {
    fn error(&self, item: impl Into<String>, message: impl std::fmt::Display) -> SceneError {
        Error::item(self.path, item, message)
    }
}

fn open<'a>(builder: &mut Builder<'_>, path: &'a Path) -> Result<File<'a>, SceneError> {
    let at = |message: String| SceneError::file(path, message);
    let bytes = read_model_bytes(path).map_err(at)?;
    let (json, blob) = buffers::split(&bytes).map_err(at)?;
    let json = &bytes[json];
    let of_json = |error| SceneError::json(path, &error);
    let mut root = Root::from_slice(json).map_err(of_json)?;
    let at = |(item, why): (String, String)| SceneError::item(path, item, why);
    let extensions = Extensions::read(json).map_err(of_json)?;
    extensions.check().map_err(at)?;
    // They are checked: the crate would refuse those that it does not read itself.
    root.extensions_required.clear();
    let of_header = buffers::length_warning(&bytes);
    let warnings = of_header.into_iter().chain(extensions.warnings());
    let warnings = warnings.map(|warning| format!("{}: {warning}", path.display()));
    builder.warnings.extend(warnings);
    check_positions(&root).map_err(at)?;
    let document = Document::from_json(root).map_err(|error| SceneError::file(path, error))?;
    check_parts(document.as_json()).map_err(at)?;
    let blob = blob.map(|part| Blob::new(bytes, part));
    let buffers = Buffers::read(&document, path, blob)?;
    Ok(File {
        path,
        document,
        extensions,
        buffers,
    })
}

/// Checks that positions are accessors: the crate's validation reads them before it checks their
/// indices.
fn check_positions(root: &Root) -> Result<(), (String, String)> {
    let positions = Checked::Valid(Semantic::Positions);
    for (mesh, of_mesh) in root.meshes.iter().enumerate() {
        for (primitive, of_primitive) in of_mesh.primitives.iter().enumerate() {
            let Some(index) = of_primitive.attributes.get(&positions) else {
                continue;
            };
            if root.get(*index).is_none() {
                let item = format!("meshes[{mesh}].primitives[{primitive}].attributes.POSITION");
                let (index, count) = (index.value(), root.accessors.len());
                return Err((
                    item,
                    format!("it is {index}; the number of accessors is {count}"),
                ));
            }
        }
    }
    Ok(())
}

/// Checks that cameras, lights and images have the parts that their types say.
fn check_parts(root: &Root) -> Result<(), (String, String)> {
    use gltf::json::camera::Type;
    for (index, camera) in root.cameras.iter().enumerate() {
        let has_part = match camera.type_ {
            Checked::Valid(Type::Perspective) => camera.perspective.is_some(),
            Checked::Valid(Type::Orthographic) => camera.orthographic.is_some(),
            Checked::Invalid => false,
        };
        if !has_part {
            return Err((
                format!("cameras[{index}]"),
                "it lacks its projection".to_owned(),
            ));
        }
    }
    let extensions = root.extensions.as_ref();
    let lights = extensions.and_then(|all| all.khr_lights_punctual.as_ref());
    for (index, light) in lights.iter().flat_map(|all| &all.lights).enumerate() {
        let is_spot = light.type_ == Checked::Valid(LightType::Spot);
        if is_spot && light.spot.is_none() {
            return Err((
                format!("lights[{index}]"),
                "it lacks the cone of a spot".to_owned(),
            ));
        }
    }
    for (index, image) in root.images.iter().enumerate() {
        if image.uri.is_none() && image.buffer_view.is_none() {
            return Err((
                format!("images[{index}]"),
                "it has no URI and no buffer view".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The map of a node to its parent.
fn node_map(node: &Node<'_>) -> Option<DAffine3> {
    let map = match node.transform() {
        gltf::scene::Transform::Matrix { matrix } => {
            let [x, y, z, w] = matrix.map(|c| DVec4::from_array(c.map(f64::from)).truncate());
            DAffine3::from_cols(x, y, z, w)
        }
        gltf::scene::Transform::Decomposed {
            translation,
            rotation,
            scale,
        } => {
            let turn = quaternion(rotation.map(f64::from))?;
            let [by, scale] = [translation, scale].map(|v| DVec3::from_array(v.map(f64::from)));
            DAffine3::from_translation(by) * DAffine3::from_mat3(turn) * DAffine3::from_scale(scale)
        }
    };
    map.is_finite().then_some(map)
}

/// The meshes of each glTF mesh: one for each primitive, with its material.
type MeshParts = FxHashMap<usize, Vec<(usize, usize)>>;

/// Reads a file as a scene.
pub(super) fn read(builder: &mut Builder<'_>, path: &Path) -> Result<Model, SceneError> {
    let file = open(builder, path)?;
    let mut model = Model::default();
    let mut parts = MeshParts::default();
    let mut materials = FxHashMap::default();
    let scene = file.document.default_scene();
    let scene = scene.or_else(|| file.document.scenes().next());
    let roots: Vec<Node<'_>> = match &scene {
        Some(scene) => scene.nodes().collect(),
        None => root_nodes(&file.document),
    };
    let mut seen = vec![false; file.document.nodes().len()];
    let mut left: Vec<(Node<'_>, DAffine3)> = Vec::new();
    left.extend(
        roots
            .into_iter()
            .rev()
            .map(|node| (node, DAffine3::IDENTITY)),
    );
    while let Some((node, parent)) = left.pop() {
        let item = format!("nodes[{}]", node.index());
        // A node has one parent, so that nodes are trees.
        if std::mem::replace(&mut seen[node.index()], true) {
            return Err(file.error(item, "it is a child twice, or contains itself"));
        }
        let map = node_map(&node);
        let map = map.ok_or_else(|| file.error(&*item, "its transform is not finite"))?;
        let to_world = parent * map;
        if let Some(mesh) = node.mesh() {
            let primitives = match parts.entry(mesh.index()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let read = mesh::read_parts(builder, &file, &mesh, &mut materials)?;
                    unknown.insert(read)
                }
            };
            // glTF: a node whose scale is zero is not drawn.
            if is_drawn(&to_world) {
                let part = Model {
                    instances: primitives
                        .iter()
                        .map(|&(mesh, material)| PlacedMesh {
                            mesh,
                            to_world: DAffine3::IDENTITY,
                            material,
                        })
                        .collect(),
                    ..Model::default()
                };
                for instance in instancing::maps(&file, &node, builder.limits.instances)? {
                    let placed = builder.place(&mut model, &part, &(to_world * instance), None);
                    placed.map_err(|why| file.error(&*item, why))?;
                }
            }
            if node.skin().is_some() || mesh.primitives().any(|p| p.morph_targets().len() > 0) {
                let warning = format!("{}: {item}: it is drawn in its rest pose", path.display());
                builder.warnings.push(warning);
            }
        }
        if let Some(light) = node.light() {
            read_light(&file, &mut model, &light, &to_world)?;
        }
        if let (Some(camera), None) = (node.camera(), &model.camera) {
            model.camera = read_camera(&file, &camera, &to_world, builder.size)?;
        }
        let children: Vec<Node<'_>> = node.children().collect();
        left.extend(children.into_iter().rev().map(|child| (child, to_world)));
    }
    Ok(model)
}

/// Nodes that are no children, for files without scenes.
fn root_nodes(document: &Document) -> Vec<Node<'_>> {
    let mut is_child = vec![false; document.nodes().len()];
    for node in document.nodes() {
        node.children()
            .for_each(|child| is_child[child.index()] = true);
    }
    document
        .nodes()
        .filter(|node| !is_child[node.index()])
        .collect()
}

fn is_drawn(map: &DAffine3) -> bool {
    let determinant = map.matrix3.determinant();
    determinant.is_finite() && determinant != 0.0
}

fn read_light(
    file: &File<'_>,
    model: &mut Model,
    light: &gltf::khr_lights_punctual::Light<'_>,
    to_world: &DAffine3,
) -> Result<(), SceneError> {
    use gltf::khr_lights_punctual::Kind;
    let item = format!("lights[{}]", light.index());
    // Candela and lux are taken as W/sr and W/m².
    let amount = Vec3::from(light.color()) * light.intensity();
    check_light(to_world.translation, amount).map_err(|why| file.error(&*item, why))?;
    model.lights.push(match light.kind() {
        Kind::Directional => {
            let direction = to_world.transform_vector3(DVec3::NEG_Z).try_normalize();
            Light::Directional {
                direction: direction.unwrap_or(DVec3::NEG_Z),
                irradiance: amount,
            }
        }
        Kind::Point => Light::Point {
            position: to_world.translation,
            intensity: amount,
        },
        Kind::Spot {
            inner_cone_angle,
            outer_cone_angle,
        } => {
            let cone = SpotCone::new(inner_cone_angle.into(), outer_cone_angle.into());
            let why = "its angles are not 0 ≤ innerConeAngle < outerConeAngle ≤ π/2";
            let direction = to_world.transform_vector3(DVec3::NEG_Z).try_normalize();
            Light::Spot {
                position: to_world.translation,
                direction: direction.unwrap_or(DVec3::NEG_Z),
                intensity: amount,
                cone: cone.ok_or_else(|| file.error(&*item, why))?,
            }
        }
    });
    Ok(())
}

/// The camera of a node. Its image has the size that is asked for, so its aspect ratio counts only
/// as the least width of the view.
fn read_camera(
    file: &File<'_>,
    camera: &gltf::Camera<'_>,
    to_world: &DAffine3,
    size: [u32; 2],
) -> Result<Option<Camera>, SceneError> {
    let item = format!("cameras[{}]", camera.index());
    let aspect = f64::from(size[0]) / f64::from(size[1]);
    let projection = match camera.projection() {
        gltf::camera::Projection::Perspective(view) => {
            let fov = f64::from(view.yfov()).to_degrees();
            if !(fov > 0.0 && fov < 180.0) {
                return Err(file.error(item, "its yfov is not between 0 and π"));
            }
            // A narrower image than the camera's shows its whole width.
            let own = view.aspect_ratio().map_or(aspect, f64::from);
            let widen = if own > aspect { own / aspect } else { 1.0 };
            let widen = if widen.is_finite() { widen } else { 1.0 };
            Projection::Perspective {
                tan_half: half_view(fov, size) * widen,
                shift: DVec2::ZERO,
            }
        }
        gltf::camera::Projection::Orthographic(view) => {
            let [x, y] = [view.xmag(), view.ymag()].map(|v| f64::from(v).abs());
            let half = y.max(x / aspect);
            if !(half > 0.0 && half.is_finite()) {
                return Err(file.error(item, "its magnification is 0 or not finite"));
            }
            let half_size = DVec2::new(half * aspect, half);
            Projection::Orthographic { half_size }
        }
    };
    // Cameras are not scaled, so their axes are made orthonormal.
    let forward = to_world.transform_vector3(DVec3::NEG_Z);
    let up = to_world.transform_vector3(DVec3::Y);
    let frame = super::transform::look_at(DVec3::ZERO, forward, up);
    let [right, up, forward] =
        frame.ok_or_else(|| file.error(item, "its node has no directions"))?;
    Ok(Some(Camera {
        origin: to_world.translation,
        right,
        up,
        forward,
        projection,
        size,
    }))
}

/// All meshes of a file as one, each once in its own space, or the one of a name.
pub(super) fn read_mesh(
    builder: &mut Builder<'_>,
    path: &Path,
    name: Option<&str>,
) -> Result<Mesh, SceneError> {
    let file = open(builder, path)?;
    let mut whole: Option<Mesh> = None;
    for mesh in file.document.meshes() {
        if name.is_some_and(|name| mesh.name() != Some(name)) {
            continue;
        }
        for primitive in mesh.primitives() {
            if let Some(part) = mesh::read_primitive(builder, &file, &mesh, &primitive, 0)? {
                whole = Some(match whole {
                    Some(whole) => append(whole, part),
                    None => part,
                });
            }
        }
    }
    whole.ok_or_else(|| match name {
        Some(name) => SceneError::file(path, format!("it has no mesh `{name}` of triangles")),
        None => SceneError::file(path, "it has no mesh of triangles"),
    })
}

/// Two meshes as one; it has the attributes that both have.
pub(super) fn append(mut a: Mesh, b: Mesh) -> Mesh {
    fn join<T>(a: &mut Vec<T>, b: Vec<T>) {
        match a.is_empty() || b.is_empty() {
            true => a.clear(),
            false => a.extend(b),
        }
    }
    let first = a.positions.len() as u32;
    join(&mut a.normals, b.normals);
    join(&mut a.tangents, b.tangents);
    join(&mut a.uvs, b.uvs);
    a.positions.extend(b.positions);
    let shifted = b
        .triangles
        .iter()
        .map(|t| t.map(|i| i.saturating_add(first)));
    a.triangles.extend(shifted);
    a
}
