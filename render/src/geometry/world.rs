//! Meshes and instances as one world that rays hit.

use super::check::{self, GeometryError, GeometryLimits, GeometryPlace, GeometryProblem};
use super::hierarchy::{Hierarchy, bounds};
use super::offset;
use super::ray::SpaceRay;
use super::{MAX_COORDINATE, Mesh, MeshInstance, RayHit};
use crate::differential::Triangle;
use adumbra_image::Fingerprint;
use glam::{DAffine3, DMat3, DVec3, Vec3, Vec3A};
use obvhs::aabb::Aabb;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Meshes and instances, with a bounding volume hierarchy.
///
/// # Example
///
/// ```
/// use adumbra_render::geometry::{MeshInstance, World, quad};
/// use glam::{DAffine3, DVec3};
///
/// let instance = MeshInstance { mesh: 0, to_world: DAffine3::IDENTITY, material: 3 };
/// let world = World::new(vec![quad()], vec![instance])?;
/// let hit = world.intersect(DVec3::new(0.25, 0.25, 2.0), DVec3::NEG_Z, 0.0, f64::INFINITY);
/// let hit = hit.ok_or("the quad is 2 before the ray")?;
/// assert_eq!((hit.t, world.material(&hit)), (2.0, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct World {
    meshes: Vec<WorldMesh>,
    instances: Vec<WorldInstance>,
    hierarchy: Hierarchy,
    /// The greatest size of a coordinate.
    extent: f64,
}

/// What is on the way of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// Nothing.
    None,
    /// Something opaque, whatever else there is.
    Opaque,
    /// Nothing opaque; this is the nearest hit.
    Transparent(RayHit),
}

#[derive(Debug)]
struct WorldMesh {
    mesh: Mesh,
    hierarchy: Hierarchy,
    /// The corners of the triangles, in the order of the hierarchy's leaves.
    corners: Vec<[Vec3; 3]>,
    bounds: Aabb,
    extent: f64,
}

#[derive(Debug)]
struct WorldInstance {
    mesh: usize,
    material: usize,
    to_world: DAffine3,
    to_object: DAffine3,
    /// The inverse transpose of the linear part.
    normal_to_world: DMat3,
    /// −1 if the map is mirrored.
    sign: f64,
    bounds: Aabb,
}

/// The greatest size of a coordinate of a box; 0 for an empty one.
fn extent(bounds: &Aabb) -> f64 {
    match bounds.min.x <= bounds.max.x {
        true => f64::from(bounds.min.abs().max(bounds.max.abs()).max_element()),
        false => 0.0,
    }
}

/// The box of a box that was mapped, rounded outwards.
fn map_bounds(map: &DAffine3, bounds: &Aabb) -> Option<Aabb> {
    let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    let (mut low, mut high) = (map.translation, map.translation);
    for axis in 0..3 {
        let column = map.matrix3.col(axis);
        let (a, b) = (column * min[axis], column * max[axis]);
        low += a.min(b);
        high += a.max(b);
    }
    let is_near = |v: DVec3| v.to_array().iter().all(|x| x.abs() <= MAX_COORDINATE);
    (is_near(low) && is_near(high)).then(|| Aabb {
        min: low.to_array().map(|v| (v as f32).next_down()).into(),
        max: high.to_array().map(|v| (v as f32).next_up()).into(),
    })
}

/// Whether a hit comes before another: the nearer one, then the one with the least instance, then
/// the least triangle.
fn is_nearer(hit: &RayHit, other: &RayHit) -> bool {
    let order = |hit: &RayHit| (hit.instance, hit.triangle);
    hit.t < other.t || hit.t == other.t && order(hit) < order(other)
}

impl WorldMesh {
    fn new(mesh: Mesh) -> Result<WorldMesh, GeometryProblem> {
        check::check_mesh(&mesh)?;
        let corners = |triangle: usize| {
            let corners = mesh.triangles[triangle];
            corners.map(|index| mesh.positions[index as usize])
        };
        let boxes: Vec<Aabb> = (0..mesh.triangles.len())
            .map(|triangle| bounds(corners(triangle).map(Vec3A::from).into_iter()))
            .collect();
        let all = boxes.iter().fold(Aabb::INVALID, |all, one| all.union(one));
        let hierarchy = Hierarchy::new(&boxes);
        let order = hierarchy.order().iter();
        Ok(WorldMesh {
            corners: order.map(|&triangle| corners(triangle as usize)).collect(),
            hierarchy,
            extent: extent(&all),
            bounds: all,
            mesh,
        })
    }

