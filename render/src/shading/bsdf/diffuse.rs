//! Diffuse reflection after Oren and Nayar ("Generalization of Lambert's Reflectance Model",
//! SIGGRAPH 1994), by the formula of Fujii.

use super::Scatter;
use crate::shading::number::{Colour, LobeNumber};
use glam::Vec3;
use std::f32::consts::{FRAC_1_PI, PI};

/// Value and density; the roughness is σ, 0 to 1.
pub(super) fn evaluate<R: LobeNumber>(roughness: R, out: Vec3, into: Vec3) -> Scatter<R> {
    if into.z <= 0.0 {
        return Scatter::default();
    }
    // Fujii's A and B keep the albedo at or below 1.
    let a = R::from(1.0) / (roughness * (0.5 - 2.0 / (3.0 * PI)) + 1.0);
    let s = into.dot(out) - into.z * out.z;
    let t = if s > 0.0 { into.z.max(out.z) } else { 1.0 };
    let value = a * (FRAC_1_PI * into.z) * (roughness * s / t + 1.0);
    Scatter {
        value: Colour::splat(value.greater(R::from(0.0))),
        density: into.z * FRAC_1_PI,
    }
}
