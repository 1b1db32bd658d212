//! Meshes of glTF (section 3.7.2): each primitive of triangles is a mesh.

use super::super::builder::Builder;
use super::super::error::SceneError;
use super::{File, accessor, material};
use crate::geometry::Mesh;
use glam::{Vec2, Vec3, Vec4};
use gltf::mesh::Mode;
use gltf::{Accessor, Primitive, Semantic};
use rustc_hash::FxHashMap;

/// Materials that were compiled, by their indices; none is the default one.
pub(super) type Materials = FxHashMap<Option<usize>, usize>;

/// The meshes and materials of all primitives of a mesh.
pub(super) fn read_parts(
    builder: &mut Builder<'_>,
    file: &File<'_>,
    mesh: &gltf::Mesh<'_>,
    materials: &mut Materials,
) -> Result<Vec<(usize, usize)>, SceneError> {
    let mut parts = Vec::new();
    for primitive in mesh.primitives() {
        let set = material::uv_set(&primitive.material());
        let Some(part) = read_primitive(builder, file, mesh, &primitive, set)? else {
            continue;
        };
        let index = primitive.material().index();
        let material = match materials.get(&index) {
            Some(material) => *material,
            None => {
                let compiled = material::read(builder, file, &primitive.material())?;
                materials.insert(index, compiled);
                compiled
            }
        };
        let item = item(mesh, &primitive);
        parts.push((builder.add_mesh(file.path, &item, part), material));
    }
    Ok(parts)
}

fn item(mesh: &gltf::Mesh<'_>, primitive: &Primitive<'_>) -> String {
    format!("meshes[{}].primitives[{}]", mesh.index(), primitive.index())
}

/// The mesh of a primitive, with the texture coordinates of a set; none if it has no triangles.
pub(super) fn read_primitive(
    builder: &mut Builder<'_>,
    file: &File<'_>,
    mesh: &gltf::Mesh<'_>,
    primitive: &Primitive<'_>,
    uv_set: u32,
) -> Result<Option<Mesh>, SceneError> {
    let item = item(mesh, primitive);
    let mode = primitive.mode();
    if !matches!(
        mode,
        Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan
    ) {
        let path = file.path.display();
        let warning = format!("{path}: {item}: points and lines are not drawn");
        builder.warnings.push(warning);
        return Ok(None);
    }
    let at = |attribute: &str, why: String| file.error(format!("{item}.{attribute}"), why);
    let Some(positions) = primitive.get(&Semantic::Positions) else {
        return Ok(None);
    };
    if primitive.get(&Semantic::Colors(0)).is_some() {
        let path = file.path.display();
        let warning = format!("{path}: {item}: vertex colours are left out");
        builder.warnings.push(warning);
    }
    let corners = primitive.indices().map_or(positions.count(), |i| i.count());
    let count = match mode {
        Mode::Triangles => corners / 3,
        _ => corners.saturating_sub(2),
    };
    // Before memory is taken.
    builder.reserve_triangles(file.path, &item, count)?;
    builder.reserve_vertices(file.path, &item, positions.count())?;
    let vertices = positions.count();
    let positions = accessor::vectors::<3>(file, &positions).map_err(|why| at("POSITION", why))?;
    let normals = match primitive.get(&Semantic::Normals) {
        Some(normals) => {
            attribute::<3>(file, &normals, vertices).map_err(|why| at("NORMAL", why))?
        }
        None => Vec::new(),
    };
    let tangents = match primitive.get(&Semantic::Tangents) {
        // Tangents without normals are ignored (section 3.7.2.1).
        Some(tangents) if !normals.is_empty() => {
            attribute::<4>(file, &tangents, vertices).map_err(|why| at("TANGENT", why))?
        }
        _ => Vec::new(),
    };
    let uvs = match primitive.get(&Semantic::TexCoords(uv_set)) {
        Some(uvs) => attribute::<2>(file, &uvs, vertices).map_err(|why| at("TEXCOORD", why))?,
        None => Vec::new(),
    };
    let indices = match primitive.indices() {
        Some(indices) => accessor::indices(file, &indices).map_err(|why| at("indices", why))?,
        None => (0..positions.len() as u32).collect(),
    };
    Ok(Some(Mesh {
        positions: positions.into_iter().map(Vec3::from).collect(),
        normals: normals.into_iter().map(Vec3::from).collect(),
        tangents: tangents.into_iter().map(Vec4::from).collect(),
        uvs: uvs.into_iter().map(Vec2::from).collect(),
        triangles: triangles(mode, &indices),
    }))
}

/// An attribute of that number of vertices: all accessors of a primitive have as many entries.
fn attribute<const N: usize>(
    file: &File<'_>,
    accessor: &Accessor<'_>,
    vertices: usize,
) -> Result<Vec<[f32; N]>, String> {
    match accessor.count() == vertices {
        true => accessor::vectors(file, accessor),
        false => {
            let count = accessor.count();
            Err(format!(
                "it has {count} entries, and POSITION has {vertices}"
            ))
        }
    }
}

/// The triangles of a list, a strip or a fan (section 3.7.2.1).
fn triangles(mode: Mode, indices: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::TriangleStrip => {
            let windows = indices.windows(3).enumerate();
            windows
                .map(|(at, corner)| match at % 2 {
                    0 => [corner[0], corner[1], corner[2]],
                    _ => [corner[0], corner[2], corner[1]],
                })
                .collect()
        }
        Mode::TriangleFan => {
            let first = indices.first().copied().unwrap_or(0);
            let pairs = indices.get(1..).unwrap_or(&[]).windows(2);
            pairs.map(|pair| [pair[0], pair[1], first]).collect()
        }
        _ => {
            let corners = indices.chunks_exact(3);
            corners.map(|c| [c[0], c[1], c[2]]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_their_front() {
        let indices = [0, 1, 2, 3];
        let strip = triangles(Mode::TriangleStrip, &indices);
        assert_eq!(strip, [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(
            triangles(Mode::TriangleFan, &indices),
            [[1, 2, 0], [2, 3, 0]]
        );
        assert_eq!(triangles(Mode::Triangles, &indices), [[0, 1, 2]]);
        for mode in [Mode::TriangleStrip, Mode::TriangleFan, Mode::Triangles] {
            assert!(triangles(mode, &[]).is_empty() && triangles(mode, &[7, 8]).is_empty());
        }
    }
}
