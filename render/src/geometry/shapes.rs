//! Generated meshes. All have normals and texture coordinates; y is up, and fronts are outside.

use super::{MAX_TRIANGLES, Mesh};
use glam::{Vec2, Vec3};
use std::f64::consts::{PI, TAU};
use std::fmt;

/// The most segments of a generated mesh along one side.
pub const MAX_SEGMENTS: u32 = 16_384;

/// A number of segments that a shape cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The segments along both sides.
    pub segments: [u32; 2],
    /// The least number for both sides.
    pub least: [u32; 2],
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([a, b], [least_a, least_b]) = (self.segments, self.least);
        write!(
            f,
            "it has {a} × {b} segments: at least {least_a} × {least_b} are needed, at most \
             {MAX_SEGMENTS} along a side and {MAX_TRIANGLES} triangles"
        )
    }
}

impl std::error::Error for ShapeError {}

/// A square across z from (0, 0) to (1, 1), whose front is towards +z. u is x, and v is 1 − y, so a
/// texture is upright.
pub fn quad() -> Mesh {
    let corners = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    Mesh {
        positions: corners.map(|c| c.extend(0.0)).to_vec(),
        normals: vec![Vec3::Z; 4],
        uvs: corners.map(|c| Vec2::new(c.x, 1.0 - c.y)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..Mesh::default()
    }
}

/// A cube of side 1 around the origin. Each face has the whole texture, upright.
pub fn cuboid() -> Mesh {
    let faces = [
        (Vec3::X, Vec3::Y),
        (Vec3::NEG_X, Vec3::Y),
        (Vec3::Y, Vec3::NEG_Z),
        (Vec3::NEG_Y, Vec3::Z),
        (Vec3::Z, Vec3::Y),
        (Vec3::NEG_Z, Vec3::Y),
    ];
    let mut mesh = Mesh::default();
    for (normal, up) in faces {
        let first = mesh.positions.len() as u32;
        let right = up.cross(normal);
        let square = quad();
        for (corner, uv) in square.positions.iter().zip(square.uvs) {
            let across = (corner.x - 0.5) * right + (corner.y - 0.5) * up;
            mesh.positions.push(across + 0.5 * normal);
            mesh.normals.push(normal);
            mesh.uvs.push(uv);
        }
        let shift = |corners: &[u32; 3]| corners.map(|index| first + index);
        mesh.triangles.extend(square.triangles.iter().map(shift));
    }
    mesh
}

/// A mesh over a lattice of texture coordinates: `vertex` gives position and normal for u and v.
/// The front is where u × v points away from.
fn lattice(
    segments: [u32; 2],
    least: [u32; 2],
    mut vertex: impl FnMut(f64, f64) -> (Vec3, Vec3),
) -> Result<Mesh, ShapeError> {
    let is_allowed = (0..2).all(|i| (least[i]..=MAX_SEGMENTS).contains(&segments[i]));
    let squares = u64::from(segments[0]) * u64::from(segments[1]);
    if !is_allowed || 2 * squares > MAX_TRIANGLES as u64 {
        return Err(ShapeError { segments, least });
    }
    let [columns, rows] = segments;
    let mut mesh = Mesh::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let u = f64::from(column) / f64::from(columns);
            let v = f64::from(row) / f64::from(rows);
            let (position, normal) = vertex(u, v);
            mesh.positions.push(position);
            mesh.normals.push(normal);
            mesh.uvs.push(Vec2::new(u as f32, v as f32));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let c = a + columns + 1;
            mesh.triangles.push([a, c, c + 1]);
            mesh.triangles.push([a, c + 1, a + 1]);
        }
    }
    Ok(mesh)
}

/// A square of side 1 around the origin, whose front is up. u is along x, v along z.
///
/// # Errors
/// For 0 segments, or more than [`MAX_SEGMENTS`].
pub fn grid(segments: [u32; 2]) -> Result<Mesh, ShapeError> {
    displaced_grid(segments, |_, _| (0.0, [0.0; 2]))
}

/// A [`grid`] that is displaced upwards. `height` gives the height at x and z and its derivatives
/// along them.
///
/// # Errors
/// As [`grid`].
pub fn displaced_grid(
    segments: [u32; 2],
    mut height: impl FnMut(f64, f64) -> (f64, [f64; 2]),
) -> Result<Mesh, ShapeError> {
    lattice(segments, [1, 1], |u, v| {
        let (x, z) = (u - 0.5, v - 0.5);
        let (y, [along_x, along_z]) = height(x, z);
        let position = Vec3::new(x as f32, y as f32, z as f32);
        let normal = Vec3::new(-along_x as f32, 1.0, -along_z as f32);
        (position, normal.normalize_or(Vec3::Y))
    })
}

/// A [`displaced_grid`] of hills: waves in turned directions, each half as high as the last and
/// twice as many. `height` is the first's.
///
/// # Errors
/// As [`grid`].
pub fn terrain(segments: [u32; 2], height: f64, octaves: u32) -> Result<Mesh, ShapeError> {
    // The golden angle: no two octaves have the same direction.
    const TURN: f64 = 2.399_963_229_728_653;
    displaced_grid(segments, |x, z| {
        let (mut y, mut slope) = (0.0, [0.0; 2]);
        let (mut size, mut waves) = (height, TAU);
        for octave in 0..octaves.min(16) {
            let (sine, cosine) = libm::sincos(f64::from(octave) * TURN);
            let (a, b) = (cosine * x + sine * z, cosine * z - sine * x);
            let (sine_a, cosine_a) = libm::sincos(waves * a + f64::from(octave));
            let (sine_b, cosine_b) = libm::sincos(waves * b);
            y += size * sine_a * cosine_b;
            let along_a = size * waves * cosine_a * cosine_b;
            let along_b = -size * waves * sine_a * sine_b;
            slope[0] += along_a * cosine - along_b * sine;
            slope[1] += along_a * sine + along_b * cosine;
            size *= 0.5;
            waves *= 2.0;
        }
        (y, slope)
    })
}

/// A sphere of radius 1 around the origin. u goes around y from +z towards +x, with a seam at +z; v
/// goes from the top down.
///
/// # Errors
/// For fewer than 3 × 2 segments, or more than [`MAX_SEGMENTS`].
pub fn sphere(segments: [u32; 2]) -> Result<Mesh, ShapeError> {
    lattice(segments, [3, 2], |u, v| {
        let (sine, cosine) = libm::sincos(TAU * around(u));
        let (radius, y) = match v {
            // The poles are points.
            0.0 => (0.0, 1.0),
            1.0 => (0.0, -1.0),
            _ => libm::sincos(PI * v),
        };
        let at = Vec3::new((radius * sine) as f32, y as f32, (radius * cosine) as f32);
        (at, at)
    })
}

/// The side of a cylinder of radius 1 around y, from y = 0 to 1, without lids. u goes around y from
/// +z towards +x, with a seam at +z; v goes from the top down.
///
/// # Errors
/// For fewer than 3 × 1 segments, or more than [`MAX_SEGMENTS`].
pub fn cylinder(segments: [u32; 2]) -> Result<Mesh, ShapeError> {
    lattice(segments, [3, 1], |u, v| {
        let (sine, cosine) = libm::sincos(TAU * around(u));
        let normal = Vec3::new(sine as f32, 0.0, cosine as f32);
        (normal + Vec3::Y * (1.0 - v) as f32, normal)
    })
}

/// A share of a circle; the last is the first, so that a seam closes.
fn around(u: f64) -> f64 {
    if u >= 1.0 { 0.0 } else { u }
}