    fn corners_of(&self, triangle: usize) -> [Vec3; 3] {
        let corners = self.mesh.triangles[triangle];
        corners.map(|index| self.mesh.positions[index as usize])
    }
}

impl WorldInstance {
    fn new(
        instance: &MeshInstance,
        meshes: &[WorldMesh],
    ) -> Result<WorldInstance, GeometryProblem> {
        let MeshInstance {
            mesh,
            to_world,
            material,
        } = *instance;
        let no_mesh = GeometryProblem::NoMesh(mesh);
        let bounds = meshes.get(mesh).ok_or(no_mesh)?.bounds;
        let to_object = check::check_map(&to_world)?;
        let bounds = match bounds.min.x <= bounds.max.x {
            true => map_bounds(&to_world, &bounds).ok_or(GeometryProblem::TooFar)?,
            // An empty mesh is where its origin is; nothing hits it.
            false => Aabb::from_point(to_world.translation.as_vec3a()),
        };
        Ok(WorldInstance {
            mesh,
            material,
            to_world,
            to_object,
            normal_to_world: to_object.matrix3.transpose(),
            sign: 1.0_f64.copysign(to_world.matrix3.determinant()),
            bounds,
        })
    }
}

impl World {
    /// Builds the world of the meshes that are instanced.
    ///
    /// # Errors
    /// If a mesh has numbers that are not finite or indices out of range, if a map has no inverse,
    /// or if there is more than [`GeometryLimits::default`]. Triangles without area are never hit.
    pub fn new(meshes: Vec<Mesh>, instances: Vec<MeshInstance>) -> Result<World, GeometryError> {
        World::with_limits(meshes, instances, GeometryLimits::default())
    }

