//! Triangle meshes, instances, and rays that hit them.

use crate::differential::Triangle;
use glam::{DAffine3, DVec3, Vec2, Vec3, Vec4};

/// A triangle mesh in object space.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub positions: Vec<Vec3>,
    /// For each position, or empty.
    pub normals: Vec<Vec3>,
    /// For each position, or empty: the direction, and the sign of the bitangent.
    pub tangents: Vec<Vec4>,
    /// For each position, or empty.
    pub uvs: Vec<Vec2>,
    pub triangles: Vec<[u32; 3]>,
}

/// A mesh in the world.
#[derive(Clone, Copy, Debug)]
pub struct MeshInstance {
    /// An index into the scene's meshes.
    pub mesh: usize,
    /// Object space to the world: any affine map, mirrored ones too.
    pub to_world: DAffine3,
    /// An index into the scene's materials.
    pub material: usize,
}

/// The nearest hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// An index into the scene's instances.
    pub instance: usize,
    /// An index into its mesh's triangles.
    pub triangle: usize,
    /// The distance along the unit direction.
    pub t: f64,
}

/// Meshes and instances, with a bounding volume hierarchy.
#[derive(Debug)]
pub struct World {}

impl World {
    /// The nearest hit with `t` within (`t_min`, `t_max`).
    pub fn intersect(
        &self,
        origin: DVec3,
        direction: DVec3,
        t_min: f64,
        t_max: f64,
    ) -> Option<RayHit> {
        let _ = (origin, direction, t_min, t_max);
        todo!()
    }

    /// Whether anything is between `t_min` and `t_max`.
    pub fn is_occluded(&self, origin: DVec3, direction: DVec3, t_min: f64, t_max: f64) -> bool {
        self.intersect(origin, direction, t_min, t_max).is_some()
    }

    /// The triangle of a hit in the world.
    pub fn triangle(&self, hit: &RayHit) -> Triangle {
        let _ = hit;
        todo!()
    }

    /// The index of its material.
    pub fn material(&self, hit: &RayHit) -> usize {
        let _ = hit;
        todo!()
    }
}
