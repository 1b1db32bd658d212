//! The formulas in f32: what a host gets that has no f64.

use glam::{Vec2, Vec3};
type Real = f32;

/// Rays whose direction and the plane make a smaller sine are parallel to it.
pub const PARALLEL: Real = 1e-6;
/// The square of the sine between edges up to which a triangle is degenerate.
pub const DEGENERATE: Real = 1e-12;

#[path = "formulas/mod.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "one source of formulas for two precisions"
)]
mod formulas;
pub use formulas::*;