    /// Builds a world with limits of one's own.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn with_limits(
        meshes: Vec<Mesh>,
        instances: Vec<MeshInstance>,
        limits: GeometryLimits,
    ) -> Result<World, GeometryError> {
        check::check_limits(&meshes, &instances, limits)?;
        let meshes: Vec<Result<WorldMesh, GeometryProblem>> =
            meshes.into_par_iter().map(WorldMesh::new).collect();
        // The first error, whichever thread found one first.
        let meshes: Vec<WorldMesh> = (meshes.into_iter().enumerate())
            .map(|(index, mesh)| {
                let place = GeometryPlace::Mesh(index);
                mesh.map_err(|problem| GeometryError { place, problem })
            })
            .collect::<Result<_, _>>()?;
        let instances: Vec<WorldInstance> = (instances.iter().enumerate())
            .map(|(index, instance)| {
                let place = GeometryPlace::Instance(index);
                WorldInstance::new(instance, &meshes)
                    .map_err(|problem| GeometryError { place, problem })
            })
            .collect::<Result<_, _>>()?;
        let boxes: Vec<Aabb> = instances.iter().map(|instance| instance.bounds).collect();
        let all = boxes.iter().fold(Aabb::INVALID, |all, one| all.union(one));
        Ok(World {
            hierarchy: Hierarchy::new(&boxes),
            extent: extent(&all),
            meshes,
            instances,
        })
    }

    /// The nearest hit with `t` within (`t_min`, `t_max`).
    ///
    /// Both sides of triangles are hit. Of hits at the same distance it is the one with the least
    /// instance, then the least triangle. Rays that are not finite hit nothing.
    pub fn intersect(
        &self,
        origin: DVec3,
        direction: DVec3,
        t_min: f64,
        t_max: f64,
    ) -> Option<RayHit> {
        let mut nearest: Option<RayHit> = None;
        let _ = self.visit_hits(origin, direction, t_min, t_max, |hit, limit| {
            if nearest.is_none_or(|best| is_nearer(&hit, &best)) {
                *limit = hit.t;
                nearest = Some(hit);
            }
            ControlFlow::Continue(())
        });
        nearest
    }

    /// Whether anything is between `t_min` and `t_max`.
    pub fn is_occluded(&self, origin: DVec3, direction: DVec3, t_min: f64, t_max: f64) -> bool {
        self.visit_hits(origin, direction, t_min, t_max, |_, _| {
            ControlFlow::Break(())
        })
        .is_break()
    }

    /// What is between `t_min` and `t_max`, where `is_opaque` says which materials are.
    pub fn obstacle(
        &self,
        origin: DVec3,
        direction: DVec3,
        [t_min, t_max]: [f64; 2],
        is_opaque: impl Fn(usize) -> bool,
    ) -> Obstacle {
        let mut nearest: Option<RayHit> = None;
        let end = self.visit_hits(origin, direction, t_min, t_max, |hit, _| {
            if is_opaque(self.material(&hit)) {
                return ControlFlow::Break(());
            }
            if nearest.is_none_or(|best| is_nearer(&hit, &best)) {
                nearest = Some(hit);
            }
            ControlFlow::Continue(())
        });
        match (end.is_break(), nearest) {
            (true, _) => Obstacle::Opaque,
            (false, Some(hit)) => Obstacle::Transparent(hit),
            (false, None) => Obstacle::None,
        }
    }

    /// The start of a ray that leaves the triangle of a hit into `direction`. The hit is at
    /// `position`, by a ray from `origin`; `normal` is the unit normal of the triangle. The start
    /// is beyond all rounding errors of the position.
    ///
    /// # Panics
    /// If the hit is not one of this world.
    pub fn leave(
        &self,
        hit: &RayHit,
        origin: DVec3,
        position: DVec3,
        normal: DVec3,
        direction: DVec3,
    ) -> DVec3 {
        let instance = &self.instances[hit.instance];
        let corners = self.meshes[instance.mesh].corners_of(hit.triangle);
        let corners = corners.map(Vec3::abs);
        let error = offset::position_error(
            [&instance.to_world, &instance.to_object],
            origin.abs() + (position - origin).abs(),
            corners[0].max(corners[1]).max(corners[2]).as_dvec3(),
        );
        offset::offset(position, error, normal, direction)
    }

    /// Visits hits in any order; a visit may lower the distance beyond which hits are left out.
    fn visit_hits(
        &self,
        origin: DVec3,
        direction: DVec3,
        t_min: f64,
        t_max: f64,
        mut visit: impl FnMut(RayHit, &mut f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(ray) = SpaceRay::new(origin, direction, self.extent) else {
            return ControlFlow::Continue(());
        };
        let mut limit = t_max;
        let mut visit_instance = |index: usize, limit: &mut f64| {
            self.visit_instance(
                &ray,
                origin,
                direction,
                index,
                t_min,
                limit,
                |hit, limit| match hit.t > t_min && hit.t < t_max {
                    true => visit(hit, limit),
                    false => ControlFlow::Continue(()),
                },
            )
        };
        match self.instances.len() {
            1 => visit_instance(0, &mut limit),
            _ => self
                .hierarchy
                .traverse(&ray.narrow, t_min, &mut limit, |_, index, limit| {
                    visit_instance(index, limit)
                }),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a part of `visit_hits`")]
    fn visit_instance(
        &self,
        world_ray: &SpaceRay,
        origin: DVec3,
        direction: DVec3,
        index: usize,
        t_min: f64,
        limit: &mut f64,
        mut visit: impl FnMut(RayHit, &mut f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let instance = &self.instances[index];
        let mesh = &self.meshes[instance.mesh];
        let bounds = (
            instance.bounds.min.as_dvec3(),
            instance.bounds.max.as_dvec3(),
        );
        let (near, far) = world_ray.interval(bounds.0, bounds.1);
        if near > far || far < t_min || near > *limit {
            return ControlFlow::Continue(());
        }
        let to_object = &instance.to_object;
        let ray = SpaceRay::new(
            to_object.transform_point3(origin),
            to_object.transform_vector3(direction),
            mesh.extent,
        );
        let Some(ray) = ray else {
            return ControlFlow::Continue(());
        };
        // A hit's distance is moved into the interval of the instance's box, so one that is beyond
        // a limit in object space alone is looked for as well.
        let object_min = if near > t_min {
            f64::NEG_INFINITY
        } else {
            t_min
        };
        let object_limit = |limit: f64| if far <= limit { f64::INFINITY } else { limit };
        let mut mesh_limit = object_limit(*limit);
        let test = |at: usize, triangle: usize, mesh_limit: &mut f64| {
            let Some(t) = ray.hit(mesh.corners[at]) else {
                return ControlFlow::Continue(());
            };
            let hit = RayHit {
                instance: index,
                triangle,
                t: t.max(near).min(far),
            };
            visit(hit, limit)?;
            *mesh_limit = object_limit(*limit);
            ControlFlow::Continue(())
        };
        mesh.hierarchy
            .traverse(&ray.narrow, object_min, &mut mesh_limit, test)
    }

    /// The triangle of a hit in the world.
    ///
    /// # Panics
    /// If the hit is not one of this world.
    pub fn triangle(&self, hit: &RayHit) -> Triangle {
        let instance = &self.instances[hit.instance];
        let mesh = &self.meshes[instance.mesh].mesh;
        let corners = mesh.triangles[hit.triangle].map(|index| index as usize);
        let linear = instance.to_world.matrix3;
        let normal = |at: usize| instance.normal_to_world * mesh.normals[at].as_dvec3();
        let tangent = |at: usize| linear * mesh.tangents[at].truncate().as_dvec3();
        let has_tangents = !mesh.tangents.is_empty();
        let tangent_w = match has_tangents {
            true => instance.sign * 1.0_f64.copysign(f64::from(mesh.tangents[corners[0]].w)),
            // As with tangents by MikkTSpace: up in the texture.
            false => -1.0,
        };
        Triangle {
            positions: corners.map(|at| {
                let position = mesh.positions[at].as_dvec3();
                instance.to_world.transform_point3(position)
            }),
            normals: (!mesh.normals.is_empty()).then(|| corners.map(normal)),
            tangents: has_tangents.then(|| corners.map(tangent)),
            tangent_w,
            is_mirrored: instance.sign < 0.0,
            uvs: (!mesh.uvs.is_empty()).then(|| corners.map(|at| mesh.uvs[at].as_dvec2())),
        }
    }

    /// The index of its material.
    ///
    /// # Panics
    /// If the hit is not one of this world.
    pub fn material(&self, hit: &RayHit) -> usize {
        self.instances[hit.instance].material
    }

    /// All instances, in their order.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = MeshInstance> {
        self.instances.iter().map(|instance| MeshInstance {
            mesh: instance.mesh,
            to_world: instance.to_world,
            material: instance.material,
        })
    }

    /// The number of an instance's triangles.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn triangle_count(&self, instance: usize) -> usize {
        let mesh = self.instances[instance].mesh;
        self.meshes[mesh].mesh.triangles.len()
    }

    /// The area in object space of an instance's triangle.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub fn object_area(&self, instance: usize, triangle: usize) -> f64 {
        let mesh = self.instances[instance].mesh;
        let [a, b, c] = self.meshes[mesh].corners_of(triangle).map(Vec3::as_dvec3);
        0.5 * (b - a).cross(c - a).length()
    }

    /// The number of triangles of all instances.
    pub fn instanced_triangles(&self) -> u64 {
        let count = |instance: &WorldInstance| self.meshes[instance.mesh].mesh.triangles.len();
        self.instances.iter().map(|i| count(i) as u64).sum()
    }

    /// Adds all meshes and instances to a fingerprint.
    pub fn add_to(&self, all: &mut Fingerprint) {
        for WorldMesh { mesh, .. } in &self.meshes {
            all.add_vectors(mesh.positions.iter().map(|v| v.to_array()));
            all.add_vectors(mesh.normals.iter().map(|v| v.to_array()));
            all.add_vectors(mesh.tangents.iter().map(|v| v.to_array()));
            all.add_vectors(mesh.uvs.iter().map(|v| v.to_array()));
            all.add(mesh.triangles.len() as u64);
            let indices = mesh.triangles.iter().flatten();
            indices.for_each(|&index| all.add(index.into()));
        }
        for instance in &self.instances {
            let WorldInstance { mesh, material, .. } = *instance;
            let map = instance.to_world.to_cols_array().map(f64::to_bits);
            [mesh as u64, material as u64]
                .iter()
                .chain(&map)
                .for_each(|&word| all.add(word));
        }
    }

    /// The corners of the box around all instances; none if nothing can be hit.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let instances = self.instances.iter();
        let filled = instances.filter(|i| !self.meshes[i.mesh].mesh.triangles.is_empty());
        let all = filled.fold(Aabb::INVALID, |all, i| all.union(&i.bounds));
        (all.min.x <= all.max.x).then(|| (all.min.as_dvec3(), all.max.as_dvec3()))
    }
}
