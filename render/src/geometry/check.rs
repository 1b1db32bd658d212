//! What meshes and instances are refused for, and the limits of a world.

use super::{Mesh, MeshInstance};
use glam::DAffine3;
use std::fmt;

/// The most triangles of all meshes of a world together.
pub const MAX_TRIANGLES: usize = 20_000_000;
/// The most instances of a world.
pub const MAX_INSTANCES: usize = 4_000_000;
/// The greatest size of a coordinate, of meshes and of maps. Squares of greater ones overflow f32.
pub const MAX_COORDINATE: f64 = 1e15;
/// The greatest size of an entry of an instance's inverse map.
pub const MAX_INVERSE: f64 = 1e30;

/// How large a world may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryLimits {
    /// The most triangles of all meshes together.
    pub triangles: usize,
    /// The most instances.
    pub instances: usize,
}

impl Default for GeometryLimits {
    /// [`MAX_TRIANGLES`] and [`MAX_INSTANCES`].
    fn default() -> GeometryLimits {
        GeometryLimits {
            triangles: MAX_TRIANGLES,
            instances: MAX_INSTANCES,
        }
    }
}

/// The mesh or instance that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryPlace {
    /// An index into the meshes.
    Mesh(usize),
    /// An index into the instances.
    Instance(usize),
    /// The world as a whole.
    World,
}

/// Why a mesh or an instance is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum GeometryProblem {
    /// An attribute has neither no entry nor one for each position.
    Count {
        /// `normals`, `tangents` or `uvs`.
        attribute: &'static str,
        /// The number of its entries.
        count: usize,
        /// The number of positions.
        positions: usize,
    },
    /// A number of an attribute is NaN or infinite, or greater than [`MAX_COORDINATE`].
    Value {
        /// `positions`, `normals`, `tangents` or `uvs`.
        attribute: &'static str,
        /// The index of the entry.
        at: usize,
        /// The number.
        value: f32,
    },
    /// A triangle's index is not one of a position.
    Index {
        /// The index of the triangle.
        triangle: usize,
        /// Its index.
        index: u32,
        /// The number of positions.
        positions: usize,
    },
    /// The map of an instance has an entry that is not finite or greater than [`MAX_COORDINATE`].
    Map,
    /// The map of an instance has no inverse, or one that is greater than [`MAX_INVERSE`].
    Singular,
    /// The world's coordinates of an instance are greater than [`MAX_COORDINATE`].
    TooFar,
    /// The index of an instance's mesh is not one.
    NoMesh(usize),
    /// There are more triangles than the limit.
    Triangles {
        /// The number of all meshes together.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// There are more instances than the limit.
    Instances {
        /// The number of instances.
        count: usize,
        /// The limit.
        limit: usize,
    },
}

/// A mesh or an instance that a world refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct GeometryError {
    /// Which mesh or instance.
    pub place: GeometryPlace,
    /// Why.
    pub problem: GeometryProblem,
}

impl fmt::Display for GeometryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeometryProblem::Count {
                attribute,
                count,
                positions,
            } => write!(f, "it has {count} {attribute} for {positions} positions"),
            GeometryProblem::Value {
                attribute,
                at,
                value,
            } if value.is_finite() => write!(
                f,
                "entry {at} of its {attribute} is too large: {value} (the limit is {MAX_COORDINATE:e})"
            ),
            GeometryProblem::Value {
                attribute,
                at,
                value,
            } => write!(f, "entry {at} of its {attribute} is not finite: {value}"),
            GeometryProblem::Index {
                triangle,
                index,
                positions,
            } => write!(
                f,
                "triangle {triangle} has the index {index}, but there are {positions} positions"
            ),
            GeometryProblem::Map => write!(
                f,
                "its transform has an entry that is not finite or greater than {MAX_COORDINATE:e}"
            ),
            GeometryProblem::Singular => write!(
                f,
                "its transform has no inverse: it flattens the mesh to a plane, a line or a point"
            ),
            GeometryProblem::TooFar => write!(
                f,
                "its coordinates in the world are greater than {MAX_COORDINATE:e}"
            ),
            GeometryProblem::NoMesh(mesh) => write!(f, "there is no mesh {mesh}"),
            GeometryProblem::Triangles { count, limit } => {
                write!(f, "there are {count} triangles; the limit is {limit}")
            }
            GeometryProblem::Instances { count, limit } => {
                write!(f, "there are {count} instances; the limit is {limit}")
            }
        }
    }
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            GeometryPlace::Mesh(index) => write!(f, "mesh {index}: {}", self.problem),
            GeometryPlace::Instance(index) => write!(f, "instance {index}: {}", self.problem),
            GeometryPlace::World => write!(f, "{}", self.problem),
        }
    }
}

impl std::error::Error for GeometryError {}

/// Whether all numbers are finite and no greater than [`MAX_COORDINATE`].
fn check_values<const N: usize>(
    attribute: &'static str,
    values: impl Iterator<Item = [f32; N]>,
) -> Result<(), GeometryProblem> {
    for (at, entry) in values.enumerate() {
        let is_bad = |v: &&f32| !v.is_finite() || f64::from(v.abs()) > MAX_COORDINATE;
        if let Some(&value) = entry.iter().find(is_bad) {
            return Err(GeometryProblem::Value {
                attribute,
                at,
                value,
            });
        }
    }
    Ok(())
}

/// Checks a mesh alone.
pub(super) fn check_mesh(mesh: &Mesh) -> Result<(), GeometryProblem> {
    let positions = mesh.positions.len();
    let counts = [
        ("normals", mesh.normals.len()),
        ("tangents", mesh.tangents.len()),
        ("uvs", mesh.uvs.len()),
    ];
    for (attribute, count) in counts {
        if count != 0 && count != positions {
            return Err(GeometryProblem::Count {
                attribute,
                count,
                positions,
            });
        }
    }
    check_values("positions", mesh.positions.iter().map(|v| v.to_array()))?;
    check_values("normals", mesh.normals.iter().map(|v| v.to_array()))?;
    check_values("tangents", mesh.tangents.iter().map(|v| v.to_array()))?;
    check_values("uvs", mesh.uvs.iter().map(|v| v.to_array()))?;
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|i| **i as usize >= positions) {
            return Err(GeometryProblem::Index {
                triangle,
                index,
                positions,
            });
        }
    }
    Ok(())
}

/// Checks the map of an instance, and gives its inverse.
pub(super) fn check_map(map: &DAffine3) -> Result<DAffine3, GeometryProblem> {
    let within = |map: &DAffine3, limit: f64| map.to_cols_array().iter().all(|v| v.abs() <= limit);
    if !within(map, MAX_COORDINATE) {
        return Err(GeometryProblem::Map);
    }
    if map.matrix3.determinant() == 0.0 {
        return Err(GeometryProblem::Singular);
    }
    let inverse = map.inverse();
    match within(&inverse, MAX_INVERSE) {
        true => Ok(inverse),
        false => Err(GeometryProblem::Singular),
    }
}

/// Checks the size of a world.
pub(super) fn check_limits(
    meshes: &[Mesh],
    instances: &[MeshInstance],
    limits: GeometryLimits,
) -> Result<(), GeometryError> {
    let count = meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    let problem = if count > limits.triangles {
        let limit = limits.triangles;
        GeometryProblem::Triangles { count, limit }
    } else if instances.len() > limits.instances {
        GeometryProblem::Instances {
            count: instances.len(),
            limit: limits.instances,
        }
    } else {
        return Ok(());
    };
    let place = GeometryPlace::World;
    Err(GeometryError { place, problem })
}
