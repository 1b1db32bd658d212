//! Triangle meshes, instances, and rays that hit them.
//!
//! A [`World`] is a hierarchy of two levels. Each mesh has a bounding volume hierarchy of its
//! triangles in object space, and one of instances lies above them. The crate `obvhs` builds both
//! (Meister and Bittner, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy
//! Construction", TVCG 2018). Triangles are tested here in f64, so that the same ray hits the same
//! triangle at the same distance on every machine, however the hierarchies look.

mod check;
mod hierarchy;
mod narrow_ray;
mod offset;
mod ray;
pub mod shapes;
mod tangents;
mod world;

pub use check::{GeometryError, GeometryLimits, GeometryPlace, GeometryProblem};
pub use check::{MAX_COORDINATE, MAX_INSTANCES, MAX_INVERSE, MAX_TRIANGLES};
pub use shapes::{
    MAX_SEGMENTS, ShapeError, cuboid, cylinder, displaced_grid, grid, quad, sphere, terrain,
};
pub use world::{Obstacle, World};

use glam::{DAffine3, Vec2, Vec3, Vec4};

/// A triangle mesh in object space.
///
/// The front of a triangle is where its corners are in counter-clockwise order. Rays hit both
/// sides.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The corners of triangles.
    pub positions: Vec<Vec3>,
    /// For each position, or empty.
    pub normals: Vec<Vec3>,
    /// For each position, or empty: the direction, and the sign of the bitangent.
    pub tangents: Vec<Vec4>,
    /// For each position, or empty.
    pub uvs: Vec<Vec2>,
    /// Three indices into the positions for each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// A mesh in the world.
#[derive(Clone, Copy, Debug)]
pub struct MeshInstance {
    /// An index into the scene's meshes.
    pub mesh: usize,
    /// Object space to the world: any affine map that has an inverse, mirrored ones too.
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

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
