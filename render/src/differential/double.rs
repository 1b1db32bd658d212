//! The formulas in f64: the renderer's own.

use glam::{DVec2 as Vec2, DVec3 as Vec3};
type Real = f64;

/// Rays whose direction and the plane make a smaller sine are parallel to it.
pub const PARALLEL: Real = 1e-14;
/// The square of the sine between edges up to which a triangle is degenerate.
pub const DEGENERATE: Real = 1e-16;

#[path = "formulas/mod.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "one source of formulas for two precisions"
)]
mod formulas;
pub use formulas::*;
