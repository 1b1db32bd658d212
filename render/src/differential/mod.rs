//! Ray differentials (Igehy, "Tracing Ray Differentials", SIGGRAPH 1999) and the seeds of shaders.
//!
//! A ray carries its derivatives per pixel. At a hit they are transferred to the triangle's plane
//! and from there to everything that is interpolated over the triangle; mirrors and glass transfer
//! them to the next ray. The formulas are written once, in `formulas/`, and compiled in two
//! precisions: [`double`], the renderer's own, and [`single`], what a host would get that computes
//! in f32.
//!
//! # Conventions
//!
//! - Derivatives are per pixel, x to the right, y down, until [`RayDifferential::scaled`] makes
//!   them per distance of samples.
//! - A triangle is infinitely large: attributes are interpolated, and extrapolated, linearly.
//! - **Normals are not turned to the viewer.** `gnormal` points to the outside: the side on which
//!   an object's triangles are counter-clockwise, in mirrored instances too. `normal` is where the
//!   mesh's normals point. Shaders see the side by the sign of `dot(gnormal, I)`; closures turn
//!   normals themselves. So no value flips at a silhouette, and derivatives exist there.
//! - `tangent` points along growing u and is not made orthogonal to the normal.
//! - Without normals `normal` is `gnormal`. Without tangents the tangent is the direction of ∂P/∂u,
//!   constant over the triangle; without uvs, or if they don't span the triangle, it is that of the
//!   first edge. Without uvs `uvw` is zero.
//!
//! # Where derivatives do not exist
//!
//! All results are finite. A derivative is zero
//!
//! - at degenerate triangles, but for that of `incoming`; so are their `gnormal` and barycentric
//!   coordinates;
//! - of all that depends on the position, along the axis whose side ray is parallel to the plane or
//!   was lost (total reflection, an earlier plane that was not hit), under the one-pixel rule; that
//!   of `incoming` only if the ray was lost;
//! - of a normal that interpolates to zero, which is replaced by `gnormal`;
//! - if it would overflow.
//!
//! A side ray that hits the plane *before* its origin says nothing about the pixel between: along
//! that axis the one-pixel rule uses Igehy's transfer.

mod approximation;
pub mod double;
mod path;
mod quad;
mod seeds;
pub mod single;

pub use approximation::CameraApproximation;
pub use double::{Neighbours, Ray, RayDifferential, SideHit, SurfaceDifferential, Triangle};
pub use path::{DEFAULT_WIDENING, Differentials, PathDifferentials, SeedRule};
pub use quad::{QuadRays, QuadSeeds, corner_of};
pub use seeds::SurfaceSeeds;
