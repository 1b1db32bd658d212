//! Tangents by MikkTSpace (Mikkelsen, "Simulation of Wrinkled Surfaces Revisited", 2008), as tools
//! that bake normal maps make them.

use super::Mesh;
use super::check::check_mesh;
use bevy_mikktspace::{Geometry, Ops, TangentSpace, generate_tangents};
use glam::{Vec3, Vec4};
use rustc_hash::FxHashMap;

/// The same square roots and arcs on every machine.
struct LibmOps;

impl Ops for LibmOps {
    fn sqrt(x: f32) -> f32 {
        libm::sqrtf(x)
    }

    fn acos(x: f32) -> f32 {
        libm::acos(f64::from(x)) as f32
    }
}

/// The corners of a mesh, each with a tangent of its own.
struct Corners<'a> {
    mesh: &'a Mesh,
    tangents: Vec<[Option<Vec4>; 3]>,
}

impl Corners<'_> {
    fn index(&self, face: usize, corner: usize) -> usize {
        self.mesh.triangles[face][corner] as usize
    }
}

impl Geometry<LibmOps> for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.mesh.triangles.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.positions[self.index(face, corner)].to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        let normal = self.mesh.normals.get(self.index(face, corner));
        let normal = normal
            .copied()
            .unwrap_or_else(|| self.mesh.face_normal(face));
        normal.to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        // MikkTSpace's v goes up. The sign alone differs, and it is exact.
        let uv = self.mesh.uvs[self.index(face, corner)];
        [uv.x, -uv.y]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let tangent = space.map(|space| Vec4::from_array(space.tangent_encoded()));
        self.tangents[face][corner] = tangent;
    }
}

impl Mesh {
    /// Makes tangents, if the mesh has texture coordinates but no tangents. Without normals, those
    /// of the triangles are used.
    ///
    /// The bitangent w · (normal × tangent) goes up in the texture, where v decreases, as normal
    /// maps and glTF's tangents have it. A position whose triangles have different tangents, at a
    /// mirrored seam for instance, becomes several. A triangle without area in space or texture
    /// has the tangent of its neighbours, or else one across the normal. Nothing happens if the
    /// mesh has other problems, which a world refuses it for.
    pub(crate) fn make_tangents(&mut self) {
        let is_ready = !self.uvs.is_empty() && self.tangents.is_empty();
        if !is_ready || self.triangles.is_empty() || check_mesh(self).is_err() {
            return;
        }
        let tangents = vec![[None; 3]; self.triangles.len()];
        let mut corners = Corners {
            mesh: self,
            tangents,
        };
        // It has no errors.
        let _ = generate_tangents(&mut corners);
        let tangents = corners.tangents;
        self.split_by_tangent(&tangents);
    }

    /// The direction of a triangle's front; zero for one without area.
    fn face_normal(&self, face: usize) -> Vec3 {
        let [a, b, c] = self.triangles[face].map(|index| self.positions[index as usize].as_dvec3());
        (b - a).cross(c - a).normalize_or_zero().as_vec3()
    }

    /// Gives each position the tangent of its corners, once for each that differs.
    fn split_by_tangent(&mut self, corners: &[[Option<Vec4>; 3]]) {
        let count = self.positions.len();
        let mut first: Vec<Option<Vec4>> = vec![None; count];
        let mut others: FxHashMap<(u32, [u32; 4]), u32> = FxHashMap::default();
        for (face, tangents) in corners.iter().enumerate() {
            let across = self.face_normal(face);
            for (index, tangent) in self.triangles[face].iter_mut().zip(tangents) {
                let at = *index as usize;
                let normal = self.normals.get(at).copied().unwrap_or(across);
                let tangent = usable(*tangent, normal);
                let known = *first[at].get_or_insert(tangent);
                if known == tangent {
                    continue;
                }
                let key = (*index, tangent.to_array().map(f32::to_bits));
                *index = *others.entry(key).or_insert_with(|| {
                    self.positions.push(self.positions[at]);
                    self.normals.extend(self.normals.get(at).copied());
                    self.uvs.push(self.uvs[at]);
                    first.push(Some(tangent));
                    self.positions.len() as u32 - 1
                });
            }
        }
        let unused = Vec4::new(1.0, 0.0, 0.0, 1.0);
        self.tangents = first.iter().map(|t| t.unwrap_or(unused)).collect();
    }
}

/// A finite tangent of length 1, or one across the normal.
fn usable(tangent: Option<Vec4>, normal: Vec3) -> Vec4 {
    let is_usable = |t: &Vec4| t.is_finite() && t.truncate().length_squared() > 0.5;
    tangent.filter(is_usable).unwrap_or_else(|| {
        let normal = normal.normalize_or(Vec3::Z);
        normal.any_orthonormal_vector().extend(1.0)
    })
}
